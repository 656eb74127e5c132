"""
Features on one scale within each query
=======================================

One feature in eight queries before and after
:class:`~sklearn_rank.preprocessing.QueryNormalizer`. Before, its values differ more between
queries than within them; after, one threshold separates the relevant rows of all queries.
"""

# %%
# Each query has a scale of its own, such as the length of its documents. The four largest values
# of a query are relevant.
import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.preprocessing import QueryNormalizer

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(8), 12)
unit = np.exp(rng.normal(size=8))[qid]
value = (5 + rng.normal(size=len(qid))) * unit
relevant = np.zeros(len(qid), int)
for query in range(8):
    rows = np.flatnonzero(qid == query)
    relevant[rows[np.argsort(value[rows])[-4:]]] = 1

# %%
# ``"zscore"`` uses the mean and the standard deviation of each query, ``"rank"`` the ranks.
X = value[:, np.newaxis]
features = {
    "as it is": value,
    'QueryNormalizer("zscore")': QueryNormalizer("zscore").fit_transform(
        X, qid=qid
    )[:, 0],
    'QueryNormalizer("rank")': QueryNormalizer("rank").fit_transform(X, qid=qid)[
        :, 0
    ],
}
figure, panels = plt.subplots(
    1, 3, figsize=(9.5, 3.4), sharey=True, layout="constrained"
)
for axes, (name, feature) in zip(panels, features.items(), strict=True):
    for grade, style in ((0, {"mfc": "white"}), (1, {})):
        rows = relevant == grade
        axes.plot(feature[rows], qid[rows] + 1, "o", color="#0072B2", ms=5, **style)
    axes.set(title=name, xlabel="feature")
panels[0].set(ylabel="query", yticks=range(1, 9))
plt.show()
