"""``evaluate``: each measure of each column of scores or run, with its interval."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict, dataclass
from math import isnan, nan
from re import sub
from typing import Any

from .._printed import fixed
from ..inference import metric_interval
from ..metrics import Measure, get_measure_names
from ._errors import CommandError
from ._input import read_rankings
from ._rankings import Rankings, our_name
from ._sample import Sample
from ._tables import aligned, as_csv, as_json, sentences, write

__all__ = ["ONE_LIST", "reason", "run_evaluate", "undefined_note"]

# Why a measure of one list has no interval.
ONE_LIST = "one list is a single query and shows no spread; --qid names the queries"


@dataclass(frozen=True)
class Result:
    """One measure of one ranking; its fields are the columns of the CSV output."""

    score: str  # Column of scores, or run
    measure: str  # Name of the measure, as the user wrote it
    value: float = nan  # Its value; NaN where it has none
    low: float = nan  # Limits of the interval; NaN where there is none
    high: float = nan  # Limits of the interval; NaN where there is none
    level: float = nan
    method: str = ""  # How the interval was made
    target: str = ""  # The quantity that the interval is for
    standard_error: float | None = None  # Standard error of the value, where the method has one
    n_queries: int | None = None  # Number of queries; None is one list
    n_undefined: int = 0  # Number of queries where the measure is undefined
    note: str = ""  # Why there is no value or no interval


def run_evaluate(options: Namespace) -> None:
    """Evaluate rankings and write the results."""
    if options.list_measures:
        write("".join(f"{name}\n" for name in get_measure_names()), options.output)
        return
    rankings = read_rankings(options)
    notes: list[str] = []
    results = []
    for title in dict.fromkeys(map(our_name, options.measure or rankings.usual_measures)):
        measure = rankings.measure(title)
        found = [evaluate(rankings, name, title, measure, options) for name in rankings.names]
        notes += _notes(found, measure)
        results += found
    if all(isnan(result.value) for result in results):
        raise CommandError("; ".join(dict.fromkeys(notes)).rstrip("."))
    notes = list(dict.fromkeys([*rankings.notes, *notes]))
    write(_written(rankings, results, notes, options), options.output)


def evaluate(
    rankings: Rankings, name: str, title: str, measure: Measure, options: Namespace
) -> Result:
    """Evaluate one ranking by one measure. Value and interval, or why they are absent."""
    try:
        sample = rankings.sample(measure, (name,))
        value = sample.value(name)
    except ValueError as error:
        return Result(name, title, note=reason(error))
    counts: dict[str, Any] = {"n_queries": sample.n_queries, "n_undefined": sample.n_undefined}
    if isnan(value):
        note = "" if sample.n_undefined else f"undefined ({measure.lacking})"
        return Result(name, title, **counts, note=note)
    try:
        found = _interval(sample, name, options)
    except ValueError as error:
        alone = measure.per_query and sample.qid is None and sample.groups is None
        why = ONE_LIST if alone and options.method == "auto" else reason(error)
        return Result(name, title, value, **counts, note=f"no interval: {why}")
    return Result(
        name,
        title,
        found.estimate,
        found.low,
        found.high,
        found.level,
        found.method,
        found.target,
        found.standard_error,
        **counts,
    )


def _interval(sample: Sample, name: str, options: Namespace) -> Any:
    return metric_interval(
        sample.measure,
        sample.y_true,
        sample.scores[name],
        **sample.given,
        level=options.level,
        method=options.method,
        n_resamples=options.resamples,
        random_state=options.seed,
    )


def reason(error: ValueError) -> str:
    """Shorten a message of the library to what is wrong, without what to pass in Python."""
    text = str(error).replace("y_true", "the column of labels")
    ends = [text.find(mark) for mark in (": pass", "; pass", ": leave")]
    text = text[: min([end for end in ends if end >= 0], default=len(text))].rstrip(".")
    return sub(r"\bmethod='(\w+)'", r"--method \1", text)


def undefined_note(title: str, measure: Measure, n_undefined: int, n_queries: int) -> str:
    """Say for how many queries a measure is undefined."""
    lacking = "no relevant item" if measure.lacking.startswith("no ") else measure.lacking
    became = "left out" if measure.undefined == "skip" else f"counted as {measure.undefined:g}"
    return f"{title} undefined for {n_undefined:,} of {n_queries:,} queries ({lacking}): {became}."


def _notes(found: list[Result], measure: Measure) -> list[str]:
    """Say what the results of one measure lack, once where it is the same for all rankings."""
    notes: dict[str, list[str]] = {}
    for one in found:
        if one.n_undefined and one.n_queries:
            note = undefined_note(one.measure, measure, one.n_undefined, one.n_queries)
            notes.setdefault(note, []).append(one.score)
        if one.note:
            notes.setdefault(f"{one.measure}: {one.note}.", []).append(one.score)
    return [
        note if len(names) == len(found) else f"{', '.join(names)}: {note}"
        for note, names in notes.items()
    ]


def _written(
    rankings: Rankings, results: list[Result], notes: list[str], options: Namespace
) -> str:
    if options.format == "csv":
        return as_csv([asdict(result) for result in results])
    if options.format == "json":
        return as_json(
            {
                "command": "evaluate",
                "input": rankings.described,
                "level": options.level,
                "results": [asdict(result) for result in results],
                "notes": notes,
            }
        )
    rows = [("score", "measure", "value", f"{100 * options.level:g} % interval", "method")]
    for one in results:
        rows.append(
            (
                one.score,
                one.measure,
                "-" if isnan(one.value) else fixed(one.value),
                "-" if isnan(one.low) else f"[{fixed(one.low)}, {fixed(one.high)}]",
                one.method,
            )
        )
    return f"{rankings.heading}\n\n{aligned(rows, left=(0, 1, 4))}{sentences(notes)}"
