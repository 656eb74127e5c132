"""Intervals of one list for every measure that has one."""

from itertools import cycle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.inference._limits import safe_limits
from sklearn_rank.inference._methods import METHODS, methods_of
from sklearn_rank.metrics import (
    TopDCG,
    _evidence,
    get_measure,
    get_measure_names,
    make_measure,
    positional_score,
    precision_at_k_score,
)
from tests.catalogue import scores_for
from tests.naming import for_each, shown
from tests.oracles import one_list as oracle


def has_interval(name):
    try:
        return not next(iter(methods_of(get_measure(name)).values())).explicit
    except ValueError:
        return False


# Of a rate that takes more negatives than there are here, another one.
MEASURES = [name.replace("fpr0.01", "fpr0.2") for name in get_measure_names()]
NAMES = [name for name in MEASURES if has_interval(name)]
WITH_INFLUENCE = [name for name in NAMES if "influence" in methods_of(get_measure(name))]
GROUPED = [
    name
    for name in NAMES
    if any(method.groups for method in methods_of(get_measure(name)).values())
]


def rows(seed=0, n=80, levels=12):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    return y.astype(int), np.round(rng.normal(size=n) + y, 1), rng.integers(0, levels, n)


def numbers(found):
    return found.estimate, found.low, found.high, found.standard_error or 0.0


# ------------------------------------------------------------------------------ all measures


@for_each(("name", "grouped"), list(zip(WITH_INFLUENCE, cycle([False, True]))))
def test_the_standard_error_is_that_of_a_comparison(name, grouped):
    y, score, groups = rows()
    groups = groups if grouped else None
    a, b = scores_for(name, score), scores_for(name, -score)
    found = metric_interval(name, y, a, groups=groups, method="influence")
    both = compare(name, y, {"a": a, "b": b}, groups=groups)
    assert found.standard_error == pytest.approx(both.standard_errors[0], rel=1e-12)


@pytest.mark.parametrize("name", ["ap", "precision@top0.1"])
def test_the_standard_error_is_the_deviation_between_lists(name):
    rng, y = np.random.default_rng(0), np.arange(100) < 20
    found = [metric_interval(name, y, rng.normal(size=100) + 1.5 * y) for _ in range(200)]
    values, errors = ([getattr(x, of) for x in found] for of in ("estimate", "standard_error"))
    # A deviation of 200 values is known to 5 %.
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(values), rel=0.12)


@for_each("name", WITH_INFLUENCE)
def test_the_value_of_a_long_list_is_that_of_the_measure(name):
    # Of long lists only a part is sorted where the top alone counts.
    rng = np.random.default_rng(5)
    y = (rng.random(5000) < 0.1).astype(int)
    score = scores_for(name, np.round(rng.normal(size=5000) + y, 2))
    found = metric_interval(name, y, score)
    assert found.estimate == pytest.approx(float(get_measure(name)(y, score)), rel=1e-9)
    assert found.low < found.estimate < found.high


@for_each("name", NAMES)
def test_of_every_measure(name):
    (y, score, _), measure = rows(), get_measure(name)
    score = scores_for(name, score)
    found = metric_interval(name, y, score)
    assert found.estimate == pytest.approx(measure(y, score))
    low, high = measure.range
    assert low <= found.low <= found.estimate <= found.high <= high
    assert found.low < found.high
    assert {type(value) for value in numbers(found)} == {float}
    assert "W_phi" not in found.target
    # Nothing but the order counts.
    order = np.random.default_rng(1).permutation(len(y))
    same = [
        metric_interval(name, y[order], score[order]),
        metric_interval(name, y.tolist(), score.tolist()),
        metric_interval(name, np.array(["no", "yes"])[y], score, pos_label="yes"),
        metric_interval(name, pd.Series(y), pd.Series(score, index=order + 1000)),
    ]
    if not measure.of_probabilities:
        infinite = np.where(score == score.max(), np.inf, score)
        same.append(metric_interval(name, y.astype(float), infinite))
        same.append(metric_interval(name, y, np.exp(score)))
    for other in same:
        assert numbers(other) == pytest.approx(numbers(found))
    wider = metric_interval(name, y, score, level=0.99)
    assert wider.low <= found.low
    assert wider.high >= found.high
    with pytest.warns(DataConversionWarning):
        columns = metric_interval(name, y[:, np.newaxis], score[:, np.newaxis])
    assert numbers(columns) == pytest.approx(numbers(found))
    with pytest.raises(ValueError, match="NaN"):
        metric_interval(name, y, np.where(score == score.max(), np.nan, score))


