"""Where a reader stops in one block of tied items, by means over sets; in quadratic time."""

from fractions import Fraction
from math import comb

import numpy as np


def reciprocal_stop(chances, above=0, k=None):
    """Mean of 1 / position of the item at which a reader stops.

    ``going_on[m]`` is the mean, over the sets of m items, of the chance to go on through them
    all; the reader stops at item m + 1 with chance ``going_on[m] - going_on[m + 1]``.
    """
    n = len(chances)
    going_on = np.zeros(n + 1, dtype=np.longdouble)
    going_on[0] = 1
    for i, chance in enumerate(chances):
        # Of the sets of m among i + 1 items a share of m / (i + 1) has the new one.
        share = np.arange(1, i + 2, dtype=np.longdouble) / (i + 1)
        with_it = share * (1 - np.longdouble(chance)) * going_on[: i + 1]
        going_on[1 : i + 2] = (1 - share) * going_on[1 : i + 2] + with_it
    last = n if k is None else max(0, min(n, k - above))
    position = above + np.arange(1, last + 1)
    return float(((going_on[:-1] - going_on[1:])[:last] / position).sum())


def reciprocal_first(n_pos, n, above=0, k=None):
    """Mean of 1 / position of the first positive of a block, with exact counts of the orders."""
    last = n if k is None else max(0, min(n, k - above))
    ways = [comb(n - j, n_pos - 1) if n - j >= n_pos - 1 else 0 for j in range(1, last + 1)]
    return float(sum(Fraction(w, comb(n, n_pos) * (above + j)) for j, w in enumerate(ways, 1)))
