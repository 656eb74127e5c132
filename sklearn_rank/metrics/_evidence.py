"""Evidence on a measure from the items of one list, groups of items, labels known in part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from .._lists import ScoredLists
from .._order import TiedBlocks, check_n_places, class_codes, tied_blocks
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._conventions import ROUNDING


@dataclass(frozen=True, eq=False)
class Groups:
    codes: IntArray
    n_groups: int  # Number of groups, some of which may hold none of these rows
    # "days" or "times", of groups in this order that depend on each other; "" of independent ones
    in_time: str = ""

    def only(self, rows: Any) -> Groups:
        return replace(self, codes=self.codes[rows])

    @property
    def present(self) -> BoolArray:
        """Which groups hold rows. Shape (n_groups,)."""
        return self.sizes() > 0.0

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.present))

    @property
    def times(self) -> BoolArray | None:
        """Which groups are times with rows; None if they are no times. Shape (n_groups,)."""
        return self.present if self.in_time else None

    @property
    def size_text(self) -> str:
        return f"{self.count} {f'{self.in_time}, dependent in time' if self.in_time else 'groups'}"

    @property
    def text(self) -> str:
        return f", in {self.size_text}"

    def refuse_in_time(self, what: str) -> None:
        if self.in_time:
            raise ValueError(
                f"{what} needs independent groups or queries, but these are {self.in_time}, which"
                " may depend on each other: leave it out, or pass numbers of the"
                f" {self.in_time}, as np.unique returns them, if they are independent."
            )

    def sizes(self, rows: BoolArray | None = None) -> FloatArray:
        codes = self.codes if rows is None else self.codes[rows]
        return np.bincount(codes, minlength=self.n_groups).astype(np.float64)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum values over the rows of each group.

        Shape (n_groups,) or (n_statistics, n_groups).
        """
        if values.ndim == 1:
            return np.bincount(self.codes, values, self.n_groups).astype(np.float64, copy=False)
        return np.stack([self.sums(row) for row in values])

    def moved(self, values: FloatArray) -> FloatArray:
        """By how much independent units move a statistic that the rows move by these values.

        Shape (n_units,) or (n_statistics, n_units).
        """
        return self.sums(values)


def singleton_groups(n: int) -> Groups:
    return Groups(np.arange(n), n)


@dataclass(frozen=True, eq=False)
class PartialLabels:
    """Which labels of a list are known, and how they came to be."""

    known: BoolArray  # (n_rows,)
    probability: FloatArray  # (n_rows,): With which each row was chosen for labelling
    proxy: FloatArray | None = None  # (n_rows,): Predicted probability to be positive
    # Assumption: the share of positives among the rows of probability 0 is at most this factor
    # times that among others, which are given as (n_rows,).
    most_below: float | None = None
    at_cut: BoolArray | None = None
    at_random: bool = False  # Whether the probabilities are estimates, given features
    # Of batches, (n_batches, n_rows): how many other rows a label stands for, or 0 if it was known
    # before; and how many rows those that are known after it stand for
    batches: tuple[FloatArray, FloatArray] | None = None

    @property
    def unreachable(self) -> BoolArray:
        """Rows that could not be labelled, for which the labelled rows are no sample."""
        return self.probability == 0.0

    @property
    def open(self) -> BoolArray:
        """Rows that could have stayed without a label."""
        return self.probability < 1.0

    @property
    def text(self) -> str:
        rest = ", the rest missing at random" if self.at_random else ""
        return f"{self.known.sum()} of {len(self.known)} labels known{rest}"

    def only(self, rows: Any) -> PartialLabels:
        of_rows: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[rows]
            for name in ("known", "probability", "proxy", "at_cut")
        }
        if self.batches is not None:
            of_rows["batches"] = tuple(of_batches[:, rows] for of_batches in self.batches)
        return replace(self, **of_rows)


