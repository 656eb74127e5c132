"""Which rows to label next: probabilities by influence and uncertainty, and a sample of them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._partitions import refuse_collections
from .._printed import Printed, fixed
from .._typing import FloatArray, IntArray
from .._validation import (
    are_missing,
    array_of_labels,
    check_column,
    check_generator,
    check_length,
    check_level,
    check_whole,
    refuse_misread,
)
from ..bounds._shared import NEGLIGIBLE
from ..inference._shared import check_lists, two_sided_quantile
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._label_design import LabelDesign, check_proxy
from ._questions import lists_in_part
from ._score_path import probabilities_of_labels

# Share of the labels of rows with an influence that goes to all of these alike, as the predictions
# may be wrong; and share of the budget for rows without any, so that no probability is 0.
ALIKE, WITHOUT = 0.2, 0.01


@dataclass(frozen=True, eq=False, repr=False)
class LabelPlan(Printed):
    """Rows to label next, and the probabilities that they were drawn with.

    Parameters
    ----------
    measure : str
        Name of the measure, or of the difference, that the plan is for.
    inclusion_probability : ndarray of shape (n_samples,)
        Probability with which each row is labelled: 1 for rows that have a label. The others sum
        to the budget.
    chosen : ndarray of shape (budget,)
        Numbers of the rows to label, ascending.
    expected_standard_error : float
        Standard error of the measure that is expected once these rows have labels.
    uniform_standard_error : float
        The same for as many rows drawn with equal probabilities.
    level : float
        Level of the interval that ``expected_width`` is for.

    See Also
    --------
    plan_labels : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import LabelPlan
    >>> print(LabelPlan("auc", np.array([1, 0.5, 0.5]), np.array([1]), 0.08, 0.1, 0.95))
    1 of 2 rows without labels, for auc
    expected standard error 0.0800, 95 % interval 0.3136 wide; drawn uniformly 0.1000
    """

    measure: str
    inclusion_probability: FloatArray
    chosen: IntArray
    expected_standard_error: float
    uniform_standard_error: float
    level: float

    @property
    def expected_width(self) -> float:
        """Expected width of the interval, as that of a normal estimate."""
        return 2.0 * two_sided_quantile(self.level) * self.expected_standard_error

    @property
    def design(self) -> LabelDesign:
        """The design for ``metric_interval`` and ``compare`` once the labels are filled in."""
        labelled = self.inclusion_probability == 1.0
        labelled[self.chosen] = True
        return LabelDesign(inclusion_probability=self.inclusion_probability, pool=labelled)

    def __str__(self) -> str:
        is_certain = self.inclusion_probability == 1.0
        n_open = int((~is_certain).sum() + is_certain[self.chosen].sum())
        return (
            f"{len(self.chosen):,} of {n_open:,} rows without labels, for {self.measure}\n"
            f"expected standard error {fixed(self.expected_standard_error)},"
            f" {100 * self.level:.6g} % interval {fixed(self.expected_width)} wide; drawn"
            f" uniformly {fixed(self.uniform_standard_error)}"
        )


def plan_labels(
    measure: MeasureLike,
    scores: Any,
    *,
    budget: int | None = None,
    width: float | None = None,
    y_true: Any = None,
    proxy: Any = None,
    compare_with: Any = None,
    pos_label: Any = None,
    level: float = 0.95,
    random_state: Any = None,
) -> LabelPlan:
    """Choose the rows to label next for a measure of one list, or for a difference of two rankers.

    A row is labelled with a probability proportional to ``|L_i| sqrt(p_i (1 - p_i))``: L_i is the
    derivative of the measure in its label, p_i the predicted probability that it is positive. This
    makes the variance as small as the predictions are right.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts, such as
        ``"precision@100"``, ``"recall@100"``, ``"auc"`` or ``"ap"``.
    scores : array-like of shape (n_samples,)
        Scores of the ranker for all rows.
    budget : int or None, default=None
        Number of rows to label, from 1 to the number of rows without a label.
    width : float or None, default=None
        Width of the interval, instead of a budget: the plan has the smallest number of labels with
        which the expected width is at most this, greater than 0.
    y_true : array-like of shape (n_samples,), default=None
        Labels known so far, missing (NaN, None or ``pandas.NA``) for other rows. None means that
        no label is known; ``proxy`` is then required.
    proxy : array-like of shape (n_samples,), default=None
        Predicted probability of each row to be positive, of a model that was not fitted on these
        rows. Where labels are known, a logistic regression on proxy and scores adapts it to them;
        None uses the scores alone.
    compare_with : array-like of shape (n_samples,), default=None
        Scores of another ranker: the plan is for the difference, ``scores`` minus these.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    level : float, default=0.95
        Level of the interval of which the width is forecast, in (0, 1).
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed of the sample. Pass an int for reproducible results.

    Returns
    -------
    LabelPlan
        The rows, their probabilities as a :class:`LabelDesign`, and the standard error to expect.

    Raises
    ------
    TypeError
        If none or both of ``budget`` and ``width`` are passed.
    ValueError
        If an argument is not valid, there are neither labels nor a proxy, the budget exceeds
        the number of rows without a label, or these cannot change the width.

    See Also
    --------
    metric_interval, compare : Take the labels and the design of the plan.
    recall_certificate : Says when enough positives are found.
    sample_size : Number of rows where all of them are labelled.

    Notes
    -----
    With inclusion probabilities pi_i the variance is
    ``sum of (1 - pi_i)/pi_i L_i^2 p_i (1 - p_i)``, which the probabilities minimise for a given
    sum; those that would exceed 1 are 1. A fifth of the labels does not rest on the predictions:
    all rows with a derivative have equal parts of it, which makes the variance at most about five
    times that of equal probabilities where the predictions are wrong, and 1.25 times the least
    where they are right. Rows without a derivative, such as those below the first k, share 1 % of
    the budget, and what exceeds the number of others. A plan for one measure may be a poor one for
    another.

    **The sample** is of fixed size, by the pivotal method [1]_ in random order: two rows meet, and
    one of them passes its probability on to the other, until each is 0 or 1. The inclusion
    probabilities are exact, and no two rows are positively correlated. For terms of one sign the
    variance is thus at most that of independent draws, which the intervals use; for any terms it
    is at most twice that, and for terms that do not depend on the order of the draws about equal
    or less. Systematic samples have no such limits.

    **Batches.** Fill in the labels of a plan, and pass all labels to the next one. Rows with
    labels then have probability 1, because they are certain given what came before; the new rows
    are a sample of the others. The interval by the design of the *last* batch is valid given the
    earlier ones, whatever the plan learnt from them. Labels of earlier batches then count as
    known, but do not tell of other rows, which the last batch alone does: make it the largest. In
    the interval of a batch its own rows keep the probabilities of its plan; with probability 1 it
    is biased. If the number of batches depends on the intervals, divide ``1 - level`` among them.

    **The forecast** is for the value of this list (``conditional=True`` of
    :func:`metric_interval`), and as good as the predictions. If only the first rows have labels,
    they are extrapolated to the others, and the standard error of recall was then up to 10 times
    the forecast; label a few of the others at random first. The intervals do not rest on it.
    They allow for what a sample with few positives leaves open, and are then wider than those of a
    normal estimate: where the wanted ``width`` is not found, plan again with the new labels.

    The cost is that of the measure and of a logistic regression, and O(n) for the sample, with
    ``width`` O(n log n).

    References
    ----------
    .. [1] Deville & Tillé (1998), *Unequal probability sampling without replacement through a
       splitting method*, Biometrika 85.

    Examples
    --------
    The champion's first 50 rows were reviewed. Label 20 more for the precision of a challenger:

    >>> import numpy as np
    >>> from sklearn_rank.inference import metric_interval, plan_labels
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) < 50
    >>> champion, challenger = 2 * y + rng.normal(size=(2, 1000))
    >>> y_true = np.where(np.argsort(np.argsort(-champion)) < 50, y, np.nan)
    >>> plan = plan_labels(
    ...     "precision@50", challenger, budget=20, y_true=y_true, random_state=0
    ... )
    >>> print(plan)
    20 of 950 rows without labels, for precision@50
    expected standard error 0.0373, 95 % interval 0.1463 wide; drawn uniformly 0.3402
    >>> y_true[plan.chosen] = y[plan.chosen]
    >>> asked = {"design": plan.design, "conditional": True}
    >>> print(metric_interval("precision@50", y_true, challenger, **asked))
    0.5770 [0.4915, 0.6620] (precision@50 of this list, 70 of 1000 labels known, 95 %, score)
    """
    reason = "labels known in part belong to rows"
    refuse_collections(reason, scores=scores, y_true=y_true, compare_with=compare_with)
    refuse_misread(y_true=y_true, scores=scores, compare_with=compare_with, proxy=proxy)
    level, rng, measure = check_level(level), check_generator(random_state), get_measure(measure)
    named = {"scores": scores, "compare_with": compare_with}
    rankers = {name: x for name, x in named.items() if x is not None}
    if (budget is None) == (width is None):
        raise TypeError(f"budget={budget} and width={width}: pass one of the two.")
    if width is not None:
        low, high = measure.counted_range
        width = check_length("width", width, (high - low) * len(rankers), "the interval")
    of_rankers: Any = {"scores": list(rankers.values()), "names": list(rankers)}
    known = np.zeros(len(check_column("scores", scores)), dtype=bool)
    if y_true is not None:
        known = ~are_missing(array_of_labels(y_true))
    if known.any():
        design = LabelDesign(np.where(known, 1.0, 1.0 / len(known)), proxy=proxy)
        evidences = lists_in_part(
            measure, y_true, design=design, pos_label=pos_label, **of_rankers
        )
        p = probabilities_of_labels(evidences)
        at = np.where(known, evidences[0].data.labels, p)
    elif proxy is None:
        raise ValueError(
            "No label is known and there is no proxy, so nothing predicts where the positives are:"
            " pass proxy=, or label a few random rows first and pass y_true."
        )
    else:
        at = p = check_proxy("proxy", proxy, len(known))
        evidences = check_lists(measure, np.zeros(len(known)), **of_rankers)
    rows = np.flatnonzero(~known)
    n_labels = 1 if budget is None else check_whole("budget", budget, 1)
    if n_labels > len(rows):
        asked = f"budget={budget}" if width is None else f"width={width:g}"
        raise ValueError(
            f"{asked}, but only {len(rows)} of {len(known)} rows have no label: a plan has at most"
            " this number."
        )
    slopes = [evidence.label_function.at(at).slope[rows] for evidence in evidences]
    influence = np.abs(slopes[0] if compare_with is None else slopes[0] - slopes[1])
    largest = max(float(np.abs(slope).max()) for slope in slopes)
    influence[influence <= NEGLIGIBLE * largest] = 0.0
    deviation = influence * np.sqrt(p[rows] * (1.0 - p[rows]))
    has_influence = influence > 0.0
    n_with = int(has_influence.sum())
    n_without = len(rows) - n_with

    def probabilities(n: int) -> FloatArray:
        labels_with = float(np.clip((1.0 - WITHOUT) * n, n - n_without, n_with))
        of_rows = np.full(len(rows), (n - labels_with) / max(n_without, 1))
        of_rows[has_influence] = _probabilities(deviation[has_influence], labels_with)
        return of_rows

    def error(pi: Any) -> float:
        return float(np.sqrt(np.sum((1.0 - pi) / pi * deviation**2)))

    if width is not None:
        if not deviation.any():
            raise ValueError(
                f"width={width:g}, but no label changes the expected width, which is 0: the rows"
                f" without a label do not move {measure.name}, or are predicted with certainty."
            )
        most = width / (2.0 * two_sided_quantile(level))
        n_labels = 1 + bisect_left(
            range(1, len(rows)), True, key=lambda n: error(probabilities(n)) <= most
        )
    probability = np.ones(len(known))
    probability[rows] = of_rows = probabilities(n_labels)
    name = measure.name if compare_with is None else f"the difference of {measure.name}"
    chosen, uniform = rows[_pivotal_sample(of_rows, rng)], error(n_labels / len(rows))
    return LabelPlan(name, probability, chosen, error(of_rows), uniform, level)


def _probabilities(deviation: FloatArray, total: float) -> FloatArray:
    """Probabilities of a sum, in proportion to deviations and in part alike, at most 1."""
    n, of_all = len(deviation), float(deviation.sum())
    sizes = np.full(n, 1.0 / max(n, 1))
    if of_all:
        sizes = (1.0 - ALIKE) * deviation / of_all + ALIKE * sizes
    certain = np.zeros(n, dtype=bool)
    while True:
        left = float(sizes[~certain].sum())
        probability = np.ones(n)
        probability[~certain] = (total - certain.sum()) * sizes[~certain] / left
        beyond = ~certain & (probability > 1.0 - NEGLIGIBLE)
        if not beyond.any():
            return probability
        certain |= beyond


def _pivotal_sample(probability: FloatArray, rng: np.random.Generator) -> IntArray:
    """Rows of a sample of fixed size with these probabilities, ascending."""
    open_rows = rng.permutation(np.flatnonzero(probability < 1.0))
    chosen = np.flatnonzero(probability == 1.0).tolist()
    row, held = -1, 0.0
    draws = rng.random(len(open_rows))
    for other, own, draw in zip(
        open_rows.tolist(), probability[open_rows].tolist(), draws.tolist(), strict=True
    ):
        held += own
        if held < 1.0:
            # One row drops out, the other holds both probabilities.
            row = other if draw * held < own else row
        else:
            last = draw * (2.0 - held) < 1.0 - own
            chosen.append(row if last else other)
            row, held = (other if last else row), held - 1.0
    if held > 0.5:
        chosen.append(row)
    return np.sort(np.array(chosen, dtype=np.intp))
