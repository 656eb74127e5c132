"""One measure in each segment of the rows: within it, and of its rows in the order of all."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, sqrt
from typing import Any
from zlib import crc32

import numpy as np

from .._order import tied_blocks
from .._partitions import any_collection
from .._typing import AnyArray, BoolArray, IntArray
from .._validation import Coded, check_qid, refuse_misread, shape_of, take
from ..metrics import Measure
from ..metrics._shared import (
    Evidence,
    Groups,
    independent_units,
    influence_of_top,
    with_half_more,
)
from ._evidence import check_groups, counted_sample, refuse_few_draws
from ._intervals import Intervals
from ._joint import GroupPart
from ._limits import Limits, safe_limits
from ._results import Interval, check_margin, contrasts_of
from ._simultaneous import (
    Rankers,
    TableRow,
    difference_row,
    direction_of,
    errors_of_rows,
    joined,
    rankers_on_list,
    rankers_over_queries,
    read_rankers,
    simultaneous_table,
)

# Values of the column ``order``.
WITHIN, AMONG_ALL = "own rows", "all rows"


@dataclass(frozen=True, eq=False)
class Segments:
    names: tuple[Any, ...]
    codes: IntArray  # (n,)

    @classmethod
    def of(cls, by: Any, n: int) -> Segments:
        """Segments of rows, ascending; those of a column of categories in their order."""
        ids = check_qid(by, n, name="by")
        values = ids.distinct[ids.codes] if isinstance(ids, Coded) else ids
        try:
            names, codes = np.unique(_readable(values), return_inverse=True)
        except TypeError:
            raise ValueError(
                "by mixes segments of different types: make all of them numbers or all strings."
            ) from None
        categories = getattr(getattr(by, "dtype", None), "categories", None)
        if categories is not None:
            # Categories of no row are segments too.
            categories = _readable(np.asarray(categories))
            places = {name: i for i, name in enumerate(categories.tolist())}
            codes = np.array([places[name] for name in names.tolist()])[codes]
            names = categories
        if len(names) in (1, n):
            what = f"one segment only, {names[0]}" if len(names) == 1 else "a segment for each row"
            raise ValueError(f"by has {what}: pass a category of each row, or leave by out.")
        return cls(tuple(names.tolist()), codes)

    def of_queries(self, qid: Any) -> Callable[[AnyArray], IntArray]:
        """Find the segments of queries by their ids; all rows of a query are in one."""
        if qid is None:
            return lambda ids: self.codes[ids]
        read = check_qid(qid, len(self.codes))
        values = read.distinct[read.codes] if isinstance(read, Coded) else read
        distinct, first, of_rows = np.unique(values, return_index=True, return_inverse=True)
        of_queries = self.codes[first]
        if (wrong := of_queries[of_rows] != self.codes).any():
            query = values[np.argmax(wrong)].item()
            raise ValueError(
                f"by has several segments within the query {query!r}, but queries are the sample:"
                " pass one segment for all rows of a query, or leave qid out for one list."
            )
        return lambda ids: of_queries[np.searchsorted(distinct, ids)]


def _readable(values: AnyArray) -> AnyArray:
    """Dates as short texts, other values as they are."""
    return np.datetime_as_string(values, unit="auto") if values.dtype.kind == "M" else values


def in_segments(
    rankers: Rankers, segments: Segments, qid: Any, kept: BoolArray | None
) -> list[tuple[dict[str, Any], Rankers | str]]:
    """The same rankers in each segment, or why there is no value; ``kept`` rows have a weight."""
    found: list[tuple[dict[str, Any], Rankers | str]] = []
    if rankers.samples:
        of_queries = segments.of_queries(qid)(rankers.samples[0].ids)
        for code, name in enumerate(segments.names):
            rows, keys = np.flatnonzero(of_queries == code), {"segment": name, "order": WITHIN}
            found.append((keys, queries_or_why(rankers, rows)))
        return found
    if not rankers.evidences:
        raise ValueError(
            "by is for labels that are all known: leave by out, or design, or pass the rows of one"
            " segment."
        )
    codes = segments.codes if kept is None else segments.codes[kept]
    for code, name in enumerate(segments.names):
        inside = codes == code
        found.append(({"segment": name, "order": WITHIN}, _or_why(_within, rankers, inside)))
        if rankers.measure.of_segment is not None:
            among = {"segment": name, "order": AMONG_ALL}
            found.append((among, _or_why(_among_all, rankers, inside)))
    return found


def _or_why(
    of_segment: Callable[[Rankers, Any], Rankers], rankers: Rankers, inside: Any
) -> Rankers | str:
    """Rankers in a segment, or why they have no value there."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = of_segment(rankers, inside)
            values = [x.interval(0.5).estimate for x in found.singles]
    except ValueError as error:
        return str(error).partition(": ")[0]
    return "no value" if np.isnan(values).any() else found


def queries_or_why(rankers: Rankers, rows: IntArray) -> Rankers | str:
    """Rankers on some of the queries, or why they have no value there."""
    return _or_why(_over_queries, rankers, rows)


