"""The functions of ``sklearn_rank.metrics``."""

import numpy as np
from benchmark_utils import measures
from benchmark_utils.measures import EMPTY, QUERIES, SINGLE
from benchmark_utils.peer import Peer

from sklearn_rank import metrics

# Function and its own parameters, by measure.
CALLS = {
    "auc": ("roc_auc_score", {}),
    "local_auc": ("local_auc_score", {"u0": measures.U0}),
    "bedroc": ("bedroc_score", {"alpha": measures.ALPHA}),
    "power": ("p_norm_push_score", {"p": measures.POWER}),
    "partial_auc": ("partial_auc_score", {"max_fpr": measures.MAX_FPR, "scale": "mcclish"}),
    "van_der_waerden": ("linear_rank_score", {"phi": "van_der_waerden", "normalize": "mean"}),
    "top_dcg": ("linear_rank_score", {"normalize": None}),
    "callable": ("linear_rank_score", {"phi": measures.smoothstep, "normalize": "mean"}),
    "ndcg10_exp": ("ndcg_score", {"k": measures.CUTOFF, "gain": "exponential"}),
    "ndcg10_linear": ("ndcg_score", {"k": measures.CUTOFF, "gain": "linear"}),
    "dcg_linear": ("dcg_score", {"gain": "linear"}),
    "precision10": ("precision_at_k_score", {"k": measures.CUTOFF}),
    "recall10": ("recall_at_k_score", {"k": measures.CUTOFF}),
    "query_auc": ("roc_auc_score", {}),
    "ap": ("average_precision_score", {}),
    "rr": ("reciprocal_rank_score", {}),
    "err": ("expected_reciprocal_rank_score", {"max_grade": measures.MAX_GRADE}),
    "rbp": (
        "rank_biased_precision_score",
        {"persistence": measures.PERSISTENCE, "max_grade": measures.MAX_GRADE},
    ),
}


class Solver(Peer):
    """The package. Tied items count the mean over their orders."""

    name = "sklearn_rank"
    requirements = ["sklearn-rank"]
    measures = (*SINGLE, *QUERIES)

    def skip(self, measure, y_true, y_score, qid, offsets):
        """Leave out functions that this version does not have or does not let see two axes."""
        if not hasattr(metrics, CALLS[measure][0]):
            return True, f"{CALLS[measure][0]} is not in this version"
        if y_score.ndim == 2 and measure in ("query_auc", "ap"):
            return True, "refuses two axes, which scikit-learn reads as classes"
        return super().skip(measure, y_true, y_score, qid, offsets)

    def convert(self):
        """Choose the function."""
        name, parameters = CALLS[self.measure]
        self.function, self.parameters = getattr(metrics, name), dict(parameters)
        if self.measure == "top_dcg":
            self.parameters["phi"] = metrics.TopDCG(measures.TOP)
        if self.measure in EMPTY:
            self.parameters["undefined"] = EMPTY[self.measure]
        if self.qid is not None:
            self.parameters["qid"] = None  # a fresh copy for each call

    def compute(self):
        """Call it."""
        return self._call()

    def per_query(self):
        """Call it once more for the values of the queries."""
        if self.measure in SINGLE:
            return None
        return np.asarray(self._call(average=None))

    def _call(self, **more):
        parameters = {**self.parameters, **more}
        if "qid" in parameters:
            parameters["qid"] = self.qid
        return self.function(self.y_true, self.y_score, **parameters)
