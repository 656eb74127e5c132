"""Names of this package that other packages of the library import, besides the public ones."""

from ._at_k import PrecisionAtKMeasure, SuccessMeasure
from ._auc import AUCMeasure, GiniMeasure
from ._cascade import AveragePrecisionMeasure, RankBiasedPrecisionMeasure
from ._conventions import PositionalForm
from ._custom import CustomMeasure
from ._grammar import MeasureLike
from ._influence import (
    PSEUDO_WEIGHT,
    ClassInfluence,
    Normalize,
    RateInfluence,
    linear_rank_influence_of,
    partial_auc_influence_of,
    rank_range,
    share_at,
)
from ._linear_rank import LinearRankMeasure, RIEMeasure, phi_of, rank_bias
from ._net_benefit import check_probabilities, check_threshold, threshold_of
from ._of_collections import ListOfChunks
from ._of_collections import QueryValues as KeptValues
from ._positional import DCGMeasure, NDCGMeasure, PositionalMeasure, has_exponential_gain
from ._rank_correlation import SpearmanMeasure, TauAPMeasure, TauBMeasure, TauXMeasure
from ._roc import (
    FPRAtTPRMeasure,
    KolmogorovSmirnovMeasure,
    NegativeHeightMeasure,
    PartialAUCMeasure,
    TPRAtFPRMeasure,
)
from ._score_generating import Phi, ScoreGeneratingFunction, as_score_generating, cumulated
from ._scored import (
    call_with_metadata,
    check_fixed_scale,
    check_two_grades,
    metadata_for,
    own_pos_label,
    positive_class,
    ranking_scores,
    response_method,
    scored_by,
    scored_labels,
    scores_with_ids,
    warn_of_trained_queries,
)
from ._scorer import RankingScorer, refuse_level
from ._top import (
    EnrichmentFactorMeasure,
    LiftMeasure,
    PositivesAtTopMeasure,
    PrecisionAtTopMeasure,
    SmoothedPrecisionAtTopMeasure,
)

__all__ = [
    "PSEUDO_WEIGHT",
    "AUCMeasure",
    "AveragePrecisionMeasure",
    "ClassInfluence",
    "CustomMeasure",
    "DCGMeasure",
    "EnrichmentFactorMeasure",
    "FPRAtTPRMeasure",
    "GiniMeasure",
    "KolmogorovSmirnovMeasure",
    "NegativeHeightMeasure",
    "KeptValues",
    "LiftMeasure",
    "LinearRankMeasure",
    "ListOfChunks",
    "MeasureLike",
    "NDCGMeasure",
    "Normalize",
    "Phi",
    "PartialAUCMeasure",
    "PositionalForm",
    "PositionalMeasure",
    "PositivesAtTopMeasure",
    "PrecisionAtKMeasure",
    "PrecisionAtTopMeasure",
    "RIEMeasure",
    "RankBiasedPrecisionMeasure",
    "RankingScorer",
    "RateInfluence",
    "ScoreGeneratingFunction",
    "SmoothedPrecisionAtTopMeasure",
    "SpearmanMeasure",
    "SuccessMeasure",
    "TPRAtFPRMeasure",
    "TauAPMeasure",
    "TauBMeasure",
    "TauXMeasure",
    "as_score_generating",
    "call_with_metadata",
    "check_fixed_scale",
    "check_probabilities",
    "check_threshold",
    "check_two_grades",
    "cumulated",
    "has_exponential_gain",
    "linear_rank_influence_of",
    "metadata_for",
    "own_pos_label",
    "partial_auc_influence_of",
    "phi_of",
    "positive_class",
    "rank_bias",
    "rank_range",
    "ranking_scores",
    "refuse_level",
    "response_method",
    "scored_by",
    "scored_labels",
    "scores_with_ids",
    "share_at",
    "threshold_of",
    "warn_of_trained_queries",
]
