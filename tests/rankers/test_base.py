"""What all rankers of two classes share, tried on a ranker that is nothing but the base."""

import copy
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_rank.exceptions import PositiveClassWarning, VersionWarning
from sklearn_rank.metrics import average_precision_score
from sklearn_rank.rankers._base import restored_on_error
from sklearn_rank.rankers._two_classes import BipartiteRanker
from tests.naming import for_each


class FirstFeature(BipartiteRanker):
    """Scores by the first feature, against a threshold of zero."""

    def __init__(self, shift=0.0, pos_label=None):
        self.shift = shift
        self.pos_label = pos_label

    def fit(self, X, y, sample_weight=None):
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        rows = self._two_classes(np.asarray(y), weight)
        self.classes_, self.pos_label_, self.rows_ = rows.classes, rows.pos_label, rows
        return self

    def decision_function(self, X):
        return self.rows_.direction * (np.asarray(X)[:, 0] - self.shift)


X = np.array([[2.0], [1.0], [0.0], [-1.0]])


@for_each(
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
def test_either_class_can_be_positive(y, classes):
    for first in (False, True):
        positive, other = classes if first else classes[::-1]
        ranker = FirstFeature(pos_label=positive).fit(X, y)
        assert ranker.classes_.tolist() == classes
        assert ranker.pos_label_ == positive
        assert ranker.rows_.positive.tolist() == [label == positive for label in y]
        # The threshold itself is below the top, whichever class is on top.
        assert ranker.predict(X).tolist() == [positive, positive, other, other]
        assert ranker.predict(X).dtype == ranker.classes_.dtype
        decision = ranker.decision_function(X)
        assert set(ranker.predict(X)[decision > 0]) <= {classes[1]}
        assert set(ranker.predict(X)[decision < 0]) <= {classes[0]}
        assert ranker.score(X, y) == average_precision_score(y, X[:, 0], pos_label=positive)


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), (0.0, 1.0)])
def test_one_is_positive_without_being_told(labels):
    y = np.array(labels)[[1, 0, 1, 0]]
    assert FirstFeature().fit(X, y).pos_label_ == 1


@for_each("labels", [("fraud", "ok"), (1, 2), (-1, 0), (2.0, 5.0), ("0", "1")])
def test_of_other_labels_the_greater_is_taken_with_a_warning(labels):
    y = np.array(labels)[[1, 0, 1, 0]]
    low, high = map(re.escape, map(repr, np.unique(y).tolist()))
    told = f"FirstFeature treats {high} as the positive class, .* "
    told += f"pass pos_label={high}, or pos_label={low}"
    with pytest.warns(PositiveClassWarning, match=told) as caught:
        ranker = FirstFeature().fit(X, y)
    assert caught[0].filename == __file__
    assert ranker.pos_label_ == labels[1]
    with pytest.raises(ValueError, match=f"pos_label='x' is not among the classes of y, {low}"):
        FirstFeature(pos_label="x").fit(X, y)


@for_each(
    ("y", "weight", "message"),
    [
        (
            [0, 1, 2, 1],
            None,
            "Only binary classification is supported. The type of the target is multiclass.",
        ),
        ([0, 1, -1, 1], None, "y has -1 beside two classes: if that marks rows without a label"),
        (["a", "", "b", "b"], None, "y has '' beside two classes: if that marks rows without"),
        ([1, 1, 1, 1], None, "FirstFeature needs rows of two classes with positive sample_weight"),
        ([0, 1, 1, 1], [0, 1, 1, 1], "got one class only, 1: add rows of the other class"),
        (["a", "b", "b", "b"], [0, 1, 1, 1], "got one class only, 'b': add rows of the other"),
        ([0.1, 0.2, 0.3, 0.4], None, "Unknown label type: continuous"),
        ([[0, 1], [1, 0], [1, 1], [0, 0]], None, "The type of the target is multilabel-indicator"),
    ],
)
def test_other_targets_are_refused(y, weight, message):
    with pytest.raises(ValueError, match=message):
        FirstFeature(pos_label="b").fit(X, y, weight)


def test_restored_on_error_puts_back_what_was_learned():
    ranker = FirstFeature(shift=2.0)

    def learn(error, **learned):
        with restored_on_error(ranker):
            vars(ranker).update(learned)
            if error is not None:
                raise error

    with pytest.raises(KeyError):
        learn(KeyError(), classes_=np.array([0, 1]), n_features_in_=5)
    assert vars(ranker) == {"shift": 2.0, "pos_label": None}
    ranker.classes_ = before = np.array([3, 4])
    with pytest.raises(KeyboardInterrupt):
        learn(KeyboardInterrupt(), classes_=np.array([0, 1]), extra_=1)
    assert set(vars(ranker)) == {"shift", "pos_label", "classes_"}
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
    with pytest.warns(VersionWarning, match=r"This FirstFeature was pickled with sklearn_rank"):
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
