"""Intervals and comparisons of a list of which some labels are known."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sklearn_rank._labels_in_part._score_path import ScorePath, predicted_labels, score_path_of
from sklearn_rank.inference import LabelDesign, compare, metric_interval, plan_labels
from sklearn_rank.inference._evidence import check_lists
from sklearn_rank.metrics import get_measure, linear_rank_score
from sklearn_rank.metrics._shared import LabelTotal, PartialLabels
from tests.naming import for_each
from tests.oracles import partial_labels as oracle


def population(n=2000, n_pos=200, seed=0):
    """Labels, and the scores of a champion and of a better challenger."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n, int)
    y[:n_pos] = 1
    signal = rng.normal(size=n) + 1.6 * y
    return y, signal + rng.normal(size=n), signal + 0.4 * rng.normal(size=n)


def reviewed(y, champion, k, audit, rng):
    """Labels of the first k of the champion and of a random audit, NaN elsewhere; the design."""
    order = np.argsort(-champion)
    known = np.append(order[:k], rng.choice(order[k:], audit, replace=False))
    labels = np.full(len(y), np.nan)
    labels[known] = y[known]
    return labels, LabelDesign(review_top=k, audit=audit, scores=champion)


def test_constant_scores_leave_no_row_below_a_review():
    y = [1, 0, 1, 0, 1, 0, np.nan, np.nan]
    design = LabelDesign(review_top=2, audit=4, scores=np.zeros(8))
    assert metric_interval("precision@3", y, np.arange(8.0), design=design).low == 0.0


def test_all_labels_known_is_the_value_itself():
    y, champion, _ = population(100, 20)
    design = LabelDesign(np.ones(100))
    found = metric_interval("ap", y, champion, design=design, conditional=True)
    value = metric_interval("ap", y, champion).estimate
    assert (found.low, found.estimate, found.high) == pytest.approx((value,) * 3, abs=1e-12)


def junk_at_the_top(n, rng):
    """Labels and scores of which no monotone model is right: some negatives are above all."""
    y = rng.random(n) < 0.1
    score = rng.normal(size=n) + 1.5 * y
    junk = ~y & (rng.random(n) < 0.02)
    return y, np.where(junk, 10.0 + rng.random(n), score)


def test_average_precision_is_unbiased_where_predicted_labels_are_wrong():
    # Products of the residuals of a block of rows do not cancel, however many labels there are.
    rng = np.random.default_rng(0)
    y, score = junk_at_the_top(4000, rng)
    value, errors, inside = get_measure("ap")(y, score), [], []
    for _ in range(20):
        known = rng.permutation(4000) < 2800
        labels = np.where(known, y, np.nan)
        found = metric_interval("ap", labels, score, design="all", conditional=True)
        errors.append(found.estimate - value)
        inside.append(found.low <= value <= found.high)
    assert abs(np.mean(errors)) < 3 * np.std(errors) / 20**0.5
    assert np.sum(inside) >= 17


def test_predicted_labels_follow_a_block_of_positives():
    rng = np.random.default_rng(0)
    score = np.arange(2000.0)
    block = (score > 1300) & (score < 1500)
    labels = (rng.random(2000) < np.where(block, 0.6, 0.02)).astype(float)
    known = rng.random(2000) < 0.5
    q = predicted_labels(labels, [(score + 0.5) / 2000], PartialLabels(known, np.full(2000, 0.5)))
    assert q[block].mean() > 0.17  # a line has .1
    assert q[~block].mean() < 0.08


@pytest.mark.parametrize("n_found", [0, 4, 30])
def test_limits_of_a_count_are_near_those_of_its_midp_values(n_found):
    # 60 labels of the 400 rows of the top; the other rows do not count.
    rng = np.random.default_rng(n_found)
    y = np.full(1000, np.nan)
    y[rng.choice(400, 60, replace=False)] = np.arange(60) < n_found
    y[400 + rng.choice(600, 60, replace=False)] = 0
    score, strata = -np.arange(1000.0), np.arange(1000) < 400
    design = LabelDesign(strata=strata)
    found = metric_interval("precision@400", y, score, design=design, conditional=True)
    low, high = oracle.midp_limits_of_total(400, 60, n_found, 0.95)
    # Scores predict labels of these rows by chance, which moves limits by so much.
    slack = 0.12 * (high - low) + 2.0
    assert abs(400 * found.low - low) < slack
    assert abs(400 * found.high - high) < slack


