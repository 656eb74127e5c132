"""Rankers of two classes have no probabilities, say so, and get them from a wrapper."""

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression

from sklearn_rank import AccuracyAtTopRanker


def data(seed=0, n=120):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return rng.normal(size=(n, 3)) + y[:, None], y


def test_the_error_shows_the_wrapper():
    ranker = AccuracyAtTopRanker()
    assert not hasattr(ranker, "predict_proba")
    assert not hasattr(ranker, "predict_log_proba")
    name = type(ranker).__name__
    message = f'CalibratedClassifierCV({name}(...), method="sigmoid")'
    with pytest.raises(AttributeError, match=f"{name} computes scores, not prob") as raised:
        ranker.predict_proba([[0.0]])
    assert message in str(raised.value)


def test_soft_voting_with_a_bare_ranker_says_what_to_do():
    X, y = data()
    voting = VotingClassifier(
        [("top", AccuracyAtTopRanker(tau=0.2)), ("logistic", LogisticRegression())], voting="soft"
    ).fit(X, y)
    with pytest.raises(AttributeError, match=r"CalibratedClassifierCV\(AccuracyAtTopRanker"):
        voting.predict(X)
