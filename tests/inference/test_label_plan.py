"""Plans of labels: their probabilities, their samples, and the intervals of the samples."""

import numpy as np
import pytest

from sklearn_rank._labels_in_part._label_plan import _pivotal_sample
from sklearn_rank.inference import LabelDesign, compare, metric_interval, plan_labels

from ..oracles import labels_in_part as oracle


def population(n=600, n_pos=60):
    rng = np.random.default_rng(4)
    y = np.arange(n) < n_pos
    champion, challenger = 2.0 * y + rng.normal(size=(2, n))
    reviewed = np.argsort(np.argsort(-champion)) < 60
    return y, champion, challenger, np.where(reviewed, y, np.nan)


@pytest.mark.parametrize("name", ["auc", "ap", "recall@2", "precision@2"])
@pytest.mark.parametrize("with_other", [False, True])
def test_probabilities(name, with_other):
    scores, other = [3.0, 1.0, 4.0, 1.5, 5.0, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    proxy = np.array([0.3, 0.2, 0.6, 0.1, 0.9, 0.5])
    plan = plan_labels(
        name, scores, budget=2, proxy=proxy, compare_with=other if with_other else None
    )
    slope = oracle.derivative(scores, proxy, name)
    if with_other:
        slope -= oracle.derivative(other, proxy, name)
    slope = np.abs(slope) * (np.abs(slope) > 1e-6)
    spread = slope * np.sqrt(proxy * (1 - proxy))
    relevant = slope > 0
    # Rows that do not matter share a hundredth.
    total = 2 * (1 if relevant.all() else 0.99)
    size = relevant * (0.8 * spread / spread.sum() + 0.2 / relevant.sum())
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        below = np.minimum(middle * size, 1).sum() < total
        low, high = (middle, high) if below else (low, middle)
    expected = np.where(relevant, np.minimum(low * size, 1), 0.02 / max((~relevant).sum(), 1))
    np.testing.assert_allclose(plan.inclusion_probability, expected, rtol=1e-5)
    errors = [np.sqrt(np.sum((1 - pi) / pi * spread**2)) for pi in (expected, np.full(6, 1 / 3))]
    found = plan.expected_standard_error, plan.uniform_standard_error
    np.testing.assert_allclose(found, errors, rtol=1e-5, atol=1e-9)
    assert plan.expected_width == pytest.approx(2 * 1.959964 * errors[0], abs=1e-6)


def test_samples():
    probability = np.array([0.05, 0.9, 1.0, 0.3, 0.5, 0.25, 0.6, 0.4])
    rng, n = np.random.default_rng(0), 8000
    drawn = np.zeros((n, 8))
    for i in range(n):
        drawn[i, _pivotal_sample(probability, rng)] = 1
    assert (drawn.sum(axis=1) == 4).all()
    error = np.sqrt(probability * (1 - probability) / n)
    assert (np.abs(drawn.mean(axis=0) - probability) <= 4 * error).all()
    covariance = np.cov(drawn.T)
    np.fill_diagonal(covariance, 0)
    assert covariance.max() < 4 * 0.25 / np.sqrt(n)
    assert covariance.min() < -0.05
    # Each row that is not certain meets each other one: none is never drawn with it.
    together = drawn.T @ drawn
    np.fill_diagonal(together, n)
    assert together.min() > 0


def test_a_budget_that_suffices_for_the_precision_makes_it_exact():
    y, _, challenger, y_true = population()
    n_open = int(np.isnan(y_true[np.argsort(-challenger)[:60]]).sum())
    plan = plan_labels("precision@60", challenger, budget=n_open + 5, y_true=y_true)
    y_true[plan.chosen] = y[plan.chosen]
    assert plan.expected_standard_error == 0
    assert plan.uniform_standard_error > 0.05
    options = {"design": plan.design, "conditional": True}
    interval = metric_interval("precision@60", y_true, challenger, **options)
    assert interval.low == pytest.approx(interval.high)
    assert interval.estimate == pytest.approx(y[np.argsort(-challenger)[:60]].mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "two_batches"), [("precision@60", True), ("recall@60", False), ("auc", True)]
)
def test_intervals_of_planned_samples_cover(measure, two_batches):
    y, _, challenger, start = population()
    truth = metric_interval(measure, y, challenger, design="all").estimate
    covered, n_draws = 0, 40
    for seed in range(n_draws):
        y_true = start.copy()
        for _ in range(1 + two_batches):
            plan = plan_labels(measure, challenger, budget=20, y_true=y_true, random_state=seed)
            assert np.isnan(y_true[plan.chosen]).all()
            y_true[plan.chosen] = y[plan.chosen]
        asked = {"design": plan.design, "conditional": True}
        covered += truth in metric_interval(measure, y_true, challenger, **asked)
    assert covered >= 0.88 * n_draws


