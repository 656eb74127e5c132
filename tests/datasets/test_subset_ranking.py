"""Generated queries: what is said to be known is true, and noise misleads pairs and pairs only."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from sklearn_rank.datasets import make_subset_ranking
from sklearn_rank.metrics import dcg_score
from tests.naming import for_each

UTILITIES = ("linear", "logistic", "exponential", "product")


def gains_of(bunch):
    return 2.0**bunch.grades - 1


def expected_dcg(bunch, y_score, **options):
    return dcg_score(bunch.expected_gain, y_score, gain="linear", qid=bunch.qid, **options)


def chance_to_win(p, q):
    """P(grade of the first item > that of the second), by summation."""
    return sum(p[a] * q[b] for a, b in product(range(len(p)), repeat=2) if a > b)


def pairs_of(bunch):
    """Items i < j of the same query."""
    i, j = np.triu_indices(len(bunch.qid), 1)
    same = bunch.qid[i] == bunch.qid[j]
    return i[same], j[same]


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize(("n_grades", "top"), [(2, 0.5), (3, 0.05), (12, 0.99)])
def test_expected_gain_is_that_of_the_probabilities(utility, n_grades, top):
    for noise, heteroscedastic in ((0, False), (0.3, False), (1, n_grades > 2)):
        bunch = make_subset_ranking(
            50,
            4,
            utility=utility,
            n_grades=n_grades,
            top=top,
            noise=noise,
            heteroscedastic=heteroscedastic,
            random_state=n_grades,
        )
        p, gains = bunch.probabilities, gains_of(bunch)
        assert p.shape == (200, n_grades)
        assert p.min() >= 0
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(p @ gains, bunch.expected_gain, atol=1e-12 * gains[-1])
        assert bunch.expected_gain.min() >= 0
        assert bunch.expected_gain.max() <= top * gains[-1]


def test_predictors():
    common = {"n_queries": 30, "n_features": 4, "top": 0.4, "random_state": 0}
    highest = 2**4 - 1
    for utility, inverse in (
        ("linear", lambda s: s),
        ("logistic", lambda s: highest * expit(s)),
        ("exponential", np.exp),
    ):
        bunch = make_subset_ranking(utility=utility, **common)
        predictor = bunch.data @ bunch.coef + bunch.intercept
        np.testing.assert_allclose(inverse(predictor), bunch.expected_gain, rtol=1e-10, atol=1e-12)
    bunch = make_subset_ranking(utility="product", **common)
    assert bunch.coef is None
    assert bunch.intercept is None


def test_ranges_are_reached():
    for utility, lowest in (("linear", 0), ("exponential", 0.5 * np.exp(-4)), ("product", 0)):
        share = make_subset_ranking(
            1, 20000, utility=utility, n_grades=2, random_state=0
        ).expected_gain
        assert share.min() == pytest.approx(lowest, abs=5e-3)
        assert share.max() == pytest.approx(0.5, abs=5e-3)
    share = make_subset_ranking(
        1, 20000, utility="logistic", top=0.3, n_grades=2, random_state=0
    ).expected_gain
    assert share.max() == pytest.approx(0.3, abs=5e-3)


@pytest.mark.parametrize("n_features", [2, 3, 7])
def test_features_have_mean_0_and_variance_1_and_are_uncorrelated(n_features):
    X = make_subset_ranking(2000, 10, n_features, random_state=1).data
    assert X.shape == (20000, n_features)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose(np.cov(X.T), np.eye(n_features), atol=0.05)


def test_sizes_and_types():
    bunch = make_subset_ranking(40, (2, 5), 3, random_state=0)
    assert set(np.bincount(bunch.qid)) == {2, 3, 4, 5}
    assert (np.diff(bunch.qid) >= 0).all()
    assert bunch.qid[-1] == 39
    assert bunch.target.dtype == np.int64
    assert bunch.data.dtype == np.float64
    assert bunch.feature_names == ["feature_1", "feature_2", "feature_3"]
    X, y, qid = make_subset_ranking(40, (2, 5), 3, random_state=0, return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)
    np.testing.assert_array_equal(qid, bunch.qid)
    other = make_subset_ranking(40, (2, 5), 3, random_state=1)
    assert other.data[0, 0] != bunch.data[0, 0]


def test_noise_changes_the_spread_but_neither_items_nor_utility():
    quiet, loud = (make_subset_ranking(20, noise=noise, random_state=0) for noise in (0, 1))
    np.testing.assert_array_equal(quiet.data, loud.data)
    np.testing.assert_array_equal(quiet.expected_gain, loud.expected_gain)
    assert (np.count_nonzero(quiet.probabilities, axis=1) <= 2).all()
    assert not loud.probabilities[:, 1:-1].any()
    uneven = make_subset_ranking(500, noise=0.6, heteroscedastic=True, random_state=0)
    assert uneven.noise.min() == pytest.approx(0, abs=0.01)
    assert uneven.noise.max() == pytest.approx(0.6, abs=0.01)
    assert abs(np.corrcoef(uneven.noise, uneven.expected_gain)[0, 1]) < 0.05


def test_grades_are_drawn_from_the_probabilities():
    bunch = make_subset_ranking(2000, noise=0.5, heteroscedastic=True, random_state=0)
    drawn = bunch.target[:, np.newaxis] == bunch.grades
    # Grade by grade, and where it is likely and where not.
    for grade in bunch.grades:
        p = bunch.probabilities[:, grade]
        for rows in (p <= 0.1, p > 0.1):
            z = (drawn[rows, grade] - p[rows]).sum() / np.sqrt((p[rows] * (1 - p[rows])).sum())
            assert abs(z) < 4
    assert (bunch.probabilities[np.arange(20000), bunch.target] > 0).all()
    gain = 2.0**bunch.target - 1
    assert gain.mean() == pytest.approx(bunch.expected_gain.mean(), rel=0.02)


def test_expected_dcg_and_its_best_order_by_enumeration():
    bunch = make_subset_ranking(3, 3, n_grades=3, noise=0.8, heteroscedastic=True, random_state=0)
    gains, rng = gains_of(bunch), np.random.default_rng(0)
    discount = 1 / np.log2(np.arange(3) + 2)
    y_score = rng.normal(size=9)
    found = expected_dcg(bunch, y_score, average=None)
    best = expected_dcg(bunch, bunch.expected_gain, average=None)
    for query in range(3):
        p = bunch.probabilities[3 * query : 3 * query + 3]

        def expectation(order, p=p):
            return sum(
                np.prod([p[i, grade] for i, grade in enumerate(grades)])
                * sum(d * gains[grades[i]] for d, i in zip(discount, order, strict=True))
                for grades in product(range(3), repeat=3)
            )

        order = np.argsort(-y_score[3 * query : 3 * query + 3])
        assert found[query] == pytest.approx(expectation(order))
        assert best[query] == pytest.approx(max(map(expectation, permutations(range(3)))))


def test_order_by_utility_and_by_the_chance_to_win_differ_only_if_noise_is_uneven():
    def share_of_disagreement(heteroscedastic):
        bunch = make_subset_ranking(
            40, 8, noise=1, heteroscedastic=heteroscedastic, random_state=0
        )
        p, utility = bunch.probabilities, bunch.expected_gain
        i, j = pairs_of(bunch)
        wins = np.array(
            [
                chance_to_win(p[a], p[b]) - chance_to_win(p[b], p[a])
                for a, b in zip(i, j, strict=True)
            ]
        )
        return np.mean(wins * (utility[i] - utility[j]) < -1e-12)

    assert share_of_disagreement(heteroscedastic=False) == 0
    assert share_of_disagreement(heteroscedastic=True) > 0.1


def regrets_of_linear_scores(n_queries, utility):
    """Relative regret of least squares on gains, and of a logistic loss of pairs y_i > y_j."""
    n_items = 6
    options = {"utility": utility, "noise": 1, "heteroscedastic": True}
    train = make_subset_ranking(n_queries, n_items, random_state=0, **options)
    X = np.column_stack([train.data, np.ones(len(train.data))])
    squared = np.linalg.lstsq(X, 2.0**train.target - 1, rcond=None)[0][:-1]
    i, j = np.triu_indices(n_items, 1)
    first = n_items * np.arange(n_queries)[:, np.newaxis]
    i, j = (first + i).ravel(), (first + j).ravel()
    sign = np.sign(train.target[i] - train.target[j])
    pairs = LogisticRegression(C=1e6, fit_intercept=False)
    pairs.fit((train.data[i] - train.data[j])[sign != 0], sign[sign != 0])
    best = expected_dcg(train, train.expected_gain)
    worst = expected_dcg(train, -train.expected_gain)
    return tuple(
        (best - expected_dcg(train, train.data @ coef)) / (best - worst)
        for coef in (squared, pairs.coef_[0])
    )


@pytest.mark.parametrize("utility", ["linear", "logistic", "exponential"])
def test_uneven_noise_misleads_pairs_but_not_least_squares(utility):
    squared, pairs = regrets_of_linear_scores(1500, utility)
    assert 0 <= squared < 0.006
    assert pairs > 0.04


def test_no_linear_score_helps_for_a_product():
    bunch = make_subset_ranking(4000, 5, 4, utility="product", random_state=0)
    coef = np.linalg.lstsq(bunch.data, bunch.expected_gain, rcond=None)[0]
    best = expected_dcg(bunch, bunch.expected_gain)
    equal = expected_dcg(bunch, np.zeros(len(bunch.qid)))
    assert best - equal > 0.8
    assert expected_dcg(bunch, bunch.data @ coef) - equal < 0.1 * (best - equal)


@for_each(
    ("options", "message"),
    [
        ({"n_queries": 0}, "n_queries=0 must be at least 1"),
        ({"n_items": 0}, "n_items=0 must be"),
        ({"n_items": (5, 2)}, r"n_items=\(5, 2\) must give the lowest number first"),
        ({"n_items": (1, 2, 3)}, "or the lowest and the highest number"),
        ({"n_items": 2.5}, r"n_items=2\.5 must be an integer, or"),
        ({"n_features": 1}, "n_features=1 must be at least 2"),
        ({"n_features": 2, "utility": "product"}, "n_features=2 must be at least 3"),
        ({"n_grades": 1}, "n_grades=1 must be at least 2 and at most 50"),
        ({"n_grades": 2, "heteroscedastic": True}, "n_grades=2 must be at least 3"),
        ({"noise": 1.5}, r"noise=1\.5 must be a number in \[0, 1\]"),
        ({"noise": float("nan")}, "noise=nan"),
        ({"noise": "much"}, "noise='much'"),
        ({"top": 0}, r"top=0 must be a number in \(0, 1\]"),
        (
            {"top": 1, "utility": "logistic"},
            r"top=1 must be a number in \(0, 1\): that of a logistic",
        ),
        ({"utility": "square"}, "utility='square' must be"),
    ],
)
def test_parameters_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        make_subset_ranking(**options)
