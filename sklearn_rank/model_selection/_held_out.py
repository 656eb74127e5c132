"""Several candidates on held-out parts: their values, how these vary together, and their limits.

Each part is scored by models that were fitted without it. The target is the mean over the parts of
the expected measure of a candidate's models; with one part it is that of one model. A unit is an
item of one list or a query, whose value is its influence on the mean over the queries.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, log
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import sklearn.metrics
from scipy.special import gammaln, logsumexp, ndtri, stdtrit, xlogy

from .._lists import ScoredLists
from .._order import counted_blocks, top_mass
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import ravelled, shape_of
from ..bounds import Bound, auc_bound, auc_fold_mean_bound
from ..bounds._shared import (
    OURS,
    SAME_TIES,
    TIES_IN_RANDOM_ORDER,
    TINY,
    kl_limits,
    mean_limits,
    n_terms,
    top_precision_limits,
    wilson_score_limits,
)
from ..inference import Interval
from ..inference._shared import (
    AUCMoments,
    Joint,
    QueryValues,
    auc_score_limits,
    design_effect,
    dkw_lower_limits,
    joint_influence,
    list_interval,
    mean_influences,
    midp_limits,
    query_values_of,
    refuse_one_class,
    sample_interval,
    sample_moments,
    top_limits,
    two_sided_quantile,
    unseen_effect,
)
from ..metrics import Measure, get_measure
from ..metrics._shared import (
    ClassInfluence,
    Groups,
    MeasureLike,
    RankingScorer,
    share_at,
    singleton_groups,
)

ArrayLimits = tuple[FloatArray, FloatArray]


def measure_with_limits(measure: MeasureLike) -> Measure:
    if isinstance(measure, RankingScorer):
        raise TypeError(
            f"measure={measure!r} is a scorer: pass the measure, measure={measure.measure.name!r}."
        )
    try:
        return get_measure(measure)
    except ValueError as error:
        if isinstance(measure, str) and measure in sklearn.metrics.get_scorer_names():
            raise ValueError(
                f"measure={measure!r} is scikit-learn's score of predicted labels or numbers, not"
                " of a ranking: pass 'auc', 'ap', 'precision@top0.1' or 'ndcg@10'."
            ) from error
        raise


def sign_of(measure: Measure) -> float:
    """Sign with which a greater value is better."""
    return 1.0 if measure.greater_is_better else -1.0


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
    rows: Sequence[IntArray] | None = None  # Numbers of the rows of each part
    pos_label: Any = None
    least: int = 2  # Number of queries that a part needs
    sign: float = 1.0  # Factor of the values; -1.0 for a loss

    # --------------------------------------------------------------------------------- the parts

    @property
    def of_queries(self) -> bool:
        return self.qid is not None

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
        if self.of_queries:
            tables = [self.sign * np.stack([x.values for x in part]) for part in self.queries]
            return [mean_influences(table, self.range) for table in tables]
        influences = [[influence_of_list(self.measure, x) for x in part] for part in self.lists]
        return [[x.scaled(0.0, self.sign) for x in part] for part in influences]

    @cached_property
    def values(self) -> FloatArray:  # (n_candidates, n_parts)
        if self.of_queries:
            of_parts = [[x.mean for x in part] for part in self.queries]
        else:
            of_parts = [[float(self.measure.values(x)[0]) for x in part] for part in self.lists]
        return self.sign * np.array(of_parts).T

    @property
    def estimates(self) -> FloatArray:
        """Values that belong to the influences."""
        return np.array([[x.estimate for x in part] for part in self.influences]).T

    @cached_property
    def means(self) -> FloatArray:
        return self.values.mean(axis=1)

    @cached_property
    def units(self) -> list[AnyArray]:
        """Number of the row, or id of the query, of each unit of a part."""
        return [part[0].ids for part in self.queries] if self.of_queries else list(self.rows or ())

    @cached_property
    def sizes(self) -> list[tuple[int, ...]]:
        """Number of units of each part, by their names."""
        if self.of_queries:
            return [(len(part[0].values),) for part in self.queries]
        if self.measure.kind != "binary":
            return [(len(part[0].score),) for part in self.lists]
        n_pos = [int(part[0].positives[0]) for part in self.lists]
        return [(k, len(part[0].score) - k) for k, part in zip(n_pos, self.lists, strict=True)]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the units."""
        if self.of_queries:
            return ("queries",)
        return ("positives", "negatives") if self.measure.kind == "binary" else ("items",)

    def counts(self) -> str:
        """Numbers of units in words."""
        named = []
        for name, of_parts in zip(self.names, zip(*self.sizes, strict=True), strict=True):
            low, high = min(of_parts), max(of_parts)
            named.append(f"{low} {name}" if low == high else f"{low} to {high} {name}")
        return " and ".join(named) + (" each" if self.n_parts > 1 else "")

    def fewest(self) -> str:
        """Number of units that guarantees depend on, of the smallest part, in words."""
        least = [min(of_parts) for of_parts in zip(*self.sizes, strict=True)]
        return "{} {}".format(*min(zip(least, self.names, strict=True), key=lambda x: x[0]))

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest value of a list, or of a query."""
        low, high = self.measure.counted_range if self.of_queries else self.measure.range
        return (low, high) if self.sign > 0.0 else (-high, -low)

    @property
    def length(self) -> float:
        """Length of the range of the measure; may be infinite."""
        return self.range[1] - self.range[0]

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
    def joints(self) -> list[Joint]:
        """Values of the candidates on each part, with their covariance."""
        joints = [joint_influence(part) for part in self.influences]
        if any((np.diag(part.regularized) <= 0.0).any() for part in joints):
            raise ValueError(
                f"{self.measure.name} has no known range and the same influence value for all"
                " items of a held-out part, so its variance cannot be estimated: pass range= to"
                " make_measure."
            )
        return joints

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the means; NaN with one item of a class in a part."""
        return self.joined([part.covariance for part in self.joints])

    @cached_property
    def regularized_covariance(self) -> FloatArray:
        """Covariance with half an item added at either end, never singular."""
        return self.joined([part.regularized for part in self.joints])

    @cached_property
    def n_effective(self) -> float:
        """Effective number of items of the means: a harmonic mean."""
        return 1.0 / float(self.joined([1.0 / part.n_effective for part in self.joints]))

    def joined(self, of_parts: Sequence[Any]) -> Any:
        """Variance of the mean over the parts from the variances of the parts."""
        return sum(np.asarray(part) / self.n_parts**2 for part in of_parts)

    @cached_property
    def pooled(self) -> list[ClassInfluence]:
        """Influence of each unit on the mean over the parts, by candidate, as one sample."""
        known = np.unique(np.concatenate(self.units))
        places = [np.searchsorted(known, units) for units in self.units]
        return [_pool(parts, places, len(known)) for parts in zip(*self.influences, strict=True)]

    # --------------------------------------------------------------------------------- the limits

    def asymptotic_limits(self, tails: FloatArray) -> ArrayLimits:
        """Asymptotic limits, each of which fails with the given probability."""
        return next(iter(asymptotics_of(self.measure, self.of_queries).values()))(self, tails)

    def interval(
        self, level: float, groups: Groups | None = None, center: float | None = None
    ) -> Interval:
        """Interval for the expected mean of the first candidate, from all parts as one sample."""
        pooled = self.pooled[0]
        if center is not None:
            # The bias of a list of all rows is smaller, in proportion to its length.
            share = float(np.mean([part[0].n for part in self.influences])) / pooled.n
            pooled = replace(pooled, estimate=center, bias=pooled.bias * share)
        if self.of_queries:
            return sample_interval(sample_of(self, pooled, groups), level)
        if self.is_auc:
            return placement_interval(self, pooled, level, groups)
        # Independent rows are groups of one row, so that Student's quantile counts the rows.
        return list_interval(self.measure, pooled, level, groups or singleton_groups(pooled.n))

    def widths(self, method: str, deltas: FloatArray) -> FloatArray:
        """Distances of the lower limits from the means, each failing with its own delta."""
        n = self.n_parts
        if method == "kl" and n > 1:
            shares, fewest = self.shares(self.means), min(map(min, self.sizes))
            entropies = np.array([fold_entropy(fewest, float(delta)) for delta in deltas])
            return self.length * (shares - kl_limits(shares, entropies)[0])
        of_part = deltas / n if GUARANTEES[method].of_each_part else deltas
        lower = [lower_limits(self, method, part, of_part) for part in range(n)]
        return np.maximum(self.means - np.mean(lower, axis=0), 0.0)

    def shares(self, values: FloatArray) -> FloatArray:
        return np.clip((values - self.range[0]) / self.length, 0.0, 1.0)

    def usual_method(self, delta: float, n_candidates: int) -> str:
        """Default method, which must not depend on the scores."""
        theorems = theorems_of(self.measure, self.of_queries)
        method = next((name for name in ("kl", "exact", "dkw") if name in theorems), "max-t")
        if method == "dkw" and not bands_are_useful(self, delta / n_candidates):
            return "max-t"
        return "hoeffding" if method == "kl" and self.n_parts > 1 else method

    def bound(
        self, method: str, candidate: int, delta: float, weights: FloatArray, n_candidates: int
    ) -> Bound:
        """Make the bound for a candidate that was chosen by its scores.

        Where the candidates have unequal parts of delta, that of equal ones is restated.
        """
        value = float(self.widths(method, delta * weights)[candidate])
        bound = self._equal_bound(method, candidate, value, delta, n_candidates)
        in_chernoff_form = method == "kl" and self.n_parts > 1
        if in_chernoff_form or np.allclose(weights * n_candidates, 1.0, rtol=1e-12, atol=0.0):
            return bound
        return replace(
            bound,
            value=value,
            theorem=f"{bound.theorem}, each candidate with its prior share of delta",
            assumptions=(*bound.assumptions, "the prior weights do not depend on the data"),
        )

    def _equal_bound(
        self, method: Any, candidate: int, value: float, delta: float, n_candidates: int
    ) -> Bound:
        """Bound for a candidate where all have equal parts of delta."""
        name, folds, guarantee = self.measure.name, self.n_parts > 1, GUARANTEES[method]
        in_chernoff_form = method == "kl" and folds
        if self.is_auc and not in_chernoff_form:
            n_pos, n_neg = zip(*self.sizes, strict=True)
            if folds:
                return auc_fold_mean_bound(
                    n_pos, n_neg, delta, n_functions=n_candidates, method=method, side="lower"
                )
            auc = float(self.means[candidate]) if method == "kl" else None
            options: Any = {"method": method, "auc": auc, "side": "lower"}
            return auc_bound(n_pos[0], n_neg[0], delta, function_class=n_candidates, **options)
        theorem = (
            f"{OURS}, Theorem 5 in Chernoff's form" if in_chernoff_form else guarantee.theorem
        )
        theorem += f"{', for folds' * folds}, for all candidates"
        expected = f"{self.of_new_data} {name}"
        difference = [f"{'mean ' * self.of_queries}{name}", f"{expected} of the chosen model"]
        if folds:
            difference = [f"mean {name} of the parts", f"mean {expected} of their models"]
        return Bound(
            value=value,
            theorem=theorem + " and parts" * (folds and guarantee.of_each_part),
            target=" - ".join(difference[:: int(self.sign)]),
            delta=delta,
            conditioned_on="" if self.of_queries else "the labels",
            assumptions=(
                "each part is scored by models that were fitted without it",
                "queries are independent and of one distribution"
                if self.of_queries
                else "items are independent given their labels",
                *guarantee.assumptions,
            ),
        )


