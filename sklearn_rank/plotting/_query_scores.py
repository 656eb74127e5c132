"""Distribution of a measure over queries, with the mean and its interval."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._validation import check_generator
from ..inference import Interval
from ..inference._shared import check_interval_options, query_values_of, sample_interval
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._common import COLORS, Display, axes_of, foreground, label_rows, query_response, systems_of

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
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
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
        """Draw the values of a measure on the queries for a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted estimator. Its scores are those of ``decision_function``, otherwise of
            ``predict_proba``, otherwise, if it is not a classifier, of ``predict``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Feature values of the rows.
        y : array-like of shape (n_samples,)
            Labels or grades, in the form that the measure requires.
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
        pos_label : int, float, bool, str or None, default=None
            Label of the positive class. None means the ``pos_label`` of the estimator, or of the
            estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1}
            or {-1, 1}.
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
            Name of the row. None means the class name of the estimator.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``fill_between``.

        Returns
        -------
        QueryScoresDisplay
            Display with the drawn plot.
        """
        found = get_measure(measure)
        y_score, pos_label = query_response(estimator, X, found, pos_label)
        return cls.from_predictions(
            y,
            y_score,
            qid=qid,
            measure=found,
            sample_weight=sample_weight,
            weights=weights,
            groups=groups,
            pos_label=pos_label,
            level=level,
            method=method,
            n_resamples=n_resamples,
            random_state=random_state,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **kwargs,
        )

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
        found = get_measure(measure)
        return cls(values, intervals, found.name, limits=found.counted_range).plot(ax=ax, **kwargs)

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
            self.bars_.append(self._draw_interval(ax, row, self.intervals[name], (start, stop)))
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

    def _draw_interval(self, ax: Any, row: int, interval: Interval, ends: Any) -> Any:
        """Draw a mean and its limits, clipped to the axes."""
        low, high = np.clip([interval.low, interval.high], *ends)
        return ax.errorbar(
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
