"""Share of the positives found."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.plotting import CumulativeGainDisplay

from .lists import Y_SCORE, Y_TRUE


def test_gain_is_the_share_of_positives_found():
    display = CumulativeGainDisplay.from_predictions(Y_TRUE, Y_SCORE)
    # One first, then a tied pair with one, a tied three with one, none, and the last.
    expected = np.array([1, 1.5, 2, 2 + 1 / 3, 2 + 2 / 3, 3, 3, 4]) / 4
    np.testing.assert_allclose(display.gain, expected, rtol=1e-14)
    np.testing.assert_allclose(display.lift, expected / (np.arange(1, 9) / 8), rtol=1e-14)
    x, y = display.line_.get_data()
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    np.testing.assert_array_equal(display.perfect_.get_data(), [[0, 0.5, 1], [0, 1, 1]])


def test_lift_below_the_perfect_one():
    display = CumulativeGainDisplay.from_predictions(Y_TRUE, Y_SCORE, kind="lift", name="mine")
    x, y = display.line_.get_data()
    best = np.interp(x, *display.perfect_.get_data())
    assert np.all(y <= best + 1e-3)
    assert y[0] == 2
    assert set(display.random_.get_ydata()) == {1}
    with pytest.raises(ValueError, match="kind='roc'"):
        display.plot(kind="roc")


def test_gain_without_positives_is_refused():
    with pytest.raises(ValueError, match="no positives"):
        CumulativeGainDisplay.from_predictions([0, 0], [1.0, 2.0])


def test_gain_of_an_estimator():
    X, y = load_ionosphere(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    display = CumulativeGainDisplay.from_estimator(model, X, y)
    second = CumulativeGainDisplay.from_estimator(model, X, y, name="again", ax=display.ax_)
    assert display.base_rate == y.mean()
    words = [text.get_text() for text in second.ax_.get_legend().get_texts()]
    assert words == ["LogisticRegression", "again", "all positives first", "random order"]


def test_weight_two_is_the_row_twice():
    weight = np.array([2, 1, 1, 1, 1, 1, 1, 3])
    weighted = CumulativeGainDisplay.from_predictions(Y_TRUE, Y_SCORE, sample_weight=weight)
    repeated = CumulativeGainDisplay.from_predictions(
        np.repeat(Y_TRUE, weight), np.repeat(Y_SCORE, weight)
    )
    assert weighted.base_rate == repeated.base_rate
    at = np.searchsorted(repeated.share, weighted.share - 1e-12)
    np.testing.assert_allclose(repeated.gain[at], weighted.gain, rtol=1e-12)


def test_words_as_labels_and_styles():
    named = np.where(Y_TRUE == 1, "a good return", "bad")
    display = CumulativeGainDisplay.from_predictions(
        named, Y_SCORE, pos_label="a good return", kind="lift", linestyle="-."
    )
    expected = CumulativeGainDisplay.from_predictions(Y_TRUE, Y_SCORE, kind="lift")
    np.testing.assert_array_equal(display.line_.get_data(), expected.line_.get_data())
    assert display.line_.get_linestyle() == "-."
    assert display.ax_.get_ylabel() == "Lift over random order"
    np.testing.assert_allclose(display.perfect_.get_ydata()[:2], 2.0)
    with pytest.raises(ValueError, match="pos_label"):
        CumulativeGainDisplay.from_predictions(named, Y_SCORE)


def test_lift_of_rare_positives_has_logarithmic_axes_that_hold_what_is_drawn():
    rng = np.random.default_rng(0)
    y = np.arange(5000) % 333 == 0
    good, weak = y * 3 + rng.normal(size=5000), rng.normal(size=5000)
    display = CumulativeGainDisplay.from_predictions(y, weak, kind="lift")
    high = max(display.lift.max(), 1.0)
    if high <= 10:
        assert display.ax_.get_yscale() == "linear"
        assert display.ax_.get_ylim()[1] == pytest.approx(1.02 * high, rel=0.02)
    display = CumulativeGainDisplay.from_predictions(y, good, kind="lift", ax=display.ax_)
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "log")
    assert display.ax_.get_ylim()[1] == pytest.approx(
        1.25 * max(display.lift.max(), high / 1.2), 0.2
    )
    gain = CumulativeGainDisplay.from_predictions(y, good)
    assert gain.ax_.get_yscale() == "linear"
