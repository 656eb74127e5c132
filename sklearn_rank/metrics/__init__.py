"""How good: plain functions of ``(y_true, y_score)``, exact under ties, and their scorers."""

from ._cascade import average_precision_score
from ._positional import dcg_score, ndcg_score
from ._scorer import get_scorer, get_scorer_names, make_ranking_scorer
from ._top import (
    accuracy_at_top_loss,
    positives_at_top_score,
    precision_at_top_curve,
    precision_at_top_score,
)

__all__ = [
    "accuracy_at_top_loss",
    "average_precision_score",
    "dcg_score",
    "get_scorer",
    "get_scorer_names",
    "make_ranking_scorer",
    "ndcg_score",
    "positives_at_top_score",
    "precision_at_top_curve",
    "precision_at_top_score",
]
