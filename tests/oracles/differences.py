"""Standard error of a contrast of means over independent units, by its definition."""

from math import sqrt


def standard_error(kinds, contrast, ranked=True):
    """Standard error and degrees of freedom of a contrast of statistics.

    Each kind of units is a pair: lists of the influence of its units on the mean, one for each
    statistic, and the distance of the ends of this influence for each statistic. One more unit is
    ordered as alike as these; of a contrast that nothing moves, or if units are not ranked, as
    alike as these and one that is at an end for each statistic by itself.
    """
    statistics = range(len(contrast))
    variance = fourth_powers = 0.0
    for values, lengths in kinds:
        n = len(values[0])
        apart = [[x - sum(row) / n for x in row] for row in values]
        moved = [sum(c * row[u] for c, row in zip(contrast, apart, strict=True)) for u in range(n)]
        squares, fourths = sum(x**2 for x in moved), sum(x**4 for x in moved)
        variance += squares / (n * max(n - 1, 1))
        fourth_powers += fourths / (n * max(n - 1, 1)) ** 2

        def alike(j, k, apart=apart, lengths=lengths, n=n, squares=squares):
            if j == k:
                return 1.0
            unbiased = n / max(n - 1, 1)
            both, one, other = (
                unbiased * sum(x * y for x, y in zip(apart[a], apart[b], strict=True))
                for a, b in ((j, k), (j, j), (k, k))
            )
            if ranked and squares > 1e-20:
                return both / sqrt(one * other) if one * other > 1e-20 else 0.0
            return both / sqrt((one + lengths[j] ** 2) * (other + lengths[k] ** 2))

        ends = sum(
            contrast[j] * contrast[k] * lengths[j] * lengths[k] * alike(j, k)
            for j in statistics
            for k in statistics
        )
        weight = 1.0 if squares < 1e-20 else max(fourths / squares**2 - 3.0 / n, 0.0)
        variance += weight * ends / 4.0 / n**2
    return sqrt(variance), 3.0 * variance**2 / fourth_powers if fourth_powers else float("inf")


def standard_error_of_aucs(components, contrast, tables=None):
    """That of AUCs, from the placements of the items of both classes for each scorer.

    A positive goes from below all negatives to above all of them but one that it is. Tables of the
    outcomes of all pairs, one for each scorer, tell what both classes hold.
    """
    positives, negatives = ([one[side] for one in components] for side in (0, 1))
    m = len(negatives[0])
    kinds = [(positives, [(m - 1) / m] * len(contrast)), (negatives, [1.0] * len(contrast))]
    error, degrees = standard_error(kinds, contrast)
    if tables is None:
        return error, degrees
    sums = []
    for values, _ in kinds:
        moved = [
            sum(c * x for c, x in zip(contrast, row, strict=True))
            for row in zip(*values, strict=True)
        ]
        mean = sum(moved) / len(moved)
        sums.append(sum((x - mean) ** 2 for x in moved) / (len(moved) * (len(moved) - 1)))
    held = min(pairs_of_contrast(tables, contrast), *sums)
    return sqrt(error**2 - held), degrees


def pairs_beyond(table):
    """Variance that a mean over a table has by its cells beyond its rows and its columns."""
    m, n = len(table), len(table[0])
    rows = [sum(row) / n for row in table]
    columns = [sum(row[j] for row in table) / m for j in range(n)]
    mean = sum(rows) / m
    squares = sum(
        (table[i][j] - rows[i] - columns[j] + mean) ** 2 for i in range(m) for j in range(n)
    )
    return squares / ((m - 1) * (n - 1) * m * n)


def agreement(first, second):
    """1 less the share of different cells over that of rows in random order."""
    differ = unrelated = 0.0
    for one, other in zip(first, second, strict=True):
        differ += sum((x - y) ** 2 for x, y in zip(one, other, strict=True))
        p, q = sum(one) / len(one), sum(other) / len(other)
        unrelated += len(one) * (p * (1 - q) + q * (1 - p))
    return 1.0 - differ / unrelated


def pairs_of_contrast(tables, contrast):
    """Part of the pairs in a contrast of rankers, by that of any two of them."""
    total = 0.0
    for i, one in enumerate(tables):
        for j, other in enumerate(tables[:i]):
            if contrast[i] * contrast[j]:
                apart = [
                    [x - y for x, y in zip(*rows, strict=True)]
                    for rows in zip(one, other, strict=True)
                ]
                total -= contrast[i] * contrast[j] * agreement(one, other) * pairs_beyond(apart)
    return total
