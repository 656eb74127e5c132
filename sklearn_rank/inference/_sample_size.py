"""How much data an interval or a test needs, and what a given amount of data yields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil, inf, isfinite
from typing import Any, Literal, TypeAlias

import numpy as np

from .._arguments import check_choice, check_generator
from ..metrics import Measure, get_measure
from ..metrics._shared import MeasureLike
from ._plan_asked import WITH_MARGIN, Asked, Numbers, check_part, check_value
from ._plan_expectation import Expectation, model_of
from ._plan_models import PlanModel
from ._plan_pilot import Pilot, PilotModel, pilot_model
from ._plan_results import SampleSizePlan

__all__ = ["sample_size"]

PlanAlternative: TypeAlias = Literal["two-sided", "less", "greater", "non-inferior", "equivalent"]

# Probabilities that a variance is at most the ends of its interval from a pilot.
PILOT_LEVELS = (0.025, 0.975)

# Of a measure without a range.
LARGEST_DIFFERENCE = 1e9


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
    """Answer how much data an interval or a test needs, or what so much data yields.

    With the variance ``V(n)`` of the measure on n items, or n queries, an interval is ``2 z
    sqrt(V(n))`` wide, and a test sees a difference d with the power
    ``P(T > t)``, T being noncentral t with ``d / sqrt(V(n))``. V is known for the AUC and the
    precision at the top of normal scores and for shares of queries, comes from a pilot for every
    other measure, and is bounded for every distribution by some methods. What is left out of
    ``n``, ``width`` and ``level``, or of ``n``, ``difference`` and ``power``, is found.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        A measure, as :func:`sklearn_rank.metrics.get_measure` takes it: ``"auc"``,
        ``"ndcg@10"``.
    expected : float or None, default=None
        Value that you expect; of a comparison that of the second ranker, the first being
        ``difference`` away. Of the AUC at least .5.
    positive_fraction : float or None, default=None
        Share of the items that are positive, in (0, 1), for a measure of one list. None with a
        pilot is its share.
    width : float or None, default=None
        Width of the interval, upper less lower limit.
    difference : float or None, default=None
        True difference of two rankers, first less second, that the test is to see.
    against : float or None, default=None
        Number that the measure of one ranker is compared with, such as .5, instead of
        ``difference``.
    margin : float or None, default=None
        Largest difference that does not matter, positive, for the last two alternatives.
    alternative : str or None, default=None
        What the test is to show: that the first ranker is different ("two-sided"), larger
        ("greater") or smaller ("less"); that it is worse by less than ``margin``
        ("non-inferior"); that it differs by less ("equivalent"). None is "two-sided", with a
        margin "non-inferior". ``difference`` is 0 for the last two unless it is given.
    power : float or None, default=None
        Probability, in (0, 1), that the test shows it. None is found if ``n`` is given, else .8.
    n : int or None, default=None
        Number of items, or of queries, at least 2; on different data that of each ranker.
    level : float or None, default=0.95
        Level of the interval, or one less the level of the test, in (0, 1); each side of a test
        of one side has it by itself. None is found from ``n`` and ``width``.
    paired : bool or None, default=None
        Whether two rankers are to see the same data. None is True where two are compared.
    correlation : float or None, default=None
        Of two rankers on the same data without a pilot, in (-1, 1): for the AUC of their scores
        within a class, for the precision at the top of the influence of items, for shares of
        queries of their values.
    sd : float or None, default=None
        Standard deviation of the values of queries, or of their differences for two rankers on
        the same queries, instead of a pilot.
    pilot : pair or None, default=None
        Labels and scores of data like those to come: ``(y_true, y_score)``, or ``(y_true, {"a":
        scores_a, "b": scores_b})`` or a data frame of scores for the difference of two rankers.
    qid : array-like of shape (n_samples,), default=None
        Id of the query of each row of the pilot: the queries are then what there are n of. None
        is two dimensions, one query each row, or one list, whose items there are n of.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user) of each row of the pilot, of whole queries with ``qid``;
        the sample is planned with groups of the same mean size.
    pos_label : int, float, bool or str, default=None
        The positive class of the pilot; None is 1 for labels among 0 and 1 or among -1 and 1.
    method : str, default="auto"
        - "auto": the intervals of ``metric_interval`` and tests by the same variance: "wilson"
          for the AUC and for shares of queries, "influence" for items, Student's "t" for queries.
        - For the AUC "delong" and "hanley-mcneil": symmetric intervals with the variance that
          normal, or exponential, scores have; "normal-worst": with the largest variance.
          "mcdiarmid", "hoeffding", "kl", "chebyshev": hold for every distribution; the first two
          for differences too.
        - For means over queries "hoeffding", "kl", "bernstein": hold for every distribution;
          "normal-worst": the largest variance that values of this mean can have.
        - For the precision at the top "exact": that of ``precision_at_top_interval``.
    assurance : float or None, default=None
        Probability, in (0, 1), that the variance is no larger than what is planned with: the
        limit of the pilot's variance in place of the variance itself.
    random_state : None, int, Generator or RandomState, default=None
        Which rows of the pilot are left out together to see how well it knows the variance; an
        int gives the same result each time.

    Returns
    -------
    SampleSizePlan
        The plan: print it, read its fields, or call ``curve()`` for other sizes.

    Raises
    ------
    TypeError
        If ``n`` is not a whole number, or ``pilot`` no pair.
    ValueError
        If an argument is out of range, missing or without a part in what is asked, nothing or
        too much is left to find, the pilot shows no spread, or more than 2**53 items are needed.

    Warns
    -----
    UserWarning
        If the pilot has fewer than ten positives, negatives, queries or groups.

    See Also
    --------
    metric_interval : The interval, once there are data.
    compare : The test.
    sklearn_rank.bounds.auc_sample_size_bound : Formulas for a choice from several functions.

    Notes
    -----
    Sizes are the smallest that suffice, positives the nearest whole number to their share. The
    interval is that at the expected value, and the value that will be seen differs.

    Of normal scores the outcomes of pairs that share an item are below two numbers with the
    probability of a bivariate normal variable, which gives Lehmann's variance of an AUC and the
    covariance of two exactly. A pilot gives the variance of the influence of the items of either
    class, ``V(n) = V_pos / n_pos + V_neg / n_neg``; for a measure that depends on the share of
    positives, another ``positive_fraction`` has the pilot's rows count several times. Groups
    multiply it by their design effect. ``pilot_range`` of the plan is what follows from the ends
    of a 95 % interval for the variance, a chi-square interval with as many degrees of freedom as
    leaving out a fortieth of the pilot in turn says that the variance is worth. The difference
    that a pilot happens to show is not planned with: say which one matters.

    Equivalence and the methods that hold for every distribution have at least the power that is
    said. A pilot of n rows takes the time of 80 evaluations, O(n log n) each.

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
    >>> print(sample_size("auc", expected=0.85, positive_fraction=0.1, difference=0.02,
    ...                   correlation=0.7))
    5,135 items: 514 positives and 4,621 negatives
    power 0.8004 for a difference of 0.02 in auc, two-sided at level 95 %
    influence: normal scores, expecting 0.85, correlation 0.7

    For every distribution, and what a thousand items yield:

    >>> print(sample_size("auc", positive_fraction=0.1, width=0.1, method="hoeffding"))
    7,375 items: 738 positives and 6,637 negatives
    an interval for auc that is 0.09998 wide at level 95 %
    hoeffding: holds for every distribution
    >>> round(sample_size("auc", expected=0.85, positive_fraction=0.1, n=1000).width, 4)
    0.0831

    Any measure, from a pilot:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> qid = np.repeat(np.arange(50), 10)
    >>> grade = rng.integers(0, 3, size=500)
    >>> scores = {"new": grade + rng.normal(size=500), "old": grade + 1.2 * rng.normal(size=500)}
    >>> print(sample_size("ndcg@5", difference=0.02, pilot=(grade, scores), qid=qid,
    ...                   random_state=0))
    807 queries
    power 0.8002 for a difference of 0.02 in ndcg@5, two-sided at level 95 %
    t: pilot of 50 queries
    the pilot's variance allows n from 566 to 1,245
    """
    measure = get_measure(measure)
    of_rows = {"qid": qid, "groups": groups, "pos_label": pos_label}
    if pilot is None:
        _refuse_without_pilot(**of_rows, assurance=assurance)
    rows = None if pilot is None else Pilot.read(pilot, **of_rows)
    numbers = Numbers(n, level, width, difference, margin, alternative, power)
    of_two = {"paired": paired, "correlation": correlation}
    if rows is not None and len(rows.scores) == 2:
        of_two["the scores of a second ranker"] = 2
    given = Expectation(
        expected=expected,
        positive_fraction=positive_fraction,
        comparing=against is None
        and any(value is not None for value in (*of_two.values(), *numbers.of_test)),
        paired=True if paired is None else paired,
        correlation=correlation,
        sd=sd,
        method=method,
    ).checked(measure)
    if against is not None:
        against = check_value("against", against, measure)
        _refuse_two_rankers(against, difference=difference, **of_two)
        why = "the difference from against follows from it; pass what you expect"
        numbers = replace(numbers, difference=given.needed("expected", why) - against)
    asked = Asked.read(measure, numbers, given.n_rankers)
    largest = _largest_size(measure, asked, given, fixed=against is not None)
    rng = check_generator(random_state)
    models, method, rests_on = _models(measure, rows, given, assurance, rng)
    if against is not None and method == "wilson":
        # The test has the standard error, not the limits.
        method = "t" if models[0].sample.unit == "queries" else "influence"
    says = {"against": against, "method": method, "rests_on": rests_on, "assurance": assurance}
    return _plan(measure, asked, models, largest, given, says)


def _refuse_two_rankers(against: float, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"against={against!r} is for one ranker: leave out {name}.")


def _models(
    measure: Measure,
    pilot: Pilot | None,
    given: Expectation,
    assurance: Any,
    rng: np.random.Generator,
) -> tuple[list[PlanModel], str, str]:
    """The model, those of the ends of the interval of a pilot's variance, and what they are."""
    if pilot is None:
        model, method, rests_on = model_of(measure, given)
        return [model], method, rests_on
    known = _pilot(measure, pilot, given, rng)
    ends = [known.model.scaled(known.factor(share)) for share in PILOT_LEVELS]
    planned = known.model
    if assurance is not None:
        planned = planned.scaled(known.factor(check_part("assurance", assurance)))
    return [planned, *ends], known.method, known.says


