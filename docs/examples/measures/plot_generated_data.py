"""
Generated queries, label rankings and clicks
============================================

The generators of :mod:`sklearn_rank.datasets` draw data whose best order is known: queries with
graded items, orders of labels, and clicks.
"""

# %%
# :func:`~sklearn_rank.datasets.make_subset_ranking` draws the grades of an item given its
# features. The order by expected gain is the best one for DCG. ``noise`` sets how widely the
# grades of an item spread; the expected gain stays the same.
import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.datasets import make_clicks, make_label_ranking, make_subset_ranking

queries = {noise: make_subset_ranking(60, noise=noise, random_state=0) for noise in (0.2, 0.6)}
for noise, drawn in queries.items():
    print(f"noise={noise}: {np.bincount(drawn.target.astype(int))} items of each grade")

# %%
# :func:`~sklearn_rank.datasets.make_label_ranking` draws an order of labels for each row. A
# larger ``concentration`` keeps the orders nearer to the best one.
orders = {
    concentration: make_label_ranking(2000, concentration=concentration, random_state=0)
    for concentration in (0.5, 2.0, 8.0)
}
for concentration, drawn in orders.items():
    print(f"concentration={concentration}: expected tau {drawn.expected_tau.mean():.2f}")

# %%
# :func:`~sklearn_rank.datasets.make_clicks` simulates users who look at lower positions less
# often. All ten items are relevant here; those at the bottom still get few clicks.
relevance, score = np.ones(10, dtype=int), -np.arange(10.0)
clicks = {
    eta: make_clicks(relevance, score, eta=eta, n_sessions=20_000, random_state=0)
    for eta in (0.5, 1.0, 2.0)
}

# %%
# The three generators side by side.
palette = ("#0072B2", "#D55E00", "#009E73")
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for (noise, drawn), color, shift in zip(queries.items(), palette, (-0.1, 0.1), strict=False):
    label = f"noise = {noise}"
    axes[0].plot(drawn.expected_gain, drawn.target + shift, "|", color=color, label=label)
axes[0].set(xlabel="expected gain", ylabel="grade drawn", title="make_subset_ranking")
for (concentration, drawn), color in zip(orders.items(), palette, strict=True):
    share = np.arange(1, 2001) / 2000
    label = f"concentration = {concentration:g}"
    axes[1].plot(np.sort(drawn.expected_tau), share, color=color, label=label)
axes[1].set(xlabel="best expected Kendall's tau", ylabel="share of the rows")
axes[1].set_title("make_label_ranking")
for (eta, drawn), color in zip(clicks.items(), palette, strict=True):
    share = np.bincount(drawn.position, drawn.clicks, 11)[1:] / 20_000
    axes[2].plot(np.arange(1, 11), share, "o-", markersize=4, color=color, label=f"η = {eta:g}")
axes[2].set(xlabel="position", ylabel="share of sessions with a click", title="make_clicks")
for panel in axes:
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=1, frameon=False)
plt.show()
