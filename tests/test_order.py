"""Sorting, the mass of the top and its quantile."""

import itertools

import numpy as np
import pytest

from sklearn_rank import _order
from sklearn_rank._order import (
    class_blocks,
    class_codes,
    descending,
    leading,
    pairs_in_order,
    quantile_at_mass,
    quantiles_at_masses,
    ragged_ranges,
    running_totals,
    sorted_descending,
    tied_blocks,
    top_class_blocks,
    top_mass,
    top_masses,
    top_threshold,
)
from tests.naming import for_each


def test_blocks_descend_and_hold_ties():
    score = np.array([1.0, 3.0, -0.0, 1.0, 0.0, np.inf])
    blocks = tied_blocks(score)
    assert score[blocks.order].tolist() == [np.inf, 3, 1, 1, 0, 0]
    assert blocks.starts.tolist() == [0, 1, 2, 4]
    assert blocks.lengths().tolist() == [1, 1, 2, 2]
    assert blocks.totals(np.arange(6.0)).tolist() == [5, 1, 3, 6]
    assert blocks.running(np.arange(4.0)).tolist() == [0, 1, 3, 6]
    assert blocks.list_totals(np.arange(4.0)).tolist() == [6]


def ragged(rng, n_lists=6, longest=9):
    """Offsets, scores with many ties, classes and weights of lists of random lengths."""
    offsets = np.append(0, np.cumsum(rng.integers(1, longest, n_lists)))
    n = offsets[-1]
    return offsets, rng.integers(0, 4, n) / 1.0, rng.random(n) < 0.5, rng.integers(1, 4, n) / 1.0


def test_lists_are_sorted_each_by_itself():
    rng = np.random.default_rng(0)
    for _ in range(50):
        offsets, score, _, weight = ragged(rng)
        order, ordered = descending(score, offsets)
        assert ordered.tolist() == score[order].tolist()
        values = sorted_descending(score, offsets)
        blocks = tied_blocks(score, offsets)
        totals = blocks.totals(weight)
        lists = blocks.list_of()
        for i, (begin, end) in enumerate(itertools.pairwise(offsets)):
            assert sorted(order[begin:end]) == list(range(begin, end))
            assert values[begin:end].tolist() == sorted(score[begin:end], reverse=True)
            assert score[order[begin:end]].tolist() == values[begin:end].tolist()
            distinct = np.unique(score[begin:end])[::-1]
            expected = [weight[begin:end][score[begin:end] == s].sum() for s in distinct]
            assert totals[lists == i].tolist() == expected
            assert blocks.running(totals)[lists == i].tolist() == np.cumsum(expected).tolist()
            assert blocks.list_totals(totals)[i] == weight[begin:end].sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_of_a_class_by_counting(weighted):
    rng = np.random.default_rng(1)
    for _ in range(100):
        offsets, score, held, weight = ragged(rng)
        if not weighted:
            weight[:] = 1
        blocks = class_blocks(score, held, weight if weighted else None, offsets)
        found = np.stack(
            (blocks.of_class, blocks.of_other, blocks.class_below, blocks.other_below), 1
        )
        for i, (begin, end) in enumerate(itertools.pairwise(offsets)):
            s, h, w = score[begin:end], held[begin:end], weight[begin:end]
            expected = [
                [w[side & place].sum() for place in (s == v, s < v) for side in (h, ~h)]
                for v in np.unique(s[h])
            ]
            here = blocks.list_of == i
            assert found[here].tolist() == expected
            assert (blocks.n_class[i], blocks.n_other[i]) == (w[h].sum(), w[~h].sum())
            if expected:
                assert found[blocks.top[i]].tolist() == expected[-1]
                above = w.sum() - blocks.below - blocks.of_class - blocks.of_other
                assert (blocks.class_above + blocks.other_above)[here].tolist() == (
                    above[here].tolist()
                )
            one = class_blocks(s, h, w if weighted else None)
            alone = np.stack((one.of_class, one.of_other, one.class_below, one.other_below), 1)
            assert alone.tolist() == expected


def test_ranges_and_running_totals():
    assert ragged_ranges(np.array([3, 7, 1]), np.array([2, 0, 3])).tolist() == [3, 4, 1, 2, 3]
    assert ragged_ranges(np.array([], dtype=int), np.array([], dtype=int)).tolist() == []
    values = np.array([1e16, 1.0, 2.0, 3.0])
    assert running_totals(values, np.array([0, 1])).tolist() == [1e16, 1, 3, 6]
    assert values.tolist() == [1e16, 1, 2, 3]


def test_masses_of_lists_are_those_of_each():
    rng = np.random.default_rng(2)
    for _ in range(50):
        offsets, _, _, weight = ragged(rng)
        tau = rng.uniform(0.01, 0.99)
        lists = np.split(weight, offsets[1:-1])
        masses, small = top_masses(
            np.array([w.sum() for w in lists]), tau, np.ones(6, dtype=bool), np.ones(6)
        )
        assert [top_mass(w, tau) for w in lists] == list(zip(masses, small, strict=True))


