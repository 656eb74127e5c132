"""How the labels of a list that is labelled in part came to be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import betainc
from sklearn.utils import check_consistent_length

from .._lists import numbers_of_queries
from .._sklearn_compat import num_samples, rows_at
from .._typing import AnyArray, ArrayPair, BoolArray, FloatArray, IntArray
from .._validation import (
    Coded,
    are_missing,
    array_of_labels,
    check_flag,
    check_generator,
    check_number,
    check_qid,
    check_scores,
    check_vector,
    check_whole,
    distinct_codes,
    is_whole,
    refuse_misread,
    shown,
)
from ..metrics._shared import Evidence, Groups, PartialLabels, refuse_amounts, singleton_groups
from ._late_labels import LateLabels, in_words

# Of grades known in part, of which each has a chance.
MOST_GRADES = 30

# What chance does so seldom under a design contradicts it.
CHANCE = 1e-9


@dataclass(frozen=True, eq=False)
class LabelDesign:
    """How rows were chosen for labelling, or when labels come, where only some of a list have any.

    The labels that are not known are missing in ``y_true``: NaN, None or ``pandas.NA``. Pass one
    of five descriptions: the probabilities, the strata, the usual review, a pool, or batches. Or
    say when labels come by ``entered`` and ``horizon``: the label is then whether an event came
    within the horizon, and what is known of it on a day follows.

    Parameters
    ----------
    inclusion_probability : array-like of shape (n_samples,), classifier or None, default=None
        Probability in (0, 1] with which each row, labelled or not, was chosen for labelling. Rows
        were chosen independently of each other; a row of probability 1 has a label. Where nobody
        drew the rows, a classifier with ``predict_proba`` estimates them from ``features``.
    strata : array-like of shape (n_samples,), "qid" or None, default=None
        Stratum of each row. The labelled rows of a stratum are a simple random sample of its rows.
        "qid" are the queries: those of each query are a random sample of its rows.
    sizes : mapping or None, default=None
        Number of rows that were to be labelled in each stratum, which is compared with the labels.
        None takes those that have labels.
    review_top : int or None, default=None
        Number k of rows that were reviewed because a champion ranked them first; all of them have
        labels. With ``qid``, the first k rows of each query, or all of a shorter one.
    audit : int or None, default=None
        Number of labelled rows among the others, a simple random sample of them, in each query;
        compared with the labels. None is none: labels of rows that were chosen in another way,
        such as by a second ranker, are those of a pool.
    scores : array-like of shape (n_samples,) or None, default=None
        Scores of the champion whose first k rows were reviewed.
    most_below : float or None, default=None
        An assumption on the rows below a review without an audit: the share of positives among
        them is at most this factor, at least 0, times the rate at the cut. That is ``(x + 1/2)
        / (m + 1)`` for x positives among the ``m = max(20, sqrt(k))`` reviewed rows of the lowest
        scores, with those that tie. None assumes nothing.
    pool : array-like of shape (n_samples,) or None, default=None
        Which rows were chosen for labelling, with True or 1, such as the first 5 of each of
        several rankers: those with labels. Nothing is known of the others, unless they were drawn
        with an ``inclusion_probability``.
    features : array-like of shape (n_samples, n_features) or None, default=None
        All that decided which rows were labelled, for the classifier: scores and features.
    batches : sequence of (LabelDesign, array-like) or None, default=None
        Rows that were chosen in batches, each by what the labels before it told: the design of
        each batch, and ``y_true`` after it. From the second on it is that of ``plan_labels(...,
        y_true=...)``, with probability 1 where a label was known before.
    proxy : array-like of shape (n_samples,) or None, default=None
        Predicted probability of each row to be positive, by a model that was not fitted on these
        labels or out of fold. It makes intervals narrower where it is good, and costs no coverage
        where it is not but while there are few labels. Of a simple random sample of all rows
        ``strata`` is the same for all. For DCG and NDCG with ``qid`` and grades: the grade that a
        judge, such as a language model, gives to each row, any finite numbers on any scale.
    entered : array-like of shape (n_samples,) or None, default=None
        Time at which each row came, such as the day of a payment: numbers of days, or dates or
        timestamps of pandas, polars, NumPy or Python, or texts such as "2024-01-31".
    resolved : array-like of shape (n_samples,) or None, default=None
        Time at which the label in ``y_true`` became known, such as that of a chargeback; missing
        for rows that are still open, whose ``y_true`` is not looked at and may be 0. None if all
        are open.
    horizon : float or timedelta or None, default=None
        Length of time from the entry, in days if it is a number, in the unit of times that are
        numbers, within which an event counts. Required with ``entered``, but for ``"c_index"``.
    as_of : time or array-like of shape (n_samples,) or None, default=None
        When we look: labels that were resolved later are not known. Or the time until which each
        row was watched, of rows that were left out of sight; in data on survival that of the event
        or of censoring. None is the last time of ``entered`` and ``resolved``,
        which must not be yet to come.
    mature_only : bool, default=False
        Whether only rows count that were watched for the horizon, whatever is known of others.

    Raises
    ------
    TypeError
        If ``entered`` comes with batches, proxy or ``most_below``; without ``entered``, if none
        or several of the five descriptions are passed; if ``review_top`` comes without scores, or
        one of classifier and features without the other; where the design is used, if ``entered``
        comes without ``horizon``.

    See Also
    --------
    metric_interval, compare : Take the design as ``design=``.
    sklearn_rank.plotting.IntervalsDisplay : Draws the intervals of several ``most_below``.

    Notes
    -----
    What contradicts the labels is an error where the design is used: a labelled row below the
    first k that the audit does not account for, a row of the first k without a label, a
    probability outside (0, 1]. So is what chance does with a probability below 1e-9: another
    number of labels than the probabilities make expected and, without ``groups``, labels of rows
    of one probability that lie at the top or at the end of their scores, of queries also at the
    top by the best of several rankers. Rows at the k-th score of
    the champion that tie with rows without a label count as a stratum of their own.

    If no row below the first k or outside of the pool has a label, nothing is known of these rows,
    and ``method="bounds"`` gives the smallest and the largest value over all labels that they can
    have, with the middle of both as the estimate. The limits are certain, so the level is 1; where
    the labels do not matter, as in the precision of the reviewed rows, they are equal.
    :func:`compare` gives the limits of the difference over labels that are the same for all
    rankers. It says "better on this list", or "the labels do not tell" if 0 is within, and the
    p-value is 0 or 1: how much other lists differ is not in the limits. The limits are sharp,
    except those of differences of average precision, which hold but may be too wide. They take O(n
    log n) time. With ``qid`` each query has such limits, and the queries are a sample: the lower
    limit is that of :func:`metric_interval` for the mean of the lower ones, the upper limit that
    for the mean of the upper ones, which are asymptotic. Queries that may lack a value count where
    this moves the limit out.

    For DCG and NDCG with ``qid``, ``y_true`` may have grades. The estimate is the mean over grades
    that scores, proxy and the known grades of the query predict, corrected by each grade of a
    random row; the ideal of NDCG is not plugged in. If no proxy is below 0 or above the largest
    known grade, ``corrections`` of the result says by how much the estimate exceeds the measure
    with the proxy as labels, which differs between systems if the judge favours one. Limits over
    all grades, as of a pool, are for grades up to the largest known one.

    Where a sample of all rows has labels, limits are asymptotic in the number of labels, given how
    rows were drawn (:doc:`/theory/inference`).

    A classifier assumes labels that are missing at random given the features: of rows with equal
    features, those with labels are a random sample. Nothing in the data can show this. The
    probability of each row is that of a clone fitted on the other four of five folds, the same
    folds in each call, and at least 1 / n. If the rows with labels would then stand for many more
    than n rows, the classifier does not fit, which is an error. The estimate is doubly robust: it
    is consistent if the probabilities are, or if scores and proxy predict the labels well. The
    limits are those for known probabilities. Where nobody labels rows they become wide.

    **Labels that come late.** The label of a row is 1 if ``y_true`` is positive and was resolved
    at most ``horizon`` after the row entered, else 0. A row is *mature* if it was watched for the
    horizon by ``as_of``; its label is known. Others are known *early*, from the time at which they
    were resolved, or *open*. Whether a label is known early depends on the label where positives
    and negatives come at different times, as frauds are reported and the rest is silence. So a
    label that is known counts as the inverse of the probability of being watched until it was
    known, by the estimator of Kaplan and Meier [1]_ for the time until a row is no longer watched.
    The limits are those of ``weights="sampling"``, with what the estimated probabilities add to
    the influence [2]_. The assumption is that how long a row is watched does not depend on its
    scores and its event. If the mix changes with the time of entry, pass as ``strata`` what the
    mix is of, such as a channel: it needs to hold within strata only. The population is that of
    all rows. With ``mature_only`` nothing is assumed, and it is that of the mature rows. If no row
    of a stratum is mature, the limits are those over all labels that open rows can have. Queries
    count if all of their rows are mature. Sequences, promises, searches, batches and folds take
    the mature rows as a sample of all rows. Rows count as independent without ``groups``, which
    are the dates of entry where days depend on each other; a warning says where they look so.

    ``pool``, with ``strata``, ``inclusion_probability`` or ``review_top``, says which rows were
    chosen for a label that comes late, as one that is open looks like one that was not chosen; the
    probability of a label is then the product. ``strata`` without it are those of the time watched
    alone.

    The measure ``"c_index"`` compares times of events instead: of two rows, that with the earlier
    event should have the higher score. Without ``horizon`` it is Harrell's C [3]_, the share in
    order of the pairs of which it is known which event came first, and depends on how long rows
    were watched. With ``horizon`` it is Uno's C [4]_, that of all pairs with an event within the
    horizon: each has the inverse of the probability that both rows are watched until then. Rows
    that are censored at the time of an event come after it, events at one time are no pair, and
    scores that tie count one half. The limits are those of the influence function, with that of
    the estimated probabilities.

    References
    ----------
    .. [1] Kaplan & Meier (1958), *Nonparametric estimation from incomplete observations*, Journal
       of the American Statistical Association 53.
    .. [2] Blanche, Dartigues & Jacqmin-Gadda (2013), *Estimating and comparing time-dependent
       areas under receiver operating characteristic curves for censored event times with competing
       risks*, Statistics in Medicine 32.
    .. [3] Harrell, Califf, Pryor, Lee & Rosati (1982), *Evaluating the yield of medical tests*,
       Journal of the American Medical Association 247.
    .. [4] Uno, Cai, Pencina, D'Agostino & Wei (2011), *On the C-statistics for evaluating overall
       adequacy of risk prediction procedures with censored survival data*, Statistics in Medicine
       30.

    Examples
    --------
    The first two of six rows of a champion were reviewed, and two of the others drawn at random:

    >>> import numpy as np
    >>> from sklearn_rank.inference import LabelDesign, metric_interval
    >>> champion = np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
    >>> y_true = [1, 1, np.nan, 0, np.nan, 1]
    >>> design = LabelDesign(review_top=2, audit=2, scores=champion)
    >>> print(metric_interval("precision@3", y_true, champion, design=design))
    0.9106 [0.2547, 1.0000] (precision@3 of the population, 4 of 6 labels known, 95 %, score)

    Without the audit, the precision of what was reviewed is known, and the AUC has limits:

    >>> y_true, design = (
    ...     [1, 0, *[np.nan] * 4],
    ...     LabelDesign(review_top=2, scores=champion),
    ... )
    >>> print(metric_interval("precision@2", y_true, champion, design=design))
    0.5000 [0.5000, 0.5000] (precision@2 of this list for any labels of 4 rows, 100 %, bounds)
    >>> print(metric_interval("auc", y_true, champion, design=design))
    0.6000 [0.2000, 1.0000] (auc of this list for any labels of 4 rows, 100 %, bounds)

    They are narrower if positives below the cut are assumed to be at most half as frequent as at
    the cut, where the rate is 1.5 / 3:

    >>> design = LabelDesign(review_top=2, scores=champion, most_below=0.5)
    >>> interval = metric_interval("auc", y_true, champion, design=design)
    >>> interval.low, interval.high, interval.target
    (0.5, 1.0, 'auc of this list for any labels of 4 rows, at most 1 positive')

    Payments of 60 days, of which frauds are reported within 28 days, seen on the last day:

    >>> rng = np.random.default_rng(0)
    >>> day, score = rng.integers(0, 60, size=2000), rng.normal(size=2000)
    >>> fraud = rng.random(2000) < 1 / (1 + np.exp(2.5 - score))
    >>> reported = np.where(fraud, day + rng.integers(1, 29, size=2000), np.nan)
    >>> design = LabelDesign(entered=day, resolved=reported, horizon=28, as_of=60)
    >>> interval = metric_interval("auc", fraud, score, design=design)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.737, 0.819)
    >>> interval.target.split("; ")[1]
    'events within 28 days of entry, 1,055 rows mature, 47 known early, 898 open'
    """

    inclusion_probability: Any = None
    strata: Any = None
    sizes: Mapping[Any, int] | None = None
    review_top: int | None = None
    audit: int | None = None
    scores: Any = None
    most_below: float | None = None
    pool: Any = None
    features: Any = None
    batches: Sequence[tuple[LabelDesign, Any]] | None = None
    proxy: Any = None
    entered: Any = None
    resolved: Any = None
    horizon: Any = None
    as_of: Any = None
    mature_only: bool = False

    def __post_init__(self) -> None:
        forms = ("inclusion_probability", "strata", "review_top", "pool", "batches")
        passed = [name for name in forms if getattr(self, name) is not None]
        if self.entered is not None:
            self._check_times_given(passed)
        elif len(passed) != 1 and passed != ["inclusion_probability", "pool"]:
            what = " and ".join(passed) or "nothing"
            raise TypeError(
                f"LabelDesign got {what}: pass one of inclusion_probability=, strata=, review_top="
                " (with scores=, those of the champion), pool= and batches=."
            )
        owned = ["sizes", "audit", "scores", "most_below", "features"]
        owners = ["strata", "review_top", "review_top", "review_top", "inclusion_probability"]
        owned += ["resolved", "horizon", "as_of", "mature_only"]
        owners += ["entered"] * 4
        given = passed + ["entered"] * (self.entered is not None)
        for name, owner in zip(owned, owners, strict=True):
            value = getattr(self, name)
            if value is not None and value is not False and owner not in given:
                raise TypeError(f"{name} belongs to {owner}=, which is not passed: leave it out.")
        if self.review_top is not None and self.scores is None:
            raise TypeError(
                "review_top says that the first rows of a champion were reviewed: pass its scores"
                " of all rows as scores=."
            )
        if self._is_estimated != (self.features is not None):
            raise TypeError(
                "inclusion_probability= is a classifier with predict_proba, which estimates"
                " probabilities from features=, or has them: pass such a classifier and features,"
                " or an array alone."
            )
        if self.sizes is not None and not isinstance(self.sizes, Mapping):
            raise TypeError(
                f"sizes is a {type(self.sizes).__name__}, but must be a mapping from strata to"
                " numbers of labels, such as sizes={'top': 100, 'rest': 50}."
            )
        if self.batches is not None:
            pairs = self.batches if isinstance(self.batches, Sequence) else ()
            is_pair = [isinstance(x, tuple | list) and len(x) == 2 for x in pairs]
            if not is_pair or not all(is_pair):
                raise TypeError(
                    "batches must be pairs of a LabelDesign and the labels after the batch, such"
                    " as batches=[(design, y_before), (plan.design, y_after)]."
                )
        for name, least in (("review_top", 1), ("audit", 0)):
            if (number := getattr(self, name)) is not None:
                check_whole(name, number, least)
        if self.most_below is not None:
            check_number("most_below", self.most_below, low=0.0)

    def _check_times_given(self, passed: list[str]) -> None:
        """Refuse what does not go with times of labels."""
        check_flag("mature_only", self.mature_only)
        wrong = [x for x in ("batches", "proxy", "most_below") if getattr(self, x) is not None]
        if wrong:
            raise TypeError(f"{wrong[0]} is not supported with entered=: leave one of them out.")
        if isinstance(self.strata, str):
            raise TypeError(
                f"strata={self.strata!r} is not supported with entered=: pass the strata of rows."
            )
        others = [name for name in passed if name != "pool"]
        if len(others) > 1 or (others not in ([], ["strata"]) and "pool" not in passed):
            raise TypeError(
                f"LabelDesign got entered and {' and '.join(others)}: pass one way in which rows"
                " were chosen for labels, and as pool= which were chosen, as those that are still"
                " open look like rows that were not."
            )

    def _as_mature_sample(self, y_true: Any, pos_label: Any) -> tuple[AnyArray, LabelDesign]:
        """Labels of the mature rows, and the design by which these are a sample of all rows."""
        late = LateLabels.of(self, y_true, pos_label)
        counts = late.cohort & late.chosen
        labels = in_words(np.where(counts, late.labels, np.nan), pos_label)
        if late.chosen.all():
            return labels, LabelDesign(strata=late.strata)
        if not late.probability.all():
            return labels, LabelDesign(pool=counts)
        n_mature, n_chosen = (np.bincount(late.strata, x) for x in (counts, late.chosen))
        share = (n_mature / np.maximum(n_chosen, 1.0))[late.strata]
        return labels, LabelDesign(late.probability * share)

    def _selection(self, n: int) -> tuple[BoolArray, FloatArray]:
        """Which rows were chosen for labels that come late, and with which probability."""
        if self.pool is None:
            return np.ones(n, dtype=bool), np.ones(n)
        chosen = check_vector("pool", self.pool, n) != 0.0
        now: Any = dict.fromkeys(("entered", "resolved", "horizon", "as_of", "pool"))
        if self.inclusion_probability is self.strata is self.review_top is None:
            now["pool"] = chosen
        return chosen, replace(self, mature_only=False, **now)._probabilities(chosen)

    @property
    def _is_estimated(self) -> bool:
        """Whether a classifier estimates the probabilities from features."""
        return hasattr(self.inclusion_probability, "predict_proba")

    def sample_weight(self, y_true: Any, *, qid: Any = None, pos_label: Any = None) -> FloatArray:
        """Return weights for fits on the labelled rows, which then stand for all rows.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels, missing where not known.
        qid : array-like of shape (n_samples,), default=None
            Query id of each row, of which ``review_top`` and ``audit`` count the rows.
        pos_label : int, float, bool or str, default=None
            Label of the event where labels come late, as for ``labels``.

        Returns
        -------
        ndarray of shape (n_samples,)
            One over the probability of a label where there is one, else 0; of batches the mean of
            what the label stands for in each. Fit the rows of
            positive weight: ``ranker.fit(X[w > 0], y_true[w > 0], sample_weight=w[w > 0])``, of
            labels that come late with ``design.labels(y_true)``.
        """
        refuse_misread(y_true=y_true, qid=qid, design=self)
        if self.entered is not None:
            late = LateLabels.of(self, y_true, pos_label)
            if late.reaches and not self.mature_only:
                return late.weights()[0]
            known, probability = late.known & late.cohort, late.probability
            return np.divide(1.0, probability, out=np.zeros(len(known)), where=known)
        known = ~are_missing(array_of_labels(y_true))
        probability, batches = self._inclusion(known, qid)
        if batches is not None:
            return np.asarray(batches[1].mean(axis=0))
        return np.divide(1.0, probability, out=np.zeros(len(known)), where=known)

    def labels(self, y_true: Any, *, pos_label: Any = None) -> FloatArray:
        """Return the labels that are known, where labels come late.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels, missing where not known.
        pos_label : int, float, bool or str, default=None
            Label of the event. None means 1 and requires labels in {0, 1} or {-1, 1}.

        Returns
        -------
        ndarray of shape (n_samples,)
            1 for an event within the horizon, 0 for none, NaN where it is not known by ``as_of``.

        Raises
        ------
        TypeError
            If the design has no times.
        """
        if self.entered is None:
            raise TypeError("labels follow from times: pass entered=, resolved= and horizon=.")
        return LateLabels.of(self, y_true, pos_label).labels

    def _inclusion(self, known: BoolArray, qid: Any) -> tuple[FloatArray, ArrayPair | None]:
        """Probability of each row to be labelled, and what labels stand for in batches, if any."""
        if self.batches is None:
            return self._probabilities(known, qid), None
        if qid is not None:
            raise ValueError("batches are for one list: pass the design of the last one alone.")
        return self._of_batches(known)

    def _of_batches(self, known: BoolArray) -> tuple[FloatArray, ArrayPair]:
        """Each batch estimates how far the labels of all rows move the value, given those before.

        A label of a batch counts ``1 / probability`` there and 1 in later ones.
        """
        before, odds, factor = np.zeros(len(known), dtype=bool), [], []
        for i, (design, y_true) in enumerate(self.batches or ()):
            after = ~are_missing(array_of_labels(y_true))
            if len(after) != len(known) or (before & ~after).any():
                raise ValueError(
                    f"batches[{i}] has other rows than the labels, or lacks a label of a batch"
                    " before it: pass y_true of all rows after each batch."
                )
            if i and design.inclusion_probability is None:
                raise ValueError(
                    f"batches[{i}] has no inclusion_probability: pass the design of the plan, as"
                    " plan.design of plan_labels(..., y_true=...)."
                )
            probability = design._probabilities(after)
            if (probability[before] < 1.0).any():
                raise ValueError(
                    f"batches[{i}] has a probability below 1 for a row that had a label before:"
                    " pass the design of plan_labels(..., y_true=...) with the labels before it."
                )
            if (probability == 0.0).any():
                raise ValueError(
                    f"batches[{i}] labels no row of some part, so nothing is known of it: pass a"
                    " batch that draws some of all rows."
                )
            odds.append(np.where(before, 0.0, (1.0 - probability) / probability))
            factor.append(np.where(after & ~before, 1.0 / probability, before))
            before = after
        if (before != known).any():
            raise ValueError("batches end with other labels than y_true: pass all batches.")
        return 1.0 / (1.0 + np.mean(odds, axis=0)), (np.stack(odds), np.stack(factor))

    def _probabilities(self, known: BoolArray, qid: Any = None) -> FloatArray:
        """Probability of each row to be labelled, checked against the labels that are known."""
        if self._is_estimated:
            return _estimated_probabilities(self.inclusion_probability, self.features, known)
        if self.inclusion_probability is not None:
            probability = _checked_probabilities(self.inclusion_probability, known)
            if self.pool is not None:
                _checked_pool(self.pool, known)
            return probability
        if self.pool is not None:
            return _checked_pool(self.pool, known)
        if self.strata is None:
            if qid is None:
                return self._of_review(known)
            if self.most_below is not None:
                raise ValueError(
                    f"most_below={self.most_below:g} is an assumption on the rows of one list:"
                    " leave it out for queries."
                )
            return self._of_reviewed_queries(known, qid)
        of_rows = self.strata
        if isinstance(of_rows, str) and of_rows == "qid":
            if qid is None:
                raise ValueError(
                    "strata='qid' needs the queries: pass qid, or the strata of rows."
                )
            of_rows = qid
        strata = check_qid(of_rows, len(known), name="strata")
        coded = strata if isinstance(strata, Coded) else distinct_codes(strata)
        n_known = np.bincount(coded.codes, known).tolist()
        labels = dict(zip(coded.distinct.tolist(), n_known, strict=True))
        expected = labels if self.sizes is None else dict(self.sizes)
        for name in [*expected, *labels]:
            if expected.get(name, 0) != labels.get(name, 0):
                raise ValueError(
                    f"sizes says {expected.get(name, 0)} labels in stratum {name!r}, but"
                    f" {labels.get(name, 0):.0f} rows of it have one: pass the sizes of the sample"
                    " that was drawn, and remove labels that came in another way."
                )
        return _shares(known, coded.codes)

    def _of_reviewed_queries(self, known: BoolArray, qid: Any) -> FloatArray:
        """Probabilities where the first rows of each query were reviewed."""
        score = self._scores_of(len(known))
        queries = numbers_of_queries(check_qid(qid, len(known)))
        probability = np.empty(len(known))
        order = np.argsort(queries, kind="stable")
        for rows in np.split(order, np.cumsum(np.bincount(queries))[:-1]):
            k = min(int(self.review_top or 0), len(rows))
            audit = None if self.audit is None else min(self.audit, len(rows) - k)
            of_query = replace(self, review_top=k, audit=audit, scores=score[rows])
            try:
                probability[rows] = of_query._of_review(known[rows])
            except ValueError as error:
                (name,) = np.asarray(qid)[rows[:1]].tolist()
                raise ValueError(f"In the query {name!r}: {error}") from None
        return probability

    def _scores_of(self, n: int) -> FloatArray:
        score = check_scores(self.scores, name="scores")
        if len(score) != n:
            raise ValueError(f"scores has {len(score)} entries for {n} rows: pass one per row.")
        return score

    def _of_review(self, known: BoolArray) -> FloatArray:
        n, k, score = len(known), int(self.review_top or 0), self._scores_of(len(known))
        if k > n:
            raise ValueError(f"review_top={k} must be from 1 to {n}, the number of rows.")
        cut = np.partition(score, n - k)[n - k]
        above, tied = score > cut, score == cut
        is_complete = known[above].all()
        lacking = (tied if is_complete else above) & ~known
        if not is_complete or known[tied].sum() < k - above.sum():
            raise ValueError(
                f"review_top={k} says that the first {k} rows by scores were reviewed, but row"
                f" {int(np.argmax(lacking))} is among them and has no label: pass the k that was"
                " reviewed, or the scores that it was reviewed by."
            )
        n_audit = int(known.sum()) - k
        if self.audit is not None and n_audit != self.audit:
            raise ValueError(
                f"audit={self.audit}, but {n_audit} rows below the first {k} have labels: pass the"
                " number drawn at random there, and remove labels that came in another way."
            )
        if n_audit == 0:
            return known.astype(np.float64)
        if self.most_below is not None:
            raise ValueError(
                f"most_below={self.most_below:g} is an assumption on rows of which none has a"
                f" label, but {n_audit} rows below the first {k} have one: leave it out."
            )
        if self.audit is None:
            raise ValueError(
                f"review_top={k} says that the first {k} rows by scores were reviewed, but"
                f" {n_audit} rows below have labels too: pass audit={n_audit} if these are a"
                " random sample of the other rows, or LabelDesign(pool=~np.isnan(y_true)) if they"
                " were chosen in another way, such as by a second ranker."
            )
        below = score < cut
        instead = "pass the number that was reviewed as review_top, and audit"
        _refuse_chosen(score[below], known[below], f" below the first {k}", instead)
        return _shares(known, above.astype(np.intp) + 2 * tied)

    def _at_cut(self, known: BoolArray) -> BoolArray | None:
        """The reviewed rows of the lowest scores, whose rate limits that of the rows below."""
        if self.most_below is None:
            return None
        score, k = check_scores(self.scores, name="scores"), known.sum()
        m = min(max(20, int(np.ceil(np.sqrt(k)))), k)
        return np.asarray(known & (score <= np.partition(score[known], m - 1)[m - 1]))


Design: TypeAlias = LabelDesign | Literal["all"] | None


def random_rows(y_true: Any, design: Any, rng: np.random.Generator, groups: Any) -> IntArray:
    """Labelled rows that are a random sample of all rows: the more likely a label, the fewer."""
    if are_missing(array_of_labels(y_true)).all():
        return np.empty(0, dtype=np.intp)
    _, partial = check_partial_labels(y_true, design)
    if groups is None:
        _refuse_number(partial, singleton_groups(len(partial.known)))
    return rows_at_random(partial, rng)


def labelled_sample(
    design: Any, X: Any, y: Any, columns: dict[str, Any], pos_label: Any, cv: Any, rng: Any
) -> tuple[Any, AnyArray, dict[str, Any]]:
    """Rows of a fit whose labels are a random sample of all: the rows, labels, other columns."""
    if (
        cv is not None
        and not is_whole(cv)
        and not isinstance(cv, str)
        and not hasattr(cv, "split")
    ):
        raise ValueError("cv has numbers of rows, of which design takes some: pass a splitter.")
    check_consistent_length(X, y)
    labels, partial = check_partial_labels(y, design, "y", pos_label=pos_label)
    n, rows = len(labels), rows_at_random(partial, check_generator(rng))

    def only(values: Any) -> Any:
        if isinstance(values, tuple):
            return tuple(map(only, values))
        return rows_at(values, rows) if np.ndim(values) and num_samples(values) == n else values

    return rows_at(X, rows), labels[rows], {name: only(x) for name, x in columns.items()}


def rows_at_random(partial: PartialLabels, rng: np.random.Generator) -> IntArray:
    if partial.unreachable.any() or partial.batches is not None:
        raise ValueError(
            "design must give each row a probability of a label above 0 that does not depend on"
            " other labels, or no random sample can be made of the rows with labels: label a"
            " random sample of all rows."
        )
    share = partial.probability.min() / partial.probability
    return np.flatnonzero(partial.known & (rng.random(len(share)) < share))


def _checked_probabilities(values: Any, known: BoolArray) -> FloatArray:
    name = "inclusion_probability"
    probability = check_vector(name, values, len(known))
    for wrong, why in (
        (~((probability > 0) & (probability <= 1)), "is not in (0, 1]: pass probabilities"),
        ((probability == 1) & ~known, "has no label: a row of probability 1 is always labelled"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            hint = ", not weights 1 / probability" if probability[row] > 1 else ""
            raise ValueError(f"{name} is {probability[row]:g} at row {row}, which {why}{hint}.")
    return probability


def _checked_pool(values: Any, known: BoolArray) -> FloatArray:
    pool = check_vector("pool", values, len(known))
    if (wrong := pool != known).any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"pool is {pool[row]:g} at row {row}, which has {'a' if known[row] else 'no'} label,"
            " but rows have labels in the pool and nowhere else: label those that were chosen, or"
            " pass those with labels, as pool=~np.isnan(y_true)."
        )
    return pool


def _estimated_probabilities(classifier: Any, features: Any, known: BoolArray) -> FloatArray:
    """Probability of each row to be labelled, by a clone fitted on the other folds."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    n, fewest = len(known), int(min(known.sum(), (~known).sum()))
    if num_samples(features) != n:
        raise ValueError(
            f"features has {num_samples(features)} rows for {n} labels: pass those of all rows."
        )
    folds = StratifiedKFold(shuffle=True, random_state=0)
    if fewest < (n_folds := folds.get_n_splits()):
        raise ValueError(
            f"{fewest} rows {'have' if known.sum() == fewest else 'lack'} a label, too few to"
            f" estimate probabilities in {n_folds} folds: pass the probabilities themselves."
        )
    predicted = cross_val_predict(classifier, features, known, cv=folds, method="predict_proba")
    # Rows that nobody labels have a probability near 0, which makes limits wide.
    probability = np.clip(np.asarray(predicted[:, 1], dtype=np.float64), 1.0 / n, 1.0 - 1.0 / n)
    weights = 1.0 / probability
    excess = weights[known].sum() - n
    # So many standard deviations say that probabilities are wrong, as those of a rough classifier.
    if excess > 4.0 * np.sqrt((weights - 1.0).sum()):
        raise ValueError(
            f"By the classifier's probabilities, the {int(known.sum())} rows with labels stand for"
            f" {n + excess:.0f} rows, but there are {n}, as some of them had hardly any chance of"
            " a label: pass a smoother classifier, such as LogisticRegression()."
        )
    return probability


