"""How far the AUC of a test set may be from its expectation, whatever the distribution.

The ranking function is fixed: it does not depend on the test set. All statements are about
``AUC - expected AUC`` where ties count 1/2 in both.
"""

from __future__ import annotations

from math import ceil, exp, inf, log, sqrt
from numbers import Integral, Real
from typing import Literal, TypeAlias

from ._bound import Bound
from ._kl import binary_kl, kl_limits

__all__ = [
    "auc_deviation_bound",
    "auc_sample_size_bound",
    "auc_test_bound",
    "auc_variance_bound",
    "error_rate_sample_size_bound",
    "error_rate_test_bound",
]

Method: TypeAlias = Literal["mcdiarmid", "hoeffding", "kl", "chebyshev"]
Side: TypeAlias = Literal["both", "lower", "upper"]
Labels: TypeAlias = Literal["fixed", "random"]

METHODS = ("mcdiarmid", "hoeffding", "kl", "chebyshev")
TARGETS = {
    "both": "|AUC - expected AUC|",
    "lower": "AUC - expected AUC",
    "upper": "expected AUC - AUC",
}
PAPER = "Agarwal et al. (2005)"
AVERAGING = "Hoeffding (1963), Section 5b, min(n_pos, n_neg) independent pairs"
FIXED_FUNCTION = "the ranking function does not depend on the test set"
INDEPENDENT = "items are independent given their labels"


def auc_test_bound(
    n_pos: int,
    n_neg: int,
    delta: float,
    *,
    method: Method = "mcdiarmid",
    auc: float | None = None,
    side: Side = "both",
    labels: Labels = "fixed",
) -> Bound:
    """Bound how far the AUC of a test set is from its expectation.

    ``"mcdiarmid"``: ``sqrt(ln(2/delta) (n_pos + n_neg) / (2 n_pos n_neg))``; ``"hoeffding"``:
    ``sqrt(ln(2/delta) / (2 min(n_pos, n_neg)))``, always smaller.

    Parameters
    ----------
    n_pos : int
        Number of positives of the test set, at least 0.
    n_neg : int
        Number of negatives, at least 0.
    delta : float
        Probability with which the bound may fail, in (0, 1); less makes it larger.
    method : {"mcdiarmid", "hoeffding", "kl", "chebyshev"}, default="mcdiarmid"
        Inequality. "kl" and "chebyshev" use the observed AUC: all expected AUCs A with
        ``min(n_pos, n_neg) KL(AUC || A) <= ln(2/delta)``, or with
        ``(AUC - A)^2 <= A (1 - A) / (delta min(n_pos, n_neg))``.
    auc : float or None, default=None
        Observed AUC, in [0, 1]; needed for "kl", and None is the worst case for "chebyshev".
    side : {"both", "lower", "upper"}, default="both"
        Both sides at once; that the expected AUC is not far below the observed one (a lower
        limit for it); or not far above it. One side has the whole of delta.
    labels : {"fixed", "random"}, default="fixed"
        Whether the labels are held fixed, or drawn too and the counts are those observed. The
        number is the same.

    Returns
    -------
    Bound
        Of the deviation, at most 1, and 1 without positives or negatives.

    Raises
    ------
    ValueError
        If an argument is out of range, or "kl" has no ``auc``.

    See Also
    --------
    auc_deviation_bound : The probability of a given deviation.
    auc_sample_size_bound : The number of items that suffices.
    sklearn_rank.inference.auc_interval : From labels and scores, and asymptotic methods.

    Notes
    -----
    Of the four, "kl" is never larger than "hoeffding", which is always smaller than "mcdiarmid".
    The AUC is the mean, over all ways to pair them off, of means of ``min(n_pos, n_neg)``
    independent pairs, and Jensen's inequality carries a Chernoff bound over to it. "chebyshev"
    holds with ties too: breaking them at random can only add variance. For both sides the bounds
    of the two halves at ``delta / 2`` are joined, the larger one being reported; "chebyshev" needs
    no halving there.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 6, Theorem 8, Equations 11 and 14.
    .. [2] Hoeffding (1963), *Probability inequalities for sums of bounded random variables*,
       JASA 58, Theorem 1 and Section 5.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_test_bound
    >>> print(auc_test_bound(100, 900, 0.05))
    |AUC - expected AUC| <= 0.1432 with probability 0.95 given the labels [Agarwal et al. (2005), \
Corollary 6]
      where the ranking function does not depend on the test set
      where items are independent given their labels

    The observed AUC makes it much smaller where it is near 1, here for a lower limit:

    >>> bound = auc_test_bound(100, 900, 0.05, method="kl", auc=0.98, side="lower")
    >>> round(0.98 - bound.value, 4)
    0.9253
    """
    _check_counts(n_pos, n_neg)
    _check_inside(delta, "delta", "the probability of failure")
    _check_choice(method, "method", METHODS)
    _check_choice(side, "side", tuple(TARGETS))
    _check_choice(labels, "labels", ("fixed", "random"))
    _check_auc(auc, needed=method == "kl", name="auc")
    fewer = min(n_pos, n_neg)
    each = delta / 2.0 if side == "both" else delta
    if fewer == 0:
        value = 1.0
    elif method == "mcdiarmid":
        value = sqrt(log(1.0 / each) * (n_pos + n_neg) / (2.0 * n_pos * n_neg))
    elif method == "hoeffding":
        value = sqrt(log(1.0 / each) / (2.0 * fewer))
    elif method == "kl" and auc is not None:
        low, high = kl_limits(auc, log(1.0 / each) / fewer)
        value = _of_side(side, auc - float(low), float(high) - auc)
    else:
        value = _chebyshev(fewer, delta, auc, side)
    return Bound(
        value=min(value, 1.0),
        theorem=_theorem(method, labels, "Corollary 6"),
        target=TARGETS[side],
        delta=delta,
        conditioned_on="the labels" if labels == "fixed" else "",
        assumptions=(FIXED_FUNCTION, INDEPENDENT),
    )


