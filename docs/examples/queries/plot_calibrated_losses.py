"""
More data does not help a loss that is not calibrated
=====================================================

The usual loss of pairs asks which of two items was labelled higher. Where some grades are noisier
than others, the item that is labelled higher more often need not be the one of greater expected
gain, and the expected DCG needs the latter. With growing data the regret of a calibrated loss
falls to zero; that of the usual losses stays.
"""

# %%
# A distribution on which a loss fails can be searched for. Here is one for the logistic loss of
# pairs of RankNet, and none for the form that is weighed by both utilities.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.calibration import check_calibration
from sklearn_rank.datasets import make_subset_ranking
from sklearn_rank.exceptions import CalibrationWarning
from sklearn_rank.metrics import dcg_score

print(check_calibration("comparison_logistic", "dcg", random_state=0))
print(check_calibration("pairwise_logistic", "dcg", random_state=0))

# %%
# Now with features. The expected gain of each item is known, and the best order is that of a
# linear score. Some items mostly get the lowest grade and now and then the highest, others, of the
# same expected gain, always get grades in between. All rankers are linear, have the same
# utilities, those of DCG, and differ in the loss only. The regret is the expected DCG of the best
# order less that of the learned one, on 500 queries of their own.
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
# Both axes are logarithmic. Solid: calibrated losses, whose regret falls about as one by the
# number of queries. Dashed: the usual ones, which settle at the order that they prefer.
figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for losses, line in ((CALIBRATED, "-o"), (USUAL, "--s")):
    for name in losses:
        mean = regrets[name].mean(axis=0)
        error = regrets[name].std(axis=0, ddof=1) / np.sqrt(DRAWS)
        axes.errorbar(SIZES, mean, yerr=error, fmt=line, markersize=4, capsize=2, label=name)
axes.set(
    xscale="log",
    yscale="log",
    xlabel="queries in training",
    ylabel="regret in expected DCG",
)
axes.legend(loc="lower left", fontsize="small")
plt.show()

# %%
# This is a distribution made for the purpose: the noise depends on the item. Where the noise is
# the same for all items, or the features explain little, the two kinds may do equally well on a
# given amount of data, and calibration says nothing about which is nearer to its limit.
for name, values in regrets.items():
    print(f"{name:36s} {values[:, 0].mean():.3f} -> {values[:, -1].mean():.4f}")
