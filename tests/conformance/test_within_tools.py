"""Rankers within tools of scikit-learn: what is refused names a way that works."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

from sklearn_rank import OrderPreservingRanker, RankStatisticRanker, TopPushRanker
from sklearn_rank.metrics import average_precision_score


@pytest.mark.parametrize(
    "ranker", [TopPushRanker(1), RankStatisticRanker(n_init=1, random_state=0)], ids=repr
)
def test_weights_of_adaboost_are_refused_with_what_works(ranker):
    X, y = make_classification(200, weights=[0.6], random_state=0)
    with pytest.raises(ValueError, match=r"AdaBoostClassifier .* use BaggingClassifier"):
        AdaBoostClassifier(ranker).fit(X, y)
    fitted = BaggingClassifier(ranker, n_estimators=3, random_state=0).fit(X, y)
    assert average_precision_score(y, fitted.decision_function(X)) > 0.7


def test_labels_of_many_classes_are_refused_with_what_works():
    X, y = make_classification(200, n_classes=3, n_informative=4, random_state=0)
    with pytest.raises(ValueError, match="Use OneVsRestClassifier"):
        TopPushRanker(0.2).fit(X, y)
    assert OneVsRestClassifier(TopPushRanker(0.2)).fit(X, y).score(X, y) > 0.5
    named = np.array(["fraud", "ok"])[(y > 0).astype(int)]
    with pytest.raises(ValueError, match=r"\(BaggingClassifier.* sorted classes\), 0, 1: pass"):
        BaggingClassifier(TopPushRanker(0.2, pos_label="fraud")).fit(X, named)
    told = TopPushRanker(0.2, pos_label=0)
    assert BaggingClassifier(told, n_estimators=3, random_state=0).fit(X, named).score(X, named)


def test_rankers_of_queries_say_what_is_a_classifier():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, (60, 2))
    ranker = OrderPreservingRanker(single_list=True)
    assert not hasattr(ranker, "classes_")
    with pytest.raises(AttributeError, match=r"TopFocusedRanker, .*MultiOutputRegressor\(Order"):
        MultiOutputClassifier(ranker).fit(X, y)
    assert MultiOutputRegressor(ranker).fit(X, y).predict(X).shape == (60, 2)