@dataclass(frozen=True, eq=False)
class Evidence:
    """One list and its groups, for intervals and comparisons of a measure.

    Statistics are computed on demand; ``measure.laws`` names those that the measure has.
    """

    measure: Any
    data: ScoredLists  # The list; a row with a weight stands for so many items
    groups: Groups | None = None  # Groups of the rows; None is independent items
    conditional: bool = True  # Whether the labels are fixed
    sampled: bool = False  # Whether the weights are inverse probabilities
    partial: PartialLabels | None = None  # What is known of the labels; None is all

    @cached_property
    def value(self) -> float:
        return float(self.measure.values(self.data)[0])

    @cached_property
    def merged(self) -> ScoredLists:
        """The list with items merged where the measure gives them the same influence."""
        whole = self.groups is not None or self.measure.kind != "binary"
        if whole or self.measure.order_counts_within is None:
            return self.data
        if self.measure.order_counts_within == "positives":
            return runs_of_negatives(self.data)
        return ordered_rows(with_tied_tail(self.data, self.measure.order_counts_within))

    @cached_property
    def label_total(self) -> LabelTotal | None:
        """The measure as a function of a sum over labels; None if it is none."""
        return self.measure.label_total(self.data)

    @cached_property
    def grade_total(self) -> GradeTotal | None:
        """The measure as a sum of gains; None if it is none."""
        return self.measure._grade_total(self.data)

    @property
    def known_total(self) -> LabelTotal:
        """The measure as a function of a sum over labels; one that is none is refused."""
        if self.label_total is None:
            raise ValueError(
                f"{self.measure.name} is no known function of a sum over labels: pass a measure"
                " such as 'precision@k', 'recall@k', 'auc' or 'ap'."
            )
        return self.label_total

    @cached_property
    def label_function(self) -> LabelTotal | FractionalList:
        """The measure as a function of labels that are known in part, as fractions."""
        measure = self.measure
        if self.label_total is not None or not (
            measure.kind == "binary"
            and measure.has_influence
            and measure.weights in ("relative", "real")
            and not measure.depends_on_length
        ):
            return self.known_total
        return FractionalList(measure, self.data.score)

    @cached_property
    def draws(self) -> Draws:
        """The values of independent items whose weighted sum the measure is."""
        return self.measure.draws(self)

    def repeat(self) -> Evidence:
        data, groups = self.data, self.groups
        if data.weight is None:
            return self
        check_n_places(float(data.weight.sum()))
        rows = np.repeat(np.arange(len(data.score)), data.weight.astype(np.intp))
        repeated = _single_list(data.labels[rows], data.score[rows])
        groups = None if groups is None else groups.only(rows)
        return Evidence(self.measure, repeated, groups, self.conditional)

    @property
    def units(self) -> Groups:
        """What is independent: the groups, or each row by itself."""
        return self.groups or singleton_groups(len(self.data.score))


@dataclass(frozen=True, eq=False)
class Draws:
    """Independent values in [0, 1] and their weights, whose weighted mean the measure is."""

    weights: FloatArray  # (n_rows,): Weight of a draw
    values: FloatArray  # (n_rows,)
    groups: Groups  # Group of the draws of a row, or its place in the list
    unit: float  # Value of the measure where all values are 1
    target: str
    whole_places: bool = True  # Whether no block of ties is cut, so that each place is one item
    origin: float = 0.0  # What is added, the value of the measure where all values are 0
    counts: Any = 1.0  # (n_rows,): Number of draws that are alike

    @cached_property
    def mean(self) -> float:
        return min(max(float((self.counts * self.weights) @ self.values), 0.0), 1.0)

    def sums(self, values: Any) -> FloatArray:
        """Weighted sums of values over groups."""
        return self.groups.sums(self.counts * self.weights * values)


class ShareOfRows(NamedTuple):
    """A term of a measure: a factor times the share of hits among some rows."""

    factor: float
    hits: BoolArray  # (n_rows,)
    among: BoolArray  # (n_rows,): Rows of which the hits are a share
    are_odds: bool = False  # Whether the odds ``x / (1 - x)`` of the share are taken