def test_the_standard_error_is_that_of_the_design():
    y = np.array([1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0], float)
    n, n_sampled = len(y), 6
    score = -np.arange(float(n))
    labels = np.where(np.arange(n) % 2 == 0, y, np.nan)
    found = metric_interval("precision@12", labels, score, design="all", conditional=True)
    share = found.estimate
    # Over all samples of a list with this share of positives.
    ones = (np.arange(n) < round(share * n)).astype(float) / n
    expected = oracle.deviation_of_weighted_sums(ones, n_sampled)
    assert found.standard_error == pytest.approx(expected, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("n_pos", "audit"), [(20, 300), (200, 50)])
def test_intervals_cover_the_value_with_all_labels(n_pos, audit):
    y, champion, challenger = population(n_pos=n_pos)
    rng = np.random.default_rng(1)
    names = ("precision@40", "recall@40", "ap")
    truth = {name: metric_interval(name, y, challenger).estimate for name in names}
    difference = compare("auc", y, {"a": challenger, "b": champion}).estimate
    n_covered = dict.fromkeys([*names, "difference"], 0)
    for _ in range(40):
        labels, design = reviewed(y, champion, 100, audit, rng)
        for name in names:
            n_covered[name] += truth[name] in metric_interval(
                name, labels, challenger, design=design, conditional=True
            )
        rankers = {"a": challenger, "b": champion}
        found = compare("auc", labels, rankers, design=design)
        n_covered["difference"] += difference in found.interval
    # Intervals of level .95 fall below 33 of 40 with probability .0007.
    assert min(n_covered.values()) >= 33, n_covered


def test_a_good_proxy_narrows_and_a_useless_one_does_not_widen():
    y, champion, _ = population(4000, 600)
    rng = np.random.default_rng(3)
    good = 1 / (1 + np.exp(-(3 * y - 1.5 + rng.normal(size=4000))))
    useless = rng.random(4000)
    widths = {}
    for _ in range(10):
        labels, design = reviewed(y, champion, 100, 400, rng)
        for name, proxy in (("none", None), ("good", good), ("useless", useless)):
            told = replace(design, proxy=proxy)
            found = metric_interval("recall@100", labels, champion, design=told, conditional=True)
            widths.setdefault(name, []).append(found.width)
    none, good, useless = (np.mean(width) for width in widths.values())
    assert good < 0.55 * none
    assert useless < 1.02 * none


@pytest.mark.parametrize("n_certain", [0, 2, 20])
def test_the_variance_allows_for_predictions_of_which_no_label_tells(n_certain):
    # A tenth of the rows is predicted to be positive, of which so many have labels.
    q, known = np.repeat([0.9, 0.05], [40, 360]), np.zeros(400, bool)
    known[:n_certain] = known[40:130] = True
    p, weight = np.repeat([0.5, 0.25], [40, 360]), np.full(400, 1 / 400)
    # Labels that fit the predictions, so that the path starts at its estimate.
    total = LabelTotal(weight, lambda total, _: total)
    path = ScorePath([(1.0, total)], q, PartialLabels(known, p), q)
    expected = oracle.variance_of_estimate(weight, p, q, known)
    assert path.estimate.deviation**2 == pytest.approx(expected, rel=1e-9)


