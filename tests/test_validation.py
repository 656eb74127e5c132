"""What comes in as something else than two clean lists of numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from sklearn_rank._lists import LabelType, check_scored_lists
from sklearn_rank._validation import check_positive, check_qid, check_rows, check_vector
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import get_measure
from tests.naming import for_each


def check_binary_scores(y_true, y_score, *, pos_label=None, **arguments):
    return check_scored_lists(y_true, y_score, LabelType("binary", pos_label), **arguments)


def check_graded_scores(y_true, y_score, *, pos_label=None, lowest=0.0, **arguments):
    return check_scored_lists(y_true, y_score, LabelType("graded", pos_label, lowest), **arguments)


every_check = pytest.mark.parametrize("check", [check_binary_scores, check_graded_scores])


@every_check
@pytest.mark.parametrize(
    "y_score",
    [
        ["2", "10"],
        np.array(["2", 10], dtype=object),
        [1j, 2.0],
        np.array(["2020", "NaT"], dtype="M8[Y]"),
        [{}, 1],
    ],
)
def test_scores_that_are_no_numbers_are_refused(check, y_score):
    with pytest.raises(ValueError, match="y_score must be numeric"):
        check([1, 0], y_score)


def test_relevance_in_words_is_refused():
    with pytest.raises(ValueError, match="y_true must be numeric, got words such as '2': pass"):
        check_graded_scores(["2", "10"], [1, 2])


def test_bad_labels_are_named_by_their_own_row():
    y_true, y_score, weight = [1, 0, 0, np.nan], [1, 2, 3, 4], [0, 1, 1, 1]
    with pytest.raises(ValueError, match="missing label at row 3"):
        check_binary_scores(y_true, y_score, sample_weight=weight)
    with pytest.raises(ValueError, match="missing label at row 3"):
        check_graded_scores(y_true, y_score, sample_weight=weight)


def test_a_mask_that_masks_nothing_is_none():
    assert check_binary_scores([1, 0, 1], np.ma.array([1, 0, 1])).score.tolist() == [1, 0, 1]


@every_check
def test_weights_beyond_float64_are_refused(check):
    for weight in ([1e308, 1e308], [1e150, 1e150], [1.0, 1e-200]):
        with pytest.raises(ValueError, match="or their products overflow float64"):
            check([1, 0], [1, 2], sample_weight=weight)


def test_labels_of_mixed_types_are_refused():
    with pytest.raises(ValueError, match="mixes labels"):
        check_binary_scores(np.array([1, "a", 0], dtype=object), [1, 2, 3], pos_label=1)


@every_check
def test_missing_labels_of_two_dimensions_are_no_items(check):
    y_true, y_score = [[1, np.nan, 0], [0, 1, None]], [[1, np.nan, 2], [3, 4, np.nan]]
    data = check(y_true, y_score, query_weight=[5, 6])
    assert data.rows.tolist() == [0, 2, 3, 4]
    assert data.lengths.tolist() == [2, 2]
    assert data.query_weight.tolist() == [5, 6]
    assert data.scored_by(y_score, (2, 3)).score.tolist() == [1, 2, 3, 4]
    data = check(y_true, y_score, sample_weight=[[1, 1, 1], [0, 3, 1]])
    assert data.rows.tolist() == [0, 2, 4]
    assert data.weight.tolist() == [1, 1, 3]
    pandas = pd.DataFrame({"a": [1, 0], "b": [None, 1], "c": [0, None]}, dtype="Int64")
    assert check(pandas, y_score).rows.tolist() == [0, 2, 3, 4]
    # A row that is absent by its weights may have no labels.
    data = check([[1, 0], [np.nan, np.nan]], [[1, 2], [3, 4]], sample_weight=[[1, 1], [0, 0]])
    assert data.n_lists == 1
    for weight in ([[1, 1], [1, 1]], [[1, 1], [0, 1]], None):
        with pytest.raises(ValueError, match="NaN in all of row 1, a list without items"):
            check([[1, 0], [np.nan, np.nan]], [[1, 2], [3, 4]], sample_weight=weight)
    with pytest.raises(ValueError, match="NaN in all of row 0"):
        check([[np.nan, 1], [0, 1]], [[1, 2], [3, 4]], sample_weight=[[1, 0], [1, 1]])


def test_what_is_no_label_is_refused_beside_missing_ones():
    with pytest.raises(ValueError, match="inf at row 1, column 2"):
        check_graded_scores([[np.nan, 1, 0], [0, 1, np.inf]], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="3 classes"):
        check_binary_scores([[np.nan, 1, 0], [0, 1, 2]], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="y_score is NaN at row 1, column 0"):
        check_binary_scores([[np.nan, 1], [0, 1]], [[1, 2], [np.nan, 1]])


@every_check
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": [[1, 0]], "y_score": [1, 0]}, "one score for each label"),
        ({"y_true": [[1, 0]], "y_score": [[1, np.nan]]}, "NaN at row 0, column 1"),
        ({"y_true": [[1, 0]], "y_score": [[1, 2]], "qid": [[1, 1]]}, "every row is a list"),
        ({"y_true": [[1, 0]], "y_score": [[1, 2]], "sample_weight": [1]}, "query_weight"),
        ({"y_true": [[1, 0]], "y_score": [[1, 2]], "query_weight": [1, 1]}, "2 entries for 1"),
        ({"y_true": [1, 0], "y_score": [1, 2], "query_weight": [1]}, "return_inverse"),
    ],
)
def test_lists_that_do_not_fit_are_refused(check, arguments, message):
    with pytest.raises(ValueError, match=message):
        check(**arguments)


@pytest.mark.parametrize("qid", [7, 0.5, np.int64(7), np.array(7)])
def test_one_number_is_the_id_of_all_rows(qid):
    assert check_qid(qid, 3).tolist() == [qid] * 3


@pytest.mark.parametrize(
    "qid",
    [
        {0: 1, 1: 1}.values(),
        frozenset({1, 2}),
        range,
        np.nan,
        1j,
        np.datetime64("2020-01-01"),
        object(),
    ],
    ids=lambda qid: type(qid).__name__,
)
def test_what_is_no_array_is_no_id(qid):
    with pytest.raises(ValueError, match="not one id per row: pass a one-dimensional array"):
        check_qid(qid, 3)


def test_a_class_as_relevance():
    data = check_graded_scores(["spam", "ham"], [1, 2], pos_label="spam")
    assert data.grade.tolist() == [1.0, 0.0]
    data = check_graded_scores([-1.5, 2], [1, 2], lowest=-np.inf)
    assert data.grade.tolist() == [-1.5, 2.0]
    with pytest.raises(ValueError, match="-inf at row 0: relevance must be finite"):
        check_graded_scores([-np.inf, 2], [1, 2], lowest=-np.inf)


@for_each(
    ("values", "settings", "message"),
    [
        ([], {}, "v is empty"),
        ([[1.0, 2.0]], {}, r"v has shape \(1, 2\), but must be one-dimensional"),
        ({"a": 1.0}, {}, "v is a dict: pass an array of one entry per row"),
        ((x for x in [1.0]), {}, "v is a generator: pass an array"),
        (3.0, {}, r"v is 3\.0: pass an array"),
        (["a"], {}, "v must be numeric"),
        ([1.0, 2.0], {"n": 3}, "v has 2 entries, but must have 3"),
        ([1.0, np.nan], {}, r"v is nan at row 1: it must be finite\."),
        ([-np.inf, 1.0], {"lowest": 0.0}, "v is -inf at row 0: it must be finite and at least 0"),
        ([0.0, -1.0], {"lowest": 0.0}, "v is -1 at row 1: it must be finite and at least 0"),
    ],
)
def test_vectors_that_are_refused(values, settings, message):
    with pytest.raises(ValueError, match=message):
        check_vector("v", values, **settings)


def test_vectors_are_floats_without_a_copy_where_they_are():
    values = np.array([0.5, -3.0])
    assert check_vector("v", values, 2) is values
    assert check_vector("v", [True, 2]).dtype == np.float64


COLUMNS = {
    "array": lambda values: np.reshape(values, (-1, 1)),
    "list": lambda values: [[value] for value in values],
    "pandas": lambda values: pd.DataFrame({"column": values}),
    "polars": lambda values: pl.DataFrame({"column": values}),
}


@every_check
@pytest.mark.parametrize("container", COLUMNS.values(), ids=COLUMNS)
def test_a_column_is_a_vector(check, container):
    given = {
        "y_true": [1, 0, 1, 0],
        "y_score": [1.0, 2.0, 3.0, 4.0],
        "qid": [5, 5, 8, 8],
        "sample_weight": [1.0, 2.0, 1.0, 3.0],
        "query_weight": [1.0, 1.0, 2.0, 2.0],
    }
    expected = check(**given)
    for name in given:
        column = {**given, name: container(given[name])}
        with pytest.warns(DataConversionWarning, match=rf"{name} is a column, of shape \(4, 1\)"):
            found = check(**column)
        for part in ("labels", "score", "offsets", "ids", "weight", "query_weight"):
            np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_the_warning_of_a_column_points_at_the_line_of_the_user():
    with pytest.warns(DataConversionWarning) as caught:
        check_vector("v", [[1.0], [2.0]])
    assert caught[0].filename == __file__


WORDS = np.array(["ok", "fraud", "ok", "ok", "fraud"])
COLUMNS_OF_WORDS = {
    "objects": WORDS.astype(object),
    "list": WORDS.tolist(),
    "bytes": WORDS.astype("S"),
    "pandas": pd.Series(WORDS),
    "pandas objects": pd.Series(WORDS, dtype=object),
    "categorical": pd.Categorical(WORDS, categories=["other", "ok", "fraud"]),
    "polars": pl.Series(WORDS.tolist()),
    "polars categorical": pl.Series(WORDS.tolist()).cast(pl.Categorical),
}


@pytest.mark.parametrize("column", COLUMNS_OF_WORDS.values(), ids=COLUMNS_OF_WORDS)
def test_classes_as_users_hold_them(column):
    fraud = b"fraud" if isinstance(column, np.ndarray) and column.dtype.kind == "S" else "fraud"
    checked = check_rows(column, np.arange(5.0))
    np.testing.assert_array_equal(check_positive(checked, fraud), WORDS == "fraud")
    with pytest.raises(ValueError, match="pos_label is not specified"):
        check_positive(checked)
    with pytest.raises(ValueError, match="pos_label='theft' is not among"):
        check_positive(checked, "theft")
    # A class of which only rows without weight are is none.
    rest = check_rows(column, np.arange(5.0), sample_weight=[1, 0, 1, 1, 0])
    assert not check_positive(rest, fraud).any()


def test_numbers_as_objects_are_the_usual_classes():
    nullable = pd.Series([0, 1, 1], dtype="Int64")
    for column in (np.array([0, 1, 1], dtype=object), pd.Categorical([0, 1, 1]), nullable):
        checked = check_rows(column, np.arange(3.0))
        assert check_positive(checked).tolist() == [False, True, True]


def test_a_missing_class_of_a_column_is_named_by_its_row():
    for column in (
        pd.Categorical(["a", "b", None]),
        pd.Series(["a", "b", None]),
        pl.Series(["a", "b", None]),
        ["a", "b", np.nan],
    ):
        with pytest.raises(ValueError, match="missing label at row 2"):
            check_positive(check_rows(column, np.arange(3.0)), "a")


@for_each(
    ("ids", "dtype", "digits"),
    [
        (2.0**53 + np.arange(4) * 2, "float64", 53),
        (np.float32(2**24) + np.arange(4, dtype=np.float32) * 2, "float32", 24),
        (np.float16([2048, 1, 2048, 1]), "float16", 11),
        ([1, 2, 2.0**60, 1], "float", 53),
        (np.array([1, 2.0**53, 1, 2], dtype=object), "float", 53),
        (pd.Series([1.0, np.inf, 1.0, 2.0]), "float64", 53),
        (pd.Series([2**53 + 1, 2**53 + 3, 1, 1]).astype(float), "float64", 53),
        (pl.Series([2.0**60, 1, 1, 2]), "float64", 53),
    ],
)
def test_float_ids_that_may_have_merged_are_refused(ids, dtype, digits):
    message = rf"qid is the {dtype} .* from 2\*\*{digits} on .*: pass integers or strings"
    with pytest.raises(ValueError, match=message):
        check_qid(ids, 4)


@for_each(
    "ids",
    [
        2**53 + np.arange(4),
        [2**60, 2**60 + 1, 2**60, 1],
        np.array([2**70, 2**70 + 1, 1, 1], dtype=object),
        pd.Series([2**60, 2**60 + 1, 1, 1], dtype="Int64"),
        np.array([2.0**53 - 1, 1, 1, 2]),
        np.float32([2**24 - 1, 1, 1, 2]),
    ],
)
def test_ids_that_are_exact_are_taken(ids):
    assert np.asarray(check_qid(ids, 4)).tolist() == list(ids)


def test_ids_of_several_levels_are_tuples_and_other_types_are_refused():
    query = np.repeat([3, 1], 2)
    index = pd.MultiIndex.from_arrays([query, query])
    assert np.asarray(check_qid(index, 4)).tolist() == [(3, 3), (3, 3), (1, 1), (1, 1)]
    for ids in (query.astype(complex), np.zeros(4, dtype="V4")):
        with pytest.raises(ValueError, match=r"qid has dtype .*: pass integers or strings"):
            check_qid(ids, 4)


def test_orders_of_labels_are_no_labels():
    with pytest.raises(ValueError, match=r"has orders of labels, such as 'a>b': pass .*grades"):
        metric_interval("tau_b", ["a>b", "b>a"], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="so close to 0 that limits say nothing"):
        metric_interval("auc", [0, 1, 0, 1], [1, 2, 3, 4], level=5e-324)
    with pytest.raises(ValueError, match="so close to 1 that limits say nothing"):
        metric_interval("auc", [0, 1, 0, 1], [1, 2, 3, 4], level=1 - 1e-16)


@pytest.mark.parametrize(
    "stored",
    [
        lambda words: np.array(words, dtype=object),
        lambda words: np.array([word[:-1] + word[-1] for word in words], dtype=object),
        lambda words: pd.Series(words, dtype="string"),
    ],
)
def test_labels_that_are_two_words(stored):
    words = ["no", "yes", "yes", "no"]
    for labels in (words, words[::-1], words[1:]):
        found = check_binary_scores(stored(labels), np.zeros(len(labels)), pos_label="yes")
        assert found.positive.tolist() == [word == "yes" for word in labels]
    with pytest.raises(ValueError, match="3 classes"):
        check_binary_scores(stored([*words, "perhaps"]), np.zeros(5), pos_label="yes")


@for_each("other", [None, np.nan, pd.NA, 1, np.arange(2), ["no"]])
def test_words_beside_something_else(other):
    labels = np.empty(3, dtype=object)
    labels[:] = ["no", "yes", "yes"]
    for place in (0, 2):
        mixed = labels.copy()
        mixed[place] = other
        with pytest.raises(ValueError, match=r"missing label|mixes labels|unhashable"):
            check_binary_scores(mixed, np.zeros(3), pos_label="yes")


def test_exchanged_labels_and_scores_are_told():
    score, y = np.random.default_rng(0).random(40), np.arange(40) % 4 == 0
    ndcg, auc = map(get_measure, ("ndcg@10", "auc"))
    with pytest.warns(UserWarning, match="y_score only 0 and 1: pass the labels first"):
        ndcg(score, y)
    with pytest.raises(ValueError, match="for grades; of labels and scores the labels come first"):
        auc(score, y)
    with pytest.raises(ValueError, match="must be finite and at least 0; of labels and scores"):
        ndcg(score - 0.5, y)
    ndcg(y, score), ndcg(3.5 * y, y)
