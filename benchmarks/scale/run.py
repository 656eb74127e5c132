"""Time and memory of metrics and fits against rows, features and workers, with exponents.

    python benchmarks/scale/run.py metrics|workers|fits [--write] [--data FOLDER]

"metrics": the AUC of n rows (float64 scores, labels of one byte) in memory and by ``Accumulator``,
which reads the same files in batches of a million rows; "accumulator of 1e6" has
``max_items=1e6``. "workers": ``roc_auc_score`` of dask arrays whose chunks are read from files by
the workers, on ``LocalCluster``s of one and two processes of one thread. "fits": rankers on arrays
in memory, on batches read again in each pass, and out of memory under a bound.

Every figure is of a fresh process with one thread in every library. "sec" is wall time, "CPU s"
that of the process and all below it, and "load" the load average of the machine at the end of the
measurement: where it is well above the cores in use, wall time says how busy others were and CPU
seconds count. "MB" is the peak of anonymous memory (``RssAnon``, sampled every 10 ms, of several
processes their sum every 100 ms) above what was there before: pages of mapped files, which the
system may drop, do not count. Exponents are slopes of least-squares lines through the logarithms
of CPU seconds and rows (of metrics from a million rows on) of this run, or of all that is stored.
``--write`` stores ``results/scale_*.csv``, from which ``extrapolate.py`` reads.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    describe_machine,
    format_table,
    processes_below,
    release_memory,
    run_worker,
    serve,
    stored_results,
    tree_memory,
    tree_seconds,
    update_results,
)

sys.path.insert(0, str(Path(__file__).resolve().parent))
from inputs import BLOCK, PART, feature_files, flat_files

WAYS = ("in memory", "files, in memory", "accumulator", "accumulator of 1e6")
RANKERS = ("OrderPreservingRanker", "RankSVM", "TopPushRanker(.3)", "RankStatisticRanker")
DEFAULT_ROWS = {
    "metrics": ("1e5", "1e6", "1e7", "1e8"),
    "workers": ("5e7",),
    "fits": ("1e5", "3e5", "1e6"),
}

COST = [
    ("seconds", "sec", ".2f"),
    ("cpu", "CPU s", ".2f"),
    ("mb", "MB", ",.0f"),
    ("load", "load", ".1f"),
    ("note", "note", ""),
]
COLUMNS = {
    "metrics": [("way", "way", ""), ("rows", "rows", ",d"), ("per_row", "ns / row", ".1f")],
    "workers": [
        ("measure", "measure", ""),
        ("rows", "rows", ",d"),
        ("workers", "workers", "d"),
        ("speedup", "speed-up", ".2f"),
        ("cpu_speedup", "by CPU", ".2f"),
        ("busiest_cpu", "busiest CPU s", ".2f"),
        ("moved_mb", "MB moved", ".1f"),
        ("tasks", "tasks", "d"),
    ],
    "fits": [
        ("ranker", "ranker", ""),
        ("way", "way", ""),
        ("rows", "rows", ",d"),
        ("features", "features", "d"),
        ("passes", "passes", "d"),
        ("difference", "difference", ".0e"),
    ],
}
KEYS = {
    "metrics": ("way", "rows"),
    "workers": ("measure", "rows", "workers", "round"),
    "fits": ("ranker", "way", "rows", "features"),
}


class Cost:
    """Wall seconds, CPU seconds and the peak of anonymous memory of a block of code."""

    def __enter__(self):
        release_memory()
        self._ended = threading.Event()
        self._processes = processes_below()
        self._before = self._peak = tree_memory("RssAnon", self._processes)
        self._sampling = threading.Thread(target=self._sample, daemon=True)
        self._sampling.start()
        self._busy, self._start = tree_seconds(), time.perf_counter()
        return self

    def _sample(self):
        while not self._ended.wait(0.01 if len(self._processes) == 1 else 0.1):
            self._peak = max(self._peak, tree_memory("RssAnon", self._processes))

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self._start
        self.cpu = tree_seconds() - self._busy
        self._ended.set()
        self._sampling.join()

    def report(self):
        """What was measured, as a row."""
        return {
            "seconds": self.seconds,
            "cpu": self.cpu,
            "mb": (self._peak - self._before) / 1e6,
            "load": os.getloadavg()[0],
        }


def batches_of(paths):
    """A function that reads the rows again, a million at a time."""
    y, s = (np.load(path, mmap_mode="r") for path in paths)

    def read():
        for start in range(0, len(y), BLOCK):
            yield np.array(y[start : start + BLOCK]), np.array(s[start : start + BLOCK])

    return read


def metrics(request):
    """The AUC of one pair of files in one way."""
    from sklearn_rank.metrics import Accumulator, roc_auc_score

    n, way, paths = request["rows"], request["way"], request["paths"]
    arrays = [np.load(path) for path in paths] if way == "in memory" else None
    calls = {
        "in memory": lambda: roc_auc_score(*arrays),
        "files, in memory": lambda: roc_auc_score(*map(np.load, paths)),
        "accumulator": lambda: Accumulator.from_batches(batches_of(paths), "auc").result(),
    }
    if way not in calls:
        most = int(float(way.removeprefix("accumulator of ")))
        calls[way] = lambda: Accumulator.from_batches(
            batches_of(paths), "auc", max_items=most
        ).result()
    roc_auc_score([0, 1], [0.0, 1.0])
    best = None
    if request["bound"]:
        bound_memory(request["bound"])
    for _ in range(5 if n <= 1_000_000 else 1):
        with Cost() as cost:
            value = calls[way]()
        best = cost if best is None or cost.cpu < best.cpu else best
    yield {**best.report(), "value": repr(float(value)), "per_row": 1e9 * best.cpu / n}


def bound_memory(megabytes):
    """Let the system refuse more private memory, mapped or not yet touched, than this."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (megabytes * 10**6,) * 2)


