"""The values of a measure on all queries, with their mean and its interval."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_generator
from ..inference import Interval
from ..inference._shared import IntervalOptions, query_values_of, sample_interval
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._common import COLORS, Display, axes_of, label_rows, query_response, systems_of

__all__ = ["QueryScoresDisplay"]

BINS = 25
HALF_HEIGHT = 0.36


class QueryScoresDisplay(Display):
    """Distribution over queries of a measure, for one or several rankers.

    One row for each ranker: a histogram of its values about a line, with the mean and the
    interval for it. Make one by :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    values : dict of str to ndarray of shape (n_queries,)
        Values on the queries by the name of the ranker.
    intervals : dict of str to Interval
        Interval for the mean of each.
    measure : str
        Name of the measure.
    limits : tuple of (float, float), default=(-inf, inf)
        Smallest and largest value that a query can have; infinite where there is no such value.

    Attributes
    ----------
    shapes_ : list of matplotlib PolyCollection
        The histograms.
    bars_ : list of matplotlib ErrorbarContainer
        The means and their intervals.
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    QueryDifferenceDisplay : Two rankers query by query, which tells more than two rows here.
    IntervalsDisplay : The means alone.
    sklearn_rank.inference.metric_interval : The interval.

    Notes
    -----
    The height of a histogram is relative to the highest bar of its ranker.

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
    >>> display = QueryScoresDisplay.from_predictions(grade, scores, qid=qid, measure="ndcg@5")
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
        """Rank rows by a fitted estimator and draw the values of a measure on the queries.

        Parameters
        ----------
        estimator : object
            Fitted; ranks by ``decision_function``, else by ``predict_proba``, else, if it is no
            classifier, by ``predict``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels or grades, as the measure takes them.
        qid : array-like of shape (n_samples,)
            Id of the query of each row.
        measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
            Measure, as :func:`sklearn_rank.metrics.get_measure` takes it.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of items, where the measure takes them.
        groups : array-like of shape (n_samples,), default=None
            Id of the group of the query of each row, for queries that depend on each other; see
            :func:`sklearn_rank.inference.metric_interval`.
        pos_label : int, float, bool, str or None, default=None
            The positive class. None is the ``pos_label`` of the estimator, where it or what it
            wraps has one, else 1 for labels among 0 and 1 or among -1 and 1.
        level : float, default=0.95
            Coverage of the intervals, in (0, 1).
        method : {"auto", "t", "bootstrap", "bca"}, default="auto"
            Method of the intervals, see :func:`sklearn_rank.inference.metric_interval`.
        n_resamples : int, default=10000
            Resamples of the bootstraps.
        random_state : None, int, Generator or RandomState, default=None
            Source of the resamples.
        name : str or None, default=None
            Name of the row; None is the class of the estimator.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        **kwargs : dict
            Handed to matplotlib's ``fill_between``.

        Returns
        -------
        QueryScoresDisplay
            The display, drawn.
        """
        found = get_measure(measure)
        y_score, pos_label = query_response(estimator, X, found, pos_label)
        return cls.from_predictions(
            y,
            y_score,
            qid=qid,
            measure=found,
            sample_weight=sample_weight,
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
            Labels or grades, as the measure takes them.
        y_score : array-like of shape (n_samples,), dict of str to array-like or data frame
            Scores of one ranker, or of several by name; higher is nearer to the top.
        qid : array-like of shape (n_samples,)
            Id of the query of each row.
        measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
            Measure, as :func:`sklearn_rank.metrics.get_measure` takes it.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of items, where the measure takes them.
        groups : array-like of shape (n_samples,), default=None
            Id of the group of the query of each row, for queries that depend on each other; see
            :func:`sklearn_rank.inference.metric_interval`.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
        level : float, default=0.95
            Coverage of the intervals, in (0, 1).
        method : {"auto", "t", "bootstrap", "bca"}, default="auto"
            Method of the intervals, see :func:`sklearn_rank.inference.metric_interval`.
        n_resamples : int, default=10000
            Resamples of the bootstraps.
        random_state : None, int, Generator or RandomState, default=None
            Source of the resamples.
        name : str or None, default=None
            Name of the row of one ranker.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        **kwargs : dict
            Handed to matplotlib's ``fill_between``.

        Returns
        -------
        QueryScoresDisplay
            The display, drawn.
        """
        options = IntervalOptions(method, level, n_resamples)
        rng = check_generator(random_state)
        samples = query_values_of(
            measure,
            y_true,
            systems_of(y_score, name),
            qid=qid,
            sample_weight=sample_weight,
            groups=groups,
            pos_label=pos_label,
        )
        intervals = {key: sample_interval(one, options, rng) for key, one in samples.items()}
        values = {key: sample.values for key, sample in samples.items()}
        found = get_measure(measure)
        return cls(values, intervals, found.name, limits=found.counted_range).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> QueryScoresDisplay:
        """Draw the rows.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        **kwargs : dict
            Handed to matplotlib's ``fill_between``.

        Returns
        -------
        QueryScoresDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = axes_of(ax, figsize=(6.4, 1.1 + 0.8 * len(self.values)), layout="constrained")
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
        texts = [f"{i.estimate:.3f}\n[{i.low:.3f}, {i.high:.3f}]" for i in self.intervals.values()]
        label_rows(ax, list(self.values), texts)
        n_queries = len(next(iter(self.values.values())))
        ax.set_xlabel(f"{self.measure} of a query ({n_queries} queries)")
        level = next(iter(self.intervals.values())).level
        ax.set_title(
            f"Queries (shaded), mean and its {100 * level:.4g} % interval (black)",
            fontsize="small",
            loc="left",
        )
        return self._drawn_on(ax)

    def _draw_interval(self, ax: Any, row: int, interval: Interval, ends: Any) -> Any:
        """Draw a mean and its limits, as far as they are on the axes."""
        low, high = np.clip([interval.low, interval.high], *ends)
        return ax.errorbar(
            interval.estimate,
            row,
            xerr=[[interval.estimate - low], [high - interval.estimate]],
            fmt="o",
            color="black",
            markersize=5,
            capsize=4,
            linewidth=1.8,
            label=f"mean, {100 * interval.level:.4g} % interval" if row == 0 else None,
        )
