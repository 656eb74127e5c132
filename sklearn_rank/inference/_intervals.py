"""A table of intervals that hold together: measures, rankers, segments, or places of a curve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import isnan
from typing import Any

import numpy as np

from .._optional import import_pandas
from .._printed import Printed, Table, fixed
from .._validation import is_number
from ._results import NO_DIFFERENCE, PRINTED, Interval

# Rows of a curve that are printed, from its first place to its last.
PRINTED_PLACES = 10


@dataclass(frozen=True, repr=False, eq=False)
class Intervals(Printed):
    """Several intervals that hold together, with one row for each question.

    :func:`metric_interval` and :func:`compare` return it for several measures or segments, and
    :func:`curve` for the places of a curve. ``found[key]`` selects rows by an entry of any of the
    columns ``keys``: a measure, a ranker, a contrast, a segment, or a place of the curve.

    Parameters
    ----------
    keys : dict of str to tuple
        What the rows are of: ``measure``, ``ranker`` or ``contrast``, ``segment`` and ``order``,
        ``at``, as far as there are such columns, with one entry for each row.
    pointwise : tuple of Interval
        Interval of each row by itself, at ``level``.
    together : tuple of Interval
        Wider intervals, which all hold together with probability ``level``.
    pvalues : tuple of float
        P-value of each contrast, adjusted for all of them; empty where rows are values.
    level : float
        Nominal coverage of each of ``pointwise``, and of all of ``together`` at once, in (0, 1).
    method : str
        How the level of ``together`` was found: "max-z" from the joint distribution of the errors,
        "bonferroni" where it is not known, or both.
    target : str
        What the rows are of, in words.
    level_of_each : float
        Level of the single limits of ``together``, between ``level`` and Bonferroni's.
    better : tuple of int, default=()
        For contrasts, 1 where a greater value is better, -1 where a smaller one is, and 0 where
        neither is.
    notes : tuple of str, default=()
        Why a row has no value; "" for others.
    parameter : str, default=""
        Of a curve, the parameter of the measure that ``at`` has.
    references : dict of str to tuple of float, default={}
        Of a curve, values to compare each row with: "random order", or for net benefit "act on
        all".
    margin : float or None, default=None
        For contrasts, the largest difference of no importance, in units of each measure.
    reader : callable or None, default=None
        Of a curve, ``reader(name, place, level)`` is the interval of a ranker or contrast at any
        place; used by :meth:`at`.

    See Also
    --------
    Interval : One interval.
    Comparison : Rankers compared by one measure.

    Notes
    -----
    The limits of a row that hold together with the others are those of its own method at a higher
    level, as explained for :func:`curve`. A row without a value, such as a segment without
    positives, is not counted among the questions.

    Examples
    --------
    >>> from sklearn_rank.inference import metric_interval
    >>> y, score = [1, 1, 0, 1, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> found = metric_interval(["auc", "recall@4"], y, score, random_state=0)
    >>> found["auc"].interval
    0.7500 [0.2770, 0.9561] (expected AUC, 95 %, wilson)
    >>> found["auc"].band.width > found["auc"].interval.width
    True
    """

    keys: dict[str, tuple[Any, ...]]
    pointwise: tuple[Interval, ...]
    together: tuple[Interval, ...]
    pvalues: tuple[float, ...]
    level: float
    method: str
    target: str
    level_of_each: float
    better: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    parameter: str = ""
    references: dict[str, tuple[float, ...]] = field(default_factory=dict)
    margin: float | None = None
    reader: Callable[[str, float, float], Interval] | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.pointwise)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for i in range(len(self)):
            yield {name: column[i] for name, column in self.keys.items()}

    def __contains__(self, key: object) -> bool:
        return any(key in column for column in self.keys.values())

    def __getitem__(self, key: Any) -> Intervals:
        columns = [name for name, column in self.keys.items() if key in column]
        if len(columns) > 1:
            raise KeyError(
                f"{key!r} is an entry of {' and of '.join(columns)}: select rows of to_frame(), or"
                " give one of them another name."
            )
        if not columns:
            names = dict.fromkeys(x for column in self.keys.values() for x in column)
            some = ", ".join(map(repr, list(names)[:12])) + (", ..." if len(names) > 12 else "")
            more = "; found.at(place) reads a curve at any place" if "at" in self.keys else ""
            raise KeyError(f"{key!r} is no entry of this table: it has {some}{more}.")
        return self._only([i for i, x in enumerate(self.keys[columns[0]]) if x == key])

    def _only(self, rows: list[int]) -> Intervals:
        def of(column: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(column[i] for i in rows) if column else ()

        names = ("pointwise", "together", "pvalues", "better", "notes")
        fields: dict[str, Any] = {name: of(getattr(self, name)) for name in names}
        for name in ("keys", "references"):
            fields[name] = {x: of(column) for x, column in getattr(self, name).items()}
        return replace(self, **fields)

    @property
    def interval(self) -> Interval:
        """Interval of the only row by itself."""
        return self._single("interval", self.pointwise)

    @property
    def band(self) -> Interval:
        """Interval of the only row that holds together with those of all other rows."""
        return self._single("band", self.together)

    def _single(self, name: str, rows: tuple[Interval, ...]) -> Interval:
        if len(self) != 1:
            raise AttributeError(
                f"{name} is of one row, but there are {len(self)}: select one, as in"
                f" found[{next(iter(self.keys.values()))[0]!r}].{name}, or read to_frame()."
            )
        return rows[0]

    def at(self, place: float) -> Interval:
        """Read the only ranker or contrast of a curve at a place, chosen after looking.

        Parameters
        ----------
        place : float
            Number of items, share or threshold, as the curve has them; any between the first and
            the last of its places.

        Returns
        -------
        Interval
            Its limits hold together with those of the whole curve.

        Raises
        ------
        AttributeError
            If this is no curve of one ranker or contrast.
        ValueError
            If the place is outside of the curve.
        """
        places = np.asarray(self.keys.get("at", ()))
        if not places.size or len(set(places.tolist())) != len(places):
            raise AttributeError(
                "at(place) is of a curve of one ranker or contrast: select one, as in"
                " found['b - a'].at(40)."
            )
        whole = places.dtype.kind in "iu"
        if not is_number(place) or (whole and place != np.floor(place)):
            raise ValueError(
                f"place={place!r} must be a {'whole ' * whole}number: pass one from"
                f" {places.min():g} to {places.max():g}."
            )
        row = np.flatnonzero(places == place)
        if row.size:
            return self.together[int(row[0])]
        if not places.min() <= place <= places.max():
            raise ValueError(
                f"place={place!r} is outside of the curve, which holds from {places.min():g} to"
                f" {places.max():g}: pass at= to curve with places up to there."
            )
        if self.reader is None:
            raise ValueError(
                f"place={place!r} is not among the {len(places)} places of this curve: pass at= to"
                " curve with this place."
            )
        name = self.keys.get("ranker", self.keys.get("contrast", ("",)))[0]
        found, method = self.reader(name, place, self.level_of_each), self.together[0].method
        return replace(found, level=self.level, method=method)

    @property
    def ranges(self) -> tuple[tuple[str, float, float, int, str], ...]:
        """Ranges of places at which one side of a contrast is better, all of them together.

        Tuples of the contrast, the first and the last place, the number of places of the curve
        among them, and which ranker is better there; empty without contrasts.
        """
        if "at" not in self.keys or not self.better:
            return ()
        found, names, places = [], self.keys["contrast"], self.keys["at"]
        for (name, winner), rows in groupby(
            range(len(self)), lambda i: (names[i], self._winner(i))
        ):
            row = list(rows)
            if winner:
                found.append((name, places[row[0]], places[row[-1]], len(row), winner))
        return tuple(found)

    def _winner(self, i: int) -> str:
        """Which side of a contrast is better, or greater, at the limits that hold together."""
        low, high = self.together[i].low, self.together[i].high
        side = ((low > 0.0) - (high < 0.0)) * (self.better[i] or 1)
        pair = self.keys["contrast"][i].split(" - ")
        if side == 0 or len(pair) != 2:
            return "" if side == 0 else "above 0" if low > 0.0 else "below 0"
        return str(pair[0] if side > 0 else pair[1])

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What is shown of contrasts, in words, all at once at the confidence level.

        One for each row; of a curve one for each range of places. With a margin, "equal within" it
        is said of limits inside of it.
        """
        if not self.better:
            return ()
        word = "better" if any(self.better) else "greater"
        if "at" not in self.keys:
            winners = map(self._winner, range(len(self)))
            texts = [f"{winner} {word}" if winner else NO_DIFFERENCE for winner in winners]
            within, equal = self.margin or 0.0, f"equal within {self.margin or 0.0:g}"
            for i, x in enumerate(self.together):
                if max(-x.low, x.high) < within:
                    texts[i] = equal
            of_rows = zip(texts, self.pointwise, strict=True)
            return tuple("no value" if isnan(x.estimate) else text for text, x in of_rows)
        shown: dict[str, list[str]] = {name: [] for name in self.keys["contrast"]}
        for name, first, last, n, winner in self.ranges:
            whole = isinstance(first, int) and n == last - first + 1
            every = "at every place" if whole else f"at all {n} places"
            where = f"at {first:g}" if n == 1 else f"{every} from {first:g} to {last:g}"
            shown[name].append(f"{winner} {word} {where}")
        return tuple(f"{name}: {'; '.join(of) or NO_DIFFERENCE}" for name, of in shown.items())

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each question.

        Returns
        -------
        pandas.DataFrame
            The columns of ``keys``, then estimate, low and high (each by itself), band_low and
            band_high (all together), standard_error; for contrasts pvalue and, but for curves,
            conclusion; note if a row has no value; those of ``references``.
        """
        pandas = import_pandas("to_frame", "read pointwise and together")
        columns: dict[str, Any] = dict(self.keys)
        for name in ("estimate", "low", "high"):
            columns[name] = [getattr(x, name) for x in self.pointwise]
        for name in ("low", "high"):
            columns[f"band_{name}"] = [getattr(x, name) for x in self.together]
        errors = [x.standard_error for x in self.pointwise]
        columns["standard_error"] = [np.nan if x is None else x for x in errors]
        if self.pvalues:
            columns["pvalue"] = self.pvalues
            if "at" not in self.keys:
                columns["conclusion"] = self.conclusions
        if any(self.notes):
            columns["note"] = self.notes
        return pandas.DataFrame(columns | self.references)

    def _table(self) -> Table:
        n, is_curve, level = len(self), "at" in self.keys, f"{100 * self.level:.4g} %"
        shown = range(min(n, PRINTED))
        if is_curve and n > PRINTED_PLACES:
            shown = np.unique(np.linspace(0, n - 1, PRINTED_PLACES).round().astype(int)).tolist()
        keys = [name for name, column in self.keys.items() if len(set(column)) > 1]
        keys = keys or list(self.keys)[:1]
        # The only contrast has no column, but is named.
        of_one = "contrast" in self.keys and "contrast" not in keys
        what = self.keys["contrast"][0] if of_one else "estimate"
        header = [*keys, what, f"{level} each", f"{level} all together"]
        signed = bool(self.better)
        rows = []
        for i in shown:
            one, all_of = self.pointwise[i], self.together[i]
            cells = [
                f"{x:.6g}" if isinstance(x, float) else f"{x}"
                for x in (self.keys[name][i] for name in keys)
            ]
            if isnan(one.estimate):
                rows.append((*cells, "none", "", ""))
                continue
            limits = [
                f"[{fixed(x.low, sign=signed)}, {fixed(x.high, sign=signed)}]"
                for x in (one, all_of)
            ]
            rows.append((*cells, fixed(one.estimate, sign=signed), *limits))
        if self.pvalues:
            header += ["p"] if is_curve else ["p", "conclusion"]
            for j, i in enumerate(shown):
                of_row = [f"{self.pvalues[i]:.3g}"] if not isnan(self.pvalues[i]) else [""]
                rows[j] = (*rows[j], *of_row, *([] if is_curve else [self.conclusions[i]]))
        if any(self.notes):
            header.append("note")
            rows = [(*row, self.notes[i]) for row, i in zip(rows, shown, strict=True)]
        places = f" ({len(rows)} of {n} rows)" if n > len(rows) else ""
        n_asked = n - sum(map(bool, self.notes))
        asked = f" for {n_asked} questions" if n_asked > 1 else ""
        title = [f"{self.target}{places}", f"{self.method}{asked}"]
        if is_curve:
            title += self.conclusions
        return "\n".join(title), header, rows
