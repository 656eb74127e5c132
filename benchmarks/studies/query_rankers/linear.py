"""Linear rankers: standardised columns, and a loss with its penalty."""

import warnings

import numpy as np
from benchmark_utils.features import Features
from sklearn.exceptions import ConvergenceWarning

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.losses import get_loss_names

LOSSES = tuple(get_loss_names(order_preserving=True))
ALPHAS = tuple(10.0 ** np.arange(3, -4, -1))


def ranker_of(parameters, **more):
    """Make a ranker of chosen parameters."""
    return OrderPreservingRanker(parameters["loss"], alpha=parameters["alpha"], **more)


def staged(train, held_out, parameters):
    """Scores by each strength of one loss, each fit starting from the last."""
    features = Features(parameters["features"])
    X = features.fit_transform(train.X, train.qid)
    Z = features.transform(held_out.X, held_out.qid)
    ranker = ranker_of({**parameters, "alpha": 1.0}, warm_start=True, tol=1e-4)
    for alpha in np.atleast_1d(parameters["alpha"]).tolist():
        ranker.set_params(alpha=alpha)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            ranker.fit(X, train.y, qid=train.qid)
        yield {**parameters, "alpha": alpha}, ranker.predict(Z)


def scores(train, test, parameters):
    """Scores of the test rows by a fit with chosen parameters."""
    features = Features(parameters["features"])
    X = features.fit_transform(train.X, train.qid)
    ranker = ranker_of(parameters).fit(X, train.y, qid=train.qid)
    return ranker.predict(features.transform(test.X, test.qid))
