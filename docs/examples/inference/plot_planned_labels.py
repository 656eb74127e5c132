"""
Labels drawn at random, and labels that a plan chooses
======================================================

A champion's first 100 of 4,000 rows are reviewed. How many more labels does
the precision of a challenger at its first 100 need? The limits are drawn for
labels of random rows and for those that ``plan_labels`` chooses.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.inference import LabelDesign, metric_interval, plan_labels

rng = np.random.default_rng(0)
truth = np.arange(4000) < 200
champion = 1.5 * truth + rng.normal(size=4000)
challenger = 2 * truth + rng.normal(size=4000)
order = np.argsort(-champion)
reviewed = np.where(np.argsort(order) < 100, truth, np.nan)


def uniform(n_labels):
    y_true = reviewed.copy()
    audited = rng.choice(order[100:], n_labels, replace=False)
    y_true[audited] = truth[audited]
    design = LabelDesign(review_top=100, audit=n_labels, scores=champion)
    return metric_interval(
        "precision@100", y_true, challenger, design=design, conditional=True
    )


def planned(n_labels):
    y_true = reviewed.copy()
    plan = plan_labels(
        "precision@100",
        challenger,
        budget=n_labels,
        y_true=y_true,
        random_state=0,
    )
    y_true[plan.chosen] = truth[plan.chosen]
    return metric_interval(
        "precision@100", y_true, challenger, design=plan.design, conditional=True
    )


# %%
n_labels = np.array([10, 20, 40, 80, 160, 320, 640])
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for shift, draw, color in (
    (0.95, uniform, "#767676"),
    (1.05, planned, "#0072B2"),
):
    intervals = [draw(n) for n in n_labels]
    estimate = np.array([interval.estimate for interval in intervals])
    low = estimate - [interval.low for interval in intervals]
    high = [interval.high for interval in intervals] - estimate
    ax.errorbar(
        shift * n_labels,
        estimate,
        (low, high),
        fmt="o",
        capsize=3,
        color=color,
        label=draw.__name__,
    )
value = metric_interval("precision@100", truth, challenger).estimate
ax.axhline(value, color="black", linewidth=1, zorder=0, label="with all labels")
ax.set(xscale="log", xlabel="labels besides the review", ylabel="precision@100")
ax.set_xticks(n_labels, n_labels)
ax.minorticks_off()
fig.legend(loc="outside upper center", ncols=3)
plt.show()

# %%
# The plan labels the rows of the challenger's first 100 that the review left
# out: only they move this precision. Random rows are hardly ever among them.
