"""Searches and folds of a list with some labels: weights, limits of fold models, refusals."""

import matplotlib as mpl
import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from sklearn_rank import PNormPushRanker
from sklearn_rank.inference import (
    ConfidenceSequence,
    LabelDesign,
    metric_interval,
    sample_size,
)
from sklearn_rank.metrics import Accumulator, get_measure, get_scorer
from sklearn_rank.model_selection import (
    BoundSearchCV,
    QueryKFold,
    cross_val_interval,
)
from tests.naming import for_each

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


@pytest.mark.slow
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
    return {
        "fit": lambda: PNormPushRanker().fit(X, y),
        "scorer": lambda: get_scorer("auc")(model, X, y),
        "BoundSearchCV": lambda: BoundSearchCV(model, GRID).fit(X, y),
        "cross_val_interval": lambda: cross_val_interval(model, X, y, measure="auc"),
        "sample_size": lambda: sample_size("auc", width=0.1, pilot=(y, score)),
        "ConfidenceSequence": lambda: ConfidenceSequence("auc").update(y, score),
        "Accumulator": lambda: Accumulator("auc").update(y, score),
    }


@for_each("name", calls())
def test_missing_labels_are_refused_with_what_takes_them(name):
    with pytest.raises(
        ValueError,
        match=r"missing label at row \d+ .* design=, a LabelDesign, to metric_interval, compare,"
        r" .* fits and scorers the rows with labels, with sample_weight=design\.sample_weight",
    ):
        calls()[name]()


def test_a_sequence_keeps_a_random_sample_of_the_rows_with_labels():
    means = []
    for seed in range(40):
        X, truth, y, design, _ = drawn(seed, 2000)
        sequence = ConfidenceSequence("precision@top0.3", threshold=0.5)
        found = sequence.update(y, X[:, 0], design=design)
        again = ConfidenceSequence("precision@top0.3", threshold=0.5)
        assert again.update(y, X[:, 0], design=design) == found
        whole = ConfidenceSequence("precision@top0.3", threshold=0.5).update(truth, X[:, 0])
        # The labels alone: most are of reviewed rows, the most precise.
        known = ~np.isnan(y)
        alone = ConfidenceSequence("precision@top0.3", threshold=0.5)
        labelled = alone.update(y[known], X[known, 0])
        means.append([found.estimate - whole.estimate, labelled.estimate - whole.estimate])
    bias, error = np.mean(means, axis=0), np.std(means, axis=0) / np.sqrt(40)
    assert abs(bias[0]) < 3 * error[0]
    assert bias[1] > 5 * error[1]


def test_a_sequence_of_labels_in_part_takes_late_labels_and_refuses_what_is_no_sample():
    X, _, y, design, rng = drawn(0, 2000)
    sequence = ConfidenceSequence("auc")
    assert np.isnan(sequence.update(np.full(5, np.nan), np.ones(5), design="all").estimate)
    named = np.where(np.isnan(y), None, np.where(y == 1, "yes", "no"))
    of_names = ConfidenceSequence("auc", pos_label="yes").update(named, X[:, 0], design=design)
    assert of_names == ConfidenceSequence("auc").update(y, X[:, 0], design=design)
    # Labels of all probabilities alike are all kept.
    some = np.where(rng.random(2000) < 0.3, np.arange(2000) % 2, np.nan)
    sequence.update(some, X[:, 0], design="all")
    assert sequence.to_frame()["n"].iloc[-1] == np.count_nonzero(~np.isnan(some))
    with pytest.raises(ValueError, match="leave qid and sample_weight out"):
        sequence.update(y, X[:, 0], design=design, qid=np.arange(2000) // 10)
    order = np.argsort(-X[:, 0])
    y[order[200:]] = np.nan
    with pytest.raises(ValueError, match="label a random sample of all rows"):
        sequence.update(y, X[:, 0], design=LabelDesign(review_top=200, scores=X[:, 0]))


# ------------------------------------------------------------------------------------------ folds


@pytest.mark.parametrize("name", ["auc", "ap", NAME])
def test_a_single_held_out_part_is_a_list_by_itself(name):
    X, _, y, design, _ = drawn(1)
    rows, known = np.arange(len(y)), ~np.isnan(y)
    train, test = rows[::2], rows[1::2]
    found = cross_val_interval(
        LogisticRegression(), X, y, measure=name, cv=[(train, test)], design=design
    )
    fitted = train[known[train]]
    model = LogisticRegression().fit(X[fitted], y[fitted])
    weight = design.sample_weight(y)
    probability = np.where(X[:, 0] >= X[known & (weight == 1.0), 0].min(), 1.0, 600 / 2800)
    of_part = LabelDesign(inclusion_probability=probability[test])
    expected = metric_interval(
        name, y[test], model.decision_function(X[test]), design=of_part, conditional=False
    )
    assert found.estimate == pytest.approx(expected.estimate, abs=1e-9)
    assert found.fold_values == pytest.approx([expected.estimate], abs=1e-9)
    assert found.fold_sizes == ((known[test].sum(), len(test)),)
    # Those of metric_interval add the variance of the share of positives, and are not symmetric.
    width = expected.high - expected.low
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=width / 20)
    assert found.high - found.low == pytest.approx(width, rel=0.05)


