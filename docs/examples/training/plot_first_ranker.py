"""
Is the new model better among the first 200, and how sure is that?
==================================================================

A laboratory can follow up 200 of 3,600 patients. It ranks them by logistic regression now. Are
boosted trees, or an ensemble, better there? The patients are real: thyroid disease, UCI.
"""

# %%
# Candidates beside the present model, on patients that no model has seen. Intervals and p-values
# hold for all differences at once.
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import RankEnsembleClassifier
from sklearn_rank.datasets import load_thyroid
from sklearn_rank.inference import compare

X, y = load_thyroid(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
boosted = HistGradientBoostingClassifier(random_state=0)
models = {
    "linear": make_pipeline(StandardScaler(), LogisticRegression()),
    "boosted": boosted,
    "bag": BaggingClassifier(boosted, 3, random_state=0),
    "ensemble": RankEnsembleClassifier(random_state=0),
}
scores = {
    name: model.fit(X_train, y_train).decision_function(X_test)
    for name, model in models.items()
}
print(compare("recall@200", y_test, scores, baseline="linear", random_state=0))

# %%
# All three find more of the ill patients than logistic regression. Whether the ensemble is better
# than boosted trees with their defaults, or three of them, these patients do not tell:
print(compare("recall@200", y_test, scores, baseline="ensemble", random_state=0))

# %%
# The share of ill patients among the first ones of each list, with the capacity, and the differences
# of the share that is found at the capacity, with intervals that hold for all three at once.
import matplotlib.pyplot as plt

from sklearn_rank.inference import curve
from sklearn_rank.plotting import CurveDisplay, IntervalsDisplay

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
found = curve("precision@k", y_test, scores, random_state=0)
CurveDisplay.from_result(found, ax=left, band=False)
left.axvline(200, color="grey")
left.set_xlabel("Patients followed up (log scale)")
left.set_ylabel("Share of ill patients among them")
IntervalsDisplay.from_result(
    compare("recall@200", y_test, scores, baseline="linear", random_state=0),
    ax=right,
)
right.set_xlabel("Share of all ill patients found in 200, more than linear")
plt.show()
