"""What is drawn can be read: in light and dark style, for few and many rankers, names and rows."""

import itertools
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Annotation

from sklearn_rank import plotting
from sklearn_rank.inference import Interval, compare
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.plotting import CurveDisplay, IntervalsDisplay, QueryDifferenceDisplay

from .lists import RESULTS, legend_of

# Least ratio of the luminances of a line or a text and of the background.
LEAST_CONTRAST = 2.0
REFERENCES = {"95 % for all places", "95 % for each (darker)", "random order", "act on all"}


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    plt.close("all")


def sample(n_rows, n_models, long):
    rng = np.random.default_rng(0)
    y = np.array([1, 0, 1]) if n_rows == 3 else np.tile([1, 0, 0, 1, 0], n_rows // 5)
    name = "ranker {:02d} whose name has forty letters !" if long else "r{}"
    return y, {
        name.format(number): 1 / (1 + np.exp(-y * rng.uniform(0.5, 2) - rng.normal(size=len(y))))
        for number in range(n_models)
    }


@cache
def result(kind, *drawn):
    return RESULTS[kind](*sample(*drawn))


def curves(kind):
    return lambda drawn, ax: CurveDisplay.from_result(result(kind, *drawn), ax=ax)


def intervals(drawn, ax):
    _, models = sample(*drawn)
    found = {
        name: Interval(score.mean(), score.mean() - 0.1, score.mean() + 0.1, 0.95, "t", "value")
        for name, score in models.items()
    }
    return IntervalsDisplay.from_result(found, reference=0.4, ax=ax)


def query_differences(drawn, ax):
    y, models = sample(*drawn)
    first, second = (list(models) * 2)[:2]
    qid = np.arange(len(y)) // 10
    scores = {first: models[first], f"{second}'": 1 - models[second]}
    found = compare("ndcg", y, scores, qid=qid)
    values = {name: ndcg_score(y, x, qid=qid, average=None) for name, x in scores.items()}
    return QueryDifferenceDisplay.from_result(found, values, ax=ax)


CURVES = {kind: curves(kind) for kind in RESULTS}
DISPLAYS = CURVES | {"intervals": intervals, "difference": query_differences}


def made(kind, n_rows=50, n_models=2, long=False, ax=None):
    return DISPLAYS[kind]((n_rows, n_models, long), ax)


def box_of(text, renderer):
    """Box of the words alone, without the arrow or the place that an annotation has."""
    if isinstance(text, Annotation):
        return plt.Text.get_window_extent(text, renderer)
    return text.get_window_extent(renderer)


def beyond_the_axis(axis):
    """Labels of ticks that are not drawn."""
    low, high = sorted(axis.get_view_interval())
    for minor in (False, True):
        places = axis.get_ticklocs(minor=minor)
        for label, place in zip(axis.get_ticklabels(minor=minor), places, strict=True):
            if not low <= place <= high:
                yield label


def texts_of(figure):
    """Texts that are seen, with their boxes in pixels."""
    renderer = figure.canvas.get_renderer()
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    unseen = set(itertools.chain.from_iterable(map(beyond_the_axis, axes)))
    return [
        (text, box_of(text, renderer))
        for text in figure.findobj(plt.Text)
        if text.get_text().strip() and text.get_visible() and text not in unseen
    ]


def overlap(one, other):
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return width > 1 and height > 1


@pytest.mark.parametrize(
    ("kind", "n_models", "style"),
    [
        *zip(DISPLAYS, itertools.repeat(12), itertools.cycle(["default", "dark_background"])),
        ("top", 1, "default"),
        ("difference", 1, "default"),
    ],
)
def test_no_text_is_cut_or_overlaps_and_all_stand_out(kind, n_models, style):
    with plt.style.context(style):
        display = made(kind, n_models=n_models, long=n_models > 1)
    figure = display.figure_
    figure.canvas.draw()
    shown = texts_of(figure)
    assert shown
    for text, box in shown:
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= figure.bbox.x1 + 1, text
        assert box.y1 <= figure.bbox.y1 + 1, text
    for (one, first), (other, second) in itertools.combinations(shown, 2):
        assert not overlap(first, second), (one.get_text(), other.get_text())
    if kind in CURVES:
        assert_the_legend_is_off_the_curves_and_ends_with_reference_lines(display, n_models)
    assert_lines_and_texts_stand_out_from_the_background(display)


def assert_the_legend_is_off_the_curves_and_ends_with_reference_lines(display, n_models):
    (legend,) = display.figure_.legends
    axes = display.ax_.get_window_extent()
    assert not overlap(legend.get_window_extent(), axes)
    # Nor does it take the height of the axes.
    assert axes.height > 2.0 * display.figure_.dpi
    texts = legend_of(display)
    n_references = sum(text in REFERENCES for text in texts)
    assert n_references > 0
    assert len(texts) == n_models + n_references
    assert all(text in REFERENCES for text in texts[n_models:])


def test_thirty_rankers_have_thirty_looks():
    display = made("roc", n_rows=20, n_models=30)
    lines = [line for line in display.ax_.lines if line.get_gid() == "curve"]
    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in lines}
    assert len(looks) == len(lines) == 30


