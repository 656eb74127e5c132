"""Sample size, width, power and detectable difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf, isfinite, isinf
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from .._optional import import_pandas
from .._printed import Printed
from .._typing import FloatArray, IntArray
from .._validation import (
    MOST_ITEMS,
    check_choice,
    check_flag,
    check_generator,
    check_number,
    check_whole,
)
from ..bounds._shared import least_size
from ..metrics import Measure, get_measure
from ..metrics._shared import MeasureLike
from ._limits import CONTRAST_ALTERNATIVES
from ._plans import (
    NormalModel,
    PlanInputs,
    PlanModel,
    PlannedTest,
    check_part,
    check_value,
    model_of,
    pilot_model,
    read_pilot,
    root_between,
    variance_factor,
)

# Sizes of a curve, from the smallest to the largest in multiples of the planned one.
N_SIZES, FROM, UPTO = 41, 0.1, 4.0


@dataclass(frozen=True, eq=False, repr=False)
class SampleSizeCurve(Printed):
    """Power of a test, or width of an interval, for samples of many sizes.

    Parameters
    ----------
    n : ndarray of shape (n_sizes,)
        Sample sizes.
    values : ndarray of shape (n_sizes,)
        Power or width at each size.
    of : {"power", "width"}
        Whether ``values`` holds the power of a test or the width of an interval.
    unit : {"items", "queries"}
        What the sample sizes count.
    low : ndarray of shape (n_sizes,) or None, default=None
        Smallest value within the 95 % interval for the pilot's variance; None without a pilot.
    high : ndarray of shape (n_sizes,) or None, default=None
        Largest value within that interval; None without a pilot.

    See Also
    --------
    SampleSizePlan : Its method ``curve`` computes the curve.

    Examples
    --------
    >>> from sklearn_rank.inference import sample_size
    >>> plan = sample_size("auc", expected=0.8, positive_fraction=0.2, width=0.1)
    >>> print(plan.curve([200, 400, 800]))
    items   width
      200  0.1631
      400  0.1127
      800  0.0784
    """

    n: IntArray
    values: FloatArray
    of: str
    unit: str
    low: FloatArray | None = None
    high: FloatArray | None = None

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each size.

        Returns
        -------
        pandas.DataFrame
            The index holds the sample sizes. The columns are "power" or "width" and, with a pilot,
            low and high.
        """
        pandas = import_pandas("to_frame", "read the arrays n and values of the curve")
        return pandas.DataFrame(self._columns(), index=pandas.Index(self.n, name=self.unit))

    def _columns(self) -> dict[str, FloatArray]:
        columns = {self.of: self.values}
        if self.low is not None and self.high is not None:
            columns |= {"low": self.low, "high": self.high}
        return columns

    def __str__(self) -> str:
        names = list(self._columns())
        sizes = [f"{size:,}" for size in self.n.tolist()]
        width = max(map(len, (self.unit, *sizes)))
        lines = ["  ".join([self.unit.rjust(width), *(f"{name:>6}" for name in names)])]
        for size, *values in zip(sizes, *self._columns().values(), strict=True):
            lines.append("  ".join([size.rjust(width), *(f"{value:6.4f}" for value in values)]))
        return "\n".join(lines)

    def _table(self) -> Any:
        columns = (column.tolist() for column in self._columns().values())
        rows = zip(self.n.tolist(), *columns, strict=True)
        title = f"{self.of} of the {'test' if self.of == 'power' else 'interval'}"
        header = [self.unit, *self._columns()]
        return title, header, [(f"{size:,}", *values) for size, *values in rows]


