"""Results whose ``repr`` in a session and a notebook is their printed form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from math import isfinite
from typing import Any

import numpy as np

# Title, column names, and rows; the first cell of a row is its name.
Table = tuple[str, Sequence[str], Iterable[Sequence[Any]]]


# Numbers below this are rounding errors of values of the order of 1, and printed as 0.
ROUNDING = 1e-12


def fixed(value: float, *, sign: bool = False) -> str:
    """Write a number with four decimals; one that these round away, by its first two digits."""
    digits = ".1e" if ROUNDING < abs(value) < 0.5e-4 else "z.4f"
    return f"{value:{'+' if sign else ''}{digits}}"


class Printed:
    """Mixin of frozen dataclasses, made with ``repr=False``: their ``repr`` is their ``str``.

    Numbers of NumPy in its fields become Python's, in tuples and dicts too. A notebook shows a
    table where ``_table`` returns one.
    """

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, field.name, _plain(getattr(self, field.name)))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        table = self._table()
        return object.__repr__(self) if table is None else text_table(*table)

    # Results without arrays have those of dataclasses.
    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return repr(as_json(self, finite=False)) == repr(as_json(other, finite=False))

    def __hash__(self) -> int:
        return hash(str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values of JSON.

        Returns
        -------
        dict
            Arrays and tuples become lists, a result within the result becomes a dict, any other
            object is given by its ``repr``. NaN and infinite numbers, which JSON does not have,
            become None.

        Examples
        --------
        To keep an interval in a log of experiments, such as that of MLflow:

        >>> from sklearn_rank.inference import metric_interval
        >>> interval = metric_interval("auc", [1, 1, 0, 0, 0], [5, 2, 4, 1, 3])
        >>> record = interval.to_dict()  # mlflow.log_dict(record, "auc.json")
        >>> record["estimate"], record["method"]
        (0.6666666666666666, 'wilson')
        """
        return dict(as_json(self))

    def _repr_html_(self) -> str:
        table = self._table()
        if table is not None:
            return html_table(*table)
        return f'<pre style="white-space:pre-wrap">{escape(str(self))}</pre>'

    def _table(self) -> Table | None:
        """Title, header and rows of a result that has several rows; None is the printed form."""
        return None


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    caption = "<br>".join(map(escape, title.splitlines()))
    # Lines in the colour of the text, so that a table is legible on light and on dark pages.
    style = "caption-side:top;text-align:left;color:inherit;padding:0.3em 0.6em"
    bold = "padding:0.2em 0.6em;font-weight:bold;border-bottom:1px solid currentColor"
    plain = "padding:0.2em 0.6em;white-space:nowrap;font-weight:normal"
    lines = [
        '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">',
        f'<caption style="{style}">{caption}</caption>',
        f"<thead>{_row(header, bold, 'col')}</thead>",
        "<tbody>",
        *(_row(row, plain, "row") for row in rows),
        "</tbody>",
        "</table>",
    ]
    return "\n".join(lines)


def text_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], left: Sequence[str] = ()
) -> str:
    """Return a table as text; the first column and those of some names are aligned to the left."""
    cells = [list(map(_text, row)) for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    sides = ["<" if i == 0 or name in left else ">" for i, name in enumerate(header)]
    forms = [f"{side}{width}" for side, width in zip(sides, widths, strict=True)]
    lines = ("  ".join(map(format, row, forms)).rstrip() for row in cells)
    return "\n".join([title, *lines])


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table of GitHub's Markdown; the first column is aligned to the left."""
    cells = [[_text(cell).replace("|", "\\|") for cell in row] for row in (header, *rows)]
    cells.insert(1, ["---", *["---:"] * (len(header) - 1)])
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _text(cell: Any) -> str:
    return f"{cell:z.4g}" if isinstance(cell, float) else str(cell)


def _row(cells: Sequence[Any], style: str, scope: str) -> str:
    markup = []
    for i, cell in enumerate(cells):
        tag = f'th scope="{scope}"' if scope == "col" or i == 0 else "td"
        text = escape(_text(cell))
        side = "left" if i == 0 else "right"
        markup.append(f'<{tag} style="{style};text-align:{side}">{text}</{tag[:2]}>')
    return f"<tr>{''.join(markup)}</tr>"


def as_json(value: Any, finite: bool = True) -> Any:
    """Convert a value to types of JSON, which has no numbers that are not finite."""
    if isinstance(value, Printed):
        known = [field.name for field in fields(value) if field.compare]  # type: ignore[arg-type]
        value = {name: getattr(value, name) for name in known}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, tuple | list):
        return [as_json(x, finite) for x in value]
    if isinstance(value, dict):
        return {str(name): as_json(x, finite) for name, x in value.items()}
    if finite and isinstance(value, float) and not isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _plain(value: Any) -> Any:
    """Python's number for one of NumPy; other values as they are."""
    if isinstance(value, np.generic):
        return value.item()
    if type(value) is tuple:
        return tuple(map(_plain, value))
    if type(value) is dict:
        return {name: _plain(x) for name, x in value.items()}
    return value