def influence_of_list(measure: Measure, data: ScoredLists) -> ClassInfluence:
    influence = measure.influence_of(data)
    if influence is None or not isfinite(influence.estimate):
        n, n_pos = int(data.sizes[0]), int(data.positives[0]) if measure.kind == "binary" else 0
        items = f"{n_pos} positives and {n - n_pos} negatives" if n_pos else f"{n} items"
        raise ValueError(
            f"{measure.name} has no value for a held-out part of {items}: pass larger parts."
        )
    return influence.linear


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
        ends=tuple(ends.mean(axis=0).ravel().tolist()) if known else None,
        range=(float(low), float(high)),
        bias=float(np.mean([part.bias for part in parts])),
        jump_bias=np.mean([part.jump_bias for part in parts], axis=0),
        slope_variance=float(np.mean([part.slope_variance * part.n for part in parts])) / n,
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


# ------------------------------------------------------------------------------ asymptotic limits


def student_limits(held_out: HeldOut, tails: FloatArray) -> ArrayLimits:
    """Student's limits, with a positive variance also for queries of equal values."""
    means, variance = held_out.means, np.diag(held_out.covariance)
    equal = np.all([[x.constant for x in part] for part in held_out.queries], axis=0)
    variance = np.where(equal, np.diag(held_out.regularized_covariance), variance)
    degrees = sum(n - 1 for (n,) in held_out.sizes)
    margin = -stdtrit(degrees, tails) * np.sqrt(variance)
    low, high = held_out.range
    return np.maximum(means - margin, low), np.minimum(means + margin, high)


