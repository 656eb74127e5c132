"""Sign flips of a mean by listing every outcome, and Holm's steps one by one."""

from fractions import Fraction
from itertools import product


def sign_flip_pvalues(differences):
    """P-values (greater, less) of the mean over all assignments of signs, in exact arithmetic."""
    values = [Fraction(d) for d in differences]
    observed = sum(values)
    flipped = [
        sum(sign * value for sign, value in zip(signs, values, strict=True))
        for signs in product((1, -1), repeat=len(values))
    ]
    greater = Fraction(sum(total >= observed for total in flipped), len(flipped))
    less = Fraction(sum(total <= observed for total in flipped), len(flipped))
    return greater, less


def is_rejected(differences, shift, level):
    """Whether the test in both directions rejects that the differences less a shift flip."""
    greater, less = sign_flip_pvalues([Fraction(d) - Fraction(shift) for d in differences])
    return 2 * min(greater, less) <= 1 - Fraction(str(level))


def holm_rejects(pvalues, alpha):
    """Which hypotheses Holm's step-down procedure rejects."""
    rejected = [False] * len(pvalues)
    order = sorted(range(len(pvalues)), key=lambda i: pvalues[i])
    for step, i in enumerate(order):
        if pvalues[i] > alpha / (len(pvalues) - step):
            break
        rejected[i] = True
    return rejected
