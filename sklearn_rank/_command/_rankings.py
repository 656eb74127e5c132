"""Rankings and labels from tables, runs and judgments, checked."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import (
    COMMAS,
    DOCUMENTS,
    KNOWN_IN_PART,
    are_usual_labels,
    check_level,
    check_resamples,
    codes_of_missing,
    has_commas,
    reads_as,
)
from .._warn import Message, collected, warn
from ..datasets import load_qrels, load_trec_run
from ..datasets._shared import JudgedRuns
from ..inference import LabelDesign
from ..metrics import get_measure
from ._columns import Roles, check_columns
from ._output import DESIGNS, CommandError, flag, listed
from ._table import Column, attempt, read_columns, title_of

WAYS = " or ".join(map(flag, DESIGNS))

# Options of tables, besides columns and designs.
TABLE = (
    "file",
    "label",
    "score",
    "negate",
    "one_list",
    "pos_label",
    "value",
    "missing",
    "delimiter",
)

# Options for labels known in part.
OF_DESIGNS = ("champion", "audit", "most_below", "proxy", "resolved", "horizon", "as_of")
IN_PART = (*DESIGNS, *OF_DESIGNS, "mature_only")

# Arguments of a design of the same names: of rows, and of all.
OF_ROWS = ("inclusion_probability", "proxy", "entered", "resolved")
OF_ALL = ("review_top", "audit", "most_below", "horizon", "mature_only")

# Options that are columns besides labels and scores, and how these are read.
COLUMNS = {
    **dict.fromkeys(("qid", "groups", "strata"), Column.ids),
    **dict.fromkeys(("inclusion_probability", "champion", "proxy"), Column.numbers),
    **dict.fromkeys(("entered", "resolved"), Column.times),
}

# Measures that are taken where none is named, of one list or of queries, and of classes or grades.
USUAL: dict[tuple[bool, bool], tuple[str, ...]] = {
    (True, True): ("auc", "ap", "precision@top0.1"),
    (True, False): ("spearman", "tau_b"),
    (False, True): ("ndcg@10", "ap", "rr"),
    (False, False): ("ndcg@10", "ndcg"),
}

# Options that need another one.
NEEDS = {
    **dict.fromkeys(("complete", "condensed", "shared"), "qrels"),
    "neg_label": "pos_label",
}


@dataclass
class Rankings:
    """Scores by name, with the labels of what they rank."""

    heading: str
    convention: str | None
    scores: dict[str, Any]
    rows: dict[str, Any]  # Other columns; of runs with a pool judgments and design
    are_classes: bool = False
    usual_measures: tuple[str, ...] = USUAL[False, True]
    runs: JudgedRuns | None = None

    def measure(self, name: str) -> Any:
        given = {} if self.convention in (None, "none") else {"convention": self.convention}
        try:
            if self.runs is None:
                return get_measure(name, **given) if given or "qid" in self.rows else name
            asked = name if self.convention is None else get_measure(name, **given)
            with collected() as messages:
                (measure,) = self.runs.measures(asked)
        except (TypeError, ValueError) as error:
            raise CommandError(f"--measure: {reason(error)}") from error
        _give(messages)
        if self.convention is None and getattr(measure.inner, "convention", None) is None:
            warn(f"{name} is not a measure of trec_eval: it follows its definition.", UserWarning)
        return measure

    def headed(self, titles: Sequence[str]) -> str:
        """What was read, and by which rules runs are measured."""
        if self.runs is None:
            return self.heading
        return self.heading + self.runs.rules([self.measure(title) for title in titles])

    def arguments(self, title: str, names: Sequence[str]) -> dict[str, Any]:
        """Arguments of ``compare`` for some of the rankings."""
        scores = {name: self.scores[name] for name in names}
        return {"measure": self.measure(title), "scores": scores, **self.rows}


def read_rankings(options: Namespace, columns: dict[str, Column] | None = None) -> Rankings:
    """Read what the options name, or take columns of a table that were read before."""
    names = set(given(options))
    for name, other in NEEDS.items():
        if name in names and other not in names:
            raise CommandError(f"{flag(name)} goes with {flag(other)}: pass both, or neither")
    if not names.intersection(DESIGNS) and names.intersection(IN_PART):
        what = flag(min(names.intersection(IN_PART)))
        raise CommandError(f"{what} is for labels known in part: pass it with {WAYS}")
    of_table = sorted(names.intersection((*TABLE, *COLUMNS, *IN_PART)) - {"pool"})
    if "qrels" in names and of_table:
        what = ", ".join(map(flag, of_table))
        raise CommandError(f"{what} and --qrels exclude each other: pass a table, or runs")
    if {"pool", "condensed"} <= names:
        raise CommandError("--pool and --condensed exclude each other: pass one of them")
    if not {"runs", "file"} & names:
        raise CommandError("there is no input: pass FILE first, or RUN and --qrels QRELS")
    try:
        check_level(options.level)
        check_resamples(getattr(options, "resamples", 99))
        return _read_runs(options) if "qrels" in names else _read_table(options, columns)
    except (TypeError, ValueError) as error:
        raise CommandError(reason(error)) from error


def _read_runs(options: Namespace) -> Rankings:
    """Read runs and judgments."""
    paths = options.runs
    names = [os.path.basename(path) for path in paths]
    names = names if len(set(names)) == len(names) else paths
    if len(set(paths)) < len(paths):
        raise CommandError(f"a run is named twice: {', '.join(paths)}")
    if "-" in (*paths, options.qrels):
        raise CommandError(
            "- is standard input, but runs and judgments are files: pass their names"
        )
    complete = True if options.complete else False if options.shared else None
    others = "unknown" if options.pool else "negative"
    unjudged = "left out" if options.condensed else others
    qrels = attempt(load_qrels, options.qrels, unjudged=unjudged, complete=complete)
    read = {name: attempt(load_trec_run, path) for name, path in zip(names, paths, strict=True)}
    with collected() as messages:
        runs = JudgedRuns.of(qrels, read)
        runs.warn_of_unjudged()
    _give(messages)
    n_judged = len(runs.queries)
    heading = f"{', '.join(names)} against {os.path.basename(options.qrels)}: {n_judged:,} queries"
    if options.pool:
        heading += "; relevance of unjudged documents unknown"
        qrels.complete = bool(complete)  # What is missing was told
        of_pool = {"y_true": qrels, "design": LabelDesign(pool=qrels)}
        return Rankings(heading, options.convention, read, of_pool, usual_measures=("ndcg@10",))
    y_true, scores, qid = runs.rows()
    rows = {"y_true": y_true, "qid": qid}
    return Rankings(heading, options.convention, scores, rows, runs=runs)


def _give(messages: Sequence[Message]) -> None:
    """Give warnings in words of the command."""
    for message, category in messages:
        warn(f"{reason(message)}.", category)


def _read_table(options: Namespace, columns: dict[str, Column] | None) -> Rankings:
    """Read columns of a table; options that were not given are those that are found."""
    roles = Roles(options)

    def choose(header: list[str]) -> list[str]:
        """Columns to read: all, if more than usual names is to tell what they are."""
        return _choose(roles) if roles.find(header) else list(filter(None, header))

    if columns is None:
        missing = options.missing or ()
        columns = read_columns(options.file, options.delimiter, missing, choose)
        if not roles.find(roles.header):
            roles.guess_all(columns)
        for text in roles.found:
            warn(text, UserWarning)
    else:
        roles.find(list(columns))
    used = _choose(roles)
    in_part = not given(options).keys().isdisjoint(DESIGNS)
    y_true = _read_labels(columns[options.label], options, in_part)
    read: dict[str, Any] = {
        name: take(columns[x]) if (x := getattr(options, name)) else None
        for name, take in COLUMNS.items()
    }
    design, as_of = None, options.as_of  # A time, or the column of one for each row
    if in_part:
        if as_of in columns:
            as_of = columns[as_of].times()
        elif reads_as(float, as_of):
            as_of = float(as_of)
        design = LabelDesign(
            strata=np.zeros(len(y_true)) if options.random_labels else read["strata"],
            scores=read["champion"],
            pool=~np.isnan(y_true) if options.pool else None,
            **{name: read[name] for name in OF_ROWS},
            **{name: getattr(options, name) for name in OF_ALL},
            as_of=as_of,
        )
    amounts = [
        float(x) if reads_as(float, x) else columns[x].numbers() for x in options.value or ()
    ]
    value = tuple(amounts) if len(amounts) > 1 else amounts[0] if amounts else None
    rows = {"y_true": y_true, "qid": read["qid"], "groups": read["groups"]}
    scores = {name: columns[name].numbers() for name in options.score}
    for name in options.negate or ():
        if name not in scores:
            raise CommandError(
                f"--negate {name} is no column of --score, which are {listed([*scores])}"
            )
        scores[name] = -scores[name]
    labels = y_true if design is None or design.entered is None else design.labels(y_true)
    known = labels[~np.isnan(labels)]
    parts = [f"{len(y_true):,} rows"] + [f"{len(known):,} with labels"] * (design is not None)
    for name, what in (("qid", "queries"), ("groups", "groups")):
        if rows[name] is not None:
            parts.append(f"{len(rows[name].distinct):,} {what} ({getattr(options, name)})")
    if are_classes := are_usual_labels(known):
        positive = " ".join(filter(None, (options.label, options.pos_label)))
        parts.append(f"{int((known == 1).sum()):,} positive ({positive})")
    else:
        parts.append(f"labels {known.min():g} to {known.max():g} ({options.label})")
    if unused := [x for x in roles.header if x and x not in used]:
        more = f" and {len(unused) - 3} more" * (len(unused) > 3)
        parts.append(f"not used: {', '.join(unused[:3])}{more}")
    usual = USUAL[rows["qid"] is None, are_classes]
    heading = f"{os.path.basename(title_of(options.file))}: {', '.join(parts)}"
    rows |= {"design": design, "value": value}
    return Rankings(heading, options.convention, scores, rows, are_classes, usual)


def _choose(roles: Roles) -> list[str]:
    """Set options to the columns that were found. The names of all that are read."""
    header, options = roles.header, roles.options
    labels, options.score = roles.names["label"], roles.names["score"]
    if len(labels) != 1:
        what = f"the columns {listed(labels)} could all be labels"
        of_run = "; a run is read with judgments, as of the same documents"
        of_run *= not set(DOCUMENTS).isdisjoint(header)
        raise CommandError(
            f"{what if labels else 'no column of labels'}: name it with --label, one of"
            f" {listed(header)}{of_run * (not labels)}",
            {"label": labels[0]} if labels else {},
        )
    if not options.score:
        raise CommandError(f"no column of scores: name it with --score, one of {listed(header)}")
    (options.label,), options.qid = labels, next(iter(roles.names["qid"]), None)
    names = [options.label, *options.score]
    twice = [name for name in options.score if names.count(name) > 1]
    if twice:
        raise CommandError(f"column {twice[0]!r} is named twice as label or score: name it once")
    names += filter(None, (getattr(options, name) for name in COLUMNS))
    names += [x for x in options.value or () if not reads_as(float, x)]
    names += [options.as_of] * (options.as_of in header)
    if both := [x for x in options.value or () if reads_as(float, x) and x in header]:
        raise CommandError(f"--value {both[0]} is a number and a column: rename the column")
    check_columns(names, header)
    return names


def _read_labels(column: Column, options: Namespace, in_part: bool) -> FloatArray:
    """Grades, or classes as 0 and 1; NaN where a label is missing."""
    if not in_part or not column.counts:
        why = KNOWN_IN_PART.partition("; ")[0] if column.counts else "as all others are"
        column.refuse_missing(f", {why}; say which rows have labels, by {WAYS}")
    counts, values = column.counts, column.values
    if options.pos_label is not None:
        values = _classes(column, options)
    elif {text.lower() for text in counts} <= {"true", "false"}:
        values = {text: float(text.lower() == "true") for text in counts}
    codes = codes_of_missing(list(values.values()))
    odd = [text for text in counts if text not in values or values[text] in codes]
    if odd:
        if all(map(has_commas, odd)):
            raise column.error(f"holds {in_rows(column, odd)}: {COMMAS}")
        what = "0, 1 and " if codes else "words, "
        error = column.error(
            f"holds {what}{in_rows(column, odd)}: name the positive class by --pos-label, what"
            " marks missing labels by --missing, and write grades as 0, 1, 2"
        )
        error.choice = (
            {"pos_label": min(sorted(odd, reverse=True), key=counts.__getitem__)}
            if len(counts) == 2
            else {}
        )
        raise error
    if not in_part and column.n_distinct == 1:
        raise column.error(f"is {next(iter(counts))!r} in all rows: pass rows of several labels")
    of_code = np.array([values[text] for text in counts] + [np.nan])
    return np.asarray(of_code[column.codes.codes])


def _classes(column: Column, options: Namespace) -> dict[str, float]:
    """Value of each class; a class that is neither the positive nor a negative one is refused."""
    named = [options.pos_label, *(options.neg_label or ())]
    positive, *negative = (float(x) if reads_as(float, x) else x for x in named)
    label = {text: column.values.get(text, text) for text in column.counts}
    for text, x in zip(named, (positive, *negative), strict=True):
        if x not in label.values():
            raise column.error(f"has no {text!r}: its labels are {listed(sorted(label))}")
    rest = [text for text, x in label.items() if x not in (positive, *negative)]
    if rest and (negative or len({label[text] for text in rest}) > 1):
        raise column.error(
            f"holds {in_rows(column, rest)} besides {', '.join(map(repr, named))}: name those that"
            " are negative by --neg-label, and those that mark missing labels by --missing"
        )
    return {text: float(x == positive) for text, x in label.items()}


def in_rows(column: Column, texts: Sequence[str]) -> str:
    more = f" and {len(texts) - 5} more values" if len(texts) > 5 else ""
    counts = [(text, column.counts[text]) for text in sorted(texts)[:5]]
    return ", ".join(f"{text!r} ({n:,} row{'s' * (n > 1)})" for text, n in counts) + more


def given(options: Namespace) -> dict[str, Any]:
    return {name: x for name, x in vars(options).items() if x is not None and x is not False}


# What an option is in messages of the package.
RENAMED = {
    "load_qrels(..., complete=True)": "--complete",
    "complete=False": "--shared",
    "load_qrels(..., unjudged='unknown') and design=LabelDesign(pool=qrels)": "--pool",
    "pass their scores by name": "pass another run, or both columns by --score",
    "its scores of all rows as scores=": "--champion",
    "scores belongs": "--champion belongs",
    "pass it as resolved": "pass --resolved",
    "review_top": "--review-top",
    ": did you mean": ", did you mean",
    "y_true": "the column of labels",
    "pos_label": "--pos-label",
    "qid": "--qid",
    "--n-resamples": "--resamples",
    " ,": ",",
    "get_measure_names() lists": "--list-measures prints",
}
NAMES = (
    "method|level|baseline|margin|alternative|n_resamples|review_top|audit|most_below|value|groups"
    "|horizon|strata"
)


def reason(error: Exception | str) -> str:
    """Say what is wrong in words of the command: a message without remedies of Python."""
    text = re.sub(rf"\b({NAMES})=", lambda found: f"{flag(found[1])} ", str(error).rstrip("."))
    for name, instead in RENAMED.items():
        text = text.replace(name, instead)
    what, _, remedy = text.partition(": ")
    if not re.search(r"[(=\[]", remedy):
        return text
    if what.endswith("for two"):
        what += ": pass --pos-label and --neg-label, or relevant grades, as in 'auc(rel>=2)'"
    return what
