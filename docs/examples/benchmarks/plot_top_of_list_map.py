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
# test rows; a fifth of the rows is positive.
import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t

with open(Path("../../../benchmarks/results/top_of_list_map.csv")) as lines:
    rows = list(csv.DictReader(lines))

bases = {"logistic": "LogisticRegression", "lightgbm": "LightGBM"}
bases = {base: name for base, name in bases.items() if any(r["base"] == base for r in rows)}
kinds = {
    "plain": "nothing else",
    "noisy_bulk": "labels of the bulk\nare noisy",
    "heavy_tails": "features have\nheavy tails",
}
taus, sizes, angles = (
    sorted({float(row[key]) for row in rows}) for key in ("tau", "n_train", "angle")
)


def table(**chosen):
    """Differences by angle and size, in points of a hundred, and which are not sure."""
    found, unsure = np.full((len(angles), len(sizes)), np.nan), {}
    for row in rows:
        if all(row[key] == value for key, value in chosen.items()):
            at = angles.index(float(row["angle"])), sizes.index(float(row["n_train"]))
            found[at] = 100 * float(row["difference"])
            limit = t.ppf(0.975, int(row["repetitions"]) - 1) * 100 * float(row["error"])
            unsure[at] = abs(found[at]) <= limit
    return found, unsure


def draw(form):
    panels = [(base, kind) for base in bases for kind in kinds]
    figure, axes = plt.subplots(
        len(panels),
        len(taus),
        figsize=(9.5, 1.9 * len(panels)),
        layout="constrained",
        sharex=True,
        sharey=True,
    )
    for line, (base, kind) in zip(axes, panels, strict=True):
        for axis, tau in zip(line, taus, strict=True):
            found, unsure = table(base=base, kind=kind, form=form, tau=f"{tau:g}")
            image = axis.imshow(found, cmap="RdBu", vmin=-5, vmax=5, origin="lower", aspect="auto")
            for (i, j), sign in unsure.items():
                text = f"{found[i, j]:+.1f}" + (" ×" if sign else "")
                axis.text(j, i, text, ha="center", va="center", size=7)
            axis.set_xticks(range(len(sizes)), [f"{int(n):,}" for n in sizes], size=7)
            axis.set_yticks(range(len(angles)), [f"{int(a)}°" for a in angles], size=7)
        line[0].set_ylabel(f"{bases[base]}\n{kinds[kind]}", size=8)
    for axis, tau in zip(axes[0], taus, strict=True):
        axis.set_title(f"top {tau:.0%}", size=9)
    for axis in axes[-1]:
        axis.set_xlabel("training rows", size=8)
    figure.colorbar(image, ax=axes, label="points of precision", shrink=0.5)
    plt.show()


# %%
# Each small map has the training rows from left to right and the angle upwards: at 0 degrees, with
# nothing else, logistic regression is the truth, and nothing is to be gained. Numbers are points
# of a hundred; blue is better than the plain fit, and a cross marks what cannot be told from
# no difference (5 %, each cell by itself). First ``combine="sum"``, the default:
draw("sum")

# %%
# And ``combine="last"``, the last round alone, which gains more and loses more:
draw("last")