def _refuse_number(partial: PartialLabels, units: Groups) -> None:
    """Refuse a number of labels that the probabilities all but exclude, by Bernstein's inequality.

    The labels of a unit may have been drawn together.
    """
    p, n_known = partial.probability, int(partial.known.sum())
    deviations: FloatArray = np.sqrt(p * (1.0 - p))
    variance, largest = float((units.sums(deviations) ** 2).sum()), units.sizes(p < 1.0).max()
    excess = abs(n_known - float(p.sum()))
    if excess**2 > 2.0 * np.log(2.0 / CHANCE) * (variance + excess * largest / 3.0):
        raise ValueError(
            f"The design makes {p.sum():.0f} labels expected, but {n_known} rows have one: pass"
            " the probabilities with which these rows were chosen, or what these depend on, such"
            " as the day, as strata."
        )


def _refuse_chosen(score: FloatArray, known: BoolArray, where: str, instead: str) -> None:
    """Refuse labels of rows that were chosen by their scores, where they are said to be random.

    The places of a random sample are at least as near to their expectations as uniform numbers,
    whose order statistics have beta distributions.
    """
    n, m = len(score), int(known.sum())
    if m == 0:
        return
    # Of ties the place that speaks less against chance.
    ordered, of_known = np.sort(score), score[known]
    first = (n - np.searchsorted(ordered, of_known, "right") + 1.0) / n
    last = (n - np.searchsorted(ordered, of_known, "left")) / n
    i = np.arange(1.0, m + 1.0)
    chances = (
        betainc(i, m - i + 1.0, np.sort(last)),
        betainc(m - i + 1.0, i, np.minimum(1.0 - np.sort(first) + 1.0 / n, 1.0)),
    )
    if min(map(np.min, chances)) < CHANCE / m:
        raise ValueError(
            f"The {m} rows with labels{where} do not lie among the scores as a random sample does:"
            f" {instead}."
        )


