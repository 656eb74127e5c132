"""
Flag rows and promise a precision: cut-off, capacity, profit, alarm
===================================================================

Set a cut-off, or a number of rows a day, so that a promise holds on new rows.
Then: what the flagged rows are worth, and an alarm for a broken promise.
"""

# %%
# One part of the patients trains the model, one sets the cut-off, one is new.
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from sklearn_rank.datasets import load_thyroid
from sklearn_rank.model_selection import TopThresholdClassifier

X, y = load_thyroid(return_X_y=True)
X_train, X, y_train, y = train_test_split(
    X, y, train_size=1800, stratify=y, random_state=0
)
X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
trees = HistGradientBoostingClassifier(random_state=0).fit(X_train, y_train)

flag = TopThresholdClassifier(trees, min_precision=0.8, cv="prefit").fit(X, y)
print(flag.report_)
flagged = flag.predict(X_new) == 1
print(f"{flagged.sum()} new patients flagged, {y_new[flagged].mean():.0%} ill")

# %%
# A cut-off that is read off a curve at precision 0.8 fails on new rows in about
# half of all cases: the most fortunate one is taken. What could be promised of
# each number of flagged rows, beside what is seen:
import matplotlib.pyplot as plt
import pandas as pd

table = pd.DataFrame(flag.guarantees()).set_index("n_flagged")
table.plot(logx=True, xlabel="Rows from the top")
plt.show()

# %%
# At most 80 in a batch
# ---------------------
#
# With a capacity, the promise is for the precision of *this* batch.
daily = TopThresholdClassifier(
    trees, capacity=80, min_precision=0.7, cv="prefit", random_state=0
)
daily.fit(X, y)
flagged = daily.predict(X_new) == 1
print(f"{flagged.sum()} flagged, {y_new[flagged].sum()} of them ill")
print(daily.limits(X_new))

# %%
# What it is worth
# ----------------
#
# A case is worth 20, a visit costs 5: the labels of a profit are amounts. The
# threshold of ``paid`` promises that a flagged row is worth 8 in the mean.
import numpy as np

from sklearn_rank.inference import compare

amounts = np.where(y_new == 1, 15.0, -5.0)
scores = {"trees": trees.decision_function(X_new), "TSH": X_new[:, 1]}
print(compare("profit@120", amounts, scores))
paid = TopThresholdClassifier(
    trees, min_value=8, value=(15.0, -5.0), cv="prefit"
)
print(paid.fit(X, y).report_)

# %%
# Does it still hold?
# -------------------
#
# Every look is valid if labels are known when you look (else pass ``design=``).
# A week has 300 new patients. From week 6 on TSH comes out doubled.
from sklearn_rank.inference import ConfidenceSequence

rng = np.random.default_rng(0)
watch = ConfidenceSequence("precision@top0.1", threshold=flag.threshold_)
for week in range(1, 11):
    rows = rng.choice(len(X_new), 300)
    batch = X_new[rows].copy()
    batch[:, 1] *= 2 if week > 5 else 1
    found = watch.update(y_new[rows], trees.decision_function(batch))
    alarm = "alarm" if found.high < 0.8 else ""
    print(f"week {week}: [{found.low:.3f}, {found.high:.3f}] {alarm}")

# %%
# When does a promise fail?
# -------------------------
#
# It rests on labelled rows that the model has not seen, drawn like the new
# ones. If a patient has several rows, pass ``groups=`` to ``fit``. What too few
# labels cannot promise is said, and nothing is flagged.
#
# Where to go next
# ----------------
#
# - :doc:`/user_guide/score_to_action`: all promises, and what they rest on.
# - :doc:`/user_guide/sample_size`: how many labels, and how to watch a measure.
# - :doc:`/user_guide/labels_in_part`: where only reviewed rows have labels.
