"""Differences between two rankers per query, with a paired test."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._validation import check_flag, check_generator
from ..inference import Comparison
from ..inference._shared import (
    check_test_options,
    compare_samples,
    query_differences,
    query_values_of,
)
from ..metrics import get_measure
from ..metrics._shared import MeasureLike, own_pos_label
from ._common import (
    COLORS,
    GREY,
    Display,
    axes_of,
    draw_legend,
    foreground,
    query_response,
    wrapped,
)


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
    sklearn_rank.inference.paired_query_test : The paired test.

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
        """Draw the differences between two fitted estimators.

        Parameters
        ----------
        estimator_a : object
            Fitted estimator. Its scores are those of ``decision_function``, otherwise of
            ``predict_proba``, otherwise, if it is not a classifier, of ``predict``.
        estimator_b : object
            The second fitted estimator.
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
            :func:`sklearn_rank.inference.paired_query_test`.
        groups : array-like of shape (n_samples,), default=None
            Id of the group (user, session) of the query of each row. Queries of one group may
            depend on each other. None means independent queries. See
            :func:`sklearn_rank.inference.paired_query_test`.
        pos_label : int, float, bool, str or None, default=None
            Label of the positive class. None means the ``pos_label`` of the estimator, or of the
            estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1}
            or {-1, 1}.
        method : {"randomization", "t", "wilcoxon"}, default="randomization"
            Paired test, see :func:`sklearn_rank.inference.paired_query_test`.
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            Alternative hypothesis: the mean difference is not 0, is below 0, or is above 0.
        level : float, default=0.95
            Nominal coverage of the interval for the mean difference, in (0, 1).
        n_resamples : int, default=10000
            Number of random exchanges of the randomization test.
        random_state : None, int, Generator or RandomState, default=None
            Random number generator or seed of the exchanges. Pass an int for reproducible
            results.
        names : tuple of (str, str) or None, default=None
            Names of the rankers. None means the class names of the estimators.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.

        Returns
        -------
        QueryDifferenceDisplay
            Display with the drawn plot.
        """
        found = get_measure(measure)
        if pos_label is None:
            pos_label = _common_pos_label(own_pos_label(estimator_a), own_pos_label(estimator_b))
        a, positive = query_response(estimator_a, X, found, pos_label)
        b, _ = query_response(estimator_b, X, found, pos_label)
        return cls.from_predictions(
            y,
            a,
            b,
            qid=qid,
            measure=found,
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
            :func:`sklearn_rank.inference.paired_query_test`.
        groups : array-like of shape (n_samples,), default=None
            Id of the group (user, session) of the query of each row. Queries of one group may
            depend on each other. None means independent queries. See
            :func:`sklearn_rank.inference.paired_query_test`.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
        method : {"randomization", "t", "wilcoxon"}, default="randomization"
            Paired test, see :func:`sklearn_rank.inference.paired_query_test`.
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
        found = get_measure(measure)
        samples = query_values_of(
            found,
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
            compare_samples(found, samples, [("a", "b")], *options, rng),
            found.name,
            names=names,
            greater_is_better=found.greater_is_better,
        )
        return display.plot(ax=ax)

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


def _common_pos_label(first: Any, second: Any) -> Any:
    """Return the ``pos_label`` of either estimator; raise an error if the two differ."""
    if first is not None and second is not None and first != second:
        raise ValueError(
            f"The first estimator has pos_label={first!r} and the second pos_label={second!r}:"
            " pass pos_label=, the class that both are to be compared on."
        )
    return second if first is None else first
