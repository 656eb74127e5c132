"""
Gain at the top of the list on 26 data sets
===========================================

Held-out precision at the top of rankers that are trained for the top of the list, minus that of
logistic regression on the same splits. Each training set has 500 rows.
"""

# %%
# Splits of ``python benchmarks/studies/top_of_list.py``. The 95 % intervals allow for rows that splits
# share, and are not adjusted for the number of data sets.
import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t

with open(Path("../../../benchmarks/results/top_of_list.csv")) as lines:
    rows = list(csv.DictReader(lines))
BLUE, ORANGE = "#0072B2", "#D55E00"


def differences(method, measure):
    """Mean difference from logistic regression and half the interval, by set."""
    values = defaultdict(dict)
    for row in rows:
        values[row["set"], row["method"]][int(row["split"])] = row
    found = {}
    for name in sorted({row["set"] for row in rows}):
        ours, base = values[name, method], values[name, "logistic"]
        splits = sorted(ours.keys() & base.keys())
        if len(splits) > 1:
            pairs = [
                float(ours[s][measure]) - float(base[s][measure]) for s in splits
            ]
            n_train, n_test, share = (
                np.mean([float(ours[s][key]) for s in splits])
                for key in ("n_train", "n_test", "share")
            )
            common = min(
                n_test / n_train, share / (1 - share) if share < 1 else np.inf
            )
            error = np.std(pairs, ddof=1) * np.sqrt(1 / len(pairs) + common)
            found[name] = np.mean(pairs), error * t.ppf(0.975, len(pairs) - 1)
    return found


def draw(method, title):
    figure, panels = plt.subplots(
        1, 2, figsize=(9.5, 7), sharey=True, layout="constrained"
    )
    for axes, measure in zip(panels, ("P@1%", "P@5%"), strict=True):
        found = differences(method, measure)
        means, halves = np.transpose(list(found.values()))
        axes.axvline(0, color="0.4", linewidth=1)
        at = np.arange(1, len(found) + 1)
        axes.errorbar(means, at, xerr=halves, fmt="o", ms=5, color=BLUE, capsize=2)
        # The mean over data sets: the data sets are the sample.
        half = (
            t.ppf(0.975, len(found) - 1) * means.std(ddof=1) / np.sqrt(len(found))
        )
        axes.errorbar(
            means.mean(), 0, xerr=half, fmt="D", ms=7, color=ORANGE, capsize=3
        )
        axes.set(
            xlim=(-0.4, 0.5), title=f"precision in the first {measure[2:-1]} %"
        )
        axes.set_xlabel("difference from logistic regression")
        axes.set_yticks([0, *at], ["mean over data sets", *found])
        axes.grid(axis="x", alpha=0.3)
    panels[0].invert_yaxis()
    figure.suptitle(title)
    plt.show()


# %%
# Intervals wider than the axis are cut: on small data sets the first 1 % are one to three rows.
draw("logistic, sum", "TopFocusedRanker(LogisticRegression())")

# %%
# The gains and losses of :class:`~sklearn_rank.AccuracyAtTopRanker` are larger.
draw("top, average", "AccuracyAtTopRanker()")
