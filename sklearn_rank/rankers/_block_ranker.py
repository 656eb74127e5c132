"""Base class of rankers of queries that also take rows that are not in memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._lists import LabelType, Lists, refuse_single_rows
from .._row_batches import RowBatches
from .._solvers import threads_here
from ._block_lists import BlockLists, batched_lists, chunked_lists, normalized_scores
from ._blocked_rows import check_features, check_small_columns, is_blocked, scores_by_blocks
from ._query_features import NormalizingRanker, as_normalizer

__all__ = ["BlockRanker"]


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
