"""The task pages run as a whole, draw, leave nothing behind and lead further."""

import importlib.util
import pkgutil
import re
import runpy
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import sklearn

from sklearn_rank import inference, metrics, model_selection

FOLDER = Path(__file__).parents[1] / "docs" / "task_pages"
PAGES = sorted(FOLDER.glob("*.py"))
WIDTH = 80  # characters of a line that a page shows beside the menus
WORDS = 500  # of a page with its code: a reader sees the result at once


def needs(page):
    """Packages that a page imports and that are not installed."""
    imported = re.findall(r"^(?:from|import) (\w+)", page.read_text(encoding="utf-8"), re.M)
    return [name for name in set(imported) if importlib.util.find_spec(name) is None]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_runs(page, tmp_path, monkeypatch, capsys):
    if missing := needs(page):
        pytest.skip(f"{page.name} imports {', '.join(missing)}, which is not installed")
    beside, settings = sorted(FOLDER.iterdir()), sklearn.get_config()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    try:
        runpy.run_path(str(page), run_name="__main__")
        assert sklearn.get_config() == settings
    finally:
        sklearn.set_config(**settings)
    assert plt.get_fignums(), "the page draws nothing"
    assert capsys.readouterr().out, "the page prints nothing"
    assert list(tmp_path.iterdir()) == []
    assert sorted(FOLDER.iterdir()) == beside


def test_pages_lead_further():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert [line for line in text.splitlines() if len(line) > WIDTH] == []
        assert len(text.split()) <= WORDS, page
        assert text.count("set_config(") == 2 * text.count("routing=False)"), page  # set back
        further = text.partition("# Where to go next\n")[2]
        links = re.findall(r"^# - :doc:`/(.+?)`: ", further, re.M)
        assert len(links) == 3, page
        assert [link for link in links if not (FOLDER.parent / f"{link}.md").is_file()] == []


def test_pages_are_listed_in_reading_order():
    listed = re.search(r"^TASKS = \[(.+?)\]", (FOLDER.parent / "conf.py").read_text(), re.M | re.S)
    assert sorted(re.findall(r'"(.+?)"', listed[1])) == [page.name for page in PAGES]


def test_the_decision_page_names_what_exists():
    folder = FOLDER.parent / "user_guide"
    text = (folder / "index.md").read_text(encoding="utf-8")
    for link in re.findall(r'href="(.+?)\.html"', text):
        assert (folder / f"{link}.md").is_file(), link
    for page in re.findall(r"\(\.\./tasks/(\w+)\.rst\)", text):
        assert page == "index" or (FOLDER / f"{page}.py").is_file(), page
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    scorers = [name for row in rows for name in re.findall(r'`"(.+?)"`', row[3])]
    assert len(scorers) > 10
    for scorer in scorers:
        metrics.get_scorer(scorer)
    for name in re.findall(r"~(sklearn_rank[\w.]+)`", text):
        assert callable(pkgutil.resolve_name(name)), name
    for name in re.findall(r"`(\w+)\(", "".join(row[4] for row in rows)):
        assert any(hasattr(module, name) for module in (inference, metrics, model_selection)), name
