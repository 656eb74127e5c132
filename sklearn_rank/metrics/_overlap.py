"""Rank-biased overlap: agreement of the tops of two orders over all depths."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import Any, Literal, Unpack

import numpy as np

from .._arguments import check_choice, check_position, check_share
from .._lists import ScoredLists
from .._order import ragged_ranges, tied_blocks
from .._typing import FloatArray, IntArray
from ._functions import ListOptions, evaluate, function_of
from ._measure import Measure, Value
from ._named_numbers import NamedNumber, share
from ._stopping import NEGLIGIBLE

# Terms of a tail that are summed one by one.
LONGEST_TAIL = 2**20


@dataclass(frozen=True, kw_only=True, repr=False)
class RankBiasedOverlapMeasure(Measure):
    """Mean overlap of the tops of two orders; see ``rank_biased_overlap_score``."""

    kind = "graded"
    per_query = True
    range = (0.0, 1.0)
    weights = "none"
    lowest = -inf
    lacking = "items of one relevance only"
    stem = "rbo@"
    in_name = NamedNumber("persistence", share, "0.9")

    persistence: float = 0.9  # Chance p that the reader goes on by one depth, in (0, 1)
    k: int | None = None  # Last depth that is looked at
    beyond: Literal["extrapolated", "least", "nothing"] = "extrapolated"

    def __post_init__(self) -> None:
        check_share("persistence", self.persistence)
        if self.k is not None:
            check_position("k", self.k, optional=True)
        check_choice("beyond", self.beyond, ("extrapolated", "least", "nothing"))
        super().__post_init__()

    def values(self, lists: ScoredLists) -> FloatArray:
        """Overlap of each list."""
        p = float(self.persistence)
        first, lengths = lists.offsets[:-1], lists.lengths
        depth = ragged_ranges(np.ones_like(first), lengths)
        shared = _shared(lists, depth)
        last = lengths if self.k is None else np.minimum(lengths, min(self.k, len(depth)))
        weight = np.where(depth <= lists.to_items(last), p ** (depth - 1.0) / depth, 0.0)
        values = (1.0 - p) * np.add.reduceat(weight * shared, first)
        at_last = shared[first + last - 1]
        if self.beyond == "extrapolated":
            values += at_last / last * p**last
        elif self.beyond == "least":
            values += at_last * (1.0 - p) / p * _tails(p, last)
        ordered = np.maximum.reduceat(lists.grade, first) > np.minimum.reduceat(lists.grade, first)
        return np.where(ordered, np.minimum(values, 1.0), np.nan)


@function_of(RankBiasedOverlapMeasure)
def rank_biased_overlap_score(
    y_true: Any,
    y_score: Any,
    *,
    persistence: float = 0.9,
    k: int | None = None,
    beyond: Literal["extrapolated", "least", "nothing"] = "extrapolated",
    **options: Unpack[ListOptions],
) -> Value:
    """Rank-biased overlap (RBO) of the orders by relevance and by score.

    ``RBO = (1 - p) sum over depths d of p**(d - 1) X_d / d``, X_d the number of items that are
    among the first d of both orders. The weights model a reader who goes on to the next depth with
    probability p. The value is averaged over all orders of items tied in either.

    Parameters
    ----------
    persistence : float, default=0.9
        Probability p that the reader goes on to the next depth, in (0, 1). A greater value looks
        deeper: at .9 the first ten depths have 86 % of the weight, at .98 the first fifty have 85
        %.
    k : int or None, default=None
        Last depth that is evaluated, at least 1. None is the length of the list.
    beyond : {"extrapolated", "least", "nothing"}, default="extrapolated"
        What the depths after the last one, D, add. "extrapolated" assumes that the agreement stays
        ``X_D / D`` (RBO-EXT of the paper). "least" assumes that no further common items are found
        (RBO-MIN). "nothing" ends the sum at D, so that equal orders have the value ``1 - p**D``.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Overlap in [0, 1], 1 for equal orders if extrapolated; higher is better.

    See Also
    --------
    tau_ap_score : Correlation in [-1, 1] in which errors at the top have more weight.
    rank_biased_precision_score : Relevance seen by the same model of a reader.

    Notes
    -----
    Corsi and Urbano (2024) call the mean over the orders of tied items RBO-a; Webber et al. put
    all of a block of ties at its last position. Both orders contain the same items. For rankings
    of different items, give an item that a ranking lacks its lowest score, and set ``k``. The
    time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Webber, Moffat & Zobel (2010), *A similarity measure for indefinite rankings*, ACM
       Transactions on Information Systems 28.
    .. [2] Corsi & Urbano (2024), *The treatment of ties in rank-biased overlap*, SIGIR.

    Examples
    --------
    >>> from sklearn_rank.metrics import rank_biased_overlap_score
    >>> rank_biased_overlap_score([3, 2, 1], [3.0, 2.0, 1.0])
    1.0
    >>> round(rank_biased_overlap_score([3, 2, 1], [1.0, 2.0, 3.0]), 4)
    0.855

    The weight of the first ten depths:

    >>> round(rank_biased_overlap_score(range(10), range(10), beyond="least"), 2)
    0.86
    """
    return evaluate(
        RankBiasedOverlapMeasure,
        y_true,
        y_score,
        persistence=persistence,
        k=k,
        beyond=beyond,
        **options,
    )


def _tails(p: float, last: IntArray) -> FloatArray:
    """Sums of ``p**d / d`` over d > last."""
    longest, more = int(last.max()), ceil(NEGLIGIBLE / (1.0 - p))
    if more > LONGEST_TAIL:
        # The tail is so heavy that what precedes it does not cancel.
        upto = np.cumsum(p ** np.arange(1.0, longest + 1) / np.arange(1.0, longest + 1))
        return -np.log1p(-p) - upto[last - 1]
    depth = np.arange(1.0, longest + more + 1)
    return np.cumsum((p**depth / depth)[::-1])[::-1][last]


def _shared(lists: ScoredLists, depth: IntArray) -> FloatArray:
    """Mean number of items that are among the first d of both orders, for each depth d of a list.

    An item of a tied block after N others, of L items, is among the first d with chance
    ``min(max((d - N) / L, 0), 1)``. At one depth all items whose chance is between 0 and 1 in one
    order are of one block, so that counts of items, which change where blocks begin and end, give
    the sum of the products.
    """
    n, head = len(depth), lists.to_items(lists.offsets[:-1])
    starts, ends, shares = [], [], []
    for values in (lists.score, lists.grade):
        blocks = tied_blocks(values, lists.offsets)
        # Of the item at each place, where its block begins among all rows, and how long it is.
        begins = np.repeat(blocks.starts, blocks.lengths())
        length = np.repeat(blocks.lengths(), blocks.lengths())
        # The depth cuts the block of the item at its place.
        shares.append((head + depth - begins) / length)
        start, end = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
        start[blocks.order], end[blocks.order] = begins, begins + length
        starts.append(start)
        ends.append(end)
    # Depth d of a list stands in row head + d - 1; a block is complete from its last item on.
    shared = _running(np.maximum(*ends) - 1, n, lists.offsets[1:]).astype(np.float64)
    both_cut = _between(np.maximum(*starts), np.minimum(*ends) - 1, n)
    shared += shares[0] * shares[1] * both_cut
    for one, other in ((0, 1), (1, 0)):
        # The block of this order is cut, that of the other complete.
        since = np.maximum(starts[one], ends[other] - 1)
        shared += shares[one] * _between(since, ends[one] - 1, n)
    return shared


def _between(since: IntArray, until: IntArray, n: int) -> IntArray:
    """Number of items, for each row, that count from this row or one before it until after it."""
    until = np.maximum(since, until)
    change = np.bincount(since, minlength=n) - np.bincount(until, minlength=n)
    return np.cumsum(change)


def _running(rows: IntArray, n: int, ends: IntArray) -> IntArray:
    """Number of items of the list that count from this row or one before it."""
    change = np.bincount(rows, minlength=n)
    change[ends[:-1]] -= np.diff(ends, prepend=0)[:-1]
    return np.cumsum(change)
