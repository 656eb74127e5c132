"""Rankings and labels from files: a table, or runs and judgments of TREC."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from argparse import Namespace
from collections.abc import Sequence
from re import search
from typing import Any

import numpy as np

from ..datasets import join_qrels, load_qrels, load_trec_run
from ..metrics import Measure, get_measure, get_measure_names
from ._columns import STDIN, Column, check_columns, read_columns, reading, without_header
from ._errors import CommandError, did_you_mean, listed
from ._labels import Labels, ids_of, labels_of, numbers_of
from ._options import LABELS
from ._sample import Sample, values_of_queries

__all__ = ["Rankings", "read_rankings"]

# Systems that order tied documents by their names, as trec_eval does.
BY_NAMES = ("trec_eval", "gdeval", "ranx")
# Systems of which runs and judgments are input.
OF_RUNS = ("none", *BY_NAMES)


class Rankings(ABC):
    """Scores by name, with the labels of what they rank.

    Attributes
    ----------
    names : tuple of str
        Columns of scores, or runs.
    heading : str
        What was read, in one line.
    described : dict
        The same for JSON.
    notes : list of str
        Sentences about the input.
    is_one_list : bool
        Whether there are no queries.
    """

    names: tuple[str, ...]
    heading: str
    described: dict[str, Any]
    notes: list[str]

    is_one_list: bool

    @property
    @abstractmethod
    def usual_measures(self) -> tuple[str, ...]:
        """Measures that are taken where none is named; the first one for a comparison."""

    @abstractmethod
    def measure(self, name: str) -> Measure:
        """Read the name of a measure.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        Measure
            The measure, by the convention that was asked for.
        """

    @abstractmethod
    def sample(self, measure: Measure, names: Sequence[str]) -> Sample:
        """Make the sample of some of the rankings.

        Parameters
        ----------
        measure : Measure
            The measure.
        names : sequence of str
            The rankings.

        Returns
        -------
        Sample
            What the functions of inference take.

        Raises
        ------
        ValueError
            If the measure does not take these labels.
        """

    def named(self, name: str) -> str:
        """Find a ranking by what the user calls it.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        str
            The name that it has here.
        """
        if name in self.names:
            return name
        raise CommandError(
            f"--baseline {name!r} is none of {listed(self.names)}{did_you_mean(name, self.names)}"
        )


def read_rankings(options: Namespace) -> Rankings:
    """Read the files of the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of ``evaluate`` or ``compare``.

    Returns
    -------
    Rankings
        What was read.
    """
    if options.run is None and options.qrels is None:
        if options.file is None:
            raise CommandError(
                "there is no input: pass FILE before the options, or --run RUN --qrels QRELS"
            )
        _refuse(options, ("complete",), "for --run and --qrels")
        return TableRankings(options)
    if options.run is None or options.qrels is None:
        raise CommandError("--run and --qrels go together: pass both")
    if options.file is not None:
        raise CommandError(f"pass FILE ({options.file}) or --run and --qrels, not both")
    table = ("label", "score", "qid", "one_list", "groups", "pos_label", "delimiter")
    _refuse(options, table, "for a table")
    return RunRankings(options)


def _refuse(options: Namespace, names: Sequence[str], meant: str) -> None:
    for name in names:
        if getattr(options, name):
            raise CommandError(f"--{name.replace('_', '-')} is {meant}: leave it out")


class TableRankings(Rankings):
    """Columns of a table.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """

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
        """Read the name of a measure.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        Measure
            The measure.
        """
        convention = self._options.convention
        return _measure(name, None if convention == "none" else convention)

    def sample(self, measure: Measure, names: Sequence[str]) -> Sample:
        """Make the sample of some of the columns.

        Parameters
        ----------
        measure : Measure
            The measure.
        names : sequence of str
            The columns.

        Returns
        -------
        Sample
            What the functions of inference take.
        """
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


class RunRankings(Rankings):
    """Runs and judgments of TREC.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """

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
        """Read the name of a measure.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        Measure
            The measure, from relevance 1 on; by the definition where trec_eval does not have it.
        """
        measure = _measure(name, None)
        if self._convention != "none":
            try:
                return _measure(name, self._convention)
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
        """Make the sample of some of the runs, on the queries that they share.

        Parameters
        ----------
        measure : Measure
            The measure.
        names : sequence of str
            The runs.

        Returns
        -------
        Sample
            One row for each query.
        """
        takes = "ideal" in measure.takes_relevant
        found = {}
        for name in names:
            both = self._joined[name]
            ideal = both.ideal if takes else None
            found[name] = values_of_queries(measure, both.y_true, both.y_score, both.qid, ideal)
        return Sample.of_values(measure, found)


def _measure(name: str, convention: str | None) -> Measure:
    try:
        measure = get_measure(name)
    except (TypeError, ValueError) as error:
        # The library knows other spellings too, such as those of scikit-learn.
        near = search(r"did you mean '([^']+)'", str(error))
        hint = f"; did you mean {near[1]!r}?" if near else did_you_mean(name, get_measure_names())
        raise CommandError(
            f"--measure: there is no measure {name!r}{hint or ';'} --list-measures prints all"
        ) from error
    if convention is None:
        return measure
    try:
        return get_measure(name, convention=convention)
    except TypeError:
        raise CommandError(
            f"--measure {name} has no --convention: leave out one of them"
        ) from None
    except ValueError as error:
        raise CommandError(f"--measure {name}: {error}") from error


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
