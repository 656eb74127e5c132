"""Whether enough positives are found: a certificate of recall that holds at every look.

F positives are found by a review, and the N other rows are labelled one by one in random order.
With x positives among the first n of them, recall is at least r if at most
``M(x) = (F + x)/r - F`` of the N rows are positive. It is certified at ``n >= n_x``, a boundary
that does not fall in x. If K of the N are positive, the certificate is wrong only if the walk (n,
x) meets the boundary at an x with ``M(x) < K``. The chance of this is computed, not bounded:

- The walk meets the boundary first at x with a probability ``p_x b_x``: p_x is hypergeometric, and
  b_x, the share of the paths to ``(n_x, x)`` that did not meet it before, does not depend on K.
- ``sum over j <= x of b_j P(path at (n_j, j) | at (n_x, x)) = 1``, a triangular system.
- For fixed x the chance falls in K, so that only ``K = M(x) + 1`` matters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import betaincinv

from .._printed import ROUNDING, Printed, fixed
from .._typing import FloatArray
from .._validation import are_missing, array_of_labels, check_level, check_share
from ..bounds._shared import last_of
from ..inference._shared import log_binomial, read_list
from ..metrics import get_measure

if TYPE_CHECKING:
    from .._labels_in_part import Design

# Positives in the sample from which on only the labels of all rows certify anything.
MOST_FOUND = 500

# By how much the tail of a sample without positives is larger, so that it takes few labels if no
# positive is left.
MORE_AT_NONE = 5.0

# Tails that are tried within a factor of 4.
N_TAILS = 512


@dataclass(frozen=True, repr=False)
class RecallCertificate(Printed):
    """Whether the labels show that the positives found are a share of all positives.

    Parameters
    ----------
    is_shown : bool
        Whether recall is at least ``recall``: labelling can stop.
    recall : float
        The share of all positives that is to be found.
    level : float
        Probability, in (0, 1), that no look of the sequence shows a recall that is not reached.
    estimate : float
        Estimated recall: positives found, over these and the expected ones among the other rows.
        NaN if no positive is found, or no row is sampled.
    n_found : int
        Number of positives found, in the review and in the sample.
    n_sampled : int
        Number of labels of the random sample.
    n_rest : int
        Number of rows that the sample is from.
    n_more : int
        Number of further labels after which recall is shown, if none of them is positive.

    See Also
    --------
    recall_certificate : Computes it.

    Examples
    --------
    >>> from sklearn_rank.inference import RecallCertificate
    >>> print(RecallCertificate(False, 0.9, 0.95, 0.9615, 100, 500, 2500, 120))
    recall of 0.9 is not shown at level 95 %: 100 positives found, estimate 0.9615
    500 labels of a sample of 2,500 rows; 120 more, none of them positive, would show it
    """

    is_shown: bool
    recall: float
    level: float
    estimate: float
    n_found: int
    n_sampled: int
    n_rest: int
    n_more: int

    def __str__(self) -> str:
        shown = "shown" if self.is_shown else "not shown"
        lines = [
            f"recall of {self.recall:g} is {shown} at level {100 * self.level:.6g} %:"
            f" {self.n_found:,} positives found, estimate {fixed(self.estimate)}",
            f"{self.n_sampled:,} labels of a sample of {self.n_rest:,} rows",
        ]
        if not self.is_shown:
            lines[1] += f"; {self.n_more:,} more, none of them positive, would show it"
        return "\n".join(lines)


def recall_certificate(
    y_true: Any,
    *,
    design: Design,
    recall: float = 0.95,
    level: float = 0.95,
    pos_label: Any = None,
) -> RecallCertificate:
    """Certify that the labelled rows hold a share of all positives, to stop labelling.

    Some rows were reviewed, all of them, and the others are labelled in random order. The
    certificate may be asked for after every label: with probability ``level`` it is not given at
    any look at which less than ``recall`` of all positives is found.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, missing (NaN, None or ``pandas.NA``) where not known.
    design : LabelDesign or "all"
        How the labels came to be known: rows that were reviewed, and a simple random sample of all
        others, as ``LabelDesign(review_top=k, scores=champion)``. "all" is a sample without a
        review.
    recall : float, default=0.95
        The share of all positives that is to be found, in (0, 1).
    level : float, default=0.95
        Probability, in (0, 1), that no look shows a recall that is not reached.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    RecallCertificate
        Whether the recall is shown, and how many labels would show it.

    Raises
    ------
    TypeError
        If ``design`` is no :class:`LabelDesign`.
    ValueError
        If an argument is not valid, the design contradicts the labels or says when they come
        (``entered``), or the rows without a review were sampled with different probabilities.

    See Also
    --------
    plan_labels : Chooses rows to label for the value of a measure instead.
    metric_interval : Interval for the recall of the first k rows, for one look.

    Notes
    -----
    The positives of the review and of the sample are found: both count, as all of them are known
    when labelling stops. With F in the review, x in a sample of n rows, and K among all rows
    without a review, the recall is ``(F + x) / (F + K)``.

    The guarantee is exact (Theorem 13 of :doc:`/theory/auc_bounds`), for labels that are drawn
    without replacement, for each K, over the order of the labels. Looks may be at any time, and
    may depend on what was found. The reviewed rows, the recall and the level are fixed before the
    first look. If more rows are reviewed later, a new sequence begins: divide ``1 - level`` among
    the sequences. The sample grows by random rows: a row that was chosen by its score belongs to
    the review.

    The boundary is the smallest n at which x positives have a small probability if K is too large
    by one. This probability is proportional to ``1 + 5 / (x + 1)``, and the largest with which the
    exact chance of a wrong certificate at any n is at most ``1 - level`` for all K. Looks cost few
    labels: the mean number is .8 to 1.2 times that of a single look, at a number of labels fixed
    in advance, that shows the recall in 8 of 10 cases. From 500 positives in the sample on, only
    labels of nearly all rows show the recall, up to 1.3 times as many: review more rows by their
    scores instead.

    The cost is about half a second at the first look, whatever the number of rows, and O(n) at the
    next ones.

    References
    ----------
    .. [1] Callaghan & Müller-Hansen (2020), *Statistical stopping criteria for automated screening
       in systematic reviews*, Systematic Reviews 9.
    .. [2] Lewis, Yang & Frieder (2021), *Certifying one-phase technology-assisted reviews*, CIKM.

    Examples
    --------
    The first 300 of 3,000 rows were reviewed; of the others random rows are labelled:

    >>> import numpy as np
    >>> from sklearn_rank.inference import LabelDesign, recall_certificate
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(3000) < 100
    >>> score = 4 * y + rng.normal(size=3000)
    >>> design = LabelDesign(review_top=300, scores=score)
    >>> first = np.argsort(-score)
    >>> order = np.concatenate([first[:300], rng.permutation(first[300:])])
    >>> y_true = np.full(3000, np.nan)
    >>> for n_labels in (500, 1100):
    ...     y_true[order[:n_labels]] = y[order[:n_labels]]
    ...     print(recall_certificate(y_true, design=design, recall=0.9))
    recall of 0.9 is not shown at level 95 %: 100 positives found, estimate 1.0000
    200 labels of a sample of 2,700 rows; 412 more, none of them positive, would show it
    recall of 0.9 is shown at level 95 %: 100 positives found, estimate 1.0000
    800 labels of a sample of 2,700 rows
    """
    known = ~are_missing(array_of_labels(y_true))
    recall = check_share("recall", recall)
    level = check_level(level)
    if design is None:
        raise TypeError("design=None must be a LabelDesign, or 'all' if no rows were reviewed.")
    given: Any = design
    if getattr(given, "entered", None) is not None:
        raise ValueError(
            "A certificate says when a review may stop, but labels of entered= come by themselves:"
            " for the recall of the first rows use metric_interval(..., design=design)."
        )
    if getattr(given, "review_top", None) is not None and given.audit is None:
        # Rows below a review are labelled in random order.
        design = replace(given, audit=max(int(known.sum()) - given.review_top, 0))
    columns: Any = {"design": design, "pos_label": pos_label}
    (evidence,) = read_list(get_measure("auc"), y_true, {"": np.zeros(len(known))}, **columns)
    partial: Any = evidence.partial
    rest = partial.probability < 1.0
    shares = partial.probability[rest]
    if len(shares) and np.ptp(shares) > ROUNDING:
        raise ValueError(
            f"design has probabilities from {shares.min():.4g} to {shares.max():.4g}, but a"
            " certificate needs one simple random sample of all rows without a review: label the"
            " other rows in random order."
        )
    found = evidence.data.labels & partial.known
    n_rest, n = int(rest.sum()), int((rest & partial.known).sum())
    x = int(found[rest].sum())
    review = int(found.sum()) - x
    stops = n_rest
    # Or if all rows that are left may be positive.
    if review + x:
        stops -= max(int(_most_positives(review, x, recall)) - x, 0)
        boundary = stopping_boundary(n_rest, review, recall, 1.0 - level)
        if x < len(boundary):
            stops = min(stops, int(boundary[x]))
    share = x / n if n else np.nan
    all_positives = review + share * n_rest if n_rest else review
    estimate = (review + x) / all_positives if review + x else np.nan
    numbers = review + x, n, n_rest, max(stops - n, 0)
    return RecallCertificate(n >= stops, recall, level, estimate, *numbers)


def _most_positives(review: int, x: Any, recall: float) -> Any:
    """Largest number of positives in the rest with which the recall is reached."""
    return np.floor((review + x) / recall * (1.0 + ROUNDING) - review)


@lru_cache(maxsize=64)
def stopping_boundary(n_rest: int, review: int, recall: float, error: float) -> FloatArray:
    """Number of labels from which on so many positives in the sample show the recall."""
    x = np.arange(float(MOST_FOUND))
    too_many = _most_positives(review, x, recall) + 1.0
    x, too_many = (values[too_many <= n_rest] for values in (x, too_many))
    if not len(x):
        return x

    def boundary(tail: float) -> FloatArray:
        tails = np.minimum(tail * (1.0 + MORE_AT_NONE / (x + 1.0)), 1.0)
        negatives = (n_rest - too_many + 1.0) * betaincinv(x + 1.0, too_many - x, 1.0 - tails)
        return np.maximum.accumulate(np.minimum(np.ceil(x + negatives), n_rest))

    def is_valid(tail: float) -> bool:
        return chances_of_error(boundary(tail), too_many, n_rest).max() <= error

    tail, invalid = error, 1.0
    while not is_valid(tail):
        tail, invalid = tail / 4.0, tail
    return boundary(last_of(np.geomspace(tail, invalid, N_TAILS + 1)[:-1], is_valid))


def chances_of_error(boundary: FloatArray, too_many: FloatArray, n_rest: int) -> FloatArray:
    """Chance that the walk meets the boundary at x or before, if so many rows are positive."""
    x = np.arange(float(len(boundary)))
    to, at = np.tril_indices(len(x))
    paths = log_binomial(boundary, x)

    def lower(logs: FloatArray) -> FloatArray:
        matrix = np.zeros((len(x), len(x)))
        matrix[to, at] = np.exp(logs)
        return matrix

    steps = log_binomial(boundary[to] - boundary[at], x[to] - x[at])
    share = solve_triangular(lower(paths[at] + steps - paths[to]), np.ones(len(x)), lower=True)
    left = log_binomial(n_rest - boundary[at], too_many[to] - x[at])
    logs = log_binomial(np.full(len(x), float(n_rest)), too_many)
    return np.asarray(lower(paths[at] + left - logs[to]) @ share)
