"""
Error rates of tests, repeated looks and selection
==================================================

How often does a comparison reject a true hypothesis, and an interval miss its target at one of ten
looks, or for a model that was chosen among several?
"""

# %%
# Tests at the 5 % level
# ----------------------
#
# Small dots are designs of ``python benchmarks/studies/compare_levels.py`` in which the hypothesis is
# true, known to .03; large dots are means.
import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

results = Path("../../../benchmarks/results")
rng = np.random.default_rng(0)
blue, orange, green = "#0072B2", "#D55E00", "#009E73"


def read(name):
    with (results / name).open() as lines:
        return list(csv.DictReader(lines))


questions = [
    ("difference", "2", "difference,\n2 rankers"),
    ("difference", "5", "difference,\n5 rankers"),
    ("difference, different data", "2", "difference,\ndifferent data"),
    ("non-inferior", "2", "non-inferior"),
    ("equivalent", "2", "equivalent"),
]
designs = {
    "rows": ("rows", blue),
    "groups": ("groups of rows", green),
    "queries": ("queries", orange),
    "groups of queries": ("groups of queries", "#CC79A7"),
}
levels = read("compare_levels.csv")
figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
for place, (question, rankers, _) in enumerate(questions):
    for step, (design, (_, color)) in enumerate(designs.items()):
        found = [
            float(row["rejected"])
            for row in levels
            if (row["question"], row["rankers"], row["design"])
            == (question, rankers, design)
        ]
        at = place + 0.2 * (step - 1.5)
        spread = at + rng.uniform(-0.06, 0.06, len(found))
        axes.plot(spread, found, ".", color=color, alpha=0.5, markersize=4)
        axes.plot(at, np.mean(found), "o", color=color, markeredgecolor="black")
for name, color in designs.values():
    axes.plot([], [], "o", color=color, label=name)
axes.axhline(0.05, color="0.5", linewidth=1)
axes.set_xticks(range(len(questions)), [name for _, _, name in questions])
axes.set_ylabel("share of true hypotheses rejected")
figure.legend(loc="outside upper center", ncols=4)
plt.show()

# %%
# Ten looks
# ---------
#
# Histories with an interval that misses, 200 for each of four cases
# (``python benchmarks/studies/sequential_looks.py``).
looks = [row for row in read("sequential_looks.csv") if row["looks"] == "10"]
measures = list(dict.fromkeys(row["measure"] for row in looks))
ways = {
    "fixed": ("interval for one look, used at each", orange),
    "betting": ("ConfidenceSequence, betting", blue),
    "asymptotic": ("ConfidenceSequence, asymptotic", green),
}
figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
for place, measure in enumerate(measures):
    for step, (method, (_, color)) in enumerate(ways.items()):
        found = [
            float(row["error"])
            for row in looks
            if (row["measure"], row["method"]) == (measure, method)
        ]
        axes.plot(
            found,
            [place + 0.22 * (step - 1)] * len(found),
            "o",
            color=color,
            alpha=0.6,
        )
for name, color in ways.values():
    axes.plot([], [], "o", color=color, label=name)
axes.axvline(0.05, color="0.5", linewidth=1)
axes.set_yticks(range(len(measures)), measures)
axes.set_xlabel("share of histories with an interval that misses its target")
axes.invert_yaxis()
figure.legend(loc="outside upper center", ncols=2)
plt.show()

# %%
# Limits after selection
# ----------------------
#
# One of eight equally good candidates is chosen by its lower limit at ``level=0.9``
# (``python benchmarks/studies/selection_coverage.py``).
selected = read("selection_coverage.csv")
kinds = list(dict.fromkeys((row["measure"], row["method"]) for row in selected))
marks = {"10/90": ("o", blue), "40/360": ("s", orange)}
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.6), sharey=True, layout="constrained"
)
for row in selected:
    place = kinds.index((row["measure"], row["method"]))
    mark, color = marks[row["counts"]]
    shift = -0.12 if row["counts"] == "10/90" else 0.12
    left.plot(float(row["missed"]), place + shift, mark, color=color, alpha=0.7)
    right.plot(float(row["below"]), place + shift, mark, color=color, alpha=0.7)
for counts, (mark, color) in marks.items():
    left.plot([], [], mark, color=color, label=f"{counts} positives/negatives")
left.axvline(0.1, color="0.5", linewidth=1)
left.set_yticks(
    range(len(kinds)), [f"{measure}, {method}" for measure, method in kinds]
)
left.set_xlabel("share of limits that are too high")
right.set_xlabel("mean distance of the limit below the true value")
left.invert_yaxis()
figure.legend(loc="outside upper center", ncols=2)
plt.show()
