"""Several candidates on held-out parts: their values, how these vary together, and their limits.

Each part is scored by models that were fitted without it. The target is the mean over the parts of
the expected measure of a candidate's models; with one part it is that of one model. A unit is an
item of one list or a query, whose value is its influence on the mean over the queries.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from .._lists import ScoredLists
from .._typing import AnyArray, ArrayPair, BoolArray, FloatArray, IntArray
from .._validation import ravelled, shape_of
from ..inference import Interval
from ..inference._shared import (
    AUCMoments,
    Joint,
    Pairs,
    QueryValues,
    Single,
    influence_moments,
    joint_influence,
    mean_influences,
    method_of,
    query_values_of,
    refuse_no_variance,
    refuse_one_class,
    sample_interval,
    single,
    with_rank_bias,
)
from ..metrics import Measure
from ..metrics._shared import ClassInfluence, Groups


def refuse_one_list(measure: Measure, ids: str = "qid=") -> None:
    """Refuse a measure that has limits only for its mean over queries."""
    if measure.has_influence:
        return
    if measure.per_query:
        reason = "is a mean over queries, so it has no limits for one list"
        mend = f"pass {ids}, one id per row, or 'auc' or others with an influence function"
    else:
        reason = "has no influence function, so folds of one list give no limits"
        mend = "pass 'auc', 'ap', 'precision@top0.1' or another measure that has one"
        if measure.laws:
            mend += ", or give the scores of held-out rows to metric_interval or compare"
    raise ValueError(f"measure={measure.name!r} {reason}: {mend}.")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Several candidates on held-out parts, which asymptotic limits take as independent."""

    measure: Measure
    labels: Sequence[Any]  # Of each part
    scores: Sequence[Sequence[FloatArray]]  # For each part the scores of each candidate
    qid: Sequence[Any] | None = None  # Of each part; None is one list
    rows: Sequence[IntArray] | None = None  # Numbers of the rows of each part; None is all others
    pos_label: Any = None
    least: int = 2  # Number of queries that a part needs

    # --------------------------------------------------------------------------------- the parts

    @property
    def of_queries(self) -> bool:
        return self.qid is not None

    @property
    def sign(self) -> float:
        """Factor of the values, of which a greater one is better."""
        return 1.0 if self.measure.greater_is_better else -1.0

    @property
    def is_auc(self) -> bool:
        """Whether the value of one list is a mean of placements."""
        return not self.of_queries and "placements" in self.measure.laws

    @property
    def of_new_data(self) -> str:
        """Name of the value on new data; a population has no length of a list."""
        return "expected" if self.of_queries or self.is_auc else "population"

    @property
    def n_parts(self) -> int:
        return len(self.labels)

    @property
    def scored_models(self) -> str:
        if self.n_parts == 1:
            return "the model fitted without the held-out part"
        return f"the {self.n_parts} fold models"

    @cached_property
    def lists(self) -> list[list[ScoredLists]]:
        """For each part the list with the scores of each candidate."""
        lists = []
        for labels, scores in zip(self.labels, self.scores, strict=True):
            y = ravelled(labels, "y_true")
            data = self.measure.lists(y, scores[0], pos_label=self.pos_label)
            if self.measure.kind == "binary":
                refuse_one_class(data)
            others = [data.scored_by(score, shape_of(y)) for score in scores[1:]]
            for scored in others:
                self.measure._check_scores(scored)
            lists.append([data, *others])
        return lists

    @cached_property
    def queries(self) -> list[list[QueryValues]]:
        """For each part the values of the queries, by candidate."""
        found = []
        for labels, scores, ids in zip(self.labels, self.scores, self.qid or (), strict=True):
            named = {str(candidate): score for candidate, score in enumerate(scores)}
            columns: Any = {"qid": ids, "pos_label": self.pos_label, "least": self.least}
            found.append([*query_values_of(self.measure, labels, named, **columns).values()])
        return found

    @cached_property
    def influences(self) -> list[list[ClassInfluence]]:
        """Influence of the units of each part, by candidate."""
        measure = self.measure
        if self.of_queries:
            tables = [np.stack([x.values for x in part]) for part in self.queries]
            return [mean_influences(table, measure.counted_range) for table in tables]
        return [[influence_of_list(measure, data) for data in part] for part in self.lists]

    @cached_property
    def values(self) -> FloatArray:  # (n_candidates, n_parts)
        if self.of_queries:
            of_parts = [[x.mean for x in part] for part in self.queries]
        else:
            of_parts = [[float(self.measure.values(x)[0]) for x in part] for part in self.lists]
        return self.sign * np.array(of_parts).T

    @cached_property
    def means(self) -> FloatArray:
        return self.values.mean(axis=1)

    @cached_property
    def units(self) -> list[AnyArray]:
        """Number of the row, or id of the query, of each unit of a part."""
        if self.rows is None:
            ends = np.cumsum(np.append(0, np.sum([*self.sizes.values()], axis=0)))
            return [np.arange(*of_part) for of_part in pairwise(ends)]
        return [part[0].ids for part in self.queries] if self.of_queries else list(self.rows)

    @cached_property
    def sizes(self) -> dict[str, list[int]]:
        """Numbers of units of the parts, by the names of the units."""
        if self.of_queries:
            return {"queries": [len(part[0].values) for part in self.queries]}
        n = [len(part[0].score) for part in self.lists]
        if self.measure.kind != "binary":
            return {"items": n}
        n_pos = [int(part[0].positives[0]) for part in self.lists]
        return {"positives": n_pos, "negatives": [x - k for x, k in zip(n, n_pos, strict=True)]}

    def counts(self) -> str:
        """Numbers of units in words."""
        ends = {name: (min(of_parts), max(of_parts)) for name, of_parts in self.sizes.items()}
        named = [
            f"{n} {x}" if n == most else f"{n} to {most} {x}" for x, (n, most) in ends.items()
        ]
        return " and ".join(named) + (" each" if self.n_parts > 1 else "")

    def fewest(self) -> str:
        """Number of units that guarantees depend on, of the smallest part, in words."""
        name, of_parts = min(self.sizes.items(), key=lambda item: min(item[1]))
        return f"{min(of_parts)} {name}"

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest value of a list, or of a query."""
        low, high = self.measure.counted_range if self.of_queries else self.measure.range
        return (low, high) if self.sign > 0.0 else (-high, -low)

    @cached_property
    def chance(self) -> float | None:
        """Mean over the parts of the value of items that are all tied; None if it is unknown."""
        if not self.measure.is_mean_over_ties:
            return None
        tied = replace(self, scores=[[np.zeros(len(labels))] for labels in self.labels])
        with warnings.catch_warnings():
            # The measure has warned of the labels before.
            warnings.simplefilter("ignore")
            return float(tied.means[0])

    # ------------------------------------------------------------------------------ how they vary

    @cached_property
    def usual_moments(self) -> list[Single]:
        return self.moments()

    @cached_property
    def joint(self) -> Joint:
        """Means of the candidates over the parts, and their joint distribution."""
        joint = joint_influence(self.pooled)
        if (np.diag(joint.regularized) <= 0.0).any():
            refuse_no_variance(self.measure)
        return joint

    @cached_property
    def pooled(self) -> list[ClassInfluence]:
        """Influence of each unit on the mean over the parts, by candidate, as one sample."""
        known = np.unique(np.concatenate(self.units))
        places = [np.searchsorted(known, units) for units in self.units]
        return [_pool(parts, places, len(known)) for parts in zip(*self.influences, strict=True)]

    @property
    def pairs(self) -> list[Pairs]:
        """Pairs of each part, if these have two classes and no row in common."""
        first, rows = self.influences[0][0], np.concatenate(self.units)
        if first.positive is None or len(np.unique(rows)) < len(rows):
            return []
        scores = [[data.score for data in part] for part in self.lists]
        return list(map(Pairs, self.influences, scores))

    # --------------------------------------------------------------------------------- the limits

    def moments(self, method: str = "auto", groups: Groups | None = None) -> list[Single]:
        """What limits of the candidates' means rest on; one part is one list."""
        if self.n_parts == 1 and not self.of_queries:
            chosen = method_of(self.measure, grouped=groups is not None)
            if method in ("auto", chosen.name):
                lists = self.lists[0]
                return [single(self.measure.evidence(data, groups), chosen) for data in lists]
        return [self.moments_of(pooled, groups, method) for pooled in self.pooled]

    def moments_of(
        self, pooled: ClassInfluence, groups: Groups | None, method: str = "auto"
    ) -> Single:
        """The same of all parts as one sample."""
        if self.of_queries:
            return self.sample_of(pooled, groups).moments
        if self.is_auc and method != "influence":
            return AUCMoments.of_influence(pooled, groups, measure=self.measure)
        found = influence_moments(self.measure, pooled, groups)
        return found if groups is not None else found.with_student()

    def sample_of(self, pooled: ClassInfluence, groups: Groups | None) -> QueryValues:
        """Values of queries, of which the mean is that over the parts."""
        values = pooled.values + (pooled.estimate - pooled.values.mean())
        name, whole = self.measure.name, self.measure.counted_range
        return QueryValues(values, np.arange(len(values)), name, whole, groups)

    def asymptotic_limits(self, tails: FloatArray, method: str = "auto") -> ArrayPair:
        """Asymptotic limits, each of which fails with the given probability."""
        limits = []
        found = self.usual_moments if method == "auto" else self.moments(method)
        for value, moments, tail in zip(self.means, found, tails, strict=True):
            of_level: Any = moments
            of_level = of_level.student_limits if method == "t" else of_level.limits
            ends = of_level(1.0 - 2.0 * float(tail)) if tail < 0.5 else self.sign * value
            limits.append(np.broadcast_to(ends, 2))
        low, high = np.array(limits).T
        return (low, high) if self.sign > 0.0 else (-high, -low)

    def interval(
        self, level: float, groups: Groups | None = None, center: float | None = None
    ) -> Interval:
        """Interval for the expected mean of the first candidate, or about another estimate."""
        pooled = self.pooled[0]
        if center is not None:
            # The bias of a list of all rows is smaller, in proportion to its length.
            share = float(np.mean([part[0].n for part in self.influences])) / pooled.n
            excess = pooled.excess * share**0.5
            pooled = replace(pooled, estimate=center, bias=pooled.bias * share, excess=excess)
        if self.of_queries:
            return sample_interval(self.sample_of(pooled, groups), level)
        if center is not None:
            return self.moments_of(pooled, groups).interval(level)
        return self.moments(groups=groups)[0].interval(level)


