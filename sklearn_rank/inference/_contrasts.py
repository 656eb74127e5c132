"""Contrasts of rankers from limits alone, for measures of one list without influence functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from .._typing import FloatArray
from ..metrics._shared import ClassInfluence, Draws, Evidence
from ._label_bounds import is_bounded, label_bounds, target_in_part
from ._limits import Limits, LimitsAt, two_sided_quantile
from ._list_intervals import limits_of_draws, list_interval, resampled_values
from ._methods import interval_of, method_of
from ._results import Comparison, Interval, Question, level_of_both
from ._score_path import score_limits


def interval_comparison(evidences: Sequence[Evidence], question: Question) -> Comparison:
    """Test contrasts by their limits: a hypothesis is rejected at the levels that exclude it."""
    measure, grouped = evidences[0].measure, evidences[0].groups is not None
    of_draws = "draws" in measure.laws and not grouped
    singles = [_single(evidence, question.level) for evidence in evidences]
    values = [single.estimate for single in singles]
    if evidences[0].partial is not None:
        certain = is_bounded(evidences[0])

        def in_part(row: FloatArray) -> tuple[float, LimitsAt]:
            if certain:
                both = label_bounds(evidences, row.tolist())
                return sum(both) / 2.0, lambda _: both
            limits = score_limits(evidences, row.tolist())[2]
            low, high = limits(question.level)
            # The walks of single values and of their difference end at other probabilities.
            return float(np.clip(row @ values, low, high)), limits

        target = target_in_part(evidences[0])
        return comparison_of_limits(question, values, in_part, target, singles[0].method)

    def of_pair(row: FloatArray) -> tuple[float, LimitsAt]:
        find = _square_and_add if of_draws else _joined
        first, second = int(row.argmax()), int(row.argmin())
        return float(row @ values), find(evidences[first], evidences[second])

    target = f"{measure.name} on {evidences[0].data.sizes[0]:.0f} items"
    method = "square-and-add" if of_draws else "bonferroni"
    return comparison_of_limits(question, values, of_pair, target, method)


def resampled_comparison(
    evidences: Sequence[Evidence], question: Question, n_resamples: int, rng: np.random.Generator
) -> Comparison:
    """Test contrasts by normal limits, with the covariance of values of resampled lists."""
    measure, data = evidences[0].measure, evidences[0].data
    covariance = np.atleast_2d(np.cov(resampled_values(evidences, n_resamples, rng)))
    values = np.array([evidence.repeat().value for evidence in evidences])

    def limits_of(row: FloatArray) -> tuple[float, LimitsAt]:
        difference, error = float(row @ values), float(np.sqrt(row @ covariance @ row))
        if not error > 0.0:
            raise ValueError(
                f"The rankers have the same difference of {measure.name} in all {n_resamples}"
                " bootstrap samples, so its variance cannot be estimated: pass rankers whose"
                " orders differ."
            )

        def limits(level: float) -> Limits:
            half = two_sided_quantile(level) * error
            return difference - half, difference + half

        return difference, limits

    target = f"{measure.name} on {data.sizes[0]:.0f} items"
    found = comparison_of_limits(question, values.tolist(), limits_of, target, "bootstrap")
    return replace(found, standard_errors=tuple(np.sqrt(np.diag(covariance)).tolist()))


def comparison_of_limits(
    question: Question,
    values: Sequence[float],
    limits_of: Callable[[FloatArray], tuple[float, LimitsAt]],
    target: str,
    method: str,
) -> Comparison:
    """Test contrasts by their estimates and limits at each level.

    All of the error of Bonferroni's limits may lie on one side. Bounds hold at any level, and
    their p-values are 0 and 1.
    """
    measure, m = question.measure, len(question.contrasts)
    two_sided, certain = method == "bonferroni", method == "bounds"
    if certain:
        question = replace(question, level=1.0)
    low, high, pvalues, differences = [], [], [], []
    for row in question.matrix:
        difference, at_level = limits_of(row)

        def limits(delta: float, at_level: LimitsAt = at_level) -> Limits:
            level = 1.0 - delta / m
            return at_level(level if two_sided else level_of_both(level, question.alternative))

        differences.append(difference)
        both = limits(1.0 - question.level)
        low.append(both[0])
        high.append(both[1])
        pvalues.append(_pvalue(limits, question))
    if certain:
        pvalues = [float(pvalue == 1.0) for pvalue in pvalues]
    relation = "equal"
    if question.margin is not None:
        worse = question.alternative == "non-inferior"
        relation = f"{'worse' if worse else 'different'} by {question.margin:g} or more:"
    return question.answer(
        method,
        target,
        f"{relation} {measure.name}",
        values=values,
        differences=differences,
        low=low,
        high=high,
        pvalues=pvalues,
    )


def _pvalue(limits: LimitsAt, question: Question) -> float:
    """Smallest error at which the limits exclude the hypothesis."""
    margin, alternative = question.margin or 0.0, question.alternative

    def is_excluded(delta: float) -> bool:
        low, high = limits(delta)
        better = low > -margin if question.measure.greater_is_better else high < margin
        return {
            "two-sided": low > 0.0 or high < 0.0,
            "greater": low > 0.0,
            "less": high < 0.0,
            "non-inferior": better,
            "equivalent": low > -margin and high < margin,
        }[alternative]

    # One-sided limits meet where both errors are one half.
    least, most = 1e-12, (1.0 if alternative == "two-sided" else 0.5) - 1e-9
    if not is_excluded(most):
        return 1.0
    if is_excluded(least):
        return least
    ends = np.log(least), np.log(most)
    for _ in range(24):
        middle = (ends[0] + ends[1]) / 2.0
        ends = (ends[0], middle) if is_excluded(float(np.exp(middle))) else (middle, ends[1])
    return float(np.exp(ends[1]))


def _single(evidence: Evidence, level: float) -> Interval:
    grouped, partial = evidence.groups is not None, evidence.partial is not None
    measure, sampled = evidence.measure, evidence.sampled
    method = method_of(measure, grouped=grouped, partial=partial, sampled=sampled)
    return interval_of(evidence, level, method)


def limits_of_single(evidence: Evidence, influence: ClassInfluence) -> LimitsAt:
    """Limits of one ranker by itself, of which the influence is known."""
    measure, groups = evidence.measure, evidence.groups
    method = method_of(measure, grouped=groups is not None, sampled=evidence.sampled)
    is_known = method.name == "influence" and method.law == "influence"

    def limits(level: float) -> Limits:
        if is_known and measure.kind == "binary" and not evidence.sampled:
            found = list_interval(measure, influence, level, groups)
        else:
            found = _single(evidence, level)
        return found.low, found.high

    return limits


def added_in_squares(
    first: LimitsAt, second: LimitsAt, values: Sequence[float], r: float
) -> LimitsAt:
    """Limits of a difference from those of two values of the correlation r.

    Zou & Donner (2008): distances of limits from values are added as standard deviations are.
    """

    def limits(level: float) -> Limits:
        of_two = [find(level) for find in (first, second)]
        below, above = (
            [abs(both[side] - value) for both, value in zip(of_two, values, strict=True)]
            for side in (0, 1)
        )
        difference = values[0] - values[1]
        pairs = (below[0], above[1]), (above[0], below[1])
        down, up = (sqrt(max(a * a + b * b - 2.0 * r * a * b, 0.0)) for a, b in pairs)
        return difference - down, difference + up

    return limits


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
        weights += sign * draws.unit * draws.groups.sums(draws.weights)
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
    return added_in_squares(of_gains, of_losses, [gains, losses], 0.0)
