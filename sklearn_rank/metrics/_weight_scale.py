"""Check that weights of items have the scale of repetitions."""

from __future__ import annotations

import numpy as np

from .._lists import Lists
from .._top import MASS_SLACK
from .._warn import warn
from ..exceptions import RelativeWeightWarning

__all__ = ["check_weight_scale", "refuse_weight_scale", "warn_of_equal_weights"]

# Beyond it the position of an item does not change in float64.
LARGEST_RATIO = 2.0**53


def check_weight_scale(lists: Lists, name: str) -> None:
    """Raise an error for weights off the scale of repetitions; warn of equal fractional ones.

    Parameters
    ----------
    lists : Lists
        The lists.
    name : str
        What takes their weights as repetitions, for messages.
    """
    refuse_weight_scale(lists, name)
    if lists.has_equal_weights and not lists.whole.all():
        warn_of_equal_weights(name, one_list=lists.n_lists == 1)


def refuse_weight_scale(lists: Lists, name: str) -> None:
    """Raise an error for weights off the scale of repetitions.

    Parameters
    ----------
    lists : Lists
        The lists.
    name : str
        What takes their weights as repetitions, for messages.
    """
    if lists.weight is None:
        return
    lost = lists.sizes > LARGEST_RATIO * lists.smallest
    if lost.any():
        first = int(np.argmax(lost))
        raise ValueError(
            f"sample_weight sums to {lists.sizes[first]:g} in {lists.name_of(first)}, more than"
            f" 2**53 times its smallest weight: {name} takes weights as repetitions, and float64"
            " would lose the smallest ones; leave these items out."
        )
    # Sums of real weights are rounded, those of whole ones are at least 1.
    short = lists.sizes < 1.0 - MASS_SLACK
    if short.any():
        first = int(np.argmax(short))
        raise ValueError(
            f"sample_weight sums to {lists.sizes[first]:g} in {lists.name_of(first)}: {name} takes"
            " weights as repetitions, and this is less than one item; scale relative weights so"
            " that a typical item has weight 1."
        )


def warn_of_equal_weights(name: str, *, one_list: bool) -> None:
    """Warn of weights that are equal within each list and not whole.

    Parameters
    ----------
    name : str
        What takes them as repetitions.
    one_list : bool
        Whether there is one list only.
    """
    where = "" if one_list else " within each list"
    warn(
        f"All sample_weight{where} are equal and not whole: {name} takes weights as repetitions,"
        " so its value differs from that without weights; leave them out, or scale relative"
        " weights so that a typical item has weight 1.",
        RelativeWeightWarning,
    )
