"""Losses that are sums over blocks of rows, read one by one or on other machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from .._typing import FloatArray
from ._contracts import LossOfScores, LossProperties
from ._design import Design
from ._linear_problem import (
    PenalisedLoss,
    loss_and_gradient,
    loss_curvature,
    loss_product,
    scores_of,
)
from ._scales import row_sums

__all__ = ["BlockProblem", "Blocks"]


class Blocks(Protocol):
    """Rows in blocks that hold whole lists, wherever they are.

    Functions come to the rows, and sums go back: no vector of the length of the data does.
    """

    @property
    def n_features(self) -> int:
        """Number of features."""

    def on(self, make: Callable[[Any], Any], /) -> Blocks:
        """The same blocks with ``make(lists)`` for each, made once, as the loss of its scores.

        ``make`` can be pickled.
        """

    def total(self, function: Callable[..., tuple[Any, ...]], /, *arguments: Any) -> Any:
        """Sum ``function(items, loss, *arguments)`` over the blocks, number by number.

        It is one pass over the rows. ``function`` can be pickled.
        """


@dataclass(frozen=True, eq=False)
class BlockProblem(PenalisedLoss):
    """Minimise ``factor sum over blocks of sum(loss(X w + b)) + alpha / 2 ||w||**2``.

    It is the :class:`LinearProblem` of all rows. Each evaluation, of the objective with its
    gradient or of a product with its second derivatives, is one pass over the rows: scores, loss
    and derivatives are taken block by block.
    """

    blocks: Blocks  # The rows, with their loss
    loss: LossProperties
    alpha: float  # Penalty, at least 0
    fit_intercept: bool = False  # Whether there is b, which is not penalised; else it is 0
    factor: float = 1.0  # Factor of the loss, greater than 0
    bends: FloatArray | None = None

    @property
    def n_features(self) -> int:
        """Number of coefficients."""
        return self.blocks.n_features

    def scores(self, parameters: FloatArray) -> FloatArray:
        """Stand for the scores of the rows, which each block finds again.

        Shape (n_parameters,).
        """
        return parameters

    def _loss_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = self.blocks.total(loss_and_gradient, parameters)
        return self.factor * value, self.factor * gradient

    def _loss_product(self, scores: FloatArray, direction: FloatArray) -> FloatArray:
        (product,) = self.blocks.total(_product_at, scores, direction)
        return self.factor * product

    def _loss_curvature(self, scores: FloatArray) -> FloatArray:
        (matrix,) = self.blocks.total(_curvature_at, scores)
        return self.factor * matrix

    def _row_sums(self, origin: FloatArray | None) -> tuple[float, FloatArray, FloatArray]:
        n_rows, sums, squares = self.blocks.total(row_sums, origin)
        return n_rows, sums, squares


def _product_at(
    items: Design, loss: LossOfScores, parameters: FloatArray, direction: FloatArray
) -> tuple[FloatArray]:
    """Product of the second derivatives at parameters with a direction."""
    return (loss_product(items, loss, scores_of(items, parameters), direction),)


def _curvature_at(items: Design, loss: LossOfScores, parameters: FloatArray) -> tuple[FloatArray]:
    """Second derivatives at parameters without those by the scores of two items."""
    return (loss_curvature(items, loss, scores_of(items, parameters), len(parameters)),)
