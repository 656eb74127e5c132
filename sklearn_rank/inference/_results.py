"""The results of interval and comparison functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import combinations
from math import inf, isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from .._optional import import_pandas
from .._printed import ROUNDING, Printed, as_json, fixed, html_table, markdown_table, text_table
from .._typing import FloatArray
from .._validation import check_choice, check_whole, is_number
from ..metrics import Measure
from ._by_query import QueryDifferences, growth_to_decide
from ._joint import Single
from ._level import excess_of_largest, simultaneous_level
from ._limits import Alternative

if TYPE_CHECKING:
    from ._queries import QueryValues

BEST = "standard errors are of each ranker alone, not adjusted for choosing the best"

# Largest number of contrasts that are printed; the data frame has all.
PRINTED = 40
# Largest number of contrasts with a line on their queries.
LINES = 6
# The conclusion of a test that does not reject.
NO_DIFFERENCE = "no difference shown"


@dataclass(frozen=True, repr=False)
class Interval(Printed):
    """Confidence interval for a ranking measure.

    Parameters
    ----------
    estimate : float
        Value of the measure.
    low : float
        Lower limit.
    high : float
        Upper limit.
    level : float
        Nominal coverage of the interval, in (0, 1]; 1 for limits that are certain.
    method : str
        Name of the method that computed the interval.
    target : str
        The quantity that the interval estimates, such as ``"expected AUC"``.
    standard_error : float or None, default=None
        Standard error of the estimate, that of :func:`compare`; None if the method gives none.
        Limits allow for items that the sample lacks too, and may be wider than it says.
    bias : float or None, default=None
        Estimated bias: the mean of the estimate minus the target. It was subtracted from the
        centre of the interval, except for the best of several rankers, whose limits count the
        choice. None if the method makes no correction.
    corrections : tuple of Interval, default=()
        With a ``design`` that has a proxy on the scale of the grades: by how much the known labels
        correct the value that the proxy gives as labels.

    Notes
    -----
    The target says of what the interval is: "at 12 positives of 71" of lists with these labels,
    "of the population" of random ones, "of this list" of this one with all labels, "given the
    scores" of new labels of these rows. All limits are for independent rows, queries or groups,
    and scores that were not fitted or selected on them. Those of "bounds" are certain; those of
    "kl", "mcdiarmid", "dkw", "betting" and "exact" hold for every number of rows, "exact" of sums
    over positions with equal weights; all others are asymptotic (:doc:`/theory/inference`).

    Examples
    --------
    >>> from sklearn_rank.inference import Interval
    >>> print(Interval(0.8312, 0.7521, 0.8893, 0.95, "logit-delong", "expected AUC"))
    0.8312 [0.7521, 0.8893] (expected AUC, 95 %, logit-delong)
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    target: str
    standard_error: float | None = None
    bias: float | None = None
    corrections: tuple[Interval, ...] = ()

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """Width of the interval: upper minus lower limit."""
        return self.high - self.low

    def _in_unit(self, unit: float, origin: float = 0.0) -> Self:
        places, lengths = ("estimate", "low", "high"), ("standard_error", "bias")
        values = {name: origin + unit * getattr(self, name) for name in places}
        known = [name for name in lengths if getattr(self, name) is not None]
        return replace(self, **values, **{name: unit * getattr(self, name) for name in known})

    def __str__(self) -> str:
        bias = "" if self.bias is None else f", bias {fixed(self.bias)}"
        return (
            f"{fixed(self.estimate)} [{fixed(self.low)}, {fixed(self.high)}]"
            f" ({self.target}, {100 * self.level:.4g} %, {self.method}{bias}"
            + "".join(f"; proxy corrected by {x._signed}" for x in self.corrections)
            + ")"
        )

    @property
    def _signed(self) -> str:
        value, low, high = (fixed(x, sign=True) for x in (self.estimate, self.low, self.high))
        return f"{value} [{low}, {high}]"


