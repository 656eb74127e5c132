"""Clicks: propensities of positions, and interleaving of two rankings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from ._lists import group_rows, numbers_of_queries
from ._order import changes
from ._printed import Printed, Table
from ._sklearn_compat import rows_at
from ._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._validation import (
    check_column,
    check_generator,
    check_number,
    check_position,
    check_positions,
    check_propensities,
    check_qid,
    check_sample_weight,
    check_vector,
    check_whole,
    refuse_misread,
)
from ._warn import warn

__all__ = [
    "Propensities",
    "click_amounts",
    "em_propensities",
    "random_order_propensities",
    "swap_propensities",
    "team_draft",
    "team_outcomes",
]


@dataclass(frozen=True, eq=False, repr=False)
class Propensities(Printed):
    """Examination propensities of positions, relative to a reference position.

    Parameters
    ----------
    position : ndarray of shape (n_positions,)
        Positions, ascending.
    value : ndarray of shape (n_positions,)
        Propensities of the positions, divided by that of the reference.
    standard_error : ndarray of shape (n_positions,) or None
        Standard errors of the values, 0 at the reference, NaN where the clicks do not show how a
        value varies; None if the method provides none.
    reference : int
        Position whose propensity is set to 1.
    method : str
        Name of the estimation method.
    relevance : classifier or None, default=None
        Of :func:`em_propensities`: the fitted model of the probability of a click given
        examination. The fields below are None as well for other methods.
    log_likelihood : ndarray of shape (n_iter + 1,) or None, default=None
        Mean log likelihood of the clicks, before each iteration and after the last one.
    n_iter : int or None, default=None
        Number of iterations.
    converged : bool or None, default=None
        Whether the propensities changed by less than the tolerance in the last iteration.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.clicks import Propensities
    >>> found = Propensities(np.array([1, 2]), np.array([1.0, 0.4]), None, 1, "by hand")
    >>> found.of([2, 1, 1])
    array([0.4, 1. , 1. ])
    >>> print(found)
    Chance to be looked at by position, that of position 1 being 1 (by hand): 1: 1, 2: 0.4.
    """

    position: IntArray
    value: FloatArray
    standard_error: FloatArray | None
    reference: int
    method: str
    relevance: Any = None
    log_likelihood: FloatArray | None = None
    n_iter: int | None = None
    converged: bool | None = None

    def of(self, position: Any) -> FloatArray:
        """Get the propensity of each row, for the parameter ``propensity`` of ``fit``.

        Parameters
        ----------
        position : array-like of shape (n_samples,)
            Position at which each row was shown.

        Returns
        -------
        ndarray of shape (n_samples,)
            Propensities in (0, 1]. If a value exceeds 1, all are divided by the greatest; a common
            factor only rescales the penalty of a ranker.

        Raises
        ------
        ValueError
            If the propensity of a position is missing or 0.
        """
        position = check_positions(position, len(position))
        at = np.minimum(np.searchsorted(self.position, position), len(self.position) - 1)
        values = np.where(self.position[at] == position, self.value[at], 0.0)
        if not values.min() > 0:
            row = int(np.argmax(~(values > 0)))
            raise ValueError(
                f"Position {position[row]} of row {row} has no propensity, because it has no"
                " clicks: remove its rows, or estimate the propensities from more sessions."
            )
        return values / max(1.0, float(self.value.max()))

    def __str__(self) -> str:
        parts = [f"{x}: {value:.3g}" for x, value in zip(self.position, self.value, strict=True)]
        errors = np.empty(0) if self.standard_error is None else self.standard_error
        for i, error in enumerate(errors):
            lacking = "no clicks" if self.value[i] == 0 else "too few or equal sessions"
            unknown = f" (standard error unknown: {lacking})"
            if self.position[i] != self.reference:
                parts[i] += unknown if np.isnan(error) else f" ± {error:.2g}"
        return (
            f"Chance to be looked at by position, that of position {self.reference} being 1"
            f" ({self.method}): {', '.join(parts)}."
        )

    def _table(self) -> Table:
        title = f"Propensities by position ({self.method})"
        columns: dict[str, list[Any]] = {"position": [str(place) for place in self.position]}
        columns["propensity"] = self.value.tolist()
        if self.standard_error is not None:
            errors = self.standard_error.tolist()
            columns["standard error"] = ["unknown" if np.isnan(x) else x for x in errors]
        return title, tuple(columns), zip(*columns.values(), strict=True)


def click_amounts(clicks: Any, propensity: Any) -> FloatArray:
    """Divide clicks by examination propensities: amounts whose expectation is the relevance.

    As labels of a measure that sums gains they estimate its value for the true relevance without
    bias, also for a ranker that did not show the rows: of the DCG with ``gain="linear"``, and of
    ``"profit@10"``, the relevance of the first ten rows.

    Parameters
    ----------
    clicks : array-like of shape (n_samples,)
        Whether each row that was shown was clicked, 0 or 1.
    propensity : array-like of shape (n_samples,)
        Probability that each row was examined, in (0, 1], as :meth:`Propensities.of` gives it.

    Returns
    -------
    ndarray of shape (n_samples,)
        Amounts, 0 without a click.

    Raises
    ------
    ValueError
        If a click is not 0 or 1, or a propensity is not in (0, 1], as of a row that nobody saw.

    See Also
    --------
    sklearn_rank.metrics.effect_amounts : Amounts of a treatment.

    Notes
    -----
    Intervals take the propensities as known. Measures that divide by the relevance of a list, such
    as NDCG, are not unbiased. The time is O(n).

    References
    ----------
    .. [1] Joachims, T., Swaminathan, A. and Schnabel, T. (2017). Unbiased learning-to-rank with
       biased feedback. WSDM.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.clicks import click_amounts
    >>> from sklearn_rank.datasets import make_clicks
    >>> from sklearn_rank.inference import compare
    >>> from sklearn_rank.metrics import get_measure
    >>> relevance, shown = np.array([2, 0, 1, 0]), np.array([1.0, 4.0, 3.0, 2.0])
    >>> log = make_clicks(relevance, shown, n_sessions=2000, random_state=0)
    >>> amounts = click_amounts(log.clicks, log.propensity)
    >>> scores = {"shown": shown[log.rows], "new": relevance[log.rows]}
    >>> dcg = get_measure("dcg@3", gain="linear")
    >>> found = compare(dcg, amounts, scores, qid=log.qid)
    >>> found.conclusions
    ('new better',)
    """
    refuse_misread(clicks=clicks, propensity=propensity)
    clicks = _check_clicks(clicks)
    return np.asarray(clicks / check_propensities(propensity, len(clicks)))


def random_order_propensities(
    clicks: Any, position: Any, qid: Any, *, reference: int = 1, groups: Any = None
) -> Propensities:
    """Estimate position propensities from clicks on randomly ordered lists.

    If all orders of a list are equally likely, the expected relevance is the same at all
    positions. The ratio of the click rate at position k to that at the reference, over the lists
    that have both, is then the ratio of their propensities.

    Parameters
    ----------
    clicks : array-like of shape (n_samples,)
        Whether each row was clicked, 0 or 1.
    position : array-like of shape (n_samples,)
        Position at which the row was shown, 1 at the top.
    qid : array-like of shape (n_samples,)
        Id of the session of each row. A session is one list shown once.
    reference : int, default=1
        Position whose propensity is set to 1.
    groups : array-like of shape (n_samples,), default=None
        Group of the session of each row, such as its user or query, if sessions of a group are
        dependent. None treats all sessions as independent.

    Returns
    -------
    Propensities
        Propensity of each position, with standard errors of ratios of sums by the delta method.

    Raises
    ------
    ValueError
        If a session has a position twice, or no session has a click at the reference.

    See Also
    --------
    swap_propensities : Uses exchanges of two rows, which affect users less.

    Notes
    -----
    O(n log n) time, O(n) memory. If a position occurs in fewer than two sessions or groups, or if
    its sessions are all alike, as without a click there, its standard error is NaN.

    References
    ----------
    .. [1] Joachims, T., Swaminathan, A. and Schnabel, T. (2017). Unbiased learning-to-rank with
       biased feedback. WSDM.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.clicks import random_order_propensities
    >>> from sklearn_rank.datasets import make_clicks
    >>> y, score = [2, 0, 1, 0, 1, 0], np.zeros(6)
    >>> log = make_clicks(
    ...     y, score, n_sessions=5000, intervention="random", random_state=0
    ... )
    >>> found = random_order_propensities(log.clicks, log.position, log.qid)
    >>> found.value.round(2)  # the truth is 1, 0.5, 0.33, 0.25, 0.2, 0.17
    array([1.  , 0.47, 0.34, 0.26, 0.2 , 0.18])
    """
    refuse_misread(clicks=clicks, position=position, qid=qid, groups=groups)
    shown, places = _Shown.of(clicks, position, qid, groups), np.unique(position)
    reference = _check_reference(reference, places)
    at_reference = shown.at(reference)

    def ratio(place: int, where: str) -> tuple[float, float]:
        at_place = shown.at(place)
        both = ~np.isnan(at_place + at_reference)
        return _ratio(at_place, at_reference, both, np.zeros_like(both), shown.group, where)

    return _by_position(places, reference, "random orders", ratio)


def swap_propensities(
    clicks: Any,
    position: Any,
    qid: Any,
    *,
    exchanged: Any,
    swapped: Any,
    pivot: int = 1,
    groups: Any = None,
) -> Propensities:
    """Estimate position propensities from random swaps of two positions.

    In each session, the rows at the pivot and at a drawn position k are swapped or not at random,
    so that both rows are shown at both positions. Let the rates be the click rates of swapped and
    of unswapped sessions. The sum of the two rates at k divided by the sum at the pivot is
    ``theta_k / theta_pivot``, for any share of swapped sessions and any relevance of the rows.

    Parameters
    ----------
    clicks : array-like of shape (n_samples,)
        Whether each row was clicked, 0 or 1.
    position : array-like of shape (n_samples,)
        Position at which the row was shown, after the swap, 1 at the top.
    qid : array-like of shape (n_samples,)
        Id of the session of each row. A session is one list shown once.
    exchanged : array-like of shape (n_samples,)
        Position k that was drawn for the session of each row, whether swapped or not. Sessions
        whose k is the pivot are ignored.
    swapped : array-like of shape (n_samples,)
        Whether the two rows of the session were swapped, 0 or 1.
    pivot : int, default=1
        Position that is swapped with others. Its propensity is set to 1.
    groups : array-like of shape (n_samples,), default=None
        Group of the session of each row, such as its user or query, if sessions of a group are
        dependent. None treats all sessions as independent.

    Returns
    -------
    Propensities
        Propensity of the pivot and of each position k, with standard errors by the delta method.

    Raises
    ------
    ValueError
        If a session lacks one of its two positions, the sessions of a position are all swapped or
        all unswapped, or there is no click at the pivot.

    See Also
    --------
    em_propensities : Needs no experiment, but features.

    Notes
    -----
    Draw independently of everything else whether a session is swapped. Only the rows at the two
    positions of a session are used. If the sessions of a position are all alike, as without a
    click there, its standard error is NaN. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Joachims, T., Swaminathan, A. and Schnabel, T. (2017). Unbiased learning-to-rank with
       biased feedback. WSDM, Section 5. They use the clicks on the row ranked at the pivot; here
       both rows are used.

    Examples
    --------
    >>> from sklearn_rank.clicks import swap_propensities
    >>> from sklearn_rank.datasets import make_clicks
    >>> y, score = [2, 0, 1, 0], [4, 3, 2, 1]
    >>> log = make_clicks(
    ...     y, score, n_sessions=9000, intervention="swap", random_state=0
    ... )
    >>> found = swap_propensities(
    ...     log.clicks,
    ...     log.position,
    ...     log.qid,
    ...     exchanged=log.exchanged,
    ...     swapped=log.swapped,
    ... )
    >>> found.value.round(3), found.standard_error.round(3)
    (array([1.   , 0.502, 0.333, 0.242]), array([0.   , 0.013, 0.011, 0.011]))
    """
    columns = {"clicks": clicks, "position": position, "qid": qid, "exchanged": exchanged}
    refuse_misread(**columns, swapped=swapped, groups=groups)
    shown, pivot = _Shown.of(clicks, position, qid, groups), check_position("pivot", pivot)
    session, n = shown.session, len(shown.session)
    drawn = _constant(check_positions(exchanged, n, name="exchanged"), session)
    arm = _constant(_check_clicks(swapped, n, name="swapped"), session)
    at_pivot, at_drawn, part = shown.at(pivot), shown.at(drawn[session]), drawn != pivot
    lacking = part & (np.isnan(at_pivot) | np.isnan(at_drawn))
    if lacking.any():
        index = int(np.argmax(lacking))
        raise ValueError(
            f"The session of row {int(np.argmax(session == index))} lacks a row at position "
            f"{pivot} or at position {int(drawn[index])}, its value of exchanged: pass all rows of"
            " each session."
        )

    def ratio(place: int, where: str) -> tuple[float, float]:
        sessions = part & (drawn == place)
        if arm[sessions].all() or not arm[sessions].any():
            raise ValueError(
                f"The sessions of position {place} are all swapped or all unswapped: pass "
                "sessions of both kinds, which are compared with each other."
            )
        return _ratio(at_drawn, at_pivot, sessions, arm, shown.group, where)

    return _by_position(np.unique(np.append(drawn[part], pivot)), pivot, "exchanges", ratio)


def _check_reference(reference: int, places: IntArray) -> int:
    reference = check_position("reference", reference)
    if reference not in places:
        raise ValueError(
            f"No row was shown at position {reference}, the reference of the propensities: pass "
            f"reference={int(places[0])}."
        )
    return reference


def _by_position(
    places: IntArray, reference: int, method: str, ratio: Callable[[int, str], tuple[float, float]]
) -> Propensities:
    """Propensities by the ratio of each position to the reference, with its standard error."""
    ratios = [
        (1.0, 0.0)
        if place == reference
        else ratio(place, f"position {place} and position {reference}")
        for place in places.tolist()
    ]
    values, errors = np.array(ratios).T
    return Propensities(places, values, errors, reference, method)


class _Shown(NamedTuple):
    """Rows that were shown in sessions."""

    clicks: BoolArray
    position: IntArray
    session: IntArray  # (n_rows,): Number of the session of each row
    group: IntArray | None  # (n_sessions,)

    @classmethod
    def of(cls, clicks: Any, position: Any, qid: Any, groups: Any) -> _Shown:
        clicks = _check_clicks(clicks)
        position = check_positions(position, len(clicks))
        session = numbers_of_queries(check_qid(qid, len(position)))
        order = np.lexsort((position, session))
        twice = (np.diff(session[order]) == 0) & (np.diff(position[order]) == 0)
        if twice.any():
            row = int(order[1:][twice][0])
            raise ValueError(
                f"Position {int(position[row])} occurs twice in the session of row {row}: qid must"
                " be the id of one list shown once, not the id of its query."
            )
        if groups is not None:
            ids = check_qid(groups, len(session), name="groups")
            groups = _constant(numbers_of_queries(ids), session)
        return cls(clicks, position, session, groups)

    def at(self, position: Any) -> FloatArray:
        """Click of each session at one position, NaN where it has no such row."""
        values, rows = np.full(int(self.session.max()) + 1, np.nan), self.position == position
        values[self.session[rows]] = self.clicks[rows]
        return values


def _constant(values: AnyArray, session: IntArray) -> AnyArray:
    """The value of each session, the same in all of its rows."""
    of_session = np.empty(int(session.max()) + 1, dtype=values.dtype)
    of_session[session] = values
    differs = of_session[session] != values
    if differs.any():
        raise ValueError(
            "exchanged, swapped and groups must have one value per session, but row "
            f"{int(np.argmax(differs))} differs from another row of its session: repeat the "
            "value in all rows of the session."
        )
    return of_session


def _ratio(
    above: FloatArray,
    below: FloatArray,
    sessions: BoolArray,
    arm: BoolArray,
    group: AnyArray | None,
    where: str,
) -> tuple[float, float]:
    """Ratio of the sums over the arms of the means of clicks, and its standard error."""
    above, below, arm = above[sessions], below[sessions], arm[sessions]
    sizes = np.where(arm, np.count_nonzero(arm), np.count_nonzero(~arm)).astype(np.float64)
    total = float(np.sum(below / sizes))
    if not total > 0:
        raise ValueError(f"No session with {where} has a click at the latter: add sessions.")
    value = float(np.sum(above / sizes)) / total
    residual = above - value * below
    for rows in (arm, ~arm):
        if rows.any():
            residual[rows] -= residual[rows].mean()
    influence = residual / (sizes * total)
    if group is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.sum(influence**2 * np.where(sizes > 1, sizes / (sizes - 1), np.nan))
    else:
        _, code = np.unique(group[sessions], return_inverse=True)
        sums = np.bincount(code, weights=influence)
        variance = np.sum(sums**2 * (len(sums) / (len(sums) - 1) if len(sums) > 1 else np.nan))
    error, rounding = float(np.sqrt(variance)), 1e-12 * max(value, 1.0)
    # Sessions that are all alike, as without a click, do not show how the ratio varies.
    return value, error if error > rounding else float("nan")


def em_propensities(
    X: Any,
    clicks: Any,
    position: Any,
    classifier: Any,
    *,
    sample_weight: Any = None,
    reference: int = 1,
    tol: float = 1e-4,
    max_iter: int = 200,
) -> Propensities:
    """Estimate position propensities from click logs by regression EM, without an experiment.

    In the position-based model ``P(click) = theta(position) gamma(x)`` both factors are learned:
    theta as a number for each position, gamma by a classifier. For rows without a click, the E
    step computes the probability of examination, and the probability of a click if examined. The M
    step averages the former at each position, and fits the classifier to the latter.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features of relevance, without the position.
    clicks : array-like of shape (n_samples,)
        Whether each row was clicked, 0 or 1. There is one row for each time that an item was
        shown.
    position : array-like of shape (n_samples,)
        Position at which the row was shown, 1 at the top.
    classifier : classifier
        Model of gamma: any classifier with ``predict_proba`` whose ``fit`` takes
        ``sample_weight``, or a pipeline that ends with one. A clone is refitted in each iteration;
        with ``warm_start=True``, if available, it continues from the previous fit.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights. A row of weight 2 counts as two rows.
    reference : int, default=1
        Position whose propensity is set to 1.
    tol : float, default=1e-4
        Tolerance on the relative change of propensities in an iteration; positive.
    max_iter : int, default=200
        Maximum number of iterations.

    Returns
    -------
    Propensities
        The propensities, the fitted classifier, and the log likelihood of each iteration.

    Raises
    ------
    ValueError
        If an argument is not valid, a feature is a function of the position, clicks are all 0 or
        all 1, or the classifier takes no weights.

    Warns
    -----
    ConvergenceWarning
        If the propensities still change by more than ``tol``.

    See Also
    --------
    swap_propensities : Uses an experiment; gives standard errors and needs no relevance model.

    Notes
    -----
    Only the products theta gamma(x) are observed. Theta is identified, relative to one position,
    only if rows that are equally relevant for the classifier were shown at different positions. If
    features determine positions, flexible classifiers explain position effects by relevance: use
    clicks under several rankers, or some randomisation.

    If the classifier maximises or increases the weighted likelihood, the log likelihood never
    decreases; with penalised classifiers it can decrease slightly near the end. The likelihood can
    have several maxima; the initial values are the click rates of the positions. Convergence is
    linear, so that the propensities can be farther from the maximum than ``tol``.

    Each of ten to some hundred iterations fits the classifier to up to twice the rows. Where Wang
    et al. [1]_ draw labels, each row is used here with both labels and weights.

    References
    ----------
    .. [1] Wang, X., Golbandi, N., Bendersky, M., Metzler, D. and Najork, M. (2018). Position bias
       estimation for unbiased learning to rank in personal search. WSDM, Section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.clicks import em_propensities
    >>> rng = np.random.default_rng(0)
    >>> X, position = rng.normal(size=(9000, 2)), rng.integers(1, 5, 9000)
    >>> relevant = rng.random(9000) < 1 / (1 + np.exp(-2 * X[:, 0]))
    >>> clicks = relevant & (rng.random(9000) < 1 / position)
    >>> em_propensities(X, clicks, position, LogisticRegression()).value.round(2)
    array([1.  , 0.51, 0.32, 0.26])
    """
    refuse_misread(X=X, clicks=clicks, position=position)
    clicks = _check_clicks(clicks)
    position = check_positions(position, len(clicks))
    tol = check_number("tol", tol, 0.0, closed="neither")
    max_iter = check_whole("max_iter", max_iter)
    if getattr(X, "shape", (len(clicks),))[0] != len(clicks):
        raise ValueError(
            f"X has {X.shape[0]} rows, but clicks has {len(clicks)}: pass one value per row."
        )
    weight = check_sample_weight(sample_weight, clicks)
    _refuse_positions_among_features(X, position)
    places, at = np.unique(position, return_inverse=True)
    reference = _check_reference(reference, places)
    if not 0 < np.sum(weight * clicks) < np.sum(weight):
        raise ValueError("clicks are all 0 or all 1: pass rows with and without clicks.")
    rate = _means(clicks, at, weight)
    base = int(np.searchsorted(places, reference))
    if not rate[base] > 0:
        raise ValueError(
            f"There is no click at position {reference}, the reference of the propensities: pass "
            f"reference={int(places[np.argmax(rate)])}."
        )
    relevance, refit = _relevance_model(classifier, X, clicks, weight)
    # A propensity of 1 at the start would stay there.
    theta, gamma = 0.9 * rate / rate.max(), refit(np.full(len(clicks), rate.max()))
    history, change = [_log_likelihood(clicks, theta[at] * gamma, weight)], np.inf
    while change > tol and len(history) <= max_iter:
        before, chance = theta / theta[base], theta[at]
        unseen = 1.0 - chance * gamma
        examined = np.where(clicks, 1.0, chance * (1.0 - gamma) / unseen)
        theta = _means(examined, at, weight)
        gamma = refit(gamma * (1.0 - chance) / unseen)
        history.append(_log_likelihood(clicks, theta[at] * gamma, weight))
        after = theta / theta[base]
        change = float(np.max(np.abs(after - before) / np.where(after > 0, after, 1.0)))
    if change > tol:
        warn(
            "The propensities did not converge: the greatest relative change in the last of "
            f"{max_iter} iterations is {change:.1e}, but tol={tol:g}: raise max_iter or tol.",
            ConvergenceWarning,
        )
    return Propensities(
        position=places,
        value=theta / theta[base],
        standard_error=None,
        reference=reference,
        method="expectation-maximisation",
        relevance=relevance,
        log_likelihood=np.array(history),
        n_iter=len(history) - 1,
        converged=change <= tol,
    )


def _relevance_model(
    classifier: Any, X: Any, clicks: BoolArray, weight: FloatArray
) -> tuple[Any, Callable[[FloatArray], FloatArray]]:
    """The classifier, and a function that fits it to probabilities of relevance and predicts them.

    It is fitted to clicked rows once, and to each other row as relevant and as not.
    """
    steps = getattr(classifier, "steps", None)
    last = classifier if steps is None else steps[-1][1]
    if not hasattr(classifier, "predict_proba") or not has_fit_parameter(last, "sample_weight"):
        raise ValueError(
            f"classifier={classifier!r} needs predict_proba, and a fit that takes sample_weight,"
            " such as LogisticRegression() or HistGradientBoostingClassifier()."
        )
    classifier = clone(classifier)
    argument = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
    other = np.flatnonzero(~clicks)
    label = np.append(np.ones(len(clicks)), np.zeros(len(other)))
    rows = np.append(np.arange(len(clicks)), other)
    twice = rows_at(X, rows)

    def refit(relevant: FloatArray) -> FloatArray:
        positive = np.where(clicks, 1.0, relevant)[rows]
        weights = weight[rows] * np.where(label == 1, positive, 1.0 - positive)
        classifier.fit(twice, label, **{argument: weights})
        column = int(np.flatnonzero(np.asarray(classifier.classes_) == 1)[0])
        # A click has no likelihood at probabilities of 0 and 1.
        return np.clip(classifier.predict_proba(X)[:, column], 1e-9, 1.0 - 1e-9)

    return classifier, refit


def _means(values: Any, at: IntArray, weight: FloatArray) -> FloatArray:
    """Mean of the rows at each position, 0 where none counts."""
    mass = np.bincount(at, weights=weight)
    return np.bincount(at, weights=weight * values) / np.where(mass > 0, mass, 1.0)


def _log_likelihood(clicks: BoolArray, chance: FloatArray, weight: FloatArray) -> float:
    """Mean over the weight of the rows; places without clicks have a chance of 0."""
    likelihood = np.where(clicks, chance, 1.0 - chance)
    return float(np.sum(weight * np.log(likelihood)) / np.sum(weight))


def _refuse_positions_among_features(X: Any, position: IntArray) -> None:
    """Refuse a column that has one value at each position, and not the same at all."""
    if sp.issparse(X):
        return
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "biuf" or len(np.unique(position)) < 2:
        return
    order = np.argsort(position, kind="stable")
    starts = np.flatnonzero(changes(position[order]))
    if len(starts) == len(position):
        return
    low = np.minimum.reduceat(values[order], starts, axis=0)
    high = np.maximum.reduceat(values[order], starts, axis=0)
    with np.errstate(invalid="ignore"):
        same = np.all(low == high, axis=0) & np.any(low != low[0], axis=0)
    if same.any():
        raise ValueError(
            f"Column {int(np.argmax(same))} of X is a function of the position, so that "
            "relevance and position cannot be separated: leave it out."
        )


def _check_clicks(clicks: Any, n: int | None = None, *, name: str = "clicks") -> BoolArray:
    values = check_vector(name, clicks, n)
    other = (values != 0) & (values != 1)
    if other.any():
        row = int(np.argmax(other))
        raise ValueError(
            f"{name} is {values[row]:g} in row {row}, but must be 0 or 1: convert counts by "
            "(y > 0), and pass one row for each time that an item was shown."
        )
    return values == 1


def team_draft(
    rankings: Mapping[str, Any], *, k: int | None = None, random_state: Any = None
) -> dict[Hashable, str | None]:
    """Mix two rankings for one session by team-draft interleaving.

    In each round a coin decides which ranking, or team, is first to add the best of its items that
    the list does not have yet; the other is second. A click is a point for the team of its item.

    Parameters
    ----------
    rankings : mapping of str to sequence
        The two rankings by name: ids of items, each at most once, the best first.
    k : int or None, default=None
        Length of the mixed list, at least 1; it is shorter if there are fewer items. None takes
        all items.
    random_state : int, RandomState, Generator or None, default=None
        Source of the coins: a Generator for many sessions, or an integer of the session, with
        which the list can be made again.

    Returns
    -------
    dict
        Team of each item of the mixed list, the best item first: a name, or None.

    Raises
    ------
    ValueError
        If there are not two rankings, an item occurs twice in one, or ``k`` is not valid.

    See Also
    --------
    team_outcomes : The test, valid after every session.

    Notes
    -----
    Only the first n places have teams, n the length of the shorter ranking. The draft goes on
    below, if ``k`` is greater, but a ranking may have no item left in one order of the teams and
    one in the other, which would favour it; clicks there count for nobody. Pass rankings of at
    least ``k`` items. Whatever rankings are mixed, clicks that depend on the places only are then
    as likely to favour either team: in each round the coin gives them both orders of its places.

    References
    ----------
    .. [1] Radlinski, Kurup & Joachims (2008), *How does clickthrough data reflect retrieval
       quality?*, CIKM, Section 3.3.

    Examples
    --------
    >>> from sklearn_rank.clicks import team_draft
    >>> rankings = {"old": ["a", "b", "c", "d"], "new": ["b", "d", "e", "a"]}
    >>> team_draft(rankings, k=4, random_state=0)
    {'a': 'old', 'b': 'new', 'c': 'old', 'd': 'new'}
    """
    if not isinstance(rankings, Mapping) or len(rankings) != 2:
        raise ValueError("rankings must be a mapping from two names to lists of ids.")
    lists = [x.tolist() if hasattr(x, "tolist") else list(x) for x in rankings.values()]
    for name, ranking in zip(rankings, lists, strict=True):
        if len(set(ranking)) < len(ranking):
            item = next(x for i, x in enumerate(ranking) if x in ranking[:i])
            raise ValueError(f"The ranking {name!r} has {item!r} twice: pass each item once.")
    n_items = len(set(chain(*lists)))
    length = n_items if k is None else min(check_whole("k", k), n_items)
    n_drafted, rng = min(length, *map(len, lists)), check_generator(random_state)
    team: dict[Hashable, str | None] = {}
    names, left = list(rankings), [(x for x in ranking if x not in team) for ranking in lists]
    while len(team) < length:
        for side in rng.permutation(2).tolist():
            for item in islice(left[side], len(team) < length):
                team[item] = names[side] if len(team) < n_drafted else None
    return team


def team_outcomes(clicks: Any, groups: Any = None) -> dict[str, AnyArray]:
    """Turn clicks on interleaved lists into the rows of a test which of two rankings wins.

    The ranking with more clicks wins a session; sessions without a winner tell nothing. With the
    measure ``"top1"``, whose value is then 1 where the first ranking wins and 0 where the second
    does, :class:`~sklearn_rank.inference.ConfidenceSequence` has limits and p-values of the
    chance that the first wins a decided session, valid after every session.

    Parameters
    ----------
    clicks : array-like of shape (n_sessions, 2)
        Number of clicks of each session on items of each team, at least 0.
    groups : array-like of shape (n_sessions,), default=None
        Id of the user of each session. The sessions of one user depend on each other: each user
        has one outcome, by the number of sessions won. Pass all sessions of a user in one call:
        of a user with an outcome, later updates are refused. None takes each session as that of
        another user.

    Returns
    -------
    dict
        Arguments ``y_true`` and ``y_score`` of ``update``, and ``qid`` if there are groups.

    Raises
    ------
    ValueError
        If ``clicks`` are not two columns of numbers of at least 0, or ``groups`` has another
        length.

    See Also
    --------
    team_draft : Draws the list of a session.
    sklearn_rank.inference.ConfidenceSequence : Limits that hold at every look.

    Examples
    --------
    The new ranking wins .65 of the decided sessions; after how many can we stop?

    >>> import numpy as np
    >>> from sklearn_rank.clicks import team_outcomes
    >>> from sklearn_rank.inference import ConfidenceSequence
    >>> rng, sequence = (
    ...     np.random.default_rng(0),
    ...     ConfidenceSequence("top1", best_after=500),
    ... )
    >>> while sequence.p_value(0.5) > 0.05:
    ...     session = rng.multinomial(1, [0.35, 0.65])
    ...     interval = sequence.update(**team_outcomes([session[::-1]]))
    >>> sequence.n_looks, round(interval.low, 3), round(interval.high, 3)
    (216, 0.501, 0.706)
    """
    refuse_misread(clicks=clicks, groups=groups)
    columns = check_column("clicks", clicks, (1, 2))
    if columns.shape[1:] != (2,):
        raise ValueError(
            f"clicks has shape {columns.shape}, but must have two columns, how many clicks each"
            " team has: pass a row for each session."
        )
    counts = np.stack([check_vector("clicks", x, lowest=0.0) for x in columns.T], axis=1)
    won = (counts > counts[:, ::-1]).astype(np.float64)
    if groups is None:
        won = won[won.any(axis=1)]
        return {"y_true": won, "y_score": np.tile([1.0, 0.0], (len(won), 1))}
    ids, offsets, rows = group_rows(check_qid(groups, len(won), name="groups"))
    won = np.add.reduceat(won if rows is None else won[rows], offsets[:-1])
    decided = won[:, 0] != won[:, 1]
    score = np.tile([1.0, 0.0], np.count_nonzero(decided))
    return {"y_true": won[decided].ravel(), "y_score": score, "qid": np.repeat(ids[decided], 2)}
