"""Certificates of recall by definition: every placement of the positives, every look."""

from itertools import combinations


def wrong_share(n_rest, n_pos, review, recall, is_shown):
    """Share of the orders of the rest in which any look shows a recall that is not reached.

    ``is_shown(n, x)`` is the answer after n labels of which x are positive.
    """
    wrong = total = 0
    for places in combinations(range(n_rest), n_pos):
        total += 1
        for n in range(1, n_rest + 1):
            x = sum(place < n for place in places)
            reached = review + x >= recall * (review + n_pos) - 1e-9
            if is_shown(n, x) and not reached:
                wrong += 1
                break
    return wrong / total
