"""The demonstration, as a newcomer runs it."""

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from sklearn_rank._command import _demo as demo
from sklearn_rank._command import main

ROOT = Path(__file__).parents[2]


def run(*arguments):
    """What the demo prints."""
    with redirect_stdout(io.StringIO()) as printed:
        assert main([*arguments], as_module=True) == 0
    return printed.getvalue()


def table(printed):
    """The comparison, from its title on."""
    return printed[printed.index("recall@200 on") :].partition("\nNext")[0]


@pytest.fixture
def two_models(monkeypatch):
    models = {name: demo.make_models()[name] for name in ("linear", "boosted")}
    monkeypatch.setattr(demo, "make_models", lambda: models)


def test_a_seed_is_a_whole_number_from_0_on(capsys):
    assert main(["demo", "--seed", "-1"]) == 2
    assert "--seed -1 is not a whole number from 0 to 4294967295" in capsys.readouterr().err


@pytest.mark.slow
def test_it_prints_the_comparison_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("<BLANKLINE>", "")
    assert table(run()).strip() in readme


@pytest.mark.usefixtures("two_models")
def test_the_picture_and_what_to_do_next(tmp_path, capsys):
    path = tmp_path / "picture.png"
    printed = run("demo", "--seed", "2", "--plot", str(path))
    assert path.read_bytes().startswith(b"\x89PNG")
    assert max(map(len, printed.splitlines())) <= 84
    next_lines = printed.split("\nNext:\n")[1].splitlines()
    assert len(next_lines) == 3
    for line, name in zip(next_lines, ("doctor", "compare"), strict=False):
        command = line.partition("#")[0].split()
        assert command[:4] == ["python", "-m", "sklearn_rank", name]
        with pytest.raises(SystemExit) as stopped:
            main([name, "--help"], as_module=True)
        assert stopped.value.code == 0
    assert "https://sklearn-rank.readthedocs.io" in next_lines[2]
    assert table(run()) != table(printed)  # another seed, another half
    capsys.readouterr()
    nowhere = str(tmp_path / "no" / "such.png")
    assert main(["demo", "--plot", nowhere]) == 2
    said = capsys.readouterr()
    assert table(said.out) == table(run())  # before the error
    assert f"demo: error: --plot {nowhere}: " in said.err
