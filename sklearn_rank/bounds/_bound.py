"""Bound, the result type of all bounds, and the statements and inverses that they share."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from .._printed import Printed
from .._typing import ArrayPair, FloatArray
from .._validation import check_number


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
        how_often = f"With probability {1 - self.delta:.6g}" if self.delta else "Always"
        return f"{how_often}{given}: {self.target} <= {self.value:.4g}.\n{self.proof}"

    @property
    def proof(self) -> str:
        """Location of the proof and assumptions of the bound, in sentences."""
        lines = [f"Proof: {self.theorem}."]
        if self.assumptions:
            lines.append(f"It holds where {'; '.join(self.assumptions)}.")
        return "\n".join(lines)


Side: TypeAlias = Literal["both", "lower", "upper"]
Labels: TypeAlias = Literal["fixed", "random"]


def deviations(estimate: str, target: str) -> dict[Side, str]:
    return {
        "both": f"|{estimate} - {target}|",
        "lower": f"{estimate} - {target}",
        "upper": f"{target} - {estimate}",
    }


AGARWAL = "Agarwal et al. (2005)"
# Source of the proofs that are not in a paper.
OURS = "sklearn_rank, Proofs of bounds"

FIXED_FUNCTION = "the ranking function does not depend on the test set"
INDEPENDENT = "items are independent given their labels"


def condition(labels: Labels) -> str:
    return "the labels" if labels == "fixed" else ""


def of_side(side: Side, below: float, above: float) -> float:
    """Distance to the lower limit, to the upper limit, or the larger of them."""
    return max(below, above) if side == "both" else below if side == "lower" else above


def bisect(holds: Callable[[Any], Any], inside: ArrayLike, outside: ArrayLike) -> ArrayPair:
    """Neighbours in float64 between which a condition, true inside, ceases to hold."""
    for _ in range(60):
        middle = (np.asarray(inside) + np.asarray(outside)) / 2.0
        near = holds(middle)
        inside, outside = np.where(near, middle, inside), np.where(near, outside, middle)
    return np.asarray(inside), np.asarray(outside)


def last_of(values: FloatArray, holds: Callable[[float], bool]) -> float:
    """Find the last of some values that a condition holds for, which it does up to some value."""
    return float(values[bisect_left(values, True, 1, key=lambda x: not holds(float(x))) - 1])


def least_size(suffices: Callable[[int], bool]) -> float:
    """Least number of items of at least 2 that suffices; infinite above 2^53."""
    high = next((size for i in range(1, 54) if suffices(size := 2**i)), None)
    if high is None:
        return inf
    return float(bisect_left(range(high), True, high // 2 + 1, high, key=suffices))


def binary_kl(p: ArrayLike, q: ArrayLike) -> FloatArray:
    """Relative entropy ``p ln(p/q) + (1-p) ln((1-p)/(1-q))`` of two Bernoulli distributions."""
    x, y = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Not 1 - p within the logarithm, which is 1 for a small p.
        misses = (1.0 - x) * (np.log1p(-x) - np.log1p(-y))
    misses = np.where(x == 1.0, 0.0, np.where(y == 1.0, np.inf, misses))
    return rel_entr(x, y) + misses


def kl_limits(p: ArrayLike, most: ArrayLike) -> ArrayPair:
    """Smallest and largest q with ``KL(p || q) <= most``."""
    center, entropy = np.broadcast_arrays(
        np.asarray(p, dtype=np.float64), np.asarray(most, dtype=np.float64)
    )
    low, high = (
        bisect(lambda q: binary_kl(center, q) <= entropy, center, end)[1] for end in (0.0, 1.0)
    )
    return low, high


# exp of it is still a number, and its reciprocal too.
LARGEST_LOG = 690.0

# In place of 0 where a quotient must stay finite.
TINY = 1e-100

# Differences, relative to the larger number, and probabilities that are 0 up to rounding.
NEGLIGIBLE = 1e-9


def score_limits(estimate: ArrayLike, factor: ArrayLike) -> ArrayPair:
    """Solve ``(estimate - A)^2 = factor A (1 - A)`` for A."""
    value, c = np.asarray(estimate, dtype=np.float64), np.asarray(factor, dtype=np.float64)
    share = c / (1.0 + c)
    centre = (1.0 - share) * value + share / 2.0
    half = np.sqrt(share * ((1.0 - share) * value * (1.0 - value) + share / 4.0))
    # Exact at the ends, where the difference would be rounded.
    low = np.where(value <= 0.0, 0.0, np.maximum(centre - half, 0.0))
    return low, np.where(value >= 1.0, 1.0, np.minimum(centre + half, 1.0))


def wilson_score_limits(
    estimate: ArrayLike, z: float | FloatArray, n_draws: ArrayLike
) -> ArrayPair:
    """Solve ``n_draws (estimate - A)^2 = z^2 A (1 - A)`` for A."""
    return score_limits(estimate, z**2 / np.maximum(n_draws, TINY))


def mean_limits(
    method: str, mean: Any, n: Any, log_inverse: Any, variance: Any = 0.0
) -> ArrayPair:
    """Limits for the expectation of a mean of n independent terms in [0, 1].

    Each fails with probability ``exp(-log_inverse)`` at most; for "chebyshev", both together.
    "bernstein" takes the sample variance of the terms, on which it spends half of its error.
    """
    if method == "kl":
        return kl_limits(mean, log_inverse / n)
    if method == "chebyshev":
        return score_limits(mean, np.exp(np.minimum(log_inverse - np.log(n), LARGEST_LOG)))
    if method == "bernstein":
        logs = log_inverse + log(2.0)
        half = np.sqrt(2.0 * variance * logs / n) + 7.0 * logs / (3.0 * np.maximum(n - 1.0, 1.0))
    else:
        half = np.sqrt(log_inverse / (2.0 * n))
    return mean - half, mean + half
