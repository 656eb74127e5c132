"""
Regret of calibrated and other losses with growing data
=======================================================

With growing data the regret of a ranker with a calibrated loss falls to zero. That of the losses
of RankNet, ranking SVM and ListNet need not.
"""

# %%
# RankNet's loss of pairs counts which of two items was labelled higher. If some grades are noisier
# than others, the item that is labelled higher more often need not be the one of greater expected
# gain, which DCG requires. :func:`~sklearn_rank.calibration.check_calibration` finds a
# distribution on which RankNet's loss fails, and none for the form that is weighted by both
# utilities.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.calibration import check_calibration
from sklearn_rank.datasets import make_subset_ranking
from sklearn_rank.exceptions import CalibrationWarning
from sklearn_rank.metrics import dcg_score

plt.style.use("tableau-colorblind10")

print(check_calibration("comparison_logistic", "dcg", random_state=0))
print(check_calibration("pairwise_logistic", "dcg", random_state=0))

# %%
# Simulated features, with known expected gains and a linear best order. Some items mostly get the
# lowest grade and sometimes the highest; others with the same expected gain always get grades in
# between. All rankers are linear, have the utilities of DCG, and differ in the loss only. The
# regret is the expected DCG of the best order minus that of the learned one, on 500 test queries.
warnings.simplefilter("ignore", CalibrationWarning)

CALIBRATED = {
    "squared error": "pointwise_squared",
    "pairs, logistic, both utilities": "pairwise_logistic",
    "softmax": "softmax",
}
USUAL = {
    "pairs, logistic (RankNet)": "comparison_logistic",
    "pairs, squared hinge (ranking SVM)": "comparison_squared_hinge",
    "softmax of shares (ListNet)": "normalized_softmax",
}
SIZES = [10, 30, 100, 300, 1000, 3000]
DRAWS = 8
regrets = {name: np.empty((DRAWS, len(SIZES))) for name in {**CALIBRATED, **USUAL}}
for draw in range(DRAWS):
    lists = make_subset_ranking(
        SIZES[-1] + 500,
        (6, 14),
        utility="exponential",
        noise=1.0,
        heteroscedastic=True,
        random_state=draw,
    )
    test = lists.qid >= SIZES[-1]

    def expected_dcg(score, gain=lists.expected_gain[test], qid=lists.qid[test]):
        return dcg_score(gain, score, gain="linear", qid=qid)

    best = expected_dcg(lists.expected_gain[test])
    for column, n_queries in enumerate(SIZES):
        train = lists.qid < n_queries
        for name, loss in {**CALIBRATED, **USUAL}.items():
            ranker = OrderPreservingRanker(loss, measure="dcg", alpha=1e-3)
            ranker.fit(lists.data[train], lists.target[train], qid=lists.qid[train])
            score = ranker.decision_function(lists.data[test])
            regrets[name][draw, column] = best - expected_dcg(score)

# %%
# Solid: calibrated losses, whose regret falls about as one over the number of queries. Dashed:
# losses that are not calibrated, whose regret stays.
figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for losses, line in ((CALIBRATED, "-o"), (USUAL, "--s")):
    for name in losses:
        mean = regrets[name].mean(axis=0)
        error = regrets[name].std(axis=0, ddof=1) / np.sqrt(DRAWS)
        axes.errorbar(
            SIZES, mean, yerr=error, fmt=line, markersize=4, capsize=2, label=name
        )
axes.set(
    xscale="log",
    yscale="log",
    xlabel="queries in training",
    ylabel="regret in expected DCG",
)
axes.set_xticks([10, 100, 1000], ["10", "100", "1,000"])
axes.set_yticks([0.01, 0.1], ["0.01", "0.1"])
axes.legend(loc="lower left", fontsize="small")
plt.show()

# %%
# The distribution is chosen for this purpose: the noise depends on the item. If the noise is the
# same for all items, or the features explain little, both kinds of losses may do equally well on a
# given amount of data.
for name, values in regrets.items():
    print(f"{name:36s} {values[:, 0].mean():.3f} -> {values[:, -1].mean():.4f}")
