"""Confidence sequences by definition: every pairing, every number above the threshold."""

from itertools import permutations
from math import exp, expm1, log, log1p, pi, sqrt

from scipy.integrate import quad
from scipy.optimize import brentq


def wagers(n_best, alpha, deviation=0.25):
    """Gains with their shares of the capital, which is halved between the two sides."""
    middle = sqrt(2 * log(2 / alpha) / n_best) / deviation
    gains = [middle * 1.5**j for j in range(-28, 29)]
    shares = [1 / (1 + (j * log(1.5)) ** 2) for j in range(-28, 29)]
    return [(gain, share / sum(shares) / 2) for gain, share in zip(gains, shares, strict=True)]


def capital(values, mean, bets):
    """What 1 becomes against a mean, value by value."""
    total = 0.0
    for gain, share in bets:
        up = down = share
        for v in values:
            up *= (1 + gain * v) / (1 + gain * mean)
            down *= (1 + gain * (1 - v)) / (1 + gain * (1 - mean))
        total += up + down
    return total


def limits(won, middle, alpha):
    """Means between which the capital is below 1 / alpha."""
    found = []
    for end in (0.0, 1.0):
        if won(end) <= 1 / alpha:
            found.append(end)
        else:
            found.append(brentq(lambda m: log(won(m) * alpha), end, middle, xtol=1e-14))
    return found


def worth(positive, negative):
    return (positive > negative) + (positive == negative) / 2


def pairings(positives, negatives):
    """Worths of the pairs of each pairing of the smaller class with others."""
    if len(positives) <= len(negatives):
        for chosen in permutations(negatives, len(positives)):
            yield [worth(p, n) for p, n in zip(positives, chosen, strict=True)]
    else:
        for chosen in permutations(positives, len(negatives)):
            yield [worth(p, n) for p, n in zip(chosen, negatives, strict=True)]


def pair_growth(positives, negatives, gain):
    """Logarithms of the mean products, of wins and of losses."""
    up, down = [], []
    for worths in pairings(positives, negatives):
        win = loss = 1.0
        for h in worths:
            win *= 1 + gain * h
            loss *= 1 + gain * (1 - h)
        up.append(win)
        down.append(loss)
    return log(sum(up) / len(up)), log(sum(down) / len(down))


def auc_limits(updates, alpha, best_after):
    """Limits from the positives and negatives of each update."""
    first = min(map(len, updates[0]))
    bets = wagers(best_after * first, alpha)
    n = sum(min(map(len, update)) for update in updates)
    growth = [[pair_growth(*update, gain) for update in updates] for gain, _ in bets]
    total = sum(
        sum(pairing) / len(list(pairings(*update)))
        for update in updates
        for pairing in pairings(*update)
    )

    def won(mean):
        money = 0.0
        for (gain, share), parts in zip(bets, growth, strict=True):
            up, down = (sum(part[side] for part in parts) for side in (0, 1))
            money += share * exp(up - n * log1p(gain * mean))
            money += share * exp(down - n * log1p(gain * (1 - mean)))
        return money

    return limits(won, total / n, alpha)


def top_limits(labels, tau, n_best, alpha):
    """Limits from labels in descending order of untied scores."""
    of_threshold = alpha / 5
    of_counts = wagers(n_best, of_threshold, sqrt(tau * (1 - tau)))
    bets = wagers(n_best * tau, alpha - of_threshold)
    low, high, n = 1.0, 0.0, len(labels)
    for count in range(n + 1):
        above = [1] * count + [0] * (n - count)
        if capital(above, tau, of_counts) >= 1 / of_threshold:
            continue
        if count == 0:
            return 0.0, 1.0
        top = labels[:count]
        found = limits(
            lambda m, v=top: capital(v, m, bets), sum(top) / count, alpha - of_threshold
        )
        low, high = min(low, found[0]), max(high, found[1])
    return low, high


def normal_mixture(z, x):
    """What 1 becomes by bets of normal size, of variance x relative to 1 / n, z errors away."""
    return quad(lambda b: exp(b * z - b * b / 2 - b * b / (2 * x)), -50, 50)[0] / sqrt(2 * pi * x)


def chance_of_error(n, p, alpha, n_best):
    """Probability that limits of coins of probability p err at one of n looks or more."""
    bets = wagers(n_best, alpha)
    alive = {0: 1.0}
    erred = 0.0
    for size in range(1, n + 1):
        after = {}
        for ones, chance in alive.items():
            after[ones] = after.get(ones, 0.0) + chance * (1 - p)
            after[ones + 1] = after.get(ones + 1, 0.0) + chance * p
        alive = {}
        for ones, chance in after.items():
            money = 0.0
            for gain, share in bets:
                up = ones * log1p(gain) - size * log1p(gain * p)
                down = (size - ones) * log1p(gain) - size * log1p(gain * (1 - p))
                money += share * (exp(min(up, 700)) + exp(min(down, 700)))
            if money >= 1 / alpha:
                erred += chance
            else:
                alive[ones] = chance
    assert abs(erred + sum(alive.values()) - 1) < -expm1(-1e-9)
    return erred


def population(measure, scores, of_class, share):
    """Lift of the top tenth, or average precision, of a population of few scores.

    ``of_class`` has the probabilities of the scores, ascending, of positives and of negatives.
    """

    def within(u, found, size, positives, everyone):
        return found * (positives + u * found) / (everyone + u * size)

    top, area, positives, everyone = 0.0, 0.0, 0.0, 0.0
    for _, p, q in sorted(zip(scores, *of_class, strict=True), reverse=True):
        found, size = share * p, share * p + (1 - share) * q
        # Tied items are in random order: a part of them stands above a place among them.
        area += quad(within, 0, 1, args=(found, size, positives, everyone))[0]
        top += found * min(max((0.1 - everyone) / size, 0.0), 1.0)
        positives, everyone = positives + found, everyone + size
    return top / share / 0.1 if measure == "lift@0.1" else area / share
