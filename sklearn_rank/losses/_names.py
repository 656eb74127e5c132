"""Lookup of losses by name."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from .._validation import check_flag
from ._base import TemplateLoss
from ._listwise import ListwiseNormalizedSoftmax, ListwiseSoftmax
from ._pairwise import (
    ComparisonHinge,
    ComparisonLogistic,
    ComparisonSquaredHinge,
    PairwiseExponential,
    PairwiseLogistic,
    PairwiseSquared,
)
from ._pointwise import (
    PointwiseDifferentiableHinge,
    PointwiseExponential,
    PointwiseLogistic,
    PointwiseSquared,
    PointwiseSquaredHinge,
)

_LOSSES: dict[str, Callable[..., TemplateLoss]] = {
    "comparison_hinge": ComparisonHinge,
    "comparison_logistic": ComparisonLogistic,
    "comparison_squared_hinge": ComparisonSquaredHinge,
    "normalized_softmax": ListwiseNormalizedSoftmax,
    "pairwise_exponential": PairwiseExponential,
    "pairwise_logistic": PairwiseLogistic,
    "pairwise_squared": PairwiseSquared,
    "pointwise_differentiable_hinge": PointwiseDifferentiableHinge,
    "pointwise_exponential": PointwiseExponential,
    "pointwise_logistic": PointwiseLogistic,
    "pointwise_squared": PointwiseSquared,
    "pointwise_squared_hinge": PointwiseSquaredHinge,
    "softmax": ListwiseSoftmax,
}

# Names of these losses in other packages.
_ALIASES = {
    "listnet": "normalized_softmax",
    "ranknet": "comparison_logistic",
    "ranksvm": "comparison_hinge",
}


def get_loss_names(*, order_preserving: bool | None = None, aliases: bool = False) -> list[str]:
    """List the names of losses that :func:`get_loss` takes.

    Parameters
    ----------
    order_preserving : bool or None, default=None
        True lists the order-preserving losses, False the others, None all.
    aliases : bool, default=False
        Whether to include aliases: "ranknet" for "comparison_logistic", "listnet" for
        "normalized_softmax", "ranksvm" for "comparison_hinge". None of them is order-preserving.

    Returns
    -------
    list of str
        Sorted names.

    Examples
    --------
    >>> from sklearn_rank.losses import get_loss_names
    >>> get_loss_names(order_preserving=False)[:2]
    ['comparison_hinge', 'comparison_logistic']
    """
    if order_preserving is not None:
        check_flag("order_preserving", order_preserving)
    check_flag("aliases", aliases)
    names = {name: name for name in _LOSSES} | (_ALIASES if aliases else {})
    return sorted(
        name
        for name, canonical in names.items()
        if order_preserving in (None, _LOSSES[canonical]().is_order_preserving)
    )


def get_loss(name: str, **parameters: float) -> TemplateLoss:
    """Get a ranking loss by its name.

    Parameters
    ----------
    name : str
        One of ``get_loss_names(aliases=True)``.
    **parameters : dict
        Parameters of the loss, such as ``eta``.

    Returns
    -------
    TemplateLoss
        The loss.

    Raises
    ------
    ValueError
        If there is no loss of this name.

    Examples
    --------
    >>> from sklearn_rank.losses import get_loss
    >>> get_loss("pointwise_logistic", eta=15.0)
    PointwiseLogistic(eta=15.0)
    >>> get_loss("ranknet")
    ComparisonLogistic()
    """
    canonical = _ALIASES.get(name, name)
    if canonical not in _LOSSES:
        all_names = get_loss_names(aliases=True)
        close = get_close_matches(str(name), all_names, n=1)
        names = f"did you mean {close[0]!r}? Names are" if close else "names are"
        raise ValueError(f"{name!r} is not the name of a loss: {names} {all_names}.")
    return _LOSSES[canonical](**parameters)


def check_loss(loss: TemplateLoss | str) -> TemplateLoss:
    """Convert a name to a loss, or check that the argument is a loss."""
    if isinstance(loss, str):
        return get_loss(loss)
    if not isinstance(loss, TemplateLoss):
        raise TypeError(f"loss={loss!r} is not a loss: pass a TemplateLoss or the name of one.")
    return loss
