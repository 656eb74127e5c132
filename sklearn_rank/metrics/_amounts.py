"""Effects of a treatment, and sums of amounts that count by their places in the whole list."""

from __future__ import annotations

from abc import abstractmethod
from math import e
from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma

from .._lists import ScoredLists
from .._order import tied_blocks
from .._typing import FloatArray
from .._validation import check_column, check_vector, refuse_misread, shape_of
from ._influence import ClassInfluence
from ._measure import without_function
from ._profit import (
    OfAmounts,
    ProfitAtKMeasure,
    ProfitAtTopMeasure,
    ends_of,
    influence_of_share,
    refuse_all_equal,
    refuse_no_total,
)


def effect_amounts(
    outcome: Any, treatment: Any, *, propensity: Any = None, expected: Any = None
) -> FloatArray:
    """Make amounts of the rows of an experiment, whose expectation is the effect of treatment.

    With the outcome y, the treatment w in {0, 1}, its probability p and the expected outcomes
    ``m_0`` and ``m_1`` without and with it, the amount of a row is

    ``m_1 - m_0 + w (y - m_1) / p - (1 - w) (y - m_0) / (1 - p)``.

    Given the features of the row its expectation is the effect, so that these amounts are labels
    of the measures of uplift: ``"uplift@50"``, ``"uplift@top0.1"``, ``"qini"``, ``"auuc"`` and
    ``"autoc"``, with their intervals and tests.

    Parameters
    ----------
    outcome : array-like of shape (n_samples,)
        Outcome of each row, finite, in any unit: 0 and 1, money, minutes.
    treatment : array-like of shape (n_samples,)
        Whether each row was treated, 0 or 1.
    propensity : float or array-like of shape (n_samples,), default=None
        Probability with which each row was treated, in (0, 1). None is the share treated, which
        assumes that every row was treated with the same probability.
    expected : array-like of shape (n_samples,) or (n_samples, 2), default=None
        Expected outcome of each row, by a model that was fitted on other rows: one column, or one
        without and one with the treatment. None is the mean outcome of each arm, weighted by
        the inverse probability of being in it.

    Returns
    -------
    ndarray of shape (n_samples,)
        Amounts, in the unit of the outcome; often far larger than the effects, and of either sign.

    Raises
    ------
    ValueError
        If a column is no finite number for each row, a treatment is not 0 or 1, all rows are of
        one arm, or a propensity is not in (0, 1).

    See Also
    --------
    get_measure : Has the definitions of the measures.
    sklearn_rank.inference.compare : Compares two uplift models on these amounts.

    Notes
    -----
    If the propensities are those of the experiment, the expectation is the effect whatever
    ``expected`` is; a good one makes intervals narrower. If they are estimates from features, it
    is the effect if either they or both columns of ``expected`` are right (doubly robust), and if
    no feature is missing that moves treatment and outcome. One column gives the narrowest limits
    as ``(1 - p) m_0 + p m_1``. Values of the rows a model was fitted on make its own rows look
    better: predict out of fold.

    Intervals take the propensities as known. Where they are estimated, as by None, they are on
    average wider than need be.

    In folds and searches a regressor that is fitted to the amounts is scored by them. A classifier
    of the outcome takes ``value=np.column_stack([amounts, amounts])``, those of either class.

    Packages for uplift, such as causalml, scikit-uplift, EconML and the R package grf (whose
    scores of a causal forest are such amounts), fit the models; their scores are what is ranked.
    The time is O(n).

    References
    ----------
    .. [1] Robins, Rotnitzky & Zhao (1994), *Estimation of regression coefficients when some
       regressors are not always observed*, JASA 89.
    .. [2] Yadlowsky, Fleming, Shah, Brunskill & Wager (2025), *Evaluating treatment prioritization
       rules via rank-weighted average treatment effects*, JASA 120.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import metric_interval
    >>> from sklearn_rank.metrics import effect_amounts
    >>> effect_amounts([1, 0, 1, 0], [1, 1, 0, 0], propensity=0.5)
    array([ 1., -1., -1.,  1.])
    >>> rng = np.random.default_rng(0)
    >>> score, treated = rng.normal(size=2000), rng.random(2000) < 0.5
    >>> bought = rng.random(2000) < 0.3 + 0.1 * treated * (1 + np.tanh(score))
    >>> amounts = effect_amounts(
    ...     bought, treated, propensity=0.5, expected=np.full(2000, 0.35)
    ... )
    >>> print(metric_interval("uplift@top0.2", amounts, score))
    0.1755 [0.0820, 0.2675] (uplift@top0.2 of the population, 95 %, influence)
    """
    refuse_misread(outcome=outcome, treatment=treatment, propensity=propensity, expected=expected)
    y = check_vector("outcome", outcome)
    n = len(y)
    arm = check_vector("treatment", treatment, n)
    if not (known := np.isin(arm, (0.0, 1.0))).all():
        row = int(np.argmin(known))
        raise ValueError(
            f"treatment is {arm[row]:g} in row {row}, but must be 1 in rows that were treated and"
            " 0 in others: pass (arm == 'name of the treatment'), with the rows of two arms."
        )
    treated = arm == 1.0
    if np.ptp(arm) == 0.0:
        raise ValueError(
            f"treatment is {arm[0]:g} in all {n} rows, but an effect is a difference of two arms:"
            " pass the rows of both."
        )
    if propensity is None:
        propensity = treated.mean()
    column = np.full(n, propensity) if shape_of(propensity) == () else propensity
    chance = check_vector("propensity", column, n)
    if not (inside := (chance > 0.0) & (chance < 1.0)).all():
        row = int(np.argmin(inside))
        raise ValueError(
            f"propensity is {chance[row]:g} in row {row}, but must be a probability in (0, 1):"
            " leave out rows that could only be in one arm."
        )
    weight = np.where(treated, 1.0 / chance, -1.0 / (1.0 - chance))
    if expected is None:
        means = [np.average(y[rows], weights=np.abs(weight[rows])) for rows in (~treated, treated)]
    else:
        columns = np.atleast_2d(check_column("expected", expected, (1, 2)).T)
        if len(columns) > 2:
            raise ValueError(
                f"expected has {len(columns)} columns, but must have one, or that without and that"
                " with the treatment."
            )
        means = [check_vector("expected", column, n) for column in columns]
    without, with_treatment = means[0], means[-1]
    residual = y - np.where(treated, with_treatment, without)
    return np.asarray(with_treatment - without + weight * residual)


