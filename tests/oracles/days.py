"""Variance of a sum over days that depend, by its definition: loops over days and transforms."""

import math


def autocorrelation(values, lag):
    mean = sum(values) / len(values)
    products = sum((values[t] - mean) * (values[t - lag] - mean) for t in range(lag, len(values)))
    return products / sum((x - mean) ** 2 for x in values)


def persistence(values):
    n = len(values)
    first, second, third = (autocorrelation(values, lag) for lag in (1, 2, 3))
    found = first + (1 + 3 * first) / n
    if first + second > 3 / math.sqrt(n):
        found = max(found, (second + third) / (first + second))
    return min(max(found, 0), max(1 - 2 * math.pi / n, 0))


def variance_of_sum(sums):
    """Variance of the sum of what days move a statistic, and its degrees of freedom."""
    n = len(sums)
    count = min(max(round(0.4 * n ** (2 / 3)), 4), n // 2)
    q, squares, shares = persistence(sums), [], []
    for j in range(1, count + 1):
        cosines = [math.cos(math.pi * j * (t + 0.5) / n) for t in range(n)]
        # Twice the sum over pairs of days is the square of the transform.
        pairs = [
            2 / n * cosines[s] * cosines[t] * sums[s] * sums[t] for s in range(n) for t in range(n)
        ]
        squares.append(sum(pairs))
        # The density of an autoregression: the sum over lags of its autocovariances.
        density = 1 + 2 * sum(q**lag * math.cos(math.pi * j * lag / n) for lag in range(1, 3000))
        shares.append(density / (1 + 2 * sum(q**lag for lag in range(1, 3000))))
    variance = (n - 1) * sum(squares) / sum(shares)
    return variance, sum(shares) ** 2 / sum(x * x for x in shares)


def variance_of_mean(values):
    """The same of the mean of values of days, each of which moves it by its n-th part."""
    n = len(values)
    mean = sum(values) / n
    variance, degrees = variance_of_sum([(x - mean) / n for x in values])
    # As the variance of a sample has n - 1 in its denominator.
    return variance * n / (n - 1), degrees
