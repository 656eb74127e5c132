"""The files around the package agree with it and with each other."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import sklearn_rank

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINK = re.compile(r"(?<!\!)\[[^\]]+\]\((?!https?://|#|mailto:)([^)#\s]+)")

pytestmark = pytest.mark.skipif(
    not GITHUB.exists(), reason="the files of the repository are not beside the tests"
)


def test_versions_agree():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert citation["version"] == sklearn_rank.__version__
    assert f"version = {{{sklearn_rank.__version__}}}" in page


def test_settings_can_be_read():
    paths = [ROOT / ".readthedocs.yaml", ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]
    for path in [*paths, *GITHUB.rglob("*.y*ml")]:
        assert yaml.safe_load(path.read_text(encoding="utf-8")), path


def test_the_workflow_runs_what_a_developer_runs():
    workflow = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["everything"]
    assert {"run": "bash .ci/run"} in job["steps"]
    least = SETTINGS["requires-python"].removeprefix(">=")
    assert least == min(job["strategy"]["matrix"]["python"])


def test_the_readme_has_the_versions_that_are_needed():
    (sklearn,) = (x for x in SETTINGS["dependencies"] if x.startswith("scikit-learn"))
    versions = [
        x.rpartition(">=")[2].removesuffix(".0") for x in (SETTINGS["requires-python"], sklearn)
    ]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "Python {} or later, scikit-learn {} or later".format(*versions) in text


def test_a_release_is_tested_where_users_are():
    workflow = yaml.safe_load((GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    lowest, newest, *others = (job["python"] for job in matrix["include"])
    assert lowest == SETTINGS["requires-python"].removeprefix(">=")
    classified = [x.rpartition(" :: ")[2] for x in SETTINGS["classifiers"] if ":: 3." in x]
    assert [lowest, *others, newest] == classified


def test_the_conda_recipe_agrees():
    recipe = yaml.safe_load((GITHUB / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == sklearn_rank.__version__
    assert f">={recipe['context']['python_min']}" == SETTINGS["requires-python"]
    python, *run = recipe["requirements"]["run"]
    assert python.startswith("python ")
    assert sorted(line.replace(" ", "") for line in run) == sorted(SETTINGS["dependencies"])
    (command,) = recipe["build"]["python"]["entry_points"]
    name, _, target = command.partition(" = ")
    assert SETTINGS["scripts"] == {name: target}
    assert set(recipe["about"]["license_file"]) == set(SETTINGS["license-files"])


def test_the_documentation_is_built_as_here():
    build = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text(encoding="utf-8"))
    assert (ROOT / build["sphinx"]["configuration"]).exists()
    assert build["python"]["install"][0]["extra_requirements"] == ["docs"]


def test_links_lead_somewhere():
    dead = [
        f"{path.name}: {target}"
        for path in [ROOT / "README.md", *GITHUB.rglob("*.md")]
        for target in LINK.findall(path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]
    assert dead == []


def test_every_bundled_file_has_a_licence():
    folder = Path(sklearn_rank.__file__).parent / "datasets" / "data"
    licence = (folder / "LICENSE.md").read_text(encoding="utf-8")
    names = {path.name for path in folder.glob("*.gz")}
    assert names
    assert all(f"`{name}`" in licence for name in names)