@for_each(
    ("n", "tau", "expected"),
    [(100, 0.07, 7), (105, 0.19, 20), (105, 0.14, 15), (105, 0.095, 10), (105, 0.05, 5),
     (105, 0.01, 1), (7, 0.5, 4), (3, 0.99, 3), (50, 0.29, 15), (50, 0.57, 29), (15, 1 - 0.9, 2),
     (50, 0.28, 14), (10**9, 0.07, 7 * 10**7)],
)  # fmt: skip
def test_mass_of_whole_weights(n, tau, expected):
    assert top_mass(np.array([float(n - 1), 1.0]), tau) == (expected, False)
    if n < 1000:
        assert top_mass(np.ones(n), tau) == (expected, False)


def test_a_top_of_less_than_one_item_is_small():
    assert top_mass(np.ones(4), 0.1) == (1.0, True)
    assert top_mass(np.ones(5), 0.1) == (1.0, False)
    assert top_mass(np.array([0.5, 0.25]), 0.3)[1]
    assert not top_mass(np.array([0.5, 0.25]), 0.4)[1]


def test_quantile_by_repetition():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = rng.integers(1, 8)
        scores = rng.integers(0, 5, (3, n)).astype(float)
        weight = rng.integers(1, 4, n).astype(float)
        mass, _ = top_mass(weight, rng.uniform(0.01, 0.99))
        for row, quantile in zip(scores, quantile_at_mass(scores, weight, mass), strict=True):
            repeated = np.sort(np.repeat(row, weight.astype(int)))[::-1]
            assert quantile == repeated[int(mass) - 1]


def test_one_sort_gives_the_quantiles_of_several_tops():
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 9, (3, 12)).astype(float)
    one, two = rng.integers(1, 4, (2, 12)).astype(float)
    tops = [(one, 2.0), (one, 7.0), (two, 3.0), (one, 2.0)]
    for (weight, mass), found in zip(tops, quantiles_at_masses(scores, tops), strict=True):
        repeated = np.sort(np.repeat(scores, weight.astype(int), axis=1), axis=1)[:, ::-1]
        np.testing.assert_array_equal(found, repeated[:, int(mass) - 1])


def test_quantile_of_real_weights_allows_for_rounding():
    weight = np.full(10, 0.1)
    scores = np.arange(10.0)
    mass, _ = top_mass(weight, 0.3)
    assert quantile_at_mass(scores, weight, mass) == 7.0
    # Eight times .1 add up to less than .8.
    mass, _ = top_mass(weight, 0.8)
    assert quantile_at_mass(scores, weight, mass) == 2.0
    mass, _ = top_mass(weight, 1 - 1e-15)
    assert quantile_at_mass(scores, weight, mass) == 0.0


@for_each(
    "scores",
    [
        [3.0, 2.0, 1.0],
        [1.0, np.nextafter(1.0, 0.0), 0.0],
        [1.7e308, 1.6e308, -1.7e308],
        [np.inf, 0.0, -np.inf],
        [5e-324, 0.0, -5e-324],
    ],
)
def test_threshold_parts_the_top_from_the_rest(scores):
    scores = np.array(scores)
    for j in (1, 2):
        quantile, threshold = top_threshold(scores, np.ones(3), float(j))
        assert quantile == scores[j - 1]
        assert scores[j] <= threshold < quantile
        assert np.count_nonzero(scores > threshold) == j


def test_threshold_is_midway_even_between_large_scores():
    _, threshold = top_threshold(np.array([1.7e308, 1.6e308]), np.ones(2), 1.0)
    assert threshold == pytest.approx(1.65e308, rel=1e-15)


@pytest.mark.parametrize("scores", [[-np.finfo(float).max], [0.0], [np.inf], [2.0, 2.0]])
def test_threshold_below_all_scores(scores):
    quantile, threshold = top_threshold(np.array(scores), np.ones(len(scores)), 1.0)
    assert threshold < quantile == scores[0]


def test_scores_within_their_rounding_are_tied():
    scores = np.array([1.0, 1.0 + 2e-16, 0.5, 1.0 - 1e-16, 2.0])
    error = np.full(5, 1e-15)
    quantile, threshold = top_threshold(scores, np.ones(5), 2.0, error)
    assert quantile == 1.0 - 1e-16
    assert threshold == pytest.approx(0.75)
    assert top_threshold(scores, np.ones(5), 2.0)[1] > 1.0 - 1e-16
    _, threshold = top_threshold(scores[:2], np.ones(2), 1.0, error[:2])
    assert threshold < 1.0 - 9e-16


HARD = {
    "infinite": [np.inf, -np.inf, 1e308, -1e308, 0.0, -0.0, 3.0],
    "only infinite": [np.inf, -np.inf],
    "zeros": [0.0, -0.0],
    "subnormal": [5e-324, -5e-324, 1e-320, 0.0, -0.0, 1e-310],
    "subnormal and large": [5e-324, 1e-320, 0.0, 1e5, -1e5, -5e-324, 2e-308],
    "neighbours": [1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), -1.0, np.nextafter(-1.0, 0)],
    "large neighbours": [1e300, np.nextafter(1e300, np.inf), -1e300, np.inf],
}


