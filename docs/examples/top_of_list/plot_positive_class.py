"""
Which end of the decision values is the top
===========================================

Decision values are greater for ``classes_[1]``, as in all of scikit-learn. If the positive class
is ``classes_[0]``, the smallest decision values are the top of the list.
"""

# %%
# The same rows with two kinds of labels. Alphabetically "fraud" precedes "ok", so that the
# positive class is ``classes_[0]`` in the second fit.
import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank import AccuracyAtTopRanker

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))
positive = X[:, 0] + rng.normal(size=400) > 1.2
labels = {1: positive.astype(int), "fraud": np.where(positive, "fraud", "ok")}

# %%
# ``threshold_`` separates the top tenth from the rest.
figure, panels = plt.subplots(
    1, 2, figsize=(9, 3.4), sharey=True, layout="constrained"
)
for axes, (pos_label, y) in zip(panels, labels.items(), strict=True):
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.01, pos_label=pos_label).fit(X, y)
    score = ranker.decision_function(X)
    low, high = bins = score.min(), score.max()
    groups = [score[~positive], score[positive]]
    axes.hist(
        groups,
        24,
        bins,
        stacked=True,
        color=["0.7", "#D55E00"],
        label=["negative", "positive"],
    )
    first = ranker.classes_[0] == pos_label
    axes.axvspan(
        *((low, 0) if first else (0, high)),
        color="#56B4E9",
        alpha=0.3,
        zorder=0,
        label="top tenth",
    )
    axes.set(
        title=f"classes_ = {ranker.classes_.tolist()}", xlabel="decision_function"
    )
    axes.legend(loc="upper right" if first else "upper left")
panels[0].set_ylabel("rows")
plt.show()
