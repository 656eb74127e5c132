"""Simultaneous tests and intervals for contrasts of several statistics: max-t and Holm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isfinite, isinf
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtr, stdtr, stdtrit

from .._arguments import check_choice
from .._typing import BoolArray, FloatArray, IntArray
from ..metrics import Measure
from ._influence import JointEstimate, least_variance, never_certain_covariance
from ._results import Comparison
from ._samples import refuse_collections

Contrasts: TypeAlias = tuple[tuple[str, ...], FloatArray]


def read_contrasts(names: tuple[str, ...], contrasts: Any) -> Contrasts:
    """Titles and coefficients of contrasts of rankers; shape (n_contrasts, n_rankers)."""
    if contrasts is None:
        return _of_pairs(names, *np.triu_indices(len(names), 1))
    if isinstance(contrasts, str):
        baseline = _index(contrasts, names, f"contrasts={contrasts!r}")
        rankers = np.delete(np.arange(len(names)), baseline)
        return _of_pairs(names, rankers, np.full(len(rankers), baseline))
    if isinstance(contrasts, Mapping):
        rows = {
            str(title): _coefficients(repr(title), row, names) for title, row in contrasts.items()
        }
    elif isinstance(contrasts, list | tuple | np.ndarray):
        pairs = [_read_contrast(i, contrast, names) for i, contrast in enumerate(contrasts)]
        rows = dict(pairs)
        if len(rows) < len(pairs):
            raise ValueError("contrasts contains a contrast twice: pass each contrast once.")
    else:
        raise TypeError(
            f"contrasts={contrasts!r} must be None, the name of a ranker, a mapping of names to"
            " coefficients, or a list of pairs of names or of coefficients."
        )
    if not rows:
        raise ValueError("contrasts is empty: pass at least one contrast or None for all pairs.")
    return tuple(rows), np.stack(list(rows.values()))


def _of_pairs(names: tuple[str, ...], first: IntArray, second: IntArray) -> Contrasts:
    matrix = np.zeros((len(first), len(names)))
    row = np.arange(len(first))
    matrix[row, first], matrix[row, second] = 1.0, -1.0
    return tuple(f"{names[i]} - {names[j]}" for i, j in zip(first, second, strict=True)), matrix


def _read_contrast(i: int, contrast: Any, names: tuple[str, ...]) -> tuple[str, FloatArray]:
    """Title and coefficients of a contrast that is a pair of names, or coefficients."""
    if isinstance(contrast, str):
        raise ValueError(
            f"contrasts[{i}]={contrast!r} is a single name: pass a pair of names, or"
            f" contrasts={contrast!r} to compare all others with it."
        )
    if isinstance(contrast, list | tuple) and any(isinstance(name, str) for name in contrast):
        pair = [_index(name, names, f"contrasts[{i}] names {name!r}, which") for name in contrast]
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(
                f"contrasts[{i}]={contrast!r} must be two different names, or {len(names)}"
                " coefficients."
            )
        row = np.zeros(len(names))
        row[pair] = (1.0, -1.0)
    else:
        row = _coefficients(f"contrasts[{i}]", contrast, names)
    title = ""  # The positive coefficients come first.
    for sign, word in ((1.0, " + "), (-1.0, " - ")):
        for value, name in zip(row, names, strict=True):
            if value * sign > 0.0:
                size = "" if abs(value) == 1.0 else f"{abs(value):g} "
                title += f"{word if title else ''}{size}{name}"
    return title, row


def _index(name: Any, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        raise ValueError(
            f"{what} is not among the rankers {list(names)}: pass one of these names."
        )
    return names.index(name)


def _coefficients(title: str, coefficients: Any, names: tuple[str, ...]) -> FloatArray:
    try:
        row = np.asarray(coefficients, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.array(np.nan)
    if row.shape != (len(names),) or not np.isfinite(row).all():
        raise ValueError(
            f"The contrast {title} must be {len(names)} finite numbers, one per ranker."
        )
    if not row.any() or abs(row.sum()) > 1e-9 * np.abs(row).sum():
        raise ValueError(
            f"The contrast {title} sums to {row.sum():g} over {len(names)} rankers: its"
            " coefficients must sum to 0 and must not all be 0."
        )
    return row


# Eigenvalues that are smaller, relative to the largest, are 0 up to rounding.
RANK_TOLERANCE = 1e-12
# Draws of the largest of several statistics, and products that they may take in all.
FEWEST, MOST, FLOPS = 10_000, 100_000, 2 * 10**9
# Draws that are held at a time, and entries of a block of contrasts, which the cache holds.
CHUNK, BLOCK = 2**12, 2**18


def covariance_root(covariance: FloatArray) -> FloatArray:
    """Matrix R with ``R R' = covariance``, of shape (n, rank)."""
    values, vectors = np.linalg.eigh(covariance)
    positive = values > RANK_TOLERANCE * values[-1]
    return vectors[:, positive] * np.sqrt(values[positive])


