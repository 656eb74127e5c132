"""Score-generating functions: values, derivatives, jumps and Lipschitz constants."""

import pickle
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_rank.bounds import (
    linear_rank_bound,
    linear_rank_sandwich_bound,
    linear_rank_selection_bound,
)
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    ScoreGeneratingFunction,
    TopDCG,
    VanDerWaerden,
    Wilcoxon,
    get_measure,
    linear_rank_score,
)

U = np.linspace(0.01, 0.99, 99)
FUNCTIONS = [
    (Wilcoxon(), U, 1.0),
    (LocalAUC(0.5), np.where(U >= 0.5, U, 0), np.inf),
    (LocalAUC(0), U, 1.0),
    (Power(2), U**2, 2.0),
    (Power(1), U, 1.0),
    (Power(0.5), np.sqrt(U), np.inf),
    (Exponential(3.0), np.exp(3 * (U - 1)), 3.0),
    (VanDerWaerden(), norm.ppf(U), np.inf),
]
every_function = pytest.mark.parametrize(
    ("phi", "values", "lipschitz"), FUNCTIONS, ids=lambda value: repr(value)[:20]
)


@every_function
def test_values_and_constants(phi, values, lipschitz):
    assert isinstance(phi, ScoreGeneratingFunction)
    assert phi(U) == pytest.approx(values, rel=1e-12)
    assert float(phi(0.5)) == pytest.approx(values[49], abs=1e-12)
    assert np.all(np.diff(phi(U)) >= 0)
    assert phi.lipschitz == lipschitz
    assert phi.is_limit_functional
    assert pickle.loads(pickle.dumps(phi)) == phi
    assert hash(phi) == hash(type(phi)(**vars(phi)))


@every_function
def test_derivative_and_jumps_make_up_the_function(phi, values, lipschitz):
    numeric = (phi(U + 1e-6) - phi(U - 1e-6)) / 2e-6
    away = np.ones(len(U), dtype=bool)
    for at, _ in phi.jumps:
        away &= np.abs(U - at) > 1e-3
    assert phi.derivative(U)[away] == pytest.approx(numeric[away], rel=1e-5, abs=1e-7)
    # From .1 to .9 the function grows by the integral of its derivative and by its jumps.
    grid = np.linspace(0.1, 0.9, 200_001)
    slope = phi.derivative((grid[1:] + grid[:-1]) / 2)
    heights = sum(height for at, height in phi.jumps if 0.1 < at <= 0.9)
    growth = slope.mean() * 0.8 + heights
    assert growth == pytest.approx(float(phi(0.9) - phi(0.1)), rel=1e-4)
    assert np.all(np.diff(phi(grid)) <= lipschitz * np.diff(grid) * (1 + 1e-6))


def test_ends_of_the_interval():
    assert Wilcoxon()([0, 1]).tolist() == [0, 1]
    assert LocalAUC(0.3)([0, 0.3, 1]).tolist() == [0, 0.3, 1]
    assert Power(2)([0, 1]).tolist() == [0, 1]
    assert Exponential(2)([1]).tolist() == [1]
    assert VanDerWaerden()([0, 0.5, 1]).tolist() == [-np.inf, 0, np.inf]


def test_top_dcg_has_no_limit():
    phi = TopDCG(5)
    assert not phi.is_limit_functional
    with pytest.raises(ValueError, match="length of the list"):
        phi(0.5)
    with pytest.raises(ValueError, match="derivative"):
        phi.derivative(0.5)


class Cubed(ScoreGeneratingFunction):
    """What the documentation asks for, and its derivative, which it offers."""

    def __call__(self, u):
        return np.asarray(u) ** 3

    def derivative(self, u):
        return 3 * np.asarray(u) ** 2


class OnlyValues(ScoreGeneratingFunction):
    def __call__(self, u):
        return np.asarray(u) ** 3


@pytest.mark.parametrize("phi", [Cubed(), OnlyValues()], ids=lambda phi: type(phi).__name__)
def test_a_subclass_needs_its_values_and_no_constant(phi):
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 2, 60), rng.integers(0, 20, 60)
    for more in ({}, {"sample_weight": rng.uniform(1, 3, 60)}):
        value = linear_rank_score(y_true, y_score, phi=phi, **more)
        assert value == pytest.approx(linear_rank_score(y_true, y_score, phi=Power(3), **more))
    assert phi.lipschitz is None
    assert phi.jumps == ()
    assert phi.has_derivative == isinstance(phi, Cubed)
    interval = metric_interval(get_measure(linear_rank_score, phi=phi), y_true, y_score)
    assert interval.low < interval.estimate < interval.high
    measure = get_measure(linear_rank_score, phi=phi)
    assert np.isfinite(measure.influence(y_true, y_score)).all()
    for bound in (linear_rank_bound, partial(linear_rank_selection_bound, vc_dimension=3)):
        with pytest.raises(ValueError, match="lipschitz=None must be a finite number"):
            bound(400, 100, 0.05, lipschitz=phi.lipschitz)
    assert linear_rank_sandwich_bound(np.arange(1, 21), 40, 0.05, phi).value > 0