def _shares(known: BoolArray, strata: IntArray) -> FloatArray:
    """Share of the rows of the stratum of each row that have labels."""
    n_rows = np.bincount(strata)
    return np.asarray(np.bincount(strata, known)[strata] / n_rows[strata])


def check_partial_labels(
    y_true: Any,
    design: Design,
    name: str = "y_true",
    qid: Any = None,
    pos_label: Any = None,
    of_grades: bool = False,
    **others: Any,
) -> tuple[AnyArray, PartialLabels]:
    """Labels with the missing ones filled in, which nothing reads, and what is known of them.

    A proxy of grades is any numbers.
    """
    for argument, value in others.items():
        if value is not None:
            raise ValueError(f"design is for single rows: leave {argument} out.")
    labels = array_of_labels(y_true, name)
    if labels.ndim != 1:
        raise ValueError(
            "design needs one row per item: pass one-dimensional labels and scores, and qid."
        )
    if isinstance(design, LabelDesign) and design.entered is not None:
        labels, design = design._as_mature_sample(labels, pos_label)
    known = ~are_missing(labels)
    n = len(labels)
    if not known.any():
        raise ValueError(f"{name} has no label at all: pass those that are known.")
    if isinstance(design, str) and design == "all":
        partial = PartialLabels(known, np.full(n, known.mean()))
    elif isinstance(design, LabelDesign):
        probability, batches = design._inclusion(known, qid)
        proxy, at_cut = design.proxy, design._at_cut(known)
        assumed = design.most_below, at_cut, design._is_estimated
        partial = PartialLabels(known, probability, proxy, *assumed, batches)
    else:
        raise TypeError(
            f"design={shown(design)} must be a LabelDesign, such as LabelDesign(review_top=k,"
            " scores=champion), or 'all' if the rows with labels are a random sample of all rows."
        )
    unreachable = partial.unreachable
    sampled = partial.open & ~unreachable
    if unreachable.any() and sampled.any():
        row = int(np.argmax(unreachable))
        raise ValueError(
            f"The design labels no row of the part of row {row}, so nothing is known of"
            f" {int(unreachable.sum())} rows, but draws a sample of others, as of row"
            f" {int(np.argmax(sampled))}: label a random sample of them too, or pass larger"
            " strata, such as dates in place of times."
        )
    if unreachable.any() and partial.proxy is not None:
        raise ValueError(
            f"proxy predicts labels of {int(unreachable.sum())} rows of which no sample was"
            " labelled, so nothing tells how good it is: leave it out for the limits over all"
            " labels, or label a random sample of them."
        )
    if partial.proxy is not None:
        check = check_vector if of_grades else check_proxy
        partial = replace(partial, proxy=check("proxy", partial.proxy, n))
    return labels[np.where(known, np.arange(n), np.argmax(known))], partial


