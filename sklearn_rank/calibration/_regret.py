"""Calibration of losses for measures: utilities, and bounds of the regret."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from .._lists import check_lists
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import (
    check_number,
    check_scores,
    check_vector,
    is_number,
    is_whole,
    ravelled,
    shape_of,
)
from ..bounds import Bound
from ..losses import TemplateLoss
from ..losses._shared import check_loss
from ..metrics import Measure, get_measure
from ..metrics._shared import (
    MeasureLike,
    PositionalForm,
    positional_form,
    utilities_of,
    warn_if_not_positional,
)


def utility(
    measure: MeasureLike,
    y_true: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    undefined: str | float | None = None,
    pos_label: Any = None,
) -> FloatArray:
    """Compute the utilities u(y) of items for a measure ``b(y) + sum_i phi(i) u_(i)(y)``.

    Here u_(i) is the utility of the item at position i, and phi(i) the discount. An
    order-preserving loss of these utilities and scores is calibrated for the measure.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        "dcg" and "ndcg" (``2**y - 1``, divided by the ideal DCG for "ndcg"), with or without a
        cutoff as in ``"ndcg@10"``; ``"precision@5"`` (y / 5); ``"recall@20"`` (y divided by the
        number of positives); "auc" (y divided by the number of pairs of the two classes);
        "spearman" (``12 (n - r) / (n (n**2 - 1))``, where r is the position by relevance);
        ``"rbp@0.8"`` (0.2 y divided by the greatest of all y). "ap" and "err" do not have this
        form; they give y and ``(2**y - 1) / 2**max(y)``, with a warning.
    y_true : array-like of shape (n_samples,)
        Relevance of the items, or labels of two classes for measures of two classes.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, in any order. None treats all items as one list.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights: number of times each item counts. For "ndcg" their scale affects the
        ideal order: lists need a total of more than 1 on average.
    undefined : {"skip", "raise"}, float or None, default=None
        Treatment of lists for which the measure is undefined: "skip" gives NaN for all of their
        items, "raise" raises an error, and a number gives utilities of 0. None is the default of
        the measure: 0 for "ndcg" and "ap", "skip" for others.
    pos_label : int, float, bool or str, default=None
        The positive class, if ``y_true`` contains labels of two classes.

    Returns
    -------
    ndarray of shape (n_samples,)
        Utilities, at least 0; NaN for items of weight 0 and of lists that are skipped.

    Raises
    ------
    ValueError
        If the measure defines no utilities, an argument is not valid, or the measure is undefined
        for a list and ``undefined="raise"``.

    Warns
    -----
    CalibrationWarning
        For "ap" and "err", for which no order-preserving loss is calibrated if the labels of a
        list are dependent.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93,
       Definition 2.1 and Table 1.

    Examples
    --------
    >>> from sklearn_rank.calibration import utility
    >>> utility("dcg", [0, 1, 2])
    array([0., 1., 3.])
    >>> utility("recall@5", [1, 0, 1, 0, 1], qid=["a", "a", "b", "b", "b"])
    array([1. , 0. , 0.5, 0. , 0.5])
    """
    measure, _ = positional_form(measure)
    if undefined is not None:
        measure = get_measure(measure, undefined=undefined)
    warn_if_not_positional(measure)
    y_true = ravelled(y_true, "y_true")
    if len(shape_of(y_true)) != 1:
        raise ValueError(
            f"y_true has {np.ndim(y_true)} dimensions, but must have one: concatenate the items "
            "of all lists, and pass qid, the id of the list of each item."
        )
    labels = measure.label_type(pos_label)
    lists = check_lists(y_true, labels, qid=qid, sample_weight=sample_weight)
    return lists.to_rows(utilities_of(measure, lists), len(y_true))


def misordered_pairs(expected_utility: Any, score: Any) -> IntArray:
    """Find disjoint misordered pairs that bound the regret of a list (Lemma 4.1).

    For a positional measure with discounts phi the regret of the scores s is at most ``sum over
    (i, j) of (U_i - U_j) (phi(r_i) - phi(r_j))``, where U are the expected utilities and r_i the
    position of item i in ``numpy.argsort(-U, kind="stable")``. Each item is in one pair at most,
    and U_i > U_j but s_i <= s_j in each.

    [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds for
    order-preserving surrogate losses in learning to rank. Machine Learning 93, Lemma 4.1.
    """
    utility = check_vector("expected_utility", expected_utility)
    scores = check_scores(score, name="score")
    if len(scores) != len(utility):
        raise ValueError(
            f"score has {len(scores)} entries: pass one score for each of the {len(utility)}"
            " expected utilities."
        )
    # The worst order that agrees with the scores.
    by_score = np.lexsort((utility, -scores))
    best = np.argsort(-utility, kind="stable")
    # Items are named by their true position from here on.
    predicted = np.argsort(best)[by_score]
    pairs = []
    while len(predicted) > 1:
        top = int(np.argmin(predicted))
        worst = int(np.argmax(predicted[: top + 1]))
        if worst != top and utility[best[predicted[top]]] > utility[best[predicted[worst]]]:
            pairs.append((best[predicted[top]], best[predicted[worst]]))
        predicted = np.delete(predicted, [top, worst])
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def discount_norm(measure: MeasureLike, n_items: int, p: float = 2.0) -> float:
    """Compute the norm of the discounts of a measure, ``C_phi(p)``.

    ``C_phi(p) = (sum_{i <= n/2} (phi(i) - phi(n - i + 1))**p)**(1/p)``, where phi(i) is the
    discount of position i. It is the factor of the measure in regret bounds.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        Positional measure, such as ``"ndcg@10"`` or ``"auc"``.
    n_items : int
        Length of the list, at least 1.
    p : float, default=2.0
        Exponent, at least 1; ``numpy.inf`` gives the greatest term. A greater exponent gives a
        smaller norm.

    Returns
    -------
    float
        The norm; 0 for a list of one item.

    Raises
    ------
    ValueError
        If the measure is not positional, or an argument is not valid.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Eq. 10.

    Examples
    --------
    >>> from sklearn_rank.calibration import discount_norm
    >>> discount_norm("precision@3", 10)
    1.7320508075688772
    >>> discount_norm("auc", 4, p=1)
    4.0
    """
    _, _, discounts = _positional(measure)
    return _norm(_opposite(discounts(_length(n_items))), check_number("p", p, 1.0))


def regret_bound(
    loss: TemplateLoss | str,
    measure: MeasureLike,
    surrogate_regret: float,
    n_items: Any,
    *,
    max_utility: float | None = None,
    p: float = 2.0,
    constant: float | None = None,
) -> Bound:
    """Bound the regret of a measure by the surrogate regret of a loss.

    ``best expected measure - expected measure <= c C_phi(2) sqrt(surrogate regret)`` for
    independently drawn lists, where c is the constant of the loss and C_phi(2) the norm of the
    discounts, :func:`discount_norm`.

    Parameters
    ----------
    loss : TemplateLoss or str
        An order-preserving loss, or its name.
    measure : str, Measure, ScoreGeneratingFunction or callable
        Positional measure, whose utilities are passed to the loss: ``"dcg"``, ``"ndcg@10"``,
        ``"precision@5"``, ``"recall@20"``, ``"auc"``, ``"spearman"``, ``"rbp@0.8"``.
    surrogate_regret : float
        Expected loss of the scores minus its infimum over all scoring functions, at least 0. It is
        the mean over the lists of the loss as defined, a sum over the items or pairs of a list. If
        the loss was divided by the length of the list, multiply by the length.
    n_items : int or array-like of shape (n_lists,)
        Common length of all lists, or the lengths of at least two lists, with the frequencies of
        their distribution. "auc" takes the second form only.
    max_utility : float, default=None
        Supremum over all lists of the greatest *expected* utility of an item, for losses whose
        constant depends on it. None takes the greatest possible utility of the measure; DCG has
        none.
    p : float, default=2.0
        Exponent of the norm of the discounts, at least 1; see Notes.
    constant : float, default=None
        Constant c to use instead of that of the loss. It must satisfy: the infimum of the expected
        loss over scores that misorder disjoint pairs (i, j) exceeds the overall infimum by at
        least ``(|U_i - U_j| / c)**q`` for each pair, ``1/p + 1/q = 1``. Required for p > 2.

    Returns
    -------
    Bound
        Upper bound of the regret, in the units of the measure.

    Raises
    ------
    ValueError
        If the loss is not order-preserving or has no constant, the measure is not positional,
        there is only one list, or an argument is not valid.

    See Also
    --------
    list_regret_bound : A sharper bound for one list with known expected utilities.
    check_calibration : Searches for a distribution without such a bound.

    Notes
    -----
    For lists of several lengths the factor is ``sqrt(mean((c_n C_n)**2))``, with the norm and, if
    the measure provides it, the greatest utility for each length.

    Other exponents: ``regret <= c_q C_phi(p) (surrogate regret)**(1/q)`` (Lemma 5.1). For
    ``q >= 2`` and ``p <= 2``, all losses have ``c_q = M**(1 - 2/q) c**(2/q)``, where c is the
    constant for q = 2 and M, the greatest utility, bounds the difference of expected utilities in
    a list. This gives a smaller bound if the regret is large; p = 1 gives the greatest possible
    regret, ``M C_phi(1)``.

    A list for which the measure is undefined has utilities 0, and counts as a constant.

    The sample consists of lists. The bounds do not apply to bipartite ranking, in which the sample
    consists of the items of a single list of two classes; for that see Kotłowski, Dembczyński and
    Hüllermeier (2011).

    For :class:`~sklearn_rank.losses.ListwiseSoftmax` the constant is twice the square root of the
    greatest expected utility, as for the pairwise logistic loss. It is not in the paper; the proof
    projects on the scores that tie the pairs.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Eq. 9,
       Lemma 5.1, Theorems 5.2 to 5.4, Table 2.
    .. [2] Kotłowski, W., Dembczyński, K. and Hüllermeier, E. (2011). Bipartite ranking through
       minimization of univariate loss. ICML.

    Examples
    --------
    >>> from sklearn_rank.calibration import regret_bound
    >>> bound = regret_bound("pairwise_logistic", "ndcg@10", 0.001, 20)
    >>> round(bound.value, 4)
    0.0999
    >>> print(bound.theorem)
    Calauzènes et al. (2013), Eq. 9 with Theorem 5.4 and the constant of Table 2
    """
    loss = _order_preserving(loss)
    measure, form, discounts = _positional(measure)
    lengths, shares = _lengths(n_items, measure)
    surrogate = check_number("surrogate_regret", surrogate_regret, 0.0, closed="left")
    p = check_number("p", p, 1.0)
    factors = []
    for n in lengths.tolist():
        largest = _largest(loss, measure.name, form.largest_among(n), max_utility)
        factors.append(_factor(loss, _opposite(discounts(n)), largest, p, constant))
    factor = np.array(factors).max() if p == inf else (shares @ np.power(factors, p)) ** (1 / p)
    assumptions = [
        "lists are drawn independently of each other, each with its items and labels",
        f"the surrogate regret is that of {loss!r}, as a sum, at the utilities of {measure.name},"
        " in the mean over lists, less the infimum over all scoring functions",
    ]
    if len(lengths) > 1:
        assumptions.append("lengths of lists are distributed as those given")
    if max_utility is not None and constant is None and (p != 2 or loss.constant_grows):
        assumptions.append(f"no expected utility exceeds {max_utility:g}")
    return Bound(
        value=float(factor * surrogate ** (1 - 1 / p)),
        theorem=_theorem("Eq. 9", loss, p, constant),
        target=f"best expected {measure.name} - expected {measure.name}",
        assumptions=tuple(assumptions),
    )


def list_regret_bound(
    loss: TemplateLoss | str,
    measure: MeasureLike,
    surrogate_regret: float,
    expected_utility: Any,
    score: Any,
    *,
    p: float = 2.0,
    constant: float | None = None,
) -> Bound:
    """Bound the regret of the scores of one list by their surrogate regret.

    The bound is ``c (sum over pairs (phi(r_i) - phi(r_j))**2)**(1/2) sqrt(surrogate regret)``,
    where the sum is over disjoint misordered pairs (Lemma 4.1) instead of all positions. It is 0
    for scores in the best order.

    Parameters
    ----------
    loss : TemplateLoss or str
        An order-preserving loss, or its name.
    measure : str, Measure, ScoreGeneratingFunction or callable
        Positional measure, whose utilities are passed to the loss.
    surrogate_regret : float
        Expected loss of the scores of this list minus its infimum over all scores, at least 0.
    expected_utility : array-like of shape (n_items,)
        Expected utilities of the items of the list, at least 0.
    score : array-like of shape (n_items,)
        Their scores.
    p : float, default=2.0
        As in :func:`regret_bound`.
    constant : float, default=None
        As in :func:`regret_bound`.

    Returns
    -------
    Bound
        Upper bound of the regret, in the units of the measure.

    Raises
    ------
    ValueError
        If the loss is not order-preserving or has no constant, the measure is not positional, or
        an argument is not valid.

    See Also
    --------
    regret_bound : A bound for the mean over lists, without expected utilities.

    Notes
    -----
    The bound is for the distribution of the labels of this list, given its items.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Lemma 4.1.

    Examples
    --------
    >>> from sklearn_rank.calibration import list_regret_bound
    >>> bound = list_regret_bound(
    ...     "pointwise_squared", "dcg", 0.5, [3.0, 1.0, 0.5, 0.0], [3.0, 0.5, 1.0, 0.0]
    ... )
    >>> round(bound.value, 4)
    0.1309
    """
    loss = _order_preserving(loss)
    measure, _, discounts = _positional(measure)
    surrogate = check_number("surrogate_regret", surrogate_regret, 0.0, closed="left")
    p = check_number("p", p, 1.0)
    utility = check_vector("expected_utility", expected_utility, lowest=0.0)
    pairs = misordered_pairs(utility, score)
    rank = np.argsort(np.argsort(-utility, kind="stable"))
    by_position = discounts(len(utility))
    differences = by_position[rank[pairs[:, 0]]] - by_position[rank[pairs[:, 1]]]
    largest = _inside(loss, float(utility.max()), "expected_utility")
    factor = _factor(loss, differences, largest, p, constant)
    return Bound(
        value=factor * surrogate ** (1 - 1 / p),
        theorem=_theorem("Lemma 4.1", loss, p, constant),
        target=f"best expected {measure.name} - expected {measure.name} of the list",
        conditioned_on="the items of the list",
        assumptions=(f"the surrogate regret is that of {loss!r}, as a sum",),
    )


def _order_preserving(loss: TemplateLoss | str) -> TemplateLoss:
    loss = check_loss(loss)
    if not loss.is_order_preserving:
        raise ValueError(
            f"{loss!r} is not order-preserving, so that it has no regret bound: use an "
            "order-preserving loss, such as 'pairwise_logistic'."
        )
    return loss


def _positional(measure: MeasureLike) -> tuple[Measure, PositionalForm, Callable[..., Any]]:
    measure, form = positional_form(measure)
    if form.discounts is None:
        raise ValueError(
            f"{measure.name!r} is not a positional measure, and no order-preserving loss is"
            " calibrated for it if the labels of a list are dependent (Calauzènes et al. 2013,"
            " Theorem 3.3), so its regret has no bound: use a positional one, such as 'ndcg'."
        )
    return measure, form, form.discounts


def _opposite(discounts: FloatArray) -> FloatArray:
    """Differences between the discounts of opposite positions."""
    half = len(discounts) // 2
    return discounts[:half] - discounts[::-1][:half]


def _norm(differences: FloatArray, p: float) -> float:
    return float(np.linalg.norm(differences, p)) if len(differences) else 0.0


def _lengths(n_items: Any, measure: Measure) -> tuple[AnyArray, FloatArray]:
    """Different lengths and how frequent they are."""
    single = (
        "these bounds are for a sample of lists, not for one list of two classes whose items "
        "are the sample (for that see Kotłowski et al. 2011)"
    )
    lengths: AnyArray = np.asarray(n_items)
    if lengths.ndim == 0:
        if not measure.per_query:
            raise ValueError(
                f"n_items={n_items!r} is one list for {measure.name!r}: {single}; pass the "
                "lengths of all lists, at least two."
            )
        return np.array([_length(n_items)]), np.ones(1)
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or lengths.size == 0:
        raise ValueError(
            f"n_items has shape {lengths.shape} and dtype {lengths.dtype}: pass one whole "
            "number, or one for each list."
        )
    if lengths.min() < 1:
        i = int(np.argmin(lengths))
        raise ValueError(f"n_items is {lengths[i]} for list {i}, but must be at least 1.")
    if len(lengths) == 1:
        raise ValueError(f"n_items contains the length of one list only: {single}.")
    values, counts = np.unique(lengths, return_counts=True)
    return values, counts / counts.sum()


def _length(n_items: Any) -> int:
    if not is_whole(n_items) or n_items < 1:
        raise ValueError(f"n_items={n_items!r} must be a whole number, at least 1.")
    return int(n_items)


def _largest(
    loss: TemplateLoss, measure: str, largest: float | None, max_utility: float | None
) -> float | None:
    """Greatest expected utility of a list; None if neither the measure nor the user sets one."""
    name = f"the largest utility of {measure}"
    if max_utility is not None:
        name, value = "max_utility", check_number("max_utility", max_utility, 0.0, closed="left")
        largest = value if largest is None else min(value, largest)
    return None if largest is None else _inside(loss, largest, name)


def _inside(loss: TemplateLoss, utility: float, name: str) -> float:
    if utility > loss.largest_utility:
        raise ValueError(
            f"{name} is {utility:g}, but the utilities of {loss!r} must be in [0, "
            f"{loss.largest_utility:g}]: raise eta."
        )
    return utility


def _factor(
    loss: TemplateLoss,
    differences: FloatArray,
    largest: float | None,
    p: float,
    given: float | None,
) -> float:
    """Norm of differences of discounts times c_q, ``1/p + 1/q = 1``."""
    norm = _norm(differences, p)
    if not norm:
        # A list of one item has no order, whatever its utility.
        return 0.0
    if given is not None:
        if not is_number(given) or not 0 < given < inf or p == 1:
            raise ValueError(
                f"constant={given!r} must be a positive number, and p must be greater than 1: "
                "with p=1 the constant has no effect."
            )
        return norm * float(given)
    if p > 2:
        raise ValueError(
            f"p={p:g} needs a constant of the loss for an exponent q < 2, but those of Table 2 "
            "are for q = 2: pass constant=."
        )
    if largest is None and (p < 2 or loss.constant_grows):
        raise ValueError(
            "max_utility=None, but the bound depends on the greatest expected utility, for "
            "which the measure has no limit: pass its supremum over all lists, such as 2**y - 1 "
            "of the highest grade."
        )
    two_by_q = 2 - 2 / p
    return norm * (largest or 0.0) ** (1 - two_by_q) * loss.regret_constant(largest) ** two_by_q


def _theorem(statement: str, loss: TemplateLoss, p: float, constant: float | None) -> str:
    """Name the statement, where the proof for the loss is, and where its constant."""
    theorem, source = loss.regret_theorem, loss.regret_source
    if constant is not None:
        source = "the constant given"
    if p != 2 and theorem != "Lemma 5.1":
        theorem = f"Lemma 5.1, {theorem}"
    return f"Calauzènes et al. (2013), {statement} with {theorem} and {source}"
