"""``RankSVM``: pairs of different grades, not order-preserving."""

import numpy as np
from benchmark_utils.letor import first_rows
from benchmark_utils.peer import ALPHAS, Peer, list_lengths

from sklearn_rank import RankSVM


class Solver(Peer):
    """Linear, by the hinge of pairs or its square."""

    name = "RankSVM"
    requirements = ["sklearn-rank"]
    parameters = {"loss": ["hinge", "squared_hinge"], "tuned": [False, True]}
    default = {"alpha": 1.0, "weight": "sum", "tol": 1e-4}
    grid = {"alpha": ALPHAS, "weight": ("mean", "sum"), "tol": (1e-2,)}

    def fit(self, X, y, qid, parameters):
        """Fit it; "mean" divides the loss of each query by its squared length."""
        alpha, weight = parameters["alpha"], None
        if parameters["weight"] == "mean":
            weight = list_lengths(qid) ** -2.0
        elif self.tuned:
            alpha *= np.mean(np.diff(first_rows(qid)) ** 2.0)
        ranker = RankSVM(self.loss, C=1 / alpha, tol=parameters["tol"])
        return ranker.fit(X, y, qid=qid, query_weight=weight).predict
