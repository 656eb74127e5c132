"""
Rankers for the top of the list beside logistic regression
==========================================================

Mean gains of five rankers over logistic regression on 26 data sets, and the processor time of
their fits by the number of rows.
"""

# %%
# 500 training rows, every parameter chosen by inner folds
# (``python benchmarks/studies/top_of_list.py --parts family tables``). Means over data
# sets with 95 % intervals; none is significant after Holm's adjustment over the 72 means of the study.
import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t

results = Path("../../../benchmarks/results")


def read(name):
    with open(results / name) as lines:
        return list(csv.DictReader(lines))


RANKERS = {
    "logistic, sum": "TopFocusedRanker",
    "p-norm push": "PNormPushRanker",
    "top push": "TopPushRanker",
    "rank boost": "RankBoostRanker, stumps",
    "rank statistic": "RankStatisticRanker",
}
MEASURES = {
    "P@1%": "precision, first 1 %",
    "P@5%": "precision, first 5 %",
    "AP": "average precision",
}


def mean_and_half(rows, method, base, measure):
    values = defaultdict(dict)
    for row in rows:
        values[row["set"], row["method"]][row["split"]] = float(row[measure])
    means = []
    for name in sorted({row["set"] for row in rows}):
        ours, theirs = values[name, method], values[name, base]
        splits = ours.keys() & theirs.keys()
        if splits:
            means.append(np.mean([ours[split] - theirs[split] for split in splits]))
    half = (
        t.ppf(0.975, len(means) - 1) * np.std(means, ddof=1) / np.sqrt(len(means))
    )
    return np.mean(means), half


def draw(rows, methods, base):
    _, panels = plt.subplots(
        1, 3, figsize=(10, 3.6), sharey=True, layout="constrained"
    )
    for axes, (measure, title) in zip(panels, MEASURES.items(), strict=True):
        axes.axvline(0, color="0.4", linewidth=1)
        for at, method in enumerate(methods):
            mean, half = mean_and_half(rows, method, base, measure)
            axes.errorbar(mean, at, xerr=half, fmt="o", color="#0072B2", capsize=3)
        axes.set(title=title, xlim=(-0.1, 0.1), xticks=[-0.1, -0.05, 0, 0.05])
        axes.set_yticks(range(len(methods)), methods.values())
        axes.grid(axis="x", alpha=0.3)
    panels[0].invert_yaxis()
    panels[1].set_xlabel("difference from logistic regression")
    plt.show()


draw(read("top_of_list_family.csv"), RANKERS, "logistic")

# %%
# Processor seconds of one fit with one thread, on normal rows of 50 features
# (``python benchmarks/top_rankers.py``).
FITS = {
    "TopPushRanker(.3)": ("TopPushRanker(0.3)", "#0072B2", "o"),
    "PNormPushRanker(4)": ("PNormPushRanker(4)", "#009E73", "^"),
    "LogisticRegression": ("LogisticRegression", "black", "x"),
}
times = [row for row in read("top_rankers.csv") if row["data"] == "normal"]
figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
for ranker, (name, color, marker) in FITS.items():
    chosen = sorted(
        (int(r["rows"]), float(r["cpu"])) for r in times if r["ranker"] == ranker
    )
    axes.plot(*zip(*chosen, strict=True), marker=marker, color=color, label=name)
axes.set(
    xscale="log", yscale="log", xlabel="training rows", ylabel="processor seconds"
)
axes.set_xticks([1e4, 1e5, 1e6], ["10,000", "100,000", "1,000,000"])
axes.set_yticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
axes.minorticks_off()
axes.grid(alpha=0.3)
figure.legend(loc="outside right upper")
plt.show()
