"""Simulated rare positives have the distribution that the docstring gives."""

import numpy as np
import pytest
from scipy.stats import norm, t

from sklearn_rank.datasets import make_bipartite_ranking
from tests.naming import for_each


def test_shapes_and_seed():
    bunch = make_bipartite_ranking(50, 4, random_state=3)
    assert bunch.data.shape == (50, 4)
    assert bunch.target.dtype == np.int64
    assert bunch.feature_names == ["feature_1", "feature_2", "feature_3", "feature_4"]
    X, y = make_bipartite_ranking(50, 4, return_X_y=True, random_state=3)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)
    assert (make_bipartite_ranking(50, 4, random_state=4).data != bunch.data).any()


def test_fractions_and_shifts():
    bunch = make_bipartite_ranking(
        200_000,
        3,
        prevalence=0.3,
        clear_fraction=0.4,
        shift=1.5,
        clear_shift=2.5,
        random_state=0,
    )
    positive, clear = bunch.target == 1, bunch.is_clear
    assert positive.mean() == pytest.approx(0.3, abs=0.005)
    assert clear[positive].mean() == pytest.approx(0.4, abs=0.01)
    assert not clear[~positive].any()
    for rows, centre in [
        (~positive, (0, 0, 0)),
        (positive & ~clear, (1.5, 0, 0)),
        (clear, (0, 2.5, 0)),
    ]:
        np.testing.assert_allclose(np.median(bunch.data[rows], axis=0), centre, atol=0.04)
    # Student's t with 3 degrees of freedom has 7 % of its mass beyond 2.65; the normal has 0.8 %.
    tail = (np.abs(bunch.data[~positive, 0]) > 2.65).mean()
    assert tail == pytest.approx(2 * t.sf(2.65, 3), abs=0.003)


def test_probability_is_bayes_rule():
    bunch = make_bipartite_ranking(
        300, prevalence=0.2, clear_fraction=0.4, shift=1.5, clear_shift=2.5, random_state=0
    )
    expected = []
    for first, second in bunch.data:
        plain = t.pdf(first, 3) * norm.pdf(second)
        common = t.pdf(first - 1.5, 3) * norm.pdf(second)
        clear = t.pdf(first, 3) * norm.pdf(second - 2.5)
        both = 0.2 * (0.6 * common + 0.4 * clear)
        expected.append(both / (both + 0.8 * plain))
    np.testing.assert_allclose(bunch.probability, expected, rtol=1e-10)


@pytest.mark.parametrize("fraction", [0, 1])
def test_all_or_no_positives_are_clear(fraction):
    bunch = make_bipartite_ranking(1000, clear_fraction=fraction, random_state=0)
    assert bunch.is_clear.sum() == fraction * bunch.target.sum()


@for_each(
    ("arguments", "error"),
    [
        ({"n_samples": 0}, ValueError),
        ({"n_samples": 1.5}, TypeError),
        ({"n_features": 1}, ValueError),
        ({"prevalence": 0}, ValueError),
        ({"prevalence": 1}, ValueError),
        ({"clear_fraction": -0.1}, ValueError),
        ({"shift": np.nan}, ValueError),
        ({"clear_shift": "far"}, ValueError),
        ({"shift": np.inf}, ValueError),
    ],
)
def test_parameters_outside_their_range_are_refused(arguments, error):
    with pytest.raises(error, match=next(iter(arguments))):
        make_bipartite_ranking(**arguments)
