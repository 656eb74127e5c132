"""Estimate and variance of the mean measure of the fold models, from held-out parts.

Each row, or query, has an influence on the mean through every part that holds it out. If each row
is in one part, this is the influence within its fold, so all folds are one sample with the number
of all rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..inference import Interval
from ..inference._shared import (
    AUCMoments,
    Groups,
    IntervalOptions,
    JointEstimate,
    QueryValues,
    auc_score_limits,
    check_groups,
    design_effect,
    joint_influence,
    joint_query_means,
    list_interval,
    safe_limits,
    sample_interval,
    two_sided_quantile,
    unseen_effect,
)
from ..metrics import Measure
from ..metrics._shared import ClassInfluence
from ._cross_val_design import Sample
from ._list_evidence import influence_of_list, is_auc

__all__ = ["HeldOut", "held_out", "query_values", "value_of_list"]

ROUNDING = 1e-12


def held_out(
    sample: Sample, tests: Sequence[IntArray], scores: Sequence[Sequence[FloatArray]]
) -> HeldOut:
    """Evaluate several candidates on held-out parts. What they show."""
    if sample.metadata.qid is None:
        return HeldOutLists(sample.measure, sample, tests, scores)
    return HeldOutQueries(sample.measure, sample, tests, scores)


@dataclass(frozen=True, eq=False)
class HeldOut(ABC):
    """Estimates for several candidates from held-out parts.

    With ``v_ij`` the influence of row i of a class on the value of part j, ``n_j`` the rows of the
    class in it, c the mean of all ``v_ij`` with equal weight for the K parts, and N the rows of
    the class, the rows have the influence ``c + N sum over its parts of (v_ij - c) / (K n_j)`` on
    the mean over the parts. It is about one centre for all folds: what the folds differ by counts
    as spread, so that a fold with one positive says something of how they vary.
    """

    measure: Measure
    sample: Sample
    tests: Sequence[IntArray]  # Rows of each part
    scores: Sequence[Sequence[FloatArray]]

    @property
    @abstractmethod
    def values(self) -> FloatArray:
        """Value of each candidate on each part, of shape (n_candidates, n_parts)."""

    @property
    @abstractmethod
    def sizes(self) -> list[tuple[int, ...]]:
        """Positives and negatives of each part, or queries that have a value."""

    @property
    @abstractmethod
    def joint(self) -> JointEstimate:
        """Means over the parts, and how the candidates vary together."""

    @abstractmethod
    def interval(self, candidate: int, level: float, center: float | None = None) -> Interval:
        """Interval for the expected mean of one candidate."""


@dataclass(frozen=True, eq=False)
class HeldOutLists(HeldOut):
    """Held-out lists of two classes."""

    @cached_property
    def _parts(self) -> list[list[ClassInfluence]]:
        return [
            [
                influence_of_list(self.measure, self.sample.labels[test] == 1, score)
                for test, score in zip(self.tests, of_parts, strict=True)
            ]
            for of_parts in self.scores
        ]

    @cached_property
    def _rows(self) -> IntArray:
        """Rows that are held out at least once."""
        return np.unique(np.concatenate(self.tests))

    @property
    def values(self) -> FloatArray:
        """Value of each candidate on each part, of shape (n_candidates, n_parts)."""
        return np.array([[one.estimate for one in parts] for parts in self._parts])

    @property
    def sizes(self) -> list[tuple[int, ...]]:
        """Positives and negatives of each part."""
        return [(one.n_pos, one.n - one.n_pos) for one in self._parts[0]]

    @cached_property
    def _groups(self) -> Groups | None:
        ids = self.sample.metadata.groups
        return None if ids is None else check_groups(ids[self._rows], len(self._rows))

    @cached_property
    def _pooled(self) -> list[ClassInfluence]:
        positive = self.sample.labels[self._rows] == 1
        return [self._pool(parts, positive) for parts in self._parts]

    def _pool(self, parts: list[ClassInfluence], positive: BoolArray) -> ClassInfluence:
        """Influence of each row on the mean over the parts."""
        values = np.empty(len(positive))
        ends = np.zeros((len(parts), 2, 2))
        for side, is_positive in enumerate((True, False)):
            in_class = positive == is_positive
            # Of the mean that the part has: what is added to all rows alike depends on its size.
            shifts = [one.estimate - one.parts[side].mean for one in parts]
            of_parts = [
                one.parts[side].values + shift for one, shift in zip(parts, shifts, strict=True)
            ]
            places = [
                np.searchsorted(self._rows, test[(self.sample.labels[test] == 1) == is_positive])
                for test in self.tests
            ]
            values[in_class] = _on_mean(of_parts, places, len(positive))[in_class]
            ends[:, side] = [
                np.add(one.class_ends()[side], shift)
                for one, shift in zip(parts, shifts, strict=True)
            ]
        low, high = np.mean([one.range for one in parts], axis=0)
        known = all(one.ends is not None for one in parts)
        return ClassInfluence(
            estimate=float(np.mean([one.estimate for one in parts])),
            values=values,
            positive=positive,
            ends=tuple(ends.mean(axis=0).ravel().tolist()) if known else None,
            range=(float(low), float(high)),
        )

    @cached_property
    def joint(self) -> JointEstimate:
        """Means over the parts, and how the candidates vary together, given the labels."""
        return joint_influence(self._pooled, conditional=True, groups=self._groups)

    def interval(self, candidate: int, level: float, center: float | None = None) -> Interval:
        """Interval for the expected mean of one candidate: score limits, or by the influence."""
        pooled = self._pooled[candidate]
        if center is not None:
            pooled = replace(pooled, estimate=center)
        # A row by itself is a group of one: Student's quantile then counts the rows.
        groups = self._groups or Groups(np.arange(len(self._rows)), len(self._rows))
        if not is_auc(self.measure):
            return list_interval(self.measure, pooled, level, groups)
        joint = joint_influence([pooled], conditional=True, groups=self._groups)
        moments = _auc_moments(pooled, joint, self._groups)
        z = two_sided_quantile(level, joint.spread.of(np.ones(1)))
        effect, unseen = design_effect(moments), unseen_effect(moments)
        low, high = auc_score_limits(pooled.estimate, effect, unseen, z)
        error = np.sqrt(effect * moments.auc * (1.0 - moments.auc))
        return Interval(
            pooled.estimate, float(low), float(high), level, "wilson", "", float(error)
        )


def _auc_moments(
    pooled: ClassInfluence, joint: JointEstimate, groups: Groups | None
) -> AUCMoments:
    """Moments of placements, as if all parts were one list."""
    n_pos, n_neg = pooled.n_pos, pooled.n - pooled.n_pos
    var_pos, var_neg = (part.squares(part.mean) / max(part.size - 1, 1) for part in pooled.parts)
    found = AUCMoments.of_independent(pooled.estimate, var_pos, var_neg, 0.0, n_pos, n_neg)
    if groups is None:
        return found
    fewest = min(
        int(np.count_nonzero(groups.sizes(in_class)))
        for in_class in (pooled.positive, ~pooled.positive)
    )
    variance = np.nan_to_num(joint.covariance[0, 0])
    return replace(found, variance=np.asarray(variance), n_groups=np.asarray(fewest))


def _on_mean(values: list[FloatArray], places: list[IntArray], n: int) -> FloatArray:
    """Influence of each row on the mean over the parts, from its influence on each part."""
    n_parts = len(values)
    center = float(np.mean([one.mean() for one in values]))
    total = np.zeros(n)
    for one, at in zip(values, places, strict=True):
        total[at] += (one - center) / (n_parts * len(one))
    count = len(np.unique(np.concatenate(places)))
    return center + count * total


@dataclass(frozen=True, eq=False)
class HeldOutQueries(HeldOut):
    """Held-out queries."""

    @cached_property
    def _parts(self) -> list[tuple[FloatArray, AnyArray]]:
        """For each part the values of the candidates on its queries, and the ids of these."""
        return [
            query_values(self.sample, test, [of_parts[part] for of_parts in self.scores])
            for part, test in enumerate(self.tests)
        ]

    @cached_property
    def _ids(self) -> AnyArray:
        return np.unique(np.concatenate([ids for _, ids in self._parts]))

    @cached_property
    def _groups(self) -> Groups | None:
        of_rows = self.sample.metadata.groups
        if of_rows is None:
            return None
        known, first = np.unique(self.sample.query_ids, return_index=True)
        return check_groups(of_rows[first[np.searchsorted(known, self._ids)]], len(self._ids))

    @property
    def values(self) -> FloatArray:
        """Value of each candidate on each part, of shape (n_candidates, n_parts)."""
        return np.array([values.mean(axis=1) for values, _ in self._parts]).T

    @property
    def sizes(self) -> list[tuple[int, ...]]:
        """Queries of each part that have a value."""
        return [(len(ids),) for _, ids in self._parts]

    @cached_property
    def _pooled(self) -> FloatArray:
        places = [np.searchsorted(self._ids, ids) for _, ids in self._parts]
        n_candidates, n = len(self.scores), len(self._ids)
        return np.stack(
            [
                _on_mean([values[c] for values, _ in self._parts], places, n)
                for c in range(n_candidates)
            ]
        )

    @cached_property
    def joint(self) -> JointEstimate:
        """Means over the parts, and how the candidates vary together."""
        low, high = self.measure.counted_range
        return joint_query_means(self._pooled, high - low, self._groups)

    def interval(self, candidate: int, level: float, center: float | None = None) -> Interval:
        """Interval for the expected mean of one candidate: Student's, or that of a share."""
        low, high = self.measure.counted_range
        values = self._pooled[candidate]
        if center is not None:
            values = values + (center - values.mean())
        pooled = QueryValues(values, self._ids, self.measure.name, (low, high), self._groups)
        options = IntervalOptions("t", level, 99)
        if pooled.constant or not self._are_shares(candidate):
            return sample_interval(pooled, options, np.random.default_rng(0))
        estimate = float(np.clip((values.mean() - low) / (high - low), 0.0, 1.0))
        variance = (pooled.standard_error / (high - low)) ** 2
        draws = min(estimate * (1.0 - estimate) / variance, float(len(values)))
        degrees = np.inf if self._groups is None else pooled.degrees
        limits = [low + (high - low) * x for x in safe_limits(estimate, draws, level, degrees)]
        error = pooled.standard_error
        return Interval(float(values.mean()), limits[0], limits[1], level, "wilson", "", error)

    def _are_shares(self, candidate: int) -> bool:
        """Whether all values are at the ends of a finite range."""
        low, high = self.measure.counted_range
        if not isfinite(high - low):
            return False
        seen = np.concatenate([values[candidate] for values, _ in self._parts])
        apart = np.minimum(np.abs(seen - low), np.abs(seen - high))
        return bool((apart <= ROUNDING * (high - low)).all())


