"""Contrasts of rankers from limits alone, for measures of one list without influence functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from .._typing import FloatArray
from ..metrics._shared import Draws, Evidence
from ._joint import Single
from ._limits import Limits, LimitsAt
from ._list_intervals import limits_of_draws
from ._methods import single
from ._results import Comparison, Interval, Question


def interval_comparison(evidences: Sequence[Evidence], question: Question) -> Comparison:
    """Test contrasts by their limits: a hypothesis is rejected at the levels that exclude it."""
    first, singles = evidences[0], [single(evidence) for evidence in evidences]
    values = np.array([x.interval(question.level).estimate for x in singles])

    def limits_of(row: FloatArray) -> tuple[float, LimitsAt]:
        pair = evidences[int(row.argmax())], evidences[int(row.argmin())]
        return float(row @ values), limits_of_pair(*pair)

    method = "square-and-add" if _of_draws(first) else "bonferroni"
    target = f"{first.measure.name} on {first.data.sizes[0]:.0f} items"
    return comparison_of_limits(question, values, limits_of, target, method, singles)


def comparison_of_limits(
    question: Question,
    values: Any,
    limits_of: Callable[[FloatArray], tuple[float, LimitsAt]],
    target: str,
    method: str,
    singles: Sequence[Single] = (),
) -> Comparison:
    """Test contrasts by their estimates and limits at each level.

    All of the error of Bonferroni's limits may lie on one side. Bounds hold at any level, and
    their p-values are 0 and 1.
    """
    m, certain = len(question.contrasts), method == "bounds"
    if certain:
        question = replace(question, level=1.0)
    contrasts = [limits_of(row) for row in question.matrix]
    tails = 2.0 if method == "bonferroni" or question.alternative == "two-sided" else 1.0
    level = 1.0 - 2.0 * (1.0 - question.level) / tails / m
    low, high = zip(*(limits(level) for _, limits in contrasts), strict=True)
    extreme = question.extreme(question.statistics(lambda x: quantiles_at(contrasts, x)))
    # Limits of one side meet where the error is one half.
    pvalues = np.where(extreme > 0.0, np.minimum(tails * m * ndtr(-extreme), 1.0), 1.0)
    return question.answer(
        method,
        target,
        **question.of_values(method, values, singles),
        differences=[difference for difference, _ in contrasts],
        low=low,
        high=high,
        pvalues=np.floor(pvalues) if certain else pvalues,
    )


# Beyond these normal quantiles a level is 0 or 1 up to rounding.
LEAST_QUANTILE, LARGEST_QUANTILE = 1e-3, 7.0


def quantiles_at(contrasts: Sequence[tuple[float, LimitsAt]], hypothesis: float) -> FloatArray:
    """Find the normal quantiles at which the limits of differences reach a hypothesis."""
    return np.array([_quantile_at(*contrast, hypothesis) for contrast in contrasts])


def _quantile_at(difference: float, limits: LimitsAt, hypothesis: float) -> float:
    side = 0 if difference > hypothesis else 1

    def distance(quantile: float) -> float:
        limit = limits(1.0 - 2.0 * float(ndtr(-quantile)))[side]
        return abs(difference - hypothesis) - abs(difference - limit)

    if distance(LEAST_QUANTILE) <= 0.0:
        return 0.0
    found = LARGEST_QUANTILE
    if distance(found) < 0.0:
        found = float(brentq(distance, LEAST_QUANTILE, LARGEST_QUANTILE, xtol=1e-9))
    return found if side == 0 else -found


def _single(evidence: Evidence, level: float) -> Interval:
    return single(evidence).interval(level)


def added_in_squares(limits_of: Sequence[LimitsAt], values: Sequence[float], r: float) -> LimitsAt:
    """Limits of a difference from those of two values of the correlation r.

    Zou & Donner (2008): distances of limits from values are added as standard deviations are.
    """

    def limits(level: float) -> Limits:
        (a, b), ((low_a, high_a), (low_b, high_b)) = values, (find(level) for find in limits_of)
        pairs = (a - low_a, high_b - b), (high_a - a, b - low_b)
        down, up = (
            sqrt(max(x * x + y * y - 2.0 * r * abs(x * y), 0.0)) if isfinite(x + y) else inf
            for x, y in pairs
        )
        return a - b - down, a - b + up

    return limits


def _of_draws(evidence: Evidence) -> bool:
    return "draws" in evidence.measure.laws and evidence.groups is None


def limits_of_pair(first: Evidence, second: Evidence) -> LimitsAt:
    """Limits of the difference of a measure without influence of two rankers."""
    return (_square_and_add if _of_draws(first) else _joined)(first, second)


def _joined(first: Evidence, second: Evidence) -> LimitsAt:
    """Limits that hold where those of both rankers hold, each with half of the error."""

    def limits(level: float) -> Limits:
        one, other = (_single(x, 1.0 - (1.0 - level) / 2.0) for x in (first, second))
        return one.low - other.high, one.high - other.low

    return limits


def _square_and_add(first: Evidence, second: Evidence) -> LimitsAt:
    """Limits of the gains and of the losses, which are of other items and so independent.

    Zou & Donner (2008): the distances of the limits are added in squares.
    """
    # A row of a weight is so many items, each of which is drawn by itself.
    first, second = first.repeat(), second.repeat()
    weights, values = np.zeros((2, len(first.data.score)))
    for sign, draws in ((1.0, first.draws), (-1.0, second.draws)):
        weights += sign * draws.unit * draws.sums(1.0)
        values[draws.groups.codes] = draws.values

    def of_side(sign: float) -> tuple[float, LimitsAt]:
        rows = np.flatnonzero(sign * weights > 0.0)
        total = float(np.abs(weights[rows]).sum())
        if not total:
            return 0.0, lambda _: (0.0, 0.0)
        draws = Draws(np.abs(weights[rows]) / total, values[rows], first.units, total, "")

        def limits(level: float) -> Limits:
            low, high = limits_of_draws(draws, False, level, "wilson")
            return total * low, total * high

        return total * draws.mean, limits

    (gains, of_gains), (losses, of_losses) = map(of_side, (1.0, -1.0))
    return added_in_squares([of_gains, of_losses], [gains, losses], 0.0)
