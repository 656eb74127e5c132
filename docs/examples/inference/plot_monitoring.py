"""
======================================
Monitoring the AUC of a deployed model
======================================

A fraud model is checked after each of forty weeks of reviewed transactions. An ordinary
confidence interval, computed every week, misses the expected AUC in some week of many histories.
A confidence sequence contains it in all weeks with probability 95 %.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from sklearn_rank.inference import ConfidenceSequence, accumulator_interval
from sklearn_rank.metrics import Accumulator

SHIFT = 1.2
TRUTH = norm.cdf(SHIFT / np.sqrt(2))
WEEKS = np.arange(1, 41)


def history(seed):
    """Limits of both kinds after each week."""
    rng = np.random.default_rng(seed)
    monitor, so_far = ConfidenceSequence("auc"), Accumulator("auc")
    always, once = [], []
    for _ in WEEKS:
        y = (rng.random(100) < 0.2).astype(int)
        score = rng.normal(size=100) + SHIFT * y
        always.append(monitor.update(y, score))
        once.append(accumulator_interval(so_far.update(y, score)))
    return [[(one.low, one.high) for one in found] for found in (always, once)]


# %%
# In how many of twelve histories does an interval miss the expected AUC in some week?

histories = [history(seed) for seed in range(12)]
limits = np.array(histories)
missed = ((limits[..., 0] > TRUTH) | (limits[..., 1] < TRUTH)).any(axis=2)
erred = missed.sum(axis=0)
print(f"confidence sequence: {erred[0]} of 12")
print(f"interval for one look: {erred[1]} of 12")

# %%
# The first history in which the interval for one look misses it. Crosses mark the weeks.

shown = int(np.argmax(missed[:, 1]))
always, once = limits[shown]
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axes.fill_between(
    WEEKS, *always.T, color="tab:blue", alpha=0.25, label="confidence sequence"
)
axes.plot(WEEKS, once, color="tab:blue", linewidth=1)
axes.plot([], [], color="tab:blue", linewidth=1, label="interval for one look")
wrong = (once[:, 0] > TRUTH) | (once[:, 1] < TRUTH)
axes.plot(
    WEEKS[wrong],
    np.where(once[wrong, 0] > TRUTH, *once[wrong].T),
    "x",
    color="tab:red",
)
axes.axhline(
    TRUTH, color="black", linewidth=1, linestyle="--", label="expected AUC"
)
axes.set(xlabel="week", ylabel="AUC", xlim=(1, 40), ylim=(0.6, 1.0))
axes.legend(loc="lower right")
plt.show()
