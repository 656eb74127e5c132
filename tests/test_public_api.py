"""What users import: complete, sorted, one level deep, and documented."""

import importlib
import inspect
import pkgutil
import re
import runpy
import sys
import tomllib
import warnings
from pathlib import Path

import numpydoc.validate
import pytest

import sklearn_rank
from tests.naming import for_each

ROOT = Path(__file__).parent.parent
MODULES = [module.name for module in pkgutil.walk_packages(sklearn_rank.__path__, "sklearn_rank.")]
SUBPACKAGES = [
    name for name in sklearn_rank.__all__ if inspect.ismodule(getattr(sklearn_rank, name))
]
PUBLIC_MODULES = ["sklearn_rank", *(f"sklearn_rank.{part}" for part in SUBPACKAGES)]


def names_of(module_name):
    """Full names of the classes and functions that a module offers."""
    module = importlib.import_module(module_name)
    offered = {name: getattr(module, name) for name in module.__all__}
    return [
        f"{module_name}.{name}"
        for name, thing in offered.items()
        if inspect.isclass(thing) or inspect.isfunction(thing)
    ]


NAMES = sorted(name for module in PUBLIC_MODULES for name in names_of(module))


def load(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def methods_of(names):
    """A full name of each public method that classes take from this package."""
    methods = {
        method: f"{name}.{attribute}"
        for name in names
        if inspect.isclass(load(name))
        for attribute, method in inspect.getmembers(load(name), callable)
        if not attribute.startswith("_")
        and getattr(method, "__module__", "").startswith("sklearn_rank.")
        and hasattr(method, "__qualname__")
    }
    return list(methods.values())


def checks():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = set(settings["tool"]["numpydoc_validation"]["checks"])
    return numpydoc.validate.get_validation_checks(wanted)


def complaints(names, ignore=()):
    wanted = checks() - set(ignore)
    with warnings.catch_warnings():
        # numpydoc parses the docstring again for each section.
        warnings.simplefilter("ignore", UserWarning)
        return [
            f"{name}: {code} {text}"
            for name in names
            for code, text in numpydoc.validate.validate(name)["errors"]
            if code in wanted
        ]


@for_each("module_name", PUBLIC_MODULES)
def test_all_is_sorted_and_complete(module_name):
    module = importlib.import_module(module_name)
    assert list(module.__all__) == sorted(set(module.__all__))
    here = {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(thing) or inspect.isfunction(thing))
        and f"{thing.__module__}.".startswith(f"{module_name}.")
    }
    assert here <= set(module.__all__)


def test_the_package_names_every_public_module():
    public = {name for name in MODULES if not name.rpartition(".")[2].startswith("_")}
    assert public == set(PUBLIC_MODULES) - {"sklearn_rank"}


def test_public_names_are_one_level_deep():
    deeper = [name for name in MODULES if name.count(".") > 1]
    assert deeper
    assert [name for name in deeper if not name.split(".")[2].startswith("_")] == []


def test_no_name_means_two_things():
    meanings = {}
    for name in NAMES:
        meanings.setdefault(name.rpartition(".")[2], set()).add(id(load(name)))
    assert [name for name, things in meanings.items() if len(things) > 1] == []


@pytest.mark.parametrize("part", SUBPACKAGES)
def test_docstrings(part):
    names = names_of(f"sklearn_rank.{part}")
    assert [name for name in names if not load(name).__doc__] == []
    assert complaints(names) == []
    # Examples and relatives are those of the class.
    assert complaints(methods_of(names), ignore=["EX01"]) == []


def test_the_package_offers_only_what_its_subpackages_offer():
    below = {load(name) for name in NAMES if name.count(".") > 1}
    assert {load(name) for name in names_of("sklearn_rank")} - below == {sklearn_rank.doctor}
    assert complaints(["sklearn_rank.doctor"]) == []


def test_every_module_says_what_it_is():
    modules = [name for name in MODULES if not name.endswith("__main__")]  # that runs the demo
    silent = [x for x in modules if not (importlib.import_module(x).__doc__ or "").strip()]
    assert silent == []


@pytest.fixture
def completed(monkeypatch):
    """Function of the text of a page of the reference, as the documentation completes it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("MPLBACKEND", "agg")
    add_unlisted = runpy.run_path(str(ROOT / "docs" / "conf.py"))["add_unlisted"]

    def complete(text):
        source = [text]
        add_unlisted(None, "api/page", source)
        return source[0]

    return complete


def test_every_public_name_is_in_the_reference_once(completed):
    listed = []
    for page in sorted((ROOT / "docs" / "api").glob("*.rst")):
        module = None
        for line in completed(page.read_text(encoding="utf-8")).splitlines():
            name = re.fullmatch(r"(?:   |\.\. auto(?:class|function):: )(\w+)", line)
            if line.startswith(".. currentmodule:: "):
                module = line.split()[-1]
            elif name and module:
                listed.append(f"{module}.{name[1]}")
    # Rankers are listed under the package itself.
    names = [name for name in NAMES if not name.startswith("sklearn_rank.rankers.")]
    assert sorted(listed) == sorted(names)


def test_rankers_link_to_their_pages_in_the_reference():
    rankers = [
        name for name in sklearn_rank.__all__ if hasattr(load(f"sklearn_rank.{name}"), "fit")
    ]
    assert len(rankers) > 10
    for name in ["model_selection.BoundSearchCV", *rankers]:
        kind = load(f"sklearn_rank.{name}")
        page = kind._get_doc_link(kind.__new__(kind)).rpartition("/")[2]
        assert page == f"sklearn_rank.{name}.html"


def test_the_reference_documents_what_no_heading_lists(completed):
    text = (ROOT / "docs" / "api" / "metrics.rst").read_text(encoding="utf-8")
    fewer = text.replace("   ndcg_score\n", "").replace("   Measure\n", "")
    added = completed(fewer).removeprefix(fewer)
    assert {("class", "Measure", "   :members:"), ("function", "ndcg_score", "")} <= set(
        re.findall(r"^\.\. auto(\w+):: (\w+)\n(   :members:)?", added, re.M)
    )


def test_names_of_subpackages_are_found():
    for part in SUBPACKAGES:
        for name in set(getattr(sklearn_rank, part).__all__) - set(sklearn_rank.__all__):
            told = rf"write from sklearn_rank\.{part} import {name}\.$"
            with pytest.raises(AttributeError, match=told):
                getattr(sklearn_rank, name)
    for name in ("nowhere", "__path_of__"):
        with pytest.raises(AttributeError, match=rf"has no attribute '{name}'\.$"):
            getattr(sklearn_rank, name)
