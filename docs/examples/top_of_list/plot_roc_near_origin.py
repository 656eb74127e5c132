"""
The ROC curve at small false positive rates
===========================================

Mean ROC curves of accuracy at the top, logistic regression and boosted trees up to a false positive
rate of 10 %, over forty random splits of the Ionosphere data.
"""

# %%
# If only the first items of a list are used, only the beginning of the ROC curve matters. Half of
# the rows train. Cross-validation chooses ``C`` of both linear models by the precision in the
# first twentieth of the list. Boosted trees have their defaults.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import get_scorer, partial_auc_score

plt.style.use("tableau-colorblind10")

warnings.simplefilter("ignore", SmallTopWarning)
X, y = load_ionosphere(return_X_y=True)
models = {
    "accuracy at the top": AccuracyAtTopRanker(tau=0.05),
    "logistic regression": LogisticRegression(
        class_weight="balanced", max_iter=1000
    ),
    "boosted trees": HistGradientBoostingClassifier(random_state=0),
}
rates = np.linspace(0, 0.1, 101)
curves = {name: [] for name in models}
areas = {name: [] for name in models}
for train, test in StratifiedShuffleSplit(40, train_size=0.5, random_state=0).split(
    X, y
):
    for name, model in models.items():
        if hasattr(model, "C"):
            model = GridSearchCV(
                make_pipeline(StandardScaler(), model),
                {f"{type(model).__name__.lower()}__C": [0.001, 0.01, 0.1]},
                scoring=get_scorer("precision@top0.05"),
                cv=3,
            )
        score = model.fit(X[train], y[train]).decision_function(X[test])
        fpr, tpr, _ = roc_curve(y[test], score, drop_intermediate=False)
        # The highest point at each rate: the curve is a step function.
        curves[name].append(tpr[np.searchsorted(fpr, rates, "right") - 1])
        areas[name].append(
            partial_auc_score(y[test], score, max_fpr=0.05, scale="normalized")
        )

# %%
# The mean curves with bands of two standard errors. The legend has the mean normalised area up to
# a false positive rate of 5 %. Boosted trees win: the classes of these data are not separated by a
# linear rule. Of the two linear models accuracy at the top is better.
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
for (name, values), line in zip(curves.items(), ("-", "--", ":"), strict=True):
    mean = np.mean(values, axis=0)
    error = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
    label = (
        f"{name} ({np.mean(areas[name]):.3f} ± {np.std(areas[name]) / 40**0.5:.3f})"
    )
    axes.plot(rates, mean, line, label=label, drawstyle="steps-post")
    axes.fill_between(
        rates, mean - 2 * error, mean + 2 * error, alpha=0.2, step="post"
    )
axes.set(
    xlabel="false positive rate",
    ylabel="true positive rate",
    xlim=(0, 0.1),
    ylim=(0, 1),
)
figure.legend(loc="outside lower center", title="area up to 5 % (normalised)")
plt.show()
