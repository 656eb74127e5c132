"""What shares its name with scikit-learn: equal values, and scikit-learn's own tests run on ours.

The tests of ``sklearn/metrics/tests/test_ranking.py`` that call one of the shared names run here
with that name replaced. Where they do not hold, DIFFERENCES says why, and each such test has to
fail in the way that it says.
"""

import importlib.util
import inspect

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
import sklearn.metrics._ranking
from sklearn.exceptions import DataConversionWarning, UndefinedMetricWarning

from sklearn_rank import metrics
from tests.naming import for_each

# --------------------------------------------------------------------- scikit-learn's own tests


def gains(function, **fixed):
    """DCG and NDCG as scikit-learn calls them: y_true holds the gains, and ties count."""

    def call(*arguments, ignore_ties=False, **parameters):
        if ignore_ties:
            raise TypeError("no ignore_ties: tied items count by all their orders")
        return function(*arguments, gain="linear", **fixed, **parameters)

    return call


def area(y_true, y_score, *, multi_class="raise", average="macro", **parameters):
    """AUC as scikit-learn calls it."""
    if multi_class != "raise" or np.ndim(y_true) == 2:
        pytest.skip("of two classes only")
    given = {} if average == "macro" else {"average": average}
    return metrics.roc_auc_score(y_true, y_score, **given, **parameters)


SHARED = {
    "roc_auc_score": area,
    "average_precision_score": metrics.average_precision_score,
    "dcg_score": gains(metrics.dcg_score),
    "ndcg_score": gains(metrics.ndcg_score),
    "_dcg_sample_scores": gains(metrics.dcg_score, average=None),
    "_ndcg_sample_scores": gains(metrics.ndcg_score, average=None),
}

TEXT = (AssertionError, "the same refusal in other words")
COLUMNS = (AssertionError, "columns of y_score are no classes: refused in other words")
WARNING = (
    (pytest.fail.Exception, UndefinedMetricWarning),
    "the same warning in other words",
)
ORDERS = (AssertionError, "average precision is the mean over all orders of tied items")
IGNORED = (TypeError, "ties cannot be ignored: the value would depend on the order of the rows")

# Test of scikit-learn, or one of its parametrisations -> what it raises here, and why.
DIFFERENCES = {
    "test_roc_curve_toydata": WARNING,
    "test_auc_score_non_binary_class": WARNING,
    "test_roc_auc_score_multiclass_error": COLUMNS,
    "test_multiclass_ranking_metrics_raise_for_incorrect_shape_of_y_score": COLUMNS,
    "test_average_precision_score_multilabel_pos_label_errors": COLUMNS,
    "test_average_precision_score_multiclass_pos_label_errors": COLUMNS,
    "test_average_precision_score_binary_pos_label_errors": TEXT,
    "test_ndcg_negative_ndarray_error": TEXT,
    "test_precision_recall_curve_toydata": ORDERS,
    "test_average_precision_constant_values": ORDERS,
    "test_dcg_ties": IGNORED,
    "test_ndcg_ignore_ties_with_k": IGNORED,
    "test_ndcg_invariant": IGNORED,
    "test_ndcg_toy_examples[True]": IGNORED,
    "test_ndcg_error_single_document": (
        DataConversionWarning,
        "a list of one item has a value, as queries of one item are common; (1, 1) is a column",
    ),
    "test_ndcg_score": (UndefinedMetricWarning, "lists without a gain are warned of"),
    "test_partial_roc_auc_score": (TypeError, "no max_fpr: partial_auc_score has its own name"),
}


def their_tests():
    """A copy of scikit-learn's module that was imported while the names were ours."""
    spec = importlib.util.find_spec("sklearn.metrics.tests.test_ranking")
    if spec is None:
        return {}
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        for name, function in SHARED.items():
            for home in (sklearn.metrics, sklearn.metrics._ranking):
                patch.setattr(home, name, function, raising=False)
        spec.loader.exec_module(module)
    ours = list(SHARED.values())

    def is_ours(value):
        if isinstance(value, (list, tuple)):
            return any(is_ours(entry) for entry in value)
        return any(value is function for function in ours)

    def uses_ours(function, seen=()):
        if any(is_ours(mark.args) for mark in getattr(function, "pytestmark", ())):
            return True
        used = [vars(module).get(name) for name in inspect.unwrap(function).__code__.co_names]
        helpers = [
            helper
            for helper in used
            if inspect.isfunction(helper) and helper.__globals__ is vars(module)
        ]
        return is_ours(used) or any(
            uses_ours(helper, (*seen, function)) for helper in helpers if helper not in seen
        )

    return {
        name: function
        for name, function in vars(module).items()
        if name.startswith("test_") and inspect.isfunction(function) and uses_ours(function)
    }


THEIRS = their_tests()
globals().update(THEIRS)


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(autouse=True)
def _differences(request):
    name = request.node.name if request.node.name in DIFFERENCES else request.node.originalname
    if name in DIFFERENCES:
        raises, reason = DIFFERENCES[name]
        request.applymarker(pytest.mark.xfail(raises=raises, reason=reason, strict=True))


def test_their_tests_are_found():
    pytest.importorskip("sklearn.metrics.tests.test_ranking")
    assert len(THEIRS) > 20
    unknown = {name.split("[")[0] for name in DIFFERENCES} - set(THEIRS)
    # Another version of scikit-learn may have dropped some.
    assert len(unknown) <= 5


