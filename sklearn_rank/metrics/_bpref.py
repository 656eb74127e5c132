"""Bpref: relevant above judged non-relevant items, for runs that are judged in part."""

from __future__ import annotations

from math import inf
from typing import Any, Unpack

import numpy as np

from .._lists import ScoredLists
from .._typing import FloatArray
from ._conventions import rules_of
from ._measure import ConventionalMeasure, RelevantOptions, Value, function_of
from ._top import n_relevant_of


class BprefMeasure(ConventionalMeasure):
    per_query = True
    range = (0.0, 1.0)
    weights = "whole"
    lacking = "no positive"
    stem = "bpref"
    from_ranges = "sum"
    takes_relevant = ("n_relevant", "ideal")
    of_judged = True
    conventions = rules_of(trec_eval={})

    def values(self, lists: ScoredLists) -> FloatArray:
        blocks = self._ordered(lists).blocks()
        n_pos = n_relevant_of(lists, blocks.n_class)
        n_neg = blocks.n_other
        if lists.n_judged is not None:
            n_neg = lists.n_judged - n_pos
            placed = lists.totals((~lists.positive & (lists.score > -inf)).astype(np.float64))
            if (placed > n_neg).any():
                index = int(np.argmax(placed > n_neg))
                raise ValueError(
                    f"{lists.name_of(index)} has {placed[index]:g} non-relevant rows, but ideal"
                    f" {n_neg[index]:g} of grade 0: {self._title} is of judged items, so pass the"
                    " grades of all of them, zeros too, and leave out rows without a judgment."
                )
        most = np.minimum(n_pos, n_neg)
        # Of the first `most` negatives those below a block, if it holds none; of its positives
        # each has 0, 1, ... of its negatives above it, with equal chances.
        left = np.maximum(blocks.by_block(most) - blocks.other_above, 0.0)
        cut = np.minimum(blocks.of_other, left)
        below = ((cut + 1.0) * left - cut * (cut + 1.0) / 2.0) / (blocks.of_other + 1.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(most > 0, blocks.sums(blocks.of_class * below) / most, blocks.n_class)
            return np.asarray(share / n_pos)


@function_of(BprefMeasure)
def bpref_score(y_true: Any, y_score: Any, **options: Unpack[RelevantOptions]) -> Value:
    """Bpref: how few of the judged non-relevant items are above the relevant ones.

    ``bpref = (1 / R) sum over relevant items of 1 - min(n, R) / min(R, N)``, R and N the numbers
    of relevant and of non-relevant items, n the number of non-relevant ones above the item. If N
    is 0, each relevant item adds 1. Ties are averaged over all orders of the tied items.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Value in [0, 1]; higher is better.

    Raises
    ------
    ValueError
        If ``ideal`` has fewer non-relevant items than the rows, or an argument is invalid.

    See Also
    --------
    average_precision_score : Also counts items without a judgment, as not relevant.
    partial_auc_score : Bpref is the normalised area up to min(R, N) of the N negatives.

    Notes
    -----
    All rows are judged: leave out those that are not. Judgments and a run passed as they are, as
    in :func:`~sklearn_rank.datasets.load_qrels`, need no such step. Relevant items that were not
    retrieved add 0 and count in R, by ``n_relevant`` or ``ideal``; non-relevant ones count in N if
    ``ideal`` holds their grades, 0, too. The measure is ``bpref`` of trec_eval 9.

    References
    ----------
    .. [1] Buckley & Voorhees (2004), *Retrieval evaluation with incomplete information*, SIGIR.

    Examples
    --------
    >>> from sklearn_rank.metrics import bpref_score
    >>> bpref_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.75

    Of four relevant items two were not retrieved; two of the non-relevant ones neither:

    >>> bpref_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], ideal=[1, 1, 1, 1, 0, 0, 0, 0])
    0.4375
    """
