"""
Only the reviewed rows have labels: champion, challenger and an audit
=====================================================================

A team reviews the first rows of a model that is in use, the champion, and
nobody labels the rest. This page compares a new model with it, the
challenger, on such data. It shows why missing labels are not 0, what a random
audit of the rest adds, and what a second model adds as a proxy.
"""

# %%
# The data are images of digits, and the class to find is "8". To see later
# what was true, all labels are known here. The champion is a linear model of
# a quarter of the pixels.
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sklearn_rank.inference import LabelDesign, compare, metric_interval

X, digit = load_digits(return_X_y=True)
X, X_list, y, truth = train_test_split(
    X, (digit == 8).astype(int), train_size=500, random_state=0
)
linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
champion = linear.fit(X[:, ::4], y).decision_function(X_list[:, ::4])
challenger = SVC().fit(X, y).decision_function(X_list)
n = len(truth)
print(n, "rows,", truth.sum(), "positive")

# %%
# Missing labels are not 0
# ------------------------
#
# The team reviewed the first 65 rows of the champion. With the other labels
# counted as 0, no difference is shown at the first 100 places, because the
# challenger is not paid for the rows that only it found.
reviewed = np.argsort(-champion)[:65]
as_zero = np.zeros(n, int)
as_zero[reviewed] = truth[reviewed]
scores = {"champion": champion, "challenger": challenger}
print(compare("precision@100", as_zero, scores))

# %%
# An audit of the rest
# --------------------
#
# 200 of the other rows, drawn at random, get labels too. Labels that are not
# known stay missing (NaN), and the design says how the others came to be.
rng = np.random.default_rng(1)
rest = np.setdiff1d(np.arange(n), reviewed)
audited = rng.choice(rest, 200, replace=False)
y_true = np.full(n, np.nan)
y_true[reviewed], y_true[audited] = truth[reviewed], truth[audited]
design = LabelDesign(review_top=65, audit=200, scores=champion)
print(compare("precision@100", y_true, scores, design=design))
print(metric_interval("auc", y_true, challenger, design=design))

# %%
# The limits are for the value that this list has with all labels; "score" is
# the name of the method. The truth can be looked up here:
print(compare("precision@100", truth, scores).values)

# %%
# How many labels?
# ----------------
#
# Each dot is the recall of the challenger at 100 places from an audit of its
# own, with its 95 % interval; the line is the value with all labels.
import matplotlib.pyplot as plt

from sklearn_rank.plotting import IntervalsDisplay

found = {}
for audit in (50, 100, 200, 400, 800):
    known = np.append(reviewed, rng.choice(rest, audit, replace=False))
    labels = np.full(n, np.nan)
    labels[known] = truth[known]
    plan = LabelDesign(review_top=65, audit=audit, scores=champion)
    found[f"{audit} labels"] = metric_interval(
        "recall@100", labels, challenger, design=plan
    )
display = IntervalsDisplay.from_intervals(found)
display.ax_.axvline(metric_interval("recall@100", truth, challenger).estimate)
plt.show()

# %%
# A proxy
# -------
#
# Predictions of the missing labels make intervals narrower where they are
# good, and cost no coverage where they are not. Here they are the
# probabilities of a model that saw none of the labels of this list. Those of
# a model that was fitted on the labels of the list must be out of fold.
proxy = SVC().fit(X, y).decision_function(X_list)
proxy = 1 / (1 + np.exp(-4 * proxy))
for name in ("recall@100", "ap"):
    for predictions in (None, proxy):
        found = metric_interval(
            name, y_true, champion, design=design, proxy=predictions
        )
        print(name, "with proxy" if predictions is not None else "", found)

# %%
# Where to go next
# ----------------
#
# - :doc:`/user_guide/labels_in_part`: plans of labels, and when to stop.
# - :doc:`/user_guide/rank_tests`: comparisons of two or more scores of a list.
# - :doc:`/user_guide/position_bias`: labels that are clicks.