def draws_of_places(measure: Any, evidence: Evidence) -> Draws:
    """Read a sum over places as draws: each item with the mean discount of its tied block."""
    data, n = evidence.data, int(evidence.data.sizes[0])
    target = f"expected {measure.name} for the same scores and new labels"
    if measure.kind == "graded" and measure.scaled_by_labels:
        measure = replace(measure, max_grade=float(data.grade.max()) or 1.0)
    form = measure.positional
    check_n_places(n)
    discounts = form.discounts(n)
    places = int(np.flatnonzero(discounts)[-1]) + 1 if discounts.any() else 0
    leading, groups = data.leading(places), evidence.units
    if leading is not data:
        groups = groups.only(leading.rows)
    blocks = tied_blocks(leading.score)
    mass = blocks.masses(leading.weight).astype(np.intp)
    stops = np.cumsum(mass)
    starts = stops - mass
    cut = (starts < places) & (stops > places)
    weights = blocks.to_items(np.add.reduceat(discounts[: stops[-1]], starts) / mass)
    values = np.asarray(form.utilities(leading), dtype=np.float64)
    highest = float(form.utilities(data).max()) if form.largest is None else form.largest
    if discounts.min() < 0.0 or values.min() < 0.0:
        raise ValueError(
            f"{measure.name} has a negative gain or discount, which its interval for one list does"
            " not support: pass qid for the mean over queries."
        )
    counts: Any = 1.0 if leading.weight is None else leading.weight
    if not ((total := float(np.sum(counts * weights))) > 0.0 and highest > 0.0):
        raise ValueError(
            f"{measure.name} is 0 for every order, because no item of y_true has a positive gain:"
            " pass a list with grades above 0."
        )
    units = Evidence(measure, leading, groups).units, total * highest
    draws = weights / total, values / highest, *units, target, not cut.any()
    return Draws(*draws, counts=counts)


def ordered_rows(data: ScoredLists) -> ScoredLists:
    """Sort a long list of two classes once, and count its rows."""
    if data.weight is not None:
        return data
    codes = class_codes(data.score, data.positive)[::-1]
    last_bit, counts = codes.dtype.type(1), None
    starts = np.append(0, 1 + np.flatnonzero(codes[1:] != codes[:-1]))
    if len(starts) < len(codes):
        counts = np.diff(starts, append=len(codes)).astype(np.float64)
        codes = codes[starts]
    positive = (codes & last_bit).astype(bool)
    tied = np.zeros(len(codes), dtype=bool)
    tied[1:] = (codes[1:] | last_bit) == (codes[:-1] | last_bit)
    score = np.cumsum(tied, dtype=np.float64)
    score -= np.arange(len(codes))
    return _single_list(positive, score, counts)


def runs_of_negatives(data: ScoredLists) -> ScoredLists:
    """Sort a long list of two classes, and tie negatives where no positive lies between them.

    For measures to which these are alike, whether they are tied or not.
    """
    if data.weight is not None:
        return data
    blocks = data.blocks(joined=False)
    n_neg = float(blocks.n_other[0])
    tied, below = blocks.of_other[::-1], blocks.other_below[::-1]
    # From the top: negatives above each block that holds positives, its positives and negatives.
    counts = np.zeros((len(tied) + 1, 3))
    starts, stops = np.append(0.0, n_neg - below), np.append(n_neg - below - tied, n_neg)
    counts[:, 0], counts[:-1, 1], counts[:-1, 2] = stops - starts, blocks.of_class[::-1], tied
    score = np.repeat(-2.0 * np.arange(len(counts)), 3) - np.tile([0.0, 1.0, 1.0], len(counts))
    positive = np.tile([False, True, False], len(counts))
    present = counts.ravel() > 0.0
    return _single_list(positive[present], score[present], counts.ravel()[present])