@for_each("name", NAMES)
def test_a_constant_score_has_an_interval(name):
    y, _, _ = rows()
    found = metric_interval(name, y, np.zeros(len(y)))
    assert found.low < found.high
    assert found.low - 1e-12 <= found.estimate <= found.high + 1e-12


@for_each("name", NAMES)
def test_weights_are_repetitions(name):
    y, score, groups = rows()
    score = scores_for(name, score)
    weight = np.random.default_rng(2).integers(0, 3, len(y))
    if get_measure(name).weights == "none":
        with pytest.raises(TypeError, match="takes no sample_weight: repeat the rows"):
            metric_interval(name, y, score, sample_weight=weight, weights="frequency")
        return
    twice = np.repeat(np.arange(len(y)), weight)
    said = {"sample_weight": weight, "weights": "frequency"}
    found = metric_interval(name, y, score, **said)
    assert numbers(found) == pytest.approx(numbers(metric_interval(name, y[twice], score[twice])))
    with pytest.raises(ValueError, match="whole"):
        metric_interval(name, y, score, sample_weight=weight / 2, weights="frequency")
    if name in GROUPED:
        found = metric_interval(name, y, score, **said, groups=groups)
        expected = metric_interval(name, y[twice], score[twice], groups=groups[twice])
        assert numbers(found) == pytest.approx(numbers(expected))


@pytest.mark.parametrize("name", NAMES)
def test_groups_are_taken_or_refused(name):
    y, score, groups = rows()
    score = scores_for(name, score)
    if name not in GROUPED:
        with pytest.raises(ValueError, match=r"takes no groups.*leave groups out"):
            metric_interval(name, y, score, groups=groups)
        return
    found = metric_interval(name, y, score, groups=groups)
    named = metric_interval(name, y, score, groups=[f"user {one}" for one in groups])
    assert numbers(found) == pytest.approx(numbers(named))
    # The same rows four times, as four rows of one group each time: nothing new is seen.
    four = np.tile(np.arange(len(y)), 4)
    repeated = metric_interval(name, y[four], score[four], groups=four)
    once = metric_interval(name, y[four], score[four])
    if name != "pos@top":
        # The draws of all places are known to vary less than as many equal ones.
        more = 1.1 if name == "dcg" else 1.3
        assert repeated.width > more * once.width or name.startswith("enrichment")