def _plan(
    measure: Measure,
    asked: Asked,
    models: Sequence[PlanModel],
    largest: float,
    given: Expectation,
    says: dict[str, Any],
) -> SampleSizePlan:
    """Find what is to be found, and say all there is to know of the sample."""
    unknown, sample = asked.unknown, models[0].sample
    found = asked.found(models[0], largest)
    pilot_range = None
    if len(models) > 1:
        ends = sorted(_or_infinite(asked, model, largest) for model in models[1:])
        pilot_range = (ends[0], ends[1])
    asked = asked.answered(found)
    n, test = int(asked.n or 0), asked.question
    # Rounding of counts aside it is what was asked for, or a little better.
    value = asked.value(models[0], n) if unknown != "level" else asked.width
    n_pos, n_neg = sample.counts(n) if sample.unit == "items" else (None, None)
    return SampleSizePlan(
        measure=measure.name,
        n=n,
        unit=sample.unit,
        n_pos=n_pos,
        n_neg=n_neg,
        n_groups=None if sample.group_size is None else ceil(n / sample.group_size),
        width=value if test is None else None,
        level=float(asked.level or 0.0),
        difference=None if test is None else asked.difference,
        margin=None if test is None else test.margin,
        power=None if test is None else value,
        alternative=None if test is None else test.alternative,
        paired=given.paired if given.comparing else None,
        found=unknown,
        pilot_range=pilot_range,
        **says,
    )._with_values(partial(_values, asked, tuple(models)))


