"""
Coverage of confidence intervals by measure
===========================================

How often do nominal 95 % intervals cover? By measure, and by method of the AUC.
"""

# %%
# Each dot is a design of ``python benchmarks/studies/interval_coverage.py``, whose coverage is known
# to .02: scores with heavy or unequal tails, ties, outliers; queries; graded lists.
import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

results = Path("../../../benchmarks/results")
# sphinx_gallery_thumbnail_number = 2
with (results / "interval_coverage.csv").open() as lines:
    rows = [row for row in csv.DictReader(lines) if "groups" not in row["design"]]
families = {
    "one list": "#0072B2",
    "graded list": "#009E73",
    "mean over queries": "#D55E00",
}


def family(row):
    if row["design"] == "populations":
        return "one list"
    return "graded list" if row["design"] == "graded rows" else "mean over queries"


found = {}
for row in rows:
    name = row["measure"].removesuffix(" over queries")
    values = found.setdefault((list(families).index(family(row)), name), [])
    values.append(float(row["coverage"]))
order = sorted(found, key=lambda key: (-key[0], min(found[key])))
rng = np.random.default_rng(0)
figure, axes = plt.subplots(figsize=(8, 7.5), layout="constrained")
for place, key in enumerate(order):
    color = list(families.values())[key[0]]
    height = place + rng.uniform(-0.25, 0.25, len(found[key]))
    inside = np.array(found[key]) >= 0.84
    axes.plot(
        np.array(found[key])[inside],
        height[inside],
        ".",
        color=color,
        markersize=4,
        alpha=0.6,
    )
    if not inside.all():
        axes.plot(0.84, place, "<", color=color)
        axes.annotate(
            ", ".join(
                f"{value:.2f}" for value in sorted(found[key]) if value < 0.84
            ),
            (0.843, place),
            va="center",
        )
    axes.plot(np.median(found[key]), place, "|", color="black", markersize=12)
for name, color in families.items():
    axes.plot([], [], "o", color=color, label=name)
axes.plot([], [], "|", color="black", markersize=12, label="median")
axes.axvline(0.95, color="0.5", linewidth=1)
axes.set_yticks(range(len(order)), [name for _, name in order])
axes.set_ylim(-0.7, len(order) - 0.3)
axes.set(xlabel="coverage of nominal 95 % intervals", xlim=(0.838, 1.004))
figure.legend(loc="outside upper center", ncols=4)
plt.show()

# %%
# The exception is ``accuracy_loss@top0.1`` where a tied block crosses the end of the top.

# %%
# The methods for the AUC
# -----------------------
#
# Designs of ``python benchmarks/studies/auc_coverage.py`` with ten positives or more. Boxes hold half
# of them, whiskers 90 %.
with (results / "auc_coverage.csv").open() as lines:
    cells = list(csv.DictReader(lines))
cells = [
    row
    for row in cells
    if int(row["n_pos"]) >= 10 and float(row["perfect"]) <= 0.05
]
methods = [
    name.removeprefix("coverage ")
    for name in cells[0]
    if name.startswith("coverage ")
]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 5), sharey=True, layout="constrained", width_ratios=(2, 1)
)
coverage = [
    [float(row[f"coverage {method}"]) for row in cells] for method in methods
]
length = [
    np.mean([float(row[f"length {method}"]) for row in cells]) for method in methods
]
colors = ["#0072B2" if method == "wilson" else "#999999" for method in methods]
boxes = left.boxplot(
    coverage,
    orientation="horizontal",
    whis=(5, 95),
    patch_artist=True,
    flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.4"},
    medianprops={"color": "black"},
)
for box, color in zip(boxes["boxes"], colors, strict=True):
    box.set_facecolor(color)
left.axvline(0.95, color="0.5", linewidth=1)
left.set_yticks(range(1, len(methods) + 1), methods)
left.invert_yaxis()
left.set_xlabel(f"coverage of nominal 95 % intervals, {len(cells):,} designs")
right.barh(range(1, len(methods) + 1), length, color=colors)
right.set_xlabel("mean length")
plt.show()

# %%
# The default, ``"wilson"``, covers in nearly all designs. DeLong's and related intervals are shorter
# and cover too rarely where positives are few and the AUC is near 1. The last two are guarantees.
