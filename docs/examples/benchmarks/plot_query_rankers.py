"""
The ensemble for queries beside boosted rankers
===============================================

Held-out NDCG@10 of :class:`~sklearn_rank.RankEnsemble` minus that of tuned boosted rankers, a bag of
LightGBMs and a linear ranker on 27 real data sets.
"""

# %%
# ``python benchmarks/studies/query_ensemble.py`` stores three folds of whole queries for each set.
# Dots are data sets, diamonds their means with 95 % intervals, not adjusted for the number of rivals.
import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t

RIVALS = {
    "LightGBM": "LightGBM, tuned",
    "with ranks": "LightGBM, tuned, with ranks",
    "bag": "three LightGBMs",
    "XGBoost": "XGBoost, tuned",
    "CatBoost": "CatBoost, tuned",
    "boosted": "scikit-learn's trees, tuned",
    "linear": "OrderPreservingRanker, softmax",
    "equal": "the ensemble, equal weights",
}
values = defaultdict(list)
with open(Path("../../../benchmarks/results/query_ensemble.csv")) as lines:
    for row in csv.DictReader(lines):
        values[row["set"], row["method"]].append(float(row["NDCG@10"]))
chosen_on = {"MQ2008", "LightGBM"}  # its members were chosen there
sets = sorted({name for name, _ in values} - chosen_on)
figure, axes = plt.subplots(figsize=(8.5, 4.5), layout="constrained")
axes.axvline(0, color="0.4", linewidth=1)
for at, rival in enumerate(RIVALS):
    gains = [
        np.mean(values[name, "ensemble"]) - np.mean(values[name, rival])
        for name in sets
    ]
    axes.plot(gains, [at + 0.2] * len(gains), ".", color="0.6", markersize=4)
    half = t.ppf(0.975, len(gains) - 1) * np.std(gains, ddof=1) / len(gains) ** 0.5
    axes.errorbar(
        np.mean(gains), at, xerr=half, fmt="D", color="#0072B2", capsize=3
    )
axes.set_yticks(range(len(RIVALS)), RIVALS.values())
axes.invert_yaxis()
axes.set_xlabel("NDCG@10 of the ensemble minus that of the rival")
axes.grid(axis="x", alpha=0.3)
plt.show()
