"""The demonstration, as a newcomer runs it."""

import io
import re
import sys
from contextlib import redirect_stdout

import numpy as np
import pytest
from matplotlib.figure import Figure

from sklearn_rank._command import _demo as demo
from sklearn_rank._command import main

PICTURE = "sklearn_rank_top_of_the_list.png"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The demo with two splits and two values of C, in a directory of its own."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "N_SPLITS", 2)
        patch.setattr(demo, "GRID", np.array([0.001, 0.01]))
        patch.chdir(folder)
        yield folder


def run(*arguments, as_module=True):
    """What the demo prints."""
    with redirect_stdout(io.StringIO()) as printed:
        assert main([*arguments], as_module=as_module) == 0
    return printed.getvalue()


@pytest.fixture(scope="module")
def one_run(small):
    """What the demo prints, and its figure."""
    figures = []
    save = Figure.savefig

    def keep(figure, *args, **kwargs):
        figures.append(figure)
        save(figure, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", keep)
        return run(), figures[0]


def rows_of(printed):
    """Cells of each row of the table, by estimator."""
    rows = {}
    for name in demo.PEERS:
        (cells,) = re.findall(rf"^{name} +([\d. ]+)$", printed, flags=re.MULTILINE)
        rows[name] = [float(cell) for cell in cells.split()]
    return rows


def test_help(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["demo", "--help"])
    assert stopped.value.code == 0
    assert "--seed" in capsys.readouterr().out


def test_prints_a_table_and_saves_a_picture(small, one_run):
    printed, _ = one_run
    for precision, average_precision, _ in rows_of(printed).values():
        assert 0.6 < precision <= 1
        assert 0.6 < average_precision <= 1
    assert str(small / PICTURE) in printed
    assert (small / PICTURE).read_bytes().startswith(b"\x89PNG")
    text = printed.replace(str(small / PICTURE), "")
    assert max(map(len, text.splitlines())) <= 84


def test_it_ends_with_what_to_do_next(one_run, capsys):
    next_lines = one_run[0].split("\nNext:\n")[1].splitlines()
    assert len(next_lines) == 3
    for line, name in zip(next_lines, ("evaluate", "compare"), strict=False):
        command = line.partition("#")[0].strip()
        assert command == f"python -m sklearn_rank {name} --help"
        with pytest.raises(SystemExit) as stopped:
            main(command.split()[3:], as_module=True)
        assert stopped.value.code == 0
        capsys.readouterr()
    assert "https://sklearn-rank.readthedocs.io" in next_lines[2]


def test_the_picture_is_of_the_numbers_of_the_table(one_run):
    printed, figure = one_run
    (axes,) = figure.axes
    assert "mean over 2 splits" in axes.get_title()
    lines = {line.get_label(): line for line in axes.get_lines()}
    marks = [text.get_text() for text in axes.texts]
    assert marks == ["10 %"]
    for name, (precision, *_) in rows_of(printed).items():
        position, drawn = lines[name].get_data()
        assert drawn[np.searchsorted(position, 18)] == pytest.approx(precision, abs=5e-4)


@pytest.fixture
def one_peer(one_run, monkeypatch):
    """The rows of the table of later runs, which have one ranker alone."""
    monkeypatch.setattr(demo, "PEERS", {name: demo.PEERS[name] for name in ["LinearSVC"]})
    return rows_of(one_run[0])


def test_another_seed_draws_other_splits_and_a_lost_picture_is_told(small, one_peer):
    printed = run("--seed", "2", "--picture", str(small / "no" / "such" / "directory.png"))
    assert rows_of(printed) != one_peer
    assert "No picture" in printed


def test_again_without_matplotlib_it_says_how_to_get_it(small, one_peer, monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    picture = small / "none.png"
    again = run("demo", "--picture", str(picture), as_module=False)
    assert "\n  python -m pip install matplotlib\n" in again
    assert not picture.exists()
    assert rows_of(again) == one_peer  # the same seed draws the same splits
    assert "\n  sklearn-rank evaluate --help " in again
