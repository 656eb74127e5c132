"""What is odd about labels, queries and scores of a table."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from math import log

import numpy as np

from .._typing import BoolArray, FloatArray
from ._input import OF_PART, OF_REVIEW, WAYS, WORDS
from ._output import CommandError, listed
from ._roles import MOST, Facts, Roles, as_option

POSITIVE = ("yes", "y", "t", "positive", "pos", "relevant")
RARE = 0.001  # Labels of the first rows alone that chance makes so seldom look chosen


def rows(n: int, what: str = "row") -> str:
    return f"{n:,} {what if n == 1 else what[:-1] + 'ies' if what[-1] == 'y' else what + 's'}"


class Examined(Roles):
    """A table, with the options that its labels and queries need, and the scores of use."""

    def __init__(self, options: Namespace, parser: ArgumentParser) -> None:
        super().__init__(options, parser)
        self.n = len(next(iter(self.facts.values())).column.cells) if self.facts else 0
        # Number of the query of each row
        self.query = np.zeros(self.n, dtype=np.intp)
        self.arguments: list[str] = []
        self.usable: dict[str, FloatArray] = {}
        self.guessed_positive = False
        if self.label is not None:
            self.arguments += self._describe_queries(self.label)
            for facts in self.scores:
                self._describe_score(facts)
            self.arguments += self._describe_label(self.label)
            self._describe_others()

    def option(self, name: str, value: object = True) -> str:
        return as_option(self._parser, name, value) or ""

    def _describe_queries(self, label: Facts) -> list[str]:
        """Describe the queries. Options for them."""
        qid = self.qid
        if qid is None:
            return [self.option("one_list")] * ("qid" in self.header)
        self.query = np.unique(qid.column.cells, return_inverse=True)[1]
        sizes = np.bincount(self.query)
        if sizes.max() == 1:
            self.say("qid", f"{qid.name!r} has no value twice: the command takes all as one list.")
            self.qid, self.query = None, np.zeros(self.n, dtype=np.intp)
            return [self.option("one_list")] * ("qid" in self.header)
        lengths = rows(int(sizes[0]))
        if sizes.min() < sizes.max():
            lengths = f"{sizes.min():,} to {sizes.max():,} rows, median {np.median(sizes):g}"
        self.say("qid", f"{qid.name}: {rows(len(sizes), 'query')} of {lengths}.")
        if len(sizes) == 1:
            self.say("qid", "With one query, --one-list makes its rows the sample of an interval.")
        n_single = int((sizes == 1).sum())
        if n_single:
            self.say("qid", f"{rows(n_single, 'query')} of one row: any score orders it alike.")
        labels = [label.values.get(text, text) for text in label.column.cells]
        distinct, codes = np.unique(np.array(labels, dtype=str), return_inverse=True)
        pairs = np.unique(self.query * len(distinct) + codes) // len(distinct)
        n_same = int((np.bincount(pairs) == 1).sum()) - n_single
        if n_same and not label.n_missing:
            self.say("qid", f"{rows(n_same, 'query')} of several rows with the same label in all.")
        if (np.diff(self.query) != 0).sum() >= len(sizes):
            self.say("qid", "Rows of a query are not all next to each other; evaluate joins them.")
        numbers = {float(text) for text in qid.values}
        if qid.is_number and len(numbers) < len(qid.counts):
            self.say("qid", "Some ids are the same number written in two ways: two queries here.")
        return [] if qid.name == "qid" else [self.option("qid", qid.name)]

    def _describe_score(self, facts: Facts) -> None:
        """Describe a score, and store it where it can be used."""
        name = facts.name
        try:
            score = facts.column.numbers()
        except CommandError as error:
            bad = self.n - sum(n for text, n in facts.counts.items() if text in facts.values)
            self.blocked.append(f"{name}: {bad:,} of {rows(self.n)} have no number; {error}.")
            return
        if n_infinite := int(np.isinf(score).sum()):
            self.say("score", f"{name}: {rows(n_infinite)} infinite.")
        elif 0 <= score.min() < score.max() <= 1:
            only = f": {rows(2, 'value')} only, as of predicted classes" * (len(facts.counts) == 2)
            self.say("score", f"{name}: all in [0, 1], as probabilities are{only}.")
        values, codes = np.unique(score, return_inverse=True)
        keys = self.query * len(values) + codes
        _, block, counts = np.unique(keys, return_inverse=True, return_counts=True)
        tied = counts[block] > 1
        best = np.full(self.query.max() + 1, -np.inf)
        np.maximum.at(best, self.query, score)
        first = np.bincount(self.query, score == best[self.query])
        if tied.any():
            of_query = " of its query" if self.qid is not None else ""
            shared = f"{rows(int(first[0]))} share the first place"
            if len(first) > 1:
                shared = f"the first place is shared in {rows(int((first > 1).sum()), 'query')}"
            share = f"{100 * tied.mean():.3g} % of the rows"
            text = f"{share} have the score of another row{of_query}"
            self.say("score", f"{name}: {text}" + f"; {shared}" * bool((first > 1).any()) + ".")
        self.usable[name] = score

    def _describe_label(self, label: Facts) -> list[str]:
        """Describe the labels. Options for them."""
        counts = sorted(
            label.counts.items(), key=lambda item: (label.values.get(item[0], 0.0), item)
        )
        if len(counts) <= 10:
            each = ", ".join(f"{text!r} in {rows(n)}" for text, n in counts)
        else:
            each = f"{len(counts):,} values"
            if label.is_number:
                each += f" from {counts[0][0]} to {counts[-1][0]}"
        self.say("label", f"{label.name}: {each or 'no value'}.")
        odd = [text for text, _ in counts if text not in label.values]
        if label.values and len(odd) == 1:
            text = (
                f"looks like a mark of missing labels: if so, leave these {label.counts[odd[0]]:,}"
            )
            self.say("label", f"{odd[0]!r} {text} cells empty.")
        arguments = []
        positive = self._options.pos_label or self._positive(label)
        if positive is not None:
            arguments.append(self.option("pos_label", positive))
            if not self._options.pos_label:
                self.guessed_positive = True
                text = f"{positive!r} is taken as the positive class; --pos-label names another."
                self.say("label", text)
        options = {name: getattr(self._options, name) for name in (*WAYS, *OF_PART, *OF_REVIEW)}
        stated = [
            self.option(name, value)
            for name, value in options.items()
            if value is not None and value is not False
        ]
        if stated:
            return arguments + stated
        if label.n_missing and label.counts:
            share = f"{rows(label.n_missing)} of {self.n:,} have no label"
            same = ", and those of the others are all the same" * (len(label.counts) == 1)
            self.say("label", f"{label.name}: {share}{same}.")
            known = np.array([text in label.counts for text in label.column.cells])
            arguments += self._part(known)
        return arguments

    def _positive(self, label: Facts) -> str | None:
        """The positive class, where evaluate needs to be told."""
        counts, numbers = label.counts, sorted(set(label.values.values()))
        if not label.is_number:
            if label.values or {text.lower() for text in counts} <= set(WORDS):
                return None
            named = [text for text in counts if text.lower() in POSITIVE]
            rarest = min(sorted(counts, reverse=True), key=counts.__getitem__, default=None)
            return named[0] if len(named) == 1 and len(counts) == 2 else rarest
        if len(counts) != 2 or numbers in ([0, 1], [-1, 1]) or (self.qid and numbers[0] >= 0):
            return None
        if 0 in numbers:
            return next(text for text, value in label.values.items() if value)
        return min(
            sorted(counts, key=label.values.__getitem__, reverse=True), key=counts.__getitem__
        )

    def _part(self, known: BoolArray) -> list[str]:
        """Find out which rows have labels. Options that say so."""
        for way in ("inclusion_probability", "strata"):
            if columns := self.of_role(way):
                self.say("label", f"{columns[0].name!r} looks like --{way.replace('_', '-')}.")
                return [self.option(way, columns[0].name)]
        reviews = {name: self._review(known, score) for name, score in self.usable.items()}
        name = max(reviews, key=lambda score: reviews[score][1], default="")
        if name and reviews[name][2] < log(RARE):
            k, n_above, _ = reviews[name]
            n_below, more = int(known.sum()) - n_above, ""
            each = " of each query" if self.qid is not None else ""
            if n_below == 0:
                text = f"every row with a label is among the first {k}{each} by {name!r}"
                more = (
                    " No label below: the limits are those over all labels that the other rows can"
                    " have. Labels for rows that plan_labels chooses make them narrower."
                )
            else:
                text = (
                    f"all of the first {k}{each} by {name!r} have labels, and {n_below:,} others"
                )
                more = " --review-top and --audit say it if the review ended earlier."
            self.say("label", f"{text}: the labels look selected by a review of the top.{more}")
            options = [self.option("review_top", k), self.option("champion", name)]
            return options + [self.option("audit", n_below)] * (n_below > 0)
        self.say(
            "label",
            "The labels are taken as those of a random sample of all rows, which the file cannot"
            " show: if they are not, pass --strata, --inclusion-probability or --review-top.",
        )
        return [self.option("random_labels")]

    def _review(self, known: BoolArray, score: FloatArray) -> tuple[int, int, float]:
        """First places that all have labels, rows there, log chance of it in a random sample."""
        k, n_above = self._first_labelled(known, score, ~known)
        drawn = np.arange(n_above)
        chance = float((np.log(known.sum() - drawn) - np.log(self.n - drawn)).sum())
        if chance < log(RARE):  # the review may have ended within a tie
            k, n_above = self._first_labelled(known, score, known)
        return k, n_above, chance

    def _first_labelled(
        self, known: BoolArray, score: FloatArray, first: BoolArray
    ) -> tuple[int, int]:
        """First places that all have labels, and rows there; who is first among ties is given."""
        order = np.lexsort((~first, -score, self.query))
        start = np.searchsorted(self.query[order], np.arange(self.query.max() + 1))
        place = np.arange(self.n) - start[self.query[order]]
        k = int(place[~known[order]].min())
        return k, int((place < k).sum())

    def _describe_others(self) -> None:
        """Describe columns that are not used."""
        unused = [facts.name for facts in self._free() if not facts.role]
        if 0 < len(unused) <= MOST:
            self.say("file", f"Not used: {listed(unused)}.")
        elif unused:
            self.say("file", f"{len(unused)} columns are not used.")
        for facts in self.of_role("weight"):
            self.say(
                "weights",
                f"{facts.name!r} looks like weights of rows, which evaluate does not take;"
                " in Python metric_interval does (sample_weight=, weights=).",
            )
        for facts in self.of_role("place"):
            text = "looks like places: 1 is the top, but the highest score is"
            self.say("score", f"{facts.name!r} {text}; no score.")
