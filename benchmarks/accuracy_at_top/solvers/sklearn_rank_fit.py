"""``sklearn_rank.AccuracyAtTopRanker.fit``: all candidates, the choice among them, everything."""

import warnings

import numpy as np
from benchmark_utils.peer import Peer

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.exceptions import QuantileDistanceWarning


class Solver(Peer):
    """The whole fit; judged at the candidate that it selects."""

    name = "sklearn_rank_fit"
    requirements = ["sklearn-rank"]
    parameters = {"n_jobs": [1, 2]}
    tolerances = (1e-6,)
    scopes = ("every",)
    test_config = {"objective": {"candidates": "every"}}

    def warm_up(self):
        """Compile on a few rows of each class."""
        rows = np.concatenate([np.flatnonzero(self.y == label)[:5] for label in (-1, 1)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            AccuracyAtTopRanker(tau=0.2, C=0.01).fit(self.X[rows], self.y[rows])

    def solve(self, tolerance):
        """Fit."""
        ranker = AccuracyAtTopRanker(
            tau=0.05, C=self.C, selection="closest", tol=tolerance, n_jobs=self.n_jobs
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", QuantileDistanceWarning)
            ranker.fit(self.X, self.y)
        value = ranker.objective_
        return {
            "coef": ranker.coef_,
            "rows": [ranker.pivot_index_],
            # The estimator reports the largest gap over its candidates.
            "claimed": np.array([[value, value * (1 - ranker.dual_gap_)]]),
        }
