"""The layers of the package, and what `import sklearn_rank` may cost.

import-linter checks the layers in continuous integration. The tests here read the same contract
from pyproject.toml, need no extra tool, and check what import-linter cannot: names that a module
imports from the top-level package, and where in a file an import stands.
"""

import ast
import os
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import sklearn_rank

PACKAGE = Path(sklearn_rank.__file__).parent
TESTS = Path(__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


@cache
def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def name_of(path):
    return str(path.relative_to(PACKAGE))


def absolute_name(node, path):
    """The module an ImportFrom names, with leading dots resolved."""
    if node.level == 0:
        return node.module
    root = PACKAGE.parent if path.is_relative_to(PACKAGE) else TESTS.parent
    parts = path.relative_to(root).with_suffix("").parts
    parent = parts[: -node.level]
    return ".".join([*parent, *([node.module] if node.module else [])])


@cache
def imports(path):
    """(line, dotted name) of every import, at any depth of the file, but of types alone.

    `from a import b` gives "a.b": b may be a module.
    """
    found = []
    of_types = {
        node
        for block in ast.walk(parse(path))
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in set(ast.walk(parse(path))) - of_types:
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = absolute_name(node, path)
            found += [(node.lineno, f"{module}.{alias.name}") for alias in node.names]
    return found


def imports_of_package():
    """(file, line, dotted name) of every import in the package."""
    return [(path, line, name) for path in FILES for line, name in imports(path)]


def modules_of_package():
    """Top-level modules and packages."""
    files = {path.stem for path in PACKAGE.glob("*.py")}
    return files | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def layer_numbers():
    """Module -> number of its layer in the contract; 0 is the lowest."""
    settings = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = (c["layers"] for c in contracts if c["type"] == "layers")
    return {
        part.strip(" ()"): height
        for height, layer in enumerate(reversed(layers))
        for part in layer.replace(":", "|").split("|")
    }


def part_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def test_imports_go_to_lower_layers():
    height, modules, wrong = layer_numbers(), modules_of_package(), []
    for path, line, name in imports_of_package():
        part, where = part_of(path), f"{name_of(path)}:{line}"
        package, _, rest = name.partition(".")
        target = rest.split(".")[0]
        # The top-level package and `python -m` are above every layer.
        if package != "sklearn_rank" or part in ("__init__", "__main__", target):
            continue
        if target not in modules:
            wrong.append(f"{where} imports {name!r} from the top-level package")
        elif height[target] > height[part] or height[target] == height[part] > 0:
            wrong.append(f"{where} imports {name!r}, which is not below it")
    assert not wrong, "\n".join(wrong)


def test_subpackages_import_public_or_shared_names():
    """Other subpackages import public names, or names that ``_shared`` exports."""
    wrong = []
    for path, line, name in imports_of_package():
        parts = name.split(".")
        if parts[0] != "sklearn_rank" or len(parts) < 3 or parts[1] == part_of(path):
            continue
        if (PACKAGE / parts[1]).is_dir() and parts[2].startswith("_") and parts[2] != "_shared":
            wrong.append(f"{name_of(path)}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_shared_exports_and_defines_nothing():
    for path in PACKAGE.glob("*/_shared.py"):
        nodes = parse(path).body
        defined = [n for n in nodes if not isinstance(n, ast.Expr | ast.ImportFrom)]
        assert defined == [], path
        shown = {
            alias.asname or alias.name
            for n in nodes
            if isinstance(n, ast.ImportFrom)
            for alias in n.names
        }
        part = path.parent.name
        used = {
            name.split(".")[-1]
            for other, _, name in imports_of_package()
            if part_of(other) != part and name.startswith(f"sklearn_rank.{part}._shared.")
        }
        assert shown <= used, f"nobody imports {sorted(shown - used)} of {part}"


def test_only_the_shim_knows_private_scikit_learn():
    wrong = [
        f"{name_of(path)}:{line} imports {name}"
        for path, line, name in imports_of_package()
        if path.name != "_sklearn_compat.py"
        and name.split(".")[0] == "sklearn"
        and any(part.startswith("_") and not part.startswith("__") for part in name.split("."))
    ]
    assert not wrong, "\n".join(wrong)


def test_matplotlib_is_imported_when_it_draws():
    """By its name, in ``axes_of`` and the command."""
    assert not [name for _, _, name in imports_of_package() if name.split(".")[0] == "matplotlib"]


def test_no_assert_and_no_print():
    wrong = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        if path != PACKAGE / "_command" / "_demo.py"  # the demo prints: that is what it is for
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Assert)
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "print"
        )
    ]
    assert not wrong, wrong


