"""The demonstration, as a newcomer runs it."""

import re
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from sklearn_rank._command import _demo as demo
from sklearn_rank._command import main

PICTURE = "sklearn_rank_top_of_the_list.png"


@pytest.fixture
def small(monkeypatch, tmp_path):
    """The demo with one tau, two splits and two values of C, in a directory of its own."""
    monkeypatch.setattr(demo, "TAUS", (0.1,))
    monkeypatch.setattr(demo, "N_SPLITS", 2)
    monkeypatch.setattr(demo, "GRID", np.array([0.001, 0.01]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    assert main([*arguments], as_module=True) == 0


def rows_of(printed):
    """Cells of each row of the table, by estimator."""
    found = {}
    for name in demo.PEERS:
        (cells,) = re.findall(rf"^{name} +([\d. ]+)$", printed, flags=re.MULTILINE)
        found[name] = [float(cell) for cell in cells.split()]
    return found


def test_help(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["demo", "--help"])
    assert stopped.value.code == 0
    assert "--seed" in capsys.readouterr().out


def test_prints_a_table_and_saves_a_picture(small, capsys):
    run()
    printed = capsys.readouterr().out
    for precision, average_precision, _ in rows_of(printed).values():
        assert 0.6 < precision <= 1
        assert 0.6 < average_precision <= 1
    assert str(small / PICTURE) in printed
    assert (small / PICTURE).read_bytes().startswith(b"\x89PNG")
    text = printed.replace(str(small / PICTURE), "")
    assert max(map(len, text.splitlines())) <= 84


def test_it_ends_with_what_to_do_next(small, capsys):
    run()
    next_lines = capsys.readouterr().out.split("\nNext:\n")[1].splitlines()
    assert len(next_lines) == 3
    for line, name in zip(next_lines, ("evaluate", "compare"), strict=False):
        command = line.partition("#")[0].strip()
        assert command == f"python -m sklearn_rank {name} --help"
        with pytest.raises(SystemExit) as stopped:
            main(command.split()[3:], as_module=True)
        assert stopped.value.code == 0
        capsys.readouterr()
    assert "https://sklearn-rank.readthedocs.io" in next_lines[2]
    assert main(["demo"]) == 0
    assert "\n  sklearn-rank evaluate --help " in capsys.readouterr().out


def test_a_top_of_few_rows_is_not_shown(small, capsys, monkeypatch):
    monkeypatch.setattr(demo, "TAUS", (0.01, 0.1))
    run()
    printed = capsys.readouterr().out
    assert "P@10% (18)" in printed
    assert "P@1%" not in printed
    assert all(len(cells) == 3 for cells in rows_of(printed).values())


def test_the_picture_is_of_the_numbers_of_the_table(small, capsys, monkeypatch):
    figures = []
    save = Figure.savefig

    def saved(figure, *args, **kwargs):
        figures.append(figure)
        save(figure, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", saved)
    run()
    table = rows_of(capsys.readouterr().out)
    (axes,) = figures[0].axes
    assert "mean over 2 splits" in axes.get_title()
    lines = {line.get_label(): line for line in axes.get_lines()}
    marks = [text.get_text() for text in axes.texts]
    assert marks == ["10 %"]
    for name, (precision, *_) in table.items():
        position, drawn = lines[name].get_data()
        assert drawn[np.searchsorted(position, 18)] == pytest.approx(precision, abs=5e-4)


def test_the_seed_moves_the_split(small, capsys):
    tables = []
    for seed in ("1", "1", "2"):
        run("--seed", seed)
        tables.append(rows_of(capsys.readouterr().out))
    assert tables[0] == tables[1] != tables[2]


def test_says_so_where_the_picture_cannot_be_saved(small, capsys):
    run("--picture", str(small / "no" / "such" / "directory.png"))
    assert "No picture" in capsys.readouterr().out


def test_without_matplotlib_it_says_how_to_get_it(small, capsys, monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    run()
    assert "\n  python -m pip install matplotlib\n" in capsys.readouterr().out
    assert not (small / PICTURE).exists()
