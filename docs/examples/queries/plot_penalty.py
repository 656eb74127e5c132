"""
Choice of the penalty of a query ranker
=======================================

NDCG@5 of test queries by the penalty of :class:`~sklearn_rank.OrderPreservingRanker`, for three
losses. The penalty changes NDCG more than the loss does.
"""

# %%
# Thirty training queries of ten items have 100 features, whose variances decrease. The grades
# depend on the first five features.
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from sklearn_rank import OrderPreservingRanker

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(330), 10)
X = rng.normal(size=(len(qid), 100)) / np.sqrt(np.arange(1, 101))
y = rng.binomial(4, expit(2 * X[:, :5].sum(axis=1) - 1))
train, test = qid < 30, qid >= 30

# %%
# ``alpha="scale"`` adapts the penalty to the loss, the length of the queries and the variance of
# the features, so that its multiples mean about the same for all losses. Search them from
# ``"0.1*scale"`` to ``"10*scale"``.
factors = np.logspace(-3, 3, 13)
losses = {
    "pairwise_logistic": ("#0072B2", "o"),
    "softmax": ("#D55E00", "s"),
    "pointwise_squared": ("#009E73", "^"),
}
figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
for loss, (color, marker) in losses.items():
    found = []
    for factor in factors:
        ranker = OrderPreservingRanker(
            loss, measure="ndcg@5", alpha=f"{factor:g}*scale"
        )
        ranker.fit(X[train], y[train], qid=qid[train])
        found.append(ranker.score(X[test], y[test], qid=qid[test]))
    axes.plot(factors, found, color=color, marker=marker, label=loss)
axes.axvspan(0.1, 10, color="0.93", zorder=0)
axes.set(
    xscale="log",
    xlabel='alpha, in multiples of "scale"',
    ylabel="NDCG@5, 300 test queries",
)
axes.set_xticks(
    [0.001, 0.01, 0.1, 1, 10, 100, 1000], ["0.001", "0.01", "0.1", 1, 10, 100, 1000]
)
axes.minorticks_off()
axes.legend(loc="upper left")
plt.show()
