"""``OrderPreservingRanker``, one loss at a time."""

import numpy as np
from benchmark_utils.letor import first_rows
from benchmark_utils.peer import ALPHAS, MEASURE, Peer, list_lengths

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.losses import get_loss_names

LOSSES = get_loss_names(order_preserving=True)


class Solver(Peer):
    """Linear, by a loss calibrated with NDCG@10 or DCG; "chosen" chooses the loss too."""

    name = "OrderPreservingRanker"
    requirements = ["sklearn-rank"]
    parameters = {"loss": [*LOSSES, "chosen"], "tuned": [False, True]}
    default = {"alpha": 1.0, "measure": MEASURE, "weight": "sum", "tol": 1e-6}
    grid = {
        "alpha": ALPHAS,
        "measure": (MEASURE, "dcg"),
        "weight": ("mean", "sum"),
        "tol": (1e-3,),
    }
    # Searches of each loss, which "chosen" compares, and the rows, so that their id stays theirs.
    searched = {}

    def skip(self, **objective):
        """Without tuning there is nothing to choose from."""
        if self.loss == "chosen" and not self.tuned:
            return True, "the loss is chosen only where parameters are"
        return False, None

    def choose(self):
        """Search the grid, of all losses if that is asked for."""
        if self.loss == "chosen":
            return max((self.search(loss) for loss in LOSSES), key=lambda found: found[0])
        return self.search(self.loss)

    def search(self, loss):
        """Search the grid of one loss, unless that has been done on the same rows."""
        rows = loss, id(self.train[0])
        if rows not in self.searched:
            self.grid = {"loss": (loss,), **Solver.grid}
            self.searched[rows] = super().choose(), self.train[0]
        return self.searched[rows][0]

    def fit(self, X, y, qid, parameters):
        """Fit it; "mean" divides the loss of each query by its number of items, or pairs.

        Strengths found by search are per item or pair with "sum" too.
        """
        loss, alpha, weight = parameters.get("loss", self.loss), parameters["alpha"], None
        power = 2.0 if loss.startswith("pairwise") else 1.0
        if parameters["weight"] == "mean":
            weight = list_lengths(qid) ** -power
        elif self.tuned:
            alpha *= np.mean(np.diff(first_rows(qid)) ** power)
        ranker = OrderPreservingRanker(
            loss, measure=parameters["measure"], alpha=alpha, tol=parameters["tol"]
        )
        return ranker.fit(X, y, qid=qid, query_weight=weight).predict
