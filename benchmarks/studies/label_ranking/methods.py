"""The methods: each takes a fold and returns the scores of its test rows and the choices."""

from functools import cache, partial
from itertools import combinations

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import OrderPreservingLabelRanker

# ------------------------------------------------------------------------------------- baselines


def together(fold, estimator):
    """One regression of all positions."""
    return -estimator().fit(fold.X, fold.positions).predict(fold.X_test), None


def by_label(fold, estimator):
    """A regression of the position of each label."""
    columns = [estimator().fit(fold.X, y).predict(fold.X_test) for y in fold.positions.T]
    return -np.column_stack(columns), None


def by_pair(fold, estimator, votes):
    """A classifier of each pair of labels: sums of votes, or of probabilities."""
    scores = np.zeros((len(fold.X_test), fold.positions.shape[1]))
    for (i, j), share in zip(
        combinations(range(scores.shape[1]), 2), shares_of_pairs(fold, estimator), strict=True
    ):
        is_above = (share > 0.5).astype(float) if votes else share
        scores[:, i] += is_above
        scores[:, j] += 1 - is_above
    return scores, None


@cache
def shares_of_pairs(fold, estimator):
    """Probabilities that the first label of each pair is above; kept for the second method."""
    found = []
    for first, second in combinations(fold.positions.T, 2):
        above = first < second
        if above.all() or not above.any():
            found.append(np.full(len(fold.X_test), float(above[0])))
        else:
            found.append(estimator().fit(fold.X, above).predict_proba(fold.X_test)[:, 1])
    return found


FOREST = partial(RandomForestRegressor, n_estimators=100, random_state=0)
CLASSIFIERS = partial(RandomForestClassifier, n_estimators=100, random_state=0)

BASELINES = {
    "linear regression": partial(together, estimator=LinearRegression),
    "forest of all labels": partial(together, estimator=FOREST),
    "forest per label": partial(by_label, estimator=FOREST),
    "forest per pair": partial(by_pair, estimator=CLASSIFIERS, votes=False),
    "forest per pair, votes": partial(by_pair, estimator=CLASSIFIERS, votes=True),
}


# ----------------------------------------------------------------------------------- our rankers

LINEAR_ALPHAS = ("0.1*scale", "scale", "3*scale", "10*scale", "30*scale")
INNER = KFold(3, shuffle=True, random_state=0)


def linear(fold, **parameters):
    """The linear ranker on standardised features."""
    ranker = OrderPreservingLabelRanker(target_type="positions", **parameters)
    return fitted(fold, make_pipeline(StandardScaler(), ranker)), None


def fitted(fold, ranker):
    """Scores of a ranker of labels that is fitted here."""
    return ranker.fit(fold.X, fold.positions).predict(fold.X_test)


def searched(fold, ranker, grid):
    """A ranker on standardised features whose parameters are chosen by tau of inner folds."""
    ranker = clone(ranker).set_params(target_type="positions")
    pipeline = make_pipeline(StandardScaler(), ranker)
    step = pipeline.steps[-1][0]
    grid = {f"{step}__{name}": values for name, values in grid.items()}
    search = GridSearchCV(pipeline, grid, cv=INNER, error_score="raise")
    scores = fitted(fold, search)
    return scores, [str(value) for value in search.best_params_.values()]


def by(fold, estimator):
    """A regression of the shares of labels below, of each label on the rows that have it."""
    positions = fold.positions
    known = ~np.isnan(positions)
    n_labels = known.sum(axis=1, keepdims=True)
    shares = (n_labels - rankdata(positions, axis=1, nan_policy="omit")) / (n_labels - 1)
    if known.all():
        return clone(estimator).fit(fold.X, shares).predict(fold.X_test), None
    columns = [
        clone(estimator).fit(fold.X[rows], share[rows]).predict(fold.X_test)
        for rows, share in zip(known.T, shares.T, strict=True)
    ]
    return np.column_stack(columns), None


TREES = ExtraTreesRegressor(100, random_state=0)
LINEAR = {
    "linear": linear,
    **{
        f"linear, {loss}": partial(linear, loss=loss)
        for loss in ("ranknet", "pairwise_squared", "pairwise_logistic", "softmax")
    },
}
OURS = {
    **LINEAR,
    "linear, alpha chosen": partial(
        searched, ranker=OrderPreservingLabelRanker(), grid={"alpha": LINEAR_ALPHAS}
    ),
    "extra trees": partial(by, estimator=TREES),
    "constant order": partial(by, estimator=DummyRegressor()),
}


# -------------------------------------------------------------------------------- hidden labels


def complete_rows(fold, method):
    """A method on the rows of which every label is known; ties where there are fewer than two."""
    fold = fold.complete()
    if len(fold.X) < 2:
        return np.zeros((len(fold.X_test), fold.positions.shape[1])), None
    return method(fold)


def expected(positions):
    """Expected positions among all K labels of those among the m that are known.

    A label at position r of m labels drawn from K is expected at ``r (K + 1) / (m + 1)``.
    """
    known = np.sum(~np.isnan(positions), axis=1, keepdims=True)
    ranks = rankdata(positions, axis=1, nan_policy="omit")
    return ranks * (positions.shape[1] + 1) / (known + 1)


def by_known_label(fold, estimator):
    """A regression of the expected position of each label, on the rows that have it."""
    columns = []
    for y in expected(fold.positions).T:
        known = ~np.isnan(y)
        columns.append(estimator().fit(fold.X[known], y[known]).predict(fold.X_test))
    return -np.column_stack(columns), None


def filled(fold, estimator):
    """One regression of expected positions, hidden labels at the mean of the label."""
    y = expected(fold.positions)
    y = np.where(np.isnan(y), np.nanmean(y, axis=0), y)
    return -estimator().fit(fold.X, y).predict(fold.X_test), None


EXTRA_TREES = partial(ExtraTreesRegressor, n_estimators=100, random_state=0)
HIDDEN = {
    "linear regression, complete rows": partial(
        complete_rows, method=BASELINES["linear regression"]
    ),
    "linear regression, expected positions": partial(by_known_label, estimator=LinearRegression),
    **LINEAR,
    "extra trees, complete rows": partial(complete_rows, method=OURS["extra trees"]),
    "extra trees, filled": partial(filled, estimator=EXTRA_TREES),
    "extra trees, expected positions": partial(by_known_label, estimator=EXTRA_TREES),
    "extra trees": OURS["extra trees"],
    "constant order": OURS["constant order"],
    "extra trees, 3 rows a leaf": partial(by, estimator=EXTRA_TREES(min_samples_leaf=3)),
}
METHODS = {False: BASELINES | OURS, True: HIDDEN}

FORESTS = ("forest of all labels", "forest per label", "forest per pair", "forest per pair, votes")
REGRESSION = "linear regression"
# What is compared, by question: name of b, a, and b; or several, of which b is the best in a set.
PAIRS = {
    False: {
        "Linear": [(REGRESSION, a, REGRESSION) for a in ("linear", "linear, ranknet")],
        "Trees": [("best forest", "extra trees", FORESTS)],
        "Losses": [(b, "linear", b) for b in LINEAR if b != "linear"],
    },
    True: {
        "Linear": [
            (b, a, b)
            for a in ("linear", "linear, ranknet")
            for b in (f"{REGRESSION}, complete rows", f"{REGRESSION}, expected positions")
        ],
        "Trees": [(b, "extra trees", b) for b in HIDDEN if b.startswith("extra trees,")],
    },
}