@dataclass(frozen=True, repr=False)
class SampleSizePlan(Printed):
    """Sample size plan: the sample, and the width of its interval or the power of its test.

    Parameters
    ----------
    measure : str
        Name of the measure.
    n : int
        Number of items or queries; with ``paired=False`` the number for each ranker.
    unit : {"items", "queries"}
        What ``n`` counts.
    n_pos : int or None
        Number of positive items; None for queries.
    n_neg : int or None
        Number of negative items; None for queries.
    n_groups : int or None
        Number of groups of the mean size in the pilot; None without groups.
    width : float or None
        Width of the interval; None for a test.
    level : float
        Confidence level of the interval or test; the test has significance level ``1 - level``.
    difference : float or None
        True difference that the test detects with probability ``power``; None for an interval.
    margin : float or None
        Largest difference that is of no importance; None if there is no margin.
    power : float or None
        Power of the test; None for an interval.
    alternative : str or None
        Alternative hypothesis of the test; None for an interval.
    paired : bool or None
        Whether two rankers score the same data; None for one ranker.
    against : float or None
        Fixed value that the measure of one ranker is compared with; None if there is none.
    method : str
        Name of the method of the interval or test.
    rests_on : str
        Assumptions of the plan, in words.
    found : {"n", "width", "level", "power", "difference", "margin"}
        The quantity that was computed from the others.
    assurance : float or None, default=None
        Probability that the variance is no larger than the one used for planning.
    pilot_range : tuple of (float, float) or None, default=None
        The computed quantity at the two ends of the 95 % interval for the variance that the pilot
        estimates; None without a pilot.

    See Also
    --------
    sample_size : Computes it.

    Examples
    --------
    >>> from sklearn_rank.inference import sample_size
    >>> plan = sample_size("auc", positive_fraction=0.1, width=0.1, method="hoeffding")
    >>> print(plan)
    7,375 items: 738 positives and 6,637 negatives
    an interval for auc that is 0.09998 wide at level 95 %
    hoeffding: holds for every distribution
    >>> plan.n_pos
    738
    """

    measure: str
    n: int
    unit: str
    n_pos: int | None
    n_neg: int | None
    n_groups: int | None
    width: float | None
    level: float
    difference: float | None
    margin: float | None
    power: float | None
    alternative: str | None
    paired: bool | None
    against: float | None
    method: str
    rests_on: str
    found: str
    assurance: float | None = None
    pilot_range: tuple[float, float] | None = None
    # Width or power at each size, of a plan that sample_size made.
    _at: ClassVar[Any] = None

    def _with_values(self, at: Callable[[int], tuple[float, ...]]) -> SampleSizePlan:
        object.__setattr__(self, "_at", at)
        return self

    def curve(self, n: Any = None) -> SampleSizeCurve:
        """Compute the power of the test, or the width of the interval, at other sample sizes.

        Parameters
        ----------
        n : array-like of int or None, default=None
            Sample sizes, at least 2. None means 41 sizes from a tenth of the planned size to four
            times that size.

        Returns
        -------
        SampleSizeCurve
            Power if the plan is for a test, else width.
        """
        if self._at is None:
            raise ValueError("curve needs a plan that sample_size returned: call sample_size.")
        if n is None:
            ends = max(FROM * self.n, 4.0), UPTO * self.n
            sizes = np.unique(np.geomspace(*ends, N_SIZES).astype(np.int64))
        else:
            numbers = np.atleast_1d(np.asarray(n)).tolist()
            sizes = np.array([check_whole("n", number, 2, MOST_ITEMS) for number in numbers])
        values = np.array([self._at(int(size)) for size in sizes])
        curve = SampleSizeCurve(
            sizes, values[:, 0], "width" if self.power is None else "power", self.unit
        )
        if values.shape[1] == 1:
            return curve
        # The further columns are for the ends of the interval for the pilot's variance.
        return replace(curve, low=values[:, 1:].min(axis=1), high=values[:, 1:].max(axis=1))

    def __str__(self) -> str:
        lines = [self._sample(), self._outcome(), f"{self.method}: {self.rests_on}"]
        if self.pilot_range is not None:
            low, high = (
                f"{end:,}" if self.found == "n" else f"{end:.4g}" for end in self.pilot_range
            )
            planned = "" if self.assurance is None else f"; assurance {self.assurance:g}"
            lines.append(f"the pilot's variance allows {self.found} from {low} to {high}{planned}")
        return "\n".join(lines)

    def _sample(self) -> str:
        suffix = " for each ranker" if self.paired is False else ""
        parts = [f"{self.n:,} {self.unit}{suffix}"]
        if self.n_pos is not None:
            parts.append(f"{self.n_pos:,} positives and {self.n_neg:,} negatives")
        if self.n_groups is not None:
            parts.append(f"about {self.n_groups:,} groups")
        return ": ".join([parts[0], ", ".join(parts[1:])]) if parts[1:] else parts[0]

    def _outcome(self) -> str:
        level = f"level {100 * self.level:.6g} %"
        if self.power is None:
            what = self.measure if self.paired is None else f"the difference of {self.measure}"
            return f"an interval for {what} that is {self.width:.4g} wide at {level}"
        if self.against is None:
            quantity = f"a difference of {self.difference:.4g} in {self.measure}"
        else:
            quantity = f"{self.measure} {self.difference:+.4g} from {self.against:g}"
        margin = "" if self.margin is None else f" with margin {self.margin:.4g}"
        return f"power {self.power:.4g} for {quantity}, {self.alternative}{margin} at {level}"


