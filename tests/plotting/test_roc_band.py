"""The ROC curve within its band."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.inference import roc_band
from sklearn_rank.metrics import Exponential, LocalAUC, roc_auc_score
from sklearn_rank.plotting import RocBandDisplay

from .lists import Y_SCORE, Y_TRUE


def test_roc_band_is_drawn_as_it_is():
    band = roc_band(Y_TRUE, Y_SCORE, level=0.9)
    display = RocBandDisplay.from_predictions(Y_TRUE, Y_SCORE, level=0.9, name="mine")
    np.testing.assert_array_equal(display.line_.get_data(), [band.fpr, band.tpr])
    corners = {tuple(corner) for corner in display.band_.get_xy()}
    assert corners == {tuple(c) for c in np.concatenate([band.upper, band.lower], axis=1).T}
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["mine (AUC = 0.59)", "90 % band for the whole curve", "chance"]
    assert display.weight_ax_ is None


def test_roc_bands_on_one_axes_have_colours_of_their_own():
    first = RocBandDisplay.from_predictions(Y_TRUE, Y_SCORE, name="one")
    second = RocBandDisplay.from_predictions(Y_TRUE, -Y_SCORE, name="two", ax=first.ax_)
    assert first.line_.get_color() != second.line_.get_color()
    words = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert words == [
        "one (AUC = 0.59)",
        "two (AUC = 0.41)",
        "95 % band for the whole curve",
        "chance",
    ]


def weight_of(display):
    (area,) = display.weight_ax_.collections
    return area.get_paths()[0].vertices


def test_weight_of_the_auc_is_even_and_that_of_the_top_is_not():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [150, 50])
    score = y + rng.normal(size=200)
    even = weight_of(RocBandDisplay.from_predictions(y, score, phi="wilcoxon"))
    assert set(even[:, 1]) == {0.0, 1.0}
    top = weight_of(RocBandDisplay.from_predictions(y, score, phi=Exponential(20)))
    assert top[top[:, 0] > 0.5, 1].max() < 0.01 * top[:, 1].max()


def test_jump_stands_where_the_list_is_cut():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [150, 50])
    score = y + rng.normal(size=200)
    display = RocBandDisplay.from_predictions(y, score, phi=LocalAUC(0.8))
    (line,) = display.weight_ax_.lines
    # The share of the negatives among the top fifth of the list.
    expected = np.mean(score[y == 0] >= np.sort(score)[-40])
    assert line.get_xdata()[0] == pytest.approx(expected, abs=0.01)
    assert "jump" in display.weight_ax_.get_ylabel()


def test_roc_band_of_an_estimator():
    X, y = load_ionosphere(return_X_y=True)
    words = np.array(["a bad return", "good"])[y]
    model = LogisticRegression().fit(X, words)
    display = RocBandDisplay.from_estimator(model, X, words, pos_label="good")
    expected = roc_band(y, model.decision_function(X))
    np.testing.assert_array_equal(display.band.tpr, expected.tpr)
    assert (
        display.line_.get_label()
        == f"LogisticRegression (AUC = {roc_auc_score(y, model.decision_function(X)):.2f})"
    )


def test_weights_are_refused():
    with pytest.raises(TypeError, match="its band is of rows that count once: leave it out"):
        RocBandDisplay.from_predictions(Y_TRUE, Y_SCORE, sample_weight=np.ones(len(Y_TRUE)))
    X, y = load_ionosphere(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(TypeError, match="takes no sample_weight"):
        RocBandDisplay.from_estimator(model, X, y, sample_weight=np.ones(len(y)))


def test_words_as_labels_and_the_look_of_the_axes():
    named = np.where(Y_TRUE == 1, "a good return", "bad")
    display = RocBandDisplay.from_predictions(
        named, Y_SCORE, pos_label="a good return", linestyle="--", color="black"
    )
    band = roc_band(Y_TRUE, Y_SCORE)
    np.testing.assert_array_equal(display.line_.get_data(), [band.fpr, band.tpr])
    np.testing.assert_array_equal(display.chance_.get_data(), [[0, 1], [0, 1]])
    assert (display.line_.get_linestyle(), display.line_.get_color()) == ("--", "black")
    assert display.band_.get_facecolor()[:3] == (0.0, 0.0, 0.0)
    assert display.ax_.get_aspect() == 1.0
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "False positive rate",
        "True positive rate",
    )
    with pytest.raises(ValueError, match="pos_label"):
        RocBandDisplay.from_predictions(named, Y_SCORE)


def test_a_weight_of_ones_own():
    with pytest.raises(ValueError, match="derivative"):
        RocBandDisplay.from_predictions(Y_TRUE, Y_SCORE, phi=lambda u: u**2)
    with pytest.raises(ValueError, match=r"level=2 must be a number in \(0, 1\)"):
        RocBandDisplay.from_predictions(Y_TRUE, Y_SCORE, level=2)


def test_corners_that_nobody_sees_are_not_drawn():
    rng = np.random.default_rng(0)
    y = rng.random(60_000) < 0.3
    band = roc_band(y, y + rng.normal(size=len(y)))
    display = RocBandDisplay(band).plot()
    fpr, tpr = display.line_.get_data()
    assert len(band.fpr) > 50_000
    assert len(fpr) < 8_001
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    # As far apart along the curve, which the sum of both rates numbers, as a cell at most.
    along = np.linspace(0, 2, 10_001)
    for drawn, rate in ((fpr, band.fpr), (tpr, band.tpr)):
        exact = np.interp(along, band.fpr + band.tpr, rate)
        assert np.abs(np.interp(along, fpr + tpr, drawn) - exact).max() <= 1 / 2000
    assert len(display.band_.get_xy()) < 16_010
