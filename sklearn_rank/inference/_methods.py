"""Methods of intervals for one list: what each rests on, its limits, and its theorem.

A new method is one more row of the table; a measure has it if its ``laws`` name what it rests on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..metrics import Measure
from ..metrics._shared import Evidence, mean_at_random
from ._evidence import influence_of, refuse_one_class, refuse_sampling, sampling_influence
from ._linear_rank import dkw_interval, rank_bootstrap_interval, rank_interval
from ._list_intervals import (
    any_interval,
    bootstrap_interval,
    draws_interval,
    largest_difference_interval,
    list_interval,
    rate_limits,
    top_interval,
)
from ._results import Interval
from ._roc import auc_interval_of


@dataclass(frozen=True)
class Method:
    """A way from the evidence of one list to an interval."""

    name: str
    law: str  # What it rests on, by its name in ``Measure.laws``
    interval: Callable[..., Interval]  # Of evidence, level, name, options of metric_interval
    theorem: str = "asymptotic"
    groups: bool = False  # Whether it takes groups of rows that depend on each other
    one_class: bool = False  # Whether a list of one class has an interval too
    explicit: str = ""  # Why it is used on request only


def _placements(evidence: Evidence, level: float, *, name: str, **_: Any) -> Interval:
    grouped = evidence.groups is not None
    area = auc_interval_of(evidence.by_groups(), level, name, grouped=grouped)
    return of_range(area, evidence.measure)


def of_range(area: Interval, measure: Measure) -> Interval:
    """Turn an interval for the AUC into that of a measure that is linear in it."""
    low, high = measure.range
    if (low, high) == (0.0, 1.0):
        return area
    return replace(area._in_unit(high - low, low), target=measure.laws["placements"])


def _ranks(
    evidence: Evidence,
    level: float,
    *,
    name: str,
    n_resamples: int = 0,
    rng: np.random.Generator | None = None,
) -> Interval:
    laws = evidence.measure.laws
    phi, normalize, by_chance = laws.get("ranks") or laws["rank sums"]
    if name == "bootstrap":
        drawn: Any = n_resamples, rng
        result = rank_bootstrap_interval(evidence, phi, normalize, level, *drawn)
    else:
        method = dkw_interval if name == "dkw" else rank_interval
        result = method(evidence, phi, normalize, level)
    if by_chance:
        result = result._in_unit(1.0 / float(mean_at_random(phi, evidence.data.sizes)[0]))
    return result


def _influence(evidence: Evidence, level: float, **_: Any) -> Interval:
    measure, groups = evidence.measure, evidence.groups
    if measure.kind == "graded":
        # Student's quantile counts the items, each a group by itself.
        evidence = evidence.repeat()
        groups = evidence.units
    influence = influence_of(measure, evidence.merged, conditional=evidence.conditional)
    return list_interval(measure, influence, level, groups, conditional=evidence.conditional)


def _order_statistics(evidence: Evidence, level: float, **_: Any) -> Interval:
    measure, conditional = evidence.measure, evidence.conditional
    influence: Any = influence_of(measure, evidence.merged, conditional=conditional)
    interval = list_interval(measure, influence, level, conditional=conditional)
    low, high = rate_limits(influence.curve, level)
    return replace(interval, low=low, high=high, method="order statistics")


# In the order of preference: "auto" is the first that the laws of the measure allow.
METHODS: tuple[Method, ...] = (
    *(
        Method(name, "placements", _placements, groups=True, one_class=True)
        for name in ("wilson", "logit-delong", "delong")
    ),
    *(
        Method(name, "placements", _placements, theorem, one_class=True)
        for name, theorem in (
            ("chebyshev", "asymptotic"),
            ("kl", "Hoeffding (1963), Theorem 1 and Section 5"),
            ("mcdiarmid", "Agarwal et al. (2005), Corollary 6"),
        )
    ),
    Method("influence", "top", top_interval, groups=True),
    Method("exact", "top", top_interval, "binomial counts about the threshold"),
    Method("influence", "ranks", _ranks, groups=True),
    Method("dkw", "ranks", _ranks, "Massart (1990), Chernoff (1952)", groups=True),
    Method("bootstrap", "ranks", _ranks),
    Method(
        "bootstrap",
        "rank sums",
        _ranks,
        explicit="phi depends on the length of the list, so that lists are resampled",
    ),
    Method("wilson", "draws", draws_interval, groups=True, one_class=True),
    Method(
        "exact", "draws", draws_interval, "Clopper & Pearson (1934)", groups=True, one_class=True
    ),
    Method("exact", "any", any_interval, "Clopper & Pearson (1934)", groups=True, one_class=True),
    Method("dkw", "distributions", largest_difference_interval, "Massart (1990)", groups=True),
    Method("order statistics", "curve", _order_statistics),
    Method("influence", "influence", _influence, groups=True),
    Method(
        "bootstrap",
        "resamples",
        bootstrap_interval,
        groups=True,
        explicit=(
            "it has no influence function (see make_measure(..., influence=)), and the bootstrap"
            " is wrong for measures that a single item determines, such as extremes"
        ),
    ),
)


def methods_of(measure: Measure) -> dict[str, Method]:
    """Methods by name, the preferred one first; an error says why a measure has none."""
    laws, methods = measure.laws, dict[str, Method]()
    for method in METHODS:
        if method.law in laws:
            methods.setdefault(method.name, method)
    if not methods:
        raise ValueError(f"{measure.name} {_reason(measure)}.")
    return methods


def _reason(measure: Measure) -> str:
    if getattr(measure, "convention", None) is not None:
        return (
            "of one list follows the convention of another system, which has no interval: leave"
            " out convention, or pass qid for the mean over queries"
        )
    if measure.per_query:
        return (
            "of one list is a single value, so its variance cannot be estimated: pass qid, the"
            " query id of each row, for the mean over queries"
        )
    return (
        "has no influence function, so it has no interval for one list: pass influence= to"
        " make_measure, or pass qid for the mean over queries"
    )


def method_of(
    measure: Measure,
    name: str = "auto",
    *,
    grouped: bool = False,
    sampled: bool = False,
) -> Method:
    """Find the method of a name; refuse one that does not support the sample."""
    if sampled:
        refuse_sampling(measure)
        if name not in ("auto", "influence"):
            raise ValueError(
                f"method={name!r} does not support weights='sampling': pass method='influence', or"
                " leave method out."
            )
        return Method("influence", "influence", _of_sampled_rows, groups=True)
    methods = methods_of(measure)
    names = " or ".join(map(repr, methods))
    with_groups = [method for method in methods.values() if method.groups]
    if name == "auto":
        method = ((grouped and with_groups) or list(methods.values()))[0]
        if method.explicit:
            raise ValueError(
                f"method='auto' has no valid interval for {measure.name} of one list:"
                f" {method.explicit}; pass method={names}, or qid for the mean over queries."
            )
        return method
    if not isinstance(name, str) or name not in methods:
        is_of_queries = name in ("t", "bootstrap", "bca")
        raise ValueError(
            f"method={name!r} does not support {measure.name} of one list: pass"
            f" {names}{'; for a mean over queries pass qid' if is_of_queries else ''}."
        )
    if grouped and not methods[name].groups:
        supported = " or ".join(f"method={method.name!r}" for method in with_groups)
        instead = f"pass {supported}" if supported else "leave groups out if they are independent"
        raise ValueError(
            f"method={name!r} needs independent items and takes no groups for"
            f" {measure.name}: {instead}."
        )
    return methods[name]


def _of_sampled_rows(evidence: Evidence, level: float, **_: Any) -> Interval:
    influence = sampling_influence(evidence.measure, evidence.data)
    return list_interval(evidence.measure, influence, level, evidence.groups)


def interval_of(evidence: Evidence, level: float, method: Method, **options: Any) -> Interval:
    """Interval by a method that ``method_of`` found."""
    of_classes = evidence.measure.kind == "binary"
    if of_classes and (evidence.sampled or not method.one_class):
        refuse_one_class(evidence.data)
    if evidence.groups is not None and not evidence.sampled and method.law != "placements":
        evidence = evidence.repeat()
    return method.interval(evidence, level, name=method.name, **options)