def with_tied_tail(data: ScoredLists, share: float) -> ScoredLists:
    """Tie what is below the top of a long list, where nothing depends on the order below it."""
    n = len(data.score)
    n_top = int(np.ceil(share * n)) + 2 * int(np.ceil(np.sqrt(n))) + 1
    if data.weight is not None or n_top >= n or data.score.dtype.kind != "f":
        return data
    top = data.leading(n_top)
    n_left, n_pos = n - len(top.score), float(data.positives[0] - top.positives[0])
    if not n_left:
        return data
    counts = np.append(np.ones(len(top.score)), [n_pos, n_left - n_pos])
    present = counts > 0.0
    labels = np.append(top.labels, [True, False])
    # Below the lowest score of the top there is another, so that it is no infinity.
    score = np.append(top.score, np.full(2, -np.inf, dtype=top.score.dtype))
    return _single_list(labels[present], score[present], counts[present])


def _single_list(
    labels: AnyArray, score: FloatArray, weight: FloatArray | None = None
) -> ScoredLists:
    offsets = np.array([0, len(score)])
    return ScoredLists(labels=labels, score=score, weight=weight, offsets=offsets)


# -------------------------------------------------------------------------- labels known in part


class LabelPairs(NamedTuple):
    """Sum over pairs of labels of ``1 / position`` of the lower one, averaged over ties."""

    blocks: TiedBlocks
    once: FloatArray  # (n_blocks,): Mean of ``1 / position``
    ahead: FloatArray  # (n_blocks,): Half of what a pair of the block adds
    counts: FloatArray | float = 1.0  # (n_items,): How many rows with one label each stands for

    def at(self, labels: FloatArray) -> tuple[Any, FloatArray]:
        """Sum, and derivative in each label, which is what a positive more adds to it.

        Of labels of shape (..., n), those of all rows that one stands for together.
        """
        blocks = self.blocks
        y = labels[..., blocks.order]
        in_block = y if blocks.untied else np.add.reduceat(y, blocks.starts, axis=-1)
        before, sums = np.cumsum(in_block, axis=-1) - in_block, in_block * self.once
        below = sums.sum(axis=-1, keepdims=True) - np.cumsum(sums, axis=-1)
        of_rows = blocks.to_rows(before * self.once + below)
        if self.ahead.any():
            others = blocks.to_rows(in_block) - (labels / self.counts)[..., blocks.order]
            of_rows = of_rows + 2.0 * others * blocks.to_rows(self.ahead)
        derivative = np.empty_like(y)
        derivative[..., blocks.order] = of_rows
        return (labels * derivative).sum(axis=-1) / 2.0, derivative

    def extremes(self, rows: BoolArray) -> FloatArray:
        """Smallest and largest sum over u positives among the rows, u from 0; shape (2, n + 1).

        Those of the lowest and of the highest u, as the sum rises where a positive moves up.
        """
        blocks = self.blocks
        of_block = blocks.to_rows(np.arange(len(blocks.starts)))[rows[blocks.order]]
        found = np.zeros((2, len(of_block) + 1))
        for sign, sums in zip((-1, 1), found, strict=True):
            block = of_block[::sign]
            done = np.searchsorted(sign * block, sign * block)  # Those of the blocks before
            above = np.append(0.0, np.cumsum(self.once[block]))[done]
            once = done * self.once[block] if sign > 0 else above
            tied = 2.0 * (np.arange(len(block)) - done) * self.ahead[block]
            sums[1:] = np.cumsum(once + tied)
        return found


class AtLabels(NamedTuple):
    """A function of labels, which may be probabilities, and what a shift of the labels does."""

    value: float
    slope: FloatArray  # (n_items,): Derivative in each label
    # By how much the sum of the shifted labels exceeds the one that has the value, for as many
    # positives, in units of the value
    excess: float


