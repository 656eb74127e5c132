"""Conventions of other systems: their rules for ties, undefined lists and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from .._lists import ScoredLists
from .._order import tied_blocks
from .._typing import AnyArray, FloatArray

Convention: TypeAlias = Literal[
    "paper",
    "sklearn",
    "xgboost",
    "lightgbm",
    "catboost",
    "trec_eval",
    "gdeval",
    "ranx",
    "letor",
    "rdkit",
    "proc",
]


@dataclass(frozen=True)
class Rules:
    """How a measure is computed where its definition leaves a choice."""

    undefined: Literal["skip", "raise"] | float = "skip"  # What lists without a value count
    gain: Literal["exponential", "linear"] | Callable[[FloatArray], Any] | None = None
    discount: Literal["logarithmic", "letor"] = "logarithmic"
    normalize: Literal["positives", "reachable"] | None = None
    ties: Literal["mean", "rows", "end", "worst", "lines", "refused"] = "mean"
    relevant: float | None = None
    max_grade: float | None = None  # Highest grade of the scale; None is the measure's own
    divides_by_length: bool = False
    rounds_up: bool = False
    single_precision: bool = False  # Whether scores are rounded to 32 bits
    has_k: bool = True  # Whether the system has the measure with a last position
    chosen: tuple[str, ...] = ()
    knows_judgments: bool = False  # Whether it knows relevant items that are not among the rows
    weighs_lists: bool = True  # Whether the mean is weighted where the lists have weights
    weighs_undefined: bool = True
    weighs_items: bool = False
    refuses_above_one: bool = False

    def ordered(self, lists: ScoredLists, relevance: AnyArray) -> ScoredLists:
        """Break ties by the rule of the system."""
        score = lists.score
        if self.single_precision:
            with np.errstate(over="ignore"):
                score = score.astype(np.float32).astype(np.float64)
        if self.ties == "rows":
            score = _in_rows(score, lists)
        elif self.ties == "worst":
            score = _worst_first(score, lists, relevance)
        elif self.ties == "refused":
            bits = " in 32 bits" if self.single_precision else ""
            _refuse_ties(replace(lists, score=score), relevance, bits)
        return lists if score is lists.score else replace(lists, score=score)


# More than a half is relevant.
HALF = float(np.nextafter(0.5, 1.0))

CATBOOST = Rules(ties="worst", undefined=0.0, relevant=HALF, chosen=("rel",))
GDEVAL = Rules(ties="refused", max_grade=4.0, knows_judgments=True)
LETOR = Rules(ties="rows", undefined=0.0, relevant=1.0)
LIGHTGBM = Rules(ties="rows", undefined=1.0)
RANX = Rules(ties="refused", undefined=0.0, relevant=1.0, chosen=("rel",), knows_judgments=True)
RDKIT = Rules(ties="rows", undefined=0.0)
TREC_EVAL = replace(RANX, single_precision=True)
XGBOOST = Rules(ties="rows", undefined=1.0, single_precision=True)


def check_convention(
    name: str, systems: Mapping[str, Rules], given: dict[str, Any], convention: Any
) -> None:
    """Check that a system has a measure, and that no parameter conflicts with its rules."""
    if not isinstance(convention, str) or convention not in systems:
        raise ValueError(
            f"convention={convention!r} is not available for {name}: pass one of {list(systems)},"
            " or leave it out and pass the parameters."
        )
    rules = systems[convention]
    said = {
        "undefined": rules.undefined,
        "gain": rules.gain,
        "normalize": rules.normalize,
        "max_grade": rules.max_grade,
    }
    if rules.relevant is not None:
        said["rel"] = rules.relevant
    for parameter, value in given.items():
        if parameter in rules.chosen:
            continue
        if parameter in said and (callable(value) or value != said[parameter]):
            raise ValueError(
                f"{parameter}={value!r} conflicts with convention={convention!r}, which sets it to"
                f" {said[parameter]!r}: leave out one of the two."
            )
        if parameter == "log_base" or (parameter == "k" and not rules.has_k):
            raise ValueError(
                f"{parameter}={value!r} conflicts with convention={convention!r}, which has no"
                f" such parameter for {name}: leave out one of the two."
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


def _worst_first(score: FloatArray, lists: ScoredLists, relevance: AnyArray) -> FloatArray:
    """Scores without ties of different relevance, of tied rows the less relevant ones higher."""
    order = np.lexsort((-relevance.astype(np.float64), score, lists.list_of))
    untied = np.empty(len(score))
    untied[order] = np.arange(len(score), dtype=np.float64)
    return untied


def _refuse_ties(lists: ScoredLists, relevance: AnyArray, bits: str) -> None:
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
        f"{where} has items of different relevance tied at the score {value:g}{bits}, which the"
        " system orders by document names or arbitrarily: pass scores without ties, for example"
        " from load_trec_run(..., ties='trec'), or leave out convention for the mean over all"
        " orders."
    )
