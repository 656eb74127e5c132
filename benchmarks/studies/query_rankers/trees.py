"""Boosted trees with stages: LightGBM's lambdarank and XGBoost's rank:ndcg."""

import lightgbm
import numpy as np
import xgboost

QUIET = {"verbose": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}
# Members of an ensemble differ by these draws and their seed.
BAGGED = {"bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.8}


def lambdarank(train, parameters, seed=None):
    """Fit LightGBM's lambdarank; a seed is for a member of an ensemble, drawn from the rows."""
    draws = {} if seed is None else {**BAGGED, "seed": seed}
    options = {
        "objective": "lambdarank",
        "num_leaves": parameters["leaves"],
        "min_data_in_leaf": parameters["rows"],
        "learning_rate": parameters["rate"],
        **QUIET,
        **draws,
    }
    data = lightgbm.Dataset(train.X, train.y, group=train.lengths, params=QUIET)
    booster = lightgbm.train(options, data, num_boost_round=np.max(parameters["rounds"]))
    return lambda X, rounds: booster.predict(X, num_iteration=rounds)


def xgboost_ndcg(train, parameters, seed=None):
    """Fit XGBoost's rank:ndcg."""
    options = {
        "objective": "rank:ndcg",
        "max_leaves": parameters["leaves"],
        "max_depth": 0,
        "grow_policy": "lossguide",
        "min_child_weight": parameters["rows"] / 10,  # of second derivatives, 1 by default
        "eta": parameters["rate"],
        "nthread": 1,
    }
    data = xgboost.DMatrix(train.X, train.y, group=train.lengths, nthread=1)
    booster = xgboost.train(options, data, num_boost_round=np.max(parameters["rounds"]))
    return lambda X, rounds: booster.predict(
        xgboost.DMatrix(X, nthread=1), iteration_range=(0, rounds)
    )


def stages(fit):
    """What ``choosing.best`` takes: the scores after each number of rounds of one fit."""

    def staged(train, held_out, parameters):
        predict = fit(train, parameters)
        for rounds in np.atleast_1d(parameters["rounds"]).tolist():
            yield {**parameters, "rounds": rounds}, predict(held_out.X, rounds)

    return staged


def scores(fit, train, test, parameters, seed=None):
    """Scores of the test rows by a fit with chosen parameters."""
    return fit(train, parameters, seed)(test.X, parameters["rounds"])
