"""Features per query, and rankings fused, row by row from their definitions."""

import math


def normalized(values, qid, method, signed_log=False):
    """One feature, normalised within each query; None is missing."""
    if signed_log:
        values = [v if v is None else math.copysign(math.log(1 + abs(v)), v) for v in values]
    result = []
    for value, query in zip(values, qid, strict=True):
        mine = [v for v, q in zip(values, qid, strict=True) if q == query and v is not None]
        result.append(None if value is None else of_one_list(value, mine, method))
    return result


def of_one_list(value, values, method):
    if method == "rank":
        below = sum(v < value for v in values)
        above = sum(v > value for v in values)
        return (below - above) / len(values)
    if min(values) == max(values):
        return 0.0
    if method == "minmax":
        return (value - min(values)) / (max(values) - min(values))
    mean = math.fsum(values) / len(values)
    return (value - mean) / math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values))


def fused(scores, qid, weights, fusion):
    """Weighted mean over the members of their scores on one scale."""
    n = len(qid)
    result = [0.0] * n
    for weight, column in zip(weights, scores, strict=True):
        if fusion == "reciprocal_rank":
            values = [reciprocal_rank(column, qid, i) for i in range(n)]
        else:
            values = normalized(column, qid, fusion)
        result = [r + weight * v for r, v in zip(result, values, strict=True)]
    return result


def reciprocal_rank(column, qid, i):
    mine = [v for v, q in zip(column, qid, strict=True) if q == qid[i]]
    above = sum(v > column[i] for v in mine)
    tied = sum(v == column[i] for v in mine)
    return 1 / (60 + above + (tied + 1) / 2)
