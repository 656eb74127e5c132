"""Relevant items that are not among the rows, and the level from which grades are relevant."""

import warnings
from inspect import signature

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, cross_val_score

from sklearn_rank.exceptions import ScorerSetupError
from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import (
    average_precision_score,
    bpref_score,
    get_measure,
    get_scorer,
    make_measure,
    ndcg_score,
    recall_at_k_score,
    reciprocal_rank_score,
)
from sklearn_rank.model_selection import BoundSearchCV, make_bound_scorer
from tests.catalogue import FUNCTIONS, METRICS
from tests.naming import for_each
from tests.oracles import orders

BINARY = [case for case in FUNCTIONS if case.measure.kind == "binary"]
GRADED = [case for case in FUNCTIONS if case not in BINARY]
OF_ALL = [
    case for case in METRICS if "ideal" in case.measure.takes_relevant and "k" in case.parameters
]

# -------------------------------------------------------------- what was not retrieved: its value


def drawn(case, seed):
    """Lists with relevant items that are not among the rows, which are at least k."""
    rng = np.random.default_rng(seed)
    for _ in range(8):
        n = case.parameters["k"] + int(rng.integers(0, 4))
        y_true = rng.choice(case.grades, n)
        absent = rng.choice(case.grades, int(rng.integers(0, 4)))
        if y_true.any():
            yield y_true, rng.integers(0, 3, n), absent


@pytest.mark.parametrize("case", OF_ALL, ids=str)
def test_as_if_they_stood_below_the_last_position(case):
    for seed in range(2):
        for y_true, y_score, absent in drawn(case, seed):
            below = np.full(len(absent), -1)
            expected = case(np.r_[y_true, absent], np.r_[y_score, below])
            every = np.r_[y_true, absent]
            given = [{"ideal": every}, {"ideal": every[every > 0].tolist()}]
            if "n_relevant" in case.measure.takes_relevant:
                given.append({"n_relevant": int(every.sum())})
            for arguments in given:
                assert case(y_true, y_score, **arguments) == pytest.approx(expected, abs=1e-14)


def test_bpref_counts_judged_items_that_were_not_retrieved():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y_true, y_score = rng.integers(0, 2, 6), rng.integers(0, 3, 6)
        absent = np.r_[1, rng.integers(0, 2, rng.integers(0, 8))]
        every = np.r_[y_true, absent]
        counts = {"n_relevant": every.sum(), "n_other": np.sum(every == 0)}
        expected = orders.expected(orders.bpref, y_true, y_score, **counts)
        assert bpref_score(y_true, y_score, ideal=every) == pytest.approx(expected, abs=1e-14)
        counts["n_other"] = np.sum(y_true == 0)
        expected = orders.expected(orders.bpref, y_true, y_score, **counts)
        found = bpref_score(y_true, y_score, n_relevant=every.sum())
        assert found == pytest.approx(expected, abs=1e-14)
        # Junk was not judged.
        junk = bpref_score(y_true, y_score, ideal=np.r_[every, -1, -2])
        assert junk == bpref_score(y_true, y_score, ideal=every)
    with pytest.raises(ValueError, match="has 2 non-relevant rows, but ideal 1 of grade 0: bpref"):
        bpref_score([1, 0, 0], [3, 2, 1], ideal=[1, 1, 0])


def test_the_smallest_cases():
    # Relevant a and c, retrieved a and b.
    y_true, y_score = [1, 0], [2.0, 1.0]
    assert average_precision_score(y_true, y_score) == 1.0
    for convention in (None, "paper", "trec_eval", "ranx"):
        for given in ({"n_relevant": 2}, {"ideal": [1, 1]}):
            found = average_precision_score(y_true, y_score, convention=convention, **given)
            assert found == 0.5
    assert recall_at_k_score(y_true, y_score, k=2, n_relevant=4) == 0.25
    assert ndcg_score(y_true, y_score, ideal=[1, 1]) == pytest.approx(1 / (1 + 1 / np.log2(3)))
    # With a last position the best order is cut there too.
    assert ndcg_score(y_true, y_score, k=1, ideal=[1, 1]) == 1.0
    assert average_precision_score(y_true, y_score, k=1, normalize="reachable", n_relevant=9) == 1


