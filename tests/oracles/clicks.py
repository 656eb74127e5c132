"""Propensities from clicks, session by session and by direct maximisation of the likelihood.

All outcomes of the coins of team-draft interleaving.
"""

from fractions import Fraction

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def rate(clicks, position, at, sessions, session):
    """Share of some sessions with a click at a position."""
    found = [
        c for c, k, s in zip(clicks, position, session, strict=True) if k == at and s in sessions
    ]
    return sum(found) / len(found)


def swap_ratio(clicks, position, session, exchanged, swapped, k):
    """Click rates at k of both kinds of sessions, by those at position 1."""
    total = {1: 0.0, k: 0.0}
    for kind in (0, 1):
        sessions = {
            s for s, e, w in zip(session, exchanged, swapped, strict=True) if e == k and w == kind
        }
        for at in total:
            total[at] += rate(clicks, position, at, sessions, session)
    return total[k] / total[1]


def random_order_ratio(clicks, position, session, k):
    """Click rates at k and at position 1, in the sessions that have k."""
    sessions = {s for s, at in zip(session, position, strict=True) if at == k}
    return rate(clicks, position, k, sessions, session) / rate(
        clicks, position, 1, sessions, session
    )


def best_likelihood(kind, clicks, position):
    """Largest mean log likelihood with a free probability for each kind of row, and its ratios."""
    kinds, places = int(kind.max()) + 1, int(position.max())

    def loss(free):
        chance = expit(free[:places])[position - 1] * expit(free[places:])[kind]
        return -np.mean(np.where(clicks == 1, np.log(chance), np.log1p(-chance)))

    found = minimize(loss, np.zeros(places + kinds), method="BFGS", options={"gtol": 1e-9})
    theta = expit(found.x[:places])
    return -found.fun, theta / theta[0]


def drafts(first, second, k, shown=()):
    """Mixed lists of items with their teams 0 and 1, by the coins, and their probabilities."""
    taken = [item for item, _ in shown]
    left = [[x for x in ranking if x not in taken] for ranking in (first, second)]
    if len(shown) >= k or not (left[0] or left[1]):
        # Places after the end of the shorter ranking have no team.
        n_teams = min(len(first), len(second))
        teams = [(item, team if i < n_teams else None) for i, (item, team) in enumerate(shown)]
        return {tuple(teams): Fraction(1)}
    found = {}
    for order in ((0, 1), (1, 0)):
        mixed = list(shown)
        for team in order:
            taken = [item for item, _ in mixed]
            rest = [x for x in (first, second)[team] if x not in taken]
            if rest and len(mixed) < k:
                mixed.append((rest[0], team))
        for end, chance in drafts(first, second, k, tuple(mixed)).items():
            found[end] = found.get(end, 0) + chance / 2
    return found
