"""Propensities and relevance by expectation-maximisation, beside the maximum of the likelihood."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank.clicks import em_propensities
from sklearn_rank.datasets import make_clicks
from tests.naming import for_each
from tests.oracles import clicks as oracles

# Of scikit-learn 1.8 where C is infinite.
pytestmark = pytest.mark.filterwarnings("ignore:Setting penalty=None will ignore the C")
PLAIN = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)


def data(n=4000, seed=0, eta=1.0):
    rng = np.random.default_rng(seed)
    X, position = rng.normal(size=(n, 2)), rng.integers(1, 6, n)
    relevant = rng.random(n) < 1 / (1 + np.exp(-1.5 * X[:, 0]))
    return X, (relevant & (rng.random(n) < position**-eta)).astype(int), position


def test_it_ends_at_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(0)
    kind, position = rng.integers(0, 4, 3000), rng.integers(1, 5, 3000)
    chance = np.array([0.1, 0.3, 0.5, 0.8])[kind] / position
    clicks = (rng.random(3000) < chance).astype(int)
    found = em_propensities(np.eye(4)[kind], clicks, position, PLAIN, tol=1e-6, max_iter=1000)
    best, ratios = oracles.best_likelihood(kind, clicks, position)
    assert found.log_likelihood[-1] == pytest.approx(best, abs=1e-7)
    np.testing.assert_allclose(found.value, ratios, rtol=1e-3)


def test_the_likelihood_never_falls():
    found = em_propensities(*data(1500), PLAIN)
    assert found.converged
    assert len(found.log_likelihood) == found.n_iter + 1
    assert np.diff(found.log_likelihood).min() > -1e-9
    assert found.log_likelihood[-1] > found.log_likelihood[0]


@pytest.mark.slow
@pytest.mark.parametrize("eta", [0.0, 1.0, 1.5])
def test_it_recovers_the_propensities(eta):
    X, clicks, position = data(30_000, eta=eta)
    found = em_propensities(X, clicks, position, LogisticRegression())
    np.testing.assert_allclose(found.value, np.arange(1, 6) ** -eta, atol=0.06)
    at = found.of(position)
    np.testing.assert_allclose(at * found.value.max().clip(1), found.value[position - 1])
    assert found.standard_error is None


@pytest.mark.slow
def test_it_recovers_them_from_several_rankers():
    """Each ranker shows the relevant rows elsewhere; click rates alone would be wrong."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(2000, 3)), np.repeat(np.arange(200), 10)
    y = rng.binomial(3, 1 / (1 + np.exp(-2 * X[:, 0])))
    logs = [
        make_clicks(y, X @ way, qid, n_sessions=700, noise=0.05, random_state=seed)
        for seed, way in enumerate([[2, 1, 0], [1, 0, 2], [1, 2, 1]])
    ]
    rows, clicks, position = (
        np.concatenate([one[name] for one in logs]) for name in ("rows", "clicks", "position")
    )
    found = em_propensities(X[rows], clicks, position, LogisticRegression(), tol=3e-3)
    error = np.abs(found.value - 1 / np.arange(1, 11))
    rates = np.array([clicks[position == k].mean() for k in range(1, 11)])
    assert error.max() < 0.1
    assert error.mean() < 0.3 * np.abs(rates / rates[0] - 1 / np.arange(1, 11)).mean()


def test_inputs_of_any_kind():
    X, clicks, position = data(400)
    expected = em_propensities(X, clicks, position, LogisticRegression(), tol=1e-3).value
    frame = pd.DataFrame(X, columns=["a", "b"])
    for features in (sp.csr_array(X), frame, X.tolist()):
        found = em_propensities(
            features, clicks == 1, position.tolist(), LogisticRegression(), tol=1e-3
        )
        np.testing.assert_allclose(found.value, expected, rtol=1e-4)
    scaled = make_pipeline(StandardScaler(), LogisticRegression(C=np.inf))
    found = em_propensities(frame * [1, 100], clicks, position, scaled, tol=1e-3)
    np.testing.assert_allclose(found.value, expected, rtol=0.02)
    trees = DecisionTreeClassifier(max_depth=2, random_state=0)
    again = [em_propensities(X, clicks, position, trees, tol=1e-2).value for _ in range(2)]
    np.testing.assert_array_equal(*again)
    assert not hasattr(trees, "classes_")


def test_weights_are_repetitions():
    X, clicks, position = data(800)
    weight = np.random.default_rng(0).integers(0, 3, 800)
    one = em_propensities(X, clicks, position, PLAIN, sample_weight=weight, tol=1e-3)
    rows = np.repeat(np.arange(800), weight)
    two = em_propensities(X[rows], clicks[rows], position[rows], PLAIN, tol=1e-3)
    np.testing.assert_allclose(one.value, two.value, rtol=1e-4)
    np.testing.assert_allclose(one.log_likelihood, two.log_likelihood, rtol=1e-6)


def test_an_unfinished_search_warns():
    with pytest.warns(ConvergenceWarning, match="last of 2 iterations") as caught:
        found = em_propensities(*data(), LogisticRegression(), max_iter=2)
    assert caught[0].filename == __file__
    assert not found.converged
    assert found.n_iter == 2


@for_each(
    ("change", "message"),
    [
        (
            {"X": lambda X, c, p: np.column_stack((X, -p))},
            "Column 2 of X is a function of the position",
        ),
        ({"X": lambda X, c, p: X[:5]}, "X has 5 rows, but clicks has 4000"),
        ({"clicks": lambda X, c, p: 0 * c}, "all 0 or all 1"),
        ({"clicks": lambda X, c, p: 0 * c + 1}, "all 0 or all 1"),
        ({"clicks": lambda X, c, p: 3 * c}, "clicks is 3 in row"),
        ({"position": lambda X, c, p: p - 1}, "add 1 to positions that start at 0"),
        ({"position": lambda X, c, p: p / 2}, "must be a whole number"),
        ({"position": lambda X, c, p: p + 1}, "pass reference=2"),
        ({"clicks": lambda X, c, p: c * (p > 1)}, "no click at position 1"),
        ({"classifier": lambda X, c, p: Perceptron()}, "needs predict_proba"),
        ({"classifier": lambda X, c, p: KNeighborsClassifier()}, "a fit that takes sample_weight"),
    ],
)
def test_what_is_refused(change, message):
    X, clicks, position = data()
    arguments = {"X": X, "clicks": clicks, "position": position, "classifier": PLAIN}
    arguments |= {name: one(X, clicks, position) for name, one in change.items()}
    with pytest.raises(ValueError, match=message):
        em_propensities(**arguments)