def auc_deviation_bound(
    epsilon: float,
    n_pos: int,
    n_neg: int,
    *,
    method: Method = "mcdiarmid",
    expected_auc: float | None = None,
    variance: float | None = None,
    side: Side = "both",
) -> Bound:
    """Bound the probability that the AUC of a test set is ``epsilon`` from its expectation.

    ``"mcdiarmid"``: ``2 exp(-2 n_pos n_neg epsilon^2 / (n_pos + n_neg))``; ``"hoeffding"``:
    ``2 exp(-2 min(n_pos, n_neg) epsilon^2)``.

    Parameters
    ----------
    epsilon : float
        Deviation, in (0, 1].
    n_pos : int
        Number of positives of the test set, at least 0.
    n_neg : int
        Number of negatives, at least 0.
    method : {"mcdiarmid", "hoeffding", "kl", "chebyshev"}, default="mcdiarmid"
        Inequality. "kl" uses the expected AUC A: ``exp(-min(n_pos, n_neg) KL(A +- epsilon || A))``
        a side; "chebyshev" the variance: ``variance / epsilon^2``, or for one side
        ``variance / (variance + epsilon^2)``.
    expected_auc : float or None, default=None
        Expected AUC, in [0, 1]; needed for "kl".
    variance : float or None, default=None
        Variance of the AUC for "chebyshev"; None is the largest possible one.
    side : {"both", "lower", "upper"}, default="both"
        That the observed AUC is far from the expected one, far above it, or far below it.

    Returns
    -------
    Bound
        Of the probability, at most 1, given the labels.

    Raises
    ------
    ValueError
        If an argument is out of range or missing.

    See Also
    --------
    auc_test_bound : The deviation for a given probability.

    Notes
    -----
    It is conditional on the labels; the average over random labels has no simple form.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 5, Equations 10 and 14.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_deviation_bound
    >>> round(auc_deviation_bound(0.1, 100, 900).value, 4)
    0.3306
    >>> round(auc_deviation_bound(0.1, 100, 900, method="hoeffding").value, 4)
    0.2707
    """
    _check_counts(n_pos, n_neg)
    if not isinstance(epsilon, Real) or not 0 < epsilon <= 1:
        raise ValueError(f"epsilon={epsilon!r} must be a deviation in (0, 1].")
    _check_choice(method, "method", METHODS)
    _check_choice(side, "side", tuple(TARGETS))
    _check_auc(expected_auc, needed=method == "kl", name="expected_auc")
    if variance is not None and not (isinstance(variance, Real) and 0 <= variance <= 0.25):
        raise ValueError(f"variance={variance!r} must lie in [0, 1/4], as that of an AUC does.")
    fewer = min(n_pos, n_neg)
    n_sides = 2 if side == "both" else 1
    if fewer == 0:
        value = 1.0
    elif method == "mcdiarmid":
        value = n_sides * exp(-2.0 * n_pos * n_neg * epsilon**2 / (n_pos + n_neg))
    elif method == "hoeffding":
        value = n_sides * exp(-2.0 * fewer * epsilon**2)
    elif method == "kl" and expected_auc is not None:
        above = _chernoff(expected_auc, expected_auc + epsilon, fewer)
        below = _chernoff(expected_auc, expected_auc - epsilon, fewer)
        value = above + below if side == "both" else above if side == "lower" else below
    else:
        if variance is None:
            variance = auc_variance_bound(n_pos, n_neg, expected_auc=expected_auc).value
        # One side: Cantelli's inequality.
        value = variance / (epsilon**2 + (0.0 if side == "both" else variance))
    kind = {"both": "|AUC - expected AUC|", "lower": "AUC - expected AUC"}
    return Bound(
        value=min(value, 1.0),
        theorem=_theorem(method, "fixed", "Theorem 5"),
        target=f"P({kind.get(side, 'expected AUC - AUC')} >= {epsilon:g})",
        conditioned_on="the labels",
        assumptions=(FIXED_FUNCTION, INDEPENDENT),
    )


