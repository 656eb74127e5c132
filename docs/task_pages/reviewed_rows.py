"""
Only the reviewed rows have labels: champion, challenger and an audit
=====================================================================

A team reviews the first rows of a model in use, the champion; the others stay
unlabelled. Is a new model, the challenger, better? Unlabelled rows are not
negatives: who counts them as 0 keeps the champion forever.
"""

# %%
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank.datasets import load_thyroid
from sklearn_rank.inference import LabelDesign, compare

X, y = load_thyroid(return_X_y=True)
X_train, X, y_train, truth = train_test_split(
    X, y, train_size=0.25, stratify=y, random_state=0
)
linear = make_pipeline(StandardScaler(), LogisticRegression())
trees = HistGradientBoostingClassifier(random_state=0)
champion = linear.fit(X_train, y_train).decision_function(X)
challenger = trees.fit(X_train, y_train).decision_function(X)
scores = {"champion": champion, "challenger": challenger}

# The first 300 of the champion are reviewed, and 600 others drawn at random.
order = np.argsort(-champion)
audited = np.random.default_rng(0).choice(order[300:], 600, replace=False)
known = np.append(order[:300], audited)
y = np.full(len(X), np.nan)  # NaN: no label
y[known] = truth[known]

design = LabelDesign(review_top=300, audit=600, scores=champion)
right = compare("ap", y, scores, design=design)
print(right)

# %%
# The challenger is better in average precision, on other lists like this one
# too: each audited row stands for many others.
#
# Unlabelled rows as negatives
# ----------------------------
#
# With 0 for each missing label the comparison says the opposite, and is sure of
# it: the challenger gets nothing for the cases that only it found.
reviewed = np.zeros(len(X))
reviewed[order[:300]] = truth[order[:300]]
wrong = compare("ap", reviewed, scores)
print(wrong.conclusions, wrong.interval)

# %%
# Without an audit nothing is known of the other rows. The limits are then over
# all labels that they can have, and no model wins:
y[audited] = np.nan
no_audit = LabelDesign(review_top=300, scores=champion)
unknown = compare("ap", y, scores, design=no_audit)
print(unknown.conclusions, unknown.interval)

# %%
# Fewer labels for the same answer
# --------------------------------
#
# 200 rows that :func:`~sklearn_rank.inference.plan_labels` chooses for this
# comparison do as well as 600 random ones.
from sklearn_rank.inference import plan_labels

plan = plan_labels(
    "ap",
    champion,
    budget=200,
    y_true=y,
    compare_with=challenger,
    random_state=0,
)
y[plan.chosen] = truth[plan.chosen]
planned = compare("ap", y, scores, design=plan.design)
print(planned.conclusions, planned.interval)

# %%
# The picture
# -----------
#
# Champion minus challenger. Here all labels are known, so the truth can be
# looked up: the dashed line.
import matplotlib.pyplot as plt

from sklearn_rank.plotting import IntervalsDisplay

found = {
    "missing labels as 0": wrong.interval,
    "review alone": unknown.interval,
    "review, 600 random": right.interval,
    "review, 200 planned": planned.interval,
}
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
IntervalsDisplay.from_result(found, reference=0, ax=axes)
axes.axvline(compare("ap", truth, scores).estimate, linestyle="--")
axes.set_xlabel("difference of average precision")
plt.show()

# %%
# Where to go next
# ----------------
#
# - :doc:`/user_guide/labels_in_part`: plans of labels, and predicted labels.
# - :doc:`/user_guide/comparisons`: comparisons of two or more scores.
# - :doc:`/user_guide/query_rankers`: clicks in place of labels.
