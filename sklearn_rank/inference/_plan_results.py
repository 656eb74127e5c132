"""Results of sample size planning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._arguments import MOST_ITEMS, check_whole
from .._optional import import_pandas
from .._printed import Printed
from .._typing import FloatArray, IntArray

__all__ = ["SampleSizeCurve", "SampleSizePlan"]

# Sizes of a curve, from the smallest to the largest in multiples of the planned one.
N_SIZES, FROM, UPTO = 41, 0.1, 4.0


@dataclass(frozen=True, eq=False, repr=False)
class SampleSizeCurve(Printed):
    """Power of a test, or width of an interval, for samples of many sizes.

    Parameters
    ----------
    n : ndarray of shape (n_sizes,)
        Sample sizes.
    values : ndarray of shape (n_sizes,)
        Power or width at each size.
    of : {"power", "width"}
        Whether ``values`` holds the power of a test or the width of an interval.
    unit : {"items", "queries"}
        What the sample sizes count.
    low : ndarray of shape (n_sizes,) or None, default=None
        Smallest value within the 95 % interval for the pilot's variance; None without a pilot.
    high : ndarray of shape (n_sizes,) or None, default=None
        Largest value within that interval; None without a pilot.

    See Also
    --------
    SampleSizePlan : Its method ``curve`` computes the curve.

    Examples
    --------
    >>> from sklearn_rank.inference import sample_size
    >>> plan = sample_size("auc", expected=0.8, positive_fraction=0.2, width=0.1)
    >>> print(plan.curve([200, 400, 800]))
    items   width
      200  0.1631
      400  0.1127
      800  0.0784
    """

    n: IntArray
    values: FloatArray
    of: str
    unit: str
    low: FloatArray | None = None
    high: FloatArray | None = None

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each size.

        Returns
        -------
        pandas.DataFrame
            The index holds the sample sizes. The columns are "power" or "width" and, with a pilot,
            low and high.
        """
        pandas = import_pandas("to_frame", "read the arrays n and values of the curve")
        return pandas.DataFrame(self._columns(), index=pandas.Index(self.n, name=self.unit))

    def _columns(self) -> dict[str, FloatArray]:
        columns = {self.of: self.values}
        if self.low is not None and self.high is not None:
            columns |= {"low": self.low, "high": self.high}
        return columns

    def __str__(self) -> str:
        names = list(self._columns())
        sizes = [f"{size:,}" for size in self.n.tolist()]
        width = max(map(len, (self.unit, *sizes)))
        lines = ["  ".join([self.unit.rjust(width), *(f"{name:>6}" for name in names)])]
        for size, *values in zip(sizes, *self._columns().values(), strict=True):
            lines.append("  ".join([size.rjust(width), *(f"{one:6.4f}" for one in values)]))
        return "\n".join(lines)

    def _table(self) -> Any:
        columns = (one.tolist() for one in self._columns().values())
        rows = zip(self.n.tolist(), *columns, strict=True)
        title = f"{self.of} of the {'test' if self.of == 'power' else 'interval'}"
        header = [self.unit, *self._columns()]
        return title, header, [(f"{size:,}", *values) for size, *values in rows]


