"""Columns of times: every way to write them gives the same lengths, and mixtures are refused."""

import datetime

import numpy as np
import pandas as pd
import pytest

from sklearn_rank._times import check_duration, check_times, in_days
from tests.naming import for_each

TEXTS = ["2024-02-28 12:00", "2024-03-01 00:00"]
STAMPS = [datetime.datetime.fromisoformat(text) for text in TEXTS]


@for_each(
    "column",
    [
        TEXTS,
        STAMPS,
        np.array(TEXTS, "datetime64[m]"),
        pd.Series(pd.to_datetime(TEXTS)),
        pd.Series(pd.to_datetime(TEXTS)).dt.tz_localize("Europe/Berlin"),
        [x.astimezone(datetime.UTC) for x in STAMPS],
        [0.5, 2.0],
    ],
)
def test_lengths_of_time_are_the_same_however_times_are_written(column):
    first, second = check_times(entered=column, as_of=column[1])["entered"], column[1]
    later = check_times(entered=column, as_of=second)["as_of"]
    assert in_days(later - first).tolist() == [1.5, 0.0]


def test_polars_columns_are_times():
    polars = pytest.importorskip("polars")
    for zone in (None, "Europe/Berlin"):
        column = polars.Series(STAMPS).dt.replace_time_zone(zone)
        found = check_times(entered=column)["entered"]
        assert in_days(np.diff(found)).tolist() == [1.5]
    dates = polars.Series([STAMPS[0].date(), None])
    found = check_times(entered=dates.head(1), resolved=dates, may_lack=("resolved",))
    assert np.isnan(in_days(found["resolved"] - found["entered"])).tolist() == [False, True]


def test_a_column_without_any_time_is_of_the_kind_of_the_others():
    found = check_times(entered=TEXTS, resolved=[None, np.nan], may_lack=("resolved",))
    assert np.isnan(in_days(found["resolved"] - found["entered"])).all()


@for_each(
    ("columns", "message"),
    [
        ({"a": [1, 2], "b": TEXTS}, "a holds numbers, but b holds times without a time zone"),
        (
            {"a": STAMPS, "b": [x.astimezone(datetime.UTC) for x in STAMPS]},
            "a holds times without a time zone, but b holds times with a time zone",
        ),
        (
            {"a": [STAMPS[0], STAMPS[1].astimezone(datetime.UTC)]},
            "a mixes times with and without a time zone",
        ),
        ({"a": [1, STAMPS[0]]}, "a mixes numbers and times"),
        ({"a": ["2024-01-31", "last week"]}, "a is 'last week' at row 1, which is no time"),
        ({"a": [STAMPS[0], None]}, "a has no time at row 1"),
        ({"a": [20240131, 20240201]}, r"a is 20240131 at row 0, no number of days: .*%Y%m%d"),
        ({"a": [0, 1706659200]}, r"a is 1706659200 at row 1, no number of days: .*unit='s'"),
    ],
)
def test_times_that_cannot_be_subtracted_are_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        check_times(**columns)


def test_julian_days_are_days():
    found = check_times(entered=[2460340.5, 2460341.5])["entered"]
    assert in_days(np.diff(found)).tolist() == [1.0]


def test_durations():
    assert check_duration("horizon", pd.Timedelta("28D")) == 28.0
    assert check_duration("horizon", np.timedelta64(12, "h")) == 0.5
    assert check_duration("horizon", 3) == 3.0
    with pytest.raises(ValueError, match="horizon=0 must be a finite number greater than 0"):
        check_duration("horizon", 0)
    with pytest.raises(ValueError, match=r"horizon is 1 months, .* pass it in days"):
        check_duration("horizon", np.timedelta64(1, "M"))
