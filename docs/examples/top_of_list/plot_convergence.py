"""
Convergence of the solvers
==========================

The certificate of four rankers by the number of iterations: the relative duality gap, or the norm
of the gradient.
"""

# %%
# A fit with ``max_iter=k`` stops after k iterations. A ``ConvergenceWarning`` states that it
# missed ``tol``, which is expected here.
import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from sklearn_rank import (
    OrderPreservingRanker,
    PNormPushRanker,
    StructuralRanker,
    TopPushRanker,
)
from sklearn_rank.datasets import load_ionosphere, make_subset_ranking

warnings.simplefilter("ignore", ConvergenceWarning)
X, y = load_ionosphere(return_X_y=True)
X = StandardScaler().fit_transform(X)
X_queries, grades, qid = make_subset_ranking(
    200, 15, return_X_y=True, random_state=0
)

# %%
# The duality gap certifies the distance of the objective from its optimum, relative to the
# objective. ``OrderPreservingRanker`` has a smooth loss, and is certified by its gradient.
rankers = {
    "TopPushRanker(0.3)": (TopPushRanker(0.3), "#0072B2", "o"),
    "PNormPushRanker(16)": (PNormPushRanker(16), "#009E73", "^"),
    'StructuralRanker("auc")': (StructuralRanker("auc"), "#D55E00", "s"),
    "OrderPreservingRanker()": (OrderPreservingRanker(), "black", "x"),
}
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for name, (ranker, color, marker) in rankers.items():
    certificates = []
    for steps in range(1, 41):
        ranker.set_params(max_iter=steps)
        if isinstance(ranker, OrderPreservingRanker):
            certificates.append(
                ranker.fit(X_queries, grades, qid=qid).gradient_norm_
            )
        else:
            certificates.append(ranker.fit(X, y).dual_gap_)
        if ranker.converged_:
            break
    axes.plot(
        range(1, steps + 1), certificates, marker=marker, color=color, label=name
    )
for tol in (1e-4, 1e-6):
    axes.axhline(tol, color="0.5", linestyle=":")
axes.set(
    yscale="log",
    xlabel="iterations",
    ylabel="relative duality gap or gradient norm",
)
axes.grid(alpha=0.3)
figure.legend(loc="outside right upper")
plt.show()
