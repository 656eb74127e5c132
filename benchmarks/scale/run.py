"""Time and memory of metrics against rows and workers, with exponents.

    python benchmarks/scale/run.py metrics|workers [--write] [--data FOLDER]

"metrics": the AUC of n rows (float64 scores, labels of one byte) in memory and by ``Accumulator``,
which reads the same files in batches of a million rows. "workers": ``roc_auc_score`` of dask
arrays whose chunks are read from files by the workers, on ``LocalCluster``s of one and two
processes of one thread.

Every figure is of a fresh process with one thread in every library. "sec" is wall time, "CPU s"
that of the process and all below it, and "load" the load average of the machine at the end of the
measurement: where it is well above the cores in use, wall time says how busy others were and CPU
seconds count. "MB" is the peak of anonymous memory (``RssAnon``, sampled every 10 ms, of several
processes their sum every 100 ms) above what was there before: pages of mapped files, which the
system may drop, do not count.
``--write`` stores ``results/scale_*.csv``.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    describe_machine,
    format_table,
    processes_below,
    release_memory,
    run_worker,
    serve,
    tree_memory,
    tree_seconds,
    update_results,
)

sys.path.insert(0, str(Path(__file__).resolve().parent))
from inputs import BLOCK, flat_files

WAYS = ("in memory", "files, in memory", "accumulator")
DEFAULT_ROWS = {"metrics": ("1e5", "1e6", "1e7", "1e8"), "workers": ("5e7",)}

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
}
KEYS = {
    "metrics": ("way", "rows"),
    "workers": ("measure", "rows", "workers", "round"),
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


WORK = {"metrics": metrics, "workers": workers}


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
    else:
        for n in sizes:
            for count in options.workers:
                yield {"measure": "auc", "rows": n, "workers": count}


def measured(part, row, options):
    """Rows with their figures: one, or one a round."""
    request = {
        **row,
        "part": part,
        "paths": [str(path) for path in flat_files(options.data, row["rows"], 0.1, "float64")],
        "bound": options.bound,
        "chunk": options.chunk,
        "rounds": options.rounds,
    }
    found, problem = run_worker(__file__, request, timeout=options.timeout)
    if options.bound:
        row = {**row, "bound_mb": options.bound}
    rows = [{**row, **report} for report in found]
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


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=WORK)
    parser.add_argument("--rows", nargs="+", help="numbers of rows")
    parser.add_argument("--ways", nargs="+")
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3, help="of workers")
    parser.add_argument("--chunk", type=int, default=5_000_000, help="rows of a chunk of workers")
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


if __name__ == "__main__" and not serve(work):
    main()
