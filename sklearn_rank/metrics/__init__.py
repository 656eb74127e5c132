"""Ranking metrics as functions of ``(y_true, y_score)``, exact under ties, and their scorers."""

from ._accumulator import Accumulator
from ._amounts import effect_amounts
from ._bpref import bpref_score
from ._grammar import get_measure, get_measure_names, make_measure
from ._linear_rank import (
    bedroc_score,
    linear_rank_score,
    local_auc_score,
    p_norm_push_score,
    rie_score,
    roc_auc_score,
)
from ._measure import Measure
from ._positional import (
    average_precision_score,
    dcg_score,
    expected_reciprocal_rank_score,
    ndcg_score,
    positional_score,
    rank_biased_precision_score,
    reciprocal_rank_score,
)
from ._probabilities import net_benefit
from ._rank_correlation import rank_positions, spearman_score, tau_b_score
from ._roc import (
    fpr_at_tpr_loss,
    kolmogorov_smirnov_score,
    partial_auc_score,
    tpr_at_fpr_score,
)
from ._score_generating import (
    Cauchy,
    Exponential,
    LocalAUC,
    Power,
    ScoreGeneratingFunction,
    TopDCG,
    VanDerWaerden,
    Wilcoxon,
)
from ._scorer import get_scorer, get_scorer_names
from ._top import (
    accuracy_at_top_loss,
    coverage_loss,
    f1_at_k_score,
    lift_score,
    positives_at_top_score,
    precision_at_k_score,
    precision_at_top_score,
    r_precision_score,
    recall_at_k_score,
    smoothed_precision_at_top_score,
    success_at_k_score,
)

__all__ = [
    "Accumulator",
    "Cauchy",
    "Exponential",
    "LocalAUC",
    "Measure",
    "Power",
    "ScoreGeneratingFunction",
    "TopDCG",
    "VanDerWaerden",
    "Wilcoxon",
    "accuracy_at_top_loss",
    "average_precision_score",
    "bedroc_score",
    "bpref_score",
    "coverage_loss",
    "dcg_score",
    "effect_amounts",
    "expected_reciprocal_rank_score",
    "f1_at_k_score",
    "fpr_at_tpr_loss",
    "get_measure",
    "get_measure_names",
    "get_scorer",
    "get_scorer_names",
    "kolmogorov_smirnov_score",
    "lift_score",
    "linear_rank_score",
    "local_auc_score",
    "make_measure",
    "ndcg_score",
    "net_benefit",
    "p_norm_push_score",
    "partial_auc_score",
    "positional_score",
    "positives_at_top_score",
    "precision_at_k_score",
    "precision_at_top_score",
    "r_precision_score",
    "rank_biased_precision_score",
    "rank_positions",
    "recall_at_k_score",
    "reciprocal_rank_score",
    "rie_score",
    "roc_auc_score",
    "smoothed_precision_at_top_score",
    "spearman_score",
    "success_at_k_score",
    "tau_b_score",
    "tpr_at_fpr_score",
]