def test_a_list_without_a_relevant_row_has_a_value():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("ap", "rr", "rr@2", "recall@2", "ndcg"):
            assert get_measure(name, undefined="raise")([0, 0], [1, 2], ideal=[1]) == 0.0
    for name in ("ap", "rr", "recall@2", "ndcg"):
        with pytest.raises(ValueError, match="is undefined"):
            get_measure(name, undefined="raise")([0, 0], [1, 2], ideal=[0, -1])
        with pytest.raises(ValueError, match="is undefined"):
            get_measure(name, undefined="raise")([0, 0], [1, 2], ideal=[])


# ------------------------------------------------------------------------------ how it is given


def test_every_form_says_the_same():
    y_true, y_score = np.array([1, 0, 1, 0, 0, 1]), np.array([1.0, 3, 2, 1, 2, 2])
    qid = np.array(["b", "a", "b", "a", "b", "a"])
    ideal = {"a": [1, 1], "b": np.array([1, 1, 1, 0]), "c": [1]}
    forms = [
        {"ideal": ideal},
        {"n_relevant": {"a": 2, "b": 3, "c": 1}},
        {"n_relevant": np.where(qid == "a", 2, 3)},
        {"n_relevant": np.where(qid == "a", 2.0, 3.0).tolist()},
    ]
    values = [
        average_precision_score(y_true, y_score, qid=qid, average=None, **form) for form in forms
    ]
    alone = average_precision_score(y_true, y_score, qid=qid, average=None) * [1 / 2, 2 / 3]
    for found in values:
        assert found == pytest.approx(alone)
    # One list per row.
    rows = [[1, 0, 1], [0, 1, 0]], [[3, 2, 1], [1, 2, 3]]
    expected = ndcg_score(rows[0], rows[1], gain="linear", average=None, ideal=[[1, 1, 1], [1]])
    again = ndcg_score(
        np.ravel(rows[0]),
        np.ravel(rows[1]),
        qid=[0, 0, 0, 1, 1, 1],
        average=None,
        ideal={0: [1, 1, 1], 1: [1]},
    )
    assert expected.tolist() == again.tolist()
    found = recall_at_k_score(*rows, k=2, n_relevant=[4, 1], average=None)
    assert found.tolist() == [0.25, 1.0]


def test_junk_is_as_good_as_nothing():
    assert ndcg_score([2, 0], [1, 2], ideal=[2, -2, 0]) == ndcg_score([2, 0], [1, 2])


