"""Long lists and many queries, against quadratic sums over pairs of items and whole ranks.

The lists of the catalogue are short; these take the ways that are only for long ones.
"""

import numpy as np
import pytest
from scipy.special import ndtri

from sklearn_rank import metrics
from sklearn_rank.exceptions import SmallTopWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{SmallTopWarning.__module__}.SmallTopWarning")

N = 2000


def data(levels, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    y_true = (rng.random(N) < share).astype(int)
    # Blocks of very different lengths, and no ties at all.
    score = rng.permutation(N) if levels is None else rng.geometric(1 / levels, N)
    return y_true, score.astype(float) * rng.choice([-1, 1])


LISTS = [data(None), data(4), data(60, 0.02, 1), data(500, 0.9, 2), data(1, 0.5, 3)]
every_list = pytest.mark.parametrize(("y_true", "y_score"), LISTS, ids=["different", *"abcd"])


def places(score):
    """For each item: items above it, and items tied with it, itself included."""
    above = (score[:, None] < score).sum(axis=1)
    tied = (score[:, None] == score).sum(axis=1)
    return above, tied


def shared(by_position, score):
    """Mean, for each item, of the values of the positions that its tied block occupies."""
    above, tied = places(score)
    running = np.r_[0, np.cumsum(by_position)]
    return (running[above + tied] - running[above]) / tied


POSITION = np.arange(1, N + 1)
U = (N + 1 - POSITION) / (N + 1)
STATISTICS = [
    (metrics.linear_rank_score, {"phi": "wilcoxon"}, U),
    (metrics.linear_rank_score, {"phi": metrics.VanDerWaerden()}, ndtri(U)),
    (metrics.linear_rank_score, {"phi": metrics.Exponential(30)}, np.exp(-30 * (1 - U))),
    (metrics.linear_rank_score, {"phi": np.sqrt}, np.sqrt(U)),
    (
        metrics.linear_rank_score,
        {"phi": metrics.TopDCG(100)},
        np.where(POSITION <= 100, 1 / np.log2(POSITION + 1), 0),
    ),
    (metrics.local_auc_score, {"u0": 0.9, "normalize": "mean"}, np.where(U >= 0.9, U, 0)),
    (metrics.p_norm_push_score, {"p": 7.5, "normalize": "mean"}, U**7.5),
]


@every_list
@pytest.mark.parametrize(("function", "parameters", "by_position"), STATISTICS)
def test_linear_rank_statistics(function, parameters, by_position, y_true, y_score):
    expected = shared(by_position, y_score)[y_true == 1].mean()
    mean = function(y_true, y_score, **{"normalize": "mean", **parameters})
    assert mean == pytest.approx(expected, rel=1e-11)
    k = int(y_true.sum())
    best, worst = by_position[:k].mean(), by_position[-k:].mean()
    value = function(y_true, y_score, **{**parameters, "normalize": "minmax"})
    assert value == pytest.approx((expected - worst) / (best - worst), rel=1e-9, abs=1e-12)


@every_list
def test_middle_and_highest_ranks(y_true, y_score):
    above, tied = places(y_score)
    for ties, rank in (("max", N - above), ("mid", N - above - (tied - 1) / 2)):
        expected = ((rank / (N + 1)) ** 3)[y_true == 1].mean()
        value = metrics.linear_rank_score(
            y_true, y_score, phi=metrics.Power(3), ties=ties, normalize="mean"
        )
        assert value == pytest.approx(expected, rel=1e-12)


@every_list
def test_early_recognition(y_true, y_score):
    by_position = np.exp(-20 * POSITION / N)
    expected = shared(by_position, y_score)[y_true == 1].mean()
    value = metrics.rie_score(y_true, y_score)
    assert value == pytest.approx(expected / by_position.mean(), rel=1e-11)
    k = int(y_true.sum())
    best, worst = by_position[:k].mean(), by_position[-k:].mean()
    value = metrics.bedroc_score(y_true, y_score)
    assert value == pytest.approx((expected - worst) / (best - worst), rel=1e-10)


@every_list
def test_top_of_the_list(y_true, y_score):
    for j in (1, 20, 333, N):
        found = shared(j >= POSITION, y_score)[y_true == 1].sum()
        if j < N:
            tau = j / N
            value = metrics.precision_at_top_score(y_true, y_score, tau=tau)
            assert value == pytest.approx(found / j, rel=1e-12)
            value = metrics.get_measure(f"enrichment@{tau}")(y_true, y_score)
            assert value == pytest.approx(found / j / y_true.mean(), rel=1e-12)
        precision = metrics.precision_at_k_score(y_true, y_score, k=j)
        assert precision == pytest.approx(found / j, rel=1e-12)
        recall = metrics.recall_at_k_score(y_true, y_score, k=j)
        assert recall == pytest.approx(found / y_true.sum(), rel=1e-12)


@every_list
def test_gains(y_true, y_score):
    grades = y_true * np.random.default_rng(1).integers(0, 5, N)
    for k in (10, 777, None):
        last = N if k is None else k
        discount = np.where(last >= POSITION, 1 / np.log2(POSITION + 1), 0)
        expected = (shared(discount, y_score) * (2.0**grades - 1)).sum()
        assert metrics.dcg_score(grades, y_score, k=k) == pytest.approx(expected, rel=1e-11)
        ideal = (np.sort(2.0**grades - 1)[::-1] * discount).sum()
        value = metrics.ndcg_score(grades, y_score, k=k)
        assert value == pytest.approx(expected / ideal, rel=1e-11)
    linear = (shared(N - POSITION, y_score) * grades).sum()
    value = metrics.positional_score(grades, y_score, gain="linear", discount="linear")
    assert value == pytest.approx(linear, rel=1e-12)


@every_list
def test_rank_correlation(y_true, y_score):
    credit = shared(N - POSITION, y_score.astype(float))
    for truth in (y_true * 3.0 - 1, np.random.default_rng(2).normal(size=N)):
        total = (credit * shared(N - POSITION, truth)).sum()
        expected = 12 * total / (N * (N**2 - 1)) - 3 * (N - 1) / (N + 1)
        assert metrics.spearman_score(truth, y_score) == pytest.approx(expected, abs=1e-12)


@every_list
def test_average_precision(y_true, y_score):
    above, tied = places(y_score)
    positives = y_true == 1
    total, levels = 0.0, np.unique(y_score)
    for level in levels:
        block = np.flatnonzero(y_score == level)
        hits, length = y_true[block].sum(), len(block)
        before = above[block[0]]
        found = y_true[y_score > level].sum()
        j = np.arange(1, length + 1)
        others = (j - 1) * (hits - 1) / max(length - 1, 1)
        total += np.sum(hits / length * (found + 1 + others) / (before + j))
    value = metrics.average_precision_score(y_true, y_score)
    assert value == pytest.approx(total / positives.sum(), rel=1e-11)
    assert tied.max() >= 1


# --------------------------------------------------------------------------------- many queries


RANGE = [
    (metrics.roc_auc_score, {}),
    (metrics.local_auc_score, {"u0": 0.6}),
    (metrics.p_norm_push_score, {"p": 5}),
    (metrics.bedroc_score, {}),
    (metrics.linear_rank_score, {"phi": "van_der_waerden", "normalize": "minmax"}),
    (metrics.partial_auc_score, {"max_fpr": 0.3, "scale": "normalized"}),
    (metrics.partial_auc_score, {"max_fpr": 0.3, "min_tpr": 0.7, "scale": "normalized"}),
    (metrics.get_measure("negative_height_loss@3"), {}),
    (metrics.get_measure("negative_height_loss@inf"), {}),
    (metrics.precision_at_top_score, {"tau": 0.3}),
    (metrics.accuracy_at_top_loss, {"tau": 0.3}),
    (metrics.positives_at_top_score, {"normalize": True}),
    (metrics.precision_at_k_score, {"k": 7}),
    (metrics.recall_at_k_score, {"k": 7}),
    (metrics.average_precision_score, {}),
    (metrics.ndcg_score, {"k": 9}),
]


@pytest.mark.parametrize(
    ("function", "parameters"), RANGE, ids=lambda value: getattr(value, "__name__", None)
)
def test_values_stay_in_their_range(function, parameters):
    # The best and the worst order, where rounding would lead out of the range.
    rng = np.random.default_rng(7)
    for n in (2, 11, 300):
        y_true = rng.permutation(np.arange(n) % 3 == 0).astype(int)
        for _ in range(4):
            weight = rng.uniform(1.1, 4, n)
            if function is metrics.average_precision_score:
                weight = np.ceil(weight)
            for y_score in (y_true, -y_true, rng.permutation(n) + n * y_true):
                for given in (None, weight):
                    value = function(y_true, y_score, sample_weight=given, **parameters)
                    assert 0 <= value <= 1
