"""The examples of the docstrings, the README and the pages run and print what they say."""

import doctest
import importlib
import warnings
from pathlib import Path

import pytest

import sklearn_rank

ROOT = Path(__file__).parents[1]
# The blocks of the development page are parts of files, which test_development.py puts together.
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if page.name != "development.md"]
PACKAGE = Path(sklearn_rank.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.fixture(autouse=True)
def plain_warnings():
    """Examples filter warnings for their reader; the next test starts afresh."""
    with warnings.catch_warnings():
        yield


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    # With no names but their own: an example imports what it uses, as its reader will.
    assert doctest.testmod(importlib.import_module(name), globs={}).failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page):
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0


def lines_of_code(text):
    return [line[4:] for line in text.splitlines() if line.startswith((">>>", "..."))]


def test_the_readme_starts_with_an_example():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = lines_of_code(text.split("## An example")[1].split("```")[1])
    assert lines
    assert '"## An example"' in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    example = ROOT / "docs" / "examples" / "training" / "plot_first_ranker.py"
    assert set(lines) <= set(example.read_text(encoding="utf-8").splitlines())
