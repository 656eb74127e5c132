"""Influence, permutation and resampling by definition: every pair, every choice, every deletion.

A score-generating function is here a function of u in (0, 1), with its derivative.
"""

from itertools import combinations, pairwise
from math import comb, exp, inf, log, sqrt

from scipy.optimize import brentq
from scipy.stats import beta


def tied_mean(y_score, score, phi, n):
    below = sum(other < score for other in y_score)
    tied = sum(other == score for other in y_score)
    return sum(phi((below + j) / (n + 1)) for j in range(1, tied + 1)) / tied


def influence(y_true, y_score, phi, derivative):
    """Influence of each item on the mean over the positives, labels fixed, pair by pair.

    Each item of a tied block stands at every place of it alike: of another place of the same
    block it lies below with the share of the block that is lower.
    """
    n, k = len(y_score), sum(y_true)
    values = []
    for label, score in zip(y_true, y_score, strict=True):
        gained = 0.0
        for other_label, other in zip(y_true, y_score, strict=True):
            if not other_label or other < score:
                continue
            below = sum(one < other for one in y_score)
            tied = sum(one == other for one in y_score)
            for j in range(1, tied + 1):
                lower = 1.0 if other > score else (j - 0.5) / tied
                gained += derivative((below + j) / (n + 1)) * lower / tied
        if label:
            values.append(tied_mean(y_score, score, phi, n) + gained / (n + 1))
        else:
            values.append((n - k) / (n + 1) * gained / k)
    return centred(values, y_true)


def centred(values, y_true):
    """Each value less the mean of its class, times n over the size of its class."""
    n = len(values)
    means = {}
    for label in (0, 1):
        part = [v for v, y in zip(values, y_true, strict=True) if y == label]
        means[label] = (sum(part) / len(part), len(part))
    return [(v - means[y][0]) * n / means[y][1] for v, y in zip(values, y_true, strict=True)]


def bias(y_true, y_score, phi):
    """Bias of the mean value, place by place: the items of a tied block in even mixture.

    The rank of an item that stands at a place is normal, by three nodes, with the mean and the
    variance that the other items give it.
    """
    n, k = len(y_score), sum(y_true)
    m, total = n - k, 0.0
    for label, score in zip(y_true, y_score, strict=True):
        if not label:
            continue
        tied = [y for y, s in zip(y_true, y_score, strict=True) if s == score]
        lower = [y for y, s in zip(y_true, y_score, strict=True) if s < score]
        for place in range(len(tied)):
            share = (place + 0.5) / len(tied)
            pos = sum(lower) + share * sum(tied)
            neg = len(lower) - sum(lower) + share * (len(tied) - sum(tied))
            g, h = pos / k, neg / m
            mean = (1 + (k - 1) * g + m * h) / (n + 1)
            reach = (3 * ((k - 1) * g * (1 - g) + m * h * (1 - h))) ** 0.5 / (n + 1)
            reach = min(reach, max(min(mean, 1 - mean) - 0.5 / (n + 1), 0.0))
            expected = (phi(mean - reach) + 4 * phi(mean) + phi(mean + reach)) / 6
            total += (expected - phi((pos + neg) / n)) / len(tied)
    return total / k


def structural_components(y_true, y_score):
    """DeLong's V10 and V01: for each item the share of the other class that it is right of."""
    positives = [s for s, y in zip(y_score, y_true, strict=True) if y]
    negatives = [s for s, y in zip(y_score, y_true, strict=True) if not y]

    def share(above, below):
        return sum((a > b) + 0.5 * (a == b) for a in above for b in below) / (
            len(above) * len(below)
        )

    return (
        [share([one], negatives) for one in positives],
        [share(positives, [one]) for one in negatives],
    )


def covariance(first, second):
    n = len(first)
    mean_first, mean_second = sum(first) / n, sum(second) / n
    return sum(
        (a - mean_first) * (b - mean_second) for a, b in zip(first, second, strict=True)
    ) / (n - 1)


def delong(y_true, y_score_a, y_score_b):
    """Difference of the AUCs and its standard error."""
    v10_a, v01_a = structural_components(y_true, y_score_a)
    v10_b, v01_b = structural_components(y_true, y_score_b)
    variance = 0.0
    for a, b in ((v10_a, v10_b), (v01_a, v01_b)):
        variance += (covariance(a, a) + covariance(b, b) - 2 * covariance(a, b)) / len(a)
    return sum(v10_a) / len(v10_a) - sum(v10_b) / len(v10_b), variance**0.5


