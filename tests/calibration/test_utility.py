"""Labels into utilities, against the definition of each measure."""

import warnings
from itertools import permutations

import numpy as np
import pytest

from sklearn_rank.calibration import utility
from sklearn_rank.exceptions import CalibrationWarning
from sklearn_rank.metrics import get_measure
from tests.naming import for_each
from tests.oracles import calibration as oracle
from tests.oracles import orders

# Name, name and parameters of the oracle, and the measure on the labels from the top.
GRADED = [
    ("dcg", "dcg", {}, orders.dcg),
    ("dcg@2", "dcg", {"k": 2}, lambda labels: orders.dcg(labels, k=2)),
    ("ndcg", "ndcg", {}, orders.ndcg),
    ("ndcg@3", "ndcg", {"k": 3}, lambda labels: orders.ndcg(labels, k=3)),
    (
        "rbp@0.8",
        "rbp",
        {"persistence": 0.8},
        lambda labels: 0.2 * sum(0.8**i * y for i, y in enumerate(labels)) / max(labels),
    ),
    ("top1", "top1", {}, orders.top_1),
]
BINARY = [
    ("precision@3", "precision", {"k": 3}, lambda labels: orders.precision_at_k(labels, 3)),
    ("recall@2", "recall", {"k": 2}, lambda labels: orders.recall_at_k(labels, 2)),
    ("auc", "auc", {}, lambda labels: float(orders.auc(labels))),
]


def draw(measure, rng, n=None):
    n = int(rng.integers(2, 6)) if n is None else n
    highest = 1 if any(measure == case[0] for case in BINARY) else 3
    labels = rng.integers(0, highest + 1, n)
    labels[:2] = [0, 1]
    return rng.permutation(labels).tolist()


