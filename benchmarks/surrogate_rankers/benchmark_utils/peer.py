"""What every peer does alike: choose its parameters within the training rows, fit, and score."""

from itertools import product

import numpy as np
from benchopt import BaseSolver
from sklearn.model_selection import GroupKFold

from benchmark_utils.features import Features
from benchmark_utils.letor import first_rows
from sklearn_rank.metrics import ndcg_score

# What all peers choose from, the trees too: a scale of features changes their splits by query.
SCALES = ("as is", "by query")
ALPHAS = tuple(10.0 ** np.arange(-2, 3))
MEASURE = "ndcg@10"
FOLDS = 5


def ndcg10(y, score, qid):
    """NDCG@10 of each query, ties at their expectation."""
    return ndcg_score(y, score, qid=qid, k=10, average=None, undefined=0.0)


class Peer(BaseSolver):
    """A ranker with its default parameters, or with some chosen.

    A peer defines ``default`` and ``grid``, its parameters and the values from which they are
    chosen, and ``fit(X, y, qid, parameters)``, which returns a function from rows to scores.
    ``tuned`` takes the parameters of the largest NDCG@10 in 5-fold cross-validation by query
    within the training rows, averaged over their queries, and fits them to all of them.
    """

    sampling_strategy = "run_once"
    parameters = {"tuned": [False, True]}
    default = {}
    grid = {}

    def set_objective(self, X, y, qid, X_test, qid_test):
        """Keep the data."""
        self.train, self.test = (X, y, qid), (X_test, qid_test)

    def run(self, _):
        """Choose parameters if that is asked for, fit, and score the test rows."""
        self.chosen = {"scale": SCALES[0], **self.default}
        if self.tuned:
            self.chosen = self.choose()[1]
        self.score = self.fitted_score(*self.train, *self.test, self.chosen)

    def get_result(self):
        """Return what the judge needs."""
        return {"score": self.score}

    def choose(self):
        """Search the grid; the largest value and where it is."""
        X, y, qid = self.train
        grid = {"scale": SCALES, **self.grid}
        candidates = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        totals = np.zeros(len(candidates))
        n_queries = len(first_rows(qid)) - 1
        for fit, validation in GroupKFold(min(FOLDS, n_queries)).split(X, y, qid):
            for i, candidate in enumerate(candidates):
                score = self.fitted_score(
                    X[fit], y[fit], qid[fit], X[validation], qid[validation], candidate
                )
                totals[i] += ndcg10(y[validation], score, qid[validation]).sum()
        best = int(totals.argmax())
        return float(totals[best]) / n_queries, candidates[best]

    def fitted_score(self, X, y, qid, X_test, qid_test, candidate):
        """Fit one candidate and score other rows."""
        parameters = dict(candidate)
        features = Features(parameters.pop("scale"))
        rank = self.fit(features.fit_transform(X, qid), y, qid, parameters)
        return np.asarray(rank(features.transform(X_test, qid_test)))

    def fit(self, X, y, qid, parameters):
        """Fit a ranker and return its scores as a function of rows."""
        raise NotImplementedError


def list_lengths(qid):
    """Length of the query of each row."""
    lengths = np.diff(first_rows(qid))
    return np.repeat(lengths, lengths)
