"""Measures of the top of the list of two classes: their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType
from typing import Any

import numpy as np

from .._arguments import is_number
from .._lists import ScoredLists
from .._order import counted_blocks, sorted_descending, tied_blocks, top_masses
from .._typing import AnyArray, FloatArray, IntArray
from .._warn import warn
from ..exceptions import SmallTopWarning
from ._at_k import positives_in_top
from ._conventions import RDKIT
from ._influence import ClassInfluence, block_across, local_ranks
from ._influence_of_top import affine_of_recall, lift_influence, recall_influence
from ._measure import ConventionalMeasure, Measure, short


@dataclass(frozen=True, kw_only=True, repr=False)
class PrecisionAtTopMeasure(Measure):
    """Share of positives in the top of the list; see ``precision_at_top_score``."""

    weights = "relative"
    function = "precision_at_top_score"
    stem = "precision@top"
    in_name = "tau"
    from_ranges = "sum"

    tau: float = 0.05  # Share of the items that form the top, in (0, 1)

    def __post_init__(self) -> None:
        check_top("tau", self.tau)
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    @property
    def theorems(self) -> tuple[str, ...]:
        """Binomial limits for the two classes above the threshold of the population."""
        return ("exact",)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Precision of each list."""
        mass = masses_of_tops(lists, "tau", self.tau)
        return positives_in_top(lists.leading(mass).blocks(), mass) / mass

    def influence(self, lists: ScoredLists) -> ClassInfluence:
        """Compute the influence of each item of one list on the precision."""
        mass = float(masses_of_tops(lists, "tau", self.tau)[0])
        recall = recall_influence(lists, mass, self.name)
        n_pos, n = float(lists.positives[0]), float(lists.sizes[0])
        slope = (recall.estimate + n_pos / n * recall.label_slope) * n / mass
        return affine_of_recall(recall, 0.0, n_pos / mass, slope=slope)


@dataclass(frozen=True, kw_only=True, repr=False)
class EnrichmentFactorMeasure(ConventionalMeasure):
    """Precision in the top as a ratio to that of all items; see ``enrichment_factor_score``."""

    weights = "relative"
    lacking = "no positive"
    function = "enrichment_factor_score"
    stem = "enrichment@"
    in_name = "fraction"
    from_ranges = "sum"
    conventions = MappingProxyType({"rdkit": replace(RDKIT, rounds_up=True)})

    fraction: float  # Share of the items that form the top, in (0, 1)

    def __post_init__(self) -> None:
        check_top("fraction", self.fraction)
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0, without an upper end for all lists."""
        return (0.0, inf)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Factor of each list."""
        if self.rules.rounds_up:
            # In floating point, as the system does: 0.07 of 100 items are 8.
            mass = np.ceil(lists.sizes * self.fraction)
        else:
            mass = masses_of_tops(lists, "fraction", self.fraction)
        ordered = self.rules.ordered(lists, lists.positive).leading(mass)
        found = positives_in_top(ordered.blocks(), mass)
        # In a list without positives 0 times infinity: undefined.
        with np.errstate(invalid="ignore", divide="ignore"):
            return found / mass * (lists.sizes / lists.positives)

    @property
    def has_influence(self) -> bool:
        """False with ties in the order of the rows."""
        return self.convention is None

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Compute the influence of each item of one list on the factor."""
        if not self.has_influence:
            return None
        mass = masses_of_tops(lists, "fraction", self.fraction)
        return lift_influence(lists, [float(mass[0] / lists.sizes[0])])


@dataclass(frozen=True, kw_only=True, repr=False)
class PositivesAtTopMeasure(Measure):
    """Number of positives above the highest negative; see ``positives_at_top_score``."""

    lacking = "no positive"
    function = "positives_at_top_score"
    stem = "pos@top"
    from_ranges = "sum"

    normalize: bool = False  # Whether to divide by the number of positives of the list

    @property
    def range(self) -> tuple[float, float]:
        """From 0, to 1 if it is a share."""
        return (0.0, 1.0 if self.normalize else inf)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Number or share of each list."""
        # The blocks of negatives: what is above the topmost counts, and a share of what is tied.
        blocks = lists.top_blocks(of_negatives=True)
        count = blocks.n_other.copy()
        mixed = blocks.n_class > 0
        top = blocks.top[mixed]
        above = np.maximum(count[mixed] - blocks.other_below[top] - blocks.of_other[top], 0.0)
        count[mixed] = above + blocks.of_other[top] / (blocks.of_class[top] + 1.0)
        if not self.normalize:
            return count
        with np.errstate(invalid="ignore"):
            return count / blocks.n_other


