"""The test of a sample size plan, and its power."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, sqrt

from scipy.special import nctdtr, ndtr, ndtri, stdtrit

__all__ = ["PLAN_ALTERNATIVES", "Question", "Sample"]

PLAN_ALTERNATIVES = ("two-sided", "less", "greater", "non-inferior", "equivalent")

# From this number of degrees of freedom on, Student's distribution is replaced by the normal one.
NORMAL_DEGREES = 1e7


@dataclass(frozen=True)
class Sample:
    """Composition of a sample of size n."""

    unit: str  # What there are n of
    positive_fraction: float | None  # Share of the items that are positive; None for queries
    group_size: float | None = None  # Mean number of them in a group; None is independent ones

    def counts(self, n: int) -> tuple[int, int]:
        """Count the positives and the negatives."""
        share = 0.5 if self.positive_fraction is None else self.positive_fraction
        n_pos = min(max(int(share * n + 0.5), 1), n - 1)
        return n_pos, n - n_pos


@dataclass(frozen=True)
class Question:
    """A test of a difference."""

    alternative: str  # What is to be shown
    margin: float | None  # Largest difference that does not matter, for the last two
    greater_is_better: bool  # Whether more of the measure is better

    def distances(self, difference: float) -> tuple[float, ...]:
        """Return the distances of a difference from the hypotheses to reject."""
        margin = self.margin or 0.0
        if self.alternative == "two-sided":
            return (abs(difference),)
        if self.alternative in ("less", "greater"):
            return (difference if self.alternative == "greater" else -difference,)
        if self.alternative == "non-inferior":
            return (margin + (difference if self.greater_is_better else -difference),)
        return (margin + difference, margin - difference)

    def power(self, difference: float, error: float, degrees: float, level: float) -> float:
        """Find the probability that the test rejects."""
        both = self.alternative == "two-sided"
        tail = (1.0 + level) / 2.0 if both else level
        large = degrees >= NORMAL_DEGREES
        critical = float(ndtri(tail) if large else stdtrit(degrees, tail))
        found = self.joined(
            [
                _above(critical, distance / error, degrees)
                for distance in self.distances(difference)
            ]
        )
        if both:
            found += _above(critical, -abs(difference) / error, degrees)
        return min(found, 1.0)

    @staticmethod
    def joined(chances: list[float]) -> float:
        """Bound the probability that all of several hypotheses are rejected."""
        return max(1.0 - sum(1.0 - chance for chance in chances), 0.0)


def _above(critical: float, noncentrality: float, degrees: float) -> float:
    """Probability that a noncentral t variable is above a number."""
    if isinf(degrees) or degrees >= NORMAL_DEGREES:
        return float(ndtr(noncentrality - critical))
    found = float(nctdtr(degrees, noncentrality, critical))
    if 0.0 <= found <= 1.0:
        return 1.0 - found
    # Where the series fails: the spread of the standard error as normal.
    apart = noncentrality - critical * (1.0 - 1.0 / (4.0 * degrees))
    return float(ndtr(apart / sqrt(1.0 + critical**2 / (2.0 * degrees))))
