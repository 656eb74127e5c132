"""ranx, compiled by numba; what it compiles and the objects that it takes are made beforehand.

Its ``Run`` sorts each query when it is made, so the sort is not in the time.
"""

import ranx
from benchmark_utils.as_dicts import as_dicts
from benchmark_utils.peer import Peer

NAMES = {
    "ndcg10_exp": "ndcg_burges@10",
    "ndcg10_linear": "ndcg@10",
    "ap": "map",
    "rr": "mrr",
}
IN_ORDER = "ties in arbitrary order"


class Solver(Peer):
    """``ranx.evaluate`` with one thread."""

    name = "ranx"
    requirements = ["pip::ranx"]
    measures = tuple(NAMES)
    layouts = ("ragged",)
    test_config = {
        "objective": {"measure": "ndcg10_linear"},
        "dataset": {"name": "queries", "layout": "ragged"},
    }
    why = dict.fromkeys(NAMES, IN_ORDER)

    def convert(self):
        """Make its objects."""
        relevance, scores = as_dicts(self.y_true, self.y_score, self.offsets)
        self.relevance, self.scores = ranx.Qrels(relevance), ranx.Run(scores)

    def compute(self):
        """Evaluate all queries."""
        return float(ranx.evaluate(self.relevance, self.scores, NAMES[self.measure], threads=1))