@for_each("name", sorted(set(MEASURES) - set(NAMES)))
def test_others_are_refused_with_the_reason(name):
    y, score, _ = rows()
    with pytest.raises(ValueError, match=r"pass\s+qid"):
        metric_interval(name, y, score)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (get_measure("precision@5", convention="trec_eval"), "leave out convention, or pass qid"),
        (get_measure("bedroc@20", convention="rdkit"), "leave out convention"),
        ("ndcg@10", "a single value, so its variance cannot be estimated: pass qid"),
    ],
    ids=shown,
)
def test_reasons(measure, message):
    with pytest.raises(ValueError, match=message):
        metric_interval(measure, [1, 0, 1], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(("name", "digits"), list(zip(WITH_INFLUENCE, cycle([9, 1]))))
def test_rows_that_are_merged_count_as_single_ones(name, digits, monkeypatch):
    y, score, level = rows(n=600)
    if get_measure(name).kind != "binary":
        y = y + level
    score = np.round(score + 1e-6 * np.random.default_rng(4).normal(size=600), digits)
    score = scores_for(name, score)
    highest = 1.0 if get_measure(name).of_probabilities else np.inf
    for given in (score, np.where(score == score.max(), highest, score), score.astype(np.float32)):
        found = metric_interval(name, y, given)
        with monkeypatch.context() as patch:
            patch.setattr(_evidence.Evidence, "merged", property(lambda self: self.data))
            expected = metric_interval(name, y, given)
        assert numbers(found) == pytest.approx(numbers(expected))


@pytest.mark.parametrize("name", ["partial_auc@fpr0.37", "partial_auc@fpr0.5tpr0.2", "pnorm@4"])
@pytest.mark.parametrize("digits", [9, 2])
def test_negatives_between_positives_are_as_good_as_tied(name, digits, monkeypatch):
    """Also where a limit on the rate cuts a run of them."""
    rng = np.random.default_rng(6)
    y = np.arange(500) % 50 == 0
    score = np.round(rng.normal(size=500) + y, digits)
    found = metric_interval(name, y, score)
    with monkeypatch.context() as patch:
        patch.setattr(_evidence.Evidence, "merged", property(lambda self: self.data))
        expected = metric_interval(name, y, score)
    assert numbers(found) == pytest.approx(numbers(expected), rel=1e-9)
    runs = _evidence.runs_of_negatives(get_measure("auc").lists(y, score))
    made = runs.weight[~runs.positive]
    assert len(runs.score) < 60
    assert made.sum() == 490


# ------------------------------------------------------------------------------- all methods

# Named measures, and two that only have intervals on request.
ASKED = [
    *sorted(map(get_measure, MEASURES), key=lambda measure: measure.of_probabilities),
    get_measure(TopDCG(10)),
    make_measure(lambda y, s: s[y].mean() - s[~y].mean(), name="difference", range=(-9.0, 9.0)),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name}, {method.law}")
def test_of_every_method(method):
    """A new row of the table is tested here, by a measure that has it."""
    measure = next(
        measure
        for measure in ASKED
        if method.law in measure.laws and methods_of(measure)[method.name] is method
    )
    y, score, groups = rows()
    score = scores_for(measure, score)

    def interval(*rows, **options):
        options |= {"method": method.name, "n_resamples": 299, "random_state": 0}
        return metric_interval(measure, *rows, **options)

    found, wider = interval(y, score), interval(y, score, level=0.99)
    assert (found.method, found.level) == (method.name, 0.95)
    assert found.estimate == pytest.approx(measure(y, score))
    low, high = measure.range
    assert low <= wider.low <= found.low <= found.estimate <= found.high <= wider.high <= high
    assert found.low < found.estimate or found.estimate == low
    assert found.high > found.estimate or found.estimate == high
    order = np.random.default_rng(1).permutation(len(y))
    if method.law != "resamples" and not measure.of_probabilities:
        assert numbers(interval(y[order], np.exp(score[order]))) == pytest.approx(numbers(found))
    if measure.weights != "none":
        weight = np.random.default_rng(2).integers(0, 3, len(y))
        said = {"sample_weight": weight, "weights": "frequency"}
        expected = interval(np.repeat(y, weight), np.repeat(score, weight))
        assert numbers(interval(y, score, **said)) == pytest.approx(numbers(expected))
    if method.groups:
        assert interval(y, score, groups=groups).estimate == pytest.approx(found.estimate)
    else:
        with pytest.raises(ValueError, match="takes no groups for"):
            interval(y, score, groups=groups)
    if not method.one_class:
        with pytest.raises(ValueError, match="items of one class only"):
            interval(np.ones_like(y), score)


# ---------------------------------------------------------------------------- the first places


@for_each(("k", "hits"), [(1, 0), (5, 0), (5, 4), (8, 8), (20, 3)])
def test_precision_of_the_first_items(k, hits):
    y = np.r_[np.arange(k) < hits, np.zeros(30, dtype=bool)]
    score = -np.arange(k + 30.0)
    found = metric_interval(f"precision@{k}", y, score, method="exact")
    assert (found.low, found.high) == pytest.approx(oracle.exact_limits(hits, k, 0.95))
    found = metric_interval(f"precision@{k}", y, score)
    assert (found.low, found.high) == pytest.approx(safe_limits(hits / k, k, 0.95))
    assert found.target == f"expected precision@{k} for the same scores and new labels"
    # One class is no obstacle: nothing is compared with the others.
    assert metric_interval("precision@3", [1, 1, 1], [3.0, 2.0, 1.0]).high == 1.0


SUMS = [
    get_measure(precision_at_k_score, k=3),
    get_measure("dcg@3"),
    get_measure("dcg", gain="linear"),
    get_measure("rbp@0.7"),
    get_measure("rbp@0.7", max_grade=4, k=4),
    get_measure(positional_score, gain="linear", discount="linear", k=4),
]


@pytest.mark.parametrize("measure", SUMS, ids=shown)
@pytest.mark.parametrize("score", [[5, 4, 3, 2, 1, 0], [2, 1, 1, 1, 1, 0], [1, 1, 1, 0, 0, 0]])
def test_sums_over_places_are_means_of_draws(measure, score):
    grade = np.array([1, 0, 3, 0, 2, 1])
    if measure.kind == "binary":
        grade = np.minimum(grade, 1)
    top = measure.max_grade if getattr(measure, "max_grade", None) else grade.max()
    gain = {"dcg@3": 2.0**top - 1}.get(
        measure.name, float(top) if "rbp" not in measure.name else 1
    )
    place = np.arange(1, 7)
    discounts = {
        "precision@3": (place <= 3) / 3,
        "dcg@3": (place <= 3) / np.log2(place + 1),
        "dcg(gain='linear')": 1 / np.log2(place + 1),
        "rbp@0.7": 0.3 * 0.7 ** (place - 1),
    }.get(measure.name)
    if discounts is None and measure.name.startswith("rbp"):
        discounts = np.where(place <= 4, 0.3 * 0.7 ** (place - 1), 0)
    elif discounts is None:
        discounts = np.where(place <= 4, 6.0 - place, 0)
    weight = oracle.chances_of_places(score) @ discounts
    unit = gain * weight.sum()
    value = measure(grade, score)
    limits = safe_limits(value / unit, weight.sum() / weight.max(), 0.9)
    found = metric_interval(measure, grade, score, level=0.9)
    assert numbers(found)[:3] == pytest.approx([value, unit * limits[0], unit * limits[1]])


def test_what_does_not_show_its_scale_is_refused():
    with pytest.raises(ValueError, match=r"no item of y_true has a positive gain.*grades above 0"):
        metric_interval("dcg@5", np.zeros(9), np.arange(9.0))
    falling = get_measure(positional_score, gain="linear", discount=lambda i, n: 2.0 - i, k=4)
    with pytest.raises(ValueError, match=r"negative gain or discount.*pass qid"):
        metric_interval(falling, [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0])
    assert metric_interval("precision@5", np.zeros(9), np.arange(9.0)).low == 0.0


def test_success():
    score = -np.arange(40.0)
    found = metric_interval("success@10", np.arange(40) % 2 == 0, score)
    low, _ = oracle.exact_limits(5, 10, 0.95)
    assert numbers(found)[:3] == pytest.approx([1.0, 1 - (1 - low) ** 10, 1.0])
    found = metric_interval("success@10", np.arange(40) > 20, score)
    assert numbers(found)[:3] == pytest.approx([0.0, 0.0, 0.975])
    # Ties across the tenth place: the chance is at least the expected precision.
    found = metric_interval("success@10", np.arange(40) % 2 == 0, np.arange(40) < 20)
    low, _ = oracle.exact_limits(10, 20, 0.95)
    assert found.low == pytest.approx(low)


# ------------------------------------------------------------------- positives above the negatives


@pytest.mark.parametrize("score", [[5, 4, 3, 2, 1, 0], [2, 2, 2, 1, 1, 0], [3, 1, 2, 1, 2, 0]])
def test_positives_above_the_highest_negative(score):
    y = [1, 1, 0, 1, 0, 1]
    share = oracle.above_all_negatives(y, score)
    found = metric_interval("pos@top", y, score)
    limits = safe_limits(share, 4, 0.95)
    assert numbers(found)[:3] == pytest.approx([4 * x for x in (share, *limits)])
    assert "of new positives above the highest of the 2 negatives seen" in found.target
    found = metric_interval(get_measure("pos@top", normalize=True), y, score)
    assert numbers(found)[:3] == pytest.approx([share, *limits])
    if score[0] == 5:
        found = metric_interval(get_measure("pos@top", normalize=True), y, score, method="exact")
        assert (found.low, found.high) == pytest.approx(oracle.exact_limits(2, 4, 0.95))
    with pytest.raises(ValueError, match="pass 'wilson' or '"):
        metric_interval("pos@top", y, score, method="bootstrap")
    for label in (0, 1):
        with pytest.raises(ValueError, match="items of one class only"):
            metric_interval("pos@top", [label] * 3, [3, 2, 1])


# ------------------------------------------------------------------------------- correlations


@pytest.mark.parametrize(
    ("name", "ties"),
    [
        *((name, "both") for name in ("spearman", "tau_b", "somers_d", "c_index")),
        ("spearman", "none"),
        ("tau_b", "scores"),
        ("somers_d", "grades"),
        ("c_index", "scores"),
    ],
)
def test_influence_on_correlations(name, ties):
    rng = np.random.default_rng(3)
    y = rng.normal(size=120)
    score = y + rng.normal(size=120)
    if ties in ("scores", "both"):
        score = np.round(score)
    if ties in ("grades", "both"):
        y = np.round(y)
    measure = get_measure(name)
    influence = measure.influence_of(measure.lists(y, score))
    found, ((least, most),) = influence.values, influence.ends
    expected = oracle.jackknife(measure, y, score)
    expected -= expected.mean()
    assert found.mean() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02)
    assert least < found.min()
    assert most > 0.0