class _OfEffects(OfAmounts):
    remedy = "pass amounts of effects, effect_amounts(outcome, treatment)"


@without_function
class UpliftAtKMeasure(_OfEffects, ProfitAtKMeasure):
    stem = "uplift@"


@without_function
class UpliftAtTopMeasure(_OfEffects, ProfitAtTopMeasure):
    stem = "uplift@top"


class _OfRanks(_OfEffects):
    """``1 / n`` times a sum of amounts with weights that fall from place to place."""

    # Sum of the weights above 0 in a long list, divided by n
    _above_0: ClassVar[float]

    @staticmethod
    @abstractmethod
    def _sums(places: FloatArray, n: Any) -> FloatArray:
        """Sum of the weights of the first places of n."""

    def values(self, lists: ScoredLists) -> FloatArray:
        blocks = tied_blocks(lists.score, lists.offsets)
        weight, totals = (blocks.totals(lists.counts * x) for x in (1.0, lists.grade))
        upto, n = blocks.running(weight), lists.sizes[blocks.list_of()]
        means = (self._sums(upto, n) - self._sums(upto - weight, n)) / weight
        return np.asarray(blocks.list_totals(means * totals) / lists.sizes)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        """Weight of the place times the amount, and what the row does to those below and tied.

        These come one place further down. Summed over rows their amounts need not be smoothed.
        """
        refuse_all_equal(self, lists)
        blocks, n, amounts = tied_blocks(lists.score), float(lists.sizes[0]), lists.grade
        weight, totals = (blocks.totals(lists.counts * x) for x in (1.0, amounts))
        upto = np.cumsum(weight)
        # With half a row less, as it is, and with half a row more: down to each block, and above
        down = [self._sums(upto + x, n) for x in (-0.5, 0.0, 0.5)]
        above = [np.append(0.0, sums[:-1]) for sums in down]
        means = (down[1] - above[1]) / weight
        lowered = (down[2] - above[2] - (down[0] - above[0])) / weight
        widened = (down[2] - above[1]) / (weight + 0.5) - (down[0] - above[1]) / (weight - 0.5)
        below = totals * lowered
        of_others = below.sum() - np.cumsum(below) + totals * widened
        ends, others = ends_of(amounts), float(down[1][-1]) / n - self._above_0
        least, largest = self._above_0 * ends + others * ends[::-1]
        return ClassInfluence(
            estimate=float(means @ totals) / n,
            values=amounts * blocks.to_items(means - widened) + blocks.to_items(of_others),
            positive=None,
            range=(float(least), float(largest)),
            label_slope=0.0,
            counts=lists.weight,
        )


@without_function
class QiniMeasure(_OfRanks):
    weights = "relative"
    stem = "qini"
    _above_0 = 1.0 / 8.0

    @staticmethod
    def _sums(places: FloatArray, n: Any) -> FloatArray:
        return places * (n - places) / (2.0 * n)


@without_function
class AUUCMeasure(_OfRanks):
    weights = "relative"
    stem = "auuc"
    _above_0 = 1.0 / 2.0

    @staticmethod
    def _sums(places: FloatArray, n: Any) -> FloatArray:
        return places * (2.0 * n - places) / (2.0 * n)


@without_function
class AUTOCMeasure(_OfRanks):
    """The mean over k of the mean of the first k rows, less the mean of all.

    The weight of place i is the sum of ``1 / k`` for k from i to n, less 1.
    """

    stem = "autoc"
    depends_on_length = False
    _above_0 = 1.0 / e

    @staticmethod
    def _sums(places: FloatArray, n: Any) -> FloatArray:
        return np.asarray(places * (digamma(n + 1.0) - digamma(places + 1.0)))


@without_function
class InsuranceGiniMeasure(QiniMeasure):
    range = (-1.0, 1.0)
    lowest = 0.0
    lacking = "no amount above 0"
    remedy = OfAmounts.remedy
    stem = "insurance_gini"

    def values(self, lists: ScoredLists) -> FloatArray:
        with np.errstate(invalid="ignore"):
            means = lists.weighted_totals(lists.grade) / lists.sizes
            return 2.0 * super().values(lists) / means

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        refuse_no_total(self, lists.grade)
        return influence_of_share(self, lists, lists.grade, super()._influence(lists), 2.0)
