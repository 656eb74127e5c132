"""The files around the package agree with it and with each other."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import sklearn_rank

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
LINK = re.compile(r"(?<!\!)\[[^\]]+\]\((?!https?://|#|mailto:)([^)#\s]+)")

pytestmark = pytest.mark.skipif(
    not GITHUB.exists(), reason="the files of the repository are not beside the tests"
)


def written():
    return [ROOT / "README.md", *sorted(GITHUB.rglob("*.md"))]


def test_versions_agree():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "citation.md").read_text(encoding="utf-8")
    assert citation["version"] == sklearn_rank.__version__
    assert f"version = {{{sklearn_rank.__version__}}}" in page


@pytest.mark.parametrize(
    "path",
    [".readthedocs.yaml", ".pre-commit-config.yaml", "CITATION.cff"]
    + [str(path.relative_to(ROOT)) for path in sorted(GITHUB.rglob("*.yml"))],
)
def test_settings_can_be_read(path):
    assert yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_workflow_runs_what_a_developer_runs():
    workflow = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["everything"]
    assert {"run": "bash .ci/run"} in job["steps"]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    least = settings["project"]["requires-python"].removeprefix(">=")
    assert least == min(job["strategy"]["matrix"]["python"])


def test_the_documentation_is_built_as_here():
    build = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text(encoding="utf-8"))
    assert (ROOT / build["sphinx"]["configuration"]).exists()
    assert build["python"]["install"][0]["extra_requirements"] == ["docs"]


@pytest.mark.parametrize("path", written(), ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_every_bundled_file_has_a_licence():
    folder = Path(sklearn_rank.__file__).parent / "datasets" / "data"
    licence = (folder / "LICENSE.md").read_text(encoding="utf-8")
    names = {path.name for path in folder.iterdir()} - {"LICENSE.md", "__pycache__"}
    assert names
    assert all(f"`{name}`" in licence for name in names)
