"""
Generated positives, queries, label rankings and clicks
=======================================================

The generators of :mod:`sklearn_rank.datasets` draw data whose best order is known: rare positives,
queries with graded items, orders of labels, and clicks.
"""

# %%
# :func:`~sklearn_rank.datasets.make_bipartite_ranking` draws two classes with rare positives. Most
# of them have larger values of the first feature, and a few larger values of the second.
import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.datasets import (
    make_bipartite_ranking,
    make_clicks,
    make_label_ranking,
    make_subset_ranking,
)

rows = make_bipartite_ranking(4000, random_state=0)
print(f"{rows.target.sum()} positives, {rows.is_clear.sum()} of them clear")

# %%
# :func:`~sklearn_rank.datasets.make_subset_ranking` draws the grades of an item given its
# features. The order by expected gain is the best one for DCG. ``noise`` sets how widely the
# grades of an item spread; the expected gain stays the same.
queries = {
    noise: make_subset_ranking(60, noise=noise, random_state=0)
    for noise in (0.2, 0.6)
}
for noise, drawn in queries.items():
    counts = np.bincount(drawn.target.astype(int))
    print(f"noise={noise}: {counts} items of each grade")

# %%
# :func:`~sklearn_rank.datasets.make_label_ranking` draws an order of labels for each row. A
# larger ``concentration`` keeps the orders nearer to the best one.
orders = {
    concentration: make_label_ranking(
        2000, concentration=concentration, random_state=0
    )
    for concentration in (0.5, 2.0, 8.0)
}
for concentration, drawn in orders.items():
    tau = drawn.expected_tau.mean()
    print(f"concentration={concentration}: expected tau {tau:.2f}")

# %%
# :func:`~sklearn_rank.datasets.make_clicks` simulates users who look at lower positions less
# often. All ten items are relevant here; those at the bottom still get few clicks.
relevance, score = np.ones(10, dtype=int), -np.arange(10.0)
clicks = {
    eta: make_clicks(relevance, score, eta=eta, n_sessions=20_000, random_state=0)
    for eta in (0.5, 1.0, 2.0)
}

# %%
# The four generators side by side.
palette = ("#0072B2", "#D55E00", "#009E73")
figure, axes = plt.subplots(2, 2, figsize=(9, 7.5), layout="constrained")
first, second, third, fourth = axes.flat
kinds = {
    "negative": (rows.target == 0, "0.8"),
    "positive": ((rows.target == 1) & ~rows.is_clear, palette[0]),
    "clear positive": (rows.is_clear, palette[1]),
}
for kind, (which, color) in kinds.items():
    first.plot(*rows.data[which].T, ".", color=color, markersize=5, label=kind)
first.set(
    xlabel="first feature", ylabel="second feature", title="make_bipartite_ranking"
)
first.set_xlim(-8, 10)
for (noise, drawn), color, shift in zip(
    queries.items(), palette, (-0.1, 0.1), strict=False
):
    label = f"noise = {noise}"
    second.plot(
        drawn.expected_gain, drawn.target + shift, "|", color=color, label=label
    )
second.set(
    xlabel="expected gain", ylabel="grade drawn", title="make_subset_ranking"
)
for (concentration, drawn), color in zip(orders.items(), palette, strict=True):
    share = np.arange(1, 2001) / 2000
    label = f"concentration = {concentration:g}"
    third.plot(np.sort(drawn.expected_tau), share, color=color, label=label)
third.set(xlabel="best expected Kendall's tau", ylabel="share of the rows")
third.set_title("make_label_ranking")
for (eta, drawn), color in zip(clicks.items(), palette, strict=True):
    share = np.bincount(drawn.position, drawn.clicks, 11)[1:] / 20_000
    fourth.plot(
        np.arange(1, 11),
        share,
        "o-",
        markersize=4,
        color=color,
        label=f"η = {eta:g}",
    )
fourth.set(
    xlabel="position", ylabel="share of sessions with a click", title="make_clicks"
)
for panel in axes.flat:
    panel.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        ncols=3,
        frameon=False,
        fontsize="small",
        columnspacing=1,
        handlelength=1.2,
    )
plt.show()
