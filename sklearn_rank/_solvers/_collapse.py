"""Check whether w = 0 solves Top Push for every cost."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from ._difference_losses import Linear
from ._top_functionals import TopMean
from ._top_part import TopPushProblem
from ._top_push import sampled, solve_top_push

__all__ = ["collapses", "largest_collapsing_mass"]

# Relative accuracy of the mass that is searched for, where it is not less than one row.
ACCURACY = 0.05

# Largest number of Newton steps for each mass.
MOST_STEPS = 300


def collapses(problem: TopPushProblem) -> bool:
    """Say whether w = 0 minimises the objective for all costs that are in the same proportions.

    It does where the mean of the positives is a mean of the rows that T is of, none of which
    counts for more than its weight over the mass of the top.
    """
    # With linear losses half the squared distance of the two is the minimum, negated.
    linear = replace(problem, cost=problem.cost / problem.cost.sum(), loss=Linear())
    solution = solve_top_push(
        linear, max_iter=MOST_STEPS, stop=lambda change, lower: change < -linear.negligible
    )
    return solution.certificate.objective >= -linear.negligible


def largest_collapsing_mass(problem: TopPushProblem) -> float:
    """Search for the largest mass of the top with which the problem collapses.

    Large problems are searched in a sample of their rows.
    """
    sample = sampled(problem)
    if sample is not None:
        share = largest_collapsing_mass(sample) / float(sample.top.weight.sum())
        return max(problem.top.mass, share * float(problem.top.weight.sum()))
    top = cast(TopMean, problem.top)
    total = float(top.weight.sum())
    low, high = top.mass, total
    while high - low > max(1.0, ACCURACY * low):
        middle = np.sqrt(low * high)
        middle = np.ceil(middle) if np.ceil(middle) < high else middle
        if collapses(replace(problem, top=replace(top, mass=float(middle)))):
            low = float(middle)
        else:
            high = float(middle)
    return total if high == total else low
