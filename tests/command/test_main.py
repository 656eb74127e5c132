"""The program: its help, its subcommands as processes, and how it ends."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import sklearn_rank
from sklearn_rank._command import main
from tests.command.files import LABEL, NEW, OLD

PACKAGE = Path(sklearn_rank.__file__).parent
SUBCOMMANDS = ("evaluate", "compare", "doctor", "demo")


def run_module(directory, *arguments, **how):
    return subprocess.run(
        [sys.executable, "-m", "sklearn_rank", *arguments],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **how,
    )


def test_the_script_is_the_program():
    settings = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    module, _, name = settings["project"]["scripts"]["sklearn-rank"].partition(":")
    assert getattr(import_module(module), name) is main


def test_without_a_subcommand_it_prints_the_help(results):
    assert results() == results("--help")
    assert all(f"\n    {name} " in results() for name in SUBCOMMANDS)


def test_version(results):
    assert results("--version") == f"sklearn-rank {sklearn_rank.__version__}\n"


def test_an_interrupt_ends_it_without_a_traceback(command, monkeypatch):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sklearn_rank._command._evaluate.run_evaluate", interrupted)
    assert command("evaluate", "predictions.csv") == ("", "", 130)


@pytest.mark.parametrize("name", ["evaluate", "compare", "doctor"])
def test_the_examples_of_the_help_run(command, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    text, _, _ = command(name, "--help")
    assert max(map(len, text.splitlines())) <= 80
    joined = text.replace("\\\n", " ")
    examples = re.findall(rf"^  sklearn-rank ({name} .+)$", joined, flags=re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        out, err, code = command(*shlex.split(example))
        assert (code, "error" in err, out != "") == (0, False, True)


def test_the_help_names_the_program_that_was_called(capsys):
    with pytest.raises(SystemExit):
        main(["evaluate", "--help"], as_module=True)
    assert "\n  python -m sklearn_rank evaluate predictions.csv " in capsys.readouterr().out


@pytest.mark.slow
def test_subcommands_as_processes(files):
    given = ("predictions.csv", "--label", LABEL, "--score", NEW, OLD)
    done = run_module(files, "evaluate", *given)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("predictions.csv: 120 rows")
    with open(files / "predictions.csv") as stream:
        done = run_module(files, "evaluate", "-", *given[1:], stdin=stream)
    assert done.stdout.startswith("standard input: 120 rows")
    done = run_module(files, "evaluate", "none.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "python -m sklearn_rank evaluate: error: none.csv: No such file or directory\n"
    )


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(files):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "sklearn_rank", "evaluate", "--list-measures"],
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=300,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