def influence_of_list(measure: Measure, data: ScoredLists) -> ClassInfluence:
    """Influence on the value of a part, with the bias that intervals subtract."""
    influence = measure.influence_of(data)
    if influence is None or not isfinite(influence.estimate):
        n, n_pos = int(data.sizes[0]), int(data.positives[0]) if measure.kind == "binary" else 0
        items = f"{n_pos} positives and {n - n_pos} negatives" if n_pos else f"{n} items"
        raise ValueError(f"{measure.name} has no value for a part of {items}: pass larger parts.")
    return with_rank_bias(measure.evidence(data), influence.linear)


def _pool(parts: Sequence[ClassInfluence], places: Sequence[IntArray], n: int) -> ClassInfluence:
    """Influence of each of n units on the mean over the parts, whose units have these places."""
    positive: BoolArray | None = None
    classes: tuple[Any, ...] = (slice(None),)
    if parts[0].positive is not None:
        positive = np.zeros(n, dtype=bool)
        for part, at in zip(parts, places, strict=True):
            positive[at] = part.positive
        classes = (positive, ~positive)
    pooled, ends = np.empty(n), np.zeros((len(parts), len(classes), 2))
    for side, in_class in enumerate(classes):
        # Centre the influences at the value of the part, which depends on its size.
        shifts = np.array([[part.estimate - part.means[side]] for part in parts])
        of_parts = [part.parts[side][0] + shift for part, shift in zip(parts, shifts, strict=True)]
        of_class = [place[part.classes[side]] for part, place in zip(parts, places, strict=True)]
        pooled[in_class] = _on_mean(of_parts, of_class, n)[in_class]
        ends[:, side] = [part.class_ends()[side] for part in parts] + shifts
    low, high = np.mean([part.range for part in parts], axis=0)
    known = all(part.ends is not None for part in parts)
    return ClassInfluence(
        estimate=float(np.mean([part.estimate for part in parts])),
        values=pooled,
        positive=positive,
        ends=ends.mean(axis=0) if known else None,
        range=(float(low), float(high)),
        bias=float(np.mean([part.bias for part in parts])),
        label_slope=float(np.mean([part.label_slope for part in parts])),
        jump_bias=np.mean([part.jump_bias for part in parts], axis=0),
        slope_variance=float(np.mean([part.slope_variance * part.n for part in parts])) / n,
        excess=float(np.mean([part.excess for part in parts])),
    )


def _on_mean(values: Sequence[FloatArray], places: Sequence[IntArray], n: int) -> FloatArray:
    """Influence of each row of a class on the mean over the parts, from that on each part.

    With ``v_ij`` the influence of row i on the value of part j, ``n_j`` the rows of the class in
    it, c the mean of all ``v_ij`` with equal weight for the K parts, and N the rows of the class,
    it is ``c + N sum over the parts of the row of (v_ij - c) / (K n_j)``. All folds share the
    centre c. Their differences are part of the variance, also if a fold has one positive.
    """
    n_parts = len(values)
    center = float(np.mean([of_part.mean() for of_part in values]))
    total = np.zeros(n)
    for of_part, at in zip(values, places, strict=True):
        total[at] += (of_part - center) / (n_parts * len(of_part))
    count = len(np.unique(np.concatenate(places)))
    return center + count * total


def asymptotics_of(measure: Measure, of_queries: bool) -> tuple[str, ...]:
    """Methods by name, as in sklearn_rank.inference, the preferred one first."""
    if of_queries:
        return ("wilson", "t") if np.isfinite(measure.counted_range).all() else ("t",)
    by_law = {"placements": "wilson", "influence": "influence"}
    return tuple(name for law, name in by_law.items() if law in measure.laws)
