"""Precision among the first items."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import precision_at_top_curve, precision_at_top_score
from sklearn_rank.plotting import TopOfListDisplay

from .lists import Y_SCORE, Y_TRUE


def test_curve_is_the_expected_precision():
    display = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE)
    x, precision = display.line_.get_data()
    np.testing.assert_array_equal(x, np.arange(1, 9))
    for items in range(1, 8):
        expected = precision_at_top_score(Y_TRUE, Y_SCORE, tau=items / 8)
        assert precision[items - 1] == pytest.approx(expected, abs=1e-15)
    assert precision[-1] == Y_TRUE.mean()


def test_data_are_those_of_the_curve():
    weight = np.array([1.0, 0.5, 2.0, 1.0, 0.0, 1.5, 1.0, 3.0])
    display = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, sample_weight=weight)
    position, precision = precision_at_top_curve(Y_TRUE, Y_SCORE, sample_weight=weight)
    np.testing.assert_array_equal(display.position, position)
    np.testing.assert_array_equal(display.precision, precision)
    np.testing.assert_array_equal(display.line_.get_data(), (position, precision))


def test_constant_scores_draw_the_base_rate():
    display = TopOfListDisplay.from_predictions(Y_TRUE, np.zeros(8))
    np.testing.assert_allclose(display.line_.get_ydata(), 0.5, rtol=1e-15)
    assert set(display.base_rate_.get_ydata()) == {0.5}


def test_weight_two_is_the_row_twice():
    weight = np.array([2, 1, 1, 1, 1, 1, 1, 1])
    weighted = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, sample_weight=weight)
    repeated = TopOfListDisplay.from_predictions(
        np.repeat(Y_TRUE, weight), np.repeat(Y_SCORE, weight)
    )
    at = np.searchsorted(repeated.position, weighted.position)
    np.testing.assert_array_equal(repeated.position[at], weighted.position)
    np.testing.assert_allclose(repeated.precision[at], weighted.precision, rtol=1e-14)


def test_artists_and_attributes():
    display = TopOfListDisplay.from_predictions(
        Y_TRUE, Y_SCORE, name="mine", tau=(0.25, 0.5), color="red"
    )
    assert display.figure_ is display.ax_.figure
    assert set(display.base_rate_.get_ydata()) == {Y_TRUE.mean()}
    assert Y_TRUE.mean() != display.precision.mean()
    assert display.line_.get_color() == "red"
    assert display.ax_.get_xscale() == "log"
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["mine", "base rate"]
    assert [text.get_text() for text in display.ax_.texts] == ["25 %", "50 %"]


@pytest.mark.parametrize(("tau", "items"), [(0.25, 2), (0.35, 3), (0.4, 3), (0.01, 1)])
def test_mark_stands_where_the_share_ends(tau, items):
    display = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, tau=tau)
    (mark,) = set(display.ax_.lines) - {display.line_, display.base_rate_}
    assert set(mark.get_xdata()) == {items}
    (words,) = display.ax_.texts
    assert words.xy[0] == items


@pytest.mark.parametrize("tau", [0, 1, -0.1, (0.5, 1.5), float("nan")])
def test_marks_outside_the_list_are_refused(tau):
    with pytest.raises(ValueError, match=r"tau=.* must be a number in \(0, 1\)"):
        TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, tau=tau)


def test_several_on_one_axes():
    _, ax = plt.subplots()
    for name in ("one", "two"):
        display = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, name=name, ax=ax)
        assert display.ax_ is ax
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["one", "two", "base rate"]


def test_plot_again_under_another_name():
    display = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, name="old")
    first = display.ax_
    assert display.plot(name="new") is display
    assert display.ax_ is not first
    assert display.line_.get_label() == "new"


def test_from_estimator_ranks_by_the_positive_class():
    X, y = load_ionosphere(return_X_y=True)
    words = np.array(["a bad return", "good"])[y]
    model = LogisticRegression().fit(X, words)
    display = TopOfListDisplay.from_estimator(model, X, words, tau=0.1, pos_label="good")
    expected = TopOfListDisplay.from_predictions(y, model.decision_function(X))
    np.testing.assert_array_equal(display.precision, expected.precision)
    assert display.estimator_name == "LogisticRegression"


def test_from_estimator_takes_a_regressor():
    X, y = load_ionosphere(return_X_y=True)
    model = LinearRegression().fit(X, y)
    display = TopOfListDisplay.from_estimator(model, X, y, name="least squares")
    assert display.precision[-1] == y.mean()
    assert display.line_.get_label() == "least squares"


def test_words_as_labels_need_a_positive_one():
    words = np.where(Y_TRUE == 1, "a good return", "bad")
    display = TopOfListDisplay.from_predictions(words, Y_SCORE, pos_label="a good return")
    expected = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE)
    np.testing.assert_array_equal(display.precision, expected.precision)
    with pytest.raises(ValueError, match="pos_label"):
        TopOfListDisplay.from_predictions(words, Y_SCORE)


def test_labels_alone_are_no_scores():
    X, y = load_ionosphere(return_X_y=True)
    model = VotingClassifier([("one", LogisticRegression())], voting="hard").fit(X, y)
    with pytest.raises(AttributeError, match="neither decision_function nor predict_proba"):
        TopOfListDisplay.from_estimator(model, X, y)


def test_what_is_not_fitted_is_refused():
    X, y = load_ionosphere(return_X_y=True)
    with pytest.raises(NotFittedError):
        TopOfListDisplay.from_estimator(LogisticRegression(), X, y)


def test_intervals_at_the_marks_of_the_top():
    rng = np.random.default_rng(0)
    y_score = rng.normal(size=400)
    y_true = (rng.random(400) < 1 / (1 + np.exp(-2 * y_score))).astype(int)
    display = TopOfListDisplay.from_predictions(y_true, y_score, tau=(0.05, 0.1), level=0.9)
    for tau, interval in display.intervals.items():
        assert interval == metric_interval(f"precision@top{tau}", y_true, y_score, level=0.9)
    segments = [
        tuple(path.vertices[:, 1])
        for collection in display.ax_.collections
        for path in collection.get_paths()
    ]
    assert segments == [(one.low, one.high) for one in display.intervals.values()]
    assert display.ax_.get_ylim()[0] <= min(one.low for one in display.intervals.values())
    with pytest.raises(ValueError, match="leave out sample_weight or level"):
        TopOfListDisplay.from_predictions(
            y_true, y_score, tau=0.1, level=0.9, sample_weight=np.ones(400)
        )


def test_the_axis_of_precision_holds_what_is_drawn():
    y, score = np.arange(3000) % 300 == 299, -np.arange(3000.0)
    low = TopOfListDisplay.from_predictions(y, score, tau=0.5, level=0.95)
    highest = max(low.precision.max(), *(one.high for one in low.intervals.values()))
    assert low.ax_.get_ylim() == pytest.approx((0.0, 1.02 * highest))
    both = TopOfListDisplay.from_predictions(y, y.astype(float), ax=low.ax_)
    assert both.ax_.get_ylim() == pytest.approx((0.0, 1.02))
    again = TopOfListDisplay.from_predictions(y, score, ax=both.ax_)
    assert again.ax_.get_ylim() == pytest.approx((0.0, 1.02))
