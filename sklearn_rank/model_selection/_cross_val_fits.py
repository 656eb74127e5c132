"""Fit an estimator to parts of the rows and score others, with metadata routing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from .._typing import AnyArray, FloatArray, IntArray
from ..metrics._shared import (
    metadata_for,
    ranking_scores,
    response_method,
    scored_by,
    scores_with_ids,
)
from ._candidates import is_per_row, rows_of

__all__ = ["FitParams", "FitPlan", "Part", "fit_params_of", "fit_parts"]

# Names under which a fit may request query ids.
NAMES_OF_IDS = ("groups", "qid")


@dataclass(frozen=True, eq=False)
class Part:
    """Rows to fit to, and rows to score."""

    train: IntArray  # Rows to fit to, repeated as often as they count
    test: IntArray  # Rows to score
    copies: IntArray | None = None


@dataclass(frozen=True, eq=False)
class FitParams:
    """Parameters passed to a fit besides rows and labels."""

    params: dict[str, Any] = field(default_factory=dict)
    ids_as: tuple[str, ...] = ()  # Arguments that are the ids of the queries
    routed: bool = False  # Whether the fit runs with metadata routing enabled


def fit_params_of(estimator: Any, params: dict[str, Any], ids: AnyArray | None) -> FitParams:
    """Find out what of some metadata the fits of an estimator get, and under which names."""
    routed = bool(sklearn.get_config()["enable_metadata_routing"])
    if not routed and ids is not None and has_fit_parameter(estimator, "qid"):
        return FitParams(params, ("qid",))
    router = MetadataRouter(owner="cross-validation").add(
        estimator=estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit")
    )
    with sklearn.config_context(enable_metadata_routing=True):
        asked = set() if ids is None else router.consumes("fit", NAMES_OF_IDS)
        if not routed and not asked:
            return FitParams(params)
        given = dict(params) | dict.fromkeys(asked, ids)
        found = dict(process_routing(router, "fit", **given).estimator.fit) if given else {}
    ids_as = tuple(name for name, value in found.items() if value is ids)
    return FitParams({n: v for n, v in found.items() if n not in ids_as}, ids_as, routed=True)


@dataclass(frozen=True, eq=False)
class FitPlan:
    """What is fitted, to which rows, and how it ranks."""

    estimator: Any
    X: Any  # (n_samples, n_features)
    y: AnyArray  # (n_samples,)
    params: FitParams  # Arguments of the fits
    ids: AnyArray | None  # (n_samples,)
    pos_label: Any  # The positive class, of classifiers


def fit_parts(
    plan: FitPlan, parts: Sequence[Part], *, n_jobs: int | None, verbose: int
) -> list[FloatArray]:
    """Fit to each part and score its other rows."""
    return list(
        Parallel(n_jobs=n_jobs, verbose=verbose)(
            delayed(_fit_one)(plan, number, part) for number, part in enumerate(parts)
        )
    )


def _fit_one(plan: FitPlan, number: int, part: Part) -> FloatArray:
    estimator = clone(plan.estimator)
    X_train, X_test = rows_of(plan.X, part.train), rows_of(plan.X, part.test)
    if get_tags(estimator).input_tags.pairwise:
        X_train, X_test = X_train[:, part.train], X_test[:, part.train]
    params = {
        name: rows_of(value, part.train) if is_per_row(value, len(plan.y)) else value
        for name, value in plan.params.params.items()
    }
    params |= dict.fromkeys(plan.params.ids_as, _ids_of(plan.ids, part))
    try:
        with sklearn.config_context(
            enable_metadata_routing=plan.params.routed
            or sklearn.get_config()["enable_metadata_routing"]
        ):
            estimator.fit(X_train, plan.y[part.train], **params)
        scores = np.asarray(_scores(estimator, X_test, plan, part), dtype=np.float64)
    except Exception as error:
        error.add_note(f"In split {number} of the cross-validation.")
        raise
    if scores.shape != part.test.shape or np.isnan(scores).any():
        raise ValueError(
            f"{type(estimator).__name__} returned {np.count_nonzero(np.isnan(scores))} NaN in"
            f" scores of shape {scores.shape} for the {len(part.test)} rows of split {number}: it"
            " must return one number for each row."
        )
    return scores


def _ids_of(ids: AnyArray | None, part: Part) -> Any:
    """Ids of the training rows; copies of a query are queries of their own."""
    if ids is None or part.copies is None:
        return None if ids is None else ids[part.train]
    known, codes = np.unique(ids, return_inverse=True)
    return codes[part.train] + len(known) * part.copies


def _scores(estimator: Any, X: Any, plan: FitPlan, part: Part) -> Any:
    """Scores of rows, with query ids if the estimator requests them."""
    if plan.ids is not None:
        ids = plan.ids[part.test]
        if metadata_for(scored_by(estimator), response_method(estimator), qid=ids):
            return scores_with_ids(estimator, X, ids, plan.pos_label)
    return ranking_scores(estimator, X, plan.pos_label)
