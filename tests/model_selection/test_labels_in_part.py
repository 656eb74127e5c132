"""Searches on the labelled rows of a list: weights in fits and scores, and what is refused."""

import matplotlib as mpl
import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from sklearn_rank import PNormPushRanker
from sklearn_rank.inference import ConfidenceSequence, LabelDesign, sample_size
from sklearn_rank.metrics import Accumulator, get_scorer
from sklearn_rank.model_selection import BoundSearchCV, cross_val_interval
from sklearn_rank.plotting import CumulativeGainDisplay, DecisionCurveDisplay

mpl.use("agg")
NAME = "precision@top0.1"
GRID = {"C": [0.1, 1.0]}


def drawn(seed, n=3000):
    """Rows, all labels, those of a champion's review and of an audit, and the design."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) < n // 10).astype(float)
    X = np.outer(truth, [1.0, 1.0]) + rng.normal(size=(n, 2))
    order = np.argsort(-X[:, 0])
    known = np.append(order[:200], rng.choice(order[200:], 600, replace=False))
    y = np.full(n, np.nan)
    y[known] = truth[known]
    return X, truth, y, LabelDesign(review_top=200, audit=600, scores=X[:, 0]), rng


def score_of_search(X, y, weight, *, weighted):
    model = LogisticRegression().set_fit_request(sample_weight=True)
    scorer = get_scorer(NAME).set_score_request(sample_weight=weighted)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    search = GridSearchCV(model, GRID, scoring=scorer, cv=cv, error_score="raise")
    return search.fit(X, y, sample_weight=weight).best_score_


def test_weighted_scores_and_kept_rows_stand_for_all_rows():
    differences = []
    with sklearn.config_context(enable_metadata_routing=True):
        for seed in range(20):
            X, truth, y, design, rng = drawn(seed)
            weight = design.sample_weight(y)
            rows = weight > 0
            all_rows = score_of_search(X, truth, np.ones(len(truth)), weighted=True)
            on_labelled = X[rows], y[rows], weight[rows]
            kept = rng.random(len(y)) < weight / weight.max()
            bound = BoundSearchCV(LogisticRegression(), GRID, measure=NAME, random_state=seed)
            differences.append(
                [
                    score_of_search(*on_labelled, weighted=True) - all_rows,
                    score_of_search(*on_labelled, weighted=False) - all_rows,
                    bound.fit(X[kept], y[kept]).best_score_ - all_rows,
                ]
            )
    mean = np.mean(differences, axis=0)
    error = np.std(differences, axis=0) / np.sqrt(len(differences))
    assert error[0] < 0.015
    assert abs(mean[0]) < 3 * error[0]
    assert mean[1] > 0.08
    assert abs(mean[2]) < 3 * error[2]


def calls():
    X, truth, y, _, _ = drawn(0, 900)
    score, model = X[:, 0], LogisticRegression().fit(X, truth)
    probability = model.predict_proba(X)[:, 1]
    return {
        "fit": lambda: PNormPushRanker().fit(X, y),
        "scorer": lambda: get_scorer("auc")(model, X, y),
        "BoundSearchCV": lambda: BoundSearchCV(model, GRID).fit(X, y),
        "cross_val_interval": lambda: cross_val_interval(model, X, y, measure="auc"),
        "sample_size": lambda: sample_size("auc", width=0.1, pilot=(y, score)),
        "ConfidenceSequence": lambda: ConfidenceSequence("auc").update(y, score),
        "Accumulator": lambda: Accumulator("auc").update(y, score),
        "CumulativeGainDisplay": lambda: CumulativeGainDisplay.from_predictions(y, score),
        "DecisionCurveDisplay": lambda: DecisionCurveDisplay.from_predictions(y, probability),
    }


@pytest.mark.parametrize("name", calls())
def test_missing_labels_are_refused_with_what_takes_them(name):
    with pytest.raises(
        ValueError,
        match=r"missing label at row \d+ .* design=, a LabelDesign, to metric_interval or compare"
        r" .* fits and scorers the rows with labels, with sample_weight=design\.sample_weight",
    ):
        calls()[name]()
