"""Net benefit against the threshold."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier

from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.inference import net_benefit_curve
from sklearn_rank.plotting import DecisionCurveDisplay

from .lists import legend_of


def sample(n=200, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.beta(1, 3, n)
    return (rng.random(n) < prob).astype(int), prob


def test_what_is_drawn_is_the_curve():
    y, prob = sample()
    how = {"level": 0.9, "standardized": True, "positive_fraction": 0.2, "groups": np.arange(200)}
    thresholds = [0.3, 0.1, 0.2]
    display = DecisionCurveDisplay.from_predictions(y, prob, thresholds=thresholds, **how)
    curve = net_benefit_curve(y, prob, thresholds=thresholds, **how)
    x, benefit = display.line_.get_data()
    np.testing.assert_array_equal(x, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(benefit, curve.net_benefit)
    np.testing.assert_array_equal(display.treat_all_.get_ydata(), curve.treat_all)
    assert set(display.treat_none_.get_ydata()) == {0.0}
    corners = display.bands_[""].get_paths()[0].vertices
    assert set(np.append(curve.low, curve.high)) == set(corners[:, 1])
    assert display.ax_.get_ylabel() == "Standardized net benefit"
    assert legend_of(display.ax_) == ["treat all", "treat none"]


def test_several_models_by_name():
    y, prob = sample()
    models = {"one": prob, "two": np.sqrt(prob)}
    display = DecisionCurveDisplay.from_predictions(y, models, band=False, linestyle="-.")
    assert legend_of(display.ax_) == ["one", "two", "treat all", "treat none"]
    assert display.bands_ == {}
    assert not display.ax_.collections
    for name, one in models.items():
        expected = net_benefit_curve(y, one).net_benefit
        np.testing.assert_array_equal(display.lines_[name].get_ydata(), expected)
        assert display.lines_[name].get_linestyle() == "-."
    frame = DecisionCurveDisplay.from_predictions(y, pd.DataFrame(models))
    assert list(frame.curves) == ["one", "two"]
    with pytest.raises(ValueError, match="has names of its own"):
        DecisionCurveDisplay.from_predictions(y, models, name="mine")
    with pytest.raises(ValueError, match="curves is empty"):
        DecisionCurveDisplay({}).plot()


def test_the_axes_show_all_that_is_above_nothing():
    y, prob = sample()
    _, ax = plt.subplots()
    for one, thresholds in ((prob, None), (prob, [0.8, 0.9])):
        display = DecisionCurveDisplay.from_predictions(y, one, thresholds=thresholds, ax=ax)
    low, high = ax.get_ylim()
    assert high > y.mean()
    assert -high < low < 0
    # Treating all costs a hundred times what it gives: the axis does not follow.
    assert net_benefit_curve(y, prob).treat_all.min() < -50
    assert display.treat_all_.get_ydata().min() < low


def test_estimators_without_probabilities_are_refused():
    X, y = load_ionosphere(return_X_y=True)
    with pytest.raises(AttributeError, match=r"has no predict_proba.*CalibratedClassifierCV"):
        DecisionCurveDisplay.from_estimator(RidgeClassifier().fit(X, y), X, y)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    display = DecisionCurveDisplay.from_estimator(forest, X, y, thresholds=[0.5])
    expected = net_benefit_curve(y, forest.predict_proba(X)[:, 1], thresholds=0.5)
    assert display.curves["RandomForestClassifier"].at(0.5) == expected.at(0.5)


def test_weights_and_scores_are_refused():
    y, prob = sample()
    with pytest.raises(TypeError, match="takes no sample_weight"):
        DecisionCurveDisplay.from_predictions(y, prob, sample_weight=np.ones(200))
    with pytest.raises(ValueError, match="is not a probability"):
        DecisionCurveDisplay.from_predictions(y, 5 * prob)
    with pytest.raises(ValueError, match="one class only"):
        DecisionCurveDisplay.from_predictions(np.ones(200, int), prob)
