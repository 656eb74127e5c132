"""Names under which estimators, scorers and splitters request query ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)

from ..metrics import Measure, get_scorer
from ..metrics._shared import RankingScorer

__all__ = ["ids_as_asked", "ids_for_scorer", "scorer_of"]

# A ranker of queries asks for qid under the name groups; another may ask for qid itself.
NAMES = ("groups", "qid")


def ids_as_asked(consumers: Sequence[tuple[Any, str]], qid: Any) -> dict[str, Any]:
    """Pass the query ids under the names by which some objects request them."""
    routings = [(get_routing_for_object(one), method) for one, method in consumers]
    return {
        name: qid
        for name in NAMES
        if any(routing.consumes(method, [name]) for routing, method in routings)
    }


def ids_for_scorer(scorer: Any, qid: Any) -> dict[str, Any]:
    """Find how to call a scorer with the ids, where routing is enabled. Its keyword arguments."""
    router = MetadataRouter(owner="scorer").add(
        scorer=scorer, method_mapping=MethodMapping().add(caller="score", callee="score")
    )
    asked = {name: qid for name in NAMES if router.consumes("score", [name])}
    return dict(process_routing(router, "score", **asked).scorer.score) if asked else {}


def scorer_of(scoring: Any) -> Any:
    """Take the name of a measure for its scorer; leave all else to scikit-learn."""
    if not isinstance(scoring, str | Measure):
        return scoring
    scorer = get_scorer(scoring)
    # By name every measure is a mean over the queries that were passed.
    return get_scorer(scoring, qid="groups") if isinstance(scorer, RankingScorer) else scorer
