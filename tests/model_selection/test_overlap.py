"""Held-out parts that share rows, as repeated folds and random splits do."""

import inspect

import numpy as np
import pytest
from sklearn import model_selection as sk
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge

from sklearn_rank.bounds import auc_fold_mean_bound
from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection import BoundSearchCV
from sklearn_rank.model_selection._candidates import (
    may_be_best,
    simultaneous_tails,
    sizes_of_disjoint,
)
from sklearn_rank.model_selection._held_out import HeldOut

from .estimators import Column, of_query_values, queries, shifted

AUC = get_measure("auc")

# For rows: each splitter, and of how many parts the classes of its parts are.
OF_ROWS = {
    "KFold": (sk.KFold(3, shuffle=True, random_state=0), None),
    "StratifiedKFold": (sk.StratifiedKFold(3, shuffle=True, random_state=0), None),
    "GroupKFold": (sk.GroupKFold(3), None),
    "StratifiedGroupKFold": (sk.StratifiedGroupKFold(3), None),
    "LeaveOneGroupOut": (sk.LeaveOneGroupOut(), None),
    "PredefinedSplit": (sk.PredefinedSplit(np.tile([0, 1, 2], 30)), None),
    "TimeSeriesSplit": (sk.TimeSeriesSplit(3), None),
    "RepeatedKFold": (sk.RepeatedKFold(n_splits=3, n_repeats=4, random_state=0), [3] * 12),
    "RepeatedStratifiedKFold": (
        sk.RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0),
        [3] * 12,
    ),
    "ShuffleSplit": (sk.ShuffleSplit(10, test_size=0.4, random_state=0), [1] * 10),
    "StratifiedShuffleSplit": (
        sk.StratifiedShuffleSplit(10, test_size=0.4, random_state=0),
        [1] * 10,
    ),
    "GroupShuffleSplit": (sk.GroupShuffleSplit(10, test_size=0.4, random_state=0), None),
    "LeavePGroupsOut": (sk.LeavePGroupsOut(2), None),
}
# One or two rows have not both classes.
REFUSED = {"LeaveOneOut": sk.LeaveOneOut(), "LeavePOut": sk.LeavePOut(2)}


def rows(seed=0, shifts=(1.0, 0.6)):
    X, y, aucs = shifted(30, 60, shifts, np.random.default_rng(seed))
    mixed = np.random.default_rng(seed).permutation(len(y))
    return X[mixed], y[mixed], aucs


def fitted(cv, X, y, groups=None, **arguments):
    search = BoundSearchCV(
        Column(), {"j": range(X.shape[1])}, cv=cv, refit=False, random_state=0, **arguments
    )
    return search.fit(X, y, groups=groups)


def test_every_splitter_of_scikit_learn_is_here():
    splitters = {
        name
        for name, kind in inspect.getmembers(
            sk, lambda thing: inspect.isclass(thing) and hasattr(thing, "split")
        )
        if not issubclass(kind, BaseEstimator) and not inspect.isabstract(kind)
    }
    assert splitters - {"BaseCrossValidator", "BaseShuffleSplit"} == {*OF_ROWS, *REFUSED}


@pytest.mark.parametrize("name", OF_ROWS)
@pytest.mark.filterwarnings("ignore:Several rows share a group:UserWarning")
def test_each_splitter(name):
    cv, expected = OF_ROWS[name]
    X, y, _ = rows()
    groups = np.arange(90) // 15 if "Group" in name else None
    splits = list(cv.split(X, y, groups))
    sizes = sizes_of_disjoint(splits, len(y))
    if expected is not None:
        assert sizes == expected
    counts = np.bincount(np.concatenate([test for _, test in splits]))
    assert (sizes is None) == (counts.max() == 1)
    found = fitted(cv, X, y, groups)
    report = found.report_
    assert ("that share items" in str(report)) == report.overlap == (sizes is not None)
    # The theorem holds for parts that share items as it does for others.
    n_pos = [int(y[test].sum()) for _, test in splits]
    n_neg = [len(test) - m for (_, test), m in zip(splits, n_pos, strict=True)]
    bound = auc_fold_mean_bound(n_pos, n_neg, 0.05, n_functions=2, side="lower")
    assert report.bound == bound
    # No narrower than the interval of the parts that one class has, taken for independent.
    classes = [sizes[j] if sizes else len(splits) for j in range(len(splits))]
    evidence = HeldOut(
        AUC,
        [y[test] == 1 for _, test in splits],
        [[X[test, j] for j in range(2)] for _, test in splits],
        disjoint=sizes,
    )
    expected = sum(
        one.covariance / (len(splits) * size)
        for one, size in zip(evidence.joints, classes, strict=True)
    )
    np.testing.assert_allclose(evidence.covariance, expected)
    one_part = np.mean([np.diag(one.covariance) for one in evidence.joints], axis=0)
    np.testing.assert_allclose(
        np.diag(evidence.covariance) / one_part, 1 / np.mean(classes), rtol=0.5
    )


@pytest.mark.parametrize("name", REFUSED)
def test_parts_of_one_class_are_refused(name):
    X, y, _ = rows()
    with pytest.raises(ValueError, match="rows without a"):
        fitted(REFUSED[name], X, y)


