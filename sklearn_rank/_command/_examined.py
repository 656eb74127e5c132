"""What each column of a table seems to be, and what is odd about labels, queries and scores."""

from __future__ import annotations

import io
import re
from argparse import ArgumentParser, Namespace
from collections import Counter
from contextlib import redirect_stderr
from functools import cached_property
from itertools import pairwise
from math import log
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from .._validation import reads_as
from ._input import (
    DESIGN_OPTIONS,
    SEPARATORS,
    Column,
    are_booleans,
    check_columns,
    first_line,
    flag,
    is_usual_score,
    read_columns,
    reading,
    usual_delimiter,
    without_header,
)
from ._output import LABELS, CommandError, listed

# Words in names of columns that tell a role; the first role that has one of the words counts.
ROLES = {
    "inclusion_probability": "inclusion",
    "strata": "stratum strata",
    "weight": "weight weights",
    "score": "score scores prob probs proba probability pred preds prediction predicted hat"
    " logit logits yhat model",
    "place": "rank position place",
    "label": "label labels true truth relevance rel target y class grade outcome gold clicked"
    " click converted conversion fraud churn",
    "qid": "qid query queries queryid topic srch search",
    "groups": "patient user customer subject account client person member household session"
    " visitor merchant seller cluster groups userid patientid id",
}
MAX_UNNAMED = 9  # Columns without a telling name that are taken as scores, or listed


class Facts:
    """One column."""

    def __init__(self, column: Column) -> None:
        self.name, self.column = column.name, column
        self.counts = Counter(column.cells)
        missing = [text for text in self.counts if text.lower() in ("", "nan")]
        self.n_missing = sum(self.counts.pop(text) for text in missing)
        self.values = {text: float(text) for text in self.counts if reads_as(float, text)}
        self.is_number = 0 < len(self.counts) == len(self.values)
        self.is_unique = len(self.counts) == len(column.cells)

    @cached_property
    def is_whole(self) -> bool:
        return all(value.is_integer() for value in self.values.values() if np.isfinite(value))

    @cached_property
    def is_in_blocks(self) -> bool:
        """Whether equal values are next to each other, at least two on average."""
        cells = self.column.cells
        n_blocks = 1 + sum(a != b for a, b in pairwise(cells))
        return n_blocks == len(self.counts) <= len(cells) / 2

    @cached_property
    def role(self) -> str:
        words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", self.name).lower())
        return next(
            (role for role, of_role in ROLES.items() if set(words) & set(of_role.split())), ""
        )

    def is_copy(self, other: Facts) -> bool:
        """Whether each value goes with one value of the other, and the other way round."""
        n = len(self.counts)
        if n < 2 or n != len(other.counts) or self.n_missing or other.n_missing:
            return False
        return self.n_pairs(other) == n

    def n_pairs(self, other: Facts) -> int:
        return len(set(zip(self.column.cells, other.column.cells, strict=True)))


def as_option(parser: ArgumentParser, option: str, value: Any) -> str | None:
    """Write an option of evaluate; None where the parser does not take the value."""
    text = flag(option) if value is True else f"{flag(option)}={value}"
    try:
        with redirect_stderr(io.StringIO()):
            read = getattr(parser.parse_args(["evaluate", "FILE", text]), option)
    except SystemExit:
        return None
    return text if read in (value, [value]) else None


# Of the hypothesis that rows were labelled at random, where only the first have labels
SIGNIFICANCE = 0.001


def rows(n: int, what: str = "row") -> str:
    return f"{n:,} {what if n == 1 else what[:-1] + 'ies' if what[-1] == 'y' else what + 's'}"


