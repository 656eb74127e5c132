"""Several questions of the same rows: limits of each, and limits that hold for all of them.

Simultaneity is a level. The joint distribution of the errors gives the level at which each
question has the limits of its own method: small counts keep exact limits, and no question needs a
method of its own to be one of many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import copysign, nan
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from .. import _outer
from .._printed import ROUNDING
from .._typing import AnyArray, FloatArray
from .._validation import column_of
from ..metrics import Measure
from ..metrics._shared import ClassInfluence, Evidence, Groups, independent_units
from ._contrasts import added_in_squares, limits_of_pair, quantiles_at
from ._discordant import Pairs
from ._evidence import check_lists, influences_of, list_target, read_rows, warn_of_evidence
from ._intervals import Intervals
from ._joint import AtLevels, Joint, Missed, Single, joint_influence
from ._level import largest_of_contrasts
from ._limits import Limits, LimitsAt
from ._methods import refuse_no_variance, single
from ._queries import QueryValues, joint_means, query_values_of
from ._results import Comparison, Interval, Question


@dataclass(frozen=True, eq=False)
class TableRow:
    """A question and its answer: of what, its limits at each level, and how units move it."""

    keys: dict[str, Any]
    single: Single | None  # None is without a value
    units: FloatArray | None = None  # (n_units,): The squares sum to its variance; None is unknown
    ids: AnyArray | None = None  # (n_units,): Which units; None is those of the other questions
    note: str = ""  # Why there is no value
    quantile: float = nan  # At which the limits of a difference reach 0
    better: int = 1


@dataclass(frozen=True, eq=False)
class Difference:
    """A difference of two statistics, with limits at each level."""

    estimate: float
    limits: LimitsAt
    target: str
    method: str
    error: float | None = None

    def interval(self, level: float) -> Interval:
        low, high = self.limits(level)
        return Interval(self.estimate, low, high, level, self.method, self.target, self.error)


def joined(first: TableRow, second: TableRow) -> Difference:
    """Difference of two statistics, whose distances to their limits are added in squares."""
    singles: Any = first.single, second.single
    values = [x.interval(0.5).estimate for x in singles]
    r, (a, b) = 0.0, (x.interval(0.5).target for x in singles)
    if first.units is not None and second.units is not None:
        products = covariance_of([first, second])
        root = float(np.sqrt(products[0, 0] * products[1, 1]))
        r = float(products[0, 1]) / root if root > 0.0 else 0.0
    limits = added_in_squares([x.limits for x in singles], values, r)
    target = f"difference of {a}" if a == b else f"{a} less {b}"
    return Difference(values[0] - values[1], limits, target, "square-and-add")


def difference_row(
    keys: dict[str, Any], single: Single, better: int, units: Any = None, ids: Any = None
) -> TableRow:
    """Question of a difference, with the quantile at which its limits reach 0."""
    estimate = single.interval(0.5).estimate
    if isinstance(single, AtLevels):
        quantile = copysign(-float(ndtri(single.pvalue / 2.0)), estimate)
    else:
        (quantile,) = quantiles_at([(estimate, single.limits)], 0.0).tolist()
    return TableRow(keys, single, units, ids, "", quantile, better)


def student_difference(
    estimate: float,
    error: float,
    degrees: float,
    half_range: float,
    target: str,
    missed: Missed,
) -> tuple[Difference, float]:
    """Difference with Student's limits, and the normal quantile at which they reach 0.

    They are at least as far as what the sample may have missed.
    """

    def limits(level: float) -> Limits:
        half = float(stdtrit(degrees, (1.0 + level) / 2.0)) * error
        half = max(half, missed.distance(1.0 - level))
        low, high = estimate - half, estimate + half
        return min(max(low, -half_range), estimate), max(min(high, half_range), estimate)

    tail = max(float(stdtr(degrees, -abs(estimate) / error)), missed.error(abs(estimate)) / 2.0)
    quantile = -float(ndtri(tail))
    signed = quantile if estimate >= 0.0 else -quantile
    return Difference(estimate, limits, target, "max-t", error), signed


@dataclass(frozen=True, eq=False)
class Rankers:
    """One measure of several rankers on the same rows."""

    measure: Measure
    names: tuple[str, ...]
    singles: Sequence[Single]
    target: str
    joint: Joint | None = None  # None where the rows have no influence
    units: FloatArray | None = None  # (n_rankers, n_units)
    ids: AnyArray | None = None  # (n_units,): Which units; None is those of all rows
    evidences: Sequence[Evidence] = ()  # Of one list
    samples: Sequence[QueryValues] = ()  # Of queries
    pair_of: Callable[[tuple[str, str]], Single] | None = None  # Differences without a joint
    compared: bool = False  # Whether differences are asked for, not values

    @property
    def size_text(self) -> str:
        """The rows in words."""
        if self.samples:
            return self.samples[0].size_text
        return size_of_list(self.evidences[0]) if self.evidences else "all rows"

    def values(self, **keys: Any) -> list[TableRow]:
        found = []
        for i, (name, of_one) in enumerate(zip(self.names, self.singles, strict=True)):
            units = None if self.units is None else self.units[i]
            known = {"ranker": name} if name else {}
            found.append(TableRow(keys | known, of_one, units, self.ids))
        return found

    def differences(self, contrasts: Sequence[tuple[str, str]], **keys: Any) -> list[TableRow]:
        better = direction_of(self.measure)
        texts = [f"{a} - {b}" for a, b in contrasts]
        n = len(self.names)
        rows = np.array([[self.names.index(name) for name in pair] for pair in contrasts])
        matrix = np.eye(n)[rows[:, 0]] - np.eye(n)[rows[:, 1]]
        units = None if self.units is None else matrix @ self.units
        found = []
        if self.joint is None:
            values = self.values()
            for i, (pair, (a, b)) in enumerate(zip(contrasts, rows, strict=True)):
                of_pair: Any = self.pair_of(pair) if self.pair_of else joined(values[a], values[b])
                of_row, moved = keys | {"contrast": texts[i]}, None if units is None else units[i]
                found.append(difference_row(of_row, of_pair, better, moved, self.ids))
            return found
        errors, degrees = self.joint.standard_errors(matrix)
        if not errors.all():
            refuse_no_variance(self.measure)
        for i, estimate in enumerate((matrix @ self.joint.estimates).tolist()):
            known = float(errors[i]), float(degrees[i]), self.joint.length
            target, missed = f"difference of {self.target}", self.joint.missed(matrix[i])
            one, quantile = student_difference(estimate, *known, target, missed)
            of_row = keys | {"contrast": texts[i]}
            moved = None if units is None else units[i]
            found.append(TableRow(of_row, one, moved, self.ids, "", quantile, better))
        return found


def size_of_list(evidence: Evidence) -> str:
    if evidence.sampled:
        return f"{len(evidence.data.score)} rows of unequal probability"
    return f"{evidence.data.sizes[0]:.0f} items"


def direction_of(measure: Measure) -> int:
    """1 if a greater value is better, -1 if a smaller one is, 0 if neither."""
    return 0 if not measure.has_direction else 1 if measure.greater_is_better else -1


def joint_law(measure: Measure, compared: bool) -> str:
    """What the joint distribution of errors on one list rests on; "" if it is not known.

    Values that are sums of draws need no influence, which differences take if there is one.
    """
    of_influence = "influence" in measure.laws
    if measure.laws[:1] == ("draws",) and not (compared and of_influence):
        return "draws"
    return "influence" if of_influence else ""


def rankers_on_list(
    measure: Measure, names: tuple[str, ...], evidences: Any, compared: bool
) -> Rankers:
    """Rankers on one list, for their values or to be compared."""
    first = evidences[0]
    known: Any = {"measure": measure, "names": names, "evidences": evidences}
    known["compared"] = compared
    target = f"{measure.name} on {first.data.sizes[0]:.0f} items"
    if (law := joint_law(measure, compared)) != "influence":
        singles, units = [single(x) for x in evidences], None
        if law:
            units = np.stack([moved_by_draws(x) for x in evidences])

        def difference(pair: tuple[str, str]) -> Difference:
            of_both = [names.index(name) for name in pair]
            values = [singles[i].interval(0.5).estimate for i in of_both]
            limits = limits_of_pair(*(evidences[i] for i in of_both))
            return Difference(values[0] - values[1], limits, f"difference of {target}", "joined")

        return Rankers(singles=singles, units=units, target=target, pair_of=difference, **known)
    joint, influences, target = joint_on_list(evidences)
    if first.groups is None:
        units = np.stack([errors_of_rows(x, first.conditional) for x in influences])
    else:
        units = joint.units[:, : first.groups.n_groups]
    return Rankers(singles=joint.singles, joint=joint, units=units, target=target, **known)


def joint_on_list(evidences: Sequence[Evidence]) -> tuple[Joint, list[ClassInfluence], str]:
    """Joint estimate of rankers on one list, their influences, and the target."""
    joint, influences, groups = joint_of_rankers(evidences)
    of_each = zip(evidences, influences, strict=True)
    singles = [single(x, influence=influence) for x, influence in of_each]
    target = list_target(evidences[0].measure, influences[:1], [groups])
    return replace(joint, singles=singles), influences, target


def joint_of_rankers(
    evidences: Sequence[Evidence],
) -> tuple[Joint, list[ClassInfluence], Groups | None]:
    """Joint estimate with the pairs of independent rows, the influences and the groups."""
    influences, groups = influences_of(evidences)
    joint = joint_influence(influences, conditional=evidences[0].conditional, groups=groups)
    first = influences[0]
    alone = groups is None or (groups.n_groups == len(first.values) and not groups.in_time)
    if alone and first.positive is not None and first.sampling_weight is None:
        pairs = Pairs(influences, [x.data.score for x in evidences])
        joint = replace(joint, pairs=[pairs])
    return joint, influences, groups


def errors_of_rows(influence: ClassInfluence, conditional: bool) -> FloatArray:
    """By how much each row moves a statistic, times the root of the number it stands for."""
    influence = influence.linear
    moved = influence.centred()
    if not conditional and influence.positive is not None:
        share = influence.n_pos / influence.n
        moved = moved + influence.label_slope * (influence.positive - share)
    if influence.counts is not None:
        moved = moved * np.sqrt(influence.counts)
    return moved / influence.n


def moved_by_draws(evidence: Evidence) -> FloatArray:
    """By how much the label of each row moves a sum over the first places, or that of a group.

    Times the root of the number that a row stands for.
    """
    draws = evidence.draws
    moved = draws.unit * draws.sums(draws.values - draws.mean)
    moved, _ = independent_units(moved, draws.groups.times)
    if evidence.groups is None and evidence.data.weight is not None:
        moved /= np.sqrt(evidence.data.weight)
    return moved


def rankers_over_queries(
    measure: Measure, names: tuple[str, ...], samples: Sequence[QueryValues]
) -> Rankers:
    joint, first = joint_means(samples), samples[0]
    ids = None if first.groups is not None else first.ids
    target = f"mean {measure.name} over {first.size_text}"
    known: Any = {"joint": joint, "units": joint.units, "ids": ids, "samples": samples}
    return Rankers(measure, names, joint.singles, target, **known)


def read_rankers(
    measure: Measure,
    y_true: Any,
    scores: Mapping[str, Any],
    *,
    compared: bool,
    conditional: bool | None = None,
    rng: np.random.Generator | None = None,
    **columns: Any,
) -> Rankers:
    """Rankers on the rows of any door: one list, queries, or labels known in part."""
    named = {column_of(ranker): score for ranker, score in scores.items()}
    y_true, rows = read_rows(measure, y_true, named, **columns)
    if columns.get("design") is not None:
        return _labelled_in_part(measure, y_true, dict(scores), rows, conditional, rng)
    if "qid" in rows:
        samples = query_values_of(measure, y_true, scores, **rows)
        return rankers_over_queries(measure, tuple(samples), list(samples.values()))
    how: Any = {"conditional": conditional, "names": list(named)}
    evidences = check_lists(measure, y_true, list(scores.values()), **how, **rows)
    warn_of_evidence(tuple(scores), evidences)
    return rankers_on_list(measure, tuple(scores), evidences, compared)


def _labelled_in_part(
    measure: Measure,
    y_true: Any,
    scores: dict[str, Any],
    rows: dict[str, Any],
    conditional: bool | None,
    rng: np.random.Generator | None,
) -> Rankers:
    def value(name: str) -> AtLevels:
        of_one = measure, y_true, scores[name], rows
        return AtLevels(lambda x: _outer.interval_in_part(*of_one, x, "auto", conditional))

    def difference(pair: tuple[str, str]) -> AtLevels:
        of_pair = {name: scores[name] for name in pair}

        def compared(level: float) -> Comparison:
            question = Question.of(measure, pair, pair[1], None, None, level)
            return _outer.compare_in_part(question, y_true, of_pair, rows, rng)

        return AtLevels(lambda level: compared(level).interval, compared(0.95).pvalue)

    return Rankers(
        measure, tuple(scores), [value(name) for name in scores], measure.name, pair_of=difference
    )


# --------------------------------------------------------------------------------- all together


def covariance_of(table: Sequence[TableRow]) -> FloatArray:
    """Covariance of the errors of questions, by their units."""
    ids: Any = [question.ids for question in table]
    units: Any = [question.units for question in table]
    if all(x is ids[0] for x in ids):
        stacked = np.stack(units)
    else:
        distinct = np.unique(np.concatenate(ids))
        stacked = np.zeros((len(table), len(distinct)))
        for row, of_row, moved in zip(stacked, ids, units, strict=True):
            row[np.searchsorted(distinct, of_row)] = moved
    return np.asarray(stacked @ stacked.T)


def simultaneous_table(
    table: Sequence[TableRow],
    level: float,
    rng: np.random.Generator,
    target: str,
    products: FloatArray | None = None,
    **more: Any,
) -> Intervals:
    """Table of questions, with limits of each and of all; ``products`` is their covariance.

    Questions whose units are known share the level of the largest of as many normal variables of
    their correlation, at their share of the error; others have Bonferroni's.
    """
    found = {i: x.single.interval(level) for i, x in enumerate(table) if x.single is not None}
    with_value = list(found)
    joint = with_value
    if products is None:
        joint = [i for i in with_value if table[i].units is not None]
        if len(joint) > 1:
            products = covariance_of([table[i] for i in joint])
            # What varies by rounding alone does not vary with the others.
            least = ROUNDING * np.array([found[i].width for i in joint])
            products[np.diag_indices_from(products)] += np.sqrt(products.diagonal()) <= least
    m, tails = len(with_value), np.full(len(table), (1.0 - level) / max(len(with_value), 1))
    sizes = np.abs([question.quantile for question in table])
    tested, error = not np.isnan(sizes).all(), (1.0 - level) * len(joint) / max(m, 1)
    pvalues = np.minimum(2.0 * ndtr(-sizes) * m, 1.0)
    if len(joint) > 1:
        largest = largest_of_contrasts(products, np.eye(len(joint)), rng)  # type: ignore[arg-type]
        tails[joint] = np.maximum(tails[joint], 2.0 * float(ndtr(-largest.quantile(1.0 - error))))
        if tested and len(joint) == m:
            pvalues[joint] = np.minimum(pvalues[joint], largest.beyond(sizes[joint]))
    kinds = ["max-z"] * (len(joint) > 1) + ["bonferroni"] * (len(joint) < m)
    pointwise, wider = [], []
    for i, question in enumerate(table):
        if question.single is None:
            pointwise.append(Interval(nan, nan, nan, level, "none", question.note))
            wider.append(pointwise[-1])
            continue
        one = found[i]
        low, high = question.single.limits(1.0 - float(tails[i]))
        pointwise.append(one)
        limits: Any = {"low": min(low, one.low), "high": max(high, one.high)}
        of_all = f", {kinds[0 if i in joint else -1]} of {m}" if m > 1 else ""
        wider.append(replace(one, **limits, method=one.method + of_all))
    columns = dict.fromkeys(name for question in table for name in question.keys)
    return Intervals(
        keys={name: tuple(x.keys.get(name, "") for x in table) for name in columns},
        pointwise=tuple(pointwise),
        together=tuple(wider),
        pvalues=tuple(pvalues.tolist()) if tested else (),
        level=level,
        method=", ".join(kinds) if m > 1 else "one question" if m else "none",
        target=target,
        level_of_each=1.0 - float(tails.min()),
        better=tuple(question.better for question in table) if tested else (),
        notes=tuple(question.note for question in table) if m < len(table) else (),
        **more,
    )