def _over_queries(rankers: Rankers, rows: IntArray) -> Rankers:
    if len(rows) < 2:
        raise ValueError(f"{len(rows)} queries with a value")
    samples = [sample.only(rows) for sample in rankers.samples]
    _refuse_one_group(samples[0].groups)
    if (weight := samples[0].weight) is not None:
        refuse_few_draws(weight, "queries")
    found, groups = (
        rankers_over_queries(rankers.measure, rankers.names, samples),
        samples[0].groups,
    )
    if groups is None or not groups.in_time:
        return found
    # Transforms of other times are other units.
    first = groups.n_groups * crc32(groups.present.tobytes())
    return replace(found, ids=first + np.arange(groups.n_groups))


def _refuse_one_group(groups: Groups | None) -> None:
    if groups is not None and not np.ptp(groups.codes):
        raise ValueError("groups has one group only")


def _refuse_no_rows(rankers: Rankers, inside: BoolArray) -> None:
    data = rankers.evidences[0].data
    if not inside.any():
        raise ValueError("no rows")
    if data.labels.dtype == bool and not inside[data.positive].any():
        raise ValueError(f"no positive among {data.counts[inside].sum():.0f} rows")


def _within(rankers: Rankers, inside: BoolArray) -> Rankers:
    _refuse_no_rows(rankers, inside)
    return _on(rankers, [only(x, inside) for x in rankers.evidences], inside)


def _on(rankers: Rankers, evidences: Sequence[Evidence], rows: BoolArray) -> Rankers:
    found = rankers_on_list(rankers.measure, rankers.names, evidences, rankers.compared)
    grouped = found.units is None or found.evidences[0].groups is not None
    return found if grouped else replace(found, ids=np.flatnonzero(rows))


def _among_all(rankers: Rankers, inside: BoolArray) -> Rankers:
    """The measure of a segment where all rows are ranked together.

    Labels of others are set to 0, or their positives are left out, or the share of positives among
    its rows in the top is taken, as the measure says.
    """
    _refuse_no_rows(rankers, inside)
    data, kind = rankers.evidences[0].data, rankers.measure.of_segment
    if kind == "top":
        return _shares_of_top(rankers, inside)
    if kind == "positives":
        rows = inside | ~data.positive
        return _on(rankers, [only(x, rows) for x in rankers.evidences], rows)
    labels = np.where(inside, data.labels, data.labels.dtype.type(0))
    own = [replace(x, data=replace(x.data, labels=labels)) for x in rankers.evidences]
    return _on(rankers, own, np.ones(len(labels), dtype=bool))


def only(evidence: Evidence, rows: BoolArray) -> Evidence:
    """Evidence of some rows of one list."""
    data, groups = evidence.data, evidence.groups
    groups = None if groups is None else groups.only(rows)
    _refuse_one_group(groups)
    some: Any = {x: take(getattr(data, x), rows) for x in ("labels", "score", "weight")}
    some["offsets"] = np.array([0, int(np.count_nonzero(rows))])
    return replace(evidence, data=replace(data, **some), groups=groups)


@dataclass(frozen=True, eq=False)
class ShareOfTop:
    """Share of positives among the rows of a segment that are in the top of all rows."""

    estimate: float
    error: float
    n_effective: float  # Draws that vary as much, half a row added at either end
    degrees: float
    target: str

    def limits(self, level: float) -> Limits:
        return safe_limits(self.estimate, self.n_effective, level, self.degrees)

    def interval(self, level: float) -> Interval:
        limits = self.limits(level)
        known: Any = level, "influence", self.target, self.error
        return Interval(self.estimate, *limits, *known)


def _shares_of_top(rankers: Rankers, inside: BoolArray) -> Rankers:
    """Of each ranker, the hits over the rows of the segment that are in the top.

    The difference of a share from P is the mean in the top of ``(y - P)`` of the rows of the
    segment, which moves with the threshold too, over the share of the top that they are.
    """
    singles, moved, measure = [], [], rankers.measure
    mass_of: Any = measure
    for evidence in rankers.evidences:
        data = counted_sample(evidence.data) if evidence.sampled else evidence.data
        mass = min(float(mass_of._mass(data)[0]), float(data.sizes[0]))
        blocks = tied_blocks(data.score)
        size = blocks.totals(data.counts)
        in_top = blocks.to_items(np.clip((mass - np.cumsum(size) + size) / size, 0.0, 1.0))
        of_top = (data.counts * in_top)[inside]
        flagged = float(of_top.sum())
        if flagged < 1.0:
            raise ValueError(f"{flagged:.2g} rows in the top")
        share = float(of_top @ data.positive[inside]) / flagged
        # Inverse probabilities say nothing of the number of rows.
        n = flagged**2 / float(of_top @ of_top) if evidence.sampled else flagged
        amounts = np.where(inside, data.positive - share, 0.0)
        influence = influence_of_top(data, amounts, mass)
        units = errors_of_rows(influence, True) * (mass / flagged)
        part, groups = None, evidence.groups
        if groups is not None:
            sums = groups.sums(units * np.sqrt(data.counts))
            part = GroupPart(sums, groups.sizes(inside), times=groups.times)
            units, _ = independent_units(sums, groups.times)
        square = float(units @ units)
        total, center, squares = with_half_more(n, share, n**2 * square, (0.0, 1.0))
        n_effective = center * (1.0 - center) * total**2 / float(squares)
        degrees = inf if part is None else part.degrees
        target = f"share of positives among its rows in the top, {measure.name}"
        singles.append(ShareOfTop(share, sqrt(square), float(n_effective), degrees, target))
        moved.append(units)
    ids = None if rankers.evidences[0].groups is not None else np.arange(len(inside))
    of_all: Any = {"units": np.stack(moved), "ids": ids}
    return Rankers(measure, rankers.names, singles, rankers.target, **of_all)


