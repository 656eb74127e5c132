"""
The top of the Ionosphere list
==============================

Precision among the first k rows for three linear models, boosted trees and an ensemble on the
Ionosphere data, where only the first tenth of the list is used.
"""

# %%
# Cross-validation chooses ``C`` of each linear model by the precision in the first tenth. Boosted
# trees and the ensemble have their defaults.

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_rank import AccuracyAtTopRanker, RankEnsembleClassifier
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.metrics import get_scorer, precision_at_top_score

TAU = 0.1

X, y = load_ionosphere(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)

models = {
    "accuracy at the top": AccuracyAtTopRanker(tau=TAU),
    "logistic regression": LogisticRegression(
        class_weight="balanced", max_iter=1000
    ),
    "linear SVM": LinearSVC(class_weight="balanced", max_iter=10_000),
}
searches = {}
for name, model in models.items():
    searches[name] = GridSearchCV(
        make_pipeline(StandardScaler(), model),
        {f"{type(model).__name__.lower()}__C": [0.0001, 0.001, 0.01, 0.1, 1.0]},
        scoring=get_scorer(f"precision@top{TAU}"),
        error_score="raise",
    ).fit(X_train, y_train)
fitted = searches | {
    "boosted trees": HistGradientBoostingClassifier(random_state=0),
    "ensemble": RankEnsembleClassifier(random_state=0),
}
for name in ("boosted trees", "ensemble"):
    fitted[name].fit(X_train, y_train)

# %%
# Precision in the first tenth of the held-out rows:

for name, model in fitted.items():
    score = precision_at_top_score(y_test, model.decision_function(X_test), tau=TAU)
    print(f"{name:20} {score:.3f}")

# %%
# The lists of boosted trees and the ensemble stay pure longer than that of any linear model. This is
# one split of one data set: :doc:`/benchmarks/top_of_list` has means over many.

from sklearn_rank.metrics import precision_at_top_curve
from sklearn_rank.plotting import CurveDisplay

curves = {
    name: precision_at_top_curve(y_test, model.decision_function(X_test))
    for name, model in fitted.items()
}
display = CurveDisplay.from_result(curves)
display.ax_.axvline(TAU * len(y_test), color="grey", linewidth=0.5)
display.ax_.set(xlim=(4, None), ylim=(0.6, 1.02))

# %%
# The certificate: no weights have a smaller value of the training objective than ``lower_bound_``.

ranker = searches["accuracy at the top"].best_estimator_[-1]
print(f"largest relative duality gap    {ranker.dual_gap_:.1e}")
print(f"objective, at its own quantile  {ranker.objective_top_:.4f}")
print(f"certified lower bound           {ranker.lower_bound_:.4f}")
