"""Several intervals one below the other."""

import numpy as np
import pytest

from sklearn_rank.inference import Interval, metric_interval
from sklearn_rank.metrics import make_measure
from sklearn_rank.plotting import IntervalsDisplay

from .lists import queries, words


def test_intervals_one_a_row():
    intervals = {
        "one": Interval(0.8, 0.7, 0.85, 0.95, "t", "AUC"),
        "two": Interval(0.6, 0.5, 0.75, 0.95, "t", "AUC"),
    }
    display = IntervalsDisplay.from_intervals(intervals, reference=0.5)
    for row, (bar, interval) in enumerate(zip(display.bars_, intervals.values(), strict=True)):
        (segment,) = bar.lines[2][0].get_segments()
        np.testing.assert_allclose(segment, [[interval.low, row], [interval.high, row]])
    assert display.ax_.get_xlabel() == "AUC (95 %, t)"
    words = [text.get_text() for text in display.ax_.texts]
    assert words == ["0.800 [0.700, 0.850]", "0.600 [0.500, 0.750]"]


def test_intervals_that_differ_or_have_no_end():
    display = IntervalsDisplay.from_intervals(
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
    display = IntervalsDisplay.from_intervals(
        {"one": Interval(0.8, 0.7, 0.85, 0.95, "t", "AUC")}, reference=0.2, color="red"
    )
    (line,) = [line for line in display.ax_.lines if len(set(line.get_xdata())) == 1][:1]
    assert set(line.get_xdata()) == {0.2}
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
    display = IntervalsDisplay.from_intervals(intervals)
    assert display.intervals == intervals
    assert words(display.ax_.get_yticklabels()) == ["good", "bad"]
    for row, interval in enumerate(intervals.values()):
        assert display.bars_[row].lines[0].get_xdata()[0] == interval.estimate


def test_one_point_without_width_has_axes():
    display = IntervalsDisplay.from_intervals({"one": Interval(1.0, 1.0, 1.0, 0.95, "t", "AUC")})
    low, high = display.ax_.get_xlim()
    assert low < 1.0 < high
