"""Rankings from the columns of a table."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from ..metrics import Measure
from ._columns import STDIN, Column, check_columns, read_columns, reading, without_header
from ._errors import CommandError, listed
from ._labels import Labels, ids_of, labels_of, numbers_of
from ._options import LABELS
from ._rankings import Rankings, read_measure
from ._sample import Sample, values_of_queries

__all__ = ["TableRankings"]


class TableRankings(Rankings):
    """Columns of a table."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        with reading(options.file):
            columns = read_columns(options.file, options.delimiter, self._chosen)
            self._read(columns)
        title = "standard input" if options.file == STDIN else os.path.basename(options.file)
        n_rows = len(self._labels.values)
        parts = [f"{n_rows:,} rows"]
        self.described = {
            "file": options.file,
            "rows": n_rows,
            "label": self._roles["label"],
            "pos_label": options.pos_label,
            "qid": self._roles["qid"],
            "groups": self._roles["groups"],
        }
        if self._qid is not None:
            self.described["queries"] = len(np.unique(self._qid))
            parts.append(f"{self.described['queries']:,} queries ({self._roles['qid']})")
        if self._groups is not None:
            found = len(np.unique(self._groups))
            parts.append(f"{found:,} groups ({self._roles['groups']})")
        self.heading = f"{title}: {', '.join([*parts, self._labels.shown])}"
        self.notes = []
        self.is_one_list = self._qid is None

    def _chosen(self, header: list[str]) -> list[str]:
        """Find the columns that are read, and what each is for."""
        options = self._options
        label = options.label or _usual_label(header)
        scores = options.score or [name for name in header if _is_usual_score(name)]
        if not scores:
            raise CommandError(
                f"no column of scores: name it with --score, one of {listed(header)}"
            )
        if options.one_list and options.qid:
            raise CommandError("--one-list and --qid exclude each other: leave out one of the two")
        qid = None if options.one_list else options.qid or ("qid" if "qid" in header else None)
        self.names = tuple(scores)
        self._roles = {"label": label, "qid": qid, "groups": options.groups}
        wanted = [label, *scores, *(name for name in (qid, options.groups) if name)]
        check_columns(wanted, header)
        twice = next((name for name in scores if [label, *scores].count(name) > 1), None)
        if twice is not None:
            raise CommandError(f"column {twice!r} is named twice as label or score: name it once")
        return wanted

    def _read(self, columns: dict[str, Column]) -> None:
        self._labels: Labels = labels_of(columns[self._roles["label"]], self._options.pos_label)
        self._scores = {name: numbers_of(columns[name]) for name in self.names}
        qid, groups = self._roles["qid"], self._roles["groups"]
        self._qid = ids_of(columns[qid]) if qid else None
        self._groups = ids_of(columns[groups]) if groups else None

    @property
    def usual_measures(self) -> tuple[str, ...]:
        """Measures that are taken where none is named."""
        classes = self._labels.are_classes
        if self._qid is not None:
            return ("ndcg@10", "ap", "rr") if classes else ("ndcg@10", "ndcg")
        return ("auc", "ap", "precision@top0.1") if classes else ("spearman", "tau_b")

    def measure(self, name: str) -> Measure:
        """Read the name of a measure."""
        convention = self._options.convention
        return read_measure(name, None if convention == "none" else convention)

    def sample(self, measure: Measure, names: Sequence[str]) -> Sample:
        """Make the sample of some of the columns. What the functions of inference take."""
        reason = self._labels.why_not(measure)
        if reason is not None:
            raise ValueError(reason)
        y_true, scores = self._labels.values, {name: self._scores[name] for name in names}
        if self._qid is None:
            return Sample(measure, y_true, scores, groups=self._groups)
        found = values_of_queries(measure, y_true, scores[names[0]], self._qid)
        return Sample(
            measure, y_true, scores, self._qid, self._groups, found.n_queries, found.n_undefined
        )


def _usual_label(header: Sequence[str]) -> str:
    found = [name for name in LABELS if name in header]
    if len(found) != 1:
        what = (
            f"the columns {listed(found)} could all be labels" if found else "no column of labels"
        )
        hint = without_header(header)
        raise CommandError(f"{what}: name it with --label, one of {listed(header)}{hint}")
    return found[0]


def _is_usual_score(name: str) -> bool:
    return name in ("score", "y_score") or name.startswith("score_")
