"""Comparison of several estimators by cross-validation on the same folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from .._arguments import check_flag, check_generator, check_level
from .._sklearn_compat import num_samples
from ..inference import Comparison
from ..inference._shared import Question, joint_comparison
from ..metrics._shared import MeasureLike
from ._cross_val_design import Metadata, Sample, measure_of_rows, sample_of
from ._cross_val_evidence import held_out
from ._cross_val_fits import fit_parts
from ._cross_val_interval import fold_models, fold_parts

__all__ = ["cross_val_compare"]


def cross_val_compare(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    measure: MeasureLike,
    cv: Any = None,
    groups: Any = None,
    qid: Any = None,
    params: dict[str, Any] | None = None,
    single_list: bool = False,
    baseline: str | None = None,
    margin: float | None = None,
    alternative: Literal["two-sided", "less", "greater", "non-inferior", "equivalent"]
    | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> Comparison:
    """Compare two or more estimators by cross-validation on the same folds.

    Let ``A_j`` and ``B_j`` be the expected measures of the models of two estimators fitted without
    fold j. The intervals are for the mean of ``A_j - B_j`` over the folds. The null hypothesis is
    that this mean is 0, or equal to the margin if there is one.

    Parameters
    ----------
    estimators : mapping of str to estimator, or list
        Two or more estimators, which are cloned. In a list the name of an estimator is its class,
        or it is a pair (name, estimator).
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels of two classes, or grades for a mean over queries.
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure; as for :func:`cross_val_interval`.
    cv : int, splitter, iterable or None, default=None
        Cross-validation strategy, with the same folds for all estimators; as for
        :func:`cross_val_interval`.
    groups : array-like of shape (n_samples,), default=None
        Group id of each row. For a mean over queries without ``qid`` it is the query id.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order, for a mean over queries.
    params : dict or None, default=None
        Parameters passed to the fits of all estimators; as for :func:`cross_val_interval`.
    single_list : bool, default=False
        Whether ``"ap"`` is a measure of one list; as for :func:`cross_val_interval`.
    baseline : str or None, default=None
        Estimator that every other one is compared with, ``other - baseline``. None means all
        pairs, which gives wider intervals.
    margin : float or None, default=None
        Largest difference that is of no importance, in units of the measure, greater than 0. With
        the default ``alternative`` the test is of non-inferiority: the first estimator of each
        contrast is worse than the second by less than ``margin``. This respects measures for which
        lower is better.
    alternative : {"two-sided", "less", "greater", "non-inferior", "equivalent"}, default=None
        Alternative hypothesis of each contrast: the difference is not 0; below 0; above 0; not
        worse by ``margin`` or more; or smaller than ``margin`` in both directions. None means
        "two-sided" without a margin and "non-inferior" with one.
    level : float, default=0.95
        Nominal probability, in (0, 1), that all intervals hold. For a one-sided alternative and
        for "equivalent" it is the probability for the limits on one side. The tests are at level
        ``1 - level``.
    n_jobs : int or None, default=None
        Number of parallel jobs, as for joblib. The result does not depend on it.
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class; as for :func:`cross_val_interval`.
    random_state : int, RandomState, Generator or None, default=None
        Random number generator or seed. It shuffles the folds if ``cv`` is a number (None keeps
        the order of the rows) and makes the draws of the max-t method. Pass an int for
        reproducible results.
    verbose : int, default=0
        Verbosity level of joblib; a greater value prints more.

    Returns
    -------
    Comparison
        Means over the folds, differences, simultaneous intervals and adjusted p-values. Printing
        it shows a table.

    Raises
    ------
    TypeError
        If ``estimators`` is neither a mapping nor a list, or as for :func:`cross_val_interval`.
    ValueError
        If there are fewer than two estimators, a name occurs twice, ``baseline`` is not a name,
        the positive classes differ, ``margin`` does not match ``alternative`` or the measure, or
        as for :func:`cross_val_interval`.

    See Also
    --------
    cross_val_interval : Interval for one estimator.
    sklearn_rank.inference.compare : Comparison of fitted models on a test set.

    Notes
    -----
    The joint covariance of all estimators comes from the influence of each row, or the value of
    each query, on the means over the folds; groups are summed. The largest absolute statistic has
    the distribution of the maximum of correlated Student variables (max-t). A t-test of K fold
    differences, in contrast, uses only K values and ignores the number of rows.

    The comparison is of the fold models, not of the algorithms. Another estimator may be better on
    another sample of rows, which cross-validation cannot show.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import cross_val_compare
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> models = {
    ...     "linear": LogisticRegression(),
    ...     "neighbours": KNeighborsClassifier(20),
    ... }
    >>> print(cross_val_compare(models, X, y, measure="auc", random_state=0))
    mean expected auc of the 5 fold models
    hypothesis: equal auc; two-sided; max-t; level 95 %
    <BLANKLINE>
    ranker       value  standard error
    linear      0.9244          0.0160
    neighbours  0.9132          0.0171
    <BLANKLINE>
    contrast             difference       95 % interval      p  conclusion
    linear - neighbours     +0.0112  [-0.0235, +0.0459]  0.525  no difference shown

    Test whether the linear model is worse by less than 0.05:

    >>> found = cross_val_compare(
    ...     models, X, y, measure="auc", margin=0.05, random_state=0
    ... )
    >>> found.conclusions
    ('linear not worse by 0.05 or more: shown; better: not shown',)
    """
    check_level(level)
    check_flag("single_list", single_list)
    named = _named_estimators(estimators)
    names = tuple(named)
    read = measure_of_rows(measure)
    question = Question.of(read, alternative, margin, level)
    contrasts = question.contrasts(names, baseline)
    metadata = Metadata.of(
        read, num_samples(X), groups=groups, qid=qid, params=params, single_list=single_list
    )
    samples = {
        name: sample_of(one, X, y, read, metadata, pos_label) for name, one in named.items()
    }
    _check_same_labels(samples)
    first = next(iter(samples.values()))
    parts = fold_parts(cv, first, random_state)
    scores = [
        fit_parts(sample.plan, parts, n_jobs=n_jobs, verbose=verbose)
        for sample in samples.values()
    ]
    found = held_out(first, [part.test for part in parts], scores)
    return joint_comparison(
        found.joint,
        names,
        contrasts,
        question,
        check_generator(random_state),
        first.measure,
        f"mean expected {read.name} of {fold_models(parts)}",
    )


def _named_estimators(estimators: Any) -> dict[str, Any]:
    """Read estimators by name; those of one class without names are numbered."""
    if isinstance(estimators, Mapping):
        pairs = [(str(name), one) for name, one in estimators.items()]
    elif isinstance(estimators, list | tuple):
        pairs = [
            (str(one[0]), one[1]) if isinstance(one, tuple) else (type(one).__name__, one)
            for one in estimators
        ]
        unnamed = [name for name, _ in pairs]
        pairs = [
            (f"{name}-{unnamed[: i + 1].count(name)}", one)
            if unnamed.count(name) > 1 and not isinstance(estimators[i], tuple)
            else (name, one)
            for i, (name, one) in enumerate(pairs)
        ]
    else:
        raise TypeError(
            f"estimators is a {type(estimators).__name__}, but must be a mapping from names to"
            " estimators or a list: pass {'a': first, 'b': second}."
        )
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("estimators contains a name twice: pass unique names.")
    if len(named) < 2:
        raise ValueError(
            f"estimators contains {len(named)}, but a comparison needs at least two: use"
            " cross_val_interval for one."
        )
    return named


def _check_same_labels(samples: dict[str, Sample]) -> None:
    """Refuse estimators that rank different classes to the top."""
    (first, sample), *others = samples.items()
    for name, other in others:
        if not np.array_equal(sample.labels, other.labels):
            raise ValueError(
                f"{first!r} and {name!r} have different positive classes: pass pos_label= for all"
                " estimators."
            )
