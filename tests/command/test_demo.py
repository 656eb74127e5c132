"""The demonstration, as a newcomer runs it."""

import io
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from sklearn_rank._command import _demo as demo
from sklearn_rank._command import main

ROOT = Path(__file__).parents[2]
PICTURE = "sklearn_rank_top_of_the_list.png"


def run(*arguments, as_module=True):
    """What the demo prints."""
    with redirect_stdout(io.StringIO()) as printed:
        assert main([*arguments], as_module=as_module) == 0
    return printed.getvalue()


def table(printed):
    """The comparison, from its title on."""
    return (
        printed[printed.index("recall@200 on") :].partition("\nPicture")[0].partition("\nNo ")[0]
    )


@pytest.fixture(scope="module")
def one_run(tmp_path_factory):
    """What the demo of two models prints, and its figure."""
    figures = []
    save = Figure.savefig

    def keep(figure, *args, **kwargs):
        figures.append(figure)
        save(figure, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        models = {name: demo.make_models()[name] for name in ("linear", "boosted")}
        patch.setattr(demo, "make_models", lambda: models)
        patch.chdir(tmp_path_factory.mktemp("demo"))
        patch.setattr(Figure, "savefig", keep)
        yield run(), figures[0]


def test_a_seed_is_a_whole_number_from_0_on(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["demo", "--seed", "-1"])
    assert stopped.value.code == 2
    assert "'-1' is not a whole number from 0 to 4294967295" in capsys.readouterr().err


@pytest.mark.slow
def test_it_prints_the_comparison_of_the_readme(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("<BLANKLINE>", "")
    assert table(run("--picture", str(tmp_path / "picture.png"))).strip() in readme


def test_it_saves_a_picture(one_run):
    printed, figure = one_run
    path = Path(printed.partition("differences:\n  ")[2].splitlines()[0])
    assert path.name == PICTURE
    assert path.read_bytes().startswith(b"\x89PNG")
    left, right = figure.axes
    assert {"linear", "boosted"} <= {line.get_label() for line in left.get_lines()}
    assert right.get_xlabel() == "difference of recall@200"
    text = printed.replace(str(path), "")
    assert max(map(len, text.splitlines())) <= 84


def test_it_ends_with_what_to_do_next(one_run, capsys):
    next_lines = one_run[0].split("\nNext:\n")[1].splitlines()
    assert len(next_lines) == 3
    for line, name in zip(next_lines, ("doctor", "compare"), strict=False):
        command = line.partition("#")[0].split()
        assert command[:4] == ["python", "-m", "sklearn_rank", name]
        with pytest.raises(SystemExit) as stopped:
            main([name, "--help"], as_module=True)
        assert stopped.value.code == 0
        capsys.readouterr()
    assert "https://sklearn-rank.readthedocs.io" in next_lines[2]


def test_another_seed_draws_another_half_and_a_lost_picture_is_told(one_run, tmp_path):
    printed = run("--seed", "2", "--picture", str(tmp_path / "no" / "such" / "directory.png"))
    assert table(printed) != table(one_run[0])
    assert "No picture" in printed


def test_again_without_matplotlib_it_says_how_to_get_it(one_run, tmp_path, monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    picture = tmp_path / "none.png"
    again = run("demo", "--picture", str(picture), as_module=False)
    assert "\n  python -m pip install matplotlib\n" in again
    assert not picture.exists()
    assert table(again) == table(one_run[0])  # the same seed draws the same half
    assert "\n  sklearn-rank doctor FILE " in again
