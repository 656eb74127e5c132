"""The demonstration, `python -m sklearn_rank`, as a newcomer runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sklearn_rank
from sklearn_rank import __main__ as demo

PICTURE = "sklearn_rank_top_of_the_list.png"


@pytest.fixture
def small(monkeypatch, tmp_path):
    """The demo with one tau, two splits and two values of C, in a directory of its own."""
    monkeypatch.setattr(demo, "TAUS", (0.1,))
    monkeypatch.setattr(demo, "N_SPLITS", 2)
    monkeypatch.setattr(demo, "GRID", np.array([0.001, 0.01]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_help(capsys):
    with pytest.raises(SystemExit) as stopped:
        demo.main(["--help"])
    assert stopped.value.code == 0
    assert "--seed" in capsys.readouterr().out


def test_prints_a_table_and_saves_a_picture(small, capsys):
    demo.main([])
    printed = capsys.readouterr().out
    for name in demo.PEERS:
        (row,) = re.findall(rf"^{name} +([\d. ]+)$", printed, flags=re.MULTILINE)
        precision, average_precision = map(float, row.split()[:2])
        assert 0.6 < precision <= 1
        assert 0.6 < average_precision <= 1
    assert str(small / PICTURE) in printed
    assert (small / PICTURE).read_bytes().startswith(b"\x89PNG")


def test_the_seed_moves_the_split(small, capsys):
    tables = []
    for seed in ("1", "1", "2"):
        demo.main(["--seed", seed])
        # All but the times, which are the last column.
        tables.append(re.findall(r"^(\w+ +[\d. ]+) +[\d.]+$", capsys.readouterr().out, re.M))
    assert tables[0]
    assert tables[0] == tables[1] != tables[2]


def test_says_so_where_the_picture_cannot_be_saved(small, capsys):
    demo.main(["--picture", str(small / "no" / "such" / "directory.png")])
    assert "No picture" in capsys.readouterr().out


def test_without_matplotlib_it_says_how_to_get_it(small, capsys, monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    demo.main([])
    assert 'pip install "sklearn-rank[plot]"' in capsys.readouterr().out
    assert not (small / PICTURE).exists()


@pytest.mark.slow
def test_as_a_command(tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "sklearn_rank"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(sklearn_rank.__file__).parent.parent)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert all(f"P@{100 * tau:.3g}%" in result.stdout for tau in demo.TAUS)
    assert (tmp_path / PICTURE).exists()
