"""Simulations: a top that differs from the bulk, noise in the labels of the bulk, heavy tails."""

from functools import cache

import numpy as np
from scipy.special import expit

N_FEATURES = 10
SLOPE = 3.0
TOP_STARTS = 0.5

KINDS = {
    "linear": {},
    "other_top": {"angle": 60.0},
    "noisy_bulk": {"noise": 0.3},
    "heavy_tails": {"heavy": True},
    "all_three": {"angle": 60.0, "noise": 0.3, "heavy": True},
}


def draw(n, rng, *, angle=0.0, noise=0.0, heavy=False, share=0.2):
    """Draw rows and labels.

    The first feature is the direction of the bulk: up to ``TOP_STARTS`` the log-odds rise with
    it alone. Beyond, in the top three rows of ten, they rise along a direction that is turned by
    ``angle``, from the first feature to the second; at 0 logistic regression is the truth.

    Parameters
    ----------
    n : int
        Number of rows.
    rng : numpy.random.Generator
        Source of randomness.
    angle : float
        Angle in degrees between the directions of the bulk and of the top.
    noise : float
        Probability that a row of the bulk has a label by the toss of a coin that shows a
        positive with probability ``share``, whatever its features.
    heavy : bool
        Whether the rows are from Student's distribution with 2 degrees of freedom, all features
        of a row in common, rather than normal.
    share : float
        Share of positives.

    Returns
    -------
    X : ndarray of shape (n, 10)
        Features.
    y : ndarray of shape (n,)
        Labels 0 and 1.
    """
    X = rng.normal(size=(n, N_FEATURES))
    if heavy:
        X /= np.sqrt(rng.chisquare(2, size=(n, 1)) / 2)
    level = _level(angle, heavy, share)
    chance = expit(level + SLOPE * _direction(X, angle))
    tossed = (X[:, 0] < TOP_STARTS) & (rng.random(n) < noise)
    return X, (rng.random(n) < np.where(tossed, share, chance)).astype(int)


def _direction(X, angle):
    """The bulk's feature up to the start of the top, and the turned direction beyond."""
    turn = np.deg2rad(angle)
    beyond = X[:, 0] - TOP_STARTS
    turned = TOP_STARTS + beyond * np.cos(turn) + X[:, 1] * np.sin(turn)
    return np.where(beyond > 0, turned, X[:, 0])


@cache
def _level(angle, heavy, share):
    """The constant of the log-odds that gives the share of positives, without noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 2))
    if heavy:
        X /= np.sqrt(rng.chisquare(2, size=(len(X), 1)) / 2)
    score = SLOPE * _direction(X, angle)
    low, high = -60.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if expit(middle + score).mean() > share else (middle, high)
    return (low + high) / 2
