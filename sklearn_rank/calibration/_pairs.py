"""Misordered pairs of regret bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import IntArray
from .._validation import check_scores, check_vector

__all__ = ["misordered_pairs"]


def misordered_pairs(expected_utility: Any, score: Any) -> IntArray:
    """Find disjoint misordered pairs that bound the regret of a list (Lemma 4.1).

    For a positional measure with discounts phi the regret of the scores s is at most ``sum over
    (i, j) of (U_i - U_j) (phi(r_i) - phi(r_j))``, where U are the expected utilities and r_i the
    position of item i in ``numpy.argsort(-U, kind="stable")``. Each item is in one pair at most,
    and U_i > U_j but s_i <= s_j in each.

    [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds for
    order-preserving surrogate losses in learning to rank. Machine Learning 93, Lemma 4.1.
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
