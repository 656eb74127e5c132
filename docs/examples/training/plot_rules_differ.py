"""
The best linear rule depends on the criterion
=============================================

The direction with the best AUC is not the direction with the best precision at the top. The
figure shows the directions that four rankers find, and their values.
"""

# %%
# The first feature orders the whole list, but some negatives have still larger values of it. A few
# positives have large values of the second feature, which makes the top pure.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from sklearn_rank import (
    PNormPushRanker,
    RankStatisticRanker,
    TopPushRanker,
)
from sklearn_rank.metrics import precision_at_top_score, roc_auc_score

groups = [  # label, share, mean, standard deviations
    (1, 0.14, (2.0, 0.0), (1.0, 1.0)),
    (1, 0.06, (-1.0, 6.0), (1.0, 0.7)),
    (0, 0.76, (0.0, 0.0), (1.0, 1.0)),
    (0, 0.04, (4.0, 0.0), (1.0, 1.0)),
]


def draw(n, rng):
    label, share, mean, deviation = map(np.array, zip(*groups, strict=True))
    group = rng.choice(len(groups), size=n, p=share)
    return mean[group] + deviation[group] * rng.normal(size=(n, 2)), label[group]


rng = np.random.default_rng(0)
X, y = draw(2000, rng)
X_large, y_large = draw(50_000, rng)


def direction(degrees):
    return np.array([np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))])


def values(coef):
    score = X_large @ coef
    return roc_auc_score(y_large, score), precision_at_top_score(
        y_large, score, tau=0.05
    )


angles = np.arange(0.0, 141.0, 2.0)
auc, precision = np.array([values(direction(angle)) for angle in angles]).T

# %%
# The losses are means over rows or pairs; with ``C=100`` the penalty has little effect.
COLORS = ["#0072B2", "#D55E00", "#009E73", "black"]
rankers = {
    "LogisticRegression": LogisticRegression(C=100.0),
    "PNormPushRanker(p=16)": PNormPushRanker(p=16, C=100.0),
    "TopPushRanker(0.3)": TopPushRanker(0.3, C=100.0),
    'RankStatisticRanker("local_auc@0.95")': RankStatisticRanker("local_auc@0.95"),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 5.8), layout="constrained")
for label, color, name in ((0, "0.75", "negative"), (1, "#E69F00", "positive")):
    left.plot(*X[y == label].T, ".", ms=3, color=color, alpha=0.6, label=name)
pure = angles[precision > precision.max() - 0.002]
for best, style, name in (
    (angles[auc.argmax()], "k--", "best AUC"),
    (pure[0], "k:", "best P@5 %, from here on"),
):
    left.plot(
        *np.transpose([0 * direction(best), 9.5 * direction(best)]),
        style,
        label=name,
    )
right.plot(angles, auc, "k--", label="AUC (first number)")
right.plot(
    angles, precision, "k:", label="precision in the first 5 % (second number)"
)
for number, (name, ranker) in enumerate(rankers.items()):
    coef = ranker.fit(X, y).coef_.ravel()
    degrees = np.rad2deg(np.arctan2(coef[1], coef[0]))
    color = COLORS[number]
    left.annotate(
        "",
        8.5 * direction(degrees),
        (0, 0),
        arrowprops={"arrowstyle": "->", "color": color, "lw": 1.8},
    )
    found = values(coef)
    right.plot(
        [degrees] * 2,
        found,
        "o",
        color=color,
        label=f"{name}: {found[0]:.2f} and {found[1]:.2f}",
    )
left.set(
    xlabel="first feature",
    ylabel="second feature",
    xlim=(-5, 9),
    ylim=(-4, 10),
    aspect="equal",
)
right.set(
    xlabel="direction (degrees from the first feature)", ylabel="value on new rows"
)
right.set_ylim(0, 1.05)
handles = [
    *left.get_legend_handles_labels()[0],
    *right.get_legend_handles_labels()[0],
]
figure.legend(
    handles=handles, loc="outside lower center", ncols=2, fontsize="small"
)
plt.show()

# %%
# ``python benchmarks/studies/synthetic_rules.py`` has twenty draws, more rankers, and a population
# with outliers, which convex losses follow: the rank statistic, which is bounded, does not
# (:doc:`/benchmarks/rankers`).
