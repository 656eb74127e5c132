"""Methods of intervals for a measure of one list, and their selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from .._lists import ScoredLists
from ..metrics import Measure
from ..metrics._shared import (
    AUCMeasure,
    AveragePrecisionMeasure,
    CustomMeasure,
    EnrichmentFactorMeasure,
    FPRAtTPRMeasure,
    GiniMeasure,
    KolmogorovSmirnovMeasure,
    LiftMeasure,
    NegativeHeightMeasure,
    PartialAUCMeasure,
    PositivesAtTopMeasure,
    PrecisionAtTopMeasure,
    RateInfluence,
    RIEMeasure,
    SmoothedPrecisionAtTopMeasure,
    SuccessMeasure,
    TPRAtFPRMeasure,
    phi_of,
)
from ._above_negatives import above_negatives_interval
from ._auc import auc_interval_of
from ._auc_limits import METHODS, WITH_GROUPS
from ._correlation_interval import correlation_interval, is_correlation
from ._drawn_labels import drawn_interval, is_sum_of_draws, success_interval
from ._height_interval import height_interval
from ._largest_difference import largest_difference_interval
from ._linear_rank import rank_interval_of
from ._list_bootstrap import bootstrap_interval
from ._list_interval import list_interval
from ._measure_influence import influence_of, refuse_sampling, sampling_influence
from ._one_list import OneList
from ._ordered_rows import ordered_rows, runs_of_negatives, with_tied_tail
from ._rank_bootstrap import RankBootstrap
from ._rank_dkw import dkw_interval
from ._rate_limits import rate_limits
from ._results import Interval
from ._top import top_interval_of
from ._two_classes import refuse_one_class

__all__ = ["ListMethods", "ListOptions", "list_methods"]


@dataclass(frozen=True)
class ListOptions:
    """How to make an interval of one list, checked."""

    level: float  # Nominal probability, in (0, 1)
    method: str = "auto"
    n_resamples: int = 10_000
    rng: np.random.Generator = field(default_factory=np.random.default_rng)


@dataclass(frozen=True)
class ListMethods:
    """Methods of intervals for a measure of one list."""

    measure: Measure
    names: tuple[str, ...]  # Names of the methods, what "auto" is first
    make: Callable[[OneList, ListOptions], Interval]
    grouped: tuple[str, ...]  # Methods that take groups
    explicit: str = ""
    one_class: bool = False  # Whether lists of one class have an interval too

    def chosen(self, method: str, *, grouped: bool = False, sampled: bool = False) -> str:
        """Read the name of a method."""
        if sampled:
            refuse_sampling(self.measure)
            if method not in ("auto", "influence"):
                raise ValueError(
                    f"method={method!r} does not support weights='sampling': pass"
                    " method='influence', or leave method out."
                )
            return "influence"
        listed = " or ".join(map(repr, self.names))
        if method == "auto":
            if self.explicit:
                raise ValueError(
                    f"method='auto' has no valid interval for {self.measure.name} of one list:"
                    f" {self.explicit}; pass method={listed}, or qid for the mean over queries."
                )
            method = (self.grouped or self.names)[0] if grouped else self.names[0]
        if method not in self.names:
            of_queries = (
                "; for a mean over queries pass qid" if method in ("t", "bootstrap", "bca") else ""
            )
            raise ValueError(
                f"method={method!r} does not support {self.measure.name} of one list: pass"
                f" {listed}{of_queries}."
            )
        if grouped and method not in self.grouped:
            instead = " or ".join(f"method={name!r}" for name in self.grouped)
            raise ValueError(
                f"method={method!r} needs independent items and takes no groups for"
                f" {self.measure.name}: "
                + (f"pass {instead}." if instead else "leave groups out if they are independent.")
            )
        return method

    def interval(self, sample: OneList, options: ListOptions) -> Interval:
        """Make an interval."""
        method = self.chosen(
            options.method, grouped=sample.groups is not None, sampled=sample.sampled
        )
        if not self.one_class or sample.sampled:
            refuse_one_class(sample.data)
        if sample.sampled:
            found = sampling_influence(self.measure, sample.data)
            return list_interval(self.measure, found, options.level, sample.groups)
        of_auc = isinstance(self.measure, AUCMeasure | GiniMeasure)
        if sample.groups is not None and not of_auc:
            sample = sample.repeated()
        return self.make(sample, replace(options, method=method))


def list_methods(measure: Measure) -> ListMethods:
    """Find the methods that make intervals for a measure of one list."""
    for route in _ROUTES:
        found = route(measure)
        if found is not None:
            return found
    raise ValueError(_without(measure))


def _without(measure: Measure) -> str:
    """Explain why a measure of one list has no interval, and what to do."""
    if measure.by_class:
        return (
            f"{measure.name} is a mean over classes, which has no interval: pass the labels of one"
            " class against the others, y_true == label, and its column of scores with 'auc'."
        )
    if getattr(measure, "convention", None) is not None:
        return (
            f"{measure.name} of one list follows the convention of another system, which has no"
            " interval: leave out convention, or pass qid for the mean over queries."
        )
    if measure.per_query:
        return (
            f"{measure.name} of one list is a single value, so its variance cannot be estimated:"
            " pass qid, the query id of each row, for the mean over queries."
        )
    return (
        f"{measure.name} has no influence function, so it has no interval for one list: pass"
        " influence= to make_measure, or pass qid for the mean over queries."
    )


def _of_auc(measure: Measure) -> ListMethods | None:
    """Methods of the AUC and of the Gini coefficient."""
    if not isinstance(measure, AUCMeasure | GiniMeasure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        found = auc_interval_of(
            sample.by_groups(),
            options.level,
            options.method,
            grouped=sample.groups is not None,
        )
        return found if isinstance(measure, AUCMeasure) else gini_of(found)

    return ListMethods(measure, tuple(METHODS), make, WITH_GROUPS, one_class=True)


def gini_of(found: Interval) -> Interval:
    """Turn an interval for the AUC into that of the Gini coefficient. Twice the area, less 1."""
    error = found.standard_error
    return replace(
        found,
        estimate=2.0 * found.estimate - 1.0,
        low=2.0 * found.low - 1.0,
        high=2.0 * found.high - 1.0,
        target="expected Gini coefficient",
        standard_error=None if error is None else 2.0 * error,
    )


def _of_top(measure: Measure) -> ListMethods | None:
    if not isinstance(measure, PrecisionAtTopMeasure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return top_interval_of(
            sample.data, float(measure.tau), options.level, options.method, sample.groups
        )

    return ListMethods(measure, ("influence", "exact"), make, ("influence",))


def _of_ranks(measure: Measure) -> ListMethods | None:
    """Linear rank statistics that are a mean over the positives, or its place in the range."""
    phi = phi_of(measure)
    if phi is None or getattr(measure, "convention", None) is not None:
        return None
    if getattr(measure, "ties", "average") != "average":
        return None
    normalize = getattr(
        measure, "normalize", "mean" if isinstance(measure, RIEMeasure) else "minmax"
    )
    if normalize is None:
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        said: dict[str, Any] = {"normalize": normalize, "what": measure.name}
        if options.method == "bootstrap":
            made = RankBootstrap(sample.repeated().data, phi, conditional=True, **said)
            found = made.interval(options.level, options.n_resamples, options.rng)
        else:
            function = dkw_interval if options.method == "dkw" else rank_interval_of
            found = function(
                sample.data, phi, options.level, conditional=True, groups=sample.groups, **said
            )
        if not isinstance(measure, RIEMeasure):
            return found
        n = sample.data.sizes
        return found.scaled(float((n / phi._sums(np.zeros_like(n), n, n))[0]))

    if not phi.is_limit_functional:
        reason = f"{phi!r} depends on the length of the list, so that lists are resampled"
        return ListMethods(measure, ("bootstrap",), make, (), explicit=reason)
    names = ("influence", "dkw", "bootstrap")
    return ListMethods(measure, names, make, ("influence", "dkw"))


def _of_first_places(measure: Measure) -> ListMethods | None:
    """Sums over the first places, whose labels are drawn given the scores."""
    if not is_sum_of_draws(measure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return drawn_interval(measure, sample, options.level, options.method)

    return ListMethods(measure, ("wilson", "exact"), make, (), one_class=True)


def _of_success(measure: Measure) -> ListMethods | None:
    if not isinstance(measure, SuccessMeasure) or measure.convention is not None:
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return success_interval(measure, sample, options.level)

    return ListMethods(measure, ("exact",), make, (), one_class=True)


def _of_positives_at_top(measure: Measure) -> ListMethods | None:
    if not isinstance(measure, PositivesAtTopMeasure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return above_negatives_interval(measure, sample, options.level, options.method)

    return ListMethods(measure, ("wilson", "exact"), make, ("wilson",))


def _of_largest_difference(measure: Measure) -> ListMethods | None:
    if not isinstance(measure, KolmogorovSmirnovMeasure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return largest_difference_interval(measure, sample, options.level)

    return ListMethods(measure, ("dkw",), make, ("dkw",))


def _of_rates(measure: Measure) -> ListMethods | None:
    """Methods of a point of the ROC curve; that at the extreme of a class has none."""
    if not isinstance(measure, FPRAtTPRMeasure | TPRAtFPRMeasure) or not measure.has_influence:
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return _by_influence(measure, sample, options)

    return ListMethods(measure, ("order statistics", "influence"), make, ("influence",))


def _of_height(measure: Measure) -> ListMethods | None:
    """Methods of the height of the negatives; that of the highest negative is an extreme."""
    if not isinstance(measure, NegativeHeightMeasure) or not isfinite(measure.p):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return height_interval(measure, sample, options.level)

    return ListMethods(measure, ("influence",), make, ("influence",))


def _of_correlation(measure: Measure) -> ListMethods | None:
    if not is_correlation(measure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return correlation_interval(measure, sample, options.level)

    return ListMethods(measure, ("influence",), make, ("influence",), one_class=True)


def _of_users_function(measure: Measure) -> ListMethods | None:
    """Methods of a custom measure, with or without an influence function."""
    if not isinstance(measure, CustomMeasure):
        return None
    known = measure.kind == "binary" and measure.has_influence

    def make(sample: OneList, options: ListOptions) -> Interval:
        if options.method == "influence":
            return _by_influence(measure, sample, options)
        return bootstrap_interval(measure, sample, options.level, options.n_resamples, options.rng)

    names = ("influence", "bootstrap") if known else ("bootstrap",)
    reason = (
        "it has no influence function (see make_measure(..., influence=)), and the bootstrap is"
        " wrong for measures that a single item determines, such as extremes"
    )
    one_class = measure.kind == "graded"
    return ListMethods(
        measure, names, make, names, explicit="" if known else reason, one_class=one_class
    )


def _of_influence(measure: Measure) -> ListMethods | None:
    if measure.kind != "binary" or not measure.has_influence:
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return _by_influence(measure, sample, options)

    return ListMethods(measure, ("influence",), make, ("influence",))


def _by_influence(measure: Measure, sample: OneList, options: ListOptions) -> Interval:
    data = sample.data
    if sample.groups is None and not isinstance(measure, CustomMeasure):
        data = _rows_that_count(measure, data)
    found = influence_of(measure, data, conditional=True)
    interval = list_interval(measure, found, options.level, sample.groups)
    if isinstance(found, RateInfluence) and options.method != "influence":
        low, high = rate_limits(found, options.level)
        return replace(interval, low=low, high=high, method=options.method)
    return interval


def _rows_that_count(measure: Measure, data: ScoredLists) -> ScoredLists:
    """Merge items that a measure does not distinguish into one row."""
    if isinstance(measure, AveragePrecisionMeasure | PartialAUCMeasure):
        return runs_of_negatives(data)
    top = 1.0
    if isinstance(measure, EnrichmentFactorMeasure | LiftMeasure):
        top = float(measure.fraction)
    elif isinstance(measure, SmoothedPrecisionAtTopMeasure):
        top = measure.largest_top
    return ordered_rows(with_tied_tail(data, top))


_ROUTES = (
    _of_auc,
    _of_top,
    _of_ranks,
    _of_first_places,
    _of_success,
    _of_positives_at_top,
    _of_largest_difference,
    _of_rates,
    _of_height,
    _of_correlation,
    _of_users_function,
    _of_influence,
)
