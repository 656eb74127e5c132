"""Files of label rankings: all their forms give the same positions, and wrong ones are refused."""

import gzip
import io
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank.datasets import load_label_ranking
from sklearn_rank.preprocessing import label_grades

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("SKLEARN_RANK_DATA", ROOT.parent / "shared" / "data"))
NAN = np.nan

X = [[0.5, -1.0], [2.0, NAN], [0.0, 1e-3]]
Y = [[1.0, 2.5, 2.5], [2.0, NAN, 1.0], [3.0, 2.0, 1.0]]
NUMBERS = ["0.5,-1", "2,?", "0,1e-3"]
POSITIONS = ["1,2.5,2.5", "2,,1", "3,2,1"]
ORDERS = ["a>b=c", "c > a", "c>b>a"]


def lines(*parts, head=None):
    rows = [",".join(row) for row in zip(*parts, strict=True)]
    return ([head] if head else []) + rows


def loaded(text, **options):
    content = "\n".join(text) if isinstance(text, list) else text
    return load_label_ranking(io.BytesIO(content.encode()), **options)


FORMS = {
    "rank1": (lines(NUMBERS, POSITIONS, head="f1,f2,rank1,rank2,rank3"), {}),
    "L1": (lines(NUMBERS, POSITIONS, head="A1,A2,L1,L2,L3"), {}),
    "rank_a": (lines(NUMBERS, POSITIONS, head="f1,f2,rank_a,rank_b,rank_c"), {}),
    "columns": (lines(NUMBERS, POSITIONS, head="f1,f2,a,b,c"), {"labels": ["a", "b", "c"]}),
    "labels first": (lines(POSITIONS, NUMBERS, head="a,b,c,x,y"), {"labels": ["a", "b", "c"]}),
    "number": (lines(NUMBERS, POSITIONS), {"labels": 3}),
    "names": (lines(NUMBERS, POSITIONS), {"labels": np.array(["a", "b", "c"])}),
    "counts": (lines(NUMBERS, POSITIONS, head="3,2,3"), {}),
    "orders": (lines(NUMBERS, ORDERS), {}),
    "orders with names": (lines(NUMBERS, ORDERS, head="x,y,ranking"), {}),
    "orders first": (lines(ORDERS, NUMBERS, head="ranking,x,y"), {"labels": ["a", "b", "c"]}),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_give_the_same(form):
    text, options = FORMS[form]
    bunch = loaded(text, **options)
    assert_array_equal(bunch.data, X)
    assert_array_equal(bunch.target, Y)
    assert bunch.data.dtype == bunch.target.dtype == np.float64
    names = {"rank1": "L", "L1": "L", "number": "L", "counts": "L"}
    expected = ["L1", "L2", "L3"] if form in names else ["a", "b", "c"]
    assert bunch.label_names == expected
    assert bunch.target_type == "positions"
    assert bunch.frame is None
    assert len(bunch.feature_names) == 2
    label_grades(bunch.target, target_type=bunch.target_type)


def test_names_of_features():
    assert loaded(FORMS["orders first"][0]).feature_names == ["x", "y"]
    assert loaded(FORMS["orders"][0]).feature_names == ["feature_1", "feature_2"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_separators_and_ends_of_lines(end):
    for sep in (",", ";", "\t", "|", " "):
        text = ["x,rank1,rank2", "0.5,1,2", "", "1.5,2,1"]
        text = end.join(text).replace(",", sep) + end
        for options in ({}, {"sep": sep}):
            bunch = loaded(text, **options)
            assert_array_equal(bunch.data, [[0.5], [1.5]])
            assert_array_equal(bunch.target, [[1, 2], [2, 1]])


def test_a_mark_of_byte_order_and_quotes_are_read():
    bunch = loaded('\ufeff"x, y","L1","L2"\n1,"2","1"\n')
    assert bunch.feature_names == ["x, y"]
    assert_array_equal(bunch.target, [[2, 1]])


def test_files_streams_and_compression(tmp_path):
    text = "\n".join(FORMS["rank1"][0]).encode()
    plain, packed = tmp_path / "set.csv", tmp_path / "set.csv.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    for path in (plain, packed, str(packed)):
        assert_array_equal(load_label_ranking(path).target, Y)
    with plain.open("rb") as file:
        assert_array_equal(load_label_ranking(file).target, Y)
    with plain.open() as file, pytest.raises(TypeError, match=r"gives text .* 'rb'"):
        load_label_ranking(file)
    packed.write_bytes(gzip.compress(text)[:-9])
    with pytest.raises(ValueError, match=r"set\.csv\.gz cannot be decompressed"):
        load_label_ranking(packed)
    plain.write_bytes(b"x,L1,L2\n1,1,2\n\xff,2,1\n")
    with pytest.raises(ValueError, match=r"set\.csv, line 3: not UTF-8 text"):
        load_label_ranking(plain)


def test_labels_of_orders_are_sorted_by_their_numbers():
    bunch = loaded(["1,L10>L2>L1", "2,L2"])
    assert bunch.label_names == ["L1", "L2", "L10"]
    assert_array_equal(bunch.target, [[3, 2, 1], [NAN, 1, NAN]])


def test_names_may_be_in_another_order_and_may_not_occur():
    bunch = loaded(["1,b>a", "2,a>b"], labels=["z", "b", "a"])
    assert_array_equal(bunch.target, [[NAN, 1, 2], [NAN, 2, 1]])
    bunch = loaded(FORMS["columns"][0], labels=["c", "b", "a"])
    assert_array_equal(bunch.target, np.flip(Y, axis=1))


def test_labels_say_which_of_two_styles_are_the_labels():
    text = ["rank1,rank2,L1,L2", "1,2,0.5,0.7", "2,1,0.1,0.2"]
    bunch = loaded(text, labels=["rank1", "rank2"])
    assert_array_equal(bunch.target, [[1, 2], [2, 1]])
    assert bunch.feature_names == ["L1", "L2"]


@pytest.mark.parametrize(
    ("marker", "missing"), [("0", 0), ("0.0", 0), ("-", "-"), ("-1", ["-1", 0])]
)
def test_what_stands_for_missing_labels(marker, missing):
    text = ["f1,L1,L2,L3", f"0,1,{marker},2", "-1,2,1,3"]
    bunch = loaded(text, missing=missing)
    assert_array_equal(bunch.target, [[1, NAN, 2], [2, 1, 3]])
    assert_array_equal(bunch.data, [[0], [-1]])


def test_a_row_may_have_no_label():
    assert_array_equal(loaded(["f,L1,L2", "1,NA,", "2,1,2"]).target, [[NAN, NAN], [1, 2]])
    assert_array_equal(loaded(["1,a>b", "2,", "3,?"]).target[1:], np.full((2, 2), NAN))


def test_frames_and_tuples():
    text = ["colour,x,L1,L2", "red,0.5,1,2", ",,2,1", "blue,2,1,2"]
    bunch = loaded(text, as_frame=True)
    assert bunch.data.dtypes.astype(str).tolist() == ["category", "float64"]
    assert bunch.data["colour"].isna().tolist() == [False, True, False]
    assert bunch.frame.columns.tolist() == ["colour", "x", "L1", "L2"]
    data, target = loaded(text, as_frame=True, return_X_y=True)
    pd.testing.assert_frame_equal(data, bunch.data)
    pd.testing.assert_frame_equal(target, bunch.target)
    data, target = loaded(FORMS["orders"][0], return_X_y=True)
    assert_array_equal(data, X)
    assert_array_equal(target, Y)


def test_frames_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match='-m pip install "pandas'):
        loaded(FORMS["rank1"][0], as_frame=True)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "stream has no rows"),
        ("f,L1,L2\n", {}, "a header and no rows"),
        ("f,L1,L2\n1,1\n", {}, r"line 2: 2 fields, but line 1 has 3"),
        ("f,L1,L1\n1,1,2\n", {}, r"line 1: two columns are called 'L1'"),
        ("f,L1,L2\nred,1,2\n", {}, r"line 2: the feature 'f' is 'red'.*as_frame=True"),
        ("f,L1,L2\n1,1,2\nred,1,2\n", {"as_frame": True}, r"line 3: .*'f' is 'red', and a number"),
        ("f,L1,L2\n1,1,b\n", {}, r"line 2: the position of the label 'L2' is 'b'"),
        ("f,L1,L2\n1,1,2\n\n1,0,1\n", {}, r"line 4: \['0', '1'\] are not positions.*missing=0"),
        ("f,L1,L2\n1,1,2\n1,1,3\n", {}, r"line 3: \['1', '3'\] are not positions"),
        ("f,g\n1,2\n", {}, r"no columns rank1.*pass labels= with the names of their columns"),
        ("1,1,2\n", {}, "has no header.*pass labels= with their number"),
        ("f,L1,L2\n1,1,2\n", {"labels": 2}, r"has a header: .*labels=\['L1', 'L2'\]"),
        ("1,2\n", {"labels": 2}, "2 columns, too few for 2 labels and a feature"),
        ("f,L1,L2\n1,1,2\n", {"labels": ["L1", "L3"]}, "no column 'L3'"),
        ("f,L1,L2,L3\n1,1,2,3\n", {"labels": ["L1", "L2"]}, "'L3' besides those of labels="),
        ("L1,L2\n1,2\n", {}, "no features"),
        ("f,rank1,rank2,L1,L2\n1,1,2,1,2\n", {}, "'rank1', ... and 'L1'"),
        ("1,a>b,b>a\n", {}, "orders in column 2 and column 3"),
        ("1,a>b\n2,a>>b\n", {}, r"line 2: the order 'a>>b' has no label beside a sign"),
        ("1,a>b\n2,a>b=a\n", {}, r"line 2: the order 'a>b=a' has the label 'a' twice"),
        ("1,a>b\n2,c>b\n", {"labels": ["a", "b"]}, r"line 2: the label 'c' is not among"),
        ("@relation x\n@data\n1,a>b\n", {}, "ARFF"),
        (
            "f,car,rank_car,rank_bus\n1,1,1,2\n",
            {"as_frame": True},
            "'car' is the name of a feature and of a label",
        ),
        ("1,1,2\n", {"labels": ["a", "a"]}, "'a' twice"),
        ("1,1,2\n", {"labels": ["a"]}, "at least two labels"),
        ("1,1,2\n", {"labels": 1}, "at least 2"),
        ("1,1,2\n", {"header": "no"}, "header='no'"),
        ("1,1,2\n", {"sep": ", "}, "sep=', ' must be one character"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, options, message):
    with pytest.raises(ValueError, match=message):
        loaded(text, **options)


