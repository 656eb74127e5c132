"""The AUC of items that each have a law of their own, by listing all outcomes and pairings."""

from itertools import permutations, product
from math import exp, prod


def win(a, b):
    """What a positive of score a gets against a negative of score b."""
    return 1.0 if a > b else 0.5 if a == b else 0.0


def law_of_auc(of_pos, of_neg):
    """Each possible AUC with its probability; a law is a list of (score, probability)."""
    found = {}
    for outcome in product(*of_pos, *of_neg):
        pos, neg = outcome[: len(of_pos)], outcome[len(of_pos) :]
        wins = [win(a, b) for (a, _), (b, _) in product(pos, neg)]
        auc = sum(wins) / len(wins)
        found[auc] = found.get(auc, 0.0) + prod(chance for _, chance in outcome)
    return list(found.items())


def expected_win(one, other):
    """Expectation for a positive and a negative of these laws."""
    return sum(p * q * win(a, b) for (a, p), (b, q) in product(one, other))


def expected_by_pairing(of_pos, of_neg):
    """Expected mean of the pairs, for each way to pair the fewer items off with others."""
    few, many = (of_pos, of_neg) if len(of_pos) <= len(of_neg) else (of_neg, of_pos)
    turned = few is of_neg
    found = []
    for chosen in permutations(range(len(many)), len(few)):
        pairs = [(few[i], many[j]) for i, j in enumerate(chosen)]
        means = [expected_win(b, a) if turned else expected_win(a, b) for a, b in pairs]
        found.append(sum(means) / len(means))
    return found


def moment(law, rate):
    """``E exp(rate AUC)``."""
    return sum(chance * exp(rate * auc) for auc, chance in law)


def moment_of_coins(mean, n, rate):
    """``E exp(rate mean)`` of n coins."""
    return (1.0 - mean + mean * exp(rate / n)) ** n
