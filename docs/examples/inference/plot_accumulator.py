"""
A measure and its interval while batches arrive
===============================================

The rows of a large test set arrive in batches that need not fit into memory together. An
accumulator keeps what the measure needs, and gives the value and its interval at any time.
"""

# %%
# Batches of 2,000 rows, 3 % of them positive. The accumulator keeps each distinct pair of a score and
# a label once.
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import Accumulator

rng = np.random.default_rng(0)
accumulator = Accumulator("auc")
found = []
for _ in range(30):
    y = (rng.random(2000) < 0.03).astype(int)
    score = (rng.normal(size=2000) + 1.3 * y).round(3)
    accumulator.update(y, score)
    found.append(metric_interval(accumulator))
print(found[-1])
print(f"{accumulator.n_items:,} rows, {len(accumulator.table):,} kept")

# %%
# Each interval holds for one look. If a decision may be taken after any batch, use
# :class:`~sklearn_rank.inference.ConfidenceSequence`.
rows = 2000 * np.arange(1, 31)
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
low, high = [one.low for one in found], [one.high for one in found]
axes.fill_between(
    rows, low, high, color="#0072B2", alpha=0.25, label="95 % interval"
)
axes.plot(
    rows,
    [one.estimate for one in found],
    color="#0072B2",
    label="AUC of all rows so far",
)
axes.axhline(
    norm.cdf(1.3 / np.sqrt(2)), color="black", linestyle="--", label="expected AUC"
)
axes.set(xlabel="rows so far", ylabel="AUC", xlim=(0, 61_000))
axes.xaxis.set_major_formatter("{x:,.0f}")
figure.legend(loc="outside lower center", ncols=3)
plt.show()
