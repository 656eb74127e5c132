"""What an interval and a test give back."""

from __future__ import annotations

from dataclasses import dataclass

from .._printed import Printed

__all__ = ["Interval", "RankTestResult"]


@dataclass(frozen=True, repr=False)
class Interval(Printed):
    """Interval for a measure of a ranking.

    Parameters
    ----------
    estimate : float
        Value of the measure.
    low : float
        Lower limit.
    high : float
        Upper limit.
    level : float
        Nominal probability, in (0, 1), that the interval covers its target.
    method : str
        How it was made.
    target : str
        The quantity that it is for, as ``"expected AUC"``.
    standard_error : float or None, default=None
        Standard error of the estimate, where the method has one.

    Examples
    --------
    >>> from sklearn_rank.inference import Interval
    >>> print(Interval(0.8312, 0.7521, 0.8893, 0.95, "logit-delong", "expected AUC"))
    0.8312 [0.7521, 0.8893] (expected AUC, 95 %, logit-delong)
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    target: str
    standard_error: float | None = None

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """Upper less lower limit."""
        return self.high - self.low

    def __str__(self) -> str:
        return (
            f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]"
            f" ({self.target}, {100 * self.level:.4g} %, {self.method})"
        )


@dataclass(frozen=True, repr=False)
class RankTestResult(Printed):
    """Outcome of a test.

    Parameters
    ----------
    statistic : float
        Test statistic.
    pvalue : float
        Probability, under the hypothesis, of a statistic at least as extreme.
    estimate : float
        Estimate of what the hypothesis says is 0, as the difference of two measures.
    alternative : {"two-sided", "less", "greater"}
        What counts as extreme.
    method : str
        How the p-value was found.
    hypothesis : str
        The hypothesis in words.
    interval : Interval or None, default=None
        Interval for what is estimated, where the method has one.

    Examples
    --------
    >>> from sklearn_rank.inference import RankTestResult
    >>> print(RankTestResult(2.1, 0.0357, 0.04, "two-sided", "normal", "the AUCs are equal"))
    p = 0.0357 (two-sided, normal): the AUCs are equal; estimate 0.0400
    """

    statistic: float
    pvalue: float
    estimate: float
    alternative: str
    method: str
    hypothesis: str
    interval: Interval | None = None

    def __str__(self) -> str:
        text = (
            f"p = {self.pvalue:.4g} ({self.alternative}, {self.method}): {self.hypothesis};"
            f" estimate {self.estimate:.4f}"
        )
        if self.interval is not None:
            text += (
                f" [{self.interval.low:.4f}, {self.interval.high:.4f}]"
                f" ({100 * self.interval.level:.4g} %)"
            )
        return text