def test_correlations_that_are_undefined_are_refused():
    with pytest.raises(ValueError, match="all 9 items of y_true have the same relevance"):
        metric_interval("spearman", np.ones(9), np.arange(9.0))


def test_a_perfect_correlation_is_no_certainty():
    found = metric_interval("tau_b", np.arange(20), np.arange(20.0))
    assert found.estimate == 1.0
    assert 0.3 < found.low < 0.9


# ----------------------------------------------------------------------------------- resampling


def difference(y, score):
    if y.min() == y.max():
        return np.nan
    return score[y == 1].mean() - score[y == 0].mean()


def correlation(y, score):
    return float(np.corrcoef(y, score)[0, 1])


def test_measures_of_the_user_are_resampled_if_asked():
    measure = make_measure(difference, name="difference", per_query=False)
    y, score, _ = rows(n=60)
    with pytest.raises(ValueError, match=r"no valid interval.*pass method='bootstrap', or"):
        metric_interval(measure, y, score)
    options = {"method": "bootstrap", "n_resamples": 400, "random_state": 0}
    found = metric_interval(measure, y, score, **options)
    assert found == metric_interval(measure, y, score, **options)
    n_pos = y.sum()
    error = np.sqrt(score[y == 1].var() / n_pos + score[y == 0].var() / (60 - n_pos))
    assert found.standard_error == pytest.approx(error, rel=0.15)
    assert found.width == pytest.approx(3.92 * error, rel=0.2)
    twice = np.tile(np.arange(60), 4)
    together = metric_interval(measure, y[twice], score[twice], groups=twice, **options)
    apart = metric_interval(measure, y[twice], score[twice], **options)
    assert together.width > 1.5 * apart.width
    graded = make_measure(correlation, kind="graded", per_query=False, range=(-1, 1))
    found = metric_interval(graded, y * 2, score, **options)
    assert -1 < found.low < found.estimate < found.high < 1


