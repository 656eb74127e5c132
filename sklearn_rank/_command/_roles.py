"""What each column of a table seems to be."""

from __future__ import annotations

import io
import re
from argparse import ArgumentParser, Namespace
from collections import Counter
from contextlib import redirect_stderr
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from .._validation import reads_as
from ._input import (
    SEPARATORS,
    STDIN,
    Column,
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
WORDS_OF_ROLES = {
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
ROLES = {word: role for role, words in reversed(WORDS_OF_ROLES.items()) for word in words.split()}
MOST = 9  # Columns without a telling name that are taken as scores

# First lines of files that are no tables.
OTHER_FILES = {
    r"\S+\s+Q0\s+\S+\s+\S+\s+\S+\s+\S+": "a run of TREC: evaluate --run FILE --qrels JUDGMENTS",
    r"\S+\s+\d+\s+\S+\s+-?\d+": "judgments of TREC: evaluate --run RUN --qrels FILE",
    r"\S+\s+(qid:\S+\s+)?\d+:\S+.*": "an svmlight file of features, which has no scores",
}


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
        roles = {ROLES[word] for word in words if word in ROLES}
        return next((role for role in WORDS_OF_ROLES if role in roles), "")

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


class Roles:
    """The columns of a table, those that are labels, queries, scores and groups, and why."""

    def __init__(self, options: Namespace, parser: ArgumentParser) -> None:
        self._options, self._parser = options, parser
        self.findings: list[tuple[str, str]] = []
        self.blocked: list[str] = []
        self.facts = self._read()
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

    def say(self, topic: str, text: str) -> None:
        self.findings.append((topic, text))

    def of_role(self, role: str) -> list[Facts]:
        return [facts for facts in self._free() if facts.role == role]

    def _free(self) -> list[Facts]:
        taken = (self.label, getattr(self, "qid", None), *self.scores)
        return [facts for facts in self.facts.values() if facts not in taken]

    def _read(self) -> dict[str, Facts]:
        path = self._options.file
        if path in (None, STDIN):
            raise CommandError(
                "pass the FILE to examine; standard input can be read once only: save it first"
            )
        line = first_line(path)
        what = next((what for text, what in OTHER_FILES.items() if re.fullmatch(text, line)), None)
        if what is not None:
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
        if 0 < len(scores) <= MOST:
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
