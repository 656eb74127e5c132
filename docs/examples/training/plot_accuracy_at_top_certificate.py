"""
Certified range of the optimum for accuracy at the top
======================================================

Accuracy at the top minimises a non-convex objective. The figure shows its value for four
selections of the solution, and a certified lower bound, for each ``C``.
"""

# %%
# The ranker solves a convex problem for each row; the smallest of their values is a lower bound of
# the value that is not convex. ``selection`` computes weights from the solutions: the rule of the
# paper (``"closest"``), the mean direction of the first tenth by this rule (``"average"``, the
# default), the smallest value (``"objective"``), and steps that lower it (``"refine"``).
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.exceptions import QuantileDistanceWarning

warnings.simplefilter("ignore", QuantileDistanceWarning)
X, y = load_ionosphere(return_X_y=True)
X, y = StandardScaler().fit_transform(X)[::4], y[::4]
costs = np.geomspace(1e-4, 1, 7)
fits = {
    selection: [
        AccuracyAtTopRanker(tau=0.1, C=C, selection=selection).fit(X, y)
        for C in costs
    ]
    for selection in ("average", "closest", "objective", "refine")
}

# %%
# The optimum is in the grey range. Values are relative to that of ``w = 0``.
scale = costs * len(y)
figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (selection, fitted), marker in zip(fits.items(), "Dos^", strict=True):
    values = np.array([fit.objective_top_ for fit in fitted]) / scale
    axes.plot(costs, values, marker=marker, label=f'value, "{selection}"')
bound = np.array([fit.lower_bound_ for fit in fits["refine"]]) / scale
best = np.array([fit.objective_top_ for fit in fits["refine"]]) / scale
axes.plot(costs, bound, "k--", label="certified lower bound")
axes.fill_between(costs, bound, best, color="0.9", label="range of the optimum")
axes.set(xscale="log", xlabel="C", ylabel="value / value of w = 0", ylim=(0, None))
axes.legend()

# %%
# A smaller value does not imply a better list on new data: see :doc:`/benchmarks/rankers`.
plt.show()