def test_resampling_is_refused_where_it_shows_nothing():
    constant = make_measure(lambda y, s: 0.5, name="constant", per_query=False)
    options = {"method": "bootstrap", "n_resamples": 99}
    with pytest.raises(ValueError, match=r"0\.5 for all 99 bootstrap samples, so its variance"):
        metric_interval(constant, [0, 1, 1], [1.0, 2.0, 3.0], **options)
    with pytest.raises(ValueError, match=r"n_resamples=99 is too small for level=0\.99"):
        metric_interval(constant, [0, 1, 1], [1.0, 2.0, 3.0], level=0.99, **options)
    measure = make_measure(difference, name="difference", per_query=False, lacking="one class")
    with pytest.raises(ValueError, match=r"undefined for .*one class"):
        metric_interval(measure, [0, 0, 1, 1], [1.0, 2, 3, 4], groups=[0, 0, 1, 1], **options)


def f1_of_top(y_true, y_score):
    k = len(y_true) // 10
    hits = y_true[np.argsort(-y_score, kind="stable")[:k]].sum()
    return 2 * hits / (k + y_true.sum())


def test_measures_of_ones_own_are_compared_by_resampling():
    own = make_measure(f1_of_top, name="F1 of the top", per_query=False)
    rng, differences, found = np.random.default_rng(0), [], []
    for seed in range(150):
        y = rng.permutation(np.arange(400) < 80).astype(int)
        common = rng.normal(size=400) + 1.5 * y
        scores = {"a": common + 0.3 * rng.normal(size=400), "b": common + rng.normal(size=400)}
        differences.append(f1_of_top(y, scores["a"]) - f1_of_top(y, scores["b"]))
        if seed < 60:
            found.append(compare(own, y, scores, method="bootstrap", random_state=seed))
    truth = np.mean(differences)
    assert np.mean([one.low[0] <= truth <= one.high[0] for one in found]) > 0.85
    widths = [one.high[0] - one.low[0] for one in found]
    assert np.mean(widths) == pytest.approx(2 * 1.96 * np.std(differences), rel=0.2)
    repeated = compare(own, y, scores, method="bootstrap", random_state=0)
    assert repeated == compare(own, y, scores, method="bootstrap", random_state=0)
    same = {"a": scores["a"], "b": 2 * scores["a"]}
    with pytest.raises(ValueError, match="pass rankers whose orders differ"):
        compare(own, y, same, method="bootstrap")
    with pytest.raises(ValueError, match="or method='bootstrap' to metric_interval and compare"):
        compare(own, y, scores)
    for name in ("auc", "ap", "partial_auc@fpr0.2"):
        found, exact = (
            compare(name, y, scores, method=x, random_state=0) for x in ("bootstrap", "auto")
        )
        assert found.values == pytest.approx(exact.values)
        assert found.standard_errors == pytest.approx(exact.standard_errors, rel=0.2)
        assert found.high[0] - found.low[0] == pytest.approx(exact.high[0] - exact.low[0], rel=0.2)
    with pytest.raises(ValueError, match="wrong for success@3, which has no influence function"):
        compare("success@3", y, scores, method="bootstrap")
    with pytest.raises(ValueError, match="bootstrap' does not support means over queries"):
        compare(own, y, scores, qid=np.arange(400) // 20, method="bootstrap")
