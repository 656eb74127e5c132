"""Synthetic queries with a known optimal order and noise that can mislead a pairwise loss."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import expit
from sklearn.utils import Bunch, check_random_state

from .._arguments import check_flag, check_number, check_whole, is_whole
from .._typing import FloatArray, IntArray

__all__ = ["make_subset_ranking"]

Utility: TypeAlias = Literal["linear", "logistic", "exponential", "product"]

# Over the range of the features the logarithm of an exponential utility, and the logit of a
# logistic one, grow by twice this.
STEEPNESS = 2.0

# Uniform on [-HALF_WIDTH, HALF_WIDTH]: variance 1.
HALF_WIDTH = float(np.sqrt(3.0))


def make_subset_ranking(
    n_queries: int = 100,
    n_items: int | tuple[int, int] = 10,
    n_features: int = 5,
    *,
    n_grades: int = 5,
    utility: Utility = "linear",
    top: float = 0.5,
    noise: float = 0.2,
    heteroscedastic: bool = False,
    return_X_y: bool = False,
    random_state: Any = None,
) -> Any:
    """Generate a learning-to-rank data set with a known optimal order for each query.

    Grades y in 0, ..., G - 1 are independent given the features x, with expected gain ``U(x) =
    E[2**y - 1 | x] = top * (2**(G - 1) - 1) * f(x)`` and f in [0, 1]. Sorting by U maximises the
    expected DCG at any cut-off.

    Parameters
    ----------
    n_queries : int, default=100
        Number of queries, at least 1.
    n_items : int or pair of int, default=10
        Number of items of each query, at least 1. A pair gives the lowest and the highest number,
        with a uniform distribution between them.
    n_features : int, default=5
        Number of features, at least 2, and at least 3 for ``utility="product"``.
    n_grades : int, default=5
        Number G of grades, from 2 to 50.
    utility : {"linear", "logistic", "exponential", "product"}, default="linear"
        Dependence of U on x. Let z1, z2, z3 be independent, uniform on [-1, 1] and linear in x.
        "linear": ``f = (1 + z1) / 2``. "logistic" and "exponential": U is such a function of z1.
        "product": ``f = (1 + z1 * z3) / 2``, for which no linear score is better than random.
    top : float, default=0.5
        Largest U as a fraction of the gain of the highest grade, in (0, 1); "linear" and "product"
        also allow 1.
    noise : float, default=0.2
        Fraction in [0, 1] of the wide distribution (see Notes). A greater value gives noisier
        grades with the same U.
    heteroscedastic : bool, default=False
        If True, this fraction is ``noise * (1 + z2) / 2`` and varies between items of equal U; it
        needs at least three grades.
    return_X_y : bool, default=False
        If True, return ``(data, target, qid)`` instead of a Bunch.
    random_state : int, RandomState instance or None, default=None
        Random number generator or seed. Pass an int for reproducible results.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with

        data : ndarray of shape (n_samples, n_features)
            The features: mean 0, variance 1, uncorrelated.
        target : ndarray of shape (n_samples,)
            The grades, int64.
        qid : ndarray of shape (n_samples,)
            Query ids 0, ..., n_queries - 1, int64, ascending.
        expected_gain : ndarray of shape (n_samples,)
            U, the optimal scores.
        probabilities : ndarray of shape (n_samples, n_grades)
            Distribution of the grade of each item; the expectation of another gain is
            ``probabilities @ gain(grades)``.
        grades : ndarray of shape (n_grades,)
            0, ..., G - 1.
        noise : ndarray of shape (n_samples,)
            Fraction of the wide distribution for each item.
        coef : ndarray of shape (n_features,) or None
            With `intercept`: U is ``X @ coef + intercept`` ("linear"), the highest gain times
            ``expit`` of it ("logistic"), or ``exp`` of it ("exponential"). None for "product".
        intercept : float or None
            See `coef`.
        feature_names : list of str
            ``"feature_1"`` and so on.

        If `return_X_y`, the tuple ``(data, target, qid)`` instead.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    TypeError
        If an argument is not a whole number where one is required.

    See Also
    --------
    load_letor : Loads real data sets.
    sklearn_rank.metrics.dcg_score : Gives the expected DCG if `expected_gain` is passed as labels.

    Notes
    -----
    The grade is drawn from a mixture of two distributions with mean gain U: a narrow one on the
    two grades whose gains enclose U, and a wide one on the grades 0 and G - 1 only. If `top` is at
    most 1/2, an item of the wide distribution usually has a lower grade than an item of the narrow
    one with the same U. Therefore, with `heteroscedastic`, the order by U differs from the order
    by the probability of the better grade, which a pairwise loss 1{y_i > y_j} prefers. NDCG
    divides by the ideal DCG of the drawn grades, so its optimal order may differ.

    Given z1, the other directions of the features have mean 0. If the expectation of a loss
    depends on the labels through U only, as that of the order-preserving losses with v = 2**y - 1
    does, and is convex in the scores, then by Jensen's inequality its minimum among linear scores
    is at a positive multiple of z1, even if the unrestricted minimiser is another function of z1
    [1]_. Therefore all of these losses can attain the optimal order, unless the utility is
    "product". A linear score is also optimal among all scores in three cases: the squared losses
    with the utility "linear", ``PointwiseLogistic`` with eta the highest gain with "logistic", and
    ``PairwiseLogistic`` with "exponential".

    Each call draws new axes: generate the data for training and testing in one call, and split
    them by query, for example by :func:`~sklearn_rank.model_selection.query_train_test_split`.

    The cost is O(n_samples (n_features**2 + n_grades)) time and O(n_samples (n_features +
    n_grades)) memory.

    References
    ----------
    .. [1] Li & Duan (1989), *Regression analysis under link violation*, Annals of Statistics 17,
       Theorem 2.1.
    .. [2] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Section 3.

    Examples
    --------
    >>> from sklearn_rank.datasets import make_subset_ranking
    >>> from sklearn_rank.metrics import dcg_score
    >>> bunch = make_subset_ranking(
    ...     200, (5, 15), heteroscedastic=True, noise=1, random_state=0
    ... )
    >>> bunch.data.shape, bunch.target.max()
    ((1957, 5), np.int64(4))

    Compute the largest expected DCG, and the regret of other scores:

    >>> def expected_dcg(y_score):
    ...     return dcg_score(bunch.expected_gain, y_score, gain="linear", qid=bunch.qid)
    >>> best = expected_dcg(bunch.expected_gain)
    >>> regret = best - expected_dcg(bunch.data[:, 0])
    >>> round(best, 2), round(regret, 2)
    (19.79, 0.41)
    """
    check_flag("heteroscedastic", heteroscedastic)
    check_flag("return_X_y", return_X_y)
    check_whole("n_queries", n_queries, 1)
    lowest, highest = _range(n_items)
    check_whole("n_grades", n_grades, 3 if heteroscedastic else 2, 50)
    if utility not in ("linear", "logistic", "exponential", "product"):
        raise ValueError(
            f"utility={utility!r} must be 'linear', 'logistic', 'exponential' or 'product'."
        )
    check_whole("n_features", n_features, 3 if utility == "product" else 2)
    check_number("noise", noise, 0.0, 1.0)
    check_number("top", top, 0.0, 1.0)
    if top == 0 or (top == 1 and utility == "logistic"):
        raise ValueError(
            f"top={top!r} must be greater than 0, and less than 1 for a logistic utility."
        )

    random = check_random_state(random_state)
    lengths = random.randint(lowest, highest + 1, size=n_queries)
    n = int(lengths.sum())
    latent = random.uniform(-1.0, 1.0, size=(n, min(n_features, 3)))
    others = random.standard_normal((n, n_features - latent.shape[1]))
    axes = _rotation(n_features, random)
    data = np.hstack([latent * HALF_WIDTH, others]) @ axes.T

    highest_gain = 2.0 ** (n_grades - 1) - 1.0
    share, slope, intercept = _share(latent, utility, float(top), highest_gain)
    shares_of_noise = np.full(n, float(noise))
    if heteroscedastic:
        shares_of_noise *= (1.0 + latent[:, 1]) / 2.0
    probabilities = _probabilities(share, shares_of_noise, n_grades)
    target = _drawn(probabilities, random)
    qid = np.repeat(np.arange(n_queries), lengths)
    if return_X_y:
        return data, target, qid
    return Bunch(
        data=data,
        target=target,
        qid=qid,
        expected_gain=highest_gain * share,
        probabilities=probabilities,
        grades=np.arange(n_grades),
        noise=shares_of_noise,
        coef=None if slope is None else slope / HALF_WIDTH * axes[:, 0],
        intercept=intercept,
        feature_names=[f"feature_{index}" for index in range(1, n_features + 1)],
    )


def _share(
    latent: FloatArray, utility: Utility, top: float, highest_gain: float
) -> tuple[FloatArray, float | None, float | None]:
    """U as a share of the highest gain, and slope and intercept of its linear predictor in z1."""
    z = latent[:, 0]
    if utility == "product":
        return top * (1.0 + z * latent[:, 2]) / 2.0, None, None
    if utility == "linear":
        half = top * highest_gain / 2.0
        return top * (1.0 + z) / 2.0, half, half
    if utility == "exponential":
        return (
            top * np.exp(STEEPNESS * (z - 1.0)),
            STEEPNESS,
            float(np.log(top * highest_gain)) - STEEPNESS,
        )
    intercept = float(np.log(top / (1.0 - top))) - STEEPNESS
    return expit(STEEPNESS * z + intercept), STEEPNESS, intercept


def _probabilities(share: FloatArray, noise: FloatArray, n_grades: int) -> FloatArray:
    """Mixture of the narrowest and the widest distribution on the grades with a mean gain."""
    gains = 2.0 ** np.arange(n_grades) - 1.0
    mean = share * gains[-1]
    below = np.clip(np.searchsorted(gains, mean, side="right") - 1, 0, n_grades - 2)
    above = (mean - gains[below]) / (gains[below + 1] - gains[below])
    rows = np.arange(len(share))
    probabilities = np.zeros((len(share), n_grades))
    probabilities[rows, below] = (1.0 - noise) * (1.0 - above)
    probabilities[rows, below + 1] = (1.0 - noise) * above
    probabilities[:, 0] += noise * (1.0 - share)
    probabilities[:, -1] += noise * share
    return probabilities


def _drawn(probabilities: FloatArray, random: Any) -> IntArray:
    below = random.uniform(size=len(probabilities))
    grade = np.zeros(len(probabilities), dtype=np.int64)
    cumulative = np.zeros(len(probabilities))
    # Not to the last grade: rounded sums may end below 1.
    for column in probabilities.T[:-1]:
        cumulative += column
        grade += below >= cumulative
    return grade


def _rotation(n: int, random: Any) -> FloatArray:
    """Orthogonal matrix, uniform among all."""
    q, r = np.linalg.qr(random.standard_normal((n, n)))
    return q * np.sign(np.diag(r))


def _range(n_items: Any) -> tuple[int, int]:
    if is_whole(n_items):
        n_items = (n_items, n_items)
    try:
        lowest, highest = n_items
    except (TypeError, ValueError):
        raise ValueError(
            f"n_items={n_items!r} must be an integer, or the lowest and the highest number."
        ) from None
    check_whole("n_items", lowest, 1)
    check_whole("n_items", highest, 1)
    if lowest > highest:
        raise ValueError(f"n_items={n_items!r} must give the lowest number first.")
    return int(lowest), int(highest)
