"""``evaluate`` and ``compare``: measures of columns or runs, and differences, with intervals."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import isnan, nan
from textwrap import fill
from typing import Any

from .._optional import import_optional
from .._printed import fixed, markdown_table, text_table
from .._warn import collected, warn
from ..inference import Comparison, Interval, compare, metric_interval
from ..metrics._shared import names_of
from ._output import CommandError, as_csv, as_json, write
from ._rankings import Rankings, given, read_rankings, reason

# Fields of a comparison that are not of its contrasts.
OF_RANKERS = ("names", "values", "standard_errors", "value_limits", "best", "corrections")
# Fields of contrasts whose names are plurals in a row of one contrast too.
COUNTS = ("wins", "ties", "losses")


@dataclass(frozen=True, repr=False)
class Result(Interval):
    """One measure of one ranking: its interval, or a value alone, or none, and why."""

    score: str = ""  # Column of scores, or run
    measure: str = ""  # Name of the measure, as the user wrote it
    note: str = ""  # Why there is no value or no interval


def run_evaluate(options: Namespace) -> None:
    rankings = read_rankings(options)
    titles = titles_of(options.measure or rankings.usual_measures)
    results = [evaluate(rankings, name, x, options) for x in titles for name in rankings.scores]
    notes = list(dict.fromkeys(f"{x.measure}: {x.note}" for x in results if x.note))
    if all(isnan(result.estimate) for result in results):
        raise CommandError("; ".join(notes))
    panels: dict[str, dict[str, Interval]] = {}
    table = []
    for x in results:
        value = "-" if isnan(x.estimate) else fixed(x.estimate)
        limits = f"[{fixed(x.low)}, {fixed(x.high)}]" if x.method else "-"
        table.append((x.score, x.measure, value, limits, x.method))
        if x.method:
            panels.setdefault(x.measure, {})[x.score] = x
    header = ("score", "measure", "value", f"{100 * options.level:g} % interval", "method")
    text = text_table("", header, table, left=("measure", "method"))
    rows = [{"score": x.score, "measure": x.measure} | x.to_dict() for x in results]
    found = {"text": text, "csv": rows, "json": {"results": rows}}
    found["markdown"] = "\n" + markdown_table(header, table)
    heading = rankings.headed(titles)
    if options.entered:  # Which rows and queries are mature
        of_rows = dict.fromkeys(x.target.partition("; ")[2] for x in results)
        heading = "; ".join([heading, *filter(None, of_rows)])
    _write(options, heading, notes, panels, found)


def titles_of(names: Iterable[str]) -> list[str]:
    """Distinct names of measures, of which one may have several numbers."""
    return list(dict.fromkeys(title for name in names for title in names_of(name)))


def evaluate(rankings: Rankings, name: str, title: str, options: Namespace) -> Result:
    """Evaluate one ranking by one measure. Value and interval, or why they are absent."""
    value = nan
    try:
        arguments = rankings.arguments(title, [name])
        measure, y_score = arguments["measure"], arguments.pop("scores")[name]
        if arguments.get("design") is None and arguments.get("value") is None:
            value = measure(arguments["y_true"], y_score, qid=arguments["qid"])
            if isnan(value):
                raise ValueError(f"undefined ({measure.lacking})")
        arguments |= _shared(options)
        if hasattr(options, "resamples"):  # which compare has not
            arguments["n_resamples"] = options.resamples
        with collected() as messages:
            interval = metric_interval(y_score=y_score, **arguments)
        for text, category in messages:
            warn(text.replace("y_score", name), category)
    except (TypeError, ValueError) as error:
        note = f"no interval: {reason(error)}"
        return Result(value, nan, nan, nan, "", "", score=name, measure=title, note=note)
    return Result(**vars(interval), score=name, measure=title)


def direction_of(rankings: Rankings, name: str, options: Namespace) -> tuple[Result, str]:
    """Measure of the order of all rows, and whether that is perfect, reversed or not sure."""
    title, chance = ("auc", 0.5) if rankings.are_classes else ("tau_b", 0.0)
    result = evaluate(rankings, name, title, Namespace(**vars(options) | {"method": "auto"}))
    if result.low <= chance <= result.high:
        return result, "the rows do not show that it orders better than chance"
    if result.high < chance:
        return result, "it looks reversed: negate the column if low scores belong at the top"
    perfect = result.low > chance and result.estimate == 1.0
    return result, "without any error, as by a leak of the label" * perfect


def _shared(options: Namespace) -> dict[str, Any]:
    return {"level": options.level, "method": options.method, "random_state": options.seed}


def run_compare(options: Namespace) -> int:
    rankings = read_rankings(options)
    comparisons: dict[str, Comparison] = {}
    notes: list[str] = []
    titles = titles_of(options.measure or rankings.usual_measures[:1])
    if options.fail_if and options.alternative not in (None, "two-sided"):
        raise CommandError(
            f"--fail-if reads two-sided limits, not --alternative {options.alternative}: leave one"
            " of them out"
        )
    more = {"alternative": "two-sided"} if options.fail_if else {}
    asked = Namespace(**vars(options) | more)
    asked.level = _level_of_each(rankings, titles, asked)
    for title in titles:
        try:
            comparisons[title] = compare_rankings(rankings, title, asked)
        except ValueError as error:
            notes.append(str(error))
    if not comparisons or (notes and options.fail_if):
        raise CommandError("; ".join(notes))
    rows, results = [], []
    for title, comparison in comparisons.items():
        both = {"measure": title, "conclusions": list(comparison.conclusions)}
        results.append(result := comparison.to_dict() | both)
        shared = {name: x for name, x in result.items() if not isinstance(x, list | dict)}
        names = [name for name in result if name not in (*OF_RANKERS, *shared)]
        for row in zip(*(result[name] for name in names), strict=True):
            columns = (name if name in COUNTS else name.rstrip("s") for name in names)
            rows.append(shared | dict(zip(columns, row, strict=True)))
    found: dict[str, Any] = {"csv": rows, "json": {"results": results}}
    found["text"] = "\n".join(f"\n{comparison}" for comparison in comparisons.values())
    found["markdown"] = "\n".join(f"\n{x._markdown()}" for x in comparisons.values())
    together = f"limits of differences of {len(titles)} measures hold together with"
    ends = [f"{together} {100 * options.level:g} %"] * (len(titles) > 1)
    failures = [text for of in comparisons.items() for text in _failures(*of, options.fail_if)]
    verdict = f"passes: no difference is {' or '.join(options.fail_if or ())}"
    if failures:
        verdict = f"fails: {'; '.join(failures)}"
    elif options.fail_if:
        undecided = [x for of in comparisons.items() for x in _failures(*of, ["inconclusive"])]
        verdict = "; ".join([verdict, *undecided])
    if options.fail_if:
        found["json"]["failures"] = failures
        ends.append(verdict)
    for name in ("text", "markdown"):
        found[name] = "\n\n".join([found[name], *ends])
    _write(options, rankings.headed(titles), notes, comparisons, found)
    if failures and (options.output or options.format in ("csv", "json")):
        sys.stderr.write(f"{options.prog} compare: {verdict}\n")
    return 1 if failures else 0


def _level_of_each(rankings: Rankings, titles: list[str], options: Namespace) -> float:
    """Level of each comparison, so that the limits hold together for all measures.

    For two-sided limits of two rankings it is that of a table of all measures, else it is by
    Bonferroni's inequality.
    """
    names, level = list(rankings.scores), options.level
    sided = options.alternative or ("two-sided" if options.margin is None else "")
    if len(titles) > 1 and (sided, len(names), options.method) == ("two-sided", 2, "auto"):
        with suppress(TypeError, ValueError):  # The comparisons say why
            asked = rankings.arguments(titles[0], names)
            asked["measure"] = [rankings.measure(title) for title in titles]
            return float(compare(**asked, level=level, random_state=options.seed).level_of_each)
    return 1.0 - (1.0 - level) / len(titles)


def _failures(title: str, comparison: Comparison, fail_if: Iterable[str] | None) -> list[str]:
    """Say which contrasts have a verdict that fails, of the first ranker against the second."""
    if not fail_if:
        return []
    if comparison.greater_is_better is None:
        raise CommandError(f"--fail-if: no value of {title} is better: name another measure")
    found, of_each = [], (comparison.conclusions, comparison.differences)
    for contrast, conclusion, difference in zip(comparison, *of_each, strict=True):
        verdict = "equal" if conclusion.startswith("equal within") else "inconclusive"
        if " better" in conclusion:  # Names may be any text, so that the sign says whose
            verdict = "better" if comparison.greater_is_better == (difference > 0.0) else "worse"
        shown = {verdict} | ({"not-better"} if verdict != "better" else set())
        if shown.intersection(fail_if):
            found.append(f"{contrast} is {verdict} by {title}")
    return found


def compare_rankings(rankings: Rankings, title: str, options: Namespace) -> Comparison:
    """Compare all rankings by one measure; ValueError if it cannot be."""
    try:
        asked = {x: getattr(options, x) for x in ("baseline", "margin", "alternative")}
        asked |= rankings.arguments(title, list(rankings.scores))
        return compare(**asked, **_shared(options))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{title}: no comparison: {reason(error)}") from error


def _write(
    options: Namespace,
    heading: str,
    notes: list[str],
    panels: Mapping[str, dict[str, Interval] | Comparison],
    found: dict[str, Any],
) -> None:
    """Write what was found for one format, and draw it."""
    for note in notes:
        warn(f"{note}.", UserWarning)
    if options.plot is not None:
        if not panels:
            raise CommandError(f"--plot: {'; '.join(notes)}")
        save_plot(panels, options.plot)
    if options.format == "csv":
        text = as_csv(found["csv"])
    elif options.format == "json":
        text = as_json({"input": heading, "options": given(options)} | found["json"])
    else:
        text = f"{heading}\n{found[options.format]}\n"
    write(text, options.output)


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
    except (ImportError, OSError, ValueError) as error:
        why = str(getattr(error, "strerror", None) or error)
        raise CommandError(f"--plot {path}: {why.rstrip('.')}") from error
