"""Input of cross-validation: rows, labels and ids, checked, and the folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import column_or_1d, indexable
from sklearn.utils.metadata_routing import get_routing_for_object

from .._arguments import is_whole
from .._typing import AnyArray, BoolArray
from .._validation import check_qid, ravelled, refuse_missing_labels
from ..metrics import Measure, get_measure
from ..metrics._shared import (
    MeasureLike,
    RankingScorer,
    check_fixed_scale,
    own_pos_label,
    refuse_level,
)
from ._candidates import Split
from ._cross_val_fits import FitPlan, fit_params_of
from ._query_ids import places_of
from ._query_splitters import QueryKFold
from ._splits import check_splits, positive_rows

__all__ = ["Metadata", "Sample", "folds_of", "measure_of_rows", "sample_of"]

N_FOLDS = 5


def measure_of_rows(measure: MeasureLike) -> Measure:
    """Read a measure that has intervals."""
    if isinstance(measure, RankingScorer):
        raise TypeError(
            f"measure={measure!r} is a scorer: pass the measure, measure={measure.measure.name!r}."
        )
    found = get_measure(measure)
    if found.by_class or (not found.per_query and found.kind == "graded"):
        what = "takes one score for each class" if found.by_class else "is of one list of grades"
        raise ValueError(
            f"measure={found.name!r} {what}, which has no interval: pass 'auc' of two classes or a"
            " mean over queries, such as 'ndcg@10'."
        )
    if not found.per_query and not found.has_influence:
        raise ValueError(
            f"measure={found.name!r} has no influence function, so it has no interval: pass 'auc',"
            " a mean over queries, such as 'ndcg@10', or make_measure(..., influence=)."
        )
    return found


@dataclass(frozen=True, eq=False)
class Metadata:
    """Arguments passed besides rows and labels."""

    params: dict[str, Any]  # For the fits
    qid: AnyArray | None  # (n_samples,): Ids of the queries; None is one list
    groups: AnyArray | None

    @classmethod
    def of(
        cls, measure: Measure, n: int, *, groups: Any, qid: Any, params: Any, single_list: bool
    ) -> Metadata:
        """Distinguish query ids from group ids."""
        if params is not None and not isinstance(params, dict):
            raise TypeError(
                f"params is a {type(params).__name__}, but must be a dict from names to arguments"
                " of fit: pass params={'sample_weight': weight}."
            )
        left = dict(params or {})
        groups = _given_once("groups", groups, left)
        qid = _given_once("qid", qid, left)
        if qid is not None and single_list:
            raise ValueError(
                f"{measure.name!r} has no queries with single_list=True: leave out one of the two,"
                " or pass the ids as groups= for rows that depend on each other."
            )
        if measure.per_query and not single_list and qid is None:
            groups, qid = None, groups
            if qid is None and not measure.has_influence:
                raise ValueError(
                    f"{measure.name!r} is a mean over queries, but qid is missing: pass qid=, one"
                    " id for each row."
                )
        return cls(left, _checked_ids("qid", qid, n), _checked_ids("groups", groups, n))

    @property
    def units(self) -> AnyArray | None:
        """Ids of the units that folds keep whole."""
        return self.qid if self.groups is None else self.groups

    @property
    def wholes(self) -> dict[str, AnyArray]:
        """Ids that must be either in the training or in the test part, by their kind."""
        ids = {"group": self.groups, "query": self.qid}
        return {name: values for name, values in ids.items() if values is not None}


def _given_once(name: str, value: Any, params: dict[str, Any]) -> Any:
    """Take metadata from the argument or from the parameters, but not from both."""
    within = params.pop(name, None)
    if value is not None and within is not None:
        raise ValueError(f"{name} was passed twice, also in params: leave out one of the two.")
    return within if value is None else value


def _checked_ids(name: str, ids: Any, n: int) -> AnyArray | None:
    return None if ids is None else np.asarray(check_qid(ravelled(ids, name), n, name=name))


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows, labels and ids, as the measure reads them and as the fits get them."""

    measure: Measure
    plan: FitPlan  # What is fitted
    labels: AnyArray  # (n_samples,): Labels as the measure reads them: 0 and 1, or grades
    metadata: Metadata

    @property
    def query_ids(self) -> AnyArray:
        """Ids of the queries, where there are any."""
        return np.asarray(self.metadata.qid)

    @property
    def positive(self) -> BoolArray | None:
        """Which rows are positive, of a measure of one list."""
        return None if self.metadata.qid is not None else self.labels == 1