def check_labels_in_part(evidences: list[Evidence]) -> None:
    """Refuse what the limits do not cover: bounds of populations, grades, ties by rules."""
    first: Any = evidences[0]
    if not first.conditional and first.partial.unreachable.any():
        raise ValueError(
            "conditional=False is for a population, but limits over all labels are for this list:"
            " leave conditional out."
        )
    for evidence in evidences:
        labels, value = evidence.data.labels.astype(np.float64), evidence.value
        if not np.isin(labels, (0.0, 1.0)).all():
            refuse_amounts(evidence.measure)
        _refuse_contradicted(evidence)
        if labels.max() > 1.0:
            raise ValueError(
                f"y_true has the grade {labels.max():g}, but labels known in part are those of two"
                " classes: pass rel= in the measure, y_true of 0 and 1, or for DCG and NDCG qid."
            )
        if evidence.label_total is None or not np.isfinite(value):
            continue
        of_labels = evidence.label_function.at(labels).value
        # A value of 0 may have been rounded.
        if not np.isclose(of_labels, value, rtol=1e-6, atol=1e-12):
            raise ValueError(
                f"{evidence.measure.name} of these scores is no known function of a sum over"
                " labels, since its rule for ties or its convention is another: leave out ties and"
                " convention of the measure, whose value is then the mean over orders of ties."
            )


