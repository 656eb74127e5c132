"""Rankings from runs and judgments of TREC."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..datasets import join_qrels, load_qrels, load_trec_run
from ..metrics import Measure, get_measure
from ._columns import reading
from ._errors import CommandError, listed
from ._rankings import Rankings, read_measure
from ._sample import Sample, values_of_queries

__all__ = ["RunRankings"]

# Systems that order tied documents by their names, as trec_eval does.
BY_NAMES = ("trec_eval", "gdeval", "ranx")
# Systems of which runs and judgments are input.
OF_RUNS = ("none", *BY_NAMES)


class RunRankings(Rankings):
    """Runs and judgments of TREC."""

    def __init__(self, options: Namespace) -> None:
        self.is_one_list = False
        self._asked = options.convention
        self._convention = options.convention or "trec_eval"
        if self._convention not in OF_RUNS:
            raise CommandError(
                f"--convention {self._convention} is not for runs: pass one of {listed(OF_RUNS)}"
            )
        qrels = _loaded(load_qrels, options.qrels)
        ties = "trec" if self._convention in BY_NAMES else "mean"
        self.notes = []
        self._joined = {}
        for name, path in _names_of(options.run).items():
            run = _loaded(load_trec_run, path, ties=ties)
            try:
                self._joined[name] = join_qrels(run, qrels, complete=options.complete)
            except ValueError:
                raise CommandError(
                    f"{path} and {options.qrels} have no query in common: the run has"
                    f" {str(run.qid[0])!r}, the judgments {str(qrels.qid[0])!r}"
                ) from None
            self._note(name, options.complete)
        self.names = tuple(self._joined)
        judged = len(set(qrels.qid.tolist()))
        runs = ", ".join(self.names)
        self.heading = (
            f"{runs} against {os.path.basename(options.qrels)}: {judged:,} judged queries"
        )
        if self._convention != "none":
            self.heading += f", as {self._convention}"
        self.described = {
            "runs": list(options.run),
            "qrels": options.qrels,
            "queries": judged,
            "convention": self._convention,
            "complete": options.complete,
        }

    def _note(self, name: str, complete: bool) -> None:
        """Say what the run and the judgments do not share."""
        both = self._joined[name]
        missing = both.missing if complete else []
        # The document without a name that stands for a missing query is not one of the run.
        documents = ~np.isin(both.qid, missing)
        total, unjudged = int(documents.sum()), int((~both.judged[documents]).sum())
        if unjudged:
            self.notes.append(
                f"{name}: {unjudged:,} of {total:,} documents are not judged and count as not"
                " relevant."
            )
        if both.missing:
            became = "counted as 0" if complete else "left out; --complete counts 0 instead"
            self.notes.append(
                f"{name}: no document for {_queries(len(both.missing))} of the judgments, first"
                f" {both.missing[0]!r}: {became}."
            )
        if both.unjudged:
            self.notes.append(
                f"{name}: {_queries(len(both.unjudged))} without judgments, first"
                f" {both.unjudged[0]!r}: left out."
            )

    @property
    def usual_measures(self) -> tuple[str, ...]:
        """Measures that are taken where none is named."""
        return ("ndcg@10", "ap", "rr")

    def measure(self, name: str) -> Measure:
        """Read the name of a measure."""
        measure = read_measure(name, None)
        if self._convention != "none":
            try:
                return read_measure(name, self._convention)
            except CommandError:
                if self._asked is not None:
                    raise
            note = f"{name} is not a measure of {self._convention}: it follows its definition."
            if note not in self.notes:
                self.notes.append(note)
        if measure.kind == "graded" or measure.rel is not None:
            return measure
        return get_measure(name, rel=1)

    def sample(self, measure: Measure, names: Sequence[str]) -> Sample:
        """Make the sample of some of the runs, on the queries that they share."""
        takes = "ideal" in measure.takes_relevant
        found = {}
        for name in names:
            both = self._joined[name]
            ideal = both.ideal if takes else None
            found[name] = values_of_queries(measure, both.y_true, both.y_score, both.qid, ideal)
        return Sample.of_values(measure, found)


def _names_of(paths: Sequence[str]) -> dict[str, str]:
    """Short names of runs: the names of their files, or the paths where these are alike."""
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise CommandError(f"--run {twice} is given twice: give it once")
    short = [os.path.basename(path) for path in paths]
    return dict(zip(paths if len(set(short)) < len(short) else short, paths, strict=True))


def _loaded(load: Any, path: str, **how: Any) -> Any:
    with reading(path):
        try:
            return load(path, **how)
        except ValueError as error:
            raise CommandError(str(error).rstrip(".")) from error


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"
