"""Compiling: it releases the GIL, divides as IEEE says, and works where no cache can be kept."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import sklearn_rank
from sklearn_rank import _jit
from sklearn_rank._jit import compiled

# No place to keep machine code: numba then refuses cache=True when a function is decorated.
NOWHERE = """
from numba.core import caching
for implementation in (caching.CompileResultCacheImpl, caching.CodeLibraryCacheImpl):
    implementation._locator_classes = []
"""

SMALL = """
import numba, warnings
warnings.simplefilter("error")
try:
    numba.njit(cache=True)(lambda x: x)
except RuntimeError as error:
    assert "no locator available" in str(error), error
else:
    raise SystemExit("the test forces nothing: numba found a place for its cache")
from sklearn_rank._jit import compiled
"""

FIT = """
import warnings
warnings.simplefilter("error")
import numpy as np
import sklearn_rank
from sklearn_rank import _optional
_optional.BREAK_EVEN = 0.0
X = np.random.default_rng(0).normal(size=(20, 2))
ranker = sklearn_rank.AccuracyAtTopRanker(tau=0.2).fit(X, X[:, 0] > 0.3)
print(ranker.dual_gap_ <= 1e-6)
"""


def run(code, **environment):
    root = str(Path(sklearn_rank.__file__).parents[1])
    tests = str(Path(__file__).parents[1])
    path = os.pathsep.join([root, tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_with_and_without_a_signature():
    @compiled()
    def inverse(x):
        return 1.0 / x

    @compiled("float64(float64)")
    def half(x):
        return x / 2.0

    assert half.__name__ == "half"
    assert half._machine_code is None
    assert half(3.0) == 1.5
    assert half._machine_code is half.compile()
    assert half.compile().nopython_signatures
    for function in (inverse, half.compile()):
        assert function.targetoptions["nogil"]
        assert not function.targetoptions.get("parallel", False)
        assert not function.targetoptions.get("fastmath", False)
    assert inverse(4.0) == 0.25
    assert inverse(0.0) == np.inf  # no ZeroDivisionError


def test_slow_compiling_is_told_once(monkeypatch, capsys):
    monkeypatch.setattr(_jit, "PATIENCE", 300.0)
    assert compiled("float64(float64)")(lambda x: x)(1.0) == 1.0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_jit, "PATIENCE", 0.0)
    monkeypatch.setattr(_jit, "_reported", threading.Event())
    for shift in (1.0, 2.0):
        # No file to keep machine code for: it is compiled each time.
        source = f"def shifted(x):\n    return x + {shift}\n"
        scope = {}
        exec(source, scope)
        assert compiled("float64(float64)")(scope["shifted"])(1.0) == 1.0 + shift
    assert capsys.readouterr().err.count("sklearn_rank compiles") == 1


def test_functions_compile_where_no_cache_can_be_kept(tmp_path):
    module = tmp_path / "kernel_without_cache.py"
    module.write_text(
        "from sklearn_rank._jit import compiled\n\n\n"
        '@compiled("float64(float64)")\n'
        "def half(x):\n"
        "    return x / 2.0\n"
    )
    code = NOWHERE + SMALL + f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    assert run(code + "from kernel_without_cache import half; print(half(3.0))").strip() == "1.5"
    assert not list(tmp_path.rglob("*.nbi"))


@pytest.mark.slow
def test_a_fit_works_where_no_cache_can_be_kept(tmp_path):
    # A file in the way: not even the administrator can make a directory below it.
    (tmp_path / "file").write_text("")
    assert run(FIT, NUMBA_CACHE_DIR=str(tmp_path / "file" / "cache")).strip() == "True"


SMALL_FITS = """
import sys, warnings
from inspect import signature
import numpy as np
from tests.catalogue import BIPARTITE_RANKERS, LABEL_RANKERS, META_RANKERS, QUERY_RANKERS
warnings.simplefilter("ignore")
X, noise = np.random.default_rng(0).normal(size=(2, 120, 4))
y, qid = (X[:, 0] + noise[:, 0] > 0.5).astype(int), np.repeat(np.arange(12), 10)
for ranker in (*BIPARTITE_RANKERS, *META_RANKERS, *QUERY_RANKERS):
    ranker.fit(X, y, **({"qid": qid} if "qid" in signature(ranker.fit).parameters else {}))
    assert "numba" not in sys.modules, ranker
for ranker in LABEL_RANKERS:
    ranker.fit(X, abs(X + noise))
print("numba" in sys.modules)
"""


@pytest.mark.slow
def test_small_fits_import_no_numba():
    assert run(SMALL_FITS).strip() == "False"


def test_arrays_of_other_processes_are_taken():
    kernel = compiled("void(f8[::1], f8[::1])")(_double)
    whole = np.arange(3.0)
    read_only = whole.copy()
    read_only.flags.writeable = False
    anywhere = np.frombuffer(b"abc" + whole.tobytes(), np.float64, offset=3)
    assert not anywhere.flags.aligned
    for x in (whole, read_only, anywhere):
        out = np.empty(3)
        kernel(x, out)
        np.testing.assert_array_equal(out, 2 * whole)
    with pytest.raises(TypeError, match="No matching definition"):
        kernel(whole.astype(np.float32), np.empty(3))


def _double(x, out):
    for i in range(len(x)):
        out[i] = 2.0 * x[i]


KERNELS = """
from sklearn_rank._jit import compiled


@compiled()
def twice(x):
    return 2.0 * x


@compiled("float64(float64)")
def four_times(x):
    return twice(twice(x))


@compiled("float64(float64)")
def six_times(x):
    return 3.0 * twice(x)
"""

CALLED = """
import sys, warnings
sys.path.insert(0, {folder!r})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from kernels import four_times, six_times
    print(four_times(1.0), six_times(1.0))
print([str(w.message) for w in caught])
"""


def damage(file, how):
    if how == "truncated":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    elif how == "empty":
        file.write_bytes(b"")
    else:
        file.write_bytes(b"no machine code")


@pytest.mark.slow
def test_a_damaged_cache_is_compiled_anew_with_one_warning(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    code = CALLED.format(folder=str(tmp_path))
    assert run(code).splitlines() == ["4.0 6.0", "[]"]
    whole = {file: file.read_bytes() for file in tmp_path.rglob("*.nb[ic]")}
    for suffix, how in ((".nbi", "truncated"), (".nbi", "empty"), (".nbc", "garbage")):
        assert any(file.suffix == suffix for file in whole)
        for file, content in whole.items():
            file.write_bytes(content)
            if file.suffix == suffix:
                damage(file, how)
        values, messages = run(code).splitlines()
        assert values == "4.0 6.0"
        # Numba itself passes over an index that is empty or garbage in some of its versions.
        assert messages.count("The compiled code in") == (messages != "[]")
        assert "NUMBA_CACHE_DIR" in messages or messages == "[]"


def test_a_full_disk_is_one_warning(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    full = (
        "import os\n"
        "def full(*args):\n"
        "    raise OSError(28, 'No space left on device')\n"
        "os.replace = full\n"
    )
    values, messages = run(full + CALLED.format(folder=str(tmp_path))).splitlines()
    assert values == "4.0 6.0"
    assert messages.count("No space left on device") == 1
    assert str(tmp_path) in messages


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_fork_waits_for_the_compiler(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    code = (
        "import os, sys, threading, time\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from kernels import four_times, six_times\n"
        "thread = threading.Thread(target=four_times, args=(1.0,))\n"
        "thread.start()\n"
        "time.sleep(0.05)\n"  # it compiles now
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(int(six_times(1.0)))\n"
        "thread.join()\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert run(code).strip() == "6"
