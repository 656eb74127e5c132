"""Splits in order of time: each period is tested by models of what was known at its start."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from .._sklearn_compat import num_samples
from .._times import check_duration, check_times, in_days
from .._typing import FloatArray, IntArray


class PeriodSplit(BaseCrossValidator):
    """Test each period on models trained with the labels that were known at its start.

    The label of a row says whether an event comes within ``horizon`` of its entry. It is certain
    at ``entered + horizon``: the row is then mature. A model for the period that starts at t is
    trained on the rows with ``entered + horizon <= t``, and tested on the rows that enter in the
    period, as far as these are mature at the end of the data.

    Parameters
    ----------
    period : float or timedelta
        Length of a period, after which models are trained again: a number of days, or a number in
        the unit of times that are numbers.
    horizon : float or timedelta
        Time from the entry of a row until its label is certain.
    train_for : float or timedelta, default=None
        Length of the time in which training rows entered, the last one at ``t - horizon``. None
        means all mature rows.
    start : time, default=None
        Start of the first period. None means the first day on which the training rows of
        ``train_for``, or of one period if that is None, are mature.
    as_of : time, default=None
        Time up to which labels are known. None means the last entry.

    See Also
    --------
    back_test : Values and differences of models over time, with limits.
    sklearn.model_selection.TimeSeriesSplit : Splits by numbers of rows.

    Notes
    -----
    Events are often known long before their absence: a fraud that was reported yesterday, but not
    that there is none. Which rows have a label then depends on the label, and a model that is
    trained on all labels known at t over-counts events. Rows that are mature are all of those
    that entered before ``t - horizon``, whatever their labels are.

    The times are passed as ``groups``, as in ``split(X, y, groups=entered)``: numbers, dates or
    timestamps. In :func:`sklearn.model_selection.cross_validate` and searches they are the
    argument ``groups``. Periods in which no mature row entered are left out. ``y`` must be the
    label at maturity; that of other rows is not used. A search with ``refit=True`` is fitted to
    all rows at last: give it the mature ones only, and ``as_of``.

    The cost is O(n) time for each period.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.model_selection import PeriodSplit
    >>> entered = np.arange("2024-03-01", "2024-03-13", dtype="datetime64[D]")
    >>> splitter = PeriodSplit(2, horizon=3)
    >>> for train, test in splitter.split(entered, groups=entered):
    ...     print(entered[train][-1], "|", *entered[test])
    2024-03-03 | 2024-03-06 2024-03-07
    2024-03-05 | 2024-03-08 2024-03-09
    """

    __metadata_request__split = {"groups": True}

    def __init__(self, period, *, horizon, train_for=None, start=None, as_of=None):
        self.period = check_duration("period", period)
        self.horizon = check_duration("horizon", horizon)
        self.train_for = None if train_for is None else check_duration("train_for", train_for)
        check_times(start=start, as_of=as_of)
        self.start = start
        self.as_of = as_of

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Generate indices of training and test rows, period by period.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; only their number is used.
        y : array-like of shape (n_samples,), default=None
            Ignored; exists for API compatibility.
        groups : array-like of shape (n_samples,)
            Time at which each row entered, in any order.

        Yields
        ------
        train : ndarray
            Indices of the training rows, ascending.
        test : ndarray
            Indices of the test rows, ascending.
        """
        rows = rows_in_time(self, groups, num_samples(X))
        for number in rows.periods:
            yield rows.split(self, number)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X : object, default=None
            Ignored; exists for API compatibility.
        y : object, default=None
            Ignored; exists for API compatibility.
        groups : array-like of shape (n_samples,)
            Time at which each row entered.

        Returns
        -------
        int
            Number of splits.
        """
        return len(rows_in_time(self, groups).periods)


class RowsInTime(NamedTuple):
    start: Any  # Of the first period: a number or a datetime
    entered: FloatArray  # (n,): In days from the start
    period_of: IntArray  # (n,): Number of the period in which a row is tested; -1 is none

    @property
    def periods(self) -> list[int]:
        """Numbers of the periods that are tested."""
        return [x for x in np.unique(self.period_of).tolist() if x >= 0]

    def split(self, splitter: PeriodSplit, number: int) -> tuple[IntArray, IntArray]:
        begin = number * splitter.period
        since = begin - self.entered - splitter.horizon
        train = np.flatnonzero((since >= 0.0) & (since <= (splitter.train_for or np.inf)))
        if not len(train):
            longer = "" if splitter.train_for is None else ", a longer train_for"
            raise ValueError(
                f"No row to train on was mature at {as_text(after(self.start, begin))}, the start"
                f" of a period, with horizon={splitter.horizon:g}: pass a later start{longer} or a"
                " shorter horizon."
            )
        return train, np.flatnonzero(self.period_of == number)


def rows_in_time(
    splitter: PeriodSplit, entered: Any, n: int | None = None, name: str = "groups"
) -> RowsInTime:
    if entered is None:
        raise ValueError(
            "PeriodSplit got no groups, the time at which each row entered: pass split(X, y,"
            " groups=entered); in a search fit(X, y, groups=entered) and in cross-validation"
            " params={'groups': entered}, after"
            " sklearn.set_config(enable_metadata_routing=True)."
        )
    times = check_times(**{name: entered, "start": splitter.start, "as_of": splitter.as_of})
    entered = times[name]
    if n is not None and len(entered) != n:
        raise ValueError(f"{name} has {len(entered)} times for {n} rows: pass one for each row.")
    start, end = (times[x][0] if x in times else None for x in ("start", "as_of"))
    if start is None:
        # From the beginning of a day, so that lists are of whole days.
        days = ceil(splitter.horizon + (splitter.train_for or splitter.period))
        first = entered.min()
        start = after(first.astype("M8[D]") if entered.dtype.kind == "M" else floor(first), days)
    end = entered.max() if end is None else end
    since, tested = (
        in_days(entered - start),
        in_days(np.asarray(end - entered)) >= splitter.horizon,
    )
    tested &= since >= 0.0
    if not tested.any():
        raise ValueError(
            f"No row that entered from {as_text(start)} on was mature at as_of={as_text(end)},"
            f" with horizon={splitter.horizon:g}: pass rows of more time, an earlier start or a"
            " shorter horizon."
        )
    period_of = np.where(tested, np.floor(since / splitter.period), -1).astype(np.intp)
    return RowsInTime(start, since, period_of)


def after(time: Any, days: float) -> Any:
    """The time so many days later."""
    if isinstance(time, np.datetime64):
        return time + np.timedelta64(round(days * 86_400_000_000), "us")
    return time + days


def as_text(time: Any) -> str:
    if isinstance(time, np.datetime64):
        return str(np.datetime_as_string(time, unit="auto"))
    return f"{time:g}"