REFUSED = [
    ({"n_relevant": 0}, r"n_relevant of the list is 0, but must be a whole number of at least 1"),
    ({"n_relevant": 1.5}, r"1\.5, but must be a whole number"),
    ({"n_relevant": np.nan}, "n_relevant of the list is nan"),
    ({"n_relevant": {0: 1, 1: np.inf}, "qid": [0, 1]}, "of the list with qid 1 is inf, but must"),
    ({"n_relevant": [np.inf, 1]}, "n_relevant is inf at row 0"),
    ({"n_relevant": [2, 3]}, "n_relevant differs within the list"),
    ({"n_relevant": [2, 2, 2]}, "n_relevant has 3 entries"),
    ({"n_relevant": {"a": 2}}, "n_relevant is a mapping from ids, but qid is None"),
    ({"n_relevant": 2, "qid": [0, 1]}, "n_relevant has 1 entries for 2 lists"),
    ({"n_relevant": {0: 2}, "qid": [0, 1]}, "n_relevant has no entry for the list with qid 1"),
    ({"ideal": {0: [1]}, "qid": [0, 1]}, "ideal has no entry for the list with qid 1"),
    ({"ideal": [1], "qid": [0, 1]}, "ideal has 1 entries for 2 lists"),
    ({"ideal": [0]}, "the number of relevant items in ideal of the list is 0, but must be"),
    ({"ideal": [1, 2]}, "ideal has grades other than 0 and 1.*pass grades in both and rel="),
    ({"ideal": [np.inf]}, "ideal of the list is inf"),
    ({"ideal": [1], "n_relevant": 1}, "are alternatives"),
    ({"n_relevant": 1, "sample_weight": [1, 2]}, "sample_weight cannot be combined"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_what_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        average_precision_score([1, 0], [1.0, 2.0], **given)


def test_a_best_order_that_the_rows_beat_is_refused():
    y_true, qid = [0, 1, 3, 0], [5, 5, 6, 6]
    for wrong in ([2], [3, 0, 0][1:], []):
        with pytest.raises(ValueError, match="ideal of the list with qid 6 lacks relevance"):
            ndcg_score(y_true, [1, 2, 3, 4], qid=qid, ideal={5: [1], 6: wrong})
    with pytest.raises(ValueError, match="ideal has 1 entries for 2 lists"):
        ndcg_score([[1, 0], [1, 0]], [[1, 2], [1, 2]], ideal=[[1]])


def test_who_does_not_depend_on_it_does_not_take_it():
    with pytest.raises(TypeError, match="precision_at_k_score does not depend on ideal"):
        get_measure("precision@1")([1, 0], [1, 2], ideal=[1])
    with pytest.raises(TypeError, match=r"does not depend on n_relevant.*; pass ideal"):
        get_measure("ndcg")([1, 0], [1, 2], n_relevant=1)
    for system in ("xgboost", "lightgbm", "catboost", "letor", "sklearn"):
        with pytest.raises(ValueError, match=f"n_relevant describes .*, which {system} does not"):
            average_precision_score([1, 0], [1, 2], n_relevant=1, convention=system)


def test_searches_hand_it_on():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(60, 2)), np.repeat(np.arange(12), 5)
    y = rng.integers(0, 3, 60)
    ideal = {q: np.append(y[qid == q], 2) for q in range(12)}
    n_relevant = np.array([np.count_nonzero(ideal[q]) for q in qid])
    values = []
    with sklearn.config_context(enable_metadata_routing=True):
        for given in ({"ideal": ideal}, {"n_relevant": n_relevant}, {}):
            scoring = get_scorer("ap(rel>=1)").set_score_request(**dict.fromkeys(given, True))
            told = {"scoring": scoring, "params": {"groups": qid, **given}}
            value = cross_val_score(
                LinearRegression(), X, y, cv=GroupKFold(3), error_score="raise", **told
            )
            values.append(value)
    assert values[0].tolist() == values[1].tolist()
    assert (values[0] < values[2]).all()


# ------------------------------------------------------------------------ grades that are relevant


@for_each("case", BINARY)
def test_a_level_makes_two_classes_of_grades(case):
    assert isinstance(case.function, str) or "rel" in signature(case.function).parameters
    rng = np.random.default_rng(0)
    grade = np.r_[0, 3, rng.integers(-1, 4, 38)]
    score, qid = rng.integers(0, 9, 40), np.repeat(np.arange(4), 10)
    for rel in (1, 2, 2.5):
        two = grade >= rel
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = case(two, score, qid=qid, average=None)
            found = case(grade, score, qid=qid, average=None, rel=rel)
            by_name = get_measure(case.function, **case.parameters, rel=rel)
            again = by_name(grade, score, qid=qid, average=None)
        assert np.array_equal(found, expected, equal_nan=True)
        assert np.array_equal(again, expected, equal_nan=True)
        assert get_measure(by_name, rel=None) == case.measure


@for_each("case", GRADED)
def test_measures_of_grades_have_no_level(case):
    assert isinstance(case.function, str) or "rel" not in signature(case.function).parameters
    with pytest.raises(TypeError, match="has no parameter 'rel'"):
        get_measure(case.function, **case.parameters, rel=2)


def test_names_of_levels():
    for name in ("ap(rel>=2)", "ap@10(rel>=2)", "auc(rel>=0.5)", "bedroc@20(rel>=-1)"):
        measure = get_measure(name)
        assert measure.name == name
        assert get_measure(measure.name) == measure
        assert repr(get_scorer(name)) == f"get_scorer({name!r})"
    assert get_measure("ap(rel>=2)") == get_measure("ap", rel=2) == get_measure("ap(rel>=2.0)")
    assert get_measure("ap@3", rel=2, normalize="reachable").name == (
        "ap@3(rel>=2, normalize='reachable')"
    )
    with pytest.raises(TypeError, match="set by the name"):
        get_measure("ap(rel>=2)", rel=3)
    for wrong in ("ap(rel>=)", "ap(rel>=x)", "ap(rel>2)", "ap(rel>=2", "ap(rel>=2)@10"):
        with pytest.raises(ValueError, match=r"is not the name of a measure.*'\(rel>=2\)'"):
            get_measure(wrong)
    with pytest.raises(TypeError, match="no parameter 'rel'"):
        get_measure("ndcg(rel>=2)")


def test_wrong_levels_are_refused():
    for rel in ("2", np.nan, np.inf, True):
        with pytest.raises(ValueError, match="smallest relevant grade"):
            average_precision_score([1, 2], [1, 2], rel=rel)
    with pytest.raises(ValueError, match="pos_label=1 sets a class and rel=2 a grade"):
        average_precision_score([1, 2], [1, 2], rel=2, pos_label=1)
    with pytest.raises(ValueError, match="pass grades"):
        average_precision_score(["a", "b"], [1, 2], rel=2)
    with pytest.raises(ValueError, match="at row 1"):
        average_precision_score([1, np.nan], [1, 2], rel=2)


def test_levels_of_systems():
    y_true, y_score = [2, 1, 0], [1.0, 2.0, 3.0]
    for system in ("trec_eval", "ranx", "catboost"):
        assert reciprocal_rank_score(y_true, y_score, convention=system) == 1 / 2
        assert reciprocal_rank_score(y_true, y_score, convention=system, rel=2) == 1 / 3
    for system in ("letor", "lightgbm"):
        with pytest.raises(ValueError, match=r"rel=2\.?0? conflicts with convention="):
            average_precision_score(y_true, y_score, convention=system, rel=2)


def test_a_level_with_what_was_not_retrieved():
    given = {"ideal": [3, 2, 2, 1, 1]}
    assert recall_at_k_score([3, 1], [1, 2], k=2, rel=2, **given) == pytest.approx(1 / 3)
    assert recall_at_k_score([3, 1], [1, 2], k=2, rel=1, **given) == pytest.approx(2 / 5)
    system = {"convention": "trec_eval", **given}
    assert recall_at_k_score([3, 1], [1, 2], k=2, **system) == pytest.approx(2 / 5)


def test_a_level_goes_through_intervals_scorers_and_searches():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(240, 2)), np.repeat(np.arange(24), 10)
    grade = np.clip(np.round(X[:, 0] + rng.normal(size=240) + 1), 0, 3)
    grade[::10] = 2
    two, score, other = (grade >= 2).astype(int), X[:, 0], X[:, 1]
    first = metric_interval("ap(rel>=2)", grade, score, qid=qid)
    second = metric_interval("ap", two, score, qid=qid)
    assert (first.estimate, first.low, first.high) == (second.estimate, second.low, second.high)
    first = compare("auc(rel>=2)", grade, {"a": score, "b": other})
    second = compare("auc", two, {"a": score, "b": other})
    assert (first.estimate, first.pvalue) == (second.estimate, second.pvalue)
    model = Ridge().fit(X, grade)
    assert get_scorer("auc(rel>=2)")(model, X, grade) == get_scorer("auc")(model, X, two)
    assert get_scorer("ap(rel>=2)")(model, X, grade, qid=qid) == get_scorer("ap")(
        model, X, two, qid=qid
    )
    first, second = (make_bound_scorer(name) for name in ("auc(rel>=2)", "auc"))
    assert first(model, X, grade) == second(model, X, two)
    assert "auc(rel>=2)" in first.statement
    search = BoundSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, measure="auc(rel>=2)", random_state=0)
    assert search.fit(X, grade).best_score_ > 0.7
    with pytest.raises(ValueError, match="All labels"):
        get_scorer("auc(rel>=2)")(model, X[grade < 2], grade[grade < 2])
    # A classifier knows two classes, and no grades.
    classifier = LogisticRegression().fit(X, two)
    with pytest.raises(ScorerSetupError, match=r"fit it to y >= rel"):
        get_scorer("auc(rel>=2)")(classifier, X, grade)
    search.set_params(estimator=LogisticRegression(), param_grid={"C": [1.0]})
    with pytest.raises(ValueError, match=r"fit it to y >= rel"):
        search.fit(X, two)


def test_a_measure_of_ones_own_has_a_level():
    def first(y_true, y_score):
        return float(y_true[np.argmax(y_score)])

    measure = get_measure(make_measure(first, name="first"), rel=2)
    assert measure.name == "first(rel=2.0)"
    assert measure([3, 1], [2, 1], qid=["a", "a"]) == 1.0
    assert measure([1, 3], [2, 1], qid=["a", "a"]) == 0.0
    graded = make_measure(first, name="first", kind="graded")
    with pytest.raises(TypeError, match="rel"):
        get_measure(graded, rel=2)


def test_a_scorer_takes_the_level_itself_as_relevant():
    X, y = np.arange(4.0)[:, np.newaxis], [2, 3, 2, 3]
    fitted = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="All labels are True"):
        get_scorer("ap(rel>=2)", single_list=True)(fitted, X, y)
