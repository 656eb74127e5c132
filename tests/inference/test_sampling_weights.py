"""Rows drawn with unequal probabilities, and what weights mean at every door."""

import importlib
import inspect

import numpy as np
import pytest

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import get_measure
from tests.naming import for_each
from tests.oracles import sampling_weights as oracle

# Measures of every kind of influence.
NAMES = (
    "auc",
    "gini",
    "partial_auc@fpr0.2",
    "local_auc@0.8",
    "bedroc@20",
    "pnorm@4",
    "precision@top0.1",
    "enrichment@0.1",
    "lift@0.1",
    "tpr@fpr0.1",
    "fpr@tpr0.8",
    "ap",
    "negative_height_loss@4",
)


def reviewed(rng, n=12_000, rate=0.05, rare=0.08):
    """A list of which the top of another ranker is reviewed fully, and the rest at random."""
    y = (rng.random(n) < rare).astype(int)
    shared = rng.normal(size=n)
    old, new = (1.5 * y + 0.7 * shared + 0.7 * rng.normal(size=n) for _ in range(2))
    top = old >= np.quantile(old, 0.95)
    drawn = top | (rng.random(n) < rate)
    return y[drawn], new[drawn], old[drawn], np.where(top, 1.0, 1.0 / rate)[drawn]


def numbers(found):
    return np.array([found.estimate, found.low, found.high, found.standard_error])


# --------------------------------------------------------------------------------- the meaning


def doors():
    """Every public function and method of inference that takes weights."""
    for room in ("inference", "model_selection", "plotting", "bounds"):
        module = importlib.import_module(f"sklearn_rank.{room}")
        for name in module.__all__:
            value = getattr(module, name)
            members = {name: value}
            if inspect.isclass(value):
                found = inspect.getmembers(value, callable)
                members = {f"{name}.{key}": one for key, one in found if key[0] != "_"}
            for title, member in members.items():
                try:
                    parameters = inspect.signature(member).parameters
                except (TypeError, ValueError):
                    continue
                if "sample_weight" in parameters:
                    yield title, parameters


# Curves and scores, which make no statement about new rows; intervals refuse weights there.
WITHOUT_INFERENCE = {"TopThresholdClassifier.score", "TopThresholdClassifier.set_score_request"}


def test_every_door_that_takes_weights_asks_what_they_mean():
    silent = {title for title, parameters in doors() if "weights" not in parameters}
    assert silent == WITHOUT_INFERENCE


Y, SCORE, OLD, WEIGHT = reviewed(np.random.default_rng(0))
QID = np.arange(len(Y)) % 40
CALLS = {
    "one list": lambda **said: metric_interval("auc", Y, SCORE, **said),
    "queries": lambda **said: metric_interval("auc", Y, SCORE, qid=QID, **said),
    "compare": lambda **said: compare("auc", Y, {"a": SCORE, "b": OLD}, **said),
    "compare queries": lambda **said: compare("auc", Y, {"a": SCORE, "b": OLD}, qid=QID, **said),
    "randomization": lambda **said: compare(
        "auc", Y, {"a": SCORE, "b": OLD}, qid=QID, method="randomization", **said
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_nothing_is_guessed(call):
    whole = np.round(WEIGHT)
    with pytest.raises(ValueError, match=r"weights='frequency' if .* or weights='sampling' if"):
        call(sample_weight=whole)
    with pytest.raises(ValueError, match="weights='guess'"):
        call(sample_weight=whole, weights="guess")
    with pytest.raises(ValueError, match="but sample_weight is None"):
        call(weights="sampling")
    with pytest.raises(ValueError, match=r"sample_weight is 1\.5 at row 0.*whole numbers"):
        call(sample_weight=np.full(len(Y), 1.5), weights="frequency")


# --------------------------------------------------------------------- the linearised variance


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("auc", oracle.auc, marks=pytest.mark.slow),
        (
            get_measure("partial_auc@fpr0.3", scale="raw"),
            lambda *rows: oracle.partial_auc(*rows, max_fpr=0.3),
        ),
    ],
    ids=["auc", "partial_auc"],
)
def test_the_variance_is_that_of_the_jackknife(name, value):
    rng = np.random.default_rng(2)
    y = (np.arange(120) % 3 == 0).astype(int)
    score, weight = y + rng.normal(size=120), rng.choice([1.0, 2.5, 4.0], 120)
    found = metric_interval(name, y, score, sample_weight=weight, weights="sampling")
    assert found.estimate == pytest.approx(value(y, score, weight), rel=1e-9)
    expected = oracle.jackknife_variance(value, y, score, weight)
    # The interval adds half a row at either end in both classes.
    assert found.standard_error**2 == pytest.approx(expected, rel=0.15)
    # The difference of two scorers adds none.
    joint = compare(name, y, {"a": score, "b": -score}, sample_weight=weight, weights="sampling")
    other = oracle.jackknife_variance(
        lambda y, s, w: value(y, s, w) - value(y, -s, w), y, score, weight
    )
    assert joint.difference_errors[0] ** 2 == pytest.approx(other, rel=0.05)


