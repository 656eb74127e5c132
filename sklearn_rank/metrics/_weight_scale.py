"""Check that weights of items can be numbers of items where positions are counted."""

from __future__ import annotations

import numpy as np

from .._lists import Lists
from .._validation import hint_of_adaboost

# Beyond it the position of an item does not change in float64.
LARGEST_RATIO = 2.0**53

# Fewer rows, as in a batch, may be light by chance.
FEW_ROWS = 20

# 1 / probability may be rounded, in float32 too.
ROUNDING = 1e-6


def refuse_row_weights(lists: Lists, name: str, *, whole: bool, instead: str) -> None:
    """Raise an error for weights of rows that are no numbers of items.

    Weights of at least 1 may be inverse probabilities, so they need not be whole in general.
    """
    weight = lists.weight
    if weight is None:
        return
    wrong = weight != np.floor(weight) if whole else weight < 1.0 - ROUNDING
    if not wrong.any():
        return
    item = int(np.argmax(wrong))
    row = item if lists.rows is None else int(lists.rows[item])
    where = "" if lists.ids is None else f", in {lists.name_of(int(lists.list_of[item]))}"
    why = "a weight below 1 is neither a number of items nor 1 / probability of being drawn"
    raise ValueError(
        f"sample_weight is {weight[item]:g} in row {row}{where}: {name} counts positions, and"
        f" {'this is not whole' if whole else why}; leave sample_weight out, pass how many items"
        " each row stands for (rounded, if need be), weight whole queries by query_weight, or use"
        f" a measure that does not depend on the scale of weights, such as {instead}."
    )


def refuse_shares(lists: Lists, name: str) -> None:
    """Raise an error for weights by which lists take no more than one position on average."""
    if lists.weight is None or len(lists.labels) < FEW_ROWS:
        return
    if lists.sizes.mean() <= 1.0 + ROUNDING:
        each = "" if lists.n_lists == 1 else " in a list on average"
        raise ValueError(
            f"sample_weight sums to {lists.sizes.mean():g}{each}, but {name} counts positions, and"
            " a row of weight w takes w of them: pass sample_weight / sample_weight.mean()."
            + hint_of_adaboost(lists.sizes.mean())
        )


def refuse_wide_weights(lists: Lists, name: str) -> None:
    """Raise an error for weights so unequal that float64 loses the position of the lightest."""
    if lists.weight is None:
        return
    lost = lists.sizes > LARGEST_RATIO * lists.smallest
    if lost.any():
        first = int(np.argmax(lost))
        raise ValueError(
            f"sample_weight sums to {lists.sizes[first]:g} in {lists.name_of(first)}, more than"
            f" 2**53 times its smallest weight: {name} counts positions, and float64 would lose"
            " the smallest ones; leave these items out."
        )
