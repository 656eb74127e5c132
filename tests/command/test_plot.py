"""`--plot`: the intervals of the results, in panels that can be read."""

import sys
from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tests.command.files import LABEL, NEW, OLD, one_list, write_csv

ONE_LIST = ("predictions.csv", "--label", LABEL, "--score", NEW, OLD)


@pytest.fixture
def figure(command, monkeypatch):
    """Run the program with a plot, and return the figure that it saves."""

    def run(*arguments):
        saved = []
        save = Figure.savefig
        monkeypatch.setattr(
            Figure, "savefig", lambda f, *a, **k: (saved.append(f), save(f, *a, **k))
        )
        command(*arguments, "--plot", "picture.png")
        (found,) = saved
        return found

    return run


def drawn(ax):
    """Names of the rows, from the top, with the texts beside them."""
    names = [label.get_text() for label in ax.get_yticklabels()]
    return dict(zip(names, [text.get_text() for text in ax.texts], strict=True))


def check_that_all_is_inside(figure):
    """Texts of an axis neither leave the picture nor overlap."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    for ax in figure.axes:
        texts = [*ax.get_yticklabels(), ax.xaxis.label, ax.title, *ax.texts]
        boxes = [text.get_window_extent(renderer) for text in texts]
        assert all(box.x0 >= 0 and box.x1 <= figure.bbox.width for box in boxes)
        assert all(box.y0 >= 0 and box.y1 <= figure.bbox.height for box in boxes)
        for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
            boxes = [label.get_window_extent(renderer) for label in labels]
            assert not any(one.overlaps(other) for one, other in pairwise(boxes))


def test_evaluate_has_a_panel_for_each_measure_with_an_interval(figure):
    found = figure("evaluate", *ONE_LIST, "--measure", "auc", "rr", "ap")
    assert [ax.get_title("left") for ax in found.axes] == ["auc", "ap"]
    assert drawn(found.axes[0]) == {NEW: "0.823 [0.707, 0.895]", OLD: "0.807 [0.685, 0.885]"}
    check_that_all_is_inside(found)


def test_compare_has_a_panel_for_each_measure(figure):
    found = figure("compare", *ONE_LIST, "--measure", "auc", "ap", "--margin", "0.05")
    assert [ax.get_title("left") for ax in found.axes] == ["auc", "ap"]
    assert drawn(found.axes[0]) == {f"{NEW} - {OLD}": "0.017 [-0.060, 0.093]"}
    assert sorted(line.get_xdata()[0] for line in found.axes[0].lines[:2]) == [-0.05, 0.0]


@pytest.mark.parametrize("name", ["evaluate", "compare"])
def test_long_names_fit(figure, files, name):
    data = one_list()
    names = ["score_boosting_with_monotone_constraints_v2_of_2024-05-01", "score_b" * 9, "score_c"]
    columns = zip(names, (data[NEW], data[OLD], -data[OLD]), strict=True)
    write_csv(files / "long.csv", {"label": data[LABEL], **dict(columns)})
    found = figure(
        name, "long.csv", "--measure", "auc", "spearman", "pos@top" if name == "evaluate" else "ap"
    )
    assert len(found.axes) == 3
    check_that_all_is_inside(found)


def test_the_end_of_the_name_is_the_format(results, files):
    for name, start in {"a.png": b"\x89PNG", "a.svg": b"<?xml", "a.pdf": b"%PDF"}.items():
        results("evaluate", *ONE_LIST, "--measure", "auc", "--plot", name)
        assert (files / name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--plot", "a.xyz"), "--plot a.xyz: Format 'xyz' is not supported"),
        (("--plot", "no/such/a.png"), "--plot no/such/a.png: No such file or directory"),
        (
            ("--plot", "a.png", "--measure", "rr"),
            "--plot: rr: no interval: rr of one list is a single",
        ),
    ],
)
def test_what_cannot_be_drawn_is_an_error(command, files, given, message):
    out, err, code = command("evaluate", *ONE_LIST, *given)
    assert (out, code) == ("", 2)
    assert message in err
    assert not (files / "a.png").exists()


def test_without_matplotlib_it_says_how_to_get_it(command, monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out, err, code = command("compare", *ONE_LIST, "--plot", "a.png")
    assert (out, code) == ("", 2)
    assert (
        'Drawing needs matplotlib, which is not installed: run `python -m pip install "matp' in err
    )
