"""Choice of a candidate from simultaneous limits, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from .._printed import Printed, fixed
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..bounds import Bound
from ..inference import Interval
from ..inference._shared import (
    correlation_root,
    covariance_root,
    least_variance,
    never_certain_covariance,
    normal_draws,
)
from ._candidates import Fitted, Grid
from ._evidence import ASYMPTOTIC, Evidence

WITHIN_NOISE = "within_noise"


@dataclass(frozen=True, repr=False)
class SelectionReport(Printed):
    """Report of a search by bounds: the choice, its guarantee and the target of the guarantee.

    Parameters
    ----------
    measure : str
        Name of the measure.
    of_queries : bool
        Whether the measure is a mean over queries instead of a value of one list.
    candidate : int
        Index of the chosen candidate.
    params : dict
        Parameters of the chosen candidate.
    shown : str
        Parameters of the chosen candidate as text, after the name of the estimator if there are
        several.
    rule : str
        Rule of the choice.
    n_candidates : int
        Number of candidates; the guarantee covers all of them.
    n_parts : int
        Number of held-out parts.
    counts : str
        Description of the number of items in the held-out parts.
    fewest : str
        Description of the number of items that the guarantee depends on.
    value : float
        Mean of the measure of the chosen candidate over the held-out parts.
    lower : float
        Lower limit for ``target``, at ``delta`` for all candidates together.
    target : str
        The quantity to which the limit applies.
    bound : Bound or None
        The theorem behind the limit; None if it is asymptotic.
    interval : Interval
        Asymptotic interval for the same quantity, simultaneous over the candidates.
    may_be_best : tuple of int
        Candidates that a simultaneous paired test, which is asymptotic, does not distinguish from
        the best.
    covers_best_estimator : bool
        Whether ``target`` is a quantity of ``best_estimator_``.
    remark : str
        Sentence that describes ``best_estimator_`` and whether the limit applies to it.
    chance : float or None, default=None
        Value of the measure for a random order; None if it is unknown.
    least : float, default=-inf
        Smallest value that the measure can have.
    overlap : bool, default=False
        Whether some of the parts share items.

    See Also
    --------
    BoundSearchCV : Search that returns the report.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import BoundSearchCV
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> search = BoundSearchCV(
    ...     LogisticRegression(max_iter=1000),
    ...     {"C": [0.01, 1.0]},
    ...     refit=False,
    ...     random_state=0,
    ... ).fit(X, y)
    >>> search.report_.covers_best_estimator
    True
    """

    measure: str
    of_queries: bool
    candidate: int
    params: dict[str, Any]
    shown: str
    rule: str
    n_candidates: int
    n_parts: int
    counts: str
    fewest: str
    value: float
    lower: float
    target: str
    bound: Bound | None
    interval: Interval
    may_be_best: tuple[int, ...]
    covers_best_estimator: bool
    remark: str
    chance: float | None = None
    least: float = -inf
    overlap: bool = False

    def __str__(self) -> str:
        return "\n".join(
            [self._chosen(), *self._guaranteed(), self._in_the_limit(), *self._others()]
        )

    def _chosen(self) -> str:
        reason = "its lower limit is the largest"
        if self.rule == WITHIN_NOISE:
            reason = "it is the simplest that does not differ significantly from the best"
        parts = "one held-out part" if self.n_parts == 1 else f"{self.n_parts} held-out parts"
        scored = f"{self.measure} of one list"
        if self.of_queries:
            scored = f"mean {self.measure} over queries"
        shared = " that share items" if self.overlap else ""
        chosen = f"Chosen from {self.n_candidates} candidates: {self.shown}, because {reason}."
        if self.n_candidates == 1:
            chosen = f"One candidate: {self.shown}."
        return f"{chosen}\nScored by the {scored} on {parts}{shared}: {self.counts}."

    def _guaranteed(self) -> list[str]:
        """Return the lines on the guarantee, which holds for every distribution."""
        if self.bound is None:
            lines = [
                "Guaranteed: nothing; the following limits are asymptotic, for many"
                f" {'queries' if self.of_queries else 'rows'}."
            ]
        else:
            n = self.n_candidates
            why = f"{n} candidate{'s' * (n > 1)} and {self.fewest}"
            seen = f"{fixed(self.value)} observed, minus {fixed(self.bound.value)} for {why}"
            claim = f"on new data the {self.target} is at least {fixed(self.lower)} ({seen})."
            if self.lower <= self.least:
                claim = f"nothing ({seen}, excludes no value)."
            lines = [
                f"Guaranteed ({100 * (1 - self.bound.delta):.4g} %): {claim}",
                self.bound.proof,
            ]
        if self.chance is not None and self.lower <= self.chance:
            lines.append(f"A model that ranks at random ({self.chance:.3g}) is not ruled out.")
        return lines

    def _in_the_limit(self) -> str:
        """Return the line on the asymptotic interval."""
        low, high, level = self.interval.low, self.interval.high, self.interval.level
        if self.bound is None:
            claim = f"on new data the {self.target} is at least {fixed(self.lower)}"
            claim += f" ({fixed(self.value)} observed), and between {fixed(low)} and {fixed(high)}"
        else:
            claim = f"it is between {fixed(low)} and {fixed(high)}"
        choice = "" if self.n_candidates == 1 else ", whichever candidate was chosen"
        return f"Asymptotically ({100 * level:.4g} %, {self.interval.method}): {claim}{choice}."

    def _others(self) -> list[str]:
        """Return the lines on the other candidates and on ``best_estimator_``."""
        n_best, n = len(self.may_be_best), self.n_candidates
        if n == 1:
            return [self.remark]
        if self.candidate not in self.may_be_best:
            line = (
                f"It is significantly worse than the best, as are {n - n_best} of {n} candidates."
            )
        elif n_best == 1:
            line = "All other candidates are significantly worse."
        else:
            line = f"{n_best} of {n} candidates do not differ significantly from the best; "
            simplest = self.rule == WITHIN_NOISE
            line += (
                "the simplest of them was chosen."
                if simplest
                else "the choice among them is arbitrary."
            )
        return [line, self.remark]


# Number of normal draws for the distribution of the extreme variable.
N_DRAWS = 2**15

# Up to this number of candidates, compiled code is not used.
FEW = 50


def simultaneous_tails(
    evidence: Evidence, delta: float, weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Probabilities that limits for single candidates may have to hold together.

    With correlated normal variables ``Z_c`` and tails in proportion to the weights, ``P(Z_c is
    within its tail for some c) = delta``.
    """
    delta = _safe_delta(evidence, delta)
    if len(weights) == 1:
        return np.array([delta])
    root = correlation_root(evidence.regularized_covariance)
    # Of candidates of one weight the smallest value has the smallest tail.
    distinct, starts = np.unique(np.sort(weights), return_index=True)
    order = np.argsort(weights, kind="stable")
    smallest = [
        (ndtr(np.minimum.reduceat(drawn[:, order], starts, axis=1)) / distinct).min(axis=1)
        for drawn in normal_draws(root, N_DRAWS, rng)
    ]
    # A share of Bonferroni's is always enough, and delta / max(weights) never exceeded.
    quantile = np.quantile(np.concatenate(smallest), delta, method="lower")
    return np.clip(quantile, delta, delta / weights.max()) * weights


