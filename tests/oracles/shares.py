"""Limits of net benefit, threshold by threshold and row by row."""

from math import hypot, sqrt

import numpy as np

from sklearn_rank.inference._evidence import GroupPart
from sklearn_rank.inference._limits import safe_limits


def term(factor, hits, among, groups, level, odds):
    """A factor times a share or its odds, its limits, and what each row or group moves it."""
    draws, degrees, estimate = among.sum() / 1.0, np.inf, hits[among].mean()
    influence = np.where(among, hits - estimate, 0.0) / draws
    if groups is not None:
        part = GroupPart.of_rows(hits[among][np.newaxis] / 1.0, groups.only(among))
        influence, degrees = part.sums[0], part.degrees
        draws = min(part.draws_of_share(estimate)[0], draws)
    shares = np.array([estimate, *safe_limits(estimate, draws, level, degrees)])
    value, *limits = factor * (shares / (1.0 - shares) if odds else shares)
    return value, *sorted(limits), np.sign(factor) * influence


def net_benefit(positive, prob, threshold, groups, level, positive_fraction, standardized):
    treated, rate = prob >= threshold, threshold / (1.0 - threshold)
    wrong, share = treated & ~positive, positive_fraction or positive.mean()
    among = positive | ~positive, positive | ~positive
    gain, loss, odds = 1.0, -rate, False
    if positive_fraction is not None:
        among = positive, ~positive
        scale = share if standardized else 1.0
        gain, loss = share / scale, loss * (1.0 - share) / scale
    elif standardized:
        among, odds = (positive, positive | wrong), True
    a, low_a, high_a, x = term(gain, treated & positive, among[0], groups, level, False)
    if not rate:
        return a, low_a, high_a
    b, low_b, high_b, y = term(loss, wrong, among[1], groups, level, odds)
    squares = (x @ x) * (y @ y)
    r = np.clip(x @ y / sqrt(squares), -1.0, 1.0) if squares else 0.0

    def distance(a, b):
        return hypot(a + r * b, b * sqrt(max(1.0 - r * r, 0.0)))

    low, high = distance(a - low_a, b - low_b), distance(high_a - a, high_b - b)
    return a + b, a + b - low, a + b + high