def test_a_fold_has_the_value_of_its_own_labels():
    X, truth, _, _, _ = drawn(2)
    options = {"measure": "auc", "cv": 5}
    whole = cross_val_interval(LogisticRegression(), X, truth, **options)
    known = np.random.default_rng(0).random(len(truth)) < 0.95
    y = np.where(known, truth, np.nan)
    found = cross_val_interval(LogisticRegression(), X, y, design="all", **options)
    apart = np.ptp(whole.fold_values)
    assert found.fold_values == pytest.approx(whole.fold_values, abs=apart / 3)


def test_with_all_labels_the_value_is_that_of_the_folds():
    X, truth, _, _, _ = drawn(2)
    options = {"measure": "auc", "random_state": 0}
    whole = cross_val_interval(LogisticRegression(), X, truth, **options)
    found = cross_val_interval(LogisticRegression(), X, truth, design="all", **options)
    assert found.estimate == pytest.approx(whole.estimate)
    assert found.fold_values == pytest.approx(whole.fold_values)
    assert found.high - found.low == pytest.approx(whole.high - whole.low, rel=0.1)
    # A row that is held out twice counts as often.
    rows = np.random.default_rng(0).permutation(3000)
    parts = [(rows[1500:], rows[:1500]), (rows[:1000], rows[1000:]), (rows[1500:], rows[:1500])]
    options["cv"] = parts
    whole = cross_val_interval(LogisticRegression(), X, truth, **options)
    found = cross_val_interval(LogisticRegression(), X, truth, design="all", **options)
    assert found.estimate == pytest.approx(whole.estimate)


@pytest.mark.slow
def test_limits_cover_the_mean_of_the_fold_models_on_new_rows():
    rng, n_draws = np.random.default_rng(7), 100
    X_new, y_new, *_ = drawn(10**6, 60_000)
    covered = 0
    for seed in range(n_draws):
        X, _, y, design, _ = drawn(seed, 1500)
        rows = rng.permutation(len(y)).reshape(2, -1)
        parts = [(rows[0], rows[1]), (rows[1], rows[0])]
        weight = design.sample_weight(y)
        options = {"cv": parts, "design": design, "params": {"sample_weight": weight}}
        single = cross_val_interval(LogisticRegression(), X, y, measure=NAME, **options)
        measure, of_folds = get_measure(NAME), []
        for train, _ in parts:
            fitted = train[weight[train] > 0]
            model = LogisticRegression().fit(X[fitted], y[fitted], weight[fitted])
            new = measure.lists(y_new, model.decision_function(X_new))
            of_folds.append(measure.of_lists(new))
        covered += single.low <= np.mean(of_folds) <= single.high
    assert covered >= 90


def test_folds_of_queries_are_those_of_the_scores_of_all_rows():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(60), 15)
    X = rng.normal(size=(900, 2))
    truth = (rng.random(900) < 1 / (1 + np.exp(1 - X[:, 0]))).astype(float)
    y = np.where(rng.random(900) < 0.4, truth, np.nan)
    design = LabelDesign(inclusion_probability=np.full(900, 0.4))
    options = {"measure": "ndcg@5", "qid": qid, "design": design}
    folds, scores = list(QueryKFold(5, shuffle=False).split(X, y, qid)), np.zeros(900)
    for train, test in folds:
        fitted = train[~np.isnan(y[train])]
        model = LogisticRegression().fit(X[fitted], y[fitted])
        scores[test] = model.decision_function(X[test])
    single = cross_val_interval(LogisticRegression(), X, y, **options)
    expected = metric_interval("ndcg@5", y, scores, qid=qid, design=design)
    assert (single.low, single.high) == pytest.approx((expected.low, expected.high))
    with pytest.raises(ValueError, match="hold out each query once: pass a number as cv"):
        cross_val_interval(LogisticRegression(), X, y, cv=folds[:2], **options)


def test_dependent_groups_widen_the_limits_and_stay_whole():
    X, _, y, design, _ = drawn(3)
    groups = np.arange(len(y)) // 30  # Positives first: rows of a group are of one class
    options = {"measure": "auc", "design": design, "cv": 3}
    single = cross_val_interval(LogisticRegression(), X, y, **options)
    grouped = cross_val_interval(LogisticRegression(), X, y, groups=groups, **options)
    assert grouped.high - grouped.low > single.high - single.low


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "632+"}, r"is for method='folds', but method='632\+': leave design"),
        ({"cv": 3000}, "y has .* positives, but each of 3000 folds needs"),
        ({"design": LabelDesign(review_top=2, scores=np.arange(3000.0))}, "review_top=2 says"),
    ],
)
def test_folds_refuse(options, message):
    X, _, y, design, _ = drawn(4)
    options = {"design": design, **options}
    with pytest.raises(ValueError, match=message):
        cross_val_interval(LogisticRegression(), X, y, measure="auc", **options)


def test_folds_refuse_rows_of_which_none_was_drawn():
    X, _, y, _, _ = drawn(5)
    order = np.argsort(-X[:, 0])
    y[order[200:]] = np.nan
    design = LabelDesign(review_top=200, scores=X[:, 0])
    with pytest.raises(ValueError, match=r"2800 rows could have no label.*label a random sample"):
        cross_val_interval(LogisticRegression(), X, y, measure="auc", design=design)
