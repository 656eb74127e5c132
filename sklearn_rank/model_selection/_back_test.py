"""Back-test: models that are trained again and again on what was known, and their values in time.

A period is scored by models that were trained on the rows that were mature at its start. Lists,
such as the rows of a day, are the sample, in order of time.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import _outer
from .._optional import import_pandas
from .._printed import Printed, fixed, html_table, text_table
from .._times import check_duration, check_times, in_days, last_time
from .._typing import AnyArray, IntArray
from .._validation import (
    are_missing,
    check_column,
    check_generator,
    check_level,
    refuse_misread,
    shown,
)
from ..inference import Comparison, Intervals
from ..inference._shared import (
    Question,
    joint_comparison,
    read_rankers,
    simultaneous_table,
    tables_over_time,
)
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._candidates import Split, fit_parts
from ._cross_val import named_estimators, samples_of_names
from ._period_split import PeriodSplit, RowsInTime, after, as_text, rows_in_time


@dataclass(frozen=True, repr=False, eq=False)
class BackTest(Printed):
    """Values of models over time, each period scored by models trained on what was known then.

    Result of :func:`back_test`. Printing it shows a table of the periods, and the comparison.

    Parameters
    ----------
    target : str
        The measure and the lists, in words.
    names : tuple of str
        Names of the models.
    periods : dict of str to tuple
        For each period ``start`` and ``end``, the numbers ``train_rows``, ``test_rows`` and
        ``lists``.
    values : Intervals
        Mean of each model over all lists.
    by_period : Intervals
        Mean of each model over the lists of each period, with the columns ``period`` and
        ``ranker``.
    so_far : Intervals
        Mean of each model over all lists until the end of each period from the eighth list on,
        with the columns ``at``, the days since the start, and ``until``, their end: a curve.
    comparison : Comparison or None
        Differences of models over all lists; None for one model.
    differences_by_period : Intervals or None
        Differences as in ``by_period``.
    differences_so_far : Intervals or None
        Differences as in ``so_far``.
    lists : dict of str to tuple
        The ``period`` and the ``start`` of each list.
    list_values : dict of str to tuple
        Value of each list by each model; NaN if it has none.
    rows : ndarray of shape (n_tested,), default=None
        Numbers of the rows that were tested.
    labels : ndarray of shape (n_tested,), default=None
        Their labels at maturity, as the measure reads them.
    scores : dict of str to ndarray of shape (n_tested,), default=None
        Their scores by each model.

    See Also
    --------
    sklearn_rank.plotting.CurveDisplay : Plots ``so_far`` and ``differences_so_far``.
    sklearn_rank.plotting.IntervalsDisplay : Plots the tables by period.

    Examples
    --------
    See :func:`back_test`.
    """

    target: str
    names: tuple[str, ...]
    periods: dict[str, tuple[Any, ...]]
    values: Intervals
    by_period: Intervals
    so_far: Intervals
    comparison: Comparison | None
    differences_by_period: Intervals | None
    differences_so_far: Intervals | None
    lists: dict[str, tuple[Any, ...]]
    list_values: dict[str, tuple[Any, ...]]
    rows: Any = field(default=None, compare=False)
    labels: Any = field(default=None, compare=False)
    scores: Any = field(default=None, compare=False)

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each list.

        Returns
        -------
        pandas.DataFrame
            The value by each model; the index has the start of the period and of the list.
        """
        pandas = import_pandas("to_frame", "read lists and list_values")
        index = pandas.MultiIndex.from_arrays([*self.lists.values()], names=[*self.lists])
        return pandas.DataFrame(self.list_values, index=index)

    def __str__(self) -> str:
        return f"{text_table(*self._of_periods())}\n\n{self._of_all}"

    def _repr_html_(self) -> str:
        return html_table(*self._of_periods()) + self._of_all._repr_html_()

    @property
    def _of_all(self) -> Comparison | Intervals:
        return self.values if self.comparison is None else self.comparison

    def _of_periods(self) -> Any:
        """Table of the periods: values of each, and values or differences so far."""
        table, column = self.differences_so_far, "contrast"
        if table is None:
            table, column = self.so_far, "ranker"
        asked, signed = dict.fromkeys(table.keys[column]), column == "contrast"
        so_far = {}
        for until, name, one in zip(
            table.keys["until"], table.keys[column], table.pointwise, strict=True
        ):
            value, low, high = (fixed(x, sign=signed) for x in (one.estimate, one.low, one.high))
            so_far[until, name] = f"{value} [{low}, {high}]"
        shown = {"from": "start", "trained on": "train_rows", "tested": "test_rows"}
        header = [*shown, *self.names, *(f"{name} so far" for name in asked)]
        rows, of_lists = [], np.array(self.lists["period"])
        for i, (start, end) in enumerate(
            zip(self.periods["start"], self.periods["end"], strict=True)
        ):
            cells = [self.periods[name][i] for name in shown.values()]
            for name in self.names:
                values = np.array(self.list_values[name])[of_lists == start]
                values = values[~np.isnan(values)]
                cells.append(fixed(values.mean()) if len(values) else "none")
            rows.append([*cells, *(so_far.get((end, name), "") for name in asked)])
        level = f"limits of {100 * table.level:.4g} % at each end of a period"
        return f"{self.target}\n{level}", header, rows


