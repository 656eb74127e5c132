"""What all rankers of two classes share, tried on a ranker that is nothing but the base."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from sklearn_rank.exceptions import VersionWarning
from sklearn_rank.metrics import average_precision_score
from sklearn_rank.rankers._base import BipartiteRanker
from sklearn_rank.rankers._fitting import restored_on_error


class FirstFeature(BipartiteRanker):
    """Scores by the first feature, against a threshold of zero."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y, sample_weight=None):
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.classes_, self.positive_ = self._encode_binary(np.asarray(y), weight)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0] - self.shift


X = np.array([[2.0], [1.0], [0.0], [-1.0]])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([1, 0, 1, 0], [0, 1]),
        ([1, -1, 1, -1], [-1, 1]),
        (["no", "yes", "no", "yes"], ["no", "yes"]),
        ([True, False, True, False], [False, True]),
        ([2.0, 5.0, 2.0, 5.0], [2.0, 5.0]),
        (np.array(["b", "a", "b", "a"], dtype=object), ["a", "b"]),
    ],
)
def test_the_greater_class_is_positive(y, classes):
    ranker = FirstFeature().fit(X, y)
    assert ranker.classes_.tolist() == classes
    assert ranker.positive_.tolist() == [label == classes[1] for label in y]
    # The threshold itself is below the top.
    assert ranker.predict(X).tolist() == [classes[1], classes[1], classes[0], classes[0]]
    assert ranker.predict(X).dtype == ranker.classes_.dtype


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (
            [0, 1, 2, 1],
            None,
            "Only binary classification is supported. The type of the target is multiclass.",
        ),
        ([1, 1, 1, 1], None, "FirstFeature needs rows of two classes with positive sample_weight"),
        ([0, 1, 1, 1], [0, 1, 1, 1], "got one class only, 1: add rows of the other class"),
        (["a", "b", "b", "b"], [0, 1, 1, 1], "got one class only, 'b': add rows of the other"),
        ([0.1, 0.2, 0.3, 0.4], None, "Unknown label type: continuous"),
        ([[0, 1], [1, 0], [1, 1], [0, 0]], None, "The type of the target is multilabel-indicator"),
    ],
)
def test_other_targets_are_refused(y, weight, message):
    with pytest.raises(ValueError, match=message):
        FirstFeature().fit(X, y, weight)


def test_score_is_average_precision_with_ties_and_weights():
    ties = np.array([[1.0], [1.0], [0.0], [0.0], [-1.0]])
    y = ["p", "n", "p", "n", "p"]
    weight = [1, 2, 3, 1, 2]
    ranker = FirstFeature().fit(ties, y)
    expected = average_precision_score(y, ties[:, 0], pos_label="p")
    assert ranker.score(ties, y) == expected
    repeated = np.repeat(np.arange(5), weight)
    assert ranker.score(ties, y, weight) == pytest.approx(
        ranker.score(ties[repeated], np.array(y)[repeated])
    )
    assert ranker.score(ties, y, sample_weight=weight) != expected


def test_tags():
    tags = FirstFeature().__sklearn_tags__()
    assert is_classifier(FirstFeature())
    assert not tags.classifier_tags.multi_class


def test_restored_on_error_puts_back_what_was_learned():
    ranker = FirstFeature(shift=2.0)

    def learn(error, **learned):
        with restored_on_error(ranker):
            vars(ranker).update(learned)
            if error is not None:
                raise error

    with pytest.raises(KeyError):
        learn(KeyError(), classes_=np.array([0, 1]), n_features_in_=5)
    assert vars(ranker) == {"shift": 2.0}
    ranker.classes_ = before = np.array([3, 4])
    with pytest.raises(KeyboardInterrupt):
        learn(KeyboardInterrupt(), classes_=np.array([0, 1]), extra_=1)
    assert set(vars(ranker)) == {"shift", "classes_"}
    assert ranker.classes_ is before
    learn(None, extra_=2)
    assert ranker.extra_ == 2


@pytest.mark.parametrize("stored", [None, "0.0.1"])
def test_a_ranker_of_another_version_warns_when_it_is_read(stored):
    ranker = FirstFeature().fit(X, [0, 1, 0, 1])
    state = ranker.__getstate__()
    if stored is None:
        del state["_sklearn_rank_version"]
    else:
        state["_sklearn_rank_version"] = stored
    before = dict(state)
    read = FirstFeature()
    with pytest.warns(VersionWarning, match=r"This FirstFeature was stored by sklearn_rank"):
        read.__setstate__(state)
    assert state == before
    assert read.classes_.tolist() == [0, 1]
    assert not hasattr(read, "_sklearn_rank_version")


def test_the_same_version_is_read_in_silence():
    ranker = FirstFeature(shift=1.0).fit(X, [0, 1, 0, 1])
    for read in (pickle.loads(pickle.dumps(ranker)), copy.deepcopy(ranker), copy.copy(ranker)):
        assert read.shift == 1.0
        assert read.classes_.tolist() == [0, 1]
    assert not hasattr(clone(ranker), "classes_")