def test_limits_hold_where_a_proxy_misleads_below_the_review():
    # A fourth of the samples holds no row of which the proxy is wrongly certain.
    missed = 0
    for seed in range(60, 120):
        rng = np.random.default_rng(seed)
        y = rng.random(2000) < 0.06
        score = rng.normal(size=2000) + 1.5 * y
        labels, design = reviewed(y.astype(float), score, 100, 20, rng)
        low = 0.02 * np.exp(0.3 * rng.normal(size=2000) - y)
        proxy = np.where(~y & (rng.random(2000) < 0.05), 0.9, low)
        in_review = np.argsort(np.argsort(-score)) < 100
        right = 1 / (1 + np.exp(1.5 - 3 * y - rng.normal(size=2000)))
        told = replace(design, proxy=np.where(in_review, right, proxy))
        found = metric_interval("recall@100", labels, score, design=told, conditional=True)
        missed += not found.low <= get_measure("recall@100")(y, score) <= found.high
    assert missed <= 5


def test_rows_in_any_order_and_labels_of_any_kind():
    y, champion, challenger = population(300, 60)
    rng = np.random.default_rng(6)
    labels, design = reviewed(y, champion, 30, 60, rng)
    expected = metric_interval("ap", labels, challenger, design=design, conditional=True)
    order = rng.permutation(300)
    shuffled = LabelDesign(review_top=30, audit=60, scores=champion[order])
    found = metric_interval(
        "ap", labels[order], challenger[order], design=shuffled, conditional=True
    )
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-6)
    column = pd.Series(labels)
    kinds = {
        "masked": column.astype("Int64"),
        "objects": column.astype(object).where(column.notna(), None),
        "words": column.map({1.0: "yes", 0.0: "no"}),
    }
    for name, kind in kinds.items():
        options = {"pos_label": "yes" if name == "words" else None, "conditional": True}
        found = metric_interval("ap", kind, challenger, design=design, **options)
        assert found == expected, name


Y = [1, np.nan, 0, 1, np.nan, 0, np.nan, np.nan]
SCORE = np.arange(8.0)[::-1]
STRATA = [0, 0, 0, 0, 1, 1, 1, 1]


def predicted(proxy):
    """A simple random sample of all rows, and predictions."""
    return LabelDesign(strata=np.zeros(len(proxy)), proxy=proxy)


@for_each(
    ("arguments", "message"),
    [
        ({"design": None}, r"pass all rows and design=, a LabelDesign"),
        ({"design": "none"}, "must be a LabelDesign, such as"),
        ({"design": LabelDesign(np.full(8, 2.0))}, r"is 2 at row 0, which is not in \(0, 1\]"),
        ({"design": LabelDesign(np.r_[0.0, np.full(7, 0.5)])}, "is 0 at row 0"),
        (
            {"design": LabelDesign(np.r_[0.5, 1.0, np.full(6, 0.5)])},
            "1 at row 1, which has no label",
        ),
        ({"design": LabelDesign(np.full(7, 0.5))}, "has 7 entries, but must have 8"),
        (
            {"design": LabelDesign(strata=STRATA, sizes={0: 3, 1: 2})},
            "2 labels in stratum 1, but 1",
        ),
        (
            {"design": LabelDesign(strata=STRATA, sizes={0: 3, 1: 1, 2: 5})},
            "5 labels in stratum 2, but 0",
        ),
        ({"design": LabelDesign(strata=[0, 0, 0, 0, 1, 1, 2, 2])}, "no row of the part of row 6"),
        (
            {"design": LabelDesign(review_top=2, scores=SCORE)},
            "row 1 is among them and has no label",
        ),
        ({"design": LabelDesign(review_top=1, audit=2, scores=SCORE)}, "audit=2, but 3 rows"),
        ({"design": LabelDesign(review_top=9, scores=SCORE)}, "from 1 to 8"),
        ({"design": LabelDesign(review_top=1, scores=SCORE)}, "3 rows below .* pass audit=3 if"),
        ({"design": LabelDesign(pool=np.ones(8))}, "pool is 1 at row 1, which has no label"),
        ({"design": LabelDesign(pool=SCORE > 6)}, "pool is 0 at row 2, which has a label"),
        ({"design": predicted(SCORE)}, "proxy is 7 at row 0"),
        ({"design": predicted([0.5] * 7 + [np.nan])}, "proxy is nan at row 7"),
        ({"design": predicted([1, 0.5, 0, 1, 0.5, 0, 0.5, 0.5])}, "cross_val_predict"),
        (
            {"design": LabelDesign(review_top=4, scores=~np.isnan(Y)), "conditional": False},
            "leave conditional out",
        ),
        ({"design": "all", "conditional": False, "measure": "dcg"}, "no influence function"),
        (
            {"design": "all", "sample_weight": np.ones(8), "weights": "frequency"},
            "leave sample_weight out",
        ),
        ({"design": "all", "method": "wilson"}, "leave method out"),
        ({"design": "all", "qid": STRATA, "method": "bca"}, "leave method out"),
        ({"design": "all", "measure": "rr"}, "rr is no known function of a sum over labels"),
        (
            {
                "design": "all",
                "measure": get_measure(linear_rank_score, phi="wilcoxon", ties="max"),
                "y_score": [1.0] * 8,
            },
            "leave out ties",
        ),
        ({"design": "all", "y_true": [3, *Y[1:]], "measure": "dcg"}, "has the grade 3"),
        ({"design": "all", "y_true": [np.nan] * 8}, "no label at all"),
    ],
)
def test_what_contradicts_the_labels_is_refused(arguments, message):
    call = {"measure": "auc", "y_true": Y, "y_score": SCORE} | arguments
    with pytest.raises((ValueError, TypeError), match=message):
        metric_interval(**call)


