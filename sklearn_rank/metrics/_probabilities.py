"""Measures of probabilities: net benefit of a threshold, calibration of the first k."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, Unpack

import numpy as np

from .._lists import ScoredLists
from .._order import TiedBlocks
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_share
from ._conventions import NamedNumber, position, share
from ._evidence import Draws, Evidence, LabelTotal, ShareOfRows, draws_of_places, mean_discounts
from ._influence import ClassInfluence
from ._measure import (
    BinaryOptions,
    Measure,
    Value,
    checked,
    function_of,
    within,
    without_function,
)
from ._profit import influence_of_top, sums_of_tops
from ._top import AtKMeasure, PrecisionAtKMeasure


class NetBenefitMeasure(Measure):
    of_probabilities = True
    lacking = "items of one class only"
    weights = "relative"
    stem = "net_benefit@"
    _number = NamedNumber("threshold", partial(share, also="0"), "0.1")
    is_mean_over_ties = False
    order_counts_within = None
    with_equal_scores = "act on all"

    threshold: float = within(0.0, 1.0, "left")
    prevalence: float | None = checked(
        partial(check_share, what="the share of positives"), default=None
    )
    standardized: bool = False

    _own_laws = ("shares",)

    @property
    def _exchange(self) -> float:
        """True positives that a false one takes away."""
        return self.threshold / (1.0 - self.threshold)

    @property
    def range(self) -> tuple[float, float]:
        if self.prevalence is None:
            return (-inf if self.standardized else -self._exchange, 1.0)
        gain, loss = self._worth(self.prevalence)
        return (-loss, gain)

    def _worth(self, positives: float) -> tuple[float, float]:
        """What a true positive rate of 1 adds, and a false one takes away."""
        positives = positives if self.prevalence is None else self.prevalence
        unit = positives if self.standardized else 1.0
        return positives / unit, self._exchange * (1.0 - positives) / unit

    def _acting(self, lists: ScoredLists) -> BoolArray:
        kind = lists.score.dtype
        # Rounded as the probabilities are, so that those equal to the threshold reach it.
        return lists.score >= np.asarray(self.threshold, kind if kind.kind == "f" else None)

    def values(self, lists: ScoredLists) -> FloatArray:
        acting = self._acting(lists)
        right, wrong = (
            lists.weighted_totals((acting & rows).astype(np.float64))
            for rows in (lists.positive, ~lists.positive)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._value(right, wrong, lists.positives, lists.sizes)

    def _value(self, right: Any, wrong: Any, n_pos: Any, n: Any) -> Any:
        if self.prevalence is None:
            divisor = n_pos if self.standardized else n
            return right / divisor - self._exchange * wrong / divisor
        gain, loss = self._worth(self.prevalence)
        return gain * right / n_pos - loss * wrong / (n - n_pos)

    def blocks_at_cut(self, lists: ScoredLists, blocks: TiedBlocks, law: str) -> IntArray | None:
        first_not = np.searchsorted(blocks.starts, np.count_nonzero(self._acting(lists)))
        return np.array([min(first_not, len(blocks.starts) - 1)])

    def label_total(self, lists: ScoredLists) -> LabelTotal:
        acting = self._acting(lists).astype(np.float64)
        n, n_acting = float(lists.sizes[0]), float(lists.counts @ acting)
        return LabelTotal(acting, lambda x, n_pos: self._value(x, n_acting - x, n_pos, n))

    def shares(self, lists: ScoredLists) -> tuple[ShareOfRows, ShareOfRows]:
        """Shares of rows of which the measure is the sum."""
        acting, positive = self._acting(lists), lists.positive
        right, wrong = acting & positive, acting & ~positive
        if self.prevalence is not None:
            gain, loss = self._worth(self.prevalence)
            return ShareOfRows(gain, right, positive), ShareOfRows(-loss, wrong, ~positive)
        if self.standardized:
            odds = ShareOfRows(-self._exchange, wrong, positive | wrong, are_odds=True)
            return ShareOfRows(1.0, right, positive), odds
        rows = np.ones(len(acting), dtype=bool)
        return ShareOfRows(1.0, right, rows), ShareOfRows(-self._exchange, wrong, rows)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        acting, positive, counts = self._acting(lists), lists.positive, lists.counts
        share = float(lists.positives[0] / lists.sizes[0])
        gain, loss = self._worth(share)
        right, wrong = (
            float(np.average(acting[rows], weights=counts[rows])) for rows in (positive, ~positive)
        )
        slope = 0.0
        if self.prevalence is None:
            cost = self._exchange * wrong
            slope = cost / share**2 if self.standardized else right + cost
        return ClassInfluence(
            estimate=float(self.values(lists)[0]),
            values=np.where(positive, gain, -loss) * acting,
            positive=positive,
            ends=((0.0, gain), (0.0, -loss)),
            range=(-loss, gain),
            label_slope=slope,
            counts=lists.weight,
        )


@function_of(NetBenefitMeasure)
def net_benefit(
    y_true: Any,
    y_score: Any,
    *,
    threshold: float,
    prevalence: float | None = None,
    standardized: bool = False,
    **options: Unpack[BinaryOptions],
) -> Value:
    """Net benefit of a probability threshold, as in decision curve analysis.

    ``TP / n - FP / n * t / (1 - t)``, TP and FP the positives and negatives among the items with a
    probability of at least t: true positives per item minus false positives per item, weighted by
    the odds of t.

    Parameters
    ----------
    y_score
        Probabilities of the positive class, in [0, 1].
    threshold : float
        Threshold t in [0, 1): items with at least this probability are selected. A greater
        threshold gives false positives more weight.
    prevalence : float or None, default=None
        Share of positives in the population, in (0, 1), for samples whose cases and controls were
        drawn separately. None is the share in the sample.
    standardized : bool, default=False
        Whether to divide by the share of positives, so that selecting exactly the positives has
        the value 1.
    undefined
        How a list of one class counts where ``prevalence`` or ``standardized`` divides by the size
        of the class that is absent; None is "skip".

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The net benefit, at most the share of positives, or at most 1 if ``standardized``; higher
        is better. That of selecting none is 0.

    Raises
    ------
    ValueError
        If an argument is invalid, if a score is not a probability, or if a list is undefined
        and ``undefined="raise"``.

    See Also
    --------
    sklearn_rank.inference.metric_interval : Confidence interval, of joined shares of items.
    precision_at_top_score : Does not depend on the scale of the scores.

    Notes
    -----
    The net benefit depends on the scale of the scores, so that its scorer takes ``predict_proba``.
    The threshold is rounded to the precision of the probabilities, for example float32, and items
    that equal it are selected. With ``prevalence=pi`` the value is
    ``pi TPR - (1 - pi) FPR t / (1 - t)``; pass the probabilities of that population. If the model
    was fitted to a sample with the share p of positives, first divide their odds by ``p / (1 -
    p)`` and multiply them by ``pi / (1 - pi)``. The time is O(n).

    References
    ----------
    .. [1] Vickers & Elkin (2006), *Decision curve analysis: a novel method for evaluating
       prediction models*, Medical Decision Making 26.

    Examples
    --------
    >>> from sklearn_rank.metrics import net_benefit
    >>> net_benefit([1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1], threshold=0.2)
    0.4375
    """


@without_function
class CalibrationAtKMeasure(AtKMeasure):
    """Mean probability of the first k items less their share of positives."""

    of_probabilities = True
    range = (-1.0, 1.0)
    greater_is_better = False
    has_direction = False
    stem = "calibration@"
    _number = NamedNumber("k", position, "10")
    from_ranges = None  # type: ignore[assignment]
    is_mean_over_ties = False
    order_counts_within = None
    with_equal_scores = ""

    _own_laws = ("draws",)

    @property
    def _precision(self) -> PrecisionAtKMeasure:
        return PrecisionAtKMeasure(k=self.k)

    def _predicted(self, lists: ScoredLists) -> FloatArray:
        mass = np.full(lists.n_lists, float(self.k))
        return sums_of_tops(lists, lists.score.astype(np.float64), mass) / self.k

    def values(self, lists: ScoredLists) -> FloatArray:
        return self._predicted(lists) - self._precision.values(lists)

    def draws(self, evidence: Evidence) -> Draws:
        """Those of the precision, which is taken from what is predicted."""
        found = draws_of_places(self._precision, evidence)
        target = f"expected {self.name} for the same scores and new labels"
        predicted = float(self._predicted(evidence.data)[0])
        return replace(found, unit=-found.unit, origin=predicted, target=target)

    def blocks_at_cut(self, lists: ScoredLists, blocks: TiedBlocks, law: str) -> IntArray | None:
        """The probabilities of single rows count in the influence."""
        if law == "influence":
            return None
        return self._precision.blocks_at_cut(lists, blocks, law)

    def label_total(self, lists: ScoredLists) -> LabelTotal:
        predicted = float(self._predicted(lists)[0])
        weights = mean_discounts(lists.score, self._discounts(len(lists.score)) / self.k)
        return LabelTotal(weights, lambda total, n_pos: predicted - total)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        """That on the mean by which the probabilities of the first k exceed their labels.

        A row of either class counts as much as its class has of the rows.
        """
        mass, n = min(float(self.k), float(lists.sizes[0])), float(lists.sizes[0])
        positive, score = lists.positive, lists.score.astype(np.float64)
        found = influence_of_top(lists, score - positive, mass).scaled(0.0, self.k / mass)
        part = np.array([lists.positives[0], n - lists.positives[0]]) / n
        bottom = float(found.values[score.argmin()])
        top = bottom + (mass / self.k * (score.max() - [1.0, 0.0]) - bottom) * n / mass
        classes, weight = (positive, ~positive), lists.counts
        means = [np.average(found.values[rows], weights=weight[rows]) for rows in classes]
        return replace(
            found,
            values=found.values * np.where(positive, *part),
            positive=positive,
            ends=part[:, np.newaxis] * np.stack([np.full(2, bottom), top], axis=1),
            range=self.range,
            label_slope=float(means[0] - means[1]),
        )
