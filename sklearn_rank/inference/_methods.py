"""Methods of intervals for one list: what each rests on, its limits, and its theorem.

A new method is one more row of the table; a measure has it if its ``laws`` name what it rests on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any, NoReturn

import numpy as np

from ..metrics import Measure
from ..metrics._shared import ClassInfluence, Evidence, rank_bias, rank_range
from ._evidence import influence_of, refuse_one_class, refuse_sampling, sampling_influence
from ._joint import AtLevels, Single
from ._linear_rank import dkw_interval, limit_range, rank_bootstrap_interval, rank_target
from ._list_intervals import (
    any_interval,
    bootstrap_interval,
    draws_interval,
    exact_top_interval,
    largest_difference_interval,
    top_moments,
)
from ._moments import ClassMoments, Moments, RateMoments
from ._results import Interval
from ._roc import AUCMoments, is_one_class, sample_moments
from ._shares import JoinedShares


@dataclass(frozen=True)
class Method:
    """A way from the evidence of one list to an interval."""

    name: str
    law: str  # What it rests on, by its name in ``Measure.laws``
    # Of the evidence, and of its influence if that is known, for limits of moments
    moments: Callable[..., Moments] | None = None
    interval: Callable[..., Interval] | None = None  # Else of evidence, level, name, options
    theorem: str = "asymptotic"
    groups: bool = False  # Whether it takes groups of rows that depend on each other
    one_class: bool = False  # Whether a list of one class has an interval too
    explicit: str = ""  # Why it is used on request only


def _placements(evidence: Evidence, name: str, influence: Any = None) -> Moments:
    measure, groups = evidence.measure, evidence.groups
    known: Any = {"measure": measure, "method": name}
    # The influence is the placements; it knows no ties, which Chebyshev's variance asks for.
    alone = groups is None and (influence is None or name == "chebyshev")
    if alone or is_one_class(evidence.data):
        return sample_moments(evidence.data, **known)
    influence = influence or influence_of(measure, evidence.data, conditional=True)
    return AUCMoments.of_influence(influence, groups, **known)


def _top(evidence: Evidence, name: str, influence: Any = None) -> Moments:
    return top_moments(evidence)


def _rank_law(evidence: Evidence) -> tuple[Any, Any, float]:
    """Score-generating function, normalisation, and the statistic in units of chance."""
    measure = evidence.measure
    return measure._phi, measure._scale, 1.0 / float(measure._unit(evidence.data.sizes)[0])


def with_rank_bias(evidence: Evidence, influence: ClassInfluence) -> ClassInfluence:
    """Influence on a rank statistic with the bias of its estimate.

    The worst and the best order have a bias too. Order within a class has no effect, so that each
    class may be one block.
    """
    if "ranks" not in evidence.measure.laws:
        return influence
    phi, data = _rank_law(evidence)[0], evidence.merged
    n, k = float(data.sizes[0]), float(data.positives[0])
    worst, best = rank_range(phi, int(n), int(k))
    between = (influence.estimate - influence.range[0]) / influence.length
    classes, counts = np.array([True, False]), np.array([k, n - k])
    bias = rank_bias(data.positive, data.score, phi, data.weight)
    bias -= (1.0 - between) * rank_bias(classes, np.array([0.0, 1.0]), phi, counts)
    bias -= between * rank_bias(classes, np.array([1.0, 0.0]), phi, counts)
    return replace(influence, bias=bias / (best - worst) * influence.length)


def _ranks(evidence: Evidence, name: str, influence: Any = None) -> Moments:
    """Moments of a functional of the distribution of scores, for which the bias is corrected."""
    (phi, normalize, unit), conditional = _rank_law(evidence), evidence.conditional
    n, k = int(evidence.data.sizes[0]), int(evidence.data.positives[0])
    influence = influence or influence_of(evidence.measure, evidence.merged, conditional=True)
    whole = allowed = (0.0, 1.0)
    if normalize == "mean":
        # The worst and the best value too are those of another share.
        least, most = phi(np.array([0.5, n - 0.5]) / n)
        allowed = float(least) * unit, float(most) * unit
        low, high = limit_range(phi, n, k)
        whole = low * unit, high * unit
    found = ClassMoments.of(
        with_rank_bias(evidence, influence),
        evidence.groups,
        conditional=conditional,
        whole=whole,
        allowed=allowed,
        target=rank_target(evidence, n, k),
    )
    if normalize == "minmax":  # Rounding may be beyond.
        found = found.at(min(max(found.estimate, 0.0), 1.0))
    center = whole[0] + (whole[1] - whole[0]) * (found.share - found.shift)
    return replace(found, bias=found.estimate - center)


def _rank_interval(
    evidence: Evidence,
    level: float,
    *,
    name: str,
    n_resamples: int = 0,
    rng: np.random.Generator | None = None,
) -> Interval:
    phi, normalize, unit = _rank_law(evidence)
    if name == "bootstrap":
        drawn: Any = n_resamples, rng
        result = rank_bootstrap_interval(evidence, phi, normalize, level, *drawn)
    else:
        result = dkw_interval(evidence, phi, normalize, level)
    return result if unit == 1.0 else result._in_unit(unit)


def refuse_no_variance(measure: Measure) -> NoReturn:
    raise ValueError(
        f"{measure.name} has no known range and the same influence value for all items, so its"
        " variance cannot be estimated: pass range= to make_measure."
    )


def influence_moments(
    measure: Measure, influence: ClassInfluence, groups: Any = None, *, conditional: bool = True
) -> ClassMoments:
    conditional = conditional and influence.sampling_weight is None
    # What does not move with the share of positives is at no share of them.
    where = "of the population"
    if influence.label_slope and conditional:
        where = f"at {influence.n_pos} positives of {influence.n}"
    target = f"{measure.name} {where}"
    more: Any = {"conditional": conditional, "allowed": measure.range, "target": target}
    found = ClassMoments.of(influence, groups, **more)
    if not (isfinite(found.length) or found.error):
        refuse_no_variance(measure)
    return found


def _influence(evidence: Evidence, name: str, influence: Any = None) -> ClassMoments:
    measure, conditional = evidence.measure, evidence.conditional
    if evidence.sampled:
        influence = influence or sampling_influence(measure, evidence.data)
    else:
        influence = influence or influence_of(measure, evidence.merged, conditional=conditional)
    return influence_moments(measure, influence, evidence.groups, conditional=conditional)


def _order_statistics(evidence: Evidence, name: str, influence: Any = None) -> Moments:
    measure, conditional = evidence.measure, evidence.conditional
    influence = influence or influence_of(measure, evidence.merged, conditional=conditional)
    found = _influence(evidence, name, influence)
    curve, (n_pos, n_neg) = influence.curve, map(float, influence.sizes)
    n_ones, n_others = (n_pos, n_neg) if curve.of_positives else (n_neg, n_pos)
    measure_at = partial(measure.of_rate, positives=n_pos / (n_pos + n_neg))
    names = ("estimate", "error", "target", "label_variance")
    known: Any = {name: getattr(found, name) for name in names}
    of_curve: Any = {"curve": curve, "n_ones": n_ones, "n_others": n_others}
    return RateMoments(measure_at=measure_at, **of_curve, **known)


def _shares(evidence: Evidence, name: str, influence: Any = None) -> Moments:
    evidence = replace(evidence, conditional=False)
    found = _influence(evidence, name, influence)
    return JoinedShares.of(evidence, error=found.error, target=found.target)


# In the order of preference: "auto" is the first that the laws of the measure allow.
METHODS: tuple[Method, ...] = (
    *(
        Method(name, "placements", _placements, groups=True, one_class=True)
        for name in ("wilson", "logit-delong", "delong")
    ),
    *(
        Method(name, "placements", _placements, theorem=theorem, one_class=True)
        for name, theorem in (
            ("chebyshev", "asymptotic"),
            ("kl", "Hoeffding (1963), Theorem 1 and Section 5"),
            ("mcdiarmid", "Agarwal et al. (2005), Corollary 6"),
        )
    ),
    Method("influence", "top", _top, groups=True),
    Method(
        "exact",
        "top",
        interval=exact_top_interval,
        theorem="binomial counts about the threshold",
    ),
    Method("influence", "ranks", _ranks, groups=True),
    Method(
        "dkw",
        "ranks",
        interval=_rank_interval,
        theorem="Massart (1990), Chernoff (1952)",
        groups=True,
    ),
    Method("bootstrap", "ranks", interval=_rank_interval),
    Method(
        "bootstrap",
        "rank sums",
        interval=_rank_interval,
        explicit="phi depends on the length of the list, so that lists are resampled",
    ),
    Method("wilson", "draws", interval=draws_interval, groups=True, one_class=True),
    *(
        Method(
            "exact",
            law,
            interval=interval,
            theorem="Clopper & Pearson (1934)",
            groups=True,
            one_class=True,
        )
        for law, interval in (("draws", draws_interval), ("any", any_interval))
    ),
    Method("joined shares", "shares", _shares, groups=True),
    Method("order statistics", "curve", _order_statistics),
    Method("influence", "influence", _influence, groups=True),
    Method(
        "dkw",
        "distributions",
        interval=largest_difference_interval,
        theorem="Massart (1990)",
        groups=True,
    ),
    Method(
        "bootstrap",
        "resamples",
        interval=bootstrap_interval,
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
        return Method("influence", "influence", _influence, groups=True)
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


def single(
    evidence: Evidence,
    method: Method | None = None,
    influence: ClassInfluence | None = None,
    **options: Any,
) -> Single:
    """Error and limits by a method that ``method_of`` found, or by the usual one."""
    measure, sampled, grouped = evidence.measure, evidence.sampled, evidence.groups is not None
    of_classes = measure.kind == "binary"
    if method is None:
        method = method_of(measure, grouped=grouped, sampled=sampled)
    if of_classes and (sampled or not method.one_class):
        refuse_one_class(evidence.data)
    if evidence.groups is not None and method.moments is None and method.name != "wilson":
        evidence.groups.refuse_in_time(f"method={method.name!r}")
    if grouped and not sampled:
        evidence = evidence.repeat()
    if method.moments is not None:
        return method.moments(evidence, method.name, influence)
    of_list: Any = method.interval
    return AtLevels(partial(of_list, evidence, name=method.name, **options))


def interval_of(evidence: Evidence, level: float, method: Method, **options: Any) -> Interval:
    return single(evidence, method, **options).interval(level)