@dataclass(frozen=True, repr=False)
class Comparison(Printed):
    """Result of a comparison of rankers: values, differences, intervals and p-values.

    A contrast is the difference of two rankers, ``"a - b"``, or another combination of their
    values. The intervals are simultaneous: all of them hold with probability ``level``. The
    p-values are adjusted for the number of contrasts.

    Parameters
    ----------
    measure : str
        Name of the measure.
    names : tuple of str
        Names of the rankers.
    values : tuple of float
        Value of each ranker.
    standard_errors : tuple of float
        Standard error of each value; NaN if the method gives none, or if the items do not show how
        the value varies, as with all positives at the top.
    contrasts : tuple of str
        Names of the contrasts.
    differences : tuple of float
        Estimate of each contrast.
    low : tuple of float
        Lower limit of each contrast; NaN if the method gives none.
    high : tuple of float
        Upper limit of each contrast; NaN if the method gives none.
    statistics : tuple of float
        Test statistic of each contrast.
    pvalues : tuple of float
        P-value of each contrast, adjusted for the number of contrasts.
    level : float
        Probability, in (0, 1], that all limits hold; 1 for limits that are certain. For a
        one-sided alternative and for "equivalent" it is the probability for each side separately,
        so that an interval agrees with its test. Both sides then hold with probability
        ``interval_level``, which is ``2 level - 1``.
    alternative : {"two-sided", "less", "greater", "non-inferior", "equivalent"}
        Alternative hypothesis of each contrast.
    margin : float or None
        Largest difference that is of no importance, in units of the measure; None if there is no
        margin.
    method : str
        Name of the method that computed p-values and limits.
    target : str
        The measure and the data, such as ``"mean ndcg@10 over 100 queries"``.
    hypothesis : str
        Null hypothesis, which a small p-value rejects.
    difference_errors : tuple of float, default=()
        Standard error of each difference; NaN or empty if the method gives none.
    greater_is_better : bool or None, default=True
        Whether a greater value of the measure is better; None if neither a greater nor a smaller
        one is.
    value_limits : tuple of pairs of float, default=()
        Lower and upper limit of each value. All of them hold with probability ``interval_level``;
        empty if the method gives none.
    best : Interval or None, default=None
        The best value, with limits of probability ``interval_level`` whichever ranker it is of:
        they count the choice on the same rows. Its ``bias`` is what the choice is expected to add,
        if the values were true; of equal rankers up to 1.4 times as much. None if the method gives
        no limits of values.
    by_query : dict or None, default=None
        For means over queries, the values of each ranker by name: ``values``, ``ids`` and
        ``groups`` of the queries, in the same order for all. It is no part of ``to_dict``.
    corrections : tuple of Interval, default=()
        With a ``design`` that has a proxy on the scale of the grades: by how much the known labels
        correct the value that the proxy gives as labels, for each ranker, and then for each
        contrast. A contrast whose limits are below 0 is one whose first ranker the proxy favours.
        Each holds with probability ``interval_level``.

    See Also
    --------
    Interval : Confidence interval for one ranker.
    QueryDifferences : The queries that moved most.

    Notes
    -----
    ``found["a - b"]`` selects one contrast; its p-value and limits stay adjusted for the number of
    all contrasts. A comparison with a single contrast has the attributes ``estimate``,
    ``statistic`` and ``interval``.

    Examples
    --------
    >>> from sklearn_rank.inference import compare
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> scores = {"a": [8, 7, 6, 3, 5, 4, 2, 1], "b": [8, 2, 6, 3, 5, 4, 7, 1]}
    >>> found = compare("auc", y_true, scores)
    >>> found.conclusions
    ('no difference shown',)
    >>> print(found.interval)
    0.3125 [-0.2250, 0.8500] (difference of auc on 8 items, 4 positive, 95 %, max-t)
    """

    measure: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    standard_errors: tuple[float, ...]
    contrasts: tuple[str, ...]
    differences: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    statistics: tuple[float, ...]
    pvalues: tuple[float, ...]
    level: float
    alternative: str
    margin: float | None
    method: str
    target: str
    hypothesis: str
    difference_errors: tuple[float, ...] = ()
    greater_is_better: bool | None = True
    value_limits: tuple[tuple[float, float], ...] = ()
    best: Interval | None = None
    by_query: Mapping[str, QueryValues] | None = field(default=None, compare=False)
    corrections: tuple[Interval, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        errors = tuple(nan if error <= ROUNDING else error for error in self.standard_errors)
        object.__setattr__(self, "standard_errors", errors)
        if not self.difference_errors:
            object.__setattr__(self, "difference_errors", (nan,) * len(self.contrasts))
        of_rankers = self.names, self.values, self.standard_errors, self.value_limits or self.names
        lengths = set(map(len, of_rankers))
        of_contrasts = {len(getattr(self, name)) for name in _OF_CONTRASTS}
        if len(lengths) > 1 or of_contrasts != {len(self.contrasts)} or not self.contrasts:
            raise ValueError(
                f"A comparison of {len(self.names)} rankers by {len(self.contrasts)} contrasts"
                " must have a value and a standard error for each ranker, and one entry for each"
                f" contrast, of which there is at least one, in {', '.join(_OF_CONTRASTS)}."
            )

    def __len__(self) -> int:
        return len(self.contrasts)

    def __iter__(self) -> Iterator[str]:
        return iter(self.contrasts)

    def __contains__(self, contrast: object) -> bool:
        return contrast in self.contrasts

    def __getitem__(self, contrast: str) -> Comparison:
        if contrast not in self.contrasts:
            raise KeyError(f"{contrast!r} is not among the contrasts: {self._some_names()}.")
        if len(self) == 1:
            return self
        row = self.contrasts.index(contrast)
        pair = self._pair(contrast)
        rankers = [i for i, name in enumerate(self.names) if pair is None or name in pair]
        fields: dict[str, Any] = {
            "contrasts": (contrast,),
            "method": f"{self.method}, one of {len(self)} contrasts",
        }
        for name in ("names", "values", "standard_errors", "value_limits"):
            of_rankers = getattr(self, name)
            fields[name] = tuple(of_rankers[i] for i in rankers if of_rankers)
        fields |= {name: (getattr(self, name)[row],) for name in _OF_CONTRASTS}
        if self.corrections:
            of_names = (*rankers, len(self.names) + row)
            fields["corrections"] = tuple(self.corrections[i] for i in of_names)
        return replace(self, **fields)

    @property
    def pvalue(self) -> float:
        """Smallest adjusted p-value: the p-value of the global null hypothesis."""
        return min(self.pvalues)

    @property
    def estimate(self) -> float:
        """Estimated difference, for a comparison with one contrast."""
        return self._single("estimate", self.differences)

    @property
    def statistic(self) -> float:
        """Test statistic, for a comparison with one contrast."""
        return self._single("statistic", self.statistics)

    @property
    def interval(self) -> Interval:
        """Interval for the difference, for a comparison with one contrast."""
        error = self._single("interval", self.difference_errors)
        if isnan(self.low[0]) or isnan(self.high[0]):
            raise AttributeError(
                f"method={self.method!r} gives no interval, its limits are NaN: use another"
                " method of compare."
            )
        limits = (self.low[0], self.high[0], self.interval_level)
        target, known = f"difference of {self.target}", None if isnan(error) else error
        return Interval(self.differences[0], *limits, self.method, target, known)

    @property
    def interval_level(self) -> float:
        """Probability that the lower and the upper limit both hold."""
        return self.level if self.alternative == "two-sided" else 2.0 * self.level - 1.0

    @property
    def conclusions(self) -> tuple[str, ...]:
        """Conclusion at the confidence level, in words, for each contrast.

        With a margin and the alternative "two-sided" it is read from the limits: "equal within"
        the margin if both are inside of it, else "better" if 0 is outside of them, else "no
        difference shown". All these claims hold together with probability ``level``, as limits do.
        """
        return tuple(self._conclusion(i) for i in range(len(self)))

    @property
    def wins(self) -> tuple[tuple[int, int, int], ...]:
        """Numbers of queries with a win, a tie and a loss of the first ranker of each contrast.

        A win is a better value (a greater one if neither is better), a tie is equal up to
        rounding. Empty without queries.
        """
        gains = (self._sign * difference.values for _, _, difference in self._of_queries())
        counts = (np.bincount(np.sign(x).astype(int) + 1, minlength=3) for x in gains)
        return tuple((int(wins), int(ties), int(losses)) for losses, ties, wins in counts)

    @property
    def n_to_decide(self) -> tuple[float, ...]:
        """Number of queries, or of groups of queries, with which the limits would decide.

        One for each contrast: with probability .8 the limits exclude 0 or are within the margin,
        if the difference is the estimated one, queries vary as these do, and limits are as many
        standard errors wide as these. Rounded to two digits; infinite if the difference is 0 and
        there is no margin; NaN where these limits decide, or are not known. Empty without queries,
        or if the alternative is not "two-sided".
        """
        if self.by_query is None or self.alternative != "two-sided":
            return ()
        n, _ = self._size()
        numbers = zip(self.differences, self.difference_errors, self.low, self.high, strict=True)
        found, wins = [], self.wins
        for i, (difference, error, low, high) in enumerate(numbers):
            size, half = nan, (high - low) / 2.0
            if self._conclusion(i) == NO_DIFFERENCE and error > 0.0 and half > 0.0:
                growth = growth_to_decide(difference, error, half, self.margin or 0.0)
                # Limits of ties alone are those of one query more, and shrink as 1 / n.
                size = n * (growth if wins[i][0] or wins[i][2] else growth**0.5)
                size = max(float(f"{size:.2g}"), n + 1.0)
            found.append(size)
        return tuple(found)

    def moved(self, n: int = 10) -> QueryDifferences:
        """Return the queries on which the two rankers of the only contrast differ most.

        Parameters
        ----------
        n : int, default=10
            Largest number of queries; those without a difference are left out.

        Returns
        -------
        QueryDifferences
            Their ids, both values and the difference, the largest one first. Print it.

        Raises
        ------
        AttributeError
            If there are several contrasts, or no queries.

        Examples
        --------
        >>> from sklearn_rank.inference import compare
        >>> y_true = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        >>> scores = {"new": [[3, 2, 1], [2, 3, 1], [3, 2, 1]], "old": [[3, 2, 1]] * 3}
        >>> found = compare("rr", y_true, scores)
        >>> found.wins, found.moved().queries
        (((1, 2, 0),), (1,))
        """
        n, of_queries = check_whole("n", n), self._of_queries()
        if self.by_query is None:
            raise AttributeError("moved() is of values of queries: pass qid to compare.")
        names, pair, difference = self._single("moved()", tuple(of_queries))
        order = np.argsort(-np.abs(difference.values), kind="stable")[:n]
        order = order[difference.values[order] != 0.0]
        columns = difference.ids, difference.values, *pair
        ids, differences, *values = (tuple(x[order].tolist()) for x in columns)
        pairs = tuple(zip(*values, strict=True))
        return QueryDifferences(
            self.measure, names, ids, pairs, differences, len(difference.values)
        )

    def _of_queries(self) -> Iterator[tuple[Any, Any, QueryValues]]:
        """Names, values on the queries and their differences, for each contrast."""
        by_query = self.by_query or {}
        for names in map(self._pair, self if by_query else ()):
            first, second = (by_query[name] for name in names or ())
            yield names, (first.values, second.values), first.less(second)

    def _size(self) -> tuple[int, str]:
        """Number of independent queries or groups, and what these are."""
        first = next(iter((self.by_query or {}).values()))
        if first.groups is None:
            return len(first.values), "queries"
        return first.groups.count, first.groups.in_time or "groups"

    @property
    def _sign(self) -> float:
        return -1.0 if self.greater_is_better is False else 1.0

    def _query_columns(self) -> dict[str, tuple[Any, ...]]:
        """What queries say of each contrast; empty without queries."""
        columns = dict(zip(("wins", "ties", "losses"), zip(*self.wins, strict=True), strict=False))
        return columns | ({"n_to_decide": self.n_to_decide} if self.n_to_decide else {})

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values of JSON, and what the queries say.

        Returns
        -------
        dict
            The fields as lists, numbers and texts; over queries also wins, ties, losses and
            n_to_decide, with one number for each contrast. NaN and infinite numbers become None.
        """
        return super().to_dict() | as_json(self._query_columns())

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each contrast.

        Returns
        -------
        pandas.DataFrame
            The index holds the contrasts; the columns are difference, standard_error, low, high,
            statistic, pvalue and conclusion; over queries also wins, ties, losses and n_to_decide.
        """
        pandas = import_pandas("to_frame", "read the fields of the comparison")
        columns = {
            "difference": self.differences,
            "standard_error": self.difference_errors,
            "low": self.low,
            "high": self.high,
            "statistic": self.statistics,
            "pvalue": self.pvalues,
            "conclusion": self.conclusions,
        } | self._query_columns()
        return pandas.DataFrame(columns, index=pandas.Index(self.contrasts, name="contrast"))

    def __str__(self) -> str:
        rankers, contrasts, more = self._tables()
        tables = [text_table("", x[0], x[1:], left=("conclusion",)) for x in (rankers, contrasts)]
        return "\n".join([*self._title(), *tables, *more])

    def _repr_html_(self) -> str:
        rankers, contrasts, more = self._tables()
        note = "".join(f"<p>{escape(line)}</p>" for line in more)
        of_rankers = html_table("\n".join(self._title()), rankers[0], rankers[1:])
        return f"{of_rankers}{html_table('', contrasts[0], contrasts[1:])}{note}"

    def _markdown(self) -> str:
        """Write the tables for GitHub."""
        rankers, contrasts, more = self._tables()
        tables = [markdown_table(x[0], x[1:]) for x in (rankers, contrasts)]
        return "\n\n".join(["  \n".join(self._title()), *tables, *more])

    @property
    def _where(self) -> str:
        """The rows of which alone the limits are, in words; empty if these are a sample."""
        return " on this list" if " this list" in self.target else ""

    def _title(self) -> list[str]:
        alone = f"{self._where.lstrip()} alone: others may differ by more than these limits allow"
        by = "," if self.alternative == "two-sided" else " by"
        margin = "" if self.margin is None else f"{by} margin {self.margin:g}"
        adjusted = f"; adjusted for {len(self)} contrasts" if len(self) > 1 else ""
        return [
            self.target,
            f"hypothesis: {self.hypothesis}; {self.alternative}{margin}; {self.method};"
            f" level {100 * self.level:.4g} %{adjusted}",
            *([alone] if self._where else []),
            *self._best(),
            *self._corrected(),
        ]

    def _corrected(self) -> list[str]:
        if not self.corrections:
            return []
        n, found = len(self.names), self.corrections
        parts = [f"{name} {x._signed}" for name, x in zip(self.names, found, strict=False)]
        lines = [f"proxy corrected: {', '.join(parts)}"]
        for contrast, x in zip(self.contrasts, found[n:], strict=True):
            pair = self._pair(contrast)
            if pair is not None and (x.low > 0.0 or x.high < 0.0):
                lines.append(f"the proxy favours {pair[x.low > 0.0]}: {contrast} {x._signed}")
        return lines

    def _best(self) -> list[str]:
        if self.best is None or len(self.names) < 3:
            return [] if np.isnan(self.standard_errors).all() else [BEST]
        name = self.names[self.values.index(self.best.estimate)]
        value, low, high = map(fixed, (self.best.estimate, self.best.low, self.best.high))
        among = f"counting the choice among {len(self.names)}"
        return [f"best: {name}, {value} [{low}, {high}], {among}"]

    def _tables(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]], list[str]]:
        """Return the rows of rankers and of contrasts, and notes below them."""
        limits = f"{100 * self.interval_level:.4g} % interval"
        together = f"{limits}, all together"
        rankers: list[tuple[str, ...]] = [("ranker", "value", "standard error", together)]
        of_rankers = self.value_limits or ((),) * len(self.names)
        of_all = zip(self.names, self.values, self.standard_errors, of_rankers, strict=True)
        for name, value, error, both in of_all:
            interval = f"[{', '.join(map(fixed, both))}]" if both else ""
            rankers.append((name, fixed(value), "" if isnan(error) else fixed(error), interval))
        contrasts: list[tuple[str, ...]] = [("contrast", "difference", limits, "p", "conclusion")]
        for i in range(min(len(self), PRINTED)):
            difference, low, high = (
                fixed(x[i], sign=True) for x in (self.differences, self.low, self.high)
            )
            limits = "" if isnan(self.low[i]) or isnan(self.high[i]) else f"[{low}, {high}]"
            row = (self.contrasts[i], difference, limits, f"{self.pvalues[i]:.3g}")
            contrasts.append((*row, self._conclusion(i)))
        n_hidden = len(self) - PRINTED
        more = [f"and {n_hidden} contrasts more, all in to_frame()"] if n_hidden > 0 else []
        return _drop_empty(rankers), _drop_empty(contrasts), more + self._query_lines()

    def _query_lines(self) -> list[str]:
        """What queries say of each contrast, if there are few contrasts."""
        if self.by_query is None or len(self) > LINES:
            return []
        more, less = ("greater", "less") if self.greater_is_better is None else ("better", "worse")
        lines, (_, unit) = [], self._size()
        sizes = self.n_to_decide or (nan,) * len(self)
        for contrast, (wins, ties, losses), n in zip(self, self.wins, sizes, strict=True):
            line = f"{contrast}: {wins:,} queries {more}, {ties:,} equal, {losses:,} {less}"
            how = f"about {n:,.0f}" if n < inf else "without a margin no number of"
            lines.append(line if isnan(n) else f"{line}; {how} {unit} would decide")
        return lines

    def _conclusion(self, i: int) -> str:
        gain, rejected = self._sign * self.differences[i], self.pvalues[i] <= 1.0 - self.level
        pair = self._pair(self.contrasts[i])
        if self.alternative == "equivalent":
            return f"equal within {self.margin:g}{self._where}: {_shown(rejected)}"
        if self.alternative == "non-inferior":
            worst = self.low[i] if self.greater_is_better else -self.high[i]
            ranker = "" if pair is None else f"{pair[0]} "
            return (
                f"{ranker}not worse by {self.margin:g} or more{self._where}: {_shown(rejected)};"
                f" better: {_shown(worst > 0.0)}"
            )
        if self.margin is not None and max(-self.low[i], self.high[i]) < self.margin:
            return f"equal within {self.margin:g}{self._where}"
        if not rejected:
            tells = not self.method.startswith("bounds") or self.high[i] - self.low[i] <= ROUNDING
            return NO_DIFFERENCE if tells else "the labels do not tell"
        if pair is None:
            return f"{'above' if self.differences[i] > 0.0 else 'below'} 0{self._where}"
        if self.greater_is_better is None:
            return f"{pair[self.differences[i] < 0.0]} greater{self._where}"
        return f"{pair[0] if gain > 0.0 else pair[1]} better{self._where}"

    def _pair(self, contrast: str) -> tuple[str, str] | None:
        for name in self.names:
            second = contrast.removeprefix(f"{name} - ")
            if second != contrast and second in self.names:
                return name, second
        return None

    def _single(self, name: str, values: tuple[Any, ...]) -> Any:
        if len(self) > 1:
            raise AttributeError(
                f"{name} is defined for one contrast, but there are {len(self)}: select one, as in"
                f" found[{self.contrasts[0]!r}].{name}; the contrasts are {self._some_names()}."
            )
        return values[0]

    def _some_names(self) -> str:
        some = ", ".join(repr(contrast) for contrast in self.contrasts[:6])
        return some if len(self) <= 6 else f"{some} and {len(self) - 6} more"


