"""
Intervals of three systems under your own measure
=================================================

A function of one list becomes a measure. It then has intervals, comparisons and
pictures.
"""

# %%
# The measure: the money that a user saves with the first of the three shown offers
# that suits, less five cents for each offer that the user has to read before it.
import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import make_measure
from sklearn_rank.plotting import IntervalsDisplay


def saving(y_true, y_score):
    shown = y_true[np.argsort(-y_score, kind="stable")[:3]]
    suits = np.flatnonzero(shown > 0)
    return shown[suits[0]] - 0.05 * suits[0] if len(suits) else -0.15


measure = make_measure(saving, kind="graded", range=(-0.15, 3.0))

# %%
# 120 users with ten offers each. An offer saves 1, 2 or 3, or does not suit (0).
rng = np.random.default_rng(0)
user = np.repeat(np.arange(120), 10)
value = rng.choice([0, 1, 2, 3], size=len(user), p=[0.7, 0.15, 0.1, 0.05])
scores = {
    "learned": value + rng.normal(0, 1.0, len(user)),
    "rules": value + rng.normal(0, 2.0, len(user)),
    "newest first": rng.normal(size=len(user)),
}
intervals = {}
for name, score in scores.items():
    intervals[name] = metric_interval(measure, value, score, qid=user)
IntervalsDisplay.from_intervals(intervals)
plt.show()

# %%
# Each row has the mean saving of a user and its 95 % interval. The intervals of two
# systems do not answer whether one is better, since the same users see both. The
# paired comparison does:
print(compare(measure, value, scores, qid=user, random_state=0))
