"""``evaluate`` and ``compare``: measures of columns or runs, and differences, with intervals."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from math import isnan, nan
from re import sub
from textwrap import fill
from typing import Any, NamedTuple

from .._optional import import_optional
from .._printed import fixed
from ..inference import Comparison, Interval, compare, metric_interval
from ..metrics import Measure
from ._output import (
    CommandError,
    aligned,
    as_csv,
    as_json,
    did_you_mean,
    listed,
    sentences,
    write,
)
from ._rankings import MeasureInput, Rankings, read_rankings


class Result(NamedTuple):
    """One measure of one ranking; its fields are the columns of the CSV output."""

    score: str  # Column of scores, or run
    measure: str  # Name of the measure, as the user wrote it
    value: float = nan  # Its value; NaN where it has none
    low: float = nan  # Limits of the interval; NaN where there is none
    high: float = nan
    level: float = nan
    method: str = ""  # How the interval was made
    target: str = ""  # The quantity that the interval is for
    standard_error: float | None = None  # Standard error of the value, where the method has one
    n_queries: int | None = None  # Number of queries; None is one list
    n_undefined: int = 0  # Number of queries where the measure is undefined
    note: str = ""  # Why there is no value or no interval


def run_evaluate(options: Namespace) -> None:
    rankings = read_rankings(options)
    notes: list[str] = []
    results: list[Result] = []
    for title in dict.fromkeys(options.measure or rankings.usual_measures):
        measure = rankings.measure(title)
        row = [evaluate(rankings, name, title, measure, options) for name in rankings.names]
        notes += notes_of(row, measure)
        results += row
    if all(isnan(result.value) for result in results):
        raise CommandError("; ".join(dict.fromkeys(notes)).rstrip("."))
    if options.plot is not None:
        _draw_results(results, notes, options.plot)
    notes = list(dict.fromkeys([*rankings.notes, *notes]))
    fields = [result._asdict() for result in results]
    if options.format == "csv":
        text = as_csv(fields)
    elif options.format == "json":
        head = {"command": "evaluate", "input": rankings.described, "level": options.level}
        text = as_json({**head, "results": fields, "notes": notes})
    else:
        rows = [("score", "measure", "value", f"{100 * options.level:g} % interval", "method")]
        for result in results:
            value = "-" if isnan(result.value) else fixed(result.value)
            limits = f"[{fixed(result.low)}, {fixed(result.high)}]" if result.method else "-"
            rows.append((result.score, result.measure, value, limits, result.method))
        text = f"{rankings.heading}\n\n{aligned(rows, left=(0, 1, 4))}{sentences(notes)}"
    write(text, options.output)


def _draw_results(results: list[Result], notes: list[str], path: str) -> None:
    """Draw what has an interval: one panel for each measure, one row for each ranking."""
    panels: dict[str, dict[str, Interval]] = {}
    for r in results:
        if r.method:
            interval = Interval(r.value, r.low, r.high, r.level, r.method, r.target)
            panels.setdefault(r.measure, {})[r.score] = interval
    if not panels:
        raise CommandError("--plot: " + "; ".join(notes).rstrip("."))
    save_plot(panels, path)


def save_plot(panels: Mapping[str, dict[str, Interval] | Comparison], path: str) -> None:
    """Draw the intervals of each measure below those of the last one, and save the picture."""
    from ..plotting import IntervalsDisplay

    # Lines of the longest name, in letters of its column.
    heights = [
        0.9 + len(rows) * max(0.45, 0.18 * (1 + max(map(len, rows)) // 20))
        for rows in panels.values()
    ]
    try:
        made = import_optional("matplotlib.figure", "Drawing")
        figure = made.Figure((7.2, sum(heights)), layout="constrained")
        axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for ax, (title, rows) in zip(axes, panels.items(), strict=True):
            IntervalsDisplay.from_result(rows, ax=ax)
            ax.set_title(title, loc="left", fontsize="medium")
            ax.set_xlabel(fill(ax.get_xlabel(), 60))
            ax.locator_params(axis="x", nbins=6)
        figure.savefig(path, dpi=150)
    except (ImportError, ValueError) as error:
        raise CommandError(f"--plot {path}: {error}".rstrip(".")) from error
    except OSError as error:
        raise CommandError(f"--plot {path}: {error.strerror or error}") from error


def evaluate(
    rankings: Rankings, name: str, title: str, measure: Measure, options: Namespace
) -> Result:
    """Evaluate one ranking by one measure. Value and interval, or why they are absent."""
    try:
        sample = rankings.sample(measure, (name,))
        value = nan if sample.design is not None else sample.value(name)
    except ValueError as error:
        return Result(name, title, note=reason(error))
    counts: dict[str, Any] = {"n_queries": sample.n_queries, "n_undefined": sample.n_undefined}
    if isnan(value) and sample.design is None:
        note = "" if sample.n_undefined else f"undefined ({measure.lacking})"
        return Result(name, title, **counts, note=note)
    try:
        shared = _shared_options(sample, options) | {"n_resamples": options.resamples}
        interval = metric_interval(sample.measure, sample.y_true, sample.scores[name], **shared)
    except ValueError as error:
        alone = measure.per_query and rankings.is_one_list and sample.groups is None
        why = _why(error, alone and options.method == "auto")
        return Result(name, title, value, **counts, note=f"no interval: {why}")
    fields = {key: x for key, x in vars(interval).items() if key in Result._fields}
    return Result(name, title, interval.estimate, **fields, **counts)


def _shared_options(sample: MeasureInput, options: Namespace) -> dict[str, Any]:
    """Arguments that ``metric_interval`` and ``compare`` share."""
    return {
        "qid": sample.qid,
        "groups": sample.groups,
        "design": sample.design,
        "level": options.level,
        "method": options.method,
        "random_state": options.seed,
    }


def _why(error: ValueError, is_single_query: bool) -> str:
    if is_single_query:
        return "one list is a single query and shows no spread; --qid names the queries"
    return reason(error)


def reason(error: ValueError) -> str:
    """Say what is wrong in words of the command: a message of the library without its remedy."""
    text = str(error).replace("y_true", "the column of labels").replace("pos_label", "--pos-label")
    for mark in (": pass", "; pass", ": leave", ": either"):
        text = text.partition(mark)[0]
    if text.endswith("for two"):
        text += ": pass --pos-label and --neg-label, or relevant grades, as in 'auc(rel>=2)'"
    return sub(r"\bmethod='(\w+)'", r"--method \1", text.rstrip("."))


def undefined_note(title: str, measure: Measure, n_undefined: int, n_queries: int) -> str:
    lacking = "no relevant item" if measure.lacking.startswith("no ") else measure.lacking
    became = "left out" if measure.undefined == "skip" else f"counted as {measure.undefined:g}"
    return f"{title} undefined for {n_undefined:,} of {n_queries:,} queries ({lacking}): {became}."


def notes_of(results: list[Result], measure: Measure) -> list[str]:
    """Say what the results of one measure lack, once where it is the same for all rankings."""
    rankings: dict[str, list[str]] = {}
    for result in results:
        if result.n_undefined and result.n_queries:
            note = undefined_note(result.measure, measure, result.n_undefined, result.n_queries)
            rankings.setdefault(note, []).append(result.score)
        if result.note:
            rankings.setdefault(f"{result.measure}: {result.note}.", []).append(result.score)
    return [
        note if len(names) == len(results) else f"{', '.join(names)}: {note}"
        for note, names in rankings.items()
    ]


def run_compare(options: Namespace) -> None:
    rankings = read_rankings(options)
    names, baseline = rankings.names, options.baseline
    if len(names) < 2:
        more = "--score" if options.run is None else "--run"
        raise CommandError(f"there is only {names[0]!r}: pass two or more to {more}")
    if baseline is not None and baseline not in names:
        raise CommandError(
            f"--baseline {baseline!r} is none of {listed(names)}{did_you_mean(baseline, names)}"
        )
    comparisons: dict[str, Comparison] = {}
    notes: list[str] = []
    for title in dict.fromkeys(options.measure or rankings.usual_measures[:1]):
        comparison, found = compare_rankings(rankings, title, options)
        notes += found
        if comparison is not None:
            comparisons[title] = comparison
    if not comparisons:
        raise CommandError("; ".join(notes).rstrip("."))
    if options.plot is not None:
        save_plot(comparisons, options.plot)
    notes = [*rankings.notes, *notes]
    if options.format == "csv":
        text = as_csv(
            [
                {"measure": title, **contrast, **_shared_fields(comparison)}
                for title, comparison in comparisons.items()
                for contrast in _contrasts(comparison)
            ]
        )
    elif options.format == "json":
        made = [_as_dict(title, comparison) for title, comparison in comparisons.items()]
        head = {"command": "compare", "input": rankings.described}
        text = as_json({**head, "comparisons": made, "notes": notes})
    else:
        blocks = "\n".join(f"{comparison}\n" for comparison in comparisons.values())
        text = f"{rankings.heading}\n\n{blocks}{sentences(notes)}"
    write(text, options.output)


def compare_rankings(
    rankings: Rankings, title: str, options: Namespace
) -> tuple[Comparison | None, list[str]]:
    """Compare all rankings by one measure. The comparison, if there is one, and notes."""
    measure = rankings.measure(title)
    try:
        sample = rankings.sample(measure, rankings.names)
        comparison = compare(
            sample.measure,
            sample.y_true,
            sample.scores,
            baseline=options.baseline,
            margin=options.margin,
            alternative=options.alternative,
            **_shared_options(sample, options),
        )
    except ValueError as error:
        alone = rankings.is_one_list and options.method == "auto"
        why = _why(error, alone and not measure.has_influence)
        return None, [f"{title}: no comparison: {why}."]
    if sample.n_undefined and sample.n_queries:
        return comparison, [undefined_note(title, measure, sample.n_undefined, sample.n_queries)]
    return comparison, []


def _shared_fields(comparison: Comparison) -> dict[str, Any]:
    names = ("level", "alternative", "margin", "method", "target", "hypothesis")
    return {name: getattr(comparison, name) for name in names}


def _as_dict(title: str, comparison: Comparison) -> dict[str, Any]:
    rows = zip(comparison.names, comparison.values, comparison.standard_errors, strict=True)
    return {
        "measure": title,
        **_shared_fields(comparison),
        "interval_level": comparison.interval_level,
        "values": [
            {"score": name, "value": value, "standard_error": error} for name, value, error in rows
        ],
        "contrasts": _contrasts(comparison),
    }


def _contrasts(comparison: Comparison) -> list[dict[str, Any]]:
    columns = {
        "contrast": comparison.contrasts,
        "difference": comparison.differences,
        "standard_error": comparison.difference_errors,
        "low": comparison.low,
        "high": comparison.high,
        "statistic": comparison.statistics,
        "p_value": comparison.pvalues,
        "conclusion": comparison.conclusions,
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
