"""XGBoost's ranker, boosted trees by LambdaMART."""

import numpy as np
import xgboost
from benchmark_utils.letor import first_rows
from benchmark_utils.peer import Peer


class Solver(Peer):
    """Its defaults are 100 trees of depth 6, learning rate 0.3, rank:ndcg."""

    name = "XGBRanker"
    requirements = ["pip::xgboost"]
    default = {}
    grid = {
        "max_depth": (2, 4),
        "n_estimators": (30, 100),
        "min_child_weight": (1, 20),
        "learning_rate": (0.1,),
    }

    def fit(self, X, y, qid, parameters):
        """Fit it; it wants ids that ascend."""
        lengths = np.diff(first_rows(qid))
        ids = np.repeat(np.arange(len(lengths)), lengths)
        ranker = xgboost.XGBRanker(n_jobs=1, random_state=0, **parameters)
        return ranker.fit(X, y.astype(int), qid=ids).predict