def query_values(
    sample: Sample, rows: IntArray, scores: Sequence[FloatArray]
) -> tuple[FloatArray, AnyArray]:
    """Evaluate candidates on the queries of some rows."""
    measure = sample.measure
    lists = measure.lists(sample.labels[rows], scores[0], qid=sample.query_ids[rows])
    values, ids = [], np.empty(0)
    for candidate, score in enumerate(scores):
        scored = lists.scored_by(score, score.shape) if candidate else lists
        found, ids = measure.of_lists(scored, average=None, return_qid=True)
        values.append(found)
    table = np.stack(values)
    has_value = ~np.isnan(table)
    defined = has_value.any(axis=0)
    if not has_value[:, defined].all() or not np.isfinite(table[:, defined]).all():
        raise ValueError(
            f"{measure.name} is infinite for a held-out query, or defined for it with the scores"
            " of some estimators only: choose another measure, or set undefined= of the measure."
        )
    if not defined.any():
        raise ValueError(
            f"{measure.name} has no value for any of the {len(ids)} queries of a held-out part:"
            " pass fewer folds, or set undefined= of the measure."
        )
    return table[:, defined], ids[defined]


def value_of_list(measure: Measure, positive: BoolArray, score: FloatArray) -> float:
    """Evaluate one list of two classes."""
    return float(measure.of_lists(measure.lists(positive.astype(np.int64), score)))
