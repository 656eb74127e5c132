"""Statements that the bounds share: sides, conditions, assumptions and sources."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = [
    "AGARWAL",
    "DEVIATIONS",
    "FIXED_FUNCTION",
    "INDEPENDENT",
    "LABELS",
    "OURS",
    "SIDES",
    "Labels",
    "Side",
    "condition",
    "of_side",
]

Side: TypeAlias = Literal["both", "lower", "upper"]
Labels: TypeAlias = Literal["fixed", "random"]
SIDES = ("both", "lower", "upper")
LABELS = ("fixed", "random")

# Of one function.
DEVIATIONS: dict[Side, str] = {
    "both": "|AUC - expected AUC|",
    "lower": "AUC - expected AUC",
    "upper": "expected AUC - AUC",
}

AGARWAL = "Agarwal et al. (2005)"
# Source of the proofs that are not in a paper.
OURS = "sklearn_rank, Proofs of bounds"

FIXED_FUNCTION = "the ranking function does not depend on the test set"
INDEPENDENT = "items are independent given their labels"


def condition(labels: Labels) -> str:
    """The condition of the probability."""
    return "the labels" if labels == "fixed" else ""


def of_side(side: Side, below: float, above: float) -> float:
    """Choose the distance to the lower limit, to the upper limit, or the larger of them."""
    return max(below, above) if side == "both" else below if side == "lower" else above
