"""LightGBM's ranker, boosted trees by LambdaMART."""

import lightgbm
import numpy as np
from benchmark_utils.letor import first_rows
from benchmark_utils.peer import Peer


class Solver(Peer):
    """Its defaults are 100 trees of 31 leaves, learning rate 0.1."""

    name = "LGBMRanker"
    requirements = ["pip::lightgbm"]
    default = {}
    grid = {"num_leaves": (4, 15), "n_estimators": (30, 100), "min_child_samples": (20, 60)}

    def fit(self, X, y, qid, parameters):
        """Fit it."""
        ranker = lightgbm.LGBMRanker(n_jobs=1, verbose=-1, random_state=0, **parameters)
        return ranker.fit(X, y.astype(int), group=np.diff(first_rows(qid))).predict
