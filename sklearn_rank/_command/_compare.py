"""``compare``: differences of columns of scores or runs, with intervals and p-values."""

from __future__ import annotations

from argparse import Namespace
from math import isnan
from textwrap import fill
from typing import Any

from .._printed import fixed
from ..inference import Comparison, compare
from ..metrics import get_measure_names
from ._errors import CommandError
from ._evaluate import ONE_LIST, reason, undefined_note
from ._input import read_rankings
from ._rankings import Rankings, our_name
from ._tables import WIDTH, aligned, as_csv, as_json, sentences, write

__all__ = ["run_compare"]


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
    write(_written(rankings, found, [*rankings.notes, *notes], options), options.output)


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


def _written(
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
