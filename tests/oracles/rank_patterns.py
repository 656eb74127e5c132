"""Bipartite rank matrices and sign patterns, counted one by one."""

from itertools import combinations, product
from math import comb

import numpy as np
from scipy.optimize import linprog


def rank_matrix(pos, neg):
    """Rows of 1, 1/2 and 0, as tuples."""
    return tuple(tuple(1.0 if p > q else 0.5 if p == q else 0.0 for q in neg) for p in pos)


def rank_matrices(m, n, ties=True):
    """All matrices that numbers can make: m + n levels are enough."""
    found = set()
    for levels in product(range(m + n), repeat=m + n):
        pos, neg = levels[:m], levels[m:]
        if ties or not set(pos) & set(neg):
            found.add(rank_matrix(pos, neg))
    return found


def forbidden(square):
    """Whether a 2 x 2 matrix ((a, b), (c, d)) makes a circle with at least one strict step."""
    (a, b), (c, d) = square
    steps = []
    # Row 1 above column 1 (a), column 1 above row 2 (1 - c), row 2 above column 2 (d), column 2
    # above row 1 (1 - b): all at least ties, and one strict, is a circle; and so the other way.
    for one, two, three, four in ((a, 1 - c, d, 1 - b), (1 - a, c, 1 - d, b)):
        steps.append(min(one, two, three, four) >= 0.5 and max(one, two, three, four) == 1)
    return any(steps)


def forbidden_squares():
    """The sub-matrices of Table 2."""
    values = (0.0, 0.5, 1.0)
    every = product(product(values, repeat=2), repeat=2)
    return {square for square in every if forbidden(square)}


def matrices_without(squares, m, n):
    """Matrices of 0, 1/2 and 1 of which no 2 x 2 sub-matrix is among those given."""
    count = 0
    for entries in product((0.0, 0.5, 1.0), repeat=m * n):
        rows = [entries[i * n : (i + 1) * n] for i in range(m)]
        count += not any(
            ((rows[i][j], rows[i][k]), (rows[h][j], rows[h][k])) in squares
            for i, h in combinations(range(m), 2)
            for j, k in combinations(range(n), 2)
        )
    return count


def feasible(vectors, signs):
    """Whether some w has inner products of these signs with the vectors: a linear program."""
    vectors, signs = np.asarray(vectors, dtype=float), np.asarray(signs)
    strict, tied = signs != 0, signs == 0
    if not strict.any():
        return True
    found = linprog(
        np.zeros(vectors.shape[1]),
        A_ub=-(signs[strict, None] * vectors[strict]),
        b_ub=-np.ones(strict.sum()),
        A_eq=vectors[tied] if tied.any() else None,
        b_eq=np.zeros(tied.sum()) if tied.any() else None,
        bounds=(None, None),
    )
    return found.status == 0


def sign_patterns(vectors, values=(-1, 0, 1)):
    """All vectors of signs of ``w.v``, one vector v at a time."""
    patterns = [()]
    for i in range(len(vectors)):
        patterns = [
            (*pattern, sign)
            for pattern in patterns
            for sign in values
            if feasible(vectors[: i + 1], (*pattern, sign))
        ]
    return patterns


def differences(pos, neg):
    """All ``x_i - x'_j``, as rows."""
    return np.array([x - z for x in pos for z in neg])


def faces(n, d):
    """Faces of all dimensions of n <= d or more hyperplanes through 0, in general position."""
    if n < d:
        return 3**n
    return 1 + sum(
        comb(n, j) * 2 * sum(comb(n - j - 1, i) for i in range(d - j)) for j in range(min(d, n))
    )


def all_faces_of_buck(n, d):
    """Faces of n hyperplanes in general position, not through 0 (Lemma 23)."""
    return sum(comb(i, d - k) * comb(n, i) for k in range(d + 1) for i in range(d - k, d + 1))


def series_counts(m, n, ties=True):
    """Coefficients of ``1 / (e^-x + e^-y - 1 - (e^x - 1)(e^y - 1))`` times ``m! n!``.

    By the recurrence that the product of the series with its denominator is 1.
    """
    table = {}
    for a in range(m + 1):
        for b in range(n + 1):
            total = 1 if a == b == 0 else 0
            for i in range(a + 1):
                for j in range(b + 1):
                    if i == j == 0:
                        continue
                    if i and j:
                        weight = -1 if ties else 0
                    else:
                        weight = (-1) ** (i + j)
                    total -= weight * comb(a, i) * comb(b, j) * table[a - i, b - j]
            table[a, b] = total
    return table[m, n]