def correlation_root(covariance: FloatArray) -> FloatArray:
    """Matrix R with ``R R'`` the correlations, of shape (n, rank)."""
    errors = np.sqrt(np.diag(covariance))
    return covariance_root(covariance / np.outer(errors, errors))


def normal_draws(root: FloatArray, n_draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Draw normal variables in chunks."""
    for start in range(0, n_draws, CHUNK):
        yield rng.standard_normal((min(CHUNK, n_draws - start), root.shape[1])) @ root.T


def largest_of_contrasts(
    covariance: FloatArray,
    contrasts: FloatArray,
    rng: np.random.Generator,
    degrees: float = inf,
    *,
    signed: bool = False,
) -> FloatArray:
    """Draw the largest statistic of contrasts of normal variables, or Student's; ascending.

    There are 100,000 draws; fewer, at least 10,000, for so many contrasts that they take seconds.
    """
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0.0] = 1.0
    root = (contrasts * scale) @ covariance_root(covariance / np.outer(scale, scale))
    errors = np.sqrt(np.sum(root**2, axis=1, keepdims=True))
    # Contrasts that vary by rounding alone are as good as any one variable.
    varies = errors[:, 0] > RANK_TOLERANCE
    root = root[varies] / errors[varies] if varies.any() else np.ones((1, 1))
    root = root.astype(np.float32)
    n_draws = int(np.clip(FLOPS / root.size, FEWEST, MOST))
    rows = max(1, BLOCK // len(root))
    maxima = np.empty(n_draws, dtype=np.float32)
    for start in range(0, n_draws, rows):
        block = maxima[start : start + rows]
        statistics = rng.standard_normal((len(block), root.shape[1]), dtype=np.float32) @ root.T
        statistics.max(axis=1, out=block)
        if not signed:
            np.maximum(block, -statistics.min(axis=1), out=block)
    largest = np.sort(maxima.astype(np.float64))
    return largest if isinf(degrees) else stdtrit(degrees, ndtr(largest))


def holm_adjust(pvalues: Any) -> FloatArray:
    """Adjust p-values for multiple tests by Holm's method (family-wise error rate).

    With ``p_(1) <= ... <= p_(m)``, the adjusted value of ``p_(i)`` is the largest of ``min(1, (m -
    j + 1) p_(j))`` over j = 1..i. Rejecting the hypotheses with an adjusted value of at most alpha
    keeps the probability of one or more false rejections at most alpha.

    Parameters
    ----------
    pvalues : array-like of shape (n_tests,)
        P-values in [0, 1]; the tests may depend on each other in any way.

    Returns
    -------
    ndarray of shape (n_tests,)
        Adjusted p-values, in the order of ``pvalues``.

    Raises
    ------
    ValueError
        If ``pvalues`` is empty or has a value outside [0, 1].

    See Also
    --------
    scipy.stats.false_discovery_control : Controls the false discovery rate instead.
    compare : Compares several rankers, with adjusted p-values.

    Notes
    -----
    The adjusted p-values are never larger than Bonferroni's ``min(1, m p)``. The cost is O(m log
    m) time.

    References
    ----------
    .. [1] Holm (1979), *A simple sequentially rejective multiple test procedure*, Scandinavian
       Journal of Statistics 6.

    Examples
    --------
    >>> from sklearn_rank.inference import holm_adjust
    >>> holm_adjust([0.01, 0.04, 0.02])
    array([0.03, 0.04, 0.04])
    """
    refuse_collections("all p-values are sorted together", pvalues=pvalues)
    values = np.asarray(pvalues, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"pvalues has shape {values.shape}, but must be one-dimensional with at least one"
            " value."
        )
    if not (values.min() >= 0 and values.max() <= 1):
        i = int(np.argmax(~((values >= 0) & (values <= 1))))
        raise ValueError(
            f"pvalues is {values[i]:g} at index {i}: pass probabilities between 0 and 1."
        )
    order = np.argsort(values, kind="stable")
    scaled = np.arange(len(values), 0, -1) * values[order]
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


# Alternative hypotheses of a contrast.
ALTERNATIVES = ("two-sided", "less", "greater", "non-inferior", "equivalent")

# Differences smaller than this, relative to the largest statistic, are treated as 0.
ROUNDING = 1e-12


def level_of_both(level: float, alternative: str) -> float:
    """Level of limits on both sides that agree with a test."""
    if alternative == "two-sided":
        return level
    if level <= 0.5:
        raise ValueError(
            f"level={level:g} gives no interval with alternative={alternative!r}, which applies it"
            " to each limit: pass a level above 0.5."
        )
    return 2.0 * level - 1.0


@dataclass(frozen=True)
class Question:
    """Checked alternative, margin and level of the test of each contrast."""

    alternative: str
    margin: float | None
    level: float

    @classmethod
    def of(
        cls, measure: Measure, alternative: str | None, margin: float | None, level: float
    ) -> Question:
        """Check the arguments."""
        if alternative is None:
            alternative = "two-sided" if margin is None else "non-inferior"
        check_choice("alternative", alternative, ALTERNATIVES)
        with_margin = alternative in ("non-inferior", "equivalent")
        if with_margin and margin is None:
            raise ValueError(
                f"alternative={alternative!r} needs a margin, the largest difference of no"
                " importance: pass margin=, in units of the measure."
            )
        if margin is not None:
            if not with_margin:
                raise ValueError(
                    f"margin={margin!r} is only for 'non-inferior' and 'equivalent', but"
                    f" alternative={alternative!r}: leave one of them out."
                )
            low, high = measure.counted_range
            number = isinstance(margin, Real) and not isinstance(margin, bool | np.bool_)
            if not number or not 0.0 < margin < high - low or not isfinite(margin):
                raise ValueError(
                    f"margin={margin!r} must be greater than 0 and less than {high - low:g}, the"
                    f" length of the range of {measure.name}: pass the largest difference of no"
                    " importance."
                )
            margin = float(margin)
        level_of_both(level, alternative)
        return cls(alternative, margin, level)

    def contrasts(
        self, names: tuple[str, ...], baseline: str | None, contrasts: Any = None
    ) -> Contrasts:
        """Return the contrasts with a baseline, those of the argument, or all pairs."""
        if baseline is not None:
            if contrasts is not None:
                raise ValueError("baseline and contrasts are both given: pass one of them.")
            if str(baseline) not in names:
                raise ValueError(
                    f"baseline={baseline!r} is not among the rankers {list(names)}: pass one of"
                    " these names."
                )
            return read_contrasts(names, str(baseline))
        if self.alternative == "non-inferior" and contrasts is None and len(names) > 2:
            raise ValueError(
                f"margin={self.margin:g} tests non-inferiority to a baseline, but there are"
                f" {len(names)} rankers and no baseline: pass baseline=, or"
                " alternative='equivalent'."
            )
        return read_contrasts(names, contrasts)


def joint_comparison(
    joint: JointEstimate,
    names: tuple[str, ...],
    contrasts: Contrasts,
    question: Question,
    rng: np.random.Generator,
    measure: Measure,
    target: str,
) -> Comparison:
    """Test all contrasts simultaneously by the distribution of the largest statistic."""
    titles, matrix = contrasts
    alternative, margin = question.alternative, question.margin or 0.0
    differences = matrix @ joint.estimates
    covariance, certain = _covariance(joint, matrix, differences)
    added = covariance is not joint.covariance or bool(certain.any())
    variances = _variances(matrix, covariance)
    variances[certain] = _variances(matrix[certain], joint.regularized)
    errors = np.sqrt(variances)
    uncertain = matrix if certain.all() else matrix[~certain]
    degrees = joint.spread.least(uncertain)
    sign = 1.0 if measure.greater_is_better else -1.0
    if alternative == "equivalent":
        statistics = (margin - np.abs(differences)) / errors
    elif alternative == "non-inferior":
        statistics = (sign * differences + margin) / errors
    else:
        statistics = differences / errors
    extreme = {"two-sided": np.abs(statistics), "less": -statistics}.get(alternative, statistics)
    tails = 2.0 if alternative == "two-sided" else 1.0
    m = len(matrix)
    pvalues = np.minimum(tails * m * stdtr(degrees, -extreme), 1.0)
    critical = float(stdtrit(degrees, 1.0 - (1.0 - question.level) / tails / m))
    if m > 1:
        direction = {"less": -1.0, "non-inferior": sign}.get(alternative, 1.0)
        one_sided = alternative in ("greater", "less", "non-inferior")
        largest = largest_of_contrasts(
            covariance, direction * uncertain, rng, degrees, signed=one_sided
        )
        beyond = len(largest) - np.searchsorted(largest, extreme * (1.0 - 1e-12), "left")
        pvalues = np.minimum(pvalues, (1.0 + beyond) / (1.0 + len(largest)))
        critical = min(critical, float(np.quantile(largest, question.level, method="higher")))
    half = critical * errors
    reach = joint.length * np.abs(matrix).sum(axis=1) / 2.0
    hypothesis = f"equal {measure.name}"
    if question.margin is not None:
        relation = "worse" if alternative == "non-inferior" else "different"
        hypothesis = f"{measure.name} {relation} by {margin:g} or more"
    return Comparison(
        measure=measure.name,
        names=names,
        values=tuple(joint.estimates),
        standard_errors=tuple(np.sqrt(np.diag(covariance))),
        contrasts=titles,
        differences=tuple(differences),
        low=tuple(np.maximum(differences - half, -reach)),
        high=tuple(np.minimum(differences + half, reach)),
        statistics=tuple(statistics),
        pvalues=tuple(pvalues),
        level=question.level,
        alternative=alternative,
        margin=question.margin,
        method="max-t, added items" if added else "max-t",
        target=target,
        hypothesis=hypothesis,
        difference_errors=tuple(errors),
        greater_is_better=measure.greater_is_better,
    )


def _variances(matrix: FloatArray, covariance: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("mk,mk->m", matrix @ covariance, matrix))


def _covariance(
    joint: JointEstimate, matrix: FloatArray, differences: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Covariance for all contrasts, and which contrasts have neither value nor variance.

    It is that with the added items if a difference would otherwise be certain.
    """
    variances = _variances(matrix, joint.covariance)
    unknown = ~(variances > least_variance(differences, joint.length, joint.n_effective))
    zero = np.abs(differences) <= ROUNDING * np.abs(joint.estimates).max()
    certain = unknown & zero & ~np.isnan(variances)
    if np.array_equal(unknown, certain):
        return joint.covariance, certain
    covariance = never_certain_covariance(joint.estimates, joint.regularized, joint.n_effective)
    return covariance, np.zeros(len(matrix), dtype=bool)
