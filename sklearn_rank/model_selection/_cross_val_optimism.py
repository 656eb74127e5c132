"""Value of the model fitted to all rows: its apparent value minus the optimism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._printed import fixed
from .._typing import AnyArray, FloatArray, IntArray
from .._warn import warn
from ..inference import Interval
from ._cross_val_design import Sample
from ._cross_val_evidence import held_out, query_values, value_of_list
from ._cross_val_fits import Part, fit_parts
from ._query_ids import queries_of

__all__ = ["BootstrapFound", "bootstrap_interval"]

# Number of unsuccessful draws after which an error reports too few items of a class.
MOST_DRAWS = 1000

# Expected fraction of the rows in a bootstrap sample.
SHARE_DRAWN = 0.632


@dataclass(frozen=True, eq=False)
class BootstrapFound:
    """Bootstrap estimate for the model fitted to all rows."""

    limits: Interval
    note: str  # How the estimate came about


def bootstrap_interval(
    sample: Sample,
    method: str,
    n_resamples: int,
    level: float,
    rng: np.random.Generator,
    jobs: dict[str, Any],
) -> BootstrapFound:
    """Fit to all rows and to bootstrap samples, and correct the apparent value."""
    every = np.arange(len(sample.labels))
    parts = [_draw(sample, rng) for _ in range(n_resamples)]
    scores = fit_parts(sample.plan, [Part(every, every), *parts], **jobs)
    apparent = _value(sample, scores[0])
    outside = [np.setdiff1d(every, part.train) for part in parts]
    unseen = held_out(sample, outside, [[s[o] for s, o in zip(scores[1:], outside, strict=True)]])
    if method == "optimism":
        seen = [
            _value(sample, score, part.train) - _value(sample, score)
            for part, score in zip(parts, scores[1:], strict=True)
        ]
        estimate = apparent - float(np.mean(seen))
        _warn_of_perfect_fit(sample, apparent)
        note = f"Apparent {fixed(apparent)}, of which {fixed(float(np.mean(seen)))} is optimism"
    else:
        left_out = float(unseen.values[0].mean())
        estimate = _plus(sample, apparent, left_out)
        note = f"Apparent {fixed(apparent)}, and {fixed(left_out)} on rows outside of the samples"
    estimate = float(np.clip(estimate, *sample.measure.counted_range))
    limits = unseen.interval(0, level, center=estimate)
    return BootstrapFound(limits, f"{note}, by {n_resamples} bootstrap samples.")


def _plus(sample: Sample, apparent: float, left_out: float) -> float:
    """Weigh the apparent value and that outside of the samples by how far the model overfits."""
    measure = sample.measure
    if not measure.is_mean_over_ties:
        raise ValueError(
            f"{measure.name!r} has no known value for a random order, which method='632+' needs:"
            " pass method='optimism' or 'folds'."
        )
    sign = 1.0 if measure.greater_is_better else -1.0
    nothing = sign * _value(sample, np.zeros(len(sample.labels)))
    seen, unseen, overfit = sign * apparent, sign * left_out, 0.0
    if seen > nothing:
        unseen = max(unseen, nothing)
        overfit = max(seen - unseen, 0.0) / (seen - nothing)
    weight = SHARE_DRAWN / (1.0 - (1.0 - SHARE_DRAWN) * overfit)
    return sign * ((1.0 - weight) * seen + weight * unseen)


def _value(sample: Sample, score: FloatArray, train: IntArray | None = None) -> float:
    """Value of scores of all rows, or of those of a sample, each as often as it was drawn."""
    rows = np.arange(len(score)) if train is None else train
    if sample.metadata.qid is None:
        return value_of_list(sample.measure, sample.labels[rows] == 1, score[rows])
    values, ids = query_values(sample, np.arange(len(score)), [score])
    times = np.bincount(rows, minlength=len(score))
    first = np.unique(sample.query_ids, return_index=True)
    drawn = times[first[1][np.searchsorted(first[0], ids)]]
    return float(np.average(values[0], weights=drawn))


def _draw(sample: Sample, rng: np.random.Generator) -> Part:
    """Draw a bootstrap sample with rankable rows inside and outside it."""
    every = np.arange(len(sample.labels))
    for _ in range(MOST_DRAWS):
        part = _drawn_units(sample, rng, every)
        outside = np.setdiff1d(every, part.train)
        if _can_rank(sample, part.train) and _can_rank(sample, outside):
            return part
    raise ValueError(
        f"None of {MOST_DRAWS} bootstrap samples has both classes inside and outside the sample:"
        " pass more rows, or more groups, of the rarer class."
    )


def _can_rank(sample: Sample, rows: IntArray) -> bool:
    if sample.positive is None:
        return len(rows) > 0
    return bool(sample.positive[rows].any() and not sample.positive[rows].all())


def _drawn_units(sample: Sample, rng: np.random.Generator, every: IntArray) -> Part:
    """Rows within each class, or whole queries or groups."""
    ids = sample.metadata.units
    if ids is None:
        classes: Sequence[AnyArray] = [every[sample.labels == k] for k in (1, 0)]
        drawn = [rng.choice(rows, len(rows)) for rows in classes]
        return Part(np.sort(np.concatenate(drawn)), every)
    units = queries_of(ids, len(every), "The bootstrap")
    drawn_units = rng.integers(units.count, size=units.count)
    counts = np.bincount(drawn_units, minlength=units.count)[units.of_rows]
    train = np.repeat(every, counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    return Part(train, every, np.arange(len(train)) - starts)


def _warn_of_perfect_fit(sample: Sample, apparent: float) -> None:
    best = sample.measure.range[1 if sample.measure.greater_is_better else 0]
    if abs(apparent - best) < 1e-9 * max(abs(best), 1.0):
        warn(
            f"The model fitted to all rows has the best possible {sample.measure.name} on them,"
            f" {best:g}: for models that memorise the training rows, such as forests,"
            " method='optimism' underestimates the optimism; pass method='632+' or 'folds'.",
            UserWarning,
        )
