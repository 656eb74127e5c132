"""Scorers of the top warn of an estimator that was trained for another share."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.exceptions import OtherTopWarning
from sklearn_rank.metrics import get_scorer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
Y = (X[:, 0] + RNG.normal(size=80) > 0.5).astype(int)
RANKER = AccuracyAtTopRanker(tau=0.1, C=0.1)
TOP = ["precision@top", "smoothed_precision@top", "neg_accuracy_loss@top"]

WRAPPED = {
    "itself": RANKER,
    "pipeline": make_pipeline(StandardScaler(), RANKER),
    "search": GridSearchCV(make_pipeline(RANKER), {"accuracyattopranker__C": [0.1]}, cv=2),
    "threshold": FixedThresholdClassifier(RANKER),
    "ensemble": BaggingClassifier(RANKER, 2, random_state=0),
}


@pytest.mark.parametrize("estimator", WRAPPED.values(), ids=WRAPPED)
def test_at_another_share(estimator):
    fitted = estimator.fit(X, Y)
    for name in TOP:
        with pytest.warns(OtherTopWarning) as caught:
            get_scorer(f"{name}0.2")(fitted, X, Y)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        message = str(caught[0].message)
        assert "AccuracyAtTopRanker was trained for the top 0.1 of the list (tau=0.1)" in message
        assert f"{name.removeprefix('neg_')}0.2, at the top 0.2: make the two" in message


@pytest.mark.parametrize("estimator", WRAPPED.values(), ids=WRAPPED)
def test_at_the_same_share_and_by_other_measures(estimator):
    fitted = estimator.fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in (*(f"{top}0.1" for top in TOP), "auc", "lift@0.2", "enrichment@0.3"):
            get_scorer(name)(fitted, X, Y)


def test_shares_that_differ_by_rounding():
    fitted = AccuracyAtTopRanker(tau=0.1 + 0.2, C=0.1).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        get_scorer("precision@top0.3")(fitted, X, Y)


class Quantile(LogisticRegression):
    """Its tau is no share of the top."""

    tau = 0.5


def test_a_tau_of_another_kind():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        get_scorer("precision@top0.1")(Quantile().fit(X, Y), X, Y)
        unsaid = AccuracyAtTopRanker(C=0.1).fit(X, Y).set_params(tau=None)
        get_scorer("precision@top0.1")(unsaid, X, Y)


def test_in_cross_validation():
    with pytest.warns(OtherTopWarning) as caught:
        cross_val_score(RANKER, X, Y, scoring=get_scorer("precision@top0.2"), cv=3)
    assert len(caught) == 1
