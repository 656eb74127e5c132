"""
Label rankers on six data sets
==============================

Held-out Kendall's tau of linear rankers, kernels and forests, and the cost of hidden training
labels.
"""

# %%
# ``python benchmarks/studies/label_ranking.py --run --speed`` stores the value of each fold: ten
# folds, repeated one to five times. The interval of a mean over folds is a 95 % interval of
# Student's t that allows for the training rows which folds share (Nadeau and Bengio, 2003).
import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t

with open(Path("../../../benchmarks/results/label_ranking.csv")) as lines:
    rows = list(csv.DictReader(lines))
SETS = ["bodyfat", "glass", "housing", "iris", "vowel", "wine"]
folds = defaultdict(list)
for row in rows:
    values = np.array(row["folds"].split(), float) / 1e5
    folds[row["method"], row["set"], float(row["hidden"])].append(values)


def mean_and_half(method, name):
    values = np.concatenate(folds[method, name, 0.0])
    error = np.std(values, ddof=1) * np.sqrt(1 / len(values) + 1 / 9)
    return np.mean(values), t.ppf(0.975, len(values) - 1) * error


# %%
# The better ranker depends on the data set: linear scores on bodyfat, forests and the Laplacian
# kernel on glass, housing and vowel.
METHODS = {
    "linear regression": ("linear regression of positions", "black", "x"),
    "linear": ("OrderPreservingLabelRanker()", "#0072B2", "o"),
    "logistic pairs": ("LabelRanker(LogisticRegression())", "#56B4E9", "D"),
    "laplacian kernel": (
        'OrderPreservingLabelRanker(kernel="laplacian")',
        "#E69F00",
        "s",
    ),
    "extra trees, leaves chosen": ("LabelRanker()", "#D55E00", "^"),
}
figure, axes = plt.subplots(figsize=(9.5, 5.2), layout="constrained")
for number, (method, (label, color, marker)) in enumerate(METHODS.items()):
    means, halves = np.transpose([mean_and_half(method, name) for name in SETS])
    at = np.arange(len(SETS)) + 0.14 * (number - 2)
    axes.errorbar(
        at, means, yerr=halves, fmt=marker, color=color, capsize=2, label=label
    )
axes.set_xticks(range(len(SETS)), SETS)
axes.set(ylabel="held-out Kendall's tau", ylim=(0, 1.02))
axes.grid(axis="y", alpha=0.3)
figure.legend(loc="outside lower center", ncols=2)
plt.show()

# %%
# Labels of the training rows are hidden at random. Means over the six data sets.
HIDDEN = {
    "linear regression, complete rows": (
        "linear regression, complete rows",
        "black",
        "x--",
    ),
    "linear": ("OrderPreservingLabelRanker()", "#0072B2", "o-"),
    "extra trees, complete rows": (
        "LabelRanker(ExtraTreesRegressor()), complete rows",
        "#E69F00",
        "s--",
    ),
    "extra trees, leaves chosen": ("LabelRanker()", "#D55E00", "^-"),
}


def mean_of_sets(method, share):
    known = (
        method
        if folds[method, "iris", share]
        else method.removesuffix(", complete rows")
    )
    return np.mean(
        [np.mean(np.concatenate(folds[known, name, share])) for name in SETS]
    )


shares = [0.0, 0.3, 0.6]
figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
for method, (label, color, style) in HIDDEN.items():
    taus = [mean_of_sets(method, share) for share in shares]
    axes.plot(shares, taus, style, color=color, label=label)
axes.set_xticks(shares, ["none", "30 %", "60 %"])
axes.set(
    xlabel="hidden labels",
    ylabel="held-out Kendall's tau, mean of six",
    ylim=(0, 0.9),
)
axes.grid(alpha=0.3)
axes.legend(loc="lower left")
plt.show()