USUAL_POWER = 0.8


WITH_MARGIN = ("non-inferior", "equivalent")


@dataclass(frozen=True)
class Quantities:
    """The quantities of an interval or of a test, one of which is unknown."""

    n: int | None
    level: float | None
    width: float | None = None
    test: PlannedTest | None = None  # None is an interval
    difference: float | None = None  # True difference of the test
    power: float | None = None

    @classmethod
    def read(
        cls,
        measure: Measure,
        n: Any,
        level: Any,
        width: Any,
        of_test: dict[str, Any],
        n_rankers: int,
    ) -> Quantities:
        passed = [name for name, value in of_test.items() if value is not None]
        if passed and width is not None:
            raise ValueError(
                f"width={width!r} is for an interval, but {', '.join(passed)} for a test: pass"
                " one or the other."
            )
        if passed:
            return cls.of_test(measure, n, level, **of_test)
        low, high = measure.counted_range
        most = (high - low) * n_rankers
        if sum(value is None for value in (n, level, width)) != 1:
            raise ValueError(
                f"n={n!r}, width={width!r} and level={level!r}: pass two of the three and leave"
                " out the one to compute, or pass level=None to compute the level; for a test"
                " pass difference."
            )
        return cls(
            n=_if_passed(check_whole, "n", n, 2, MOST_ITEMS),
            level=_if_passed(check_part, "level", level),
            width=_if_passed(check_length, "width", width, most, "the interval"),
        )

    @classmethod
    def of_test(
        cls,
        measure: Measure,
        n: Any,
        level: Any,
        *,
        difference: Any,
        margin: Any,
        alternative: Any,
        power: Any,
    ) -> Quantities:
        if level is None:
            raise ValueError(
                "level=None is computed for an interval only: pass the level of the test."
            )
        level = check_part("level", level)
        n = _if_passed(check_whole, "n", n, 2, MOST_ITEMS)
        low, high = measure.counted_range
        if alternative is None:
            alternative = "two-sided" if margin is None else "non-inferior"
        check_choice("alternative", alternative, CONTRAST_ALTERNATIVES)
        with_margin = alternative in WITH_MARGIN
        if difference is not None:
            difference = check_number("difference", difference, what="of the two rankers")
            if difference == 0.0 and not with_margin:
                raise ValueError(
                    "difference=0 cannot be detected by a test: pass the smallest difference that"
                    " matters, or margin= to test equivalence."
                )
            if difference != 0.0:
                check_length("difference", abs(difference), high - low, "the two rankers")
        elif with_margin:
            difference = 0.0
        if margin is not None:
            if not with_margin:
                raise ValueError(
                    f"margin={margin!r} is not used by alternative={alternative!r}: leave it out,"
                    " or pass alternative='non-inferior' or 'equivalent'."
                )
            margin = check_length("margin", margin, high - low, "what does not matter")
        test = PlannedTest(alternative, margin, measure.greater_is_better)
        name, size = ("margin", margin) if with_margin else ("difference", difference)
        if n is None or (size is None and power is None):
            power = USUAL_POWER if power is None else power
        if sum(value is None for value in (n, size, power)) != 1:
            raise ValueError(
                f"n={n!r}, {name}={size!r} and power={power!r}: pass two of the three and leave"
                " out the one to compute."
            )
        if power is not None and (power := check_part("power", power)) <= 1.0 - level:
            raise ValueError(
                f"power={power!r} is not above 1 - level, the rejection rate of a true hypothesis:"
                " pass a greater power."
            )
        if size is not None and min(test.distances(float(difference or 0.0))) <= 0.0:
            suffix = "" if margin is None else f" with margin={margin!r}"
            raise ValueError(
                f"difference={difference!r} is not in the direction of"
                f" alternative={alternative!r}{suffix}: change its sign, or the alternative."
            )
        return cls(n, level, test=test, difference=difference, power=power)

    @property
    def unknown(self) -> str:
        if self.n is None:
            return "n"
        if self.test is None:
            return "width" if self.width is None else "level"
        if self.power is None:
            return "power"
        return "margin" if self.test.alternative in WITH_MARGIN else "difference"

    def solve(self, model: PlanModel, largest: float) -> float:
        unknown = self.unknown
        if unknown == "n":
            width, power = float(self.width or 0.0), float(self.power or 0.0)
            if self.test is None:
                size = least_size(lambda n: self.value(model, n) <= width)
                wish = f"width={self.width!r} at level={self.level!r}"
            else:
                size = least_size(lambda n: self.value(model, n) >= power)
                wish = f"power={self.power!r} for difference={self.difference!r}"
            if isinf(size):
                raise ValueError(f"{wish} takes more than 2**53 items: ask for less.")
            return int(size)
        n = int(self.n or 0)
        if unknown in ("width", "power"):
            return self.value(model, n)
        if unknown == "level":
            return model.level(n, float(self.width or 0.0))
        power = float(self.power or 0.0)

        def is_detected(share: float) -> bool:
            return self.with_size(share * largest).value(model, n) >= power

        # Largest fraction of the largest possible difference or margin that the search tries.
        nearly = 1.0 - 1e-9
        if not is_detected(nearly):
            raise ValueError(
                f"With n={n} the power is below {power:g} for every possible {unknown} of the"
                " measure: pass a greater n, or a smaller power."
            )
        return largest * root_between(is_detected, 0.0, nearly)

    def with_solution(self, solution: float) -> Quantities:
        if self.unknown in ("difference", "margin"):
            return self.with_size(solution)
        value = int(solution) if self.unknown == "n" else solution
        return replace(self, **{self.unknown: value})  # type: ignore[arg-type]

    def with_size(self, size: float) -> Quantities:
        """Set the difference of the test, or its margin."""
        if self.test is not None and self.test.alternative in WITH_MARGIN:
            return replace(self, test=replace(self.test, margin=size))
        return replace(self, difference=size)

    def value(self, model: PlanModel, n: int) -> float:
        level = float(self.level or 0.0)
        if self.test is None:
            return model.width(n, level)
        return model.power(n, float(self.difference or 0.0), self.test, level)

    def values(self, models: Sequence[PlanModel], n: int) -> tuple[float, ...]:
        return tuple(self.value(model, n) for model in models)


