"""Base classes of rankers of queries that also take rows that are not in memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._lists import LabelType, Lists, TrainingQueries, group_rows, refuse_single_rows
from .._partitions import aligned
from .._row_batches import RowBatches
from .._sklearn_compat import StrOptions
from .._solvers import Design, as_design, threads_here, view_design
from .._typing import AnyArray, FloatArray
from .._validation import check_qid, check_rows, check_vector, validate_data
from ..preprocessing import QueryNormalizer
from ..preprocessing._shared import METHODS
from ._blocked_rows import (
    BatchedLists,
    ChunkedLists,
    check_features,
    check_small_columns,
    checked_chunk,
    in_file_order,
    is_blocked,
    lazy_scores,
    refuse_blocked,
    scores_by_blocks,
)
from ._query_base import QueryRanker, checked_labels, in_lists, remembered_lists, weights_of

# What the parameter ``normalize`` may be, for scikit-learn's validation.
NORMALIZE_CONSTRAINTS = [None, StrOptions(set(METHODS)), QueryNormalizer]


def as_normalizer(normalize: Any) -> QueryNormalizer | None:
    """Make a normaliser for the parameter ``normalize``."""
    if normalize is None:
        return None
    return QueryNormalizer(normalize) if isinstance(normalize, str) else clone(normalize)


class NormalizingRanker(QueryRanker):
    """Base class of rankers with a parameter ``normalize``.

    ``fit`` obtains its rows from :meth:`_items`, which sets ``normalizer_``.
    """

    normalizer_: QueryNormalizer | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.normalize is None
        return tags

    def _items(self, X: Any, lists: Lists, *, add: bool = False) -> Design:
        """Rows of the lists in their order, with features per query where these are asked for.

        ``add`` keeps the normaliser of earlier batches.
        """
        normalizer = as_normalizer(self.normalize)
        self.normalizer_ = normalizer
        if normalizer is None:
            return view_design(X, lists.rows)
        arguments = {"qid": lists.list_of, "sample_weight": lists.weight}
        items = in_lists(X, lists).astype(np.float64, copy=False)
        items = normalizer.fit_transform(items, **arguments)
        if add:
            normalizer.n_queries_ += self.n_queries_
            normalizer.list_ = None
        return as_design(items)

    def predict(self, X: Any, *, qid: Any = None) -> FloatArray:
        """Predict scores; within a query a greater score is nearer to the top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. With ``normalize``, all rows of each query.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. Required with ``normalize`` unless the ranker was fitted
            to one query; without ``normalize`` it has no effect.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores. They order the rows of one query; scores of different queries need not be
            comparable.

        Raises
        ------
        ValueError
            If ``qid`` is None, and the ranker normalises features within queries and was fitted to
            several.
        """
        check_is_fitted(self)
        refuse_blocked(self, X)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        if self.normalizer_ is None:
            return self._scores(X)
        if qid is None and self.normalizer_.list_ is None:
            raise self._needs_ids("normalises features within each query")
        return self._scores(self.normalizer_.transform(X, qid=qid))


# Maximum number of distinct labels of a chunk that are kept.
MOST_LABELS = 3


@dataclass(frozen=True, eq=False)
class BlockLists:
    """Lists in blocks, with summaries over all of them."""

    blocks: BatchedLists | ChunkedLists  # The blocks, for solvers
    n_lists: int  # Number of lists that count
    weight: float  # Sum of their weights
    largest: float  # Largest of their labels
    differ: bool  # Whether a list has different labels
    given: TrainingQueries | None  # Record of the training queries, including those left out
    labels: AnyArray


def has_pairs(lists: Lists) -> bool:
    """Whether a list has items of different labels."""
    steps = np.diff(lists.grade) != 0
    steps[lists.offsets[1:-1] - 1] = False
    return bool(steps.any())


def batched_lists(
    rows: RowBatches, lists: Lists, *, normalizer: QueryNormalizer | None, n_threads: int
) -> BlockLists:
    """Take lists of rows that are read batch by batch. The lists, cut into blocks."""
    ordered = in_file_order(lists)
    return BlockLists(
        blocks=BatchedLists.of(rows, ordered, normalizer=normalizer, n_threads=n_threads),
        n_lists=lists.n_lists,
        weight=float(weights_of(lists).sum()),
        largest=float(lists.grade.max()),
        differ=has_pairs(lists),
        given=lists.given,
        labels=lists.labels,
    )


class _Facts(NamedTuple):
    """Summary of the lists of some chunks.

    ``ids`` are those of all lists, chunk by chunk, and ``chunks`` the number of each of these;
    ``labels`` some of the labels that were given, the smallest and the largest among them.
    """

    n_lists: int
    weight: float
    largest: float
    differ: bool
    given: TrainingQueries
    n_single: int
    labels: AnyArray
    ids: list[AnyArray]
    chunks: list[int]

    @classmethod
    def of(cls, number: int, labels: AnyArray, given: Lists, lists: Lists | None) -> _Facts:
        """Take the lists that were given, with their labels, and those that count."""
        if given.given is None or given.ids is None:
            raise ValueError("lists have no ids: pass one id per row.")
        seen = np.unique(labels)
        some = np.unique(np.linspace(0, len(seen) - 1, MOST_LABELS).astype(np.intp))
        return cls(
            n_lists=0 if lists is None else lists.n_lists,
            weight=0.0 if lists is None else float(weights_of(lists).sum()),
            largest=0.0 if lists is None else float(lists.grade.max()),
            differ=lists is not None and has_pairs(lists),
            given=given.given,
            n_single=int(np.count_nonzero(given.lengths == 1)),
            labels=seen[some],
            ids=[given.ids],
            chunks=[number],
        )


def _joined(parts: list[_Facts]) -> _Facts:
    """Facts of several chunks."""
    given = parts[0].given
    for part in parts[1:]:
        given = given.joined(part.given)
    return _Facts(
        n_lists=sum(part.n_lists for part in parts),
        weight=sum(part.weight for part in parts),
        largest=max(part.largest for part in parts),
        differ=any(part.differ for part in parts),
        given=given,
        n_single=sum(part.n_single for part in parts),
        labels=np.unique(np.concatenate([part.labels for part in parts])),
        ids=[ids for part in parts for ids in part.ids],
        chunks=[chunk for part in parts for chunk in part.chunks],
    )


class _Chunk(NamedTuple):
    """Rows of a chunk with their lists, if any count, and what is known of them."""

    rows: Any
    lists: Lists | None
    facts: _Facts


def chunked_lists(
    columns: dict[str, Any],
    labels: LabelType,
    convert: Callable[[Lists, dict[str, Any]], Lists | None],
    *,
    n_features: int,
    normalizer: QueryNormalizer | None,
    held: ExitStack,
) -> tuple[BlockLists, int, int]:
    """Make lists in the chunks of dask collections, and keep them there."""
    partitions = aligned(**columns)
    chunks = partitions.map(_read_chunk, labels, convert, n_features, normalizer, numbered=True)
    blocks = ChunkedLists.of(partitions, chunks, n_features, held)
    facts = blocks.reduced(_facts_of, _joined)
    if facts is None:
        raise ValueError(
            "No row has positive sample_weight and query_weight: at least one row must have both."
        )
    refuse_cut_queries(facts.ids, facts.chunks)
    found = BlockLists(
        blocks=blocks,
        n_lists=facts.n_lists,
        weight=facts.weight,
        largest=facts.largest,
        differ=facts.differ,
        given=facts.given,
        # Chunks of two classes each can contain more than two in total.
        labels=labels.read(check_rows(facts.labels, None, name=labels.name)),
    )
    return found, facts.n_single, sum(map(len, facts.ids))


def _facts_of(chunk: _Chunk) -> _Facts:
    return chunk.facts


def _read_chunk(
    number: int,
    columns: dict[str, Any],
    labels: LabelType,
    convert: Callable[[Lists, dict[str, Any]], Lists | None],
    n_features: int,
    normalizer: QueryNormalizer | None,
) -> _Chunk | None:
    """Check the rows of a chunk, and make their lists; None where no row counts."""
    X = checked_chunk(columns["X"], n_features=n_features)
    y = checked_labels(columns["y"])
    weights = {name: columns[name] for name in ("sample_weight", "query_weight")}
    counts = np.ones(len(y), dtype=bool)
    for name, values in weights.items():
        if values is not None:
            counts &= check_vector(name, values, len(y), lowest=0.0) > 0
    if not counts.any():
        return None
    given = remembered_lists(y, labels, qid=columns["qid"], **weights)
    lists = convert(given, columns)
    facts = _Facts.of(number, y if given.rows is None else y[given.rows], given, lists)
    if lists is None:
        return _Chunk(None, None, facts)
    if normalizer is not None:
        items = (X if lists.rows is None else X[lists.rows]).astype(np.float64, copy=False)
        X = normalizer.fit_transform(items, qid=lists.list_of, sample_weight=lists.weight)
        lists = Lists(lists.labels, lists.offsets, lists.weight, None, lists.query_weight)
    return _Chunk(X, lists, facts)


def refuse_cut_queries(ids: list[AnyArray], chunks: list[int]) -> None:
    """Raise an error for queries with rows in more than one chunk."""
    if len({"text" if one.dtype.kind in "OSU" else "number" for one in ids}) > 1:
        raise ValueError(
            "qid has strings in some chunks and numbers in others: convert them to one type."
        )
    joined = np.concatenate(ids)
    chunk = np.repeat(chunks, [len(one) for one in ids])
    order = np.argsort(joined, kind="stable")
    same = np.flatnonzero(joined[order[1:]] == joined[order[:-1]])
    if not len(same):
        return
    first, second = order[same[0]], order[same[0] + 1]
    raise ValueError(
        f"The query {joined[first : first + 1].tolist()[0]!r} has rows in the chunks "
        f"{chunk[first]} and {chunk[second]} (queries split: {len(same)}), but each query must "
        "lie within one chunk: repartition by query, with frame.set_index('qid', sort=True) or "
        "frame.shuffle('qid') for a dask dataframe, or rechunk an array at the ends of queries."
    )


def normalized_scores(estimator: Any, X: Any, qid: Any, score: Callable[[Any], FloatArray]) -> Any:
    """Score rows that are not in memory, with features normalised within each query.

    Shape (n_rows,).
    """
    check_features(estimator, X, reset=False)
    normalizer = estimator.normalizer_
    if isinstance(X, RowBatches):
        ids, offsets, order = group_rows(check_qid(qid, X.shape[0]))
        lists = Lists(np.zeros(X.shape[0]), offsets, ids=ids, rows=order)
        blocks = BatchedLists.of(X, in_file_order(lists), normalizer=normalizer)
        return blocks.scores(score)
    partitions = aligned(X=X, qid=qid)
    ids, chunks = partitions.reduce(_ids_of_chunk, _joined_ids, numbered=True)
    refuse_cut_queries(ids, chunks)
    return lazy_scores(partitions, _normalized_chunk, normalizer, score, estimator.n_features_in_)


def _ids_of_chunk(number: int, columns: dict[str, Any]) -> tuple[list[AnyArray], list[int]]:
    qid = columns["qid"]
    return [group_rows(check_qid(qid, len(qid)))[0]], [number]


def _joined_ids(parts: list[tuple[list[AnyArray], list[int]]]) -> tuple[list[Any], list[int]]:
    ids = [one for part in parts for one in part[0]]
    return ids, [number for part in parts for number in part[1]]


def _normalized_chunk(
    columns: dict[str, Any],
    normalizer: QueryNormalizer,
    score: Callable[[Any], FloatArray],
    n_features: int,
) -> FloatArray:
    X = checked_chunk(columns["X"], n_features=n_features, dtype=np.float64)
    return score(normalizer.transform(X, qid=columns["qid"]))


class BlockRanker(NormalizingRanker):
    """Base class of rankers whose loss is a sum over queries; rows may come in blocks.

    A subclass has the parameters ``normalize``, ``single_list`` and ``n_jobs``.
    """

    _takes_blocks: ClassVar[bool] = True

    def _check_columns(self, columns: dict[str, Any]) -> None:
        """Check that what was passed beside rows that are not in memory can be cut as they are."""
        X, qid = columns["X"], columns["qid"]
        if isinstance(X, RowBatches):
            check_small_columns(X, **{name: columns[name] for name in columns if name != "X"})
        if qid is None or np.ndim(qid) == 0 or self.single_list:
            raise ValueError(
                f"{type(self).__name__} needs qid, one id per row, for rows that are not in "
                "memory, because blocks consist of whole queries: pass qid=, or rows in memory."
            )

    def _batched(self, rows: RowBatches, lists: Lists) -> BlockLists:
        """Lists of rows that are read batch by batch."""
        normalizer = as_normalizer(self.normalize)
        threads = threads_here(self.n_jobs)
        self._store_normalizer(normalizer, rows, lists.n_lists)
        return batched_lists(rows, lists, normalizer=normalizer, n_threads=threads)

    def _chunked(
        self,
        columns: dict[str, Any],
        labels: LabelType,
        convert: Callable[[Lists, dict[str, Any]], Lists | None],
        held: ExitStack,
    ) -> BlockLists:
        """Lists in the chunks of dask collections, until ``held`` is closed."""
        X = columns["X"]
        check_features(self, X, reset=True)
        normalizer = as_normalizer(self.normalize)
        lists, n_single, n_ids = chunked_lists(
            columns,
            labels,
            convert,
            n_features=self.n_features_in_,
            normalizer=normalizer,
            held=held,
        )
        refuse_single_rows(type(self).__name__, n_single, n_ids)
        self._store_normalizer(normalizer, X, lists.n_lists)
        return lists

    def _store_normalizer(self, normalizer: Any, X: Any, n_lists: int) -> None:
        """Store what normalises queries, which learns nothing but their number."""
        self.normalizer_ = normalizer
        if normalizer is not None:
            normalizer.fit(np.zeros((2, X.shape[1])), qid=[0, 1])
            normalizer.n_queries_ = n_lists

    def predict(self, X: Any, *, qid: Any = None) -> Any:
        """Predict scores; within a query a greater score is nearer to the top.

        Parameters
        ----------
        X : {array-like, sparse matrix, RowBatches, dask collection} of shape (n_samples, \
n_features)
            Rows. With ``normalize``, all rows of each query.
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
        if not is_blocked(X):
            return super().predict(X, qid=qid)
        check_is_fitted(self)
        if self.normalizer_ is None:
            return scores_by_blocks(self, X, self._scorer())
        if qid is None or np.ndim(qid) == 0:
            raise ValueError(
                f"This {type(self).__name__} normalises features within each query and needs qid "
                "to score rows: pass qid=, one id per row."
            )
        return normalized_scores(self, X, qid, self._scorer())

    def _scorer(self) -> Callable[[Any], Any]:
        """Copy of the ranker for scoring, without the record of its training."""
        fitted = type(self)()
        for name in ("coef_", "intercept_"):
            if hasattr(self, name):
                setattr(fitted, name, getattr(self, name))
        return fitted._scores