def test_every_module_has_a_layer():
    assert modules_of_package() - {"__init__", "__main__"} <= set(layer_numbers())


def test_an_oracle_shares_no_code_with_what_it_judges():
    wrong = [
        f"{path.name}:{line} imports {name}"
        for path in sorted((TESTS / "oracles").rglob("*.py"))
        for line, name in imports(path)
        if name.split(".")[0] == "sklearn_rank"
    ]
    assert not wrong, "\n".join(wrong)


def run_python(code):
    """What `code` prints in a fresh interpreter that sees this very package."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    ).stdout.strip()


def test_import_is_light():
    """``import sklearn_rank`` loads nothing."""
    brought = "[m for m in sys.modules if m.startswith(('sklearn', 'scipy', 'numpy'))]"
    kept = "['sklearn_rank', 'sklearn_rank._version']"
    assert run_python(f"import sys, sklearn_rank; print(sorted({brought}))") == kept


def test_measures_and_their_inference_need_no_compiler_and_no_plots(tmp_path):
    """All modules together load none; values, intervals and the command line work without."""
    heavy = ("cvxpy", "numba", "matplotlib", "sklearn.datasets")
    file = tmp_path / "scores.csv"
    file.write_text("label,score,other\n" + "1,3,1\n0,2,3\n0,1,2\n1,2,3\n" * 30)
    code = (
        "import sys; from sklearn_rank import *\n"
        f"assert not [m for m in {heavy} if m in sys.modules]\n"
        "class Missing:\n"
        "    def find_spec(name, *_):\n"
        "        if name in ('numba', 'cvxpy', 'matplotlib', 'pandas'):\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Missing)\n"
        "import warnings, numpy as np; warnings.simplefilter('ignore')\n"
        "from sklearn_rank.inference import compare, metric_interval\n"
        "from sklearn_rank.metrics import get_measure, get_measure_names\n"
        "from sklearn_rank._command import main\n"
        "y, s = np.random.default_rng(0).integers(0, 2, (2, 300))\n"
        "q, t = np.arange(300) // 50, (s + y) / 2\n"
        "for name in {type(get_measure(x)): x for x in get_measure_names()}.values():\n"
        "    assert np.isfinite(get_measure(name)(y, t, qid=q)), name\n"
        "    if get_measure(name).laws: metric_interval(name, y, t)\n"
        "    if get_measure(name).has_influence: compare(name, y, {'a': s, 'b': t})\n"
        "metric_interval('tau_b', y, s, qid=q)\n"
        f"main(['evaluate', {str(file)!r}, '--label', 'label', '--score', 'score'])\n"
    )
    assert "auc" in run_python(code)


def test_the_help_of_the_command_line_is_light():
    """It imports the command alone: neither NumPy nor any other part of the package."""
    code = (
        "import sys; from sklearn_rank._command import main\n"
        "try: main(['evaluate', '--help'])\n"
        "except SystemExit: pass\n"
        "own = {m for m in sys.modules if m.startswith('sklearn_rank.')}\n"
        "own -= {m for m in own if m.startswith('sklearn_rank._command')}\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'cvxpy', 'numba', 'matplotlib'}\n"
        "print(sorted(own), sorted(heavy & set(sys.modules)))"
    )
    assert run_python(code).splitlines()[-1] == "['sklearn_rank._version'] []"


def test_the_package_offers_what_it_names():
    for name in sklearn_rank.__all__:
        assert name in dir(sklearn_rank)
        assert getattr(sklearn_rank, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'ndcg_score'"):
        _ = sklearn_rank.ndcg_score
