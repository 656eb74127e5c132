"""Choice of a candidate from held-out parts, its limit and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..inference import Interval
from ._candidates import DIGITS, Fitted, Grid, candidate_table, rank_descending
from ._evidence import ASYMPTOTIC, Evidence
from ._noise import may_be_best, simultaneous_tails
from ._report import WITHIN_NOISE, SelectionReport

__all__ = ["RULES", "Choice", "Limits", "choose", "lower_limits"]

RULES = ("max_bound", WITHIN_NOISE)


@dataclass(frozen=True, eq=False)
class Limits:
    """Lower limits that hold for all candidates at once, of those that were scored."""

    method: str  # Where they come from
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


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen candidate, and the results of all candidates."""

    grid: Grid
    scored: IntArray
    evidence: Evidence  # What the held-out parts showed of these
    limits: Limits  # Their lower limits
    stays: BoolArray
    best: int  # The chosen one among the scored

    @property
    def index(self) -> int:
        """The chosen one among all candidates."""
        return int(self.scored[self.best])

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the chosen one."""
        return self.grid.candidates[self.index]

    @property
    def value(self) -> float:
        """Mean of the measure of the chosen candidate over the parts."""
        return float(self.evidence.means[self.best])

    @property
    def lower(self) -> float:
        """Its lower limit."""
        return float(self.limits.lower[self.best])

    def _column(self, values: Any, missing: Any = np.nan) -> AnyArray:
        """Values of the scored candidates among those of all."""
        shape = (len(self.grid.candidates), *values.shape[1:])
        column = np.full(shape, missing, dtype=values.dtype)
        column[self.scored] = values
        return column

    def results(self, fits: Sequence[Sequence[Fitted]]) -> dict[str, Any]:
        """Tabulate all candidates. Columns of ``cv_results_`` by name."""
        evidence, limits = self.evidence, self.limits
        table = candidate_table(self.grid.candidates, fits)
        for part, column in enumerate(self._column(evidence.values).T):
            table[f"split{part}_test_score"] = column
        if self.grid.bases[0].name:
            table["estimator"] = np.array([base.name for base in self.grid.bases], dtype=object)
        table["mean_test_score"] = self._column(evidence.means)
        table["std_test_score"] = self._column(evidence.values.std(axis=1))
        table["rank_test_score"] = rank_descending(table["mean_test_score"])
        table["lower_bound"] = self._column(limits.lower)
        table["rank_bound"] = rank_descending(self._column(limits.unclipped))
        table["prior"], table["delta"] = self.grid.weights, self._column(limits.deltas)
        table["may_be_best"] = self._column(self.stays, False)
        return table

    def report(self, rule: str, refit: bool, rng: np.random.Generator) -> SelectionReport:
        """Make the report of the choice and its guarantee."""
        evidence, name = self.evidence, self.evidence.measure.name
        one_part = evidence.n_parts == 1
        of = f"the {evidence.n_parts} fold models"
        if one_part:
            of = "the model fitted without the held-out part" if refit else "best_estimator_"
        target = f"{'' if one_part else 'mean '}{evidence.of_new_data} {name} of {of}"
        if refit:
            remark = (
                "best_estimator_ is a new model, fitted to all rows: nothing is guaranteed for it."
            )
        elif one_part:
            remark = "best_estimator_ is the model that was scored; the limits are for this model."
        else:
            remark = "There is no best_estimator_, only the fold models, because refit=False."
        return SelectionReport(
            measure=name,
            of_queries=evidence.of_queries,
            candidate=self.index,
            params=self.params,
            shown=self.grid.shown(self.index),
            rule=rule,
            n_candidates=len(self.grid.candidates),
            n_parts=evidence.n_parts,
            counts=evidence.counts(),
            fewest=evidence.fewest() + ("" if one_part else " in the smallest part"),
            value=self.value,
            lower=self.lower,
            target=target,
            bound=self._bound(),
            interval=self._interval(target, rng),
            may_be_best=tuple(self.scored[self.stays].tolist()),
            covers_best_estimator=one_part and not refit,
            remark=remark,
            chance=evidence.chance,
            least=evidence.measure.counted_range[0],
            overlap=evidence.disjoint is not None,
        )

    def _bound(self) -> Any:
        """The theorem behind the limit; None if it is asymptotic."""
        limits = self.limits
        if limits.method == ASYMPTOTIC:
            return None
        return self.evidence.bound(
            limits.method,
            self.best,
            limits.delta,
            self.grid.weights[self.scored],
            len(self.grid.candidates),
        )

    def _interval(self, target: str, rng: np.random.Generator) -> Interval:
        """Asymptotic interval, simultaneous over the candidates."""
        delta, n = self.limits.delta, len(self.scored)
        tails = simultaneous_tails(self.evidence, delta / 2.0, np.full(n, 1.0 / n), rng)
        low, high = self.evidence.asymptotic_limits(tails)
        return Interval(
            estimate=self.value,
            low=float(low[self.best]),
            high=float(high[self.best]),
            level=1.0 - delta,
            method=ASYMPTOTIC,
            target=target,
        )


def choose(
    grid: Grid,
    scored: IntArray,
    evidence: Evidence,
    limits: Limits,
    rule: str,
    rng: np.random.Generator,
) -> Choice:
    """Choose a candidate."""
    stays = may_be_best(evidence, limits.delta, rng)
    rounded = np.round(limits.unclipped, DIGITS)
    if rule == WITHIN_NOISE:
        among = np.flatnonzero(stays)
    else:
        # Limits that exclude nothing are equal where the values differ.
        among = np.flatnonzero(rounded == rounded.max())
        means = np.round(evidence.means[among], DIGITS)
        among = among[means == means.max()]
    best = int(among[np.argmin(grid.simplicity[scored][among])])
    return Choice(grid, scored, evidence, limits, stays, best)
