"""``doctor``: what a file of predictions holds, what can be computed, and by which command."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from math import isnan, log
from typing import Any

import numpy as np

from .._order import tied_blocks
from .._printed import Printed, fixed, html_table
from .._typing import BoolArray, FloatArray, IntArray
from ..inference._shared import read_rankers
from ..metrics._shared import autocorrelations
from ._columns import Roles
from ._evaluate import Result, compare_rankings, direction_of, evaluate
from ._output import DESIGNS, SHOWN, CommandError, as_json, flag, flags, listed, sentences, write
from ._rankings import COLUMNS, IN_PART, in_rows, read_rankings
from ._table import STDIN, Column, read_columns, title_of

# What a notebook shows of each column.
COLUMN_FACTS = ("column", "role", "type", "missing", "distinct", "values")
# Options of the command that do not say what is in the table.
NOT_OF_TABLE = ("command", "prog", "file", "runs", "format", "output")
DAYS = ("day", "date")  # Names of columns that may be numbers
SIGNIFICANCE = 0.001  # Labels of the first rows alone that chance makes so seldom look chosen


def run_doctor(options: Namespace, parser: ArgumentParser) -> int:
    """Examine the file and write the report. The exit code, 0 if something can be computed."""
    if options.file in (None, STDIN) and not options.qrels:
        raise CommandError("pass the FILE to examine: the commands read it again")
    doctor = Doctor(options, parser)
    findings = doctor.findings()
    as_text = options.format != "json"
    write(str(findings) if as_text else doctor.as_json(findings), options.output)
    return 0 if findings.lines else 1


@dataclass(frozen=True, repr=False, eq=False)
class Findings(Printed):
    """What is in a table, what can be asked, what is blocked, and the lines to type."""

    title: str
    columns: tuple[tuple[str, ...], ...]  # Of each COLUMN_FACTS
    found: tuple[str, ...]
    computable: tuple[str, ...]
    blocked: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def _parts(self) -> dict[str, tuple[str, ...]]:
        titles = ("Found", "Can be computed", "Blocked or limited")
        parts = zip(titles, (self.found, self.computable, self.blocked), strict=True)
        return {title: lines for title, lines in parts if lines}

    def __str__(self) -> str:
        text = sentences([self.title]).lstrip("\n")
        for title, lines in self._parts.items():
            text += f"\n{title}{sentences(lines)}"
        if self.lines:  # not wrapped, to be copied
            text += "\n".join(["", "Lines to type", *self.lines, ""])
        return text

    def _repr_html_(self) -> str:
        columns = sorted(self.columns, key=lambda of: not of[1])  # those with a role first
        more = f" ({SHOWN} are shown)" * (len(columns) > SHOWN)
        parts = [html_table(self.title + more, COLUMN_FACTS, columns[:SHOWN])]
        for title, lines in self._parts.items():
            items = "".join(f"<li>{escape(line)}</li>" for line in lines)
            parts.append(f"<p><b>{title}</b></p><ul>{items}</ul>")
            if lines is self.computable and self.lines:
                style = "user-select:all;overflow-x:auto;border:1px solid;padding:0.6em"
                parts.append(f'<pre style="{style}">{escape(chr(10).join(self.lines))}</pre>')
        return f'<div style="max-width:60em">{"".join(parts)}</div>'


def rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"


def rows_of_each(sizes: IntArray) -> str:
    ends = dict.fromkeys(f"{n:,}" for n in (sizes.min(), sizes.max()))
    return f"rows of each: {' to '.join(ends)}"


class Doctor:
    """What is found out about a file, in words of the command."""

    def __init__(self, options: Namespace, parser: ArgumentParser) -> None:
        self.options, self.parser = options, parser
        self.asked = Namespace(**vars(options))  # With what is guessed
        self.roles = Roles(self.asked)
        self.found = self.roles.found
        self.can: list[str] = []
        self.blocked: list[str] = []
        self.facts: dict[str, str] = {}  # What the values of a column are, by its name
        self.measured: dict[str, bool] = {}  # Measures with a value: whether with intervals
        self.compared = ""  # Measure by which the scores can be compared
        self.negated: list[str] = []  # Scores that look reversed
        self.daily: dict[str, Any] = {}  # Options of a line for the first rows of each day
        self.days: list[str] = []  # Columns of times or numbers of days that are not used
        self.columns: dict[str, Column] = {}
        self.scores: dict[str, FloatArray] = {}
        if options.qrels:
            self._compute()
            return
        self.columns = self.read(options.missing or ())
        self.n = len(next(iter(self.columns.values())))
        self.query: IntArray = np.zeros(self.n, dtype=np.intp)
        try:
            self.roles.guess_all(self.columns)
            self._describe()
            self._compute()
            self._describe_each_day()
        except CommandError as error:
            again = f", as in {self.call(vars(options) | error.choice)}" if error.choice else "."
            self.blocked.append(f"{error}{again}")

    def read(self, missing: Sequence[str]) -> dict[str, Column]:
        return read_columns(self.options.file, self.options.delimiter, missing, self.choose)

    def choose(self, header: list[str]) -> list[str]:
        """Find the columns that options or usual names tell. All names that there are."""
        self.roles.find(header)
        self.header, self.names = header, self.roles.names
        return list(filter(None, header))

    def _describe(self) -> None:
        """Describe labels, queries and scores, and find out which rows have labels."""
        asked, names = self.asked, self.names
        labels = [self.columns[name] for name in names["label"]]
        for label in labels:
            missing = f"; {rows(label.n_missing)} without a label" * bool(label.n_missing)
            counts = in_rows(label, list(label.counts)) or "none"
            self.facts[label.name] = counts
            self.found.append(f"{label.name}: {counts}{missing}.")
        for name in names["qid"]:
            codes = self.columns[name].codes.codes
            self.query = codes - codes.min()
        sizes = np.bincount(self.query)
        for name in names["qid"]:
            single = f"; queries of one row: {(sizes == 1).sum():,}" * bool(sizes.min() == 1)
            self.facts[name] = f"queries: {len(sizes):,}; {rows_of_each(sizes)}"
            self.found.append(f"{name}: {self.facts[name]}{single}.")
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
        self.days = list(filter(self._is_day, names["qid"] or filter(None, unused)))
        if times and asked.entered is None:
            late = "if a 0 may mean not yet, pass --entered, --resolved and --horizon"
            self.found.append(f"Times: {listed(times)}; {late}.")

    def _is_day(self, name: str) -> bool:
        return name.lower() in DAYS or self.columns[name].are_times

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
        if any(self.roles.guess(x, self.columns) for x in ("inclusion_probability", "strata")):
            return
        places = {name: self._places(score, ~known) for name, score in self.scores.items()}
        above = {name: int((at < at[~known].min()).sum()) for name, at in places.items()}
        champion = max(above, key=above.__getitem__, default="")
        if not champion or above[champion] * log(known.mean()) > log(SIGNIFICANCE):
            days = list(filter(self._is_day, self.names["qid"]))
            self.asked.random_labels = None if days else True
            self.asked.strata = days[0] if days else None
            of_rows = f"the rows of each {days[0]!r}" if days else "all rows"
            text = f"a random sample of {of_rows}, which the table cannot show"
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
        """Let the package say what can be computed."""
        results = self._evaluate()
        for name in self.names["label"] if self.columns else ():
            if self.rankings.are_classes:
                known = self.rankings.rows["y_true"]
                known = known[~np.isnan(known)]
                share = f"{known.sum():,.0f} of {len(known):,} positive ({known.mean():.2%})"
                self.facts[name] = share
            elif self.columns[name].n_distinct == 2:
                text = "the values are taken as grades; --pos-label names the positive class of"
                self.found.append(f"{name}: {text} two.")
            elif not self.names["qid"]:
                text = "measures of two classes take (rel>=X) after their names, as in"
                self.found.append(f"{name}: {text} 'auc(rel>=X)': labels from X on are positive.")
        notes: dict[str, list[str]] = {}
        for title, row in results.items():
            for note in dict.fromkeys(result.note for result in row if result.note):
                notes.setdefault(f": {note}.", []).append(title)
            if any(not isnan(result.estimate) for result in row):
                self.measured[title] = any(result.method for result in row)
        for with_limits, kind in ((True, "and interval"), (False, "only")):
            titles = [title for title, has in self.measured.items() if has == with_limits]
            self.can += [f"{', '.join(titles)}: value {kind}."] * bool(titles)
        self.blocked += [", ".join(titles) + rest for rest, titles in notes.items()]
        if not self.can:
            return
        if self.columns:
            self._describe_days(next(iter(results)))
            for name in self.rankings.scores:
                self._check_direction(name)
        if len(self.rankings.scores) > 1:
            title = self.rankings.usual_measures[0]
            try:
                compare_rankings(self.rankings, title, self._options("compare"))
                self.can.append(f"{title}: comparison.")
                self.compared = title
            except ValueError as error:
                self.blocked.append(f"{error}.")

    def _options(self, command: str) -> Namespace:
        """Options of another command: its own, with what is asked."""
        return Namespace(**vars(self.parser.parse_args([command])) | vars(self.asked))

    def call(self, options: dict[str, Any], command: str = "doctor") -> str:
        """A line that calls a command on this file."""
        paths = options.get("runs") or [self.options.file]
        paths = [os.path.join(".", path) if path.startswith("-") else path for path in paths]
        given = {name: x for name, x in options.items() if name not in NOT_OF_TABLE}
        return f"{self.options.prog} {shlex.join([command, *paths, *flags(given)])}"

    def lines(self) -> list[str]:
        """The lines to type."""
        commands = ["evaluate"] * bool(self.measured) + ["compare"] * bool(self.compared)
        asked = vars(self.asked) | {
            "negate": sorted({*(self.asked.negate or ())} ^ {*self.negated})
        }
        of_days = asked | self.daily | {"groups": None}
        lines = [self.call(asked, command) for command in commands]
        return lines + [self.call(of_days, x) for x in commands[-1:] * bool(self.daily)]

    def _evaluate(self) -> dict[str, list[Result]]:
        self.evaluated = self._options("evaluate")
        self.rankings = read_rankings(self.evaluated, self.columns)
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

    def _describe_each_day(self) -> None:
        """Say how many rows each day has, and find a line that measures its first ones."""
        for name in self.days if self.can and self.rankings.are_classes else ():
            codes = self.columns[name].codes.codes
            if codes.min() < 0:
                continue
            sizes = np.bincount(codes)
            labels = np.bincount(codes, ~np.isnan(self.rankings.rows["y_true"]))
            k, lacking = int(np.median(sizes)) // 10, np.count_nonzero(labels == 0)
            if not k and self.columns[name].are_times:
                self.found.append(
                    f"{name}: write a column of its days for the first rows of each day."
                )
            if k and lacking:
                self.found.append(
                    f"{name}: {lacking:,} of the {len(sizes):,} days have no label: leave out"
                    " their rows, or say by --entered and --resolved when labels came."
                )
            if lacking or not k:
                continue
            self.daily = {"qid": name, "measure": f"precision@{k}"}
            if self.asked.random_labels:  # of each day, whose shares may differ
                self.daily |= {"random_labels": None, "strata": name}
            asked = Namespace(**vars(self.evaluated) | self.daily | {"groups": None})
            first = next(iter(self.rankings.scores))
            of_day = read_rankings(asked, self.columns)
            if not (note := evaluate(of_day, first, f"precision@{k}", asked).note):
                self.found.append(
                    f"{name}: {len(sizes):,} days; {rows_of_each(sizes)}. The last line takes the"
                    f" first {k} of each day: write as many as you act on."
                )
                return
            self.blocked.append(f"precision@{k} of each {name!r}: {note}.")
            self.daily = {}

    def _check_direction(self, name: str) -> None:
        """Say whether a score orders the rows the wrong way, perfectly, or not surely at all."""
        result, what = direction_of(self.rankings, name, self.evaluated)
        if what:
            limits = f"[{fixed(result.low)}, {fixed(result.high)}]"
            if "reversed" in what:
                self.negated.append(name)
                what = "it looks reversed: the lines negate it, as if low scores are the best"
            self.found.append(
                f"{name}: {result.measure} {fixed(result.estimate)} {limits}, {what}."
            )

    def findings(self) -> Findings:
        title = (
            self.rankings.headed(self.rankings.usual_measures)
            if not self.columns
            else (
                f"{os.path.basename(title_of(self.options.file))}: {rows(self.n)},"
                f" {len(self.header)} columns"
            )
        )
        return Findings(
            title,
            (),
            tuple(self.found),
            tuple(self.can),
            tuple(self.blocked),
            tuple(self.lines()),
        )

    def as_json(self, findings: Findings) -> str:
        if self.columns:
            of: dict[str, Any] = {
                x: next(iter(self.names[x]), None) for x in ("label", "qid", "groups")
            }
            of |= {"file": self.options.file, "rows": self.n, "columns": self.header}
            of["scores"] = self.names["score"]
        else:
            of = {"runs": self.options.runs, "qrels": self.options.qrels}
        report = {
            "command": "doctor",
            "input": of,
            "found": self.found,
            "computable": self.can,
            "blocked": self.blocked,
            "commands": findings.lines,
        }
        return as_json(report)
