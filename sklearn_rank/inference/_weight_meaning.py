"""What weights of rows mean to inference: numbers of rows, or inverse probabilities."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from .._arguments import check_choice
from .._lists import Lists, ScoredLists
from .._partitions import is_collection
from .._typing import FloatArray
from ._collections import refuse_collections

__all__ = [
    "WeightMeaning",
    "check_weight_meaning",
    "draws_of",
    "refuse_few_draws",
    "refuse_few_of_classes",
    "refuse_fractions",
    "whole_weights",
]

WeightMeaning: TypeAlias = Literal["frequency", "sampling"] | None

# With fewer items that carry the weight, of either class, or queries, nominal 95 % intervals
# cover as little as .71 (benchmarks/studies/sampling_weights.py).
LEAST_DRAWS = 10.0

# Number of items as which the rows of a list are counted, at most, and for each row.
MOST_ITEMS, MOST_PER_ROW = 2.0**21, 16.0


def check_weight_meaning(weights: Any, sample_weight: Any, *, no_sampling: str = "") -> bool:
    """Return whether weights of rows are inverse probabilities; nothing is guessed from values."""
    if weights is not None:
        check_choice("weights", weights, ("frequency", "sampling"))
    if sample_weight is None:
        if weights is not None:
            raise ValueError(
                f"weights={weights!r} says what sample_weight means, but sample_weight is None:"
                " pass sample_weight, or leave weights out."
            )
        return False
    if weights is None:
        raise ValueError(
            "sample_weight may mean two things, and the interval differs: pass"
            " weights='frequency' if each row stands for that many identical rows, or"
            " weights='sampling' if it is 1 / probability that the row was drawn."
        )
    if weights == "sampling":
        if no_sampling:
            raise ValueError(f"weights='sampling' is not supported by {no_sampling}.")
        refuse_collections("inverse probabilities belong to rows", sample_weight=sample_weight)
    return weights == "sampling"


def refuse_fractions(sample_weight: Any) -> None:
    """Raise an error for frequencies that are not whole numbers."""
    if sample_weight is None:
        return
    if is_collection(sample_weight):
        if bool(((sample_weight % 1) != 0).any().compute()):
            raise ValueError(_FRACTION.format("has a value that is not whole"))
        return
    weight = np.ravel(np.asarray(sample_weight, dtype=np.float64))
    wrong = weight != np.floor(weight)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(_FRACTION.format(f"is {weight[row]:g} at row {row}"))


_FRACTION = (
    "sample_weight {}, but weights='frequency' takes whole numbers of identical rows: pass whole"
    " numbers, or weights='sampling' if it is 1 / probability that the row was drawn."
)


def whole_weights(lists: ScoredLists) -> FloatArray:
    """Write weights as whole numbers, the smallest 1 where all are small multiples of it.

    The numbers, at least 1, whose sum is limited; of other weights the rest is rounded off. Shape
    (n,).
    """
    weight = lists.counts / lists.counts.min()
    whole, limit = np.rint(weight), max(MOST_ITEMS, MOST_PER_ROW * len(weight))
    if whole.sum() <= limit and np.all(np.abs(weight - whole) <= 1e-9 * weight):
        return whole
    return np.maximum(np.rint(weight * min(limit / weight.sum(), 1024.0)), 1.0)


def refuse_few_draws(weight: FloatArray, heaviest: float, what: str) -> None:
    """Raise an error where so few items carry the weight that no interval is trustworthy.

    One more item of the largest weight counts too: that none was drawn so far says little.
    """
    scale = heaviest or 1.0
    relative = np.append(weight, heaviest) / scale
    draws = float(relative.sum() ** 2 / (relative @ relative)) - 1.0
    if draws < LEAST_DRAWS:
        raise ValueError(
            f"The {len(weight)} {what} are worth {draws:.1f} drawn with equal probability, as one"
            f" more of weight {heaviest:g} would show, and below {LEAST_DRAWS:g} intervals cover"
            " too seldom: draw more rows where weights are large, or report the value without an"
            " interval."
        )


def refuse_few_of_classes(lists: ScoredLists) -> None:
    """Raise an error where few items of a class carry its weight."""
    weight, heaviest = lists.counts, float(lists.counts.max())
    refuse_few_draws(weight[lists.positive], heaviest, "positives")
    refuse_few_draws(weight[~lists.positive], heaviest, "negatives")


def draws_of(lists: Lists) -> float:
    """Count the rows of equal weight that the weights are worth."""
    weight = lists.counts / lists.counts.max()
    return float(weight.sum() ** 2 / (weight @ weight))
