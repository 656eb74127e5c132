"""
Extend: your own measure, weighting or loss without a fork
==========================================================

A Python function becomes a measure, and a short class becomes a weighting of
places or a loss. Each then works with scorers, searches, intervals, tests and
rankers like those of the package.
"""

# %%
# The data are simulated: 200 sessions of a shop with 12 products each. The
# grade of a product is its margin in euros if it was bought, else 0.
import numpy as np

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import make_measure

rng = np.random.default_rng(0)
session = np.repeat(np.arange(200), 12)
X = rng.normal(size=(len(session), 4))
chance = 1 / (1 + np.exp(2 - 1.5 * X[:, 0] - X[:, 1]))
bought = rng.random(len(session)) < chance
y = bought * rng.integers(1, 5, len(session))
train, test = session < 120, session >= 120


def margin(y_true, y_score):
    """Euros earned by the three products shown in one session."""
    shown = np.argsort(-y_score, kind="stable")[:3]
    return y_true[shown].sum()


measure = make_measure(margin, kind="graded", range=(0.0, 12.0))
ranker = OrderPreservingRanker().fit(X[train], y[train], qid=session[train])
score = ranker.predict(X[test])
print(metric_interval(measure, y[test], score, qid=session[test]))

# %%
# The function gets the labels and scores of one session at a time. The line has
# the mean over the test sessions, in euros, with a 95 % interval. ``range``
# keeps the interval within what is possible.
#
# Use it like a measure of the package
# ------------------------------------
#
# Here it compares two rankings and draws the value of each session.
import matplotlib.pyplot as plt

from sklearn_rank.inference import compare
from sklearn_rank.metrics import get_scorer
from sklearn_rank.plotting import QueryScoresDisplay

scores = {"ranker": score, "first feature": X[test, 0]}
print(compare(measure, y[test], scores, qid=session[test]))
print(get_scorer(measure))  # for GridSearchCV and cross_validate
QueryScoresDisplay.from_predictions(
    y[test], scores, qid=session[test], measure=measure
)
plt.show()

# %%
# Your own weighting of places
# ----------------------------
#
# For one list, a linear rank statistic adds ``phi(rank / (n + 1))`` over the
# positives; rank n is the top. Any nondecreasing ``phi`` defines a measure.
# Ties, weights, intervals and tests follow.
from dataclasses import dataclass

from sklearn_rank.metrics import ScoreGeneratingFunction, get_measure


@dataclass(frozen=True)
class Cubed(ScoreGeneratingFunction):
    """Count a place by the third power of its rank."""

    def __call__(self, u):
        return np.asarray(u) ** 3


print(metric_interval(get_measure(Cubed()), y[test] > 0, score))

# %%
# Your own loss
# -------------
#
# A loss of one list is a subclass of
# :class:`~sklearn_rank.losses.TemplateLoss`. It returns the value of each list
# and the derivatives of their sum. ``lists.grade`` has the utilities of the
# items, ``lists.counts`` their weights, and ``lists.totals`` sums over the
# items of each list.
import warnings

from sklearn_rank.exceptions import CalibrationWarning
from sklearn_rank.losses import TemplateLoss


class Huber(TemplateLoss):
    """A squared loss that grows linearly beyond 1, so outliers count less."""

    is_order_preserving = False

    def _value_and_gradient(self, lists, score):
        residual = score - lists.grade
        slope = lists.counts * np.clip(residual, -1, 1)
        return lists.totals(slope * residual - slope**2 / 2), slope


robust = OrderPreservingRanker(Huber())
with warnings.catch_warnings():  # this loss is not order-preserving
    warnings.simplefilter("ignore", CalibrationWarning)
    robust.fit(X[train], y[train], qid=session[train])
scores = {"default loss": score, "own loss": robust.predict(X[test])}
print(compare(measure, y[test], scores, qid=session[test]))

# %%
# The last table compares the fit by your loss with the one by the default loss,
# under your measure. Gradient and value are enough. With ``_hessian_product``
# the fit uses Newton's method.
#
# Why no fork?
# ------------
#
# Functions ask a measure for its range, its lists and its direction, and yours
# answers the same questions. Your own classifiers, transformers and splitters
# follow the scikit-learn API, so they go into the searches and comparisons of
# this package too.
#
# Where to go next
# ----------------
#
# - :doc:`/user_guide/own_measure`: measures of one list, utilities, influence
#   functions.
# - :doc:`/user_guide/calibration`: which losses fit which measure.
# - :doc:`/development`: add a measure, a loss or a ranker to the package
#   itself.
