"""Rankings and labels from tables, runs and judgments, checked."""

from __future__ import annotations

import os
import shlex
import warnings
from argparse import Namespace
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._typing import AnyArray, FloatArray
from .._validation import KNOWN_IN_PART, codes_of_missing, reads_as
from ..datasets import join_qrels, load_qrels, load_trec_run
from ..inference import LabelDesign
from ..metrics import Measure, get_measure, make_measure
from ._output import LABELS, CommandError, did_you_mean, listed
from ._table import Column, attempt, names_of, read_columns, title_of


class MeasureInput(NamedTuple):
    """What ``metric_interval`` and ``compare`` take, and counts of queries."""

    measure: Measure
    y_true: Any
    scores: dict[str, Any]
    qid: Any = None
    groups: Any = None  # Ids of groups that depend on each other
    n_queries: int | None = None  # Those without a value included; None is one list
    n_undefined: int = 0  # Number of queries where the measure is undefined
    design: Any = None  # How labels that are known in part came about

    def value(self, name: str) -> float:
        """Evaluate the measure, without an interval. The value; NaN where it is undefined."""
        if not len(self.y_true):
            return float("nan")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return float(self.measure(self.y_true, self.scores[name], qid=self.qid))


def _value(y_true: AnyArray, y_score: FloatArray) -> float:
    """The value of a query stands in the place of the score of its only row."""
    return float(y_score[0])


def _values_of_queries(
    measure: Measure, y_true: Any, y_score: Any, qid: Any, ideal: Any = None
) -> tuple[AnyArray, FloatArray, int, int]:
    """Ids and values of the queries that have one; numbers of all queries, of undefined ones."""
    lists = measure.lists(y_true, y_score, qid=qid, ideal=ideal)
    undefined = np.isnan(measure.values(lists))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values, ids = measure.of_lists(lists, average=None, return_qid=True)
    defined = ~np.isnan(values)
    return ids[defined], values[defined], len(ids), int(undefined.sum())


def read_measure(name: str, convention: str | None) -> Measure:
    given = {} if convention is None else {"convention": convention}
    try:
        return get_measure(name, **given)
    except (TypeError, ValueError) as error:
        text = str(error).replace("get_measure_names() lists", "--list-measures prints")
        raise CommandError(f"--measure: {text}".rstrip(".")) from error


# Systems that order tied documents by their names, as trec_eval does.
BY_NAMES = ("trec_eval", "gdeval", "ranx")
# Systems of which runs and judgments are input.
OF_RUNS = ("none", *BY_NAMES)


class RunRankings:
    """Runs and judgments of TREC."""

    is_one_list = False  # With all labels
    are_classes = False  # Judgments are grades
    # Measures that are taken where none is named; the first one for a comparison.
    usual_measures: tuple[str, ...] = ("ndcg@10", "ap", "rr")

    def __init__(self, options: Namespace) -> None:
        self._is_default = options.convention is None
        self._convention = options.convention or "trec_eval"
        if self._convention not in OF_RUNS:
            raise CommandError(
                f"--convention {self._convention} is not for runs: pass one of {listed(OF_RUNS)}"
            )
        qrels = attempt(load_qrels, options.qrels)
        ties = "trec" if self._convention in BY_NAMES else "mean"
        self.notes: list[str] = []
        self._joined = {}
        paths = options.run
        if len(set(paths)) < len(paths):
            twice = next(path for path in paths if paths.count(path) > 1)
            raise CommandError(f"--run {twice} is given twice: give it once")
        names = [os.path.basename(path) for path in paths]
        if len(set(names)) < len(names):
            names = paths
        for name, path in zip(names, paths, strict=True):
            run = attempt(load_trec_run, path, ties=ties)
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
        against = os.path.basename(options.qrels)
        self.heading = f"{', '.join(self.names)} against {against}: {judged:,} judged queries"
        if self._convention != "none":
            self.heading += f", as {self._convention}"
        self.described: dict[str, Any] = {
            "runs": list(options.run),
            "qrels": options.qrels,
            "queries": judged,
            "convention": self._convention,
            "complete": options.complete,
        }

    def _note(self, name: str, complete: bool) -> None:
        both = self._joined[name]
        # The document without a name that stands for a missing query is not one of the run.
        documents = ~np.isin(both.qid, both.missing if complete else [])
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

    def measure(self, name: str) -> Measure:
        measure = read_measure(name, None)
        if self._convention != "none":
            try:
                return read_measure(name, self._convention)
            except CommandError:
                if not self._is_default:
                    raise
            note = f"{name} is not a measure of {self._convention}: it follows its definition."
            if note not in self.notes:
                self.notes.append(note)
        if measure.kind == "graded" or measure.rel is not None:
            return measure
        return get_measure(name, rel=1)

    def sample(self, measure: Measure, names: Sequence[str]) -> MeasureInput:
        """Make the sample of some of the runs, on the queries that they share."""
        results = {}
        for name in names:
            both = self._joined[name]
            ideal = both.ideal if "ideal" in measure.takes_relevant else None
            results[name] = _values_of_queries(measure, both.y_true, both.y_score, both.qid, ideal)
        shared = sorted(set.intersection(*(set(ids.tolist()) for ids, *_ in results.values())))
        ids, _, n_queries, _ = results[names[0]]
        of_values = make_measure(
            _value,
            name=measure.in_grammar()[0],  # the convention stands in the heading
            kind="graded",
            range=measure.counted_range,
            greater_is_better=measure.greater_is_better,
        )
        return MeasureInput(
            of_values,
            np.zeros(len(shared)),
            {name: values[np.isin(ids, shared)] for name, (ids, values, *_) in results.items()},
            qid=ids[np.isin(ids, shared)],
            n_queries=n_queries,
            n_undefined=max(n_undefined for *_, n_undefined in results.values()),
        )


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"


