"""How far the AUC of a training set may be from its expectation, for all functions of a class.

They hold for whichever function of the class was learned from the very sample that the AUC is of.
Unlike those of a test set they are not cut off at 1: a value of 1 or more says nothing, but shows
how much larger a sample would have to be.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Literal, TypeAlias

from ._bound import Bound
from ._shatter import (
    OURS,
    Kind,
    _dimension,
    _log_regions,
    log_rank_shatter_coefficient,
    log_shatter_coefficient,
)
from ._test_set import (
    INDEPENDENT,
    PAPER,
    TARGETS,
    Labels,
    Side,
    _check_choice,
    _check_counts,
    _check_inside,
)

__all__ = [
    "auc_uniform_bound",
    "auc_uniform_deviation_bound",
    "auc_uniform_sample_size_bound",
]

UniformMethod: TypeAlias = Literal["averaging", "paper", "central", "strict", "freund"]
METHODS = ("averaging", "paper", "central", "strict", "freund")
LARGEST = 2**53


def auc_uniform_bound(
    kind: Kind,
    n_pos: int,
    n_neg: int,
    delta: float,
    *,
    n_features: int | None = None,
    degree: int | None = None,
    n_functions: int | None = None,
    method: UniformMethod = "averaging",
    side: Side = "both",
    labels: Labels = "fixed",
) -> Bound:
    """Bound how far the AUC of a training set is from its expectation, whatever was learned.

    ``sqrt(2 (ln(Pi) + ln(2/delta)) / k)`` with ``k = min(n_pos, n_neg)`` and Pi the number of sign
    patterns on k pairs that share no item ("averaging"); or
    ``sqrt(8 (n_pos + n_neg) (ln(r) + ln(4/delta)) / (n_pos n_neg))`` with r the bipartite
    rank-shatter coefficient at twice the counts ("paper", "central", "strict").

    Parameters
    ----------
    kind : {"linear", "polynomial", "finite"}
        Class of functions: ``w.x + b``; polynomials of a degree; or finitely many functions.
    n_pos : int
        Number of positives of the training set, at least 0.
    n_neg : int
        Number of negatives, at least 0.
    delta : float
        Probability with which the bound may fail, in (0, 1); less makes it larger.
    n_features : int or None, default=None
        Dimension of x; needed but for "finite".
    degree : int or None, default=None
        Largest degree; needed for "polynomial".
    n_functions : int or None, default=None
        Number of functions; needed for "finite".
    method : {"averaging", "paper", "central", "strict", "freund"}, default="averaging"
        "averaging" is ours, and by far the smallest; "paper" is Corollary 18 with Theorem 24 or
        26; "central" and "strict" are Corollary 18 with the smaller coefficients of
        :func:`log_rank_shatter_coefficient`, ours; "freund" is Theorem 27, the older bound that
        the paper compares with.
    side : {"both", "lower", "upper"}, default="both"
        Both sides at once; that expected AUCs are not far below those observed (a lower limit for
        them); or not far above. One side makes "averaging" smaller, the others it leaves as they
        are.
    labels : {"fixed", "random"}, default="fixed"
        Whether the labels are held fixed, or drawn too and the counts are those observed. The
        number is the same.

    Returns
    -------
    Bound
        Of the largest deviation over the class; infinite without positives or negatives. It is
        not cut off at 1, from where on it says nothing.

    Raises
    ------
    ValueError
        If an argument is out of range, missing, or of another kind.

    See Also
    --------
    auc_uniform_deviation_bound : The probability of a given deviation.
    auc_uniform_sample_size_bound : The number of items that suffices.
    auc_finite_class_bound : Finitely many functions, by the AUC that was observed too.
    auc_margin_bound : Norms and margins instead of dimensions.

    Notes
    -----
    "averaging" is also computed with McDiarmid's inequality about the expected supremum,
    ``sqrt(2 ln(Pi) / k) + sqrt((n_pos + n_neg) ln(2/delta) / (2 n_pos n_neg))``, and the smaller
    one is returned; which it is depends on nothing that is random. A finite class needs no
    patterns: ``sqrt(ln(2 |F|/delta) / (2 k))``. The class has to be fixed
    before the data are seen: features that were scaled or chosen with these labels are not.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 18, Theorems 19, 24, 26 and 27.
    .. [2] Hoeffding (1963), *Probability inequalities for sums of bounded random variables*,
       JASA 58, Section 5.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_uniform_bound
    >>> print(auc_uniform_bound("linear", 2000, 2000, 0.01, n_features=20))
    sup |AUC - expected AUC| <= 0.3331 with probability 0.99 given the labels [sklearn_rank, \
Proofs of bounds, Theorem 3]
      where the class of functions does not depend on the training set
      where items are independent given their labels

    The bound of the paper at these counts, and at a tenth of them:

    >>> for n in (2000, 200):
    ...     found = auc_uniform_bound("linear", n, n, 0.01, n_features=20, method="paper")
    ...     print(round(found.value, 2))
    1.58
    4.19
    """
    _check_counts(n_pos, n_neg)
    _check_inside(delta, "delta", "the probability of failure")
    _check_choice(method, "method", METHODS)
    _check_choice(side, "side", tuple(TARGETS))
    _check_choice(labels, "labels", ("fixed", "random"))
    size = _dimension(kind, n_features, degree, n_functions)
    if min(n_pos, n_neg) == 0:
        value = inf
    elif method == "averaging":
        each = log((2.0 if side == "both" else 1.0) / delta)
        value = _averaging(kind, size, n_pos, n_neg, each)
    elif method == "freund":
        value = 0.0
        for n in (n_pos, n_neg):
            patterns = log_shatter_coefficient(
                kind,
                2 * n,
                n_features=n_features,
                degree=degree,
                n_functions=n_functions,
                of="thresholds",
            )
            value += 2.0 * sqrt((patterns + log(12.0 / delta)) / n)
    else:
        patterns = log_rank_shatter_coefficient(
            kind,
            2 * n_pos,
            2 * n_neg,
            n_features=n_features,
            degree=degree,
            n_functions=n_functions,
            method="best" if method == "central" else method,
        )
        weight = 8.0 * (1.0 / n_pos + 1.0 / n_neg)
        value = sqrt(weight * (patterns + log(4.0 / delta)))
    return Bound(
        value=value,
        theorem=_theorem(method, kind, "Corollary 18" if labels == "fixed" else "Theorem 19"),
        target=f"sup {TARGETS[side]}" if side == "both" else f"sup ({TARGETS[side]})",
        delta=delta,
        conditioned_on="the labels" if labels == "fixed" else "",
        assumptions=("the class of functions does not depend on the training set", INDEPENDENT),
    )


def auc_uniform_deviation_bound(
    epsilon: float,
    kind: Kind,
    n_pos: int,
    n_neg: int,
    *,
    n_features: int | None = None,
    degree: int | None = None,
    n_functions: int | None = None,
    method: UniformMethod = "averaging",
) -> Bound:
    """Bound the probability that some AUC of a class is ``epsilon`` from its expectation.

    About ``2 Pi exp(-k epsilon^2 / 2)`` with ``k = min(n_pos, n_neg)`` ("averaging"), or
    ``4 r exp(-n_pos n_neg epsilon^2 / (8 (n_pos + n_neg)))`` ("paper", "central", "strict").

    Parameters
    ----------
    epsilon : float
        Deviation, in (0, 1).
    kind : {"linear", "polynomial", "finite"}
        Class of functions.
    n_pos : int
        Number of positives of the training set, at least 0.
    n_neg : int
        Number of negatives, at least 0.
    n_features : int or None, default=None
        Dimension of x; needed but for "finite".
    degree : int or None, default=None
        Largest degree; needed for "polynomial".
    n_functions : int or None, default=None
        Number of functions; needed for "finite".
    method : {"averaging", "paper", "central", "strict", "freund"}, default="averaging"
        As in :func:`auc_uniform_bound`.

    Returns
    -------
    Bound
        Of the probability, at most 1, given the labels.

    Raises
    ------
    ValueError
        If an argument is out of range, missing, or of another kind.

    See Also
    --------
    auc_uniform_bound : The deviation for a given probability.

    Notes
    -----
    It is the least delta at which :func:`auc_uniform_bound` is at most ``epsilon``.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 17.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_uniform_deviation_bound
    >>> found = auc_uniform_deviation_bound(0.4, "linear", 2000, 2000, n_features=20)
    >>> f"{found.value:.0e}"
    '5e-24'
    >>> auc_uniform_deviation_bound(
    ...     0.4, "linear", 2000, 2000, n_features=20, method="paper"
    ... ).value
    1.0
    """
    _check_inside(epsilon, "epsilon", "a deviation")

    def width(log_delta: float) -> float:
        return auc_uniform_bound(
            kind,
            n_pos,
            n_neg,
            exp(log_delta),
            n_features=n_features,
            degree=degree,
            n_functions=n_functions,
            method=method,
        ).value

    smallest, value = -700.0, 1.0
    if width(-1e-12) <= epsilon:
        if width(smallest) <= epsilon:
            value = exp(smallest)
        else:
            low, high = smallest, -1e-12
            for _ in range(60):
                middle = (low + high) / 2.0
                low, high = (low, middle) if width(middle) <= epsilon else (middle, high)
            value = exp(high)
    return Bound(
        value=value,
        theorem=_theorem(method, kind, "Theorem 17"),
        target=f"P(sup {TARGETS['both']} >= {epsilon:g})",
        conditioned_on="the labels",
        assumptions=("the class of functions does not depend on the training set", INDEPENDENT),
    )


def auc_uniform_sample_size_bound(
    epsilon: float,
    delta: float,
    positive_fraction: float,
    kind: Kind,
    *,
    n_features: int | None = None,
    degree: int | None = None,
    n_functions: int | None = None,
    method: UniformMethod = "averaging",
) -> Bound:
    """Bound the number of training items that make all AUCs of a class accurate to ``epsilon``.

    The least n for which ``auc_uniform_bound(...) <= epsilon`` with ``round(rho n)`` positives,
    rho the share of positives.

    Parameters
    ----------
    epsilon : float
        Deviation that is allowed, in (0, 1); less needs more items.
    delta : float
        Probability with which it may be exceeded, in (0, 1).
    positive_fraction : float
        Share rho of the items that are positive, in (0, 1); 1/2 needs fewest.
    kind : {"linear", "polynomial", "finite"}
        Class of functions.
    n_features : int or None, default=None
        Dimension of x; needed but for "finite".
    degree : int or None, default=None
        Largest degree; needed for "polynomial".
    n_functions : int or None, default=None
        Number of functions; needed for "finite".
    method : {"averaging", "paper", "central", "strict", "freund"}, default="averaging"
        As in :func:`auc_uniform_bound`.

    Returns
    -------
    Bound
        Of the number of items needed, a whole number; infinite beyond 2^53.

    Raises
    ------
    ValueError
        If an argument is out of range, missing, or of another kind.

    See Also
    --------
    auc_sample_size_bound : For one function that does not depend on the sample.
    auc_finite_class_sample_size_bound : For finitely many.

    Notes
    -----
    A doubling and a bisection over the values of :func:`auc_uniform_bound`.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 18.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_uniform_sample_size_bound
    >>> for method in ("averaging", "paper"):
    ...     found = auc_uniform_sample_size_bound(
    ...         0.1, 0.05, 0.5, "linear", n_features=20, method=method
    ...     )
    ...     print(method, round(found.value, -3))
    averaging 65000.0
    paper 1772000.0
    """
    _check_inside(epsilon, "epsilon", "a deviation")
    _check_inside(positive_fraction, "positive_fraction", "the share of positives")

    def suffices(n: int) -> bool:
        n_pos = round(positive_fraction * n)
        found = auc_uniform_bound(
            kind,
            n_pos,
            n - n_pos,
            delta,
            n_features=n_features,
            degree=degree,
            n_functions=n_functions,
            method=method,
        )
        return found.value <= epsilon

    high = 2
    while high <= LARGEST and not suffices(high):
        high *= 2
    low = high // 2
    while high - low > 1 and high <= LARGEST:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return Bound(
        value=float(high) if high <= LARGEST else inf,
        theorem=_theorem(method, kind, "Corollary 18"),
        target=(
            f"items needed for sup {TARGETS['both']} < {epsilon:g} with probability"
            f" {1 - delta:.6g}"
        ),
        conditioned_on="the labels",
        assumptions=("the class of functions does not depend on the training set", INDEPENDENT),
    )


def _averaging(kind: Kind, size: int, n_pos: int, n_neg: int, each: float) -> float:
    fewer = min(n_pos, n_neg)
    if kind == "finite":
        return sqrt((log(size) + each) / (2.0 * fewer))
    patterns = _log_regions(fewer, size)
    at_once = sqrt(2.0 * (patterns + each) / fewer)
    about_mean = sqrt(2.0 * patterns / fewer) + sqrt((1.0 / n_pos + 1.0 / n_neg) * each / 2.0)
    return min(at_once, about_mean)


def _theorem(method: UniformMethod, kind: Kind, statement: str) -> str:
    if method == "averaging":
        return f"{OURS}, Theorem {4 if kind == 'finite' else 3}"
    if method == "freund":
        return f"{PAPER}, Theorem 27"
    paper = f"{PAPER}, {statement}"
    if method == "strict":
        return f"{paper}, with {OURS}, Theorem 2"
    if kind == "finite":
        return paper
    if method == "central":
        return f"{paper}, with {OURS}, Theorem 1"
    return f"{paper} with Theorem {24 if kind == 'linear' else 26}"