def test_labels_of_the_first_rows_are_no_random_sample():
    y, champion, challenger = population()
    first = np.argsort(-champion)[:200]
    labels = np.full(len(y), np.nan)
    labels[first] = y[first]
    for design, message in (
        ("all", "do not lie among the scores as a random sample"),
        (LabelDesign(np.full(len(y), 0.1)), "The 200 rows with labels of probability 0.1 do not"),
        (
            LabelDesign(review_top=100, audit=100, scores=champion),
            "The 100 rows with labels below the first",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            metric_interval("auc", labels, challenger, design=design)


@for_each(
    ("arguments", "message"),
    [
        ({}, "got nothing"),
        ({"strata": STRATA, "review_top": 2}, "strata and review_top"),
        ({"review_top": 2}, "pass its scores"),
        ({"strata": STRATA, "audit": 2}, "audit belongs to review_top"),
        ({"review_top": True, "scores": SCORE}, "review_top=True must be a whole number"),
        ({"strata": STRATA, "sizes": [2, 1]}, "sizes is a list, but must be a mapping"),
        ({"batches": []}, "batches must be pairs"),
        ({"batches": [LabelDesign(np.ones(8))]}, "batches must be pairs"),
    ],
)
def test_a_design_is_described_in_one_way(arguments, message):
    with pytest.raises(TypeError, match=message):
        LabelDesign(**arguments)


def test_comparisons_of_other_kinds_take_no_design():
    with pytest.raises(ValueError, match="leave out method, and pass one array"):
        compare("auc", Y, {"a": SCORE, "b": -SCORE}, design="all", method="swap")


def two_batches(measure, seed):
    """Labels and designs of a review with an audit, and of a plan that was made with them."""
    y, champion, challenger = population()
    rng = np.random.default_rng(seed)
    first, design = reviewed(y, champion, 100, 150, rng)
    plan = plan_labels(measure, challenger, budget=150, y_true=first, random_state=seed)
    second = first.copy()
    second[plan.chosen] = y[plan.chosen]
    return [(design, first), (plan.design, second)]


def test_weights_of_batches_stand_for_all_rows():
    weights = []
    for seed in range(60, 120):
        batches = two_batches("auc", seed)
        weights.append(LabelDesign(batches=batches).sample_weight(batches[1][1]))
    y, champion, _ = population()
    mean, error = np.mean(weights, axis=0), np.std(weights, axis=0) / 60**0.5
    for rows in (y == 1, champion > 0.0, np.ones(len(y), bool)):
        sums = np.array(weights)[:, rows].sum(axis=1)
        assert abs(sums.mean() - rows.sum()) < 3.0 * sums.std() / 60**0.5
    assert (np.abs(mean - 1.0) < 6.0 * error + 1e-9).mean() > 0.95


def test_batches_are_as_narrow_as_the_better_of_them():
    _, _, challenger = population()
    widths = []
    for seed in range(6):
        batches = two_batches("auc", seed)
        joined = (LabelDesign(batches=batches), batches[1][1])
        intervals = [
            metric_interval("auc", y, challenger, design=design, conditional=True)
            for design, y in (*batches, joined)
        ]
        widths.append([interval.high - interval.low for interval in intervals])
    first, second, both = np.mean(widths, axis=0)
    assert both < 0.95 * min(first, second)
    # A plan that labels all rows of the top leaves no doubt.
    batches = two_batches("precision@100", 0)
    design = LabelDesign(batches=batches)
    interval = metric_interval(
        "precision@100", batches[1][1], challenger, design=design, conditional=True
    )
    value = metric_interval("precision@100", population()[0], challenger).estimate
    assert (interval.low, interval.high) == pytest.approx((value, value))


def test_hypotheses_keep_the_labels_that_the_last_batch_had_before_it():
    batches, (_, _, score) = two_batches("ap", 0), population()
    first, second = batches[0][1], batches[1][1]
    design = LabelDesign(batches=batches)
    path = score_path_of(check_lists(get_measure("ap"), second, [score], design=design))
    before = np.isfinite(first)
    np.testing.assert_allclose(path.at_estimate[before], first[before], atol=1e-4)


def test_batches_that_contradict_each_other_are_refused():
    (design, first), (plan, second) = two_batches("auc", 0)
    half = LabelDesign(np.full(2000, (~np.isnan(second)).mean()))
    score = population()[2]
    for batches, message in (
        ([(half, second), (plan, first)], "lacks a label of a batch"),
        ([(design, first), (design, second)], "pass the design of the plan"),
        ([(design, first)], "end with other labels"),
        ([(design, first), (half, second)], "below 1 for a row"),
    ):
        with pytest.raises(ValueError, match=message):
            metric_interval("auc", second, score, design=LabelDesign(batches=batches))


@pytest.mark.parametrize("name", ["auc", "ap", "recall@150", "precision@top0.1"])
def test_rows_that_are_labelled_together_count_once(name):
    # Each row is repeated, and its repetitions have a label together, or none.
    rng = np.random.default_rng(0)
    y = rng.random(1500) < 0.15
    score = 1.2 * y + rng.normal(size=1500)
    y = np.where(rng.random(1500) < 0.2, y, np.nan)
    options = {"design": LabelDesign(np.full(1500, 0.2)), "conditional": True}
    once = metric_interval(name, y, score, **options)
    name = name.replace("150", "600")
    rows = (np.repeat(y, 4), np.repeat(score, 4))
    options = {"design": LabelDesign(np.full(6000, 0.2)), "conditional": True}
    together = metric_interval(name, *rows, groups=np.repeat(np.arange(1500), 4), **options)
    alone = metric_interval(name, *rows, **options)
    width = once.high - once.low
    assert together.high - together.low == pytest.approx(width, rel=0.05)
    assert alone.high - alone.low == pytest.approx(width / 2, rel=0.1)


OF_ONE_LIST = (
    "auc ap precision@5 precision@top0.1 recall@20 f1@20 lift@0.1 enrichment@0.05 tpr@fpr0.1"
    " bedroc@20 r_precision partial_auc@fpr0.1"
)


@for_each("name", OF_ONE_LIST.split())
def test_with_all_labels_a_design_changes_no_limit_of_the_population(name):
    y, _, challenger = population(300, 40)
    of_lists = metric_interval(name, y, challenger, conditional=False)
    found = metric_interval(name, y, challenger, design=LabelDesign(np.ones(len(y))))
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (of_lists.estimate, of_lists.low, of_lists.high), rel=1e-6
    )


@pytest.mark.parametrize("name", ["auc", "ap", "precision@top0.1"])
def test_limits_of_a_population_add_the_variance_of_its_lists(name):
    y, champion, challenger = population()
    of_lists = metric_interval(name, y, challenger, conditional=False)
    # With labels in part both variances add up.
    labels, design = reviewed(y, champion, 100, 380, np.random.default_rng(7))
    of_list, of_population = (
        metric_interval(name, labels, challenger, design=design, conditional=fixed)
        for fixed in (True, None)
    )
    square = (of_lists.estimate - of_lists.low) ** 2 + (of_list.estimate - of_list.low) ** 2
    assert of_population.estimate - of_population.low == pytest.approx(square**0.5, rel=0.1)


@pytest.mark.parametrize("is_planned", [False, True])
def test_a_better_ranker_is_better_in_the_population(is_planned):
    # Of 16 pairs of equally good rankers one is expected, whatever part of the labels is known.
    better = 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        y = rng.random(800) < 0.15
        signal = rng.normal(size=800) + 1.5 * y
        scores = {name: signal + 0.7 * rng.normal(size=800) for name in "ab"}
        labels, design = np.where(rng.permutation(800) < 20, np.nan, y), "all"
        if is_planned:
            labels = np.where(scores["a"] < np.sort(scores["a"])[-60], np.nan, y)
            asked = {"y_true": labels, "compare_with": scores["b"], "random_state": seed}
            plan = plan_labels("precision@top0.05", scores["a"], budget=40, **asked)
            labels[plan.chosen], design = y[plan.chosen], plan.design
        (conclusion,) = compare("precision@top0.05", labels, scores, design=design).conclusions
        better += "better" in conclusion
    assert better <= 3


def test_weights_let_the_labelled_rows_stand_for_all():
    y, champion, _ = population()
    labels, design = reviewed(y, champion, 100, 380, np.random.default_rng(7))
    weight = design.sample_weight(labels)
    assert weight.sum() == pytest.approx(len(y))
    assert ((weight > 0) == ~np.isnan(labels)).all()
    assert set(weight[np.argsort(-champion)[:100]]) == {1.0}
    assert weight.max() == pytest.approx(1900 / 380)


@pytest.mark.parametrize(
    ("name", "with_proxy"),
    [
        ("recall@500", True),
        *(
            pytest.param(name, with_proxy, marks=pytest.mark.slow)
            for name, with_proxy in (
                ("ap", False),
                ("auc", True),
                ("ndcg@500", False),
            )
        ),
    ],
)
def test_rows_of_long_lists_are_joined_without_a_change(name, with_proxy, monkeypatch):
    y, champion, challenger = population(5000, 300)
    rng = np.random.default_rng(1)
    order = np.argsort(-champion)
    labels = np.full(len(y), np.nan)
    bands = np.split(order, [300, 3000])
    for band, n_drawn in zip(bands, (300, 200, 300), strict=True):
        rows = rng.choice(band, n_drawn, replace=False)
        labels[rows] = y[rows]
    strata = np.empty(len(y), dtype=int)
    for i, band in enumerate(bands):
        strata[band] = i
    proxy = 1.0 / (1.0 + np.exp(4.0 - 2.0 * y - rng.normal(size=len(y)))) if with_proxy else None
    options = {"design": LabelDesign(strata=strata, proxy=proxy)}
    found = []
    for most in (2**12, 2**20):
        monkeypatch.setattr("sklearn_rank._labels_in_part._score_path.MANY_ROWS", most)
        single = metric_interval(name, labels, challenger, **options)
        both = compare(name, labels, {"a": challenger, "b": champion}, **options)
        found.append((single.low, single.estimate, single.high, both.low[0], both.high[0]))
    joined, alone = np.array(found)
    assert (joined != alone).any()
    widths = np.repeat([alone[2] - alone[0], alone[4] - alone[3]], [3, 2])
    np.testing.assert_allclose(joined / widths, alone / widths, atol=0.01)


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_short_lists_of_one_class_have_limits_or_are_refused(label):
    labels = np.full(30, np.nan)
    labels[::2] = label
    score = np.arange(30.0)
    found = metric_interval("auc", labels, score, design="all")
    assert found.low < 0.05 or found.high > 0.95
    assert "this list" in found.target
    with pytest.raises(ValueError, match=r"of one class, .* or leave conditional out"):
        metric_interval("auc", labels, score, design="all", conditional=False)
    for name in ("auc", "tpr@fpr0.2", "bedroc@5"):
        with pytest.raises(ValueError, match=f"{name} is not defined for the labels of this"):
            metric_interval(name, [label], [1.0], design="all")


@pytest.mark.parametrize("name", ["bedroc@5", "bedroc@20", "pnorm@4", "rie@5"])
def test_the_worst_order_is_no_other_convention(name):
    # The value is 0 but for rounding, which is not by how much conventions differ.
    for n in (6, 9, 12):
        for n_pos in range(2, n - 1, 3):
            labels = (np.arange(n) >= n - n_pos).astype(float)
            labels[0] = np.nan
            found = check_lists(get_measure(name), labels, [-np.arange(n)], design="all")
            assert (
                abs(found[0].value - found[0].label_function.at(np.nan_to_num(labels)).value)
                < 1e-9
            )


def test_a_design_that_the_labels_contradict_is_refused():
    y, champion, challenger = population(1000, 100)
    rng = np.random.default_rng(0)
    order = np.argsort(-challenger)

    def ask(known, design):
        labels = np.where(np.isin(np.arange(1000), known), y, np.nan)
        return metric_interval("auc", labels, challenger, design=design)

    # Another number of labels than the probabilities say.
    with pytest.raises(ValueError, match=r"makes 990 labels expected, but 270 rows have one"):
        ask(rng.permutation(1000)[:270], LabelDesign(np.full(1000, 0.99)))
    # The first or the last rows, said to be random; and others that were chosen by another score.
    for rows in (order[:10], order[:30], order[-30:], np.argsort(-champion)[:60]):
        with pytest.raises(ValueError, match="do not lie among the scores as a random sample"):
            ask(rows, "all")
        strata = np.repeat([0, 1], 500)
        known = np.append(order[order < 500][:30], 500 + rng.permutation(500)[:30])
        with pytest.raises(ValueError, match="do not lie among the scores as a random sample"):
            ask(known, LabelDesign(strata=strata))
    # A plan, of which only the positives came back, or other rows.
    before = rng.permutation(1000)[:100]
    start = np.where(np.isin(np.arange(1000), before), y, np.nan)
    plan = plan_labels("auc", challenger, budget=100, y_true=start, random_state=0)
    others = np.setdiff1d(np.arange(1000), before)[:100]
    for rows in (plan.chosen[y[plan.chosen] == 1], others):
        with pytest.raises(ValueError, match=r"label those that were chosen|109 rows have"):
            ask(np.append(before, rows), plan.design)
    assert ask(np.append(before, plan.chosen), plan.design).low > 0.5


def test_labels_of_whole_groups_or_of_few_rows_are_not_refused():
    rng, user = np.random.default_rng(0), np.repeat(np.arange(20), 40)
    y = rng.random(800) < 0.3
    score = np.repeat(rng.normal(size=20), 40) + y + rng.normal(size=800) / 4
    for seed in range(8):
        drawn = np.random.default_rng(seed).random(20) < 0.3
        if drawn.any():
            labels = np.where(drawn[user], y, np.nan)
            design = LabelDesign(np.full(800, 0.3))
            metric_interval("auc", labels, score, design=design, groups=user, conditional=True)
    # Eight labels where one is expected: seldom, but not out of the question.
    labels = np.where(rng.permutation(800) < 8, y, np.nan)
    metric_interval("auc", labels, score, design=LabelDesign(np.full(800, 1.25e-3)))


@pytest.mark.parametrize("n_labels", [10, 100, 900])
def test_random_samples_of_any_size_are_not_refused(n_labels):
    y, _, challenger = population(1000, 100)
    for seed in range(20):
        known = np.random.default_rng(seed).permutation(1000) < n_labels
        score = np.round(challenger) if seed % 2 else challenger
        labels = np.where(known, y, np.nan)
        metric_interval("precision@top0.1", labels, score, design="all", conditional=True)
