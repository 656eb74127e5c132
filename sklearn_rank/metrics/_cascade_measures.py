"""Measure classes of average precision, reciprocal rank, ERR and RBP."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType
from typing import Literal

import numpy as np

from .._arguments import check_choice, check_position, check_share, is_number
from .._lists import Lists, ScoredLists
from .._order import ClassBlocks
from .._typing import FloatArray
from ._conventions import (
    CATBOOST,
    GDEVAL,
    HALF,
    LETOR,
    LIGHTGBM,
    RANX,
    TREC_EVAL,
    XGBOOST,
    Rules,
)
from ._discounted import Geometric, discounted_sums
from ._found_precision import found_average_precision
from ._influence import ClassInfluence
from ._influence_of_precision import average_precision_influence
from ._measure import ConventionalMeasure, Measure
from ._positional_form import PositionalForm, cut_after
from ._reciprocals import reciprocals
from ._stopping import NEGLIGIBLE, padded, reciprocal_stop

# Number of items of a long list that a reader does not pass, with near certainty.
LOOKED_AT = 1000


@dataclass(frozen=True, kw_only=True, repr=False)
class AveragePrecisionMeasure(ConventionalMeasure):
    """Mean precision at the positions of the positives; see ``average_precision_score``."""

    per_query = True
    two_dimensions_are_classes = True
    lacking = "no positive"
    undefined_counts = 0.0
    function = "average_precision_score"
    stem = "ap"
    in_name = "k"
    conventions = MappingProxyType(
        {
            "paper": Rules(normalize="positives", has_k=False, knows_judgments=True),
            "sklearn": Rules(ties="end", undefined=0.0, has_k=False, weighs_items=True),
            "xgboost": replace(XGBOOST, normalize="reachable"),
            "lightgbm": replace(LIGHTGBM, normalize="reachable", relevant=HALF),
            "catboost": replace(CATBOOST, normalize="reachable", weighs_lists=False),
            "trec_eval": replace(TREC_EVAL, normalize="positives"),
            "ranx": replace(RANX, normalize="positives"),
            "letor": replace(LETOR, has_k=False),
        }
    )

    takes_relevant = ("n_relevant", "ideal")

    k: int | None = None  # Last position that counts
    normalize: Literal["positives", "reachable", "found"] | None = None

    def __post_init__(self) -> None:
        check_choice("normalize", self.normalize, ("positives", "reachable", "found", None))
        if self.k is not None:
            check_position("k", self.k, optional=True)
        super().__post_init__()

    @property
    def weights(self) -> Literal["relative", "whole"]:  # type: ignore[override]
        """Numbers of items, unless the rules are those of a ratio of weighted sums."""
        return "relative" if self.rules.weighs_items else "whole"

    @property
    def from_ranges(self) -> Literal["sum"] | None:  # type: ignore[override]
        """A sum, unless what divides it depends on the order."""
        return "sum" if self.k is None or self.normalize != "found" else None

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    @property
    def positional(self) -> PositionalForm:
        """The classes themselves, without discounts."""
        return PositionalForm(
            _class_utilities, None, largest=1.0, expectation="probability of relevance"
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        """Average precision of each list."""
        rules = self.rules
        ordered = rules.ordered(lists, lists.positive).leading(self.k)
        blocks = ordered.blocks(joined=rules.ties != "end")
        n_relevant = lists.positives if lists.n_relevant is None else lists.n_relevant
        if self.k is not None and self.normalize == "found":
            values = found_average_precision(blocks, self.k)
            values = np.where(lists.positives > 0, values, np.nan)
            # No positive among the first k, but some further down.
            values = np.where((lists.positives > 0) & (blocks.n_class == 0), 0.0, values)
            return np.where((lists.positives == 0) & (n_relevant > 0), 0.0, values)
        positive, length = blocks.of_class, blocks.of_class + blocks.of_other
        positives_before = blocks.class_above
        items_before = positives_before + blocks.other_above
        if rules.ties == "end":
            sums = length * (positives_before + positive) / (items_before + length)
        else:
            counted = length if self.k is None else np.clip(self.k - items_before, 0.0, length)
            ratio = (positive - 1) / np.maximum(length - 1, 1)
            sums = (positives_before + 1 - ratio * (items_before + 1)) * reciprocals(
                items_before + 1, counted
            ) + ratio * counted
        divisor = n_relevant
        if self.normalize == "found":
            divisor = np.where(lists.positives > 0, lists.positives, n_relevant)
        elif self.k is not None and (self.normalize or rules.normalize) == "reachable":
            divisor = np.minimum(divisor, self.k)
        with np.errstate(invalid="ignore"):
            return np.minimum(blocks.sums(positive / length * sums) / divisor, 1.0)

    @property
    def has_influence(self) -> bool:
        """Down to the last position, and not by the rules of another system."""
        return self.k is None and self.convention is None

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Compute the influence of each item of one list on the average precision."""
        if not self.has_influence or lists.n_relevant is not None:
            return None
        return average_precision_influence(lists.positive, lists.score, lists.weight)


