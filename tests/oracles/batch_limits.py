"""Limits of the positives of a batch, by their definition."""

from math import comb


def tail(n_places, n_pos, drawn, hits):
    """Probability of at least so many positives among drawn places."""
    ways = sum(
        comb(n_pos, x) * comb(n_places - n_pos, drawn - x)
        for x in range(hits, min(n_pos, drawn) + 1)
    )
    return ways / comb(n_places, drawn)


def counts(y, is_batch, k):
    """Labelled rows above the (k + 1)-th row of the batch, positives among them, and in the batch.

    Of labels from the top of the joint order.
    """
    places = [i for i, batch in enumerate(is_batch) if batch]
    end = places[k] if k < len(places) else len(y)
    labels = [label for label, batch in zip(y[:end], is_batch[:end], strict=True) if not batch]
    return len(labels), sum(labels), sum(y[i] for i in places[:k])


def lower_limit(y, is_batch, k, error):
    drawn, hits, _ = counts(y, is_batch, k)
    possible = range(hits, hits + k + 1)
    return next(p - hits for p in possible if tail(k + drawn, p, drawn, hits) > error)


def upper_limit(y, is_batch, k, error):
    return k - lower_limit([1 - label for label in y], is_batch, k, error)


def chance_of_an_error(y, n_batch, numbers, error):
    """Probability that a lower limit is too high for some number of rows, over all places.

    Of labels from the top of the joint order: the ways to the numbers of labelled positives and
    negatives among the first places, without an error so far.
    """
    ways = {(0, 0): 1}
    for place in range(len(y) + 1):
        n_pos, further = sum(y[:place]), {}
        for (hits, misses), n_ways in ways.items():
            k = place - hits - misses
            last = place == len(y)
            wrong = k in numbers and tail(place, n_pos, hits + misses, hits) <= error
            if (k < n_batch or last) and not wrong:
                further[hits, misses] = further.get((hits, misses), 0) + n_ways
            if not last and hits + misses < len(y) - n_batch:
                drawn = (hits + y[place], misses + 1 - y[place])
                further[drawn] = further.get(drawn, 0) + n_ways
        ways = further
    return 1.0 - sum(ways.values()) / comb(len(y), n_batch)
