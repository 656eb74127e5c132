"""What all displays do."""

import inspect
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.inference import Interval
from sklearn_rank.model_selection import GuaranteeCurve
from sklearn_rank.plotting import (
    CumulativeGainDisplay,
    DecisionCurveDisplay,
    GuaranteeDisplay,
    IntervalsDisplay,
    QueryDifferenceDisplay,
    QueryScoresDisplay,
    RocBandDisplay,
    TopCalibrationDisplay,
    TopOfListDisplay,
)
from sklearn_rank.plotting._common import COLORS

from .lists import Y_SCORE, Y_TRUE, legend_of, queries

# Of scores, and of probabilities.
OF_PROBABILITIES = [DecisionCurveDisplay, TopCalibrationDisplay]
CURVES = [CumulativeGainDisplay, RocBandDisplay, TopOfListDisplay, *OF_PROBABILITIES]
Y_PROB = Y_SCORE / 5


def _curve(display):
    return lambda ax=None: display.from_predictions(Y_TRUE, Y_PROB, ax=ax)


def _scores(ax=None):
    grade, scores, qid = queries()
    return QueryScoresDisplay.from_predictions(grade, scores, qid=qid, ax=ax)


def _difference(ax=None):
    grade, scores, qid = queries()
    return QueryDifferenceDisplay.from_predictions(
        grade, *scores.values(), qid=qid, random_state=0, ax=ax
    )


def _intervals(ax=None):
    return IntervalsDisplay.from_intervals({"a": Interval(0.5, 0.4, 0.6, 0.95, "t", "x")}, ax=ax)


def _guarantee(ax=None):
    curve = GuaranteeCurve("recall", np.array([2.0, 4.0]), Y_PROB[:2], Y_PROB[:2], 0.5, 4)
    return GuaranteeDisplay([curve]).plot(ax=ax)


every_display = pytest.mark.parametrize(
    "draw",
    [*map(_curve, CURVES), _scores, _difference, _intervals, _guarantee],
    ids=[
        "gain",
        "roc",
        "top",
        "decision",
        "calibration",
        "scores",
        "difference",
        "intervals",
        "guarantee",
    ],
)


@pytest.mark.parametrize("display", [*CURVES, QueryScoresDisplay], ids=lambda kind: kind.__name__)
def test_an_estimator_has_the_options_of_its_scores(display):
    estimated, predicted = (
        inspect.signature(method).parameters
        for method in (display.from_estimator, display.from_predictions)
    )
    assert list(estimated)[:3] == ["estimator", "X", "y"]
    assert list(estimated.values())[3:] == list(predicted.values())[2:]
    assert "None means the class name of the estimator" in display.from_estimator.__doc__


