"""Several scorers at once: joint tests, simultaneous intervals, means over queries."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtr, stdtrit

from sklearn_rank.inference import compare
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    TopDCG,
    VanDerWaerden,
    get_measure,
    linear_rank_score,
    make_measure,
    ndcg_score,
    roc_auc_score,
)
from tests.naming import for_each
from tests.oracles import differences
from tests.oracles import rank_inference as oracle

PHIS = ["wilcoxon", Power(3), Exponential(5.0), LocalAUC(0.7), VanDerWaerden(), lambda u: u**2]


def critical_of(found):
    """Half width of the intervals in standard errors, where none is cut."""
    half = np.subtract(found.high, found.low) / 2
    return float(np.mean(half / found.difference_errors))


def three(rng, n, shift=0.0):
    y_true = (np.arange(n) < n // 3).astype(int)
    common = rng.normal(size=n) + y_true
    scores = {name: common + rng.normal(size=n) for name in "ABC"}
    scores["C"] = scores["C"] + shift * y_true
    return y_true, scores


@for_each("phi", PHIS)
def test_a_comparison_of_two_is_the_paired_test(phi):
    y_true, scores = three(np.random.default_rng(6), 90)
    two = {name: scores[name] for name in "AB"}
    measure = get_measure(linear_rank_score, phi=phi, normalize="minmax")
    found = compare(measure, y_true, two, random_state=0)
    paired = compare(measure, y_true, {"a": scores["A"], "b": scores["B"]})
    assert (found.statistic, found.pvalue, found.low, found.high) == (
        paired.statistic,
        paired.pvalue,
        paired.low,
        paired.high,
    )
    # 30 positives and 60 negatives: between either alone and both together.
    few, many = (2 * stdtr(degrees, -abs(paired.statistic)) for degrees in (29, 88))
    assert 0.97 * many < found.pvalue < 1.03 * few
    critical = critical_of(found)
    assert stdtrit(88, 0.975) - 0.02 < critical < stdtrit(29, 0.975) + 0.02


def test_joint_test_by_the_covariance():
    y_true, scores = three(np.random.default_rng(7), 120, shift=0.5)
    found = compare("auc", y_true, scores, random_state=0)
    assert found.names == ("A", "B", "C")
    for name, estimate in zip(found.names, found.values, strict=True):
        assert estimate == pytest.approx(roc_auc_score(y_true, scores[name]))
    for pair_of_names in ("A - B", "A - C", "B - C"):
        first, second = pair_of_names.split(" - ")
        components = [
            oracle.structural_components(y_true.tolist(), scores[name].tolist()) for name in "ABC"
        ]
        contrast = [float(name == first) - float(name == second) for name in "ABC"]
        tables = [
            np.greater.outer(scores[name][y_true == 1], scores[name][y_true == 0]).astype(float)
            for name in "ABC"
        ]
        error, _ = differences.standard_error_of_aucs(
            components, contrast, [table.tolist() for table in tables]
        )
        assert found[pair_of_names].interval.standard_error == pytest.approx(error)
    assert found.pvalue == min(found.pvalues)
    # Satterthwaite's degrees of freedom from the classes, the least of all pairs.
    expected = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        names = "ABC"[i], "ABC"[j]
        parts = [oracle.structural_components(y_true.tolist(), scores[n].tolist()) for n in names]
        apart = [[x - y for x, y in zip(*side, strict=True)] for side in zip(*parts, strict=True)]
        of_pos, of_neg = (oracle.covariance(one, one) / len(one) for one in apart)
        expected.append((of_pos + of_neg) ** 2 / (of_pos**2 / 39 + of_neg**2 / 79))
    one, all_ = stdtrit(min(expected), [0.975, 1 - 0.025 / 3])
    assert one + 0.02 < critical_of(found) < all_ + 0.015
    again = compare("auc", y_true, scores, baseline="B", random_state=0)
    assert again.contrasts == ("A - B", "C - B")
    assert "adjusted for 3 contrasts" in str(found)


def test_small_pvalues_are_not_those_of_the_draws():
    y_true, scores = three(np.random.default_rng(8), 3000, shift=1.5)
    found = compare("auc", y_true, scores, random_state=0)["A - C"]
    few, many = (3 * 2 * stdtr(degrees, -abs(found.statistic)) for degrees in (999, 2998))
    assert many < found.pvalue < few
    assert found.pvalue < 1e-12


def test_a_duplicate_changes_nothing():
    y_true, scores = three(np.random.default_rng(9), 60)
    expected = compare("auc", y_true, {name: scores[name] for name in "AB"}, random_state=0)
    found = compare(
        "auc",
        y_true,
        {"A": scores["A"], "B": scores["B"], "C": scores["B"]},
        baseline="A",
        random_state=0,
    )
    np.testing.assert_allclose(found.statistics, [-expected.statistic] * 2)
    assert critical_of(found) == pytest.approx(critical_of(expected), abs=0.02)
    assert found.pvalue == pytest.approx(expected.pvalue, abs=0.01)
    every = compare(
        "auc", y_true, {"A": scores["A"], "B": scores["B"], "C": scores["B"]}, random_state=0
    )
    assert every["B - C"].pvalue == 1.0
    assert every["B - C"].interval.width > 0


@for_each(
    ("arguments", "message"),
    [
        ({"baseline": "D"}, r"baseline='D' is not among the rankers \['A', 'B', 'C'\]"),
        ({"measure": TopDCG(3)}, "measure=.*TopDCG.*has no influence function"),
        ({"measure": "ndcg"}, "for a mean over queries pass qid"),
        ({"level": 1.0}, r"level=1\.0 must be a number in \(0, 1\)\."),
        ({"random_state": "x"}, "random_state='x' must be None"),
    ],
)
def test_refusals_of_the_comparison(arguments, message):
    y_true, scores = three(np.random.default_rng(10), 30)
    measure = arguments.get("measure", "auc")
    options = {name: value for name, value in arguments.items() if name != "measure"}
    with pytest.raises(ValueError, match=message):
        compare(measure, y_true, scores, **options)


def test_one_scorer_is_none_to_compare():
    with pytest.raises(ValueError, match="scores holds 1 ranker, but at least 2 are needed"):
        compare("auc", [1, 0], {"A": [1, 2]}, random_state=0)
    with pytest.raises(TypeError, match="scores is a list, but must be a mapping from names"):
        compare("auc", [1, 0], [[1, 2], [2, 1]], random_state=0)


# ------------------------------------------------------------------------- names and contrasts


def frames(scores):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows = np.arange(len(scores["A"]))[::-1]
    return pandas.DataFrame(scores, index=rows), polars.DataFrame(scores)


def test_columns_of_data_frames_are_rankers():
    y_true, scores = three(np.random.default_rng(16), 60)
    expected = compare("auc", y_true, scores, random_state=0)
    for frame in frames(scores):
        found = compare("auc", y_true, frame, random_state=0)
        assert found.names == ("A", "B", "C")
        assert str(found) == str(expected)
    y, scores, qid = by_query()
    expected = compare("ndcg@3", y, scores, qid=qid, method="t")
    for frame in frames(scores):
        assert str(compare("ndcg@3", y, frame, qid=qid, method="t")) == str(expected)


def test_names_are_told_apart():
    pandas = pytest.importorskip("pandas")
    y_true, scores = three(np.random.default_rng(17), 30)
    twice = pandas.DataFrame(np.stack(list(scores.values()), axis=1), columns=["a", "a", "b"])
    with pytest.raises(ValueError, match="scores has the name 'a' 2 times"):
        compare("auc", y_true, twice)
    with pytest.raises(ValueError, match="scores has the name '1' 2 times"):
        compare("auc", y_true, {1: scores["A"], "1": scores["B"]})
    numbers = compare("auc", y_true, {0: scores["A"], 1: scores["B"]}, random_state=0)
    assert numbers.contrasts == ("0 - 1",)


def test_columns_of_a_matrix_are_named_by_their_numbers():
    y_true, scores = three(np.random.default_rng(18), 60)
    found = compare("auc", y_true, np.stack(list(scores.values()), axis=1), random_state=0)
    assert found.contrasts == ("0 - 1", "0 - 2", "1 - 2")
    assert found.pvalues == compare("auc", y_true, scores, random_state=0).pvalues


# --------------------------------------------------------------------------- means over queries


def by_query(n_queries=40, seed=0, noise=(1.0, 1.3, 3.0)):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 8)
    y = rng.integers(0, 3, size=len(qid))
    scores = {name: y + s * rng.normal(size=len(y)) for name, s in zip("ABC", noise, strict=True)}
    return y, scores, qid


def test_queries_are_the_sample():
    y, scores, qid = by_query()
    found = compare("ndcg@3", y, scores, qid=qid, random_state=0)
    values = np.stack(
        [ndcg_score(y, score, qid=qid, k=3, average=None) for score in scores.values()]
    )
    np.testing.assert_allclose(found.values, values.mean(axis=1))
    np.testing.assert_allclose(found.standard_errors, stats.sem(values, axis=1))
    test = found["A - C"]
    paired = compare("ndcg@3", y, {"a": scores["A"], "b": scores["C"]}, qid=qid, method="t")
    assert test.estimate == pytest.approx(paired.estimate)
    assert test.statistic == pytest.approx(paired.statistic)
    assert found.target == "mean ndcg@3 over 40 queries"
    assert found.hypothesis == "equal ndcg@3"


def test_a_constant_difference_is_not_certain():
    n = 9
    values = make_measure(lambda y, s: s[0], name="first", kind="graded", range=(0.0, 1.0))
    scores = {"A": np.full(n, 1.0), "B": np.zeros(n)}
    found = compare(values, np.zeros(n), scores, qid=np.arange(n), random_state=0)
    test = found
    # Half a query at either end for each, and the square of the mean over the queries.
    variance = 2 * 0.25 / n**2 + 1 / n
    assert test.estimate == 1.0
    assert test.interval.standard_error == pytest.approx(variance**0.5)
    assert test.pvalue > 1e-3
    assert test.interval.high == 1.0


def test_one_query_is_no_sample():
    with pytest.raises(ValueError, match="has a value for 1 of 1 queries"):
        compare("ndcg", [1, 0, 2], {"A": [3, 2, 1], "B": [1, 2, 3]}, qid=[7, 7, 7], random_state=0)


# ------------------------------------------------------------------------- a measure of one's own


def last_positive(y_true, y_score):
    """Share of the negatives below the lowest positive."""
    return np.mean(y_score[y_true == 0] < y_score[y_true == 1].min())


PER_QUERY = make_measure(last_positive, range=(0.0, 1.0))


@for_each("measure", ["auc", "local_auc@0.7", "pnorm@3", "bedroc@5", Power(3), PER_QUERY])
def test_measures_of_one_list_and_of_queries(measure):
    y, scores, qid = by_query()
    y = (np.arange(len(y)) % 8 < 3).astype(int)
    expected = [get_measure(measure)(y, score, qid=qid) for score in scores.values()]
    found = compare(measure, y, scores, qid=qid, random_state=0)
    np.testing.assert_allclose(found.values, expected)


# ---------------------------------------------------------------------------------- Monte Carlo


@pytest.mark.slow
def test_simultaneous_coverage_and_joint_size():
    rng = np.random.default_rng(12)
    covered = rejected = 0
    for _ in range(200):
        positive = np.arange(300) < 100
        common = rng.normal(size=300)
        scores = {str(j): common + rng.normal(size=300) + 1.5 * positive for j in range(4)}
        found = compare(Exponential(5.0), positive, scores, random_state=0)
        covered += all(np.multiply(found.low, found.high) <= 0)
        rejected += found.pvalue < 0.05
    assert 0.91 <= covered / 200 <= 0.985
    assert 0.015 <= rejected / 200 <= 0.09
