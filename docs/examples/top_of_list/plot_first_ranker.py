"""
Train for the top, and compare
==============================

One hundred thousand simulated transactions, two in a hundred are frauds, and a team reviews the
first 125 of the 25,000 held-out ones. Logistic regression ranks the whole list; a second fit
concentrates on the top.
"""

# %%
# The second fit finds more frauds among the reviewed transactions.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from sklearn_rank import TopFocusedRanker
from sklearn_rank.datasets import make_bipartite_ranking
from sklearn_rank.inference import compare

X, y = make_bipartite_ranking(100_000, return_X_y=True, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
usual = LogisticRegression().fit(X_train, y_train)
top = TopFocusedRanker(LogisticRegression(), tau=0.005).fit(X_train, y_train)
a, b = top.decision_function(X_test), usual.decision_function(X_test)
print(compare("precision@top0.005", y_test, {"top": a, "usual": b}))

# %%
# The AUC of logistic regression is higher nevertheless: the AUC averages over the whole list.
print(compare("auc", y_test, {"top": a, "usual": b}))

# %%
# Precision among the first items, by how many are reviewed. The vertical line is the capacity of
# 125 reviews, with 95 % intervals for the precision there. A team that reviews thousands of
# transactions gains nothing from the second fit.
import matplotlib.pyplot as plt

from sklearn_rank.plotting import TopOfListDisplay

figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for score, name in [(a, "fitted again for the top"), (b, "logistic regression")]:
    TopOfListDisplay.from_predictions(
        y_test, score, name=name, ax=axes, tau=0.005, level=0.95
    )
axes.set_xlabel("Transactions reviewed (log scale)")
axes.set_ylabel("Share of frauds among them")
plt.show()
