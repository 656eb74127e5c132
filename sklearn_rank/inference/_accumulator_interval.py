"""The interval of what an accumulator has gathered."""

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

__all__ = ["accumulator_interval"]


def accumulator_interval(accumulator: Accumulator, *, level: float = 0.95) -> Interval:
    """Interval for a measure of rows that were accumulated in parts.

    The interval of all rows together, to rounding: of queries that for their mean, of one list
    that for the expected AUC, ``W_phi``, or another measure of which the influence of single items
    is known, whose variance is a sum over the distinct pairs of a score and a class, each counted
    as often as it occurs.

    Parameters
    ----------
    accumulator : Accumulator
        The accumulator, which is not changed.
    level : float, default=0.95
        Nominal probability, in (0, 1), that the interval covers its target.

    Returns
    -------
    Interval
        What :func:`metric_interval` gives for all rows by its default method.

    Raises
    ------
    TypeError
        If it is no accumulator.
    ValueError
        If it has no rows, or of one class only and the measure is not the AUC; the influence of
        single items on the measure is not known; weights of items are not whole; queries have
        weights; or all rows are kept, as with ``queries="split"``.

    See Also
    --------
    sklearn_rank.metrics.Accumulator : Gathers the rows.
    metric_interval : Of rows in memory, or of dask collections.

    Notes
    -----
    Items, or queries, are independent: for groups of them the rows are needed. Of m distinct pairs
    of a score and a class O(m log m) time and O(m) memory for the AUC; linear rank statistics
    take O(n) values of phi besides, n the number of items.

    Examples
    --------
    >>> from sklearn_rank.inference import accumulator_interval
    >>> from sklearn_rank.metrics import Accumulator
    >>> accumulator = Accumulator("auc")
    >>> for y_true, y_score in [([0, 0, 1, 0, 0], range(5)), ([1, 0, 1, 1, 1], range(5, 10))]:
    ...     _ = accumulator.update(y_true, y_score)
    >>> print(accumulator_interval(accumulator))
    0.8400 [0.3997, 0.9736] (expected AUC, 95 %, wilson)
    """
    if not isinstance(accumulator, Accumulator):
        raise TypeError(
            f"accumulator is a {type(accumulator).__name__}, but must be an Accumulator: pass"
            " Accumulator(measure).update(y_true, y_score), or rows to metric_interval."
        )
    level, measure = check_level(level), accumulator.measure
    if (kept := accumulator.query_values) is not None:
        # The default method draws nothing.
        of_queries = IntervalOptions("auto", level, 10_000)
        values = accumulated_values(measure, kept)
        return sample_interval(values, of_queries, np.random.default_rng())
    methods = list_methods(measure)
    options = ListOptions(level, methods.chosen("auto"))
    return methods.interval(OneList(counted_list(accumulator)), options)
