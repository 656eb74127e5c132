"""What holds for the weights of items in every measure of the catalogue."""

import inspect
import warnings

import numpy as np
import pytest
import sklearn.metrics
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import average_precision_score, get_scorer, ndcg_score
from sklearn_rank.rankers import OrderPreservingRanker, RankEnsemble, RankStatisticRanker
from tests.catalogue import FUNCTIONS, METRICS
from tests.naming import for_each

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{category.__module__}.{category.__name__}")
    for category in (SmallTopWarning, UndefinedMetricWarning)
]

WEIGHABLE = [case for case in FUNCTIONS if case.weights != "none"]
weighable = for_each("case", WEIGHABLE)


def weights_of(case, rng, n):
    """Weights whose sums are rounded, where the measure takes them."""
    if case.weights == "whole":
        return rng.integers(1, 4, n).astype(float)
    least = 0.5 if case.weights == "relative" else 1.0
    return (
        rng.uniform(least, 3.0, n),
        rng.integers(int(10 * least), 30, n) / 10.0,
        np.full(n, least + 0.7),
    )[rng.integers(3)]


def weighted_lists(case, rng, n_lists):
    """Lists of at least two items, of one label or of several, with weights."""
    for i in range(n_lists):
        n = int(rng.integers(2, 9))
        labels = [case.grades, case.grades[:1], case.grades[-1:]][i % 3]
        yield rng.choice(labels, n), rng.integers(0, 4, n), weights_of(case, rng, n)


# ------------------------------------------------------------------------ lists without a value


@weighable
def test_lists_of_one_label_are_undefined_by_count_in_any_order(case):
    rng = np.random.default_rng(0)
    rows = list(weighted_lists(case, rng, 30))
    labels, score, weight = (np.concatenate(values) for values in zip(*rows, strict=True))
    qid = np.repeat(np.arange(len(rows)), [len(row[0]) for row in rows])
    found = []
    for _ in range(4):
        order = rng.permutation(len(qid))
        data = labels[order], score[order]
        more = {"qid": qid[order], "sample_weight": weight[order], "undefined": "skip"}
        found.append(case(*data, average=None, **more))
    for values in found[1:]:
        np.testing.assert_allclose(values, found[0], rtol=1e-9, atol=1e-9)
    for row, value in zip(rows, found[0], strict=True):
        y_true, y_score, own = row
        if len(set(y_true.tolist())) == 1:
            assert np.isnan(value) == case.undefined(y_true.tolist())
        order = rng.permutation(len(own))
        alone = case(y_true[order], y_score[order], sample_weight=own[order], undefined="skip")
        np.testing.assert_allclose(alone, value, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------------- the scale of weights


def test_a_measure_says_which_weights_it_takes():
    for case in METRICS:
        measure = case.measure
        assert measure.weights == case.weights, case
        assert measure.depends_on_weight_scale == (case.weights in ("real", "whole")), case


def test_the_docstring_says_whether_the_scale_of_weights_counts():
    for case in WEIGHABLE:
        if isinstance(case.function, str):
            continue
        said = " ".join(inspect.getdoc(case.function).split())
        said = said[said.index("sample_weight : ") : said.index("query_weight : ")]
        assert ("scale changes the value" in said) == (case.weights != "relative")
        assert ("only" in said.lower() and "proportions matter" in said) == (
            case.weights == "relative"
        )


FOUR = ([0, 0, 1, 1], [4, 3, 2, 1])


@weighable
def test_weights_below_1_are_refused_where_positions_are_counted(case):
    relative = [
        np.array([0.1, 0.2, 0.3, 0.4]),  # of sum 1
        np.array([0.5, 0.5, 1.5, 1.5]),  # of mean 1
        np.array([39.0, 39.0, 39.0, 0.999]),
        np.full(4, 0.7),
    ]
    for weight in relative:
        if case.weights == "relative":
            values = [case(*FOUR, sample_weight=scale * weight) for scale in (1.0, np.pi)]
            assert values[0] == pytest.approx(values[1], nan_ok=True)
            continue
        wrong = weight != np.floor(weight) if case.weights == "whole" else weight < 1
        row = int(np.argmax(wrong))
        message = rf"sample_weight is {weight[row]:g} in row {row}: .* leave sample_weight out"
        with pytest.raises(ValueError, match=message):
            case(*FOUR, sample_weight=weight)
        # Rows of queries in any order, those of weight 0 in between.
        rows = [7, 5, 3, 1]
        data = np.zeros((3, 8))
        data[:, rows] = *FOUR, weight
        qid = np.where(np.arange(8) % 2, "b", "a")
        data[2, ::2] = [1, 0, 1, 2]
        row = min(np.array(rows)[wrong])
        with pytest.raises(ValueError, match=rf"in row {row}, in the list with qid 'b'"):
            case(data[0].astype(int), data[1], qid=qid, sample_weight=data[2])
    # 1 / probability, rounded below 1.
    if case.weights != "whole":
        case(*FOUR, sample_weight=[1 - 1e-15, 1.5, 1.5, 1.5])


def test_scale_in_a_scorer():
    class Scores(RegressorMixin, BaseEstimator):
        def predict(self, X):
            return X[:, 0]

    X, y = np.array([[4.0], [3.0], [2.0], [1.0]]), [0, 0, 0, 1]
    scorer = get_scorer("ndcg", single_list=True)
    twice = ndcg_score(y * 2, [4, 3, 2, 1] * 2)
    assert scorer(Scores(), X, y, sample_weight=[2] * 4) == pytest.approx(twice, rel=1e-14)
    with pytest.raises(ValueError, match=r"sample_weight is 0\.5 in row 0"):
        scorer(Scores(), X, y, sample_weight=[0.5] * 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert get_scorer("auc")(Scores(), X, y, sample_weight=[0.1] * 4) == 0.0


def test_weights_that_leave_the_lightest_items_no_room_are_refused():
    weight = [1e100, 3.0, 2.0, 1e8]
    for case in WEIGHABLE:
        if case.weights == "relative":
            case(*FOUR, sample_weight=weight)
            continue
        with pytest.raises(ValueError, match=r"2\*\*53 times its smallest"):
            case(*FOUR, sample_weight=weight)
        case(*FOUR, sample_weight=[2.0**20, 3.0, 2.0, 1e4])


def queries_of_rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0.5).astype(int)
    return X, y, np.repeat(np.arange(6), 10)


@pytest.mark.parametrize("name", ["ndcg", "recall@3", "f1@3"])
def test_fits_whose_utilities_count_items_refuse_shares(name):
    X, y, qid = queries_of_rows()
    ranker = OrderPreservingRanker(measure=name, max_iter=5)
    with pytest.raises(ValueError, match=r"sums to 1 in a list on average, but .*_weight\.mean"):
        ranker.fit(X, y, qid=qid, sample_weight=np.full(60, 0.1))
    assert not hasattr(ranker, "coef_")
    ranker.partial_fit(X[:10], y[:10], qid=qid[:10], sample_weight=np.full(10, 0.1))  # light rows
    with pytest.raises(ValueError, match=r"sample_weight sums to 1, but .*_weight\.mean"):
        RankStatisticRanker().fit(X, y, sample_weight=np.full(60, 1 / 60))


@for_each(
    ("ranker", "found"),
    [
        (OrderPreservingRanker(measure="ndcg"), "coef_"),
        (OrderPreservingRanker(measure="ndcg@3", loss="pairwise_squared"), "objective_"),
        (OrderPreservingRanker(measure="recall@3"), "coef_"),
        (OrderPreservingRanker(measure="f1@3"), "coef_"),
        (RankStatisticRanker("bedroc@20", n_folds=None, tol=1e-8), "value_"),
    ],
)
def test_a_row_in_two_halves_is_the_row_in_fits(ranker, found):
    X, y, qid = queries_of_rows()
    given = {} if isinstance(ranker, RankStatisticRanker) else {"qid": qid}
    whole = getattr(clone(ranker).fit(X, y, **given), found)
    halves = {name: np.repeat(ids, 2) for name, ids in given.items()}
    weight = np.full(120, 0.5)
    ranker.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2), sample_weight=weight, **halves)
    assert getattr(ranker, found) == pytest.approx(whole, rel=1e-3)


