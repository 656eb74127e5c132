"""Curves of results, with their bands and lines of reference."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sklearn_rank.inference import calibration_at_top, net_benefit_curve, roc_band
from sklearn_rank.metrics import precision_at_top_curve
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


def vertices_of(band):
    return {tuple(point) for point in band.get_xy().tolist()}


def test_precision_from_the_top():
    position, precision = precision_at_top_curve(Y, PROB["a"])
    display = CurveDisplay.from_result((position, precision), name="a")
    x, y = display.line_.get_data()
    np.testing.assert_array_equal([x, y], [position, precision])
    assert display.ax_.get_xscale() == "log"
    assert set(display.references_["base rate"].get_ydata()) == {0.4}
    assert display.bands_ == {}
    assert legend_of(display) == ["a", "base rate"]


def test_calibration_at_the_top():
    tops = {name: calibration_at_top(Y, prob, level=0.9) for name, prob in PROB.items()}
    display = CurveDisplay.from_result(tops)
    for name, top in tops.items():
        np.testing.assert_array_equal(display.lines_[name].get_data(), [top.k, top.observed])
        edges = {*zip(top.k.tolist(), top.low), *zip(top.k.tolist(), top.high)}  # noqa: B905
        assert vertices_of(display.bands_[name]) == edges
    mean = display.references_["mean probability"]
    np.testing.assert_array_equal(mean.get_data(), [top.k, top.predicted])
    assert mean.get_color() == display.line_.get_color()
    assert legend_of(display) == ["a", "b", "c", "90 % limits at each k", "mean probability"]


@pytest.mark.parametrize("standardized", [True, False])
def test_net_benefit(standardized):
    curve = net_benefit_curve(
        Y, PROB["a"], thresholds=np.arange(9) / 10, standardized=standardized
    )
    display = CurveDisplay.from_result(curve)
    np.testing.assert_array_equal(display.line_.get_data(), [curve.threshold, curve.net_benefit])
    for name, values in (("treat all", curve.treat_all), ("treat none", [0, 0])):
        np.testing.assert_array_equal(display.references_[name].get_ydata(), values)
    low, high = display.ax_.get_ylim()
    assert curve.high.max() < high < 1.1 * max(curve.high.max(), curve.treat_all[0])
    assert low == pytest.approx(-0.15 * high)
    name = "Standardized net benefit" if standardized else "Net benefit"
    assert display.ax_.get_ylabel() == name
    assert legend_of(display)[0] == name


def test_roc_curve_with_its_band():
    band = roc_band([0, 0, 1, 1, 0], [1, 2, 2, 3, 0])
    display = CurveDisplay.from_result(band, linestyle=":")
    np.testing.assert_array_equal(display.line_.get_data(), [band.fpr, band.tpr])
    assert display.line_.get_linestyle() == ":"
    corners = {tuple(x) for x in np.concatenate([band.upper, band.lower], axis=1).T.tolist()}
    assert vertices_of(display.bands_[""]) == corners
    assert display.ax_.get_aspect() == 1.0
    assert legend_of(display) == ["AUC = 0.92", "95 % band for the whole curve", "chance"]
    assert CurveDisplay.from_result({"a": band}).line_.get_label() == "a (AUC = 0.92)"


@every_result
def test_bands_are_left_out(kind):
    display = CurveDisplay.from_result(RESULTS[kind](Y, PROB["a"]), band=False)
    assert display.bands_ == {}
    assert not display.ax_.patches


@every_result
def test_curves_one_after_the_other_are_those_of_a_dict(kind):
    _, (left, right) = plt.subplots(1, 2)
    # What is written on the axes beforehand changes nothing.
    left.set(xlabel="mine", ylabel="mine")
    found = {name: RESULTS[kind](Y, prob) for name, prob in PROB.items()}
    for name, result in found.items():
        one = CurveDisplay.from_result(result, name=name, ax=left, band=False)
    assert one.ax_ is left
    together = CurveDisplay.from_result(found, ax=right, band=False)
    assert legend_of(one) == legend_of(together)
    lines = [
        [(line.get_color(), line.get_label(), *line.get_data()) for line in ax.lines]
        for ax in (left, right)
    ]
    for (*texts, x, y), (*others, along, values) in zip(*lines, strict=True):
        assert texts[0] == others[0]
        np.testing.assert_array_equal([x, y], [along, values])
    assert left.get_ylim() == right.get_ylim()
    assert [line.get_color() for line in together.lines_.values()] == list(COLORS[:3])


def test_one_figure_is_made_where_no_axes_are_given():
    display = CurveDisplay.from_result(roc_band(Y, PROB["a"]))
    assert plt.get_fignums() == [display.figure_.number]
    CurveDisplay.from_result(roc_band(Y, PROB["b"]), name="b", ax=display.ax_)
    (legend,) = display.figure_.legends
    assert len(legend.get_texts()) == 4
    assert display.plot() is display
    assert len(plt.get_fignums()) == 2


@pytest.mark.parametrize(
    ("result", "options", "error", "message"),
    [
        ({}, {}, ValueError, "at least one result"),
        ({"a": roc_band(Y, PROB["a"])}, {"name": "b"}, ValueError, "a dict has names"),
        ([1, 2], {}, TypeError, "list is no curve: pass the result of roc_band"),
        (
            {"a": roc_band(Y, PROB["a"]), "b": calibration_at_top(Y, PROB["a"])},
            {},
            ValueError,
            "of one kind",
        ),
        (roc_band(Y, PROB["a"]), {"band": 1}, TypeError, "band=1"),
    ],
)
def test_what_is_no_curve(result, options, error, message):
    with pytest.raises(error, match=message):
        CurveDisplay.from_result(result, **options)


def test_without_matplotlib_there_is_a_message(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"Drawing .*matplotlib"):
        CurveDisplay.from_result(roc_band(Y, PROB["a"]))