# Fields with one entry per contrast.
_OF_CONTRASTS = ("differences", "low", "high", "statistics", "pvalues", "difference_errors")


@dataclass(frozen=True)
class Question:
    """What is asked of rankers: checked alternative, margin and level of each contrast."""

    measure: Measure
    names: tuple[str, ...]
    contrasts: list[tuple[str, str]]
    alternative: str
    margin: float | None
    level: float

    @classmethod
    def of(
        cls,
        measure: Measure,
        names: tuple[str, ...],
        baseline: Any,
        alternative: str | None,
        margin: float | None,
        level: float,
    ) -> Question:
        """Contrasts are pairs of each ranker and the baseline, or of all rankers."""
        if alternative is None:
            alternative = "two-sided" if margin is None else "non-inferior"
        of_margin = ("non-inferior", "equivalent")
        check_choice("alternative", alternative, (*get_args(Alternative), *of_margin))
        if alternative in of_margin and margin is None:
            raise ValueError(
                f"alternative={alternative!r} needs a margin, the largest difference of no"
                " importance: pass margin=, in units of the measure."
            )
        if margin is not None:
            if alternative in ("less", "greater"):
                raise ValueError(
                    f"margin={margin!r} is only for 'two-sided', 'non-inferior' and 'equivalent',"
                    f" but alternative={alternative!r}: leave one of them out."
                )
            margin = check_margin(measure, margin)
        level_of_both(level, alternative)
        contrasts = contrasts_of(names, baseline)
        if baseline is None and alternative == "non-inferior" and len(names) > 2:
            raise ValueError(
                f"margin={margin:g} tests non-inferiority to a baseline, but there are"
                f" {len(names)} rankers and no baseline: pass baseline=, or"
                " alternative='equivalent'."
            )
        return cls(measure, names, contrasts, alternative, margin, level)

    @property
    def matrix(self) -> FloatArray:
        """Coefficients of the rankers, 1 and -1. Shape (n_contrasts, n_rankers)."""
        units = dict(zip(self.names, np.eye(len(self.names)), strict=True))
        return np.stack([units[first] - units[second] for first, second in self.contrasts])

    @property
    def hypothesis(self) -> str:
        """Null hypothesis on each contrast, in words."""
        if self.margin is None or self.alternative == "two-sided":
            return f"equal {self.measure.name}"
        relation = "worse" if self.alternative == "non-inferior" else "different"
        return f"{self.measure.name} {relation} by {self.margin:g} or more"

    @property
    def direction(self) -> float | None:
        """Sign of the differences that contradict the hypothesis; None is either."""
        better = 1.0 if self.measure.greater_is_better else -1.0
        return {"greater": 1.0, "less": -1.0, "non-inferior": better}.get(self.alternative)

    def statistics(self, distances: Callable[[float], FloatArray]) -> FloatArray:
        """Statistics of the contrasts, from their distances to a difference, in standard units."""
        margin = self.margin or 0.0
        if self.alternative == "equivalent":
            return np.minimum(distances(-margin), -distances(margin))
        if self.alternative == "non-inferior" and self.direction:
            return self.direction * distances(-self.direction * margin)
        return distances(0.0)

    def extreme(self, statistics: Any) -> Any:
        """Statistics that are large where they contradict the hypothesis."""
        if self.alternative == "two-sided":
            return np.abs(statistics)
        return -statistics if self.alternative == "less" else statistics

    def of_values(
        self,
        method: str,
        values: FloatArray,
        singles: Sequence[Single],
        covariance: FloatArray | None = None,
        rng: Any = None,
    ) -> dict[str, Any]:
        """Values, limits that hold together, Bonferroni's without a covariance, and the best.

        The best of the sample is at most as good as the best there is, which is one and the same
        in every sample: on that side the best of the limits of each by itself holds.
        """
        if not singles:
            return {"values": values}
        level, n = level_of_both(self.level, self.alternative), len(values)
        of_each, bias = 1.0 - (1.0 - level) / n, None
        sign = 1.0 if self.measure.greater_is_better else -1.0
        if covariance is not None:
            of_each = simultaneous_level(covariance, level, rng)
            bias = sign * excess_of_largest(sign * values, covariance)
        together = [x.limits(of_each) for x in singles]
        lows, highs = zip(*(x.limits(level) for x in singles), strict=True)
        i = int((sign * values).argmax())
        low, high = (together[i][0], max(highs)) if sign > 0.0 else (min(lows), together[i][1])
        target = f"{self.measure.name} of {self.names[i]!r}, the best of {n}, chosen on these rows"
        best = Interval(values[i], low, high, level, method, target, singles[i].error, bias)
        return {"values": values, "value_limits": together, "best": best}

    def answer(
        self, method: str, target: str, hypothesis: str | None = None, **found: Any
    ) -> Comparison:
        """Comparison with numbers that were found; others are unknown."""
        numbers: dict[str, Any] = dict.fromkeys(
            ("low", "high", "statistics"), (nan,) * len(self.contrasts)
        )
        numbers["standard_errors"] = (nan,) * len(self.names)
        measure, best = self.measure, found.pop("best", None)
        numbers |= {name: tuple(values) for name, values in found.items()}
        return Comparison(
            measure=measure.name,
            names=self.names,
            contrasts=tuple(f"{first} - {second}" for first, second in self.contrasts),
            level=self.level,
            alternative=self.alternative,
            margin=self.margin,
            method=method,
            target=target,
            hypothesis=hypothesis or self.hypothesis,
            greater_is_better=measure.greater_is_better if measure.has_direction else None,
            best=best if measure.has_direction else None,
            **numbers,
        )


