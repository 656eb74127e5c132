"""
Is one ranker better than another on new queries?
=================================================

Values of NDCG per query, intervals of the means, and paired tests.
"""

# %%
# Three rankers score 150 queries of twenty documents each. On queries with much noise all have
# small values.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.plotting import IntervalsDisplay, QueryDifferenceDisplay

rng = np.random.default_rng(0)


def draw_queries(n_queries):
    qid = np.repeat(np.arange(n_queries), 20)
    X = rng.normal(size=(len(qid), 5))
    noise = rng.gamma(2.0, 0.6, size=n_queries)[qid]
    utility = (
        X[:, 0]
        + 0.5 * X[:, 1]
        + 0.6 * X[:, 0] * X[:, 1]
        + noise * rng.normal(size=len(qid))
    )
    return X, np.digitize(utility, [0.8, 1.8, 2.8]), qid


X_train, y_train, _ = draw_queries(100)
X, y, qid = draw_queries(150)
scores = {
    "boosted trees": HistGradientBoostingRegressor(max_iter=60, random_state=0)
    .fit(X_train, y_train)
    .predict(X),
    "ridge": Ridge().fit(X_train, y_train).predict(X),
    "first feature": X[:, 0],
}

# %%
# The values of NDCG@10 on all queries. They vary far more than the means differ.
values = {
    name: ndcg_score(y, score, qid=qid, k=10, average=None)
    for name, score in scores.items()
}
figure, axes = plt.subplots()
axes.hist(values.values(), bins=20, label=list(values))
axes.set(xlabel="NDCG@10", ylabel="Queries")
axes.legend()
plt.show()

# %%
# The means with their intervals.
intervals = {
    name: metric_interval("ndcg@10", y, score, qid=qid)
    for name, score in scores.items()
}
IntervalsDisplay.from_result(intervals)
plt.show()

# %%
# Overlapping intervals do not imply equal rankers: on a noisy query all are worse, so that the
# differences vary less than the values. All pairs, with p-values adjusted for their number:
comparison = compare("ndcg@10", y, scores, qid=qid, random_state=0)
print(comparison)

# %%
# The differences of one pair, sorted.
QueryDifferenceDisplay.from_result(comparison["boosted trees - ridge"], values)
plt.show()
