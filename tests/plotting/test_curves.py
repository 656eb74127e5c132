"""Curves of a measure and of its differences, with their bands."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from sklearn_rank.inference import curve, metric_interval
from sklearn_rank.metrics import get_measure
from sklearn_rank.plotting import CurveDisplay
from sklearn_rank.plotting._common import COLORS

from .lists import RESULTS, legend_of

RNG = np.random.default_rng(0)
Y = np.tile([1, 0, 0, 1, 0], 20)
PROB = {name: 1 / (1 + np.exp(-Y * RNG.uniform(0.5, 2) - RNG.normal(size=100))) for name in "abc"}

every_result = pytest.mark.parametrize("kind", RESULTS)


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    plt.close("all")


@every_result
def test_what_is_drawn_is_the_table(kind):
    found = RESULTS[kind](Y, PROB)
    display = CurveDisplay.from_result(found)
    frame = found.to_frame()
    assert list(display.lines_) == list("abc")
    for name, of_one in frame.groupby("ranker"):
        np.testing.assert_array_equal(
            display.lines_[name].get_data(), [of_one["at"], of_one.estimate]
        )
        corners = {tuple(x) for x in display.bands_[name].get_paths()[0].vertices.tolist()}
        for limits in (of_one.band_low, of_one.band_high):
            assert set(zip(of_one["at"], limits, strict=True)) <= corners
    assert [line.get_color() for line in display.lines_.values()] == list(COLORS[:3])
    assert len(display.ax_.collections) == 6  # Limits of all places, and of each
    assert legend_of(display)[:5] == [*"abc", "95 % for all places", "95 % for each (darker)"]
    bare = CurveDisplay.from_result(found, band=False)
    assert bare.bands_ == {}
    assert not bare.ax_.collections


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("top", ["Items from the top (log scale)", "precision@k"]),
        ("calibration", ["Items from the top (log scale)", "calibration@k"]),
        ("benefit", ["Threshold probability", "net_benefit"]),
        ("roc", ["False positive rate", "tpr@fpr"]),
    ],
)
def test_axes_say_what_they_are(kind, texts):
    display = CurveDisplay.from_result(RESULTS[kind](Y, PROB["a"]), linestyle=":")
    assert [display.ax_.get_xlabel(), display.ax_.get_ylabel()] == texts
    assert (display.ax_.get_xscale() == "log") == (kind in ("top", "calibration"))
    assert display.lines_["scores"].get_linestyle() == ":"
    assert legend_of(display)[0] == texts[1]


def test_lines_to_compare_with():
    top = CurveDisplay.from_result(RESULTS["top"](Y, PROB["a"]))
    assert set(top.references_["random order"].get_ydata().round(12)) == {0.4}
    roc = CurveDisplay.from_result(RESULTS["roc"](Y, PROB["a"]))
    x, y = roc.references_["random order"].get_data()
    # The first negative beyond a tenth of 60 is number 7, before which 7 of 61 positives stand.
    np.testing.assert_allclose(y, (np.floor(60 * np.array(x) + 1e-9) + 1) / 61)
    benefit = CurveDisplay.from_result(RESULTS["benefit"](Y, PROB["a"]))
    x, y = benefit.references_["act on all"].get_data()
    np.testing.assert_allclose(y, 0.4 - 0.6 * np.array(x) / (1 - np.array(x)), atol=1e-12)
    low, high = benefit.ax_.get_ylim()
    assert -0.2 * high < low < 0.0
    assert set(CurveDisplay.from_result(RESULTS["calibration"](Y, PROB["a"])).references_) == {"0"}
    standardized = get_measure("net_benefit@0.1", standardized=True)
    found = curve(standardized, Y, PROB["a"], at=[0.2, 0.7], random_state=0)
    assert found.references["act on all"] == pytest.approx([1 - 1.5 / 4, 1 - 1.5 * 7 / 3])
    frame = found.to_frame()
    assert frame["act on all"].tolist() == list(found.references["act on all"])


def test_differences_have_the_ranges_where_one_is_better():
    score = Y + np.random.default_rng(1).normal(size=100)
    models = {"good": score, "bad": -score}
    found = curve("recall@k", Y, models, baseline="bad", at=[1, 10, 30, 60], random_state=0)
    display = CurveDisplay.from_result(found)
    assert [list(line.get_xdata()) for line in display.ranges_] == [[10, 60]]
    assert display.ranges_[0].get_color() == display.lines_["good - bad"].get_color()
    assert set(display.references_) == {"0"}
    assert legend_of(display)[0] == found.conclusions[0]
    assert display.ax_.get_ylabel() == "difference of recall@k"


def test_chosen_places_are_marked_and_listed():
    found = RESULTS["top"](Y, {name: PROB[name] for name in "ab"})
    display = CurveDisplay.from_result(found, table=[10, 37])
    lines = display.table_.get_text().splitlines()
    assert len(lines) == 5
    for line, (place, name) in zip(
        lines[1:], [(10, "a"), (10, "b"), (37, "a"), (37, "b")], strict=True
    ):
        one = found[name].at(place)
        limits = f"[{one.low:.3f}, {one.high:.3f}]"
        assert line.split(maxsplit=3) == [f"{place}", name, f"{one.estimate:.3f}", limits]
    assert [bar.lines[0].get_xdata()[0] for bar in display.ax_.containers] == [10, 10, 37, 37]
    with pytest.raises(ValueError, match="place=200 is outside of the curve"):
        CurveDisplay.from_result(found, table=200)


def test_curves_go_on_in_other_colours_on_the_same_axes():
    display = CurveDisplay.from_result(RESULTS["top"](Y, PROB["a"]))
    assert plt.get_fignums() == [display.figure_.number]
    other = CurveDisplay.from_result(RESULTS["top"](Y, PROB["b"]), ax=display.ax_)
    assert to_hex(other.lines_["scores"].get_color()).upper() == COLORS[1]
    assert len(display.figure_.legends) == 1
    assert display.plot() is display
    assert len(plt.get_fignums()) == 2


def test_limits_without_an_end_leave_the_axes():
    y, p = [1, 0, 0, 1], [0.4, 0.3, 0.2, 0.1]
    measure = get_measure("net_benefit@0.1", standardized=True)
    found = curve(measure, y, p, groups=[0, 0, 1, 1], at=[0.15, 0.25], random_state=0)
    assert found.to_frame().band_low.min() == -np.inf
    display = CurveDisplay.from_result(found)
    low, high = display.ax_.get_ylim()
    assert -5 < low < high < 5
    assert {x for x, _ in display.bands_["scores"].get_paths()[0].vertices} == {0.15, 0.25}


@pytest.mark.parametrize(
    ("result", "options", "error", "message"),
    [
        ([1, 2], {}, TypeError, "list is no curve: pass the result of"),
        (metric_interval(["auc", "ap"], Y, PROB["a"]), {}, TypeError, "Intervals is no curve"),
        (RESULTS["roc"](Y, PROB["a"]), {"band": 1}, TypeError, "band=1"),
    ],
)
def test_what_is_no_curve(result, options, error, message):
    with pytest.raises(error, match=message):
        CurveDisplay.from_result(result, **options)


def test_without_matplotlib_there_is_a_message(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"Drawing .*matplotlib"):
        CurveDisplay.from_result(RESULTS["roc"](Y, PROB["a"]))


def test_what_has_no_line_to_compare_with_is_drawn_without():
    weight = np.linspace(1, 2, 100)
    qid = np.arange(100) // 10
    for found in (
        curve("lift", Y, PROB["a"], at=[0.1, 0.5], sample_weight=weight, weights="sampling"),
        curve("ndcg@k", Y, PROB, at=[1, 5], qid=qid),
        curve("accuracy_loss@top", Y, PROB["a"], at=[0.1, 0.5]),
    ):
        assert CurveDisplay.from_result(found).references_ == {}
