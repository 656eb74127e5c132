"""How far the AUC may be from its expectation for whichever of finitely many functions is taken.

The functions are fixed before the sample is seen: candidates scored on one held-out part, without
a refit. Folds make other functions each, and have a bound of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log
from numbers import Integral
from typing import Literal

from ._bound import Bound
from ._shatter import OURS
from ._test_set import (
    AVERAGING,
    INDEPENDENT,
    PAPER,
    TARGETS,
    Labels,
    Method,
    Side,
    _check_choice,
    _check_inside,
    _is_count,
    auc_deviation_bound,
    auc_sample_size_bound,
    auc_test_bound,
)

__all__ = [
    "auc_finite_class_bound",
    "auc_finite_class_deviation_bound",
    "auc_finite_class_sample_size_bound",
    "auc_fold_mean_bound",
]

FIXED_CLASS = "the functions do not depend on the sample that is scored"


def auc_finite_class_bound(
    n_pos: int,
    n_neg: int,
    delta: float,
    n_functions: int,
    *,
    method: Method = "mcdiarmid",
    auc: float | None = None,
    side: Side = "both",
    labels: Labels = "fixed",
    n_folds: int = 1,
) -> Bound:
    """Bound how far the AUC of whichever function is chosen from finitely many is from its mean.

    ``sqrt((ln |F| + ln(2/delta)) (n_pos + n_neg) / (2 n_pos n_neg))`` with "mcdiarmid";
    ``sqrt((ln |F| + ln(2/delta)) / (2 min(n_pos, n_neg)))`` with "hoeffding", always smaller.

    Parameters
    ----------
    n_pos : int
        Number of positives of the sample on which the choice is made, at least 0.
    n_neg : int
        Number of negatives, at least 0.
    delta : float
        Probability with which the bound may fail, in (0, 1); less makes it larger.
    n_functions : int
        Number ``|F|`` of functions that there were to choose from, at least 1.
    method : {"mcdiarmid", "hoeffding", "kl", "chebyshev"}, default="mcdiarmid"
        Inequality for one function, as in :func:`auc_test_bound`; each gets ``delta / |F|``.
        The last two depend on the AUC of the function that is chosen.
    auc : float or None, default=None
        Observed AUC of the chosen function, in [0, 1]; needed for "kl".
    side : {"both", "lower", "upper"}, default="both"
        Both sides at once; that the expected AUC is not far below the observed one (a lower
        limit for it); or not far above it.
    labels : {"fixed", "random"}, default="fixed"
        Whether the labels are held fixed, or drawn too and the counts are those observed.
    n_folds : int, default=1
        Number of parts that were held out in turn to make the AUC. Only 1 is valid.

    Returns
    -------
    Bound
        Of the deviation, at most 1.

    Raises
    ------
    ValueError
        If an argument is out of range, or the AUC is of more than one fold.

    See Also
    --------
    auc_fold_mean_bound : What holds for folds.
    auc_test_bound : One function; with ``delta`` times the prior weight of a candidate, each
        candidate with a delta of its own.
    auc_uniform_bound : Infinitely many functions.

    Notes
    -----
    A union bound. With all rows of K folds it would be false: the function that scores a row was
    trained on the others, so that each fold has functions of its own, and rows of one fold decide
    what functions score the rest.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 10, Corollary 11, Theorem 13.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_finite_class_bound
    >>> print(auc_finite_class_bound(100, 900, 0.05, 50))
    |AUC of the chosen function - expected AUC| <= 0.2055 with probability 0.95 given the labels \