def partial_area(y_true, y_score, weight, max_fpr, min_tpr):
    """Area of a weighted sample under the curve that is straight across ties, by fine steps."""
    blocks = {}
    for label, score, w in zip(y_true, y_score, weight, strict=True):
        blocks.setdefault(score, [0.0, 0.0])[0 if label else 1] += w
    total = [sum(block[i] for block in blocks.values()) for i in (0, 1)]
    corners = [(0.0, 0.0)]
    for score in sorted(blocks, reverse=True):
        tpr, fpr = corners[-1][1], corners[-1][0]
        corners.append((fpr + blocks[score][1] / total[1], tpr + blocks[score][0] / total[0]))
    area = 0.0
    for (left, low), (right, high) in pairwise(corners):
        if right <= left or left >= max_fpr:
            continue
        slope = (high - low) / (right - left)
        right = min(right, max_fpr)
        low, high = low - min_tpr, low + slope * (right - left) - min_tpr
        if low >= 0:
            area += (right - left) * (low + high) / 2
        elif high > 0:
            area += high * high / slope / 2
    return area


def derivative_by_weights(functional, y_true, step=1e-6):
    """Influence of each item as the derivative by its weight within its class, times n / size."""
    n = len(y_true)
    base = functional([1.0] * n)
    found = []
    for i in range(n):
        size = sum(y == y_true[i] for y in y_true)
        change = []
        for sign in (1, -1):
            weight = [1.0] * n
            weight[i] += sign * step * size
            change.append(functional(weight) - base)
        found.append((change[0] - change[1]) / (2 * step) * n / size)
    return found


def jackknife_variance(y_true, y_score, statistic):
    """Variance by leaving out one item at a time, class by class."""
    total = 0.0
    for label in (0, 1):
        rows = [i for i, y in enumerate(y_true) if y == label]
        values = []
        for out in rows:
            kept = [i for i in range(len(y_true)) if i != out]
            values.append(statistic([y_true[i] for i in kept], [y_score[i] for i in kept]))
        mean = sum(values) / len(values)
        total += (len(rows) - 1) / len(rows) * sum((v - mean) ** 2 for v in values)
    return total


def permutation_pvalues(scores_pos, scores_neg, phi):
    """P-values (less, greater, two-sided) over all choices of the positives."""
    pooled = list(scores_pos) + list(scores_neg)
    n, k = len(pooled), len(scores_pos)
    values = [tied_mean(pooled, score, phi, n) for score in pooled]
    observed = sum(values[:k])
    sums = [sum(values[i] for i in chosen) for chosen in combinations(range(n), k)]
    assert len(sums) == comb(n, k)
    less = sum(one <= observed + 1e-9 for one in sums) / len(sums)
    greater = sum(one >= observed - 1e-9 for one in sums) / len(sums)
    return less, greater, min(1.0, 2 * min(less, greater))


def exponential(alpha):
    return (lambda u: exp(-alpha * (1 - u))), (lambda u: alpha * exp(-alpha * (1 - u)))


def power(p):
    return (lambda u: u**p), (lambda u: p * u ** (p - 1))


def kl_limit(mean, n, delta, upper, steps=200):
    """The farthest x with n KL(mean || x) <= ln(1 / delta), by bisection."""

    def divergence(x):
        total = 0.0
        for a, b in ((mean, x), (1 - mean, 1 - x)):
            if a > 0:
                total += inf if b <= 0 else a * log(a / b)
        return total

    near, far = mean, 1.0 if upper else 0.0
    for _ in range(steps):
        middle = (near + far) / 2
        if n * divergence(middle) <= log(1 / delta):
            near = middle
        else:
            far = middle
    return near


def top_limits(seen, eta, top, tau, z, tail):
    """Limits for a precision at the top that is neither 0 nor 1: the outer of two pairs.

    The precisions from which ``seen`` is z of their standard errors away, and the limits of
    Clopper and Pearson with mid-p values for as many draws as the variance at the shrunken
    precision is worth.
    """

    def variance(p):
        return (p * (1 - p) + (1 - tau) * (p - eta) ** 2) / top

    def excess(p):
        return (seen - p) ** 2 - z**2 * variance(p)

    score = [end if excess(end) <= 0 else brentq(excess, end, seen) for end in (0.0, 1.0)]
    shrunken = (top * seen + 0.5) / (top + 1)
    draws = shrunken * (1 - shrunken) / variance(shrunken)
    hits, misses = draws * seen, draws * (1 - seen)
    # Chances of at least the hits and of more than them, as of a waiting time.
    both = beta(hits, misses + 1), beta(hits + 1, misses)
    exact = [
        brentq(lambda p: sum(one.cdf(p) for one in both) - 2 * tail, 0.0, seen),
        brentq(lambda p: sum(one.sf(p) for one in both) - 2 * tail, seen, 1.0),
    ]
    return min(score[0], exact[0]), max(score[1], exact[1])


def with_other_shares(fixed, error, whole, z=1.959963984540054):
    """Limits at one share of positives, widened by the error from the share, on a log scale."""
    value, low, high = fixed
    factor = exp(z * error / value)
    low = value - sqrt((value - low) ** 2 + (value - value / factor) ** 2)
    high = value + sqrt((high - value) ** 2 + (value * factor - value) ** 2)
    return value, max(low, whole[0]), min(high, whole[1])
