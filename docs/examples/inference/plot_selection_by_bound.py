"""
Model selection with lower limits
=================================

Twelve models of one small, imbalanced sample. Which one has the largest mean over the folds, which
ones may be the best, and what is guaranteed for the chosen one?
"""

# %%
# The sample and the candidates
# -----------------------------
#
# 40 positives and 360 negatives; the classes differ in means and in variances. The candidates are
# logistic regressions in polynomials of degree 1 to 3 with four penalties. A lower degree is
# simpler, then a stronger penalty.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from sklearn_rank.metrics import roc_auc_score
from sklearn_rank.model_selection import BoundSearchCV


def sample(n_pos, n_neg, rng):
    X = rng.normal(size=(n_pos + n_neg, 5))
    X[:n_pos, :3] += 0.5
    X[:n_pos, 3:] *= 1.8
    return X, np.repeat([1, 0], [n_pos, n_neg])


rng = np.random.default_rng(1)
X, y = sample(40, 360, rng)
X_new, y_new = sample(10_000, 10_000, rng)
model = make_pipeline(
    StandardScaler(),
    PolynomialFeatures(include_bias=False),
    StandardScaler(),
    LogisticRegression(max_iter=2000),
)
grid = {
    "polynomialfeatures__degree": [1, 2, 3],
    "logisticregression__C": [0.01, 0.1, 1.0, 10.0],
}


def complexity(params):
    return params["polynomialfeatures__degree"], params["logisticregression__C"]


# %%
# A search over five folds
# ------------------------
#
# The report states the guarantee and its quantity: the mean of the fold models, not the model that
# is fitted to all rows in the end.
search = BoundSearchCV(
    model,
    grid,
    cv=StratifiedKFold(5, shuffle=True, random_state=0),
    rule="within_noise",
    complexity=complexity,
    random_state=0,
).fit(X, y)
print(search.report_)

# %%
# Filled circles may be the best by the simultaneous test, and the simplest of these is chosen. Marks
# are the AUC on 20,000 new rows.
results = search.cv_results_
asymptotic = BoundSearchCV(
    model, grid, cv=search.cv, method="max-t", complexity=complexity, random_state=0
).fit(X, y)
order = sorted(range(12), key=lambda c: complexity(results["params"][c]))
row = np.arange(12)
mean = results["mean_test_score"][order]
stays = results["may_be_best"][order]
true = [
    roc_auc_score(
        y_new,
        search.estimator.set_params(**results["params"][c])
        .fit(X, y)
        .decision_function(X_new),
    )
    for c in order
]
names = [
    "degree {}, C {:g}".format(*complexity(results["params"][candidate]))
    for candidate in order
]

figure, axis = plt.subplots(figsize=(8, 5), layout="constrained")
axis.vlines(
    row, results["lower_bound"][order], mean, color="C0", alpha=0.3, linewidth=5
)
axis.vlines(
    row,
    asymptotic.cv_results_["lower_bound"][order],
    mean,
    color="C0",
    linewidth=1.5,
)
axis.plot(
    row[~stays],
    mean[~stays],
    "o",
    color="C0",
    fillstyle="none",
    label="mean of the folds",
)
axis.plot(
    row[stays], mean[stays], "o", color="C0", label="the same, may be the best"
)
axis.plot(
    row,
    true,
    "_",
    color="k",
    markersize=14,
    label="fitted to all rows, on 20,000 new",
)
chosen, largest = order.index(search.best_index_), int(np.argmax(mean))
axis.annotate(
    "simplest that may be the best",
    (chosen, mean[chosen]),
    (chosen, 1.03),
    ha="center",
    arrowprops={"arrowstyle": "->", "shrinkB": 6},
)
axis.annotate(
    "largest mean",
    (largest, mean[largest]),
    (largest, 0.97),
    ha="center",
    arrowprops={"arrowstyle": "->", "shrinkB": 6},
)
axis.axhline(0.5, color="0.7", linewidth=0.8)
axis.set_xticks(row, names, rotation=40, ha="right")
axis.set(
    ylabel="AUC",
    ylim=(0.1, 1.08),
    title="thick: guaranteed at .95; thin: asymptotic, max-t",
)
figure.legend(loc="outside lower center", ncols=3)

plt.show()
