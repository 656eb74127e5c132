"""Several intervals one below the other."""

import numpy as np
import pytest

from sklearn_rank.inference import Comparison, Interval, compare, metric_interval
from sklearn_rank.metrics import make_measure
from sklearn_rank.plotting import IntervalsDisplay
from tests.naming import for_each

from .lists import queries, words


def test_intervals_one_a_row():
    intervals = {
        "one": Interval(0.8, 0.7, 0.85, 0.95, "t", "AUC"),
        "two": Interval(0.6, 0.5, 0.75, 0.95, "t", "AUC"),
    }
    display = IntervalsDisplay.from_result(intervals, reference=0.5)
    for row, (bar, interval) in enumerate(zip(display.bars_, intervals.values(), strict=True)):
        (segment,) = bar.lines[2][0].get_segments()
        np.testing.assert_allclose(segment, [[interval.low, row], [interval.high, row]])
    assert display.ax_.get_xlabel() == "AUC (95 %, t)"
    words = [text.get_text() for text in display.ax_.texts]
    assert words == ["0.800 [0.700, 0.850]", "0.600 [0.500, 0.750]"]


def test_intervals_that_differ_or_have_no_end():
    display = IntervalsDisplay.from_result(
        {
            "one": Interval(0.8, -np.inf, 0.85, 0.95, "t", "AUC"),
            "two": Interval(0.6, 0.5, 0.75, 0.9, "bca", "MAP"),
        }
    )
    assert display.ax_.get_xlabel() == "estimate"
    (segment,) = display.bars_[0].lines[2][0].get_segments()
    assert -np.inf < segment[0, 0] < display.ax_.get_xlim()[0]
    with pytest.raises(ValueError, match="intervals is empty"):
        IntervalsDisplay({}).plot()


def test_the_reference_is_marked_and_within_the_axes():
    display = IntervalsDisplay.from_result(
        {"one": Interval(0.8, 0.7, 0.85, 0.95, "t", "AUC")}, reference=0.2, color="red"
    )
    assert set(display.reference_.get_xdata()) == {0.2}
    assert display.margins_ == []
    low, high = display.ax_.get_xlim()
    assert low < 0.2 < 0.85 < high
    assert display.bars_[0].lines[0].get_color() == "red"


def test_intervals_of_a_measure_of_ones_own():
    def first_gain(y_true, y_score):
        return y_true[np.argmax(y_score)]

    measure = make_measure(first_gain, kind="graded", range=(0, 2), name="gain of the first")
    grade, scores, qid = queries()
    intervals = {
        name: metric_interval(measure, grade, score, qid=qid) for name, score in scores.items()
    }
    display = IntervalsDisplay.from_result(intervals)
    assert display.intervals == intervals
    assert words(display.ax_.get_yticklabels()) == ["good", "bad"]
    for row, interval in enumerate(intervals.values()):
        assert display.bars_[row].lines[0].get_xdata()[0] == interval.estimate


def test_one_point_without_width_has_axes():
    display = IntervalsDisplay.from_result({"one": Interval(1.0, 1.0, 1.0, 0.95, "t", "AUC")})
    low, high = display.ax_.get_xlim()
    assert low < 1.0 < high


def comparison(n=2, **changed):
    of_rankers = {"values": (0.8, 0.75, 0.7), "standard_errors": (0.02, 0.03, 0.03)}
    of_contrasts = {
        "contrasts": ("new - old", "new - older")[:n],
        "differences": (0.05, 0.1)[:n],
        "low": (0.01, 0.03)[:n],
        "high": (0.09, 0.17)[:n],
        "statistics": (2.1, 3.0)[:n],
        "pvalues": (0.04, 0.003)[:n],
    }
    said = {
        "measure": "auc",
        "names": ("new", "old", "older"),
        "level": 0.95,
        "alternative": "two-sided",
        "margin": None,
        "method": "max-t",
        "target": "auc",
        "hypothesis": "equal auc",
    }
    return Comparison(**{**of_rankers, **of_contrasts, **said, **changed})


def test_a_comparison_has_a_row_for_each_contrast_and_a_line_at_0():
    display = IntervalsDisplay.from_result(comparison())
    assert words(display.ax_.get_yticklabels()) == ["new - old", "new - older"]
    assert words(display.ax_.texts) == ["0.050 [0.010, 0.090]", "0.100 [0.030, 0.170]"]
    assert display.ax_.get_xlabel() == "difference of auc (95 %, max-t, simultaneous)"
    assert set(display.reference_.get_xdata()) == {0.0}
    assert display.margins_ == []
    assert display.plot().reference_ is not None
    alone = IntervalsDisplay.from_result(comparison(1), reference=0.02)
    assert alone.ax_.get_xlabel() == "difference of auc (95 %, max-t)"
    assert alone.reference == 0.02


