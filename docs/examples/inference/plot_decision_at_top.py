"""
Act on it, or not
=================

A model gives each of some thousand patients a probability of being ill. Whether it is true for
those whom it is surest of, and at which thresholds it is worth to act on it: naive Bayes, before
and after calibration, beside a logistic regression.
"""

# %%
# One patient in eight is ill. Most of the features repeat others: naive Bayes counts them as if
# each said something new.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(
    5000,
    n_features=16,
    n_informative=4,
    n_redundant=12,
    n_clusters_per_class=1,
    weights=[0.9],
    class_sep=0.6,
    flip_y=0.05,
    random_state=2,
)
label = np.where(y == 1, "ill", "well")
X_train, X_test, y_train, y_test = train_test_split(
    X, label, test_size=0.5, stratify=label, random_state=0
)
models = {
    "naive Bayes": GaussianNB(),
    "calibrated": CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=5),
    "logistic": LogisticRegression(),
}
ill = {
    name: model.fit(X_train, y_train).predict_proba(X_test)[:, 0] for name, model in models.items()
}

# %%
# The order of the patients is what calibration hardly changes.
from sklearn_rank.inference import metric_interval

for name, prob in ill.items():
    print(f"{name}: {metric_interval('precision@top0.05', y_test, prob, pos_label='ill')}")

# %%
# It changes what is said of them. The broken lines are the mean probability of the first k
# patients, the others the share of the ill among them with its limits: one model is
# over-confident, one is true, and one is less sure of its first hundred than it might be.
from sklearn_rank.plotting import TopCalibrationDisplay

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for ax, (name, prob) in zip(axes, ill.items(), strict=True):
    TopCalibrationDisplay.from_predictions(y_test, prob, pos_label="ill", name=name, ax=ax)
plt.show()

# %%
# In numbers: predicted less expected share among the first hundred. Both limits are above 0 where
# a model is over-confident.
from sklearn_rank.inference import calibration_at_top

for name, prob in ill.items():
    print(f"{name}: {calibration_at_top(y_test, prob, k=100, pos_label='ill').at(100)}")

# %%
# Who treats from a probability of 0.1 on takes nine needless treatments for one of a patient who
# is ill. The net benefit at a threshold counts the ill who are treated, per patient, less the
# needless treatments at that rate. Where probabilities are too high, too many are treated: beyond
# a threshold of one half it is better to treat nobody than to follow naive Bayes, though in its
# order of the patients there is nothing wrong.
from sklearn_rank.plotting import DecisionCurveDisplay

display = DecisionCurveDisplay.from_predictions(
    y_test, ill, thresholds=np.arange(81) / 100, pos_label="ill", band=False
)
plt.show()

# %%
# The limits of the one that was chosen are for each threshold alone.
display = DecisionCurveDisplay.from_estimator(
    models["calibrated"], X_test, y_test, pos_label="ill", thresholds=np.arange(81) / 100
)
print(display.curves["CalibratedClassifierCV"])
plt.show()