def back_test(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: PeriodSplit,
    entered: Any,
    measure: MeasureLike,
    resolved: Any = None,
    per: Any = 1.0,
    baseline: str | None = None,
    value: Any = None,
    params: dict[str, Any] | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> BackTest:
    """Test models on the past as it was: train on what was known then, and score what came next.

    At the start of each period each model is trained on the rows that were mature then, those
    with ``entered + horizon <= start``, and scores the rows that enter in the period. Their labels
    are those at maturity: whether the event came within the horizon. The measure is taken of the
    list of each day, such as the precision of the 40 rows a day that are reviewed, and its mean
    over the days has limits that allow for their dependence.

    Parameters
    ----------
    estimators : mapping of str to estimator, or list
        Models, which are cloned; as for :func:`cross_val_compare`, and one is enough.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows, in any order.
    y : array-like of shape (n_samples,)
        Labels or grades at maturity. Those of rows that are not mature at the end are not used,
        and may be missing. With ``resolved`` labels of two classes, as for
        :class:`~sklearn_rank.inference.LabelDesign`.
    cv : PeriodSplit
        The periods, after which models are trained again, the horizon, which rows they are trained
        on, and until when labels are known, where None is the last time of ``entered`` and
        ``resolved``. A period is a multiple of ``per``.
    entered : array-like of shape (n_samples,)
        Time at which each row entered and was scored: numbers of days, dates or timestamps.
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure of a list, such as ``"precision@40"`` or ``"profit@40"``.
    resolved : array-like of shape (n_samples,), default=None
        Time at which the label of ``y`` became known, missing if it did not; as for
        :class:`~sklearn_rank.inference.LabelDesign`. A label is 1 if ``y`` is and it became known
        within the horizon. None means that ``y`` is the label at maturity.
    per : float or timedelta, default=1.0
        Length of time whose rows are one list. Days of times with a time zone are those of UTC;
        for local days leave the zone out, as by ``entered.dt.tz_localize(None)``.
    baseline : str or None, default=None
        Model that every other one is compared with, ``other - baseline``. None means all pairs.
    value : pair, array-like of shape (n_samples,) or (n_samples, 2), default=None
        For measures of amounts, what each row brings; as for :func:`cross_val_interval`.
    params : dict or None, default=None
        Parameters passed to the fits, such as ``{"sample_weight": weight}``.
    level : float, default=0.95
        Nominal coverage of the limits, in (0, 1).
    n_jobs : int or None, default=None
        Number of parallel jobs, as for joblib. The result does not depend on it.
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class; as for :func:`cross_val_interval`.
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed of the draws by which limits hold together. Pass an int
        for reproducible results.

    Returns
    -------
    BackTest
        Means over all lists, by period and so far, of models and of their differences, with
        limits. Printing it shows a table.

    Raises
    ------
    ValueError
        If an argument is not valid: no row is mature at the start of a period or at the end, the
        training rows of a period have one class, a label was resolved before its row entered or
        is missing, or times cannot be subtracted.
    TypeError
        If ``estimators`` is neither a mapping nor a list, or has a wrong type, or ``cv`` is no
        :class:`PeriodSplit`.

    See Also
    --------
    PeriodSplit : The same splits for searches and cross-validation.
    sklearn_rank.inference.metric_interval : Means over days, with ``qid``.
    cross_val_compare : Comparison without times.

    Notes
    -----
    **What was known.** Labels that are known early are known because of what they are: a fraud
    that was reported yesterday, but never its absence. So training takes all rows that are mature
    at the start of the period, and no others: no label that was not known then has a part in its
    scores.

    **What is tested.** Rows that are mature at ``as_of``; a list of which some rows are not is
    left out. Lists without a value, such as the AUC of a day without an event, are too. The mean
    is over lists, whatever their length.

    **Limits** are those of :func:`sklearn_rank.inference.metric_interval` and
    :func:`sklearn_rank.inference.compare` with days as ``qid``, for the mean of the process of
    which the days are a part. The models are those of this history; that they would have been
    others with other training rows is not a part of the limits.

    In ``so_far`` the limits of each time are pointwise. The wider ones hold at the ends of all
    periods together, whichever is looked at; with strong dependence they miss more often
    (:doc:`/benchmarks/inference`). The means until two ends have the correlation ``sqrt(n / N)``
    of a stationary series, for numbers n and N of lists.

    The cost is that of the fits, and O(n) time for each period.

    Examples
    --------
    Frauds, reported on average after a week. Two models are trained anew each week, on the rows
    that are three weeks old:

    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.model_selection import PeriodSplit, back_test
    >>> rng = np.random.default_rng(0)
    >>> entered, X = rng.uniform(0, 70, size=7000), rng.normal(size=(7000, 2))
    >>> y = rng.random(7000) < 1 / (1 + np.exp(3 - X[:, 0]))
    >>> resolved = np.where(y, entered + rng.exponential(7, size=7000), np.nan)
    >>> models = {"linear": LogisticRegression(), "random": DummyClassifier()}
    >>> weeks = PeriodSplit(7, horizon=21, as_of=70)
    >>> found = back_test(
    ...     models,
    ...     X,
    ...     y,
    ...     cv=weeks,
    ...     entered=entered,
    ...     resolved=resolved,
    ...     measure="precision@10",
    ...     random_state=0,
    ... )
    >>> print(found)
    precision@10 of each day, known within 21 days; models trained on what was known
    limits of 95 % at each end of a period
    from  trained on  tested  linear  random      linear - random so far
    28           742     696  0.2286  0.0688
    35          1461     709  0.3000  0.0715  +0.1941 [+0.1266, +0.2616]
    42          2105     678  0.2143  0.0630  +0.1798 [+0.0878, +0.2719]
    <BLANKLINE>
    mean precision@10 of each day over 21 lists, dependent in time
    hypothesis: equal precision@10; two-sided; max-t; level 95 %
    standard errors are of each ranker alone, not adjusted for choosing the best
    <BLANKLINE>
    ranker   value  standard error  95 % interval, all together
    linear  0.2476          0.0342             [0.1437, 0.3811]
    random  0.0678          0.0026             [0.0504, 0.0895]
    <BLANKLINE>
    contrast         difference       95 % interval        p  conclusion
    linear - random     +0.1798  [+0.0878, +0.2719]  0.00561  linear better
    """
    level, rng, measure = check_level(level), check_generator(random_state), get_measure(measure)
    named = named_estimators(estimators, least=1)
    question = None
    if len(named) > 1 or baseline is not None:
        question = Question.of(measure, tuple(named), baseline, None, None, level)
    if not isinstance(cv, PeriodSplit):
        raise TypeError(
            f"cv={shown(cv)} must be a PeriodSplit, such as PeriodSplit(7, horizon=28) for weeks."
        )
    refuse_misread(X=X, y=y, entered=entered, resolved=resolved)
    columns: Any = {"entered": entered, "resolved": resolved, "start": cv.start, "as_of": cv.as_of}
    times = check_times(**columns, may_lack=("resolved",))
    if "as_of" not in times:
        times["as_of"] = last_time(*(times[x] for x in ("entered", "resolved") if x in times))
    splitter = copy(cv)
    splitter.start, splitter.as_of = (
        times[x][0] if x in times else None for x in ("start", "as_of")
    )
    per = check_duration("per", per)
    in_period = splitter.period / per
    if in_period != round(in_period):
        raise ValueError(
            f"period={splitter.period:g} is no multiple of per={per:g}: pass a period of whole"
            " lists, or per=period."
        )
    rows = rows_in_time(splitter, times["entered"], len(check_column("y", y)), "entered")
    list_of = np.floor(rows.entered / per).astype(np.intp)
    y = _labels_at_maturity(y, times, splitter.horizon, pos_label)
    params = params if value is None else {**(params or {}), "value": value}
    of_rows: Any = pos_label, None, None, list_of, params
    samples = samples_of_names(named, X, y, measure, *of_rows)
    measure, labels = samples[0].measure, samples[0].labels
    numbers, parts = _parts(splitter, rows, list_of, samples[0].plan.y)
    fits = fit_parts([x.plan for x in samples], parts, n_jobs)
    tested = np.concatenate([test for _, test in parts])
    joined = [np.concatenate([fit.scores for fit in of_one]) for of_one in fits]
    scores = dict(zip(named, joined, strict=True))
    # Lists by dates, since neighbours depend on each other.
    ids = list_of[tested].astype("M8[D]")
    rankers = read_rankers(measure, labels[tested], scores, compared=False, rng=rng, qid=ids)

    known, lists = rankers.samples[0].ids.astype(np.intp), np.unique(list_of[tested])
    values = np.full((len(named), len(lists)), np.nan)
    values[:, np.searchsorted(lists, known)] = [x.values for x in rankers.samples]
    begins = splitter.period * numbers
    ends = np.minimum(begins + splitter.period, per * (lists[-1] + 1))

    def texts(days: Any) -> tuple[str, ...]:
        return tuple(as_text(after(rows.start, x)) for x in days)

    starts, stops = texts(begins), texts(ends)
    period_of, of_known = (np.searchsorted(begins, per * x, "right") - 1 for x in (lists, known))
    elapsed = [int(x) if x == int(x) else x for x in ends.tolist()]
    keys = [
        ({"period": x}, {"at": at, "until": end})
        for x, at, end in zip(starts, elapsed, stops, strict=True)
    ]
    asked = [None] if question is None else [None, question.contrasts]
    name = f"{measure.name} of each {'day' if per == 1.0 else f'{per:g} days'}"
    of_tables: Any = level, rng
    by_period, so_far, *differences = tables_over_time(
        rankers, of_known, keys, asked, name, *of_tables, parameter=f"days since {starts[0]}"
    )
    target, comparison = f"mean {name} over {len(known)} lists, dependent in time", None
    if question is not None and rankers.joint is not None:
        question = replace(question, measure=measure)
        comparison = joint_comparison(rankers.joint, question, rng, target)
    return BackTest(
        target=f"{name}, known within {splitter.horizon:g} days; models trained on what was known",
        names=tuple(named),
        periods={
            "start": starts,
            "end": stops,
            "train_rows": tuple(len(train) for train, _ in parts),
            "test_rows": tuple(len(test) for _, test in parts),
            "lists": tuple(np.bincount(period_of, minlength=len(parts)).tolist()),
        },
        values=simultaneous_table(rankers.values(), level, rng, target),
        by_period=by_period,
        so_far=so_far,
        comparison=comparison,
        differences_by_period=differences[0] if differences else None,
        differences_so_far=differences[1] if differences else None,
        lists={"period": tuple(starts[i] for i in period_of), "start": texts(per * lists)},
        list_values={x: tuple(row) for x, row in zip(named, values.tolist(), strict=True)},
        rows=tested,
        labels=labels[tested],
        scores=scores,
    )


def _parts(
    splitter: PeriodSplit, rows: RowsInTime, list_of: IntArray, y: AnyArray
) -> tuple[IntArray, list[Split]]:
    """Numbers of the periods that are tested, and their rows, those of whole lists only."""
    late = (rows.period_of < 0) & (rows.entered >= 0.0)
    whole = list_of < list_of[late].min(initial=list_of.max() + 1)
    numbers: list[int] = []
    parts: list[Split] = []
    for number in rows.periods:
        train, test = rows.split(splitter, number)
        test = test[whole[test]]
        if not len(test):
            continue
        if (y[train] == y[train[0]]).all():
            begin = as_text(after(rows.start, number * splitter.period))
            raise ValueError(
                f"The {len(train)} rows that were mature at {begin}, the start of a period, have"
                " one label only: pass a later start, or a longer train_for."
            )
        numbers.append(number)
        parts.append((train, test[np.argsort(list_of[test], kind="stable")]))
    if not parts:
        raise ValueError(
            "All rows of no list are mature: pass rows of more time, or a shorter per."
        )
    return np.array(numbers), parts


def _labels_at_maturity(
    y: Any, times: dict[str, AnyArray], horizon: float, pos_label: Any
) -> AnyArray:
    """Labels of rows that are mature at the end; of others any label, which is not used."""
    if "resolved" in times:
        design = {x: times[x] for x in ("entered", "resolved")}
        # Rows that entered later are not known.
        design["as_of"] = np.maximum(times["as_of"], times["entered"])
        labels = _outer.LabelDesign(**design, horizon=horizon).labels(y, pos_label=pos_label)
        return _outer.in_words(np.nan_to_num(labels).astype(np.int64), pos_label)
    column = check_column("y", y)
    lacking = are_missing(column)
    wrong = lacking & (in_days(times["as_of"] - times["entered"]) >= horizon)
    if wrong.any():
        raise ValueError(
            f"Row {int(np.argmax(wrong))} is mature, but y has no label for it: pass its label, or"
            " resolved, the times at which labels became known."
        )
    return np.where(lacking, column[~lacking][0], column) if lacking.any() else y
