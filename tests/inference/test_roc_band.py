"""The ROC band: its curve is scikit-learn's, its edges are moved copies, and it covers."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_curve

from sklearn_rank.inference import roc_band


def upper_at(band, x):
    """Highest point of the band at each false positive rate, from the definition."""
    tops = []
    for value in np.atleast_1d(x):
        reach = min(value + band.fpr_margin, 1.0)
        # The curve ascends: its highest point up to `reach` is at the last corner or on the slope.
        last = np.flatnonzero(band.fpr <= reach)[-1]
        top = band.tpr[last]
        if last + 1 < len(band.fpr):
            rise = (band.tpr[last + 1] - top) / (band.fpr[last + 1] - band.fpr[last])
            top += rise * (reach - band.fpr[last])
        tops.append(min(top + band.tpr_margin, 1.0))
    return np.array(tops)


@pytest.mark.parametrize("seed", range(5))
def test_curve_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    y, score = rng.integers(0, 2, size=60), rng.integers(0, 20, size=60)
    fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)
    band = roc_band(y, score)
    np.testing.assert_allclose(band.fpr, fpr, atol=1e-15)
    np.testing.assert_allclose(band.tpr, tpr, atol=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_edges_are_what_the_rectangle_reaches(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], rng.integers(3, 60, size=2))
    band = roc_band(y, rng.integers(0, 12, size=len(y)) + 3 * y, level=0.5)
    x, top = band.upper
    assert np.all(np.diff(x) >= 0)
    assert np.all(np.diff(top) >= -1e-15)
    between = (x[:-1] + x[1:])[np.diff(x) > 1e-9] / 2
    line = ((top[:-1] + top[1:]) / 2)[np.diff(x) > 1e-9]
    np.testing.assert_allclose(line, upper_at(band, between), atol=1e-12)
    assert (x[-1], top[-1]) == (1.0, 1.0)


def test_margins_are_quantiles_of_kolmogorov_and_smirnov():
    band = roc_band(np.repeat([0, 1], [300, 40]), np.arange(340), level=0.9)
    assert stats.kstwo.cdf(band.tpr_margin, 40) == pytest.approx(0.9**0.5)
    assert stats.kstwo.cdf(band.fpr_margin, 300) == pytest.approx(0.9**0.5)
    assert band.tpr_margin < np.sqrt(np.log(2 / (1 - 0.9**0.5)) / 80)


@pytest.mark.parametrize(
    ("y", "match"), [([1, 1], "no negative among 2"), ([0, 0], "no positive")]
)
def test_one_class_is_refused(y, match):
    with pytest.raises(ValueError, match=match):
        roc_band(y, [1.0, 2.0])


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="level"):
        roc_band([0, 1], [1.0, 2.0], level=0)
    with pytest.raises(ValueError, match="one list"):
        roc_band([[0, 1], [1, 0]], [[1.0, 2.0], [1.0, 2.0]])
    words = np.array(["no", "yes"])
    assert roc_band(words, [1.0, 2.0], pos_label="yes").n_pos == 1