def sample_of(
    estimator: Any, X: Any, y: Any, measure: Measure, metadata: Metadata, pos_label: Any
) -> Sample:
    """Check rows and labels, and find the positive class."""
    if y is None:
        raise ValueError("y is None: pass the labels.")
    refuse_missing_labels(y)
    X, y = indexable(X, y)
    y = column_or_1d(y, warn=True)
    said = own_pos_label(estimator) if pos_label is None else pos_label
    classifier = is_classifier(estimator)
    labels = y
    if classifier:
        refuse_level(measure, estimator)
    if classifier or metadata.qid is None or said is not None:
        name = type(estimator).__name__ if classifier else None
        rel = measure.rel
        said, positive = positive_rows(y, said, name, rel=rel)
        labels = positive.astype(np.int64)
        measure = get_measure(measure, rel=None) if measure.kind == "binary" else measure
    else:
        check_fixed_scale(measure, y)
    ids = metadata.groups if metadata.qid is None else metadata.qid
    params = fit_params_of(estimator, metadata.params, ids)
    return Sample(measure, FitPlan(estimator, X, y, params, ids, said), labels, metadata)


def folds_of(cv: Any, sample: Sample, seed: int | None) -> list[Split]:
    """Split the rows into folds, and raise an error for folds without a value."""
    y, units = sample.plan.y, sample.metadata.units
    if cv is None or is_whole(cv):
        splitter, y = _own_splitter(N_FOLDS if cv is None else cv, sample, seed)
        units = places_of(units, len(y))
    else:
        splitter = check_cv(cv, y, classifier=is_classifier(sample.plan.estimator))
    asks = "groups" in get_routing_for_object(splitter).consumes("split", ["groups"])
    ids = units if asks or not hasattr(splitter, "get_metadata_routing") else None
    splits = [
        (_rows(train, len(y)), _rows(test, len(y)))
        for train, test in splitter.split(sample.plan.X, y, ids)
    ]
    if sample.positive is not None and any(len(test) == 1 for _, test in splits):
        raise ValueError(
            f"A fold of one row has no value of {sample.measure.name!r}, and scores of different"
            f" fold models must not be pooled: pass cv={N_FOLDS}, not leave-one-out."
        )
    check_splits(splits, sample.positive, sample.metadata.wholes)
    return splits


def _rows(rows: Any, n: int) -> AnyArray:
    """Numbers of rows, also where a mask says which."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool and len(rows) == n else rows


def _own_splitter(n_folds: int, sample: Sample, seed: int | None) -> tuple[Any, AnyArray]:
    """Splitter that a number of folds stands for, and the labels that it gets."""
    shuffle = {"shuffle": seed is not None, "random_state": seed}
    if sample.positive is None:
        return QueryKFold(n_folds, **shuffle), sample.plan.y
    units = sample.metadata.units
    for name, of_class in (("positive", sample.positive), ("negative", ~sample.positive)):
        count = np.count_nonzero(of_class) if units is None else len(np.unique(units[of_class]))
        if count < n_folds:
            what = f"{count} {name}s" if units is None else f"{name}s in {count} groups only"
            mend = f"pass cv={count}, or more data" if count > 1 else "pass more data"
            raise ValueError(
                f"y has {what}, but each of {n_folds} folds needs at least one: {mend}."
            )
    kind = StratifiedKFold if units is None else StratifiedGroupKFold
    return kind(n_folds, **shuffle), sample.labels
