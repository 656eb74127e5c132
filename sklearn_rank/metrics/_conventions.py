"""What other systems do where definitions leave a choice: one table, and how it is applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from .._blocks import tied_blocks
from .._lists import ScoredLists
from .._typing import AnyArray, FloatArray

__all__ = [
    "LETOR",
    "LIGHTGBM",
    "TREC_EVAL",
    "XGBOOST",
    "Convention",
    "Rules",
    "check_convention",
]

Convention: TypeAlias = Literal["paper", "sklearn", "xgboost", "lightgbm", "trec_eval", "letor"]


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

    undefined: Literal["skip", "raise"] | float = "skip"
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
        return lists if score is lists.score else replace(lists, score=score)


LETOR = Rules(ties="rows", undefined=0.0, relevant=1.0)
LIGHTGBM = Rules(ties="rows", undefined=1.0)
TREC_EVAL = Rules(ties="refused", undefined=0.0, relevant=1.0, single_precision=True)
XGBOOST = Rules(ties="rows", undefined=1.0, single_precision=True)


def check_convention(
    name: str, systems: Mapping[str, Rules], given: dict[str, Any], convention: Any
) -> None:
    """Check that a system has a measure, and that no parameter says otherwise than it does.

    Parameters
    ----------
    name : str
        Name of the measure's function, for messages.
    systems : mapping of str to Rules
        What each system does.
    given : dict
        Parameters of the measure that are not the default.
    convention : object
        Name of the system.

    Raises
    ------
    ValueError
        If the system does not have the measure, or a parameter conflicts with what it does.
    """
    if not isinstance(convention, str) or convention not in systems:
        raise ValueError(
            f"convention={convention!r} is not one of {list(systems)}, the systems whose {name}"
            " is known: choose one, or leave it out and pass the parameters."
        )
    rules = systems[convention]
    said = {"undefined": rules.undefined, "gain": rules.gain, "normalize": rules.normalize}
    for parameter, value in given.items():
        if parameter in said and (callable(value) or value != said[parameter]):
            raise ValueError(
                f"{parameter}={value!r} conflicts with convention={convention!r}, by which it is"
                f" {said[parameter]!r}: leave out one of the two."
            )
        if parameter == "log_base" or (parameter == "k" and not rules.has_k):
            raise ValueError(
                f"{parameter}={value!r} conflicts with convention={convention!r}, which does not"
                f" have it for {name}: leave out one of the two."
            )


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