def query_limits(held_out: HeldOut, tails: FloatArray) -> ArrayLimits:
    """Limits for means over queries, as those of a sample of them."""
    levels = np.maximum(1.0 - 2.0 * tails, TINY).tolist()
    samples = [sample_of(held_out, pooled) for pooled in held_out.pooled]
    low, high = np.array([x.limits(level) for x, level in zip(samples, levels, strict=True)]).T
    return low, high


def sample_of(
    held_out: HeldOut, pooled: ClassInfluence, groups: Groups | None = None
) -> QueryValues:
    """Values of queries, of which the mean is that over the parts."""
    values, name = pooled.values + (pooled.estimate - pooled.values.mean()), held_out.measure.name
    return QueryValues(values, np.arange(len(values)), name, held_out.range, groups)


def placement_limits(held_out: HeldOut, tails: FloatArray) -> ArrayLimits:
    """Score limits with a variance by placements, regularised."""
    # A (1 - A) is concave, so its value at the mean is at least the mean over the parts.
    low, length = held_out.range[0], held_out.length
    moments = [
        [sample_moments(x.score, x.positive, None) for x in part] for part in held_out.lists
    ]
    of_parts = [
        np.transpose([[float(find(x)) for find in (design_effect, unseen_effect)] for x in part])
        for part in moments
    ]
    auc = np.mean([[float(x.auc) for x in part] for part in moments], axis=0)
    effect, unseen = held_out.joined(of_parts)
    limits = auc_score_limits(auc, effect, unseen, ndtri(tails))
    return low + length * limits[0], low + length * limits[1]


