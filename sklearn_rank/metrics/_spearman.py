"""Rank correlation, and the positions that it correlates."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Unpack

import numpy as np

from .._lists import Lists, ScoredLists, group_rows
from .._order import tied_blocks
from .._typing import BoolArray, FloatArray
from .._validation import check_qid, check_scores
from ._functions import WeightedOptions, evaluate, function_of
from ._measure import Measure, Value
from ._positional_form import PositionalForm, linear_discounts

# Lists of more than this weight are measured in units of their own.
HEAVY = 1e90


@dataclass(frozen=True, kw_only=True, repr=False)
class SpearmanMeasure(Measure):
    """Rank correlation of relevance and score; see ``spearman_score``."""

    kind = "graded"
    per_query = True
    range = (-1.0, 1.0)
    weights = "whole"
    lowest = -inf
    lacking = "one grade only"
    stem = "spearman"
    from_ranges = "sum"

    @property
    def positional(self) -> PositionalForm:
        """Multiples of ``n - r``, r the position by relevance, at linear discounts."""
        return PositionalForm(
            _utilities,
            linear_discounts,
            largest=2.0,
            largest_by_length=lambda n: 12 / (n * (n + 1)),
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        """Correlation of each list."""
        size = lists.sizes
        constant = _constant(lists)
        n = lists.to_items(size)
        # Positions from the middle of the list, whose products need no offset.
        by_score, by_grade = (
            (n + 1.0) / 2.0 - middle_positions(values, lists.weight, lists.offsets)
            for values in (lists.score, lists.grade)
        )
        if size.max() > HEAVY:
            # Third powers would overflow; quotients by powers of 2 are exact.
            unit = np.ldexp(1.0, np.frexp(size)[1])
            by_score, by_grade = by_score / lists.to_items(unit), by_grade / lists.to_items(unit)
        else:
            unit = np.ones(1)
        sums = lists.weighted_totals(by_score * by_grade) / unit
        with np.errstate(invalid="ignore", divide="ignore"):
            parts = (size / unit) * ((size + 1.0) / unit) * ((size - 1.0) / unit)
            return np.where(constant, np.nan, 12.0 * sums / parts)


@function_of(SpearmanMeasure)
def spearman_score(y_true: Any, y_score: Any, **options: Unpack[WeightedOptions]) -> Value:
    """Rank correlation of Spearman (rho) between relevance and score.

    ``12 / (n (n**2 - 1)) sum over items of (n - r)(n - i) - 3 (n - 1) / (n + 1)``, r and i the
    positions by relevance and by score. The value is averaged over all orders of items tied in
    either.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Correlation in [-1, 1]; 0 for a random order; higher is better.

    See Also
    --------
    scipy.stats.spearmanr : Equal without ties; divides by the spread of the tied ranks, so that a
        list with tied relevances can reach 1.

    Notes
    -----
    Weights are repetitions and must be whole numbers. The time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import spearman_score
    >>> spearman_score([3, 2, 1], [3.0, 1.0, 2.0])
    0.5
    """
    return evaluate(SpearmanMeasure, y_true, y_score, **options)


def _constant(lists: Lists) -> BoolArray:
    """Whether all items of the list are of one grade, as of one item."""
    return lists.largest(lists.grade) == -lists.largest(-lists.grade)


def _utilities(lists: Lists) -> FloatArray:
    if not lists.whole.all():
        raise ValueError(
            "sample_weight has a value that is not whole, but Spearman's correlation takes weights"
            " as numbers of repetitions: pass whole numbers."
        )
    position = middle_positions(lists.grade, lists.weight, lists.offsets)
    n, constant = lists.to_items(lists.sizes), lists.to_items(_constant(lists))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(constant, np.nan, 12 * ((n - position) / n) / ((n - 1) * (n + 1)))


def middle_positions(values: FloatArray, weight: FloatArray | None, offsets: Any) -> FloatArray:
    """Middle of the positions of the tied block of each item, from the top of its list.

    Shape (n,).
    """
    blocks = tied_blocks(values, offsets)
    mass: Any = blocks.lengths() if weight is None else blocks.totals(weight)
    middle = blocks.running(mass) - (mass - 1.0) / 2.0
    positions = np.empty(len(values))
    positions[blocks.order] = np.repeat(middle, blocks.lengths())
    return positions


def rank_positions(y_score: Any, qid: Any = None) -> FloatArray:
    """Position of each item from the top of its list.

    Parameters
    ----------
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.

    Returns
    -------
    ndarray of shape (n_samples,)
        Positions in the order of the rows, 1 at the top. Tied items get the mean of their
        positions.

    Raises
    ------
    ValueError
        If a score is NaN or an id is missing.

    See Also
    --------
    scipy.stats.rankdata : Ranks of one list, with 1 at the bottom.

    Notes
    -----
    The time is O(n log n), the memory O(n).

    Examples
    --------
    >>> from sklearn_rank.metrics import rank_positions
    >>> rank_positions([0.1, 0.9, 0.5, 0.5])
    array([4. , 1. , 2.5, 2.5])
    >>> rank_positions([0.1, 0.9, 0.5, 0.5], qid=["a", "b", "a", "b"])
    array([2., 1., 1., 2.])
    """
    score = check_scores(y_score)
    if qid is None:
        return middle_positions(score, None, np.array([0, len(score)]))
    _, offsets, rows = group_rows(check_qid(qid, len(score)))
    if rows is None:
        return middle_positions(score, None, offsets)
    positions = np.empty(len(score))
    positions[rows] = middle_positions(score[rows], None, offsets)
    return positions
