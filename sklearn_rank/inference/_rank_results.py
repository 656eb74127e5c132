"""Result, range and target of the intervals for linear rank statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._printed import fixed
from ..metrics._shared import Normalize, ScoreGeneratingFunction
from ._results import Interval

__all__ = ["RankInterval", "limit_range", "rank_target"]

# Points that are laid out at once.
POINTS = 2**20


@dataclass(frozen=True, repr=False)
class RankInterval(Interval):
    """Confidence interval for a rank statistic, with the estimated bias.

    Parameters
    ----------
    estimate : float
        The statistic, as :func:`sklearn_rank.metrics.linear_rank_score` returns it.
    low : float
        Lower limit.
    high : float
        Upper limit.
    level : float
        Nominal coverage of the interval, in (0, 1).
    method : str
        Name of the method that computed the interval.
    target : str
        The quantity that the interval estimates.
    standard_error : float or None, default=None
        Standard error of the estimate; None if the method gives none.
    bias : float or None, default=None
        Estimated bias: the mean of the estimate minus the target. It was subtracted from the
        centre of the interval. None if the method makes no correction.

    Examples
    --------
    >>> from sklearn_rank.inference import RankInterval
    >>> print(
    ...     RankInterval(
    ...         0.52, 0.41, 0.63, 0.95, "influence", "W_phi", 0.05, bias=-0.004
    ...     )
    ... )
    0.5200 [0.4100, 0.6300] (W_phi, 95 %, influence, bias -0.0040)
    """

    bias: float | None = None

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.bias is None else f"{text[:-1]}, bias {fixed(self.bias)})"

    def scaled(self, unit: float) -> RankInterval:
        """Convert the interval to another unit.

        Parameters
        ----------
        unit : float
            Positive factor by which the estimate, the limits, the standard error and the bias are
            multiplied.

        Returns
        -------
        RankInterval
            The interval in the new unit.
        """
        error, bias = self.standard_error, self.bias
        return replace(
            self,
            estimate=unit * self.estimate,
            low=unit * self.low,
            high=unit * self.high,
            standard_error=None if error is None else unit * error,
            bias=None if bias is None else unit * bias,
        )


def limit_range(phi: ScoreGeneratingFunction, n: int, k: int) -> tuple[float, float]:
    """Return the smallest and largest value of the functional for k positives among n."""
    # The grid is finer than the items if there are few, because phi may jump between them.
    fine = max(1, 2**14 // n)
    worst = best = 0.0
    for begin in range(0, k * fine, POINTS):
        points = (np.arange(begin, min(begin + POINTS, k * fine)) + 0.5) / (n * fine)
        worst += float(np.sum(phi(points)))
        best += float(np.sum(phi(1.0 - points[::-1])))
    return worst / (k * fine), best / (k * fine)


def rank_target(
    n: int,
    k: int,
    conditional: bool,
    normalize: Normalize,
    what: str = "",
    *,
    expected: bool = False,
) -> str:
    """Describe the target of an interval in words."""
    between = ", from worst to best" if normalize == "minmax" and not what else ""
    labels = f" at {k} positives of {n}" if conditional else ", random labels"
    quantity = f"expected {what or 'statistic'}" if expected else what or "W_phi"
    return f"{quantity}{labels}{between}"