def _safe_delta(evidence: Evidence, delta: float) -> float:
    """Largest probability of failure up to which a bound of the covariance is on the safe side.

    Of two normal variables of mean 0 the one of the larger covariance lies in a convex set of
    probability 1/2 or more the more seldom (Ehrhard's inequality), in others it need not.
    """
    return delta if evidence.disjoint is None else min(delta, 0.5)


def may_be_best(evidence: Evidence, delta: float, rng: np.random.Generator) -> BoolArray:
    """Find the candidates that a simultaneous paired test does not distinguish from the best.

    A candidate stays unless some other one is better than it by more than ``q`` standard errors of
    their difference, q being the quantile of the largest of its standardised differences to all
    others. So the one whose expected mean is the largest stays with probability ``1 - delta``, in
    the limit, although it is unknown which one that is.
    """
    n, delta = len(evidence.means), _safe_delta(evidence, delta)
    if n == 1:
        return np.ones(1, dtype=bool)
    ahead = evidence.means[:, None] - evidence.means
    covariance = evidence.covariance
    least = least_variance(ahead, evidence.length, evidence.n_effective)
    # A difference that would be certain has the variance with the added items, as in paired tests.
    certain = ~(_variances_of_differences(covariance) > least)
    equal = certain & (ahead == 0.0) & ~np.isnan(covariance).any()
    if not np.array_equal(certain, equal):
        covariance = never_certain_covariance(
            evidence.means, evidence.regularized_covariance, evidence.n_effective
        )
        equal = np.eye(n, dtype=bool)
    errors = np.sqrt(np.where(equal, 1.0, _variances_of_differences(covariance)))
    largest = np.where(equal, 0.0, ahead / errors).max(axis=0)
    # One comparison, and Bonferroni's correction for all, decide most candidates.
    stays = largest <= max(-float(ndtri(delta)), 0.0)
    undecided = np.flatnonzero(~stays & (largest <= -float(ndtri(delta / (n - 1)))))
    if len(undecided):
        leads = np.where(equal, np.inf, largest[:, None] * errors)[undecided]
        draws = normal_draws(covariance_root(covariance), N_DRAWS, rng)
        # Others are ahead by the lead in a share delta of the draws where the lead is no more than
        # the quantile. As many draws are at or above the upper one of the two that enclose it.
        enough = N_DRAWS - ceil((N_DRAWS - 1) * (1.0 - delta))
        counts, n_left = np.zeros(len(undecided), dtype=np.int64), N_DRAWS
        for drawn in draws:
            pending = np.flatnonzero((counts < enough) & (counts + n_left >= enough))
            counts[pending] += _count_overtaken(drawn, undecided[pending], leads[pending])
            n_left -= len(drawn)
        stays[undecided] = counts >= enough
    return stays