def quiet_utility(*arguments, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return utility(*arguments, **keywords)


@for_each(("measure", "name", "parameters", "value"), GRADED + BINARY)
def test_the_measure_is_a_constant_and_utilities_by_position(measure, name, parameters, value):
    rng = np.random.default_rng(0)
    for _ in range(15):
        labels = draw(measure, rng)
        u = utility(measure, labels)
        np.testing.assert_allclose(u, oracle.utilities(name, labels, **parameters), rtol=1e-13)
        phi = get_measure(measure).positional.discounts(len(labels))
        np.testing.assert_allclose(
            phi, oracle.discounts(name, len(labels), **parameters), rtol=1e-13
        )
        rest = [
            value([labels[i] for i in order]) - phi @ u[list(order)]
            for order in permutations(range(len(labels)))
        ]
        np.testing.assert_allclose(rest, rest[0], atol=1e-12)


def test_spearman_too():
    rng = np.random.default_rng(1)
    for _ in range(10):
        labels = draw("spearman", rng, n=4)
        u = utility("spearman", labels)
        np.testing.assert_allclose(u, oracle.utilities("spearman", labels), rtol=1e-13)
        phi = get_measure("spearman").positional.discounts(4)
        rest = []
        for order in permutations(range(4)):
            score = np.empty(4)
            score[list(order)] = [4, 3, 2, 1]
            rest.append(orders.spearman(labels, score.tolist()) - phi @ u[list(order)])
        np.testing.assert_allclose(rest, rest[0], atol=1e-12)


@for_each("measure", [case[0] for case in GRADED + BINARY] + ["spearman"])
def test_weights_are_repetitions(measure):
    rng = np.random.default_rng(2)
    for _ in range(10):
        labels = np.array(draw(measure, rng, n=6))
        weight = rng.integers(0, 3, 6)
        rows = np.repeat(np.arange(6), weight)
        if len(set(labels[rows])) < 2:
            continue
        u = utility(measure, labels, sample_weight=weight)
        np.testing.assert_array_equal(np.isnan(u), weight == 0)
        np.testing.assert_allclose(u[rows], utility(measure, labels[rows]), rtol=1e-12)


@for_each("measure", [case[0] for case in GRADED + BINARY] + ["spearman", "ap"])
def test_lists_in_any_order(measure):
    rng = np.random.default_rng(3)
    # RBP divides by the highest grade of all lists.
    drawn = "auc" if measure in ("ap", "rbp@0.8") else measure
    lists = [draw(drawn, rng) for _ in range(5)]
    labels = np.concatenate(lists)
    qid = np.repeat(["d", "a", "c", "e", "b"], [len(x) for x in lists])
    wanted = np.concatenate([quiet_utility(measure, x) for x in lists])
    np.testing.assert_allclose(quiet_utility(measure, labels, qid=qid), wanted, rtol=1e-13)
    shuffled = rng.permutation(len(labels))
    values = quiet_utility(measure, labels[shuffled], qid=qid[shuffled])
    np.testing.assert_allclose(values, wanted[shuffled], rtol=1e-13)
    weight = rng.integers(1, 3, len(labels))
    values = quiet_utility(
        measure, labels[shuffled], qid=qid[shuffled], sample_weight=weight[shuffled]
    )
    by_list = [
        quiet_utility(measure, labels[qid == q], sample_weight=weight[qid == q])
        for q in ["d", "a", "c", "e", "b"]
    ]
    np.testing.assert_allclose(values, np.concatenate(by_list)[shuffled], rtol=1e-13)


@for_each(
    ("measure", "labels", "lacking"),
    [
        ("ndcg", [0, 0], "no item with a gain"),
        ("recall@1", [0, 0], "no positive"),
        ("auc", [0, 0], "items of one class only"),
        ("auc", [1, 1], "items of one class only"),
        ("spearman", [2], "one grade only"),
        ("ap", [0, 0], "no positive"),
    ],
)
def test_lists_without_a_value(measure, labels, lacking):
    y = [0, 1, *labels]
    qid = ["a", "a", *("b" for _ in labels)]
    skipped = quiet_utility(measure, y, qid=qid, undefined="skip")
    np.testing.assert_array_equal(np.isnan(skipped), [False, False, *(True for _ in labels)])
    filled = quiet_utility(measure, y, qid=qid, undefined=0.5)
    np.testing.assert_array_equal(filled[2:], 0.0)
    np.testing.assert_array_equal(filled[:2], skipped[:2])
    with pytest.raises(ValueError, match=f"'b' has {lacking}"):
        quiet_utility(measure, y, qid=qid, undefined="raise")


def test_precision_and_dcg_are_always_defined():
    np.testing.assert_array_equal(utility("dcg", [0, 0], undefined="raise"), 0.0)
    np.testing.assert_array_equal(utility("precision@2", [0, 0], undefined="raise"), 0.0)


def test_utilities_are_at_least_zero_and_at_most_the_largest():
    rng = np.random.default_rng(4)
    for measure in [case[0] for case in GRADED + BINARY] + ["spearman"]:
        form = get_measure(measure).positional
        reached = dict.fromkeys(range(2, 6), 0.0)
        for n in reached:
            for _ in range(60):
                u = utility(measure, draw(measure, rng, n=n))
                assert u.min() >= 0
                reached[n] = max(reached[n], u.max())
            if form.largest is not None:
                assert reached[n] == pytest.approx(form.largest_among(n)), (measure, n)
                assert form.largest_among(n) <= form.largest


def test_undefined_is_by_default_what_the_measure_says():
    labels, qid = [0, 1, 0, 0], ["a", "a", "b", "b"]
    np.testing.assert_array_equal(utility("ndcg", labels, qid=qid), [0, 1, 0, 0])
    np.testing.assert_array_equal(utility("recall@1", labels, qid=qid), [0, 1, np.nan, np.nan])


@pytest.mark.parametrize(
    ("measure", "quantity", "utilities"),
    [("ap", "probability of relevance", [0, 1, 1]), ("err", "E", [0, 0.5, 0.5])],
)
def test_measures_without_utilities_warn(measure, quantity, utilities):
    with pytest.warns(CalibrationWarning, match=quantity) as caught:
        np.testing.assert_array_equal(utility(measure, [0, 1, 1]), utilities)
    assert caught[0].filename == __file__
    assert "are dependent" in str(caught[0].message)


@for_each(
    ("arguments", "message"),
    [
        (("pnorm@4", [0, 1]), "defines no utilities of items"),
        (("nonsense", [0, 1]), "not the name of a measure"),
        (("auc", [0, 1, 2]), "3 classes"),
        (("dcg", [0.0, -1.0]), "-1"),
        (("dcg", [[0, 1], [1, 0]]), "2 dimensions"),
        (("dcg", 1), "0 dimensions"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        utility(*arguments)


@pytest.mark.parametrize("undefined", ["nan", True, [0]])
def test_undefined_is_checked(undefined):
    with pytest.raises(ValueError, match="undefined="):
        utility("dcg", [0, 1], undefined=undefined)


def test_spearman_takes_negative_relevance_and_no_fractions_of_items():
    np.testing.assert_allclose(utility("spearman", [-1.0, 2.0]), [0.0, 2.0])
    with pytest.raises(ValueError, match="not whole"):
        utility("spearman", [1, 2], sample_weight=[0.5, 1.0])


def test_labels_of_two_classes():
    u = utility("recall@2", ["no", "yes", "yes"], pos_label="yes")
    np.testing.assert_array_equal(u, [0, 0.5, 0.5])
