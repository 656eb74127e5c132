"""What other rooms may import of this one, beside what is public."""

from ._grammar import MeasureLike
from ._influence import (
    PSEUDO_WEIGHT,
    ClassInfluence,
    Normalize,
    linear_rank_influence_of,
    partial_auc_influence_of,
    rank_bias,
    rank_range,
    share_at,
)
from ._positional_form import PositionalForm
from ._score_generating import Phi, ScoreGeneratingFunction, as_score_generating
from ._scorer import RankingScorer, ranking_scores, refuse_level

__all__ = [
    "PSEUDO_WEIGHT",
    "ClassInfluence",
    "MeasureLike",
    "Normalize",
    "Phi",
    "PositionalForm",
    "RankingScorer",
    "ScoreGeneratingFunction",
    "as_score_generating",
    "linear_rank_influence_of",
    "partial_auc_influence_of",
    "rank_bias",
    "rank_range",
    "ranking_scores",
    "refuse_level",
    "share_at",
]
