"""What many cores and many scores would take, from what one and two workers took.

    python benchmarks/scale/extrapolate.py [--rows 1e11] [--cores 1000] [--chunk 1e8] [--task-ms 1]

Reads ``results/scale_workers.csv`` (made by ``run.py workers --write``) and prints, for the AUC of
one list on dask, the parallel fraction that one and two workers show and the seconds that a model
of the stages gives. Of the rounds the least counts, which others disturbed least. Nothing in the
table beyond two cores was measured. The model:

- chunks: reading and cutting a chunk, CPU seconds per row as measured, on as many cores
  as there are chunks and cores;
- ranges: joining the pieces of a range of scores and evaluating it, CPU seconds per row as
  measured, on as many cores as there are ranges; there are at most 256;
- shuffle: each row crosses the network once, as a score and a class (9 bytes), over the links of
  the cores that evaluate ranges, each of ``--bandwidth`` MB/s;
- reading: the bytes of the files over the cores, each with ``--disk`` MB/s;
- scheduler: ``--task-ms`` for each task, one after the other: chunks times ranges, and 6 for each
  chunk;
- the stages follow each other, the slowest task of a stage takes ``--straggler`` times the mean,
  and nobody else uses the machines.

"GB / core" is the larger of what the tables take while they are held and cut (twice 9 bytes a row,
over the cores) and of what a range takes while it is evaluated (four times its rows).
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import format_table, stored_results

FEWEST_RANGES = 8
MOST_RANGES = 256
ROWS_OF_RANGE = 2**22
TASKS_OF_CHUNK = 6
BYTES = 9  # of a row in a table: a score in double precision, and its class
COLUMNS = [
    ("rows", "rows", ".0e"),
    ("cores", "cores", ",d"),
    ("chunk", "chunk", ".0e"),
    ("tasks", "tasks", ",d"),
    ("reading", "reading", ",.1f"),
    ("chunks", "chunks", ",.1f"),
    ("shuffle", "shuffle", ",.1f"),
    ("ranges", "ranges", ",.1f"),
    ("scheduler", "scheduler", ",.1f"),
    ("seconds", "sec in all", ",.0f"),
    ("gigabytes", "GB / core", ",.1f"),
    ("measured", "measured", ".1f"),
]
STAGES = {"chunks": ("read_s", "chunk_s", "cut_s"), "ranges": ("range_s",)}


def measured(quantity):
    """Least of the rounds of a quantity by the number of workers, of the most rows with both."""
    found = {}
    for row in stored_results("scale_workers"):
        if row.get(quantity):
            by_workers = found.setdefault(int(row["rows"]), {})
            by_workers.setdefault(int(row["workers"]), []).append(float(row[quantity]))
    both = [n for n, by_workers in found.items() if {1, 2} <= set(by_workers)]
    if not both:
        sys.exit(
            "No figures of one and two workers: python benchmarks/scale/run.py workers --write"
        )
    n = max(both)
    return n, {count: min(values) for count, values in found[n].items()}


def serial_fraction(one, two):
    """Amdahl's s from the times of one and two workers: T2 = s T1 + (1 - s) T1 / 2."""
    return max(0.0, 2.0 * two / one - 1.0)


def cpu_per_row():
    """CPU seconds of a row in each stage: those of the worker, shared out by times of tasks."""
    n, busy = measured("busiest_cpu")
    took = {name: sum(measured(one)[1][1] for one in parts) for name, parts in STAGES.items()}
    other = measured("other_s")[1][1]
    all_took = sum(took.values()) + other
    per_row = {name: busy[1] * seconds / all_took / n for name, seconds in took.items()}
    per_row["chunks"] += busy[1] * other / all_took / n
    return per_row


def predicted(n, cores, chunk, per_row, options):
    """Seconds of each stage."""
    n_chunks = -(-n // chunk)
    n_ranges = min(MOST_RANGES, max(FEWEST_RANGES, -(-n // ROWS_OF_RANGE)))
    evaluating = min(cores, n_ranges)
    tasks = int(n_chunks * n_ranges + TASKS_OF_CHUNK * n_chunks)
    slow = options.straggler if cores > 2 else 1.0
    crossing = BYTES * n * (1 - 1 / cores)
    held = max(2 * BYTES * n / cores, 4 * BYTES * n / n_ranges)
    row = {
        "rows": n,
        "cores": cores,
        "chunk": chunk,
        "tasks": tasks,
        "reading": BYTES * n / min(cores, n_chunks) / options.disk / 1e6,
        "chunks": slow * per_row["chunks"] * n / min(cores, n_chunks),
        "shuffle": crossing / evaluating / options.bandwidth / 1e6,
        "ranges": slow * per_row["ranges"] * n / evaluating,
        "scheduler": tasks * options.task_ms / 1e3,
        "gigabytes": held / 1e9,
    }
    parts = ("reading", "chunks", "shuffle", "ranges", "scheduler")
    return {**row, "seconds": sum(row[one] for one in parts)}


def main():
    """Print the fractions and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e11)
    parser.add_argument("--cores", type=int, default=1000)
    parser.add_argument("--chunk", type=float, default=1e8, help="rows of a chunk")
    parser.add_argument("--task-ms", type=float, default=1.0, help="of the scheduler for a task")
    parser.add_argument("--bandwidth", type=float, default=100.0, help="MB/s of a core's link")
    parser.add_argument("--disk", type=float, default=200.0, help="MB/s that a core reads")
    parser.add_argument("--straggler", type=float, default=1.5, help="slowest task over the mean")
    options = parser.parse_args()
    n, wall = measured("seconds")
    busy = measured("busiest_cpu")[1]
    for name, by_workers in (("wall time", wall), ("CPU of the busiest worker", busy)):
        s = serial_fraction(by_workers[1], by_workers[2])
        cores = options.cores
        print(
            f"{n:,} rows, {name}: {by_workers[1]:.1f} s and {by_workers[2]:.1f} s; serial fraction"
            f" {s:.3f}. {cores} cores: {1 / (s + (1 - s) / cores):.0f} times faster on the same"
            f" rows (Amdahl), {s + (1 - s) * cores:.0f} times as many rows in the same time"
            " (Gustafson)."
        )
    per_row = cpu_per_row()
    print(f"CPU per row: chunks {1e9 * per_row['chunks']:.0f} ns, ranges", end=" ")
    print(f"{1e9 * per_row['ranges']:.0f} ns.")
    rows = [
        {**predicted(n, count, 5e6, per_row, options), "measured": wall[count]} for count in (1, 2)
    ]
    asked = [(1e9, 16, 1e7), (1e10, 128, 1e7), (1e10, 128, options.chunk)]
    asked += [(options.rows, options.cores, 1e7), (options.rows, options.cores, options.chunk)]
    rows += [predicted(*one, per_row, options) for one in asked]
    print(format_table(rows, COLUMNS))


if __name__ == "__main__":
    main()