@for_each("name", HARD)
def test_class_codes_order_as_the_values(name):
    for dtype in (np.float64, np.float32):
        rng = np.random.default_rng(2)
        with np.errstate(over="ignore"):
            values = rng.choice(np.array(HARD[name], dtype=np.float64), 60).astype(dtype)
        held = rng.random(60) < 0.4
        for offsets in (None, np.arange(0, 61, 20), np.array([0, 1, 2, 30, 60])):
            codes = class_codes(values, held, offsets)
            ends = [0, 60] if offsets is None else offsets
            for begin, end in itertools.pairwise(ends):
                order = np.argsort(values[begin:end], kind="stable")
                ordered, here = values[begin:end][order], codes[begin:end]
                tied = (here[1:] ^ here[:-1]) <= 1
                assert tied.tolist() == (ordered[1:] == ordered[:-1]).tolist()
                for value in np.unique(ordered):
                    labels = (here[ordered == value] & 1).tolist()
                    assert sum(labels) == held[begin:end][values[begin:end] == value].sum()
                    assert labels in (sorted(labels), sorted(labels)[::-1])


def test_joined_blocks_are_runs_of_blocks_of_one_class():
    rng = np.random.default_rng(4)
    for _ in range(100):
        offsets, score, held, _ = ragged(rng)
        if rng.random() < 0.5:
            score += rng.integers(0, 9, len(score))
        blocks = class_blocks(score, held, None, offsets)
        joined = class_blocks(score, held, None, offsets, joined=True)
        expected = []
        rows = zip(
            blocks.list_of,
            blocks.of_class,
            blocks.of_other,
            blocks.class_below,
            blocks.other_below,
            strict=True,
        )
        for row in rows:
            last = expected[-1] if expected else None
            pure = last is not None and last[2] == row[2] == 0
            if pure and last[0] == row[0] and last[4] == row[4]:
                last[1] += row[1]
            else:
                expected.append(list(row))
        found = np.stack(
            (
                joined.list_of,
                joined.of_class,
                joined.of_other,
                joined.class_below,
                joined.other_below,
            ),
            1,
        )
        assert found.tolist() == expected
        assert joined.n_class.tolist() == blocks.n_class.tolist()


def test_pairs_and_the_topmost_block_by_all_blocks():
    rng = np.random.default_rng(5)
    for i in range(100):
        offsets, score, held, weight = ragged(rng, n_lists=1 + i % 7)
        weight = weight if i % 2 else np.ones(len(score))
        if i % 3 == 0:
            score = score.astype(np.int8) - 2
        in_order, n_pos, n_neg = pairs_in_order(score, held, offsets)
        top = top_class_blocks(score, held, weight if i % 2 else None, offsets)
        some = 0
        for j, (begin, end) in enumerate(itertools.pairwise(offsets)):
            s, h, w = (x[begin:end] for x in (score, held, weight))
            pairs = (np.sign(np.subtract.outer(s[h] * 1.0, s[~h] * 1.0)) + 1).sum() / 2
            assert (in_order[j], n_pos[j], n_neg[j]) == (pairs, h.sum(), (~h).sum())
            if h.any():
                first = s[h].max()
                expected = [
                    w @ (side & place) for place in (s == first, s < first) for side in (h, ~h)
                ]
                found = [
                    x[some] for x in (top.of_class, top.of_other, top.class_below, top.other_below)
                ]
                assert found == expected
                some += 1


def test_leading_items_are_those_at_least_as_high_as_the_last_wanted():
    rng = np.random.default_rng(6)
    n = _order.LONG
    offsets = np.array([0, 5, 5 + n, 9 + n, 9 + 3 * n])
    score = rng.integers(0, 50, offsets[-1])
    counts = np.array([1, 10, 2, 300])
    rows = leading(score, counts, offsets)
    expected = np.ones(len(score), dtype=bool)
    for begin, end, count in ((5, 5 + n, 10), (9 + n, 9 + 3 * n, 300)):
        part = score[begin:end]
        expected[begin:end] = part >= np.sort(part)[-count]
    assert rows.tolist() == np.flatnonzero(expected).tolist()
    assert leading(score[: n // 2], np.array([1]), np.array([0, n // 2])) is None
    # The weights at the top are a tenth of those below.
    score, weight = rng.permutation(2 * n), np.ones(2 * n)
    weight[score >= n] = 0.1
    for mass in (0.05, 3.0, 0.01 * n):
        rows = leading(score, np.array([mass]), np.array([0, 2 * n]), weight)
        assert weight[rows].sum() >= mass
        assert np.array_equal(np.sort(score[rows]), np.arange(2 * n - len(rows), 2 * n))
        assert len(rows) <= 30 * mass + 100
    assert leading(np.zeros(n), np.array([1]), np.array([0, n])) is None
