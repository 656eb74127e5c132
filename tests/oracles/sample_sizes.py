"""Planning by definition: integrals and sums instead of formulas, one size after the other."""

import numpy as np
from scipy import integrate, stats


def orthant(h, k, correlation):
    """P(X < h, Y < k) of standard normal variables, given X and integrated over it."""
    root = np.sqrt(1 - correlation**2)
    found, _ = integrate.quad(
        lambda x: stats.norm.pdf(x) * stats.norm.cdf((k - correlation * x) / root), -9.0, h
    )
    return found


def auc_covariance(aucs, correlation, n_pos, n_neg):
    """Covariance of the AUCs of two scorers: the mean over pairs of pairs.

    Of the differences of a positive and a negative score of both scorers the positive, the
    negative, both or none are the same.
    """
    means = np.sqrt(2) * stats.norm.ppf(aucs)
    pairs = {"both": 0.0, "positive": 0.0, "negative": 0.0}
    for shared in pairs:
        # Scores of X1 - Y1 and X2 - Y2, each of variance 2.
        common = correlation * ((shared != "negative") + (shared != "positive"))
        pairs[shared] = orthant(*(means / np.sqrt(2)), common / 2) - aucs[0] * aucs[1]
    number = {"both": 1, "positive": n_neg - 1, "negative": n_pos - 1}
    return sum(number[name] * pairs[name] for name in pairs) / (n_pos * n_neg)


def power_of_t(noncentrality, degrees, level, both=True):
    """P(T > t), or of either side, T = (Z + noncentrality) / sqrt(V / degrees)."""
    critical = stats.t.ppf((1 + level) / 2 if both else level, degrees)

    def rejects(v):
        root = np.sqrt(v / degrees)
        chance = stats.norm.sf(critical * root - noncentrality)
        if both:
            chance += stats.norm.cdf(-critical * root - noncentrality)
        return chance * stats.chi2.pdf(v, degrees)

    middle = float(degrees)
    found = [integrate.quad(rejects, *ends)[0] for ends in ((0, middle), (middle, 20 * middle))]
    return sum(found)
