"""
Learning from clicks with position bias
=======================================

A ranker that learns from raw clicks also learns the order in which rows were shown. Division by
propensities removes this bias, at the price of variance that clipping reduces.
"""

# %%
# Simulated queries of twenty rows with relevance from 0 to 4, shown by a logging ranker whose scores
# agree with the relevance in part.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.clicks import em_propensities, swap_propensities
from sklearn_rank.datasets import make_clicks, make_subset_ranking
from sklearn_rank.metrics import ndcg_score

plt.style.use("tableau-colorblind10")

N_TRAIN, ETA, NOISE = 300, 1.25, 0.05
lists = make_subset_ranking(
    N_TRAIN + 300, 20, utility="exponential", random_state=0
)
train, test = lists.qid < N_TRAIN, lists.qid >= N_TRAIN
X, y, qid = lists.data[train], lists.target[train], lists.qid[train]
rng = np.random.default_rng(0)
other = rng.normal(size=5)
other -= other @ lists.coef / (lists.coef @ lists.coef) * lists.coef
logging_score = X @ (
    lists.coef / np.linalg.norm(lists.coef) + 1.5 * other / np.linalg.norm(other)
)
logging_score += rng.normal(size=len(y))


def clicks_of(n_sessions, seed, intervention=None):
    return make_clicks(
        y,
        logging_score,
        qid,
        n_sessions=n_sessions,
        eta=ETA,
        noise=NOISE,
        intervention=intervention,
        random_state=seed,
    )


# %%
# Two estimates of the propensities: from 20,000 sessions in which the first row and another one were
# exchanged at random, and from 20,000 without an experiment, by expectation-maximisation. Click
# rates fall faster, because the logging ranker shows relevant rows at the top.
experiment = clicks_of(20_000, 1, "swap")
swaps = swap_propensities(
    experiment.clicks,
    experiment.position,
    experiment.qid,
    exchanged=experiment.exchanged,
    swapped=experiment.swapped,
)
log = clicks_of(20_000, 2)
# A row is always shown at the same position: count equal rows and weight them.
seen, counts = np.unique(
    np.stack((log.rows, log.position, log.clicks)), axis=1, return_counts=True
)
em = em_propensities(
    X[seen[0]],
    seen[2],
    seen[1],
    LogisticRegression(),
    sample_weight=counts,
    max_iter=2000,
    tol=3e-3,
)
positions = np.arange(1, 21)
rates = np.array([log.clicks[log.position == k].mean() for k in positions])

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axes.plot(positions, positions**-ETA, color="black", label="truth")
axes.errorbar(
    positions,
    swaps.value,
    yerr=2 * swaps.standard_error,
    fmt="o",
    markersize=4,
    label="exchanges, two standard errors",
)
axes.plot(positions, em.value, "s", markersize=4, label="expectation-maximisation")
axes.plot(positions, rates / rates[0], "x", label="click rates")
axes.set(
    xscale="log", yscale="log", xlabel="position", ylabel="relative to position 1"
)
axes.set_ylim(0.004, 1.5)
axes.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
axes.set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
axes.xaxis.set_minor_formatter("")
axes.legend(loc="lower left", fontsize="small")
plt.show()

# %%
# Exchanges need no model of relevance and have standard errors; expectation-maximisation needs one,
# which is nearly true here.
#
# Rankers learn from the clicks of 100 to 10,000 sessions, five times each. The measure is NDCG@10 of
# the true relevance of 300 other queries.
SIZES, DRAWS = [100, 300, 1000, 3000, 10_000], 5
WAYS = {
    "raw clicks": (lambda log: None, 0.0),
    "true propensities": (lambda log: log.propensity, 0.0),
    "true propensities, clipped at 0.1": (lambda log: log.propensity, 0.1),
    "propensities from exchanges": (lambda log: swaps.of(log.position), 0.0),
    "propensities from EM": (lambda log: em.of(log.position), 0.0),
}


def quality(ranker):
    score = ranker.predict(lists.data[test])
    return ndcg_score(lists.target[test], score, k=10, qid=lists.qid[test])


found = {name: np.empty((DRAWS, len(SIZES))) for name in WAYS}
for draw in range(DRAWS):
    for column, size in enumerate(SIZES):
        log = clicks_of(size, 100 + draw)
        for name, (propensity, clip) in WAYS.items():
            ranker = OrderPreservingRanker(
                "softmax", measure="dcg", alpha=0.01, propensity_clip=clip
            )
            ranker.fit(
                X[log.rows], log.clicks, qid=log.qid, propensity=propensity(log)
            )
            found[name][draw, column] = quality(ranker)
relevance = OrderPreservingRanker("softmax", measure="dcg", alpha=0.01).fit(
    X, y, qid=qid
)

# %%
# Bars are the standard deviation between draws of clicks. More raw clicks do not help. With true or
# estimated propensities the rankers reach the fit to the true relevance (line). With a hundred
# sessions the variance is large: clipping is better there, and biased from a thousand on.
figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
axes.axhline(quality(relevance), color="black", label="relevance")
for row, (name, values) in enumerate(found.items()):
    axes.errorbar(
        np.array(SIZES) * 1.04 ** (row - 2),
        values.mean(axis=0),
        yerr=values.std(axis=0, ddof=1),
        fmt="--s" if row == 0 else "-o",
        markersize=4,
        capsize=2,
        label=name,
    )
axes.set(
    xscale="log", xlabel="sessions", ylabel="NDCG@10 of relevance, test queries"
)
axes.set_xticks([100, 1000, 10_000], ["100", "1,000", "10,000"])
axes.legend(loc="lower right", fontsize="small")
plt.show()

# %%
# The simulation and the rankers assume that examination depends on the position alone. If users trust
# the ranker, propensities remove a part of the bias only. Compare rankers by known relevance or an
# experiment: a measure of raw clicks prefers the order that was shown.
for name, values in found.items():
    print(f"{name:34s} {values[:, 0].mean():.3f} -> {values[:, -1].mean():.3f}")
