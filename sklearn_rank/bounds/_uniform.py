"""Deviation, probability and sample size for all functions of an infinite class at once.

They hold for whichever function of the class was learned from the very sample that the AUC is of.
Unlike those of a test set they are not cut off at 1: a value of 1 or more says nothing, but shows
how much larger a sample would have to be.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Literal, TypeAlias

from .._arguments import MOST_ITEMS
from ._function_class import FunctionClass
from ._shatter import log_faces, log_rank_shatter_coefficient, log_regions
from ._statements import AGARWAL, OURS, Side

__all__ = [
    "UNIFORM_METHODS",
    "UniformMethod",
    "uniform_probability",
    "uniform_sample_size",
    "uniform_theorem",
    "uniform_width",
]

UniformMethod: TypeAlias = Literal["averaging", "paper", "central", "strict", "freund"]
UNIFORM_METHODS = ("averaging", "paper", "central", "strict", "freund")

# exp of it is the least probability that is looked for.
LEAST_LOG_DELTA = -700.0
# Each step halves what is left: at the end neighbours in float64.
N_HALVINGS = 60


def uniform_width(
    function_class: FunctionClass,
    n_pos: int,
    n_neg: int,
    log_delta: float,
    method: str,
    side: Side,
) -> float:
    """Deviation of some AUC of the class that is exceeded with probability delta at most."""
    n_weights = function_class.n_weights
    if min(n_pos, n_neg) == 0:
        return inf
    if method == "averaging":
        log_inverse = (log(2.0) if side == "both" else 0.0) - log_delta
        return _averaging(n_weights, n_pos, n_neg, log_inverse)
    if method == "freund":
        # A threshold is one weight more.
        return sum(
            2.0 * sqrt((log_faces(2 * n, n_weights + 1) + log(12.0) - log_delta) / n)
            for n in (n_pos, n_neg)
        )
    counted: Literal["paper", "central", "strict"] = (
        "paper" if method == "paper" else "strict" if method == "strict" else "central"
    )
    patterns = log_rank_shatter_coefficient(n_weights, 2 * n_pos, 2 * n_neg, counted)
    weight = 8.0 * (1.0 / n_pos + 1.0 / n_neg)
    return sqrt(weight * (patterns + log(4.0) - log_delta))


def uniform_probability(
    epsilon: float, function_class: FunctionClass, n_pos: int, n_neg: int, method: str, side: Side
) -> float:
    """Least delta at which :func:`uniform_width` is at most ``epsilon``, by bisection."""

    def suffices(log_delta: float) -> bool:
        found = uniform_width(function_class, n_pos, n_neg, log_delta, method, side)
        return found <= epsilon

    low, high = LEAST_LOG_DELTA, -1e-12
    if not suffices(high):
        return 1.0
    if suffices(low):
        return exp(low)
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return exp(high)


def uniform_sample_size(
    epsilon: float,
    delta: float,
    positive_fraction: float,
    function_class: FunctionClass,
    method: str,
) -> float:
    """Least n at which :func:`uniform_width` is at most ``epsilon``, by doubling and bisection."""

    def suffices(n: int) -> bool:
        n_pos = round(positive_fraction * n)
        found = uniform_width(function_class, n_pos, n - n_pos, log(delta), method, "both")
        return found <= epsilon

    high = 2
    while high <= MOST_ITEMS and not suffices(high):
        high *= 2
    low = high // 2
    while high - low > 1 and high <= MOST_ITEMS:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return float(high) if high <= MOST_ITEMS else inf


def uniform_theorem(method: str, function_class: FunctionClass, statement: str) -> str:
    """Return the theorem of a bound; ``statement`` is its number in Agarwal et al."""
    if method == "averaging":
        return f"{OURS}, Theorem 3"
    if method == "freund":
        return f"{AGARWAL}, Theorem 27"
    if method == "strict":
        return f"{AGARWAL}, {statement}, with {OURS}, Theorem 2"
    if method == "central":
        return f"{AGARWAL}, {statement}, with {OURS}, Theorem 1"
    return f"{AGARWAL}, {statement} with Theorem {24 if function_class.kind == 'linear' else 26}"


def _averaging(n_weights: int, n_pos: int, n_neg: int, log_inverse: float) -> float:
    """Theorem 3 of the proofs, in the smaller of its two forms."""
    fewer = min(n_pos, n_neg)
    patterns = log_regions(fewer, n_weights)
    at_once = sqrt(2.0 * (patterns + log_inverse) / fewer)
    about_mean = sqrt(2.0 * patterns / fewer)
    about_mean += sqrt((1.0 / n_pos + 1.0 / n_neg) * log_inverse / 2.0)
    return min(at_once, about_mean)
