"""Partial AUC and p-norm push, where the catalogue says nothing."""

from fractions import Fraction
from math import comb, inf

import numpy as np
import pytest

from sklearn_rank.metrics import (
    get_measure,
    partial_auc_score,
    positives_at_top_score,
    roc_auc_score,
)
from sklearn_rank.metrics._roc import _exceeding
from tests.oracles.partial_auc import area_by_blocks, scaled


def laid_out(blocks):
    """Labels and scores of blocks of tied positives and negatives, from the top."""
    y_true, y_score = [], []
    for i, (a, b) in enumerate(blocks):
        y_true += [1] * a + [0] * b
        y_score += [-i] * (a + b)
    return y_true, y_score


LIMITS = [(1.0, 0.0), (0.3, 0.0), (0.25, 0.5), (1.0, 0.3), (0.7, 0.35), (0.05, 0.9), (0.013, 0.6)]


@pytest.mark.parametrize(("max_fpr", "min_tpr"), LIMITS)
@pytest.mark.parametrize(
    "blocks",
    [
        [(60, 60)],
        [(5, 3), (60, 60), (4, 9)],
        [(1, 90), (2, 1)],
        [(90, 1), (1, 2)],
        [(30, 40), (20, 10), (1, 0), (0, 1), (40, 30)],
    ],
    ids=str,
)
def test_long_tied_blocks(blocks, max_fpr, min_tpr):
    y_true, y_score = laid_out(blocks)
    exact = area_by_blocks(blocks, max_fpr, min_tpr)
    for scale in ("raw", "mcclish", "normalized"):
        parameters = {"max_fpr": max_fpr, "min_tpr": min_tpr, "scale": scale}
        reference = float(scaled(exact, **parameters))
        value = partial_auc_score(y_true, y_score, **parameters)
        assert value == pytest.approx(reference, rel=1e-11, abs=1e-14)
    # The same blocks as items of whole weights, and twice as queries.
    items = [
        (i, label, count)
        for i, pair in enumerate(blocks)
        for label, count in zip((1, 0), pair, strict=True)
        if count
    ]
    level, label, weight = (np.array(column) for column in zip(*items, strict=True))
    value = partial_auc_score(
        np.tile(label, 2),
        np.tile(-level, 2),
        sample_weight=np.tile(weight, 2),
        qid=np.repeat([0, 1], len(label)),
        max_fpr=max_fpr,
        min_tpr=min_tpr,
        average=None,
    )
    assert value == pytest.approx([float(exact)] * 2, rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("size", [10**3, 10**6, 10**9])
def test_ever_longer_blocks_tend_to_the_diagonal(size):
    value = partial_auc_score([1, 0], [0, 0], sample_weight=[size, size], max_fpr=0.6, min_tpr=0.2)
    # Above .2 and left of .6 the diagonal leaves a triangle of side .4.
    assert value == pytest.approx(0.08, abs=2 / np.sqrt(size))
    straight = partial_auc_score(
        [1, 0], [0, 0], sample_weight=[2 * size + 1.5, size + 0.5], max_fpr=0.6, min_tpr=0.2
    )
    assert straight == pytest.approx(0.08, rel=1e-9)


def test_whole_area_is_the_auc_and_parts_add_up():
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 2, 300), rng.integers(0, 25, 300)
    for weight in (None, rng.integers(0, 4, 300), rng.uniform(0.1, 2, 300)):
        auc = roc_auc_score(y_true, y_score, sample_weight=weight)
        for scale in ("raw", "normalized", "mcclish"):
            value = partial_auc_score(y_true, y_score, scale=scale, sample_weight=weight)
            assert value == pytest.approx(auc, rel=1e-12)
        one_less = negative_height_loss(y_true, y_score, p=1, sample_weight=weight)
        assert one_less == pytest.approx(1 - auc, rel=1e-12)
        # Area grows with its limits, and is additive on both sides of the diagonal.
        fpr = [
            partial_auc_score(y_true, y_score, max_fpr=f, sample_weight=weight)
            for f in (0.1, 0.3, 0.99, 1.0)
        ]
        assert np.all(np.diff(fpr) > 0)
        tpr = [
            partial_auc_score(y_true, y_score, min_tpr=t, sample_weight=weight)
            for t in (0.0, 0.2, 0.7, 0.99)
        ]
        assert np.all(np.diff(tpr) < 0)


