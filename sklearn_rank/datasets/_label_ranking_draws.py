"""Label rankings from a known distribution, with known optimal orders."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata
from sklearn.utils import Bunch, check_random_state

from .._arguments import check_choice, check_flag, check_number, check_whole
from .._typing import FloatArray, IntArray

__all__ = ["make_label_ranking"]

Noise: TypeAlias = Literal["plackett_luce", "mallows"] | None
Structure: TypeAlias = Literal["linear", "nonlinear"]

# Standard deviation of the intercepts, where that of a score over the rows is 1.
SPREAD_OF_LABELS = 0.5
# Standard deviation of the argument of the cosines of nonlinear scores.
STEEPNESS = 1.5
# Below it the first terms of the series are exact in float64, and the closed form is not.
FLAT = 1e-3


def make_label_ranking(
    n_samples: int = 200,
    n_features: int = 5,
    n_labels: int = 5,
    *,
    structure: Structure = "linear",
    noise: Noise = "plackett_luce",
    concentration: float = 2.0,
    ties: float = 0.0,
    missing: float = 0.0,
    return_X_y: bool = False,
    random_state: Any = None,
) -> Any:
    """Generate a label ranking data set with a known optimal order for each row.

    Each label j has a score ``f_j(x)``, and the order by these scores is the centre of the
    distribution of orders given x. No other order has a larger expected Kendall tau or Spearman
    correlation.

    Parameters
    ----------
    n_samples : int, default=200
        Number n of rows.
    n_features : int, default=5
        Number of features, which are independent and standard normal.
    n_labels : int, default=5
        Number K of labels, at least 2.
    structure : {"linear", "nonlinear"}, default="linear"
        Dependence of the scores on x: ``x @ a_j + b_j`` for "linear" and ``sqrt(2) cos(x @ a_j +
        b_j)`` for "nonlinear", which no linear scores can fit. Both have variance 1 over the rows;
        the linear scores also have an intercept of standard deviation 1/2.
    noise : {"plackett_luce", "mallows"} or None, default="plackett_luce"
        Distribution of orders, with c the `concentration`. "plackett_luce" draws labels from the
        top, each with probability proportional to ``exp(c f_j(x))`` among the remaining labels.
        "mallows" draws an order with probability proportional to ``exp(-c d)``, where d is the
        number of pairs that differ from the order of the scores. None means the order of the
        scores.
    concentration : float, default=2.0
        Concentration c of the distribution, at least 0. A greater value gives orders closer to
        that of the scores; at 0 all orders are equally likely.
    ties : float, default=0.0
        Probability in [0, 1) that two neighbours in an order are tied, independently for each
        pair.
    missing : float, default=0.0
        Probability in [0, 1) that a label of a row is missing, independently of its position. At
        least two labels remain in each row.
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
        target : ndarray of shape (n_samples, n_labels)
            Positions among the labels of the row, 1 at the top. Tied labels share the mean of
            their positions, and NaN means a missing label.
        target_type : str
            ``"positions"``, the value to pass to label rankers.
        scores : ndarray of shape (n_samples, n_labels)
            Optimal scores: f, for "plackett_luce" multiplied by c, which gives the logarithms of
            its weights.
        positions : ndarray of shape (n_samples, n_labels)
            Positions of the labels in the optimal order by `scores`, int64.
        pair_probabilities : ndarray of shape (n_samples, n_labels, n_labels)
            Entry ``[row, i, j]`` is the probability that label i is above label j, before ties;
            1/2 for i = j.
        expected_shares : ndarray of shape (n_samples, n_labels)
            Expected fraction of the other labels below each label, which a regression on Borda
            scores estimates.
        expected_tau : ndarray of shape (n_samples,)
            Expected Kendall tau between the optimal order of each row and a drawn order.
        coef : ndarray of shape (n_features, n_labels) or None
            With `intercept`: `scores` is ``data @ coef + intercept``. None if nonlinear.
        intercept : ndarray of shape (n_labels,) or None
            See `coef`.
        feature_names, label_names : list of str
            ``"feature_1"`` and so on, ``"L1"`` and so on.

    Raises
    ------
    ValueError
        If an argument is out of range.
    TypeError
        If an argument is not a whole number where one is required.

    See Also
    --------
    load_label_ranking : Loads label rankings from a file.
    make_subset_ranking : Generates queries with separate items.

    Notes
    -----
    The probability that label i is above j is ``expit(c (f_i - f_j))`` for "plackett_luce"; for
    "mallows", with j h positions below i in the best order and ``q = exp(-c)``, it is ``(h + 1) /
    (1 - q**(h + 1)) - h / (1 - q**h)`` [1]_. Therefore the expected tau of any scores, and their
    regret, can be computed exactly (see the example). If two orders differ by an exchange of two
    labels, the one with the higher-scored label above is more probable. Therefore the same order
    is optimal for all position-based measures, also with ties and missing labels.

    Plackett-Luce orders are drawn by Gumbel noise on the logarithms of the weights, and Mallows
    orders by repeated insertion.

    The cost is O(n K (n_features + K)) time, and 8 n K**2 bytes for the pair probabilities, twice
    that while they are computed. ``return_X_y=True`` does not compute them.

    References
    ----------
    .. [1] Mallows (1957), *Non-null ranking models. I*, Biometrika 44.
    .. [2] Doignon, Pekeč & Regenwetter (2004), *The repeated insertion model for rankings: missing
       link between two subset choice models*, Psychometrika 69.
    .. [3] Cheng, Hühn & Hüllermeier (2009), *Decision tree and instance-based learning for label
       ranking*, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.datasets import make_label_ranking
    >>> bunch = make_label_ranking(1000, n_labels=4, missing=0.3, random_state=0)
    >>> bunch.target[:2]
    array([[ 1., nan, nan,  2.],
           [ 2.,  1., nan,  3.]])
    >>> bunch.positions[:2]
    array([[1, 4, 2, 3],
           [2, 3, 1, 4]])

    The expected tau of any scores, and the regret of one order for all rows:

    >>> def expected_tau(scores):
    ...     above = np.sign(scores[:, :, np.newaxis] - scores[:, np.newaxis, :])
    ...     n_labels = scores.shape[1]
    ...     value = np.sum(above * (2 * bunch.pair_probabilities - 1), axis=(1, 2))
    ...     return np.mean(value / (n_labels * (n_labels - 1)))
    >>> best = expected_tau(bunch.scores)
    >>> bool(np.isclose(best, bunch.expected_tau.mean()))
    True
    >>> constant = np.tile(bunch.expected_shares.mean(axis=0), (1000, 1))
    >>> round(float(best), 2), round(float(best - expected_tau(constant)), 2)
    (0.68, 0.22)
    """
    check_whole("n_samples", n_samples)
    check_whole("n_features", n_features)
    check_whole("n_labels", n_labels, 2)
    check_choice("structure", structure, ("linear", "nonlinear"))
    check_choice("noise", noise, ("plackett_luce", "mallows", None))
    concentration = check_number("concentration", concentration, 0.0, closed="left")
    ties = check_number("ties", ties, 0.0, 1.0, closed="left")
    missing = check_number("missing", missing, 0.0, 1.0, closed="left")
    check_flag("return_X_y", return_X_y)

    random = check_random_state(random_state)
    data = random.standard_normal((n_samples, n_features))
    coef, intercept = _coefficients(n_features, n_labels, structure, random)
    if noise == "plackett_luce" and structure == "linear":
        coef, intercept = coef * concentration, intercept * concentration
    scores = data @ coef + intercept
    if structure == "nonlinear":
        scores = np.sqrt(2.0) * np.cos(scores)
        scores *= concentration if noise == "plackett_luce" else 1.0
    best = _positions(scores)
    drawn = _drawn(scores, best, noise, concentration, random)
    target = _coarsened(drawn, ties, missing, random)
    if return_X_y:
        return data, target
    probabilities = _pair_probabilities(scores, best, noise, concentration)
    return Bunch(
        data=data,
        target=target,
        target_type="positions",
        scores=scores,
        positions=best,
        pair_probabilities=probabilities,
        expected_shares=(probabilities.sum(axis=2) - 0.5) / (n_labels - 1),
        expected_tau=np.abs(2.0 * probabilities - 1.0).sum(axis=(1, 2))
        / (n_labels * (n_labels - 1)),
        coef=coef if structure == "linear" else None,
        intercept=intercept if structure == "linear" else None,
        feature_names=[f"feature_{at}" for at in range(1, n_features + 1)],
        label_names=[f"L{at}" for at in range(1, n_labels + 1)],
    )


def _coefficients(
    n_features: int, n_labels: int, structure: Structure, random: Any
) -> tuple[FloatArray, FloatArray]:
    """A direction for each label, and an intercept or a phase."""
    coef = random.standard_normal((n_features, n_labels))
    coef /= np.linalg.norm(coef, axis=0)
    if structure == "linear":
        return coef, SPREAD_OF_LABELS * random.standard_normal(n_labels)
    return STEEPNESS * coef, random.uniform(0.0, 2.0 * np.pi, size=n_labels)


def _positions(heights: FloatArray) -> IntArray:
    """Positions by falling heights, 1 the top."""
    order = np.argsort(-heights, axis=1, kind="stable")
    positions = np.empty(heights.shape, dtype=np.int64)
    np.put_along_axis(positions, order, np.arange(1, heights.shape[1] + 1)[np.newaxis], axis=1)
    return positions


def _drawn(
    scores: FloatArray, best: IntArray, noise: Noise, concentration: float, random: Any
) -> IntArray:
    """Positions of orders from the distribution."""
    if noise == "plackett_luce":
        return _positions(scores + random.gumbel(size=scores.shape))
    if noise == "mallows":
        inserted = _inserted(scores.shape, concentration, random)
        return np.asarray(np.take_along_axis(inserted, best - 1, axis=1))
    return best


def _inserted(shape: tuple[int, ...], concentration: float, random: Any) -> IntArray:
    """Positions of labels whose best order is that of the columns, by repeated insertion.

    The label that is inserted passes v of those above it, with a probability in proportion to
    ``exp(-concentration * v)``.
    """
    n, n_labels = shape
    positions = np.empty(shape, dtype=np.int64)
    for k in range(n_labels):
        uniform = random.uniform(size=n)
        if concentration > 0:
            share = np.log1p(uniform * np.expm1(-concentration * (k + 1))) / -concentration
        else:
            share = uniform * (k + 1)
        place = k + 1 - np.minimum(share.astype(np.int64), k)
        positions[:, :k] += positions[:, :k] >= place[:, np.newaxis]
        positions[:, k] = place
    return positions


def _coarsened(drawn: IntArray, ties: float, missing: float, random: Any) -> FloatArray:
    """Positions where neighbours are tied and labels are missing."""
    n, n_labels = drawn.shape
    apart = random.uniform(size=(n, n_labels)) >= ties
    # Levels from the top; the first position begins the first one.
    level = np.take_along_axis(np.cumsum(apart, axis=1), drawn - 1, axis=1).astype(np.float64)
    lost = random.uniform(size=(n, n_labels))
    # The last two labels are never removed.
    lost[_positions(lost) <= 2] = 1.0
    level[lost < missing] = np.inf
    return np.where(np.isinf(level), np.nan, rankdata(level, axis=1))


def _pair_probabilities(
    scores: FloatArray, best: IntArray, noise: Noise, concentration: float
) -> FloatArray:
    """Probability that one label is above the other."""
    if noise == "plackett_luce":
        return np.asarray(expit(scores[:, :, np.newaxis] - scores[:, np.newaxis, :]))
    lower_by = best[:, np.newaxis, :] - best[:, :, np.newaxis]
    n_labels = scores.shape[1]
    above = np.ones(n_labels)
    if noise == "mallows":
        above = _mallows_above(np.arange(n_labels), concentration)
    # By the distance of the pair, from -(K - 1) to K - 1.
    by_distance = np.concatenate([1.0 - above[:0:-1], [0.5], above[1:]])
    return np.asarray(by_distance[lower_by + n_labels - 1])


def _mallows_above(distance: IntArray, concentration: float) -> FloatArray:
    """Probability that a label is above one that is so many positions below it at the centre.

    The difference of ``g(h + 1) - g(h)``, with ``g(h) = h / (1 - exp(-concentration * h))``.
    """
    h = np.maximum(distance, 1).astype(np.float64)
    if concentration * (h[-1] + 1.0) < FLAT:
        slope = concentration / 12.0 * (2.0 * h + 1.0)
        return 0.5 + slope - concentration**3 / 720.0 * ((h + 1.0) ** 4 - h**4)
    return (h + 1.0) / -np.expm1(-concentration * (h + 1.0)) - h / -np.expm1(-concentration * h)