INSIDE: dict[str, Any] = {"closed": "neither"}


def _if_passed(
    check: Callable[..., Any], name: str, value: Any, *args: Any, **options: Any
) -> Any:
    return None if value is None else check(name, value, *args, **options)


def check_length(name: str, value: Any, most: float, what: str) -> float:
    """Check a positive length that is shorter than the range."""
    value = check_number(name, value, 0.0, closed="neither", what=f"of {what}")
    if isfinite(most) and value >= most:
        percent = f"; for {value:g} per cent pass {value / 100:g}" if 1.0 < value <= 100.0 else ""
        raise ValueError(
            f"{name}={value!r} must be less than {most:g}, the length of the range{percent}."
        )
    return value


PlanAlternative: TypeAlias = Literal["two-sided", "less", "greater", "non-inferior", "equivalent"]


def sample_size(
    measure: MeasureLike,
    *,
    expected: float | None = None,
    positive_fraction: float | None = None,
    width: float | None = None,
    difference: float | None = None,
    against: float | None = None,
    margin: float | None = None,
    alternative: PlanAlternative | None = None,
    power: float | None = None,
    n: int | None = None,
    level: float | None = 0.95,
    paired: bool | None = None,
    correlation: float | None = None,
    sd: float | None = None,
    pilot: Any = None,
    qid: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    method: str = "auto",
    assurance: float | None = None,
    random_state: Any = None,
) -> SampleSizePlan:
    """Sample size, width, power or detectable difference for an interval or a test.

    Let ``V(n)`` be the variance of the measure on n items or n queries. An interval has the width
    ``2 z sqrt(V(n))``, and a test of a difference d has the power ``P(T > t)``, where T is
    noncentral t with ``d / sqrt(V(n))``. V is known for the AUC and the precision at the top of
    normal scores, and for proportions of queries. For every other measure it comes from a pilot,
    and some methods bound it for every distribution. The function computes the missing one of
    ``n``, ``width`` and ``level``, or of ``n``, ``difference`` and ``power``.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts, such as
        ``"auc"`` or ``"ndcg@10"``.
    expected : float or None, default=None
        Expected value of the measure; at least .5 for the AUC. In a comparison it is the value of
        the second ranker, and the first differs by ``difference``.
    positive_fraction : float or None, default=None
        Fraction of the items that are positive, in (0, 1), for a measure of one list. None means
        that of the pilot.
    width : float or None, default=None
        Width of the interval, upper minus lower limit.
    difference : float or None, default=None
        True difference of two rankers, first minus second, that the test should detect.
    against : float or None, default=None
        Fixed value that the measure of one ranker is compared with, such as .5, instead of
        ``difference``.
    margin : float or None, default=None
        Largest difference that is of no importance, positive, for "non-inferior" and "equivalent".
    alternative : str or None, default=None
        Alternative hypothesis: the measure of the first ranker is different ("two-sided"), greater
        ("greater") or less ("less"), is worse by less than ``margin`` ("non-inferior"), or differs
        by less than ``margin`` ("equivalent"). None means "two-sided" without a margin and
        "non-inferior" with one. For the last two, ``difference`` is 0 unless given.
    power : float or None, default=None
        Power of the test, in (0, 1). If None, it is computed if ``n`` is given, else it is .8.
    n : int or None, default=None
        Number of items or queries, at least 2; with ``paired=False`` the number for each ranker.
    level : float or None, default=0.95
        Confidence level of the interval or test, in (0, 1); the test has significance level ``1 -
        level``. A one-sided test has this level on its side. If None, it is computed from ``n``
        and ``width``.
    paired : bool or None, default=None
        Whether two rankers score the same data. None means True if two rankers are compared.
    correlation : float or None, default=None
        Correlation of two rankers on the same data, in (-1, 1), if there is no pilot. For the AUC
        it is the correlation of their scores within a class, for the precision at the top that of
        their influence values, and for proportions of queries that of their values.
    sd : float or None, default=None
        Standard deviation of the values over queries, instead of a pilot. For two rankers on the
        same queries, the standard deviation of the differences.
    pilot : pair or None, default=None
        Labels and scores of similar data: ``(y_true, y_score)``. For the difference of two rankers
        ``(y_true, {"a": scores_a, "b": scores_b})``, or a data frame of scores instead of the
        mapping.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row of the pilot; ``n`` then counts queries. None means two-dimensional
        input with one query per row, or one list, for which ``n`` counts items.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user) of each row of the pilot; with ``qid`` each query belongs
        to one group. The sample is planned with groups of the same mean size.
    pos_label : int, float, bool or str, default=None
        Label of the positive class in the pilot. None means 1 and requires labels in {0, 1} or
        {-1, 1}.
    method : str, default="auto"
        - "auto": the intervals of ``metric_interval`` and tests with the same variance: "wilson"
          for the AUC and for proportions of queries, "influence" for items, Student's "t" for
          queries.
        - For the AUC, "delong" and "hanley-mcneil": symmetric intervals with the variance of
          normal or exponential scores; "normal-worst": with the largest possible variance.
          "mcdiarmid", "hoeffding", "kl" and "chebyshev" are valid for every distribution; the
          first two also support differences.
        - For means over queries, "hoeffding", "kl" and "bernstein": valid for every distribution;
          "normal-worst": the largest variance that values with this mean can have.
        - For ``"ks"``, "dkw", which needs no pilot.
        - For the precision at the top, "exact": the method of :func:`metric_interval`.
    assurance : float or None, default=None
        Probability, in (0, 1), that the variance is no larger than the one used for planning. The
        plan then uses the upper confidence limit of the pilot's variance instead of its estimate.
        A higher probability gives a larger sample.
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed that selects the rows of the pilot that are left out
        together, to estimate the precision of its variance. Pass an int for reproducible results.

    Returns
    -------
    SampleSizePlan
        The plan. Print it, read its attributes, or call ``curve()`` for other sample sizes.

    Raises
    ------
    TypeError
        If ``n`` is not a whole number, or ``pilot`` is not a pair.
    ValueError
        If an argument is out of range, missing or not used by the question; if there is no
        quantity, or more than one, to compute; if the pilot has no variance; or if more than 2**53
        items are needed.

    Warns
    -----
    UserWarning
        If the pilot has fewer than ten positives, negatives, queries or groups.

    See Also
    --------
    metric_interval : The confidence interval for collected data.
    compare : The test for collected data.
    plan_labels : Number of labels for a width, for a list that is labelled in part.
    sklearn_rank.bounds.auc_sample_size_bound : Sample size for model selection by AUC.

    Notes
    -----
    ``n`` is the smallest sufficient size, with the number of positives rounded to the nearest
    whole number. The width is that at the expected value; the observed value will differ from it.
    For equivalence and for the distribution-free methods the actual power is at least ``power``.

    A pilot gives the variance of the influence values of each class, and ``V(n) = V_pos / n_pos +
    V_neg / n_neg``. If the measure depends on the fraction of positives and ``positive_fraction``
    differs from that of the pilot, the rows of the pilot are reweighted. Groups multiply the
    variance by their design effect. ``pilot_range`` of the plan gives the result at the ends of a
    95 % chi-square interval for the variance, whose degrees of freedom are estimated by leaving
    out a fortieth of the pilot in turn: the time of 80 evaluations of the measure. The difference
    observed in the pilot is not used: pass the difference that matters.

    References
    ----------
    .. [1] Hanley & McNeil (1982), *The meaning and use of the area under a receiver operating
       characteristic (ROC) curve*, Radiology 143.
    .. [2] DeLong, DeLong & Clarke-Pearson (1988), *Comparing the areas under two or more
       correlated receiver operating characteristic curves*, Biometrics 44.
    .. [3] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 5, Corollaries 6 and 7.

    Examples
    --------
    >>> from sklearn_rank.inference import sample_size
    >>> print(sample_size("auc", expected=0.85, positive_fraction=0.1, width=0.1))
    705 items: 71 positives and 634 negatives
    an interval for auc that is 0.1 wide at level 95 %
    wilson: normal scores, expecting 0.85
    >>> print(
    ...     sample_size(
    ...         "auc",
    ...         expected=0.85,
    ...         positive_fraction=0.1,
    ...         difference=0.02,
    ...         correlation=0.7,
    ...     )
    ... )
    5,135 items: 514 positives and 4,621 negatives
    power 0.8004 for a difference of 0.02 in auc, two-sided at level 95 %
    influence: normal scores, expecting 0.85, correlation 0.7

    Any other measure needs a pilot:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> qid = np.repeat(np.arange(50), 10)
    >>> grade = rng.integers(0, 3, size=500)
    >>> scores = {
    ...     "new": grade + rng.normal(size=500),
    ...     "old": grade + 1.2 * rng.normal(size=500),
    ... }
    >>> print(
    ...     sample_size(
    ...         "ndcg@5",
    ...         difference=0.02,
    ...         pilot=(grade, scores),
    ...         qid=qid,
    ...         random_state=0,
    ...     )
    ... )
    807 queries
    power 0.8002 for a difference of 0.02 in ndcg@5, two-sided at level 95 %
    t: pilot of 50 queries
    the pilot's variance allows n from 566 to 1,245
    """
    measure = get_measure(measure)
    of_rows = {"qid": qid, "groups": groups, "pos_label": pos_label}
    if pilot is None:
        for name, value in {**of_rows, "assurance": assurance}.items():
            if value is not None:
                raise ValueError(
                    f"{name} is only for a pilot, but pilot is None: pass pilot=(y_true, y_score),"
                    f" or leave {name} out."
                )
    of_two = {"paired": paired, "correlation": correlation}
    if pilot is not None:
        pilot = read_pilot(pilot, of_rows)
        if len(pilot[1]) == 2:
            of_two["the scores of a second ranker"] = 2
    of_test = {
        "difference": difference,
        "margin": margin,
        "alternative": alternative,
        "power": power,
    }
    of_comparison = (*of_two.values(), *of_test.values())
    inputs = PlanInputs(
        paired=check_flag("paired", True if paired is None else paired),
        expected=_if_passed(check_value, "expected", expected, measure),
        positive_fraction=_if_passed(
            check_part, "positive_fraction", positive_fraction, "the share of positives"
        ),
        correlation=_if_passed(check_number, "correlation", correlation, -1.0, 1.0, **INSIDE),
        sd=_if_passed(check_number, "sd", sd, 0.0, **INSIDE),
        comparing=against is None and any(value is not None for value in of_comparison),
        method=method,
    )
    if against is not None:
        against = check_value("against", against, measure)
        for name, value in {"difference": difference, **of_two}.items():
            if value is not None:
                raise ValueError(f"against={against!r} is for one ranker: leave out {name}.")
        why = "the difference from against is computed from it; pass the expected value"
        of_test["difference"] = inputs.require("expected", why) - against
    quantities = Quantities.read(measure, n, level, width, of_test, inputs.n_rankers)
    largest = _largest_size(measure, quantities, inputs, fixed=against is not None)
    rng = check_generator(random_state)
    ends: list[NormalModel] = []  # For the ends of a 95 % interval for a pilot's variance
    model: PlanModel
    if pilot is None:
        model, method, rests_on = model_of(measure, inputs)
    else:
        of_pilot, method, rests_on, degrees = pilot_model(measure, pilot, inputs, rng)
        ends = [of_pilot.scaled(variance_factor(degrees, share)) for share in (0.025, 0.975)]
        factor = 1.0
        if assurance is not None:
            factor = variance_factor(degrees, check_part("assurance", assurance))
        model = of_pilot.scaled(factor)
    if against is not None and method == "wilson":
        # The test uses the standard error, not the limits of the interval.
        method = "t" if model.sample.unit == "queries" else "influence"
    solution = quantities.solve(model, largest)
    pilot_range = None
    if ends:
        solutions = []
        for end in ends:
            try:
                solutions.append(quantities.solve(end, largest))
            except ValueError:  # Nothing suffices.
                solutions.append(inf)
        pilot_range = (min(solutions), max(solutions))
    unknown, sample = quantities.unknown, model.sample
    quantities = quantities.with_solution(solution)
    n, test = int(quantities.n or 0), quantities.test
    # Apart from rounding of counts, the result is the requested one or slightly better.
    value = quantities.value(model, n) if unknown != "level" else quantities.width
    n_pos, n_neg = sample.sizes(n) if sample.positive_fraction is not None else (None, None)
    return SampleSizePlan(
        measure=measure.name,
        n=n,
        unit=sample.unit,
        n_pos=n_pos,
        n_neg=n_neg,
        n_groups=None if sample.group_size is None else ceil(n / sample.group_size),
        width=value if test is None else None,
        level=float(quantities.level or 0.0),
        difference=None if test is None else quantities.difference,
        margin=None if test is None else test.margin,
        power=None if test is None else value,
        alternative=None if test is None else test.alternative,
        paired=inputs.paired if inputs.comparing else None,
        against=against,
        method=method,
        rests_on=rests_on,
        found=unknown,
        assurance=assurance,
        pilot_range=pilot_range,
    )._with_values(partial(Quantities.values, quantities, (model, *ends)))


def _largest_size(
    measure: Measure, quantities: Quantities, inputs: PlanInputs, *, fixed: bool
) -> float:
    """Largest possible difference, with its sign, or margin at the expected value."""
    low, high = measure.counted_range
    test, expected = quantities.test, inputs.expected
    if test is None or fixed:
        return high - low
    # A measure without a range has a very large one.
    most = high - low if isfinite(high - low) else 1e9
    least, largest = -most, most
    if expected is not None:
        least, largest = low - expected, high - expected
        difference = quantities.difference
        if difference is not None and not least < difference < largest:
            raise ValueError(
                f"difference={difference!r} from expected={expected!r} is outside the range"
                f" [{low:g}, {high:g}] of {measure.name}: pass a smaller difference."
            )
    if test.alternative in WITH_MARGIN:
        return most
    if test.alternative == "less":
        return least
    return least if test.alternative == "two-sided" and not measure.greater_is_better else largest
