"""
Values and times of the measures beside other packages
======================================================

Every package that installs, in one run of ``benchmarks/metric_functions/run.py``. The versions and
the machine are stored beside the results.
"""

# %%
# Values
# ------
#
# An independent implementation computes each measure as the mean over all orders of tied items.
# Most packages agree with it where no scores tie. The last column gives the reason of each
# difference.
import csv
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

results = Path("../../../benchmarks/results")
print("".join((results / "metric_functions.txt").open().readlines()[:4]))
with (results / "metric_functions.csv").open() as lines:
    rows = [row for row in csv.DictReader(lines) if row["measure"]]

peers = [
    row for row in rows if row["peer"] not in ("sklearn_rank", "numpy by hand")
]
print(f"{'package':<18}{'data':<14}{'measure':<15}{'difference':>11}  why")
for row in peers:
    if row["difference"] and abs(float(row["difference"])) > 1e-6:
        why = row["note"].removeprefix("DIFFERS: ")
        print(
            f"{row['peer']:<18}{row['data']:<14}{row['measure']:<15}"
            f"{float(row['difference']):>+11.1e}  {why}"
        )

# %%
# Times
# -----
#
# The time of a call as a multiple of this package's time, which stands beside the name of the
# measure. Left: a million rows in ten thousand queries of 1 to 199 items. Right: one list of a
# million rows. "numpy by hand" is the sort and the sums alone, without checks and mostly without
# ties. Dots left of the line are faster than this package.
ours = {
    (row["data"], row["measure"]): float(row["best_ms"])
    for row in rows
    if row["peer"] == "sklearn_rank" and row["best_ms"]
}
titles = {
    "rr": "reciprocal rank",
    "ap": "average precision",
    "query_auc": "AUC of each query",
    "recall10": "recall@10",
    "precision10": "precision@10",
    "ndcg10_linear": "NDCG@10, gain y",
    "ndcg10_exp": "NDCG@10, gain 2^y - 1",
    "top_dcg": "DCG of the top",
    "van_der_waerden": "normal scores",
    "partial_auc": "partial AUC",
    "power": "p-norm push",
    "bedroc": "BEDROC",
    "local_auc": "local AUC",
    "auc": "AUC",
    "callable": "any function of the ranks",
}
panels = {"ragged": "ten thousand queries", "1e6": "one list"}
names = sorted(
    {
        row["peer"]
        for row in rows
        if row["peer"] != "sklearn_rank"
        and row["data"] in panels
        and row["best_ms"]
        and (row["data"], row["measure"]) in ours
    }
)
palette = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "black",
    "#999999",
)
marks = "os^vDP*X"
looks = {
    name: {
        "color": palette[i % 8],
        "marker": marks[(i + i // 8) % 8],
        "linestyle": "",
    }
    for i, name in enumerate(names)
}
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for panel, (data, title) in zip(axes, panels.items(), strict=True):
    measures = [
        measure for name, measure in ours if name == data and measure in titles
    ]
    for peer, look in looks.items():
        found = [
            (
                float(row["best_ms"]) / ours[data, row["measure"]],
                measures.index(row["measure"]),
            )
            for row in rows
            if row["peer"] == peer
            and row["data"] == data
            and row["best_ms"]
            and row["measure"] in measures
        ]
        if found:
            panel.plot(*zip(*found, strict=True), markersize=7, alpha=0.8, **look)
    labels = [
        f"{titles[measure]} ({ours[data, measure]:.0f} ms)" for measure in measures
    ]
    panel.set(
        xscale="log", yticks=range(len(measures)), yticklabels=labels, title=title
    )
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.axvline(1, color="grey", linewidth=1)
    panel.set_xlabel("time / time of this package")
    panel.grid(axis="x", alpha=0.3)
for name, look in looks.items():
    axes[0].plot([], [], label=name, **look)
figure.legend(loc="outside lower center", ncols=5)
plt.show()