@for_each("name", NAMES)
def test_the_scale_of_inverse_probabilities_is_nothing(name):
    found = numbers(metric_interval(name, Y, SCORE, sample_weight=WEIGHT, weights="sampling"))
    for scale in (1 / WEIGHT.sum(), 7.3):
        weight = scale * WEIGHT
        other = metric_interval(name, Y, SCORE, sample_weight=weight, weights="sampling")
        np.testing.assert_allclose(numbers(other), found, rtol=1e-6)


@for_each("name", NAMES)
def test_equal_probabilities_are_no_weights(name):
    rng = np.random.default_rng(4)
    y = (rng.random(400) < 0.3).astype(int)
    score = y + rng.normal(size=400)
    equal = metric_interval(name, y, score, sample_weight=np.full(400, 20.0), weights="sampling")
    plain = metric_interval(name, y, score)
    assert equal.estimate == pytest.approx(plain.estimate, rel=1e-9)
    # Of measures that depend on the share of positives, which is random then, it is wider.
    assert 0.95 < (equal.high - equal.low) / (plain.high - plain.low) < 1.5


@for_each("name", NAMES)
def test_weights_of_any_ratio_take_the_time_of_the_rows(name):
    rng = np.random.default_rng(10)
    y = (rng.random(600) < 0.3).astype(int)
    score, heavy = y + rng.normal(size=600), rng.random(600) < 0.5
    values = []
    for light in (1e-9, 1e-3):
        weight = np.where(heavy, 1.0, light)
        found = metric_interval(name, y, score, sample_weight=weight, weights="sampling")
        values.append(numbers(found))
    alone = metric_interval(
        name, y[heavy], score[heavy], sample_weight=np.ones(heavy.sum()), weights="sampling"
    )
    np.testing.assert_allclose(values[0], values[1], rtol=0.05)
    np.testing.assert_allclose(values[0], numbers(alone), rtol=0.1)


def test_rows_of_groups_are_drawn_together():
    rows = np.tile(np.arange(len(Y)), 2)
    said = {"sample_weight": WEIGHT[rows], "weights": "sampling"}
    twice = metric_interval("auc", Y[rows], SCORE[rows], groups=rows, **said)
    once = metric_interval("auc", Y, SCORE, sample_weight=WEIGHT, weights="sampling")
    # Half a row is added at either end, of one that counts twice or once.
    np.testing.assert_allclose(numbers(twice), numbers(once), rtol=0.02)


def test_rows_of_weight_0_were_not_drawn():
    weight = np.where(np.arange(len(Y)) % 5 == 0, 0.0, WEIGHT)
    some, said = weight > 0, {"weights": "sampling"}
    found = compare("auc", Y, {"a": SCORE, "b": OLD}, sample_weight=weight, **said)
    same = compare(
        "auc", Y[some], {"a": SCORE[some], "b": OLD[some]}, sample_weight=weight[some], **said
    )
    assert found.low == same.low


