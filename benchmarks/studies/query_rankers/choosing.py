"""Choice of parameters by cross-validation over training queries, the same for every method."""

from collections import defaultdict

import numpy as np

# Leaves and rows per leaf at the first learning rate; then the best of them at the second one with
# twice the rounds: 5 candidates of 6 stages each, for every kind of trees.
SHAPES = [{"leaves": leaves, "rows": rows} for leaves in (4, 12) for rows in (10, 40)]
# Of losses of pairs also the power of its length by which the loss of a query is divided: half of
# the combinations, so that these are as many.
SHAPES_OF_PAIRS = [shape | {"power": i in (0, 3)} for i, shape in enumerate(SHAPES)]
FIRST_RATE, SECOND_RATE = 0.1, 0.05
ROUNDS = (10, 20, 30, 50, 75, 100)


def frozen(parameters):
    """Parameters as a key."""
    return tuple(sorted(parameters.items()))


def values_of(candidates, staged, splits):
    """Mean NDCG@10 of each candidate over the held-out queries.

    Parameters
    ----------
    candidates : list of dict
        Parameters.
    staged : callable
        Takes rows to train on, features of others, their ids and a candidate; yields parameters
        and scores of the others. One fit may yield several.
    splits : list of pairs of Rows
        Rows to train on and rows held out.

    Returns
    -------
    dict
        Value by parameters, in the order in which they came.
    """
    found = defaultdict(list)
    for train, held_out in splits:
        for candidate in candidates:
            for parameters, score in staged(train, held_out, candidate):
                found[frozen(parameters)].append(held_out.ndcg(score))
    return {key: float(np.nanmean(np.concatenate(each))) for key, each in found.items()}


def best(candidates, staged, splits):
    """The parameters of the largest value, the first of equal ones, and the value."""
    values = values_of(candidates, staged, splits)
    key = max(values, key=values.get)
    return dict(key), values[key]


def best_trees(staged, splits, shapes):
    """The best shape, learning rate and rounds."""
    first = [shape | {"rate": FIRST_RATE, "rounds": ROUNDS} for shape in shapes]
    chosen, value = best(first, staged, splits)
    slower = {**chosen, "rate": SECOND_RATE, "rounds": tuple(2 * n for n in ROUNDS)}
    other, other_value = best([slower], staged, splits)
    return other if other_value > value else chosen