@dataclass(frozen=True, kw_only=True, repr=False)
class ReciprocalRankMeasure(ConventionalMeasure):
    """One over the position of the first positive; see ``reciprocal_rank_score``."""

    per_query = True
    weights = "none"
    lacking = "no positive"
    function = "reciprocal_rank_score"
    stem = "rr"
    in_name = "k"
    from_ranges = "sum"
    takes_relevant = ("n_relevant", "ideal")
    conventions = MappingProxyType(
        {"catboost": CATBOOST, "trec_eval": replace(TREC_EVAL, has_k=False), "ranx": RANX}
    )

    k: int | None = None  # Last position that counts

    def __post_init__(self) -> None:
        if self.k is not None:
            check_position("k", self.k, optional=True)
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Reciprocal rank of each list."""
        blocks = self.rules.ordered(lists, lists.positive).top_blocks()
        values = _first_positives(blocks, self.k)
        if lists.n_relevant is None:
            return values
        # Relevant items that are not among the rows are never found.
        return np.where((blocks.n_class == 0) & (lists.n_relevant > 0), 0.0, values)


@dataclass(frozen=True, kw_only=True, repr=False)
class _OnAScale(Measure):
    """A measure of grades whose scale depends on the highest grade."""

    kind = "graded"
    per_query = True
    weights = "none"

    k: int | None = None  # Last position that counts
    max_grade: float | None = None  # Highest grade of the scale; None is the highest that occurs

    def __post_init__(self) -> None:
        if self.k is not None:
            check_position("k", self.k, optional=True)
        if self.max_grade is not None and not (is_number(self.max_grade) and self.max_grade < inf):
            raise ValueError(f"max_grade={self.max_grade!r} must be a finite number or None.")
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    @property
    def scaled_by_labels(self) -> bool:
        """Whether no ``max_grade`` is given."""
        return self.max_grade is None

    def _highest(self, grade: FloatArray) -> float:
        return _highest_grade(grade, self.max_grade)


@dataclass(frozen=True, kw_only=True, repr=False)
class ExpectedReciprocalRankMeasure(ConventionalMeasure, _OnAScale):
    """Mean of 1 / position of what satisfies; see ``expected_reciprocal_rank_score``."""

    lacking = "no relevant item"
    takes_relevant = ("ideal",)
    conventions = MappingProxyType({"gdeval": GDEVAL})
    function = "expected_reciprocal_rank_score"
    stem = "err"
    in_name = "k"

    @property
    def positional(self) -> PositionalForm:
        """The chances to satisfy, without discounts."""
        return PositionalForm(self._chances, None, largest=1.0, expectation="E[(2**y - 1)]")

    def values(self, lists: ScoredLists) -> FloatArray:
        """Expected reciprocal rank of each list."""
        ordered = self.rules.ordered(lists, lists.grade)
        highest = self._highest(lists.grade)
        # The probability to go on through a long list of partly satisfying items is negligible.
        for count in (LOOKED_AT, None) if self.k is None else (self.k,):
            top = ordered.leading(count)
            chance = _chances_up_to(highest, top.grade)
            if count is None or self.k is not None or _nobody_goes_on(lists, top, chance):
                break
        values = reciprocal_stop(top, chance, self.k)
        if self.convention is None:
            return values
        best = lists if lists.ideal is None else lists.ideal
        return np.where(best.largest(best.grade) > 0, values, np.nan)

    def _highest(self, grade: FloatArray) -> float:
        return _highest_grade(grade, self.max_grade or self.rules.max_grade)

    def _chances(self, lists: Lists) -> FloatArray:
        return _chances_up_to(self._highest(lists.grade), lists.grade)


def _chances_up_to(highest: float, grade: FloatArray) -> FloatArray:
    """Chances to satisfy, ``(2**grade - 1) / 2**highest``."""
    # Powers of the grades themselves would overflow.
    chance = np.exp2(grade - highest)
    chance -= np.exp2(-highest)
    return chance


@dataclass(frozen=True, kw_only=True, repr=False)
class RankBiasedPrecisionMeasure(_OnAScale):
    """Gains at geometric discounts; see ``rank_biased_precision_score``."""

    function = "rank_biased_precision_score"
    stem = "rbp@"
    in_name = "persistence"
    from_ranges = "sum"

    persistence: float = 0.8  # Ratio of the discounts, in (0, 1)

    def __post_init__(self) -> None:
        check_share("persistence", self.persistence)
        super().__post_init__()

    @property
    def positional(self) -> PositionalForm:
        """Shares of the highest grade, at geometric discounts."""
        return PositionalForm(self._utilities, self._discounts, largest=1 - self.persistence)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Rank-biased precision of each list."""
        discount = Geometric(float(self.persistence))
        highest, lists = self._highest(lists.grade), lists.leading(self.k)
        return discounted_sums(lists, _shares(lists.grade, highest), discount, self.k)

    def _utilities(self, lists: Lists) -> FloatArray:
        return (1 - self.persistence) * _shares(lists.grade, self._highest(lists.grade))

    def _discounts(self, n: int) -> FloatArray:
        return cut_after(self.persistence ** np.arange(n, dtype=np.float64), self.k)


