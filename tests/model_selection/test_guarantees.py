"""Guarantees as guarantees: how often what is said to hold does not."""

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit, StratifiedKFold

from sklearn_rank.bounds import auc_bound
from sklearn_rank.metrics import get_measure, roc_auc_score
from sklearn_rank.model_selection import BoundSearchCV, make_bound_scorer
from sklearn_rank.model_selection._candidates import simultaneous_tails
from sklearn_rank.model_selection._guarantees import margins
from sklearn_rank.model_selection._held_out import HeldOut

from .estimators import Column, Share, of_query_values, shifted

AUC = get_measure("auc")

# So few violations would be rare if the probability were delta.
DELTA = 0.2


def at_most(violations, delta=DELTA):
    """Whether a share of violations is within three standard errors of delta."""
    return np.mean(violations) <= delta + 3 * np.sqrt(delta * (1 - delta) / len(violations))


def one_part(rng, shifts, n_pos=15, n_neg=30):
    X, y, aucs = shifted(n_pos, n_neg, shifts, rng)
    # Column does not learn: two rows are enough.
    X, y = np.vstack([X[:1], X[-1:], X]), np.concatenate([[1, 0], y])
    return X, y, aucs, PredefinedSplit(np.r_[-1, -1, np.zeros(n_pos + n_neg, dtype=int)])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kl", "max-t"])  # the narrowest, and the one without proof
def test_one_part_without_refit(method):
    # Target: the expected AUC of best_estimator_. All equal, which is the hardest choice.
    violations = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, y, aucs, cv = one_part(rng, np.full(8, 0.5))
        found = BoundSearchCV(
            Column(),
            {"j": range(8)},
            method=method,
            level=1 - DELTA,
            cv=cv,
            refit=False,
            random_state=0,
        ).fit(X, y)
        violations.append(aucs[found.best_index_] < found.best_bound_)
    assert at_most(violations)
    if method == "max-t":
        assert np.mean(violations) > DELTA / 4


@pytest.mark.slow
def test_limits_that_forget_the_candidates_fail():
    # What is called one candidate's limit is violated far more often by the best of eight.
    violations = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, y, aucs, _ = one_part(rng, np.full(8, 0.5))
        X, y = X[2:], y[2:]
        told = {"level": 1 - DELTA, "method": "wilson"}
        scorers = [make_bound_scorer(**told, n_candidates=n) for n in (1, 8)]
        limits = [[scorer(Column(j).fit(X, y), X, y) for j in range(8)] for scorer in scorers]
        violations.append([max(of_one) > aucs[0] for of_one in limits])
    forgotten, counted = np.mean(violations, axis=0)
    assert forgotten > 2 * DELTA
    assert counted <= DELTA + 0.07


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mcdiarmid", "kl"])
def test_the_mean_over_fold_models(method):
    # Target: the mean of the expected AUCs of the fold models, which are turned round or not.
    violations = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, y, aucs = shifted(9, 18, np.full(4, 0.05), rng)
        found = BoundSearchCV(
            Column(turn=True),
            {"j": range(4)},
            method=method,
            level=1 - DELTA,
            cv=StratifiedKFold(3, shuffle=True, random_state=seed),
            refit=False,
        ).fit(X, y)
        auc = aucs[found.best_params_["j"]]
        expected = [auc if one.sign_ > 0 else 1 - auc for one in found.fold_estimators_]
        violations.append(np.mean(expected) < found.best_bound_)
    assert at_most(violations)


def test_a_bound_for_all_rows_of_folds_is_false():
    # Each row has the share of positives of the other fold as its score: on each fold all are
    # tied, and the expected AUC of every model is 1/2. Over all rows the order is upside down.
    n = 400
    y = np.r_[np.tile([1, 1, 1, 0], n // 4), np.tile([1, 0, 0, 0], n // 4)]
    X, fold = np.zeros((2 * n, 1)), np.repeat([0, 1], n)
    pooled = np.empty(2 * n)
    for part in (0, 1):
        model = Share().fit(X[fold != part], y[fold != part])
        pooled[fold == part] = model.decision_function(X[fold == part])
    bound = auc_bound(int(y.sum()), int((1 - y).sum()), 1e-3)
    assert abs(roc_auc_score(y, pooled) - 0.5) > bound.value
    found = BoundSearchCV(Share(), {}, cv=PredefinedSplit(fold), level=1 - 1e-3).fit(X, y)
    assert found.best_score_ == 0.5
    assert found.best_bound_ < 0.5


@pytest.mark.slow
# One sample in 1,000 looks dependent by chance.
@pytest.mark.filterwarnings("ignore:qid is no time")
@pytest.mark.parametrize(("method", "n_parts"), [("hoeffding", 1), ("bernstein", 1), ("kl", 3)])
def test_means_over_queries(method, n_parts):
    # Eight systems, values 0 or 1 with probability .2: the hardest for a given mean.
    rng = np.random.default_rng(0)
    violations = []
    for _ in range(400):
        samples = [rng.binomial(1, 0.2, (8, 20)).astype(float) for _ in range(n_parts)]
        evidence = of_query_values(samples)
        violations.append(
            (evidence.means - margins(evidence, method, np.full(8, DELTA / 8)) > 0.2).any()
        )
    assert at_most(violations)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_max_t_limits_hold_together(correlation):
    violations = []
    weights = np.full(6, 1 / 6)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X, y, aucs = shifted(40, 120, np.full(6, 1.0), rng, correlation)
        evidence = HeldOut(AUC, [y == 1], [list(X.T)])
        tails = simultaneous_tails(evidence, DELTA, weights, rng)
        violations.append((evidence.asymptotic_limits(tails)[0] > aucs).any())
    assert at_most(violations)
    assert np.mean(violations) > DELTA / 3
