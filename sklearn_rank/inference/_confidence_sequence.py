"""Confidence sequences: intervals that are valid at every look at new data."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from math import isfinite, isnan
from typing import Any, Literal

import numpy as np

from .._optional import import_pandas
from .._printed import fixed, html_table
from .._validation import check_choice, check_flag, check_level, check_number
from .._warn import warn
from ..metrics import Accumulator, Measure, get_measure
from ..metrics._shared import AUCMeasure, GiniMeasure, MeasureLike, PrecisionAtTopMeasure
from ._results import Interval
from ._samples import WeightMeaning, check_weight_meaning, refuse_fractions
from ._sequence_streams import (
    AlertPrecision,
    Batch,
    ListDifference,
    ListMeasure,
    Options,
    PairedAUC,
    QueryMean,
    QueryMeanByVariance,
    Stream,
    TopPrecision,
    query_values,
)

# Number of looks that are printed, from the last one back.
MOST_PRINTED = 10
HEADER = ("look", "n", "estimate", "interval")


class ConfidenceSequence:
    """Confidence sequence: intervals for a ranking measure, valid at every look at new data.

    If an ordinary interval is computed ten times as data arrive, it fails at one of these looks
    much more often than its level states. The intervals of a confidence sequence satisfy
    ``P(target_t in interval_t for all t) >= level``, for any number of looks and any stopping
    rule.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts.
    level : float, default=0.95
        Probability, in (0, 1), that all intervals cover their targets. A higher level gives wider
        intervals.
    method : {"auto", "betting", "asymptotic"}, default="auto"
        "betting" is valid for every number of rows. It supports means over queries of a measure
        with a known range, and ``"auc"``, ``"gini"`` and ``"precision@top"`` of one list.
        "asymptotic" is valid in the limit of a large first update. It supports means over queries,
        and every measure of one list that has an interval for a single look. "auto" is "betting"
        if it supports the measure, else "asymptotic".
    threshold : float or None, default=None
        Score threshold for a measure such as ``"precision@top0.05"``, fixed without use of these
        rows. The target is then the fraction of positives among the rows with at least this score,
        whatever number follows "top"; -inf uses all rows. None means the top of the population,
        whose threshold is estimated.
    best_after : float, default=5
        Number of updates, each as large as the first, after which the intervals are narrowest
        relative to intervals for one look. Intervals after ten times more or fewer updates are
        about 10 % wider than the optimum.
    intersect : bool, default=False
        Whether each interval is intersected with all earlier ones. This is valid only if the
        target does not change over time.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Attributes
    ----------
    measure : Measure
        The measure.
    n_looks : int
        Number of updates.
    interval : Interval
        Interval of the last update.
    history : tuple of Interval
        Intervals of all updates.

    Raises
    ------
    TypeError
        If ``measure`` is not a measure.
    ValueError
        If an argument is not valid.

    See Also
    --------
    accumulator_interval : Interval for a single look, which is narrower.
    paired_query_test : Comparison of two rankers at a single look.

    Notes
    -----
    **Target.** With "betting" the distribution may drift over time. The target at a look is the
    mean so far of the conditional expectations of the values given earlier values. The mean is
    over queries, over alerts, or for the AUC over updates weighted by their number of pairs,
    ``min(n_pos, n_neg)``. Without drift the target is the expectation. The top of a population,
    "asymptotic" and ``intersect=True`` require independent and identically distributed rows or
    queries. The intervals for the AUC compare only items of the same update.

    **Method.** For the n values v in [0, 1] seen so far and gains ``g``, the capital against a
    candidate mean m is the mean over g of ``prod (1 + g v) / (1 + g m)^n`` and ``prod (1 + g (1 -
    v)) / (1 + g (1 - m))^n``. Against the true mean it is a nonnegative martingale with
    expectation 1, which stays below ``1 / (1 - level)`` with probability ``level``. The interval
    holds all m with capital below this value. For the AUC the product is over ``min(n_pos,
    n_neg)`` disjoint pairs, averaged over all ways to pair the items, so the result does not
    depend on the pairing. For the top of a population, a fifth of the error is spent on the number
    of items above its threshold. "asymptotic" is the interval for one look at ``sqrt((1 + 1/x)
    (ln(1 + x) + 2 ln(1 / (1 - level))))`` standard errors, with x proportional to the number of
    rows. The theory pages have the proofs.

    Intervals are 1.5 to 2 times as wide as those for one look. The order of rows within an update
    and the order of queries have no effect; the split into updates matters for the AUC. Queries,
    or items of one list, must be independent given the past. If those of one group (user, session)
    depend on each other, pass the group as ``qid``.

    An update takes O(n) time for queries and alerts, and O(1000 k + n log n) for the AUC of k
    pairs. For other measures it takes the time of all rows so far. Memory holds the values and ids
    of queries, or the distinct pairs of a score and a class for lists.

    References
    ----------
    .. [1] Howard, Ramdas, McAuliffe & Sekhon (2021), *Time-uniform, nonparametric, nonasymptotic
       confidence sequences*, Annals of Statistics 49.
    .. [2] Waudby-Smith & Ramdas (2024), *Estimating means of bounded random variables by betting*,
       Journal of the Royal Statistical Society B 86.
    .. [3] Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), *Time-uniform central limit theory
       and asymptotic confidence sequences*, Annals of Statistics 52.

    Examples
    --------
    Alerts that are reviewed once a week:

    >>> import numpy as np
    >>> from sklearn_rank.inference import ConfidenceSequence
    >>> rng = np.random.default_rng(0)
    >>> sequence = ConfidenceSequence("auc")
    >>> for week in range(4):
    ...     y_true = rng.random(300) < 0.2
    ...     interval = sequence.update(y_true, y_true + rng.normal(size=300))
    >>> print(interval)
    0.7577 [0.7040, 0.8060] (expected AUC within updates, 95 %, betting)
    >>> print(sequence)
    expected AUC within updates, 95 % for all looks at once, betting
    look         n  estimate            interval
       1       300    0.7698    [0.6559, 0.8621]
       2       600    0.7748    [0.6943, 0.8425]
       3       900    0.7612    [0.6961, 0.8179]
       4      1200    0.7577    [0.7040, 0.8060]
    """

    def __init__(
        self,
        measure: MeasureLike,
        *,
        level: float = 0.95,
        method: Literal["auto", "betting", "asymptotic"] = "auto",
        threshold: float | None = None,
        best_after: float = 5.0,
        intersect: bool = False,
        pos_label: Any = None,
    ) -> None:
        self.measure: Measure = get_measure(measure)
        self._options = Options(
            self.measure,
            check_level(level),
            check_number("best_after", best_after, 0.0, closed="neither"),
        )
        check_choice("method", method, ("auto", "betting", "asymptotic"))
        self._method = method
        if threshold is not None:
            if not isinstance(self.measure, PrecisionAtTopMeasure) or method == "asymptotic":
                raise ValueError(
                    f"threshold={threshold!r} is only for the precision at the top, by betting:"
                    " pass measure='precision@top0.05' without method, or leave threshold out."
                )
            threshold = check_number("threshold", threshold)
        self._threshold = threshold
        self._intersect = check_flag("intersect", intersect)
        self._pos_label = pos_label
        # All rows so far with the scores of the ranker, and of the baseline.
        self._so_far = self._new_accumulator(), self._new_accumulator()
        self._has_baseline: bool | None = None
        self._stream: Stream | None = None
        self._history: list[Interval] = []
        self._counts: list[float] = []

    def _new_accumulator(self) -> Accumulator:
        return Accumulator(self.measure, pos_label=self._pos_label)

    def update(
        self,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any = None,
        baseline_score: Any = None,
        sample_weight: Any = None,
        weights: WeightMeaning = None,
    ) -> Interval:
        """Add rows and return the updated interval.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_lists, n_items)
            Labels. A two-dimensional array has one list per row, with NaN for absent items. May be
            empty.
        y_score : array-like of the same shape
            Scores of the ranker, computed without use of these labels.
        qid : array-like of shape (n_samples,), default=None
            Query id of each row. All rows of a query belong to one update, and either all updates
            have ids or none. None means one list of all rows of all updates.
        baseline_score : array-like of the same shape, default=None
            Scores of a baseline ranker. The intervals are then for the measure of the ranker minus
            that of the baseline. Either all updates have them or none.
        sample_weight : array-like of the same shape, default=None
            Weights of the rows, for measures that support weights; not supported for one list
            with a baseline.
        weights : {"frequency"} or None, default=None
            What ``sample_weight`` is; required with it. "frequency": each row stands for that many
            identical rows, a whole number. "sampling" raises an error: the guarantee needs rows or
            queries of equal probability.

        Returns
        -------
        Interval
            The current interval. With probability ``level`` it and the intervals of all other
            looks hold. Until there is a value, the estimate is NaN and the limits are the ends of
            the range.

        Raises
        ------
        TypeError
            If the measure does not support one of the arguments.
        ValueError
            If an argument is not valid, a query occurred in an earlier update, or there is no
            interval for the measure.

        Warns
        -----
        UserWarning
            If ``intersect=True`` and an interval does not overlap the intersection of earlier
            ones.
        """
        check_weight_meaning(
            weights,
            sample_weight,
            no_sampling="confidence sequences, whose guarantee needs draws of equal probability:"
            " for one look use metric_interval(..., weights='sampling')",
        )
        refuse_fractions(sample_weight)
        batch = self._read(y_true, y_score, qid, baseline_score, sample_weight)
        if batch is not None:
            stream = self._stream or self._new_stream(batch)
            self._so_far[0].merge(batch.ranker)
            if batch.baseline is not None:
                self._so_far[1].merge(batch.baseline)
            self._has_baseline = batch.baseline is not None
            self._stream = stream
            stream.add(batch, self._so_far[0])
        self._history.append(self._look())
        self._counts.append(0.0 if self._stream is None else self._stream.n)
        return self._history[-1]

    def _read(
        self, y_true: Any, y_score: Any, qid: Any, baseline_score: Any, sample_weight: Any
    ) -> Batch | None:
        """Check the rows of an update; None where none counts."""
        parts = []
        for score in (y_score, baseline_score):
            if score is not None:
                part = self._new_accumulator()
                # Error messages name the update.
                part._n_updates = self.n_looks
                part.update(y_true, score, qid=qid, sample_weight=sample_weight)
                parts.append(part)
        if parts[0].n_items == 0:
            return None
        has_baseline = len(parts) == 2
        if self._has_baseline not in (None, has_baseline):
            raise ValueError(
                f"Update {self.n_looks} has {'a' if has_baseline else 'no'} baseline_score, but"
                f" earlier updates had {'none' if has_baseline else 'one'}: pass baseline_score in"
                " every update or in none."
            )
        rows = None
        if has_baseline and parts[0].query_values is None:
            if sample_weight is not None:
                raise ValueError(
                    "sample_weight is not supported for the difference of two rankers on one"
                    " list: repeat the rows instead."
                )
            pair = [
                self.measure.lists(y_true, score, pos_label=self._pos_label)
                for score in (y_score, baseline_score)
            ]
            rows = (pair[0].positive, pair[0].score, pair[1].score)
        baseline = parts[1] if has_baseline else None
        return Batch(parts[0], baseline, rows, query_values(parts[0], baseline))

    def _new_stream(self, batch: Batch) -> Stream:
        """Choose the stream that stores the rows, by the measure and the first rows."""
        options, measure, method = self._options, self.measure, self._method
        has_baseline = batch.baseline is not None
        if batch.ranker.query_values is not None:
            if self._threshold is not None:
                raise ValueError(
                    "threshold is for one list of alerts, but qid splits the rows into queries:"
                    " leave one of them out."
                )
            low, high = measure.counted_range
            limits = (low - high, high - low) if has_baseline else (low, high)
            mean = "mean difference of" if has_baseline else "mean"
            target, is_bounded = f"{mean} {measure.name} over queries", all(map(isfinite, limits))
            if method == "asymptotic" or (method == "auto" and not is_bounded):
                return QueryMeanByVariance(options, target, limits)
            if not is_bounded:
                raise ValueError(
                    f"{measure.name} has no known range, which method='betting' needs: pass"
                    " method='asymptotic'."
                )
            return QueryMean(options, target, limits)
        if measure.per_query and not measure.has_influence:
            raise ValueError(
                f"{measure.name} is a mean over queries, but qid is None: pass qid, the query id"
                " of each row."
            )
        if has_baseline:
            if method == "betting" or self._threshold is not None:
                raise ValueError(
                    "method='betting' does not support differences of a measure of one list, and"
                    " neither does threshold: pass qid, or method='asymptotic' without threshold."
                )
            return ListDifference(options)
        if method != "asymptotic":
            if isinstance(measure, AUCMeasure | GiniMeasure):
                return PairedAUC(options)
            if isinstance(measure, PrecisionAtTopMeasure):
                if self._threshold is not None:
                    return AlertPrecision(options, self._threshold)
                return TopPrecision(options, float(measure.tau))
            if method == "betting":
                raise ValueError(
                    f"method='betting' does not support {measure.name} of one list, only 'auc',"
                    " 'gini' and 'precision@top': pass qid, or method='asymptotic'."
                )
        return ListMeasure(options)

    def _look(self) -> Interval:
        if self._stream is None:
            low, high = self.measure.counted_range
            return Interval(
                float("nan"), low, high, self._options.level, self._method, self.measure.name
            )
        estimate, low, high = self._stream.limits()
        interval = Interval(
            estimate, low, high, self._options.level, self._stream.method, self._stream.target
        )
        if not self._intersect or not self._history:
            return interval
        before = self._history[-1]
        low, high = max(low, before.low), min(high, before.high)
        if low > high:
            warn(
                f"The interval of look {self.n_looks} does not overlap the earlier ones: the"
                f" target has changed, or this is one of the {100 * self._options.alpha:.3g} % of"
                " sequences that fail; the intersection restarts here.",
                UserWarning,
            )
            return interval
        return replace(interval, low=low, high=high)

    # ------------------------------------------------------------------------------------ results

    @property
    def n_looks(self) -> int:
        """Number of updates."""
        return len(self._history)

    @property
    def interval(self) -> Interval:
        """Interval of the last update."""
        if not self._history:
            raise ValueError("There is no interval yet: pass rows to update() first.")
        return self._history[-1]

    @property
    def history(self) -> tuple[Interval, ...]:
        """Intervals of all updates."""
        return tuple(self._history)

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each look.

        Returns
        -------
        pandas.DataFrame
            The columns are ``n`` (items, alerts or queries so far), ``estimate``, ``low`` and
            ``high``; the index counts looks from 1.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pd = import_pandas("ConfidenceSequence.to_frame()", "read history")
        columns = {
            name: [getattr(interval, name) for interval in self._history]
            for name in ("estimate", "low", "high")
        }
        index = pd.RangeIndex(1, self.n_looks + 1, name="look")
        return pd.DataFrame({"n": np.array(self._counts, dtype=np.int64), **columns}, index=index)

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """Cells of the last looks: number of the look, n, estimate, limits."""
        rows = []
        for look in range(max(self.n_looks - MOST_PRINTED, 0), self.n_looks):
            interval = self._history[look]
            estimate = "-" if isnan(interval.estimate) else fixed(interval.estimate)
            limits = f"[{fixed(interval.low)}, {fixed(interval.high)}]"
            rows.append((str(look + 1), f"{self._counts[look]:.0f}", estimate, limits))
        return rows

    def _title(self) -> str:
        last = self.interval
        return f"{last.target}, {100 * last.level:.4g} % for all looks at once, {last.method}"

    def _repr_html_(self) -> str:
        if not self._history:
            return f"<pre>{escape(repr(self))}</pre>"
        return html_table(self._title(), HEADER, self._rows())

    def __repr__(self) -> str:
        return f"ConfidenceSequence({self.measure.name!r}, n_looks={self.n_looks})"

    def __str__(self) -> str:
        if not self._history:
            return repr(self)
        lines = [self._title()]
        for look, n, estimate, limits in [HEADER, *self._rows()]:
            lines.append(f"{look:>4}  {n:>8}  {estimate:>8}  {limits:>18}")
        return "\n".join(lines)