def check_grades_in_part(joined: Evidence, queries: Sequence[Evidence]) -> None:
    """Refuse measures that are no sums of gains, from all queries and each by itself."""
    refuse_amounts(joined.measure)
    name = joined.measure.name
    if queries[0].grade_total is None:
        raise ValueError(
            f"{name} is no sum of gains, which grades known in part need: pass 'dcg@k' or"
            " 'ndcg@k', or labels of two classes."
        )
    if (n := len(np.unique(joined.data.labels))) > MOST_GRADES:
        raise ValueError(
            f"y_true has {n} distinct grades, but those known in part may have {MOST_GRADES}, as"
            " the chance of each is estimated: pass rounded ones."
        )
    values = joined.measure.values(joined.data)
    for query, value in zip(queries, values.tolist(), strict=True):
        total: Any = query.grade_total
        gains = total.gain(query.data.labels)
        of_best = 1.0
        if total.ideal is not None:
            of_best = np.sort(gains)[::-1] @ np.diff(total.ideal)
        if of_best and not np.isclose(total.weights @ gains / of_best, value, atol=1e-12):
            raise ValueError(
                f"{name} of these scores is no sum of gains over that of the best order, since its"
                " rule for ties or its convention is another: leave out ties and convention of the"
                " measure."
            )