def _nobody_goes_on(lists: ScoredLists, top: ScoredLists, chance: FloatArray) -> bool:
    """Whether the items left out of the lists do not change the value in float64."""
    stays = np.multiply.reduceat(1.0 - chance, top.offsets[:-1])
    return bool(np.all((top.lengths == lists.lengths) | (stays < np.exp(-NEGLIGIBLE))))


def _shares(grade: FloatArray, highest: float) -> FloatArray:
    return grade / highest if highest > 0 else grade


def _class_utilities(lists: Lists) -> FloatArray:
    positive = lists.positive.astype(np.float64)
    some = lists.to_items(lists.weighted_totals(positive)) > 0
    return np.where(some, positive, np.nan)


def _highest_grade(grade: FloatArray, max_grade: float | None) -> float:
    highest = float(grade.max())
    if max_grade is None:
        return highest
    if max_grade < highest:
        raise ValueError(
            f"y_true has the relevance {highest:g}, above max_grade={max_grade!r}: pass the"
            " highest grade of the scale."
        )
    return float(max_grade)


def _first_positives(blocks: ClassBlocks, k: int | None) -> FloatArray:
    """Mean of 1 / position of the first positive of each list, NaN where there is none."""
    values = np.full(len(blocks.n_class), np.nan)
    lists = np.flatnonzero(blocks.n_class)
    if len(lists) == 0:
        return values
    top = blocks.top[lists]
    positive, size = blocks.of_class[top], blocks.of_class[top] + blocks.of_other[top]
    above = blocks.total[lists] - blocks.below[top] - size
    last = size - positive + 1
    if k is not None:
        last = np.minimum(last, np.maximum(k - above, 0.0))
    values[lists] = np.where(last > 0, positive / size / (above + 1), 0.0)
    # The chance that the first m of a block hold no positive is at most exp(-m positive / size).
    terms = np.minimum(last, np.ceil(NEGLIGIBLE * size / positive)).astype(np.intp)
    more = np.flatnonzero((size > 1) & (terms > 1))
    for which, _, real in padded(more, terms[more]):
        some = more[which]
        j = np.arange(real.shape[1], dtype=np.float64)
        length = size[some, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = (length - j - positive[some, np.newaxis] + 1) / (length - j)
        chance[:, 0] = positive[some] / size[some]
        chance[~real] = 0.0
        np.multiply.accumulate(chance, axis=1, out=chance)
        values[lists[some]] = (chance / (above[some, np.newaxis] + j + 1)).sum(axis=1)
    return values
