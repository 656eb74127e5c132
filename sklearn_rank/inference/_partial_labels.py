"""Score limits for a value of one list of which some labels are known.

A hypothesis gives each row that could have stayed without a label a probability q to be positive.
The measure then has a value, and the labelled rows have a statistic: the sum of their residuals
``y - q``, weighted by what their labels stand for. From the hypothesis that the labels fit best,
the walk changes q in the direction in which the value changes most for the evidence it costs, up
and down, until the statistic is as large as the level allows. Variances are those at the
hypothesis, so a sample without positives still leaves room for some.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import rankdata

from .._typing import FloatArray
from ..metrics._shared import Evidence, PartialLabels, ValueAtLabels
from ._limits import Limits, two_sided_quantile
from ._results import Interval

# Length of a step of the walk, in standard deviations of the statistic and as a change of logits.
STEP, LARGEST_CHANGE = 0.35, 0.75

# The walk ends where no step changes the value, or here.
MOST_STEPS = 400

# Of rows with probabilities that are as good as 0 or 1, so many are expected to be otherwise.
NEARLY_NONE = 0.01

# From so many labels of each class in the sample on, the variance is at least what they show.
MANY_LABELS = 20.0

# How near to 0 the statistic of the estimate is.
TOLERANCE = 0.02

# In place of the deviation 0 of a value that the unknown labels do not change.
LEAST_DEVIATION = 1e-100


class Hypothesis(NamedTuple):
    """Probabilities of the unknown labels, and what the known ones say of them."""

    logits: FloatArray  # (n_open,)
    value: float
    direction: FloatArray  # (n_open,): In which the logits change the value most
    score: float  # Weighted sum of the residuals of the labels
    deviation: float  # Standard deviation of the score
    skewness: float

    def excess(self, sign: float, z: float) -> float:
        """By how much the statistic exceeds its quantile: with Cornish and Fisher's correction."""
        tail = max(0.0, sign * self.skewness) * (z * z - 1.0) / 6.0
        return sign * self.score / self.deviation - z - tail


class ScoreWalk:
    """Hypotheses from the estimate up and down."""

    def __init__(
        self, at_labels: ValueAtLabels, labels: FloatArray, partial: PartialLabels, q: FloatArray
    ) -> None:
        is_open = partial.probability < 1.0
        self._at_labels, self._labels = at_labels, np.where(partial.known, labels, q)
        self._rows, probability = np.flatnonzero(is_open), partial.probability[is_open]
        self._sampled = partial.known[is_open]
        self._free = self._rows[~self._sampled]
        self._residual = labels[self._rows[self._sampled]]
        self._odds = (1.0 - probability) / probability
        self._third = self._odds / probability
        self._left_out = 1.0 - probability[self._sampled]
        n_pos = self._residual.sum()
        fewest = min(n_pos, len(self._residual) - n_pos)
        self._shown = min(fewest / MANY_LABELS, 1.0)
        self._most = float(logit(1.0 - NEARLY_NONE / max(len(self._rows), 1)))
        self._start = np.clip(logit(q[is_open]), -self._most, self._most)
        self._sides: dict[float, list[Hypothesis]] = {}

    @cached_property
    def estimate(self) -> Hypothesis:
        """The hypothesis on the walk that fits the labels."""
        at = self._at(self._start)
        for _ in range(MOST_STEPS):
            statistic = at.score / at.deviation
            if abs(statistic) < TOLERANCE:
                break
            logits = self._moved(at, float(np.clip(statistic, -2.0 * STEP, 2.0 * STEP)))
            if np.array_equal(logits, at.logits):
                break
            at = self._at(logits)
        return at

    def limits(self, level: float) -> Limits:
        z = two_sided_quantile(level)
        return self._limit(1.0, z), self._limit(-1.0, z)

    def _limit(self, sign: float, z: float) -> float:
        """Value where the statistic of the sign is the quantile, between two steps of the walk."""
        walk = self._sides.setdefault(sign, [self.estimate])
        for i in range(1, MOST_STEPS):
            if i == len(walk):
                logits = self._moved(walk[-1], -sign * STEP)
                if np.array_equal(logits, walk[-1].logits):
                    break
                walk.append(self._at(logits))
            if (after := walk[i].excess(sign, z)) >= 0.0:
                before = walk[i - 1].excess(sign, z)
                share = before / (before - after) if before < 0.0 else 0.0
                return walk[i - 1].value + share * (walk[i].value - walk[i - 1].value)
        return walk[-1].value

    def _moved(self, at: Hypothesis, length: float) -> FloatArray:
        """Logits after a step of a length in standard deviations of the score."""
        ahead = np.sign(length) * at.direction
        can_move = np.where(ahead > 0.0, at.logits < self._most, at.logits > -self._most)
        largest = float(np.abs(ahead[can_move]).max(initial=0.0))
        if largest == 0.0:
            return at.logits
        step = min(abs(length) / at.deviation, LARGEST_CHANGE / largest)
        return np.clip(at.logits + step * ahead, -self._most, self._most)

    def _at(self, logits: FloatArray) -> Hypothesis:
        q = expit(logits)
        self._labels[self._free] = q[~self._sampled]
        value, derivative = self._at_labels(self._labels)
        slope, spread = derivative[self._rows], q * (1.0 - q)
        direction = slope * self._odds
        of_labels = direction[self._sampled] * (self._residual - q[self._sampled])
        variance = float(direction @ (slope * spread))
        if self._shown:
            squares = of_labels**2 / self._left_out
            variance += self._shown * max(float(squares.sum()) - variance, 0.0)
        deviation = max(float(np.sqrt(variance)), LEAST_DEVIATION)
        third = float((slope**3 * self._third) @ (spread * (1.0 - 2.0 * q)))
        score = float(of_labels.sum())
        return Hypothesis(logits, value, direction, score, deviation, third / deviation**3)


