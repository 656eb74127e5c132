"""The limit: what is left of each measure in numpy without validation, and mostly without ties.

One list: sort the scores of the positives and those of the negatives, and look the first up among
the second; only the AUC gets ties right. Queries: lists of equal length side by side, sorted as
one matrix.
"""

import numpy as np
from benchmark_utils.measures import ALPHA, CUTOFF, MAX_FPR, POWER, SINGLE, TOP, U0, smoothstep
from benchmark_utils.peer import Peer
from scipy.special import ndtri

IGNORED = "ties ignored"


class Solver(Peer):
    """Hand-written numpy."""

    name = "numpy by hand"
    requirements = ["numpy", "scipy"]
    measures = (*SINGLE, "ndcg10_exp", "ndcg10_linear", "precision10", "ap")
    layouts = ("single", "ragged", "dense")
    why = {
        **dict.fromkeys(measures, IGNORED),
        "partial_auc": "ties at their mean height, cut there too",
    }

    def compute(self):
        """Compute."""
        if self.layout == "single":
            return self._from_two_sorts()
        if self.layout == "dense":
            return self._of_matrix(self.y_true, self.y_score).mean()
        lengths = np.diff(self.offsets)
        total = 0.0
        for length in np.unique(lengths):
            rows = self.offsets[:-1][lengths == length][:, None] + np.arange(length)
            total += self._of_matrix(self.y_true[rows], self.y_score[rows]).sum()
        return total / len(lengths)

    def _from_two_sorts(self):
        positive = self.y_true == 1
        pos, neg = np.sort(self.y_score[positive]), np.sort(self.y_score[~positive])
        n_pos, n_neg = len(pos), len(neg)
        n = n_pos + n_neg
        if self.measure == "partial_auc":
            return _partial_auc(pos, neg)
        below = np.searchsorted(neg, pos)
        if self.measure == "auc":
            at_most = np.searchsorted(neg, pos, side="right")
            return (below.sum() + at_most.sum()) / (2 * n_pos * n_neg)
        rank = below + np.arange(1, n_pos + 1)
        if self.measure == "top_dcg":
            position = n + 1 - rank
            return (1 / np.log2(1.0 + position[position <= TOP])).sum()
        if self.measure == "bedroc":
            total = np.exp(-ALPHA / n * (n + 1 - rank)).sum()
            # Sums of a geometric series.
            best = np.exp(-ALPHA / n) * np.expm1(-ALPHA * n_pos / n) / np.expm1(-ALPHA / n)
            return (total / best - np.exp(-ALPHA * n_neg / n)) / -np.expm1(-ALPHA * n_neg / n)
        phi = {
            "local_auc": lambda u: np.where(u >= U0, u, 0.0),
            "power": lambda u: u**POWER,
            "van_der_waerden": ndtri,
            "callable": smoothstep,
        }[self.measure]
        total = phi(rank / (n + 1)).sum()
        if self.measure in ("van_der_waerden", "callable"):
            return total / n_pos
        lowest = phi(np.arange(1, n_pos + 1) / (n + 1)).sum()
        highest = phi(np.arange(n_neg + 1, n + 1) / (n + 1)).sum()
        return (total - lowest) / (highest - lowest)

    def _of_matrix(self, y, score):
        order = np.argsort(-score, axis=1)
        if self.measure == "ap":
            ordered = np.take_along_axis(y, order, axis=1)
            hits = np.cumsum(ordered, axis=1)
            precisions = (hits / np.arange(1, y.shape[1] + 1) * ordered).sum(axis=1)
            return precisions / np.maximum(hits[:, -1], 1)
        top = np.take_along_axis(y, order[:, :CUTOFF], axis=1)
        if self.measure == "precision10":
            return top.sum(axis=1) / CUTOFF
        best = -np.sort(-y, axis=1)[:, :CUTOFF]
        if self.measure == "ndcg10_exp":
            top, best = 2.0**top - 1.0, 2.0**best - 1.0
        discount = 1 / np.log2(np.arange(2, top.shape[1] + 2))
        value, ideal = top @ discount, best @ discount
        return np.divide(value, ideal, out=np.zeros(len(y)), where=ideal > 0)


def _partial_auc(pos, neg):
    n_pos, n_neg = len(pos), len(neg)
    reach = MAX_FPR * n_neg
    top = neg[n_neg - int(np.ceil(reach)) :]
    above = 2 * n_pos - np.searchsorted(pos, top) - np.searchsorted(pos, top, side="right")
    above = above / (2 * n_pos)
    area = (above.sum() - above[0] * (len(top) - reach)) / n_neg
    chance = MAX_FPR**2 / 2
    return (1 + (area - chance) / (MAX_FPR - chance)) / 2
