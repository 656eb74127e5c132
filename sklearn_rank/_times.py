"""Columns of times: numbers, dates and timestamps of NumPy, pandas, polars and Python, checked."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from ._typing import AnyArray, FloatArray
from ._validation import (
    Coded,
    are_missing,
    check_column,
    check_number,
    check_numbers,
    is_number,
    reads_as,
    shown,
)

# Days, or hours, of no log are as many; numbers such as 20240131 and seconds since 1970 are more.
MOST_DAYS = 1e7

# What the values of a column are; those of different kinds cannot be subtracted.
NUMBERS, LOCAL, ZONED = "numbers", "times without a time zone", "times with a time zone"


def check_times(*, may_lack: tuple[str, ...] = (), **columns: Any) -> dict[str, AnyArray]:
    """Columns of times as numbers, or as datetimes of NumPy, in UTC if they have a time zone.

    Those that are None are left out; all others are of one kind. A time may be missing in columns
    of ``may_lack`` only; a single time is a column of one.
    """
    found: dict[str, AnyArray] = {}
    kinds: dict[str, str] = {}
    for name, values in columns.items():
        if values is None:
            continue
        is_one = is_number(values) or isinstance(values, str | date | np.datetime64)
        found[name], kinds[name] = _as_times(name, [values] if is_one else values)
        if kinds[name] == NUMBERS:
            _refuse_coded(name, found[name])
        missing = are_missing(found[name])
        if missing.any() and name not in may_lack:
            raise ValueError(
                f"{name} has no time at row {int(np.argmax(missing))}: pass a time for each row,"
                " or leave the row out."
            )
        # A column of missing values is of any kind.
        others = [x for x in kinds if kinds[x] != kinds[name] and not are_missing(found[x]).all()]
        if others and not missing.all():
            raise ValueError(
                f"{others[0]} holds {kinds[others[0]]}, but {name} holds {kinds[name]}: pass both"
                " as numbers of days, or both as times, either with a time zone or without one."
            )
    kind = next((x.dtype for x in found.values() if not are_missing(x).all()), None)
    return {
        name: x if x.dtype == kind else _all_missing(len(x), kind) for name, x in found.items()
    }


def _refuse_coded(name: str, numbers: FloatArray) -> None:
    """Refuse numbers that are dates such as 20240131, or seconds since 1970, and no days."""
    coded = np.isfinite(numbers) & (np.abs(numbers) >= MOST_DAYS)
    if coded.any():
        row = int(np.argmax(coded))
        raise ValueError(
            f"{name} is {numbers[row]:.0f} at row {row}, no number of days: pass times, such as"
            " pandas.to_datetime(column, format='%Y%m%d') of dates that are written as numbers, or"
            " pandas.to_datetime(column, unit='s') of seconds since 1970."
        )


def _all_missing(n: int, dtype: Any) -> AnyArray:
    return np.full(n, "NaT" if dtype is not None and dtype.kind == "M" else np.nan, dtype)


def _as_times(name: str, values: Any) -> tuple[AnyArray, str]:
    """A column as numbers or datetimes, and what it holds."""
    dtype = getattr(values, "dtype", None)
    zone = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)
    column = np.asarray(values, "datetime64[us]") if zone else check_column(name, values)
    if column.dtype.kind == "M":
        return column.astype("datetime64[us]"), ZONED if zone else LOCAL
    if column.dtype.kind not in "OSU" or are_missing(column).all():
        return check_numbers(name, column).astype(np.float64), NUMBERS
    missing = are_missing(column.astype(object))
    read = [
        _read_time(name, x, int(row))
        for row, x in zip(np.flatnonzero(~missing), column[~missing], strict=True)
    ]
    if all(map(is_number, read)):
        return check_numbers(name, column).astype(np.float64), NUMBERS
    zoned = {isinstance(x, datetime) and x.tzinfo is not None for x in read}
    if any(map(is_number, read)) or len(zoned) > 1:
        what = (
            "numbers and times"
            if any(map(is_number, read))
            else "times with and without a time zone"
        )
        raise ValueError(f"{name} mixes {what}: pass all of its rows in one way.")
    times = np.full(len(column), "NaT", "datetime64[us]")
    times[~missing] = [
        x.astimezone(UTC).replace(tzinfo=None) if True in zoned else x for x in read
    ]
    return times, ZONED if True in zoned else LOCAL


def _read_time(name: str, value: Any, row: int) -> Any:
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass
    elif is_number(value) or isinstance(value, date):
        return value
    raise ValueError(
        f"{name} is {shown(value)} at row {row}, which is no time: pass numbers of days, dates,"
        " timestamps, or texts such as '2024-01-31' or '2024-01-31 13:45'."
    )


# Dates and months as texts, whole numbers such as 20240131, and dates as they are not read.
DATE = re.compile(r"(19|20)\d\d(\d{4}|-\d\d(-\d\d([T ].*)?)?)")
OTHER_DATE = re.compile(
    r"\d\d?([./ -])(\d\d?|[A-Za-z]{3,9})\1(19|20)\d\d( .*)?|(19|20)\d\d[./]\d\d?[./]\d\d?( .*)?"
)


def day_of(text: str) -> str:
    """A date as it is, and the first day of a month."""
    return f"{text}-01" if len(text) == len("2024-01") else text


def hold_times(ids: Any) -> bool:
    """Whether ids are dates or timestamps, as the first one is, or are all written as dates."""
    ids = ids.distinct if isinstance(ids, Coded) else ids
    try:
        first = np.asarray(ids[:1]).ravel()
    except (IndexError, TypeError):  # of a single id
        return False
    if first.dtype.kind == "M" or any(isinstance(x, date) for x in first):
        return True
    text = "".join(map(str, first))
    if OTHER_DATE.fullmatch(text) and all(map(OTHER_DATE.fullmatch, {*map(str, ids)})):
        raise ValueError(
            f"Ids are dates such as {text!r}: write them as 2024-01-31, as pandas.to_datetime"
            " does, with dayfirst if the day comes first."
        )
    return bool(DATE.fullmatch(text)) and all(
        DATE.fullmatch(x) and reads_as(datetime.fromisoformat, day_of(x)) for x in {*map(str, ids)}
    )


def check_duration(name: str, value: Any) -> float:
    """A positive length of time in days, or in the unit of times that are numbers."""
    if isinstance(value, np.timedelta64) and np.datetime_data(value.dtype)[0] in "YM":
        raise ValueError(f"{name} is {value}, of which no two are of one length: pass it in days.")
    if isinstance(value, np.timedelta64 | timedelta):
        value = float(np.timedelta64(value) / np.timedelta64(1, "D"))
    return check_number(name, value, 0.0, closed="neither", what="in days, or as a timedelta")


def in_days(lengths: AnyArray) -> FloatArray:
    """Differences of times in days, NaN where one is missing; numbers as they are."""
    if lengths.dtype.kind == "m":
        return np.asarray(lengths / np.timedelta64(1, "D"))
    return lengths


def last_time(*columns: AnyArray) -> AnyArray:
    """The last time in the data, of which we know that it has come, as a column of one."""
    last = np.fmax.reduce(np.concatenate(columns), keepdims=True)
    if last.dtype.kind == "M":
        # A day more than the largest time zone.
        to_come = last[0] > np.datetime64("now") + np.timedelta64(2, "D")
    else:
        to_come = np.isinf(last[0])
    if to_come:
        raise ValueError(
            f"The last time in the data is {last[0]}, which is yet to come: pass as_of, the day on"
            " which you look, and no time as resolved for rows that are open."
        )
    return last
