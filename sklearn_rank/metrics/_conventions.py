"""What measures state: conventions of other systems, names, weights, and the positional form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .._lists import Lists, ScoredLists
from .._order import ragged_ranges, sorted_descending, tied_blocks
from .._typing import FloatArray
from .._validation import check_numbers, check_vector, shape_of

# Probabilities, and sums and inverses of them, may be rounded by so much, in float32 too.
ROUNDING = 1e-6

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

    def ordered(self, lists: ScoredLists) -> ScoredLists:
        """Break ties by the rule of the system."""
        score, relevance = lists.score, lists.labels
        if self.single_precision:
            with np.errstate(over="ignore"):
                score = score.astype(np.float32).astype(np.float64)
        if self.ties == "rows":
            blocks = tied_blocks(score, lists.offsets)
            n = len(score)
            if len(blocks.starts) < n:
                # A sort of integers is several times faster than np.lexsort.
                block = np.repeat(np.arange(len(blocks.starts)), blocks.lengths()) * n
                order = np.sort(block + blocks.order) - block
                score = np.empty(n)
                score[order] = np.arange(n, 0.0, -1.0)
        elif self.ties == "worst":
            # Of tied rows the less relevant ones are higher.
            order = np.lexsort((-relevance.astype(np.float64), score, lists.list_of))
            score = np.empty(len(order))
            score[order] = np.arange(len(order), dtype=np.float64)
        elif self.ties == "refused":
            bits = " in 32 bits" if self.single_precision else ""
            _refuse_ties(replace(lists, score=score), bits)
        return lists if score is lists.score else replace(lists, score=score)


def rules_of(**systems: dict[str, Any]) -> Mapping[str, Rules]:
    """Rules of some systems for a measure, by what differs from those for other measures."""
    chosen: dict[str, Any] = {"undefined": 0.0, "chosen": ("rel",)}
    ranx = Rules(ties="refused", relevant=1.0, knows_judgments=True, **chosen)
    more_than_half = float(np.nextafter(0.5, 1.0))
    usual = {
        "catboost": Rules(ties="worst", relevant=more_than_half, **chosen),
        "gdeval": Rules(ties="refused", max_grade=4.0, knows_judgments=True),
        "letor": Rules(ties="rows", undefined=0.0, relevant=1.0),
        "lightgbm": Rules(ties="rows", undefined=1.0, relevant=more_than_half),
        "ranx": ranx,
        "rdkit": Rules(ties="rows", undefined=0.0),
        "trec_eval": replace(ranx, single_precision=True),
        "xgboost": Rules(ties="rows", undefined=1.0, single_precision=True),
    }
    rules = {name: replace(usual.get(name, Rules()), **own) for name, own in systems.items()}
    return MappingProxyType(rules)


def check_convention(
    name: str, systems: Mapping[str, Rules], changed: dict[str, Any], convention: Any
) -> None:
    if not isinstance(convention, str) or convention not in systems:
        raise ValueError(
            f"convention={convention!r} is not available for {name}: pass one of {list(systems)},"
            " or leave it out and pass the parameters."
        )
    rules = systems[convention]
    fixed = {
        name: getattr(rules, name) for name in ("undefined", "gain", "normalize", "max_grade")
    }
    if rules.relevant is not None:
        fixed["rel"] = rules.relevant
    for parameter, value in changed.items():
        if parameter in rules.chosen:
            continue
        why = f"sets it to {fixed.get(parameter)!r}"
        if parameter == "log_base" or (parameter == "k" and not rules.has_k):
            why = f"has no such parameter for {name}"
        elif parameter not in fixed or value == fixed[parameter]:
            continue
        raise ValueError(
            f"{parameter}={value!r} conflicts with convention={convention!r}, which {why}: leave"
            " out one of the two."
        )


def _refuse_ties(lists: ScoredLists, bits: str) -> None:
    blocks = tied_blocks(lists.score, lists.offsets)
    inside, at = lists.labels[blocks.order].astype(np.float64), blocks.starts
    differs = np.maximum.reduceat(inside, at) != np.minimum.reduceat(inside, at)
    if not differs.any():
        return
    item = blocks.order[blocks.starts[np.argmax(differs)]]
    raise ValueError(
        f"{lists.name_of(lists.list_of[item])} has items of different relevance tied at the score"
        f" {lists.score[item]:g}{bits}, which the system orders by document names or arbitrarily:"
        " pass scores without ties, or judgments and the run, which have names, or leave out"
        " convention for the mean over all orders."
    )


def with_n_relevant(lists: ScoredLists, shape: tuple[int, ...], n_relevant: Any) -> ScoredLists:
    name = "n_relevant"
    if isinstance(n_relevant, Mapping) or len(shape) == 2 or not shape_of(n_relevant):
        number = np.array(_of_lists(n_relevant, lists, shape, name))
    else:
        by_row = check_vector(name, n_relevant, shape[0])
        by_item = by_row if lists.rows is None else by_row[lists.rows]
        number = by_item[lists.offsets[:-1]]
        differs = by_item != lists.to_items(number)
        if differs.any():
            raise ValueError(
                f"{name} differs within {lists.name_of(int(lists.list_of[np.argmax(differs)]))}:"
                " pass one number per row that is the same for all rows of a list."
            )
    return _count_relevant(lists, check_numbers(name, number), name)


def _of_lists(values: Any, lists: Lists, shape: tuple[int, ...], name: str) -> list[Any]:
    """What was passed for each list: by id, by row of two dimensions, or for one list."""
    if isinstance(values, Mapping):
        if lists.ids is None and None not in values:
            raise ValueError(f"{name} is a mapping from ids, but qid is None: pass qid.")
        ids = [None] if lists.ids is None else lists.ids.tolist()
        for key in ids:
            if key not in values:
                raise ValueError(f"{name} has no entry for the list with qid {key!r}: add one.")
        return [values[key] for key in ids]
    are_several = len(shape) == 2 and shape_of(values, ragged=(-1,))
    of_lists = list(values) if are_several else [values]
    if len(of_lists) != lists.n_lists:
        raise ValueError(
            f"{name} has {len(of_lists)} entries for {lists.n_lists} lists: pass one for each, or"
            " a mapping from their ids."
        )
    return of_lists


def _count_relevant(lists: ScoredLists, number: FloatArray, name: str) -> ScoredLists:
    n_pos = lists.totals(lists.positive.astype(np.float64))
    wrong = (number != np.floor(number)) | (number < n_pos) | (number == np.inf)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(
            f"{name} of {lists.name_of(index)} is {number[index]:g}, but must be a whole number of"
            f" at least {n_pos[index]:g}, the number of its relevant rows: pass the number of all"
            " its relevant items, including those among the rows."
        )
    return replace(lists, n_relevant=number)


def with_ideal(
    lists: ScoredLists, shape: tuple[int, ...], ideal: Any, *, graded: bool, rel: float | None
) -> ScoredLists:
    judged = _grades(lists, shape, ideal)
    # Grades below 0 (junk documents) count as 0.
    best = replace(judged, labels=np.maximum(judged.grade, 0.0))
    if graded:
        ordered = sorted_descending(lists.grade, lists.offsets)
        ideal_grade = sorted_descending(best.grade, best.offsets)
        place = ragged_ranges(np.zeros(lists.n_lists, dtype=np.intp), lists.lengths)
        inside = place < lists.to_items(best.lengths)
        # Positions beyond the end of the best order have no gain.
        at = np.where(inside, lists.to_items(best.offsets[:-1]) + place, 0)
        beats = ordered > np.where(inside, ideal_grade[at], 0.0)
        if beats.any():
            raise ValueError(
                f"ideal of {lists.name_of(int(lists.list_of[np.argmax(beats)]))} lacks relevance"
                " that its rows have: pass the grades of all its relevant items, including those"
                " among the rows."
            )
        return replace(lists, ideal=best)
    if rel is None:
        if not np.isin(best.grade, [0.0, 1.0]).all():
            raise ValueError(
                "ideal has grades other than 0 and 1, but the labels are of two classes: pass"
                " grades in both and rel=, the smallest relevant grade."
            )
        rel = 1.0
    number = best.totals((best.grade >= rel).astype(np.float64))
    lists = _count_relevant(lists, number, "the number of relevant items in ideal")
    # As in trec_eval, junk was not judged.
    return replace(lists, n_judged=judged.totals((judged.grade >= 0.0).astype(np.float64)))


def _grades(lists: ScoredLists, shape: tuple[int, ...], ideal: Any) -> Lists:
    """Grades of the best order of each list, one of junk where there is nothing."""
    parts = _of_lists(ideal, lists, shape, "ideal")
    parts = [part if np.size(part) else [-1.0] for part in parts]
    offsets = np.append(0, np.cumsum([np.size(part) for part in parts]))
    grade = np.concatenate([np.ravel(part) for part in parts])
    try:
        grade = check_vector("ideal", grade)
    except ValueError:
        # The error is raised again with the name of the list.
        for index, part in enumerate(parts):
            check_vector(f"ideal of {lists.name_of(index)}", part)
        raise
    return Lists(labels=grade, offsets=offsets, ids=lists.ids)


@dataclass(frozen=True)
class PositionalForm:
    """A measure as ``b(y) + sum over positions i of discount(i) utility(item at i)``."""

    utilities: Callable[[Lists], FloatArray]
    discounts: Callable[[int], FloatArray] | None
    largest: float | None = None  # Largest utility that any labels give; None where there is none
    largest_by_length: Callable[[int], float] | None = None
    expectation: str = ""

    def largest_among(self, n: int) -> float | None:
        """Largest utility that any labels of n items give."""
        if self.largest_by_length is None or n < 2:
            return self.largest
        return self.largest_by_length(n)


def cut_after(discounts: FloatArray, k: int | None) -> FloatArray:
    """Set the discounts after position k to 0, in place."""
    if k is not None:
        discounts[k:] = 0.0
    return discounts


def linear_discounts(n: int) -> FloatArray:
    """Return ``n - i`` for the positions i = 1..n. Shape (n,)."""
    return np.arange(n - 1, -1, -1, dtype=np.float64)


def share_of_total(lists: Lists, total: FloatArray) -> FloatArray:
    """Divide the class of each item, 0 or 1, by a number of its list. Shape (n,)."""
    divisor = np.where(total > 0, total, np.nan)
    return lists.positive / lists.to_items(divisor)


class NamedNumber(NamedTuple):
    """The parameter that a name sets by a number; None if the number sets several."""

    parameter: str | None
    read: Callable[[str], Any]  # A ValueError means that the text is not such a number
    example: str
    optional: bool = False

    @property
    def is_share(self) -> bool:
        """Whether the number is less than 1."""
        try:
            self.read("2.5")
        except ValueError:
            return not self.is_whole
        return False

    @property
    def is_whole(self) -> bool:
        return self.read is position


def position(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]*", text):
        raise ValueError(text)
    return int(text)


def number(text: str, *, below: float = inf, also: str = "") -> float:
    """Read a positive number below a limit; or the text that is read beside these."""
    # float() alone also reads "nan", " 0.1" and "1_0".
    written = re.fullmatch(r"[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?", text)
    if text != also and not (written and 0 < float(text) < below):
        raise ValueError(text)
    return float(text)


share = partial(number, below=1.0)


def limits(text: str) -> dict[str, float]:
    """Limits of the partial AUC: fpr0.1, tpr0.8, or both in this order."""
    match = re.fullmatch(r"(?:fpr([0-9.e+-]+))?(?:tpr([0-9.e+-]+))?", text)
    if match is None or not text:
        raise ValueError(text)
    limits = zip(("max_fpr", "min_tpr"), match.groups(), strict=True)
    return {name: share(limit) for name, limit in limits if limit is not None}
