"""Names of this package that other packages of the library import, besides the public ones."""

from ._accumulated import QueryValues as KeptValues
from ._at_k import PrecisionAtKMeasure
from ._auc import AUCMeasure
from ._cascade import AveragePrecisionMeasure, RankBiasedPrecisionMeasure
from ._custom import CustomMeasure
from ._fixed_scale import check_fixed_scale
from ._gini import GiniMeasure
from ._grammar import MeasureLike
from ._influence import (
    PSEUDO_WEIGHT,
    ClassInfluence,
    Normalize,
    linear_rank_influence_of,
    partial_auc_influence_of,
    rank_range,
    share_at,
)
from ._influence_of_rates import RateInfluence
from ._label_scores import check_two_grades, scored_labels
from ._lift import LiftMeasure
from ._linear_rank import LinearRankMeasure, RIEMeasure, phi_of
from ._net_benefit import check_threshold
from ._of_collections import ListOfChunks
from ._partial_auc import NegativeHeightMeasure, PartialAUCMeasure
from ._positional import DCGMeasure, NDCGMeasure, PositionalMeasure, has_exponential_gain
from ._positional_form import PositionalForm
from ._positive_class import own_pos_label, positive_class, ranking_scores, response_method
from ._probabilities import check_probabilities, threshold_of
from ._rank_bias import rank_bias
from ._rank_correlation import TauAPMeasure, TauBMeasure, TauXMeasure
from ._roc_points import FPRAtTPRMeasure, KolmogorovSmirnovMeasure, TPRAtFPRMeasure
from ._score_generating import Phi, ScoreGeneratingFunction, as_score_generating, cumulated
from ._scored_rows import call_with_metadata, metadata_for, scored_by, scores_with_ids
from ._scorer import RankingScorer, refuse_level
from ._smoothed_precision import SmoothedPrecisionAtTopMeasure
from ._spearman import SpearmanMeasure
from ._success import SuccessMeasure
from ._top import EnrichmentFactorMeasure, PositivesAtTopMeasure, PrecisionAtTopMeasure
from ._trained_queries import warn_of_trained_queries

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
