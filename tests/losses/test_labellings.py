"""The most violated labelling, against all labellings; ties; weights."""

from functools import partial

import numpy as np
import pytest

from sklearn_rank.losses._labellings import (
    PairLabellings,
    RowLabellings,
    TopLabellings,
    average_precision_rule,
    f1_rule,
)
from tests.oracles import labellings as oracle


def top(positive, weight, k=2, reference="labels", recall=False):
    unit = float(weight[positive].sum()) if recall else float(k)
    return TopLabellings(positive, weight, mass=float(k), unit=unit, reference=reference)


MAKERS = {
    "auc": PairLabellings,
    "precision": top,
    "recall": lambda p, w: top(p, w, recall=True),
    "best": lambda p, w: top(p, w, reference="best"),
    "ap": partial(RowLabellings, average_precision_rule),
    "f1": partial(RowLabellings, f1_rule),
}
every_maker = pytest.mark.parametrize("name", MAKERS)


def cases(n_cases, largest, seed=0):
    """Labels of both classes and scores: whole numbers with ties, parts of them, zeros, real."""
    rng = np.random.default_rng(seed)
    for case in range(n_cases):
        n = int(rng.integers(2, largest + 1))
        positive = np.zeros(n, dtype=bool)
        positive[rng.permutation(n)[: rng.integers(1, n)]] = True
        kind = case % 4
        if kind == 0:
            scores = rng.integers(-2, 3, n).astype(float)
        elif kind == 1:
            scores = rng.integers(-4, 5, n) / 4
        elif kind == 2:
            scores = rng.normal(size=n)
        else:
            scores = np.zeros(n)
        yield positive, scores


def value(labelling, scores):
    return labelling.offset + labelling.factors @ scores


def test_auc_against_all_labellings():
    tried = 0
    for positive, scores in cases(200, 7):
        if positive.sum() * (~positive).sum() > 9:
            continue
        tried += 1
        found = PairLabellings(positive, np.ones(len(scores)))(scores)
        assert value(found, scores) == pytest.approx(oracle.auc(positive, scores), abs=1e-13)
    assert tried > 50


@pytest.mark.parametrize("reference", ["labels", "best"])
@pytest.mark.parametrize("recall", [False, True])
def test_the_top_against_all_sets(reference, recall):
    for positive, scores in cases(200, 7):
        for k in range(1, len(scores)):
            unit = float(positive.sum()) if recall else float(k)
            hinge = top(positive, np.ones(len(scores)), k, reference, recall)
            goal = unit if reference == "labels" else min(k, positive.sum())
            expected = oracle.top(positive.tolist(), scores, k, unit, goal, reference)
            assert value(hinge(scores), scores) == pytest.approx(expected, abs=1e-13)


def test_average_precision_against_all_orders():
    for positive, scores in cases(200, 6):
        found = RowLabellings(average_precision_rule, positive, np.ones(len(scores)))(scores)
        expected = oracle.average_precision(positive, scores)
        assert value(found, scores) == pytest.approx(expected, abs=1e-13)


def test_f1_against_all_sets():
    for positive, scores in cases(200, 8):
        found = RowLabellings(f1_rule, positive, np.ones(len(scores)))(scores)
        expected = oracle.f1(positive.tolist(), scores)
        assert value(found, scores) == pytest.approx(expected, abs=1e-13)


def test_some_of_the_tied_negatives_are_in_the_most_violated_set():
    """Each further one costs the same and adds less to the loss."""
    rng = np.random.default_rng(0)
    inside = 0
    for n_pos, n_neg in ((1, 6), (2, 6), (3, 5)):
        positive = np.arange(n_pos + n_neg) < n_pos
        for score in -np.arange(1, 13) / 16:
            scores = np.where(positive, 3.0, score)
            found = RowLabellings(f1_rule, positive, np.ones(len(scores)))(scores)
            expected = oracle.f1(positive.tolist(), scores)
            assert value(found, scores) == pytest.approx(expected, abs=1e-13)
            of_negatives = found.factors[~positive]
            np.testing.assert_array_equal(of_negatives, of_negatives[0])
            inside += 0 < of_negatives[0] * 2 * n_pos < 1
            apart = scores + np.where(positive, 0.0, 0.3 * rng.normal(size=len(scores)))
            found = RowLabellings(f1_rule, positive, np.ones(len(scores)))(apart)
            assert value(found, apart) == pytest.approx(oracle.f1(positive.tolist(), apart))
    assert inside > 10


