"""Packages that an extra installs."""

import json
import re
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest

from sklearn_rank._optional import REQUIREMENTS, import_optional, import_pandas

ROOT = Path(__file__).parent.parent


def test_what_is_installed_is_imported():
    assert import_optional("json", "A test") is json


def test_the_error_says_how_to_install_what_is_not():
    message = r'^A ranker needs nowhere, which is not installed: run `python -m pip install "nowh'
    with pytest.raises(ImportError, match=message):
        import_optional("nowhere", "A ranker")


def test_modules_are_installed_with_their_package():
    assert import_optional("json.decoder", "A test").__name__ == "json.decoder"
    with pytest.raises(ImportError, match=r'run `python -m pip install "nowhere"`'):
        import_optional("nowhere.array", "A metric")


@pytest.mark.parametrize("package", sorted(REQUIREMENTS))
def test_the_command_installs_what_the_project_requires(package, monkeypatch):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [project["dependencies"], *project["optional-dependencies"].values()]
    assert REQUIREMENTS[package] in {requirement for part in required for requirement in part}
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=re.escape(f'pip install "{REQUIREMENTS[package]}"')):
        (import_pandas if package == "pandas" else partial(import_optional, package))("A test")


def test_an_error_inside_a_package_is_not_hidden(tmp_path, monkeypatch):
    (tmp_path / "broken_extra.py").write_text("import nowhere_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nowhere_at_all"):
        import_optional("broken_extra", "A ranker")


def test_pandas_is_of_no_extra(monkeypatch):
    assert import_pandas("A table").DataFrame
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"A table needs pandas, .* or\s+read its fields"):
        import_pandas("A table", "read its fields")


@pytest.mark.slow
def test_a_light_installation_measures_and_fits():
    script = ROOT / "tests" / "light_installation.py"
    command = "import runpy, sys; sys.modules.update(numba=None, cvxpy=None)"
    command += f"; runpy.run_path({str(script)!r})"
    subprocess.run([sys.executable, "-W", "error", "-c", command], check=True, cwd=ROOT)
