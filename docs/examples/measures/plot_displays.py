"""
All displays on simulated data
==============================

Each display of :mod:`sklearn_rank.plotting` is one call: five for two classes, two for queries, and
one for confidence intervals.
"""

# %%
# Two classifiers, 2,000 held-out rows, one in ten positive.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(4000, n_redundant=8, weights=[0.9], random_state=0)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
models = {
    "logistic": LogisticRegression().fit(X_train, y_train),
    "naive Bayes": GaussianNB().fit(X_train, y_train),
}
prob = {name: model.predict_proba(X_test)[:, 1] for name, model in models.items()}

# %%
# Precision among the first k items, with 95 % intervals at the top 1 % and 10 %.
from sklearn_rank.plotting import TopOfListDisplay

display = TopOfListDisplay.from_predictions(
    y_test, prob["logistic"], name="logistic", tau=(0.01, 0.1), level=0.95
)
TopOfListDisplay.from_predictions(
    y_test, prob["naive Bayes"], name="naive Bayes", ax=display.ax_
)
plt.show()

# %%
# Fraction of all positives that are in the first part of the list.
from sklearn_rank.plotting import CumulativeGainDisplay

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for name, score in prob.items():
    CumulativeGainDisplay.from_predictions(y_test, score, name=name, ax=left)
    CumulativeGainDisplay.from_predictions(
        y_test, score, name=name, kind="lift", ax=right
    )
plt.show()

# %%
# Fraction of positives among the first k items, and their mean probability.
from sklearn_rank.plotting import TopCalibrationDisplay

display = TopCalibrationDisplay.from_predictions(y_test, prob)
plt.show()

# %%
# Net benefit of acting on the items whose probability reaches a threshold.
from sklearn_rank.plotting import DecisionCurveDisplay

display = DecisionCurveDisplay.from_predictions(y_test, prob, band=False)
plt.show()

# %%
# ROC curve with a band for the whole curve, and the weight of a measure of the top.
from sklearn_rank.metrics import LocalAUC
from sklearn_rank.plotting import RocBandDisplay

display = RocBandDisplay.from_predictions(
    y_test, prob["logistic"], phi=LocalAUC(0.8), name="logistic"
)
plt.show()

# %%
# Queries: 100 queries with ten items each, graded 0, 1 or 2, and the scores of two rankers.
from sklearn_rank.plotting import QueryScoresDisplay

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(100), 10)
grade = rng.integers(0, 3, size=1000)
scores = {
    "A": grade + rng.normal(size=1000),
    "B": grade + 2 * rng.normal(size=1000),
}
display = QueryScoresDisplay.from_predictions(
    grade, scores, qid=qid, measure="ndcg@5"
)
plt.show()

# %%
# Differences between the two rankers, one per query, with a paired test.
from sklearn_rank.plotting import QueryDifferenceDisplay

display = QueryDifferenceDisplay.from_predictions(
    grade, scores["A"], scores["B"], qid=qid, measure="ndcg@5", random_state=0
)
plt.show()

# %%
# Confidence intervals of several estimates.
from sklearn_rank.inference import metric_interval
from sklearn_rank.plotting import IntervalsDisplay

intervals = {
    name: metric_interval("ndcg@5", grade, score, qid=qid)
    for name, score in scores.items()
}
display = IntervalsDisplay.from_intervals(intervals)
plt.show()

# %%
# A style of matplotlib applies to all displays.
with plt.style.context("dark_background"):
    display = QueryDifferenceDisplay.from_predictions(
        grade, scores["A"], scores["B"], qid=qid, measure="ndcg@5", random_state=0
    )
plt.show()
