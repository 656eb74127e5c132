"""Packages that an extra installs."""

import json
import sys

import pytest

from sklearn_rank._optional import import_optional, import_pandas


def test_what_is_installed_is_imported():
    assert import_optional("json", "A test") is json


def test_the_error_says_how_to_install_what_is_not():
    with pytest.raises(ImportError, match=r'^A ranker needs nowhere: run `pip install "sklearn-'):
        import_optional("nowhere", "A ranker")


def test_modules_of_a_package_are_of_its_extra():
    assert import_optional("json.decoder", "A test").__name__ == "json.decoder"
    with pytest.raises(ImportError, match=r'nowhere: run `pip install "sklearn-rank\[nowhere'):
        import_optional("nowhere.array", "A metric")


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
