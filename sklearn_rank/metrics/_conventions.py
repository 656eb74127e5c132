"""What other systems do where definitions leave a choice: one table, and how it is applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from .._blocks import tied_blocks
from .._lists import ScoredLists
from .._typing import AnyArray, FloatArray
from ._lists import Undefined

__all__ = ["SKIP", "ZERO", "Convention", "Rules", "rules_of"]

Convention: TypeAlias = Literal["paper", "sklearn", "xgboost", "lightgbm", "trec_eval", "letor"]


class _Number(float):
    """A default that is told apart from the same number in a call."""


class _Word(str):
    """A default that is told apart from the same word in a call."""

    __slots__ = ()


# Defaults of ``undefined``, which a convention may replace and a caller's value may not meet.
ZERO: Any = _Number(0.0)
SKIP: Any = _Word("skip")


@dataclass(frozen=True)
class Rules:
    """How a measure is computed where its definition leaves a choice.

    Parameters
    ----------
    undefined : {"skip", "raise"} or float, default="skip"
        What lists without a value count.
    gain : {"exponential", "linear"}, callable or None, default=None
        Gain of a relevance; None is the measure's own.
    discount : {"logarithmic", "letor"}, default="logarithmic"
        ``1 / log2(1 + i)``, or 1 at positions 1 and 2 and ``1 / log2(i)`` after.
    normalize : {"positives", "reachable"} or None, default=None
        What divides average precision at k; None is the measure's own.
    ties : {"mean", "rows", "end", "refused"}, default="mean"
        The mean over all orders; rows in the order in which they come; every tied item at the end
        of its block; an error where tied items differ in relevance.
    relevant : float or None, default=None
        Least grade that is relevant to a measure of two classes; None takes two classes only.
    divides_by_length : bool, default=False
        Whether precision at k divides by the length of a list that is shorter than k.
    single_precision : bool, default=False
        Whether scores are rounded to 32 bits.
    has_k : bool, default=True
        Whether the system has the measure with a last position.
    """

    undefined: Undefined = "skip"
    gain: Literal["exponential", "linear"] | Callable[[FloatArray], Any] | None = None
    discount: Literal["logarithmic", "letor"] = "logarithmic"
    normalize: Literal["positives", "reachable"] | None = None
    ties: Literal["mean", "rows", "end", "refused"] = "mean"
    relevant: float | None = None
    divides_by_length: bool = False
    single_precision: bool = False
    has_k: bool = True

    def labels(self, y_true: Any, pos_label: Any) -> Any:
        """Make labels of two classes of grades, where the system does.

        Parameters
        ----------
        y_true : array-like
            Grades or labels.
        pos_label : object
            The positive class; None: grades, or 0 and 1.

        Returns
        -------
        array-like
            Whether each is relevant; labels that are no grades as they came.
        """
        if self.relevant is None or pos_label is not None:
            return y_true
        grade: AnyArray = np.asarray(y_true)
        if grade.dtype.kind not in "iuf" or not np.isfinite(grade).all():
            return y_true
        return grade >= self.relevant

    def ordered(self, lists: ScoredLists, relevance: AnyArray) -> ScoredLists:
        """Break the ties as the system does.

        Parameters
        ----------
        lists : ScoredLists
            The lists.
        relevance : ndarray of shape (n,)
            Relevance of each item.

        Returns
        -------
        ScoredLists
            The same with other scores, if the system has an order of its own.
        """
        score = lists.score
        if self.single_precision:
            with np.errstate(over="ignore"):
                score = score.astype(np.float32).astype(np.float64)
        if self.ties == "rows":
            score = _in_rows(score, lists)
        elif self.ties == "refused":
            _refuse_ties(replace(lists, score=score), relevance)
        return replace(lists, score=score)


def _rules(**systems: Rules) -> dict[str, Rules]:
    return systems


_LETOR = Rules(ties="rows", undefined=0.0, relevant=1.0)
_LIGHTGBM = Rules(ties="rows", undefined=1.0)
_TREC_EVAL = Rules(ties="refused", undefined=0.0, relevant=1.0, single_precision=True)
_XGBOOST = Rules(ties="rows", undefined=1.0, single_precision=True)

_TABLE: dict[str, dict[str, Rules]] = {
    "average_precision_score": _rules(
        paper=Rules(normalize="positives", has_k=False),
        sklearn=Rules(ties="end", undefined=0.0, has_k=False),
        xgboost=replace(_XGBOOST, normalize="reachable"),
        lightgbm=replace(_LIGHTGBM, normalize="reachable", relevant=np.nextafter(0.5, 1.0)),
        trec_eval=replace(_TREC_EVAL, normalize="positives"),
        letor=replace(_LETOR, has_k=False),
    ),
    "dcg_score": _rules(
        paper=Rules(gain="exponential"),
        sklearn=Rules(gain="linear"),
    ),
    "ndcg_score": _rules(
        paper=Rules(gain="exponential"),
        sklearn=Rules(gain="linear", undefined=0.0),
        xgboost=replace(_XGBOOST, gain="exponential"),
        lightgbm=replace(_LIGHTGBM, gain="exponential"),
        trec_eval=replace(_TREC_EVAL, gain="linear"),
        letor=replace(_LETOR, gain="exponential", discount="letor"),
    ),
    "precision_at_k_score": _rules(
        paper=Rules(),
        xgboost=replace(_XGBOOST, undefined="skip", divides_by_length=True),
        trec_eval=replace(_TREC_EVAL, undefined="skip"),
        letor=replace(_LETOR, undefined="skip"),
    ),
    "recall_at_k_score": _rules(paper=Rules(), trec_eval=_TREC_EVAL),
    "reciprocal_rank_score": _rules(trec_eval=replace(_TREC_EVAL, has_k=False)),
}


def rules_of(
    name: str,
    convention: Convention | None,
    *,
    undefined: Undefined,
    sample_weight: Any = None,
    k: int | None = None,
    log_base: float = 2.0,
    **given: Any,
) -> Rules:
    """Rules of a measure by a convention, or by its own parameters.

    Parameters
    ----------
    name : str
        Name of the measure's function.
    convention : str or None
        The system; None: the parameters as given.
    undefined : {"skip", "raise"} or float
        The caller's, or the default, which is told apart.
    sample_weight : array-like, default=None
        The caller's.
    k : int or None, default=None
        The caller's.
    log_base : float, default=2.0
        The caller's.
    **given : dict
        The caller's ``gain`` or ``normalize``; None is not given.

    Returns
    -------
    Rules
        The rules.

    Raises
    ------
    ValueError
        If the system does not have the measure, or a parameter conflicts with what it does.
    """
    if convention is None:
        return Rules(undefined=undefined, **given)
    systems = _TABLE[name]
    if not isinstance(convention, str) or convention not in systems:
        raise ValueError(
            f"convention={convention!r} is not one of {list(systems)}, the systems whose {name}"
            " is known: choose one, or leave it out and pass the parameters."
        )
    rules = systems[convention]
    if not isinstance(undefined, _Number | _Word):
        given["undefined"] = undefined
    for parameter, value in given.items():
        theirs = getattr(rules, parameter)
        if value is not None and (callable(value) or value != theirs):
            raise ValueError(
                f"{parameter}={value!r} conflicts with convention={convention!r}, by which it is"
                f" {theirs!r}: leave out one of the two."
            )
    lacking: dict[str, float] = {"k": k} if k is not None and not rules.has_k else {}
    if log_base != 2.0:
        lacking["log_base"] = log_base
    for parameter, value in lacking.items():
        raise ValueError(
            f"{parameter}={value!r} conflicts with convention={convention!r}, which does not"
            f" have it for {name}: leave out one of the two."
        )
    if sample_weight is not None and convention != "paper":
        raise ValueError(
            f"sample_weight weighs items, and {convention} has weights of lists or none: leave"
            " out sample_weight or convention; weights of lists are query_weight."
        )
    return rules


def _in_rows(score: FloatArray, lists: ScoredLists) -> FloatArray:
    """Scores without ties, by which tied rows stand in the order in which they come."""
    blocks = tied_blocks(score, lists.offsets)
    n = len(score)
    if len(blocks.starts) == n:
        return score
    # Of integers a sort of values will do, which is several times faster than np.lexsort.
    block = np.repeat(np.arange(len(blocks.starts)), blocks.lengths()) * n
    order = np.sort(block + blocks.order) - block
    untied = np.empty(n)
    untied[order] = np.arange(n, 0.0, -1.0)
    return untied


def _refuse_ties(lists: ScoredLists, relevance: AnyArray) -> None:
    blocks = tied_blocks(lists.score, lists.offsets)
    inside = relevance[blocks.order].astype(np.float64)
    differs = np.maximum.reduceat(inside, blocks.starts) != np.minimum.reduceat(
        inside, blocks.starts
    )
    if not differs.any():
        return
    first = int(np.argmax(differs))
    bad = int(np.searchsorted(lists.offsets, blocks.starts[first], "right")) - 1
    where = "the list" if lists.ids is None else f"the list with qid {lists.ids.tolist()[bad]!r}"
    value = lists.score[blocks.order[blocks.starts[first]]]
    raise ValueError(
        f"{where} has items of different relevance tied at the score {value:g} in 32 bits, which"
        " trec_eval orders by the names of documents, the last name first: pass the positions of"
        " that order, negated, as y_score, or leave out convention for the mean over all orders."
    )