class Examined:
    """The columns of a table: what each is and why, and the options that they need."""

    def __init__(self, options: Namespace, parser: ArgumentParser) -> None:
        self._options, self._parser = options, parser
        # Texts by topic, in the order of the report
        topics = ("file", "label", "qid", "groups", "score", "weights")
        self.findings: dict[str, list[str]] = {topic: [] for topic in topics}
        self.blocked: list[str] = []
        self.facts = self._read()
        self.n = len(next(iter(self.facts.values())).column.cells) if self.facts else 0
        # Number of the query of each row
        self.query = np.zeros(self.n, dtype=np.intp)
        self.arguments: list[str] = []
        self.usable: dict[str, FloatArray] = {}
        self.guessed_positive = False
        self.scores: list[Facts] = []
        self.label = self._find_label()
        self.qid = None if options.one_list else self._find("qid")
        self.groups = None
        if self.label is not None:
            copies = [facts for facts in self._free() if facts.is_copy(self.label)]
            for facts in copies:
                self.say("label", f"{facts.name!r} goes one to one with the label: a copy of it?")
            self.scores = self._find_scores(copies)
            self.groups = self._find_groups()
            self.arguments += self._describe_queries(self.label)
            for facts in self.scores:
                self._describe_score(facts)
            self.arguments += self._describe_label(self.label)
            self._describe_others()

    def say(self, topic: str, text: str) -> None:
        self.findings[topic].append(text)

    def of_role(self, role: str) -> list[Facts]:
        return [facts for facts in self._free() if facts.role == role]

    def _free(self) -> list[Facts]:
        taken = (self.label, getattr(self, "qid", None), *self.scores)
        return [facts for facts in self.facts.values() if facts not in taken]

    def _read(self) -> dict[str, Facts]:
        path = self._options.file
        if path in (None, "-"):
            raise CommandError(
                "pass the FILE to examine; standard input can be read once only: save it first"
            )
        line = first_line(path)
        first_lines = {
            r"\S+\s+Q0(\s+\S+){4}": "a run of TREC: evaluate --run FILE --qrels JUDGMENTS",
            r"\S+\s+\d+\s+\S+\s+-?\d+": "judgments of TREC: evaluate --run RUN --qrels FILE",
            r"\S+\s+(qid:\S+\s+)?\d+:\S+.*": "an svmlight file of features, which has no scores",
        }
        for pattern, what in first_lines.items():
            if re.fullmatch(pattern, line):
                raise CommandError(f"{path} looks like {what}")
        self.delimiter, self.header = self._options.delimiter, list[str]()
        if self.delimiter is None and line and usual_delimiter(path) not in line:
            self.delimiter = next((mark for mark in SEPARATORS if mark in line), None)
            if self.delimiter is not None:
                self.say("file", f"Columns are separated by {SEPARATORS[self.delimiter]}.")

        def choose(header: list[str]) -> list[str]:
            if without_header(header) and not self._options.label:
                raise CommandError(f"the columns are {listed(header)}{without_header(header)}")
            self.header = header
            return header

        with reading(path):
            columns = read_columns(path, self.delimiter, choose)
        facts = {}
        for name, count in Counter(self.header).items():
            if not name or count > 1:
                which = f"{count} columns are called {name!r}" if name else "A column has no name"
                self.say("file", f"{which}: left out; rename to use it.")
            elif as_option(self._parser, "score", name) is None:
                self.say("file", f"Column {name!r} cannot be passed: left out; rename it.")
            else:
                facts[name] = Facts(columns[name])
                if len(facts[name].counts) == 1 and not facts[name].n_missing:
                    self.say("file", f"Column {name!r} is constant: {columns[name].cells[0]!r}.")
        return facts

    def _named(self, option: str) -> list[Facts]:
        names = getattr(self._options, option) or []
        names = [names] if isinstance(names, str) else names
        check_columns(names, self.header)
        for name in names:
            if name not in self.facts:
                raise CommandError(f"column {name!r} cannot be passed: rename it")
        return [self.facts[name] for name in names]

    def _find(self, option: str) -> Facts | None:
        usual = [self.facts[option]] if option in self.facts else []
        columns = self._named(option) or usual
        if not columns and (columns := self.of_role(option)):
            self.say(option, f"{columns[0].name!r} looks like the ids of the queries.")
        return columns[0] if columns else None

    def _find_label(self) -> Facts | None:
        self.label = None
        if named := self._named("label"):
            return named[0]
        usual = [self.facts[name] for name in LABELS if name in self.facts]
        two = [facts for facts in self._free() if len(facts.counts) == 2 and not facts.role]
        columns = usual or self.of_role("label") or (two if len(two) == 1 else [])
        if not columns:
            names = listed(self.header)
            self.blocked.append(f"No column looks like labels: name it with --label, of {names}.")
            return None
        label, *others = columns
        if not usual:
            self.say("label", f"{label.name!r} looks like the label.")
        for other in others:
            pairs = zip(label.column.cells, other.column.cells, strict=True)
            self.say(
                "label",
                f"{other.name!r} could be the label too; {sum(a != b for a, b in pairs):,} of its"
                f" cells differ. What follows is for {label.name!r}; --label names another.",
            )
        return label

    def _find_scores(self, copies: list[Facts]) -> list[Facts]:
        if named := self._named("score"):
            return named
        free = self._free()
        if scores := [facts for facts in free if is_usual_score(facts.name)]:
            return scores
        scores = [facts for facts in free if facts.role == "score" and facts.values]
        look = "looks like a score" if len(scores) == 1 else "look like scores"
        if not scores:
            look = "may hold scores, or features; --score names those that are scores"
            free = [f for f in free if f.is_number and len(f.counts) > 1 and not f.role]
            free = [f for f in free if f not in copies]
            for facts in free:
                if facts.is_whole and facts.is_in_blocks and len(facts.counts) > 2:
                    text = "looks like ids of queries or groups: --qid or --groups names it"
                    self.say("qid", f"{facts.name!r} {text}.")
            free = [f for f in free if not (f.is_whole and f.is_in_blocks)]
            scores = [f for f in free if not f.is_whole] or [f for f in free if not f.is_unique]
        names = listed([facts.name for facts in scores])
        if 0 < len(scores) <= MAX_UNNAMED:
            self.say("score", f"{names} {look}.")
            return scores
        many = f"{len(scores)} columns could be scores or features ({names})"
        none = "No column looks like a score"
        self.blocked.append(f"{many if scores else none}: name the scores with --score.")
        return []

    def _find_groups(self) -> Facts | None:
        if named := self._named("groups"):
            return named[0]
        ids = []
        for facts in self.of_role("groups"):
            if facts.is_unique:
                self.say("groups", f"{facts.name!r} differs in all rows: it looks like row ids.")
            elif self.qid is not None and facts.n_pairs(self.qid) > len(self.qid.counts):
                self.say(
                    "groups", f"{facts.name!r} is not the same in all rows of a query: no groups."
                )
            elif len(facts.counts) > 1 and not facts.n_missing:
                ids.append(facts)
        if not ids:
            return None
        groups = min(ids, key=lambda facts: len(facts.counts))
        self.say(
            "groups",
            f"{groups.name!r} looks like ids of groups: {len(groups.counts):,} ids. Rows of one"
            " id may depend on each other; --groups takes that into account.",
        )
        return groups

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
        options = {name: getattr(self._options, name) for name in DESIGN_OPTIONS}
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
            if label.values or are_booleans(counts):
                return None
            words = ("yes", "y", "t", "positive", "pos", "relevant")
            named = [text for text in counts if text.lower() in words]
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
        for option in ("inclusion_probability", "strata"):
            if columns := self.of_role(option):
                self.say("label", f"{columns[0].name!r} looks like {flag(option)}.")
                return [self.option(option, columns[0].name)]
        reviews = {name: self._review(known, score) for name, score in self.usable.items()}
        name = max(reviews, key=lambda score: reviews[score][1], default="")
        if name and reviews[name][2] < log(SIGNIFICANCE):
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
        if chance < log(SIGNIFICANCE):  # the review may have ended within a tie
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
        if 0 < len(unused) <= MAX_UNNAMED:
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
