"""
The measures beside those of other packages
===========================================

Values and times of every package that installs, in one run of
``benchmarks/metric_functions/run.py``. Versions and machine are stored beside them.
"""

# %%
# Values first. A judge that shares no code with the package computes each measure as the mean over
# all orders of tied items; a package that gives another number does so for the reason beside it.
# Without ties nearly all agree.
import csv
from pathlib import Path

import matplotlib.pyplot as plt

results = Path("../../../benchmarks/results")
print("".join((results / "metric_functions.txt").open().readlines()[:4]))
with (results / "metric_functions.csv").open() as lines:
    rows = [row for row in csv.DictReader(lines) if row["measure"]]

peers = [row for row in rows if row["peer"] not in ("sklearn_rank", "numpy by hand")]
print(f"{'package':<18}{'data':<14}{'measure':<15}{'difference':>11}  why")
for row in peers:
    if row["difference"] and abs(float(row["difference"])) > 1e-6:
        why = row["note"].removeprefix("DIFFERS: ")
        print(
            f"{row['peer']:<18}{row['data']:<14}{row['measure']:<15}"
            f"{float(row['difference']):>+11.1e}  {why}"
        )

# %%
# How long a call takes, as a multiple of ours: a million rows in ten thousand queries of all
# lengths (left), and in one list (right). "numpy by hand" is the sort and the sums alone, without
# checks and mostly without ties: near to what can be reached. A dot left of the line is faster.
ours = {
    (row["data"], row["measure"]): float(row["best_ms"])
    for row in rows
    if row["peer"] == "sklearn_rank" and row["best_ms"]
}
colors = dict(
    zip(
        sorted({row["peer"] for row in rows if row["peer"] != "sklearn_rank"}),
        plt.cm.tab20.colors,
        strict=False,
    )
)
figure, panels = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for axes, data in zip(panels, ("ragged", "1e6"), strict=True):
    measures = [measure for name, measure in ours if name == data]
    for peer, color in colors.items():
        found = [
            (float(row["best_ms"]) / ours[data, row["measure"]], measures.index(row["measure"]))
            for row in rows
            if row["peer"] == peer and row["data"] == data and row["best_ms"]
        ]
        if found:
            axes.plot(*zip(*found, strict=True), "o", color=color, label=peer)
    labels = [f"{measure} ({ours[data, measure]:.0f} ms)" for measure in measures]
    axes.set(xscale="log", yticks=range(len(measures)), yticklabels=labels, title=data)
    axes.axvline(1, color="grey", linewidth=1)
    axes.set_xlabel("time / ours")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize="small")
plt.show()
