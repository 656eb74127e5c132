"""The page that says where something new goes: its blocks of code, put where it says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_rank

PACKAGE = Path(sklearn_rank.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "development.md"
BLOCK = re.compile(
    r"^(?P<said>[^\n]+):\n\n```python\n(?P<code>.*?)```$", flags=re.MULTILINE | re.DOTALL
)
PLACE = re.compile(r"In `(?P<file>[^`]+)`(?:, after `(?P<after>[^`]+)`)?$")
MOST_FILES = 4


def sections():
    """Heading -> (edits, code to run) of each kind of thing."""
    text = PAGE.read_text(encoding="utf-8").split("## Where something new goes")[1]
    found = {}
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        edits, runs = [], []
        for block in BLOCK.finditer(body):
            place = PLACE.search(block["said"])
            if place is None:
                runs.append(block["code"])
            else:
                edits.append((place["file"], place["after"], block["code"]))
        if edits:
            found[heading] = edits, runs
    return found


def put(root, file, after, code):
    path = root / file
    if after is None:
        assert not path.exists(), f"{file} is there already"
        path.write_text(code, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines.count(after) == 1, f"{after!r} stands {lines.count(after)} times in {file}"
    lines.insert(lines.index(after) + 1, code.rstrip("\n"))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("heading", sections())
def test_what_the_page_makes_works(heading, tmp_path):
    edits, runs = sections()[heading]
    assert 1 <= len({file for file, _, _ in edits}) <= MOST_FILES
    assert len(runs) == 1
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "sklearn_rank", ignore=ignored)
    for file, after, code in edits:
        put(tmp_path, file, after, code)
    checked = f"import sklearn_rank\nassert {str(tmp_path)!r} in sklearn_rank.__file__\n{runs[0]}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", checked],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_page_has_a_section_for_each_kind():
    assert list(sections()) == ["A measure", "A loss", "A ranker"]


def test_every_room_and_module_has_its_floor_on_the_page():
    import tomllib

    settings = tomllib.loads((PAGE.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    for height, (number, rooms) in zip(range(len(layers)), reversed(rows), strict=True):
        layer = {room.strip(" ()") for room in re.split("[|:]", layers[::-1][height])}
        assert int(number) == height
        assert set(re.findall("`([^`]+)`", rooms)) == layer - {"_version"}
