"""What held-out parts show of several candidates: lower limits for each, and how they covary.

A part is scored by models that were fitted without it. Everything is about the mean over the parts
of what the models of a candidate are worth on new data: with one part, one model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp, ndtri, stdtrit, xlogy

from .._typing import BoolArray, FloatArray
from ..bounds import Bound, auc_bound, auc_fold_mean_bound
from ..bounds._shared import kl_limits
from ..inference._auc_limits import _score_limits, design_effect
from ..inference._auc_moments import sample_moments
from ..inference._paired import joint_estimate
from ..inference._query_values import query_values_of
from ..metrics import get_measure
from ..metrics._shared import PSEUDO_WEIGHT, MeasureLike, as_score_generating

__all__ = [
    "ASYMPTOTIC",
    "AUCEvidence",
    "Evidence",
    "QueryEvidence",
    "check_measure",
    "fold_entropy",
    "query_evidence",
    "theorems_of",
]

ASYMPTOTIC = "max-t"
OURS = "sklearn_rank, Choosing a model by what can be guaranteed"
FITTED_APART = "each part is scored by models that were fitted without it"
ITEMS = "items are independent given their labels"
QUERIES = "queries are independent and of one distribution"


def check_measure(measure: Any) -> bool:
    """Check that a measure has limits.

    Parameters
    ----------
    measure : str
        Its name.

    Returns
    -------
    bool
        Whether it is a mean over queries; else it is the AUC.
    """
    found = get_measure(measure)
    if not found.per_query and not found.theorems:
        raise ValueError(
            f"measure={measure!r} has no lower limits here: take 'auc' or a mean over queries, as"
            " 'ndcg@10'; sklearn_rank.inference has intervals for other measures of one list."
        )
    return found.per_query


def theorems_of(measure: str) -> tuple[str, ...]:
    """List by what a measure has lower limits; the last one is asymptotic.

    Parameters
    ----------
    measure : str
        Its name.

    Returns
    -------
    tuple of str
        The names.
    """
    check_measure(measure)
    return (*get_measure(measure).theorems, ASYMPTOTIC)


def fold_entropy(n: int, delta: float) -> float:
    """Largest relative entropy of a mean over folds: ``ln(xi(n) / delta) / n``.

    ``xi(n) = sum_j C(n, j) (j/n)^j (1 - j/n)^(n-j)``, about ``sqrt(pi n / 2)``.

    Parameters
    ----------
    n : int
        Number of independent pairs or queries of the smallest fold, at least 1.
    delta : float
        Probability of failure.

    Returns
    -------
    float
        The largest ``KL(mean || expected mean)``.
    """
    j = np.arange(n + 1.0)
    terms = gammaln(n + 1.0) - gammaln(j + 1.0) - gammaln(n - j + 1.0)
    terms += xlogy(j, j / n) + xlogy(n - j, 1.0 - j / n)
    return (float(logsumexp(terms)) - log(delta)) / n


class Evidence(ABC):
    """What held-out parts show of several candidates."""

    # Smallest and largest value of the measure.
    limits: tuple[float, float]

    @cached_property
    @abstractmethod
    def values(self) -> FloatArray:
        """Value of each candidate on each part."""

    @cached_property
    @abstractmethod
    def covariance(self) -> FloatArray:
        """Covariance of the means over the parts."""

    @cached_property
    @abstractmethod
    def spare(self) -> FloatArray:
        """Covariance that is never singular."""

    @cached_property
    @abstractmethod
    def effective(self) -> float:
        """Number of items that the means are worth."""

    @property
    def n_parts(self) -> int:
        """Number of held-out parts."""
        return self.values.shape[1]

    @property
    def unit(self) -> float:
        """Range of the measure."""
        return self.limits[1] - self.limits[0]

    @cached_property
    def means(self) -> FloatArray:
        """Mean over the parts of each candidate's value."""
        return self.values.mean(axis=1)

    @abstractmethod
    def counts(self) -> str:
        """Say how many items there are."""

    @abstractmethod
    def widths(self, theorem: str, deltas: FloatArray) -> FloatArray:
        """Distances of the lower limits from the means, each failing with its own delta.

        Parameters
        ----------
        theorem : str
            One of :func:`theorems_of` the measure that is not asymptotic.
        deltas : ndarray of shape (n_candidates,)
            Probabilities of failure.

        Returns
        -------
        ndarray of shape (n_candidates,)
            Non-negative widths.
        """

    @abstractmethod
    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Limits of which either is on the wrong side with the given probability, in the limit.

        Parameters
        ----------
        tails : ndarray of shape (n_candidates,)
            Probabilities.

        Returns
        -------
        low : ndarray of shape (n_candidates,)
            Lower limits.
        high : ndarray of shape (n_candidates,)
            Upper limits.
        """

    @abstractmethod
    def bound(
        self, theorem: str, candidate: int, delta: float, weights: FloatArray, n_candidates: int
    ) -> Bound:
        """Say what holds of a candidate that was chosen by looking.

        Parameters
        ----------
        theorem : str
            One of :func:`theorems_of` the measure that is not asymptotic.
        candidate : int
            The candidate.
        delta : float
            Probability of failure for all candidates together.
        weights : ndarray of shape (n_scored,)
            Share of it that each has that was scored.
        n_candidates : int
            Number of candidates, those that failed included.

        Returns
        -------
        Bound
            Of the mean less its expectation.
        """

    def lower(self, theorem: str, deltas: FloatArray) -> FloatArray:
        """Lower limits for the expected means, each failing with its own delta.

        Parameters
        ----------
        theorem : str
            One of :func:`theorems_of` the measure.
        deltas : ndarray of shape (n_candidates,)
            Probabilities of failure.

        Returns
        -------
        ndarray of shape (n_candidates,)
            The limits.
        """
        if theorem == ASYMPTOTIC:
            return self.asymptotic_limits(deltas)[0]
        return np.maximum(self.means - self.widths(theorem, deltas), self.limits[0])


@dataclass(frozen=True, eq=False)
class AUCEvidence(Evidence):
    """AUCs of several candidates on held-out parts.

    Parameters
    ----------
    positive : sequence of ndarray of bool
        Which rows of each part are positive; there are some of both classes.
    scores : sequence of sequence of ndarray
        For each part the scores of each candidate.
    """

    positive: Sequence[BoolArray]
    scores: Sequence[Sequence[FloatArray]]

    limits = (0.0, 1.0)

    @cached_property
    def _moments(self) -> list[list[Any]]:
        return [
            [sample_moments(score, positive, None) for score in scores]
            for positive, scores in zip(self.positive, self.scores, strict=True)
        ]

    @cached_property
    def values(self) -> FloatArray:
        """AUC of each candidate on each part."""
        return np.array([[float(one.auc) for one in part] for part in self._moments]).T

    @cached_property
    def _sizes(self) -> tuple[list[int], list[int]]:
        n_pos = [int(np.count_nonzero(positive)) for positive in self.positive]
        return n_pos, [len(p) - m for p, m in zip(self.positive, n_pos, strict=True)]

    def counts(self) -> str:
        """Say how many items there are.

        Returns
        -------
        str
            Positives and negatives of the parts.
        """
        return ", ".join(f"{m}/{n}" for m, n in zip(*self._sizes, strict=True)) + (
            " positives/negatives"
        )

    @cached_property
    def _joint(self) -> tuple[FloatArray, FloatArray, float]:
        wilcoxon = as_score_generating("wilcoxon")
        joints = [
            joint_estimate(positive, scores, wilcoxon, conditional=True, normalize="minmax")
            for positive, scores in zip(self.positive, self.scores, strict=True)
        ]
        square = self.n_parts**2
        return (
            np.sum([joint.covariance for joint in joints], axis=0) / square,
            np.sum([joint.spare for joint in joints], axis=0) / square,
            square / sum(1.0 / joint.effective for joint in joints),
        )

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the means by influence; NaN with one item of a class in a part."""
        return self._joint[0]

    @cached_property
    def spare(self) -> FloatArray:
        """Covariance with half an item added at either end, never singular."""
        return self._joint[1]

    @cached_property
    def effective(self) -> float:
        """Harmonic number of items behind the means."""
        return self._joint[2]

    def widths(self, theorem: Any, deltas: FloatArray) -> FloatArray:
        """Distances of the lower limits from the means, each failing with its own delta.

        Parameters
        ----------
        theorem : {"mcdiarmid", "hoeffding", "kl"}
            Inequality.
        deltas : ndarray of shape (n_candidates,)
            Probabilities of failure.

        Returns
        -------
        ndarray of shape (n_candidates,)
            The widths.
        """
        n_pos, n_neg = self._sizes
        if theorem == "kl" and self.n_parts > 1:
            return _fold_widths(self.means, min(*n_pos, *n_neg), deltas)
        if self.n_parts > 1:
            found = [
                auc_fold_mean_bound(n_pos, n_neg, float(delta), method=theorem, side="lower")
                for delta in deltas
            ]
        else:
            found = [
                auc_bound(
                    n_pos[0], n_neg[0], float(delta), method=theorem, auc=float(auc), side="lower"
                )
                for auc, delta in zip(self.means, deltas, strict=True)
            ]
        return np.array([one.value for one in found])

    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Wilson's limits with a variance by placements, regularised.

        Parameters
        ----------
        tails : ndarray of shape (n_candidates,)
            Probability of either limit to be on the wrong side.

        Returns
        -------
        low : ndarray of shape (n_candidates,)
            Lower limits.
        high : ndarray of shape (n_candidates,)
            Upper limits.
        """
        # A (1 - A) is concave: that of the mean is no less than the mean over the parts.
        with np.errstate(divide="ignore", invalid="ignore"):
            effects = [[float(design_effect(one)) for one in part] for part in self._moments]
        effect = np.mean(effects, axis=0) / self.n_parts
        return _score_limits(self.means, ndtri(tails) ** 2 * effect)

    def bound(
        self, theorem: Any, candidate: int, delta: float, weights: FloatArray, n_candidates: int
    ) -> Bound:
        """Say what holds of a candidate that was chosen by looking.

        Parameters
        ----------
        theorem : {"mcdiarmid", "hoeffding", "kl"}
            Inequality.
        candidate : int
            The candidate.
        delta : float
            Probability of failure for all candidates together.
        weights : ndarray of shape (n_scored,)
            Share of it that each has that was scored.
        n_candidates : int
            Number of candidates, those that failed included.

        Returns
        -------
        Bound
            Of the AUC less its expectation, given the labels.
        """
        n_pos, n_neg = self._sizes
        value = float(self.widths(theorem, delta * weights)[candidate])
        if theorem == "kl" and self.n_parts > 1:
            return _fold_bound(value, delta, "AUC", (FITTED_APART, ITEMS))
        if self.n_parts > 1:
            stated = auc_fold_mean_bound(
                n_pos, n_neg, delta, n_functions=n_candidates, method=theorem, side="lower"
            )
        else:
            stated = auc_bound(
                n_pos[0],
                n_neg[0],
                delta,
                function_class=n_candidates,
                method=theorem,
                auc=float(self.means[candidate]),
                side="lower",
            )
        return _weighted(stated, value, weights * n_candidates)


@dataclass(frozen=True, eq=False)
class QueryEvidence(Evidence):
    """Values of several candidates on the queries of held-out parts.

    Parameters
    ----------
    measure : str
        Name of the measure.
    samples : sequence of ndarray of shape (n_candidates, n_queries)
        For each part the value of each candidate on each query.
    limits : tuple of (float, float)
        Smallest and largest value that a query can have; may be infinite.
    """

    measure: str
    samples: Sequence[FloatArray]
    limits: tuple[float, float]

    @cached_property
    def values(self) -> FloatArray:
        """Mean over the queries of each part."""
        return np.array([sample.mean(axis=1) for sample in self.samples]).T

    @cached_property
    def _sizes(self) -> list[int]:
        return [sample.shape[1] for sample in self.samples]

    def counts(self) -> str:
        """Say how many queries there are.

        Returns
        -------
        str
            Queries of the parts.
        """
        return ", ".join(map(str, self._sizes)) + " queries"

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the means."""
        return sum(np.atleast_2d(np.cov(sample)) / sample.shape[1] for sample in self.samples) / (
            self.n_parts**2
        )

    @cached_property
    def spare(self) -> FloatArray:
        """Covariance with half a query added at either end of the range, never singular."""
        total = np.zeros((len(self.values), len(self.values)))
        for sample in self.samples:
            apart = sample - sample.mean(axis=1, keepdims=True)
            # A measure without a range has that of what was seen.
            reach = self.unit if np.isfinite(self.unit) else float(np.ptp(sample)) or 1.0
            ends = PSEUDO_WEIGHT * reach**2 / 2.0
            size = sample.shape[1] + 2.0 * PSEUDO_WEIGHT
            total += (apart @ apart.T + ends * np.eye(len(sample))) / size**2
        return total / self.n_parts**2

    @cached_property
    def effective(self) -> float:
        """Harmonic number of queries behind the means."""
        return self.n_parts**2 / sum(1.0 / size for size in self._sizes)

    def widths(self, theorem: str, deltas: FloatArray) -> FloatArray:
        """Distances of the lower limits from the means, each failing with its own delta.

        Parameters
        ----------
        theorem : {"hoeffding", "kl", "bernstein"}
            Inequality.
        deltas : ndarray of shape (n_candidates,)
            Probabilities of failure.

        Returns
        -------
        ndarray of shape (n_candidates,)
            The widths.
        """
        low, unit = self.limits[0], self.unit
        logs, parts = -np.log(deltas), self.n_parts
        if theorem == "hoeffding":
            return unit * np.mean(
                [np.minimum(np.sqrt(logs / (2.0 * n)), 1.0) for n in self._sizes], axis=0
            )
        if theorem == "kl":
            share = np.clip((self.means - low) / unit, 0.0, 1.0)
            if parts > 1:
                return unit * _fold_widths(share, min(self._sizes), deltas)
            return unit * (share - kl_limits(share, logs / self._sizes[0])[0])
        # The parts share delta: each of their own limits holds.
        logs = logs + log(2.0 * parts)
        found = []
        for sample, n in zip(self.samples, self._sizes, strict=True):
            spread = sample.var(axis=1, ddof=1) / unit**2
            found.append(np.sqrt(2.0 * spread * logs / n) + 7.0 * logs / (3.0 * (n - 1.0)))
        return unit * np.mean(np.minimum(found, 1.0), axis=0)

    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Student's limits, with the spread that queries of equal values may have hidden.

        Parameters
        ----------
        tails : ndarray of shape (n_candidates,)
            Probability of either limit to be on the wrong side.

        Returns
        -------
        low : ndarray of shape (n_candidates,)
            Lower limits.
        high : ndarray of shape (n_candidates,)
            Upper limits.
        """
        variance = np.diag(self.covariance)
        rounding = (1e-12 * np.abs(self.means)) ** 2
        variance = np.where(variance > rounding, variance, np.diag(self.spare))
        degrees = sum(self._sizes) - self.n_parts
        reach = -stdtrit(degrees, tails) * np.sqrt(variance)
        low, high = self.limits
        return np.maximum(self.means - reach, low), np.minimum(self.means + reach, high)

    def bound(
        self, theorem: str, candidate: int, delta: float, weights: FloatArray, n_candidates: int
    ) -> Bound:
        """Say what holds of a candidate that was chosen by looking.

        Parameters
        ----------
        theorem : {"hoeffding", "kl", "bernstein"}
            Inequality.
        candidate : int
            The candidate.
        delta : float
            Probability of failure for all candidates together.
        weights : ndarray of shape (n_scored,)
            Share of it that each has that was scored.
        n_candidates : int
            Number of candidates, those that failed included.

        Returns
        -------
        Bound
            Of the mean over queries less its expectation.
        """
        value = float(self.widths(theorem, delta * weights)[candidate])
        if theorem == "kl" and self.n_parts > 1:
            return _fold_bound(value, delta, self.measure, (FITTED_APART, QUERIES))
        name = {
            "hoeffding": "Hoeffding (1963), Theorem 2",
            "kl": "Hoeffding (1963), Theorem 1",
            "bernstein": "Maurer & Pontil (2009), Theorem 4",
        }[theorem]
        target = f"mean {self.measure} - expected {self.measure} of the chosen model"
        if self.n_parts > 1:
            name += ", for folds"
            target = _of_folds(f"mean {self.measure}")
        stated = Bound(
            value=value,
            theorem=f"{name}, for all candidates",
            target=target,
            delta=delta,
            assumptions=(FITTED_APART, QUERIES),
        )
        return _weighted(stated, value, weights * n_candidates)


def query_evidence(
    measure: MeasureLike,
    y_true: Sequence[Any],
    scores: Sequence[Sequence[FloatArray]],
    qid: Sequence[Any],
) -> QueryEvidence:
    """Evaluate the candidates on the queries of each part.

    Parameters
    ----------
    measure : str
        Name of a measure that is a mean over queries.
    y_true : sequence of ndarray
        Labels of each part.
    scores : sequence of sequence of ndarray
        For each part the scores of each candidate.
    qid : sequence of ndarray
        Ids of the queries of each part.

    Returns
    -------
    QueryEvidence
        The values, where the measure is defined.
    """
    samples, limits = [], (-np.inf, np.inf)
    for y, of_part, ids in zip(y_true, scores, qid, strict=True):
        named = {str(c): score for c, score in enumerate(of_part)}
        found = list(query_values_of(measure, y, named, ids, {}).values())
        samples.append(np.stack([one.values for one in found]))
        limits = found[0].limits
    return QueryEvidence(get_measure(measure).name, samples, limits)


def _fold_widths(share: FloatArray, n: int, deltas: FloatArray) -> FloatArray:
    most = np.array([fold_entropy(n, float(delta)) for delta in deltas])
    return share - kl_limits(share, most)[0]


def _of_folds(mean: str) -> str:
    return f"{mean} of the folds - mean expected {mean.removeprefix('mean ')} of their models"


def _fold_bound(value: float, delta: float, measure: str, assumptions: tuple[str, ...]) -> Bound:
    return Bound(
        value=value,
        theorem=f"{OURS}, folds in Chernoff's form, for all candidates",
        target=_of_folds(f"mean {measure}"),
        delta=delta,
        conditioned_on="the labels" if ITEMS in assumptions else "",
        assumptions=assumptions,
    )


def _weighted(stated: Bound, value: float, shares: FloatArray) -> Bound:
    """The bound of equal shares of delta, with the value of shares that differ."""
    if np.allclose(shares, 1.0, rtol=1e-12, atol=0.0):
        return stated
    return Bound(
        value=value,
        theorem=f"{stated.theorem}, each candidate with its prior share of delta",
        target=stated.target,
        delta=stated.delta,
        conditioned_on=stated.conditioned_on,
        assumptions=(*stated.assumptions, "the prior weights do not depend on the data"),
    )
