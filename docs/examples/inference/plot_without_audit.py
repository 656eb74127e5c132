"""
What an assumption on rows that nobody labels decides
=====================================================

A champion's first 300 of 4,000 rows are reviewed, and no other row has a
label. A challenger ranks most of these rows again. Whether it is better is
certain for the precision at the top. For average precision it depends on how
many positives were missed.
"""

# %%
# ``most_below`` assumes that positives below the review are at most so many
# times as frequent as at its cut. The band has the limits of the difference
# of the rankers, over all labels that the assumption permits.
import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.inference import LabelDesign, compare
from sklearn_rank.plotting import IntervalsDisplay

rng = np.random.default_rng(1)
truth = np.arange(4000) < 200
champion = 2.5 * truth + rng.normal(size=4000)
challenger = champion + 0.4 * (2 * truth + rng.normal(size=4000))
y_true = np.where(np.argsort(np.argsort(-champion)) < 300, truth, np.nan)
scores = {"challenger": challenger, "champion": champion}


def difference(measure, factor):
    design = LabelDesign(review_top=300, scores=champion, most_below=factor)
    return compare(measure, y_true, scores, design=design).interval


fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
factors = np.linspace(0, 0.5, 51)
for measure, ax in zip(("precision@200", "ap"), axes, strict=True):
    found = {factor: difference(measure, factor) for factor in factors}
    display = IntervalsDisplay.from_intervals(found, reference=0, ax=ax)
    ax.set(xlabel="most_below", title=measure)
    ax.set_ylabel("challenger minus champion")
    print(measure, "is better up to", display.clear_up_to)
plt.show()

# %%
# The challenger is more precise in its first 200 whatever the labels of the
# other rows are. Its average precision is larger only if these rows hold few
# positives: a random audit of them tells whether they do.