def test_difference():
    y, champion, challenger, y_true = population()
    plan = plan_labels(
        "precision@60", challenger, budget=15, y_true=y_true, compare_with=champion, random_state=1
    )
    # All rows of the champion's top have labels, so only those of the challenger's count.
    top = np.argsort(-challenger)[:60]
    assert np.isin(plan.chosen, top).sum() >= 14
    y_true[plan.chosen] = y[plan.chosen]
    scores = {"new": challenger, "old": champion}
    found = compare("precision@60", y_true, scores, design=plan.design)
    truth = y[top].mean() - y[np.argsort(-champion)[:60]].mean()
    assert found.low[0] < truth < found.high[0]
    assert str(plan).startswith("15 of 540 rows without labels, for the difference of precision")


@pytest.mark.parametrize(("measure", "width"), [("precision@60", 0.05), ("recall@60", 0.2)])
def test_a_width_takes_the_fewest_labels(measure, width):
    _, champion, challenger, y_true = population()
    others = {"y_true": y_true, "compare_with": champion, "level": 0.9, "random_state": 0}
    plan = plan_labels(measure, challenger, width=width, **others)
    n = len(plan.chosen)
    assert 2 < n < 540
    at, fewer = (plan_labels(measure, challenger, budget=k, **others) for k in (n, n - 1))
    assert at.expected_width == plan.expected_width <= width < fewer.expected_width
    np.testing.assert_array_equal(at.chosen, plan.chosen)
    assert len(plan_labels(measure, challenger, width=1e-12, **others).chosen) <= 540


def test_widths_that_no_plan_reaches_are_refused():
    y, _, challenger, y_true = population()
    for passed in ({}, {"budget": 5, "width": 0.1}):
        with pytest.raises(TypeError, match="pass one of the two"):
            plan_labels("auc", challenger, y_true=y_true, **passed)
    with pytest.raises(ValueError, match="width=0 must be a finite number greater"):
        plan_labels("auc", challenger, width=0, y_true=y_true)
    with pytest.raises(ValueError, match="less than 1, the length of the range; for 5 per cent"):
        plan_labels("auc", challenger, width=5, y_true=y_true)
    with pytest.raises(ValueError, match=r"width=0.1, but only 0 of 600 rows have no label"):
        plan_labels("auc", challenger, width=0.1, y_true=y)
    y_true[np.argsort(-challenger)[:60]] = 1
    with pytest.raises(ValueError, match="no label changes the expected width, which is 0"):
        plan_labels("precision@60", challenger, width=0.1, y_true=y_true)
    with pytest.raises(ValueError, match="no label changes the expected width, which is 0"):
        plan_labels("auc", challenger, width=0.1, proxy=y.astype(float))


def test_what_is_refused():
    _, _, challenger, y_true = population()
    with pytest.raises(ValueError, match="pass proxy=, or label a few random rows first"):
        plan_labels("auc", challenger, budget=5)
    with pytest.raises(ValueError, match="budget=541, but only 540 of 600 rows have no label"):
        plan_labels("auc", challenger, budget=541, y_true=y_true)
    with pytest.raises(ValueError, match=r"proxy is 1\.5 at row 0"):
        plan_labels("auc", challenger, budget=5, proxy=np.full(600, 1.5))
    plan = plan_labels("auc", challenger, budget=540, y_true=y_true)
    assert (plan.inclusion_probability == 1).all()
    with pytest.raises(ValueError, match="a row of probability 1 is always labelled"):
        metric_interval("auc", y_true, challenger, design=plan.design)
    assert isinstance(plan.design, LabelDesign)
