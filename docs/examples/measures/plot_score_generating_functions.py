"""
Two rankers with the same AUC that differ at the top
====================================================

The *score-generating function* :math:`\\phi` of a linear rank statistic sets how much each place
counts. The AUC counts all places evenly; BEDROC and the local AUC weigh the top.
"""

# %%
# Weights of the places
# ---------------------
#
# A positive of rank R among n items, n at the top, counts :math:`\phi(R / (n + 1))`.
import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.metrics import Exponential, LocalAUC, Power, Wilcoxon

family = {
    "Wilcoxon(): the AUC": (Wilcoxon(), "-"),
    "Power(4)": (Power(4), "--"),
    "Exponential(20): BEDROC": (Exponential(20.0), "-."),
    "LocalAUC(0.8)": (LocalAUC(0.8), ":"),
}
u = np.linspace(0, 1, 1001)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, (phi, line) in family.items():
    axes.plot(u, phi(u), line, label=name)
axes.set(xlabel="rank / (n + 1): 0 is the bottom, 1 the top", ylabel=r"$\phi$")
axes.legend()

# %%
# Two rankers
# -----------
#
# One ranker orders the whole list moderately well. The other puts a third of the positives at the
# top and separates the rest from the negatives less well. Their AUCs are nearly equal.
from sklearn_rank.metrics import bedroc_score, local_auc_score, roc_auc_score

rng = np.random.default_rng(0)
y = np.arange(4000) % 10 == 0
even = rng.normal(size=4000) + 1.0 * y
found = y & (rng.random(4000) < 1 / 3)
peaked = rng.normal(size=4000) + np.where(found, 5.0, 0.45 * y)
for name, score in {"even": even, "peaked": peaked}.items():
    print(
        f"{name:7s} AUC {roc_auc_score(y, score):.3f}"
        f"   local AUC of the top 20 % {local_auc_score(y, score, u0=0.8):.3f}"
        f"   BEDROC {bedroc_score(y, score):.3f}"
    )

# %%
# The more a measure weighs the top, the larger the lead of the second ranker. Left BEDROC, right the
# local AUC.
alphas = np.geomspace(0.1, 200, 40)
tops = np.geomspace(1, 0.01, 40)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.6), sharey=True, layout="constrained"
)
for name, score, line in (("even", even, "-"), ("peaked", peaked, "--")):
    left.semilogx(
        alphas, [bedroc_score(y, score, alpha=a) for a in alphas], line, label=name
    )
    right.semilogx(
        tops, [local_auc_score(y, score, u0=1 - t) for t in tops], line, label=name
    )
left.set(
    xlabel=r"$\alpha$: about the top $1/\alpha$ counts",
    ylabel="0 worst order, 1 best",
)
left.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
right.set(xlabel="share of the list that counts")
right.set_xticks([1, 0.1, 0.01], ["100 %", "10 %", "1 %"])
right.invert_xaxis()
left.legend(title="ranker")
plt.show()
