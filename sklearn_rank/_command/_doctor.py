"""``doctor``: what a file of predictions holds, what can be computed, and by which command."""

from __future__ import annotations

import os
import re
import shlex
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from math import isnan, log
from typing import Any

import numpy as np

from .._order import tied_blocks
from .._printed import fixed
from .._typing import BoolArray, FloatArray, IntArray
from ..inference._shared import read_rankers
from ..metrics._shared import autocorrelations
from ._evaluate import Result, compare_rankings, evaluate
from ._output import DESIGNS, LABELS, CommandError, as_json, flag, listed, sentences, write
from ._rankings import COLUMNS, IN_PART, check_columns, in_rows, is_usual_score, read_rankings
from ._table import STDIN, Column, read_columns

# Words in names of columns that tell an option; the first one that has such a word counts.
WORDS = {
    "inclusion_probability": "inclusion",
    "strata": "stratum strata",
    "": "weight weights",
    "score": "score scores prob proba probability pred prediction predicted hat logit",
    "label": "label labels true truth target y class grade rel relevance outcome click clicked"
    " converted conversion fraud churn",
    "qid": "qid query queries topic srch search",
    "groups": "user patient customer client account person member household session visitor",
}
MAX_UNNAMED = 9  # Columns without a telling name that are taken as scores
SIGNIFICANCE = 0.001  # Labels of the first rows alone that chance makes so seldom look chosen


def run_doctor(options: Namespace, parser: ArgumentParser) -> int:
    """Examine the file and write the report. The exit code, 0 if something can be computed."""
    doctor = Doctor(options, parser)
    write(doctor.as_json() if options.format == "json" else doctor.as_text(), options.output)
    return 0 if doctor.commands else 1


def role_of(name: str) -> str:
    """The option that a name tells; that of ids has no other word, as ``query_length`` has."""
    words = {word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)} - {"id"}
    for role, telling in WORDS.items():
        known = words & set(telling.split())
        if known and (known == words or role not in ("qid", "groups")):
            return role
    return ""


def has_values_of(role: str, column: Column) -> bool:
    """Whether a column without a telling name may be one of labels or scores."""
    if role == "score" and column.floats is not None and not column.n_missing:
        return bool(np.any(column.floats != np.round(column.floats)))
    return role == "label" and column.n_distinct == 2


def rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"