def _count_overtaken(drawn: FloatArray, candidates: IntArray, leads: FloatArray) -> IntArray:
    """Count the draws in which some other one is ahead of a candidate by its lead or more."""
    n = leads.shape[1]
    if n <= FEW:
        # Compilation would take longer.
        pairs = zip(candidates, leads, strict=True)
        overtaken = [(drawn - lead >= drawn[:, [c]]).any(axis=1).sum() for c, lead in pairs]
        return np.array(overtaken, dtype=np.int64)
    from ._noise_kernels import BLOCK, count_overtaken

    starts = np.arange(0, n, BLOCK)
    tops = np.maximum.reduceat(drawn, starts, axis=1)
    least_leads = np.minimum.reduceat(leads, starts, axis=1)
    counts = np.zeros(len(candidates), dtype=np.int64)
    count_overtaken(drawn, tops, candidates, leads, least_leads, counts)
    return counts


def _variances_of_differences(covariance: FloatArray) -> FloatArray:
    variances = np.diag(covariance)
    return variances[:, None] + variances - 2.0 * covariance


RULES = ("max_bound", WITHIN_NOISE)

# Number of decimals to which means are compared, because of rounding.
DIGITS = 12


def _rank_descending(values: FloatArray) -> IntArray:
    """Rank values, 1 the largest; ties, up to rounding, share the smallest and NaN is last."""
    rounded = np.round(values, DIGITS)
    return rankdata(-np.nan_to_num(rounded, nan=-np.inf), method="min").astype(np.int32)


class Limits(NamedTuple):
    """Lower limits of the scored candidates that hold at once."""

    method: str
    delta: float  # Probability that any of them fails
    deltas: FloatArray  # (n_scored,): Probability that each fails
    lower: FloatArray  # (n_scored,)
    unclipped: FloatArray


def lower_limits(
    evidence: Evidence, method: str, delta: float, weights: FloatArray, rng: np.random.Generator
) -> Limits:
    """Find a lower limit for each candidate."""
    if method == ASYMPTOTIC:
        deltas = simultaneous_tails(evidence, delta, weights / weights.sum(), rng)
        lower = evidence.lower(method, deltas)
        return Limits(method, delta, deltas, lower, lower)
    deltas = delta * weights
    unclipped = evidence.means - evidence.widths(method, deltas)
    lower = np.maximum(unclipped, evidence.measure.counted_range[0])
    return Limits(method, delta, deltas, lower, unclipped)


