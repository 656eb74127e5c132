"""Linear rankers of queries: normalised rows, rows in blocks, and fits with a ridge penalty."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._lists import LabelType, Lists, TrainingQueries, group_rows, refuse_single_rows
from .._partitions import aligned, is_collection
from .._sklearn_compat import StrOptions
from .._solvers import (
    COPIED_ROWS,
    LOST,
    STEP,
    Design,
    LinearProblem,
    OnePart,
    as_design,
    count_threads,
    solve_linear,
    view_design,
)
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_qid, check_rows, check_vector
from ..losses._shared import LossOnLists
from ..preprocessing import METHODS, QueryNormalizer
from ._base import FitProgress, refuse_blocked, store_certificate, warn_of_scales
from ._blocked_rows import (
    ChunkedLists,
    check_features,
    checked_chunk,
    lazy_scores,
    persisted,
    scores_by_blocks,
)
from ._list_base import (
    QueryRanker,
    checked_labels,
    in_lists,
    remembered_lists,
    standardised_utilities,
    weights_of,
)

# What the parameter ``normalize`` may be, for scikit-learn's validation.
NORMALIZE_CONSTRAINTS = [None, StrOptions(set(METHODS)), QueryNormalizer]


def as_normalizer(normalize: Any) -> QueryNormalizer | None:
    if normalize is None:
        return None
    return QueryNormalizer(normalize) if isinstance(normalize, str) else clone(normalize)


class NormalizingRanker(QueryRanker):
    """Base class of rankers with ``normalize``; :meth:`_items` sets ``normalizer_``."""

    normalizer_: QueryNormalizer | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.normalize is None
        return tags

    def _items(self, X: Any, lists: Lists, *, add: bool = False) -> Design:
        """Rows of the lists in their order; ``add`` keeps the normaliser of earlier batches."""
        self.normalizer_ = normalizer = as_normalizer(self.normalize)
        if normalizer is None:
            return view_design(X, lists.rows)
        items = in_lists(X, lists).astype(np.float64, copy=False)
        items = normalizer.fit_transform(items, qid=lists.list_of, sample_weight=lists.weight)
        if add:
            normalizer.n_queries_ += self.n_queries_
            normalizer.list_ = None
        return as_design(items)

    def predict(self, X: Any, *, qid: Any = None) -> Any:
        """Predict scores; within a query a greater score is nearer to the top.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
            Rows, in any form that ``fit`` takes. With ``normalize``, all rows of each query.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. Required with ``normalize`` unless the ranker was fitted
            to one query; without ``normalize`` it has no effect.

        Returns
        -------
        ndarray or dask array of shape (n_samples,)
            Scores. They order the rows of one query; scores of different queries need not be
            comparable. Scores of dask collections are lazy.

        Raises
        ------
        ValueError
            If ``qid`` is None, and the ranker normalises features within queries and was fitted to
            several.
        """
        check_is_fitted(self)
        if is_collection(X):
            return self._predict_blocks(X, qid)
        X = self._validated(X, reset=False)
        if self.normalizer_ is None:
            return self._scores(X)
        if qid is None and self.normalizer_.list_ is None:
            raise self._needs_ids("normalises features within each query")
        return self._scores(self.normalizer_.transform(X, qid=qid))

    def _predict_blocks(self, X: Any, qid: Any) -> Any:
        refuse_blocked(self, X)


# Maximum number of distinct labels of a chunk that are kept.
MOST_LABELS = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockLists:
    """Lists in one part or several, with summaries over all; or the summary of some chunks."""

    blocks: Any = None  # Parts of solvers: OnePart or ChunkedLists
    n_lists: int  # Number of lists that count
    weight: float  # Sum of their weights
    largest: float  # Largest of their labels
    trained_on: TrainingQueries | None  # Record of the training queries, including those left out
    n_single: int = 0  # Number of lists of one row, including those left out
    labels: AnyArray  # Some of the labels as passed, the smallest and the largest among them
    ids: tuple[tuple[int, AnyArray], ...] = ()  # Number of each chunk and ids of all its lists

    @classmethod
    def of(
        cls, lists: Lists | None, *, trained_on: Any, labels: AnyArray, **facts: Any
    ) -> BlockLists:
        """Summary of the lists that count, if any; ``trained_on`` is the record of all lists."""
        return cls(
            n_lists=0 if lists is None else lists.n_lists,
            weight=0.0 if lists is None else float(weights_of(lists).sum()),
            largest=0.0 if lists is None else float(lists.grade.max()),
            trained_on=trained_on,
            labels=labels,
            **facts,
        )


def _join(parts: list[BlockLists]) -> BlockLists:
    records = [part.trained_on for part in parts if part.trained_on is not None]
    return BlockLists(
        n_lists=sum(part.n_lists for part in parts),
        weight=sum(part.weight for part in parts),
        largest=max(part.largest for part in parts),
        trained_on=reduce(TrainingQueries.joined, records),
        n_single=sum(part.n_single for part in parts),
        labels=np.unique(np.concatenate([part.labels for part in parts])),
        ids=_chain([part.ids for part in parts]),
    )


class _Chunk(NamedTuple):
    """Rows of a chunk with the lists that count, if any."""

    rows: Any
    lists: Lists | None
    summary: BlockLists


def _read_chunk(
    number: int,
    columns: dict[str, Any],
    labels: LabelType,
    convert: Callable[[Lists, dict[str, Any]], Lists | None],
    n_features: int,
    normalizer: QueryNormalizer | None,
) -> _Chunk | None:
    X = checked_chunk(columns["X"], n_features=n_features)
    y = checked_labels(columns["y"])
    weights = {name: columns[name] for name in ("sample_weight", "query_weight")}
    counts = np.ones(len(y), dtype=bool)
    for name, values in weights.items():
        if values is not None:
            counts &= check_vector(name, values, len(y), lowest=0.0) > 0
    if not counts.any():
        return None
    all_lists = remembered_lists(y, labels, qid=columns["qid"], **weights)
    if all_lists.ids is None:
        raise ValueError("lists have no ids: pass one id per row.")
    lists = convert(all_lists, columns)
    distinct = np.unique(in_lists(y, all_lists))
    places = np.unique(np.linspace(0, len(distinct) - 1, MOST_LABELS).astype(np.intp))
    summary = BlockLists.of(
        lists,
        trained_on=all_lists.trained_on,
        labels=distinct[places],
        n_single=int(np.count_nonzero(all_lists.lengths == 1)),
        ids=((number, all_lists.ids),),
    )
    if lists is None:
        return _Chunk(None, None, summary)
    if normalizer is not None:
        items = in_lists(X, lists).astype(np.float64, copy=False)
        X = normalizer.fit_transform(items, qid=lists.list_of, sample_weight=lists.weight)
        lists = Lists(lists.labels, lists.offsets, lists.weight, None, lists.query_weight)
    return _Chunk(X, lists, summary)


def refuse_cut_queries(ids_of_chunks: tuple[tuple[int, AnyArray], ...]) -> None:
    ids = [part for _, part in ids_of_chunks]
    if len({"text" if part.dtype.kind in "OSU" else "number" for part in ids}) > 1:
        raise ValueError(
            "qid has strings in some chunks and numbers in others: convert them to one type."
        )
    all_ids = np.concatenate(ids)
    chunk = np.repeat([number for number, _ in ids_of_chunks], [len(part) for part in ids])
    order = np.argsort(all_ids, kind="stable")
    split = np.flatnonzero(all_ids[order[1:]] == all_ids[order[:-1]])
    if not len(split):
        return
    place, repeated = order[split[0]], order[split[0] + 1]
    raise ValueError(
        f"The query {all_ids[place : place + 1].tolist()[0]!r} has rows in the chunks "
        f"{chunk[place]} and {chunk[repeated]} (queries split: {len(split)}), but each query must "
        "lie within one chunk: repartition by query, with frame.set_index('qid', sort=True) or "
        "frame.shuffle('qid') for a dask dataframe, or rechunk an array at the ends of queries."
    )


def _chain(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(value for part in parts for value in part)


class BlockRanker(NormalizingRanker):
    """Base class of rankers whose loss is a sum over queries; X may be a dask collection."""

    def _in_parts(self, X: Any, lists: Lists, *, add: bool = False) -> BlockLists:
        """Lists of rows in memory, in one part."""
        items = self._items(X, lists, add=add)
        blocks = OnePart(items, None, lists, count_threads(self.n_jobs))
        return BlockLists.of(
            lists, trained_on=lists.trained_on, labels=lists.labels, blocks=blocks
        )

    def _chunked(
        self,
        columns: dict[str, Any],
        labels: LabelType,
        convert: Callable[[Lists, dict[str, Any]], Lists | None],
        exit_stack: ExitStack,
    ) -> BlockLists:
        X, qid = columns["X"], columns["qid"]
        if qid is None or np.ndim(qid) == 0 or self.single_list:
            raise ValueError(
                f"{type(self).__name__} needs qid, one id per row, for rows that are not in "
                "memory, because blocks consist of whole queries: pass qid=, or rows in memory."
            )
        check_features(self, X, reset=True)
        normalizer = as_normalizer(self.normalize)
        partitions, n_features = aligned(**columns), self.n_features_in_
        chunks = partitions.map(
            _read_chunk, labels, convert, n_features, normalizer, numbered=True
        )
        blocks = ChunkedLists(partitions, persisted(chunks, exit_stack), n_features, exit_stack)
        lists = blocks.summary(_join)
        if lists is None:
            raise ValueError(
                "No row has positive sample_weight and query_weight: at least one row must have "
                "both."
            )
        refuse_cut_queries(lists.ids)
        # Chunks of two classes each can contain more than two in total.
        label_values = labels.read(check_rows(lists.labels, None, name=labels.name))
        refuse_single_rows(
            type(self).__name__, lists.n_single, sum(len(ids) for _, ids in lists.ids)
        )
        self.normalizer_ = normalizer
        if normalizer is not None:
            normalizer.fit(np.zeros((2, n_features)), qid=[0, 1])
            normalizer.n_queries_ = lists.n_lists
        return replace(lists, blocks=blocks, labels=label_values)

    def _warn_of_units(self, X: Any, curvatures: FloatArray) -> None:
        """Warn where second derivatives by the coefficients differ much."""
        warn_of_scales(self, np.sqrt(curvatures), sparse=sp.issparse(X), within_queries=True)

    def _predict_blocks(self, X: Any, qid: Any) -> Any:
        if self.normalizer_ is None:
            return scores_by_blocks(self, X, self._scorer())
        if qid is None or np.ndim(qid) == 0:
            raise ValueError(
                f"This {type(self).__name__} normalises features within each query and needs qid "
                "to score rows: pass qid=, one id per row."
            )
        check_features(self, X, reset=False)
        normalizer, score = self.normalizer_, self._scorer()
        partitions, n_features = aligned(X=X, qid=qid), self.n_features_in_

        def ids_of_chunk(number: int, columns: dict[str, Any]) -> tuple[tuple[int, AnyArray]]:
            qid = columns["qid"]
            return ((number, group_rows(check_qid(qid, len(qid)))[0]),)

        def scores_of_chunk(columns: dict[str, Any]) -> FloatArray:
            X = checked_chunk(columns["X"], n_features=n_features, dtype=np.float64)
            return score(normalizer.transform(X, qid=columns["qid"]))

        refuse_cut_queries(partitions.reduce(ids_of_chunk, _chain, numbered=True))
        return lazy_scores(partitions, scores_of_chunk)

    def _scorer(self) -> Callable[[Any], Any]:
        """Copy of the ranker for scoring, without the record of its training."""
        fitted = type(self)()
        for name in ("coef_", "intercept_"):
            if hasattr(self, name):
                setattr(fitted, name, getattr(self, name))
        return fitted._scores


SCALE = "scale"

# Share of the curvature of the loss that "scale" is. Cross-validation on four sets of queries took
# 1 to 10 times it most often (benchmarks/results/query_rankers.csv).
SHARE = 0.1


def relative_alpha(alpha: Any) -> float | None:
    """Factor of ``"scale"`` or ``"0.1*scale"``; None for a number, which is absolute."""
    if not isinstance(alpha, str):
        return None
    factor, star, unit = alpha.rpartition("*")
    try:
        multiple = float(factor) if star else 1.0
    except ValueError:
        multiple = np.nan
    if unit.strip() != SCALE or not 0 <= multiple < np.inf:
        raise ValueError(
            f"alpha={alpha!r} must be a number of at least 0, 'scale', or a multiple such as "
            "'10*scale'."
        )
    return multiple


def scaled_penalties(sums: FloatArray, curvature: float, weight: float) -> FloatArray:
    """Penalty of each coefficient by "scale", from :func:`feature_curvature` of lists of a weight.

    The unit of a feature is its variance in the lists where it varies, so that a rare one is not
    penalised less; of a feature that varies in none, its mean square.
    """
    variances, of_varying, squares = sums
    # Lists in which a feature varies stand for all.
    share = np.divide(of_varying, curvature, out=np.ones_like(squares), where=of_varying > 0)
    penalties = SHARE / weight * np.where(of_varying > 0, variances, squares) / share
    return np.where((penalties > 0) & (penalties < np.inf), penalties, 1.0)


def feature_curvature(items: Design, loss: LossOnLists) -> tuple[FloatArray, float]:
    """Curvature of the loss in the coefficient of each feature, and along the utilities.

    The sums of :func:`_variances` with the curvature along the utilities as factor, and its sum.
    """
    curvatures = list_curvatures(loss)
    return _variances(items, loss.lists, curvatures), float(curvatures.sum())


def list_curvatures(loss: LossOnLists) -> FloatArray:
    """Curvature of the loss of each list along its standardised utilities."""
    lists = loss.lists
    standard = standardised_utilities(lists)
    _, above = loss.value_and_gradient(STEP * standard)
    _, below = loss.value_and_gradient(-STEP * standard)
    return lists.totals(standard * (above - below)) / (2.0 * STEP)


def _variances(items: Design, lists: Lists, factor: FloatArray) -> FloatArray:
    """Sum over the lists, with factors, of the variance of each feature, of 1 if it varies, and of
    the square of a feature that does not vary.
    """
    share = lists.counts / lists.to_items(lists.sizes)
    firsts = np.searchsorted(lists.offsets, np.arange(0, lists.offsets[-1], COPIED_ROWS))
    total = np.zeros((3, items.shape[1]))
    for first, last in pairwise(np.unique(np.append(firsts, lists.n_lists))):
        offsets = lists.offsets[first : last + 1]
        total += _variances_of(items, share, offsets, factor[first:last])
    return total


def _variances_of(
    items: Design, share: FloatArray, offsets: IntArray, factor: FloatArray
) -> FloatArray:
    """The same of some lists, which may be one that is long."""
    means: Any = 0.0
    squares: Any = 0.0
    origin = None
    for start in range(offsets[0], offsets[-1], COPIED_ROWS):
        stop = min(start + COPIED_ROWS, offsets[-1])
        block: Any = items.rows(slice(start, stop))
        rows, ends = block.matrix, np.clip(offsets - start, 0, stop - start)
        if not sp.issparse(rows):
            origin = rows[ends[:-1]] if origin is None else origin
            rows = rows - np.repeat(origin, np.diff(ends), axis=0)
        entries = share[start:stop], np.arange(stop - start), ends
        by_list = sp.csr_array(entries, shape=(len(factor), stop - start))
        sums = by_list @ rows, by_list @ (rows * rows)
        means, squares = sums if start == offsets[0] else (means + sums[0], squares + sums[1])
    if origin is None:
        centred = (squares - means * means).tocsr()
        # Of a feature that is constant in a list rounding is left.
        centred = centred.multiply(centred > LOST * squares).tocsr()
        return np.stack([part.T @ factor for part in (centred, centred > 0, squares)])
    variances = np.maximum(squares - means * means, 0.0)
    variances[variances <= LOST * LOST * origin**2] = 0.0
    return np.stack([factor @ part for part in (variances, variances > 0, origin**2)])


def ridge_solution(
    estimator: Any,
    problem: LinearProblem,
    start: FloatArray | None,
    data: tuple[Any, Any],
    *,
    solve: Callable[..., Any] = solve_linear,
    by_gap: bool = False,
) -> Any:
    """Solve a problem with the settings of an estimator, and store the certificate."""
    criterion: Literal["relative_gap", "gradient_norm"]
    criterion = "relative_gap" if by_gap else "gradient_norm"
    progress = FitProgress(estimator, estimator.max_iter, *data, criterion=criterion)
    solution = solve(
        problem,
        tol=estimator.tol,
        max_iter=estimator.max_iter,
        start=start,
        on_iteration=progress.iteration,
    )
    store_certificate(estimator, solution.certificate, criterion, regularise="raise alpha")
    progress.fit_done()
    return solution
