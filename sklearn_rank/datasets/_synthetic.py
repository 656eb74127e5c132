"""Synthetic data with a known optimal order: two classes, queries, clicks, label rankings."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata, t
from sklearn.utils import Bunch

from .._lists import LabelType, check_scored_lists
from .._order import ragged_ranges
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import (
    check_choice,
    check_flag,
    check_number,
    check_position,
    check_random_state,
    check_share,
    check_vector,
    check_whole,
    is_whole,
)


def make_bipartite_ranking(
    n_samples: int = 10_000,
    n_features: int = 2,
    *,
    prevalence: float = 0.02,
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
    prevalence : float, default=0.02
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
    check_share("prevalence", prevalence)
    check_number("clear_fraction", clear_fraction, 0.0, 1.0)
    check_number("shift", shift, closed="neither")
    check_number("clear_shift", clear_shift, closed="neither")
    check_flag("return_X_y", return_X_y)

    random = check_random_state(random_state)
    positive = random.uniform(size=n_samples) < prevalence
    clear = positive & (random.uniform(size=n_samples) < clear_fraction)
    data = random.standard_normal((n_samples, n_features))
    data[:, 0] = random.standard_t(3, size=n_samples)
    data[positive & ~clear, 0] += shift
    data[clear, 1] += clear_shift
    target = positive.astype(np.int64)
    if return_X_y:
        return data, target

    first, second = data[:, 0], data[:, 1]
    ratio = (1.0 - clear_fraction) * np.exp(
        t.logpdf(first - shift, 3) - t.logpdf(first, 3)
    ) + clear_fraction * np.exp(clear_shift * second - clear_shift**2 / 2.0)
    return Bunch(
        data=data,
        target=target,
        is_clear=clear,
        probability=1.0 / (1.0 + (1.0 - prevalence) / (prevalence * ratio)),
        feature_names=[f"feature_{number}" for number in range(1, n_features + 1)],
    )


Utility: TypeAlias = Literal["linear", "logistic", "exponential", "product"]


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
    sizes: Any = (n_items, n_items) if is_whole(n_items) else n_items
    if np.shape(sizes) != (2,):
        raise ValueError(
            f"n_items={n_items!r} must be an integer, or the lowest and the highest number."
        )
    lowest, highest = (check_whole("n_items", size) for size in sizes)
    if lowest > highest:
        raise ValueError(f"n_items={n_items!r} must give the lowest number first.")
    check_whole("n_grades", n_grades, 3 if heteroscedastic else 2, 50)
    check_choice("utility", utility, get_args(Utility))
    check_whole("n_features", n_features, 3 if utility == "product" else 2)
    check_number("noise", noise, 0.0, 1.0)
    closed: Any = "neither" if utility == "logistic" else "right"
    check_number("top", top, 0.0, 1.0, closed=closed, what=f"that of a {utility} utility")

    random = check_random_state(random_state)
    lengths = random.randint(lowest, highest + 1, size=n_queries)
    n = int(lengths.sum())
    latent = random.uniform(-1.0, 1.0, size=(n, min(n_features, 3)))
    others = random.standard_normal((n, n_features - latent.shape[1]))
    # An orthogonal matrix, uniform among all.
    axes, triangle = np.linalg.qr(random.standard_normal((n_features, n_features)))
    axes *= np.sign(np.diag(triangle))
    # Uniform features of variance 1.
    half_width = np.sqrt(3.0)
    data = np.hstack([latent * half_width, others]) @ axes.T

    highest_gain = 2.0 ** (n_grades - 1) - 1.0
    share, slope, intercept = _share(latent, utility, float(top), highest_gain)
    shares_of_noise = np.full(n, float(noise))
    if heteroscedastic:
        shares_of_noise *= (1.0 + latent[:, 1]) / 2.0
    probabilities = _probabilities(share, shares_of_noise, n_grades)
    draws, cumulative = random.uniform(size=n), np.zeros(n)
    target = np.zeros(n, dtype=np.int64)
    # Not to the last grade: rounded sums may end below 1.
    for column in probabilities.T[:-1]:
        cumulative += column
        target += draws >= cumulative
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
        coef=None if slope is None else slope / half_width * axes[:, 0],
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
    # The logarithm of an exponential utility, and the logit of a logistic one, grow by twice this.
    slope = 2.0
    if utility == "exponential":
        share = top * np.exp(slope * (z - 1.0))
        return share, slope, float(np.log(top * highest_gain)) - slope
    intercept = float(np.log(top / (1.0 - top))) - slope
    return expit(slope * z + intercept), slope, intercept


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


Intervention: TypeAlias = Literal["swap", "random"] | None


def make_clicks(
    y: Any,
    y_score: Any,
    qid: Any = None,
    *,
    n_sessions: int = 1000,
    eta: float = 1.0,
    noise: Any = 0.0,
    k: int | None = None,
    intervention: Intervention = None,
    random_state: Any = None,
) -> Bunch:
    """Simulate a click log from graded relevance by the position-based click model.

    Each session shows the rows of one query, drawn with equal probability, by descending score of
    the logging ranker. The row at position i is examined with probability ``theta_i = i**-eta``.
    An examined row is clicked with probability ``noise_i + (1 - noise_i) (2**y - 1) / (2**max(y) -
    1)``, independently of all others; max(y) is over all rows.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Relevance grades, at least 0.
    y_score : array-like of shape (n_samples,)
        Scores of the logging ranker; a higher score ranks a row nearer to the top. Ties are broken
        at random, once for all sessions.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None means one query.
    n_sessions : int, default=1000
        Number of sessions, at least 1.
    eta : float, default=1.0
        Strength of position bias, at least 0. Propensities fall faster for a greater value; 0
        means no position bias.
    noise : float or array-like of shape (n_positions,), default=0.0
        Click probability, in [0, 1), of an examined row of relevance 0. An array has one
        probability for each position, to simulate users who trust the top positions.
    k : int or None, default=None
        Number of positions that are shown; None shows all rows.
    intervention : {"swap", "random"} or None, default=None
        "swap" draws for each session a position from the second on, with equal probability, and
        exchanges its row with the first row with probability 1/2; lists of one row are not
        changed. "random" shows each list in random order. None shows the order of the scores.
    random_state : int, RandomState instance or None, default=None
        Random number generator or seed. Pass an int for reproducible results.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with one entry for each shown row, ordered by session and position:

        rows : ndarray
            Index of the row in the input, so that the features are ``X[rows]``.
        clicks : ndarray
            1 if the row was clicked, else 0.
        position : ndarray
            Position of the row in the session, 1 at the top.
        propensity : ndarray
            True examination probability theta of the position.
        qid : ndarray
            Index of the session: 0, 1, and so on.
        exchanged : ndarray
            With "swap", the position drawn for the session; otherwise 1.
        swapped : ndarray
            With "swap", 1 if the session was swapped, else 0; otherwise 0.

    Raises
    ------
    ValueError
        If an argument is not valid, or all relevance is 0.

    See Also
    --------
    sklearn_rank.clicks.swap_propensities : Estimates propensities from such clicks.

    Notes
    -----
    Time and memory are proportional to the number of shown rows; "random" also sorts all rows of
    the lists.

    Examples
    --------
    >>> from sklearn_rank.datasets import make_clicks
    >>> log = make_clicks([0, 2, 1], [3.0, 2.0, 1.0], n_sessions=2, random_state=1)
    >>> log.rows, log.position, log.qid
    (array([0, 1, 2, 0, 1, 2]), array([1, 2, 3, 1, 2, 3]), array([0, 0, 0, 1, 1, 1]))
    >>> log.propensity.round(2)
    array([1.  , 0.5 , 0.33, 1.  , 0.5 , 0.33])
    """
    check_whole("n_sessions", n_sessions)
    eta = check_number("eta", eta, 0.0)
    check_choice("intervention", intervention, ("swap", "random", None))
    if k is not None:
        check_position("k", k, optional=True)
    lists = check_scored_lists(y, y_score, LabelType("graded", name="y"), qid=qid)
    highest = float(lists.grade.max())
    if not highest > 0:
        raise ValueError("y has no relevance above 0, so no clicks: pass grades above 0.")
    random = check_random_state(random_state)
    score = lists.score.astype(np.float64)
    order = np.lexsort((random.uniform(size=len(score)), -score, lists.list_of))
    query = random.randint(lists.n_lists, size=n_sessions)
    # Places of the rows that are shown, their sessions and positions.
    lengths = lists.lengths[query]
    items = ragged_ranges(lists.offsets[query], lengths)
    session = np.repeat(np.arange(n_sessions), lengths)
    if intervention == "random":
        items = items[np.lexsort((random.uniform(size=len(items)), session))]
    position = ragged_ranges(np.ones(n_sessions, dtype=np.intp), lengths)
    if k is not None:
        shown = position <= k
        items, session, position = items[shown], session[shown], position[shown]
    exchanged, swapped = np.ones(n_sessions, dtype=np.int64), np.zeros(n_sessions, dtype=bool)
    if intervention == "swap":
        exchanged, swapped = _exchange(items, position, random)
    items = order[items]
    propensity = position.astype(np.float64) ** -eta
    gain = np.expm1(np.log(2.0) * lists.grade) / np.expm1(np.log(2.0) * highest)
    base = _noise(noise, position)
    chance = propensity * (base + (1.0 - base) * gain[items])
    return Bunch(
        rows=items if lists.rows is None else lists.rows[items],
        clicks=(random.uniform(size=len(items)) < chance).astype(np.int64),
        position=position,
        propensity=propensity,
        qid=session,
        exchanged=exchanged[session],
        swapped=swapped[session].astype(np.int64),
    )


def _exchange(items: IntArray, position: IntArray, random: Any) -> tuple[IntArray, BoolArray]:
    """Exchange first rows with others, in place; the positions drawn, and which were swapped."""
    starts = np.flatnonzero(position == 1)
    lengths = np.diff(np.append(starts, len(items)))
    draws = random.uniform(size=len(starts))
    other = np.minimum((draws * (lengths - 1)).astype(np.int64), np.maximum(lengths - 2, 0)) + 1
    other = np.where(lengths > 1, other, 0)
    swapped = (random.uniform(size=len(starts)) < 0.5) & (lengths > 1)
    top, low = starts[swapped], (starts + other)[swapped]
    items[top], items[low] = items[low], items[top]
    return other + 1, swapped


def _noise(noise: Any, position: IntArray) -> FloatArray:
    """Click probability of an examined row of relevance 0, for each row."""
    if np.ndim(noise) == 0:
        return np.full(len(position), check_number("noise", noise, 0.0, 1.0, closed="left"))
    values = check_vector("noise", noise, lowest=0.0)
    if values.max() >= 1:
        raise ValueError(f"noise is {values.max():g} at a position: it must be less than 1.")
    if len(values) < position.max():
        raise ValueError(
            f"noise has {len(values)} entries, but lists have {position.max()} positions: pass one"
            " for each position, or k=."
        )
    return values[position - 1]


Noise: TypeAlias = Literal["plackett_luce", "mallows"] | None
Structure: TypeAlias = Literal["linear", "nonlinear"]


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
    coef: Any = random.standard_normal((n_features, n_labels))
    coef /= np.linalg.norm(coef, axis=0)
    scale = concentration if noise == "plackett_luce" else 1.0
    if structure == "linear":
        coef *= scale
        intercept = scale * (0.5 * random.standard_normal(n_labels))
        scores = data @ coef + intercept
    else:
        phase = random.uniform(0.0, 2.0 * np.pi, size=n_labels)
        scores = np.sqrt(2.0) * np.cos(data @ (1.5 * coef) + phase) * scale
        coef = intercept = None
    best = _positions(scores)
    positions = _draw_orders(scores, best, noise, concentration, random)
    target = _coarsen(positions, ties, missing, random)
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
        coef=coef,
        intercept=intercept,
        feature_names=[f"feature_{i}" for i in range(1, n_features + 1)],
        label_names=[f"L{i}" for i in range(1, n_labels + 1)],
    )


def _positions(heights: FloatArray) -> IntArray:
    """Positions by falling heights, 1 the top."""
    return np.asarray(rankdata(-heights, "ordinal", axis=1), dtype=np.int64)


def _draw_orders(
    scores: FloatArray, best: IntArray, noise: Noise, concentration: float, random: Any
) -> IntArray:
    if noise == "plackett_luce":
        return _positions(scores + random.gumbel(size=scores.shape))
    if noise == "mallows":
        inserted = _insert(scores.shape, concentration, random)
        return np.asarray(np.take_along_axis(inserted, best - 1, axis=1))
    return best


def _insert(shape: tuple[int, ...], concentration: float, random: Any) -> IntArray:
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


def _coarsen(positions: IntArray, ties: float, missing: float, random: Any) -> FloatArray:
    n, n_labels = positions.shape
    apart = random.uniform(size=(n, n_labels)) >= ties
    # Levels from the top; the first position begins the first one.
    level = np.take_along_axis(np.cumsum(apart, axis=1), positions - 1, axis=1).astype(np.float64)
    lost = random.uniform(size=(n, n_labels))
    # The last two labels are never removed.
    lost[_positions(lost) <= 2] = 1.0
    level[lost < missing] = np.inf
    return np.where(np.isinf(level), np.nan, rankdata(level, axis=1))


def _pair_probabilities(
    scores: FloatArray, best: IntArray, noise: Noise, concentration: float
) -> FloatArray:
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
    """Probability that a label is above one at a distance below it in the centre.

    The difference of ``g(h + 1) - g(h)``, with ``g(h) = h / (1 - exp(-concentration * h))``.
    """
    h = np.maximum(distance, 1).astype(np.float64)
    # The first terms of the series are exact in float64 here, where the closed form is not.
    if concentration * (h[-1] + 1.0) < 1e-3:
        slope = concentration / 12.0 * (2.0 * h + 1.0)
        return 0.5 + slope - concentration**3 / 720.0 * ((h + 1.0) ** 4 - h**4)
    return (h + 1.0) / -np.expm1(-concentration * (h + 1.0)) - h / -np.expm1(-concentration * h)
