"""Certificates of recall: wrong at any look with at most the stated chance, at few labels."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import hypergeom

from sklearn_rank._promises._recall_certificate import chances_of_error, stopping_boundary
from sklearn_rank.inference import LabelDesign, recall_certificate

from ..oracles import recall as oracle


def at_look(n_rest, review, n, x, **options):
    """Certificate of a review of so many positives, and of a sample of n rows, x positive."""
    y_true = np.full(review + n_rest, np.nan)
    y_true[:review] = 1
    y_true[review : review + n] = np.arange(n) < x
    if not review:
        return recall_certificate(y_true, design="all", **options)
    scores = np.append(np.ones(review), np.zeros(n_rest))
    design = LabelDesign(review_top=review, scores=scores)
    return recall_certificate(y_true, design=design, **options)


@pytest.mark.parametrize(
    ("n_rest", "review", "recall", "level"),
    [(11, 4, 0.7, 0.8), (12, 9, 0.75, 0.7), (10, 1, 0.5, 0.8), (9, 12, 0.9, 0.6)],
)
def test_no_number_of_positives_makes_more_errors(n_rest, review, recall, level):
    @cache
    def is_shown(n, x):
        return at_look(n_rest, review, n, x, recall=recall, level=level).is_shown

    wrong = [
        oracle.wrong_share(n_rest, n_pos, review, recall, is_shown) for n_pos in range(n_rest + 1)
    ]
    assert 0.4 * (1 - level) < max(wrong) <= 1 - level


def test_chances_are_those_of_all_placements():
    boundary, too_many = np.array([3.0, 5.0, 6.0, 9.0]), np.array([2.0, 4.0, 5.0, 7.0])
    chances = chances_of_error(boundary, too_many, 11)
    for last, n_pos in enumerate(too_many.astype(int).tolist()):
        # With a recall that is never reached, each meeting of the boundary is wrong.
        expected = oracle.wrong_share(
            11, n_pos, 0, 2.0, lambda n, x, last=last: x <= last and n >= boundary[x]
        )
        assert chances[last] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("n_rest", "review", "recall"), [(3000, 100, 0.9), (5000, 1000, 0.95)])
def test_labels_until_the_certificate(n_rest, review, recall):
    """Against a look at the smallest number of labels that shows recall in 8 of 10 samples."""
    boundary = stopping_boundary(n_rest, review, recall, 0.05)
    most = np.floor((review + np.arange(400)) / recall * (1 + 1e-12)) - review
    rng = np.random.default_rng(0)
    for n_pos in (2, int(most[0]) // 2, int(most[0])):
        sizes = np.arange(n_rest)

        def shows(n, n_pos=n_pos):
            x = np.arange(n_pos + 1)
            ok = hypergeom.cdf(x, n_rest, most[x] + 1, n) <= 0.05
            return hypergeom.pmf(x, n_rest, n_pos, n)[ok].sum() >= 0.8

        alone = next(n for n in sizes[:: n_rest // 300] if shows(n))
        labels = []
        for _ in range(300):
            places = np.sort(rng.choice(n_rest, n_pos, replace=False)) + 1
            following = np.append(places, n_rest + 1)
            x = int(np.argmax(following > boundary[: n_pos + 1]))
            labels.append(max(boundary[x], places[x - 1] if x else 0))
        assert np.mean(labels) < 1.2 * alone


def test_what_is_found():
    found = at_look(1000, 50, 400, 1, recall=0.9)
    assert (found.n_found, found.n_sampled, found.n_rest) == (51, 400, 1000)
    assert found.estimate == 51 / 52.5
    assert not found.is_shown
    more = at_look(1000, 50, 400 + found.n_more, 1, recall=0.9)
    assert more.is_shown
    assert more.n_more == 0
    assert not at_look(1000, 50, 399 + found.n_more, 1, recall=0.9).is_shown
    # Before the first label, the number that suffices if none is positive.
    start = at_look(1000, 50, 0, 0, recall=0.9)
    assert np.isnan(start.estimate)
    assert at_look(1000, 50, start.n_more, 0, recall=0.9).is_shown
    # Rows that are left cannot hold so many positives.
    assert at_look(60, 1000, 1, 0, recall=0.9).is_shown
    assert not at_look(40, 0, 39, 0).is_shown
    assert at_look(20, 3, 20, 2).is_shown


def test_what_is_refused():
    y = [1, np.nan, 0, np.nan]
    unequal = LabelDesign(inclusion_probability=[1, 0.5, 0.25, 0.5])
    with pytest.raises(ValueError, match=r"probabilities from 0\.25 to 0\.5, .* in random order"):
        recall_certificate(y, design=unequal)
    with pytest.raises(TypeError, match="must be a LabelDesign"):
        recall_certificate(y, design=None)
    with pytest.raises(ValueError, match="recall=1"):
        recall_certificate(y, design="all", recall=1.0)
