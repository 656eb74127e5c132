"""Observed and predicted shares of positives among the first items."""

import numpy as np
import pytest

from sklearn_rank.inference import calibration_at_top
from sklearn_rank.plotting import TopCalibrationDisplay

from .lists import legend_of


def sample(n=200, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.beta(1, 3, n)
    return (rng.random(n) < prob).astype(int), prob


def test_what_is_drawn_are_the_shares():
    y, prob = sample()
    how = {"k": [100, 10, 50], "level": 0.9, "groups": np.arange(200) // 2}
    display = TopCalibrationDisplay.from_predictions(y, prob, **how, color="red")
    top = calibration_at_top(y, prob, **how)
    np.testing.assert_array_equal(display.line_.get_data(), [[10, 50, 100], top.observed])
    np.testing.assert_array_equal(display.predicted_[""].get_data(), [top.k, top.predicted])
    assert {display.line_.get_color(), display.predicted_[""].get_color()} == {"red"}
    corners = display.bands_[""].get_paths()[0].vertices
    assert set(np.append(top.low, top.high)) == set(corners[:, 1])
    assert legend_of(display.ax_) == ["observed", "mean probability"]
    assert display.ax_.get_xscale() == "log"


def test_several_models_by_name():
    y, prob = sample()
    models = {"true": prob, "sure": np.sqrt(prob)}
    display = TopCalibrationDisplay.from_predictions(y, models, tau=[0.05, 0.5], band=False)
    assert legend_of(display.ax_) == ["true", "sure", "mean probability"]
    assert display.bands_ == {}
    for name in models:
        assert display.tops[name].k.tolist() == [10, 100]
        color = display.lines_[name].get_color()
        assert display.predicted_[name].get_color() == color
    # The order is the same, what is said of it is not.
    observed = [line.get_ydata() for line in display.lines_.values()]
    np.testing.assert_array_equal(*observed)
    assert (display.tops["sure"].error > display.tops["true"].error).all()
    with pytest.raises(ValueError, match="tops is empty"):
        TopCalibrationDisplay({}).plot()


def test_weights_and_scores_are_refused():
    y, prob = sample()
    with pytest.raises(TypeError, match="takes no sample_weight"):
        TopCalibrationDisplay.from_predictions(y, prob, sample_weight=np.ones(200))
    with pytest.raises(ValueError, match="is not a probability"):
        TopCalibrationDisplay.from_predictions(y, 5 * prob)
