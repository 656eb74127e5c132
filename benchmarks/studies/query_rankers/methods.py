"""The methods, one line each."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from benchmark_utils.features import by_query, unit_variance

from . import linear, trees
from .choosing import best_grid, best_trees
from .data_sets import inner_splits

OLD_DEFAULT = {"loss": "pairwise_logistic", "features": "as is", "alpha": 1.0}


@dataclass
class Fold:
    """One fold of a set.

    Parameters
    ----------
    train, test : Rows
        The rows.
    seed : int
        Of the split.
    earlier : dict
        What methods that were run before chose in this fold.
    """

    train: object
    test: object
    seed: int
    earlier: object
    made: dict = field(default_factory=dict)

    @property
    def splits(self):
        """Inner splits of the training queries."""
        if "splits" not in self.made:
            self.made["splits"] = inner_splits(self.train, self.seed)
        return self.made["splits"]


def averaged(fold, members, weights=None):
    """Mean of scores, each of them standardised in each query."""
    qid = fold.test.qid
    scaled = [by_query(unit_variance, score[:, None], qid).ravel() for score in members]
    return np.average(scaled, axis=0, weights=weights)


def fixed_linear(fold, parameters):
    """A linear ranker with parameters that nobody chose."""
    return linear.scores(fold.train, fold.test, parameters), parameters


def chosen_linear(fold, **grid):
    """A linear ranker with parameters from a grid."""
    grid = {"loss": ("pairwise_logistic",), "features": ("as is",), **grid}
    chosen, _ = best_grid({**grid, "alpha": (linear.ALPHAS,)}, linear.staged, fold.splits)
    return linear.scores(fold.train, fold.test, chosen), chosen


def averaged_linear(fold, **grid):
    """The mean of all calibrated losses, the strength of each chosen."""
    each = [chosen_linear(fold, loss=(loss,), **grid) for loss in linear.LOSSES]
    return averaged(fold, [score for score, _ in each]), [chosen for _, chosen in each]


def chosen_trees(fold, fit):
    """Trees with parameters chosen."""
    chosen = best_trees(trees.stages(fit), fold.splits)
    return trees.scores(fit, fold.train, fold.test, chosen), chosen


def fixed_trees(fold, fit, parameters):
    """Trees with parameters that nobody chose."""
    return trees.scores(fit, fold.train, fold.test, parameters), parameters


def several_trees(fold, fit, method, size):
    """The mean of several fits with what a method chose, each with draws of its own."""
    chosen = fold.earlier[method]
    members = [trees.scores(fit, fold.train, fold.test, chosen, seed) for seed in range(size)]
    return averaged(fold, members), chosen


DEFAULT_TREES = {"leaves": 31, "rows": 20, "rate": 0.1, "rounds": 100}
BY_QUERY = {"features": ("as is", "by query")}

TREES = {
    "lambdarank": trees.lambdarank,
    "rank:ndcg": trees.xgboost_ndcg,
}
METHODS = {
    "linear, alpha=1": partial(fixed_linear, parameters=OLD_DEFAULT),
    "linear, alpha chosen": chosen_linear,
    "linear, alpha and scale chosen": partial(chosen_linear, **BY_QUERY),
    "linear, loss chosen": partial(chosen_linear, loss=linear.LOSSES, **BY_QUERY),
    "linear, nine losses": partial(averaged_linear, **BY_QUERY),
    "lambdarank, defaults": partial(fixed_trees, fit=trees.lambdarank, parameters=DEFAULT_TREES),
    **{name: partial(chosen_trees, fit=fit) for name, fit in TREES.items()},
    "2 lambdaranks": partial(several_trees, fit=trees.lambdarank, method="lambdarank", size=2),
    "5 lambdaranks": partial(several_trees, fit=trees.lambdarank, method="lambdarank", size=5),
}
PAIRS = {
    "Linear": [(name, "linear, alpha=1") for name in METHODS if name.startswith("linear,")][1:],
    "Losses of trees": [(name, "lambdarank") for name in TREES if name != "lambdarank"],
    "Trees and linear": [("lambdarank", "linear, alpha=1")],
}