def check_margin(measure: Measure, margin: Any) -> float:
    """Check a largest difference of no importance, in units of a measure."""
    low, high = measure.counted_range
    if not is_number(margin) or not 0.0 < margin < high - low or not isfinite(margin):
        raise ValueError(
            f"margin={margin!r} must be greater than 0 and less than {high - low:g}, the length of"
            f" the range of {measure.name}: pass the largest difference of no importance."
        )
    return float(margin)


def contrasts_of(names: tuple[str, ...], baseline: Any) -> list[tuple[str, str]]:
    """Pairs of each ranker and the baseline, or of all rankers."""
    if baseline is None:
        return list(combinations(names, 2))
    if len(names) < 2:
        raise ValueError(
            f"baseline={baseline!r} is for several rankers, but there is one: pass the scores of"
            " all by name, as in {'a': scores_a, 'b': scores_b}."
        )
    if str(baseline) not in names:
        raise ValueError(
            f"baseline={baseline!r} is not among the rankers {list(names)}: pass one of these"
            " names."
        )
    return [(name, str(baseline)) for name in names if name != str(baseline)]


def _shown(is_shown: bool) -> str:
    return "shown" if is_shown else "not shown"


def _drop_empty(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    columns = [i for i in range(len(rows[0])) if any(row[i] for row in rows[1:])]
    return [tuple(row[i] for i in columns) for row in rows]


def level_of_both(level: float, alternative: str) -> float:
    """Level of limits on both sides that agree with a test."""
    if alternative == "two-sided":
        return level
    if level <= 0.5:
        raise ValueError(
            f"level={level:g} gives no interval with alternative={alternative!r}, which applies it"
            " to each limit: pass a level above 0.5."
        )
    return 2.0 * level - 1.0
