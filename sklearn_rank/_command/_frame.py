"""``sklearn_rank.doctor``: what ``doctor`` of the command says, of a data frame and in Python."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._optional import import_optional
from .._validation import is_missing
from .._warn import collected
from . import TOLD_BY_DOCTOR, make_parser
from ._columns import check_columns
from ._doctor import NOT_OF_TABLE, Doctor, Findings
from ._output import CommandError, did_you_mean, flags, listed
from ._rankings import COLUMNS, OF_ALL
from ._table import FRAME, Column

OF_FILES = (
    "delimiter",
    "negate",
    "qrels",
    "complete",
    "shared",
    "condensed",
)  # Options of no frame
MOST_CLASSES = 20  # Labels that a line lists one by one


def doctor(
    frame: Any,
    *,
    label: Any = None,
    score: Any = None,
    qid: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    **options: Any,
) -> Findings:
    """Say what is in a table of predictions, what can be asked, and by which lines.

    Columns are guessed by their names, or a single candidate by its values, and the text says so;
    where several could be the labels or the queries, it asks. The numbers themselves come from
    the lines. Needs pyarrow.

    Parameters
    ----------
    frame : DataFrame of pandas or polars
        One row for each item: its label, and the score of each model.
    label : str, default=None
        Column of labels or grades.
    score : str or list of str, default=None
        Columns of scores.
    qid : str, default=None
        Column with the query of each row.
    groups : str, default=None
        Column with the user, or day, of each row: rows of one may depend on each other.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    **options : dict
        ``neg_label``, ``missing``, ``one_list``, and those for labels known in part, as
        ``sklearn-rank doctor --help`` describes them: ``review_top``, ``champion``, ``strata``
        and others, which are columns or numbers.

    Returns
    -------
    Findings
        Its text, and a table in a notebook. ``columns``, ``found``, ``computable``, ``blocked``
        and ``lines`` are tuples; ``lines`` is empty if nothing can be computed.

    Raises
    ------
    TypeError
        If ``frame`` is no DataFrame, or there is no such option.
    ValueError
        If the frame has no rows, or lacks a column that is named.

    See Also
    --------
    sklearn_rank.inference.metric_interval : Gives the intervals.
    sklearn_rank.inference.compare : Tests whether one model is better.

    Examples
    --------
    >>> import pandas as pd
    >>> import sklearn_rank
    >>> frame = pd.DataFrame(
    ...     {
    ...         "bought": ["no", "yes", "no", "no", "yes", "no"],
    ...         "new": [0.1, 0.9, 0.3, 0.2, 0.8, 0.4],
    ...         "old": [0.2, 0.7, 0.8, 0.1, 0.6, 0.3],
    ...     }
    ... )
    >>> print(sklearn_rank.doctor(frame).blocked[0])  # doctest: +ELLIPSIS
    frame: column 'bought' holds words, ...: name the positive class by pos_label=, ...
    >>> found = sklearn_rank.doctor(frame, pos_label="yes")
    >>> for line in found.lines:
    ...     print(line)
    from sklearn_rank.inference import compare, metric_interval
    y_true = frame['bought'].map({'no': 0, 'yes': 1})
    scores = frame[['new', 'old']]
    metric_interval(['auc', 'ap', 'precision@top0.1'], y_true, scores)
    compare('auc', y_true, scores)
    """
    if not (hasattr(frame, "shape") and hasattr(frame, "columns")) or hasattr(
        frame, "column_names"
    ):
        raise TypeError(
            f"frame is a {type(frame).__name__}: pass a DataFrame of pandas or polars, such as"
            " pandas.read_csv(path), or run sklearn-rank doctor on the file."
        )
    parser = make_parser("")
    known = vars(parser.parse_args(["doctor"]))
    asked = dict(label=label, score=score, qid=qid, groups=groups, pos_label=pos_label, **options)
    for name, value in asked.items():
        if name in (*NOT_OF_TABLE, *OF_FILES) or name not in known:
            close = did_you_mean(name, list(known)) or "."
            raise TypeError(f"doctor has no option {name!r}{close}")
        if name in ("score", "neg_label", "missing") and value is not None:
            one = isinstance(value, str) or not hasattr(value, "__iter__")
            asked[name] = [_text(x) for x in ([value] if one else value)]
        elif name in ("label", "pos_label", *COLUMNS) and value is not None:
            asked[name] = _text(value)
    try:
        with collected() as messages:  # the lines will warn
            found = FrameDoctor(frame, Namespace(**known | asked | {"file": FRAME}), parser)
        found.found += dict.fromkeys(x for x, _ in messages if TOLD_BY_DOCTOR not in x)
        return found.findings()
    except CommandError as error:
        raise ValueError(f"{_in_python(str(error))}.") from None


def _in_python(text: str) -> str:
    """A message of the command with keywords in place of flags."""
    text = re.sub("(taken|not used) as --", r"\1 as ", text).replace("each be --", "each be ")
    flag = r"(?<![\w'])--([a-z-]*[a-z])"
    return re.sub(flag, lambda found: f"{found[1].replace('-', '_')}=", text)


def _written(options: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in options.items() if flags({name: value})]


def _text(value: Any) -> str:
    """As the cell of a table is written."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class FrameDoctor(Doctor):
    """What is found out about a frame, with lines of Python."""

    def __init__(self, frame: Any, *options: Any) -> None:
        self.frame = frame
        self.is_polars = type(frame).__module__.startswith("polars")
        super().__init__(*options)

    def read(self, missing: Sequence[str]) -> dict[str, Column]:
        """Read all columns; cells that Arrow does not know are texts."""
        arrow = import_optional("pyarrow", "doctor")
        header = list(map(str, self.frame.columns))
        check_columns(header, header)
        self.original = dict(zip(header, self.frame.columns, strict=True))
        self.are_numbers, columns = set[str](), dict[str, Column]()
        index = [name for name in getattr(getattr(self.frame, "index", None), "names", ()) if name]
        if index:
            self.found.append(f"Not used: the index, {listed(index)}; frame.reset_index() has it.")
        if not len(self.frame):
            raise CommandError("frame: there are no rows")
        for name in self.choose(header):
            cells = self.frame[self.original[name]]
            try:
                cells = cells.to_arrow() if self.is_polars else arrow.array(cells)
                if arrow.types.is_nested(cells.type):
                    raise TypeError
            except (TypeError, ValueError):
                texts = [None if is_missing(cell) else str(cell) for cell in cells]
                cells = arrow.array(texts, arrow.string())
            if re.match("u?int|half|float|double|bool", str(cells.type)):
                self.are_numbers.add(name)
            columns[name] = Column(FRAME, name, arrow.chunked_array(cells), missing)
        return columns

    def findings(self) -> Findings:
        found = super().findings()
        told = [tuple(map(_in_python, texts)) for texts in (found.found, found.blocked)]
        columns = tuple(map(self._facts, self.columns.values()))
        return replace(found, columns=columns, found=told[0], blocked=told[1])

    def _facts(self, column: Column) -> tuple[str, ...]:
        """What is told of a column in a table."""
        others = {name: [getattr(self.asked, name)] for name in (*COLUMNS, "as_of")}
        roles = [role for role, of in (self.names | others).items() if column.name in of]
        floats, values = column.floats, self.facts.get(column.name, "")
        if floats is not None and not values and not np.isnan(floats).all():
            values = f"{np.nanmin(floats):.4g} to {np.nanmax(floats):.4g}"
        kind = str(self.frame[self.original[column.name]].dtype)
        counts = (f"{column.n_missing:,}", f"{column.n_distinct:,}")
        return (column.name, ", ".join(dict.fromkeys(roles)), kind, *counts, values)

    def call(self, options: Mapping[str, Any], command: str = "doctor") -> str:
        given = {name: x for name, x in options.items() if name not in NOT_OF_TABLE}
        return f"sklearn_rank.{command}({', '.join(['frame', *_written(given)])})"

    def lines(self) -> list[str]:
        if not self.measured:
            return []
        lines = [f"y_true = {self._labels()}"]
        ids = {name: getattr(self.evaluated, name) for name in ("qid", "groups")}
        rest = "".join(f", {name}={self._column(x)}" for name, x in ids.items() if x)
        signs = {name: "-" * (name in self.negated) for name in self.rankings.scores}
        values = {name: sign + self._numbers(name) for name, sign in signs.items()}
        names = [self.original[name] for name in values]
        text = f"frame[{names!r}]" if len(names) > 1 else next(iter(values.values()))
        if len(names) > 1 and any(x != self._column(name) for name, x in values.items()):
            text = f"{{{', '.join(f'{name!r}: {x}' for name, x in values.items())}}}"
        lines.append(f"scores = {text}")
        if design := self._design():
            lines.append(f"design = {design}")
            rest += ", design=design"
        titles = [title for title, with_limits in self.measured.items() if with_limits]
        if titles:
            what = titles if len(titles) > 1 else titles[0]
            lines.append(f"metric_interval({what!r}, y_true, scores{rest})")
        if self.compared:
            lines.append(f"compare({self.compared!r}, y_true, scores{rest})")
        if self.daily:
            days = self._column(self.daily["qid"])
            of_design = ", design=design" * ("design=" in rest)
            if "strata" in self.daily:
                of_design = ", design=LabelDesign(strata='qid')"
            door = "compare" if self.compared else "metric_interval"
            title = self.daily["measure"]
            lines.append(f"{door}({title!r}, y_true, scores, qid={days}{of_design})")
        text = "".join(lines)
        used = [x for x in ("LabelDesign", "compare", "metric_interval") if f"{x}(" in text]
        imports = [f"from sklearn_rank.inference import {', '.join(used)}"] * bool(used)
        if not titles:
            title, qid = next(iter(self.measured)), re.sub(", groups=.*", "", rest)
            imports.append("from sklearn_rank.metrics import get_measure")
            lines += [f"get_measure({title!r})(y_true, {x}{qid})" for x in values.values()]
        return imports + lines

    def _column(self, name: str) -> str:
        return f"frame[{self.original[name]!r}]"

    def _numbers(self, name: str) -> str:
        to_float = ".cast(float)" if self.is_polars else ".astype(float)"
        return self._column(name) + to_float * (name not in self.are_numbers)

    def _labels(self) -> str:
        """Labels as numbers, missing where they are not known."""
        asked, name = self.evaluated, self.evaluated.label
        if not (asked.pos_label or asked.missing) and name in self.are_numbers:
            return self._column(name)
        cells = self.frame[self.original[name]].to_list()
        values = dict(zip(cells, self.rankings.rows["y_true"].tolist(), strict=True))
        known = {label: value for label, value in values.items() if value == value}
        if len(known) > MOST_CLASSES:
            return self._numbers(name)
        pairs = ", ".join(f"{label!r}: {value:g}" for label, value in known.items())
        if self.is_polars:
            return f"{self._column(name)}.replace_strict({{{pairs}}}, default=None)"
        return f"{self._column(name)}.map({{{pairs}}})"

    def _design(self) -> str:
        asked, texts = self.evaluated, dict[str, str]()
        if asked.random_labels:
            texts["strata"] = "[0] * len(frame)"
        if asked.pool:
            texts["pool"] = "y_true.is_not_null()" if self.is_polars else "y_true.notna()"
        read = dict.fromkeys(("inclusion_probability", "champion", "proxy"), self._numbers)
        read |= {"entered": self._column, "resolved": self._column, "strata": self._column}
        if asked.as_of in self.columns:
            read["as_of"] = self._column
        for name in (*read, *OF_ALL, *{"as_of"} - {*read}):
            x, argument = getattr(asked, name), "scores" if name == "champion" else name
            if flags({name: x}):
                texts[argument] = read[name](x) if name in read else repr(x)
        if asked.random_labels and len(texts) == 1:
            return "'all'"
        return f"LabelDesign({', '.join(map('='.join, texts.items()))})" if texts else ""
