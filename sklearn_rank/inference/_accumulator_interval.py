"""The interval of what an accumulator has gathered."""

from __future__ import annotations

import numpy as np

from .._arguments import check_level
from ..metrics import Accumulator
from ..metrics._shared import AUCMeasure, PrecisionAtTopMeasure, phi_of
from ._auc import auc_interval_of
from ._linear_rank import rank_interval_of
from ._list_interval import list_interval
from ._measure_influence import influence_of, refuse_unknown
from ._query_samples import IntervalOptions, sample_interval
from ._query_values import accumulated_values
from ._results import Interval
from ._top import top_interval_of
from ._two_classes import counted_list, refuse_one_class

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
        With ``qid``, what :func:`metric_interval` gives; without, by its measure: "auc" what
        :func:`auc_interval` gives, "local_auc", "pnorm" and other linear rank statistics between
        the worst and the best order or as a mean :func:`linear_rank_interval`,
        "precision@top" :func:`precision_at_top_interval`, others :func:`metric_interval`; each by
        its default method.

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
        options = IntervalOptions("auto", level, 10_000)
        # The default method draws nothing.
        return sample_interval(accumulated_values(measure, kept), options, np.random.default_rng())
    if isinstance(measure, AUCMeasure):
        return auc_interval_of(counted_list(accumulator), level)
    if not isinstance(measure, PrecisionAtTopMeasure):
        refuse_unknown(measure)
    data = counted_list(accumulator)
    refuse_one_class(data)
    if isinstance(measure, PrecisionAtTopMeasure):
        return top_interval_of(data, float(measure.tau), level)
    phi, normalize = phi_of(measure), getattr(measure, "normalize", None)
    if phi is not None and normalize is not None:
        return rank_interval_of(data, phi, level, normalize=normalize)
    return list_interval(measure, influence_of(measure, data, conditional=True), level)
