"""Linear rankers of queries: normalised rows, rows in blocks, and fits with a ridge penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import chain, pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from .._lists import LabelType, Lists, TrainingQueries
from .._solvers import COPIED_ROWS, LOST, STEP, Design, LinearProblem, solve_linear
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_vector
from ..losses._shared import LossOnLists
from ..preprocessing import QueryNormalizer
from ._base import Criterion, FitProgress, store_certificate
from ._blocked_rows import checked_part
from ._list_base import (
    checked_labels,
    in_lists,
    remembered_lists,
    standardised_utilities,
    weights_of,
)


def as_normalizer(normalize: Any) -> QueryNormalizer | None:
    if normalize is None:
        return None
    normalizer = QueryNormalizer(normalize) if isinstance(normalize, str) else clone(normalize)
    return normalizer.set_output(transform="default")


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
    def of(cls, lists: Lists | None, *, trained_on: Any, labels: AnyArray, **facts: Any) -> Self:
        """Summary of the lists that count, if any; ``trained_on`` is the record of all lists."""
        return cls(
            n_lists=0 if lists is None else lists.n_lists,
            weight=0.0 if lists is None else float(weights_of(lists).sum()),
            largest=0.0 if lists is None else float(lists.grade.max()),
            trained_on=trained_on,
            labels=labels,
            **facts,
        )


def joined_blocks(parts: list[BlockLists]) -> BlockLists:
    records = [part.trained_on for part in parts if part.trained_on is not None]
    return BlockLists(
        n_lists=sum(part.n_lists for part in parts),
        weight=sum(part.weight for part in parts),
        largest=max(part.largest for part in parts),
        trained_on=reduce(TrainingQueries.joined, records),
        n_single=sum(part.n_single for part in parts),
        labels=np.unique(np.concatenate([part.labels for part in parts])),
        ids=tuple(chain.from_iterable(part.ids for part in parts)),
    )


class _Chunk(NamedTuple):
    """Rows of a chunk with the lists that count, if any."""

    rows: Any
    lists: Lists | None
    summary: BlockLists


def read_chunk(
    columns: dict[str, Any],
    number: int,
    labels: LabelType,
    convert: Callable[[Lists, dict[str, Any]], Lists | None],
    n_features: int,
    normalizer: QueryNormalizer | None,
) -> _Chunk | None:
    X = checked_part(columns["X"], n_features=n_features)
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
    places = np.unique([0, (len(distinct) - 1) // 2, len(distinct) - 1])
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
        raise ValueError("qid has strings in some chunks, numbers in others: make them one type.")
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
    if unit.strip() != "scale" or not 0 <= multiple < np.inf:
        raise ValueError(f"alpha={alpha!r} must be a number from 0 on, 'scale' or as '10*scale'.")
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
    criterion: Criterion = "relative_gap" if by_gap else "gradient_norm"
    progress = FitProgress(estimator, estimator.max_iter, *data, criterion=criterion)
    settings = {"tol": estimator.tol, "max_iter": estimator.max_iter, "start": start}
    solution = solve(problem, on_iteration=progress.iteration, **settings)
    store_certificate(estimator, solution.certificate, criterion, regularise="raise alpha")
    progress.fit_done()
    return solution
