"""What the theory page says of a second look, checked by minimising."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from sklearn_rank import TopFocusedRanker
from sklearn_rank.metrics import Cauchy, linear_rank_score

PHI = Cauchy(0.25)
PENALTY = 0.05


def loss(t):
    """log2(1 + e^t), which is at least the indicator of t >= 0."""
    return np.logaddexp(0.0, t) / np.log(2.0)


def with_threshold(s, t, positive):
    """Bound of the share of the negatives above each positive, by way of a threshold."""
    return loss(t - s[positive]) + loss(s[~positive] - t).mean()


def pairwise(s, t, positive):
    """Bound of the share of all rows above each positive, by pairs; t plays no part."""
    differences = s[np.newaxis, :] - s[positive][:, np.newaxis]
    return (loss(differences).sum(axis=1) - loss(0.0)) / len(s)


def sample(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(n, 3))
    positive = rng.random(n) < expit(X @ rng.normal(size=3) - 1)
    return X, positive


@pytest.mark.parametrize("bound", [with_threshold, pairwise])
@pytest.mark.parametrize("seed", range(2))
def test_rounds_never_lower_the_bound_of_the_statistic(bound, seed):
    X, positive = sample(seed)

    def parts(coef):
        return bound(X @ coef[:-1], coef[-1], positive), PENALTY * coef[:-1] @ coef[:-1]

    def surrogate(coef):
        shares, penalty = parts(coef)
        return PHI(1 - shares).sum() - penalty

    coef, before = np.zeros(4), -np.inf
    for _ in range(6):
        weight = PHI.derivative(1 - parts(coef)[0])

        def weighted_loss(coef, weight=weight):
            shares, penalty = parts(coef)
            return weight @ shares + penalty

        coef = minimize(weighted_loss, coef).x
        value = surrogate(coef)
        assert value >= before - 1e-6
        before = value
    s = X @ coef[:-1]
    above = [np.mean(s[~positive] >= score) for score in s[positive]]
    if bound is with_threshold:
        assert surrogate(coef) <= PHI(1 - np.array(above)).sum()
    else:
        # The statistic has ranks over n + 1, which is lower by less than a place each.
        statistic = linear_rank_score(positive, s, phi=PHI, normalize=None)
        assert surrogate(coef) <= statistic + positive.sum() * PHI.lipschitz / len(s)


def test_where_the_top_differs_the_last_round_turns_to_it():
    # Positives on top follow the second feature, in the bulk the first.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 2))
    logit = np.where(X[:, 1] > 1, 4 * X[:, 1] - 2, X[:, 0] - 2)
    y = rng.random(len(X)) < expit(logit)
    fitted = TopFocusedRanker(LogisticRegression()).fit(X, y)
    slopes = [m.coef_[0, 1] / m.coef_[0, 0] for m in (fitted.pilot_, *fitted.rounds_)]
    assert slopes[0] < slopes[1] < slopes[2]
