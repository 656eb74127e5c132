"""Boosted trees with stages: calibrated losses, LightGBM's lambdarank and XGBoost's rank:ndcg."""

from functools import partial

import lightgbm
import numpy as np

from sklearn_rank import GroupRankerAdapter
from sklearn_rank.calibration import utility
from sklearn_rank.losses import boosting_objective

from .linear import MEASURE

QUIET = {"verbose": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}
# Members of an ensemble differ by these draws and their seed.
DRAWS = {"subsample": 0.8, "subsample_freq": 1, "colsample_bytree": 0.8}


def lambdarank(train, parameters):
    """Fit LightGBM's lambdarank."""
    options = {
        "objective": "lambdarank",
        "num_leaves": parameters["leaves"],
        "min_data_in_leaf": parameters["rows"],
        "learning_rate": parameters["rate"],
        **QUIET,
    }
    data = lightgbm.Dataset(train.X, train.y, group=train.lengths, params=QUIET)
    booster = lightgbm.train(options, data, num_boost_round=np.max(parameters["rounds"]))
    return lambda X, rounds: booster.predict(X, num_iteration=rounds)


def lambdarank_member(parameters, seed):
    """The same as a ranker of queries, a member of an ensemble by its draws."""
    ranker = lightgbm.LGBMRanker(
        num_leaves=parameters["leaves"],
        min_child_samples=parameters["rows"],
        learning_rate=parameters["rate"],
        n_estimators=parameters["rounds"],
        random_state=seed,
        **QUIET,
        **DRAWS,
    )
    return GroupRankerAdapter(ranker, row_order="given")


class Calibrated(GroupRankerAdapter):
    """Trees of a calibrated loss, that of a query divided by a power of its length."""

    def __init__(
        self, estimator=None, *, measure=MEASURE, random_state=None, row_order="content", power=0
    ):
        super().__init__(
            estimator, measure=measure, random_state=random_state, row_order=row_order
        )
        self.power = power

    def fit(self, X, y, *, qid):
        """Fit it."""
        _, query, lengths = np.unique(qid, return_inverse=True, return_counts=True)
        return super().fit(X, y, qid=qid, query_weight=lengths[query] ** -float(self.power))


def calibrated_ranker(parameters, loss, seed=None):
    """Trees of a calibrated loss; a seed makes it a member of an ensemble."""
    trees = lightgbm.LGBMRanker(
        objective=boosting_objective(loss, utility=partial(utility, MEASURE)),
        n_estimators=int(np.max(parameters["rounds"])),
        learning_rate=parameters["rate"],
        num_leaves=parameters["leaves"],
        min_child_samples=parameters["rows"],
        random_state=seed,
        n_jobs=1,
        **({} if seed is None else DRAWS),
    )
    return Calibrated(trees, power=parameters.get("power", 0))


def calibrated(train, parameters, loss):
    """Fit trees that minimise a loss calibrated with NDCG@10."""
    ranker = calibrated_ranker(parameters, loss).fit(train.X, train.y, qid=train.qid)
    return lambda X, rounds: ranker.estimator_.booster_.predict(X, num_iteration=rounds)


def stages(fit):
    """What ``choosing.best`` takes: the scores after each number of rounds of one fit."""

    def staged(train, held_out, parameters):
        predict = fit(train, parameters)
        for rounds in np.atleast_1d(parameters["rounds"]).tolist():
            yield {**parameters, "rounds": rounds}, predict(held_out.X, rounds)

    return staged


def scores(fit, train, test, parameters):
    """Scores of the test rows by a fit with chosen parameters."""
    return fit(train, parameters)(test.X, parameters["rounds"])