# Options for labels known in part; one of the first four says which rows have labels.
DESIGNS = ("review_top", "strata", "inclusion_probability", "pool", "random_labels")
DESIGN_OPTIONS = (*DESIGNS, "champion", "proxy", "audit", "most_below")


def _numbers_of_labels(column: Column, options: Namespace) -> FloatArray:
    """Grades, or classes as 0 and 1; NaN where a label is missing."""
    counts, values = column.counts, column.values
    if options.pos_label is not None:
        values = _classes(column, options.pos_label, options.neg_label or ())
    elif options.neg_label:
        raise CommandError("--neg-label goes with --pos-label: pass both")
    elif {text.lower() for text in counts} <= {"true", "false"}:
        values = {text: float(text.lower() == "true") for text in counts}
    elif not values:
        rarest = min(reversed(list(counts)), key=counts.__getitem__)
        raise _error_of_labels(
            column,
            f"holds words ({listed(list(counts))}): name the positive class, as in --pos-label"
            f" {shlex.quote(rarest)}",
        )
    elif odd := [text for text in counts if text not in values]:
        raise _error_of_labels(
            column,
            f"holds numbers and {in_rows(column, odd)}: if that marks missing labels, pass"
            f" --missing {shlex.join(odd[:3])}; if numbers are the negative ones, --pos-label",
        )
    codes = codes_of_missing(list(values.values()))
    if codes and options.pos_label is None:
        marks = [text for text, value in values.items() if value in codes]
        raise _error_of_labels(
            column,
            f"holds 0, 1 and {in_rows(column, marks)}: if that marks missing labels, pass"
            f" --missing {shlex.join(marks)}; if it is a grade, write the grades as 0, 1 and 2",
        )
    of_code = np.array([values[text] for text in counts] + [np.nan])
    return np.asarray(of_code[column.codes.codes])


def _classes(column: Column, pos_label: str, neg_labels: Sequence[str]) -> dict[str, float]:
    """Value of each class; a class that is neither the positive nor a negative one is refused."""

    def named(texts: Sequence[str], option: str) -> list[str]:
        numbers = {float(text) for text in texts if reads_as(float, text)}
        found = [t for t in column.counts if t in texts or column.values.get(t) in numbers]
        if not found:
            raise CommandError(
                f"{option} {listed(texts)} is not in column {column.name!r}: its labels are"
                f" {listed(list(column.counts))}"
            )
        return found

    positive = named([pos_label], "--pos-label")
    others = [text for text in column.counts if text not in positive]
    negative = named(neg_labels, "--neg-label") if neg_labels else others[:1]
    if rest := [text for text in others if text not in negative]:
        which = negative * (not neg_labels) + rest
        raise _error_of_labels(
            column,
            f"holds {in_rows(column, which)} besides {pos_label!r}: name those that are negative"
            " by --neg-label, and those that mark missing labels by --missing",
        )
    return dict.fromkeys(negative, 0.0) | dict.fromkeys(positive, 1.0)


