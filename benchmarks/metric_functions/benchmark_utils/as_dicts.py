"""Dictionaries of documents by query, as trec_eval and its relatives take them."""

import itertools


def as_dicts(y_true, y_score, offsets):
    """Return relevance and score of each document of each query.

    Documents are named by their number with leading zeros, so that names stand in row order.
    """
    relevance, scores = {}, {}
    names = [f"d{i:03d}" for i in range(int((offsets[1:] - offsets[:-1]).max()))]
    grades, values = y_true.ravel().tolist(), y_score.ravel().tolist()
    for query, (start, end) in enumerate(itertools.pairwise(offsets.tolist())):
        relevance[f"q{query:06d}"] = dict(zip(names, grades[start:end], strict=False))
        scores[f"q{query:06d}"] = dict(zip(names, values[start:end], strict=False))
    return relevance, scores
