"""Values of queries, their differences, and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Literal

import numpy as np

from .._validation import check_flag, check_generator, is_number
from ..inference import Comparison, Interval
from ..inference._shared import (
    check_interval_options,
    check_test_options,
    compare_samples,
    query_differences,
    query_values_of,
    sample_interval,
)
from ..metrics import get_measure
from ..metrics._shared import MeasureLike, own_pos_label
from ._common import (
    COLORS,
    GREY,
    Display,
    axes_of,
    band_alpha,
    documented_by,
    draw_legend,
    foreground,
    label_rows,
    of_estimator,
    query_response,
    systems_of,
    wrapped,
)

BINS = 25
HALF_HEIGHT = 0.36


class QueryScoresDisplay(Display):
    """Distribution of a measure over queries, for one or several rankers.

    Each ranker has a row with a histogram of its values, their mean and the confidence interval
    for the mean. Create one with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    values : dict of str to ndarray of shape (n_queries,)
        Values of the measure on the queries, by the name of the ranker.
    intervals : dict of str to Interval
        Confidence interval for the mean of each ranker.
    measure : str
        Name of the measure.
    limits : tuple of (float, float), default=(-inf, inf)
        Smallest and largest possible value on a query; infinite if the measure is unbounded.

    Attributes
    ----------
    shapes_ : list of matplotlib PolyCollection
        Histograms.
    bars_ : list of matplotlib ErrorbarContainer
        Means and their intervals.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    QueryDifferenceDisplay : Paired comparison of two rankers on the same queries.
    IntervalsDisplay : Means and intervals without the histograms.
    sklearn_rank.inference.metric_interval : Compute the interval.

    Notes
    -----
    The height of each histogram is relative to its highest bar.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.plotting import QueryScoresDisplay
    >>> rng = np.random.default_rng(0)
    >>> qid = np.repeat(np.arange(50), 10)
    >>> grade = rng.integers(0, 3, size=500)
    >>> scores = {"sharp": grade + rng.normal(size=500), "random": rng.normal(size=500)}
    >>> display = QueryScoresDisplay.from_predictions(
    ...     grade, scores, qid=qid, measure="ndcg@5"
    ... )
    >>> print(display.intervals["random"])
    0.5380 [0.4822, 0.5938] (mean ndcg@5 over queries, 95 %, t)
    """

    def __init__(
        self,
        values: dict[str, Any],
        intervals: dict[str, Interval],
        measure: str,
        *,
        limits: tuple[float, float] = (-np.inf, np.inf),
    ) -> None:
        self.values = values
        self.intervals = intervals
        self.measure = measure
        self.limits = limits

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any,
        measure: MeasureLike = "ndcg",
        sample_weight: Any = None,
        weights: Literal["frequency", "sampling"] | None = None,
        groups: Any = None,
        pos_label: Any = None,
        level: float = 0.95,
        method: str = "auto",
        n_resamples: int = 10_000,
        random_state: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> QueryScoresDisplay:
        """Draw the values of a measure on the queries for given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels or grades, in the form that the measure requires.
        y_score : array-like of shape (n_samples,), dict of str to array-like or data frame
            Scores of one ranker, or of several by name; higher is nearer to the top.
        qid : array-like of shape (n_samples,)
            Query id of each row, in any order.
        measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
            The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, if the measure takes weights.
        weights : {"frequency", "sampling"} or None, default=None
            What ``sample_weight`` is, required with it: numbers of identical rows, or 1 /
            probability that the query of the row was drawn. See
            :func:`sklearn_rank.inference.metric_interval`.
        groups : array-like of shape (n_samples,), default=None
            Id of the group (user, session) of the query of each row. Queries of one group may
            depend on each other. None means independent queries. See
            :func:`sklearn_rank.inference.metric_interval`.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
        level : float, default=0.95
            Nominal coverage of the intervals, in (0, 1).
        method : {"auto", "t", "bootstrap", "bca"}, default="auto"
            Method of the intervals, see :func:`sklearn_rank.inference.metric_interval`.
        n_resamples : int, default=10000
            Number of bootstrap resamples.
        random_state : None, int, Generator or RandomState, default=None
            Random number generator or seed of the resamples. Pass an int for reproducible
            results.
        name : str or None, default=None
            Name of the row. Not allowed if ``y_score`` has names.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``fill_between``.

        Returns
        -------
        QueryScoresDisplay
            Display with the drawn plot.
        """
        check_interval_options(level, method, n_resamples)
        rng = check_generator(random_state)
        samples = query_values_of(
            measure,
            y_true,
            systems_of(y_score, name),
            qid=qid,
            sample_weight=sample_weight,
            weights=weights,
            groups=groups,
            pos_label=pos_label,
        )
        intervals = {
            key: sample_interval(sample, level, method, n_resamples, rng)
            for key, sample in samples.items()
        }
        values = {key: sample.values for key, sample in samples.items()}
        measure = get_measure(measure)
        display = cls(values, intervals, measure.name, limits=measure.counted_range)
        return display.plot(ax=ax, **kwargs)

    from_estimator = of_estimator(from_predictions)

    def plot(self, ax: Any = None, **kwargs: Any) -> QueryScoresDisplay:
        """Draw one row per ranker.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``fill_between``.

        Returns
        -------
        QueryScoresDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        row_height = 0.8 if len(self.values) <= 6 else 0.5
        ax = axes_of(ax, figsize=(6.4, 1.1 + row_height * len(self.values)))
        together = np.concatenate([*self.values.values()])
        finite = np.isfinite(self.limits)
        start, stop = np.where(finite, self.limits, [together.min(), together.max()])
        if start == stop:
            start, stop = start - 0.5, stop + 0.5
        edges = np.linspace(start, stop, BINS + 1)
        self.shapes_, self.bars_ = [], []
        for row, (name, values) in enumerate(self.values.items()):
            color = COLORS[row % len(COLORS)]
            style = {"color": color, "alpha": 0.45, "linewidth": 0, **kwargs}
            counts, _ = np.histogram(values, edges)
            height = np.append(counts, counts[-1]) / counts.max() * HALF_HEIGHT
            self.shapes_.append(
                ax.fill_between(edges, row - height, row + height, step="post", **style)
            )
            interval = self.intervals[name]
            low, high = np.clip([interval.low, interval.high], start, stop)
            bar = ax.errorbar(
                interval.estimate,
                row,
                xerr=[[interval.estimate - low], [high - interval.estimate]],
                fmt="o",
                color=foreground(ax),
                markersize=5,
                capsize=4,
                linewidth=1.8,
                label=f"mean, {100 * interval.level:.4g} % interval" if row == 0 else None,
            )
            self.bars_.append(bar)
        texts = [
            f"{i.estimate:z.3f}\n[{i.low:z.3f}, {i.high:z.3f}]" for i in self.intervals.values()
        ]
        label_rows(ax, list(self.values), texts)
        n_queries = len(next(iter(self.values.values())))
        ax.set_xlabel(f"{self.measure} of a query ({n_queries} queries)")
        level = next(iter(self.intervals.values())).level
        ax.set_title(
            f"Queries (shaded), mean and its {100 * level:.4g} % interval (line)",
            fontsize="small",
            loc="left",
        )
        return self._drawn_on(ax)


