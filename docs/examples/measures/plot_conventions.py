"""
One run, many numbers: conventions of NDCG
==========================================

Programs agree on the name NDCG@10 and differ in the gain, in ties and in
queries without a relevant item. The same predictions get another number from
each.
"""

# %%
# 200 queries with 30 items. The scores are whole numbers, so many of them are
# tied, and about one query in ten has no relevant item.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.metrics import ndcg_score

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(200), 30)
empty = rng.random(200) < 0.1
grade = rng.choice([0, 1, 2, 3], size=len(qid), p=[0.7, 0.15, 0.1, 0.05])
grade[empty[qid]] = 0
score = np.round(grade + rng.normal(0, 1.5, len(qid)))

# %%
# ``convention`` sets everything as the named program does. The second number
# leaves out the queries without a relevant item.
systems = [None, "paper", "sklearn", "lightgbm", "xgboost", "catboost", "letor"]
warnings.simplefilter("ignore", UndefinedMetricWarning)
judged = ~empty[qid]
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for row, system in enumerate(systems):
    given = {"k": 10, "convention": system}
    value = ndcg_score(grade, score, qid=qid, **given)
    without = ndcg_score(grade[judged], score[judged], qid=qid[judged], **given)
    axes.plot(value, row, "o", color="C0", label="all queries")
    axes.plot(without, row, "k|", markersize=16, label="those with a relevant item")
    print(f"{system or 'default':10} {value:.4f}   {without:.4f}")
axes.set_yticks(range(len(systems)), [system or "default" for system in systems])
axes.invert_yaxis()
axes.set(xlabel="NDCG@10 of the same run")
handles, labels = axes.get_legend_handles_labels()
figure.legend(handles[:2], labels[:2], loc="outside lower center", ncols=2)
plt.show()

# %%
# The distance between the two marks of a row shows how a query without a
# relevant item counts: as 0, as 1 or not at all. The lines differ by the gain
# of a grade, the discount and the order of ties.
# :doc:`/user_guide/other_systems` lists the conventions.
