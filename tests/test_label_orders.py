"""Orders of labels in every form, against their definition, and what is refused."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from sklearn_rank import OrderPreservingLabelRanker
from sklearn_rank._label_rankings._label_orders import read_label_orders
from sklearn_rank._label_rankings._label_rankers import label_utilities
from sklearn_rank.exceptions import ContinuousLabelWarning
from sklearn_rank.preprocessing import label_grades
from tests.naming import for_each
from tests.oracles import label_orders as oracle

NAN = float("nan")


def assert_grades(y, expected, **how):
    np.testing.assert_array_equal(label_grades(y, **how), np.asarray(expected, dtype=float))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_order_of_labels_with_ties_is_read_from_each_numbering(n):
    for levels in oracle.weak_orders(n):
        expected = [oracle.grades_of_positions(levels)]
        for positions in oracle.numberings(levels):
            assert_grades([positions], expected, target_type="positions")


def test_positions_of_rows_without_some_labels():
    rows = [[2, NAN, 1, 4], [1, NAN, 2, NAN], [1, 1, NAN, 2], [NAN, 3, NAN, NAN]]
    expected = [oracle.grades_of_positions(row) for row in rows]
    assert_grades(rows, expected, target_type="positions")
    frame = pd.DataFrame(rows, columns=list("abcd"))
    assert_grades(frame, expected, target_type="positions")
    assert_grades(frame.convert_dtypes(), expected, target_type="positions")
    assert_grades(pl.from_pandas(frame), expected, target_type="positions")
    masked = np.ma.masked_invalid(rows)
    with pytest.raises(
        ValueError, match=r"masked values, .* y\.astype\(float\)\.filled\(np\.nan\)"
    ):
        label_grades(masked, target_type="positions")
    assert_grades(masked.filled(NAN), expected, target_type="positions")
    assert_grades(
        [[None if v != v else v for v in row] for row in rows], expected, target_type="positions"
    )


def test_orders_of_names():
    levels = [[["a"], ["b", "c"]], [["c"], ["a"]], [["d", "b"], ["a"], ["c"]]]
    expected = [oracle.grades_of_levels(row, "abcd") for row in levels]
    texts = ["a>b=c", "c > a", "d=b>a>c"]
    nested = [["a", ("b", "c")], ["c", "a"], [["d", "b"], "a", "c"]]
    for y in (texts, np.array(texts), pd.Series(texts), pl.Series(texts), nested):
        for target_type in ("auto", "orders"):
            grades, labels = label_grades(y, target_type=target_type, return_labels=True)
            np.testing.assert_array_equal(grades, expected)
            assert labels.tolist() == list("abcd")
    assert_grades(texts, np.array(expected)[:, ::-1], labels=list("dcba"))


def test_orders_as_tables_of_names_and_of_numbers():
    assert_grades([["b", "a"], ["a", "b"]], [[0, 1], [1, 0]])
    assert_grades(
        pd.DataFrame({"1st": ["b", "c"], "2nd": ["a", None]}), [[0, 1, NAN], [NAN, NAN, 0]]
    )
    assert_grades([[7, 3], [3, 7]], [[0, 1], [1, 0]], target_type="orders")
    assert_grades([["2", "1"], ["1", "2"]], [[0, 1], [1, 0]], target_type="orders")


@pytest.mark.parametrize("written", [[[3, 1, 2], [1, 2, 3]], [[4.5, 1.0], [0.5, 2.0]]])
@pytest.mark.parametrize(
    "make", [np.asarray, np.ndarray.tolist, lambda y: y.astype(object), pd.DataFrame]
)
def test_numbers_written_as_text_are_no_names_of_labels(written, make):
    text = np.array(written).astype(str)
    with pytest.raises(ValueError, match=r"numbers that are written as text, .*astype\(float\)"):
        label_grades(make(text))
    rows = [*text.tolist(), text[0, :1].tolist()]  # of different lengths
    with pytest.raises(ValueError, match=r"numbers that are written as text, .*pass numbers"):
        label_grades(rows)
    assert label_grades([["3", "a"], ["3"]]).shape == (2, 2)


def test_real_numbers_written_as_text_warn_as_numbers_do():
    with pytest.warns(ContinuousLabelWarning, match="2 distinct real numbers"):
        label_grades(["4.5", "0.25"])


def test_a_row_without_labels_is_as_one_of_one_label():
    grades = [[NAN, NAN], [NAN, 0.0], [1.0, 0.0]]
    assert_grades(["", "a", "b>a"], [one[::-1] for one in grades])
    assert_grades([None, "a", "b>a"], [one[::-1] for one in grades], target_type="orders")
    with pytest.raises(ValueError, match="y has masked values"):
        label_grades(np.ma.array(["a>b", "b>a"], mask=[True, False]))


def test_utilities_and_indicators_are_grades():
    utilities = [[0.5, -2.0, NAN], [3.0, 3.5, 0.0]]
    assert_grades(utilities, utilities)
    indicator = [[1, 0, 1], [0, 0, 0], [1, 1, 1]]
    for y in (indicator, np.array(indicator, dtype=bool), sp.csr_array(indicator)):
        found = read_label_orders(y)
        assert found.target_type == "indicator"
        np.testing.assert_array_equal(found.grades, indicator)
    assert read_label_orders(sp.csr_array([[0.0, 2.5], [1.0, 0.0]])).target_type == "utilities"


def test_classes():
    for y in (["x", "z", "y", "x"], pd.Series(list("xzyx"), dtype="category")):
        assert_grades(y, [[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]])
    assert_grades([3, 1], [[0, 1], [1, 0]])
    with pytest.warns(DataConversionWarning, match="column"):
        assert_grades(np.array([[3], [1]]), [[0, 1], [1, 0]])
    assert_grades([True, False], [[0, 1], [1, 0]])
    with pytest.warns(ContinuousLabelWarning, match="2 distinct real numbers"):
        assert_grades([0.5, 0.25], [[0, 1], [1, 0]])


def test_labels_of_a_fit_order_the_columns_and_refuse_others():
    frame = pd.DataFrame({"x": [1.5, 2.5], "y": [2.0, 0.0]})
    assert_grades(frame, [[2.0, 1.5], [0.0, 2.5]], labels=["y", "x"])
    assert_grades(frame.to_numpy(), frame.to_numpy(), labels=["y", "x"])
    with pytest.raises(ValueError, match="no column 'z', but"):
        label_grades(frame, labels=["x", "z"])
    with pytest.raises(ValueError, match="2 columns, but there are 3 labels"):
        label_grades(frame, labels=["x", "y", "z"])
    with pytest.raises(ValueError, match="label 'c' in row 1, which is not one of"):
        label_grades(["a>b", "a>c"], labels=["a", "b"])
    with pytest.raises(ValueError, match="label 'c' in row 0, which is not one of"):
        label_grades(["c", "a"], labels=["a", "b"])
    assert_grades(["2>1"], [[0, 1]], labels=[1, 2])


@for_each(
    ("y", "target_type", "message"),
    [
        ([[1, 2, 3], [3, 1, 2]], "auto", r"rows such as \[1, 2, 3\], which can be positions"),
        ([[1, NAN, 3], [3, 1, 2]], "auto", "target_type='orders' if they are labels"),
        ([[0, 1, 2], [2, 0, 1]], "auto", r"\[0, 1, 2\], which can be utilities.* add 1"),
        ([[1, 3, 4], [1, 2, 3]], "positions", r"\[1, 3, 4\] in row 0, outside 1 to 3"),
        ([[1, 2, 3], [2, 3, 3]], "positions", r"\[2, 3, 3\] in row 1, which skip or repeat"),
        ([[1, 2, 3], [1, 1.5, 3]], "positions", r"\[1, 1.5, 3\] in row 1, which skip or repeat"),
        ([[0, 1, 2]], "positions", "positions begin with 1 .the top.: add 1"),
        ([[NAN, NAN], [NAN, NAN]], "utilities", "no label in any row"),
        (["a>b", "a>b>a"], "auto", "in row 1, which has the label 'a' twice"),
        ([["a", "b"], ["b", "b"]], "auto", "in row 1, which has the label 'b' twice"),
        (["a>>b", "a>b"], "auto", "'a>>b' in row 0, which has no label beside a sign"),
        (["<=50K", ">50K"], "auto", "target_type='classes' if it is the name"),
        (["a", "a"], "auto", "one label only, 'a'"),
        ([[1.0], [2.0]], "utilities", "one label only, 0"),
        ([[0.0, np.inf]], "utilities", "infinite at row 0, column 1"),
        ([[0, 1], [2, 0]], "indicator", "is 2 at row 1, column 0, but an indicator"),
        ([["a", "b"]], "utilities", "entries that are not numbers"),
        ([[1j, 2]], "utilities", "entries that are not numbers"),
        (
            [1.0, NAN],
            "classes",
            r"missing label at row 1 \(NaN or None\), so labels are known in part",
        ),
        ([[1, 2], [2, 1]], "classes", r"shape \(2, 2\), but .* needs one class per row"),
        ([{"a", "b"}, {"a"}], "auto", "a set in row 0, which has no order"),
        (np.zeros((2, 2, 2)), "auto", "3 dimensions"),
        ("a>b", "orders", "is one str"),
        ([["a", 1]], "orders", "mixes labels of different types"),
        ([[1, 2]], "ranks", "target_type='ranks' must be"),
    ],
)
def test_what_is_refused_is_said_with_the_row(y, target_type, message):
    with pytest.raises(ValueError, match=message):
        label_grades(y, target_type=target_type)


def test_labels_must_be_different():
    label_grades([[1, 2, 3], [1, 3, 3]], target_type="positions")  # positions may be tied
    with pytest.raises(ValueError, match="labels contains 'a' twice"):
        label_grades(["a>b"], labels=["a", "b", "a"])
    frame = pd.DataFrame([[1.0, 2.5]], columns=["a", "a"])
    with pytest.raises(ValueError, match="labels contains 'a' twice"):
        label_grades(frame)


def test_class_names_with_signs():
    found = read_label_orders(["<=50K", ">50K"], "classes")
    assert found.labels.tolist() == ["<=50K", ">50K"]


def test_lists_of_rows_and_borda_shares():
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 4, (200, 5)).astype(float)
    grades[rng.random(grades.shape) < 0.4] = NAN
    grades = grades[(~np.isnan(grades)).sum(axis=1) > 0]
    weight = np.arange(1.0, len(grades) + 1)
    lists = read_label_orders(grades, "utilities").lists(weight=weight)
    np.testing.assert_array_equal(lists.labels, grades[~np.isnan(grades)])
    np.testing.assert_array_equal(grades.ravel()[lists.rows], lists.labels)
    np.testing.assert_array_equal(lists.query_weight, weight)
    shares = np.split(label_utilities("tau_b", lists), lists.offsets[1:-1])
    for found, row in zip(shares, grades.tolist(), strict=True):
        known = {one for one in row if one == one}
        expected = oracle.borda_shares(row) if len(known) > 1 else np.full(len(found), NAN)
        np.testing.assert_allclose(found, expected)
    complete = read_label_orders([[1.0, 0.5], [0.0, 2.0]]).lists()
    assert complete.rows is None
    np.testing.assert_array_equal(label_utilities("dcg", complete), 2.0**complete.labels - 1)


@for_each("sign", ["->", "→", "≻", "<", ",", ", ", ";", "|", "/", ":", "\t", "-", "_", " "])
def test_orders_with_other_signs_are_no_names_of_classes(sign):
    rows = [("tuna", "eel", "egg"), ("egg", "tuna", "eel"), ("eel", "egg", "tuna")]
    texts = [sign.join(row) for row in rows]
    X = np.arange(6.0).reshape(3, 2)
    for read in (
        label_grades,
        lambda y: label_grades(y, target_type="orders"),
        lambda y: OrderPreservingLabelRanker().fit(X, y),
        lambda y: OrderPreservingLabelRanker(target_type="orders").fit(X, y),
    ):
        for y in (texts, np.array(texts), np.array(texts, dtype=object), pd.Series(texts)):
            with pytest.raises(ValueError, match="is between the same labels") as caught:
                read(y)
    # The line that mends it.
    line = re.search(r"orders (\[.*\]), or", str(caught.value))[1]
    top_down = [row[::-1] for row in rows] if sign == "<" else rows
    mended = label_grades(eval(line, {"y": texts}))
    np.testing.assert_array_equal(mended, label_grades(top_down))
    classes = label_grades(texts, target_type="classes")
    np.testing.assert_array_equal(classes, np.eye(3)[np.argsort(np.argsort(texts))])


@for_each(
    "texts",
    [
        ["a>b", "b>a"],
        ["x-1>y-2", "y-2>x-1"],
        ["New York", "New Mexico", "Utah"],
        ["a,b", "b,c", "c,a"],
        ["a,b", "a,b", None],
        ["low", "high"],
    ],
)
def test_other_texts_stay_orders_or_classes(texts):
    if None in texts:
        with pytest.raises(ValueError, match="missing label at row 2"):
            label_grades(texts)
    else:
        names = {part for text in texts for part in text.split(">")}
        assert label_grades(texts).shape == (len(texts), len(names))
