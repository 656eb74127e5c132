"""Evaluation of a loss of many lists by threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from .._lists import Lists
from .._typing import FloatArray
from ._base import LossOnLists, TemplateLoss

__all__ = ["ThreadedLoss"]


class ThreadedLoss:
    """The loss of :meth:`TemplateLoss.on`, computed by several threads.

    Lists are independent, so that the result is bitwise the same for any number of threads. The
    threads end with the object.
    """

    def __init__(self, loss: TemplateLoss, lists: Lists, n_threads: int) -> None:
        loss._check_domain(lists)
        self.loss = loss
        # Pairs grow with the square of a list; shares of equal work.
        work = np.append(0.0, np.cumsum(lists.lengths.astype(np.float64) ** 2))
        shares = np.searchsorted(work, np.linspace(0, work[-1], n_threads + 1))
        shares = np.unique(np.append(shares, (0, lists.n_lists)))
        self.items = [slice(lists.offsets[a], lists.offsets[b]) for a, b in pairwise(shares)]
        self.parts = [LossOnLists(loss, lists.part(a, b)) for a, b in pairwise(shares)]
        self.pool = ThreadPoolExecutor(len(self.parts)) if len(self.parts) > 1 else None

    @property
    def is_convex(self) -> bool:
        """Whether the loss is convex in the scores."""
        return self.loss.is_convex

    @property
    def has_curvature(self) -> bool:
        """Whether :meth:`curvature` is available."""
        return self.loss.has_curvature

    @property
    def has_hessian_product(self) -> bool:
        """Whether :meth:`hessian_product` is available."""
        return self.loss.has_hessian_product

    def value_and_gradient(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Value of each list, and the gradient of their sum."""
        values, gradients = zip(*self._each("value_and_gradient", score), strict=True)
        return np.concatenate(values), np.concatenate(gradients)

    def hessian_product(self, score: FloatArray, direction: FloatArray) -> FloatArray:
        """Product of the second derivatives with a vector. Shape (n,)."""
        return np.concatenate(self._each("hessian_product", score, direction))

    def curvature(self, score: FloatArray) -> FloatArray:
        """Diagonal of the second derivatives. Second derivative by each score. Shape (n,)."""
        return np.concatenate(self._each("curvature", score))

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First and second derivatives by each score. Shape (n,)."""
        gradients, curvatures = zip(*self._each("gradient_and_curvature", score), strict=True)
        return np.concatenate(gradients), np.concatenate(curvatures)

    def _each(self, method: str, *arrays: FloatArray) -> list[Any]:
        run = map if self.pool is None else self.pool.map
        return list(
            run(
                lambda part, items: getattr(part, method)(*(array[items] for array in arrays)),
                self.parts,
                self.items,
            )
        )
