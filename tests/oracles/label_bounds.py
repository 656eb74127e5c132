"""Limits over labels that are not known: the values of all labellings, one by one."""

import warnings
from itertools import product

import numpy as np


def limits(measure, y, scores, contrast=(1.0,), most=None):
    """``y`` has NaN where a label is not known; ``scores`` has the scores of each ranker."""
    y, values = np.array(y, dtype=float), []
    is_open = np.isnan(y)
    for labels in product((0, 1), repeat=int(is_open.sum())):
        if most is None or sum(labels) <= most:
            y[is_open] = labels
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                single = [measure(y.astype(int), s) for s in scores]
            values.append(np.dot(contrast, single))
    return np.nanmin(values), np.nanmax(values)
