"""Learning curve over numbers of whole queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from sklearn.metrics import check_scoring
from sklearn.model_selection import cross_validate
from sklearn.utils import check_random_state

from .._arguments import check_flag
from .._sklearn_compat import num_samples
from .._typing import IntArray
from .._validation import check_vector
from ._query_ids import queries_of
from ._query_routing import ids_as_asked, scorer_of
from ._whole_splits import splitter_of, whole_splits

__all__ = ["query_learning_curve"]


def query_learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    qid: Any,
    train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = None,
    scoring: Any = None,
    shuffle: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
    error_score: Any = np.nan,
    return_times: bool = False,
    params: dict[str, Any] | None = None,
    verbose: int = 0,
) -> tuple[Any, ...]:
    """Score an estimator that is fitted on more and more queries.

    As :func:`sklearn.model_selection.learning_curve`, which takes rows out of queries. The ids go
    to each fit and score that ask for them, whether or not metadata routing is enabled.

    Parameters
    ----------
    estimator : estimator
        What is fitted, such as a ranker of queries or a pipeline.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Grades.
    qid : array-like of shape (n_samples,)
        Id of the query of each row, in any order.
    train_sizes : array-like of shape (n_ticks,), default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Numbers of queries to train on, or, as fractions, shares in (0, 1] of the smallest number
        that a split leaves for training. Equal numbers are one tick.
    cv : int, splitter, iterable or None, default=None
        An int is that many folds of ``QueryKFold(shuffle=False)``, None five. A splitter must cut
        no query.
    scoring : str, Measure, callable or None, default=None
        The name of a measure, a measure, or a scorer; None is the estimator's ``score``.
    shuffle : bool, default=True
        Whether the queries to train on are chosen at random; else they are those of the smallest
        ids. Either way a larger number of them has all of a smaller one.
    random_state : int, RandomState instance or None, default=None
        Source of the choice.
    n_jobs : int or None, default=None
        Processes.
    error_score : "raise" or float, default=nan
        What a failed fit scores.
    return_times : bool, default=False
        Whether to return the seconds.
    params : dict or None, default=None
        Other metadata, as ``{"sample_weight": weight}``, which goes where it is asked for.
    verbose : int, default=0
        How much is printed.

    Returns
    -------
    train_sizes_abs : ndarray of shape (n_unique_ticks,)
        Numbers of queries that were trained on.
    train_scores : ndarray of shape (n_unique_ticks, n_splits)
        Scores on these queries.
    test_scores : ndarray of shape (n_unique_ticks, n_splits)
        Scores on the queries held out.
    fit_times : ndarray of shape (n_unique_ticks, n_splits)
        Seconds, only with ``return_times``.
    score_times : ndarray of shape (n_unique_ticks, n_splits)
        Seconds, only with ``return_times``.

    See Also
    --------
    sklearn.model_selection.LearningCurveDisplay : Draws what is returned:
        ``LearningCurveDisplay(train_sizes=..., train_scores=..., test_scores=...).plot()``.

    Notes
    -----
    n_ticks times n_splits fits. Scores of one split are of the same held-out queries, so that
    differences along the curve are surer than the spread over the splits suggests.

    Examples
    --------
    >>> from sklearn_rank import OrderPreservingRanker
    >>> from sklearn_rank.datasets import make_subset_ranking
    >>> from sklearn_rank.model_selection import query_learning_curve
    >>> X, y, qid = make_subset_ranking(60, n_items=8, return_X_y=True, random_state=0)
    >>> sizes, train, test = query_learning_curve(
    ...     OrderPreservingRanker(alpha=0.1), X, y, qid=qid, train_sizes=[5, 20, 48],
    ...     scoring="ndcg@5", random_state=0)
    >>> sizes
    array([ 5, 20, 48])
    >>> train.shape, bool(test[-1].mean() > test[0].mean())
    ((3, 5), True)
    """
    if isinstance(scoring, dict | list | tuple | set):
        raise ValueError(
            f"scoring={scoring!r} has several measures, but a learning curve needs one: pass one"
            " of them."
        )
    queries = queries_of(qid, num_samples(X), "query_learning_curve", name="qid")
    splits = list(whole_splits(splitter_of(cv, estimator), X, y, qid, queries))
    rng = check_random_state(random_state) if check_flag("shuffle", shuffle) else None
    timed = check_flag("return_times", return_times)
    present = [np.flatnonzero(queries.has(train)) for train, _ in splits]
    sizes = _sizes(train_sizes, min(map(len, present)))
    parts = []
    for some, (train, test) in zip(present, splits, strict=True):
        order = some if rng is None else rng.permutation(some)
        for size in sizes:
            kept = np.zeros(queries.count, dtype=bool)
            kept[order[:size]] = True
            parts.append((np.asarray(train)[kept[queries.of_rows[train]]], test))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = check_scoring(estimator, scoring=scorer_of(scoring))
        ids = ids_as_asked([(estimator, "fit"), (scorer, "score")], qid)
        found = cross_validate(
            estimator,
            X,
            y,
            cv=parts,
            scoring=scorer,
            params={**ids, **(params or {})},
            return_train_score=True,
            error_score=error_score,
            n_jobs=n_jobs,
            verbose=verbose,
        )
    names = ["train_score", "test_score"] + (["fit_time", "score_time"] if timed else [])
    return sizes, *(found[name].reshape(len(splits), len(sizes)).T for name in names)


def _sizes(train_sizes: Any, most: int) -> IntArray:
    """Numbers of queries to train on, ascending."""
    given = np.asarray(train_sizes)
    sizes = check_vector("train_sizes", train_sizes, lowest=0.0)
    if given.dtype.kind in "iu":
        if sizes.min() < 1 or sizes.max() > most:
            raise ValueError(
                f"train_sizes={train_sizes!r} are numbers of queries and must be from 1 to {most},"
                " the size of the smallest training part."
            )
        return np.unique(sizes.astype(np.intp))
    if sizes.min() <= 0 or sizes.max() > 1:
        raise ValueError(
            f"train_sizes={train_sizes!r} are fractions of the queries and must be in (0, 1]: pass"
            " integers for numbers of queries."
        )
    return np.unique(np.maximum((sizes * most + 1e-9).astype(np.intp), 1))