# ------------------------------------------------------------------------------ what is refused


def test_limits_tell_of_heavy_rows_that_a_class_may_lack():
    """None of the positives was drawn at the small probability, which says little of the rest."""
    rng = np.random.default_rng(5)
    y, noise = (np.arange(300) < 60).astype(int), rng.normal(size=(2, 300))
    said = {"sample_weight": np.where(y == 1, 1.0, 200.0), "weights": "sampling"}
    score, other = 2.0 * y + noise
    lacking = oracle.most_unseen(said["sample_weight"][y == 1], said["sample_weight"])
    assert 0.9 < lacking < 0.95
    found = metric_interval("auc", y, score, **said)
    assert found.low < found.estimate * (1.0 - lacking) + 1e-3
    assert found.high > found.estimate + lacking * (1.0 - found.estimate) - 1e-3
    both = compare("auc", y, {"a": score, "b": other}, **said)
    assert both.low[0] < -0.5 * lacking
    assert both.high[0] > 0.5 * lacking
    assert both.pvalues[0] > 0.9
    # The share of positives may be larger too.
    top = metric_interval("precision@top0.1", y, score, **said)
    assert top.high > 2.0 * top.estimate


def test_few_rows_that_carry_the_weight_have_limits_that_say_little():
    rng = np.random.default_rng(5)
    y, score = (np.arange(300) < 60).astype(int), rng.normal(size=300)
    few = {"sample_weight": np.where(np.arange(300) < 3, 200.0, 1.0), "weights": "sampling"}
    found = metric_interval("auc", y, score, **few)
    assert found.high - found.low > 0.5
    both = compare("auc", y, {"a": score, "b": -score}, **few)
    assert both.high[0] - both.low[0] > 0.5
    with pytest.raises(ValueError, match=r"The 300 rows are worth 6\.5 drawn"):
        metric_interval("lorenz@0.1", y + rng.random(300), score, **few)


@for_each("name", ["pos@top", "dcg", "precision@10", "recall@10", "success@5", "tau_b"])
def test_measures_without_such_an_interval_are_refused_by_name(name):
    with pytest.raises(ValueError, match="has no interval for rows of unequal weights") as error:
        metric_interval(name, Y, SCORE, sample_weight=WEIGHT, weights="sampling")
    stem = name.removesuffix("@10")
    is_share_too = stem in ("precision", "recall")
    assert (f"f'{stem}@top{{10 / n}}' for n rows in all" in str(error.value)) == is_share_too


def test_methods_for_equal_probabilities_are_refused():
    said = {"sample_weight": WEIGHT, "weights": "sampling"}
    for call in (
        lambda: metric_interval("auc", Y, SCORE, method="kl", **said),
        lambda: metric_interval("bedroc@20", Y, SCORE, method="bootstrap", **said),
        lambda: metric_interval("precision@top0.1", Y, SCORE, method="exact", **said),
        lambda: metric_interval("auc", Y, SCORE, method="mcdiarmid", **said),
        lambda: compare("auc", Y, {"a": SCORE, "b": OLD}, method="swap", **said),
    ):
        with pytest.raises(ValueError, match=r"does not support|not supported"):
            call()


# --------------------------------------------------------------------------------- queries


def drawn_queries(rng, n=200):
    """Queries of two kinds, of which the easy ones were drawn more seldom."""
    easy = np.repeat(rng.random(n) < 0.4, 8)
    qid = np.repeat(np.arange(n), 8)
    y = rng.integers(0, 3, 8 * n)
    a, b = (np.where(easy, 2.0, 0.3) * y + rng.normal(size=8 * n) for _ in range(2))
    return y, a, b, qid, np.where(easy, 5.0, 1.0)


