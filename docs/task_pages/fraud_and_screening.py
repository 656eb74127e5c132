"""
Fraud and screening: review the k riskiest cases
================================================

A team reviews the first k rows of a list. Fraud, claims, churn and screening
are the same task; here 200 patients of 3,600 are called in for thyroid disease.
Should a new model replace logistic regression?
"""

# %%
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import RankEnsembleClassifier
from sklearn_rank.datasets import load_thyroid
from sklearn_rank.inference import compare, metric_interval

X, y = load_thyroid(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
trees = HistGradientBoostingClassifier(random_state=0)
models = {
    "champion": make_pipeline(StandardScaler(), LogisticRegression()),
    "boosted trees": trees,
    "bag of 3": BaggingClassifier(trees, 3, random_state=0),
    "ensemble": RankEnsembleClassifier(random_state=0),
}
scores = {
    name: model.fit(X_train, y_train).decision_function(X_test)
    for name, model in models.items()
}
for name, score in scores.items():
    print(name, metric_interval("precision@200", y_test, score))
print(compare("precision@200", y_test, scores, random_state=0))

# %%
# The first lines are what to report: the share of ill patients among the 200,
# with a 95 % interval. The comparison is paired, and adjusted for its number of
# lines. Each of the three finds more than the champion. Between them no
# difference is shown.
#
# **Decision**: replace the champion, by boosted trees, the cheapest of the
# three. For how many reviews would that pay? Among the first 100 the lines are
# close, and ``compare("precision@100", ...)`` shows no difference.
import matplotlib.pyplot as plt

from sklearn_rank.inference import curve
from sklearn_rank.plotting import CurveDisplay

found = curve("precision@k", y_test, scores, random_state=0)
display = CurveDisplay.from_result(found, table=[200])
plt.show()

# %%
# The list of today
# -----------------
first = (-scores["boosted trees"]).argsort(kind="stable")[:200]
X_test.iloc[first].assign(ill=y_test.iloc[first]).head()

# %%
# A list a day
# ------------
#
# With ``qid=day`` the measure is the mean over days, and with ``pos_label`` the
# labels may be words. Pass dates, not numbers of days: limits then allow for
# bad weeks (:doc:`/user_guide/comparisons`). Keep the days of training before
# those of the test.
#
# BEDROC and enrichment
# ---------------------
#
# Virtual screening reports other measures of the top, with the same calls.
# Enrichment is how many times as many cases the first 5 % hold as a random
# draw; about 80 % of the weight of ``bedroc@20`` is on the first 8 %.
for measure in ("bedroc@20", "enrichment@0.05"):
    print(metric_interval(measure, y_test, scores["boosted trees"]))

# %%
# Why not train for the top?
# --------------------------
#
# Boosted trees already bend where the top differs from the rest. Training for
# the top is right where the rule must stay linear and the top follows another
# rule than the rest (:doc:`/user_guide/top_of_list`). Compare before you
# deploy: which model wins depends on the data.
#
# Where to go next
# ----------------
#
# - :doc:`/user_guide/score_to_action`: cut-offs that keep a promise, profit.
# - :doc:`/user_guide/measures`: which measure for which list.
# - :doc:`/user_guide/model_selection`: tune and choose without optimism.
