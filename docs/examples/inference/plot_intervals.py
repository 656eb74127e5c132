"""
Confidence intervals of several measures on one test set
========================================================

A fraud model is tested on 1,500 transactions with about 60 frauds. How far can its AUC, its
average precision and its precision at the top be trusted?
"""

# %%
# Scores of held-out rows.
import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from sklearn_rank.inference import metric_interval
from sklearn_rank.plotting import IntervalsDisplay

X, y = make_classification(3000, weights=[0.97], class_sep=0.8, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
score = LogisticRegression().fit(X_train, y_train).decision_function(X_test)

# %%
# The AUC is known to a few hundredths, the precision among the first transactions much less well.
names = {
    "auc": "AUC",
    "tpr@fpr0.1": "recall at 10 % false positives",
    "ap": "average precision",
    "precision@top0.05": "precision, top 5 %",
    "precision@20": "precision, first 20",
    "bedroc@20": "BEDROC, α = 20",
}
intervals = {
    name: metric_interval(measure, y_test, score) for measure, name in names.items()
}
for name, interval in intervals.items():
    print(f"{name:31} {interval}")

# %%
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
IntervalsDisplay.from_result(intervals, ax=axes)
axes.set(xlabel="value and 95 % interval", xlim=(0, 1.02))
plt.show()
