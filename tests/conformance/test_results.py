"""Results of functions: what is printed is what a session and a notebook show."""

import dataclasses
import importlib
import inspect
import json
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import sklearn_rank
from sklearn_rank._printed import Printed, html_table, text_table

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


@pytest.mark.parametrize("kind", PRINTED, ids=lambda kind: kind.__name__)
def test_what_is_printed_is_the_representation(kind):
    assert issubclass(kind, Printed)
    assert kind.__repr__ is Printed.__repr__


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
    found = Found(np.inf, ("a", (np.bool_(True), 2)), table, np.array([[1, 2]]))
    record = found.to_dict()
    assert record == {
        "value": np.inf,
        "row": ["a", [True, 2]],
        "table": {
            "a": {"value": 0.5, "row": [1.0], "table": {}, "array": []},
            "3": [2, None],
            "model": "LogisticRegression(C=2.0)",
        },
        "array": [[1, 2]],
    }
    assert json.loads(json.dumps(record)) == record


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
