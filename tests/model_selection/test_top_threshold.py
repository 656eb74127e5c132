"""Cut-offs with a promise: the definition, how often they fail, batches, and habits."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy import stats
from scipy.special import expit, ndtr
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_rank._promises._top_threshold import CutOffs, Goal
from sklearn_rank.bounds._cutoffs import chance_of_amounts
from sklearn_rank.exceptions import ThresholdWarning
from sklearn_rank.inference import ConfidenceSequence, batch_limits
from sklearn_rank.inference._evidence import check_groups
from sklearn_rank.metrics import net_benefit
from sklearn_rank.model_selection import TopThresholdClassifier
from tests.model_selection.estimators import Column
from tests.oracles import cutoffs as oracle


def rows(seed=0, n=2000, share=0.2, shift=2.5, digits=None):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    X = rng.normal(size=(n, 2))
    X[:, 0] += shift * y
    return (X if digits is None else np.round(X, digits)), y


def prefit(X, y, **options):
    return TopThresholdClassifier(Column().fit(X, y), cv="prefit", **options).fit(X, y)


# -------------------------------------------------------------------------------- the definition


@pytest.mark.parametrize(("seed", "digits"), [(0, None), (1, 1)])
def test_certified_cut_offs_are_those_of_the_definition(seed, digits):
    X, y = rows(seed, 64, 0.5, digits=digits)
    cutoffs = CutOffs.of(X[:, 0], y == 1, None)
    for name, value in (("precision", 0.625), ("recall", 0.75), ("false positive rate", 0.25)):
        found = cutoffs.n_flagged[cutoffs.certified(Goal(name, value), 0.125)]
        if name == "precision":
            options = value, 0.125, 0.6, 1.1
            expected = oracle.precision_sequence(y, X[:, 0], *options)
        else:
            expected = oracle.rate_cutoffs(y, X[:, 0], value, 0.125, name)
        assert found.tolist() == expected
        assert len(expected) > 0


@pytest.mark.parametrize(
    ("name", "digits"),
    [
        ("min_precision", 1),
        ("min_recall", None),
        ("max_fpr", 1),
        ("min_value", None),
        ("groups", None),
    ],
)
def test_a_curve_of_guarantees_flags_at_each_goal_what_a_fit_with_the_goal_flags(name, digits):
    X, y = rows(3, 600, digits=digits)
    params = {"groups": np.arange(600) // 2} if name == "groups" else {}
    if name == "min_value":
        params["value"] = np.column_stack([1.0 + X[:, 1] ** 2, np.full(600, -1.0)])
    goal = "min_precision" if name == "groups" else name
    model, shown = Column().fit(X, y), 0
    for value in (0.6,) if name == "groups" else (0.4, 0.6):
        flag = TopThresholdClassifier(model, cv="prefit", **{goal: value})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            table = flag.fit(X, y, **params).guarantees()
        n_flagged, observed, guaranteed = table.values()
        chosen = flag.report_.n_flagged
        shown += 0 < chosen < 600
        sign = -1.0 if name == "max_fpr" else 1.0
        flagged = n_flagged[sign * (guaranteed - value) >= 0.0]
        if name in ("min_recall", "max_fpr"):
            last = flagged.min(initial=600) if name == "min_recall" else flagged.max(initial=0)
            assert chosen == last
        else:
            # A stricter goal tests other cut-offs, one of which may lie a step lower.
            assert chosen <= flagged.max(initial=0) <= 1.1 * chosen
        # Above the rows that are tested the values are assumed to be no lower.
        tested = n_flagged >= max(chosen, 64)
        assert not (sign * (guaranteed - observed) > 1e-12)[tested].any()
    assert shown >= 1


def test_curves_of_a_batch_are_its_limits():
    X, y = rows(4, 1000)
    flag = prefit(X[:500], y[:500], min_precision=0.5, capacity=100, random_state=0)
    table = flag.guarantees(X[500:])
    limits = flag.limits(X[500:])
    np.testing.assert_array_equal(table["precision guaranteed"], limits.low / limits.k)
    chosen = table["n_flagged"][table["precision guaranteed"] >= 0.5].max()
    assert chosen == np.count_nonzero(flag.predict(X[500:])) > 0
    with pytest.raises(ValueError, match="pass the rows of a batch as X"):
        flag.guarantees()
    with pytest.raises(ValueError, match="Nothing is promised"):
        prefit(X, y, capacity=5).guarantees()


@pytest.mark.parametrize("digits", [None, 0])
def test_a_cut_off_flags_the_rows_above_the_next_lower_score(digits):
    X, y = rows(1, 300, digits=digits)
    cutoffs = CutOffs.of(X[:, 0], y == 1, None)
    for threshold, n in zip(cutoffs.threshold, cutoffs.n_flagged, strict=True):
        assert np.count_nonzero(X[:, 0] >= threshold) == n
        below = X[X[:, 0] < threshold, 0]
        assert not len(below) or np.nextafter(below.max(), np.inf) == threshold


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_scores_of_any_type_are_flagged_as_the_report_says(kind):
    for seed in range(8):
        X, y = rows(seed, 600, share=0.3, shift=2.0, digits=1)
        X = X.astype(kind)
        for options in ({"min_precision": 0.6}, {"min_recall": 0.7}, {"max_fpr": 0.1}):
            flag = prefit(X, y, level=0.9, **options)
            flagged, n = flag.predict(X), flag.report_.n_flagged
            assert 0 < n == np.count_nonzero(flagged) < 600
            assert n == np.count_nonzero(X[:, 0] >= flag.threshold_)
            sequence = ConfidenceSequence("precision@top0.05", threshold=flag.threshold_)
            found = sequence.update(y, X[:, 0]).estimate
            assert found == flag.report_.n_found / n
            # Scores of another type are the same numbers in the coarser one.
            for other in (np.float16, np.float32, np.float64):
                coarse = X[:, :1].astype(other)
                np.testing.assert_array_equal(flag.predict(coarse), flagged)
        # The threshold of a decision curve is rounded as the scores were, and none needs it.
        probability = expit(X[:, 0]).astype(kind)
        cutoffs = CutOffs.of(probability, y == 1)
        for place in range(0, len(cutoffs.threshold) - 1, 7):
            at, n, n_pos = (
                float(x[place]) for x in (cutoffs.threshold, cutoffs.n_flagged, cutoffs.n_pos)
            )
            if at < 1.0:
                expected = (n_pos - (n - n_pos) * at / (1.0 - at)) / 600
                assert net_benefit(y, probability, threshold=at) == pytest.approx(expected)


@pytest.mark.parametrize("digits", [None, 0])
def test_effects_of_groups_are_those_of_pairs_of_rows(digits):
    X, y = rows(2, 60, digits=digits)
    groups = np.random.default_rng(0).integers(0, 12, 60) ** 2 // 12
    cutoffs = CutOffs.of(X[:, 0], y == 1, check_groups(groups, 60))
    for name, goal in (("precision", 0.5), ("recall", 0.4), ("false positive rate", 0.3)):
        _, n = CutOffs.of(X[:, 0], y == 1).hits(Goal(name, goal))
        of_class = y == (name != "false positive rate")
        places = range(len(n))
        if name != "precision":
            above = [np.count_nonzero(of_class & (X[:, 0] >= at)) for at in cutoffs.threshold]
            place = min(k for k in places if above[k] >= goal * of_class.sum())
            places = [place] * len(n)
        expected = []
        for place in places:
            flagged = X[:, 0] >= cutoffs.threshold[place]
            counted = flagged if name == "precision" else of_class
            counts = (flagged & of_class)[counted]
            expected.append(oracle.effect_of_groups(counts, groups[counted], name != "precision"))
        np.testing.assert_allclose(n / cutoffs.hits(Goal(name, goal))[1], expected)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.95])
def test_chances_with_groups_have_the_quantiles_of_student_less_what_is_skew(share):
    X, y = rows(5, 400, share=0.4)
    groups = np.random.default_rng(0).integers(0, 20, 400) ** 2 // 20
    effects = np.random.default_rng(1).normal(size=20)
    score = X[:, 0] + effects[groups]
    cutoffs = CutOffs.of(score, y == 1, check_groups(groups, 400))
    for name, positive in (("recall", True), ("false positive rate", False)):
        goal = Goal(name, share if positive else 1.0 - share)
        hits, n = cutoffs.hits(goal)
        of_class = groups[(y == 1) == positive]
        sizes = np.bincount(of_class)
        degrees = sizes.sum() ** 2 / np.sum(sizes**2) - 1.0
        some = hits > 0.0
        z = stats.norm.ppf(stats.beta.cdf(share, hits, n - hits + 1.0))[some]
        skewness = oracle.skewness_of_groups(of_class, len(of_class) / n[0], n[0], share)
        assert (skewness > 0.0) == (share > 0.5)
        # The cube whose slope is that of the root of Edgeworth's expansion, without its end.
        z = z + skewness * (2.0 * z**2 + 1.0) / 6.0 + skewness**2 * z**3 / 27.0
        found = cutoffs.chances(goal, 1.0)[some]
        np.testing.assert_allclose(found, stats.t(degrees).cdf(z), rtol=1e-6, atol=1e-12)
        assert (np.diff(found[np.argsort(hits[some], kind="stable")]) <= 1e-12).all()


def test_groups_of_equal_rows_count_as_one_row_each():
    goals = Goal("precision", 0.7), Goal("recall", 0.6), Goal("false positive rate", 0.2)
    for seed in range(30):
        X, y = rows(seed, 150 + 7 * seed, share=0.4, shift=2.0)
        alone = CutOffs.of(X[:, 0], y == 1)
        single, *copies = (
            CutOffs.of(X[row, 0], y[row] == 1, check_groups(row, len(row)))
            for row in (np.repeat(np.arange(len(y)), times) for times in (1, 2, 3))
        )
        for goal in goals:
            kept = single.certified(goal, 0.05)
            for copied in copies:
                np.testing.assert_array_equal(copied.certified(goal, 0.05), kept)
            # A share that is tested once has Student's quantile with groups, which is larger.
            of_rows = alone.certified(goal, 0.05)
            assert not (kept & ~of_rows).any()
            assert np.count_nonzero(of_rows & ~kept) <= (
                0 if goal.name == "precision" else 1 + len(y) // 50
            )


# --------------------------------------------------------------------------------- what is kept


@pytest.mark.parametrize(
    ("options", "fails", "digits"),
    [
        ({"min_precision": 0.7}, lambda precision, recall, fpr: precision < 0.7, None),
        ({"min_recall": 0.6}, lambda precision, recall, fpr: recall < 0.6, None),
        ({"max_fpr": 0.05}, lambda precision, recall, fpr: fpr > 0.05, None),
        (
            {"min_precision": 0.5, "min_recall": 0.5},
            lambda precision, recall, fpr: precision < 0.5 or recall < 0.5,
            0,
        ),
    ],
)
def test_promises_fail_as_often_as_they_may(options, fails, digits):
    X_new, y_new = rows(10**6, 50_000, digits=digits)
    failures, n_runs = 0, 80
    for seed in range(n_runs):
        X, y = rows(seed, 500, digits=digits)
        flag = prefit(X, y, level=0.8, **options)
        flagged, positive = X_new[:, 0] >= flag.threshold_, y_new == 1
        hits = np.count_nonzero(flagged & positive)
        precision = hits / flagged.sum() if flagged.any() else 1.0
        fpr = (flagged.sum() - hits) / np.count_nonzero(~positive)
        failures += fails(precision, hits / positive.sum(), fpr)
    assert failures <= 0.2 * n_runs + 3 * np.sqrt(0.16 * n_runs)
    if digits is None and len(options) == 1:
        # It does not give away much.
        assert failures >= 0.05 * n_runs


def shares_with_groups(sizes, effect, n_runs, *, times=1.0, place=0.0, seed=0):
    """Rates where .1 is promised, and recalls where .8 is, at level .9. Shape (n_runs, 2).

    The scores of the largest tenth of the groups vary several times as much, and the logarithm of
    the size moves scores.
    """
    rng, codes, found = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes), []
    spread = np.where(np.arange(len(sizes)) < len(sizes) // 10, times, 1.0)
    centre = place * np.log(sizes)
    for _ in range(n_runs):
        positive = rng.random(len(codes)) < 0.3
        score = effect * rng.normal(size=len(sizes))[codes] + rng.normal(size=len(codes))
        score = centre[codes] + spread[codes] * score + 2.0 * positive
        cutoffs = CutOffs.of(score, positive, check_groups(codes, len(codes)))
        shares = []
        for i, goal in enumerate([Goal("false positive rate", 0.1), Goal("recall", 0.8)]):
            kept = np.flatnonzero(cutoffs.certified(goal, 0.1))
            threshold = (np.inf, -np.inf)[i]
            if len(kept):
                threshold = cutoffs.threshold[kept[i - 1]]
            above = ndtr((centre + 2.0 * i - threshold) / (spread * np.sqrt(1.0 + effect**2)))
            shares.append(np.average(above, weights=sizes))
        found.append(shares)
    return np.array(found)


def failures_with_groups(sizes, effect, n_runs, **options):
    """How often a false positive rate of .1, and a recall of .8, are not kept at level .9."""
    rate, recall = shares_with_groups(sizes, effect, n_runs, **options).T
    return np.array([np.mean(rate > 0.1), np.mean(recall < 0.8)])


def test_promises_are_kept_with_groups_of_unequal_sizes():
    sizes = np.maximum(270 // np.arange(1, 151), 1)
    assert (failures_with_groups(sizes, 1.0, 150) <= 0.11).all()


@pytest.mark.parametrize("options", [{"times": 3.0}, {"place": 0.7}], ids=str)
def test_promises_are_kept_where_large_groups_differ(options):
    sizes = np.maximum(280 // np.arange(1, 41), 1)
    assert (failures_with_groups(sizes, 1.0, 150, **options) <= 0.11).all()


def test_promises_with_groups_that_are_alike_give_little_away():
    rate, recall = shares_with_groups(np.full(100, 12), 0.3, 40).mean(axis=0)
    assert 0.08 < rate < 0.1
    assert 0.8 < recall < 0.85


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "effect"),
    [
        (np.full(20, 40), 1.0),
        (np.full(100, 12), 0.3),
        (np.maximum(280 // np.arange(1, 41), 1), 0.3),
        (np.r_[400, np.full(199, 4)], 1.0),
    ],
    ids=lambda x: str(x) if isinstance(x, float) else f"{len(x)} of {max(x)}",
)
def test_promises_are_kept_with_groups_of_any_sizes(sizes, effect):
    n_runs = 1000
    most = 0.1 + 3 * np.sqrt(0.09 / n_runs)
    assert (failures_with_groups(sizes, effect, n_runs) <= most).all()


@pytest.mark.slow
def test_a_constant_precision_below_the_goal_is_hardly_ever_shown():
    rng, n_runs, wrong = np.random.default_rng(0), 1500, 0
    for _ in range(n_runs):
        positive = rng.random(400) < 0.599
        cutoffs = CutOffs.of(-np.arange(400.0), positive, None)
        wrong += cutoffs.certified(Goal("precision", 0.6), 0.1).any()
    assert 0.04 * n_runs < wrong <= 0.1 * n_runs


def test_groups_are_held_out_together_and_ask_for_more_rows():
    X, y = rows(3, 3000)
    groups = np.arange(3000) // 2
    X, y = X[np.repeat(np.arange(1500), 2)], np.repeat(y[:1500], 2)  # Each row twice
    alone = TopThresholdClassifier(LogisticRegression(), min_precision=0.7, random_state=0)
    alone.fit(X, y)
    grouped = sklearn.base.clone(alone).fit(X, y, groups=groups)
    rows_of_group = np.unique(grouped.calibration_scores_, return_counts=True)[1]
    assert (rows_of_group == 2).all()
    assert grouped.threshold_ > alone.threshold_
    assert "asymptotic in the groups" in str(grouped.report_)
    split = GroupKFold(2).split(X, y, groups)
    folds = TopThresholdClassifier(LogisticRegression(), min_precision=0.7, cv=list(split))
    assert folds.fit(X, y, groups=groups).calibration_scores_.shape == (3000,)


# --------------------------------------------------------------------------------------- batches


def test_a_capacity_flags_the_first_rows_of_a_batch_with_ties_at_random():
    X, y = rows(4, digits=0)
    flag = prefit(X, y, capacity=100, random_state=0)
    flagged = flag.predict(X) == 1
    assert flagged.sum() == 100
    assert X[flagged, 0].min() >= X[~flagged, 0].max()
    np.testing.assert_array_equal(flag.predict(X) == 1, flagged)
    assert (prefit(X, y, capacity=100, random_state=1).predict(X) != flagged).any()
    assert prefit(X, y, capacity=0.01).predict(X[:1000]).sum() == 10
    assert prefit(X, y, capacity=5000).predict(X).sum() == 2000
    assert prefit(X, y, capacity=5).predict(X[:0]).shape == (0,)
    limited = prefit(X, y, capacity=10, max_fpr=0.2)
    assert limited.predict(X).sum() == 10
    assert limited.predict(np.full((50, 2), -9.0)).sum() == 0
    assert str(flag.report_) == "Flags the first rows of a batch, at most 100 rows of a batch."


def test_rows_one_by_one_are_no_batch_but_have_a_cut_off():
    X, y = rows(4)
    flag = prefit(X, y, capacity=0.1)
    assert np.count_nonzero(X[:, 0] >= flag.threshold_) == 200
    assert np.isnan(flag.report_.threshold)
    for options, n_rows, n_flagged, message in (
        ({"capacity": 0.1}, 1, 0, r"flags nothing where X has 1: .* with threshold_\."),
        ({"capacity": 0.1}, 9, 0, "flags nothing where X has 9: pass all rows of a batch at once"),
        ({"capacity": 50}, 1, 1, "limits nothing where X has 1: .* with a share as capacity"),
        ({"capacity": 0.1, "max_fpr": 0.2}, 1, 0, "flags nothing where X has 1: .* at once.$"),
        ({"capacity": 0.1, "min_precision": 0.5}, 5, 0, "flags nothing where X has 5"),
    ):
        flag = prefit(X, y, **options)
        with pytest.warns(ThresholdWarning, match=message):
            assert flag.predict(X[:n_rows]).sum() == n_flagged
    flag.predict(X[:10])


def test_a_batch_of_groups_is_refused_and_so_are_promises_that_exclude_each_other():
    X, y = rows(5)
    flag = TopThresholdClassifier(LogisticRegression(), capacity=50, min_precision=0.5)
    with pytest.raises(ValueError, match="leave capacity out, or ask batch_limits"):
        flag.fit(X, y, groups=np.arange(2000) // 2)
    # The first 20 rows are negative, and the next ones tied: with precision come too many of them.
    X[:, 0] = np.minimum(X[:, 0], 1.5)
    X[np.flatnonzero(y == 0)[:20], 0] = 99.0
    with pytest.raises(ValueError, match=r"No cut-off has precision of at least 0.5, and false"):
        prefit(X, y, min_precision=0.5, max_fpr=0.02, maximize="precision")
    lacking = np.where(np.arange(2000)[:, np.newaxis] == 7, np.nan, X)
    with pytest.raises(ValueError, match="1 NaN"):
        prefit(lacking, y, min_recall=0.5)
    with pytest.raises(ValueError, match="1 NaN"):
        prefit(X, y, min_recall=0.5).predict(lacking)


def test_the_precision_of_a_batch_is_that_of_its_limits():
    (X, y), (batch, _) = rows(5), rows(6, 900)
    flag = prefit(X, y, capacity=300, min_precision=0.8, random_state=0)
    limits = batch_limits(y, X[:, 0], batch[:, 0], k=np.arange(1, 301), random_state=0)
    k = limits.largest_k(0.8)
    assert 0 < k < 300
    flagged = np.flatnonzero(flag.predict(batch))
    assert set(flagged.tolist()) == set(limits.order[:k].tolist())
    assert flag.limits(batch).low.tolist() == limits.low.tolist()
    assert np.isnan(flag.threshold_)
    assert "precision of at least 0.8 of the rows that are flagged in a batch" in str(flag.report_)


# ------------------------------------------------------------------------------- what is flagged


def test_the_lowest_or_the_highest_cut_off_of_those_that_keep_the_promises():
    X, y = rows(7)
    low = prefit(X, y, min_precision=0.5, min_recall=0.5)
    high = prefit(X, y, min_precision=0.5, min_recall=0.5, maximize="precision")
    assert low.threshold_ < high.threshold_
    assert prefit(X, y, min_recall=0.5).threshold_ > high.threshold_  # All of the error is its own
    assert prefit(X, y, min_recall=0.5, maximize="recall").threshold_ == -np.inf


def test_a_mean_value_is_the_precision_that_has_it():
    X, y = rows(13)
    flag = prefit(X, y, min_value=55.0, value=(100.0, -50.0))
    assert flag.threshold_ == prefit(X, y, min_precision=0.7).threshold_
    of_fit = TopThresholdClassifier(Column().fit(X, y), cv="prefit", min_value=55.0)
    assert of_fit.fit(X, y, value=(100.0, -50.0)).report_ == flag.report_
    assert "mean value of at least 55 (precision 0.7) on new rows" in str(flag.report_)
    amounts = np.where(y == 1, 100.0, -50.0)
    assert amounts[flag.predict(X) == 1].mean() > 55.0
    batch = prefit(X, y, min_value=55.0, value=(100.0, -50.0), capacity=200, random_state=0)
    expected = prefit(X, y, min_precision=0.7, capacity=200, random_state=0)
    np.testing.assert_array_equal(batch.predict(X[::2]), expected.predict(X[::2]))


def amounts_of(seed, y):
    gain = np.exp(3 + np.random.default_rng([seed, 1]).normal(size=len(y)))
    return np.column_stack([gain, np.full(len(y), -10.0)])


def test_cut_offs_of_a_mean_value_are_those_of_the_definition():
    X, y = rows(14, 250)
    amounts = np.where(y == 1, *amounts_of(14, y).T)
    cutoffs = CutOffs.of(X[:, 0], y == 1, None, amounts)
    for goal in (5.0, 12.0):
        found = cutoffs.n_flagged[cutoffs.certified(Goal("mean value", goal), 0.2)]
        assert found.tolist() == oracle.value_sequence(amounts, X[:, 0], goal, 0.2)
        assert len(found) > 0


def test_a_mean_value_of_amounts_that_differ_is_kept():
    X_new, y_new = rows(10**6, 100_000)
    amounts, failures, shares = np.where(y_new == 1, *amounts_of(10**6, y_new).T), 0, []
    for seed in range(80):
        X, y = rows(seed, 1200)
        flag = TopThresholdClassifier(
            Column().fit(X, y), cv="prefit", min_value=10.0, level=0.8
        ).fit(X, y, value=amounts_of(seed, y))
        flagged = X_new[:, 0] >= flag.threshold_
        failures += flagged.any() and amounts[flagged].mean() < 10.0
        shares.append(flagged[y_new == 1].mean())
    assert failures <= 0.2 * 80
    assert np.mean(shares) > 0.6
    assert "mean value of at least 10 on new rows" in str(flag.report_)
    assert "no loss is larger than those of the calibration rows" in str(flag.report_)


def test_copies_of_a_row_in_one_group_say_no_more_of_a_mean_value_than_the_row():
    X, y = rows(16, 400)
    amounts = np.where(y == 1, *amounts_of(16, y).T)[np.argsort(-X[:, 0])]
    n, times, codes = np.arange(1.0, 401.0), 6, np.repeat(np.arange(400), 6)
    copies = np.repeat(amounts, times), times * n, 8.0
    single = chance_of_amounts(amounts, n, 8.0)
    np.testing.assert_allclose(chance_of_amounts(*copies, codes=codes), single, rtol=1e-9)
    assert chance_of_amounts(*copies).min() < single.min() ** 2
    value, groups = amounts_of(16, y), np.arange(400) // 2
    flag = TopThresholdClassifier(Column().fit(X, y), cv="prefit", min_value=5.0)
    report = flag.fit(X, y, value=value, groups=groups).report_
    assert report.n_flagged > 0
    assert "bets on the amounts of groups above cut-offs" in str(report)


def test_values_of_rows_are_routed_and_refused_where_they_do_not_belong():
    X, y = rows(15)
    value, model = amounts_of(15, y), LogisticRegression()
    flag = TopThresholdClassifier(model, min_value=5.0, random_state=0)
    search = GridSearchCV(flag, {"estimator__C": [0.1, 1.0]}, scoring="precision", cv=3)
    assert np.isfinite(search.fit(X, y, value=value).best_estimator_.threshold_)
    with sklearn.config_context(enable_metadata_routing=True):
        last = sklearn.base.clone(flag).set_fit_request(value=True)
        routed = make_pipeline(StandardScaler(), last).fit(X, y, value=value)
    assert np.isfinite(routed[-1].threshold_)
    for options, message in (
        ({"min_recall": 0.5}, "value in fit is for min_value="),
        ({"min_value": 5.0, "capacity": 9}, "leave value and capacity of the class out"),
        ({"min_value": -10.0}, "min_value=-10 is reached by any row"),
    ):
        with pytest.raises(ValueError, match=message):
            TopThresholdClassifier(model, **options).fit(X, y, value=value)
    with pytest.warns(UserWarning, match=r"No cut-off has mean value of at least 500"):
        TopThresholdClassifier(model, min_value=500.0).fit(X, y, value=value)


def test_what_is_impossible_is_said_with_the_labels_that_would_do():
    X, y = rows(8, 150, shift=6.0)
    with pytest.warns(UserWarning, match="No cut-off has precision of at least 0.95"):
        flag = prefit(X, y, min_precision=0.95)
    assert flag.threshold_ == np.inf
    assert flag.predict(X).sum() == 0
    text = str(flag.report_)
    assert "Flags nothing." in text
    assert "Promised" not in text
    n_more = int(text.split("some ")[1].split(" more")[0].replace(",", ""))
    repeated = np.tile(np.arange(150), -(-(150 + n_more) // 150))
    assert np.isfinite(prefit(X[repeated], y[repeated], min_precision=0.95).threshold_)
    with pytest.warns(UserWarning, match="no number of rows like these would do"):
        prefit(-X, y, min_precision=0.99)
    with pytest.warns(UserWarning, match=r"recall of at least 0.9 .* Flags all rows"):
        prefit(X[:20], y[:20], min_recall=0.9)
    with pytest.raises(ValueError, match=r"No cut-off has precision of at least 0.9, and recall"):
        prefit(X, y, min_precision=0.9, min_recall=0.9)


def test_as_many_more_rows_as_are_asked_for_do_in_most_samples():
    found = []
    for seed in range(8):
        X, y = rows(seed, 300, shift=1.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            text = prefit(X, y, min_precision=0.7).report_.impossible
            if text:
                n_more = int(text.split("some ")[1].split(" more")[0].replace(",", ""))
                X, y = rows(1000 + seed, 300 + n_more, shift=1.5)
                found.append(prefit(X, y, min_precision=0.7).report_.n_flagged > 0)
    assert len(found) >= 4
    assert np.mean(found) >= 0.5


def test_a_low_precision_is_promised_of_many_rows_whatever_the_first_are():
    rng, bonferroni, found = np.random.default_rng(0), [], []
    for _ in range(20):
        X, n = rng.normal(size=(3000, 1)), np.arange(300, 3001, 300)
        y = (rng.random(3000) < np.where(ndtr(-X[:, 0]) < 0.36, 0.11, 0.03)).astype(int)
        order = np.argsort(-X[:, 0])
        shown = n[stats.binom.sf(np.cumsum(y[order])[n - 1] - 1, n, 0.08) <= 0.005]
        bonferroni.append(shown.max(initial=0))
        # Without a positive among the first rows, where a test of each number would end.
        y[order[:10]] = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found.append(prefit(X, y, min_precision=0.08).report_.n_flagged)
    assert np.count_nonzero(found) >= np.count_nonzero(bonferroni) - 1
    assert np.mean(found) > 1.1 * np.mean(bonferroni)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Nothing is promised and no capacity is given: pass min_precision="),
        ({"capacity": 10, "min_recall": 0.5}, "no recall can be promised: leave capacity or min"),
        ({"capacity": 10, "min_precision": 0.5, "max_fpr": 0.1}, "capacity with one of min_prec"),
        ({"min_precision": 1.0}, r"min_precision=1.0 must be a number in \(0, 1\)"),
        ({"max_fpr": 0.0}, r"max_fpr=0.0 must be a number in \(0, 1\)"),
        ({"capacity": 50.0}, "capacity=50.0 .* a share of a batch, or a whole number of rows"),
        ({"capacity": 0}, "capacity=0"),
        ({"min_recall": 0.5, "level": 1.0}, "level=1.0"),
        ({"min_recall": 0.5, "maximize": "f1"}, "maximize='f1'"),
        ({"min_recall": 0.5, "cv": "fit"}, "cv='fit'"),
        ({"min_value": 0}, r"min_value=0 and value=None belong together: pass both"),
        ({"min_value": 0, "value": (-5, 100)}, r"above the loss 100 and below the gain -5"),
        ({"min_recall": 0.5, "cv": [(range(9), [10, 11, 12, 13, 14] * 2)]}, "holds out a row twi"),
    ],
)
def test_what_is_refused(options, message):
    X, y = rows(9, 100)
    flag = TopThresholdClassifier(LogisticRegression(), **options)
    with pytest.raises(ValueError, match=message):
        flag.fit(X, y)
    assert not hasattr(flag, "estimator_")


def test_folds_that_repeat_rows_and_estimators_that_do_not_classify_are_refused():
    X, y = rows(9, 100)
    parts = [(np.arange(50), np.arange(50, 100)), (np.arange(40), np.arange(40, 100))]
    with pytest.raises(ValueError, match="cv holds out rows several times"):
        TopThresholdClassifier(LogisticRegression(), min_recall=0.5, cv=parts).fit(X, y)
    for estimator in (StandardScaler(), None, "passthrough"):
        with pytest.raises(TypeError, match="is not a classifier: pass a classifier"):
            TopThresholdClassifier(estimator, min_recall=0.5).fit(X, y)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        TopThresholdClassifier(LogisticRegression(), min_recall=0.5, cv="prefit").fit(X, y)


# ------------------------------------------------------------------------------------- habits


def test_calibration_on_the_training_rows_is_warned_of_where_it_can_be_seen():
    X, y = rows(20, 600)
    forest = ExtraTreesClassifier(50, random_state=0).fit(X[:300], y[:300])
    flag = TopThresholdClassifier(forest, min_precision=0.8, cv="prefit", level=0.8)
    with pytest.warns(ThresholdWarning, match="pass rows that it has not seen"):
        flag.fit(X[:300], y[:300])
    assert flag.fit(X[300:], y[300:]).report_.n_flagged > 0


def test_labels_of_any_type_and_either_class():
    X, y = rows(10)
    expected = TopThresholdClassifier(LogisticRegression(), min_precision=0.7, random_state=0)
    flagged = expected.fit(X, y).predict(X) == 1
    # The first class in the order of the labels is the positive one.
    named = np.where(y == 1, "fraud", "ok")
    flag = sklearn.base.clone(expected).set_params(pos_label="fraud").fit(X, named)
    np.testing.assert_array_equal(flag.predict(X) == "fraud", flagged)
    assert flag.classes_.tolist() == ["fraud", "ok"]
    np.testing.assert_array_equal(flag.predict_proba(X), flag.estimator_.predict_proba(X))
    np.testing.assert_allclose(flag.decision_function(X), -expected.decision_function(X))
    assert not hasattr(
        TopThresholdClassifier(LinearSVC(), min_recall=0.5).fit(X, y), "predict_proba"
    )


def test_pipelines_searches_weights_and_folds():
    X, y = rows(11)
    weight = np.random.default_rng(0).random(2000)
    flag = TopThresholdClassifier(LogisticRegression(), min_precision=0.7, random_state=0)
    weighted = sklearn.base.clone(flag).fit(X, y, sample_weight=weight)
    assert weighted.estimator_.coef_[0, 0] != flag.fit(X, y).estimator_.coef_[0, 0]
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        routed = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            TopThresholdClassifier(model, min_precision=0.7, random_state=0),
        ).fit(X, y, sample_weight=weight, groups=np.arange(2000) // 4)
    assert "asymptotic" in str(routed[-1].report_)
    grid = {"estimator__C": [1e-4, 1.0]}
    search = GridSearchCV(flag, grid, scoring="recall", cv=3).fit(X, y)
    assert 0.1 < search.best_score_ < 1.0
    assert (cross_val_score(flag, X, y, cv=3, scoring="precision") > 0.6).all()
    folds = sklearn.base.clone(flag).set_params(cv=StratifiedKFold(4)).fit(X, y)
    assert folds.calibration_scores_.shape == (2000,)
    np.testing.assert_array_equal(folds.estimator_.coef_, LogisticRegression().fit(X, y).coef_)
    assert "approximate" in str(folds.report_)


def test_names_of_groups_do_not_matter_and_one_group_cannot_be_held_out():
    X, y = rows(16)
    flag = TopThresholdClassifier(LogisticRegression(), min_precision=0.6, random_state=0)
    groups = np.arange(2000) // 4
    names = np.random.default_rng(0).permutation(500)
    numbered = flag.fit(X, y, groups=groups).threshold_
    assert flag.fit(X, y, groups=[f"u{names[i]}" for i in groups]).threshold_ == numbered
    with pytest.raises(ValueError, match="one group only, of which no part can be held out"):
        flag.fit(X, y, groups=np.zeros(2000))


def test_infinite_scores_are_the_first_and_the_last():
    X, y = rows(17)
    order = np.argsort(-X[:, 0])
    ends = X.copy()
    ends[order[:30], 0], ends[order[-30:], 0] = np.inf, -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flag, expected = prefit(ends, y, min_precision=0.6), prefit(X, y, min_precision=0.6)
        everything = prefit(ends, y, min_recall=0.5, maximize="recall")
    np.testing.assert_array_equal(flag.predict(ends), expected.predict(X))
    assert everything.predict(ends).all()
    cutoffs = CutOffs.of(ends[:, 0], y == 1)
    assert np.count_nonzero(ends[:, 0] >= cutoffs.threshold[-2]) == 2000 - 30


def test_a_positive_cost_is_warned_of_at_both_doors():
    X, y = np.arange(200.0)[:, np.newaxis], np.arange(200) % 4 > 2
    model = LogisticRegression().fit(X, y)
    of_class = TopThresholdClassifier(model, cv="prefit", min_value=10, value=(100, 5))
    of_fit = TopThresholdClassifier(model, cv="prefit", min_value=10)
    for flag, given in ((of_class, {}), (of_fit, {"value": (100, 5)})):
        with pytest.warns(UserWarning, match=r"pass \(100, -5\) if they cost it"):
            flag.fit(X, y, **given)
