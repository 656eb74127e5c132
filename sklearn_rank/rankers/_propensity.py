"""Utilities that inverse propensities make unbiased."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .._lists import Lists
from .._typing import AnyArray
from ..calibration._shared import positional_form
from ..losses import TemplateLoss, get_loss
from ..metrics._shared import MeasureLike

__all__ = ["refuse_joint_utilities", "refuse_other_losses"]

# Different labels of the list on which all examinations are tried.
MOST_LABELS = 3


def refuse_joint_utilities(measure: MeasureLike, labels: AnyArray) -> None:
    """Refuse a measure whose utilities depend on labels of other items.

    With examinations e of 0 and 1, the mean of ``u(e y) / p`` is u(y) if ``u(e y) = e u(y)``: the
    utility of an item is a function of its own label, and 0 of the label 0. It is tried on every
    examination of a short list of the labels.
    """
    found, form = positional_form(measure)

    def utilities(seen: Any) -> Any:
        values = form.utilities(Lists(labels=seen, offsets=np.array([0, len(seen)])))
        return values if found.undefined == "skip" else np.nan_to_num(values)

    some = np.unique(labels[labels > 0])
    some = some[np.linspace(0, len(some) - 1, min(len(some), MOST_LABELS)).astype(np.intp)]
    short = np.concatenate((some, some[-1:], np.zeros(1, dtype=some.dtype)))
    whole = utilities(short)
    for examined in product((False, True), repeat=len(short) - 1):
        seen = np.array([*examined, True])
        rest = utilities(np.where(seen, short, np.zeros_like(short)))
        if not np.allclose(rest, np.where(seen, whole, 0.0), rtol=1e-12, atol=0.0):
            raise ValueError(
                f"The utilities of {found.name!r} depend on all labels of a query, of which "
                "clicks show only some, so that propensities cannot make them unbiased: fit "
                "with measure='dcg', 'dcg@10' or 'precision@5', for which the utility of an "
                f"item depends on its own label only, and score by {found.name!r} where the "
                "relevance is known."
            )


def refuse_other_losses(loss: TemplateLoss | str) -> None:
    """Refuse losses for which utilities divided by propensities mean nothing."""
    made = get_loss(loss) if isinstance(loss, str) else loss
    if not made.is_order_preserving:
        raise ValueError(
            f"{made!r} is not order-preserving, so that propensities cannot make it unbiased: "
            "leave out propensity, or use a loss such as 'pairwise_logistic' or 'softmax'."
        )
