"""Bound: the result type of all bounds."""

from __future__ import annotations

from dataclasses import dataclass

from .._arguments import check_number
from .._printed import Printed

__all__ = ["Bound"]


@dataclass(frozen=True, repr=False)
class Bound(Printed):
    """Result of a bound: its value, its theorem and its assumptions.

    Parameters
    ----------
    value : float
        The bound, at least 0; infinite if the theorem gives none.
    theorem : str
        Paper and number of the theorem, or the location of its proof.
    target : str
        The quantity that is bounded, for example ``"|AUC - expected AUC|"``.
    delta : float, default=0.0
        Probability that the bound fails; 0 for a bound that always holds.
    conditioned_on : str, default=""
        What the probability is conditioned on, for example the labels.
    assumptions : tuple of str, default=()
        Conditions under which the bound holds.

    Examples
    --------
    >>> from sklearn_rank.bounds import Bound
    >>> print(
    ...     Bound(
    ...         0.12, "Agarwal et al. (2005), Corollary 6", "|AUC - expected AUC|", 0.05
    ...     )
    ... )
    With probability 0.95: |AUC - expected AUC| <= 0.12.
    Proof: Agarwal et al. (2005), Corollary 6.
    """

    value: float
    theorem: str
    target: str
    delta: float = 0.0
    conditioned_on: str = ""
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("value", self.value, 0.0)
        check_number("delta", self.delta, 0.0, 1.0, closed="left")
        if not self.theorem or not self.target:
            raise ValueError("A bound must name its theorem and its target.")

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        given = f" given {self.conditioned_on}" if self.conditioned_on else ""
        sure = f"With probability {1 - self.delta:.6g}" if self.delta else "Always"
        return f"{sure}{given}: {self.target} <= {self.value:.4g}.\n{self.proof}"

    @property
    def proof(self) -> str:
        """Location of the proof and assumptions of the bound, in sentences."""
        lines = [f"Proof: {self.theorem}."]
        if self.assumptions:
            lines.append(f"It holds where {'; '.join(self.assumptions)}.")
        return "\n".join(lines)