@dataclass(frozen=True, kw_only=True, repr=False)
class AccuracyAtTopMeasure(Measure):
    """Errors on both sides of the top quantile of the scores; see ``accuracy_at_top_loss``."""

    greater_is_better = False
    weights = "relative"
    lacking = "items of one class only"
    function = "accuracy_at_top_loss"
    stem = "accuracy_loss@top"
    in_name = "tau"
    is_mean_over_ties = False
    from_ranges = "sum"

    tau: float = 0.05  # Share of the items that form the top, in (0, 1)

    def __post_init__(self) -> None:
        check_top("tau", self.tau)
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Loss of each list."""
        mass = masses_of_tops(lists, "tau", self.tau)
        if lists.weight is None:
            above, below, n_neg, n_pos = _errors_of_items(lists, mass.astype(np.intp))
        else:
            above, below, n_neg, n_pos = _errors_of_weights(lists, lists.weight, mass)
        with np.errstate(invalid="ignore"):
            return (above / n_neg + below / n_pos) / 2

    def influence(self, lists: ScoredLists) -> ClassInfluence:
        """Compute the influence of each item of one list on the loss."""
        mass = float(masses_of_tops(lists, "tau", self.tau)[0])
        n_pos, n = float(lists.positives[0]), float(lists.sizes[0])
        estimate = float(self.values(lists)[0])
        blocks = counted_blocks(lists.score, lists.positive, lists.weight)
        window = local_ranks(int(n), lists.draws)
        at = None
        if mass < n:
            at = block_across(int(n - mass), blocks.below, blocks.size, window)
        if at is not None:
            quantile = lists.score[blocks.rows.order[blocks.rows.starts[at]]]
            wrong = np.where(lists.positive, lists.score < quantile, lists.score > quantile)
            return ClassInfluence(
                estimate=estimate,
                values=wrong / 2.0,
                positive=lists.positive,
                ends=(0.5, 0.0, 0.0, 0.5),
                range=self.range,
                label_slope=0.0,
                counts=lists.weight,
            )
        recall = recall_influence(lists, mass, self.name)
        # The negatives in the top are what the positives leave of it.
        rest = (n - n_pos) / n
        slope = ((mass / n - recall.estimate) / rest - recall.label_slope) / rest / 2.0
        at_zero = 0.5 + mass / n / rest / 2.0
        found = affine_of_recall(recall, at_zero, -0.5 / rest, slope=slope)
        # The item at the quantile is right whatever it is.
        low = max(found.range[0] - 0.5 / min(n_pos, n - n_pos), 0.0)
        return replace(found, estimate=estimate, range=(low, found.range[1]))


def _errors_of_items(lists: ScoredLists, count: IntArray) -> tuple[AnyArray, ...]:
    """Negatives above the quantile of each list, positives below it, negatives, positives."""
    if lists.n_lists == 1:
        place = len(lists.score) - int(count[0])
        quantile = np.partition(lists.score, place)[place]
    else:
        ordered = sorted_descending(lists.score, lists.offsets)
        quantile = lists.to_items(ordered[lists.offsets[:-1] + count - 1])
    positive, negative = lists.positive, ~lists.positive
    above, below = lists.score > quantile, lists.score < quantile
    items = (negative & above, positive & below, negative, positive)
    return tuple(np.add.reduceat(one, lists.offsets[:-1], dtype=np.intp) for one in items)


def _errors_of_weights(
    lists: ScoredLists, weight: FloatArray, mass: FloatArray
) -> tuple[AnyArray, ...]:
    """The same as weights."""
    blocks = tied_blocks(lists.score, lists.offsets)
    positive = blocks.totals(np.where(lists.positive, weight, 0.0))
    negative = blocks.totals(np.where(lists.positive, 0.0, weight))
    upto = blocks.running(positive + negative)
    short = blocks.list_totals(upto < mass[blocks.list_of()], dtype=np.intp)
    last = np.append(blocks.first[1:], len(upto)) - 1
    at_quantile = np.minimum(blocks.first + short, last)
    positives, negatives = blocks.running(positive), blocks.running(negative)
    below = positives[last] - positives[at_quantile]
    above = negatives[at_quantile] - negative[at_quantile]
    return above, below, negatives[last], positives[last]


def check_top(name: str, share: Any) -> None:
    """Check the share of the items that form the top, in (0, 1)."""
    if not is_number(share):
        raise TypeError(f"{name}={share!r} must be a number between 0 and 1, both excluded.")
    if not 0 < share < 1:
        raise ValueError(f"{name}={share!r} must lie between 0 and 1, both excluded.")


def masses_of_tops(
    lists: ScoredLists, name: str, share: float, *, warns: bool = True
) -> FloatArray:
    """Find the weight of the top of each list; warns of tops of less than one item.

    Shape (n_lists,).
    """
    masses, small = top_masses(lists.sizes, float(share), lists.whole, lists.smallest)
    if warns and small.any():
        first = int(np.argmax(small))
        of_lists = (
            "" if len(small) == 1 else f" in {np.count_nonzero(small)} of {len(small)} lists"
        )
        warn(
            f"The top {share:g} of {short(lists.sizes[first])} items holds less than one"
            f" item{of_lists} and was taken as one item: increase {name} or score more items.",
            SmallTopWarning,
        )
    return masses
