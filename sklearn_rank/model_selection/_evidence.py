"""Limits for several candidates from held-out lists or queries, and their joint covariance.

Each part is scored by models that were fitted without it. The target is the mean over the parts of
the expected measure of a candidate's models; with one part it is that of one model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, log
from typing import Any, ClassVar

import numpy as np
import sklearn.metrics
from scipy.special import gammaln, logsumexp, ndtri, stdtrit, xlogy

from .._lists import ScoredLists
from .._order import counted_blocks, top_mass
from .._typing import BoolArray, FloatArray
from ..bounds import Bound, auc_bound, auc_fold_mean_bound
from ..bounds._shared import (
    SAME_TIES,
    SANDWICH_THEOREM,
    TIES_IN_RANDOM_ORDER,
    TOP_THEOREM,
    kl_limits,
    top_precision_limits,
    wilson_score_limits,
)
from ..inference._shared import (
    JointEstimate,
    auc_score_limits,
    design_effect,
    dkw_lower_limits,
    joint_influence,
    mean_influences,
    midp_limits,
    query_values_of,
    sample_moments,
    share_at_threshold,
    top_limits,
    unseen_effect,
)
from ..metrics import Measure, get_measure
from ..metrics._shared import ClassInfluence, MeasureLike

# The limits of all candidates from their joint normal distribution.
ASYMPTOTIC = "max-t"


def measure_with_limits(measure: MeasureLike) -> Measure:
    """Read a measure that has lower limits and for which greater is better."""
    try:
        measure = get_measure(measure)
    except ValueError as error:
        if isinstance(measure, str) and measure in sklearn.metrics.get_scorer_names():
            raise ValueError(
                f"measure={measure!r} is scikit-learn's score of predicted labels or numbers, not"
                " of a ranking: pass 'auc', 'ap', 'precision@top0.1' or 'ndcg@10'."
            ) from error
        raise
    if not measure.greater_is_better:
        raise ValueError(
            f"measure={measure.name!r} is a loss, but lower limits need a measure for which"
            " greater is better: pass the negated function to make_measure."
        )
    return measure


def refuse_one_list(measure: Measure, ids: str = "qid=") -> None:
    """Refuse a measure that has limits only for its mean over queries."""
    if measure.kind == "binary" and measure.has_influence:
        return
    reason = "is a mean over queries" if measure.per_query else "has no influence function"
    raise ValueError(
        f"measure={measure.name!r} {reason}, so it has no limits for one list: pass {ids}, one id"
        " per row, for the mean over queries, or 'auc' or another measure with an influence"
        " function."
    )


def theorems_of(measure: Measure, of_queries: bool) -> tuple[str, ...]:
    """Inequalities for the mean over queries, or for one list."""
    if of_queries:
        return tuple(THEOREMS) if np.isfinite(measure.counted_range).all() else ()
    return () if measure.per_query else measure.theorems


class Evidence(ABC):
    """Values of several candidates on held-out parts, and their limits.

    Asymptotic statements take parts without common items as independent. The mean of K parts is
    that of the means of the classes, in proportion to their sizes. By convexity of ``x x'`` it
    varies no more, in any direction and whatever the dependence of the classes, than these do on
    the average: part j of a class of ``K_j`` enters with its covariance over ``K K_j``.
    """

    measure: Measure
    disjoint: Sequence[int] | None
    of_queries: ClassVar[bool] = False
    of_new_data: ClassVar[str] = "expected"

    @cached_property
    @abstractmethod
    def joint_estimates(self) -> list[JointEstimate]:
        """Values of the candidates on each part, and how they vary together."""

    @property
    @abstractmethod
    def chance(self) -> float | None:
        """Value of the measure for a random order; None if it is unknown."""

    @property
    @abstractmethod
    def sizes(self) -> dict[str, list[int]]:
        """Number of items of each part, by what they are."""

    @abstractmethod
    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Asymptotic limits, each of which fails with the given probability."""

    @abstractmethod
    def widths(self, method: str, deltas: FloatArray) -> FloatArray:
        """Distances of the lower limits from the means, each failing with its own delta."""

    @abstractmethod
    def _equal_bound(
        self, method: str, candidate: int, value: float, delta: float, n_candidates: int
    ) -> Bound:
        """Bound for a candidate where all have equal parts of delta."""

    def counts(self) -> str:
        """Numbers of items in words."""
        named = []
        for items, of_parts in self.sizes.items():
            low, high = min(of_parts), max(of_parts)
            named.append(f"{low} {items}" if low == high else f"{low} to {high} {items}")
        return " and ".join(named) + (" each" if self.n_parts > 1 else "")

    def fewest(self) -> str:
        """Number of items that guarantees depend on, of the smallest part, in words."""
        items, of_parts = min(self.sizes.items(), key=lambda item: min(item[1]))
        return f"{min(of_parts)} {items}"

    def usual_method(self, method: str, delta: float, n_candidates: int) -> str:
        """Default method, which must not depend on the scores."""
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

    @cached_property
    def values(self) -> FloatArray:  # (n_candidates, n_parts)
        return np.array([part.estimates for part in self.joint_estimates]).T

    @cached_property
    def means(self) -> FloatArray:
        return self.values.mean(axis=1)

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the means; NaN with one item of a class in a part."""
        return self._joined([part.covariance for part in self.joint_estimates])

    @cached_property
    def regularized_covariance(self) -> FloatArray:
        """Covariance with half an item added at either end, never singular."""
        return self._joined([part.regularized for part in self.joint_estimates])

    @cached_property
    def n_effective(self) -> float:
        """Effective number of items of the means: a harmonic mean."""
        return 1.0 / float(self._joined([1.0 / part.n_effective for part in self.joint_estimates]))

    def _joined(self, of_parts: Sequence[Any]) -> Any:
        """Variances of the mean over the parts, or an upper bound of them, from those of each."""
        sizes = [self.n_parts] * self.n_parts if self.disjoint is None else self.disjoint
        return sum(
            part / (self.n_parts * size) for part, size in zip(of_parts, sizes, strict=True)
        )

    @property
    def n_parts(self) -> int:
        return self.values.shape[1]

    @property
    def length(self) -> float:
        """Length of the range of the measure; may be infinite."""
        low, high = self.measure.counted_range
        return high - low

    def lower(self, method: str, deltas: FloatArray) -> FloatArray:
        if method == ASYMPTOTIC:
            return self.asymptotic_limits(deltas)[0]
        return np.maximum(self.means - self.widths(method, deltas), self.measure.counted_range[0])


CHERNOFF_THEOREM = (
    "sklearn_rank, Choosing a model by what can be guaranteed, folds in Chernoff's form, for all"
    " candidates"
)
FITTED_APART = "each part is scored by models that were fitted without it"


def fold_entropy(n: int, delta: float) -> float:
    """Largest relative entropy of a mean over folds: ``ln(xi(n) / delta) / n``.

    ``xi(n) = sum_j C(n, j) (j/n)^j (1 - j/n)^(n-j)``, about ``sqrt(pi n / 2)``.
    """
    j = np.arange(n + 1.0)
    terms = gammaln(n + 1.0) - gammaln(j + 1.0) - gammaln(n - j + 1.0)
    terms += xlogy(j, j / n) + xlogy(n - j, 1.0 - j / n)
    return (float(logsumexp(terms)) - log(delta)) / n


def fold_widths(means: FloatArray, n: int, deltas: FloatArray) -> FloatArray:
    """Distances of lower limits from means over folds, in Chernoff's form."""
    entropies = np.array([fold_entropy(n, float(delta)) for delta in deltas])
    return means - kl_limits(means, entropies)[0]