def dask_columns(paths, n, chunk):
    """Labels and scores as dask arrays whose chunks are read from files where they are used."""
    import dask
    import dask.array as da

    def part(path, start, stop):
        return np.array(np.load(path, mmap_mode="r")[start:stop])

    columns = []
    for path in paths:
        dtype = np.load(path, mmap_mode="r").dtype
        chunks = [
            da.from_delayed(
                dask.delayed(part)(str(path), start, min(start + chunk, n)),
                (min(chunk, n - start),),
                dtype,
            )
            for start in range(0, n, chunk)
        ]
        columns.append(da.concatenate(chunks))
    return columns


def workers(request):
    """One measure of dask arrays on so many processes of this machine, several times."""
    from distributed import Client, LocalCluster, get_task_stream

    from sklearn_rank.metrics import get_measure

    measure = get_measure(request["measure"])
    with (
        LocalCluster(
            n_workers=request["workers"],
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit="6GB",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(request["workers"])
        columns = dask_columns(request["paths"], request["rows"], request["chunk"])
        measure(*(column[: request["chunk"]] for column in columns))  # imports and compiles
        for number in range(request["rounds"]):
            sent, busy = bytes_sent(client), client.run(time.process_time)
            with get_task_stream() as stream, Cost() as cost:
                value = measure(*columns)
            ended = client.run(time.process_time)
            yield {
                **cost.report(),
                "busiest_cpu": max(ended[one] - busy[one] for one in busy),
                "round": number,
                "value": repr(float(value)),
                "moved_mb": (bytes_sent(client) - sent) / 1e6,
                **task_times(stream.data),
            }


def bytes_sent(client):
    """Bytes that the workers have sent so far, to each other and to the client."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


STAGES = {  # names of the tasks of each stage of a measure of one list
    "read": ("part",),
    "chunk": ("on_chunk",),
    "cut": ("sample", "cut", "merge_present"),
    "range": ("of_range",),
}


def task_times(records):
    """How many tasks ran, how long those of each stage took together, and the longest of all."""
    from dask.utils import key_split

    seconds = dict.fromkeys([*STAGES, "other", "transfer"], 0.0)
    longest = 0.0
    for record in records:
        name = key_split(record["key"])
        stage = next((one for one, names in STAGES.items() if name in names), "other")
        for step in record["startstops"]:
            took = step["stop"] - step["start"]
            if step["action"] == "compute":
                seconds[stage] += took
                longest = max(longest, took)
            elif step["action"] == "transfer":
                seconds["transfer"] += took
    found = {f"{stage}_s": took for stage, took in seconds.items()}
    return {"tasks": len(records), "longest_s": longest, **found}


def binary(grade):
    """Labels of rankers for two classes."""
    return (grade >= 2).astype(np.int8)


def ranker_of(name):
    """An unfitted ranker, and whether it takes grades and queries."""
    import sklearn_rank

    return {
        "OrderPreservingRanker": (sklearn_rank.OrderPreservingRanker(), True),
        "RankSVM": (sklearn_rank.RankSVM(), True),
        "TopPushRanker(.3)": (sklearn_rank.TopPushRanker(0.3), False),
        "RankStatisticRanker": (sklearn_rank.RankStatisticRanker(n_folds=None), False),
    }[name]


def row_batches(paths, n, graded, passes):
    """Batches of 50,000 rows of the files, read again in each pass over them."""
    from sklearn_rank.datasets import RowBatches

    X, grade, qid = (np.load(path, mmap_mode="r") for path in paths)

    def read():
        passes.append(0)
        for start in range(0, n, PART):
            part = slice(start, min(start + PART, n))
            batch = {"X": np.array(X[part]), "y": np.array(grade[part])}
            if graded:
                yield {**batch, "qid": np.array(qid[part])}
            else:
                yield {**batch, "y": binary(batch["y"])}

    return RowBatches(read, cache_size=0)


def labelled_rows(request, n, graded, passes):
    """X, y and the other arguments of ``fit``, in memory or as batches."""
    if request["way"] == "batches":
        X = row_batches(request["paths"], n, graded, passes)
        return X, X.y, {"qid": X.qid} if graded else {}
    X, grade, qid = (np.array(np.load(path, mmap_mode="r")[:n]) for path in request["paths"])
    return (X, grade, {"qid": qid}) if graded else (X, binary(grade), {})


def fits(request):
    """Fit one ranker on rows in memory, or on batches that are read again."""
    warnings.simplefilter("ignore")
    ranker, graded = ranker_of(request["ranker"])
    passes = []
    X, y, more = labelled_rows(request, 5_000, graded, passes)
    clone(ranker).fit(X, y, **more)  # imports and compiles
    passes.clear()
    in_memory = request["way"] == "in memory"
    rows = labelled_rows(request, request["rows"], graded, passes) if in_memory else None
    if request["bound"]:
        bound_memory(request["bound"])
    with Cost() as cost:
        X, y, more = rows or labelled_rows(request, request["rows"], graded, passes)
        ranker.fit(X, y, **more)
    if request["coef"]:
        np.save(request["coef"], ranker.coef_)
    yield {
        **cost.report(),
        "passes": len(passes) or None,
        "steps": int(np.max(ranker.n_iter_)),
        "objective": repr(float(ranker.objective_)),
    }


WORK = {"metrics": metrics, "workers": workers, "fits": fits}


def work(request):
    """Answer one request."""
    yield from WORK[request["part"]](request)


def requests(part, options):
    """What to measure, as rows without their figures."""
    sizes = [int(float(n)) for n in options.rows or DEFAULT_ROWS[part]]
    if part == "metrics":
        for n in sizes:
            for way in options.ways or WAYS:
                yield {"way": way, "rows": n}
    elif part == "workers":
        for n in sizes:
            for count in options.workers:
                yield {"measure": "auc", "rows": n, "workers": count}
    else:
        for n in sizes:
            for name in options.rankers:
                for way in options.ways or ("in memory", "batches"):
                    yield {"ranker": name, "way": way, "rows": n, "features": options.features}


def files_of(row, options):
    """The files that a row needs."""
    if "features" in row:
        return feature_files(options.data, row["rows"], row["features"])
    return flat_files(options.data, row["rows"], 0.1, "float64")


def measured(part, row, options):
    """Rows with their figures: one, or one a round."""
    request = {
        **row,
        "part": part,
        "paths": [str(path) for path in files_of(row, options)],
        "bound": options.bound,
        "chunk": options.chunk,
        "rounds": options.rounds,
    }
    if part == "fits":
        name = f"coef {row['ranker']} {row['rows']} {row['way']}.npy"
        request["coef"] = str(Path(options.data, name))
    found, problem = run_worker(__file__, request, timeout=options.timeout)
    if options.bound:
        row = {**row, "bound_mb": options.bound}
    rows = [{**row, **report} for report in found]
    if part == "fits" and found and row["way"] != "in memory":
        rows[0]["difference"] = difference(Path(request["coef"]), row["way"])
    return [*rows, {**row, "note": problem}] if problem else rows


def with_speedups(rows):
    """Best wall time of one worker over that of each row, and the same of the busiest worker."""
    best = {}
    for row in rows:
        if row.get("workers") == 1 and "seconds" in row:
            known = best.setdefault(row["rows"], dict.fromkeys(("seconds", "busiest_cpu"), np.inf))
            for key in known:
                known[key] = min(known[key], row[key])
    for row in rows:
        if row["rows"] in best and "seconds" in row:
            row["speedup"] = best[row["rows"]]["seconds"] / row["seconds"]
            row["cpu_speedup"] = best[row["rows"]]["busiest_cpu"] / row["busiest_cpu"]
    return rows


def difference(path, way):
    """Largest difference from the weights of the fit in memory, to the largest of these."""
    other = path.with_name(path.name.replace(way, "in memory"))
    if not other.exists():
        return None
    found, expected = np.load(path), np.load(other)
    return float(abs(found - expected).max() / abs(expected).max())


def exponents(rows):
    """Slope of log CPU seconds over log rows, for each series of three sizes or more."""
    series = {}
    for row in rows:
        if row.get("cpu") and (float(row["rows"]) >= 1_000_000 or "ranker" in row):
            name = ", ".join(row[key] for key in ("ranker", "measure", "way") if key in row)
            series.setdefault(name, []).append((float(row["rows"]), float(row["cpu"])))
    for name, points in series.items():
        if len({n for n, _ in points}) >= 3:
            n, cpu = np.log(np.array(points)).T
            yield f"{name}: CPU seconds ~ rows ** {np.polyfit(n, cpu, 1)[0]:.2f}"


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=WORK)
    parser.add_argument("--rows", nargs="+", help="numbers of rows")
    parser.add_argument("--ways", nargs="+")
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3, help="of workers")
    parser.add_argument("--chunk", type=int, default=5_000_000, help="rows of a chunk of workers")
    parser.add_argument("--rankers", nargs="+", default=list(RANKERS))
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--bound", type=int, default=0, help="MB of private memory; 0: none")
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--data", help="folder in which the files stay", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    print(describe_machine("dask"))
    with tempfile.TemporaryDirectory() as temporary:
        options.data = options.data or Path(temporary)
        rows = []
        for asked in requests(options.part, options):
            for row in measured(options.part, asked, options):
                rows.append(row)
                print(row, flush=True)
                if options.write:
                    name = f"scale_{options.part}"
                    update_results(name, [row], KEYS[options.part])
    if options.part == "workers":
        with_speedups(rows)
    print(format_table(rows, COLUMNS[options.part] + COST))
    if options.write:
        rows = stored_results(f"scale_{options.part}")
    print(*exponents(rows), sep="\n")


if __name__ == "__main__" and not serve(work):
    main()
