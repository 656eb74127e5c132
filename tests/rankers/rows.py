"""Rows of two classes, for tests of several rankers."""

import numpy as np


def rows(seed=0, n=40, d=3, shift=0.7):
    """Normal rows, four in ten of them positive and shifted in all features."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    y[:2] = [0, 1]
    return rng.normal(size=(n, d)) + shift * y[:, None], y
