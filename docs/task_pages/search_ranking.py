"""
Search ranking: query ids, a pipeline and LightGBM in one search
================================================================

A shop ranks products for each search query. This page goes from a data frame
with string query ids to a ranker and its NDCG with an interval. A linear ranker
and LightGBM compete in the same ``GridSearchCV``, and with an ensemble of trees
and a linear ranker that needs no search.
"""

# %%
# The data are simulated: 300 queries with 20 products each, graded 0 (bad) to 3
# (perfect). The rows are in random order: the rows of a query need not be
# adjacent.
import numpy as np
import pandas as pd
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.inference import metric_interval
from sklearn_rank.model_selection import QueryKFold, query_train_test_split
from sklearn_rank.preprocessing import QueryNormalizer

rng = np.random.default_rng(0)
query = rng.permutation(np.repeat([f"query {i}" for i in range(300)], 20))
n = len(query)
level = dict(zip(np.unique(query), rng.lognormal(3.0, 1.0, 300), strict=True))
level = np.array([level[one] for one in query])
X = pd.DataFrame(
    {
        "text_match": rng.beta(2, 3, n),
        "clicks": rng.poisson(5, n),
        "rating": rng.uniform(1, 5, n),
        "price": level * rng.lognormal(0, 0.4, n),
    }
)
bargain = (X["rating"] > 3.5) * (X["price"] < level)
utility = 4 * X["text_match"] + 0.2 * X["clicks"] + 2 * bargain
utility += rng.normal(0, 0.7, n)
grade = np.digitize(utility, [3.0, 4.2, 5.2])
X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
    X, grade, qid=query, random_state=0
)

sklearn.set_config(enable_metadata_routing=True)  # query ids travel as groups
linear = OrderPreservingRanker(measure="ndcg@5")
pipe = make_pipeline(QueryNormalizer("zscore"), linear)
pipe.fit(X_train, y_train, groups=qid_train)
score = pipe.predict(X_test, groups=qid_test)
print(metric_interval("ndcg@5", y_test, score, qid=qid_test))

# %%
# The line has the mean NDCG@5 over the test queries and a 95 % interval for
# queries to come.
#
# - :class:`~sklearn_rank.preprocessing.QueryNormalizer` puts each feature on
#   one scale within a query, since a price is high or low beside the other
#   products of the query.
# - :func:`~sklearn_rank.model_selection.query_train_test_split` keeps queries
#   whole.
#
# LightGBM in the same search
# ---------------------------
#
# :class:`~sklearn_rank.GroupRankerAdapter` gives ``LGBMRanker`` the interface
# of the other rankers: ids in any order, a ``measure``, pipelines. The last
# step of the pipeline is then a parameter like any other. One ``groups=``
# reaches the folds, the fits and the scores.
from lightgbm import LGBMRanker

from sklearn_rank import GroupRankerAdapter

lightgbm = GroupRankerAdapter(
    LGBMRanker(n_estimators=50, n_jobs=1, verbose=-1), measure="ndcg@5"
)
step = pipe.steps[-1][0]
grid = [
    {step: [linear], f"{step}__alpha": ["0.1*scale", "scale", "10*scale"]},
    {step: [lightgbm], f"{step}__estimator__num_leaves": [4, 8, 16]},
]
search = GridSearchCV(
    pipe, grid, cv=QueryKFold(3, random_state=0), error_score="raise"
)
search.fit(X_train, y_train, groups=qid_train)
table = pd.DataFrame(search.cv_results_)
table["ranker"] = [type(ranker).__name__ for ranker in table[f"param_{step}"]]
table["parameter"] = [list(chosen.values())[-1] for chosen in table["params"]]
table[["ranker", "parameter", "mean_test_score", "rank_test_score"]]

# %%
# The ranker to start with
# ------------------------
#
# :class:`~sklearn_rank.RankEnsemble` is a weighted mean of boosted trees,
# randomised trees and a linear ranker. It takes the frame as it is and has
# nothing to tune. Its weights come from queries that the members have not seen,
# and by the same queries it says what each member is worth.
from sklearn_rank import RankEnsemble

ensemble = RankEnsemble(measure="ndcg@5", random_state=0)
ensemble.fit(X_train, y_train, qid=qid_train)
print(ensemble.comparison_)

# %%
# Is the difference more than chance?
# -----------------------------------
#
# Compare them on the same test queries, beside what costs as much: three fits
# of the LightGBM that the search would choose.
from sklearn.base import clone

from sklearn_rank.inference import compare

of_trees = table[table["ranker"] == "GroupRankerAdapter"]
leaves = of_trees.loc[of_trees["mean_test_score"].idxmax(), "parameter"]
draws = {"subsample": 0.8, "subsample_freq": 1, "num_leaves": leaves}
members = []
for seed in range(3):
    draws["random_state"] = seed
    params = {f"estimator__{name}": value for name, value in draws.items()}
    ranker = clone(lightgbm).set_params(**params)
    member = make_pipeline(QueryNormalizer("zscore"), ranker)
    members.append((f"{seed}", member))
bag = RankEnsemble(members, weights="equal", measure="ndcg@5")
bag.fit(X_train, y_train, qid=qid_train)
best = search.best_estimator_
scores = {
    "linear": score,
    "best of the search": best.predict(X_test, groups=qid_test),
    "three LightGBMs": bag.predict(X_test, qid=qid_test),
    "ensemble": ensemble.predict(X_test, qid=qid_test),
}
print(
    compare(
        "ndcg@5",
        y_test,
        scores,
        baseline="ensemble",
        qid=qid_test,
        random_state=0,
    )
)

# %%
# The picture shows NDCG@5 of each test query, with the mean of each ranker and
# its interval.
import matplotlib.pyplot as plt

from sklearn_rank.plotting import QueryScoresDisplay

QueryScoresDisplay.from_predictions(
    y_test, scores, qid=qid_test, measure="ndcg@5"
)
plt.show()
sklearn.set_config(enable_metadata_routing=False)  # the default of scikit-learn

# %%
# Why whole queries?
# ------------------
#
# A measure of search is a mean over queries, and a ranker learns from the order
# within each one. If a split cuts a query, the model has seen part of the list
# that it is scored on. The rankers refuse such a fit, and the error names a
# splitter that keeps queries whole.
#
# Where to go next
# ----------------
#
# - :doc:`/user_guide/whole_queries`: splitters, halving, learning curves, all
#   helpers.
# - :doc:`/user_guide/boosted_rankers`: trees with the losses of this package.
# - :doc:`/user_guide/which_measure`: NDCG, reciprocal rank, average precision
#   and others.
