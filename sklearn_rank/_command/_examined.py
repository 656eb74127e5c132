"""What each column of a table seems to be, and what is odd about labels, queries and scores."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import Counter
from math import log

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ._output import LABELS, CommandError, listed
from ._rankings import DESIGN_OPTIONS, check_columns, flag, is_usual_score
from ._table import (
    SEPARATORS,
    STDIN,
    Column,
    attempt,
    is_parquet,
    names_of,
    read_columns,
    text_of,
    usual_delimiter,
    without_header,
)

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
MAX_UNNAMED = 9  # Columns without a telling name that are taken as scores
SIGNIFICANCE = 0.001  # Labels of the first rows alone that chance makes so seldom look chosen


def role_of(column: Column) -> str:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1_\2", column.name).lower()
    words = set(re.findall(r"[a-z]+", spaced))
    return next((role for role, telling in ROLES.items() if words & set(telling.split())), "")


def is_whole(column: Column) -> bool:
    values = column.floats
    return values is not None and bool(np.all((values == np.round(values)) | ~np.isfinite(values)))


def is_unique(column: Column) -> bool:
    return column.n_distinct == len(column)


def is_in_blocks(column: Column) -> bool:
    """Whether equal values are next to each other, at least two on average."""
    n_blocks = 1 + np.count_nonzero(np.diff(column.codes.codes))
    return bool(2 < n_blocks == column.n_distinct <= len(column) / 2)


def pairs_of(first: IntArray, second: IntArray) -> IntArray:
    """The first code of each distinct pair of codes, which are at least -1."""
    factor = int(second.max()) + 2
    return np.asarray(np.unique(first * factor + second + 1) // factor)


def is_copy(one: Column, other: Column) -> bool:
    """Whether each value goes with one value of the other, and the other way round."""
    n = one.n_distinct
    if n < 2 or n != other.n_distinct or one.n_missing or other.n_missing:
        return False
    return len(pairs_of(one.codes.codes, other.codes.codes)) == n


def option(name: str, value: object = True) -> str:
    return flag(name) if value is True else f"{flag(name)}={value}"


def rows(n: int, what: str = "row") -> str:
    return f"{n:,} {what if n == 1 else what[:-1] + 'ies' if what[-1] == 'y' else what + 's'}"


class Examined:
    """The columns of a table: what each is and why, and the options that they need."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        topics = ("file", "label", "qid", "groups", "score", "weights")
        self.findings: dict[str, list[str]] = {topic: [] for topic in topics}
        self.blocked: list[str] = []
        self.columns = self._read()
        self.n = len(next(iter(self.columns.values()))) if self.columns else 0
        self.query = np.zeros(self.n, dtype=np.intp)  # Number of the query of each row
        self.usable: dict[str, FloatArray] = {}
        self.guessed_positive = False
        self.arguments: list[str] = []
        self.scores: list[Column] = []
        self.qid = self.groups = self.label = None
        self.label = self._find_label()
        if not options.one_list:
            self.qid = self._find_qid()
        if self.label is not None:
            self.scores = self._find_scores(self.label)
            self.groups = self._find_groups()
            self.arguments += self._describe_queries(self.label)
            for column in self.scores:
                self._describe_score(column)
            self.arguments += self._describe_label(self.label)
            self._describe_others()

    def say(self, topic: str, text: str) -> None:
        self.findings[topic].append(text)

    def of_role(self, role: str) -> list[Column]:
        return [column for column in self._free() if role_of(column) == role]

    def _free(self) -> list[Column]:
        taken = (self.label, self.qid, *self.scores)
        return [column for column in self.columns.values() if column not in taken]

    def _read(self) -> dict[str, Column]:
        path = self._options.file
        if path in (None, STDIN):
            raise CommandError(
                "pass the FILE to examine; standard input can be read once only: save it first"
            )
        line = ""
        if not is_parquet(path):
            start = attempt(text_of, path)[: 2**16]
            line = start.splitlines()[0].decode(errors="replace").strip()
        for pattern, what in (
            (r"\S+\s+Q0(\s+\S+){4}", "a run of TREC: evaluate --run FILE --qrels JUDGMENTS"),
            (r"\S+\s+\d+\s+\S+\s+-?\d+", "judgments of TREC: evaluate --run RUN --qrels FILE"),
            (r"\S+\s+(qid:\S+\s+)?\d+:\S+.*", "an svmlight file of features, without scores"),
        ):
            if re.fullmatch(pattern, line):
                raise CommandError(f"{path} looks like {what}")
        self.delimiter, self.header = self._options.delimiter, list[str]()
        if self.delimiter is None and line and usual_delimiter(path) not in line:
            self.delimiter = next((mark for mark in SEPARATORS if mark in line), None)
            if self.delimiter is not None:
                self.say("file", f"Columns are separated by {SEPARATORS[self.delimiter]}.")
        columns = read_columns(path, self.delimiter, self._options.missing or (), self._choose)
        for name, column in columns.items():
            if column.n_distinct == 1 and not column.n_missing:
                self.say("file", f"Column {name!r} is constant: {next(iter(column.counts))!r}.")
        return columns

    def _choose(self, header: list[str]) -> list[str]:
        if without_header(header) and not self._options.label:
            raise CommandError(f"the columns are {names_of(header)}")
        self.header, counts = header, Counter(header)
        for name, count in counts.items():
            which = f"{count} columns are called {name!r}" if name else "A column has no name"
            if not name or count > 1:
                self.say("file", f"{which}: left out; rename to use it.")
        return [name for name, count in counts.items() if name and count == 1]

    def _named(self, option: str) -> list[Column]:
        names = getattr(self._options, option) or []
        names = [names] if isinstance(names, str) else names
        check_columns(names, self.header)
        return [self.columns[name] for name in names]

    def _find_qid(self) -> Column | None:
        if columns := self._named("qid") or [c for c in self._free() if c.name == "qid"]:
            return columns[0]
        if columns := self.of_role("qid"):
            self.say("qid", f"{columns[0].name!r} looks like the ids of the queries.")
            return columns[0]
        return None

    def _find_label(self) -> Column | None:
        if named := self._named("label"):
            return named[0]
        usual = [self.columns[name] for name in LABELS if name in self.columns]
        two = [c for c in self._free() if c.n_distinct == 2 and not role_of(c)]
        columns = usual or self.of_role("label") or (two if len(two) == 1 else [])
        if not columns:
            names = listed(self.header)
            self.blocked.append(f"No column looks like labels: name it with --label, of {names}.")
            return None
        label, *others = columns
        if not usual:
            self.say("label", f"{label.name!r} looks like the label.")
        for other in others:
            text = f"{other.name!r} could be the label too. What follows is for {label.name!r}"
            self.say("label", f"{text}; --label names another.")
        return label

    def _find_scores(self, label: Column) -> list[Column]:
        free = self._free()
        copies = [column for column in free if is_copy(column, label)]
        for column in copies:
            self.say("label", f"{column.name!r} goes one to one with the label: a copy of it?")
        if named := self._named("score"):
            return named
        if scores := [column for column in free if is_usual_score(column.name)]:
            return scores
        scores = [column for column in free if role_of(column) == "score"]
        look = "looks like a score" if len(scores) == 1 else "look like scores"
        if not scores:
            look = "may hold scores, or features; --score names those that are scores"
            free = [
                c for c in free if c.floats is not None and c.n_distinct > 1 and not role_of(c)
            ]
            ids = [column for column in free if is_whole(column) and is_in_blocks(column)]
            for column in ids:
                text = "looks like ids of queries or groups: --qid or --groups names it"
                self.say("qid", f"{column.name!r} {text}.")
            free = [column for column in free if column not in (*copies, *ids)]
            scores = [c for c in free if not is_whole(c)] or [c for c in free if not is_unique(c)]
        names = listed([column.name for column in scores])
        if 0 < len(scores) <= MAX_UNNAMED:
            self.say("score", f"{names} {look}.")
            return scores
        many = f"{len(scores)} columns could be scores or features ({names})"
        none = "No column looks like a score"
        self.blocked.append(f"{many if scores else none}: name the scores with --score.")
        return []

    def _find_groups(self) -> Column | None:
        if named := self._named("groups"):
            return named[0]
        ids = []
        for column in self.of_role("groups"):
            if is_unique(column):
                self.say("groups", f"{column.name!r} differs in all rows: it looks like row ids.")
            elif (
                self.qid is not None
                and len(pairs_of(self.qid.codes.codes, column.codes.codes)) > self.qid.n_distinct
            ):
                text = "is not the same in all rows of a query: no groups"
                self.say("groups", f"{column.name!r} {text}.")
            elif column.n_distinct > 1 and not column.n_missing:
                ids.append(column)
        if not ids:
            return None
        groups = min(ids, key=lambda column: column.n_distinct)
        self.say(
            "groups",
            f"{groups.name!r} looks like ids of groups: {groups.n_distinct:,} ids. Rows of one"
            " id may depend on each other; --groups takes that into account.",
        )
        return groups

    def _describe_queries(self, label: Column) -> list[str]:
        """Describe the queries. Options for them."""
        one_list = [option("one_list")] * ("qid" in self.header)
        if self.qid is None:
            return one_list
        name = self.qid.name
        query = self.qid.codes.codes + (self.qid.n_missing > 0)
        sizes = np.bincount(query)
        if sizes.max() == 1:
            self.say("qid", f"{name!r} has no value twice: the command takes all as one list.")
            self.qid = None
            return one_list
        self.query = query
        lengths = rows(int(sizes[0]))
        if sizes.min() < sizes.max():
            lengths = f"{sizes.min():,} to {sizes.max():,} rows, median {np.median(sizes):g}"
        self.say("qid", f"{name}: {rows(len(sizes), 'query')} of {lengths}.")
        if len(sizes) == 1:
            self.say("qid", "With one query, --one-list makes its rows the sample of an interval.")
        if n_single := int((sizes == 1).sum()):
            self.say("qid", f"{rows(n_single, 'query')} of one row: any score orders it alike.")
        n_labels = np.bincount(pairs_of(query, label.codes.codes), minlength=len(sizes))
        n_same = int((n_labels == 1).sum()) - n_single
        if n_same and not label.n_missing:
            self.say("qid", f"{rows(n_same, 'query')} of several rows with the same label in all.")
        return [] if name == "qid" else [option("qid", name)]

    def _describe_score(self, column: Column) -> None:
        """Describe a score, and store it where it can be used."""
        name = column.name
        try:
            score = column.numbers()
        except CommandError as error:
            self.blocked.append(f"{error}.")
            return
        if n_infinite := int(np.isinf(score).sum()):
            self.say("score", f"{name}: {rows(n_infinite)} infinite.")
        elif 0 <= score.min() < score.max() <= 1:
            only = ": 2 values only, as of predicted classes" * (column.n_distinct == 2)
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

    def _describe_label(self, label: Column) -> list[str]:
        """Describe the labels. Options for them."""
        counts = sorted(
            label.counts.items(), key=lambda item: (label.values.get(item[0], 0.0), item)
        )
        each = ", ".join(f"{text!r} in {rows(n)}" for text, n in counts[:10]) or "no value"
        if len(counts) > 10:
            each = f"{len(counts):,} values, such as {listed([text for text, _ in counts[:3]])}"
        self.say("label", f"{label.name}: {each}.")
        given = vars(self._options)
        arguments = [flag("missing"), *given["missing"]] if given["missing"] else []
        if positive := given["pos_label"] or self._positive(label):
            arguments.append(option("pos_label", positive))
            if not given["pos_label"]:
                self.guessed_positive = True
                text = f"{positive!r} is taken as the positive class; --pos-label names another."
                self.say("label", text)
        if given["neg_label"]:
            arguments += [flag("neg_label"), *given["neg_label"]]
        values = {name: given[name] for name in DESIGN_OPTIONS}
        stated = [
            option(name, x) for name, x in values.items() if x is not None and x is not False
        ]
        if not stated and label.n_missing and label.counts:
            share = f"{rows(label.n_missing)} of {self.n:,} have no label"
            same = ", and those of the others are all the same" * (len(label.counts) == 1)
            self.say("label", f"{label.name}: {share}{same}.")
            stated = self._part(label.codes.codes >= 0)
        return arguments + stated

    def _positive(self, label: Column) -> str | None:
        """The positive class, where evaluate needs to be told: the rarer one of two."""
        counts, values = label.counts, sorted(set(label.values.values()))
        is_usual = {text.lower() for text in counts} <= {"true", "false"} or values in (
            [0, 1],
            [-1, 1],
        )
        if len(counts) != 2 or is_usual or 0 < len(values) < 2:
            return None
        if values and self.qid is not None and values[0] >= 0:
            return None  # grades
        for text in counts:
            telling = ("yes", "y", "t", "positive", "pos", "relevant")
            if text.lower() in telling or (0 in values and label.values[text]):
                return text
        return min(sorted(counts, reverse=True), key=counts.__getitem__)

    def _part(self, known: BoolArray) -> list[str]:
        """Find out which rows have labels. Options that say so."""
        for way in ("inclusion_probability", "strata"):
            if columns := self.of_role(way):
                self.say("label", f"{columns[0].name!r} looks like {flag(way)}.")
                return [option(way, columns[0].name)]
        reviews = {name: self._review(known, score) for name, score in self.usable.items()}
        name = max(reviews, key=lambda score: reviews[score][1], default="")
        if not name or reviews[name][2] >= log(SIGNIFICANCE):
            self.say(
                "label",
                "The labels are taken as those of a random sample of all rows, which the file"
                " cannot show: if they are not, pass --strata, --inclusion-probability or"
                " --review-top.",
            )
            return [option("random_labels")]
        k, n_above, _ = reviews[name]
        n_below = int(known.sum()) - n_above
        places = np.min([self._places(score, ~known) for score in self.usable.values()], axis=0)
        if n_below and places[known].max() < places[~known].min():
            self.say(
                "label",
                f"the rows with labels are the first ones by any of {listed(list(self.usable))}: a"
                " pool. The limits are those over all labels that the other rows can have.",
            )
            return [option("pool")]
        each = " of each query" if self.qid is not None else ""
        text = f"all of the first {k}{each} by {name!r} have labels, and {n_below:,} others"
        more = " --review-top and --audit say it if the review ended earlier."
        if n_below == 0:
            text = f"every row with a label is among the first {k}{each} by {name!r}"
            more = (
                " No label below: the limits are those over all labels that the other rows can"
                " have. Labels for rows that plan_labels chooses make them narrower."
            )
        self.say("label", f"{text}: the labels look selected by a review of the top.{more}")
        options = [option("review_top", k), option("champion", name)]
        return options + [option("audit", n_below)] * (n_below > 0)

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
        place = self._places(score, first)
        k = int(place[~known].min())
        return k, int((place < k).sum())

    def _places(self, score: FloatArray, first: BoolArray) -> IntArray:
        """Place of each row in its query, from 0; who is first among ties is given."""
        order = np.lexsort((~first, -score, self.query))
        start = np.searchsorted(self.query[order], np.arange(self.query.max() + 1))
        place = np.empty(self.n, dtype=np.intp)
        place[order] = np.arange(self.n) - start[self.query[order]]
        return place

    def _describe_others(self) -> None:
        """Describe columns that are not used."""
        unused = [column.name for column in self._free() if not role_of(column)]
        if 0 < len(unused) <= MAX_UNNAMED:
            self.say("file", f"Not used: {listed(unused)}.")
        elif unused:
            self.say("file", f"{len(unused)} columns are not used.")
        for column in self.of_role("weight"):
            text = "looks like weights of rows, which evaluate does not take"
            self.say("weights", f"{column.name!r} {text}; metric_interval in Python does.")
        for column in self.of_role("place"):
            text = "looks like places: 1 is the top, but the highest score is"
            self.say("score", f"{column.name!r} {text}; no score.")
