"""The bound of the precision at the top: by definition, as a guarantee, and what is refused."""

from math import nan

import numpy as np
import pytest

from sklearn_rank.bounds import precision_at_top_bound
from sklearn_rank.bounds._rank_statistics import top_precision_limits
from tests.naming import for_each
from tests.oracles import precision_at_top as oracle


def ranks_of(labels):
    """Ascending ranks of the positives, labels from the top."""
    return len(labels) - np.flatnonzero(labels)


@pytest.mark.parametrize("tau", [0.07, 0.3, 0.6])
def test_by_definition(tau):
    rng = np.random.default_rng(0)
    for n, share in ((9, 0.3), (14, 0.2), (14, 0.7)):
        chance = np.linspace(1, 0, n) ** 2 * share * 3
        labels = (rng.random(n) < chance).astype(int)
        labels[[0, -1]] = 1, 0
        top = max(1, int(np.floor(tau * n + 0.5)))
        seen = labels[:top].mean()
        low = oracle.lower_limit(labels.tolist(), tau, 0.05)
        high = 1 - oracle.lower_limit((1 - labels).tolist(), tau, 0.05)
        for side, expected in {"lower": seen - low, "upper": high - seen}.items():
            found = precision_at_top_bound(ranks_of(labels), n, 0.1, tau=tau, side=side)
            assert found.value == pytest.approx(max(expected, 0), abs=5e-3)
        both = precision_at_top_bound(ranks_of(labels), n, 0.2, tau=tau, side="both")
        assert both.value == pytest.approx(max(seen - low, high - seen, 0), abs=5e-3)
        four = precision_at_top_bound(ranks_of(labels), n, 0.4, tau=tau, n_functions=4)
        assert four.value == pytest.approx(seen - low, abs=5e-3)


def heavy(rng, n_pos, n_neg, n_samples):
    """Cauchy scores of samples, the positives higher by 3; precision of the top by a large one."""
    scores = rng.standard_cauchy((n_samples, n_pos + n_neg))
    scores[:, :n_pos] += 3.0
    return scores


@pytest.mark.parametrize(("n_pos", "n_neg", "tau"), [(8, 40, 0.1), (30, 30, 0.2), (50, 450, 0.1)])
def test_the_limit_of_the_best_of_several_fails_seldom(n_pos, n_neg, tau):
    # Ten equally good scorers, the one with the largest limit: delta is shared by all of them.
    rng = np.random.default_rng(1)
    large = heavy(rng, 100_000 * n_pos // (n_pos + n_neg), 100_000 * n_neg // (n_pos + n_neg), 1)
    threshold = np.quantile(large, 1 - tau)
    n_large = 100_000 * n_pos // (n_pos + n_neg)
    above = large[0] > threshold
    truth = above[:n_large].sum() / above.sum()
    delta, n_samples = 0.2, 120
    scores = heavy(rng, n_pos, n_neg, 10 * n_samples)
    neg, pos = np.sort(scores[:, n_pos:]), -np.sort(-scores[:, :n_pos])
    above = np.stack(
        [n_neg - np.searchsorted(a, b, "left") for a, b in zip(neg, pos, strict=True)]
    )

    def failures(each):
        tails = np.full(len(above), np.log(each))
        limits = top_precision_limits(above, n_pos + n_neg, tau, tails)
        return np.mean(limits.reshape(-1, 10).max(axis=1) > truth)

    assert failures(delta / 10) <= delta
    # Of limits that are too near it would be seen.
    assert failures(0.9) > 2 * delta


@for_each(
    ("arguments", "message"),
    [
        (([0, 1], 5, 0.1), "rank_pos must be distinct whole numbers in"),
        (([1, 6], 5, 0.1), "rank_pos must be distinct whole numbers in"),
        (([2, 2], 5, 0.1), "rank_pos must be distinct whole numbers in"),
        (([1.5], 5, 0.1), "rank_pos must be distinct whole numbers in"),
        (([nan], 5, 0.1), "rank_pos"),
        (([], 5, 0.1), "rank_pos is empty"),
        (([1, 2], 2, 0.1), "All n=2 items are positive"),
        (([1], 5, 0.0), "delta=0"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        precision_at_top_bound(*arguments, tau=0.1)
    with pytest.raises(ValueError, match=r"tau=1\.0"):
        precision_at_top_bound([1], 5, 0.1, tau=1.0)