@pytest.mark.parametrize(
    "cv",
    [
        sk.GroupKFold(4),
        sk.StratifiedGroupKFold(4),
        sk.GroupShuffleSplit(6, test_size=0.4, random_state=0),
        sk.LeavePGroupsOut(2),
    ],
    ids=lambda cv: type(cv).__name__,
)
@pytest.mark.parametrize("method", ["hoeffding", "kl", "bernstein", "max-t"])
def test_splitters_of_queries(cv, method):
    X, y, qid = queries(8)
    search = BoundSearchCV(Ridge(), {"alpha": [1e-3, 1e3]}, measure="ndcg@3", cv=cv, method=method)
    found = search.set_params(random_state=0).fit(X, y, groups=qid)
    splits = list(cv.split(X, y, qid))
    assert found.report_.overlap == (sizes_of_disjoint(splits, len(y)) is not None)
    assert 0.0 <= found.best_bound_ <= found.best_score_


def test_parts_are_put_into_classes():
    def sizes(*tests):
        return sizes_of_disjoint([(np.array([9]), np.array(test)) for test in tests], 10)

    assert sizes([0, 1]) is None
    assert sizes([0, 1], [2], [3, 4]) is None
    assert sizes([0, 1], [0, 1]) == [1, 1]
    assert sizes([0, 1], [1, 2], [3], [2, 0]) == [2, 1, 2, 1]
    assert sizes([0, 1], [2, 3], [0, 2], [1, 3]) == [2, 2, 2, 2]


def test_a_part_that_is_repeated_tells_nothing_new():
    X, y, _ = rows()
    once = HeldOut(AUC, [y == 1], [list(X.T)])
    thrice = HeldOut(AUC, 3 * [y == 1], 3 * [list(X.T)], disjoint=[1, 1, 1])
    np.testing.assert_allclose(thrice.covariance, once.covariance)
    np.testing.assert_allclose(thrice.regularized_covariance, once.regularized_covariance)
    assert thrice.n_effective == pytest.approx(once.n_effective)
    tails = np.full(2, 0.02)
    for found, expected in zip(
        thrice.asymptotic_limits(tails), once.asymptotic_limits(tails), strict=True
    ):
        np.testing.assert_allclose(found, expected)
    values = np.random.default_rng(0).random((2, 20))
    single = of_query_values([values])
    repeated = of_query_values(3 * [values], disjoint=[1, 1, 1])
    for found, expected in zip(
        repeated.asymptotic_limits(tails), single.asymptotic_limits(tails), strict=True
    ):
        np.testing.assert_allclose(found, expected)


def test_any_covariance_of_the_classes_is_within_the_bound():
    # Of the mean of K dependent means, whatever their joint covariance.
    rng = np.random.default_rng(0)
    for _ in range(200):
        sizes = rng.integers(1, 5, 3)
        shares = sizes / sizes.sum()
        root = rng.normal(size=(6, rng.integers(1, 7)))
        joint = (root @ root.T).reshape(3, 2, 3, 2)
        exact = np.einsum("i,iajb,j->ab", shares, joint, shares)
        bound = np.einsum("i,iaib->ab", shares, joint)
        assert np.linalg.eigvalsh(bound - exact)[0] > -1e-9


def test_beyond_one_half_the_larger_covariance_is_no_bound():
    X, y, _ = rows()
    rng = np.random.default_rng(0)
    split = HeldOut(AUC, 2 * [y == 1], 2 * [list(X.T)], disjoint=[1, 1])
    for delta in (0.6, 0.99):
        tails = simultaneous_tails(split, delta, np.full(2, 0.5), np.random.default_rng(1))
        expected = simultaneous_tails(split, 0.5, np.full(2, 0.5), np.random.default_rng(1))
        assert tails.tolist() == expected.tolist()
        kept = may_be_best(split, delta, rng)
        assert (kept >= may_be_best(split, 0.5, rng)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_ROWS)
@pytest.mark.filterwarnings("ignore:Several rows share a group:UserWarning")
def test_intervals_cover_with_each_splitter(name):
    # Models that do not learn, so that the mean expected AUC of the fold models is known.
    cv = OF_ROWS[name][0]
    groups = np.arange(90) // 15 if "Group" in name else None
    missed, below = [], []
    for seed in range(150):
        X, y, aucs = rows(seed, shifts=(1.0,))
        if groups is not None and len(np.unique(2 * groups + y)) < 12:
            continue  # a group of one class, which is refused
        found = fitted(cv, X, y, groups)
        interval = found.report_.interval
        missed.append(not interval.low <= aucs[0] <= interval.high)
        below.append(found.best_bound_ > aucs[0])
    # Nominal .05, binomial standard error .0126; taken for independent, 4 repeats miss in .33.
    assert np.mean(missed) <= 0.05 + 3 * 0.0178
    assert not np.any(below)


@pytest.mark.slow
def test_max_t_limits_hold_together_with_random_splits():
    cv = sk.RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    missed = []
    for seed in range(150):
        X, y, aucs = rows(seed, shifts=np.full(5, 1.0))
        found = fitted(cv, X, y, method="max-t", delta=0.2)
        missed.append((found.cv_results_["lower_bound"] > aucs).any())
    # Binomial standard error .023.
    assert np.mean(missed) <= 0.2 + 3 * 0.033
    assert np.mean(missed) > 0.05
