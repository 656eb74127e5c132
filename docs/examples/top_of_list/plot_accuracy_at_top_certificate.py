"""
How good could any weights be?
==============================

Accuracy at the top minimises a loss around the quantile of the scores, which moves with the
weights, so that the problem is not convex. The smallest value of its convex problems bounds the
best value from below. The picture shows the certified range for each ``C``.
"""

# %%
# Four ways to make weights of the solutions of the convex problems: the paper's rule
# (``"closest"``), the mean direction of the tenth that it puts first (``"average"``, the default),
# the best value among them (``"objective"``), and steps from there that lower it (``"refine"``).
# All share one lower bound. For large ``C`` the rule warns that no candidate is near its quantile.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.exceptions import QuantileDistanceWarning

warnings.simplefilter("ignore", QuantileDistanceWarning)
X, y = load_ionosphere(return_X_y=True)
X, y = StandardScaler().fit_transform(X)[::3], y[::3]
costs = np.geomspace(1e-4, 1, 9)
fits = {
    selection: [AccuracyAtTopRanker(tau=0.1, C=C, selection=selection).fit(X, y) for C in costs]
    for selection in ("average", "closest", "objective", "refine")
}

# %%
# Values are shares of that of ``w = 0``, which is ``C`` times the number of rows. Between the
# lower bound and the lowest curve lies what could be gained at most. The rule of ``"closest"``
# does not look at this value, which may rise.
scale = costs * len(y)
figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (selection, fitted), marker in zip(fits.items(), "Dos^", strict=True):
    values = np.array([fit.objective_top_ for fit in fitted]) / scale
    axes.plot(costs, values, marker=marker, label=f'value, "{selection}"')
bound = np.array([fit.lower_bound_ for fit in fits["refine"]]) / scale
best = np.array([fit.objective_top_ for fit in fits["refine"]]) / scale
axes.plot(costs, bound, "k--", label="certified lower bound")
axes.fill_between(costs, bound, best, color="0.9", label="where the optimum lies")
axes.set(xscale="log", xlabel="C", ylabel="value / value of w = 0", ylim=(0, None))
axes.legend()

# %%
# A smaller value is not by itself a better list: the user guide compares them on new data.
plt.show()
