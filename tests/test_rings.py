"""Rings stand alone: the tests of the inner ones pass without the folders of the outer ones."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

import sklearn_rank
from tests.test_architecture import imports

PACKAGE = Path(sklearn_rank.__file__).parent
ROOT = Path(__file__).parent.parent

# Of each ring: its outermost layer in the contract, and tests of what it does.
RINGS = {
    "core": (
        "rankers",
        "tests/losses/test_losses.py",
        "tests/metrics/test_against_sklearn.py",
        "tests/metrics/test_top.py",
        "tests/preprocessing",
        "tests/rankers/test_accuracy_at_top.py",
        "tests/rankers/test_order_preserving.py",
        "tests/rankers/test_p_norm_push.py",
        "tests/rankers/test_rank_boost.py",
        "tests/rankers/test_rank_statistic.py",
    ),
    "certainty": (
        "model_selection",
        "tests/bounds/test_auc.py",
        "tests/bounds/test_uniform.py",
        "tests/calibration/test_regret.py",
        "tests/inference/test_auc_interval.py",
        "tests/inference/test_comparison.py",
        "tests/inference/test_queries.py",
        "tests/model_selection/test_bound_scorer.py",
        "tests/model_selection/test_cross_val_interval.py",
        "tests/model_selection/test_query_splitters.py",
    ),
}

# A call that needs a ring around each, and what it says.
CALLS = {
    "core": """
import pytest
import sklearn_rank
with pytest.raises(ImportError, match="RankEnsemble is in .* lacks"):
    sklearn_rank.RankEnsemble
""",
    "certainty": """
import pytest
from sklearn_rank.inference import metric_interval
with pytest.raises(ImportError, match="is in .*_labels_in_part, .* lacks"):
    metric_interval("auc", [1, 0, None], [3, 2, 1], design="all")
""",
}


def layers_outside(outermost):
    """Modules of the layers above one of the contract."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    above = layers[: layers.index(outermost)]
    return [room.strip() for layer in above for room in re.split("[|:]", layer)]


def files_of(paths):
    """The tests, and the modules of tests that they import."""
    todo = [
        file for path in paths for file in sorted((ROOT / path).rglob("*.py")) or [ROOT / path]
    ]
    seen = []
    while todo:
        seen.append(file := todo.pop())
        modules = {
            name.rpartition(".")[0] for _, name in imports(file) if name.startswith("tests.")
        }
        files = {(ROOT / module.replace(".", "/")).with_suffix(".py") for module in modules}
        todo += sorted(file for file in files - set(seen) - set(todo) if file.exists())
    return seen


@pytest.mark.parametrize("ring", RINGS)
def test_tests_of_a_ring_import_nothing_of_the_rings_around_it(ring):
    outermost, *tests = RINGS[ring]
    outside = {f"sklearn_rank.{room}" for room in layers_outside(outermost)}
    for file in files_of(tests):
        for line, name in imports(file):
            if name.startswith("sklearn_rank."):
                thing = resolve_name(name)
                home = getattr(thing, "__module__", getattr(thing, "__name__", name))
                assert ".".join(home.split(".")[:2]) not in outside, f"{file}:{line} {name}"


def run(root, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(root)},
        cwd=root,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("ring", RINGS)
def test_a_ring_passes_its_tests_without_the_rings_around_it(ring, tmp_path):
    outermost, *tests = RINGS[ring]
    ignored = shutil.ignore_patterns("*-pytest-*", "*.tmp*", "*.pyc.*")
    for source in (PACKAGE, ROOT / "tests"):
        shutil.copytree(source, tmp_path / source.name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name in ["__main__", *layers_outside(outermost)]:
        path = tmp_path / "sklearn_rank" / name
        shutil.rmtree(path) if path.is_dir() else path.with_suffix(".py").unlink()
    run(tmp_path, "-c", CALLS[ring])
    report = run(tmp_path, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests)
    assert re.search(r"\d{3,} passed", report)