@dataclass(frozen=True, repr=False)
class SampleSizePlan(Printed):
    """Sample size plan: the sample, and the width of its interval or the power of its test.

    Parameters
    ----------
    measure : str
        Name of the measure.
    n : int
        Number of items or queries; with ``paired=False`` the number for each ranker.
    unit : {"items", "queries"}
        What ``n`` counts.
    n_pos : int or None
        Number of positive items; None for queries.
    n_neg : int or None
        Number of negative items; None for queries.
    n_groups : int or None
        Number of groups of the mean size in the pilot; None without groups.
    width : float or None
        Width of the interval; None for a test.
    level : float
        Confidence level of the interval or test; the test has significance level ``1 - level``.
    difference : float or None
        True difference that the test detects with probability ``power``; None for an interval.
    margin : float or None
        Largest difference that is of no importance; None if there is no margin.
    power : float or None
        Power of the test; None for an interval.
    alternative : str or None
        Alternative hypothesis of the test; None for an interval.
    paired : bool or None
        Whether two rankers score the same data; None for one ranker.
    against : float or None
        Fixed value that the measure of one ranker is compared with; None if there is none.
    method : str
        Name of the method of the interval or test.
    rests_on : str
        Assumptions of the plan, in words.
    found : {"n", "width", "level", "power", "difference", "margin"}
        The quantity that was computed from the others.
    assurance : float or None, default=None
        Probability that the variance is no larger than the one used for planning.
    pilot_range : tuple of (float, float) or None, default=None
        The computed quantity at the two ends of the 95 % interval for the variance that the pilot
        estimates; None without a pilot.

    See Also
    --------
    sample_size : Computes it.

    Examples
    --------
    >>> from sklearn_rank.inference import sample_size
    >>> plan = sample_size("auc", positive_fraction=0.1, width=0.1, method="hoeffding")
    >>> print(plan)
    7,375 items: 738 positives and 6,637 negatives
    an interval for auc that is 0.09998 wide at level 95 %
    hoeffding: holds for every distribution
    >>> plan.n_pos
    738
    """

    measure: str
    n: int
    unit: str
    n_pos: int | None
    n_neg: int | None
    n_groups: int | None
    width: float | None
    level: float
    difference: float | None
    margin: float | None
    power: float | None
    alternative: str | None
    paired: bool | None
    against: float | None
    method: str
    rests_on: str
    found: str
    assurance: float | None = None
    pilot_range: tuple[float, float] | None = None
    # Width or power at each size, of a plan that sample_size made.
    _at: ClassVar[Any] = None

    def _with_values(self, at: Callable[[int], tuple[float, ...]]) -> SampleSizePlan:
        object.__setattr__(self, "_at", at)
        return self

    def curve(self, n: Any = None) -> SampleSizeCurve:
        """Compute the power of the test, or the width of the interval, at other sample sizes.

        Parameters
        ----------
        n : array-like of int or None, default=None
            Sample sizes, at least 2. None means 41 sizes from a tenth of the planned size to four
            times that size.

        Returns
        -------
        SampleSizeCurve
            Power if the plan is for a test, else width.
        """
        if self._at is None:
            raise ValueError("curve needs a plan that sample_size returned: call sample_size.")
        if n is None:
            ends = max(FROM * self.n, 4.0), UPTO * self.n
            sizes = np.unique(np.geomspace(*ends, N_SIZES).astype(np.int64))
        else:
            given = np.atleast_1d(np.asarray(n))
            sizes = np.array([check_whole("n", one, 2, MOST_ITEMS) for one in given.tolist()])
        values = np.array([self._at(int(size)) for size in sizes])
        curve = SampleSizeCurve(
            sizes, values[:, 0], "width" if self.power is None else "power", self.unit
        )
        if values.shape[1] == 1:
            return curve
        # The further columns are for the ends of the interval for the pilot's variance.
        return replace(curve, low=values[:, 1:].min(axis=1), high=values[:, 1:].max(axis=1))

    def __str__(self) -> str:
        lines = [self._sample(), self._outcome(), f"{self.method}: {self.rests_on}"]
        if self.pilot_range is not None:
            low, high = (
                f"{one:,}" if self.found == "n" else f"{one:.4g}" for one in self.pilot_range
            )
            planned = "" if self.assurance is None else f"; assurance {self.assurance:g}"
            lines.append(f"the pilot's variance allows {self.found} from {low} to {high}{planned}")
        return "\n".join(lines)

    def _sample(self) -> str:
        each = " for each ranker" if self.paired is False else ""
        parts = [f"{self.n:,} {self.unit}{each}"]
        if self.n_pos is not None:
            parts.append(f"{self.n_pos:,} positives and {self.n_neg:,} negatives")
        if self.n_groups is not None:
            parts.append(f"about {self.n_groups:,} groups")
        return ": ".join([parts[0], ", ".join(parts[1:])]) if parts[1:] else parts[0]

    def _outcome(self) -> str:
        level = f"level {100 * self.level:.6g} %"
        if self.power is None:
            what = self.measure if self.paired is None else f"the difference of {self.measure}"
            return f"an interval for {what} that is {self.width:.4g} wide at {level}"
        if self.against is None:
            seen = f"a difference of {self.difference:.4g} in {self.measure}"
        else:
            seen = f"{self.measure} {self.difference:+.4g} from {self.against:g}"
        margin = "" if self.margin is None else f" with margin {self.margin:.4g}"
        return f"power {self.power:.4g} for {seen}, {self.alternative}{margin} at {level}"
