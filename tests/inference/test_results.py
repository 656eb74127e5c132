"""The result of comparisons: entries by contrast, what is printed, the data frame."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_rank.inference import Comparison

FOUND = Comparison(
    measure="auc",
    names=("a", "b - c", "d"),
    values=(0.9, 0.8, np.float64(0.7)),
    standard_errors=(0.01, 0.02, float("nan")),
    contrasts=("a - b - c", "a - d", "half"),
    differences=(0.1, 0.2, -0.05),
    low=(0.05, -0.1, -0.1),
    high=(0.15, 0.5, 0.0),
    statistics=(4.0, 1.3, -2.0),
    pvalues=(0.001, 0.3, 0.05),
    level=0.95,
    alternative="two-sided",
    margin=None,
    method="max-t",
    target="auc on 100 items, 10 positive",
    hypothesis="equal auc",
    difference_errors=(0.025, 0.15, 0.025),
)


def test_a_contrast_alone():
    assert (len(FOUND), list(FOUND)) == (3, ["a - b - c", "a - d", "half"])
    assert "a - d" in FOUND
    one = FOUND["a - d"]
    assert (one.names, one.values) == (("a", "d"), (0.9, 0.7))
    assert type(one.values[1]) is float
    assert (one.estimate, one.statistic, one.pvalue) == (0.2, 1.3, 0.3)
    assert one["a - d"] is one
    assert one.method == "max-t, one of 3 contrasts"
    interval = one.interval
    assert (interval.low, interval.high, interval.level) == (-0.1, 0.5, 0.95)
    assert interval.standard_error == 0.15
    assert interval.target == "difference of auc on 100 items, 10 positive"
    # A name with the sign in it, and a contrast that is no pair.
    assert FOUND["a - b - c"].names == ("a", "b - c")
    assert FOUND["half"].names == FOUND.names
    assert FOUND.pvalue == 0.001


def test_what_takes_one_contrast():
    for name in ("estimate", "statistic", "interval"):
        with pytest.raises(
            AttributeError, match=rf"{name} is defined for one .* found\['a - b - c'\]"
        ):
            getattr(FOUND, name)
    with pytest.raises(KeyError, match="'d - a' is not among the contrasts: 'a - b - c', 'a - d'"):
        FOUND["d - a"]
    with pytest.raises(ValueError, match="must have a value and a standard error for each"):
        replace(FOUND, values=(1.0,))
    with pytest.raises(ValueError, match="one entry for each contrast"):
        replace(FOUND, pvalues=(1.0,))


def test_what_is_printed():
    text = str(FOUND)
    assert text.splitlines()[:2] == [
        "auc on 100 items, 10 positive",
        "hypothesis: equal auc; two-sided; max-t; level 95 %; adjusted for 3 contrasts",
    ]
    assert "a - d         +0.2000  [-0.1000, +0.5000]    0.3  no difference shown" in text
    assert FOUND.conclusions == ("a better", "no difference shown", "below 0")
    assert replace(FOUND, greater_is_better=False).conclusions[0] == "b - c better"
    html = replace(FOUND, contrasts=("a - b - c", "a - d", "<half>"))._repr_html_()
    assert html.count("<table ") == 2
    assert "&lt;half&gt;</th>" in html
    many = replace(
        FOUND,
        contrasts=tuple(f"{i}" for i in range(99)),
        difference_errors=(),
        **dict.fromkeys(("differences", "low", "high", "statistics", "pvalues"), (0.5,) * 99),
    )
    assert str(many).splitlines()[-1] == "and 59 contrasts more, all in to_frame()"
    assert "0.7000  \n" not in text


def test_margins_in_words():
    non_inferior = replace(
        FOUND, alternative="non-inferior", margin=0.12, pvalues=(0.001, 0.04, 1.0)
    )
    assert non_inferior.conclusions == (
        "a not worse by 0.12 or more: shown; better: shown",
        "a not worse by 0.12 or more: shown; better: not shown",
        "not worse by 0.12 or more: not shown; better: not shown",
    )
    turned = replace(non_inferior, greater_is_better=False, high=(0.15, -0.01, 0.0))
    assert turned.conclusions[0].endswith("better: not shown")
    assert turned.conclusions[1].endswith("better: shown")
    equivalent = replace(FOUND, alternative="equivalent", margin=0.2)
    assert equivalent.conclusions[::2] == ("equal within 0.2: shown", "equal within 0.2: shown")
    # Each limit has the level of the test by itself.
    assert equivalent["a - d"].interval.level == pytest.approx(0.9)
    assert "90 % interval" in str(equivalent)


def test_a_row_for_each_contrast():
    pandas = pytest.importorskip("pandas")
    frame = FOUND.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert tuple(frame.index) == FOUND.contrasts
    assert frame.loc["a - d", "high"] == 0.5
    assert list(frame["conclusion"]) == list(FOUND.conclusions)
