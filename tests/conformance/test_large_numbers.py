"""Very large, very small and very exact numbers: the right value or one sentence."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sklearn_rank import metrics
from sklearn_rank._lists import Lists
from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import TopDCG, get_measure
from tests.catalogue import METRICS, WAYS_IN
from tests.naming import for_each

pytestmark = pytest.mark.filterwarnings(f"ignore::{SmallTopWarning.__module__}.SmallTopWarning")

every_way_in = for_each("case", WAYS_IN)
Y_TRUE, Y_SCORE = [1, 0, 1, 0, 0, 1], [5, 4, 3, 3, 2, 1]

# ------------------------------------------------------------------------------------- weights


@every_way_in
def test_query_weights_have_the_limits_of_item_weights(case):
    qid, pooled = [1, 1, 1, 2, 2, 2], (Y_TRUE, Y_SCORE)
    values = case(*pooled, qid=qid, average=None)
    for first, second in ((1e149, 2e148), (1e-149, 1e-149), (1e149, 1e-149), (1.0, 0.0)):
        weight = np.repeat([first, second], 3)
        value = case(*pooled, qid=qid, query_weight=weight)
        share = second / (first + second)
        assert value == pytest.approx(values[0] + share * (values[1] - values[0]), rel=1e-12)
    for first in (1e308, 1e151, 1e-151, 5e-324):
        with pytest.raises(ValueError, match=r"query_weight must sum to at most 1e\+150"):
            case(*pooled, qid=qid, query_weight=np.repeat([first, 1.0], 3))


# ------------------------------------------------------------------------------------ positions

# Not F1: its denominator is k and the number of positives.
POSITIONS = [
    case
    for case in METRICS
    if "k" in case.parameters and case.function is not metrics.f1_at_k_score
]


@for_each("case", POSITIONS)
def test_positions_beyond_the_length_are_the_whole_list(case):
    y_true = np.resize(case.grades, 6)
    parameters = {name: value for name, value in case.parameters.items() if name != "k"}

    def value(k, **arguments):
        found = case.function(y_true, Y_SCORE, k=k, **parameters, **arguments)
        # The one measure that divides by k itself.
        divides = case.function is metrics.precision_at_k_score and "convention" not in parameters
        return found * float(k) if divides else found

    weights = [{}]
    if case.weights != "none":
        weights += [{"sample_weight": np.resize([2.0, 1.0, 3.0], 6)}]
    for more in weights:
        whole = value(100, **more)
        assert value(12 if more else 6, **more) == pytest.approx(whole, rel=1e-13)
        for k in (2**31, 2**53, 2**63 - 1, np.uint64(2**62), np.int64(2**63 - 1)):
            assert value(k, **more) == pytest.approx(whole, rel=1e-13)
            lists = value(k, qid=[1, 1, 1, 1, 2, 2], **more)
            assert lists == pytest.approx(value(100, qid=[1, 1, 1, 1, 2, 2], **more), rel=1e-13)
    for k in (2**63, 10**20, 10**400, np.uint64(2**64 - 1)):
        with pytest.raises(ValueError, match=f"at least 1 and at most {2**63 - 1}"):
            value(k)


def test_positions_of_f1_have_the_same_end():
    whole = metrics.f1_at_k_score(Y_TRUE, Y_SCORE, k=6)
    assert metrics.f1_at_k_score(Y_TRUE, Y_SCORE, k=56) == pytest.approx(
        whole * (6 + 3) / (56 + 3)
    )
    assert 0 < metrics.f1_at_k_score(Y_TRUE, Y_SCORE, k=2**63 - 1) < 1e-17
    with pytest.raises(ValueError, match=f"at most {2**63 - 1}"):
        metrics.f1_at_k_score(Y_TRUE, Y_SCORE, k=2**63)


def test_positions_in_names_and_score_generating_functions():
    names = [name for name in metrics.get_measure_names() if name.endswith(("@10", "@5", "@20"))]
    stems = [name for name in names if "k" in vars(get_measure(name))]
    assert len(stems) >= 6
    for name in stems:
        stem = name.split("@")[0]
        assert get_measure(f"{stem}@{2**63 - 1}").k == 2**63 - 1
        with pytest.raises(ValueError, match=f"at most {2**63 - 1}"):
            get_measure(f"{stem}@99999999999999999999")
    whole = metrics.linear_rank_score(Y_TRUE, Y_SCORE, phi=TopDCG(6))
    for k in (2**63 - 1, np.uint64(2**62)):
        value = metrics.linear_rank_score(Y_TRUE, Y_SCORE, phi=TopDCG(k))
        assert value == pytest.approx(whole, rel=1e-13)
    with pytest.raises(ValueError, match=f"at most {2**63 - 1}"):
        TopDCG(2**63)


# --------------------------------------------------------------------------------- exact numbers

BIG = 2**53
LONG = np.finfo(np.longdouble).nmant > 52
EXACT = {
    "object": np.array([BIG, BIG + 1, 3], dtype=object),
    "list with another": [BIG + 1, BIG, 0.5],
    "list beyond int64": [2**63, 2**63 + 1, -1],
    "Fraction": [Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30), Fraction(0)],
    "Decimal": [Decimal("0.1"), Decimal("0.10000000000000000001"), Decimal(0)],
    "float and Fraction": [1 / 3, Fraction(1, 3), 0],
}
if LONG:
    EXACT["longdouble"] = np.longdouble(1) + np.array([0, 1, 2**40]) * np.longdouble(2) ** -60
exact = pytest.mark.parametrize("score", EXACT.values(), ids=EXACT)


@exact
def test_scores_that_only_float64_ties_are_refused(score):
    for case in WAYS_IN:
        y_true = np.resize(case.grades, 3)
        with pytest.raises(ValueError, match=r"y_score has .* which float64 cannot distinguish"):
            case(y_true, score)
        with pytest.raises(ValueError, match=r"y_score has .* which float64 cannot distinguish"):
            case(np.tile(y_true, 2), [*score, *score], qid=[1, 1, 1, 2, 2, 2])


@every_way_in
def test_scores_that_float64_keeps_apart_are_taken(case):
    y_true = np.resize(case.grades, 3)
    value = case(y_true, [2, 3, 1])
    for score in (
        np.array([2**60, 2**61, -5], dtype=object),
        [2.0**60, 2.0**61, 1.0],
        [Fraction(1, 3), Fraction(1, 2), Fraction(1, 7)],
        [Decimal("0.2"), Decimal("0.3"), Decimal("0.1")],
        np.array([2, 3, 1], dtype=np.longdouble) / 10,
        np.array([0.2, np.inf, -np.inf], dtype=np.longdouble),
        np.array([Fraction(1, 3), np.inf, -np.inf], dtype=object),
    ):
        assert case(y_true, score) == value
    tied = [Fraction(1, 3), Fraction(1, 3), Fraction(1, 7)]
    assert case(y_true, tied) == case(y_true, [1, 1, 0])
    for far in (10**400, Fraction(10**400)):
        with pytest.raises(ValueError, match=r"y_score has a number beyond 1\.8e308"):
            case(y_true, [far, 0, 1])


@exact
def test_relevances_that_only_float64_ties_are_refused(score):
    with pytest.raises(ValueError, match=r"y_true has .* which float64 cannot distinguish"):
        metrics.spearman_score(score, [1, 2, 3])


def test_labels_that_only_float64_ties_are_two_classes():
    for labels in ([BIG, BIG + 1, BIG], [2**63, 2**63 + 1, 2**63], [2**64, 2**64 + 1, 2**64]):
        given = np.array(labels, dtype=object)
        value = metrics.roc_auc_score(given, [1, 3, 2], pos_label=labels[1])
        assert value == 1.0
    with pytest.raises(ValueError, match="3 classes"):
        metrics.roc_auc_score([2**63, 2**63 + 1, -1], [1, 2, 3], pos_label=-1)


def test_ids_that_only_float64_ties_are_two_lists():
    values = metrics.roc_auc_score(
        [1, 0, 0, 1, 1, 0],
        [1, 2, 2, 3, 1, 2],
        qid=[2**63] * 2 + [2**63 + 1] * 2 + [-1] * 2,
        average=None,
    )
    assert values.tolist() == [0.0, 0.0, 1.0]


# ---------------------------------------------------------------------------------------- gains


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 1.0, 3.0, 1.0, 1.0]])
def test_ndcg_does_not_depend_on_the_scale_of_gains(k, weight):
    for scale in (1e308, 1e200, 1e-300, 1e-308):
        gain = np.array([1.7, 0.0, 1.1, 0.4, 0.4, 1.6])
        for more in ({}, {"qid": [1, 1, 1, 2, 2, 2]}):
            values = [
                metrics.ndcg_score(y, Y_SCORE, gain="linear", k=k, sample_weight=weight, **more)
                for y in (gain, gain * scale)
            ]
            assert values[1] == pytest.approx(values[0], rel=1e-12)
        utilities = [
            get_measure("ndcg", gain="linear").positional.utilities(
                get_measure("ndcg").lists(y, Y_SCORE)
            )
            for y in (gain, gain * scale)
        ]
        np.testing.assert_allclose(utilities[1], utilities[0], rtol=1e-12)


def test_one_list_of_vast_gains_leaves_the_others_as_they_are():
    y_true = np.r_[[1.7, 0.3, 0.9], 1e308 * np.array([1.7, 0.3, 0.9])]
    score, qid = np.tile([1, 2, 2], 2), np.repeat([1, 2], 3)
    values = metrics.ndcg_score(y_true, score, qid=qid, gain="linear", average=None)
    alone = metrics.ndcg_score(y_true[:3], score[:3], gain="linear")
    # Sums of other lengths are of other orders, by which some processors round them.
    assert values[0] == pytest.approx(alone, rel=1e-15)
    assert values[1] == pytest.approx(values[0], rel=1e-13)


def test_sums_of_gains_beyond_float64_are_refused():
    vast = [1e308, 1.7e308, 0.0]
    # The mean of tied items is finite where their sum is not.
    assert metrics.dcg_score([1.7e308, 1.7e308], [1, 1], gain="linear", k=1) == 1.7e308
    with pytest.raises(ValueError, match=r"the list exceeds 1\.8e308"):
        metrics.dcg_score(vast, [1, 2, 3], gain="linear", log_base=8)
    with pytest.raises(ValueError, match=r"qid 'b' exceeds 1\.8e308"):
        metrics.dcg_score(
            [1, 1, *vast], [1, 2, 3, 2, 1], qid=["a", "a", "b", "b", "b"], gain="linear"
        )
    with pytest.raises(ValueError, match=r"exceeds 1\.8e308"):
        metrics.positional_score(
            [2, 1], [1, 2], gain="linear", discount=lambda i, n: np.full_like(i, 1e308)
        )


def test_the_mean_of_vast_values_is_finite():
    y_true, qid = [1.2e308, 0, 1.6e308, 0], [1, 1, 2, 2]
    for weight, expected in ((None, 1.4e308), ([3, 3, 1, 1], 1.3e308)):
        value = metrics.dcg_score(
            y_true, [2, 1, 2, 1], qid=qid, gain="linear", query_weight=weight
        )
        assert value == pytest.approx(expected, rel=1e-14)


def test_vast_grades_have_a_chance_to_satisfy():
    values = [
        metrics.expected_reciprocal_rank_score([top, top - 1, top - 3], [1, 2, 3])
        for top in (60, 1000, 1500, 1e300)
    ]
    assert values[1:3] == pytest.approx([values[0]] * 2, rel=1e-12)
    assert np.isfinite(values).all()
    err = get_measure("err")
    chance = err.positional.utilities(err.lists([1500, 1499, 0], [1, 2, 3]))
    assert chance.tolist() == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e308])
def test_vast_gains_of_what_was_not_retrieved_keep_their_scale(scale):
    gain = np.array([1.7, 0.0, 1.1])
    values = []
    for by in (1.0, scale):
        lists = get_measure("ndcg", gain="linear").lists(gain * by, [1, 2, 3])
        # The list of all has gains of a size of its own.
        whole = Lists(labels=np.array([1.7, 0.0, 1.1, 1.6]) * by, offsets=np.array([0, 4]))
        lists = replace(lists, ideal=whole)
        values.append(get_measure("ndcg", gain="linear").values(lists)[0])
    assert values[1] == pytest.approx(values[0], rel=1e-12)
    assert values[0] < 0.9