[Agarwal et al. (2005), Corollary 11]
      where the functions do not depend on the sample that is scored
      where items are independent given their labels
    >>> found = auc_finite_class_bound(100, 900, 0.05, 50, method="kl", auc=0.98, side="lower")
    >>> round(0.98 - found.value, 4)
    0.8806
    """
    _check_size(n_functions)
    if not _is_count(n_folds) or n_folds < 1:
        raise ValueError(f"n_folds={n_folds!r} must be a whole number of at least 1.")
    if n_folds > 1:
        raise ValueError(
            f"n_folds={n_folds!r}: the rows of {n_folds} folds are scored by functions that were"
            " trained on each other's rows, and no bound for a fixed class holds for them: pass"
            " the counts of each fold to auc_fold_mean_bound, or score one held-out part."
        )
    _check_inside(delta, "delta", "the probability of failure")
    one = auc_test_bound(
        n_pos, n_neg, delta / n_functions, method=method, auc=auc, side=side, labels=labels
    )
    theorem = "Theorem 13" if labels == "random" else "Corollary 11"
    return Bound(
        value=one.value,
        theorem=_theorem(method, one.theorem, theorem),
        target=_of_chosen(side),
        delta=delta,
        conditioned_on=one.conditioned_on,
        assumptions=(FIXED_CLASS, INDEPENDENT),
    )


def auc_finite_class_deviation_bound(
    epsilon: float,
    n_pos: int,
    n_neg: int,
    n_functions: int,
    *,
    method: Literal["mcdiarmid", "hoeffding"] = "mcdiarmid",
) -> Bound:
    """Bound the probability that the AUC of a function chosen from finitely many deviates.

    ``2 |F| exp(-2 n_pos n_neg epsilon^2 / (n_pos + n_neg))``; with "hoeffding"
    ``2 |F| exp(-2 min(n_pos, n_neg) epsilon^2)``.

    Parameters
    ----------
    epsilon : float
        Deviation, in (0, 1].
    n_pos : int
        Number of positives of the sample, at least 0.
    n_neg : int
        Number of negatives, at least 0.
    n_functions : int
        Number of functions that there were to choose from, at least 1.
    method : {"mcdiarmid", "hoeffding"}, default="mcdiarmid"
        Inequality for one function.

    Returns
    -------
    Bound
        Of the probability, at most 1, given the labels.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    auc_finite_class_bound : The deviation for a given probability.

    Notes
    -----
    It holds for all functions at once, and so for any way to choose.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 10.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_finite_class_deviation_bound
    >>> round(auc_finite_class_deviation_bound(0.2, 100, 900, 50).value, 4)
    0.0747
    """
    _check_size(n_functions)
    _check_choice(method, "method", ("mcdiarmid", "hoeffding"))
    # At a probability of 1 the bound of one function is cut off, and |F| times it is too.
    one = auc_deviation_bound(epsilon, n_pos, n_neg, method=method)
    return Bound(
        value=min(n_functions * one.value, 1.0),
        theorem=_theorem(method, one.theorem, "Theorem 10"),
        target=f"P({_of_chosen('both')} >= {epsilon:g})",
        conditioned_on="the labels",
        assumptions=(FIXED_CLASS, INDEPENDENT),
    )


def auc_finite_class_sample_size_bound(
    epsilon: float,
    delta: float,
    positive_fraction: float,
    n_functions: int,
    *,
    method: Literal["mcdiarmid", "hoeffding"] = "mcdiarmid",
) -> Bound:
    """Bound the number of items that make a choice from finitely many accurate to ``epsilon``.

    ``(ln |F| + ln(2/delta)) / (2 rho (1 - rho) epsilon^2)``, rho the share of positives.

    Parameters
    ----------
    epsilon : float
        Deviation that is allowed, in (0, 1); less needs more items.
    delta : float
        Probability with which it may be exceeded, in (0, 1).
    positive_fraction : float
        Share rho of the items that are positive, in (0, 1); 1/2 needs fewest.
    n_functions : int
        Number of functions to choose from, at least 1.
    method : {"mcdiarmid", "hoeffding"}, default="mcdiarmid"
        Inequality for one function; "hoeffding" has ``min(rho, 1 - rho)``.

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
    auc_sample_size_bound : One function.

    Notes
    -----
    It is for a sample in which exactly this share is positive.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 12.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_finite_class_sample_size_bound
    >>> auc_finite_class_sample_size_bound(0.05, 0.05, 0.1, 50).value
    16891.0
    """
    _check_size(n_functions)
    _check_choice(method, "method", ("mcdiarmid", "hoeffding"))
    _check_inside(epsilon, "epsilon", "a deviation")
    _check_inside(delta, "delta", "the probability of failure")
    _check_inside(positive_fraction, "positive_fraction", "the share of positives")
    rho = positive_fraction
    share = rho * (1.0 - rho) if method == "mcdiarmid" else min(rho, 1.0 - rho)
    one = auc_sample_size_bound(epsilon, delta, positive_fraction, method=method)
    return Bound(
        value=float(ceil((log(n_functions) + log(2.0 / delta)) / (2.0 * share * epsilon**2))),
        theorem=_theorem(method, one.theorem, "Corollary 12"),
        target=(
            f"items needed for {_of_chosen('both')} < {epsilon:g} with probability {1 - delta:.6g}"
        ),
        conditioned_on="the labels",
        assumptions=(FIXED_CLASS, INDEPENDENT),
    )


def auc_fold_mean_bound(
    n_pos: Sequence[int],
    n_neg: Sequence[int],
    delta: float,
    *,
    n_functions: int = 1,
    method: Literal["mcdiarmid", "hoeffding"] = "hoeffding",
    side: Side = "both",
) -> Bound:
    """Bound how far the mean AUC of folds is from the mean expected AUC of the fold models.

    The mean over folds of ``sqrt(ln(2 |F|/delta) / (2 min(n_pos, n_neg)))``, or with "mcdiarmid"
    of ``sqrt(ln(2 |F|/delta) (n_pos + n_neg) / (2 n_pos n_neg))``.

    Parameters
    ----------
    n_pos : sequence of int
        Number of positives of each held-out fold, at least 0.
    n_neg : sequence of int
        Number of negatives of each.
    delta : float
        Probability with which the bound may fail, in (0, 1); less makes it larger.
    n_functions : int, default=1
        Number ``|F|`` of candidates compared on the same folds, at least 1; the bound holds
        for all of them at once.
    method : {"mcdiarmid", "hoeffding"}, default="hoeffding"
        Inequality for one fold; "hoeffding" is always smaller.
    side : {"both", "lower", "upper"}, default="both"
        Both sides at once; that the expected mean is not far below the observed one (a lower
        limit for it); or not far above it.

    Returns
    -------
    Bound
        Of the deviation of the mean, at most 1.

    Raises
    ------
    ValueError
        If an argument is out of range, or the two have different lengths.

    See Also
    --------
    auc_finite_class_bound : One held-out part.

    Notes
    -----
    The folds depend on each other, since each is training data of the others, so that K folds are
    not surer than one: what their mean gains is the spread, not the guarantee. It says nothing
    about the model that is fitted to all rows in the end. The proof is in the theory pages; the
    counts of the smallest fold, for all folds, would give a larger bound.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 5 for a fold.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_fold_mean_bound
    >>> print(auc_fold_mean_bound([20] * 5, [180] * 5, 0.05))
    |mean AUC of the folds - mean expected AUC of their models| <= 0.3037 with probability 0.95 \