def luminance(color):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(color, background):
    high, low = sorted([luminance(color), luminance(background)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def assert_lines_and_texts_stand_out_from_the_background(display):
    background = display.ax_.get_facecolor()
    behind = display.figure_.get_facecolor()
    for line in display.ax_.lines:
        assert contrast(line.get_color(), background) >= LEAST_CONTRAST, line.get_label()
    for container in getattr(display, "bars_", []):
        for bars in container[2]:
            for color in bars.get_color():
                assert contrast(color, background) >= LEAST_CONTRAST
    for text in display.figure_.findobj(plt.Text):
        assert contrast(text.get_color(), behind) >= LEAST_CONTRAST, text


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("kind", ["roc", "benefit", "calibration"])
def test_bands_can_be_seen(kind, style):
    with plt.style.context(style):
        display = made(kind)
        background = np.array(to_rgb(display.ax_.get_facecolor()))
    bands = [*display.ax_.collections, *display.ax_.patches]
    assert bands
    for band in bands:
        *color, alpha = np.ravel(band.get_facecolor())[:4]
        mixed = alpha * np.array(color) + (1 - alpha) * background
        assert contrast(mixed, background) >= 1.1


@pytest.mark.parametrize(("kind", "n_rows"), [("roc", 20), ("roc", 100), ("top", 100)])
def test_the_vertical_axis_starts_at_0(kind, n_rows):
    low, high = made(kind, n_rows=n_rows).ax_.get_ylim()
    assert -0.03 <= low <= 0
    assert high > 0.9


@pytest.mark.parametrize(
    ("kind", "n_rows", "expected"),
    [
        ("top", 5, ["1", "2"]),
        ("calibration", 100, ["1", "2", "5", "10", "20", "50"]),
        ("top", 10_000, ["1", "10", "100", "1,000"]),
    ],
)
def test_positions_are_plain_numbers(kind, n_rows, expected):
    ax = made(kind, n_rows=n_rows, n_models=1).ax_
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_xticklabels()] == expected
    assert {label.get_text() for label in ax.get_xticklabels(minor=True)} <= {""}


@pytest.mark.parametrize("kind", ["roc", "top"])
def test_given_axes_keep_their_figure(kind):
    figure, axes = plt.subplots(1, 2, layout="constrained", figsize=(10, 4))
    for n_models, ax in zip((1, 2), axes.flat, strict=True):
        made(kind, n_models=n_models, ax=ax)
    assert figure.get_size_inches().tolist() == [10, 4]
    figure.canvas.draw()
    for _, box in texts_of(figure):
        assert box.x1 <= figure.bbox.x1 + 1


def test_a_legend_does_not_take_the_axes_of_the_caller():
    # A warning that the layout collapsed would be an error here.
    figure, axes = plt.subplots(1, 2, layout="constrained", figsize=(6.4, 2.4))
    for ax in axes:
        made("top", 100, 12, True, ax)
    figure.canvas.draw()
    for ax in axes:
        box = ax.get_window_extent()
        assert min(box.width, box.height) > 0.15 * figure.bbox.width


def test_every_display_is_in_the_catalogue():
    found = {type(made(kind)).__name__ for kind in DISPLAYS}
    assert found == set(plotting.__all__)
