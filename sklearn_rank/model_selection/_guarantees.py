"""Guarantees of a search: limits of all candidates together that hold for every distribution."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from .._typing import FloatArray
from ..bounds import Bound, auc_bound, auc_fold_mean_bound
from ..bounds._shared import (
    OURS,
    SAME_TIES,
    TIES_IN_RANDOM_ORDER,
    kl_limits,
    mean_limits,
    n_terms,
    top_precision_limits,
)
from ..inference._shared import dkw_lower_limits
from ..metrics import Measure
from ._held_out import HeldOut


class Guarantee(NamedTuple):
    """A theorem for the means of candidates on a part."""

    theorem: str
    assumptions: tuple[str, ...] = ()
    of_each_part: bool = False  # Whether delta is divided between the parts


GUARANTEES = {
    "mcdiarmid": Guarantee(""),
    "hoeffding": Guarantee("Hoeffding (1963), Theorem 2"),
    "kl": Guarantee("Hoeffding (1963), Theorem 1"),
    "bernstein": Guarantee("Maurer & Pontil (2009), Theorem 4", of_each_part=True),
    "exact": Guarantee(f"{OURS}, Theorem 10", (TIES_IN_RANDOM_ORDER,), of_each_part=True),
    "dkw": Guarantee(f"{OURS}, Theorem 8", (SAME_TIES,), of_each_part=True),
}


def theorems_of(measure: Measure, of_queries: bool) -> tuple[str, ...]:
    """Inequalities for the mean over queries, or for one list."""
    if of_queries:
        bounded = np.isfinite(measure.counted_range).all()
        return ("hoeffding", "kl", "bernstein") if bounded else ()
    return () if measure.per_query else measure.theorems


def usual_method(held_out: HeldOut, delta: float, n_candidates: int) -> str:
    """Default method, which must not depend on the scores."""
    theorems = theorems_of(held_out.measure, held_out.of_queries)
    method = next((name for name in ("kl", "exact", "dkw") if name in theorems), "max-t")
    if method == "dkw" and not _bands_are_useful(held_out, delta / n_candidates):
        return "max-t"
    return "hoeffding" if method == "kl" and held_out.n_parts > 1 else method


def _bands_are_useful(held_out: HeldOut, delta: float) -> bool:
    """Whether a perfect order keeps two thirds of its distance to tied items.

    With less, the theorem is not useful for realistic orders.
    """
    classes = (part[0].positive for part in held_out.lists)
    places = (np.argsort(np.argsort(positive, kind="stable")) for positive in classes)
    best = replace(held_out, scores=[[place.astype(np.float64)] for place in places])
    lead = float(best.means[0]) - float(held_out.chance or 0.0)
    return float(margins(best, "dkw", np.array([delta]))[0]) <= lead / 3.0


def margins(held_out: HeldOut, method: str, deltas: FloatArray) -> FloatArray:
    """Distances of the lower limits from the means, each failing with its own delta."""
    n, (low, high) = held_out.n_parts, held_out.range
    if method == "kl" and n > 1:
        shares = np.clip((held_out.means - low) / (high - low), 0.0, 1.0)
        fewest = min(map(min, held_out.sizes.values()))
        entropies = np.array([fold_entropy(fewest, float(delta)) for delta in deltas])
        return (high - low) * (shares - kl_limits(shares, entropies)[0])
    of_part = deltas / n if GUARANTEES[method].of_each_part else deltas
    lower = [_lower_limits(held_out, method, part, of_part) for part in range(n)]
    return np.maximum(held_out.means - np.mean(lower, axis=0), 0.0)


def _lower_limits(held_out: HeldOut, method: str, part: int, deltas: FloatArray) -> FloatArray:
    """Lower limits of the candidates on a part, each of which fails with its own delta."""
    if method == "dkw":
        return dkw_lower_limits(held_out.lists[part], held_out.measure, deltas)
    if method == "exact":
        # Binomial counts of both classes above the threshold of the population: the negatives
        # above each positive, from the top.
        above = []
        for data in held_out.lists[part]:
            negative, positive = (np.sort(data.score[x]) for x in (~data.positive, data.positive))
            above.append(len(negative) - np.searchsorted(negative, positive[::-1], "left"))
        measure: Any = held_out.measure
        n, tau = len(held_out.lists[part][0].score), measure.tau
        return top_precision_limits(np.stack(above), n, tau, np.log(deltas))
    # A mean of independent values, or the AUC by independent pairs.
    sizes, values = [n[part] for n in held_out.sizes.values()], held_out.values[:, part]
    n = sizes[0] if held_out.of_queries else n_terms(method, *sizes)
    low, length = held_out.range[0], held_out.range[1] - held_out.range[0]
    variance: Any = 0.0
    if method == "bernstein":
        variance = np.array([x.values.var(ddof=1) for x in held_out.queries[part]]) / length**2
    shares = np.clip((values - low) / length, 0.0, 1.0)
    margin = shares - mean_limits(method, shares, n, -np.log(deltas), variance)[0]
    return values - length * np.minimum(margin, 1.0)


def bound_of(
    held_out: HeldOut, method: Any, candidate: int, delta: float, weights: FloatArray, n: int
) -> Bound:
    """Make the bound for a candidate that was chosen by its scores, of ``n`` candidates.

    Where the candidates have unequal parts of delta, that of equal ones is restated.
    """
    name, folds, guarantee = held_out.measure.name, held_out.n_parts > 1, GUARANTEES[method]
    value = float(margins(held_out, method, delta * weights)[candidate])
    in_chernoff_form = method == "kl" and folds
    if held_out.is_auc and not in_chernoff_form:
        n_pos, n_neg = held_out.sizes.values()
        options: Any = {"method": method, "side": "lower"}
        if folds:
            options["n_functions"] = n
            bound = auc_fold_mean_bound(n_pos, n_neg, delta, **options)
        else:
            options["auc"] = float(held_out.means[candidate]) if method == "kl" else None
            options["function_class"] = n
            bound = auc_bound(n_pos[0], n_neg[0], delta, **options)
    else:
        theorem = guarantee.theorem
        if in_chernoff_form:
            theorem = f"{OURS}, Theorem 5 in Chernoff's form"
        theorem += f"{', for folds' * folds}, for all candidates"
        expected = f"{held_out.of_new_data} {name}"
        difference = [f"{'mean ' * held_out.of_queries}{name}", f"{expected} of the chosen model"]
        if folds:
            difference = [f"mean {name} of the parts", f"mean {expected} of their models"]
        apart = "each part is scored by models that were fitted without it"
        units = "queries are independent and of one distribution"
        if not held_out.of_queries:
            units = "items are independent given their labels"
        bound = Bound(
            value=value,
            theorem=theorem + " and parts" * (folds and guarantee.of_each_part),
            target=" - ".join(difference[:: int(held_out.sign)]),
            delta=delta,
            conditioned_on="" if held_out.of_queries else "the labels",
            assumptions=(apart, units, *guarantee.assumptions),
        )
    if in_chernoff_form or np.allclose(weights * n, 1.0, rtol=1e-12, atol=0.0):
        return bound
    return replace(
        bound,
        value=value,
        theorem=f"{bound.theorem}, each candidate with its prior share of delta",
        assumptions=(*bound.assumptions, "the prior weights do not depend on the data"),
    )


def fold_entropy(n: int, delta: float) -> float:
    """Largest relative entropy of a mean over folds: ``ln(xi(n) / delta) / n``.

    ``xi(n) = sum_j C(n, j) (j/n)^j (1 - j/n)^(n-j)``, about ``sqrt(pi n / 2)``.
    """
    j = np.arange(n + 1.0)
    terms = gammaln(n + 1.0) - gammaln(j + 1.0) - gammaln(n - j + 1.0)
    terms += xlogy(j, j / n) + xlogy(n - j, 1.0 - j / n)
    return (float(logsumexp(terms)) - log(delta)) / n
