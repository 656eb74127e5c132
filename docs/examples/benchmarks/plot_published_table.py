"""
Published precision at the top, repeated
========================================

Precision at the top on the Ionosphere data as reported by Boyd, Cortes, Mohri and Radovanovic
(2012), and as reached by the rankers of this package with the same protocol.
"""

# %%
# The rankers are trained on three of ten parts and tested on the other seven, ten times, with
# ``C`` chosen by the mean over the test folds. ``python benchmarks/studies/published_tables.py
# --write`` stores the values. The paper has one partition of the rows; the repetition has twenty
# random ones (eight for Infinite Push and SVMperf), with 95 % intervals of the mean over
# partitions. Infinite Push is ``TopPushRanker(top_size=1, loss="hinge")``; SVMperf is
# ``StructuralRanker("precision@top...")``.
import csv
from pathlib import Path

import matplotlib.pyplot as plt

benchmarks = Path("../../../benchmarks")


def read(name):
    with open(benchmarks / name) as lines:
        return list(csv.DictReader(lines))


COLORS = ["#0072B2", "#E69F00", "black", "#D55E00", "#56B4E9", "#009E73", "#CC79A7"]
figure, axes = plt.subplots(figsize=(9.5, 4.6), layout="constrained")
axes.set_prop_cycle(color=COLORS)
markers = {"AATP": "D", "SVMperf": "v", "InfinitePush": "X"}
for method, marker in markers.items():
    rows = [
        row
        for row in read("published/boyd2012_table1.csv")
        if row["method"] == method
    ]
    x = [float(row["tau_percent"]) for row in rows]
    y = [float(row["precision"]) for row in rows]
    axes.plot(
        x, y, marker, color="0.55", ls=":", ms=6, label=f"{method} (published)"
    )

ours = [
    row
    for row in read("results/published_tables.csv")
    if row["data"] == "Ionosphere, random" and row["C"] == "by mean"
]
lines = {
    ("linear", "scaled"): ("AccuracyAtTopRanker, linear", "o-"),
    ("linear, pairs", "scaled"): ("the same, costs and quantile of pairs", "d-"),
    ("rbf", "scaled"): ("AccuracyAtTopRanker, rbf", "s-"),
    ("logistic", "scaled"): ("LogisticRegression", "^-"),
    ("infinite push", "scaled"): ("Infinite Push", "X-"),
    ("SVMperf", "scaled"): ("SVMperf", "v-"),
    ("SVMperf, best", "scaled"): ('SVMperf, reference="best"', "v--"),
}
for (kernel, features), (label, style) in lines.items():
    rows = [
        row
        for row in ours
        if (row["kernel"], row["features"]) == (kernel, features)
    ]
    axes.errorbar(
        [float(row["tau_percent"]) for row in rows],
        [float(row["precision"]) for row in rows],
        [float(row["half_width"]) for row in rows],
        fmt=style,
        capsize=3,
        label=label,
    )
axes.set(
    xlabel="top of the list (%)",
    ylabel="held-out precision at the top",
    ylim=(0.3, 1.02),
)
axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
axes.set_xticks([1, 5, 9.5, 14, 19])
plt.show()