def fold_target(name: str) -> str:
    return f"mean {name} of the folds - mean expected {name} of their models"


AUC = get_measure("auc")
LABELS = "the labels"
ITEMS = "items are independent given their labels"
# Theorem and assumption on ties of limits of each part, by method.
THEOREMS_OF_LISTS = {
    "exact": (TOP_THEOREM, TIES_IN_RANDOM_ORDER),
    "dkw": (SANDWICH_THEOREM, SAME_TIES),
}


def is_auc(measure: Measure) -> bool:
    return "placements" in measure.laws and measure.range == (0.0, 1.0)


def influence_of_list(measure: Measure, positive: BoolArray, score: FloatArray) -> ClassInfluence:
    influence = measure.influence(measure.lists(positive.astype(np.int64), score))
    if influence is None or not isfinite(influence.estimate):
        raise ValueError(
            f"{measure.name} has no value for a held-out part of {np.count_nonzero(positive)}"
            f" positives and {np.count_nonzero(~positive)} negatives: pass larger parts."
        )
    return influence


@dataclass(frozen=True, eq=False)
class ListEvidence(Evidence):
    """Values of several candidates on held-out lists, whose influence is known.

    With "exact" and "dkw" each part has limits of its own.
    """

    of_new_data: ClassVar[str] = "population"

    positive: Sequence[BoolArray]
    scores: Sequence[Sequence[FloatArray]]  # For each part the scores of each candidate
    measure: Measure
    disjoint: Sequence[int] | None = None  # As for :class:`Evidence`

    @cached_property
    def _influences(self) -> list[list[ClassInfluence]]:
        return [
            [influence_of_list(self.measure, positive, score) for score in scores]
            for positive, scores in zip(self.positive, self.scores, strict=True)
        ]

    @cached_property
    def joint_estimates(self) -> list[JointEstimate]:
        joint = [joint_influence(part, conditional=True) for part in self._influences]
        if any((np.diag(part.regularized) <= 0.0).any() for part in joint):
            raise ValueError(
                f"{self.measure.name} has no known range and the same influence value for all"
                " items of a held-out part, so its variance cannot be estimated: pass range= to"
                " make_measure."
            )
        return joint

    @cached_property
    def sizes(self) -> dict[str, list[int]]:
        return {
            "positives": [int(np.count_nonzero(positive)) for positive in self.positive],
            "negatives": [int(np.count_nonzero(~positive)) for positive in self.positive],
        }

    @property
    def chance(self) -> float | None:
        """Mean over the parts of the value of items that are all tied."""
        if not self.measure.is_mean_over_ties:
            return None
        tied = [self._list(part, np.zeros(len(rows))) for part, rows in enumerate(self.positive)]
        return float(np.mean([self.measure.values(data) for data in tied]))

    def _list(self, part: int, score: FloatArray) -> ScoredLists:
        return self.measure.lists(self.positive[part].astype(np.int64), score)

    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Limits from the influence, with half an item added at either end."""
        if "top" in self.measure.laws:
            return self._limits_at_top(self.measure.laws["top"], tails)
        variance, z = np.diag(self.regularized_covariance), ndtri(tails)
        if not isfinite(self.length):
            reach = np.abs(z) * np.sqrt(variance)
            return self.means - reach, self.means + reach
        origin = self.measure.range[0]
        shift = np.mean([[item.regularized()[0] for item in part] for part in self._influences], 0)
        share = np.clip((self.means - origin) / self.length, 0.0, 1.0)
        shrunken = np.clip(share + shift / self.length, 0.0, 1.0)
        draws = shrunken * (1.0 - shrunken) * self.length**2 / variance
        low, high = wilson_score_limits(share, z, draws)
        for c in np.flatnonzero(tails < 0.5):
            # The exact limits are farther out where there are few draws.
            exact = midp_limits(float(share[c]), float(draws[c]), 1.0 - 2.0 * float(tails[c]))
            low[c], high[c] = min(low[c], exact[0]), max(high[c], exact[1])
        return origin + self.length * low, origin + self.length * high

    def _limits_at_top(self, tau: float, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Score limits of the precision, or exact ones where they are farther out."""
        tops = [int(top_mass(np.array([float(len(rows))]), tau)[0]) for rows in self.positive]
        # The mean is worth so many items of a top; the threshold adds what it does at their mean.
        top = 1.0 / float(self._joined([1.0 / k for k in tops]))
        # Probability for each candidate that an item at the threshold of a part is positive.
        etas = [
            [
                share_at_threshold(
                    counted_blocks(score, rows), len(rows), float(np.count_nonzero(rows)), k
                )
                for score in scores
            ]
            for rows, scores, k in zip(self.positive, self.scores, tops, strict=True)
        ]
        eta = np.mean(etas, axis=0)
        low, high = self.means.copy(), self.means.copy()
        for c in np.flatnonzero(tails < 0.5):
            mean, level = float(self.means[c]), 1.0 - 2.0 * float(tails[c])
            (low[c], high[c]), _ = top_limits(mean, float(eta[c]), top, tau, level)
        return low, high

    def _lower_of_part(self, method: str, part: int, deltas: FloatArray) -> FloatArray:
        positive, scores = self.positive[part], self.scores[part]
        if method == "dkw":
            lists = [self._list(part, score) for score in scores]
            return dkw_lower_limits(lists, self.measure, deltas)
        # The negatives above each positive, from the top.
        above = [
            np.count_nonzero(~positive)
            - np.searchsorted(np.sort(score[~positive]), np.sort(score[positive])[::-1], "left")
            for score in scores
        ]
        measure: Any = self.measure
        return top_precision_limits(np.stack(above), len(positive), measure.tau, np.log(deltas))

    def usual_method(self, method: str, delta: float, n_candidates: int) -> str:
        """Use bands if a perfect order keeps two thirds of its distance to tied items.

        With less, the theorem is not useful for realistic orders.
        """
        if method != "dkw":
            return super().usual_method(method, delta, n_candidates)
        share = np.array([delta / (n_candidates * self.n_parts)])
        leads = []
        for part, positive in enumerate(self.positive):
            perfect = np.empty(len(positive))
            perfect[np.argsort(positive, kind="stable")] = np.arange(len(positive))
            best, tied = (self._list(part, score) for score in (perfect, np.zeros(len(positive))))
            least = float(dkw_lower_limits([best], self.measure, share)[0])
            chance = float(self.measure.values(tied)[0])
            leads.append((least - chance, float(self.measure.values(best)[0]) - chance))
        least_lead, lead = np.mean(leads, axis=0)
        return method if least_lead >= 2.0 / 3.0 * lead else ASYMPTOTIC

    def widths(self, method: str, deltas: FloatArray) -> FloatArray:
        n = self.n_parts
        limits = [self._lower_of_part(method, part, deltas / n) for part in range(n)]
        return np.maximum(self.means - np.mean(limits, axis=0), 0.0)

    def _equal_bound(
        self, method: str, candidate: int, value: float, delta: float, n_candidates: int
    ) -> Bound:
        name, folds = self.measure.name, self.n_parts > 1
        theorem, ties = THEOREMS_OF_LISTS[method]
        return Bound(
            value=value,
            theorem=f"{theorem}, for all candidates{' and parts' if folds else ''} at once",
            target=f"mean {name} of the parts - mean {name} of the population by their models"
            if folds
            else f"{name} - {name} of the population by the chosen model",
            delta=delta,
            conditioned_on=LABELS,
            assumptions=(FITTED_APART, ITEMS, ties),
        )


