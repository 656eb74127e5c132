"""Values of parameters that functions, measures and score-generating functions refuse."""

import re
from functools import partial

import numpy as np
import pytest

from sklearn_rank import metrics
from sklearn_rank.metrics import get_measure
from tests.naming import for_each

SHARES = (0, 1, 1.5, -0.1, np.nan, "0.5", None)
POSITIONS = (0, -1, 2.5, 2.0, True, "3", np.nan)  # None is all, where it is allowed
POSITIONAL = partial(metrics.positional_score, gain="linear", discount="linear")
LINEAR_RANK = partial(metrics.linear_rank_score, phi="wilcoxon")

REFUSED = [
    (metrics.precision_at_top_score, "tau", SHARES),
    (metrics.accuracy_at_top_loss, "tau", SHARES),
    ("enrichment@0.1", "tau", SHARES),
    (metrics.precision_at_k_score, "k", (*POSITIONS, None)),
    (metrics.recall_at_k_score, "k", (*POSITIONS, None)),
    (metrics.average_precision_score, "k", POSITIONS),
    (metrics.average_precision_score, "normalize", ("hits",)),
    (metrics.expected_reciprocal_rank_score, "k", POSITIONS),
    (metrics.reciprocal_rank_score, "k", POSITIONS),
    (metrics.rank_biased_precision_score, "k", POSITIONS),
    (metrics.rank_biased_precision_score, "persistence", (*SHARES, 2.0)),
    (metrics.ndcg_score, "k", POSITIONS),
    (metrics.dcg_score, "log_base", (1, np.inf, np.nan)),
    (metrics.dcg_score, "gain", ("quadratic",)),
    (POSITIONAL, "k", POSITIONS),
    (POSITIONAL, "gain", ("quadratic", None)),
    (POSITIONAL, "discount", ("quadratic", None)),
    (LINEAR_RANK, "phi", ("wilcox", 3, metrics.LocalAUC)),
    (LINEAR_RANK, "ties", ("first",)),
    (LINEAR_RANK, "normalize", ("max",)),
    (metrics.local_auc_score, "u0", (1.0, -0.5)),
    (metrics.LocalAUC, "u0", (1.0, -0.1, np.nan, "0.5")),
    (metrics.p_norm_push_score, "p", (0,)),
    (metrics.Power, "p", (0, np.inf)),
    (metrics.bedroc_score, "alpha", (0, np.inf)),
    (metrics.rie_score, "alpha", (-1.0, "20")),
    (metrics.Exponential, "alpha", (0, -1)),
    (metrics.TopDCG, "k", (0, 2.5, True)),
    (metrics.partial_auc_score, "max_fpr", (0, 1.1, -0.1, np.nan, "0.5", None)),
    (metrics.partial_auc_score, "min_tpr", (1, -0.1, "0.5")),
    (metrics.partial_auc_score, "scale", ("standard", None)),
    ("negative_height_loss@4", "p", (0.5, 0, -1, np.nan, "2", None, True)),
    (metrics.tpr_at_fpr_score, "max_fpr", (-0.1, 1, 2, np.nan)),
    (metrics.fpr_at_tpr_loss, "min_tpr", (-0.1, 0, 2, np.nan)),
    (metrics.kolmogorov_smirnov_score, "two_sided", ("yes",)),
]


def give(taker, **parameter):
    if isinstance(taker, str):
        return get_measure(get_measure(taker), **parameter)
    rows = () if isinstance(taker, type) else ([1, 0], [2.0, 1.0])
    return taker(*rows, **parameter)


@for_each(("taker", "name", "values"), REFUSED)
def test_values_that_are_refused(taker, name, values):
    for value in values:
        with pytest.raises((TypeError, ValueError), match=re.escape(f"{name}={value!r}")):
            give(taker, **{name: value})


@pytest.mark.filterwarnings("ignore:divide by zero")
@for_each(
    ("function", "parameters", "message"),
    [
        (
            metrics.dcg_score,
            {"gain": lambda grade: grade - 0.5},
            "relevance 0 is -0.5: gains",
        ),
        (metrics.dcg_score, {"gain": lambda grade: grade[:1]}, "one gain for each"),
        (POSITIONAL, {"discount": lambda i, n: i[:1]}, "one value for each"),
        (POSITIONAL, {"discount": lambda i, n: np.where(i > 1, np.nan, 1.0)}, "position 2"),
        (LINEAR_RANK, {"phi": lambda u: -u}, "nondecreasing"),
        (LINEAR_RANK, {"phi": lambda u: 1 / (u - u)}, "finite"),
        (LINEAR_RANK, {"phi": lambda u: u[:1]}, "one value"),
    ],
)
def test_functions_that_are_refused(function, parameters, message):
    with pytest.raises(ValueError, match=message):
        function([1, 0, 1], [3.0, 2.0, 1.0], **parameters)
