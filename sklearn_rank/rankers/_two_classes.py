"""Rows of two classes with positive weight, their costs and total weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from .._typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["TwoClasses"]


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """The rows of positive weight, with their classes."""

    classes: AnyArray  # (2,)
    pos_label: Any  # The positive class
    taken: IntArray  # (n,): The rows that have positive weight, of those given
    positive: BoolArray  # (n,): Whether they are of the positive class
    weight: FloatArray  # (n,): Their weights

    @classmethod
    def of_rows(
        cls, classes: Any, pos_label: Any, positive: BoolArray, weight: FloatArray
    ) -> TwoClasses:
        """Leave out rows of weight 0."""
        taken = np.flatnonzero(weight > 0)
        return cls(np.asarray(classes), pos_label, taken, positive[taken], weight[taken])

    def part(self, numbers: IntArray) -> TwoClasses:
        """Take some of the rows that count. These, counted from 0 on."""
        return TwoClasses(
            self.classes,
            self.pos_label,
            np.arange(len(numbers)),
            self.positive[numbers],
            self.weight[numbers],
        )

    @property
    def direction(self) -> float:
        """+1 if the second class is positive, -1 if the first is.

        The factor from scores by which the positives are on top to decision values, which in all
        of scikit-learn are greater for the second class.
        """
        return 1.0 if self.pos_label == self.classes[1] else -1.0

    @property
    def sign(self) -> FloatArray:
        """+1 for positive rows, -1 for negative ones."""
        return np.where(self.positive, 1.0, -1.0)

    @property
    def masses(self) -> tuple[float, float]:
        """Weight of the negative rows and of the positive ones."""
        return self.weight[~self.positive].sum(), self.weight[self.positive].sum()

    def costs(self, C: float, class_weight: Any) -> FloatArray:
        """Cost of each row in a loss. C times weight times factor. Shape (n,)."""
        negative, positive = self._factors(class_weight)
        return C * self.weight * np.where(self.positive, positive, negative)

    def pair_mass(self) -> FloatArray:
        """Number of pairs of a negative and a positive row that contain each row."""
        mass_neg, mass_pos = self.masses
        return self.weight * np.where(self.positive, mass_neg, mass_pos)

    def _factors(self, class_weight: Any) -> tuple[float, float]:
        mass_neg, mass_pos = self.masses
        if isinstance(class_weight, str) and class_weight == "pairs":
            return mass_pos, mass_neg
        if isinstance(class_weight, str) and class_weight == "balanced":
            total = mass_neg + mass_pos
            return total / (2 * mass_neg), total / (2 * mass_pos)
        factors = compute_class_weight(class_weight, classes=self.classes, y=self.classes)
        if not np.all((factors > 0) & np.isfinite(factors)):
            raise ValueError(
                "class_weight must give each class a positive, finite factor, got "
                f"{class_weight!r}: both classes are needed for a ranking."
            )
        return (factors[0], factors[1]) if self.direction > 0 else (factors[1], factors[0])
