"""Measures that a structural support vector machine can optimise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from .._typing import FloatArray
from .._validation import hint_of_adaboost
from ..losses._shared import (
    AveragePrecisionLabellings,
    F1Labellings,
    Labelling,
    MixedLabellings,
    PairLabellings,
    TopLabellings,
)
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._top_of_rows import mass_of_top
from ._two_classes import TwoClasses

__all__ = ["StructuralMeasure"]

POSSIBLE = (
    "'auc', 'ap', 'precision@10' and 'recall@10' (any number of rows), 'precision@top0.05' (any"
    " share of them), 'r_precision' (the precision/recall break-even point) and 'f1'"
)


@dataclass(frozen=True)
class StructuralMeasure:
    """A measure with its most violated labellings."""

    name: str
    kind: Literal["pairs", "top", "order", "set"]  # What its labellings are of
    k: int | None = None  # Number of rows in the top
    tau: float | None = None

    @classmethod
    def of(cls, measure: MeasureLike) -> Self:
        """Read the measure."""
        if measure == "f1":
            return cls("f1", "set")
        if measure == "prbep":
            raise ValueError(
                "measure='prbep', the precision/recall break-even point, is called 'r_precision':"
                " pass measure='r_precision'."
            )
        known = get_measure(measure)
        name, parameters = known.in_grammar()
        # The value for lists without positives has no effect, since both classes are present.
        if not parameters.keys() - {"undefined"}:
            if name == "auc":
                return cls(name, "pairs")
            if name == "ap":
                return cls(name, "order")
            if name == "r_precision":
                return cls(name, "top")
            if name.startswith("precision@top"):
                return cls(name, "top", tau=known.tau)  # type: ignore[attr-defined]
            if name.startswith(("precision@", "recall@")) and known.rel is None:
                return cls(name, "top", k=known.k)  # type: ignore[attr-defined]
        raise ValueError(
            f"measure={measure!r} is not supported by StructuralRanker: use {POSSIBLE}."
        )

    @property
    def has_constant(self) -> bool:
        """Whether the rows need a feature that is 1, since the value of a score counts."""
        return self.kind == "set"

    def mass(self, rows: TwoClasses) -> float | None:
        """Find the weight of the top. The weight; None where the measure has no top."""
        if self.kind != "top":
            return None
        n_neg, n_pos = rows.masses
        mass = float(n_pos)
        if self.tau is not None:
            mass = mass_of_top(rows.weight, self.tau)
        elif self.k is not None:
            mass = float(self.k)
        if mass >= n_neg + n_pos:
            raise ValueError(
                f"measure={self.name!r} has {mass:g} rows in the top, but there are only "
                f"{n_neg + n_pos:g}, so that all orders are equally good: pass a smaller top."
                + hint_of_adaboost(n_neg + n_pos)
            )
        return mass

    def labellings(
        self,
        rows: TwoClasses,
        mass: float | None,
        reference: Literal["labels", "best"],
        auc_share: float,
    ) -> Callable[[FloatArray], Labelling]:
        """Make the search for the most violated labelling. From scores to the labelling."""
        labellings: Callable[[FloatArray], Labelling]
        pairs = PairLabellings(rows.positive, rows.weight)
        if self.kind == "pairs":
            return pairs
        if mass is not None:
            unit = rows.masses[1] if self.name.startswith("recall") else mass
            labellings = TopLabellings(
                rows.positive, rows.weight, mass=mass, unit=float(unit), reference=reference
            )
        else:
            self._check_whole(rows)
            of_counts: Any = AveragePrecisionLabellings if self.kind == "order" else F1Labellings
            labellings = of_counts(rows.positive, rows.weight)
        if self.kind == "order" or auc_share == 0:
            return labellings
        return MixedLabellings(labellings, pairs, auc_share)

    def _check_whole(self, rows: TwoClasses) -> None:
        parts = np.flatnonzero(rows.weight != np.floor(rows.weight))
        if len(parts):
            first = parts[0]
            raise ValueError(
                f"measure={self.name!r} needs whole sample_weight, which is "
                f"{rows.weight[first]:g} in row {rows.taken[first]}: pass whole numbers of "
                "repetitions, or measure='auc' or 'precision@k', which take fractional weights."
                + hint_of_adaboost(rows.weight.sum())
            )
