"""A directory of files, in which each test of a command stands, and the command itself."""

import io
import sys

import pytest

from sklearn_rank._command import main
from tests.command.files import one_list, queries, write_csv, write_trec


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The working directory, with predictions.csv, ranked.csv and files of TREC."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "predictions.csv", one_list())
    write_csv(tmp_path / "ranked.csv", queries())
    write_trec(tmp_path)
    return tmp_path


@pytest.fixture
def command(files, capsys, monkeypatch):
    """Run the program: its standard output, standard error and exit code."""

    def run(*arguments, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            code = stopped.code
        captured = capsys.readouterr()
        return captured.out, captured.err, code

    return run


@pytest.fixture
def results(command):
    """Run the program, which succeeds with these warnings alone, and return its output."""

    def run(*arguments, warns=(), **how):
        out, err, code = command(*arguments, **how)
        lines = err.splitlines()
        assert (len(lines), code) == (len(warns), 0), err
        for line, text in zip(lines, warns, strict=True):
            assert line.startswith(f"sklearn-rank {arguments[0]}: warning: ")
            assert text in line
        return out

    return run
