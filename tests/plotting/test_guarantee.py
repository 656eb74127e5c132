"""What a cut-off could promise, beside what is seen."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_rank.model_selection import TopThresholdClassifier
from sklearn_rank.plotting import GuaranteeDisplay
from tests.model_selection.estimators import Column
from tests.plotting.lists import legend_of


def fitted(**options):
    rng = np.random.default_rng(0)
    y = (rng.random(900) < 0.2).astype(int)
    X = rng.normal(size=(900, 1)) + 2.5 * y[:, np.newaxis]
    return TopThresholdClassifier(Column().fit(X, y), cv="prefit", **options).fit(X, y)


def test_curves_are_drawn_up_to_the_chosen_number_of_rows():
    flag = fitted(min_precision=0.6, max_fpr=0.2)
    curves = flag.guarantee_curves()
    display = GuaranteeDisplay.from_estimator(flag)
    for curve in curves:
        x, y = display.guaranteed_[curve.name].get_data()
        np.testing.assert_array_equal(x, curve.n_flagged)
        np.testing.assert_array_equal(y, curve.guaranteed)
        x, y = display.observed_[curve.name].get_data()
        np.testing.assert_array_equal(y, curve.observed[x.astype(int) - 1])
    assert set(display.chosen_.get_xdata()) == {flag.report_.n_flagged}
    assert f"{flag.report_.n_flagged} rows are flagged" in legend_of(display.ax_)
    assert display.ax_.get_ylabel() == "Share"
    plt.close("all")


def test_where_nothing_can_be_promised_nothing_is_marked():
    with pytest.warns(UserWarning, match="No cut-off has"):
        flag = fitted(min_precision=0.999)
    display = GuaranteeDisplay.from_estimator(flag)
    assert display.chosen_ is None
    assert display.ax_.get_ylabel() == "Precision"
    plt.close("all")


def test_input_without_a_promise_is_refused():
    with pytest.raises(TypeError, match="pass a fitted TopThresholdClassifier"):
        GuaranteeDisplay.from_estimator(LogisticRegression())
    with pytest.raises(ValueError, match="Nothing is promised"):
        GuaranteeDisplay.from_estimator(fitted(capacity=10))
    with pytest.raises(ValueError, match="curves is empty"):
        GuaranteeDisplay([]).plot()
