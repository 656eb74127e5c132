"""
Several AUCs on one test set: intervals and a test
==================================================

Four classifiers score the same 800 rows. Which of their AUCs differ by more than chance?
"""

# %%
# The intervals of single AUCs overlap.
import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.plotting import IntervalsDisplay

X, y = make_classification(
    1600,
    n_informative=6,
    n_clusters_per_class=3,
    weights=[0.85],
    class_sep=0.9,
    random_state=3,
)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
models = {
    "forest": RandomForestClassifier(random_state=0),
    "logistic": LogisticRegression(),
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
}
scores = {
    name: model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    for name, model in models.items()
}
values = {
    name: metric_interval("auc", y_test, score) for name, score in scores.items()
}

# %%
# :func:`~sklearn_rank.inference.compare` tests the differences. All classifiers score the same
# rows, so that a difference is more certain than either AUC. The intervals of all pairs hold
# simultaneously, and the p-values are adjusted for the number of pairs.
found = compare("auc", y_test, scores, random_state=0)
print(found)

# %%
# Left: each AUC with its own interval. Right: each difference with its simultaneous interval. A
# pair whose interval excludes 0 differs at the 5 % level.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
IntervalsDisplay.from_intervals(values, ax=left)
left.set_xlabel("AUC, 95 %")
IntervalsDisplay.from_intervals(
    {name: found[name].interval for name in found}, ax=right
)
right.axvline(0, color="grey", linewidth=1)
right.set_xlabel("difference of AUCs, 95 % simultaneous")
plt.show()