class LabelTotal(NamedTuple):
    """A measure of one list as a function of a sum over its labels, and of the positives."""

    weights: FloatArray  # (n_items,): Of each label in the sum
    value: Callable[[Any, Any], Any]  # Linear in the sum; of the sum and the number of positives
    pairs: LabelPairs | None = None  # What the sum has in addition
    counts: FloatArray | float = 1.0  # (n_items,): How many each stands for

    def levels(self, share: float) -> FloatArray:
        """Level of each row, by which rows are joined; a share of the usual number of levels.

        Few do, as the sum is linear in the weights. With pairs levels are of the logarithm of the
        position, so that the first rows stay apart.
        """
        if self.pairs is None:
            return levels_of(self.weights, 250.0 * share)
        blocks = self.pairs.blocks
        middle = blocks.starts + (blocks.lengths() + 1.0) / 2.0
        return np.asarray(blocks.to_items(np.floor(-250.0 * share * np.log(middle))))

    def joined(self, levels: FloatArray, cells: IntArray, counts: FloatArray) -> LabelTotal:
        """The measure of cells of rows that are alike; with pairs rows of a level are tied."""
        if self.pairs is not None:
            return average_precision_total(levels, counts)
        return self._replace(weights=np.bincount(cells, self.weights) / counts, counts=counts)

    @property
    def is_linear(self) -> bool:
        """Whether the value does not depend on the number of positives but by the sum."""
        with np.errstate(divide="ignore", invalid="ignore"):
            few, more = self.value(1.0, np.float64(0.25)), self.value(1.0, np.float64(0.5))
        return self.pairs is None and bool(few == more)

    def total(self, labels: FloatArray) -> tuple[Any, FloatArray]:
        """Sum, and derivative in each label; of labels of shape (..., n)."""
        total = labels @ self.weights
        if self.pairs is None:
            return total, self.weights
        of_pairs, derivative = self.pairs.at(labels)
        return total + of_pairs, self.weights + derivative

    def at(self, labels: FloatArray, shift: Any = 0.0) -> AtLabels:
        """Value and slope at some labels, and the excess of the shifted ones.

        For a ratio of linear sums the excess is the slope times the shift; the products of labels
        that a slope leaves out are in it.
        """
        counted, shifted = self.counts * labels, self.counts * (labels + shift)
        (total, slope), n_pos = self.total(counted), np.sum(counted)
        step = np.cbrt(np.finfo(np.float64).eps) * max(n_pos, 1.0)  # of a central difference
        n_shifted, n = np.sum(shifted), np.sum(self.counts + 0.0 * labels)
        with np.errstate(divide="ignore", invalid="ignore"):
            fewer, value, more = (self.value(total, n_pos + x) for x in (-step, 0.0, step))
            of_sum = self.value(1.0, n_pos) - self.value(0.0, n_pos)
            slope = of_sum * slope + (more - fewer) / (2.0 * step)
            excess = slope @ (shifted - counted)
            # With less than half a positive or a negative, the estimates tell no more.
            if 0.5 < n_shifted < n - 0.5:
                none, one = self.value(0.0, n_shifted), self.value(1.0, n_shifted)
                excess = of_sum * (self.total(shifted)[0] - (value - none) / (one - none))
        return AtLabels(float(value), slope, float(excess))


def levels_of(weights: FloatArray, n_levels: float) -> FloatArray:
    """Number of the level of each weight."""
    low, length = weights.min(), np.ptp(weights) or 1.0
    return np.asarray(np.floor((weights - low) * (n_levels / length)))


