"""scikit-learn: one call where it has one, otherwise a loop over the queries."""

import numpy as np
from benchmark_utils.measures import CUTOFF, MAX_FPR
from benchmark_utils.peer import Peer, mean_of_lists
from sklearn import metrics


class Solver(Peer):
    """``sklearn.metrics``; exponential gains are computed beforehand and passed as labels.

    ``loop=False`` leaves out what takes a loop, which is seconds for each measure.
    """

    name = "scikit-learn"
    requirements = ["scikit-learn"]
    parameters = {"loop": [True]}
    measures = (
        "auc",
        "partial_auc",
        "ndcg10_exp",
        "ndcg10_linear",
        "dcg_linear",
        "query_auc",
        "ap",
    )
    layouts = ("single", "ragged", "dense")
    why = {
        "partial_auc": "joins ties by straight lines",
        "ap": "puts each block of ties at its end",
    }

    def skip(self, measure, y_true, y_score, qid, offsets):
        """On two axes, leave out what it reads as classes."""
        if measure in self.measures and qid is not None and not self.loop:
            return True, "loops over queries"
        if y_score.ndim == 2 and measure in ("query_auc", "ap"):
            return True, "reads two axes as classes"
        if measure in ("ndcg10_exp", "dcg_linear") and y_score.ndim == 1:
            return True, "loop as slow as that of ndcg10_linear"
        if measure == "partial_auc" and y_score.size > 2_000_000:
            return True, "as slow as auc on more than 2,000,000 rows"
        return super().skip(measure, y_true, y_score, qid, offsets)

    def convert(self):
        """Exponential gains."""
        if self.measure == "ndcg10_exp":
            self.gains = 2.0**self.y_true - 1.0

    def compute(self):
        """Call it, or loop."""
        if self.measure == "auc":
            return metrics.roc_auc_score(self.y_true, self.y_score)
        if self.measure == "partial_auc":
            return metrics.roc_auc_score(self.y_true, self.y_score, max_fpr=MAX_FPR)
        y_true = self.gains if self.measure == "ndcg10_exp" else self.y_true
        if self.layout == "dense":
            if self.measure == "dcg_linear":
                return metrics.dcg_score(y_true, self.y_score)
            return metrics.ndcg_score(y_true, self.y_score, k=CUTOFF)
        function = {
            "ndcg10_linear": _ndcg,
            "query_auc": _auc,
            "ap": _average_precision,
        }[self.measure]
        return mean_of_lists(function, y_true, self.y_score, self.offsets)


def _ndcg(y, score):
    if len(y) == 1:  # refused
        return float(y[0] > 0)
    return metrics.ndcg_score(y[None], score[None], k=CUTOFF)


def _auc(y, score):
    if y.min() == y.max():  # it would warn each time
        return np.nan
    return metrics.roc_auc_score(y, score)


def _average_precision(y, score):
    if not y.any():
        return 0.0
    return metrics.average_precision_score(y, score)