def auc_sample_size_bound(
    epsilon: float,
    delta: float,
    positive_fraction: float,
    *,
    method: Literal["mcdiarmid", "hoeffding", "chebyshev"] = "mcdiarmid",
) -> Bound:
    """Bound the number of test items that make the AUC accurate to ``epsilon``.

    ``"mcdiarmid"``: ``ln(2/delta) / (2 rho (1 - rho) epsilon^2)``, rho the fraction of positives.

    Parameters
    ----------
    epsilon : float
        Deviation that is allowed, in (0, 1); less needs more items.
    delta : float
        Probability with which it may be exceeded, in (0, 1).
    positive_fraction : float
        Share rho of the items that are positive, in (0, 1); 1/2 needs fewest.
    method : {"mcdiarmid", "hoeffding", "chebyshev"}, default="mcdiarmid"
        Inequality; "hoeffding" has ``min(rho, 1 - rho)`` for ``rho (1 - rho)``, so never needs
        more.

    Returns
    -------
    Bound
        Of the number of items needed, a whole number.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    sklearn_rank.inference.auc_sample_size : Planning with an expected AUC, and counts of each
        class.

    Notes
    -----
    It is for a sample in which exactly this share is positive.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 7.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_sample_size_bound
    >>> auc_sample_size_bound(0.05, 0.05, 0.1).value
    8198.0
    >>> auc_sample_size_bound(0.05, 0.05, 0.1, method="hoeffding").value
    7378.0
    """
    _check_inside(epsilon, "epsilon", "a deviation")
    _check_inside(delta, "delta", "the probability of failure")
    _check_inside(positive_fraction, "positive_fraction", "the share of positives")
    _check_choice(method, "method", ("mcdiarmid", "hoeffding", "chebyshev"))
    fewer = min(positive_fraction, 1.0 - positive_fraction)
    if method == "mcdiarmid":
        share = positive_fraction * (1.0 - positive_fraction)
        needed = log(2.0 / delta) / (2.0 * share * epsilon**2)
    elif method == "hoeffding":
        needed = log(2.0 / delta) / (2.0 * fewer * epsilon**2)
    else:
        needed = 1.0 / (4.0 * delta * fewer * epsilon**2)
    return Bound(
        value=float(ceil(needed)),
        theorem=_theorem(method, "fixed", "Corollary 7"),
        target=(
            f"items needed for |AUC - expected AUC| < {epsilon:g} with probability {1 - delta:.6g}"
        ),
        conditioned_on="the labels",
        assumptions=(FIXED_FUNCTION, INDEPENDENT),
    )


def auc_variance_bound(n_pos: int, n_neg: int, *, expected_auc: float | None = None) -> Bound:
    """Bound the variance of the AUC of a test set.

    ``A (1 - A) / min(n_pos, n_neg)`` for the expected AUC A; A = 1/2 is the worst.

    Parameters
    ----------
    n_pos : int
        Number of positives, at least 1.
    n_neg : int
        Number of negatives, at least 1.
    expected_auc : float or None, default=None
        Expected AUC, in [0, 1]; None is the worst, 1/2.

    Returns
    -------
    Bound
        Of the variance given the labels; at most 1/4.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    auc_test_bound : Chebyshev's inequality with this variance, solved for the expected AUC.

    Notes
    -----
    The *observed* AUC in place of the expected one gives no guarantee. The bound is attained where
    each score of the smaller class lies either above or below all scores of the other.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Equation 14.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_variance_bound
    >>> auc_variance_bound(10, 90).value
    0.025
    """
    _check_counts(n_pos, n_neg, least=1)
    _check_auc(expected_auc, needed=False, name="expected_auc")
    spread = 0.25 if expected_auc is None else expected_auc * (1.0 - expected_auc)
    return Bound(
        value=spread / min(n_pos, n_neg),
        theorem=f"{PAPER}, Equation 14",
        target="variance of the AUC",
        conditioned_on="the labels",
        assumptions=(FIXED_FUNCTION, INDEPENDENT),
    )