given the labels [sklearn_rank, Proofs of bounds, Theorem 5]
      where each fold is scored by a model that was trained without it
      where items are independent given their labels
    """
    _check_size(n_functions)
    _check_choice(method, "method", ("mcdiarmid", "hoeffding"))
    _check_choice(side, "side", tuple(TARGETS))
    _check_inside(delta, "delta", "the probability of failure")
    for name, counts in (("n_pos", n_pos), ("n_neg", n_neg)):
        if isinstance(counts, Integral) or not len(counts):
            raise ValueError(f"{name}={counts!r} must list the number of items of each fold.")
    if len(n_pos) != len(n_neg):
        raise ValueError(
            f"n_pos has {len(n_pos)} folds and n_neg {len(n_neg)}: pass both of each."
        )
    value = 0.0
    for some, others in zip(n_pos, n_neg, strict=True):
        value += auc_test_bound(
            int(some) if isinstance(some, Integral) else some,
            int(others) if isinstance(others, Integral) else others,
            delta / n_functions,
            method=method,
            side=side,
        ).value / len(n_pos)
    mean, expected = "mean AUC of the folds", "mean expected AUC of their models"
    target = {"both": f"|{mean} - {expected}|", "lower": f"{mean} - {expected}"}
    return Bound(
        value=min(value, 1.0),
        theorem=f"{OURS}, Theorem 5",
        target=target.get(side, f"{expected} - {mean}"),
        delta=delta,
        conditioned_on="the labels",
        assumptions=("each fold is scored by a model that was trained without it", INDEPENDENT),
    )


def _of_chosen(side: Side) -> str:
    return (
        TARGETS[side]
        .replace("AUC - expected", "AUC of the chosen function - expected")
        .replace("expected AUC - AUC", "expected AUC - AUC of the chosen function")
    )


def _theorem(method: str, of_one: str, statement: str) -> str:
    if method == "mcdiarmid":
        return f"{PAPER}, {statement}"
    if of_one.startswith(AVERAGING):
        return f"{OURS}, Theorem 4, by {of_one}"
    return f"{of_one}, for all functions"


def _check_size(n_functions: int) -> None:
    if not _is_count(n_functions) or n_functions < 1:
        raise ValueError(f"n_functions={n_functions!r} must be a whole number of at least 1.")
