"""Effects of a treatment row by row, and a bootstrap of half samples."""

import numpy as np


def amounts(outcome, treatment, propensity, expected=None):
    """``expected`` is one column, or that without and that with the treatment, or the means."""
    found, means = [], []
    for arm in (0, 1):
        sums = [0.0, 0.0]
        for row, (y, w) in enumerate(zip(outcome, treatment, strict=True)):
            if w == arm:
                p = propensity if np.ndim(propensity) == 0 else propensity[row]
                sums[0] += y / (p if arm else 1 - p)
                sums[1] += 1 / (p if arm else 1 - p)
        means.append(sums[0] / sums[1])
    for row, (y, w) in enumerate(zip(outcome, treatment, strict=True)):
        p = propensity if np.ndim(propensity) == 0 else propensity[row]
        of_row = means if expected is None else np.ravel(expected[row])
        without, treated = of_row[0], of_row[-1]
        effect = treated - without
        if w:
            effect += (y - treated) / p
        else:
            effect -= (y - without) / (1 - p)
        found.append(effect)
    return found


def half_sample_error(measure, labels, score, n_resamples, seed):
    """Deviation of the values of random halves of the rows, drawn without replacement.

    A half of n rows varies about the whole as the whole about the population.
    """
    rng, n, values = np.random.default_rng(seed), len(labels), []
    for _ in range(n_resamples):
        half = rng.permutation(n)[: n // 2]
        values.append(measure(labels[half], score[half]))
    return np.std(values, ddof=1)
