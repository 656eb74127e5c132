"""
Where training for the top of the list pays
===========================================

Gain in precision at the top by a second fit that concentrates on the top, in simulations. The gain
is largest where the direction that ranks the top differs from the one that ranks the rest.
"""

# %%
# ``python benchmarks/studies/top_of_list.py --parts map`` stores the differences in held-out
# precision between :class:`~sklearn_rank.TopFocusedRanker` and logistic regression. The log-odds
# rise with one direction in most of the list, and with a direction that is turned by an angle in
# the top three rows of ten. Differences are means over fresh draws of training rows, with 20,000
# test rows, a fifth of them positive.
import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t

with open(Path("../../../benchmarks/results/top_of_list_map.csv")) as lines:
    rows = list(csv.DictReader(lines))

bases = {"logistic": "LogisticRegression", "lightgbm": "LightGBM"}
bases = {
    base: name
    for base, name in bases.items()
    if any(r["base"] == base for r in rows)
}
kinds = {
    "plain": "no other effect",
    "noisy_bulk": "noisy labels\nbelow the top",
    "heavy_tails": "heavy-tailed\nfeatures",
}
taus, sizes, angles = (
    sorted({float(row[key]) for row in rows}) for key in ("tau", "n_train", "angle")
)


def table(**chosen):
    """Differences by angle and size, in percentage points, with significance."""
    found, unsure = np.full((len(angles), len(sizes)), np.nan), {}
    for row in rows:
        if all(row[key] == value for key, value in chosen.items()):
            at = (
                angles.index(float(row["angle"])),
                sizes.index(float(row["n_train"])),
            )
            found[at] = 100 * float(row["difference"])
            limit = (
                t.ppf(0.975, int(row["repetitions"]) - 1)
                * 100
                * float(row["error"])
            )
            unsure[at] = abs(found[at]) <= limit
    return found, unsure


def draw(form):
    panels = [(base, kind) for base in bases for kind in kinds]
    figure, axes = plt.subplots(
        len(panels),
        len(taus),
        figsize=(8.4, 1.75 * len(panels)),
        layout="constrained",
        sharex=True,
        sharey=True,
    )
    for line, (base, kind) in zip(axes, panels, strict=True):
        for axis, tau in zip(line, taus, strict=True):
            found, unsure = table(base=base, kind=kind, form=form, tau=f"{tau:g}")
            image = axis.imshow(
                found, cmap="RdBu", vmin=-5, vmax=5, origin="lower", aspect="auto"
            )
            for (i, j), sign in unsure.items():
                style = (
                    {"color": "0.55"}
                    if sign
                    else {"color": "black", "weight": "bold"}
                )
                axis.text(
                    j,
                    i,
                    f"{found[i, j]:+.1f}",
                    ha="center",
                    va="center",
                    size=8.5,
                    **style,
                )
            names = [f"{n / 1000:g}k" if n >= 1000 else f"{n:g}" for n in sizes]
            axis.set_xticks(range(len(sizes)), names, size=9)
            axis.set_yticks(
                range(len(angles)), [f"{int(a)}°" for a in angles], size=9
            )
        line[0].set_ylabel(f"{bases[base]}\n{kinds[kind]}", size=9)
    for axis, tau in zip(axes[0], taus, strict=True):
        axis.set_title(f"first {tau:.0%}", size=10)
    for axis in axes[-1]:
        axis.set_xlabel("training rows", size=9)
    figure.colorbar(image, ax=axes, label="gain, percentage points", shrink=0.6)
    plt.show()


# %%
# Each panel has the training rows from left to right and the angle upwards. At 0 degrees without
# other effects the logistic model is true, and nothing can be gained. Numbers are percentage
# points. Bold numbers differ significantly from 0 (5 %, each cell by itself), grey numbers do not.
# First ``combine="sum"``, the default:
draw("sum")

# %%
# ``combine="last"``, the last fit alone, gains more and loses more:
draw("last")