# ---------------------------------------------------------------------------------- p-norm push


def negative_height_loss(y_true, y_score, p, **options):
    return get_measure(f"negative_height_loss@{p:g}")(y_true, y_score, **options)


def push_by_blocks(blocks, p):
    n_pos = sum(a for a, _ in blocks)
    n_neg = sum(b for _, b in blocks)
    below, total = n_pos, Fraction(0)
    for a, b in blocks:
        below -= a
        # Each negative has 0 to a of the tied positives below it, all equally likely.
        powers = sum(Fraction(below + j, n_pos) ** p for j in range(a + 1))
        total += b * powers / (a + 1)
    return float(total / n_neg) ** (1 / p)


@pytest.mark.parametrize("blocks", [[(60, 60)], [(3, 0), (50, 1), (0, 4), (7, 80)]], ids=str)
def test_push_of_long_tied_blocks(blocks):
    for p in (1, 2, 7, 40):
        y_true, y_score = laid_out(blocks)
        value = negative_height_loss(y_true, y_score, p=p)
        assert value == pytest.approx(push_by_blocks(blocks, p), rel=1e-12)


def test_infinite_push_is_the_limit_and_the_positives_at_the_top():
    rng = np.random.default_rng(2)
    for _ in range(20):
        y_true, y_score = rng.integers(0, 2, 30), rng.permutation(30)
        y_true[:2] = [0, 1]
        limit = negative_height_loss(y_true, y_score, p=inf)
        assert limit == pytest.approx(
            1 - positives_at_top_score(y_true, y_score, normalize=True), abs=1e-15
        )
        losses = [negative_height_loss(y_true, y_score, p=p) for p in (1, 2, 10, 100, 10_000)]
        assert np.all(np.diff(losses) >= -1e-15)
        assert losses[-1] == pytest.approx(limit, rel=1e-3)
    # With ties: the mean over the orders, h0 + a b / (b + 1) of k.
    a, b = 7, 3
    value = negative_height_loss(*laid_out([(2, 0), (a, b), (4, 1)]), p=inf)
    assert value == pytest.approx((4 + a * b / (b + 1)) / 13)
    # Number of orders in which j of the a positives are below the first of b negatives.
    below = sum(j * comb(j + b - 1, b - 1) for j in range(a + 1)) / comb(a + b, b)
    assert below == pytest.approx(a * b / (b + 1))


def test_large_powers_neither_vanish_nor_overflow():
    y_true = np.r_[np.ones(500), np.zeros(500)]
    order = -np.arange(1000.0)
    assert negative_height_loss(y_true, order, p=1e4) == 0.0
    assert negative_height_loss(y_true, -order, p=1e4) == pytest.approx(1.0)
    one_below = order.copy()
    one_below[499] = -2000
    value = negative_height_loss(y_true, one_below, p=2000.0)
    assert value == pytest.approx(1 / 500)


def test_both_limits_within_a_block_by_all_orders():
    counts = [
        (a, b, r, c)
        for a in range(1, 8)
        for b in range(1, 8)
        for r in range(a + 1)
        for c in range(b + 1)
    ]
    by_orders = []
    for a, b, r, c in counts:
        # Over positives and negatives passed, how many orders lead there.
        ways = [[comb(i + j, i) for j in range(b + 1)] for i in range(a + 1)]
        total = 0
        for i in range(a + 1):
            for j in range(c):
                # Negative j + 1 comes after i positives.
                total += max(i - r, 0) * ways[i][j] * comb(a - i + b - j - 1, a - i)
        by_orders.append(total / comb(a + b, a))
    found = _exceeding(*np.array(counts, dtype=float).T)
    np.testing.assert_allclose(found, by_orders, rtol=1e-13, atol=1e-15)