def placement_interval(
    held_out: HeldOut, pooled: ClassInfluence, level: float, groups: Groups | None
) -> Interval:
    """Score interval with the placements of all parts, as if these were one list."""
    (low, _), length = held_out.range, held_out.length
    joint, auc = joint_influence([pooled], groups=groups), (pooled.estimate - low) / length
    # The influence on the AUC are the placements.
    n_pos, n_neg = pooled.sizes
    squares = np.array(pooled.squares(pooled.means)) / length**2
    var_pos, var_neg = squares / np.maximum([n_pos - 1, n_neg - 1], 1)
    moments = AUCMoments.of_independent(auc, var_pos, var_neg, 0.0, n_pos, n_neg)
    if groups is not None:
        fewest = min(int(np.count_nonzero(groups.sizes(side))) for side in pooled.classes)
        variance = np.asarray(np.nan_to_num(joint.covariance[0, 0]) / length**2)
        moments = replace(moments, variance=variance, n_groups=np.asarray(fewest))
    z = two_sided_quantile(level, joint.spread.of(np.ones(1)))
    effect, unseen = design_effect(moments), unseen_effect(moments)
    least, most = map(float, auc_score_limits(auc, effect, unseen, z))
    error = float(joint.errors[0]) / length
    return Interval(auc, least, most, level, "wilson", "", error)._in_unit(length, low)