class Doctor:
    """What is found out about a file."""

    def __init__(self, options: Namespace, parser: ArgumentParser) -> None:
        if options.file in (None, STDIN):
            raise CommandError("pass the FILE to examine, for it is read more than once")
        self.options, self.parser = options, parser
        self.asked = Namespace(**vars(options))  # With what is guessed
        self.found: list[str] = []
        self.can: list[str] = []
        self.blocked: list[str] = []
        self.commands: list[str] = []
        missing = options.missing or ()
        self.columns = read_columns(options.file, options.delimiter, missing, self._choose)
        self.n = len(next(iter(self.columns.values())))
        self.query: IntArray = np.zeros(self.n, dtype=np.intp)
        self.scores: dict[str, FloatArray] = {}
        try:
            for role in ("label", "groups", "score") if options.one_list else self.names:
                self.names[role] = self.names[role] or self._guess(role)
            self._describe()
            self._compute()
        except CommandError as error:
            self.blocked.append(f"{error}.")

    def _choose(self, header: list[str]) -> list[str]:
        """Find the columns that options or usual names tell. All names that there are."""
        given = vars(self.options)
        usual = {
            "label": [name for name in header if name in LABELS],
            "qid": [name for name in header if name == "qid" and not self.options.one_list],
            "groups": [],
            "score": list(filter(is_usual_score, header)),
        }
        self.header, self.names = header, dict[str, list[str]]()
        for role, names in usual.items():
            named = [given[role]] if isinstance(given[role], str) else given[role]
            self.names[role] = named or names
            check_columns(self.names[role], header)
        return list(filter(None, header))

    def _guess(self, role: str) -> list[str]:
        """Take columns for an option by their names, or else by their values."""
        used = set().union(*self.names.values())
        roles = {name: role_of(name) for name in self.columns if name not in used}
        names, way = [name for name, told in roles.items() if told == role], "name"
        if not names:
            way = f"values alone: pass {flag(role)} if it is another"
            unnamed = [self.columns[name] for name, told in roles.items() if not told]
            names = [column.name for column in unnamed if has_values_of(role, column)]
        if len(names) > (MAX_UNNAMED if role == "score" else 1):
            raise CommandError(f"{listed(names)} could each be {flag(role)}: pass it")
        if names:
            setattr(self.asked, role, names if role == "score" else names[0])
            self.found.append(f"{listed(names)}: taken as {flag(role)}, by {way}.")
        return names

    def _describe(self) -> None:
        """Describe labels, queries and scores, and find out which rows have labels."""
        asked, names = self.asked, self.names
        labels = [self.columns[name] for name in names["label"]]
        for label in labels:
            missing = f"; {rows(label.n_missing)} without a label" * bool(label.n_missing)
            counts = in_rows(label, list(label.counts)) or "none"
            self.found.append(f"{label.name}: {counts}{missing}.")
        for name in names["qid"]:
            codes = self.columns[name].codes.codes
            self.query = codes - codes.min()
        sizes = np.bincount(self.query)
        for name in names["qid"]:
            each = " to ".join(dict.fromkeys([f"{sizes.min():,}", f"{sizes.max():,}"]))
            single = f"; queries of one row: {(sizes == 1).sum():,}" * bool(sizes.min() == 1)
            self.found.append(f"{name}: queries: {len(sizes):,}; rows of each: {each}{single}.")
        self._describe_scores(sizes)
        given = any(getattr(asked, name) for name in IN_PART)
        if labels and labels[0].n_missing and labels[0].counts and not given:
            self._find_design(labels[0].codes.codes >= 0)
        used = {getattr(asked, name) for name in (*COLUMNS, "as_of")}
        used.update(*names.values())
        if unused := [name for name in self.header if name not in used]:
            ids = "--qid and --groups take ids of queries, of users, or days"
            self.found.append(f"Not used: {listed(unused)}; {ids}.")
        times = [name for name in filter(None, unused) if self.columns[name].are_times]
        if times and asked.entered is None:
            late = "if a 0 may mean not yet, pass --entered, --resolved and --horizon"
            self.found.append(f"Times: {listed(times)}; {late}.")

    def _describe_scores(self, sizes: IntArray) -> None:
        of_query = " of a query" * bool(self.names["qid"])
        order, offsets = np.argsort(self.query, kind="stable"), np.append(0, np.cumsum(sizes))
        for name in self.names["score"]:
            score = self.columns[name].floats
            if score is None or np.isnan(score).any():
                continue  # which evaluate refuses
            self.scores[name] = score
            if n_infinite := int(np.isinf(score).sum()):
                self.found.append(f"{name}: {rows(n_infinite)} infinite.")
            blocks, n_distinct = tied_blocks(score[order], offsets), len(np.unique(score))
            lengths = blocks.lengths()
            if share := lengths[lengths > 1].sum() / self.n:
                classes = ", as of predicted classes" * (n_distinct == 2)
                self.found.append(
                    f"{name}: {100 * share:.3g} % of the rows{of_query} tie; different scores:"
                    f" {n_distinct:,}{classes}; rows at the first place{of_query}:"
                    f" {lengths[blocks.first].max():,}."
                )

    def _find_design(self, known: BoolArray) -> None:
        """Find out which rows have labels."""
        if self._guess("inclusion_probability") or self._guess("strata"):
            return
        places = {name: self._places(score, ~known) for name, score in self.scores.items()}
        above = {name: int((at < at[~known].min()).sum()) for name, at in places.items()}
        champion = max(above, key=above.__getitem__, default="")
        if not champion or above[champion] * log(known.mean()) > log(SIGNIFICANCE):
            self.asked.random_labels = True
            text = "a random sample of all rows, which the file cannot show"
        else:
            nearest = np.min(list(places.values()), axis=0)
            place = self._places(self.scores[champion], known)  # a review may end within a tie
            k = int(place[~known].min())
            audit = int((place[known] >= k).sum())
            if audit and nearest[known].max() < nearest[~known].min():
                self.asked.pool = True
                text = f"the first ones by any of {listed(list(places))}, a pool"
            else:
                self.asked.review_top, self.asked.champion = k, champion
                self.asked.audit = audit or None
                of_query = " of each query" * bool(self.names["qid"])
                others = f", and {audit:,} random ones of the others" * bool(audit)
                text = f"the first {k:,}{of_query} by {champion!r}{others}"
        ways = ", ".join(map(flag, DESIGNS))
        self.found.append(
            f"The rows with labels are taken as {text}. Otherwise pass one of {ways}."
        )

    def _places(self, score: FloatArray, first: BoolArray) -> IntArray:
        """Place of each row in its query, from 0; who is first among ties is given."""
        order = np.lexsort((~first, -score, self.query))
        query = self.query[order]
        place = np.empty(self.n, dtype=np.intp)
        place[order] = np.arange(self.n) - np.searchsorted(query, query)
        return place

    def _compute(self) -> None:
        """Let the package say what can be computed, and write the commands."""
        results = self._evaluate()
        guessed = self.asked.groups is not None and self.options.groups is None
        if guessed and not any(result.method for row in results.values() for result in row):
            (first, *_), *_ = results.values()
            self.found.append(f"{self.asked.groups!r}: not used as --groups: {first.note}.")
            self.asked.groups, self.names["groups"] = None, []
            results = self._evaluate()
        label = self.columns[self.names["label"][0]]
        if label.n_distinct == 2 and not self.rankings.are_classes:
            text = "the values are taken as grades; --pos-label names the positive class of two"
            self.found.append(f"{label.name}: {text}.")
        kinds: dict[str, list[str]] = {}
        notes: dict[str, list[str]] = {}
        for title, row in results.items():
            for note in dict.fromkeys(result.note for result in row if result.note):
                notes.setdefault(f": {note}.", []).append(title)
            if any(not isnan(result.estimate) for result in row):
                more = " and interval" if any(result.method for result in row) else " only"
                kinds.setdefault(f": value{more}.", []).append(title)
        self.can += [", ".join(titles) + kind for kind, titles in kinds.items()]
        self.blocked += [", ".join(titles) + rest for rest, titles in notes.items()]
        if not self.can:
            return
        self.commands.append(self._command("evaluate"))
        self._describe_days(next(iter(results)))
        for name in self.rankings.scores:
            self._check_direction(name)
        if len(self.rankings.scores) > 1:
            title = self.rankings.usual_measures[0]
            options = self.parser.parse_args(["compare", *self._arguments()])
            try:
                compare_rankings(self.rankings, title, options)
                self.can.append(f"{title}: comparison.")
                self.commands.append(self._command("compare"))
            except ValueError as error:
                self.blocked.append(f"{error}.")

    def _arguments(self) -> list[str]:
        path = self.options.file
        arguments = [os.path.join(".", path) if path.startswith("-") else path]
        for name, value in vars(self.asked).items():
            if name in ("command", "prog", "file", "format", "output") or value is None:
                continue
            values = value if isinstance(value, list) else [value] * (value is not False)
            arguments += [flag(name) if x is True else f"{flag(name)}={x}" for x in values]
        return arguments

    def _command(self, name: str) -> str:
        return f"{self.options.prog} {shlex.join([name, *self._arguments()])}"

    def _evaluate(self) -> dict[str, list[Result]]:
        self.evaluated = self.parser.parse_args(["evaluate", *self._arguments()])
        self.rankings = read_rankings(self.evaluated)
        return {
            title: [self._result(name, title) for name in self.rankings.scores]
            for title in self.rankings.usual_measures
        }

    def _result(self, name: str, title: str) -> Result:
        return evaluate(self.rankings, name, title, self.evaluated)

    def _describe_days(self, title: str) -> None:
        """Say how values of days depend on each other, and what is done about it."""
        asked = self.rankings.arguments(title, list(self.rankings.scores))
        if asked.pop("design") is not None:
            return
        of_rows = [asked.pop(name) for name in ("measure", "y_true", "scores")]
        with suppress(ValueError):
            rankers = read_rankers(*of_rows, compared=False, **asked)
            groups = (rankers.samples or rankers.evidences)[0].groups
            if groups is None or not groups.in_time or rankers.joint is None:
                return
            sums: Any = rankers.joint.groups
            found = autocorrelations(sums[:, groups.present])[0]
            each = ", ".join(f"{r:.2f} ({x})" for x, r in zip(rankers.names, found, strict=True))
            self.found.append(
                f"{title} over {groups.count} {groups.in_time}: autocorrelation from one to the"
                f" next {each}; intervals allow for it."
            )

    def _check_direction(self, name: str) -> None:
        """Say whether a score orders the rows the wrong way, perfectly, or not surely at all."""
        title, chance = ("auc", 0.5) if self.rankings.are_classes else ("tau_b", 0.0)
        result = self._result(name, title)
        what = ""
        if result.low <= chance <= result.high:
            what = "the rows do not show that it orders better than chance"
        elif result.high < chance:
            what = "it looks reversed"
        elif result.low > chance and result.estimate == 1.0:
            what = "without any error, as by a leak of the label"
        if what:
            limits = f"[{fixed(result.low)}, {fixed(result.high)}]"
            self.found.append(f"{name}: {title} {fixed(result.estimate)} {limits}, {what}.")

    def as_text(self) -> str:
        name, n_columns = os.path.basename(self.options.file), len(self.header)
        text = f"{name}: {rows(self.n)}, {n_columns} columns\n"
        titles = ("Found", "Can be computed", "Blocked or limited")
        for title, lines in zip(titles, (self.found, self.can, self.blocked), strict=True):
            text += f"\n{title}{sentences(lines)}" if lines else ""
        if self.commands:  # not wrapped, to be copied
            text += "\n".join(["", "Commands", *self.commands, ""])
        return text

    def as_json(self) -> str:
        one = {x: next(iter(self.names[x]), None) for x in ("label", "qid", "groups")}
        table = {"file": self.options.file, "rows": self.n, "columns": self.header}
        report = {
            "command": "doctor",
            "input": {**table, **one, "scores": self.names["score"]},
            "found": self.found,
            "computable": self.can,
            "blocked": self.blocked,
            "commands": self.commands,
        }
        return as_json(report)
