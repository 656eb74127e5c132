"""
The scorer decides which model a search chooses
===============================================

With few positives a classifier can be accurate without finding one of them. A
search by the precision at the top looks at the rows that one acts on.
"""

# %%
# 4,000 rows, about 4 % of which are positive, and trees of growing size.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV

from sklearn_rank.metrics import get_scorer

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 6))
logit = -4.2 + X[:, 0] + 1.5 * (X[:, 1] > 0.5) * X[:, 2]
y = (rng.random(4000) < 1 / (1 + np.exp(-logit))).astype(int)

# %%
# A dictionary of scorers gives one search several measures.
sizes = [2, 3, 4, 6, 8, 12, 16, 24, 31]
search = GridSearchCV(
    HistGradientBoostingClassifier(max_iter=40, random_state=0),
    {"max_leaf_nodes": sizes},
    scoring={
        "accuracy": "accuracy",
        "AUC": get_scorer("auc"),
        "precision in the first 2 %": get_scorer("smoothed_precision@top0.02"),
    },
    refit=False,
    cv=5,
)
results = search.fit(X, y).cv_results_

# %%
# The square marks the choice of each scorer.
figure, panels = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for axes, name in zip(panels, search.scoring, strict=True):
    mean = results[f"mean_test_{name}"]
    best = mean.argmax()
    axes.semilogx(sizes, mean, "o-")
    axes.plot(sizes[best], mean[best], "s", color="C1", markersize=10)
    axes.set_xticks([2, 4, 8, 16, 31], ["2", "4", "8", "16", "31"], minor=False)
    axes.minorticks_off()
    axes.set(title=name, xlabel="leaves of a tree")
    print(f"{name}: {sizes[best]} leaves; {mean.min():.3f} to {mean.max():.3f}")
plt.show()
print(f"accuracy of a model that finds nothing: {1 - y.mean():.3f}")

# %%
# The panels have scales of their own: the accuracy hardly differs from that of a model that finds
# nothing.
