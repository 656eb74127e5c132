"""Labels known in part: exact limits of counts, and the variance over all samples."""

from itertools import combinations

import numpy as np
from scipy.stats import hypergeom


def midp_limits_of_total(n_rows, n_sampled, n_found, level):
    """Smallest and largest total of positives whose mid-p-values are not below the error."""
    alpha = (1 - level) / 2
    totals = []
    for total in range(n_found, n_rows - (n_sampled - n_found) + 1):
        law = hypergeom(n_rows, total, n_sampled)
        at = law.pmf(n_found) / 2
        if min(law.cdf(n_found - 1) + at, law.sf(n_found) + at) >= alpha:
            totals.append(total)
    return min(totals), max(totals)


def deviation_of_weighted_sums(values, n_sampled):
    """Standard deviation of ``N / n sum of values`` over all samples without replacement."""
    factor = len(values) / n_sampled
    sums = [
        factor * sum(values[i] for i in sample)
        for sample in combinations(range(len(values)), n_sampled)
    ]
    return float(np.std(sums))
