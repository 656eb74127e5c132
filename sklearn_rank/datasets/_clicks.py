"""Simulated clicks on the lists of a ranker, with known propensities."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.utils import Bunch, check_random_state

from .._arguments import check_choice, check_number, check_position, check_whole
from .._lists import LabelType, Lists, check_scored_lists
from .._order import ragged_ranges
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_vector

__all__ = ["make_clicks"]

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
        raise ValueError(
            "y has no relevance above 0, so there would be no clicks: pass grades above 0."
        )
    random = check_random_state(random_state)
    shown = lists.list_of, -lists.score.astype(np.float64), random.uniform(size=len(lists.grade))
    order = np.lexsort(shown[::-1])
    query = random.randint(lists.n_lists, size=n_sessions)
    items, session, position = _sessions(lists, query, k, intervention == "random", random)
    exchanged, swapped = np.ones(n_sessions, dtype=np.int64), np.zeros(n_sessions, dtype=bool)
    if intervention == "swap":
        exchanged, swapped = _exchange(items, session, position, random)
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


def _sessions(
    lists: Lists, query: IntArray, k: int | None, shuffled: bool, random: Any
) -> tuple[IntArray, IntArray, IntArray]:
    """Places of the rows that are shown, their sessions and positions."""
    lengths = lists.lengths[query]
    items = ragged_ranges(lists.offsets[query], lengths)
    session = np.repeat(np.arange(len(query)), lengths)
    if shuffled:
        items = items[np.lexsort((random.uniform(size=len(items)), session))]
    position = ragged_ranges(np.ones(len(query), dtype=np.intp), lengths)
    if k is not None:
        shown = position <= k
        items, session, position = items[shown], session[shown], position[shown]
    return items, session, position


def _exchange(
    items: IntArray, session: IntArray, position: IntArray, random: Any
) -> tuple[IntArray, BoolArray]:
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