def test_fits_that_score_held_out_queries_refuse_weights_below_1():
    X, y, qid = queries_of_rows()
    weight = np.where(np.arange(60) == 31, 0.5, 1.5)
    instead = "weight whole queries by query_weight"
    with pytest.raises(ValueError, match=f"0.5 in row 31, in the list with qid 3: .*{instead}"):
        RankEnsemble(cv=2).fit(X, y, qid=qid, sample_weight=weight)


def test_average_precision_by_the_rules_of_scikit_learn_takes_any_weights():
    X, y, _ = queries_of_rows()
    score, weight = np.round(X[:, 0]), np.random.default_rng(1).uniform(0.1, 2.0, 60)
    value = average_precision_score(y, score, sample_weight=weight, convention="sklearn")
    assert value == pytest.approx(
        sklearn.metrics.average_precision_score(y, score, sample_weight=weight)
    )
    with pytest.raises(ValueError, match=r"or get_measure\('ap', convention='sklearn'\)"):
        average_precision_score(y, score, sample_weight=weight)


@pytest.mark.filterwarnings("ignore:.*Scoring failed", "ignore:.*are non-finite")
def test_a_search_that_routes_weights_quotes_the_refusal():
    X, y = np.arange(40.0)[:, np.newaxis], np.arange(40) % 2
    scorer = get_scorer("ndcg", single_list=True)
    search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=scorer, cv=2)
    with pytest.warns(UserWarning, match=r"sample_weight is 0\.025 in row 0: ndcg_score counts"):
        search.fit(X, y, sample_weight=np.full(40, 1 / 40))
    search.set_params(error_score="raise")
    with pytest.raises(ValueError, match="leave sample_weight out, pass how many items"):
        search.fit(X, y, sample_weight=np.full(40, 1 / 40))
