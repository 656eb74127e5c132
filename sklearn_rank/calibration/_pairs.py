"""Misordered pairs of regret bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import IntArray
from .._validation import check_scores, check_vector

__all__ = ["misordered_pairs"]


def misordered_pairs(expected_utility: Any, score: Any) -> IntArray:
    """Find disjoint misordered pairs that bound the regret of a list (Lemma 4.1).

    For a positional measure with discounts phi the regret of the scores s is at most
    ``sum over (i, j) of (U_i - U_j) (phi(r_i) - phi(r_j))``, where U are the expected utilities
    and r_i the position of item i in ``numpy.argsort(-U, kind="stable")``. Each item is in one
    pair at most, and U_i > U_j but s_i <= s_j in each.

    Parameters
    ----------
    expected_utility : array-like of shape (n_items,)
        Expected utilities U of the items of one list, finite.
    score : array-like of shape (n_items,)
        Scores of the items; no NaN.

    Returns
    -------
    ndarray of shape (n_pairs, 2)
        Items i and j of each pair, by falling U_i; at most ``n_items // 2`` pairs.

    Raises
    ------
    ValueError
        If an argument is not valid.

    See Also
    --------
    list_regret_bound : The bound that follows from these pairs and a surrogate regret.

    Notes
    -----
    Of tied scores the worst order counts, so that the bound holds for every order that agrees
    with them, and for their mean. O(n_items**2) in time, O(n_items) in memory.

    The proof in the paper exchanges items, which may put another pair out of order and then into
    the set, against its second condition. Here the worst item above the best one moves to the top
    and the best one to the place of the worst, with the others keeping their order, which lowers
    the measure as well.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Lemma 4.1.

    Examples
    --------
    >>> from sklearn_rank.calibration._pairs import misordered_pairs
    >>> misordered_pairs([3.0, 2.0, 1.0, 0.0], [1.0, 4.0, 2.0, 3.0])
    array([[0, 3]])
    """
    utility = check_vector("expected_utility", expected_utility)
    scores = check_scores(score, name="score")
    if len(scores) != len(utility):
        raise ValueError(
            f"score has {len(scores)} entries: pass one score for each of the {len(utility)}"
            " expected utilities."
        )
    # The worst order that agrees with the scores.
    by_score = np.lexsort((utility, -scores))
    best = np.argsort(-utility, kind="stable")
    rank = np.empty(len(utility), dtype=np.int64)
    rank[best] = np.arange(len(utility))
    # Items are named by their true position from here on.
    predicted = rank[by_score]
    pairs = []
    while len(predicted) > 1:
        top = int(np.argmin(predicted))
        worst = int(np.argmax(predicted[: top + 1]))
        if worst != top and utility[best[predicted[top]]] > utility[best[predicted[worst]]]:
            pairs.append((best[predicted[top]], best[predicted[worst]]))
        predicted = np.delete(predicted, [top, worst])
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
