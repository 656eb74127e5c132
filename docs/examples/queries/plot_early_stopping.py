"""
Early stopping of boosted query rankers
=======================================

NDCG@5 of held-out queries after each tree, for two learning rates. Early stopping keeps the trees
up to the best round.
"""

# %%
# The relevance depends on two of ten features through a square and a product, with noisy grades.
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from sklearn_rank import BoostedOrderPreservingRanker

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(200), 10)
X = rng.normal(size=(len(qid), 10))
y = rng.binomial(3, expit(X[:, 0] ** 2 + X[:, 0] * X[:, 1] - 2))
train, held_out = qid < 120, qid >= 120

# %%
# ``X_val``, ``y_val`` and ``qid_val`` are the validation queries. ``validation_scores_`` starts
# with the value before the first tree.
figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
for rate, color in ((0.3, "#D55E00"), (0.05, "#0072B2")):
    ranker = BoostedOrderPreservingRanker(
        measure="ndcg@5",
        learning_rate=rate,
        n_estimators=400,
        early_stopping=True,
        n_iter_no_change=60,
    ).fit(
        X[train],
        y[train],
        qid=qid[train],
        X_val=X[held_out],
        y_val=y[held_out],
        qid_val=qid[held_out],
    )
    scores, best = ranker.validation_scores_, ranker.best_iteration_
    axes.plot(scores, color=color, label=f"learning_rate={rate}")
    axes.plot(
        best, scores[best], "o", color=color, label=f"best round, {best} trees"
    )
axes.set(xlabel="trees", ylabel="NDCG@5, validation queries", ylim=(0.73, 0.82))
axes.grid(alpha=0.3)
axes.legend(loc="lower right")
plt.show()
