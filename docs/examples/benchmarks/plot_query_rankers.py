"""
Query rankers on four data sets
===============================

Held-out NDCG@10 of linear rankers, boosted trees and their averages on MQ2008, MSLR-WEB10K,
OHSUMED and LightGBM's example, with paired differences and the times of fits.
"""

# %%
# ``python benchmarks/studies/query_rankers.py`` stores the value of each query: three folds of whole
# queries by each of three seeds, every parameter chosen on the training queries.
import csv
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator
from scipy.stats import t

csv.field_size_limit(sys.maxsize)
results = Path("../../../benchmarks/results")


def read(name):
    with open(results / name) as lines:
        return list(csv.DictReader(lines))


rows = read("query_rankers.csv")
SETS = {"MQ2008": 225, "MSLR": 40, "OHSUMED": 105, "LightGBM": 246}
METHODS = {
    "linear, alpha=1": "linear, alpha=1",
    "linear": "linear, normalize and scale",
    "linear, alpha chosen": "OrderPreservingRankerCV",
    "4 linear losses": "RankEnsemble, 4 linear losses",
    "lambdarank, defaults": "LGBMRanker, defaults",
    "lambdarank": "LGBMRanker, chosen",
    "boosted pairwise_logistic": "boosted, pairwise logistic",
    "boosted softmax": "boosted, softmax",
    "2 lambdaranks": "2 LGBMRanker",
    "lambdarank + linear": "LGBMRanker + linear",
    "4 lambdaranks + linear": "4 LGBMRanker + linear",
}


def by_query(method, name):
    found = [row for row in rows if (row["method"], row["set"]) == (method, name)]
    return np.mean(
        [np.array(row["queries"].split(), float) / 1e4 for row in found], axis=0
    )


def mean_and_half(values):
    half = (
        t.ppf(0.975, len(values) - 1)
        * np.std(values, ddof=1)
        / np.sqrt(len(values))
    )
    return np.mean(values), half


# %%
# The intervals of one data set overlap, because the queries differ more than the rankers.
figure, panels = plt.subplots(
    1, 4, figsize=(10.5, 4.6), sharey=True, layout="constrained"
)
for axes, (name, count) in zip(panels, SETS.items(), strict=True):
    for at, method in enumerate(METHODS):
        mean, half = mean_and_half(by_query(method, name))
        axes.errorbar(mean, at, xerr=half, fmt="o", color="#0072B2", capsize=3)
    axes.set_title(f"{name}, {count} queries", size="medium")
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.set_yticks(range(len(METHODS)), METHODS.values())
    axes.set_xlabel("NDCG@10")
    axes.grid(axis="x", alpha=0.3)
panels[0].invert_yaxis()
plt.show()

# %%
# Paired differences over all 616 queries have narrower intervals, here not adjusted for their number.
PAIRS = [
    ("linear", "linear, alpha=1"),
    ("linear, alpha chosen", "linear, alpha=1"),
    ("4 linear losses", "linear, alpha=1"),
    ("boosted pairwise_logistic", "lambdarank"),
    ("boosted softmax", "lambdarank"),
    ("lambdarank", "linear"),
    ("lambdarank + linear", "linear"),
    ("lambdarank + linear", "lambdarank"),
    ("lambdarank + linear", "2 lambdaranks"),
]
figure, axes = plt.subplots(figsize=(8.5, 4), layout="constrained")
axes.axvline(0, color="0.4", linewidth=1)
for at, pair in enumerate(PAIRS):
    ours, theirs = (
        np.concatenate([by_query(m, name) for name in SETS]) for m in pair
    )
    mean, half = mean_and_half(ours - theirs)
    axes.errorbar(mean, at, xerr=half, fmt="o", color="#0072B2", capsize=3)
axes.set_yticks(
    range(len(PAIRS)), [f"{METHODS[a]}\nminus {METHODS[b]}" for a, b in PAIRS]
)
axes.tick_params(axis="y", labelsize="small")
axes.invert_yaxis()
axes.set_xlabel("difference in NDCG@10")
axes.grid(axis="x", alpha=0.3)
plt.show()

# %%
# Seconds of one fit to 100,000 rows of 136 features with one thread
# (``python benchmarks/surrogate_rankers/run.py``). Trees are a hundred rounds.
FITS = {
    "pairwise_squared": "OrderPreservingRanker, pairwise_squared",
    "softmax": "OrderPreservingRanker, softmax",
    "pairwise_logistic": "OrderPreservingRanker, pairwise_logistic",
    "RankSVM squared_hinge": "RankSVM, squared hinge",
    "RankSVM hinge": "RankSVM, hinge",
    "LGBMRanker": "LGBMRanker, 100 trees",
    "XGBRanker": "XGBRanker, 100 trees",
}
seconds = {
    row["fit"]: float(row["seconds"])
    for row in read("surrogate_times.csv")
    if row["data"] == "simulated 100,000 x 136"
}
figure, axes = plt.subplots(figsize=(7.5, 3), layout="constrained")
for at, fit in enumerate(FITS):
    color = "#D55E00" if fit in ("LGBMRanker", "XGBRanker") else "#0072B2"
    axes.plot(seconds[fit], at, "o", color=color)
    axes.annotate(
        f"{seconds[fit]:.2g} s",
        (seconds[fit], at),
        (7, -4),
        textcoords="offset points",
    )
axes.set(xscale="log", xlim=(0.1, 30), xlabel="seconds")
axes.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
axes.set_yticks(range(len(FITS)), FITS.values())
axes.invert_yaxis()
axes.grid(axis="x", alpha=0.3)
plt.show()
