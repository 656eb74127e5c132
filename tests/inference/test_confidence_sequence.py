"""Intervals that hold at all looks."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank._planning._confidence_sequence import (
    WIDEST,
    Bets,
    level_at_all_times,
    pair_growth,
    top_limits_at_all_times,
    value_growth,
)
from sklearn_rank.inference import ConfidenceSequence, compare, metric_interval
from sklearn_rank.metrics import Accumulator, get_measure, make_measure
from tests.naming import for_each
from tests.oracles import confidence_sequences as oracle

ALPHA = 0.05


def blocks_of(positives, negatives):
    scores = np.unique(np.concatenate([positives, negatives]))
    return [
        np.bincount(np.searchsorted(scores, some), minlength=len(scores))
        for some in (positives, negatives)
    ]


def batch(rng, n=60, share=0.3, shift=1.0):
    y = (rng.random(n) < share).astype(int)
    return y, y * shift + rng.normal(size=n)


def queries(rng, n=20, n_items=6):
    y = rng.integers(0, 2, (n, n_items))
    return y, y + rng.normal(size=y.shape), y + rng.normal(size=y.shape)


# ---------------------------------------------------------------------------------------- the bets


@for_each("kind", ["uniform", "ones", "zeros", "coins", "nearly equal"])
def test_limits_of_means_are_those_of_the_definition(kind):
    rng = np.random.default_rng(0)
    values = {
        "uniform": rng.random(12),
        "ones": np.ones(12),
        "zeros": np.zeros(30),
        "coins": np.r_[np.zeros(3), np.ones(20)],
        "nearly equal": rng.beta(80, 20, 25),
    }[kind]
    bets = Bets(40.0, ALPHA)
    for part in np.array_split(values, 3):
        bets.add(*value_growth(part, bets.gains))
    plan = oracle.wagers(40.0, ALPHA)
    expected = oracle.limits(lambda m: oracle.capital(values, m, plan), values.mean(), ALPHA)
    np.testing.assert_allclose(bets.limits(ALPHA), expected, rtol=1e-9, atol=1e-12)
    assert bets.limits(ALPHA)[0] <= values.mean() <= bets.limits(ALPHA)[1]


# --------------------------------------------------------------------------------------- the pairs


@pytest.mark.parametrize("levels", [1, 2, 3, 9])
def test_bets_on_pairs_are_the_mean_over_all_pairings(levels):
    rng = np.random.default_rng(levels)
    gains = np.array([0.01, 0.3, 4.0, 1e4])
    for _ in range(8):
        sizes = rng.integers(1, 6, 2)
        positives, negatives = (rng.integers(0, levels, size) for size in sizes)
        up, down, total, n_pairs = pair_growth(*blocks_of(positives, negatives), gains)
        expected = [oracle.pair_growth(positives, negatives, gain) for gain in gains]
        np.testing.assert_allclose(np.transpose([up, down]), expected, rtol=1e-9)
        auc = np.mean([oracle.worth(a, b) for a in positives for b in negatives])
        assert n_pairs == sizes.min()
        np.testing.assert_allclose(total, n_pairs * auc)
        # What the interval of the mean needs in order to hold the mean.
        assert np.all(up <= n_pairs * np.log1p(gains * auc) + 1e-9)
        assert np.all(down <= n_pairs * np.log1p(gains * (1 - auc)) + 1e-9)


def test_many_pairs_are_dealt_to_parts():
    rng = np.random.default_rng(0)
    positives, negatives = rng.normal(1, 1, 1500).round(1), rng.normal(0, 1, 2500).round(1)
    blocks = blocks_of(positives, negatives)
    gains = np.array([0.05])
    up, down, total, n_pairs = pair_growth(*blocks, gains)
    auc = np.mean(
        (positives[:, np.newaxis] > negatives) + (positives[:, np.newaxis] == negatives) / 2
    )
    assert n_pairs == 1500
    assert abs(total / n_pairs - auc) < 0.002  # within parts
    # Between the product of one pairing and that of its mean.
    assert 0 < 1500 * np.log1p(gains[0] * auc) - up[0] < 3
    assert 0 < 1500 * np.log1p(gains[0] * (1 - auc)) - down[0] < 3
    again = pair_growth(*blocks, gains)
    np.testing.assert_array_equal(up, again[0])


def test_limits_of_the_auc_are_those_of_the_definition():
    rng = np.random.default_rng(3)
    updates = [
        (rng.integers(1, 5, 3), rng.integers(0, 4, 5)),
        (rng.integers(1, 5, 4), rng.integers(0, 4, 2)),
        (rng.integers(1, 5, 2), rng.integers(0, 4, 6)),
    ]
    sequence = ConfidenceSequence("auc", best_after=3)
    gini = ConfidenceSequence("gini", best_after=3)
    for look, (positives, negatives) in enumerate(updates, 1):
        y = np.r_[np.ones(len(positives)), np.zeros(len(negatives))]
        score = np.r_[positives, negatives]
        found, other = sequence.update(y, score), gini.update(y, score)
        expected = oracle.auc_limits(updates[:look], ALPHA, 3)
        np.testing.assert_allclose([found.low, found.high], expected, rtol=1e-9)
        limits = [other.estimate, other.low, other.high]
        np.testing.assert_allclose(limits, 2 * np.array([found.estimate, *expected]) - 1)


# ----------------------------------------------------------------------------------------- the top


@pytest.mark.parametrize(("n", "tau"), [(40, 0.3), (60, 0.1), (8, 0.2)])
def test_limits_of_the_top_are_those_of_the_definition(n, tau):
    labels = (np.random.default_rng(n).random(n) < np.linspace(0.9, 0.1, n)).astype(int)
    found = top_limits_at_all_times(labels * 1.0, np.ones(n), tau, 100.0, ALPHA)
    expected = oracle.top_limits(labels.tolist(), tau, 100.0, ALPHA)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_limits_of_the_top_hold_those_of_each_order_of_tied_items():
    rng = np.random.default_rng(0)
    size = np.array([5.0, 30.0, 10.0, 55.0])
    n_pos = np.array([4.0, 12.0, 1.0, 3.0])
    low, high = top_limits_at_all_times(n_pos, size, 0.2, 200.0, ALPHA)
    for _ in range(20):
        labels = np.concatenate(
            [rng.permutation(np.arange(s) < p) for s, p in zip(size, n_pos, strict=True)]
        )
        one = top_limits_at_all_times(labels * 1.0, np.ones(100), 0.2, 200.0, ALPHA)
        assert low - 1e-12 <= one[0]
        assert one[1] <= high + 1e-12


def test_alerts_are_coins():
    rng = np.random.default_rng(0)
    sequence = ConfidenceSequence("precision@top0.05", threshold=0.5)
    all_rows = ConfidenceSequence("precision@top0.05", threshold=-np.inf)
    seen = []
    for _ in range(4):
        y, score = batch(rng)
        above = score >= 0.5
        found, other = sequence.update(y, score), all_rows.update(y[above], score[above])
        seen.append(y[above])
        assert (found.low, found.high) == (other.low, other.high)
    bets = Bets(5.0 * len(seen[0]), ALPHA)
    bets.add(*value_growth(np.concatenate(seen).astype(float), bets.gains))
    np.testing.assert_allclose([found.low, found.high], bets.limits(ALPHA), rtol=1e-9)
    assert found.target == "precision among scores of at least 0.5"
    assert found.estimate == np.concatenate(seen).mean()


# ----------------------------------------------------------------------------------- in the limit


@pytest.mark.parametrize("n", [3, 20, 100, 3000])
def test_the_level_is_where_normal_bets_have_won_enough(n):
    best = level_at_all_times(0.95, 100, 100)
    level = level_at_all_times(0.95, n, 100)
    assert best <= level <= WIDEST
    if level < WIDEST:
        z = ndtri((1 + level) / 2)
        x_best = 8.0
        for _ in range(50):
            x_best = np.log1p(x_best) + 2 * np.log(20)
        x = x_best * n / 100
        expected = np.sqrt((1 + 1 / x) * (np.log1p(x) + 2 * np.log(20)))
        np.testing.assert_allclose(z, expected, rtol=1e-6)
        np.testing.assert_allclose(oracle.normal_mixture(expected, x), 20)


@pytest.mark.parametrize("measure", ["auc", "bedroc@20", "precision@top0.2", "ap"])
def test_in_the_limit_it_is_the_interval_for_one_look_at_another_level(measure):
    rng = np.random.default_rng(0)
    sequence = ConfidenceSequence(measure, method="asymptotic", best_after=2)
    accumulator = Accumulator(measure)
    for look in range(1, 4):
        y, score = batch(rng)
        found = sequence.update(y, score)
        expected = metric_interval(
            accumulator.update(y, score),
            level=level_at_all_times(0.95, 60 * look, 120),
            conditional=False,
        )
        assert (found.estimate, found.low, found.high) == (
            expected.estimate,
            expected.low,
            expected.high,
        )
        assert (found.level, found.method) == (0.95, "asymptotic")
    far = ConfidenceSequence(measure, method="asymptotic", best_after=1e6).update(y, score)
    assert (far.low, far.high) == (0.0, 1.0)


def population(measure, share, step=0.5):
    """Value of a population of normal scores, rounded, from the probabilities of the scores."""
    edges = np.append(np.arange(-6, 7, step) - step / 2, np.inf)
    of_class = [np.diff(ndtr(edges - shift)) for shift in (1.2, 0.0)]
    return oracle.population(measure, edges[:-1], of_class, share)


@pytest.mark.parametrize("measure", ["lift@0.1", "ap"])
def test_the_target_is_the_same_at_all_looks(measure):
    target, missed = population(measure, 0.3), 0
    for history in range(20):
        rng, sequence = np.random.default_rng(history), ConfidenceSequence(measure)
        misses = []
        for _ in range(10):
            # The share of positives of a look is far from that of the population, as is lift.
            y = (rng.random(400) < 0.3).astype(int)
            score = np.round(2 * (rng.normal(size=400) + 1.2 * y)) / 2
            found = sequence.update(y, score)
            misses.append(target not in found)
        missed += any(misses)
        assert found.target == f"{measure} of the population"
    assert missed <= 3  # of a binomial number of probability .05: P(more) = .016


def test_the_variance_of_the_share_of_positives_is_in_all_intervals_of_the_population():
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.3).astype(int)
    score, other = (y * shift + rng.normal(size=4000) for shift in (1.0, 0.5))
    lift = get_measure("lift@0.1")
    for columns, influence in (
        ({}, lift.influence(y, score, conditional=False)),
        (
            {"baseline_score": other},
            lift.influence(y, score, conditional=False)
            - lift.influence(y, other, conditional=False),
        ),
    ):
        found = ConfidenceSequence("lift@0.1").update(y, score, **columns)
        z = ndtri((1 + level_at_all_times(0.95, 4000, 20000)) / 2)
        np.testing.assert_allclose(found.width, 2 * z * influence.std() / np.sqrt(4000), rtol=0.05)


@for_each(
    "measure",
    ["precision@10", "recall@20", "f1@10", "dcg@10", "success@5", "pos@top", "profit@10"],
)
def test_what_depends_on_the_number_of_rows_has_no_target_in_common(measure):
    y, score = batch(np.random.default_rng(0))
    for columns in ({}, {"baseline_score": -score}):
        sequence = ConfidenceSequence(measure)
        with pytest.raises(ValueError, match=r"no target in common: pass qid.*lift@0\.1"):
            sequence.update(y, score, **columns)
        assert sequence.n_looks == 0


def test_few_rows_of_a_class_or_of_the_top_give_no_limits():
    y, score = np.r_[np.ones(9), np.zeros(50)], np.random.default_rng(0).normal(size=59)
    ids = {"groups": np.arange(59)}
    many = np.r_[np.ones(20), np.zeros(39)]
    for name, labels, columns in (
        ("lift@0.2", y, {}),
        ("lift@0.2", 1 - y, {}),
        ("lift@0.2", y, ids),
        ("lift@0.168", many, {}),
        ("profit@top0.168", many, ids),
    ):
        sequence, measure = ConfidenceSequence(name, best_after=1), get_measure(name)
        found = sequence.update(labels, score, **columns)
        assert (found.low, found.high) == measure.range
        assert found.estimate == measure(labels, score)
        more = {name: x[-1:] for name, x in columns.items()}
        assert np.isfinite(found := sequence.update(labels[:1], score[:1], **more).width)
        assert found < np.ptp(measure.range)


def test_what_jumps_is_refused():
    y, score = batch(np.random.default_rng(0))
    own = make_measure(
        lambda y, s: float(s[y == 1].mean() > s.mean()),
        name="own",
        per_query=False,
        influence=lambda y, s: s,
    )
    for measure in ("accuracy_loss@top0.1", own):
        with pytest.raises(ValueError, match=r"may jump where scores tie.*lift@0\.1"):
            ConfidenceSequence(measure).update(y, score, baseline_score=-score)


def test_a_look_that_is_refused_changes_nothing():
    rng = np.random.default_rng(0)
    sequence, fresh = ConfidenceSequence("tpr@fpr0.01"), ConfidenceSequence("tpr@fpr0.01")
    with pytest.raises(ValueError, match="pass at least 100 negatives"):
        sequence.update(*batch(rng))
    more = batch(rng, n=400)
    assert sequence.update(*more) == fresh.update(*more)
    assert sequence.to_frame().equals(fresh.to_frame())


# ------------------------------------------------------------------------------------- groups


def rows_of_users(rng, user, effects):
    y = (rng.random(len(user)) < 0.3 + 0.2 * effects[user]).astype(int)
    return y, y + rng.normal(size=len(user)) + effects[user]


@pytest.mark.parametrize("measure", ["auc", "lift@0.2", "spearman"])
def test_rows_of_a_group_may_come_in_several_updates(measure):
    rng = np.random.default_rng(0)
    effects, sequence, parts = rng.uniform(-1, 1, 30), ConfidenceSequence(measure), []
    for look in range(1, 4):
        user = rng.integers(0, 30, 80)
        parts.append((*rows_of_users(rng, user, effects), user))
        found = sequence.update(*parts[-1][:2], groups=user.astype(str))
        y, score, groups = (np.concatenate(column) for column in zip(*parts, strict=True))
        expected = metric_interval(
            measure,
            y,
            score,
            groups=groups,
            level=level_at_all_times(0.95, 80 * look, 400),
            conditional=False,
        )
        np.testing.assert_allclose(
            [found.estimate, found.low, found.high],
            [expected.estimate, expected.low, expected.high],
        )
    assert found.method == "asymptotic"
    # A user of one row is a row.
    plain, alone = (ConfidenceSequence("lift@0.2") for _ in range(2))
    limits = plain.update(y, score), alone.update(y, score, groups=np.arange(len(y)))
    np.testing.assert_allclose(limits[0].width, limits[1].width, rtol=0.02)


def test_differences_of_rows_in_groups_are_those_of_paired_tests():
    rng = np.random.default_rng(0)
    effects, sequence, parts = rng.uniform(-1, 1, 30), ConfidenceSequence("auc"), []
    for look in range(1, 4):
        user = rng.integers(0, 30, 80)
        y, score = rows_of_users(rng, user, effects)
        parts.append((y, score, score + rng.normal(size=80) * effects[user], user))
        found = sequence.update(y, score, baseline_score=parts[-1][2], groups=user)
        y, a, b, groups = (np.concatenate(column) for column in zip(*parts, strict=True))
        level = level_at_all_times(0.95, 80 * look, 400)
        test = compare("auc", y, {"a": a, "b": b}, groups=groups, level=level)
        np.testing.assert_allclose(
            [found.estimate, found.low, found.high], [test.estimate, test.low[0], test.high[0]]
        )


def test_groups_that_say_nothing_are_refused():
    y, score = batch(np.random.default_rng(0))
    ids, sequence = np.arange(60) // 6, ConfidenceSequence("auc")
    with pytest.raises(ValueError, match="nor groups"):
        ConfidenceSequence("auc", method="betting").update(y, score, groups=ids)
    with pytest.raises(ValueError, match="neither does threshold"):
        ConfidenceSequence("precision@top0.1", threshold=1.0).update(y, score, groups=ids)
    with pytest.raises(ValueError, match="pass them as qid"):
        sequence.update(y, score, qid=ids, groups=ids)
    with pytest.raises(ValueError, match="groups has one group only"):
        sequence.update(y, score, groups=ids * 0)
    with pytest.raises(ValueError, match="groups has 59 entries for 60 rows"):
        sequence.update(y, score, groups=ids[1:])
    with pytest.raises(ValueError, match="repeat the rows"):
        sequence.update(y, score, groups=ids, sample_weight=ids, weights="frequency")
    sequence.update(y, score, groups=ids)
    with pytest.raises(ValueError, match="Update 1 has no groups, but earlier updates had groups"):
        sequence.update(y, score)
    with pytest.raises(ValueError, match="groups mixes ids"):
        sequence.update(y, score, groups=ids.astype(str))
    assert sequence.n_looks == 1


# ------------------------------------------------------------------------------- differences


def test_differences_of_one_list_are_those_of_paired_tests():
    rng = np.random.default_rng(0)
    sequence = ConfidenceSequence("auc", pos_label="yes")
    parts = []
    for look in range(1, 4):
        y, a = batch(rng)
        b = a + rng.normal(size=60)
        parts.append((np.where(y, "yes", "no"), a, b))
        found = sequence.update(parts[-1][0], a, baseline_score=b)
        labels, *joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
        level = level_at_all_times(0.95, 60 * look, 300)
        test = compare("auc", labels == "yes", dict(zip("ab", joined, strict=True)), level=level)
        np.testing.assert_allclose(
            [found.estimate, found.low, found.high], [test.estimate, test.low[0], test.high[0]]
        )
    same = ConfidenceSequence("auc").update(y, a, baseline_score=a)
    assert same.estimate == 0
    assert same.low < 0 < same.high


# ------------------------------------------------------------------------------------ queries


@pytest.mark.parametrize("method", ["auto", "asymptotic"])
def test_means_over_queries(method):
    for name in ("ndcg@5", "spearman", "dcg@5"):
        rng = np.random.default_rng(0)
        measure, sequence = get_measure(name), ConfidenceSequence(name, method=method)
        values = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            for _ in range(4):
                y, score, _ = queries(rng)
                values.append(measure(y, score, average=None))
                found = sequence.update(y, score)
        n_first = np.count_nonzero(~np.isnan(values[0]))
        values = np.concatenate(values)
        values = values[~np.isnan(values)]
        np.testing.assert_allclose(found.estimate, values.mean())
        assert found.low < found.estimate < found.high
        assert found.target == f"mean {name} over queries"
        if method == "auto" and name != "dcg@5":
            low, high = measure.counted_range
            bets = Bets(5.0 * n_first, ALPHA)
            bets.add(*value_growth((values - low) / (high - low), bets.gains))
            limits = low + (high - low) * np.array(bets.limits(ALPHA))
            np.testing.assert_allclose([found.low, found.high], limits)
            assert found.method == "betting"
        else:
            assert found.method == "asymptotic"


@pytest.mark.parametrize("method", ["betting", "asymptotic"])
def test_differences_over_queries(method):
    rng = np.random.default_rng(0)
    sequence = ConfidenceSequence("ndcg@5", method=method)
    turned = ConfidenceSequence("ndcg@5", method=method)
    apart = []
    for _ in range(3):
        y, a, b = queries(rng)
        y[:, 0] = 1
        found = sequence.update(y, a, baseline_score=b)
        other = turned.update(y, b, baseline_score=a)
        measure = get_measure("ndcg@5")
        apart.append(measure(y, a, average=None) - measure(y, b, average=None))
    np.testing.assert_allclose(found.estimate, np.mean(apart))
    np.testing.assert_allclose([found.low, found.high], [-other.high, -other.low], atol=1e-12)
    assert found.target == "mean difference of ndcg@5 over queries"
    assert found.low < found.estimate < found.high


# -------------------------------------------------------------------------------------- the object


def test_looks_are_remembered_printed_and_pickled():
    rng = np.random.default_rng(0)
    sequence = ConfidenceSequence("auc", level=0.9)
    assert repr(sequence) == str(sequence) == "ConfidenceSequence('auc', n_looks=0)"
    found = [sequence.update(*batch(rng)) for _ in range(12)]
    assert sequence.history == tuple(found)
    assert sequence.interval is found[-1]
    assert sequence.n_looks == 12
    frame = sequence.to_frame()
    assert frame["n"].tolist() == [60 * look for look in range(1, 13)]
    assert frame["low"].tolist() == [one.low for one in found]
    assert (frame.index.name, frame.index[0]) == ("look", 1)
    lines = str(sequence).splitlines()
    assert lines[0] == "expected AUC within updates, 90 % for all looks at once, betting"
    assert len(lines) == 12
    assert lines[2].split()[:2] == ["3", "180"]
    assert "<caption" in sequence._repr_html_()
    again = pickle.loads(pickle.dumps(sequence))
    y, score = batch(rng)
    assert again.update(y, score) == sequence.update(y, score)


def test_updates_without_values_are_looks():
    sequence = ConfidenceSequence("auc")
    empty = sequence.update([], [])
    assert np.isnan(empty.estimate)
    assert (empty.low, empty.high) == (0.0, 1.0)
    one_class = sequence.update([0, 0], [1.0, 2.0])
    assert np.isnan(one_class.estimate)
    assert (one_class.low, one_class.high) == (0.0, 1.0)
    both = sequence.update([0, 1], [1.0, 2.0])
    assert both.estimate == 1.0
    assert sequence.update([1, 1], [0.0, 0.0]).low == both.low
    assert [one.split()[1] for one in str(sequence).splitlines()[2:]] == ["0", "2", "4", "6"]
    assert str(sequence).splitlines()[2].split()[2] == "-"
    for measure, method in (("precision@top0.1", "auto"), ("bedroc@20", "asymptotic")):
        found = ConfidenceSequence(measure, method=method).update([0] * 9, range(9))
        assert (found.low, found.high) == (0.0, 1.0)


def test_intersections_hold_what_all_intervals_have_in_common():
    rng = np.random.default_rng(0)
    sequence, plain = ConfidenceSequence("auc", intersect=True), ConfidenceSequence("auc")
    low, high = 0.0, 1.0
    for _ in range(6):
        y, score = batch(rng)
        found, one = sequence.update(y, score), plain.update(y, score)
        low, high = max(low, one.low), min(high, one.high)
        assert (found.low, found.high) == (low, high)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [sequence.update(*batch(rng, shift=-3.0)) for _ in range(30)]
    assert {str(one.message).partition(" does ")[2][:33] for one in caught} == {
        "not overlap the earlier ones: the"
    }
    assert all(one.low <= one.high for one in found)


def test_weights_count_items():
    rng = np.random.default_rng(0)
    y, score = batch(rng)
    weight = rng.integers(0, 3, 60)
    for options in ({}, {"threshold": 0.2}, {"method": "asymptotic"}):
        for measure in ("auc", "precision@top0.2")[len(options) :: -1][:1]:
            weighted, repeated = (ConfidenceSequence(measure, **options) for _ in range(2))
            found = weighted.update(y, score, sample_weight=weight, weights="frequency")
            other = repeated.update(np.repeat(y, weight), np.repeat(score, weight))
            np.testing.assert_allclose([found.low, found.high], [other.low, other.high])
    for meaning, message in (
        ("frequency", "whole numbers"),
        ("sampling", "guarantee needs draws of equal probability"),
        (None, "pass weights='frequency' if each row"),
    ):
        with pytest.raises(ValueError, match=message):
            ConfidenceSequence("auc").update(y, score, sample_weight=weight + 0.5, weights=meaning)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "level=1.0"),
        ({"method": "bernstein"}, "method='bernstein'"),
        ({"best_after": 0}, "best_after=0"),
        ({"threshold": 0.5}, "pass measure='precision@top0.05'"),
    ],
    ids=lambda value: str(value),
)
def test_arguments_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        ConfidenceSequence("auc", **options)


def test_what_is_refused_says_what_to_pass():
    rng = np.random.default_rng(0)
    y, score = batch(rng)
    with pytest.raises(AttributeError, match="pass rows to update"):
        _ = ConfidenceSequence("auc").interval
    with pytest.raises(ValueError, match="does not support bedroc@20 of one list"):
        ConfidenceSequence("bedroc@20", method="betting").update(y, score)
    with pytest.raises(ValueError, match="dcg has no known range"):
        ConfidenceSequence("dcg", method="betting").update([[1, 0]], [[1.0, 0.0]])
    with pytest.raises(ValueError, match="does not support differences of a measure of one list"):
        ConfidenceSequence("auc", method="betting").update(y, score, baseline_score=score)
    with pytest.raises(ValueError, match="repeat the rows"):
        ConfidenceSequence("auc").update(
            y, score, baseline_score=score, sample_weight=np.ones(60), weights="frequency"
        )
    with pytest.raises(ValueError, match="pass qid, the query id of each row"):
        ConfidenceSequence("ndcg@5").update(y, score)
    with pytest.raises(ValueError, match="qid splits"):
        ConfidenceSequence("precision@top0.1", threshold=1.0).update(
            y, score, qid=np.arange(60) // 6
        )
    first = make_measure(lambda y, s: s[0], name="first", range=(-9.0, 9.0))
    with pytest.raises(ValueError, match="first"):
        ConfidenceSequence(first).update(y, score)
    with pytest.raises(ValueError, match=r"In update 0.*NaN"):
        ConfidenceSequence("auc").update(y, np.full(60, np.nan))


def test_a_refused_update_changes_nothing():
    rng = np.random.default_rng(0)
    y, score, other = queries(rng)
    y[:, 0] = 1
    qid = np.repeat(np.arange(20), 6)
    sequence = ConfidenceSequence("ndcg@5")
    sequence.update(y.ravel(), score.ravel(), qid=qid)
    with pytest.raises(ValueError, match="Query 3 has rows in two updates"):
        sequence.update(y[3], score[3], qid=[3] * 6)
    with pytest.raises(ValueError, match="Update 1 has baseline_score, but earlier updates"):
        sequence.update(y[0], score[0], qid=[30] * 6, baseline_score=other[0])
    with pytest.raises(ValueError, match="one form"):
        sequence.update(y, score)
    assert sequence.n_looks == 1
    fresh = ConfidenceSequence("ndcg@5")
    fresh.update(y.ravel(), score.ravel(), qid=qid)
    more = (y.ravel(), score.ravel())
    assert sequence.update(*more, qid=qid + 20) == fresh.update(*more, qid=qid + 20)


def test_undefined_queries_are_said_once_and_where_the_update_stands():
    rng = np.random.default_rng(0)
    y, a, b = queries(rng)
    y[:, 0] = 1
    y[3] = 0
    with pytest.warns(UndefinedMetricWarning, match="for 1 of 20 lists") as caught:
        ConfidenceSequence("ndcg@5").update(y, a, baseline_score=b)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    sequence = ConfidenceSequence("ndcg@5")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UndefinedMetricWarning):
            sequence.update(y, a)
    y[3, 0] = 1
    sequence.update(y, a)  # nothing of the refused update is there


def test_labels_are_read_alike_in_all_updates():
    sequence = ConfidenceSequence("auc")
    sequence.update([-1, 1], [0.0, 1.0])
    with pytest.raises(ValueError, match="two classes"):
        sequence.update([0, 1], [0.0, 1.0])
    assert sequence.n_looks == 1
