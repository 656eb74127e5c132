"""What the intervals for linear rank statistics share: their result, range and target."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..metrics._shared import Normalize, ScoreGeneratingFunction
from ._results import Interval

__all__ = ["RankInterval", "limit_range", "rank_target"]

# Points that are laid out at once.
POINTS = 2**20


@dataclass(frozen=True, repr=False)
class RankInterval(Interval):
    """Interval for a rank statistic, with the bias that was taken off its centre.

    Parameters
    ----------
    estimate : float
        The statistic, as :func:`sklearn_rank.metrics.linear_rank_score` gives it.
    low : float
        Lower limit.
    high : float
        Upper limit.
    level : float
        Nominal probability, in (0, 1), that the interval covers its target.
    method : str
        How it was made.
    target : str
        The quantity that it is for.
    standard_error : float or None, default=None
        Standard error of the estimate; None for a method that has none.
    bias : float or None, default=None
        By how much the estimate exceeds the target on average, itself estimated; it was taken off
        the centre. None for a method that needs none.

    Examples
    --------
    >>> from sklearn_rank.inference import RankInterval
    >>> print(RankInterval(0.52, 0.41, 0.63, 0.95, "influence", "W_phi", 0.05, bias=-0.004))
    0.5200 [0.4100, 0.6300] (W_phi, 95 %, influence, bias -0.0040)
    """

    bias: float | None = None

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.bias is None else f"{text[:-1]}, bias {self.bias:.4f})"

    def scaled(self, unit: float) -> RankInterval:
        """Measure in another unit.

        Parameters
        ----------
        unit : float
            What 1 becomes, positive.

        Returns
        -------
        RankInterval
            The same interval in this unit.
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
    """Least and largest value of the functional with k positives among n.

    Parameters
    ----------
    phi : ScoreGeneratingFunction
        The function, not depending on the length of the list.
    n : int
        Number of items.
    k : int
        Number of positives.

    Returns
    -------
    worst : float
        Mean of phi over (0, k / n).
    best : float
        Mean of phi over (1 - k / n, 1).
    """
    # Finer than the items where they are few, for the sake of jumps between them.
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
    """Say what an interval is for.

    Parameters
    ----------
    n : int
        Number of items.
    k : int
        Number of positives.
    conditional : bool
        Whether the labels count as fixed.
    normalize : {"mean", "minmax"}
        The mean over the positives, or its value between worst and best.
    what : str, default=""
        Name of the measure, which says how it is normalised; empty where phi alone was given.
    expected : bool, default=False
        Whether it is the statistic in the mean, and not what it estimates.

    Returns
    -------
    str
        The target in words.
    """
    between = ", from worst to best" if normalize == "minmax" and not what else ""
    labels = f" at {k} positives of {n}" if conditional else ", random labels"
    quantity = f"expected {what or 'statistic'}" if expected else what or "W_phi"
    return f"{quantity}{labels}{between}"