class Choice:
    """The chosen candidate, its value and lower limit, and the results of all candidates.

    ``scored`` are the candidates without failed fits, which evidence and limits are about.
    """

    def __init__(
        self,
        grid: Grid,
        scored: IntArray,
        evidence: Evidence,
        limits: Limits,
        rule: str,
        rng: np.random.Generator,
    ) -> None:
        self.grid, self.scored, self.evidence, self.limits = grid, scored, evidence, limits
        self.rule, self.stays = rule, may_be_best(evidence, limits.delta, rng)
        if rule == WITHIN_NOISE:
            eligible = np.flatnonzero(self.stays)
        else:
            # Limits that exclude nothing are equal where the values differ.
            rounded = np.round(limits.unclipped, DIGITS)
            eligible = np.flatnonzero(rounded == rounded.max())
            means = np.round(evidence.means[eligible], DIGITS)
            eligible = eligible[means == means.max()]
        self.best = best = int(eligible[np.argmin(grid.simplicity[scored][eligible])])
        self.value, self.lower = float(evidence.means[best]), float(limits.lower[best])
        self.index = int(scored[best])
        self.params = grid.candidates[self.index]

    def _column(self, values: Any, missing: Any = np.nan) -> AnyArray:
        """Values of all candidates, from those of the scored ones."""
        shape = (len(self.grid.candidates), *values.shape[1:])
        column = np.full(shape, missing, dtype=values.dtype)
        column[self.scored] = values
        return column

    def results(self, fits: Sequence[Sequence[Fitted]]) -> dict[str, Any]:
        """Columns of ``cv_results_`` by name, most of them as in scikit-learn."""
        candidates, evidence, limits = self.grid.candidates, self.evidence, self.limits
        table: dict[str, Any] = {}
        for name in ("fit_time", "score_time"):
            times = np.array([[getattr(fit, name) for fit in parts] for parts in fits])
            table[f"mean_{name}"], table[f"std_{name}"] = times.mean(axis=1), times.std(axis=1)
        for name in sorted({name for params in candidates for name in params}):
            values = np.ma.masked_all(len(candidates), dtype=object)
            for index, params in enumerate(candidates):
                if name in params:
                    values[index] = params[name]
            table[f"param_{name}"] = values
        table["params"] = list(candidates)
        for part, column in enumerate(self._column(evidence.values).T):
            table[f"split{part}_test_score"] = column
        if self.grid.names[0]:
            table["estimator"] = np.array(self.grid.names, dtype=object)
        table["mean_test_score"] = self._column(evidence.means)
        table["std_test_score"] = self._column(evidence.values.std(axis=1))
        table["rank_test_score"] = _rank_descending(table["mean_test_score"])
        table["lower_bound"] = self._column(limits.lower)
        table["rank_bound"] = _rank_descending(self._column(limits.unclipped))
        table["prior"], table["delta"] = self.grid.weights, self._column(limits.deltas)
        table["may_be_best"] = self._column(self.stays, False)
        return table

    def report(self, refit: bool, rng: np.random.Generator) -> SelectionReport:
        """Make the report of the choice and its guarantee."""
        evidence, name = self.evidence, self.evidence.measure.name
        one_part = evidence.n_parts == 1
        models = f"the {evidence.n_parts} fold models"
        if one_part:
            models = "the model fitted without the held-out part" if refit else "best_estimator_"
        target = f"{'' if one_part else 'mean '}{evidence.of_new_data} {name} of {models}"
        if refit:
            remark = (
                "best_estimator_ is a new model, fitted to all rows: nothing is guaranteed for it."
            )
        elif one_part:
            remark = "best_estimator_ is the model that was scored; the limits are for this model."
        else:
            remark = "There is no best_estimator_, only the fold models, because refit=False."
        limits = self.limits
        bound = None
        if limits.method != ASYMPTOTIC:
            weights = self.grid.weights[self.scored]
            n = len(self.grid.candidates)
            bound = evidence.bound(limits.method, self.best, limits.delta, weights, n)
        n = len(self.scored)
        tails = simultaneous_tails(evidence, limits.delta / 2.0, np.full(n, 1.0 / n), rng)
        low, high = evidence.asymptotic_limits(tails)
        interval = Interval(
            estimate=self.value,
            low=float(low[self.best]),
            high=float(high[self.best]),
            level=1.0 - limits.delta,
            method=ASYMPTOTIC,
            target=target,
        )
        return SelectionReport(
            measure=name,
            of_queries=evidence.of_queries,
            candidate=self.index,
            params=self.params,
            shown=self.grid.describe(self.index),
            rule=self.rule,
            n_candidates=len(self.grid.candidates),
            n_parts=evidence.n_parts,
            counts=evidence.counts(),
            fewest=evidence.fewest() + ("" if one_part else " in the smallest part"),
            value=self.value,
            lower=self.lower,
            target=target,
            bound=bound,
            interval=interval,
            may_be_best=tuple(self.scored[self.stays].tolist()),
            covers_best_estimator=one_part and not refit,
            remark=remark,
            chance=evidence.chance,
            least=evidence.measure.counted_range[0],
            overlap=evidence.disjoint is not None,
        )