def test_queries_drawn_with_unequal_probabilities():
    y, a, b, qid, weight = drawn_queries(np.random.default_rng(6))
    said = {"qid": qid, "sample_weight": weight, "weights": "sampling"}
    found = metric_interval("ndcg@5", y, a, **said)
    values = get_measure("ndcg@5")(y, a, qid=qid, average=None)
    by_query = weight[::8]
    assert found.estimate == pytest.approx(oracle.mean(values, by_query))
    expected = oracle.jackknife_variance(oracle.mean, values, by_query)
    assert found.standard_error**2 == pytest.approx(expected, rel=0.02)
    other = get_measure("ndcg@5")(y, b, qid=qid, average=None)
    tested = compare("ndcg@5", y, {"a": a, "b": b}, method="t", **said)
    joint = compare("ndcg@5", y, {"a": a, "b": b}, **said)
    for result in (tested, joint):
        assert result.estimate == pytest.approx(oracle.mean(values - other, by_query))
        variance = oracle.jackknife_variance(oracle.mean, values - other, by_query)
        assert result.difference_errors[0] ** 2 == pytest.approx(variance, rel=0.02)
    square = {**said, "qid": None, "sample_weight": by_query}
    measure = get_measure("ndcg@5", gain="exponential")
    same = metric_interval(measure, y.reshape(-1, 8), a.reshape(-1, 8), **square)
    np.testing.assert_allclose(numbers(same), numbers(found))


def test_weights_of_queries_that_mean_nothing_are_refused():
    y, a, b, qid, weight = drawn_queries(np.random.default_rng(7))
    said = {"qid": qid, "weights": "sampling"}
    uneven = np.where(np.arange(len(y)) == 3, 2.5, weight)
    with pytest.raises(ValueError, match="differs within the list with qid 0, but with weights="):
        metric_interval("ndcg", y, a, sample_weight=uneven, **said)
    with pytest.raises(ValueError, match=r"queries are worth .* drawn with equal probability"):
        metric_interval("ndcg", y, a, sample_weight=np.where(qid < 3, 1e3, 1.0), **said)
    for method in ("bootstrap", "bca"):
        with pytest.raises(ValueError, match="queries of equal probability"):
            metric_interval("ndcg", y, a, sample_weight=weight, method=method, **said)
    with pytest.raises(ValueError, match=r"queries of equal probability.*method='t'"):
        compare("ndcg", y, {"a": a, "b": b}, sample_weight=weight, method="randomization", **said)


# --------------------------------------------------------------------------------- coverage


@pytest.mark.slow
@pytest.mark.parametrize("name", ["auc", "bedroc@20", "tpr@fpr0.1"])
def test_coverage_of_a_reviewed_top_and_a_random_rest(name):
    rng = np.random.default_rng(8)
    y, score, *_ = reviewed(np.random.default_rng(9), n=400_000, rate=1.0)
    truth, covered, n_samples = get_measure(name)(y, score), 0, 300
    for _ in range(n_samples):
        y, score, _, weight = reviewed(rng)
        found = metric_interval(name, y, score, sample_weight=weight, weights="sampling")
        covered += truth in found
    assert covered / n_samples >= 0.91


@pytest.mark.parametrize("name", ["auc", "ap", "bedroc@20", "precision@top0.1", "tpr@fpr0.1"])
def test_rounding_of_what_is_constant_counts_nothing(name):
    rng = np.random.default_rng(0)
    y, weight = np.arange(60) < 20, rng.uniform(0.5, 3.0, 60)
    for score in (np.full(60, 0.3), y * 1.0, -0.1 * y):
        found = []
        for order in (np.arange(60), *(rng.permutation(60) for _ in range(5))):
            for groups in (None, order):
                said = {"sample_weight": weight[order], "weights": "sampling", "groups": groups}
                found.append(numbers(metric_interval(name, y[order], score[order], **said)))
        np.testing.assert_allclose(
            found, np.broadcast_to(found[0], np.shape(found)), rtol=1e-9, atol=1e-12
        )