class GradeTotal(NamedTuple):
    """A measure of one list as a sum over its rows, each a gain of its grade times a weight."""

    weights: FloatArray  # (n_items,)
    gain: Callable[[FloatArray], FloatArray]  # Of grades
    # (n_items + 1,): Sums of the first discounts, if divided by that of the best order
    ideal: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class FractionalList:
    """Each row as a positive and a negative, by its fraction, for a measure of weighted rows."""

    measure: Any
    score: AnyArray
    counts: FloatArray | float = 1.0  # How many rows each stands for

    is_linear, pairs = False, None

    @property
    def weights(self) -> FloatArray:
        """Logit of the share of rows below each."""
        blocks = tied_blocks(self.score)
        middle = blocks.starts + blocks.lengths() / 2.0
        return np.asarray(-logit(blocks.to_items(middle) / len(self.score)))

    def levels(self, share: float) -> FloatArray:
        """Level of each row: as thresholds are quantiles, of the logit of the rank."""
        return levels_of(self.weights, 2000.0 * share)

    def joined(self, levels: FloatArray, cells: IntArray, counts: FloatArray) -> FractionalList:
        """The measure of cells of rows that are alike."""
        return replace(self, score=np.bincount(cells, self.weights) / counts, counts=counts)

    def at(self, labels: FloatArray, shift: Any = 0.0) -> AtLabels:
        """Value, slope, which is what a positive less a negative moves, and excess.

        The slope is 0 where a label is known, as a fraction of 0 or 1. The excess is linear in it.
        """
        counts = self.counts * np.ones(len(labels))
        n, n_pos = float(counts.sum()), float(counts @ labels)
        if n_pos in (0.0, n):
            return AtLabels(np.nan, np.zeros(len(labels)), 0.0)
        weight = np.append(counts * labels, counts * (1.0 - labels))
        present = weight > 0.0
        positive = np.repeat([True, False], len(labels))[present]
        score = np.tile(self.score, 2)[present]
        value = self.measure.values(_single_list(positive, score, weight[present]))[0]
        # The influence takes whole numbers of items: many for each row.
        items = np.ceil(weight[present] * round(1.0 / ROUNDING))
        lists = replace(_single_list(positive, score, items), draws=n)
        influence = self.measure.influence_of(lists).linear
        moved = np.full(2 * len(labels), np.nan)
        moved[present] = influence.values
        sides, of_classes = moved.reshape(2, -1), weight.reshape(2, -1)
        sizes = np.array([[n_pos], [n - n_pos]])
        means = np.nansum(sides * of_classes, axis=1, keepdims=True) / sizes
        of_positive, of_negative = (sides - means) / sizes
        slope = np.nan_to_num(of_positive - of_negative + influence.label_slope / n)
        return AtLabels(float(value), slope, float(np.sum(slope * counts * shift)))


def mean_discounts(score: AnyArray, discounts: FloatArray) -> FloatArray:
    """Mean discount of the block of tied items of each item, by row; discounts from the top."""
    blocks = tied_blocks(score)
    share = np.add.reduceat(discounts, blocks.starts) / blocks.lengths()
    return np.asarray(blocks.to_items(share))


def running_mean(values: FloatArray) -> Callable[[Any], Any]:
    """Mean of the first values, of numbers that need not be whole."""
    sums = np.append(0.0, np.cumsum(values))
    return lambda n: np.interp(n, np.arange(len(sums)), sums) / n


def average_precision_total(score: AnyArray, counts: FloatArray | float = 1.0) -> LabelTotal:
    """Average precision: the mean over the orders of ties of ``1/T sum of y_i C_i / position``.

    ``C_i = 1 + labels above i``, of degree two in the labels: those above count at their value.
    Each score is that of so many rows.
    """
    blocks = tied_blocks(score)
    lengths = blocks.totals(counts * np.ones(len(score))).astype(np.intp)
    starts, position = np.cumsum(lengths) - lengths, np.arange(1.0, lengths.sum() + 1.0)
    place = position - 1.0 - np.repeat(starts, lengths)
    # Means over the places of a block: of 1 / position, and of the share of its others above.
    once = np.add.reduceat(1.0 / position, starts) / lengths
    ahead = np.add.reduceat(place / position, starts) / np.maximum(lengths - 1.0, 1.0) / lengths
    pairs = LabelPairs(blocks, once, ahead, counts)
    return LabelTotal(blocks.to_items(once), lambda total, n_pos: total / n_pos, pairs, counts)
