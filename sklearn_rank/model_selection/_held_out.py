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
from math import isfinite, log
from typing import Any, NamedTuple

import numpy as np
import sklearn.metrics
from scipy.special import gammaln, logsumexp, xlogy

from .._lists import ScoredLists
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import ravelled, shape_of
from ..bounds import Bound, auc_bound, auc_fold_mean_bound
from ..bounds._shared import (
    OURS,
    SAME_TIES,
    TIES_IN_RANDOM_ORDER,
    kl_limits,
    mean_limits,
    n_terms,
    top_precision_limits,
)
from ..inference import Interval
from ..inference._shared import (
    AUCMoments,
    Joint,
    QueryValues,
    Single,
    dkw_lower_limits,
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
from ..metrics import Measure, get_measure
from ..metrics._shared import (
    ClassInfluence,
    Groups,
    MeasureLike,
    RankingScorer,
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
    rows: Sequence[IntArray] | None = None  # Numbers of the rows of each part; None is all others
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
        if self.rows is None:
            ends = np.cumsum(np.append(0, [sum(sizes) for sizes in self.sizes]))
            return [np.arange(*of_part) for of_part in pairwise(ends)]
        return [part[0].ids for part in self.queries] if self.of_queries else list(self.rows)

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

    # --------------------------------------------------------------------------------- the limits

    def moments(self, method: str = "auto", groups: Groups | None = None) -> list[Single]:
        """What limits of the candidates' means rest on; one part is one list."""
        measure = self.measure
        if self.n_parts == 1 and not self.of_queries:
            evidences = [measure.evidence(data, groups) for data in self.lists[0]]
            chosen = method_of(measure, grouped=groups is not None)
            if method in ("auto", chosen.name):
                return [single(evidence, chosen) for evidence in evidences]
        return [self.moments_of(pooled, groups, method) for pooled in self.pooled]

    def moments_of(
        self, pooled: ClassInfluence, groups: Groups | None, method: str = "auto"
    ) -> Single:
        """The same of all parts as one sample."""
        measure = self.measure
        if self.of_queries:
            return self.sample_of(pooled, groups).moments
        if self.is_auc and method != "influence":
            return AUCMoments.of_influence(pooled, groups, measure=measure)
        found = influence_moments(measure, pooled, groups)
        return found if groups is not None else found.with_student()

    def sample_of(self, pooled: ClassInfluence, groups: Groups | None) -> QueryValues:
        """Values of queries, of which the mean is that over the parts."""
        values = pooled.values + (pooled.estimate - pooled.values.mean())
        name, whole = self.measure.name, self.measure.counted_range
        return QueryValues(values, np.arange(len(values)), name, whole, groups)

    def asymptotic_limits(self, tails: FloatArray, method: str = "auto") -> ArrayLimits:
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
            pooled = replace(pooled, estimate=center, bias=pooled.bias * share)
            if not self.of_queries:
                return self.moments_of(pooled, groups).interval(level)
        if self.of_queries:
            return sample_interval(self.sample_of(pooled, groups), level)
        return self.moments(groups=groups)[0].interval(level)

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
    """Influence on the value of a part, with the bias that intervals subtract."""
    influence = measure.influence_of(data)
    if influence is None or not isfinite(influence.estimate):
        n, n_pos = int(data.sizes[0]), int(data.positives[0]) if measure.kind == "binary" else 0
        items = f"{n_pos} positives and {n - n_pos} negatives" if n_pos else f"{n} items"
        raise ValueError(
            f"{measure.name} has no value for a held-out part of {items}: pass larger parts."
        )
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
        ends=tuple(ends.mean(axis=0).ravel().tolist()) if known else None,
        range=(float(low), float(high)),
        bias=float(np.mean([part.bias for part in parts])),
        label_slope=float(np.mean([part.label_slope for part in parts])),
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


def asymptotics_of(measure: Measure, of_queries: bool) -> tuple[str, ...]:
    """Methods by name, as in sklearn_rank.inference, the preferred one first."""
    if of_queries:
        return ("wilson", "t") if np.isfinite(measure.counted_range).all() else ("t",)
    by_law = {"placements": "wilson", "influence": "influence"}
    return tuple(name for law, name in by_law.items() if law in measure.laws)


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
