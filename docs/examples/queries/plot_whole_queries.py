"""
Cross-validation that cuts queries is too optimistic
====================================================

If rows of a query are in the training part and in the test part, the model has seen
what it is scored on. Splits that keep queries whole give the score of new queries.
"""

# %%
# Users differ in taste. The features of a row are those of an item and of a user.
# Each user has 40 rows, and their order depends on a taste that no feature of a new
# user reveals.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

from sklearn_rank.metrics import tau_b_score
from sklearn_rank.model_selection import QueryKFold

rng = np.random.default_rng(0)


def draw(n_users):
    user = np.repeat(np.arange(n_users), 40)
    item = rng.normal(size=(len(user), 3))
    about_user = rng.normal(size=(n_users, 2))[user]
    taste = rng.normal([1.2, 0.0, 0.0], 1.0, size=(n_users, 3))[user]
    utility = (item * taste).sum(axis=1) + 0.5 * rng.normal(size=len(user))
    return np.hstack([item, 3 * about_user]), utility, user


X, y, user = draw(60)
X_new, y_new, user_new = draw(300)


def value(model, train, test):
    score = model.fit(X[train], y[train]).predict(X[test])
    return tau_b_score(y[test], score, qid=user[test])


# %%
# Kendall's tau does not depend on the length of a list, so that values of whole
# queries and of parts of queries are on one scale.
models = {
    "ridge": Ridge(),
    "nearest neighbours": KNeighborsRegressor(10),
    "random forest": RandomForestRegressor(30, min_samples_leaf=3, random_state=0),
}
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for row, (name, model) in enumerate(models.items()):
    by_row = KFold(5, shuffle=True, random_state=0).split(X)
    cut = np.mean([value(model, *parts) for parts in by_row])
    by_query = QueryKFold(5, random_state=0).split(X, groups=user)
    whole = np.mean([value(model, *parts) for parts in by_query])
    new = tau_b_score(y_new, model.fit(X, y).predict(X_new), qid=user_new)
    axes.plot(cut, row, "o", color="C1", label="folds that cut queries")
    axes.plot(whole, row, "o", color="C0", label="folds of whole queries")
    axes.plot(new, row, "k|", markersize=18, label="300 new queries")
    print(f"{name:18}  cut {cut:.2f}  whole {whole:.2f}  new {new:.2f}")
axes.set_yticks(range(len(models)), models)
axes.set(xlabel="Kendall's tau, mean over queries", ylim=(-0.5, 2.5))
axes.legend(*[entry[:3] for entry in axes.get_legend_handles_labels()], loc="best")
plt.show()

# %%
# Folds of whole queries estimate the value for new queries. Folds that cut queries
# reward a model for what it learns of single users. Compare the order of the three
# models in each column: the wrong split can choose the wrong model. The rankers of
# this package refuse a fit to a query that a split has cut
# (:doc:`/user_guide/whole_queries`).
