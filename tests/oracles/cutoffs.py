"""Cut-offs with a promise, by loops over rows and sums of binomial probabilities."""

import math
from fractions import Fraction
from math import comb

from scipy import stats


def at_least(hits, n, share):
    """Probability of at least so many hits of n."""
    share = Fraction(share)
    return float(sum(comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(hits, n + 1)))


def _flagged(scores):
    """Numbers of rows above each cut-off, counted to the end of ties."""
    ranked = sorted(scores, reverse=True)
    return [k for k in range(1, len(ranked) + 1) if k == len(ranked) or ranked[k] < ranked[k - 1]]


def _order(scores):
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def chance_of_a_look(sizes, least, goal):
    """Probability that hits of k rows have a p-value up to ``least``, for some k of the sizes."""
    missed, crossed = {0: 1.0}, 0.0
    for k in range(1, max(sizes) + 1):
        after = {}
        for hits, chance in missed.items():
            for hit, share in ((1, goal), (0, 1 - goal)):
                after[hits + hit] = after.get(hits + hit, 0.0) + chance * share
        if k in sizes:
            found = {hits for hits in after if at_least(hits, k, goal) <= least}
            crossed += sum(after.pop(hits) for hits in found)
        missed = after
    return crossed


def precision_sequence(positive, scores, goal, delta, share, step_of_looks):
    """Numbers of rows that are shown to have a precision."""
    order, sizes, n = _order(scores), _flagged(scores), len(scores)
    hits = {k: sum(bool(positive[i]) for i in order[:k]) for k in sizes}

    def first_size(failures, alpha):
        k = failures + 1
        while at_least(k - failures, k, goal) > alpha:
            k += 1
        return k

    failures, base = [1], []
    while (k := first_size(failures[-1], share * goal * delta)) <= n:
        base.append(k)
        failures.append(max(failures[-1] + 1, int(1.02 * failures[-1])))
    looks, limit = set(), float(n)
    while limit > 1.0:
        looks |= {max(i for i, k in enumerate(base) if k <= limit)} if limit >= base[0] else set()
        limit /= step_of_looks
    shown, k, places, alphas = [], 0, [], []
    for i, number in enumerate(failures):
        ahead = sum(look >= i for look in looks)
        alphas.append(delta - (delta - share * goal * delta) * ahead / len(looks))
        if (k := max(k, first_size(number, alphas[-1]))) > n:
            break
        places.append(min(size for size in sizes if size >= k))
    for i, k in enumerate(places):
        passed = at_least(hits[k], k, goal) <= alphas[i]
        later = {places[look] for look in looks if look >= i}
        if later and not passed:
            least = min(at_least(hits[size], size, goal) for size in later)
            passed = chance_of_a_look(later, least, goal) <= delta - alphas[i]
        if not passed:
            break
        shown += [k] * (at_least(hits[k], k, goal) <= delta)
    return sorted(set(shown))


def rate_cutoffs(positive, scores, goal, delta, of):
    """Numbers of rows of which the recall, or the false positive rate, is shown."""
    order, shown = _order(scores), []
    of_class = [bool(x) == (of == "recall") for x in positive]
    n = sum(of_class)
    for k in _flagged(scores):
        inside = sum(of_class[i] for i in order[:k])
        if of == "recall":
            is_shown = at_least(inside, n, goal) <= delta
        else:
            is_shown = at_least(n - inside, n, 1 - Fraction(goal)) <= delta
        shown += [k] * is_shown
    return shown


def effect_of_groups(hits, groups, rows_alike):
    """How many times as much hits vary as independent ones, from all pairs of rows of a group.

    The correlation is the mean over pairs, which count alike, or also, if it is larger, over the
    pairs of each row. Another hit counts for a correlation of 1.
    """
    n = len(hits)
    share = sum(map(bool, hits)) / n
    sizes = [list(groups).count(group) for group in groups]
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j and groups[i] == groups[j]]
    estimates = []
    for of_rows in (False, True) if rows_alike else (False,):
        total, weights = 1.0, 0.0
        for i, j in pairs:
            weight = 1 / (sizes[i] - 1) if of_rows else n / len(pairs)
            total += weight * (hits[i] - share) * (hits[j] - share)
            weights += weight
        estimates.append(total / (share * (1 - share) * weights + 1.0))
    return 1.0 + max(*estimates, 0.0) * len(pairs) / n


def skewness_of_groups(groups, effect, n_effective, share):
    """By how much misses in groups are more skew than those of the binomial effective number.

    The misses of a group of s rows are beta-binomial, with the correlation of the effect. With
    a + b = 1 / correlation - 1, SciPy knows their second and third moments.
    """
    sizes = [list(groups).count(group) for group in set(groups)]
    n, miss = sum(sizes), 1 - share
    others = sum(s * (s - 1) for s in sizes) / n
    second = third = 0.0
    for s in sizes:
        correlation = min((effect - 1) / others, 1 - 1e-9) if others else 0.0
        if correlation > 1e-9:
            total = 1 / correlation - 1
            moments = stats.betabinom(s, miss * total, share * total).stats("vs")
        else:
            moments = stats.binom(s, miss).stats("vs")
        variance, skewness = map(float, moments)
        second, third = second + variance, third + skewness * variance**1.5
    of_sum = third / second * (n_effective / n) / math.sqrt(n_effective * miss * share)
    return max(of_sum - (1 - 2 * miss) / math.sqrt(n_effective * miss * share), 0.0)


def value_sequence(amounts, scores, goal, delta):
    """Numbers of rows that are shown to have a mean amount, by bets."""
    order, sizes, least = _order(scores), _flagged(scores), min(amounts)
    ratio = (0.9 * 4096) ** (1 / 24)
    bets = [ratio**i / 4096 / (goal - least) for i in range(25)]

    def capital(k):
        total = 0.0
        for bet in bets:
            product = 1.0
            for i in order[:k]:
                product *= 1 + bet * (amounts[i] - goal)
            total += product
        return total / len(bets)

    return [k for k in sizes if capital(k) >= 1 / delta]
