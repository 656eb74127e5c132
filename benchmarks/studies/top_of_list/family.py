"""The rankers for two classes as methods, each chosen for each goal by inner folds.

A goal is a tau, "AP" or "AUC". A tau chooses by the mean of P@{tau/2, tau, 2 tau, 4 tau}; "AP" and
"AUC" choose by that measure. A method needs one fit of each candidate for all goals.
"""

import warnings
from collections import Counter
from itertools import product

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score, roc_auc_score

from sklearn_rank import PNormPushRanker, RankBoostRanker, RankStatisticRanker, TopPushRanker
from sklearn_rank.exceptions import ZeroSolutionWarning

from .methods import (
    LOGISTIC_GRID,
    LogisticLooks,
    inner_folds,
    smoothed_precisions,
    with_chosen_cost,
)

N_FOLDS = 3
ORDERS = {"AP": average_precision_score, "AUC": roc_auc_score}


def criteria(y, score, goals):
    """What each goal chooses by."""
    of_top = iter(smoothed_precisions(y, score, [goal for goal in goals if goal not in ORDERS]))
    return np.array([ORDERS[goal](y, score) if goal in ORDERS else next(of_top) for goal in goals])


def chosen(fit, grid, split, goals):
    """Choose for each goal."""
    folds = inner_folds(split, N_FOLDS)
    return with_chosen_cost(fit, grid, split, folds, goals, criteria)


def logistic(split, goals):
    """Logistic regression and its focused forms, with the least focus for the whole order."""
    taus = [0.0 if goal in ORDERS else goal for goal in goals]
    return chosen(LogisticLooks(taus), LOGISTIC_GRID, split, goals)


class Family:
    """A ranker whose candidates are combinations of parameters.

    Parameters
    ----------
    name : str
        Of the method.
    make : callable
        Returns an estimator for the parameters of a candidate.
    *values : sequences
        The values of each parameter.
    """

    def __init__(self, name, make, *values):
        self.name, self.make = name, make
        self.grid = [*product(*values)]

    def __call__(self, split, goals):
        """Results by method, with counts of the fits."""
        counts = Counter(fits=0, collapsed=0, unfinished=0)

        def scores(model, X, y, X_new):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(X, y)
            kinds = {warning.category for warning in caught}
            counts.update(fits=1, collapsed=ZeroSolutionWarning in kinds)
            counts.update(unfinished=ConvergenceWarning in kinds)
            return model.decision_function(X_new)

        def fit(X, y, candidate, X_new):
            return {self.name: scores(self.make(*candidate), X, y, X_new)}

        results = chosen(fit, self.grid, split, goals)
        return {
            method: (found, [" ".join(f"{v:g}" for v in best) for best in costs], reached, counts)
            for method, (found, costs, reached) in results.items()
        }


TOP_PUSH = Family(
    "top push", lambda top, C: TopPushRanker(top, C=C), (0.05, 0.2, 0.5), (0.01, 0.1, 1.0, 10.0)
)
P_NORM = Family(
    "p-norm push", lambda p, C: PNormPushRanker(p, C=C), (1.0, 4.0, 16.0), (0.1, 1.0, 10.0)
)
STUMPS = Family("rank boost", RankBoostRanker, (10, 30, 100, 300))
STATISTIC = Family(
    "rank statistic",
    lambda C, bandwidth, anchor: RankStatisticRanker(
        C=C, bandwidth=bandwidth, anchor=anchor, n_folds=None
    ),
    (0.01, 0.1, 1.0),
    (0.25, 1.0),
    (0.5,),
)
# What it is, and the splits with fewer than MANY_FEATURES and with more; the slow ones have two.
FAMILY = {
    "logistic": (logistic, 3, 3),
    TOP_PUSH.name: (TOP_PUSH, 3, 3),
    P_NORM.name: (P_NORM, 3, 3),
    STUMPS.name: (STUMPS, 3, 3),
    STATISTIC.name: (STATISTIC, 2, 2),
}
