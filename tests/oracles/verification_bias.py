"""Estimates with labels missing at random, as the R package rocvb 0.1.0 defines them.

Alonzo and Pepe (2005): each label is replaced by a prediction, a weighted label, or both. The
random numbers are those of R, so that its examples can be computed from their text.
"""

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm


class RandomOfR:
    """``set.seed(seed)``, ``rnorm(n)`` by inversion and ``sample(n, size)`` by rejection."""

    def __init__(self, seed):
        keys = []
        for i in range(50 + 625):
            seed = (69069 * seed + 1) % 2**32
            if i > 50:
                keys.append(seed)
        self._bits = np.random.RandomState()
        self._bits.set_state(("MT19937", np.array(keys, dtype=np.uint32), 624))

    def _uniform(self):
        return self._bits.randint(0, 2**32, dtype=np.uint32) * 2.3283064365386963e-10

    def rnorm(self, n):
        shares = [int(2**27 * self._uniform()) + self._uniform() for _ in range(n)]
        return ndtri(np.array(shares) / 2**27)

    def sample(self, n, size):
        left, found = list(range(n)), []
        for _ in range(size):
            n_bits = int(np.ceil(np.log2(len(left))))
            i = len(left)
            while i >= len(left):
                i = int(self._uniform() * 65536) % 2**n_bits
            found.append(left[i])
            left[i] = left[-1]
            left.pop()
        return found


def example(of):
    """Test result, covariate, and label (NaN if not known) of an example of the package."""
    draw = RandomOfR(123)
    test, covariate = np.abs(draw.rnorm(100)), np.abs(draw.rnorm(100))
    if of == "readme":
        sickness, share = 0.3 * test + 0.3 * covariate + draw.rnorm(100), 0.7
    else:
        sickness, share = test + covariate, 0.8
    label = (sickness > np.quantile(sickness, share)).astype(float)
    label[draw.sample(100, 30)] = np.nan
    return test, covariate, label


def box_cox(x):
    """Standardised power of x, of the exponent in -2, -1.9, ..., 2 that is most likely."""

    def power(exponent):
        return np.log(x) if exponent == 0 else (x**exponent - 1) / exponent

    def log_likelihood(exponent):
        spread = np.sum((power(exponent) - power(exponent).mean()) ** 2)
        return (exponent - 1) * np.log(x).sum() - len(x) / 2 * np.log(spread)

    z = power(max(np.arange(-20, 21) / 10, key=log_likelihood))
    return (z - z.mean()) / z.std(ddof=1)


def fitted(x, y, mean, slope):
    """Coefficients of a binomial regression, by least squares with changing weights."""
    coef = np.zeros(x.shape[1])
    for _ in range(50):
        at = x @ coef
        mu, d = mean(at), slope(at)
        weighted = x.T * (d**2 / (mu * (1 - mu)))
        coef = np.linalg.solve(weighted @ x, weighted @ (at + (y - mu) / d))
    return coef


def predictions(test, covariate, label):
    """Probability to be positive by a probit, and to have a label by a logit."""
    x = np.column_stack([np.ones(len(test)), box_cox(test), box_cox(covariate)])
    known = ~np.isnan(label)

    def logistic(at):
        return 1 / (1 + np.exp(-at))

    of_label = norm.cdf(x @ fitted(x[known], label[known], norm.cdf, norm.pdf))
    of_known = logistic(x @ fitted(x, known, logistic, lambda at: logistic(at) * logistic(-at)))
    return np.clip(of_label, 1e-4, 1 - 1e-4), np.clip(of_known, 1e-4, 1 - 1e-4)


def weights(label, of_label, of_known):
    """Weights of each row as a positive and as a negative, by estimator."""
    known = ~np.isnan(label)
    y = np.where(known, label, 0.0)

    def each(y, m):
        return {
            "FI": m,
            "MSI": np.where(known, y, m),
            "IPW": known * y / of_known,
            "SPE": m + known * (y - m) / of_known,
        }

    positive, negative = each(y, of_label), each(1 - y, 1 - of_label)
    return {name: (positive[name], negative[name]) for name in positive}


def auc(positive, negative, test):
    """Share of the pairs in order; a row with itself is a pair, in order as all ties are."""
    rows = range(len(test))
    in_order = sum(positive[i] * negative[j] for i in rows for j in rows if test[i] >= test[j])
    return in_order / (sum(positive) * sum(negative))


def sensitivity(positive, negative, test, specificity):
    """Share of the positives from the lowest cut between two rows of more than a specificity."""
    ordered = np.sort(test)
    for cut in (ordered[1:] + ordered[:-1]) / 2:
        if negative[test < cut].sum() / negative.sum() > specificity:
            return positive[test >= cut].sum() / positive.sum(), int((test >= cut).sum())
    raise AssertionError
