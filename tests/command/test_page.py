"""The README and the page of the guide: their commands print what they say."""

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from sklearn_rank._command import main, make_parser
from sklearn_rank._command._demo import make_models
from sklearn_rank.datasets import load_thyroid

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "user_guide" / "command_line.md"
BLOCK = re.compile(
    r"(?:`(?P<file>[\w.]+)`[^`]*:\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    flags=re.MULTILINE | re.DOTALL,
)


def session(text):
    """Commands of a console block, each with what it prints."""
    found = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:], ""])
        elif found[-1][0].endswith("\\\n"):
            found[-1][0] = found[-1][0][:-2] + line
        else:
            found[-1][1] += line
    return found


def printed(command, capfd):
    name, *arguments = shlex.split(command)
    assert name == "sklearn-rank"
    main(arguments)
    return "".join(capfd.readouterr())


def check_printed(out, expected):
    """Compare texts, and numbers of many digits up to rounding."""
    number = r"-?\d+\.\d{5,}"
    assert re.sub(number, "#", out) == re.sub(number, "#", expected)
    found = [float(one) for one in re.findall(number, out)]
    assert found == pytest.approx([float(one) for one in re.findall(number, expected)])


def test_the_sessions_print_what_the_page_says(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    names, count = {}, 0
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        if block["kind"] == "python":
            exec(compile(block["text"], str(PAGE), "exec"), names)
        elif block["kind"] == "text" and block["file"] is None:  # what the last code printed
            check_printed(capfd.readouterr().out, block["text"])
        elif block["kind"] == "text":
            Path(block["file"]).write_text(block["text"], encoding="utf-8")
        elif block["kind"] == "yaml":
            (command,) = re.findall(
                r"sklearn-rank compare .*?(?=\n```|\Z)", block["text"], re.DOTALL
            )
            make_parser("sklearn-rank").parse_args(shlex.split(command)[1:])
        else:
            assert block["kind"] == "console"
            for command, expected in session(block["text"]):
                check_printed(printed(command, capfd), expected)
                count += 1
    assert count >= 6


def test_the_first_lines_of_the_readme(tmp_path, monkeypatch, capsys):
    X, y = load_thyroid(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=0
    )
    models = make_models()
    scores = {
        name: models[model].fit(X_train, y_train).decision_function(X_test)
        for name, model in (("score_new", "boosted"), ("score_old", "linear"))
    }
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"label": y_test, **scores}).to_csv("predictions.csv", index=False)
    first, _ = (ROOT / "README.md").read_text(encoding="utf-8").split("## An example")
    commands, shown, code = (block["text"] for block in BLOCK.finditer(first))
    main(shlex.split(commands.splitlines()[1])[1:])
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (shown, "")
    exec(code, {})
    assert capsys.readouterr().out == shown.split("\n\n", 1)[1]
    gains = re.search(r"([+]\S+)  \[([+]\S+), ([+]\S+)\]", shown).groups()
    gain, low, high = (round(100 * float(x)) for x in gains)
    words = " ".join(first.split())
    assert f"{gain} of 100 positives more than the old one" in words
    assert f"with 95 % confidence {low} to {high} more" in words


@pytest.mark.parametrize("name", ["evaluate", "compare"])
def test_the_table_has_all_options(name, capsys):
    with pytest.raises(SystemExit):
        make_parser("sklearn-rank").parse_args([name, "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out.partition("\nexamples:")[0]))
    table = PAGE.read_text(encoding="utf-8").split("## Options")[1]
    listed = set(re.findall(r"^\| (.+?) \|", table, flags=re.MULTILINE))
    listed = set(re.findall(r"--[a-z-]+", " ".join(listed)))
    assert known - {"--help", "--list-measures"} <= listed