def refuse_chosen_of_queries(joined: Evidence, shares: Sequence[FloatArray]) -> None:
    """Refuse labels of the first rows of each query, by one or several rankers, as random ones."""
    for score in (*shares, np.max(shares, axis=0)):
        _refuse_contradicted(replace(joined, data=replace(joined.data, score=score)))


def _refuse_contradicted(evidence: Evidence) -> None:
    """Refuse labels of another number or place than their probabilities make possible."""
    partial: Any = evidence.partial
    if partial.batches is not None or partial.at_random:
        return  # whose probabilities are no given ones
    _refuse_number(partial, evidence.units)
    distinct = np.unique(partial.probability, return_inverse=True, return_counts=True)
    probability, which, n_rows = distinct
    of_each = np.split(np.argsort(which, kind="stable"), np.cumsum(n_rows)[:-1])
    # Of fewer rows no choice is as seldom. Rows of a group may have been drawn together.
    many = (probability > 0.0) & (probability < 1.0) & (n_rows > -np.log2(CHANCE))
    for i in np.flatnonzero(many) if evidence.groups is None else ():
        rows, where = of_each[i], f" of probability {probability[i]:.4g}"
        instead = (
            "pass how they were chosen, as LabelDesign(review_top=k, scores=champion), or"
            " LabelDesign(pool=~np.isnan(y_true)) if they are the first rows of several rankers"
        )
        _refuse_chosen(evidence.data.score[rows], partial.known[rows], where, instead)


def check_fitted_proxy(labels: AnyArray, partial: PartialLabels) -> None:
    """Refuse a proxy that repeats the labels that are known."""
    if partial.proxy is None:
        return
    values = labels[partial.known].astype(np.float64)
    if np.ptp(values) == 0.0:
        return
    if np.abs(values - partial.proxy[partial.known]).max() < 1e-3:
        raise ValueError(
            "proxy repeats all labels that are known, as of a model that was fitted on them: pass"
            " out-of-fold predictions for these rows, such as those of"
            " sklearn.model_selection.cross_val_predict(..., method='predict_proba'), or a judge's"
            " own grades of them."
        )


def check_proxy(name: str, proxy: Any, n: int) -> FloatArray:
    probability = check_vector(name, proxy, n)
    wrong = ~((probability >= 0) & (probability <= 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{name} is {probability[row]:g} at row {row}, but must be a probability in [0, 1]:"
            " pass predict_proba(X)[:, 1] of a model that was not fitted on these labels, such as"
            " by cross_val_predict."
        )
    return probability
