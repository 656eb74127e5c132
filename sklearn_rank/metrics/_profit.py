"""Profit of the first rows of a list: labels are amounts, gains and costs."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from .._lists import LabelType, ScoredLists, check_lists
from .._order import TiedBlocks, tied_blocks
from .._typing import FloatArray, IntArray
from .._validation import (
    check_column,
    check_number,
    check_position,
    check_share,
    check_vector,
    is_number,
    refuse_misread,
    shape_of,
    shown,
)
from .._warn import warn
from ._conventions import ROUNDING, NamedNumber, position, share
from ._influence import ClassInfluence, local_ranks
from ._measure import Measure, checked, without_function
from ._top import OfTop, masses_of_tops


def sums_of_tops(lists: ScoredLists, amounts: FloatArray, mass: FloatArray) -> FloatArray:
    """Sum of the amounts in a top of some weight of each list, the mean over orders of ties."""
    blocks = tied_blocks(lists.score, lists.offsets)
    weight, totals = blocks.totals(lists.counts), blocks.totals(lists.counts * amounts)
    above = blocks.running(weight) - weight
    inside = np.clip((mass[blocks.list_of()] - above) / weight, 0.0, 1.0)
    return np.asarray(blocks.list_totals(inside * totals))


def influence_of_top(lists: ScoredLists, amounts: FloatArray, mass: float) -> ClassInfluence:
    """Influence of each row on the mean amount of a top of some weight.

    ``eta + 1(in the top) (amount - eta) / share``, eta the mean amount at the end of the top,
    which moves where a row enters.
    """
    n = float(lists.sizes[0])
    share = mass / n
    blocks = tied_blocks(lists.score)
    weight = lists.counts
    of_blocks, totals = blocks.totals(weight), blocks.totals(weight * amounts)
    upto = np.cumsum(of_blocks)
    first, _, last = blocks_at_end(upto, mass, lists.draws)
    local = slice(first, last + 1)
    # Half an item more of the least and of the largest amount.
    added = 0.5 * (amounts.min() + amounts.max())
    eta = float((totals[local].sum() + added) / (of_blocks[local].sum() + 1.0))
    inside = blocks.to_items(np.clip((mass - (upto - of_blocks)) / of_blocks, 0.0, 1.0))
    ends = ends_of(amounts, lists.weight)
    return ClassInfluence(
        estimate=float(weight * inside @ amounts) / mass,
        values=eta + inside * (amounts - eta) / share,
        positive=None,
        ends=[eta + (ends - eta) / share],
        range=tuple(ends.tolist()),
        label_slope=0.0,
        counts=lists.weight,
    )


def blocks_at_end(upto: FloatArray, mass: float, draws: float | None = None) -> IntArray:
    """Blocks between which the mean amount at the end of a top is taken, and the one it cuts."""
    n = float(upto[-1])
    window = min(float(local_ranks(int(n), draws)), mass, max(n - mass, 1.0))
    first = np.searchsorted(upto, mass - window, "right")
    return np.append(first, np.searchsorted(upto, [min(mass, n), min(mass + window, n)]))


def ends_of(amounts: FloatArray, counts: FloatArray | None = None) -> FloatArray:
    """Extreme amounts: there may be others, as far beyond these as these are from the next."""
    if counts is not None:
        amounts = np.repeat(amounts, np.clip(counts, 1, 2).astype(np.intp))
    lowest, highest = np.partition(amounts, 1)[:2], np.partition(amounts, -2)[-2:]
    return np.array([2.0 * lowest[0] - lowest[1], 2.0 * highest[1] - highest[0]])


def influence_of_share(
    measure: Measure, lists: ScoredLists, amounts: FloatArray, found: ClassInfluence, factor: float
) -> ClassInfluence:
    """Influence on a multiple of a sum of amounts, divided by their mean."""
    mean = float(np.average(amounts, weights=lists.weight))
    factor /= mean
    share = found.estimate * factor
    values = share + factor * (found.values - found.estimate) - share * (amounts / mean - 1.0)
    if np.ptp(values) <= ROUNDING:  # the order counts nothing
        values = np.full(len(values), share)
    return ClassInfluence(
        share, values, None, None, measure.range, label_slope=0.0, counts=lists.weight
    )


def refuse_all_equal(measure: Measure, lists: ScoredLists) -> None:
    if np.ptp(lists.grade) == 0.0:
        raise ValueError(
            f"{measure.name} is {measure.values(lists)[0]:g} in any order, as all amounts are"
            " equal: pass amounts that differ."
        )


def refuse_no_total(measure: Measure, amounts: FloatArray) -> None:
    if not amounts.any():
        raise ValueError(
            f"{measure.name} is undefined: there is {measure.lacking}; pass rows that have one."
        )


class OfAmounts(Measure):
    kind = "graded"
    lowest = -np.inf
    of_amounts = True
    of_segment = "labels"
    from_ranges = "sum"
    # What to do where the labels are classes.
    remedy: ClassVar[str] = "pass amounts, or value=(gain, cost) where it is an argument"

    def _warn_of(self, lists: ScoredLists) -> None:
        are_classes = np.ptp(lists.grade) == 1.0 and np.isin(lists.grade, (0.0, 1.0)).all()
        if np.isinf(self.range[1]) and are_classes:
            warn(
                f"{self.name} is of amounts, for which labels of 0 and 1 are taken, so that it is"
                f" of positives: {self.remedy}.",
                UserWarning,
            )


class _OfAmountsOfTop(OfAmounts):
    @abstractmethod
    def _mass(self, lists: ScoredLists) -> FloatArray:
        """Mass of the top of each list."""

    def blocks_at_cut(self, lists: ScoredLists, blocks: TiedBlocks, law: str) -> IntArray | None:
        return np.unique(blocks_at_end(np.cumsum(blocks.size), float(self._mass(lists)[0])))

    def _influence_of_top(self, lists: ScoredLists, amounts: FloatArray) -> ClassInfluence:
        return influence_of_top(lists, amounts, float(self._mass(lists)[0]))


class _OfAmountsAtK(_OfAmountsOfTop):
    _number = NamedNumber("k", position, "10")

    k: int = checked(check_position)  # Number of top items

    def _mass(self, lists: ScoredLists) -> FloatArray:
        return np.minimum(float(self.k), lists.sizes)


@without_function
class ProfitAtKMeasure(_OfAmountsAtK):
    stem = "profit@"

    def values(self, lists: ScoredLists) -> FloatArray:
        return sums_of_tops(lists, lists.grade, self._mass(lists))

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        refuse_all_equal(self, lists)
        mean = self._influence_of_top(lists, lists.grade)
        return mean.scaled(0.0, 1.0 / float(self._mass(lists)[0]))


@without_function
class ProfitAtTopMeasure(_OfAmountsOfTop, OfTop):
    stem = "profit@top"

    def _mass(self, lists: ScoredLists) -> FloatArray:
        return masses_of_tops(lists, self.tau)

    def values(self, lists: ScoredLists) -> FloatArray:
        mass = self._mass(lists)
        return sums_of_tops(lists, lists.grade, mass) / mass

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        refuse_all_equal(self, lists)
        return self._influence_of_top(lists, lists.grade)


@without_function
class ValueRecallAtKMeasure(_OfAmountsAtK):
    range = (0.0, 1.0)
    lacking = "no gain"
    stem = "value_recall@"

    def values(self, lists: ScoredLists) -> FloatArray:
        gains = np.maximum(lists.grade, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            sums = sums_of_tops(lists, gains, self._mass(lists))
            return sums / lists.weighted_totals(gains)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        gains = np.maximum(lists.grade, 0.0)
        refuse_no_total(self, gains)
        share = float(self._mass(lists)[0] / lists.sizes[0])
        return influence_of_share(self, lists, gains, self._influence_of_top(lists, gains), share)


@without_function
class LorenzMeasure(_OfAmountsOfTop):
    range = (0.0, 1.0)
    weights = "relative"
    lowest = 0.0
    lacking = "no amount above 0"
    stem = "lorenz@"
    _number = NamedNumber("tau", share, "0.1")

    tau: float = checked(check_share)  # Share of the rows

    def _mass(self, lists: ScoredLists) -> FloatArray:
        return self.tau * lists.sizes

    def values(self, lists: ScoredLists) -> FloatArray:
        sums = sums_of_tops(lists, lists.grade, self._mass(lists))
        with np.errstate(invalid="ignore"):
            return sums / lists.weighted_totals(lists.grade)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        refuse_no_total(self, lists.grade)
        top = self._influence_of_top(lists, lists.grade)
        return influence_of_share(self, lists, lists.grade, top, self.tau)


def refuse_value(measure: Measure) -> None:
    if not measure.of_amounts:
        raise TypeError(
            f"{measure.name} takes no argument 'value': leave it out, or use 'profit@50',"
            " 'profit@top0.05' or 'value_recall@50'."
        )


def refuse_amounts(measure: Measure) -> None:
    """Refuse amounts of labels known in part; amounts over probabilities have their mean."""
    if measure.of_amounts:
        raise TypeError(
            f"{measure.name} takes no amounts of labels known in part: divide the amount of each"
            " row with a label by the probability that it has one, such as the share of such rows"
            " of its day, take 0 for the other rows, and pass the result as y_true with the day or"
            " query of each row as qid, without value and design."
        )


def warn_of_positive_cost(gain: float, cost: float) -> None:
    """Warn of a pair of which the second number may be a cost without its sign."""
    if cost > 0:
        warn(
            f"value=({gain:g}, {cost:g}) has a positive cost, so that rows that are not positive"
            f" bring {cost:g} each: pass ({gain:g}, {-cost:g}) if they cost it.",
            UserWarning,
        )


def amounts_of(y_true: Any, value: Any, *, pos_label: Any = None) -> FloatArray:
    """Amount of each row from its class and ``value``.

    ``value`` has the amount of each row if it is positive, and 0 if it is not; or two columns, the
    amounts if it is positive and if it is not; or is a pair of numbers or of arrays.
    """
    columns = value
    if not isinstance(value, tuple):
        refuse_misread(y_true=y_true, value=value)
        if not shape_of(value):
            raise ValueError(
                f"value={shown(value)} must be an amount for each row, or a pair (gain, cost),"
                " such as value=(100, -5)."
            )
        columns = check_column("value", value, (1, 2))
        columns = tuple(columns.T) if columns.ndim == 2 else (columns, 0.0)
    positive = check_lists(y_true, LabelType("binary", pos_label)).positive
    n = len(positive)
    if len(columns) != 2:
        raise ValueError(
            f"value has {len(columns)} columns, but must have the amount of a row if it is"
            " positive, and the amount if it is not: pass (gain, cost)."
        )
    if all(map(is_number, columns)):
        warn_of_positive_cost(*columns)
    gain, cost = (
        np.full(n, check_number("value", x)) if np.ndim(x) == 0 else check_vector("value", x, n)
        for x in columns
    )
    return np.where(positive, gain, cost)
