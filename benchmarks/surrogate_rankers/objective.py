"""The judge: NDCG@10 of the scores of test rows, by LETOR's conventions and with exact ties."""

import numpy as np
from benchmark_utils.letor import METRICS, of_queries
from benchmark_utils.peer import ndcg10
from benchopt import BaseObjective


class Objective(BaseObjective):
    """Ranking queries that were not seen; ``value`` is 1 less the mean NDCG@10."""

    name = "Surrogate rankers"
    url = "https://github.com/sklearn-rank/sklearn-rank"
    min_benchopt_version = "1.6"
    requirements = ["numpy", "scikit-learn"]
    test_config = {"dataset": {"name": "lightgbm_sample"}}

    def set_data(self, X, y, qid, X_test, y_test, qid_test):
        """Keep the data."""
        self.train, self.X_test = {"X": X, "y": y, "qid": qid}, X_test
        self.y_test, self.qid_test = y_test, qid_test

    def get_objective(self):
        """Return what a peer may see: all but the grades of the test rows."""
        return {**self.train, "X_test": self.X_test, "qid_test": self.qid_test}

    def get_one_result(self):
        """Return scores that are of the right shape."""
        return {"score": np.zeros(len(self.y_test))}

    def evaluate_result(self, score):
        """Judge scores of the test rows."""
        each = self.each_query(score)
        letor = of_queries(self.y_test, score, self.qid_test).mean(axis=0)
        return {
            "value": 1.0 - float(each.mean()),
            "ndcg10": float(each.mean()),
            "letor_ndcg10": float(letor[METRICS.index("NDCG@10")]),
            "map": float(letor[METRICS.index("MAP")]),
        }

    def each_query(self, score):
        """NDCG@10 of each query, ties at their expectation; ids ascending."""
        return ndcg10(self.y_test, score, self.qid_test)