def influence_limits(held_out: HeldOut, tails: FloatArray) -> ArrayLimits:
    """Limits from the influence, with half an item added at either end."""
    slope = held_out.joined([[x.slope_variance for x in part] for part in held_out.influences])
    variance, z = np.diag(held_out.regularized_covariance) + slope, ndtri(tails)
    means = held_out.estimates.mean(axis=1)
    origin, length = held_out.range[0], held_out.length
    if not isfinite(length):
        margin = np.abs(z) * np.sqrt(variance)
        return means - margin, means + margin
    shift = np.mean([[x.regularized()[0] for x in part] for part in held_out.influences], axis=0)
    bias = np.mean([[x.bias for x in part] for part in held_out.influences], axis=0)
    value, share = held_out.shares(means), held_out.shares(means - bias)
    shrunken = np.clip(share + shift / length, 0.0, 1.0)
    n_effective = shrunken * (1.0 - shrunken) * length**2 / variance
    low, high = wilson_score_limits(share, z, n_effective)
    # The exact limits are wider if the effective sample is small.
    c = np.flatnonzero(tails < 0.5)
    exact = midp_limits(share[c], n_effective[c], 1.0 - 2.0 * tails[c])
    low[c] = np.minimum(np.minimum(low[c], exact[0]), value[c])
    high[c] = np.maximum(np.maximum(high[c], exact[1]), value[c])
    return origin + length * low, origin + length * high


def limits_at_top(held_out: HeldOut, tails: FloatArray) -> ArrayLimits:
    """Score limits of the precision, or the exact limits if they are wider."""
    tau = float(held_out.measure.laws["top"])
    tops = [int(top_mass(part[0].sizes, tau)[0]) for part in held_out.lists]
    # Effective number of items of the tops, for which the threshold adds its variance.
    top = 1.0 / float(held_out.joined([1.0 / k for k in tops]))
    # Probability for each candidate that an item at the threshold of a part is positive, and jump.
    etas = [
        [share_at(counted_blocks(x.score, x.positive), k, len(x.score)) for x in part]
        for part, k in zip(held_out.lists, tops, strict=True)
    ]
    eta, means = np.mean(etas, axis=0), held_out.means
    low, high = means.copy(), means.copy()
    for c in np.flatnonzero(tails < 0.5):
        level = 1.0 - 2.0 * float(tails[c])
        at, jump = eta[c].tolist()
        (low[c], high[c]), _ = top_limits(float(means[c]), at, top, tau, level, jump)
    return low, high


# Limits for all candidates, each of which fails with its own probability.
Asymptotic: TypeAlias = Callable[[HeldOut, FloatArray], ArrayLimits]


def asymptotics_of(measure: Measure, of_queries: bool) -> dict[str, Asymptotic]:
    """Methods by name, as in sklearn_rank.inference, the preferred one first."""
    methods: dict[str, Asymptotic] = {}
    if of_queries:
        if np.isfinite(measure.counted_range).all():
            methods["wilson"] = query_limits
        return methods | {"t": student_limits}
    if "placements" in measure.laws:
        methods["wilson"] = placement_limits
    if "influence" in measure.laws:
        methods["influence"] = limits_at_top if "top" in measure.laws else influence_limits
    return methods


