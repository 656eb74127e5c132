"""Rankers of two classes have no probabilities, say so, and get them from a wrapper."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression

from sklearn_rank import AccuracyAtTopRanker


def data(seed=0, n=120):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return rng.normal(size=(n, 3)) + y[:, None], y


def wrapped(ranker):
    return CalibratedClassifierCV(ranker, method="sigmoid", cv=3)


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


def test_the_wrapper_has_the_probabilities_of_either_class_as_positive():
    X, y = data()
    names = np.array(["fraud", "ok"])[y]
    for pos_label in ("fraud", "ok"):
        model = wrapped(AccuracyAtTopRanker(tau=0.2, pos_label=pos_label)).fit(X, names)
        likely = model.predict_proba(X)[:, list(model.classes_).index(pos_label)]
        assert likely[names == pos_label].mean() > likely[names != pos_label].mean() + 0.2


def test_stacking_takes_the_scores():
    X, y = data()
    stacking = StackingClassifier([("top", AccuracyAtTopRanker(tau=0.2))], cv=3).fit(X, y)
    assert stacking.stack_method_ == ["decision_function"]