@every_display
def test_given_axes_are_used_and_no_figure_is_made(draw):
    figure, (left, right) = plt.subplots(1, 2)
    display = draw(right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert right.has_data()
    assert not left.has_data()
    assert plt.get_fignums() == [figure.number]


@every_display
def test_one_figure_is_made_where_no_axes_are_given(draw):
    display = draw()
    assert plt.get_fignums() == [display.figure_.number]
    assert display.figure_.axes[0] is display.ax_
    assert display.plot() is display
    assert len(plt.get_fignums()) == 2
    assert display.ax_.figure is display.figure_
    display.figure_.canvas.draw()


@pytest.mark.parametrize("display", CURVES)
def test_curves_on_one_axes_have_names_and_colours_of_their_own(display):
    _, ax = plt.subplots()
    # What is written on the axes beforehand changes nothing.
    ax.set(xlabel="mine", ylabel="mine")
    drawn = [
        display.from_predictions(Y_TRUE, scores, name=name, ax=ax)
        for name, scores in (("one", Y_PROB), ("two", 1 - Y_PROB), ("three", Y_PROB))
    ]
    assert [one.line_.get_color() for one in drawn] == list(COLORS[:3])
    texts = legend_of(ax)
    assert [text.partition(" (AUC")[0] for text in texts[:3]] == ["one", "two", "three"]
    # The lines beside the curves are named once.
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("display", CURVES)
def test_curves_of_estimators_are_those_of_their_scores(display):
    X, y = load_ionosphere(return_X_y=True)
    named = np.array(["a bad return", "good"])[y]
    model = LogisticRegression().fit(X, named)
    score = model.decision_function(X)
    of_classes = [-score, score]
    if display in OF_PROBABILITIES:
        of_classes = model.predict_proba(X).T
    for pos_label, labels, scores in (
        ("good", y, of_classes[1]),
        ("a bad return", 1 - y, of_classes[0]),
    ):
        found = display.from_estimator(model, X, named, pos_label=pos_label)
        expected = display.from_predictions(labels, scores, name="LogisticRegression")
        np.testing.assert_array_equal(found.line_.get_data(), expected.line_.get_data())
        assert found.line_.get_label() == expected.line_.get_label()
    with pytest.raises(ValueError, match="X has 2 features"):
        display.from_estimator(model, X[:, :2], named, pos_label="good")


def _scores_of(estimator, X, y, **arguments):
    return QueryScoresDisplay.from_estimator(
        estimator, X, y, qid=np.arange(len(y)) % 7, measure="ap", **arguments
    )


def _difference_of(estimator, X, y, **arguments):
    return QueryDifferenceDisplay.from_estimators(
        estimator,
        clone(estimator).set_params(C=1e-3).fit(X, y),
        X,
        y,
        qid=np.arange(len(y)) % 7,
        measure="ap",
        random_state=0,
        **arguments,
    )


def drawn(display):
    """The numbers that a display shows."""
    for name in ("line_", "intervals", "result"):
        if hasattr(display, name):
            value = getattr(display, name)
            return value.get_data() if name == "line_" else value
    raise AssertionError(display)


def _curve_of(display):
    def draw(estimator, X, y, **arguments):
        if display in OF_PROBABILITIES and not hasattr(estimator, "predict_proba"):
            estimator = CalibratedClassifierCV(FrozenEstimator(estimator)).fit(X, y)
        return display.from_estimator(estimator, X, y, **arguments)

    return draw


every_estimator_display = pytest.mark.parametrize(
    "draw",
    [*map(_curve_of, CURVES), _scores_of, _difference_of],
    ids=["gain", "roc", "top", "decision", "calibration", "scores", "difference"],
)


@every_estimator_display
def test_labels_without_a_positive_class_are_refused(draw):
    X, y = load_ionosphere(return_X_y=True)
    named = np.array(["a bad return", "good"])[y]
    model = LogisticRegression().fit(X, named)
    with pytest.raises(ValueError, match="fitted on 'a bad return' and 'good': pass"):
        draw(model, X, named)
    with pytest.raises(ValueError, match="pos_label='bad' is not among the classes of Logistic"):
        draw(model, X, named, pos_label="bad")


@every_estimator_display
def test_the_positive_class_of_the_estimator_is_taken(draw):
    X, y = load_ionosphere(return_X_y=True)
    X, y = X[::4], y[::4]
    named = np.array(["a bad return", "good"])[y]
    told = AccuracyAtTopRanker(tau=0.2, C=0.01, pos_label="a bad return").fit(X, named)
    mirrored = AccuracyAtTopRanker(tau=0.2, C=0.01).fit(X, 1 - y)
    found, expected = drawn(draw(told, X, named)), drawn(draw(mirrored, X, 1 - y))
    if isinstance(expected, tuple):
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


def test_two_estimators_of_other_positive_classes_are_refused():
    X, y = load_ionosphere(return_X_y=True)
    named = np.array(["a bad return", "good"])[y]
    models = [
        AccuracyAtTopRanker(tau=0.2, C=0.01, pos_label=one).fit(X[::4], named[::4])
        for one in ("a bad return", "good")
    ]
    arguments = {"qid": np.arange(len(y)) % 7, "measure": "ap", "random_state": 0}
    with pytest.raises(ValueError, match="the class that both are to be compared on"):
        QueryDifferenceDisplay.from_estimators(*models, X, named, **arguments)
    for pos_label in ("a bad return", "good"):
        display = QueryDifferenceDisplay.from_estimators(
            *models, X, named, pos_label=pos_label, **arguments
        )
        assert len(display.differences) == 7


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "matplotlib>=3\.9"'):
        TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE)