def in_rows(column: Column, texts: Sequence[str]) -> str:
    more = f" and {len(texts) - 5} more values" if len(texts) > 5 else ""
    counts = [(text, column.counts[text]) for text in texts[:5]]
    return ", ".join(f"{text!r} ({n:,} row{'s' * (n > 1)})" for text, n in counts) + more


def _error_of_labels(column: Column, what: str) -> CommandError:
    return CommandError(f"{column.title}: column {column.name!r} {what}")


def _read_labels(column: Column, options: Namespace, *, in_part: bool) -> FloatArray:
    """Labels of all rows; those that are missing are NaN, and need an option that says why."""
    values = _numbers_of_labels(column, options) if column.counts else None
    if values is None or (column.n_missing and not in_part):
        why = KNOWN_IN_PART.partition("; ")[0] if column.counts else "as all others are"
        *others, last = map(flag, DESIGNS)
        row = column.texts.is_null().index(True).as_py()
        raise column.error(
            row, f"is missing, {why}; say which rows have labels, by {', '.join(others)} or {last}"
        )
    if not in_part and np.ptp(values) == 0.0:
        raise _error_of_labels(
            column,
            f"is {next(iter(column.counts))!r} in all rows, so that no order is better than"
            " another: pass rows of both classes, or of several grades",
        )
    return values


def _read_design(options: Namespace, columns: dict[str, Column], y_true: FloatArray) -> Any:
    """How labels that are known in part came about, with predictions of the others."""

    def numbers(name: str) -> FloatArray | None:
        column = getattr(options, name)
        return columns[column].numbers() if column else None

    if not any(getattr(options, name) for name in DESIGNS):
        return None
    strata: Any = columns[options.strata].ids() if options.strata else None
    if options.random_labels:
        if not options.proxy:
            return "all"
        strata = np.zeros(len(columns[options.proxy]))
    return LabelDesign(
        inclusion_probability=numbers("inclusion_probability"),
        strata=strata,
        review_top=options.review_top,
        audit=options.audit,
        scores=numbers("champion"),
        most_below=options.most_below,
        pool=~np.isnan(y_true) if options.pool else None,
        proxy=numbers("proxy"),
    )


def is_usual_score(name: str) -> bool:
    """Whether a column is a score where no option names one."""
    return name in ("score", "y_score") or name.startswith("score_")


def check_columns(names: Sequence[str], header: Sequence[str]) -> None:
    for name in names:
        if name not in header:
            raise CommandError(
                f"there is no column {name!r}{did_you_mean(name, header) or ';'}"
                f" the columns are {names_of(header)}"
            )
        if (count := header.count(name)) > 1:
            raise CommandError(f"{count} columns are called {name!r}: rename them")


