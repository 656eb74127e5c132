"""The pages of the documentation: pictures, and the width of code."""

import ast
import csv
import re
import statistics
from collections import defaultdict
from pathlib import Path

import pytest

import sklearn_rank

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sklearn_rank.__file__).parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SCRIPTS = sorted(DOCS.glob("examples/*/*.py"))  # test_task_pages.py has the task pages
ILLUSTRATED = sorted(
    {*DOCS.glob("user_guide/*.md"), *DOCS.glob("benchmarks/*.md")} - {DOCS / "benchmarks/index.md"}
)
WIDEST = 84


def name_of(path):
    return str(path.relative_to(ROOT))


def code_lines(path):
    """Number and text of the lines of code: of a block with prompts those after a prompt."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix == ".py":
        start = ast.parse("\n".join(lines)).body[0].end_lineno
        yield from ((n, x) for n, x in enumerate(lines, 1) if n > start and x[:1] != "#")
        return
    block, fence = [], None
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith("```"):
            block.append((number, line))
            continue
        if fence in ("python", "bash", "console", "pycon"):
            prompts = any(text.lstrip().startswith(">>> ") for _, text in block)
            for n, text in block:
                if not prompts or text.lstrip().startswith((">>> ", "... ")):
                    yield n, text
        fence = line.strip().strip("`") if fence is None else None
        block = []


def test_code_is_at_most_84_wide():
    wide = [
        f"{name_of(path)}:{number}: {line}"
        for path in [*PAGES, *SCRIPTS]
        for number, line in code_lines(path)
        if len(line) > WIDEST
    ]
    assert not wide, "\n".join(wide)


def test_every_page_of_the_guide_has_a_picture():
    bare = []
    for path in ILLUSTRATED:
        text = path.read_text(encoding="utf-8")
        figures = re.findall(
            r"```\{figure\} /auto_examples/(\w+)/images/sphx_glr_(\w+)_\d{3}\.png", text
        )
        for group, script in figures:
            assert (DOCS / "examples" / group / f"{script}.py").exists(), f"{group}/{script}"
        if not figures and "<svg" not in text:
            bare.append(name_of(path))
    assert bare == []


def test_no_line_is_a_comment_of_the_markup():
    # MyST drops lines that start with a per cent sign.
    comments = [
        f"{name_of(path)}: {line}"
        for path in PAGES
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.lstrip().startswith("%")
    ]
    assert comments == []


def test_examples_of_docstrings_are_at_most_84_wide():
    wide = [
        f"{path.name}: {line}"
        for path in PACKAGE.rglob("*.py")
        for line in map(str.strip, path.read_text(encoding="utf-8").splitlines())
        if line.startswith((">>> ", "... ")) and len(line) > WIDEST
    ]
    assert not wide, "\n".join(wide)


def test_examples_are_listed_in_reading_order():
    listed = re.search(r"^GROUPS = (\{.+?^\})", (DOCS / "conf.py").read_text(), re.M | re.S)
    groups = ast.literal_eval(listed[1])
    found = {f"{group}/plot_{name}.py" for group, names in groups.items() for name in names}
    assert found == {f"{path.parent.name}/{path.name}" for path in SCRIPTS}


def test_the_landing_page_has_the_words_of_those_who_search():
    # The landing page includes the README.
    text = (PAGES[0].read_text("utf-8") + (DOCS / "index.md").read_text("utf-8")).lower()
    words = ["fraud", "profit", "threshold", "unlabelled", "lightgbm", "ndcg"]
    assert [word for word in (*words, "confidence interval") if word not in text] == []


@pytest.mark.parametrize(
    ("study", "measure", "left_out", "method", "rival"),
    [
        ("list_ensemble", "AP", (), "ensemble", "LightGBM"),
        ("query_ensemble", "NDCG@10", ("MQ2008", "LightGBM"), "ensemble", "LightGBM"),
        ("top_of_list", "P@1%", (), "logistic, sum", "logistic"),
    ],
)
def test_the_readme_has_the_gain_of_the_stored_study(study, measure, left_out, method, rival):
    values = defaultdict(list)
    with open(ROOT / "benchmarks" / "results" / f"{study}.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            values[row["set"], row["method"]].append(float(row[measure]))
    sets = {name for name, _ in values} - {*left_out}
    gains = [
        statistics.mean(values[name, method]) - statistics.mean(values[name, rival])
        for name in sets
    ]
    shown = f"{statistics.mean(gains):.3f}".removeprefix("0")
    (line,) = [x for x in PAGES[0].read_text("utf-8").split("- **") if f"{study}.py" in x]
    assert f"On {len(sets)} " in line
    assert re.search(rf"\{shown}\b", line), shown
