"""
Cut-offs that keep a promised precision
=======================================

200 samples of 3,000 labelled rows, of which 5 % are positive. In each a
cut-off is chosen, whose precision on the population is drawn: the lowest one
with a precision of 80 % in the sample is below 80 % in half of the cases. The
promise of TopThresholdClassifier, with a confidence of 90 %, may fail in 10 %.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_rank.model_selection import TopThresholdClassifier


class Score(ClassifierMixin, BaseEstimator):
    """The score is the only column."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X):
        return X[:, 0]


rng = np.random.default_rng(0)


def draw(n):
    y = (rng.random(n) < 0.05).astype(int)
    return rng.normal(size=(n, 1)) + 2.8 * y[:, np.newaxis], y


X_all, y_all = draw(1_000_000)
order = np.argsort(-X_all[:, 0])
descending, hits = X_all[order, 0], np.cumsum(y_all[order])


def on_population(threshold):
    k = max(np.searchsorted(-descending, -threshold, side="right"), 1)
    return hits[k - 1] / k, hits[k - 1] / hits[-1]


found = {"read off the curve": [], "promised": []}
for _ in range(200):
    X, y = draw(3000)
    by_score = np.argsort(-X[:, 0])
    precision = np.cumsum(y[by_score]) / np.arange(1, 3001)
    last = np.flatnonzero(precision >= 0.8)[-1]
    found["read off the curve"].append(on_population(X[by_score[last], 0]))
    flag = TopThresholdClassifier(
        Score().fit(X, y), min_precision=0.8, level=0.9, cv="prefit"
    )
    found["promised"].append(on_population(flag.fit(X, y).threshold_))

# %%
# What a promise costs: some of the positives that could be flagged.
size = {"figsize": (7, 3.4), "layout": "constrained"}
fig, axes = plt.subplots(1, 2, sharex=True, sharey=True, **size)
for ax, (name, pairs) in zip(axes, found.items(), strict=True):
    precision, recall = np.array(pairs).T
    below = precision < 0.8
    ax.scatter(recall[~below], precision[~below], s=12, color="#0072B2")
    ax.scatter(recall[below], precision[below], s=12, color="#D55E00")
    ax.axhline(0.8, color="#767676", linewidth=1)
    ax.set(title=f"{name}: {100 * below.mean():.0f} % below", xlabel="Recall")
axes[0].set_ylabel("Precision on the population")
plt.show()

# %%
# What could be promised of each number of flagged rows of the last sample.
table = pd.DataFrame(flag.guarantees()).set_index("n_flagged")
axes = table.plot(logx=True, xlabel="Rows from the top", ylabel="Precision")
axes.axhline(0.8, color="#767676", linestyle=":")
axes.axvline(flag.report_.n_flagged, color="#767676")
plt.show()