@pytest.mark.parametrize(
    ("alternative", "greater_is_better", "margins"),
    [
        ("equivalent", True, (-0.3, 0.3)),
        ("two-sided", True, (-0.3, 0.3)),
        ("non-inferior", True, (-0.3,)),
        ("non-inferior", False, (0.3,)),
    ],
)
def test_the_margin_of_a_comparison_is_marked(alternative, greater_is_better, margins):
    found = comparison(alternative=alternative, margin=0.3, greater_is_better=greater_is_better)
    display = IntervalsDisplay.from_result(found)
    assert tuple(line.get_xdata()[0] for line in display.margins_) == margins
    low, high = display.ax_.get_xlim()
    assert all(low < margin < high for margin in margins)
    assert IntervalsDisplay.from_result(found, margins=0.2).margins == (0.2,)


def test_one_interval_needs_a_name():
    with pytest.raises(TypeError, match=r"pass \{'name': interval\}"):
        IntervalsDisplay.from_result(comparison(1).interval)


def by_numbers(*limits):
    return {
        number: Interval((low + high) / 2, low, high, 1.0, "bounds", f"AUC, at most {number}")
        for number, low, high in limits
    }


def test_intervals_by_numbers_are_a_band():
    found = by_numbers((0.5, 0.4, 0.9), (0, 0.7, 0.8), (0.2, 0.6, np.inf))
    display = IntervalsDisplay.from_result(found, reference=0.5, margins=0.3)
    vertices = {tuple(point) for point in display.band_.get_paths()[0].vertices.round(9).tolist()}
    assert {(0.0, 0.7), (0.0, 0.8), (0.2, 0.6), (0.5, 0.4), (0.5, 0.9)} < vertices
    low, high = display.ax_.get_ylim()
    assert low < 0.3 < 0.9 < high == pytest.approx(max(y for _, y in vertices))
    assert display.bars_ == []
    assert set(display.reference_.get_ydata()) == {0.5}
    assert [set(line.get_ydata()) for line in display.margins_] == [{0.3}]
    assert display.ax_.get_ylabel() == "AUC (100 %, bounds)"
    assert display.clear_up_to == 0.2
    assert set(display.mark_.get_xdata()) == {0.2}
    assert words(display.ax_.texts) == [" 0.5 is outside up to 0.2 "]


@for_each(
    ("limits", "end"),
    [
        ([(1, 0.1, 0.2), (2, 0.1, 0.3), (3, -0.1, 0.3), (4, 0.1, 0.2)], 2.0),
        ([(1, 0.1, 0.2), (2, 0.0, 0.3)], 1.0),  # a limit at the reference does not exclude it
        ([(1, 0.1, 0.2), (2, -0.3, -0.1)], 1.0),  # the other side is another conclusion
        ([(1, -0.2, -0.1), (2, -0.3, -0.1)], 2.0),
        ([(1, -0.2, 0.1), (2, 0.1, 0.2)], None),
    ],
)
def test_a_conclusion_holds_up_to_the_first_limits_with_the_reference(limits, end):
    display = IntervalsDisplay.from_result(by_numbers(*limits), reference=0)
    assert display.clear_up_to == end
    assert (display.mark_ is None) == (end is None)
    assert IntervalsDisplay(by_numbers(*limits)).clear_up_to is None


@pytest.mark.parametrize("key", ["all", None, np.nan])
def test_keys_are_names_or_numbers(key):
    found = by_numbers((1, 0.1, 0.2))
    with pytest.raises(TypeError, match=f"intervals has the key {key!r}: pass names"):
        IntervalsDisplay.from_result({**found, key: found[1]})


def test_a_table_of_several_questions_has_a_row_for_each():
    y = np.tile([1, 0, 0, 1, 0], 20)
    scores = {name: y + np.random.default_rng(i).normal(size=100) for i, name in enumerate("ab")}
    found = compare(["auc", "recall@20"], y, scores, random_state=0)
    display = IntervalsDisplay.from_result(found)
    assert list(display.intervals) == ["auc", "recall@20"]
    for name, row in display.intervals.items():
        assert (row.low, row.high) == (found[name].band.low, found[name].band.high)
    assert display.reference == 0.0
    assert display.ax_.get_xlabel().endswith("(95 %, all together)")
    segment = np.where(np.arange(100) < 96, "most", "none")
    y[96:] = 0
    by = metric_interval("recall@20", y, scores["a"], by=segment, random_state=0)
    display = IntervalsDisplay.from_result(by)
    assert list(display.intervals)[:2] == ["most, own rows", "most, all rows"]
    assert "no value" in words(display.ax_.texts)
    assert display.reference is None