def probabilities_of_labels(evidences: Sequence[Evidence]) -> FloatArray:
    """Probability of each label to be positive, as scores and proxy predict it where labels are.

    The walk starts from these; a wrong prediction costs width, not coverage.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    partial, labels = evidences[0].partial, evidences[0].data.labels
    assert partial is not None
    known, n = partial.known, len(labels)
    if np.all(labels[known] == labels[known][0]):
        return np.full(n, (labels[known].sum() + 0.5) / (known.sum() + 1.0))
    shares = [(rankdata(evidence.data.score) - 0.5) / n for evidence in evidences]
    if partial.proxy is not None:
        shares.append(np.clip(partial.proxy, 1e-6, 1.0 - 1e-6))
    columns = np.column_stack([*map(logit, shares), partial.probability < 1.0])
    scaled = StandardScaler().fit_transform(columns)
    model = LogisticRegression().fit(scaled[known], labels[known])
    return np.asarray(model.predict_proba(scaled)[:, 1])


def walk_of(evidences: Sequence[Evidence], contrast: Sequence[float] = (1.0,)) -> ScoreWalk:
    """Walk of a contrast of the values of rankers that scored the same rows."""

    def at_labels(labels: FloatArray) -> tuple[float, FloatArray]:
        value, derivative = 0.0, np.zeros(len(labels))
        for factor, evidence in zip(contrast, evidences, strict=True):
            if factor:
                single = evidence.at_labels(labels)
                value += factor * single[0]
                derivative += factor * single[1]
        return value, derivative

    partial = evidences[0].partial
    assert partial is not None
    labels = evidences[0].data.labels.astype(np.float64)
    return ScoreWalk(at_labels, labels, partial, probabilities_of_labels(evidences))


def partial_interval(evidence: Evidence, level: float, **_: Any) -> Interval:
    walk, partial = walk_of([evidence]), evidence.partial
    assert partial is not None
    low, high = walk.limits(level)
    target = list_in_part(evidence.measure.name, partial)
    error = walk.estimate.deviation
    return Interval(walk.estimate.value, low, high, level, "score", target, error)


def list_in_part(name: str, partial: PartialLabels) -> str:
    known = partial.known
    return f"{name} of this list, {known.sum()} of {len(known)} labels known"
