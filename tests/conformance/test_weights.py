"""What holds for the weights of items in every measure of the catalogue."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.exceptions import RelativeWeightWarning, SmallTopWarning
from sklearn_rank.metrics import get_measure, get_scorer, ndcg_score
from tests.catalogue import FUNCTIONS, METRICS

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{category.__module__}.{category.__name__}")
    for category in (SmallTopWarning, UndefinedMetricWarning)
]

weighable = pytest.mark.parametrize(
    "case", [case for case in METRICS if case.weights != "none"], ids=str
)


def weights_of(case, rng, n):
    """Weights whose sums are rounded, where the measure takes them."""
    if case.weights == "whole":
        return rng.integers(1, 4, n).astype(float)
    return (rng.uniform(0.5, 3.0, n), rng.integers(5, 30, n) / 10.0, np.full(n, 0.7))[
        rng.integers(3)
    ]


def weighted_lists(case, rng, n_lists):
    """Lists of at least two items, of one label or of several, with weights."""
    for i in range(n_lists):
        n = int(rng.integers(2, 9))
        labels = [case.grades, case.grades[:1], case.grades[-1:]][i % 3]
        yield rng.choice(labels, n), rng.integers(0, 4, n), weights_of(case, rng, n)


# ------------------------------------------------------------------------ lists without a value


@pytest.mark.filterwarnings("ignore:All sample_weight")
@weighable
def test_lists_of_one_label_are_undefined_by_count_in_any_order(case):
    rng = np.random.default_rng(0)
    rows = list(weighted_lists(case, rng, 30))
    labels, score, weight = (np.concatenate(values) for values in zip(*rows, strict=True))
    qid = np.repeat(np.arange(len(rows)), [len(row[0]) for row in rows])
    found = []
    for _ in range(8):
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


@pytest.mark.parametrize("case", METRICS, ids=str)
def test_a_measure_says_which_weights_it_takes(case):
    measure = get_measure(case.function, **case.parameters)
    assert measure.weights == case.weights
    assert measure.depends_on_weight_scale == (case.weights in ("real", "whole"))


@pytest.mark.parametrize("case", [case for case in FUNCTIONS if case.weights != "none"], ids=str)
def test_the_docstring_says_whether_the_scale_of_weights_counts(case):
    said = " ".join(inspect.getdoc(case.function).split())
    said = said[said.index("sample_weight : ") : said.index("query_weight : ")]
    assert ("scale changes the value" in said) == (case.weights != "relative")
    assert ("only" in said.lower() and "proportions matter" in said) == (
        case.weights == "relative"
    )


FOUR = ([0, 0, 1, 1], [4, 3, 2, 1])


@weighable
def test_weights_of_less_than_one_item_are_refused_where_the_scale_counts(case):
    weight = np.array([0.1, 0.2, 0.3, 0.2])
    two = np.tile(FOUR, 2), np.repeat(["a", "b"], 4), np.r_[3 * weight, weight]
    if case.weights == "relative":
        case(*FOUR, sample_weight=weight)
        return
    message = "not whole" if case.weights == "whole" else "sums to 0.8 in the list: .* repetitions"
    with pytest.raises(ValueError, match=message):
        case(*FOUR, sample_weight=weight)
    if case.weights == "real":
        with pytest.raises(ValueError, match="in the list with qid 'b'"):
            case(*two[0], qid=two[1], sample_weight=two[2])
        # Exactly one item in all, but for rounding.
        for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
            case(*np.array(FOUR)[:, order], sample_weight=np.array([0.1, 0.2, 0.3, 0.4])[order])


@weighable
def test_equal_weights_that_are_no_counts_are_told_of_where_the_scale_counts(case):
    if case.weights == "whole":
        return
    qid = [1, 1, 2, 2]
    for weights, arguments in (
        ([0.7] * 4, {}),
        ([0.7] * 4, {"qid": qid}),
        ([0.6, 0.6, 2, 2], {"qid": qid}),
    ):
        if case.weights == "relative":
            case(*FOUR, sample_weight=weights, **arguments)
        else:
            with pytest.warns(RelativeWeightWarning, match="equal and not whole") as caught:
                case(*FOUR, sample_weight=weights, **arguments)
            # The line that called the measure.
            assert caught[0].filename.endswith("catalogue.py")
    for weights, arguments in (
        ([2.0] * 4, {}),
        ([2, 2, 3, 3], {"qid": qid}),
        ([0.7, 0.7, 0.7, 0.8], {}),
        ([1.5] * 4, {"qid": range(4)}),
    ):
        case(*FOUR, sample_weight=weights, **arguments)


def test_scale_in_a_scorer():
    class Scores(RegressorMixin, BaseEstimator):
        def predict(self, X):
            return X[:, 0]

    X, y = np.array([[4.0], [3.0], [2.0], [1.0]]), [0, 0, 0, 1]
    scorer = get_scorer("ndcg", single_list=True)
    twice = ndcg_score(y * 2, [4, 3, 2, 1] * 2)
    assert scorer(Scores(), X, y, sample_weight=[2] * 4) == pytest.approx(twice, rel=1e-14)
    with pytest.warns(RelativeWeightWarning):
        scorer(Scores(), X, y, sample_weight=[0.5] * 4)
    with pytest.raises(ValueError, match=r"sums to 0\.4 in the list"):
        scorer(Scores(), X, y, sample_weight=[0.1] * 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert get_scorer("auc")(Scores(), X, y, sample_weight=[0.1] * 4) == 0.0


@weighable
def test_weights_that_leave_the_lightest_items_no_room_are_refused(case):
    weight = [1e100, 3.0, 2.0, 1e8]
    if case.weights == "relative":
        case(*FOUR, sample_weight=weight)
        return
    with pytest.raises(ValueError, match=r"2\*\*53 times its smallest"):
        case(*FOUR, sample_weight=weight)
    case(*FOUR, sample_weight=[2.0**20, 3.0, 2.0, 1e4])