# -------------------------------------------------------------------------------------- guarantees


def lower_limits(held_out: HeldOut, method: str, part: int, deltas: FloatArray) -> FloatArray:
    """Lower limits of the candidates on a part, each of which fails with its own delta."""
    if method == "dkw":
        return dkw_lower_limits(held_out.lists[part], held_out.measure, deltas)
    if method == "exact":
        # Binomial counts of both classes above the threshold of the population: the negatives
        # above each positive, from the top.
        above = []
        for data in held_out.lists[part]:
            negative, positive = (np.sort(data.score[x]) for x in (~data.positive, data.positive))
            above.append(len(negative) - np.searchsorted(negative, positive[::-1], "left"))
        n, tau = len(held_out.lists[part][0].score), held_out.measure.laws["top"]
        return top_precision_limits(np.stack(above), n, tau, np.log(deltas))
    # A mean of independent values, or the AUC by independent pairs.
    sizes = held_out.sizes[part]
    n = sizes[0] if held_out.of_queries else n_terms(method, *sizes)
    values, logs, length = held_out.values[:, part], -np.log(deltas), held_out.length
    variance: Any = 0.0
    if method == "bernstein":
        variance = np.array([x.values.var(ddof=1) for x in held_out.queries[part]]) / length**2
    shares = held_out.shares(values)
    margin = shares - mean_limits(method, shares, n, logs, variance)[0]
    return values - length * np.minimum(margin, 1.0)


def bands_are_useful(held_out: HeldOut, delta: float) -> bool:
    """Whether a perfect order keeps two thirds of its distance to tied items.

    With less, the theorem is not useful for realistic orders.
    """
    classes = (part[0].positive for part in held_out.lists)
    places = (np.argsort(np.argsort(positive, kind="stable")) for positive in classes)
    best = replace(held_out, scores=[[place.astype(np.float64)] for place in places])
    lead = float(best.means[0]) - float(held_out.chance or 0.0)
    return float(best.widths("dkw", np.array([delta]))[0]) <= lead / 3.0


class Guarantee(NamedTuple):
    """A theorem for the means of candidates on a part."""

    theorem: str
    assumptions: tuple[str, ...] = ()
    of_each_part: bool = False  # Whether delta is divided between the parts


GUARANTEES = {
    "mcdiarmid": Guarantee(""),
    "hoeffding": Guarantee("Hoeffding (1963), Theorem 2"),
    "kl": Guarantee("Hoeffding (1963), Theorem 1"),
    "bernstein": Guarantee("Maurer & Pontil (2009), Theorem 4", of_each_part=True),
    "exact": Guarantee(f"{OURS}, Theorem 10", (TIES_IN_RANDOM_ORDER,), of_each_part=True),
    "dkw": Guarantee(f"{OURS}, Theorem 8", (SAME_TIES,), of_each_part=True),
}


def theorems_of(measure: Measure, of_queries: bool) -> tuple[str, ...]:
    """Inequalities for the mean over queries, or for one list."""
    if of_queries:
        bounded = np.isfinite(measure.counted_range).all()
        return ("hoeffding", "kl", "bernstein") if bounded else ()
    return () if measure.per_query else measure.theorems


def fold_entropy(n: int, delta: float) -> float:
    """Largest relative entropy of a mean over folds: ``ln(xi(n) / delta) / n``.

    ``xi(n) = sum_j C(n, j) (j/n)^j (1 - j/n)^(n-j)``, about ``sqrt(pi n / 2)``.
    """
    j = np.arange(n + 1.0)
    terms = gammaln(n + 1.0) - gammaln(j + 1.0) - gammaln(n - j + 1.0)
    terms += xlogy(j, j / n) + xlogy(n - j, 1.0 - j / n)
    return (float(logsumexp(terms)) - log(delta)) / n