@dataclass(frozen=True, eq=False)
class AUCEvidence(ListEvidence):
    of_new_data: ClassVar[str] = "expected"

    measure: Measure = AUC

    @cached_property
    def _moments(self) -> list[list[Any]]:
        return [
            [sample_moments(score, positive, None) for score in scores]
            for positive, scores in zip(self.positive, self.scores, strict=True)
        ]

    @cached_property
    def values(self) -> FloatArray:
        return np.array([[float(moments.auc) for moments in part] for part in self._moments]).T

    def widths(self, method: str, deltas: FloatArray) -> FloatArray:
        if method == "kl" and self.n_parts > 1:
            n_pos, n_neg = self.sizes.values()
            return fold_widths(self.means, min(*n_pos, *n_neg), deltas)
        # A value is passed on in Chernoff's form only.
        bounds = [self._equal_bound(method, c, 0.0, delta, 1) for c, delta in enumerate(deltas)]
        return np.array([bound.value for bound in bounds])

    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Score limits with a variance by placements, regularised."""
        # A (1 - A) is concave: that of the mean is no less than the mean over the parts.
        with np.errstate(divide="ignore", invalid="ignore"):
            effects, unseen = (
                [np.array([float(find(moments)) for moments in part]) for part in self._moments]
                for find in (design_effect, unseen_effect)
            )
        effect, rare = self._joined(effects), self._joined(unseen)
        return auc_score_limits(self.means, effect, rare, ndtri(tails))

    def _equal_bound(
        self, method: Any, candidate: int, value: float, delta: float, n_candidates: int
    ) -> Bound:
        n_pos, n_neg = self.sizes.values()
        if self.n_parts == 1:
            return auc_bound(
                n_pos[0],
                n_neg[0],
                float(delta),
                function_class=n_candidates,
                method=method,
                auc=float(self.means[candidate]) if method == "kl" else None,
                side="lower",
            )
        if method == "kl":
            assumptions = (FITTED_APART, ITEMS)
            target = fold_target("AUC")
            return Bound(value, CHERNOFF_THEOREM, target, delta, LABELS, assumptions)
        return auc_fold_mean_bound(
            n_pos, n_neg, float(delta), n_functions=n_candidates, method=method, side="lower"
        )


def list_evidence(
    measure: Measure,
    positive: Sequence[BoolArray],
    scores: Sequence[Sequence[FloatArray]],
    disjoint: Sequence[int] | None = None,
) -> ListEvidence:
    # Which rows are positive is known here.
    measure = get_measure(measure, rel=None)
    kind = AUCEvidence if is_auc(measure) else ListEvidence
    return kind(positive, scores, measure, disjoint)


QUERIES = "queries are independent and of one distribution"
THEOREMS = {
    "hoeffding": "Hoeffding (1963), Theorem 2",
    "kl": "Hoeffding (1963), Theorem 1",
    "bernstein": "Maurer & Pontil (2009), Theorem 4",
}

# Standard errors smaller than this, relative to the mean, are due to rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class QueryEvidence(Evidence):
    of_queries: ClassVar[bool] = True

    measure: Measure  # A mean over queries
    samples: Sequence[FloatArray]
    disjoint: Sequence[int] | None = None  # As for :class:`Evidence`
    chance: float | None = None  # Mean over the parts of a random order

    @cached_property
    def joint_estimates(self) -> list[JointEstimate]:
        whole = self.measure.counted_range
        return [joint_influence(mean_influences(sample, whole)) for sample in self.samples]

    @cached_property
    def sizes(self) -> dict[str, list[int]]:
        return {"queries": [sample.shape[1] for sample in self.samples]}

    @property
    def _degrees(self) -> int:
        """Degrees of freedom of the variance: at least those of the parts that are independent."""
        degrees = [count - 1 for count in self.sizes["queries"]]
        if self.disjoint is None:
            return sum(degrees)
        return min(degree * size for degree, size in zip(degrees, self.disjoint, strict=True))

    def widths(self, method: str, deltas: FloatArray) -> FloatArray:
        logs = -np.log(deltas)
        if method == "hoeffding":
            parts = [np.minimum(np.sqrt(logs / (2.0 * n)), 1.0) for n in self.sizes["queries"]]
            shares = np.mean(parts, axis=0)
        elif method == "bernstein":
            # The parts share delta: each of their own limits holds.
            logs = logs + log(2.0 * self.n_parts)
            parts = []
            for sample, n in zip(self.samples, self.sizes["queries"], strict=True):
                variance = sample.var(axis=1, ddof=1) / self.length**2
                parts.append(np.sqrt(2.0 * variance * logs / n) + 7.0 * logs / (3.0 * (n - 1.0)))
            shares = np.mean(np.minimum(parts, 1.0), axis=0)
        else:
            means = np.clip((self.means - self.measure.counted_range[0]) / self.length, 0.0, 1.0)
            if self.n_parts > 1:
                shares = fold_widths(means, min(self.sizes["queries"]), deltas)
            else:
                shares = means - kl_limits(means, logs / self.sizes["queries"][0])[0]
        return self.length * shares

    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Student's limits, with the variance that queries of equal values may have hidden."""
        variance = np.diag(self.covariance)
        rounding = (ROUNDING * np.abs(self.means)) ** 2
        variance = np.where(variance > rounding, variance, np.diag(self.regularized_covariance))
        reach = -stdtrit(self._degrees, tails) * np.sqrt(variance)
        low, high = self.measure.counted_range
        return np.maximum(self.means - reach, low), np.minimum(self.means + reach, high)

    def _equal_bound(
        self, method: str, candidate: int, value: float, delta: float, n_candidates: int
    ) -> Bound:
        name, folds = self.measure.name, self.n_parts > 1
        theorem = f"{THEOREMS[method]}{', for folds' if folds else ''}, for all candidates"
        if method == "kl" and folds:
            theorem = CHERNOFF_THEOREM
        return Bound(
            value=value,
            theorem=theorem,
            target=fold_target(name)
            if folds
            else f"mean {name} - expected {name} of the chosen model",
            delta=delta,
            assumptions=(FITTED_APART, QUERIES),
        )


def query_evidence(
    measure: Measure,
    y_true: Sequence[Any],
    scores: Sequence[Sequence[FloatArray]],
    qid: Sequence[Any],
    disjoint: Sequence[int] | None = None,
    pos_label: Any = None,
    with_chance: bool = False,
) -> QueryEvidence:
    samples, tied = [], []
    with_chance = with_chance and measure.is_mean_over_ties
    for y, of_part, ids in zip(y_true, scores, qid, strict=True):
        named = {str(candidate): score for candidate, score in enumerate(of_part)}
        values = query_values_of(measure, y, named, qid=ids, pos_label=pos_label)
        samples.append(np.stack([of_candidate.values for of_candidate in values.values()]))
        if with_chance:
            # The mean over the orders of tied items, all of which are tied.
            zeros = {"tied": np.zeros(len(ids))}
            values = query_values_of(measure, y, zeros, qid=ids, pos_label=pos_label)
            tied.append(values["tied"].values.mean())
    chance = float(np.mean(tied)) if with_chance else None
    return QueryEvidence(measure, samples, disjoint, chance)
