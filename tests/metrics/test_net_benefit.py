"""Net benefit at one threshold."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.metrics import net_benefit

from ..oracles import thresholds as oracle


def samples(n=40, size=9, seed=0):
    """Labels of both classes, and probabilities many of which are tied and at the threshold."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        labels = rng.permutation([0, 1, *rng.integers(0, 2, size - 2)]).tolist()
        yield labels, (rng.integers(0, 11, size) / 10).tolist(), rng.integers(0, 10) / 10


@pytest.mark.parametrize("standardized", [False, True])
@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_is_the_definition(prevalence, standardized):
    how = {"prevalence": prevalence, "standardized": standardized}
    for labels, probabilities, threshold in samples():
        expected = oracle.net_benefit(labels, probabilities, threshold, **how)
        found = net_benefit(labels, probabilities, threshold=threshold, **how)
        assert found == pytest.approx(expected, abs=1e-14)
        assert type(found) is float


def test_weight_two_is_the_row_twice():
    rng = np.random.default_rng(0)
    for labels, probabilities, threshold in samples(10):
        weight = rng.integers(0, 4, len(labels))
        weight[[labels.index(0), labels.index(1)]] = 1
        how = {"threshold": threshold, "prevalence": 0.3}
        found = net_benefit(labels, probabilities, sample_weight=weight, **how)
        repeated = np.repeat(labels, weight), np.repeat(probabilities, weight)
        assert found == pytest.approx(net_benefit(*repeated, **how), abs=1e-14)


def test_probabilities_in_float32_reach_the_threshold_that_they_are():
    labels, threshold = [1, 0], 0.7
    narrow = np.array([threshold, 0.1], dtype=np.float32)
    assert float(narrow[0]) < threshold
    assert net_benefit(labels, narrow, threshold=threshold) == 0.5
    # Sums of such are a little more than 1.
    assert net_benefit(labels, np.nextafter(np.float32([1, 0]), 2), threshold=0.5) == 0.5


def test_one_class_has_a_value_where_nothing_is_divided_by_the_other():
    assert net_benefit([0, 0], [0.6, 0.1], threshold=0.5) == -0.5
    assert net_benefit([1, 1], [0.6, 0.1], threshold=0.5, standardized=True) == 0.5
    for how in ({"standardized": True}, {"prevalence": 0.1}):
        with pytest.raises(ValueError, match="no positives, so the net benefit"):
            net_benefit([0, 0], [0.6, 0.1], threshold=0.5, **how)
    with pytest.raises(ValueError, match="no negatives, so the net benefit"):
        net_benefit([1, 1], [0.6, 0.1], threshold=0.5, prevalence=0.1)


def test_what_is_no_probability_is_refused():
    y = [1, 0, 1]
    with pytest.raises(ValueError, match=r"y_prob is 1\.7 in row 1, .*CalibratedClassifierCV"):
        net_benefit(y, [0.2, 1.7, 0.1], threshold=0.5)
    with pytest.raises(ValueError, match=r"y_prob is -inf in row 2"):
        net_benefit(y, [0.2, 0.7, -np.inf], threshold=0.5)
    with pytest.raises(ValueError, match=r"y_prob .*NaN"):
        net_benefit(y, [0.2, np.nan, 0.1], threshold=0.5)
    with pytest.raises(ValueError, match=r"y_prob has 2 columns.*predict_proba\(X\)\[:, 1\]"):
        net_benefit(y, np.full((3, 2), 0.5), threshold=0.5)
    with pytest.raises(ValueError, match="y_prob has 2 rows, but y_true has 3"):
        net_benefit(y, [0.2, 0.7], threshold=0.5)
    for threshold in (1, -0.1, np.nan, "0.5"):
        with pytest.raises(ValueError, match=r"threshold=.* must be a number in \[0, 1\)"):
            net_benefit(y, [0.2, 0.7, 0.1], threshold=threshold)


def test_scikit_learn_makes_a_scorer_of_it():
    X, y = load_ionosphere(return_X_y=True)
    scorer = make_scorer(net_benefit, response_method="predict_proba", threshold=0.3)
    found = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
    assert (found > y.mean() - (1 - y.mean()) * 3 / 7).all()
