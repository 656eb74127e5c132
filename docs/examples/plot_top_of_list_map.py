"""
Where training for the top pays
===============================

How much more precise is the top of the list if a ranker looks a second time at what its first fit
ranked high? A simulation of rows whose log-odds rise with one direction in the bulk of the list,
and with a direction that is turned by an angle in the top three rows of ten.
"""

# %%
# ``python benchmarks/studies/top_of_list.py --parts map`` computes the differences of held-out
# precision, second look less plain fit, in the mean over fresh draws of training rows and 20,000
# test rows; a fifth of the rows is positive. Blue is better than the plain fit; a cross marks
# what cannot be told from no difference (each cell by itself, 5 % level).
import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t

FORM = "sum"
with open(Path("../../benchmarks/results/top_of_list_map.csv")) as lines:
    rows = [row for row in csv.DictReader(lines) if row["form"] == FORM]


def levels(key):
    return sorted({float(row[key]) for row in rows})


bases = {"logistic": "LogisticRegression", "lightgbm": "LightGBM"}
kinds = {
    "plain": "nothing else",
    "noisy_bulk": "labels of the bulk\nare noisy",
    "heavy_tails": "features have\nheavy tails",
}
taus, sizes, angles = levels("tau"), levels("n_train"), levels("angle")
bases = {base: name for base, name in bases.items() if any(r["base"] == base for r in rows)}

# %%
# Each small map has the training rows from left to right, and upwards the angle: at 0 degrees
# logistic regression is the truth and nothing can be gained but by chance.
figure, axes = plt.subplots(
    len(bases) * len(kinds),
    len(taus),
    figsize=(9.5, 2.0 * len(bases) * len(kinds)),
    layout="constrained",
    sharex=True,
    sharey=True,
)
for axis_row, (base, kind) in zip(axes, [(b, k) for b in bases for k in kinds], strict=True):
    for axis, tau in zip(axis_row, taus, strict=True):
        map_, unsure = np.full((2, len(angles), len(sizes)), np.nan)
        for row in rows:
            if (row["base"], row["kind"], float(row["tau"])) == (base, kind, tau):
                at = angles.index(float(row["angle"])), sizes.index(float(row["n_train"]))
                map_[at] = float(row["difference"])
                limit = t.ppf(0.975, int(row["repetitions"]) - 1) * float(row["error"])
                unsure[at] = abs(map_[at]) <= limit
        image = axis.imshow(map_, cmap="RdBu", vmin=-0.05, vmax=0.05, origin="lower")
        for (i, j), value in np.ndenumerate(map_):
            if np.isfinite(value):
                cross = " ×" if unsure[i, j] else ""
                axis.text(j, i, f"{100 * value:+.1f}{cross}", ha="center", va="center", size=7)
        axis.set_xticks(range(len(sizes)), [f"{int(n):,}" for n in sizes], size=7)
        axis.set_yticks(range(len(angles)), [f"{int(a)}°" for a in angles], size=7)
        axis.set_aspect("auto")
    axis_row[0].set_ylabel(f"{bases[base]}\n{kinds[kind]}", size=8)
for axis, tau in zip(axes[0], taus, strict=True):
    axis.set_title(f"top {tau:.0%}", size=9)
for axis in axes[-1]:
    axis.set_xlabel("training rows", size=8)
figure.colorbar(image, ax=axes, label="difference of held-out precision", shrink=0.4)
plt.show()