def _values(asked: Asked, models: Sequence[PlanModel], n: int) -> tuple[float, ...]:
    """Width or power at a size, and at the ends of what the pilot's variance allows."""
    return tuple(asked.value(model, n) for model in models)


def _or_infinite(asked: Asked, model: PlanModel, largest: float) -> float:
    """What is found with a variance of the pilot's interval; infinite where nothing suffices."""
    try:
        return asked.found(model, largest)
    except ValueError:
        return inf


def _pilot(
    measure: Measure, pilot: Pilot, given: Expectation, rng: np.random.Generator
) -> PilotModel:
    """The model of a pilot, what it does not take refused."""
    methods = ("auto", "t") if pilot.of_queries else ("auto", "influence")
    check_choice(
        "method", given.method, methods, hint=" with a pilot; the others take expected or sd"
    )
    for name in ("correlation", "sd"):
        given.refuse(name, "with a pilot, which has its own: leave it out")
    if given.comparing:
        given.refuse("expected", "in a difference with a pilot: leave it out")
    return pilot_model(
        measure,
        pilot,
        comparing=given.comparing,
        paired=given.paired,
        positive_fraction=given.positive_fraction,
        expected=given.expected,
        rng=rng,
    )


def _refuse_without_pilot(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} is for a pilot, and there is none: pass pilot=(y_true, y_score), or leave"
                f" {name} out."
            )


def _largest_size(measure: Measure, asked: Asked, given: Expectation, *, fixed: bool) -> float:
    """Largest difference, with its sign, or margin that there can be beside what is expected."""
    low, high = measure.counted_range
    test = asked.question
    if test is None or fixed:
        return high - low
    most = high - low if isfinite(high - low) else LARGEST_DIFFERENCE
    down = test.alternative == "less" or (
        test.alternative == "two-sided" and not measure.greater_is_better
    )
    ends = (-most, most)
    if given.expected is not None:
        ends = low - given.expected, high - given.expected
        difference = asked.difference
        if difference is not None and not ends[0] < difference < ends[1]:
            raise ValueError(
                f"difference={difference!r} from expected={given.expected!r} leaves the range"
                f" [{low:g}, {high:g}] of {measure.name}: pass a smaller one."
            )
    if test.alternative in WITH_MARGIN:
        return most
    return ends[0] if down else ends[1]
