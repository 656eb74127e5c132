"""Metadata routing of a search: to the fits, the splitter and the measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)

from .._typing import AnyArray
from .._validation import check_qid, ravelled
from .._warn import warn
from ..metrics import Measure, get_scorer

__all__ = ["Metadata", "estimator_names", "metadata_of", "router_of"]


@dataclass(frozen=True, eq=False)
class Metadata:
    """Parameters passed to the ``fit`` of a search, by their receiver."""

    fit_params: list[dict[str, Any]]  # Arguments of the fits of each estimator
    groups: Any  # Groups for the splitter
    qid: AnyArray | None  # (n_samples,): Ids of the queries, for a mean over queries
    wholes: dict[str, AnyArray]


def metadata_of(search: Any, params: dict[str, Any], measure: Measure, n: int) -> Metadata:
    """Divide the parameters passed to ``fit`` by their receiver. Whom it is for."""
    if sklearn.get_config()["enable_metadata_routing"]:
        routed = process_routing(search, "fit", **params)
        fit_params = [
            dict(routed[name].fit) for name in estimator_names(len(search._estimators()))
        ]
        groups = dict(routed.splitter.split).get("groups")
        qid = dict(routed.scorer.score).get("qid")
    else:
        of_fit = {name: value for name, value in params.items() if name != "groups"}
        fit_params = [of_fit] * len(search._estimators())
        groups = params.get("groups")
        if groups is None and measure.per_query:
            groups = params.get("qid")
        qid = groups
    groups, qid = ravelled(groups, "groups"), ravelled(qid, "groups")
    # Without ids, all rows are one list where that has limits.
    if not measure.per_query or (qid is None and measure.has_influence):
        wholes = {}
        if groups is not None:
            wholes["group"] = np.asarray(check_qid(groups, n, name="groups"))
            if len(np.unique(wholes["group"])) < n:
                _check_groups_of_rows(search.cv)
        for one in fit_params:
            if one.get("qid") is not None:
                wholes["query"] = np.asarray(check_qid(one["qid"], n))
        return Metadata(fit_params, groups, None, wholes)
    if qid is None:
        raise ValueError(
            f"{measure.name!r} is a mean over queries, but fit got no ids: pass groups=, one id"
            " per row. (It has no limits for one list.)"
        )
    qid = np.asarray(check_qid(qid, n))
    return Metadata(fit_params, groups, qid, {"query": qid})


def _check_groups_of_rows(cv: Any) -> None:
    """Raise an error or warn if groups are passed to limits for independent rows."""
    if cv is None:
        raise ValueError(
            "groups was passed, but cv=None holds out rows, not groups: pass"
            " cv=GroupShuffleSplit(1), or leave groups out."
        )
    warn(
        "Several rows share a group and may depend on each other, but the guarantees and the"
        " intervals assume independent rows.",
        UserWarning,
    )


def estimator_names(n: int) -> list[str]:
    """Name the estimators of a search for metadata routing."""
    return ["estimator"] if n == 1 else [f"estimator_{place}" for place in range(n)]


def router_of(search: Any, measure: Measure, splitter: Any) -> MetadataRouter:
    """Return the metadata router of a search."""
    scorer = get_scorer(measure)
    if sklearn.get_config()["enable_metadata_routing"]:
        # Weights may be for the fits; in the limits each row and query counts once.
        known = get_routing_for_object(scorer).score.requests
        weights = [name for name in ("sample_weight", "query_weight") if name in known]
        scorer.set_score_request(**dict.fromkeys(weights, False))
    router = MetadataRouter(owner=search)
    estimators = search._estimators()
    for name, one in zip(estimator_names(len(estimators)), estimators, strict=True):
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router.add(method_mapping=mapping, **{name: one})
    router.add(
        scorer=scorer,
        method_mapping=MethodMapping()
        .add(caller="fit", callee="score")
        .add(caller="score", callee="score"),
    )
    router.add(
        splitter=splitter,
        method_mapping=MethodMapping().add(caller="fit", callee="split"),
    )
    return router