# ------------------------------------------------------------------------------- the same numbers


def data(seed, n, levels=None):
    """Labels, scores (all different unless there are levels) and real weights."""
    rng = np.random.default_rng(seed)
    y_true = (rng.random(n) < 0.3).astype(int)
    y_true[:2] = [0, 1]
    y_score = rng.permutation(n) if levels is None else rng.integers(0, levels, n)
    return y_true, y_score.astype(float), rng.uniform(0.1, 3, n)


SIZES = [(2, None), (10, None), (500, None), (7, 3), (60, 4), (2000, 50)]


@for_each(("n", "levels"), SIZES)
def test_auc_also_with_ties_and_weights(n, levels):
    y_true, y_score, weight = data(0, n, levels)
    theirs = sklearn.metrics.roc_auc_score
    assert metrics.roc_auc_score(y_true, y_score) == pytest.approx(
        theirs(y_true, y_score), rel=1e-13
    )
    assert metrics.roc_auc_score(y_true, y_score, sample_weight=weight) == pytest.approx(
        theirs(y_true, y_score, sample_weight=weight), rel=1e-12
    )


@pytest.mark.parametrize("n", [2, 10, 500, 20_000])
def test_average_precision_without_ties(n):
    y_true, y_score, weight = data(1, n)
    theirs = sklearn.metrics.average_precision_score
    value = metrics.average_precision_score(y_true, y_score)
    assert value == pytest.approx(theirs(y_true, y_score), rel=1e-12)
    # Repetitions are tied with each other, but alike: any order of them is as good.
    weight = np.ceil(weight).astype(int)
    laid_out = np.repeat(np.argsort(-y_score), weight[np.argsort(-y_score)])
    expected = theirs(y_true[laid_out], -np.arange(len(laid_out)))
    value = metrics.average_precision_score(y_true, y_score, sample_weight=weight)
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["dcg_score", "ndcg_score"])
def test_gains_also_with_ties_lists_and_weights_of_lists(name):
    for k in (None, 1, 7, 100):
        rng = np.random.default_rng(2)
        y_true, y_score = rng.integers(0, 5, (30, 20)), rng.integers(0, 9, (30, 20))
        weight = rng.uniform(0, 2, 30)
        ours, theirs = getattr(metrics, name), getattr(sklearn.metrics, name)
        for base in (2, 10, 1.5) if name == "dcg_score" else (2,):
            base = {} if base == 2 else {"log_base": base}
            value = ours(y_true, y_score, k=k, gain="linear", query_weight=weight, **base)
            expected = theirs(y_true, y_score, k=k, sample_weight=weight, **base)
            assert value == pytest.approx(expected, rel=1e-12)
        for i in range(5):
            expected = theirs(y_true[i : i + 1], y_score[i : i + 1], k=k)
            assert ours(y_true[i], y_score[i], k=k, gain="linear") == pytest.approx(expected)
        binary = (y_true > 2).astype(int)
        # Of the labels 0 and 1 the two gains are equal.
        assert ours(binary, y_score, k=k) == pytest.approx(theirs(binary, y_score, k=k))


@pytest.mark.parametrize("function", [metrics.dcg_score, metrics.ndcg_score])
def test_grades_in_two_dimensions_need_the_gain(function):
    grades, y_score = [[0, 2, 1], [1, 0, 0]], [[1, 2, 3], [1, 2, 3]]
    for given in ({}, {"gain": None}):
        with pytest.raises(ValueError, match=r"(?s)exponential.*linear|linear.*exponential"):
            function(grades, y_score, **given)
    linear, exponential = (function(grades, y_score, gain=g) for g in ("linear", "exponential"))
    assert linear != exponential
    assert function([0, 2, 1, 1, 0, 0], [1, 2, 3] * 2, qid=[0, 0, 0, 1, 1, 1]) == exponential


@for_each("max_fpr", [0.01, 0.1, 0.25, 1 / 3, 0.5, 0.99, 1.0])
def test_partial_auc_without_ties(max_fpr):
    for n in (2, 10, 500):
        y_true, y_score, _ = data(3, n)
        value = metrics.partial_auc_score(y_true, y_score, max_fpr=max_fpr, scale="mcclish")
        expected = sklearn.metrics.roc_auc_score(y_true, y_score, max_fpr=max_fpr)
        assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n", "levels"), SIZES[3:])
def test_partial_auc_of_real_weights_also_with_ties(n, levels):
    for max_fpr in (0.01, 0.1, 0.25, 0.5, 0.99, 1.0):
        y_true, y_score, weight = data(4, n, levels)
        value = metrics.partial_auc_score(
            y_true, y_score, max_fpr=max_fpr, scale="mcclish", sample_weight=weight
        )
        expected = sklearn.metrics.roc_auc_score(
            y_true, y_score, max_fpr=max_fpr, sample_weight=weight
        )
        assert value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n", [2, 3, 50, 3000])
def test_spearman_without_ties(n):
    rng = np.random.default_rng(5)
    y_true, y_score = rng.permutation(n) - n / 2, rng.normal(size=n)
    expected = scipy.stats.spearmanr(y_true, y_score).statistic
    assert metrics.spearman_score(y_true, y_score) == pytest.approx(expected, abs=1e-13)
