"""The methods, one line each, and the pairs that are compared."""

from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from sklearn_rank import RankEnsemble

from . import linear, trees
from .choosing import SHAPES, SHAPES_OF_PAIRS, best_trees
from .data_sets import inner_splits

BOOSTED = ("pairwise_logistic", "softmax", "pointwise_logistic")
OLD_DEFAULT = "linear, alpha=1"
DEFAULT_TREES = {"leaves": 31, "rows": 20, "rate": 0.1, "rounds": 100}


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
    earlier: dict

    def scores(self, ranker):
        """Scores of the test rows by a ranker of queries that is fitted here."""
        ranker.fit(self.train.X, self.train.y, qid=self.train.qid)
        return ranker.predict(self.test.X, qid=self.test.qid)


def standardised(fold, **parameters):
    """A linear ranker of columns of unit variance."""
    return linear.standardised_scores(fold.train, fold.test, **parameters), parameters


def fixed(fold, make):
    """A ranker of which nothing is chosen."""
    return fold.scores(make()), {}


def chosen_linear(fold):
    """A linear ranker with its penalty chosen by the inner splits."""
    qid = fold.train.qid
    cv = [
        (np.flatnonzero(np.isin(qid, a.queries)), np.flatnonzero(np.isin(qid, b.queries)))
        for a, b in inner_splits(fold.train, fold.seed)
    ]
    ranker = linear.chosen(cv)
    score = fold.scores(ranker)
    return score, {key: str(value) for key, value in ranker.best_params_.items()}


def fixed_trees(fold, fit, parameters):
    """Trees with parameters that nobody chose."""
    return trees.scores(fit, fold.train, fold.test, parameters), parameters


def chosen_trees(fold, fit, shapes):
    """Trees with parameters chosen by the inner splits."""
    splits = inner_splits(fold.train, fold.seed)
    chosen = best_trees(trees.stages(fit), splits, shapes)
    return trees.scores(fit, fold.train, fold.test, chosen), chosen


def lambdaranks(fold, size):
    """Members with what lambdarank chose, each with draws of its own."""
    chosen = fold.earlier["lambdarank"]
    members = [(f"{i}", trees.lambdarank_member(chosen, i)) for i in range(size)]
    return RankEnsemble(members, measure=linear.MEASURE)


def together(fold, members, weights="equal"):
    """The mean of rankers that are made of a fold."""
    named = [(f"{i}", make(fold)) for i, make in enumerate(members)]
    ranker = RankEnsemble(named, weights=weights, measure=linear.MEASURE, cv=3)
    return fold.scores(ranker), {"weights": ranker.weights_.round(3).tolist()}


def boosted(fold, loss="pairwise_logistic"):
    """A member with what boosted trees of a loss chose."""
    return trees.calibrated_ranker(fold.earlier[f"boosted {loss}"], loss, seed=0)


def one(fold):
    """The first lambdarank."""
    return trees.lambdarank_member(fold.earlier["lambdarank"], 0)


def line(_):
    """The linear ranker."""
    return linear.per_query()


def lines(_):
    """The mean of several."""
    return linear.several()


TREES = {
    "lambdarank": (trees.lambdarank, SHAPES),
    **{
        f"boosted {loss}": (
            partial(trees.calibrated, loss=loss),
            SHAPES_OF_PAIRS if loss.startswith("pairwise") else SHAPES,
        )
        for loss in BOOSTED
    },
}


LINEAR = {
    OLD_DEFAULT: partial(standardised, alpha=1.0),
    "linear, alpha=1, ndcg@10": partial(standardised, alpha=1.0, measure=linear.MEASURE),
    "linear, raw, pairwise_logistic": partial(
        fixed, make=partial(linear.raw, "pairwise_logistic")
    ),
    "linear, raw": partial(fixed, make=linear.raw),
    "linear, pairwise_logistic": partial(
        fixed, make=partial(linear.per_query, "pairwise_logistic")
    ),
    "linear": partial(fixed, make=linear.per_query),
    "linear, alpha chosen": chosen_linear,
    "4 linear losses": partial(fixed, make=linear.several),
    "9 linear losses": partial(fixed, make=partial(linear.several, linear.LOSSES)),
}
METHODS = {
    **LINEAR,
    "lambdarank, defaults": partial(fixed_trees, fit=trees.lambdarank, parameters=DEFAULT_TREES),
    **{
        name: partial(chosen_trees, fit=fit, shapes=shapes)
        for name, (fit, shapes) in TREES.items()
    },
    "2 lambdaranks": partial(together, members=[partial(lambdaranks, size=2)]),
    "5 lambdaranks": partial(together, members=[partial(lambdaranks, size=5)]),
    "lambdarank + linear": partial(together, members=[one, line]),
    "lambdarank + linear, fitted": partial(together, members=[one, line], weights="fitted"),
    "lambdarank + 4 linear losses": partial(together, members=[one, lines]),
    "4 lambdaranks + linear": partial(together, members=[partial(lambdaranks, size=4), line]),
    "4 lambdaranks + 4 linear losses": partial(
        together, members=[partial(lambdaranks, size=4), lines]
    ),
    "boosted + linear": partial(together, members=[boosted, line]),
    "lambdarank + boosted": partial(together, members=[one, boosted]),
    "lambdarank + boosted + linear": partial(together, members=[one, boosted, line]),
}
PAIRS = {
    "Linear": [
        *[(name, OLD_DEFAULT) for name in LINEAR if name != OLD_DEFAULT],
        ("linear, raw", "linear, raw, pairwise_logistic"),
        ("linear", "linear, pairwise_logistic"),
        ("linear", "linear, raw"),
    ],
    "Losses of trees": [
        *[(name, "lambdarank") for name in TREES if name != "lambdarank"],
        *combinations([f"boosted {loss}" for loss in BOOSTED], 2),
    ],
    "Trees and linear": [
        ("lambdarank", "linear"),
        ("boosted pairwise_logistic", "linear"),
        ("5 lambdaranks", "linear"),
        ("lambdarank + linear", "linear"),
        ("lambdarank + linear", "lambdarank"),
        ("lambdarank + linear", "2 lambdaranks"),
        ("lambdarank + linear, fitted", "2 lambdaranks"),
        ("lambdarank + 4 linear losses", "2 lambdaranks"),
        ("boosted + linear", "2 lambdaranks"),
        ("lambdarank + boosted", "2 lambdaranks"),
        ("4 lambdaranks + linear", "5 lambdaranks"),
        ("4 lambdaranks + 4 linear losses", "5 lambdaranks"),
        ("lambdarank + boosted + linear", "5 lambdaranks"),
    ],
}
