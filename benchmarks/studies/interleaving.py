"""Does interleaving that is looked at after every session err as often as stated?

    python benchmarks/studies/interleaving.py            # print, about 15 minutes on one core
    python benchmarks/studies/interleaving.py --write    # also store the results

Protocol, written before the first run. `team_draft` makes the list of each session,
`team_outcomes` its winner, and a confidence sequence of `"top1"` at 95 %, `best_after=500`
sessions one by one, decides for a ranking as soon as its limits of the chance to win lack 1/2.
Nothing was chosen by these designs.

`null`: 2,000 histories of 2,000 sessions, of which none should be decided. Wrong decisions for the
first ranking and for the second are counted by themselves, beside those of an exact binomial test
at .05 that is looked at after every session too. Aim: at most .05 for both together.

- `equal`: both rankings are the same ten items; the user looks at place i with chance 1 / i, and
  clicks on what is seen with chance .8 for items 2, 5 and 9, and .1 for others;
- `different`: for each session two random orders of 15 items, cut at ten; a click at place i has
  chance .6 / i, whatever is there;
- `unlike`: the first ranking has three items, the second twelve, two of which are also in the
  first; ten are shown, and each is clicked with chance .3.

`power`: 2,000 histories in which the first ranking wins decided sessions with chance .55, .6 and
.7, to 20,000 decided sessions. Decided sessions until the decision, the median and the number by
which .8 of the histories have decided, beside the least number from which on an exact binomial
test of a number that is fixed before has a power of .8, and the share that has decided by then;
and decisions for the second ranking, which are wrong. Aim: the numbers are reported, whatever they
are.

Whether a history is decided depends on the numbers of sessions and wins alone: the least number of
wins that decides is found for each number of sessions by the capital of the bets, and compared
with `ConfidenceSequence` itself on some histories.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import run_cells, seeded

from sklearn_rank._planning._confidence_sequence import Bets, log_capital
from sklearn_rank.clicks import team_draft, team_outcomes
from sklearn_rank.inference import ConfidenceSequence

ALPHA, BEST_AFTER, HISTORIES, SESSIONS, MOST = 0.05, 500, 2000, 2000, 20_000
NAMES = ("first", "second")
OF_NULL = ("decided sessions", "wins", "for first", "for second", "error")
OF_NULL += ("binomial, first", "binomial, second")
OF_POWER = ("fixed", "by fixed", "median", "mean", "by .8", "undecided")


def wins_that_decide(most):
    """Least number of wins of one ranking among 1, 2, ... decided sessions that decides for it."""
    bets, n = Bets(BEST_AFTER, ALPHA), np.arange(1.0, most + 1)
    gain = np.log1p(bets.gains)
    low, high = np.floor(n / 2), n + 1  # too few, and enough or more than there are
    while np.any(high - low > 1):
        wins = np.floor((low + high) / 2)
        grown = np.multiply.outer(wins, gain), np.multiply.outer(n - wins, gain)
        decides = log_capital(bets, *grown, n, np.full(most, 0.5))[0] >= -np.log(ALPHA)
        low, high = np.where(decides, low, wins), np.where(decides, wins, high)
    return high


def wins_of_binomial_test(most):
    """The same for an exact two-sided test of each number of sessions."""
    n = np.arange(1, most + 1)
    return binom.isf(ALPHA / 2, n, 0.5) + 1


def first_decision(won, least):
    """Decided session at which each history is decided, and for which ranking; 0 and 0 for none.

    ``won`` has a history of decided sessions in each row: 1, 0, or NaN after the last.
    """
    if len(won) > 100:  # so that the arrays fit into memory
        parts = [first_decision(part, least) for part in np.array_split(won, len(won) // 100)]
        return tuple(map(np.concatenate, zip(*parts, strict=True)))
    n = np.cumsum(~np.isnan(won), axis=1)
    wins, at = np.nancumsum(won, axis=1), np.maximum(n, 1) - 1
    side = np.where(wins >= least[at], 1, 0) - np.where(n - wins >= least[at], 1, 0)
    first = np.argmax(side != 0, axis=1)
    decided = np.take_along_axis(side, first[:, np.newaxis], axis=1)[:, 0]
    return np.where(decided != 0, np.take_along_axis(n, first[:, np.newaxis], 1)[:, 0], 0), decided


def session(design, rng):
    """Rankings, and the chance of a click on an item at a place."""
    if design == "equal":
        good = {2, 5, 9}
        return [range(10)] * 2, lambda item, place: (0.8 if item in good else 0.1) / place
    if design == "different":
        return [rng.permutation(15)[:10] for _ in NAMES], lambda item, place: 0.6 / place
    return [[0, 1, 2], [*range(3, 8), 1, *range(8, 12), 2, 12]], lambda item, place: 0.3


def clicks_of(design, rng):
    """Clicks of one session on the items of each team."""
    rankings, chance = session(design, rng)
    counts = dict.fromkeys((*NAMES, None), 0)
    shown = team_draft(dict(zip(NAMES, rankings, strict=True)), k=10, random_state=rng)
    clicked = rng.random(len(shown))
    for place, (item, team) in enumerate(shown.items()):
        counts[team] += int(clicked[place] < chance(item, place + 1))
    return [counts[name] for name in NAMES]


def history(design, rng):
    """Decided sessions of a history, NaN after the last."""
    clicks = [clicks_of(design, rng) for _ in range(SESSIONS)]
    won, row = team_outcomes(clicks)["y_true"][:, 0], np.full(SESSIONS, np.nan)
    row[: len(won)] = won
    return row


def by_the_class(row):
    """The decision of the class itself."""
    sequence = ConfidenceSequence("top1", best_after=BEST_AFTER)
    for n, won in enumerate(row[~np.isnan(row)]):
        found = sequence.update(**team_outcomes([[won, 1.0 - won]]))
        if found.low > 0.5 or found.high < 0.5:
            return n + 1, 1 if found.low > 0.5 else -1
    return 0, 0


def check(won, places, sides, name):
    for i in range(5):
        assert by_the_class(won[i]) == (places[i], sides[i]), (name, i)


def share(mask):
    return f"{np.mean(mask):.4f}"


def cells():
    least, naive = wins_that_decide(SESSIONS), wins_of_binomial_test(SESSIONS)
    for design in ("equal", "different", "unlike"):
        rng = seeded("interleaving", design)
        won = np.array([history(design, rng) for _ in range(HISTORIES)])
        places, sides = first_decision(won, least)
        check(won, places, sides, design)
        peeked = first_decision(won, naive)[1]
        yield {
            "part": "null",
            "design": design,
            "decided sessions": f"{(~np.isnan(won)).sum(axis=1).mean():.0f}",
            "wins": share(won[~np.isnan(won)]),
            "for first": share(sides > 0),
            "for second": share(sides < 0),
            "error": share(sides != 0),
            "binomial, first": share(peeked > 0),
            "binomial, second": share(peeked < 0),
            "histories": HISTORIES,
        }
    least = wins_that_decide(MOST)
    for chance in (0.55, 0.6, 0.7):
        rng = seeded("interleaving", chance)
        won = (rng.random((HISTORIES, MOST)) < chance).astype(np.float32)
        places, sides = first_decision(won, least)
        check(won, places, sides, chance)
        n = np.arange(1, 5000)
        power = binom.sf(wins_of_binomial_test(len(n)) - 1, n, chance)
        fixed = int(n[np.flatnonzero(power < 0.8)[-1]]) + 1
        until = np.where(sides > 0, places, MOST + 1)
        yield {
            "part": "power",
            "design": f"{chance:g}",
            "fixed": fixed,
            "by fixed": share(until <= fixed),
            "median": f"{np.median(until):.0f}",
            "mean": f"{np.mean(until):.0f}",
            "by .8": f"{np.quantile(until, 0.8, method='inverted_cdf'):.0f}",
            "undecided": share(sides == 0),
            "for second": share(sides < 0),
            "histories": HISTORIES,
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="store the rows")
    keys = ("part", "design")
    columns = [(key, key, "") for key in (*keys, *OF_NULL, *OF_POWER)]
    run_cells(cells(), "interleaving", keys, parser.parse_args().write, columns)
