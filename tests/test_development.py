"""The page that says where something new goes: its blocks, put where it says, and used."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sklearn_rank

PACKAGE = Path(sklearn_rank.__file__).parent
ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "development.md"
BLOCK = re.compile(
    r"^(?P<said>[^\n]+):\n\n```(?:python|text)\n(?P<code>.*?)```$", flags=re.MULTILINE | re.DOTALL
)
INSERTION = re.compile(
    r"In `(?P<file>[^`]+)`(?:, (?P<where>after|instead of) `(?P<line>[^`]+)`)?$"
)
KINDS = ["A measure", "A loss", "A ranker", "A method of interval", "Another kind of data"]


def sections():
    """Heading -> (edits, code to run) of each kind of thing."""
    text = PAGE.read_text(encoding="utf-8").split("## Where something new goes")[1]
    found = {}
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        edits, runs = [], []
        for block in BLOCK.finditer(body):
            place = INSERTION.search(block["said"])
            if place is None:
                runs.append(block["code"])
            else:
                edits.append((place, block["code"]))
        if edits:
            found[heading] = edits, runs
    return found


def put(root, place, code):
    path, line = root / place["file"], place["line"]
    if line is None:
        assert not path.exists(), f"{path} is there already"
        path.write_text(code, encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines.count(line) == 1, f"{line!r} stands {lines.count(line)} times in {path}"
    at = lines.index(line)
    lines[at : at + 1] = [*([line] if place["where"] == "after" else []), code.rstrip("\n")]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(root, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(root), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=root,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


# Tests that go over all measures, losses, rankers and methods.
OVER_ALL = (
    "tests/conformance/test_estimators.py",
    "tests/losses",
    "tests/inference/test_questions.py",
    "tests/metrics/test_grammar.py",
    "tests/test_public_api.py",
    "tests/test_architecture.py",
)


@pytest.mark.slow
def test_what_the_page_makes_works_and_passes_the_tests_of_its_kind(tmp_path):
    # With the code of the package that is compiled already, but no files that are being written.
    ignored = shutil.ignore_patterns("*-pytest-*", "*.tmp*", "*.pyc.*", "_build", "auto_examples")
    for folder in ("sklearn_rank", "tests", "docs"):
        source = PACKAGE if folder == "sklearn_rank" else ROOT / folder
        shutil.copytree(source, tmp_path / folder, ignore=ignored)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, tmp_path)
    added = []
    for edits, runs in sections().values():
        assert 1 <= len({place["file"] for place, _ in edits}) <= 3
        for place, code in edits:
            put(tmp_path, place, code)
        added += runs
    assert len(added) == len(KINDS)
    origin = f"import sklearn_rank\nassert {str(tmp_path)!r} in sklearn_rank.__file__\n"
    for code in added:
        run(tmp_path, "-W", "error", "-c", origin + code)
    # Asserts as they stand: to rewrite those of all files takes longer than to run the additions.
    # In one process, since others of this session have the other cores.
    options = ("-q", "-x", "--assert=plain", "-p", "no:cacheprovider")
    # The losses and scikit-learn's checks of all others are tested where nothing is added.
    added = ("-k", "not (losses or checks) or Huber or MeanDifference")
    report = run(tmp_path, "-m", "pytest", *options, *added, *OVER_ALL)
    assert re.search(r"\d{3,} passed", report)


def test_the_page_has_a_section_for_each_kind():
    assert list(sections()) == KINDS


def test_each_line_that_the_page_names_stands_once():
    for edits, _ in sections().values():
        for place, _ in edits:
            if place["line"]:
                root = PACKAGE.parent if place["file"].startswith(PACKAGE.name) else ROOT
                lines = (root / place["file"]).read_text(encoding="utf-8").splitlines()
                assert lines.count(place["line"]) == 1, place.group()


def test_the_drawing_shows_the_layers_of_the_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    height = {
        room.strip(): len(layers) - i
        for i, layer in enumerate(layers)
        for room in re.split("[|:]", layer)
    }
    drawing = PAGE.read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    rows = re.findall(r"^(?:\| )*((?:_?[a-z]\w*(?:  ?|$))+)", drawing, re.MULTILINE)
    drawn = [row.split() for row in rows]
    assert {room for row in drawn for room in row} == set(height) - {"_version"}
    heights = [height[room] for row in drawn for room in row]
    assert heights == sorted(heights, reverse=True)
