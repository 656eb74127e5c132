"""Confidence interval from an accumulator of row batches."""

from __future__ import annotations

import numpy as np

from .._arguments import check_level
from ..metrics import Accumulator
from ._list_methods import ListOptions, list_methods
from ._one_list import OneList
from ._query_samples import IntervalOptions, sample_interval
from ._query_values import accumulated_values
from ._results import Interval
from ._two_classes import counted_list
from ._weight_meaning import WeightMeaning, check_weight_meaning

__all__ = ["accumulator_interval", "interval_of_accumulator"]


def accumulator_interval(
    accumulator: Accumulator, *, level: float = 0.95, weights: WeightMeaning = None
) -> Interval:
    """Confidence interval for a ranking measure from an accumulator of row batches.

    The interval equals that of all rows in memory, up to rounding. With queries it is the interval
    for their mean. For one list it is the interval for the expected AUC, for ``W_phi``, or for
    another measure that has an influence function. Its variance is a sum over the distinct pairs
    of a score and a class, each weighted by its number of occurrences.

    Parameters
    ----------
    accumulator : Accumulator
        The accumulator; it is not modified.
    level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). A higher level gives a wider interval.
    weights : {"frequency"} or None, default=None
        What the ``sample_weight`` of the updates is; required if there was any. "frequency": each
        row stands for that many identical rows, a whole number. "sampling" raises an error: rows
        that were drawn with unequal probabilities are needed one by one.

    Returns
    -------
    Interval
        The interval that :func:`metric_interval` returns for all rows with its default method.

    Raises
    ------
    TypeError
        If ``accumulator`` is not an :class:`sklearn_rank.metrics.Accumulator`.
    ValueError
        If the accumulator has no rows, or rows of one class only and the measure is not the AUC;
        if the measure has no influence function; if item weights are not whole numbers; if queries
        have weights; or if the accumulator keeps all rows, as with ``queries="split"``.

    See Also
    --------
    sklearn_rank.metrics.Accumulator : Collects the rows in batches.
    metric_interval : The interval for rows in memory or in dask collections.

    Notes
    -----
    Items, or queries, must be independent; grouped data need the rows themselves. For m distinct
    pairs of a score and a class, the AUC takes O(m log m) time and O(m) memory. Linear rank
    statistics also evaluate phi O(n) times for n items.

    Examples
    --------
    >>> from sklearn_rank.inference import accumulator_interval
    >>> from sklearn_rank.metrics import Accumulator
    >>> accumulator = Accumulator("auc")
    >>> for y_true, y_score in [
    ...     ([0, 0, 1, 0, 0], range(5)),
    ...     ([1, 0, 1, 1, 1], range(5, 10)),
    ... ]:
    ...     _ = accumulator.update(y_true, y_score)
    >>> print(accumulator_interval(accumulator))
    0.8400 [0.3997, 0.9736] (expected AUC, 95 %, wilson)
    """
    if not isinstance(accumulator, Accumulator):
        raise TypeError(
            f"accumulator is a {type(accumulator).__name__}, but must be an Accumulator: pass"
            " Accumulator(measure).update(y_true, y_score), or rows to metric_interval."
        )
    level = check_level(level)
    check_weight_meaning(
        weights,
        None if accumulator.item_weights == "none" else accumulator.item_weights,
        no_sampling="accumulator_interval, since accumulators add up weights of equal rows: pass"
        " the rows to metric_interval(..., weights='sampling')",
    )
    if accumulator.item_weights == "real":
        raise ValueError(
            "sample_weight had a value that is not whole, but weights='frequency' takes whole"
            " numbers of identical rows: accumulate whole numbers, or pass the rows to"
            " metric_interval(..., weights='sampling') if it is 1 / probability."
        )
    return interval_of_accumulator(accumulator, level)


def interval_of_accumulator(accumulator: Accumulator, level: float) -> Interval:
    """Make the interval of rows, or of as many identical ones as weights say."""
    measure = accumulator.measure
    if (kept := accumulator.query_values) is not None:
        # The default method draws nothing.
        of_queries = IntervalOptions("auto", level, 10_000)
        values = accumulated_values(measure, kept)
        return sample_interval(values, of_queries, np.random.default_rng())
    methods = list_methods(measure)
    options = ListOptions(level, methods.chosen("auto"))
    return methods.interval(OneList(counted_list(accumulator)), options)