ESTIMATORS = """\
estimator_a : object
    Fitted estimator. Its scores are those of ``decision_function``, otherwise of
    ``predict_proba``, otherwise, if it is not a classifier, of ``predict``.
estimator_b : object
    The second fitted estimator.
"""
NAMES = """\
names : tuple of (str, str) or None, default=None
    Names of the rankers. None means the class names of the estimators.
"""


class QueryDifferenceDisplay(Display):
    """Sorted differences of a measure between two rankers, one per query, with a paired test.

    Create one with :meth:`from_estimators` or :meth:`from_predictions`.

    Parameters
    ----------
    differences : ndarray of shape (n_queries,)
        Value of the first ranker minus the value of the second, per query.
    result : Comparison
        Result of the paired test.
    measure : str
        Name of the measure.
    names : tuple of (str, str), default=("A", "B")
        Names of the rankers.
    greater_is_better : bool, default=True
        Whether greater values are better. If True, a positive difference is a win of the first
        ranker.

    Attributes
    ----------
    wins_ : matplotlib StepPatch
        Queries on which the first ranker is better.
    losses_ : matplotlib StepPatch
        Queries on which the second ranker is better.
    mean_ : matplotlib Line2D
        Line at the mean difference.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    QueryScoresDisplay : Distribution of the values of each ranker.
    sklearn_rank.inference.compare : The paired test.

    Notes
    -----
    Differences due to rounding alone count as ties.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.plotting import QueryDifferenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> qid = np.repeat(np.arange(50), 10)
    >>> grade = rng.integers(0, 3, size=500)
    >>> display = QueryDifferenceDisplay.from_predictions(
    ...     grade,
    ...     grade + rng.normal(size=500),
    ...     rng.normal(size=500),
    ...     qid=qid,
    ...     random_state=0,
    ... )
    >>> display.wins, display.ties, display.losses
    (44, 0, 6)
    """

    def __init__(
        self,
        differences: Any,
        result: Comparison,
        measure: str,
        *,
        names: tuple[str, str] = ("A", "B"),
        greater_is_better: bool = True,
    ) -> None:
        self.differences = np.sort(np.asarray(differences, dtype=np.float64))[::-1]
        self.result = result
        self.measure = measure
        self.names = names
        self.greater_is_better = check_flag("greater_is_better", greater_is_better)

    @property
    def wins(self) -> int:
        """Number of queries on which the first ranker is better."""
        return int(np.count_nonzero(self._gains > 0))

    @property
    def ties(self) -> int:
        """Number of queries on which both rankers are equal."""
        return int(np.count_nonzero(self.differences == 0))

    @property
    def losses(self) -> int:
        """Number of queries on which the second ranker is better."""
        return int(np.count_nonzero(self._gains < 0))

    @property
    def _gains(self) -> Any:
        """Differences, signed so that positive values mean that the first ranker is better."""
        return self.differences if self.greater_is_better else -self.differences

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score_a: Any,
        y_score_b: Any,
        *,
        qid: Any,
        measure: MeasureLike = "ndcg",
        sample_weight: Any = None,
        weights: Literal["frequency", "sampling"] | None = None,
        groups: Any = None,
        pos_label: Any = None,
        method: str = "randomization",
        alternative: Literal["two-sided", "less", "greater"] = "two-sided",
        level: float = 0.95,
        n_resamples: int = 10_000,
        random_state: Any = None,
        names: tuple[str, str] = ("A", "B"),
        ax: Any = None,
    ) -> QueryDifferenceDisplay:
        """Draw the differences between two rankers with given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels or grades, in the form that the measure requires.
        y_score_a : array-like of shape (n_samples,)
            Scores of the first ranker; higher is nearer to the top.
        y_score_b : array-like of shape (n_samples,)
            Scores of the second ranker; higher is nearer to the top.
        qid : array-like of shape (n_samples,)
            Query id of each row, in any order.
        measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
            The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, if the measure takes weights.
        weights : {"frequency", "sampling"} or None, default=None
            What ``sample_weight`` is, required with it: numbers of identical rows, or 1 /
            probability that the query of the row was drawn. See
            :func:`sklearn_rank.inference.compare`.
        groups : array-like of shape (n_samples,), default=None
            Id of the group (user, session) of the query of each row. Queries of one group may
            depend on each other. None means independent queries. See
            :func:`sklearn_rank.inference.compare`.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
        method : {"randomization", "t", "wilcoxon"}, default="randomization"
            Paired test, see :func:`sklearn_rank.inference.compare`.
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            Alternative hypothesis: the mean difference is not 0, is below 0, or is above 0.
        level : float, default=0.95
            Nominal coverage of the interval for the mean difference, in (0, 1).
        n_resamples : int, default=10000
            Number of random exchanges of the randomization test.
        random_state : None, int, Generator or RandomState, default=None
            Random number generator or seed of the exchanges. Pass an int for reproducible
            results.
        names : tuple of (str, str), default=("A", "B")
            Names of the rankers.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.

        Returns
        -------
        QueryDifferenceDisplay
            Display with the drawn plot.
        """
        check_test_options(method, alternative, level, n_resamples)
        rng = check_generator(random_state)
        measure = get_measure(measure)
        samples = query_values_of(
            measure,
            y_true,
            {"a": y_score_a, "b": y_score_b},
            qid=qid,
            sample_weight=sample_weight,
            weights=weights,
            groups=groups,
            pos_label=pos_label,
        )
        options = (method, alternative, level, n_resamples)
        display = cls(
            query_differences(samples["a"], samples["b"]).values,
            compare_samples(measure, samples, [("a", "b")], *options, rng),
            measure.name,
            names=names,
            greater_is_better=measure.greater_is_better,
        )
        return display.plot(ax=ax)

    @classmethod
    @documented_by(from_predictions, ESTIMATORS, NAMES)
    def from_estimators(
        cls,
        estimator_a: Any,
        estimator_b: Any,
        X: Any,
        y: Any,
        *,
        qid: Any,
        measure: MeasureLike = "ndcg",
        sample_weight: Any = None,
        weights: Literal["frequency", "sampling"] | None = None,
        groups: Any = None,
        pos_label: Any = None,
        method: str = "randomization",
        alternative: Literal["two-sided", "less", "greater"] = "two-sided",
        level: float = 0.95,
        n_resamples: int = 10_000,
        random_state: Any = None,
        names: tuple[str, str] | None = None,
        ax: Any = None,
    ) -> QueryDifferenceDisplay:
        """Draw the differences between two fitted estimators."""
        measure = get_measure(measure)
        if pos_label is None:
            label_a, label_b = own_pos_label(estimator_a), own_pos_label(estimator_b)
            if label_a is not None and label_b is not None and label_a != label_b:
                raise ValueError(
                    f"The first estimator has pos_label={label_a!r} and the second"
                    f" pos_label={label_b!r}: pass pos_label=, the class that both are to be"
                    " compared on."
                )
            pos_label = label_b if label_a is None else label_a
        a, positive = query_response(estimator_a, X, measure, pos_label)
        b, _ = query_response(estimator_b, X, measure, pos_label)
        return cls.from_predictions(
            y,
            a,
            b,
            qid=qid,
            measure=measure,
            sample_weight=sample_weight,
            weights=weights,
            groups=groups,
            pos_label=positive,
            method=method,
            alternative=alternative,
            level=level,
            n_resamples=n_resamples,
            random_state=random_state,
            names=names or (type(estimator_a).__name__, type(estimator_b).__name__),
            ax=ax,
        )

    def plot(self, ax: Any = None) -> QueryDifferenceDisplay:
        """Draw the differences.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.

        Returns
        -------
        QueryDifferenceDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = axes_of(ax)
        d, (a, b) = self.differences, self.names
        n = len(d)
        edges = np.arange(n + 1)
        won, lost = np.where(self._gains > 0, d, 0.0), np.where(self._gains < 0, d, 0.0)
        self.wins_ = ax.stairs(won, edges, fill=True, color=COLORS[0])
        self.losses_ = ax.stairs(lost, edges, fill=True, color=COLORS[1])
        ax.axhline(0, color=foreground(ax), linewidth=0.8)
        estimate, interval = self.result.estimate, self.result.interval
        label = f"mean {estimate:+z.3f}"
        largest = np.abs(d).max() or 1.0
        low, high = np.clip([interval.low, interval.high], -2 * largest, 2 * largest)
        ax.axhspan(low, high, color=GREY, alpha=0.3, linewidth=0)
        label += f", {100 * interval.level:.4g} % [{interval.low:+z.3f}, {interval.high:+z.3f}]"
        self.mean_ = ax.axhline(
            estimate, color=foreground(ax), linestyle="--", linewidth=1, label=label
        )
        counts = [(a, self.wins, COLORS[0]), (b, self.losses, COLORS[1])]
        corners = [(0.02, 0.97, "left", "top"), (0.98, 0.03, "right", "bottom")]
        # Positive differences are drawn on the left.
        for (name, count, color), (x, y, ha, va) in zip(
            counts if self.greater_is_better else counts[::-1], corners, strict=True
        ):
            text = wrapped(f"{name} better: {count}", 36)
            ax.text(x, y, text, transform=ax.transAxes, ha=ha, va=va, color=color, weight="bold")
        ax.set(
            xlim=(0, n),
            ylim=(-1.25 * largest, 1.25 * largest),
            xlabel=f"Queries, sorted ({n}; equal on {self.ties})",
            ylabel=wrapped(f"{self.measure}: {a} minus {b}", 48),
        )
        ax.set_title(
            f"p = {self.result.pvalue:.3g} ({self.result.method}, {self.result.alternative})",
            fontsize="medium",
        )
        draw_legend(ax, inside="upper right")  # the corners of the counts are the other two
        return self._drawn_on(ax)


class IntervalsDisplay(Display):
    """Several estimates or differences with their intervals, in rows or along an axis of numbers.

    Create one with :meth:`from_intervals`.

    Parameters
    ----------
    intervals : dict of str to Interval, or of float to Interval
        Intervals by the names of their rows, the first on top: a forest plot. Intervals by
        numbers, such as an assumption that varies, are a band above the axis of these numbers.
    reference : float or None, default=None
        Value marked by a dotted line, such as 0.5 for an AUC or 0 for a difference.
    margins : sequence of float, default=()
        Values marked by dashed lines, such as the margins of a non-inferiority test.

    Attributes
    ----------
    bars_ : list of matplotlib ErrorbarContainer
        Estimate and limits of each row. Empty for a band.
    band_ : matplotlib PolyCollection or None
        Limits by numbers; None for rows.
    mark_ : matplotlib Line2D or None
        Line at ``clear_up_to``; None without it.
    reference_ : matplotlib Line2D or None
        Line at the reference; None without one.
    margins_ : list of matplotlib Line2D
        Lines at the margins.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    QueryScoresDisplay : Means and intervals with the values of all queries.
    QueryDifferenceDisplay : Paired comparison of two rankers on the same queries.

    Notes
    -----
    Infinite limits extend beyond the axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.inference import Interval
    >>> from sklearn_rank.plotting import IntervalsDisplay
    >>> display = IntervalsDisplay.from_intervals(
    ...     {
    ...         "linear": Interval(
    ...             0.81, 0.77, 0.85, 0.95, "t", "mean ndcg over queries"
    ...         ),
    ...         "boosted": Interval(
    ...             0.84, 0.81, 0.87, 0.95, "t", "mean ndcg over queries"
    ...         ),
    ...     }
    ... )
    >>> display.ax_.get_xlabel()
    'mean ndcg over queries (95 %, t)'

    The AUC where nothing below the first 50 rows has a label, by how frequent positives are there
    relative to the cut. It exceeds .5 if they are at most 0.8 times as frequent:

    >>> import numpy as np
    >>> from sklearn_rank.inference import LabelDesign, metric_interval
    >>> y_true, score = np.full(500, np.nan), np.arange(500)
    >>> y_true[450:] = np.arange(50) > 40
    >>> display = IntervalsDisplay.from_intervals(
    ...     {
    ...         factor: metric_interval(
    ...             "auc",
    ...             y_true,
    ...             score,
    ...             design=LabelDesign(review_top=50, scores=score, most_below=factor),
    ...         )
    ...         for factor in np.linspace(0, 2, 21)
    ...     },
    ...     reference=0.5,
    ... )
    >>> display.clear_up_to
    0.8
    """

    def __init__(
        self,
        intervals: Mapping[str, Interval] | Mapping[float, Interval],
        *,
        reference: float | None = None,
        margins: Sequence[float] = (),
    ) -> None:
        self.intervals: dict[Any, Interval] = dict(intervals)
        self.reference = reference
        self.margins = tuple(margins)

    @property
    def clear_up_to(self) -> float | None:
        """Largest number up to which all intervals are on the same side of the reference.

        None if the first is not on one side, without a reference, and for rows with names.
        """
        if self.reference is None or not self._by_numbers:
            return None
        numbers = sorted(self.intervals)
        rows = [self.intervals[number] for number in numbers]
        sides = [(row.low > self.reference) - (row.high < self.reference) for row in rows]
        clear = takewhile(lambda pair: pair[1] == sides[0] != 0, zip(numbers, sides, strict=True))
        return max((float(number) for number, _ in clear), default=None)

    @property
    def _by_numbers(self) -> bool:
        return any(map(is_number, self.intervals))

    @classmethod
    def from_intervals(
        cls,
        intervals: Mapping[str, Interval] | Mapping[float, Interval] | Comparison,
        *,
        reference: float | None = None,
        margins: float | Sequence[float] = (),
        ax: Any = None,
        **kwargs: Any,
    ) -> IntervalsDisplay:
        """Draw computed intervals.

        Parameters
        ----------
        intervals : dict of str to Interval, dict of float to Interval, or Comparison
            Intervals by the names of their rows, the first on top, or by numbers, which make a
            band. For a comparison the rows are its contrasts.
        reference : float or None, default=None
            Value marked by a dotted line, such as 0.5 for an AUC. None means 0 for a comparison
            and no line for other intervals.
        margins : float or sequence of float, default=()
            Values marked by dashed lines. () means the margin of a comparison, if it has one, on
            the tested side or sides.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``errorbar``, for a band to ``fill_between``.

        Returns
        -------
        IntervalsDisplay
            Display with the drawn plot.
        """
        marks = tuple(np.atleast_1d(margins).tolist())
        if isinstance(intervals, Comparison):
            reference = 0.0 if reference is None else reference
            margin = intervals.margin
            if margin is not None and not marks:
                # On the side of worse values, or on both sides.
                if intervals.alternative == "equivalent":
                    marks = (-margin, margin)
                else:
                    marks = (-margin,) if intervals.greater_is_better else (margin,)
            # Their method states whether they are simultaneous.
            method = intervals.method + ("" if len(intervals) == 1 else ", simultaneous")
            intervals = {
                name: replace(intervals[name].interval, method=method) for name in intervals
            }
        elif isinstance(intervals, Interval):
            raise TypeError(
                "intervals is one interval, but each row has a name: pass {'name': interval}."
            )
        return cls(intervals, reference=reference, margins=marks).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> IntervalsDisplay:
        """Draw the intervals.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``errorbar``, for a band to ``fill_between``.

        Returns
        -------
        IntervalsDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``intervals`` is empty.
        TypeError
            If the keys of ``intervals`` are neither all names nor all finite numbers.
        """
        if not self.intervals:
            raise ValueError("intervals is empty: pass at least one.")
        rows = list(self.intervals.values())
        upright = self._by_numbers
        for key in self.intervals:
            if not (is_number(key) and np.isfinite(key) if upright else isinstance(key, str)):
                raise TypeError(
                    f"intervals has the key {key!r}: pass names for rows, or finite numbers for a"
                    " band."
                )
        ax = axes_of(ax, **({} if upright else {"figsize": (6.4, 1.1 + 0.45 * len(rows))}))
        values = np.array([(row.low, row.estimate, row.high) for row in rows])
        finite = values[np.isfinite(values)]
        quiet = {"color": GREY, "linewidth": 1, "zorder": 0}
        marks = [*([] if self.reference is None else [self.reference]), *self.margins]
        finite = np.append(finite, marks)
        line = ax.axhline if upright else ax.axvline
        self.reference_ = None
        if self.reference is not None:
            self.reference_ = line(self.reference, linestyle=":", **quiet)
        self.margins_ = [line(margin, linestyle="--", **quiet) for margin in self.margins]
        space = 0.06 * (np.ptp(finite) or 1.0)
        edges = finite.min() - space, finite.max() + space
        drawn = np.clip(values, edges[0] - space, edges[1] + space)
        self.bars_, self.band_, self.mark_ = [], None, None
        if upright:
            self._draw_band(ax, drawn, quiet, kwargs)
            ax.set(ylim=(edges[0], edges[1] + space), ylabel=_title(rows))
            return self._drawn_on(ax)
        style = {"fmt": "o", "capsize": 4, "color": COLORS[0], "linewidth": 1.8, **kwargs}
        self.bars_ = [
            ax.errorbar(mid, y, xerr=[[mid - low], [high - mid]], **style)
            for y, (low, mid, high) in enumerate(drawn)
        ]
        texts = [f"{row.estimate:z.3f} [{row.low:z.3f}, {row.high:z.3f}]" for row in rows]
        label_rows(ax, list(self.intervals), texts)
        ax.set(xlim=edges, xlabel=_title(rows))
        return self._drawn_on(ax)

    def _draw_band(self, ax: Any, drawn: Any, quiet: Any, style: Any) -> None:
        """Draw limits above numbers, and a line at the number up to which they are clear."""
        order = np.argsort(numbers := np.array(list(self.intervals), dtype=np.float64))
        low, _, high = drawn[order].T
        style = {"color": COLORS[0], "alpha": band_alpha(ax, 1), "linewidth": 1.8, **style}
        self.band_ = ax.fill_between(numbers[order], low, high, **style)
        ax.margins(x=0)
        end = self.clear_up_to
        if end is not None:
            self.mark_ = ax.axvline(end, linestyle="-.", **quiet)
            side = "right" if 2.0 * end > numbers.min() + numbers.max() else "left"
            text = f" {self.reference:g} is outside up to {end:.3g} "
            where = {"ha": side, "va": "top", "transform": ax.get_xaxis_transform()}
            ax.text(end, 0.98, text, fontsize="small", **where)


def _title(rows: list[Interval]) -> str:
    """Return the target, level and method that all rows have in common."""
    parts = zip(*(row.target.split(", ") for row in rows), strict=False)
    title = ", ".join(words[0] for words in takewhile(lambda w: len(set(w)) == 1, parts))
    levels = [f"{100 * row.level:.4g} %" for row in rows]
    methods = [row.method for row in rows]
    common = [words[0] for words in (levels, methods) if len(set(words)) == 1]
    title = title or "estimate"
    return f"{title} ({', '.join(common)})" if common else title
