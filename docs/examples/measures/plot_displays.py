"""
All displays on simulated data
==============================

The displays of :mod:`sklearn_rank.plotting` draw results: curves of one or of several models,
intervals, and the differences of two rankers on queries.
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
# Precision among the first k items, with limits for all k at once, and those at two of them.
from sklearn_rank.inference import curve
from sklearn_rank.plotting import CurveDisplay

found = curve("precision@k", y_test, prob, random_state=0)
display = CurveDisplay.from_result(found, table=[20, 200])
plt.show()

# %%
# Mean probability of the first k items less the share of positives among them: 0 is calibrated.
found = curve("calibration@k", y_test, prob, random_state=0)
display = CurveDisplay.from_result(found)
plt.show()

# %%
# Net benefit of acting on the items whose probability reaches a threshold.
found = curve("net_benefit", y_test, prob, random_state=0)
display = CurveDisplay.from_result(found, band=False)
plt.show()

# %%
# ROC curve with a band for the whole curve.
found = curve("tpr@fpr", y_test, prob["logistic"], random_state=0)
display = CurveDisplay.from_result(found, table=[0.05, 0.1])
plt.show()

# %%
# Differences, with the range in which one of the models is better.
found = curve("recall@top", y_test, prob, baseline="naive Bayes", random_state=0)
display = CurveDisplay.from_result(found)
plt.show()

# %%
# Queries: 100 queries with ten items each, graded 0, 1 or 2, and the scores of two rankers.
# Differences between the two rankers, one per query, with a paired test.
from sklearn_rank.inference import compare
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.plotting import QueryDifferenceDisplay

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(100), 10)
grade = rng.integers(0, 3, size=1000)
scores = {
    "A": grade + rng.normal(size=1000),
    "B": grade + 2 * rng.normal(size=1000),
}
values = {
    name: ndcg_score(grade, score, qid=qid, k=5, average=None)
    for name, score in scores.items()
}
comparison = compare("ndcg@5", grade, scores, qid=qid)
display = QueryDifferenceDisplay.from_result(comparison, values)
plt.show()

# %%
# Confidence intervals of several estimates.
from sklearn_rank.inference import metric_interval
from sklearn_rank.plotting import IntervalsDisplay

intervals = {
    name: metric_interval("ndcg@5", grade, score, qid=qid)
    for name, score in scores.items()
}
display = IntervalsDisplay.from_result(intervals)
plt.show()

# %%
# A style of matplotlib applies to all displays.
with plt.style.context("dark_background"):
    display = QueryDifferenceDisplay.from_result(comparison, values)
plt.show()
