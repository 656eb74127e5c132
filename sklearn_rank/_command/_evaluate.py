"""``evaluate`` and ``compare``: measures of columns or runs, and differences, with intervals."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict, dataclass
from math import isnan, nan
from re import sub
from textwrap import fill
from typing import Any

from .._printed import fixed
from ..inference import Comparison, compare, metric_interval
from ..metrics import Measure, get_measure_names
from ._errors import CommandError
from ._input import Rankings, Sample, our_name, read_rankings
from ._tables import WIDTH, aligned, as_csv, as_json, sentences, write

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
    write(_evaluation_texts(rankings, results, notes, options), options.output)


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


def _evaluation_texts(
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


def run_compare(options: Namespace) -> None:
    """Compare rankings and write the results."""
    if options.list_measures:
        write("".join(f"{name}\n" for name in get_measure_names()), options.output)
        return
    rankings = read_rankings(options)
    if len(rankings.names) < 2:
        more = "--score" if options.run is None else "--run"
        raise CommandError(f"there is only {rankings.names[0]!r}: pass two or more to {more}")
    if options.baseline is not None:
        options.baseline = rankings.named(options.baseline)
    found: dict[str, Comparison] = {}
    notes: list[str] = []
    for title in dict.fromkeys(map(our_name, options.measure or rankings.usual_measures[:1])):
        measure = rankings.measure(title)
        try:
            sample = rankings.sample(measure, rankings.names)
            found[title] = _compared(sample, options)
        except ValueError as error:
            alone = rankings.is_one_list and options.method == "auto"
            why = ONE_LIST if alone and not measure.has_influence else reason(error)
            notes.append(f"{title}: no comparison: {why}.")
            continue
        if sample.n_undefined and sample.n_queries:
            notes.append(undefined_note(title, measure, sample.n_undefined, sample.n_queries))
    if not found:
        raise CommandError("; ".join(notes).rstrip("."))
    write(_comparison_texts(rankings, found, [*rankings.notes, *notes], options), options.output)


def _compared(sample: Any, options: Namespace) -> Comparison:
    return compare(
        sample.measure,
        sample.y_true,
        sample.scores,
        **sample.given,
        baseline=options.baseline,
        margin=options.margin,
        alternative=options.alternative,
        method=options.method,
        level=options.level,
        n_resamples=options.resamples,
        random_state=options.seed,
    )


def _comparison_texts(
    rankings: Rankings, found: dict[str, Comparison], notes: list[str], options: Namespace
) -> str:
    if options.format == "csv":
        rows = []
        for title, comparison in found.items():
            shared = {name: getattr(comparison, name) for name in SHARED}
            rows += [{"measure": title, **one, **shared} for one in _contrasts(comparison)]
        return as_csv(rows)
    if options.format == "json":
        return as_json(
            {
                "command": "compare",
                "input": rankings.described,
                "comparisons": [_as_dict(title, one) for title, one in found.items()],
                "notes": notes,
            }
        )
    blocks = "\n".join(_text(one) for one in found.values())
    return f"{rankings.heading}\n\n{blocks}{sentences(notes)}"


# Fields of a comparison that its contrasts share.
SHARED = ("level", "alternative", "margin", "method", "target", "hypothesis")


def _as_dict(title: str, found: Comparison) -> dict[str, Any]:
    values = zip(found.names, found.values, found.standard_errors, strict=True)
    return {
        "measure": title,
        **{name: getattr(found, name) for name in SHARED},
        "interval_level": found.interval_level,
        "values": [
            {"score": name, "value": value, "standard_error": error}
            for name, value, error in values
        ],
        "contrasts": _contrasts(found),
    }


def _contrasts(found: Comparison) -> list[dict[str, Any]]:
    columns = {
        "contrast": found.contrasts,
        "difference": found.differences,
        "standard_error": found.difference_errors,
        "low": found.low,
        "high": found.high,
        "statistic": found.statistics,
        "p_value": found.pvalues,
        "conclusion": found.conclusions,
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _text(found: Comparison) -> str:
    """The comparison as it prints in Python, with all contrasts and within the width."""
    title = "".join(fill(line, WIDTH) + "\n" for line in str(found).split("\n\n")[0].split("\n"))
    values = [("score", "value", "standard error")]
    for name, value, error in zip(found.names, found.values, found.standard_errors, strict=True):
        values.append((name, fixed(value), "" if isnan(error) else fixed(error)))
    limits = f"{100 * found.interval_level:.4g} % interval"
    rows = [("contrast", "difference", limits, "p", "conclusion")]
    # With a margin conclusions are too long for the table.
    below = found.margin is not None
    for one in _contrasts(found):
        ends = (
            ""
            if isnan(one["low"])
            else f"[{fixed(one['low'], sign=True)}, {fixed(one['high'], sign=True)}]"
        )
        numbers = (fixed(one["difference"], sign=True), ends, f"{one['p_value']:.3g}")
        rows.append((one["contrast"], *numbers, "" if below else one["conclusion"]))
    text = f"{title}\n{aligned(values)}\n{aligned(rows, left=(0, 4))}"
    if not below:
        return text
    pairs = zip(found.contrasts, found.conclusions, strict=True)
    return text + sentences([f"{contrast}: {said}." for contrast, said in pairs])
