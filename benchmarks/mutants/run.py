"""Do the tests notice mutants of the package?

    python benchmarks/mutants/run.py [--only NAME ...]

A mutant is one changed fragment in a copy of the package; its part of the quick tests must fail.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mutants import MUTANTS

ROOT = Path(__file__).resolve().parents[2]


def outcome(copy, old, new, tests):
    """Say what the tests make of the mutant: killed, alive, or why there is no answer."""
    found = [path for path in copy.glob("sklearn_rank/**/*.py") if old in path.read_text()]
    if len(found) != 1 or found[0].read_text().count(old) != 1:
        return f"fragment in {len(found)} files"
    path = found[0]
    source = path.read_text()
    # What numba compiled of other files may contain code of this one.
    cache = copy / ("cache_of_mutant" if "_jit" in source else "cache")
    shutil.rmtree(copy / "cache_of_mutant", ignore_errors=True)
    environment = os.environ | {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(cache)}
    files = [str(path) for pattern in tests.split() for path in copy.glob(pattern)]
    path.write_text(source.replace(old, new))
    try:
        options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *options, *files]
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    finally:
        path.write_text(source)
    last = done.stdout.strip().rpartition("\n")[2]
    return {0: "alive", 1: "killed"}.get(done.returncode, f"exit {done.returncode}: {last}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", help="names of mutants")
    names = parser.parse_args().only
    chosen = [mutant for mutant in MUTANTS if names is None or mutant[0] in names]
    n_killed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("sklearn_rank", "tests", "docs"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md"):
            shutil.copy2(ROOT / name, copy)
        for name, *mutant in chosen:
            start = time.perf_counter()
            result = outcome(copy, *mutant)
            n_killed += result == "killed"
            print(f"{name:25} {result} ({time.perf_counter() - start:.0f} s)", flush=True)
    print(f"{n_killed} of {len(chosen)} killed")
    return n_killed < len(chosen)


if __name__ == "__main__":
    sys.exit(main())
