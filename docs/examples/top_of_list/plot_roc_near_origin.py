"""
The ROC curve where it matters
==============================

Only the first items of the list are looked at, so that only the beginning of the ROC curve
counts: the false positive rates up to a few per cent. Accuracy at the top and logistic
regression on forty random splits of the Ionosphere data.
"""

# %%
# Half of the rows train. Both models get their ``C`` by cross-validation of the precision among
# the first twentieth of the list.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import get_scorer, partial_auc_score

warnings.simplefilter("ignore", SmallTopWarning)
X, y = load_ionosphere(return_X_y=True)
models = {
    "accuracy at the top": AccuracyAtTopRanker(tau=0.05),
    "logistic regression": LogisticRegression(class_weight="balanced", max_iter=1000),
}
rates = np.linspace(0, 0.1, 101)
curves = {name: [] for name in models}
areas = {name: [] for name in models}
for train, test in StratifiedShuffleSplit(40, train_size=0.5, random_state=0).split(X, y):
    for name, model in models.items():
        search = GridSearchCV(
            make_pipeline(StandardScaler(), model),
            {f"{type(model).__name__.lower()}__C": [0.001, 0.01, 0.1]},
            scoring=get_scorer("precision@top0.05"),
            cv=3,
        ).fit(X[train], y[train])
        score = search.decision_function(X[test])
        fpr, tpr, _ = roc_curve(y[test], score, drop_intermediate=False)
        # The highest point at each rate: the curve is a step function.
        curves[name].append(tpr[np.searchsorted(fpr, rates, "right") - 1])
        areas[name].append(partial_auc_score(y[test], score, max_fpr=0.05, scale="normalized"))

# %%
# The mean curve, with twice its standard error. The legend has the mean share of the area up to
# a false positive rate of 5 %.
figure, axes = plt.subplots(figsize=(6, 4.2), layout="constrained")
for (name, values), line in zip(curves.items(), ("-", "--"), strict=True):
    mean = np.mean(values, axis=0)
    error = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
    label = f"{name} ({np.mean(areas[name]):.3f} ± {np.std(areas[name]) / 40**0.5:.3f})"
    axes.plot(rates, mean, line, label=label, drawstyle="steps-post")
    axes.fill_between(rates, mean - 2 * error, mean + 2 * error, alpha=0.2, step="post")
axes.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(0, 0.1), ylim=(0, 1))
axes.legend(loc="upper left", title="area up to 5 % (normalised)")
plt.show()
