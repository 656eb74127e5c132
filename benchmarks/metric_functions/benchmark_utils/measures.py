"""What is measured: names, parameters, and which data each measure needs."""

import numpy as np

U0 = 0.9  # local AUC: ranks above this quantile
ALPHA = 20.0  # BEDROC
POWER = 4.0  # power of the rank
MAX_FPR = 0.1  # partial AUC
TOP = 100  # TopDCG
CUTOFF = 10  # measures of queries
PERSISTENCE = 0.8  # rank-biased precision
MAX_GRADE = 4  # what satisfies or counts most; the data have grades 0 to 4
RELEVANT = 2  # least grade that counts as relevant where labels are binary


def smoothstep(u):
    """Score-generating function of a user: ``3 u^2 - 2 u^3``."""
    return u * u * (3.0 - 2.0 * u)


# Measures of one list of binary labels. All but the partial AUC need only the positives' ranks.
SINGLE = (
    "auc",
    "local_auc",
    "bedroc",
    "power",
    "partial_auc",
    "van_der_waerden",
    "top_dcg",
    "callable",
)
RANKS_ONLY = tuple(name for name in SINGLE if name != "partial_auc")
# Means over queries. "exp" and "linear" are gains, "err" and "rbp" take grades too; the others
# take binary labels.
QUERIES = (
    "ndcg10_exp",
    "ndcg10_linear",
    "dcg_linear",
    "precision10",
    "recall10",
    "query_auc",
    "ap",
    "rr",
    "err",
    "rbp",
)
BINARY_QUERIES = ("precision10", "recall10", "query_auc", "ap", "rr")
# What a query without a value counts; "query_auc" leaves out queries of one class.
EMPTY = {"ndcg10_exp": 0.0, "ndcg10_linear": 0.0, "recall10": 0.0, "ap": 0.0, "rr": 0.0}


def labels(measure, grades):
    """Labels that a measure takes: grades, or 1 for relevant and 0 otherwise."""
    if measure in BINARY_QUERIES:
        return (grades >= RELEVANT).astype(np.int64)
    return grades