def test_labels_of_another_type_are_refused():
    with pytest.raises(TypeError, match="labels='ab' must be an integer, a list of names or None"):
        loaded("1,1,2\n", labels="ab")


@pytest.mark.parametrize(
    ("name", "shape", "ties"),
    [
        ("lr_bodyfat", (252, 7, 7), False),
        ("lr_glass", (214, 9, 6), False),
        ("lr_housing", (506, 6, 6), False),
        ("lr_iris", (150, 4, 3), False),
        ("lr_vowel", (528, 10, 11), False),
        ("lr_wine", (178, 13, 3), False),
        ("plr_iris", (150, 4, 3), True),
    ],
)
def test_published_sets(name, shape, ties):
    path = FOLDER / "label_ranking" / f"{name}.csv.gz"
    if not path.is_file():
        pytest.skip(f"{path.name} is not there: set SKLEARN_RANK_DATA to its folder")
    bunch = load_label_ranking(path)
    table = pd.read_csv(path).to_numpy(dtype=np.float64)
    assert (*bunch.data.shape, bunch.target.shape[1]) == shape
    assert_array_equal(bunch.data, table[:, : shape[1]])
    assert_array_equal(bunch.target, table[:, shape[1] :])
    distinct = [len(set(row)) for row in bunch.target.tolist()]
    assert (min(distinct) < shape[2]) == ties
    label_grades(bunch.target, target_type=bunch.target_type)