def rows_of_segments(
    found: Sequence[tuple[dict[str, Any], Rankers | str]],
    contrasts: Sequence[tuple[str, str]] | None,
    **keys: Any,
) -> list[TableRow]:
    """Questions of the values of rankers in segments, or of their differences."""
    table = []
    for of_segment, rankers in found:
        of_row = keys | of_segment
        if isinstance(rankers, str):
            of_pairs = [{"contrast": f"{a} - {b}"} for a, b in contrasts or ()] or [{}]
            table += [TableRow(of_row | of_pair, None, note=rankers) for of_pair in of_pairs]
        elif contrasts is None:
            table += rankers.values(**of_row)
        else:
            table += rankers.differences(contrasts, **of_row)
    return table


def between_segments(
    values: Sequence[TableRow], baseline: Any, better: int, **keys: Any
) -> list[TableRow]:
    """Differences between the segments of one ranker, or of each from one segment."""
    table = []
    for order in dict.fromkeys(x.keys["order"] for x in values):
        of_order = {x.keys["segment"]: x for x in values if x.keys["order"] == order}
        pairs = list(combinations(of_order, 2))
        if baseline is not None:
            if baseline not in of_order:
                raise ValueError(
                    f"baseline={baseline!r} is not among the segments {list(of_order)}: pass one"
                    " of these."
                )
            pairs = [(name, baseline) for name in of_order if name != baseline]
        for a, b in pairs:
            of_row = keys | {"contrast": f"{a} - {b}", "order": order}
            first, second = of_order[a], of_order[b]
            if first.single is None or second.single is None:
                table.append(TableRow(of_row, None, note=first.note or second.note))
                continue
            units, ids = None, None
            if first.units is not None and second.units is not None:
                ids, units = _less(first, second)
            of_pair = joined(first, second)
            table.append(difference_row(of_row, of_pair, better, units, ids))
    return table


def _less(first: TableRow, second: TableRow) -> tuple[Any, Any]:
    """Units of a difference, and which these are."""
    a: Any = first.units
    b: Any = second.units
    if first.ids is None or second.ids is None:
        return None, a - b
    ids, places = np.unique(np.append(first.ids, second.ids), return_inverse=True)
    return ids, np.bincount(places, np.append(a, -b))


def table_of(
    measures: Sequence[Measure],
    y_true: Any,
    scores: Mapping[str, Any],
    *,
    by: Any,
    compared: bool = False,
    baseline: Any = None,
    margin: float | None = None,
    level: float,
    rng: np.random.Generator,
    **columns: Any,
) -> Intervals:
    """Table of measures of rankers, or of their differences, each in segments if there are any.

    One ranker is compared between segments.
    """
    refuse_misread(y_true=y_true, by=by)
    n, names = shape_of(y_true)[0], tuple(scores)
    if not any_collection(columns["groups"]):
        # Groups are numbered once, so that they are the same for all questions.
        columns["groups"] = check_groups(columns["groups"], n, columns["qid"])
    segments = None if by is None else Segments.of(by, n)
    between = compared and len(names) == 1
    contrasts = contrasts_of(names, None if between else baseline) if compared else None
    kept = columns["sample_weight"]
    kept = None if kept is None else np.ravel(np.asarray(kept)) > 0.0
    some_of_amounts, table = any(measure.of_amounts for measure in measures), []
    for measure in measures:
        margin = None if margin is None else check_margin(measure, margin)
        own = columns if measure.of_amounts or not some_of_amounts else columns | {"value": None}
        own = own | {"rng": rng, "compared": compared and not between}
        try:
            rankers = read_rankers(measure, y_true, scores, **own)
        except (TypeError, ValueError) as error:
            if len(measures) > 1 and not str(error).startswith(measure.name):
                error.args = (f"{measure.name}: {error}",)
            raise
        keys = {"measure": measure.name}
        if segments is None:
            compared_or_not = rankers.differences(contrasts, **keys) if contrasts else []
            table += compared_or_not or rankers.values(**keys)
            continue
        found = in_segments(rankers, segments, columns["qid"], kept)
        of_segments = rows_of_segments(found, None if between else contrasts, **keys)
        if between:
            better = direction_of(measure)
            of_segments = between_segments(of_segments, baseline, better, **keys)
        table += of_segments
    what = "differences of " if compared else ""
    target = f"{what}{', '.join(dict.fromkeys(x.name for x in measures))} on {rankers.size_text}"
    return simultaneous_table(table, level, rng, target, margin=margin)
