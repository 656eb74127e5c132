"""
Time and memory of an exact AUC on large data
=============================================

CPU seconds and memory of the AUC of one million to 200 million scores: this package, scikit-learn,
DuckDB and Spark. The figures show stored results; the machine has two cores and 24 GB.
"""

# %%
# Beside other engines
# --------------------
#
# ``python benchmarks/scale/references.py`` reads scores from one Parquet file, 1 % of them
# positive. All values agree to rounding. Spark's exact mode has not finished ten million scores
# after 460 seconds.
import csv
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

results = Path("../../../benchmarks/results")


def read(name):
    with (results / name).open() as lines:
        return list(csv.DictReader(lines))


def log_axes(axes, ticks):
    axes.set(xscale="log", yscale="log", xlabel="scores")
    plain = FuncFormatter(lambda value, _: f"{value:,g}")
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda n, _: f"{n / 1e6:g} million")
    )
    axes.set_xticks(ticks)
    axes.yaxis.set_major_formatter(plain)
    axes.minorticks_off()
    axes.grid(alpha=0.3)


peers = {
    "sklearn_rank, in memory": ("#0072B2", "o-"),
    "scikit-learn, in memory": ("#D55E00", "s-"),
    "DuckDB, asof join": ("#009E73", "^-"),
    "DuckDB, window of ranks": ("#CC79A7", "v-"),
    "DuckDB, group by score": ("#E69F00", "D-"),
    "Spark, exact (numBins=0)": ("black", "x"),
}
found = [
    row
    for row in read("scale_references.csv")
    if (row["kind"], row["prevalence"]) == ("float64", "0.01") and row["cpu"]
]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for peer, (color, style) in peers.items():
    lines = sorted(
        (float(r["rows"]), float(r["cpu"]), float(r["mb"]))
        for r in found
        if r["peer"] == peer
    )
    n, cpu, memory = zip(*lines, strict=True)
    left.plot(n, cpu, style, color=color, label=peer)
    right.plot(n, [m / 1000 for m in memory], style, color=color)
for axes, name in ((left, "CPU seconds"), (right, "memory (GB)")):
    log_axes(axes, [1e6, 1e7, 1e8])
    axes.set_ylabel(name)
figure.legend(loc="outside upper center", ncols=3)
plt.show()

# %%
# In memory, in files and in parts
# --------------------------------
#
# ``python benchmarks/scale/run.py metrics`` evaluates the AUC of arrays in memory, and of batches
# read from files with an :class:`~sklearn_rank.metrics.Accumulator`. ``max_items`` limits how many
# distinct rows the accumulator keeps; it then reads the files again.
ways = {
    "in memory": ("arrays in memory", "#0072B2", "o-"),
    "accumulator": ("Accumulator", "#009E73", "s-"),
    "accumulator of 1e6": ("Accumulator, max_items=1e6", "#E69F00", "^-"),
    "accumulator of 2e7": ("Accumulator, max_items=2e7", "#D55E00", "D-"),
}
metrics = read("scale_metrics.csv")
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for way, (name, color, style) in ways.items():
    lines = sorted(
        (float(row["rows"]), float(row["per_row"]), float(row["mb"]))
        for row in metrics
        if row["way"] == way
    )
    n, time, memory = zip(*lines, strict=True)
    left.plot(n, time, style, color=color, label=name)
    right.plot(n, memory, style, color=color)
for axes, name in (
    (left, "CPU nanoseconds per row"),
    (right, "memory on top of the rows (MB)"),
):
    log_axes(axes, [1e5, 1e6, 1e7, 1e8])
    axes.set_ylabel(name)
left.set_ylim(10, 1000)
figure.legend(loc="outside upper center", ncols=2)
plt.show()
