"""Propensities from randomised orders, as ratios of click rates."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_position
from .._lists import group_rows
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import check_qid
from ._propensities import Propensities, check_clicks, check_positions

# A standard error below this is rounding of one that is 0.
ALIKE = 1e-12


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
    clicks = check_clicks(clicks)
    position = check_positions(position, len(clicks))
    reference = check_position("reference", reference)
    session, first = _sessions(qid, position)
    group = None if groups is None else _constant(_codes(groups, len(clicks), "groups"), session)
    at_reference = _at(clicks, position == reference, session, len(first))
    places = np.unique(position)
    if reference not in places:
        raise ValueError(
            f"No row was shown at position {reference}, the reference of the propensities: pass "
            "another reference=."
        )
    values, errors = np.ones(len(places)), np.zeros(len(places))
    for row, place in enumerate(places):
        if place == reference:
            continue
        own = _at(clicks, position == place, session, len(first))
        both = ~np.isnan(own) & ~np.isnan(at_reference)
        values[row], errors[row] = _ratio(
            own[both],
            at_reference[both],
            np.zeros(int(both.sum()), dtype=bool),
            None if group is None else group[both],
            f"position {place} and position {reference}",
        )
    return Propensities(places, values, errors, reference, "random orders")


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
    clicks = check_clicks(clicks)
    position = check_positions(position, len(clicks))
    pivot = check_position("pivot", pivot)
    session, first = _sessions(qid, position)
    drawn = _constant(check_positions(exchanged, len(clicks), name="exchanged"), session)
    arm = _constant(check_clicks(swapped, len(clicks), name="swapped"), session)
    group = None if groups is None else _constant(_codes(groups, len(clicks), "groups"), session)
    at_pivot = _at(clicks, position == pivot, session, len(first))
    at_drawn = _at(clicks, position == drawn[session], session, len(first))
    part = drawn != pivot
    lacking = part & (np.isnan(at_pivot) | np.isnan(at_drawn))
    if lacking.any():
        one = int(np.argmax(lacking))
        raise ValueError(
            f"The session of row {int(first[one])} lacks a row at position {pivot} or at "
            f"position {int(drawn[one])}, its value of exchanged: pass all rows of each session."
        )
    places = np.unique(np.append(drawn[part], pivot))
    values, errors = np.ones(len(places)), np.zeros(len(places))
    for row, place in enumerate(places):
        if place == pivot:
            continue
        own = part & (drawn == place)
        if arm[own].all() or not arm[own].any():
            raise ValueError(
                f"The sessions of position {place} are all swapped or all unswapped: pass "
                "sessions of both kinds, which are compared with each other."
            )
        values[row], errors[row] = _ratio(
            at_drawn[own],
            at_pivot[own],
            arm[own],
            None if group is None else group[own],
            f"position {place} and position {pivot}",
        )
    return Propensities(places, values, errors, pivot, "exchanges")


def _sessions(qid: Any, position: IntArray) -> tuple[IntArray, IntArray]:
    """Number of the session of each row, and the first row of each."""
    session = _codes(qid, len(position), "qid")
    first = np.full(int(session.max()) + 1, len(position))
    np.minimum.at(first, session, np.arange(len(position)))
    order = np.lexsort((position, session))
    twice = (np.diff(session[order]) == 0) & (np.diff(position[order]) == 0)
    if twice.any():
        row = int(order[1:][twice][0])
        raise ValueError(
            f"Position {int(position[row])} occurs twice in the session of row {row}: qid must "
            "be the id of one list shown once, not the id of its query."
        )
    return session, first


def _codes(ids: Any, n: int, name: str) -> IntArray:
    """Numbers 0, 1, ... of ids, in the order in which they appear."""
    _, offsets, rows = group_rows(check_qid(ids, n, name=name), by_appearance=True)
    code = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if rows is None:
        return code
    by_row = np.empty(n, dtype=np.intp)
    by_row[rows] = code
    return by_row


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


def _at(clicks: BoolArray, rows: BoolArray, session: IntArray, n_sessions: int) -> FloatArray:
    """Click of each session at one position, NaN where it has no such row."""
    found = np.full(n_sessions, np.nan)
    found[session[rows]] = clicks[rows]
    return found


def _ratio(
    above: FloatArray, below: FloatArray, arm: BoolArray, group: AnyArray | None, where: str
) -> tuple[float, float]:
    """Ratio of the sums over the arms of the means of clicks, and its standard error."""
    sizes = np.where(arm, np.count_nonzero(arm), np.count_nonzero(~arm)).astype(np.float64)
    total = float(np.sum(below / sizes))
    if not total > 0:
        raise ValueError(f"No session with {where} has a click at the latter: add sessions.")
    value = float(np.sum(above / sizes)) / total
    residual = above - value * below
    for one in (arm, ~arm):
        residual[one] -= residual[one].mean() if one.any() else 0.0
    influence = residual / (sizes * total)
    squares: FloatArray
    if group is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = influence**2 * np.where(sizes > 1, sizes / (sizes - 1), np.nan)
    else:
        _, code = np.unique(group, return_inverse=True)
        sums = np.bincount(code, weights=influence).astype(np.float64)
        factor = len(sums) / (len(sums) - 1) if len(sums) > 1 else np.nan
        squares = np.asarray(sums**2 * factor, dtype=np.float64)
    error = float(np.sqrt(np.sum(squares)))
    # Sessions that are all alike, as without a click, do not show how the ratio varies.
    return value, error if error > ALIKE * max(value, 1.0) else float("nan")
