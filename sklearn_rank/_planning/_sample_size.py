"""Sample size, width, power and detectable difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

from .. import _outer
from .._printed import Printed
from .._validation import (
    MAX_EXACT_INT,
    are_judgments,
    check_generator,
    check_length,
    check_number,
    check_share,
    check_whole,
    is_number,
)
from ..metrics import Measure, get_measure
from ..metrics._shared import MeasureLike
from ._plans import Question, formula_model, pilot_model, read_pilot, sizes_of, variance_factor


@dataclass(frozen=True, repr=False)
class SampleSizePlan(Printed):
    """Sample size plan: the sample, and the width of its interval or the power of its test.

    Parameters
    ----------
    measure : str
        Name of the measure; ``"the difference of ..."`` for an interval of two rankers.
    n : int
        Number of items or queries.
    unit : {"items", "queries"}
        What ``n`` counts.
    n_pos : int or None
        Number of positive items; None for queries.
    n_groups : int or None
        Number of groups of the mean size in the pilot; None without groups.
    width : float or None
        Width of the interval; None for a test.
    difference : float or None
        True difference that the test detects with probability ``power``; None for an interval.
    power : float or None
        Power of the two-sided test; None for an interval.
    level : float
        Confidence level of the interval or test; the test has significance level ``1 - level``.
    method : str
        Name of the method of the interval or test.
    rests_on : str
        Assumptions of the plan, in words.
    found : {"n", "width", "power", "difference"}
        The quantity that was computed from the others.
    pilot_range : tuple of (float, float) or None, default=None
        The computed quantity at the two ends of the 95 % interval for the variance that the pilot
        estimates; None without a pilot.

    See Also
    --------
    sample_size : Computes it.

    Examples
    --------
    >>> from sklearn_rank.inference import sample_size
    >>> plan = sample_size("auc", expected=0.8, prevalence=0.1, width=0.1)
    >>> print(plan)
    905 items: 91 positives and 814 negatives
    an interval for auc that is 0.09957 wide at level 95 %
    wilson: normal scores, expecting 0.8
    >>> plan.n_pos
    91
    """

    measure: str
    n: int
    unit: str
    n_pos: int | None
    n_groups: int | None
    width: float | None
    difference: float | None
    power: float | None
    level: float
    method: str
    rests_on: str
    found: str
    pilot_range: tuple[float, float] | None = None

    @property
    def n_neg(self) -> int | None:
        """Number of negative items; None for queries."""
        return None if self.n_pos is None else self.n - self.n_pos

    def __str__(self) -> str:
        counts = []
        if self.n_pos is not None:
            counts.append(f"{self.n_pos:,} positives and {self.n_neg:,} negatives")
        if self.n_groups is not None:
            counts.append(f"about {self.n_groups:,} groups")
        lines = [": ".join(filter(None, (f"{self.n:,} {self.unit}", ", ".join(counts))))]
        level = f"level {100 * self.level:.6g} %"
        if self.power is None:
            lines.append(
                f"an interval for {self.measure} that is {self.width:.4g} wide at {level}"
            )
        else:
            lines.append(
                f"power {self.power:.4g} for a difference of {self.difference:.4g} in"
                f" {self.measure}, two-sided at {level}"
            )
        lines.append(f"{self.method}: {self.rests_on}")
        if self.pilot_range is not None:
            form = "," if self.found == "n" else ".4g"
            low, high = (format(end, form) for end in self.pilot_range)
            lines.append(f"the pilot's variance allows {self.found} from {low} to {high}")
        return "\n".join(lines)


def check_part(name: str, value: Any, what: str = "") -> float:
    """Check a number in (0, 1), with a hint for percentages."""
    if is_number(value) and 1.0 < value <= 100.0:
        raise ValueError(
            f"{name}={value!r} must be a number in (0, 1): for {value:g} per cent pass"
            f" {name}={value / 100:g}."
        )
    return check_share(name, value, what=what)


def check_value(name: str, value: Any, measure: Measure) -> float:
    low, high = measure.counted_range
    if is_number(value) and 1.0 < value <= 100.0 and (low, high) == (0.0, 1.0):
        return check_part(name, value)
    number = check_number(name, value, low, high, closed="neither", what=f"of {measure.name}")
    if "placements" in measure.laws and number < (low + high) / 2.0:
        raise ValueError(
            f"{name}={value!r} is below {(low + high) / 2.0:g}, the value of a random order:"
            f" negate the scores and pass {low + high - number:g}."
        )
    return number


def _if_passed(check: Callable[..., Any], name: str, value: Any, *args: Any, **more: Any) -> Any:
    return None if value is None else check(name, value, *args, **more)


def check_question(question: Question) -> Question:
    """Check the quantities; a test without a power and a size has the usual power."""
    (low, high), n, value = question.measure.counted_range, question.n, question.expected
    width, difference, power = question.width, question.difference, question.power
    level = check_part("level", question.level)
    n = _if_passed(check_whole, "n", n, 2, MAX_EXACT_INT)
    most = (high - low) * question.n_rankers
    width = _if_passed(check_length, "width", width, most, "the interval")
    if question.is_test and n is None and power is None:
        power = 0.8
    named = {"n": n, "difference": difference, "power": power}
    named = named if question.is_test else {"n": n, "width": width}
    if list(named.values()).count(None) != 1 or (question.is_test and width is not None):
        named |= {"width": width} if width is not None else {}
        texts = " and ".join(f"{name}={value!r}" for name, value in named.items())
        raise ValueError(
            f"{texts}: leave out the one to compute, and pass the others; width is for an"
            " interval, difference and power are for a test."
        )
    if power is not None and (power := check_part("power", power)) <= 1.0 - level:
        raise ValueError(
            f"power={power!r} is not above 1 - level, the rate of false alarms: pass more."
        )
    if difference is not None:
        difference = check_number("difference", difference, what="of the two rankers")
        if difference == 0.0:
            raise ValueError(
                "difference=0 cannot be detected by a test: pass the smallest difference that"
                " matters."
            )
        check_length("difference", abs(difference), high - low, "the two rankers")
        if value is not None and not low < value + difference < high:
            raise ValueError(
                f"difference={difference!r} from expected={value!r} is outside the range"
                f" [{low:g}, {high:g}] of {question.measure.name}: pass a smaller difference."
            )
    return replace(question, n=n, level=level, width=width, difference=difference, power=power)


def sample_size(
    measure: MeasureLike,
    *,
    expected: float | None = None,
    prevalence: float | None = None,
    width: float | None = None,
    difference: float | None = None,
    power: float | None = None,
    n: int | None = None,
    level: float = 0.95,
    correlation: float | None = None,
    pilot: Any = None,
    qid: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> SampleSizePlan:
    """Sample size, width, power or detectable difference for an interval or a test.

    Let ``V(n)`` be the variance of the measure on n items or n queries. An interval has the width
    ``2 z sqrt(V(n))``, and a test of a difference d has the power ``P(T > t)``, where T is
    noncentral t with ``d / sqrt(V(n))``. V is known for the AUC and the precision at the top of
    normal scores, and for proportions of queries. For every other measure it comes from a pilot.
    The function computes the missing one of ``n`` and ``width``, or of ``n``, ``difference`` and
    ``power``.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts, such as
        ``"auc"`` or ``"ndcg@10"``.
    expected : float or None, default=None
        Expected value of the measure; at least .5 for the AUC. In a comparison it is the value of
        the second ranker, and the first differs by ``difference``.
    prevalence : float or None, default=None
        Fraction of the items that are positive, in (0, 1), for a measure of one list. None means
        that of the pilot.
    width : float or None, default=None
        Width of the interval, upper minus lower limit; that of a difference if there are two
        rankers.
    difference : float or None, default=None
        True difference of two rankers, first minus second, that the test should detect.
    power : float or None, default=None
        Power of the two-sided test, in (0, 1). If None, it is computed if ``n`` is given, else it
        is .8.
    n : int or None, default=None
        Number of items or queries, at least 2.
    level : float, default=0.95
        Confidence level of the interval or test, in (0, 1); the test has significance level ``1 -
        level``.
    correlation : float or None, default=None
        Correlation of two rankers on the same data, in (-1, 1), if there is no pilot. For the AUC
        it is the correlation of their scores within a class, for the precision at the top that of
        their influence values, and for proportions of queries that of their values. On different
        data it is 0.
    pilot : pair or None, default=None
        Labels and scores of similar data: ``(y_true, y_score)``. For the difference of two rankers
        ``(y_true, {"a": scores_a, "b": scores_b})``, or a data frame of scores instead of the
        mapping. Or judgments and a run, or runs by name, as for :func:`compare`.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row of the pilot; ``n`` then counts queries. None means two-dimensional
        input with one query per row, or one list, for which ``n`` counts items.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user) of each row of the pilot; with ``qid`` each query belongs
        to one group. The sample is planned with groups of the same mean size.
    pos_label : int, float, bool or str, default=None
        Label of the positive class in the pilot. None means 1 and requires labels in {0, 1} or
        {-1, 1}.
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed that selects the rows of the pilot that are left out
        together, to estimate the precision of its variance. Pass an int for reproducible results.

    Returns
    -------
    SampleSizePlan
        The plan. Print it or read its attributes.

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
    sklearn_rank.bounds.auc_sample_size_bound : Sample size that holds for every distribution.

    Notes
    -----
    ``n`` is the smallest sufficient size, with the number of positives rounded to the nearest
    whole number. The width is that at the expected value; the observed value will differ from it.
    The intervals are those of :func:`metric_interval`, and the tests have the same variance: plans
    are for fixed numbers of independent positives and negatives, and asymptotic.

    A pilot gives the variance of the influence values of each class, and ``V(n) = V_pos / n_pos +
    V_neg / n_neg``. If the measure depends on the prevalence and ``prevalence`` differs from that
    of the pilot, the rows of the pilot are reweighted. Groups multiply the variance by their
    design effect. ``pilot_range`` of the plan gives the result at the ends of a 95 % chi-square
    interval for the variance, whose degrees of freedom are estimated by leaving out a fortieth of
    the pilot in turn: the time of 80 evaluations of the measure. The difference observed in the
    pilot is not used: pass the difference that matters.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson (1988), *Comparing the areas under two or more
       correlated receiver operating characteristic curves*, Biometrics 44.
    .. [2] Obuchowski & McClish (1997), *Sample size determination for diagnostic accuracy studies
       involving binormal ROC curve indices*, Statistics in Medicine 16.

    Examples
    --------
    >>> from sklearn_rank.inference import sample_size
    >>> given = {"expected": 0.85, "prevalence": 0.1}
    >>> print(sample_size("auc", **given, width=0.1))
    705 items: 71 positives and 634 negatives
    an interval for auc that is 0.1 wide at level 95 %
    wilson: normal scores, expecting 0.85
    >>> print(sample_size("auc", **given, difference=0.02, correlation=0.7))
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
    >>> pilot = {"pilot": (grade, scores), "qid": qid, "random_state": 0}
    >>> print(sample_size("ndcg@5", difference=0.02, **pilot))
    807 queries
    power 0.8002 for a difference of 0.02 in ndcg@5, two-sided at level 95 %
    t: pilot of 50 queries
    the pilot's variance allows n from 566 to 1,245
    """
    of_rows = {"qid": qid, "groups": groups, "pos_label": pos_label}
    if isinstance(pilot, tuple | list) and len(pilot) == 2 and are_judgments(*pilot):
        measure, pilot, of_rows = _outer.pilot_of_runs(measure, pilot, **of_rows)
    measure = get_measure(measure)
    of_two = [difference, power, correlation]
    if pilot is None:
        for name, value in of_rows.items():
            if value is not None:
                raise ValueError(
                    f"{name} is only for a pilot, but pilot is None: pass pilot=(y_true, y_score),"
                    f" or leave {name} out."
                )
    else:
        pilot = read_pilot(measure, pilot, of_rows)
        of_two += list(pilot[1])[1:]
    question = Question(
        measure=measure,
        comparing=any(value is not None for value in of_two),
        expected=_if_passed(check_value, "expected", expected, measure),
        prevalence=_if_passed(check_part, "prevalence", prevalence, "the share of positives"),
        correlation=_if_passed(
            check_number, "correlation", correlation, -1.0, 1.0, closed="neither"
        ),
        n=n,
        level=level,
        width=width,
        difference=difference,
        power=power,
    )
    question = check_question(question)
    rng = check_generator(random_state)
    pilot_range = None
    if pilot is None:
        model, method, rests_on = formula_model(question)
    else:
        model, method, rests_on, degrees = pilot_model(question, pilot, rng)
        solutions = []
        for share in (0.025, 0.975):
            try:
                end = replace(model, factor=variance_factor(degrees, share))
                solutions.append(question.solve(end))
            except ValueError:  # Nothing suffices.
                solutions.append(inf)
        pilot_range = (min(solutions), max(solutions))
    unknown = question.unknown
    found: dict[str, Any] = {unknown: question.solve(model)}
    question = replace(question, **found)
    size = int(question.n or 0)
    # Apart from rounding of counts, the result is the requested one or slightly better.
    value = question.value(model, size)
    is_interval_of_two = question.comparing and not question.is_test
    return SampleSizePlan(
        measure=f"the difference of {measure.name}" if is_interval_of_two else measure.name,
        n=size,
        unit=model.unit,
        n_pos=None if model.prevalence is None else sizes_of(size, model.prevalence)[0],
        n_groups=None if model.group_size is None else ceil(size / model.group_size),
        width=None if question.is_test else value,
        difference=question.difference,
        power=value if question.is_test else None,
        level=question.level,
        method=method,
        rests_on=rests_on,
        found=unknown,
        pilot_range=pilot_range,
    )
