"""Measures of one's own: made of a function, or subclasses of Measure."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from inspect import signature

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_rank import OrderPreservingRanker
from sklearn_rank._validation import check_share
from sklearn_rank.calibration import utility
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import Measure, get_measure, get_scorer, make_measure
from sklearn_rank.metrics._measure import checked
from tests.naming import for_each


def share_on_top(y_true, y_score):
    """Mean label of the two items on top."""
    return float(np.mean(y_true[np.argsort(-y_score)[:2]]))


def test_a_measure_of_ones_own_is_evaluated_list_by_list():
    measure = make_measure(share_on_top, range=(0.0, 1.0))
    y = ["no", "yes", "yes", "no", "yes", "no"]
    score, qid = [1.0, 2.0, 3.0, 3.0, 2.0, 1.0], [7, 7, 7, 3, 3, 3]
    values, ids = measure(y, score, qid=qid, pos_label="yes", average=None, return_qid=True)
    assert ids.tolist() == [3, 7]
    assert values.tolist() == [0.5, 1.0]
    assert measure.name == "share_on_top"
    assert repr(measure) == "<measure 'share_on_top'>"
    assert measure.theorems == ("hoeffding", "kl", "bernstein")
    assert make_measure(share_on_top).theorems == ()
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert measure != make_measure(share_on_top)


def test_a_measure_of_ones_own_may_be_undefined():
    def relative(y_true, y_score):
        return y_true[np.argmax(y_score)] / max(y_true) if max(y_true) else np.nan

    y, score, qid = [0, 0, 2, 1], [1.0, 2.0, 1.0, 2.0], [1, 1, 2, 2]
    skipped = make_measure(relative, kind="graded", lacking="no relevant item")
    with pytest.warns(UserWarning, match=r"undefined for 1 of 2 lists \(no relevant"):
        assert skipped(y, score, qid=qid) == 0.5
    zero = make_measure(relative, kind="graded", undefined=0.0)
    with pytest.warns(UserWarning, match="counted as 0"):
        assert zero(y, score, qid=qid) == 0.25
    with pytest.raises(ValueError, match="the list with qid 1 has no value"):
        make_measure(relative, kind="graded", undefined="raise")(y, score, qid=qid)


def test_what_a_function_returns_is_checked():
    y, score = [1, 0], [2.0, 1.0]
    for wrong in ("0.5", np.zeros(2), 1j):
        with pytest.raises(ValueError, match="must return one number"):
            make_measure(lambda t, s, wrong=wrong: wrong)(y, score)
    with pytest.raises(ValueError, match=r"is 2 for the list, outside its range \[0, 1\]"):
        make_measure(lambda t, s: 2.0, range=(0, 1))(y, score)
    assert make_measure(lambda t, s: 1.0 + 1e-12, range=(0, 1))(y, score) == 1.0


LOSS = {"utilities": np.sqrt, "discounts": np.ones}


@for_each(
    ("arguments", "error", "message"),
    [
        ({"func": 3}, TypeError, "func=3 must be a function"),
        ({"range": (1, 0)}, ValueError, r"range=\(1, 0\) must be two numbers"),
        ({"range": 1.0}, ValueError, "must be two numbers"),
        ({"kind": "ternary"}, ValueError, "kind='ternary' must be one of 'binary', 'graded'"),
        ({"per_query": "yes"}, TypeError, "per_query='yes' must be True or False"),
        ({"utilities": np.sqrt}, ValueError, "pass both or neither"),
        ({"utilities": 1, "discounts": 2}, TypeError, "utilities=1 must be a function"),
        ({"undefined": "zero"}, ValueError, "undefined='zero'"),
        ({"name": ""}, ValueError, "name=''"),
        ({**LOSS, "greater_is_better": False}, ValueError, "pass the measure as a score"),
    ],
)
def test_arguments_of_make_measure_are_checked(arguments, error, message):
    with pytest.raises(error, match=message):
        make_measure(**{"func": share_on_top, **arguments})


def test_utilities_and_discounts_of_ones_own():
    measure = make_measure(
        share_on_top, utilities=lambda y: y / 2.0, discounts=lambda n: np.arange(n) < 2
    )
    form = measure.positional
    lists = measure.lists([1, 0, 1], [1.0, 2.0, 3.0])
    assert form.utilities(lists).tolist() == [0.5, 0.0, 0.5]
    assert form.discounts(3).tolist() == [1.0, 1.0, 0.0]
    rising = make_measure(share_on_top, utilities=np.sqrt, discounts=np.arange)
    with pytest.raises(ValueError, match="do not increase"):
        rising.positional.discounts(3)
    negative = make_measure(share_on_top, utilities=lambda y: -y, discounts=np.ones)
    with pytest.raises(ValueError, match="one finite number of at least 0 for each"):
        negative.positional.utilities(lists)


def test_a_function_cannot_change_the_arrays_of_the_caller():
    def careless(y_true, y_score):
        y_true[:] = 0
        y_score.sort()
        return 0.5

    y, score = np.array([2.0, 1.0, 0.0]), np.array([1.0, 3.0, 2.0])
    measure = make_measure(
        careless,
        kind="graded",
        influence=lambda y_true, y_score: careless(y_true, y_score) + np.zeros(3),
        utilities=lambda y_true: careless(y_true, y_true.copy()) + y_true,
        discounts=np.ones,
    )
    lists = measure.lists(y, score)
    measure.of_lists(lists)
    measure.positional.utilities(lists)
    assert y.tolist() == lists.grade.tolist() == [2.0, 1.0, 0.0]
    assert score.tolist() == lists.score.tolist() == [1.0, 3.0, 2.0]


def test_weights_of_items_are_refused_wherever_they_arrive():
    measure = make_measure(
        share_on_top,
        kind="graded",
        utilities=lambda y: y / 2.0,
        discounts=lambda n: (np.arange(n) < 2).astype(float),
    )
    y, score, weight = [2, 0, 1, 0], [1.0, 2.0, 3.0, 0.0], [1, 2, 1, 1]
    told = "takes no sample_weight: repeat the rows"
    with pytest.raises(TypeError, match=told):
        measure(y, score, sample_weight=weight)
    with pytest.raises(TypeError, match=told):
        utility(measure, y, sample_weight=weight)
    X = np.array([[1.0], [0.0], [2.0], [1.0]])
    ranker = OrderPreservingRanker(measure=measure)
    with pytest.raises(TypeError, match=told):
        ranker.fit(X, y, qid=[1, 1, 2, 2], sample_weight=weight)
    assert not hasattr(ranker, "coef_")


def test_what_undefined_lists_count_is_in_the_range_of_what_lists_count():
    def first(y_true, y_score):
        return y_true[np.argmax(y_score)] if y_true.any() else np.nan

    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 5)
    y, score = rng.random(200) < 0.2, rng.normal(size=200)
    below = make_measure(first, range=(0.0, 1.0), undefined=-1.0)
    assert below.range == (0.0, 1.0)
    assert below.counted_range == (-1.0, 1.0)
    assert not below.has_influence
    with pytest.warns(UserWarning, match="counted as -1"):
        mean = below(y, score, qid=qid)
    with pytest.warns(UserWarning, match="counted as -1"):
        interval = metric_interval(below, y, score, qid=qid, method="bca")
    assert interval.estimate == pytest.approx(mean)
    assert -1.0 <= interval.low < mean < interval.high <= 1.0
    assert make_measure(first, range=(0.0, 1.0), undefined=np.inf).theorems == ()


# -------------------------------------------------------------------------- subclasses of Measure


class ShareAbove(Measure):
    """Share of the positives of a list whose score is above a threshold."""

    threshold: float = 0.0
    answer: str = "right"

    per_query = True
    range = (0.0, 1.0)

    def values(self, lists):
        above = lists.positive & (lists.score > self.threshold)
        value = np.add.reduceat(above, lists.offsets[:-1], dtype=float)
        value /= np.add.reduceat(lists.positive, lists.offsets[:-1], dtype=float)
        return {"right": value, "column": value[:, None], "wide": 2.0 + value}[self.answer]


def test_a_subclass_goes_where_a_name_goes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    y, qid = np.tile([1, 0, 1, 0, 0], 40), np.repeat(np.arange(40), 5)
    measure = ShareAbove(threshold=0.1)
    by_hand = np.mean(X[y == 1, 0] > 0.1)
    assert measure(y, X[:, 0], qid=qid) == pytest.approx(by_hand)
    assert metric_interval(measure, y, X[:, 0], qid=qid).estimate == pytest.approx(by_hand)
    model = LogisticRegression().fit(X, y)
    scorer = get_scorer(measure)
    assert scorer(model, X, y, qid=qid) == pytest.approx(
        measure(y, model.decision_function(X), qid=qid)
    )
    assert measure.name == "ShareAbove(threshold=0.1)"
    assert get_measure(measure, threshold=np.float64(0.2)) == ShareAbove(threshold=0.2)
    assert hash(ShareAbove(threshold=np.float64(0.2))) == hash(ShareAbove(threshold=0.2))


def test_a_parameter_may_be_a_list():
    y, score = [1, 0, 1, 0], [1.0, 2.0, 3.0, 0.0]
    measure = ShareAbove(threshold=[0.5])
    assert measure(y, score) == 1.0
    with pytest.raises(ValueError, match=r"ShareAbove.*pass qid"):
        metric_interval(measure, y, score)


@pytest.mark.parametrize(
    ("answer", "message"),
    [("column", r"gave values of shape \(2, 1\)"), ("wide", "outside its range")],
)
def test_what_a_subclass_gives_is_checked(answer, message):
    measure = ShareAbove(answer=answer)
    y, score, qid = [1, 0, 1, 0], [1.0, 2.0, 3.0, 0.0], [1, 1, 2, 2]
    with pytest.raises(ValueError, match=message):
        measure(y, score, qid=qid)
    with pytest.raises(ValueError, match=message):
        metric_interval(measure, y, score, qid=qid)


@dataclass(frozen=True, kw_only=True, repr=False)
class Decorated(ShareAbove):
    """The same with a decorator, which is not needed."""

    power: float = checked(check_share, 0.5)


@dataclass(frozen=True, kw_only=True)
class Shown(ShareAbove):
    """The same with the representation of a dataclass."""


class OfDecorated(Decorated):
    """Without parameters of its own."""


@pytest.mark.parametrize(
    ("measure", "shown"),
    [
        (ShareAbove, "get_measure('ShareAbove', threshold=0.2)"),
        (Decorated, "get_measure('Decorated', threshold=0.2)"),
        (OfDecorated, "get_measure('OfDecorated', threshold=0.2)"),
        (Shown, "Shown(undefined='skip', rel=None, threshold=0.2, answer='right')"),
    ],
)
def test_a_subclass_is_a_frozen_dataclass_with_and_without_a_decorator(measure, shown):
    made = measure(threshold=0.2)
    assert repr(made) == shown
    for same in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), replace(made)):
        assert type(same) is measure
        assert same == made
        assert hash(same) == hash(made)
    assert made != replace(made, threshold=0.3)
    assert made != next(kind for kind in (ShareAbove, Shown) if kind is not measure)(threshold=0.2)
    names = [parameter.name for parameter in fields(made)]
    assert names[:4] == ["undefined", "rel", "threshold", "answer"]
    assert list(signature(measure).parameters) == names
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'threshold'"):
        made.threshold = 0.5
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'other'"):
        made.other = 0.5
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'threshold'"):
        del made.threshold
    with pytest.raises(TypeError, match="positional argument"):
        measure(0.2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'level'"):
        measure(level=0.2)


def test_a_decorator_may_ask_for_slots():
    @dataclass(frozen=True, kw_only=True, repr=False, slots=True)
    class Slotted(Measure):
        threshold: float = 0.0

        values = ShareAbove.values

    assert repr(Slotted(threshold=0.2)) == "get_measure('Slotted', threshold=0.2)"
    assert Slotted(threshold=0.2) == Slotted(threshold=np.float64(0.2))


def test_the_check_of_a_parameter_stays_with_a_decorator():
    assert Decorated(power=0.25).name == "Decorated(power=0.25)"
    with pytest.raises(ValueError, match="power"):
        Decorated(power=2.0)


def test_a_subclass_must_say_of_which_labels_it_is():
    with pytest.raises(TypeError, match="kind='ternary' must be 'binary' or 'graded'"):

        class Wrong(Measure):
            kind = "ternary"
