"""
Calibration at the top and decision curves
==========================================

A model predicts for each of 2,500 patients the probability of being ill. Are the largest
probabilities correct, and from which probability on should one treat? Naive Bayes, before and
after calibration, and a logistic regression.
"""

# sphinx_gallery_thumbnail_number = 2

# %%
# One patient in eight is ill. Most of the features are combinations of others, and naive Bayes
# treats them as independent.
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
    name: model.fit(X_train, y_train).predict_proba(X_test)[:, 0]
    for name, model in models.items()
}

# %%
# Calibration hardly changes the order of the patients.
from sklearn_rank.inference import metric_interval

for name, prob in ill.items():
    found = metric_interval("precision@top0.05", y_test, prob, pos_label="ill")
    print(f"{name}: {found}")

# %%
# It changes the probabilities. The broken line is the mean probability of the first k patients,
# and the solid line the share of ill patients among them with its limits. Naive Bayes is
# over-confident, and the calibrated model is not. The logistic regression predicts too small
# probabilities for its first hundred patients.
from sklearn_rank.plotting import TopCalibrationDisplay

figure, axes = plt.subplots(
    1, 3, figsize=(11, 3.6), sharey=True, layout="constrained"
)
for ax, (name, prob) in zip(axes, ill.items(), strict=True):
    TopCalibrationDisplay.from_predictions(
        y_test, prob, pos_label="ill", name=name, ax=ax
    )
plt.show()

# %%
# The difference of the predicted and the expected share among the first hundred. If both limits
# are above 0, the model is over-confident.
from sklearn_rank.inference import calibration_at_top

for name, prob in ill.items():
    found = calibration_at_top(y_test, prob, k=100, pos_label="ill")
    print(f"{name}: {found.at(100)}")

# %%
# A threshold of 0.1 means that nine unnecessary treatments are acceptable for one treatment of an
# ill patient. The net benefit at a threshold is the number of ill patients who are treated, per
# patient, less the unnecessary treatments at that rate. If the probabilities are too high, too
# many patients are treated. Above a threshold of one half it is better to treat nobody than to
# follow naive Bayes, although its order of the patients is good.
from sklearn_rank.plotting import DecisionCurveDisplay

display = DecisionCurveDisplay.from_predictions(
    y_test, ill, thresholds=np.arange(81) / 100, pos_label="ill", band=False
)
plt.show()

# %%
# The limits of the chosen model. They hold for each threshold separately.
display = DecisionCurveDisplay.from_estimator(
    models["calibrated"],
    X_test,
    y_test,
    pos_label="ill",
    thresholds=np.arange(81) / 100,
)
print(display.curves["CalibratedClassifierCV"])
plt.show()