def error_rate_test_bound(n: int, delta: float) -> Bound:
    """Bound how far the error rate of a test set is from its expectation.

    ``sqrt(ln(2/delta) / (2 n))``.

    Parameters
    ----------
    n : int
        Number of items of the test set, at least 1.
    delta : float
        Probability with which the bound may fail, in (0, 1).

    Returns
    -------
    Bound
        Of the deviation, at most 1.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    auc_test_bound : The same for the AUC, larger by a factor of ``1 / sqrt(rho (1 - rho))``.

    Notes
    -----
    It stands here to compare the AUC with.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Equation 16.

    Examples
    --------
    >>> from sklearn_rank.bounds import error_rate_test_bound
    >>> round(error_rate_test_bound(1000, 0.05).value, 4)
    0.0429
    """
    if not _is_count(n) or n < 1:
        raise ValueError(f"n={n!r} must be a whole number of at least 1.")
    _check_inside(delta, "delta", "the probability of failure")
    return Bound(
        value=min(sqrt(log(2.0 / delta) / (2.0 * n)), 1.0),
        theorem=f"{PAPER}, Equation 16",
        target="|error rate - expected error rate|",
        delta=delta,
        assumptions=("the classifier does not depend on the test set", "items are independent"),
    )


def error_rate_sample_size_bound(epsilon: float, delta: float) -> Bound:
    """Bound the number of test items that make the error rate accurate to ``epsilon``.

    ``ln(2/delta) / (2 epsilon^2)``.

    Parameters
    ----------
    epsilon : float
        Deviation that is allowed, in (0, 1).
    delta : float
        Probability with which it may be exceeded, in (0, 1).

    Returns
    -------
    Bound
        Of the number of items needed, a whole number.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    auc_sample_size_bound : The same for the AUC, larger by a factor of ``1 / (rho (1 - rho))``.

    Notes
    -----
    It stands here to compare the AUC with.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Section 3.2.

    Examples
    --------
    >>> from sklearn_rank.bounds import error_rate_sample_size_bound
    >>> error_rate_sample_size_bound(0.05, 0.05).value
    738.0
    """
    _check_inside(epsilon, "epsilon", "a deviation")
    _check_inside(delta, "delta", "the probability of failure")
    return Bound(
        value=float(ceil(log(2.0 / delta) / (2.0 * epsilon**2))),
        theorem=f"{PAPER}, Section 3.2",
        target=(
            f"items needed for |error rate - expected error rate| < {epsilon:g} with probability"
            f" {1 - delta:.6g}"
        ),
        assumptions=("the classifier does not depend on the test set", "items are independent"),
    )


def _chebyshev(fewer: int, delta: float, auc: float | None, side: Side) -> float:
    """Solve ``(auc - A)^2 <= A (1 - A) c`` for A, one-sided by Cantelli's inequality."""
    c = (1.0 / delta if side == "both" else 1.0 / delta - 1.0) / fewer
    if auc is None:
        return sqrt(c / 4.0)
    centre = (auc + c / 2.0) / (1.0 + c)
    reach = sqrt(c * auc * (1.0 - auc) + c * c / 4.0) / (1.0 + c)
    return _of_side(side, max(auc - centre + reach, 0.0), max(centre + reach - auc, 0.0))


def _of_side(side: Side, below: float, above: float) -> float:
    return max(below, above) if side == "both" else below if side == "lower" else above


def _chernoff(centre: float, reached: float, n: int) -> float:
    """Bound of the probability that a mean of n terms with this expectation reaches so far."""
    if not 0.0 <= reached <= 1.0:
        return 0.0
    entropy = float(binary_kl(reached, centre))
    return 0.0 if entropy == inf else exp(-n * entropy)


def _theorem(method: str, labels: str, paper: str) -> str:
    if method == "mcdiarmid":
        return f"{PAPER}, {'Theorem 8' if labels == 'random' else paper}"
    if method == "chebyshev":
        return f"Chebyshev's inequality with {PAPER}, Equation 14"
    return AVERAGING if method == "hoeffding" else f"{AVERAGING}, in Chernoff's form"


def _is_count(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_counts(n_pos: int, n_neg: int, least: int = 0) -> None:
    for name, value in (("n_pos", n_pos), ("n_neg", n_neg)):
        if not _is_count(value) or value < least:
            raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")


def _check_inside(value: float, name: str, what: str) -> None:
    if not isinstance(value, Real) or not 0 < value < 1:
        raise ValueError(f"{name}={value!r} must be {what}, in (0, 1).")


def _check_choice(value: str, name: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} must be one of {listed}.")


def _check_auc(auc: float | None, *, needed: bool, name: str) -> None:
    if auc is None:
        if needed:
            raise ValueError(f"method='kl' depends on the AUC, but {name} is None: pass it.")
    elif not isinstance(auc, Real) or not 0 <= auc <= 1:
        raise ValueError(f"{name}={auc!r} must lie in [0, 1].")