def test_average_precision_of_longer_lists_against_all_places_of_each_negative():
    rng = np.random.default_rng(0)
    for n_pos, n_neg in ((1, 40), (40, 1), (17, 64), (30, 63), (50, 65)):
        positive = np.arange(n_pos + n_neg) < n_pos
        for scale in (0.0, 0.3, 3.0):
            scores = scale * rng.normal(size=n_pos + n_neg)
            found = RowLabellings(average_precision_rule, positive, np.ones(len(scores)))(scores)
            high, low = np.sort(scores[positive])[::-1], np.sort(scores[~positive])[::-1]
            expected = 0.0
            for j, score in enumerate(low, 1):
                by_pair = [
                    (j / (j + i) - (j - 1) / (j + i - 1)) / n_pos + (score - one) / (n_pos * n_neg)
                    for i, one in enumerate(high, 1)
                ]
                expected += max(sum(by_pair[p:]) for p in range(n_pos + 1))
            assert value(found, scores) == pytest.approx(expected, abs=1e-12)


@every_maker
def test_it_is_a_tangent(name):
    """Nowhere above the hinge, equal where it was made."""
    rng = np.random.default_rng(1)
    for positive, scores in cases(100, 9, seed=2):
        if len(scores) < 3:
            continue
        hinge = MAKERS[name](positive, np.ones(len(scores)))
        found = hinge(scores)
        for scale in (1e-6, 0.1, 1.0):
            near = scores + scale * rng.integers(-2, 3, len(scores))
            assert value(found, near) <= value(hinge(near), near) + 1e-12


@every_maker
def test_weights_are_repetitions(name):
    rng = np.random.default_rng(2)
    for positive, scores in cases(60, 8, seed=3):
        if len(scores) < 3:
            continue
        weight = rng.integers(1, 4, len(scores))
        rows = np.repeat(np.arange(len(scores)), weight)
        one = MAKERS[name](positive, weight.astype(float))(scores)
        two = MAKERS[name](positive[rows], np.ones(len(rows)))(scores[rows])
        assert one.offset == pytest.approx(two.offset, abs=1e-13)
        np.testing.assert_allclose(one.factors, np.bincount(rows, two.factors), atol=1e-13)


@pytest.mark.parametrize("name", ["auc", "precision", "recall", "best"])
def test_parts_of_a_row_are_parts(name):
    for positive, scores in cases(60, 8, seed=4):
        if len(scores) < 3:
            continue
        weight = np.linspace(0.6, 1.7, len(scores))
        whole = MAKERS[name](positive, weight)(scores)
        twice = np.repeat(np.arange(len(scores)), 2)
        parts = np.column_stack([0.3 * weight, 0.7 * weight]).ravel()
        split = MAKERS[name](positive[twice], parts)(scores[twice])
        assert split.offset == pytest.approx(whole.offset, abs=1e-13)
        np.testing.assert_allclose(np.bincount(twice, split.factors), whole.factors, atol=1e-13)


@every_maker
def test_tied_rows_of_one_class_are_treated_alike(name):
    for positive, scores in cases(100, 9, seed=5):
        if len(scores) < 3:
            continue
        found = MAKERS[name](positive, np.ones(len(scores)))(scores)
        for group in (positive, ~positive):
            for score in np.unique(scores[group]):
                alike = found.factors[group & (scores == score)]
                np.testing.assert_allclose(alike, alike[0], atol=1e-15)


@every_maker
def test_at_zero_the_whole_loss_is_made(name):
    positive = np.arange(20) < 5
    found = MAKERS[name](positive, np.ones(20))(np.zeros(20))
    expected = 1.0
    if name == "ap":
        expected = 1 - np.mean([i / (15 + i) for i in range(1, 6)])
    if name == "best":
        expected = 1.0
    assert found.offset == pytest.approx(expected)


def test_a_hinge_of_no_violation_is_zero():
    positive = np.arange(8) < 3
    scores = np.where(positive, 5.0, -5.0)
    for name, make in MAKERS.items():
        found = make(positive, np.ones(8))(scores)
        assert value(found, scores) == pytest.approx(0.0, abs=1e-15), name


def test_large_lists_are_exact():
    """Value of many pairs against blocks of them."""
    rng = np.random.default_rng(0)
    positive, scores = rng.random(3000) < 0.3, rng.normal(size=3000).round(2)
    found = PairLabellings(positive, np.ones(3000))(scores)
    gap = scores[positive][:, None] - scores[~positive]
    assert value(found, scores) == pytest.approx(np.maximum(0, 1 - gap).mean(), rel=1e-12)
