"""Synthetic binary data with rare positives of two kinds and a known optimal ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import t
from sklearn.utils import Bunch, check_random_state

from .._arguments import check_flag, check_number, check_share, check_whole

__all__ = ["make_bipartite_ranking"]

# Tails of the first feature: Student's t with so many degrees of freedom.
DEGREES = 3


def make_bipartite_ranking(
    n_samples: int = 10_000,
    n_features: int = 2,
    *,
    positive_fraction: float = 0.02,
    clear_fraction: float = 0.25,
    shift: float = 2.0,
    clear_shift: float = 3.0,
    return_X_y: bool = False,
    random_state: Any = None,
) -> Any:
    """Generate a binary data set with rare positives and a separate rule at the top of the list.

    Most positives have larger values of the first feature, which has heavy tails: negatives have
    large values too. A few *clear* positives have larger values of the second feature, which has
    normal tails. The first feature separates the classes over the whole list, the second one at
    the top.

    Parameters
    ----------
    n_samples : int, default=10000
        Number of rows, at least 1.
    n_features : int, default=2
        Number of features, at least 2; those after the second are standard normal noise.
    positive_fraction : float, default=0.02
        Probability of the positive class, in (0, 1).
    clear_fraction : float, default=0.25
        Probability that a positive is clear, in [0, 1].
    shift : float, default=2.0
        Added to the first feature of positives that are not clear.
    clear_shift : float, default=3.0
        Added to the second feature of clear positives.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.
    random_state : int, RandomState instance or None, default=None
        Random number generator or seed. Pass an int for reproducible results.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with

        data : ndarray of shape (n_samples, n_features)
            The features.
        target : ndarray of shape (n_samples,)
            Labels, 1 for positives and 0 for negatives, int64.
        is_clear : ndarray of shape (n_samples,)
            True for clear positives.
        probability : ndarray of shape (n_samples,)
            Probability of the positive class given the features; as scores they are optimal in
            expectation for every part of the list.
        feature_names : list of str
            ``"feature_1"`` and so on.

        If `return_X_y`, the tuple ``(data, target)`` instead.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    TypeError
        If an argument is not a whole number where one is required.

    See Also
    --------
    load_ionosphere : Loads a real binary data set.
    make_subset_ranking : Generates queries with graded items.

    Notes
    -----
    The first feature is Student's t with 3 degrees of freedom, the second is standard normal, both
    before the shifts. With p the fraction of positives, c that of clear ones among them, f the
    density of the first feature and g the normal density, the odds of the positive class are
    ``p / (1 - p) * ((1 - c) * f(x_1 - shift) / f(x_1) + c * g(x_2 - clear_shift) / g(x_2))``.

    The cost is O(n_samples n_features) time and memory.

    Examples
    --------
    >>> from sklearn_rank.datasets import make_bipartite_ranking
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> bunch = make_bipartite_ranking(50_000, random_state=0)
    >>> round(precision_at_top_score(bunch.target, bunch.data[:, 0], tau=0.005), 2)
    0.05
    >>> round(precision_at_top_score(bunch.target, bunch.probability, tau=0.005), 2)
    0.6
    """
    check_whole("n_samples", n_samples, 1)
    check_whole("n_features", n_features, 2)
    check_share("positive_fraction", positive_fraction)
    check_number("clear_fraction", clear_fraction, 0.0, 1.0)
    check_number("shift", shift, closed="neither")
    check_number("clear_shift", clear_shift, closed="neither")
    check_flag("return_X_y", return_X_y)

    random = check_random_state(random_state)
    positive = random.uniform(size=n_samples) < positive_fraction
    clear = positive & (random.uniform(size=n_samples) < clear_fraction)
    data = random.standard_normal((n_samples, n_features))
    data[:, 0] = random.standard_t(DEGREES, size=n_samples)
    data[positive & ~clear, 0] += shift
    data[clear, 1] += clear_shift
    target = positive.astype(np.int64)
    if return_X_y:
        return data, target

    first, second = data[:, 0], data[:, 1]
    ratio = (1.0 - clear_fraction) * np.exp(
        t.logpdf(first - shift, DEGREES) - t.logpdf(first, DEGREES)
    ) + clear_fraction * np.exp(clear_shift * second - clear_shift**2 / 2.0)
    return Bunch(
        data=data,
        target=target,
        is_clear=clear,
        probability=1.0 / (1.0 + (1.0 - positive_fraction) / (positive_fraction * ratio)),
        feature_names=[f"feature_{number}" for number in range(1, n_features + 1)],
    )
