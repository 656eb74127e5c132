"""Results of functions: what is printed is what a session and a notebook show."""

import dataclasses
import doctest
import importlib
import inspect
import json
import pickle
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import sklearn_rank
from sklearn_rank._printed import Printed, html_table, text_table
from sklearn_rank.inference import ConfidenceSequence, compare

ROOMS = [name for name in sklearn_rank.__all__ if inspect.ismodule(getattr(sklearn_rank, name))]
PRINTED = sorted(
    (
        thing
        for room in ROOMS
        for thing in vars(importlib.import_module(f"sklearn_rank.{room}")).values()
        if inspect.isclass(thing) and dataclasses.is_dataclass(thing) and "__str__" in vars(thing)
    ),
    key=lambda thing: thing.__name__,
)
OBJECTS = {
    thing
    for room in ROOMS
    for thing in vars(importlib.import_module(f"sklearn_rank.{room}")).values()
    if inspect.isclass(thing)
    and thing.__module__.startswith("sklearn_rank")
    and not issubclass(thing, BaseEstimator | Exception)
}


@pytest.mark.parametrize("kind", PRINTED, ids=lambda kind: kind.__name__)
def test_what_is_printed_is_the_representation(kind):
    assert issubclass(kind, Printed)
    assert kind.__repr__ is Printed.__repr__


@pytest.mark.parametrize("kind", sorted(OBJECTS, key=repr), ids=lambda kind: kind.__name__)
def test_any_tool_can_look_at_public_objects(kind):
    made = {}
    for example in doctest.DocTestParser().get_examples(inspect.getdoc(kind) or ""):
        exec(example.source, made)
    for one in [one for one in made.values() if type(one) in OBJECTS]:
        assert isinstance(repr(one), str)
        assert (one == one) is True
        assert (one == 0) is False
        for name in dir(one):
            getattr(one, name, None)
        if isinstance(one, Printed):
            again = pickle.loads(pickle.dumps(one))
            assert (again == one) is True
            assert hash(again) == hash(one)
            assert one._repr_html_()


def test_a_name_without_a_value_is_an_attribute_error():
    scores = {name: [3, 2, 1, 0] for name in "abc"}
    several = compare("auc", [1, 0, 1, 0], scores)
    for one, name in (
        (several, "estimate"),
        (several, "interval"),
        (ConfidenceSequence("auc"), "interval"),
    ):
        assert not hasattr(one, name)


@dataclass(frozen=True, repr=False)
class Found(Printed):
    value: float
    row: tuple
    table: dict
    array: np.ndarray

    def __str__(self):
        return f"<{self.value}>"


def test_fields_are_plain_numbers_and_markup_is_escaped():
    row = (np.float64(1.0), "a", (np.bool_(True), 2))
    found = Found(np.float32(0.5), row, {"a": np.int64(3), "b": (np.float64(4.0),)}, np.ones(2))
    assert type(found.value) is float
    assert [type(one) for one in (found.row[0], found.row[2][0])] == [float, bool]
    assert [type(found.table["a"]), type(found.table["b"][0])] == [int, float]
    assert type(found.array) is np.ndarray
    assert repr(found) == str(found) == "<0.5>"
    # Browsers break the lines of such text only where they are told to.
    assert found._repr_html_() == '<pre style="white-space:pre-wrap">&lt;0.5&gt;</pre>'


def test_a_result_as_json():
    inner = Found(0.5, (1.0,), {}, np.zeros(0))
    table = {"a": inner, 3: (np.int64(2), None), "model": LogisticRegression(C=2.0)}
    found = Found(np.inf, ("a", (np.bool_(True), 2)), table, np.array([[1, np.nan]]))
    record = found.to_dict()
    assert record == {
        "value": None,
        "row": ["a", [True, 2]],
        "table": {
            "a": {"value": 0.5, "row": [1.0], "table": {}, "array": []},
            "3": [2, None],
            "model": "LogisticRegression(C=2.0)",
        },
        "array": [[1, None]],
    }
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    same, other = (Found(x, (), {}, np.zeros(1)) for x in (np.inf, np.nan))
    assert same == Found(np.inf, (), {}, np.zeros(1))
    assert same != other


@dataclass(frozen=True, repr=False)
class Several(Printed):
    values: tuple

    def __str__(self):
        return str(self.values)

    def _table(self):
        rows = [(f"<{i}>", value, "&") for i, value in enumerate(self.values)]
        return "Values\n(<all>)", ("row", "value", "text"), rows


def test_a_result_of_several_rows_is_a_table_in_notebooks():
    markup = Several((np.float64(0.123456), 7))._repr_html_()
    # Line breaks have no end in HTML.
    table = ElementTree.fromstring(markup.replace("<br>", "<br/>"))
    caption, head, body = table
    assert list(caption.itertext()) == ["Values", "(<all>)"]
    assert [cell.text for cell in head.iter("th")] == ["row", "value", "text"]
    assert [[cell.text for cell in row] for row in body] == [
        ["<0>", "0.1235", "&"],
        ["<1>", "7", "&"],
    ]
    assert [[cell.tag for cell in row] for row in body] == 2 * [["th", "td", "td"]]
    # No colours of its own, which a dark page would hide.
    assert "#" not in markup
    assert html_table("", ("a",), []).count("<tr>") == 1


def test_a_table_in_a_session_has_columns():
    lines = text_table("all", ("row", "value"), [("a", 0.123456), ("bcde", 7)]).splitlines()
    assert lines == ["all", "row    value", "a     0.1235", "bcde       7"]
