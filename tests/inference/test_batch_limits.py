"""Limits of the positives among the first rows of a batch without labels."""

from itertools import combinations

import numpy as np
import pytest

from sklearn_rank._promises._batch_limits import fewest_hits_of_groups, tail_of_looks
from sklearn_rank.inference import BatchLimits, LabelDesign, batch_limits
from tests.naming import for_each
from tests.oracles import batch_limits as oracle


def limits_of(y, is_batch, score=None, **options):
    """Limits of labels from the top of the joint order."""
    y, is_batch = np.asarray(y), np.asarray(is_batch)
    score = -np.arange(float(len(y))) if score is None else score
    options = {"random_state": 0} | options
    return batch_limits(y[~is_batch], score[~is_batch], score[is_batch], **options)


@pytest.mark.parametrize(("n", "m", "share"), [(30, 20, 0.3), (7, 25, 0.6), (40, 3, 0.1)])
def test_limits_of_one_number_are_those_of_the_definition(n, m, share):
    rng = np.random.default_rng(n)
    for k in (1, m // 2, m):
        y = (rng.random(n + m) < share * np.linspace(2.0, 0.0, n + m)).astype(int)
        is_batch = rng.permutation(np.arange(n + m) < m)
        limits = limits_of(y, is_batch, k=k, level=0.9)
        of_lists = y.tolist(), is_batch.tolist(), k, 0.1
        assert limits.low.tolist() == [oracle.lower_limit(*of_lists)]
        assert limits.high.tolist() == [oracle.upper_limit(*of_lists)]
        drawn, hits, _ = oracle.counts(*of_lists[:3])
        np.testing.assert_allclose(limits.estimate, k * hits / drawn if drawn else np.nan)


@pytest.mark.slow
def test_errors_over_all_places_are_at_most_as_rare_as_said():
    rng, n, m, error = np.random.default_rng(0), 4, 5, 0.3
    rates = []
    for _ in range(12):
        y = (rng.random(n + m) < rng.random()).astype(int)
        wrong = []
        for rows in combinations(range(n + m), m):
            is_batch = np.isin(np.arange(n + m), rows)
            truth = np.cumsum(y[is_batch])
            single = limits_of(y, is_batch, k=3, level=1.0 - error)
            every = limits_of(y, is_batch, level=1.0 - error)
            wrong.append(
                [
                    single.low[0] > truth[2],
                    single.high[0] < truth[2],
                    (every.low > truth).any(),
                    (every.high < truth).any(),
                ]
            )
        rates.append(np.mean(wrong, axis=0))
    assert np.max(rates) <= error
    # And not much rarer for some labels, though counts are whole numbers.
    assert np.min(np.max(rates, axis=0)[:2]) > 0.4 * error


def test_the_limits_of_a_range_hold_for_each_number_between():
    rng, n = np.random.default_rng(1), 1000
    wrong = np.zeros(2)
    for _ in range(100):
        score = rng.normal(size=n)
        y = (rng.random(n) < 1.0 / (1.0 + np.exp(3.0 - 2.0 * score))).astype(int)
        is_batch = rng.permutation(n) < n // 2
        limits = limits_of(y, is_batch, score, k=np.arange(10, 81), level=0.8)
        truth = np.cumsum(y[is_batch][limits.order])[limits.k - 1]
        wrong += [(limits.low > truth).any(), (limits.high < truth).any()]
        for bound in (limits.low, limits.high):
            assert np.isin(np.diff(bound), (0, 1)).all()
        k = limits.largest_k(0.5)
        assert k == 0 or limits.low[limits.k == k] >= 0.5 * k
    assert (wrong <= 25).all()
    assert (wrong > 2).all()


def test_limits_of_several_numbers_err_as_said_for_the_worst_labels():
    """Few positives first make the looks least alike, and equal numbers of both classes next."""
    n, m, numbers, error = 30, 30, (5, 8, 12, 18, 25), 0.2
    tail = tail_of_looks(numbers, n, m, error)
    halves = [i % 2 for i in range(n + m)]
    rare = [[int(i % every == every - 1) for i in range(10)] + halves[10:] for every in (3, 5, 9)]
    labels = [halves, *rare, *([1 - label for label in y] for y in rare)]
    errors = [oracle.chance_of_an_error(y, m, numbers, tail) for y in labels]
    assert 0.7 * error < max(errors) <= error
    # A union has at most this.
    assert tail > 1.5 * error / len(numbers)


def test_the_chance_of_an_error_is_that_of_all_places():
    y, m, numbers = [1, 0, 0, 1, 1, 0, 1, 0], 4, (1, 2, 4)
    wrong = []
    for rows in combinations(range(8), m):
        is_batch = np.isin(np.arange(8), rows).tolist()
        truths = [oracle.counts(y, is_batch, k)[2] for k in numbers]
        lows = [oracle.lower_limit(y, is_batch, k, 0.3) for k in numbers]
        wrong.append(any(low > truth for low, truth in zip(lows, truths, strict=True)))
    np.testing.assert_allclose(oracle.chance_of_an_error(y, m, numbers, 0.3), np.mean(wrong))


def test_tied_rows_are_in_a_random_order_that_is_told():
    rng = np.random.default_rng(2)
    y, y_score = rng.integers(0, 2, 50), np.repeat([1.0, 0.0], 25)
    batch_score = np.tile([0.0, 1.0], 10)
    first, same, other = (
        batch_limits(y, y_score, batch_score, k=5, random_state=seed) for seed in (0, 0, 1)
    )
    assert first.order.tolist() == same.order.tolist() != other.order.tolist()
    assert (np.diff(batch_score[first.order]) <= 0.0).all()
    assert first.low == same.low
    lows = [batch_limits(y, y_score, batch_score, k=5, random_state=i).low[0] for i in range(50)]
    assert len(set(lows)) > 1


def test_few_numbers_are_narrower_than_all():
    rng = np.random.default_rng(3)
    y = (rng.random(2000) < 0.3).astype(int)
    score = 2.0 * y + rng.normal(size=2000)
    single, three, some, every = (
        batch_limits(y[:1000], score[:1000], score[1000:], k=k)
        for k in (100, (50, 100, 200), np.arange(50, 201), None)
    )
    lows = [int(limits.low[limits.k == 100][0]) for limits in (single, three, some, every)]
    assert lows == sorted(lows, reverse=True)
    assert lows[0] > lows[2]
    assert "each limit 95 %" in str(single)
    assert "for all k at once" in every._repr_html_()


@pytest.mark.parametrize("n", [1, 2, 1000])
def test_few_labelled_rows_and_long_batches_have_limits(n):
    rng = np.random.default_rng(4)
    limits = batch_limits(rng.integers(0, 2, n), rng.normal(size=n), rng.normal(size=30_000))
    assert (limits.low <= limits.high).all()
    assert limits.k[-1] == 30_000
    assert np.isin(np.diff([limits.low, limits.high]), (0, 1)).all()


@for_each(
    ("options", "message"),
    [
        ({"k": 0}, "k=0 must be at least 1 and at most 3"),
        ({"k": 4}, "k=4 must be at least 1 and at most 3"),
        ({"k": []}, "k has no number"),
        ({"batch_score": []}, "batch_score is empty"),
        ({"batch_score": [1.0, np.nan]}, "batch_score"),
        ({"batch_score": [1.0, 2.0, 3.0, 4.0]}, "batch_score equals y_score"),
        ({"level": 1.0}, "level"),
        ({"y_true": [1, 0, np.nan, 0]}, "NaN"),
        ({"y_true": ["a", "b", "a", "b"]}, "pos_label"),
    ],
)
def test_bad_input_is_refused(options, message):
    arguments = {"y_true": [1, 0, 1, 0], "y_score": [1.0, 2.0, 3.0, 4.0]}
    arguments |= {"batch_score": [2.0, 1.0, 0.0]} | options
    with pytest.raises(ValueError, match=message):
        batch_limits(**arguments)


def test_the_largest_k_has_the_precision_up_to_rounding():
    numbers, low = np.arange(1, 101), np.arange(1, 101) - 1
    for k in (7, 25, 29, 100):
        limits = BatchLimits(numbers[:k], low[:k] * 7 // 25, numbers[:k], low[:k], low, 0.95)
        limits.low[-1] = 7
        assert limits.largest_k(7 / k) == k
    assert "highest precision by low: 0.277, of the first 94; largest" in str(limits)
    for wrong in (0.0, 80, "0.8"):
        with pytest.raises(ValueError, match=r"min_precision=.* must be a number in \(0, 1\]"):
            limits.largest_k(wrong)


@pytest.mark.slow
def test_rows_labelled_by_a_design_are_a_random_sample():
    """The first rows of a champion all have labels, of the others one in ten."""
    failures, n_runs = np.zeros(2), 300
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        y = rng.random(1500) < 0.3
        score = y + rng.normal(size=1500)
        champion = y + rng.normal(size=1500)
        order = np.argsort(-champion[:1000])
        known = np.append(order[:200], rng.choice(order[200:], 160, replace=False))
        labels = np.full(1000, np.nan)
        labels[known] = y[known]
        design = LabelDesign(review_top=200, audit=160, scores=champion[:1000])
        sample = labels, score[:1000], score[1000:]
        limits = batch_limits(*sample, k=100, level=0.8, design=design, random_state=seed)
        hits = y[1000:][limits.order[:100]].sum()
        failures[0] += hits < limits.low[0]
        # The labels as they are promise too much.
        alone = batch_limits(y[known], score[known], score[1000:], k=100, level=0.8)
        failures[1] += hits < alone.low[0]
    assert failures[0] <= 0.2 * n_runs
    assert failures[1] > 0.25 * n_runs
    with pytest.raises(ValueError, match=r"y_true has shape \(1000,\), but y_score \(999,\)"):
        batch_limits(labels, score[:999], score[1000:], design=design)


# -------------------------------------------------------------------- groups, and other batches


@pytest.mark.parametrize("error", [0.1, 0.4])
def test_errors_over_draws_of_groups_are_at_most_as_rare_as_said(error):
    rng, n_groups, rates = np.random.default_rng(5), 60, []
    for share in (0.1, 0.5, 0.9):
        sizes = rng.integers(1, 5, n_groups)
        hits = rng.binomial(sizes, rng.beta(share, 1.0 - share, n_groups))
        options = n_groups, int(sizes.sum()), int(sizes.max()), error
        draws = (rng.permutation(n_groups)[:40] for _ in range(400))
        of_draws = ((hits[drawn].astype(float), sizes[drawn].astype(float)) for drawn in draws)
        wrong = [fewest_hits_of_groups(*drawn, *options) > hits.sum() for drawn in of_draws]
        rates.append(np.mean(wrong))
    assert max(rates) <= error + 3.0 * np.sqrt(error * (1.0 - error) / 400)
    assert max(rates) > 0.1 * error


def test_rows_of_one_group_each_have_limits_near_those_of_rows():
    rng = np.random.default_rng(6)
    y = (rng.random(2000) < 0.5).astype(int)
    score = 2.0 * y + rng.normal(size=2000)
    is_batch = np.arange(2000) < 1000
    ids = {"groups": np.arange(1000), "batch_groups": np.arange(1000, 2000)}
    rows, groups = (
        limits_of(y, is_batch, score, k=np.arange(50, 401), **options) for options in ({}, ids)
    )
    assert (groups.order == rows.order).mean() > 0.9
    loss = (rows.low - groups.low)[100:] / rows.k[100:]
    assert 0.0 < loss.mean() < 0.07
    named = limits_of(
        y, is_batch, score, k=np.arange(50, 401), **{k: v.astype(str) for k, v in ids.items()}
    )
    assert (named.low <= named.high).all()


@pytest.mark.slow
def test_weights_of_a_shift_make_the_sample_like_the_batch():
    """In the batch there are twice as many rows of a kind of which few are positive."""
    wrong, equal = np.zeros(2), 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        kind = rng.random(1600) < np.repeat([0.25, 0.5], 800)
        y = (rng.random(1600) < np.where(kind, 0.2, 0.8)).astype(int)
        score = rng.normal(size=1600)
        weight = np.where(kind, 0.5 / 0.25, 0.5 / 0.75)[:800]
        for i, options in enumerate(({}, {"density_ratio": weight})):
            limits = batch_limits(
                *(y[:800], score[:800], score[800:]),
                k=200,
                level=0.8,
                random_state=seed,
                **options,
            )
            wrong[i] += limits.low[0] > y[800:][limits.order[:200]].sum()
        equal += limits.low[0]
    assert wrong[0] > 0.5 * 300
    assert wrong[1] <= 0.2 * 300
    assert equal / 300 > 0.8 * 200 * 0.5


def test_equal_weights_keep_all_rows():
    rng = np.random.default_rng(7)
    y, score, batch = rng.integers(0, 2, 90), rng.normal(size=90), rng.normal(size=40)
    plain, weighted = (
        batch_limits(y, score, batch, k=20, **options)
        for options in ({}, {"density_ratio": np.full(90, 3.0)})
    )
    assert plain.low == weighted.low
    assert plain.estimate == weighted.estimate


@for_each(
    ("options", "message"),
    [
        ({"groups": [1, 1, 2, 2]}, "groups and batch_groups belong together"),
        ({"groups": [1, 1, 2, 2], "batch_groups": [3, 4, 1]}, "have 1 ids in common"),
        ({"groups": [1, 1, 2], "batch_groups": [3, 4, 5]}, r"groups\[0\]"),
        ({"groups": [1, 1, 2, 2], "batch_groups": list("abc")}, "different types"),
        ({"density_ratio": [1.0, 1.0]}, "density_ratio"),
        ({"density_ratio": [1.0, 1.0, -1.0, 0.0]}, "density_ratio"),
        (
            {"density_ratio": np.ones(4), "groups": [1, 1, 2, 2], "batch_groups": [3, 4, 5]},
            "choose single rows",
        ),
    ],
)
def test_groups_and_weights_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        batch_limits([1, 0, 1, 0], [1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 0.0], **options)
