"""
Model selection: choose among models with a guarantee
=====================================================

A search reports the largest of many scores, and the largest is too good. This
page chooses among logistic regression and boosted trees with a limit that
accounts for the choice. It then compares the two on the same folds.
"""

# %%
# The data are simulated: 3,000 customers, some of whom cancel their contract.
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_rank.model_selection import BoundSearchCV

rng = np.random.default_rng(0)
n = 3000
X = pd.DataFrame(
    {
        "tenure": rng.gamma(2.0, 15.0, n),
        "monthly_charges": rng.normal(65, 25, n),
        "support_calls": rng.poisson(1.5, n),
        "contract": rng.choice(["monthly", "yearly", "two years"], n),
    }
)
risk = (
    0.03 * (X["monthly_charges"] - 65)
    + 0.5 * X["support_calls"]
    - 0.04 * X["tenure"]
)
risk = risk - 2.5 + 1.5 * (X["contract"] == "monthly")
y = (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int)  # 1: cancels

columns = make_column_transformer(
    (StandardScaler(), ["tenure", "monthly_charges", "support_calls"]),
    (OneHotEncoder(), ["contract"]),
)
logistic = make_pipeline(columns, LogisticRegression(max_iter=1000))
trees = make_pipeline(
    columns, HistGradientBoostingClassifier(max_iter=50, random_state=0)
)
models = {
    "logistic": (logistic, {"logisticregression__C": [0.001, 0.1, 10.0]}),
    "trees": (
        trees,
        {"histgradientboostingclassifier__max_leaf_nodes": [4, 8, 31]},
    ),
}
search = BoundSearchCV(models, measure="auc", refit=False, random_state=0)
search.fit(X, y)
print(search.report_)

# %%
# The report names the chosen model and says what is guaranteed. With one
# held-out part and ``refit=False`` the guarantee is for ``best_estimator_``,
# the model that you deploy. It holds for every distribution of the data and
# accounts for the number of candidates. The interval in the line
# "Asymptotically" is narrower: it holds for many rows and accounts for the
# choice as well.
#
# The picture
# -----------
#
# A circle is the score of a candidate on the held-out part, and its line ends
# at the guaranteed lower limit. Filled circles are the candidates that a test
# cannot tell from the best one.
import matplotlib.pyplot as plt

table = pd.DataFrame(search.cv_results_)
setting = table["params"].map(lambda params: str(*params.values()))
filled = np.where(table["may_be_best"], "C0", "white")
figure, axes = plt.subplots(layout="constrained")
low, score = table["lower_bound"], table["mean_test_score"]
axes.hlines(table.index, low, score, alpha=0.5)
axes.scatter(score, table.index, c=filled, edgecolors="C0")
axes.set_yticks(table.index, table["estimator"] + " " + setting)
axes.invert_yaxis()
axes.set(xlabel="AUC and its guaranteed lower limit")
plt.show()

# %%
# Prefer the simplest model that may be the best
# ----------------------------------------------
#
# Order the grid from simple to complex. This rule takes the first of the filled
# circles.
search.set_params(rule="within_noise").fit(X, y)
print(search.best_params_)

# %%
# Compare procedures on the same folds
# ------------------------------------
#
# :func:`~sklearn_rank.model_selection.cross_val_compare` fits each model to the
# same folds and compares them row by row. The column "conclusion" says whether
# the data show a difference.
from sklearn_rank.model_selection import cross_val_compare

pair = {"logistic": logistic, "trees": trees}
print(cross_val_compare(pair, X, y, measure="auc", cv=5, random_state=0))

# %%
# Why not the largest mean?
# -------------------------
#
# The best of many noisy scores is likely to be a lucky one, so its value on new
# data is lower. A limit that holds for all candidates also holds for the one
# that you choose. With some dozens of positives a guarantee may not exclude
# chance. Then report the asymptotic interval.
#
# Where to go next
# ----------------
#
# - :doc:`/user_guide/model_selection`: which limit holds for what, folds,
#   priors, queries.
# - :doc:`/user_guide/cross_validation`: how sure a cross-validation is.
# - :doc:`/user_guide/how_far_to_trust`: intervals for one test set.