class TableRankings:
    """Columns of a table."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        ways = [name for name in DESIGNS if getattr(options, name)]
        if len(ways) > 1:
            raise CommandError(f"{flag(ways[0])} and {flag(ways[1])} exclude each other")
        if bool(options.review_top) != bool(options.champion):
            raise CommandError("--review-top and --champion go together: pass both")
        if not options.review_top:
            _refuse(options, ("audit", "most_below"), "for --review-top")
        if not ways:
            names = ", ".join(map(flag, DESIGNS))
            _refuse(options, ("proxy",), f"for labels known in part, with one of {names}")
        columns = read_columns(
            options.file, options.delimiter, options.missing or (), self._choose_columns
        )
        label = columns[self._label]
        self._y_true = _read_labels(label, options, in_part=bool(ways))
        self._design = _read_design(options, columns, self._y_true)
        self._scores = {name: columns[name].numbers() for name in self.names}
        self._qid = columns[self._query].ids() if self._query else None
        self._groups = columns[options.groups].ids() if options.groups else None
        self._known = self._y_true[~np.isnan(self._y_true)]
        distinct = set(np.unique(self._known).tolist())
        self.are_classes = distinct <= {0.0, 1.0} or distinct <= {-1.0, 1.0}
        self.notes: list[str] = []
        self.is_one_list = self._qid is None and self._design is None
        self.described: dict[str, Any] = {
            "file": options.file,
            "rows": len(self._y_true),
            "label": self._label,
            "pos_label": options.pos_label,
            "qid": self._query,
            "groups": options.groups,
        }
        parts = [f"{len(self._y_true):,} rows"]
        if self._design is not None:
            given = vars(options)
            self.described |= {key: given[key] for key in DESIGN_OPTIONS}
            parts.append(f"{len(self._known):,} with labels")
        if self._qid is not None:
            self.described["queries"] = len(self._qid.distinct)
            parts.append(f"{self.described['queries']:,} queries ({self._query})")
        if self._groups is not None:
            parts.append(f"{len(self._groups.distinct):,} groups ({options.groups})")
        if self.are_classes:
            positive = " ".join(filter(None, (self._label, options.pos_label)))
            parts.append(f"{int((self._y_true == 1).sum()):,} positive ({positive})")
        else:
            low, high = self._known.min(), self._known.max()
            parts.append(f"labels {low:g} to {high:g} ({self._label})")
        self.heading = f"{os.path.basename(title_of(options.file))}: {', '.join(parts)}"

    def _choose_columns(self, header: list[str]) -> list[str]:
        """Find the columns that are read, and what each is for."""
        options = self._options
        label = options.label
        if not label:
            labels = [name for name in LABELS if name in header]
            if len(labels) != 1:
                what = f"the columns {listed(labels)} could all be labels"
                raise CommandError(
                    f"{what if labels else 'no column of labels'}: name it with --label, one of"
                    f" {names_of(header)}"
                )
            (label,) = labels
        scores = options.score or list(filter(is_usual_score, header))
        if not scores:
            raise CommandError(
                f"no column of scores: name it with --score, one of {listed(header)}"
            )
        if options.one_list and options.qid:
            raise CommandError("--one-list and --qid exclude each other: leave out one of the two")
        qid = None if options.one_list else options.qid or ("qid" if "qid" in header else None)
        of_labels = (
            options.strata,
            options.inclusion_probability,
            options.champion,
            options.proxy,
        )
        others = (qid, options.groups, *of_labels)
        names = [label, *scores, *filter(None, others)]
        check_columns(names, header)
        twice = next((name for name in scores if [label, *scores].count(name) > 1), None)
        if twice is not None:
            raise CommandError(f"column {twice!r} is named twice as label or score: name it once")
        self.names, self._label, self._query = tuple(scores), label, qid
        return names

    @property
    def usual_measures(self) -> tuple[str, ...]:
        """Measures that are taken where none is named; the first one for a comparison."""
        if self._qid is not None:
            return ("ndcg@10", "ap", "rr") if self.are_classes else ("ndcg@10", "ndcg")
        return ("auc", "ap", "precision@top0.1") if self.are_classes else ("spearman", "tau_b")

    def measure(self, name: str) -> Measure:
        convention = self._options.convention
        return read_measure(name, None if convention == "none" else convention)

    def sample(self, measure: Measure, names: Sequence[str]) -> MeasureInput:
        """Make the sample of some of the columns."""
        y_true, scores = self._y_true, {name: self._scores[name] for name in names}
        n_queries, n_undefined = self.described.get("queries"), 0
        if self._design is None and self._qid is not None:
            *_, n_queries, n_undefined = _values_of_queries(
                measure, y_true, scores[names[0]], self._qid
            )
        rest = self._qid, self._groups, n_queries, n_undefined, self._design
        return MeasureInput(measure, y_true, scores, *rest)


# Scores by name, with the labels of what they rank.
Rankings: TypeAlias = RunRankings | TableRankings


def read_rankings(options: Namespace) -> Rankings:
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
    _refuse(options, (*table, *DESIGN_OPTIONS), "for a table")
    return RunRankings(options)


def _refuse(options: Namespace, names: Sequence[str], meant: str) -> None:
    for name in names:
        value = getattr(options, name)
        if value is not None and value is not False:
            raise CommandError(f"{flag(name)} is {meant}: leave it out")


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
