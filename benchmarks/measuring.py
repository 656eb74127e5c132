"""Pinned threads, fresh processes, clocks, memory, tables and places; knows no topic."""

import csv
import ctypes
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
PUBLISHED = HERE / "published"  # the figures of others
RESULTS = HERE / "results"  # our own
THREAD_VARIABLES = (
    "BLIS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

# What is measured is the package beside this file, unless PYTHONPATH names another.
if not os.environ.get("PYTHONPATH"):
    sys.path.insert(0, str(REPOSITORY))


def seeded(*key):
    """Generator of random numbers that depends on a key alone."""
    import numpy as np

    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def data_directory():
    """Directory of the data that are not part of a package: by default beside the repository."""
    return Path(os.environ.get("SKLEARN_RANK_DATA", REPOSITORY.parent / "shared" / "data"))


@contextmanager
def tree_of(before):
    """The folder of a version: a folder as it is, a revision of git in a temporary one."""
    if Path(before).is_dir():
        yield Path(before).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "-C", REPOSITORY, "archive", before], check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder)


def pinned_environment(**extra):
    """Environment of a worker: one thread in every library, this checkout importable."""
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1"), **extra}
    paths = [environment.get("PYTHONPATH"), str(REPOSITORY)]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment


def run_worker(script, request, *, timeout=None, python=sys.executable, **extra):
    """Run ``script --worker`` in a fresh, pinned process and return what it reported.

    Parameters
    ----------
    script : str
        File whose worker reads a request and yields reports (see :func:`serve`).
    request : dict
        Anything that JSON can carry.
    timeout : float or None
        Seconds after which the process is ended.
    python : str
        Interpreter, for peers that live in an environment of their own.
    **extra : str
        More environment variables.

    Returns
    -------
    tuple of (list of dict, str)
        The reports, as many as were made, and what went wrong, if anything.
    """
    with tempfile.TemporaryDirectory() as directory:
        asked, answered = Path(directory, "request.json"), Path(directory, "reports.jsonl")
        asked.write_text(json.dumps(request))
        answered.touch()
        problem = ""
        try:
            done = subprocess.run(
                [python, script, "--worker", str(asked), str(answered)],
                env=pinned_environment(**extra),
                capture_output=True,
                text=True,
                timeout=timeout,
            )
            if done.returncode:
                problem = (done.stderr.strip().splitlines() or ["failed without a message"])[-1]
        except subprocess.TimeoutExpired:
            problem = f"ended after {timeout:g} s"
        return [json.loads(line) for line in answered.read_text().splitlines()], problem


def serve(work):
    """Answer a request if this process is a worker; return whether it is."""
    if sys.argv[1:2] != ["--worker"]:
        return False
    asked, answered = sys.argv[2:4]
    with open(answered, "w") as reports:
        for report in work(json.loads(Path(asked).read_text())):
            reports.write(json.dumps(report) + "\n")
            reports.flush()
    return True


def versions_of(*packages):
    """Return the versions of packages in one line, without those that are not installed."""
    found = []
    for name in packages:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def release_memory():
    """Give freed memory back, forget the peak, and return the resident bytes (None: no Linux)."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        return resident_memory("VmRSS")
    except (OSError, AttributeError, TypeError):
        return None


def resident_memory(key):
    """Return the resident bytes of this process, now ("VmRSS") or at their peak ("VmHWM").

    NaN but on Linux.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))


def processes_below():
    """Return the ids of this process and of all that it started and that still run (Linux)."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it ended meanwhile
            continue
    found = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found)


def tree_memory(key, processes=None):
    """Sum a line of ``/proc/*/status``, in bytes, over processes (Linux).

    By default these are this one and all below it.
    """
    total = 0
    for one in processes or processes_below():
        try:
            lines = Path(f"/proc/{one}/status").read_text().splitlines()
        except OSError:
            continue
        total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))
    return total


def tree_seconds():
    """Sum the CPU seconds of this process and of all below it, ended ones included (Linux)."""
    ticks, this = 0, os.getpid()
    for one in set(processes_below()) - {this}:
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    ended = os.times()
    ticks = ticks / os.sysconf("SC_CLK_TCK")
    return ticks + time.process_time() + ended.children_user + ended.children_system


def describe_machine(*packages):
    """Return one line about the machine and one about versions, also those of more packages."""
    processor = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    versions = versions_of("numpy", "scipy", "scikit-learn", "numba", *packages)
    load = ""
    if hasattr(os, "getloadavg"):
        load = f", load {os.getloadavg()[0]:.1f} at the start"
    return (
        f"{platform.system()} {platform.machine()}, {processor}, {os.cpu_count()} cores{load}\n"
        f"Python {platform.python_version()}, {versions}"
    )


def format_table(rows, columns):
    """Lay out dictionaries as a plain text table.

    Parameters
    ----------
    rows : list of dict
        Values by key; a missing key or a NaN leaves the cell empty.
    columns : list of (str, str, str)
        Key, headline, and format of each column; text is set left, numbers right.
    """
    cells = [[headline for _, headline, _ in columns]]
    for row in rows:
        cells.append([_cell(row.get(key), style) for key, _, style in columns])
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    lines = []
    for line in cells:
        parts = [
            cell.rjust(width) if style else cell.ljust(width)
            for cell, width, (_, _, style) in zip(line, widths, columns, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def _cell(value, style):
    if value is None or value != value:
        return ""
    return format(value, style)


def write_table(path, rows, columns):
    """Write rows to a .csv with all keys, or to a .md with the columns of the printed table."""
    path = Path(path)
    if path.suffix == ".csv":
        keys = list(dict.fromkeys(key for row in rows for key in row))
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, keys)
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".md":
        lines = [[headline for _, headline, _ in columns]]
        lines.append(["---:" if style else "---" for _, _, style in columns])
        lines += [[_cell(row.get(key), style) for key, _, style in columns] for row in rows]
        path.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines))
    else:
        raise ValueError(f"--output must end in .csv or .md, got {path.name}.")


def stored_results(name):
    """Read rows of ``results/`` as text by key, none if there is no such file."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def update_results(name, rows, keys):
    """Store rows beside those of earlier runs, in the place of those with the same keys."""
    fresh = {tuple(str(row[key]) for key in keys): row for row in rows}
    kept = {tuple(row[key] for key in keys): row for row in stored_results(name)}
    store_results(name, list((kept | fresh).values()))


def run_cells(cells, name, keys, write, columns=None):
    """Print the rows of a study at last, and store each in ``results/`` as soon as it is done."""
    from threadpoolctl import threadpool_limits

    start, rows = time.perf_counter(), []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in cells:
            rows.append(row)
            if write:
                update_results(name, [row], keys)
    print(format_table(rows, columns or [(key, key, "") for key in rows[-1]]))
    print(f"{time.perf_counter() - start:.0f} s", flush=True)


def store_results(name, rows, made_with=""):
    """Store rows with six digits in ``results/``, and what made them at the end of the first."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    rows = [
        {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()}
        for row in rows
    ]
    if made_with:
        keys.append("versions")
        rows = [{**row, "versions": ""} for row in rows]
        rows[0]["versions"] = made_with
    with open(RESULTS / f"{name}.csv", "w", newline="") as lines:
        writer = csv.DictWriter(lines, keys, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
