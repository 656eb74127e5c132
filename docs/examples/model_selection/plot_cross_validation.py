"""
How accurate is a cross-validated score?
========================================

Five folds give five values and a mean. This example shows the interval of the mean beside the
interval that many papers report, mean ± 1.96 standard errors of the fold values.
"""

# %%
# Samples of 100 rows with some 15 positives. The other rows of 20,000 give the true value.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from sklearn_rank.model_selection import cross_val_interval

X, y = make_classification(
    20_000,
    n_features=10,
    n_informative=4,
    weights=[0.87],
    class_sep=0.6,
    random_state=1,
)
model = LogisticRegression()


def study(seed):
    """The interval, the naive one, and the true mean AUC of the fold models."""
    rows = np.random.default_rng(seed).choice(len(y), 100, replace=False)
    new = np.setdiff1d(np.arange(len(y)), rows)
    few, label = X[rows], y[rows]
    cv = StratifiedKFold(5)
    found = cross_val_interval(model, few, label, measure="auc", cv=cv)
    fitted = [
        model.fit(few[train], label[train]).coef_
        for train, _ in cv.split(few, label)
    ]
    true = np.mean(
        [roc_auc_score(y[new], X[new] @ coef.ravel()) for coef in fitted]
    )
    values = np.array(
        [
            roc_auc_score(label[test], few[test] @ coef.ravel())
            for coef, (_, test) in zip(fitted, cv.split(few, label), strict=True)
        ]
    )
    half = 1.96 * values.std(ddof=1) / np.sqrt(5)
    return found, values, half, true


studies = [study(seed) for seed in range(30)]
print(studies[0][0])

# %%
# Thirty samples. The bar is the interval of
# :func:`~sklearn_rank.model_selection.cross_val_interval`, the thin line the naive interval, and
# the dash the true mean AUC of the five fold models on new rows. Crosses mark naive intervals
# that miss it.
figure, axes = plt.subplots(figsize=(8.5, 4), layout="constrained")
missed = 0
for place, (found, values, half, true) in enumerate(studies):
    axes.plot(
        [place] * 2,
        [found.low, found.high],
        color="#56B4E9",
        linewidth=6,
        alpha=0.7,
    )
    mean = values.mean()
    axes.plot(
        [place] * 2, [mean - half, mean + half], color="#D55E00", linewidth=1.8
    )
    axes.plot([place] * 5, values, ".", color="0.45", markersize=3)
    axes.plot(place, true, "k_", markersize=13)
    if abs(mean - true) > half:
        missed += 1
        axes.plot(place, 1.02, "x", color="#D55E00")
axes.plot([], [], color="#56B4E9", linewidth=6, label="cross_val_interval")
axes.plot([], [], color="#D55E00", label="mean ± 1.96 standard errors")
axes.plot([], [], ".", color="0.45", label="values of the folds")
axes.plot([], [], "k_", markersize=13, label="true mean")
axes.set(xlabel="sample", ylabel="AUC", xticks=range(0, 30, 5), ylim=(None, 1.05))
figure.legend(loc="outside lower center", ncols=4)
plt.show()
outside = sum(true not in found for found, _, _, true in studies)
print(f"missed: naive {missed} of 30, cross_val_interval {outside} of 30")
