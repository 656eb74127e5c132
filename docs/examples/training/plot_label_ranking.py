"""
Label ranking with missing labels
=================================

A label ranker learns how people prefer to travel to work, from incomplete orders. Fits to all rows
lose little by missing labels, fits to complete rows lose much.
"""

# %%
# Simulated orders of five ways to travel for 300 people, whose best orders are known. A third of the
# labels is missing.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.utils import resample

from sklearn_rank import OrderPreservingLabelRanker
from sklearn_rank.datasets import make_label_ranking

plt.style.use("tableau-colorblind10")

MODES = ["bike", "walk", "bus", "car", "train"]
people = make_label_ranking(300, 4, 5, missing=1 / 3, random_state=11)
for row in range(3):
    order = np.argsort(people.target[row])[: np.sum(~np.isnan(people.target[row]))]
    print(" > ".join(MODES[label] for label in order))

# %%
# ``target_type`` states that the numbers are positions. The fit ignores the missing labels of a
# person and imputes nothing.
ranker = OrderPreservingLabelRanker(target_type="positions")
ranker.fit(people.data, people.target)
for name, learned, best in zip(
    MODES, ranker.rank(people.data[:1])[0], people.positions[0], strict=True
):
    print(f"first person, {name}: learned position {learned:.0f}, best {best}")

# %%
# The best and the learned order by the distance, with the other features at their mean. Learned
# positions are means over 25 bootstrap samples, with bands of one standard deviation.
distance = np.linspace(-2.5, 2.5, 501)
grid = np.zeros((len(distance), 4))
grid[:, 0] = distance
best = 5 - np.argsort(
    np.argsort(grid @ people.coef + people.intercept, axis=1), axis=1
)
refits = []
for seed in range(25):
    X, y = resample(people.data, people.target, random_state=seed)
    refits.append(
        OrderPreservingLabelRanker(target_type="positions").fit(X, y).rank(grid)
    )
mean, spread = np.mean(refits, axis=0), np.std(refits, axis=0)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for label, name in enumerate(MODES):
    color = f"C{label}"
    axes[0].plot(distance, best[:, label], color=color, linewidth=2.5)
    axes[1].plot(distance, mean[:, label], color=color, linewidth=2.5)
    low, high = mean[:, label] - spread[:, label], mean[:, label] + spread[:, label]
    axes[1].fill_between(distance, low, high, color=color, alpha=0.2, linewidth=0)
    for axis, position in zip(axes, (best, mean), strict=True):
        axis.annotate(name, (2.55, position[-1, label]), color=color, va="center")
axes[0].set(title="best order", ylabel="position", yticks=range(1, 6))
axes[1].set(title="learned from 300 people, 25 refits")
axes[0].invert_yaxis()
for axis in axes:
    axis.set(xlabel="distance, in standard deviations", xlim=(-2.5, 3.3))
    axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Two fits to the same people with more and more missing labels: to all rows, and to complete rows
# only. The measure is the expected Kendall's tau with the orders of 2,000 other people.
N_TRAIN, DRAWS = 300, 5
MISSING = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def expected_tau(scores, probabilities):
    above = np.sign(scores[:, :, np.newaxis] - scores[:, np.newaxis, :])
    n_labels = scores.shape[1]
    value = np.sum(above * (2 * probabilities - 1), axis=(1, 2))
    return np.mean(value / (n_labels * (n_labels - 1)))


tau = np.full((2, DRAWS, len(MISSING)), np.nan)
best_tau, n_complete = np.empty(DRAWS), np.empty((DRAWS, len(MISSING)))
for draw in range(DRAWS):
    for column, share in enumerate(MISSING):
        bunch = make_label_ranking(
            N_TRAIN + 2000, 4, 5, missing=share, random_state=draw
        )
        X, y, test = (
            bunch.data,
            bunch.target[:N_TRAIN],
            bunch.pair_probabilities[N_TRAIN:],
        )
        complete = np.flatnonzero(~np.isnan(y).any(axis=1))
        n_complete[draw, column] = len(complete)
        best_tau[draw] = bunch.expected_tau[N_TRAIN:].mean()
        for way, rows in enumerate((np.arange(N_TRAIN), complete)):
            if len(rows) > 1:
                model = OrderPreservingLabelRanker(target_type="positions").fit(
                    X[rows], y[rows]
                )
                tau[way, draw, column] = expected_tau(
                    model.predict(X[N_TRAIN:]), test
                )

# %%
# With half of the labels missing, 7 of 300 rows are complete, and a fit to them is far from the best
# order. A fit to all rows loses little.
figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
axes.axhline(best_tau.mean(), color="black", linewidth=1, label="best order")
for way, (name, style) in enumerate(
    {"all rows": "-o", "complete rows only": "--s"}.items()
):
    axes.plot(MISSING, np.nanmean(tau[way], axis=0), style, label=name)
for share, count, value in zip(
    MISSING, n_complete.mean(axis=0), np.nanmean(tau[1], axis=0), strict=True
):
    axes.annotate(
        f"{count:.0f} rows",
        (share, value),
        (-16, -15),
        textcoords="offset points",
        fontsize="small",
        ha="center",
    )
axes.set(
    xlabel="share of labels missing", ylabel="expected Kendall tau, other people"
)
axes.set(xlim=(-0.09, 0.63), ylim=(0.0, best_tau.mean() + 0.05))
axes.legend(loc="lower left")
plt.show()

# %%
# This holds for labels that are missing at random. If people leave out the labels that they like
# least, write these as ties at the bottom, ``"bike>train>bus=car=walk"``.
