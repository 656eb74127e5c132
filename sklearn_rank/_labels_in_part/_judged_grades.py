"""Values of queries whose grades are known in part.

Grades not known are taken as independent given the query: the logit of the chance of each to reach
a level is what the ranks of the document, the grade of a judge and the queries of other folds
predict, and a normal deviation of the query, which its known grades estimate. Grades are drawn
from that, the same for all rankers, and the value is the mean over the draws. A grade ``y`` that a
person gave to a random document corrects it by ``(1 - p) / p (D(y) - sum over g of q(g) D(g))``: p
is the probability of a label, D(g) the value if this grade were g, and q, D are those without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.special import expit, logit, logsumexp

from .._lists import ScoredLists
from .._typing import FloatArray, IntArray
from ..bounds._shared import NEGLIGIBLE, TINY
from ..metrics._shared import Evidence, PartialLabels
from ._score_path import ATTENUATION, DEVIATIONS, columns_of_labels

# Draws of the grades of a query, of whose variance they add less than a hundredth.
N_DRAWS = 32

# Parts of the queries, each predicted by the others.
N_FOLDS = 3

# Splines of more knots, of which each takes 10 labels, tell hardly more.
MOST_RARE = 50

# How far apart the logits of levels are at least, so that each grade has a chance.
APART = 0.05


class GradeModel(NamedTuple):
    """Chances of the grades of each row, and draws of the deviation of each query."""

    levels: FloatArray  # (n_levels,): Grades that are known, ascending
    codes: IntArray  # (n_rows,): Level of each row that is known
    logits: FloatArray  # (n_rows, n_levels - 1): Of the chance to reach each but the lowest level
    deviations: FloatArray  # (n_lists, N_DRAWS): Given the grades known of the query

    @classmethod
    def of(
        cls, lists: ScoredLists, shares: list[FloatArray], partial: PartialLabels
    ) -> GradeModel:
        """Regress whether known grades reach each level, by folds of queries."""
        levels = np.unique(lists.labels[partial.known])
        codes = np.minimum(np.searchsorted(levels, lists.labels), len(levels) - 1)
        logits = _logits_of_levels(codes, len(levels), lists, partial, shares)
        ends = np.pad(logits, ((0, 0), (1, 1)), constant_values=((0, 0), (np.inf, -np.inf)))
        known = partial.known
        between = np.stack([ends[known, codes[known] + i] for i in (0, 1)])[..., np.newaxis]
        nodes = np.linspace(-3.5, 3.5, 15)
        prior = -(nodes**2) / 2.0
        query = lists.list_of[known]
        most, best = -np.inf, (logits, np.zeros((lists.n_lists, N_DRAWS)))
        for deviation in DEVIATIONS if len(levels) > 1 else ():
            scale = np.sqrt(1.0 + ATTENUATION * deviation**2)
            above, below = expit(between * scale + deviation * nodes)
            chances = np.log(np.maximum(above - below, TINY))
            joint = np.tile(prior - logsumexp(prior), (lists.n_lists, 1))
            np.add.at(joint, query, chances)
            of_query = logsumexp(joint, axis=1, keepdims=True)
            if of_query.sum() > most + NEGLIGIBLE:
                most = of_query.sum()
                best = logits * scale, deviation * _stratified(nodes, np.exp(joint - of_query))
        return cls(levels, codes, *best)


def _logits_of_levels(
    codes: IntArray,
    n_levels: int,
    lists: ScoredLists,
    partial: PartialLabels,
    shares: list[FloatArray],
) -> FloatArray:
    if partial.proxy is not None:
        scaled = (partial.proxy - partial.proxy.mean()) / max(partial.proxy.std(), TINY)
        partial = replace(partial, proxy=expit(scaled))
    n_folds = min(N_FOLDS, lists.n_lists)
    folds = lists.to_items(np.random.default_rng(0).permutation(lists.n_lists) % n_folds)
    chances = np.empty((len(codes), n_levels - 1))
    for level in range(1, n_levels):
        reached = codes >= level
        n_rare = int(np.bincount(reached[partial.known], minlength=2).min())
        columns = columns_of_labels(shares, partial, min(n_rare, MOST_RARE))
        for fold in range(n_folds):
            test = folds == fold
            train = partial.known & ~test
            if len(np.unique(reached[train])) > 1:
                chances[test, level - 1] = columns.chances(train, reached, test)
            else:
                chances[test, level - 1] = (reached[train].sum() + 0.5) / (train.sum() + 1.0)
    steps = APART * np.arange(n_levels - 1)
    logits = logit(np.clip(chances, NEGLIGIBLE, 1.0 - NEGLIGIBLE)) + steps
    return np.minimum.accumulate(logits, axis=1) - steps


def _stratified(nodes: FloatArray, masses: FloatArray) -> FloatArray:
    """Draw from each row of masses at the nodes, one from each of equally likely strata."""
    middles = (np.arange(N_DRAWS) + 0.5) / N_DRAWS
    ends = np.cumsum(masses, axis=1) - masses / 2.0
    return np.stack([np.interp(middles, of_query, nodes) for of_query in ends])


def corrected_values(
    evidences: Iterable[Sequence[Evidence]], model: GradeModel
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Values of each query, from the evidence of it for each ranker.

    Expected are the values of the rankers and how often there are any, (n_rankers, 2), and for
    both the standard deviations that open grades are predicted to cause, level by level, and by
    what each grade that was drawn corrects.
    """
    rng, start = np.random.default_rng(0), 0
    for of_query, deviations in zip(evidences, model.deviations, strict=True):
        rows = slice(start, start := start + len(of_query[0].data.labels))
        yield _corrected_query(of_query, model, rows, deviations, rng)


def _corrected_query(
    evidences: Sequence[Evidence],
    model: GradeModel,
    rows: slice,
    deviations: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    totals: list[Any] = [x.grade_total for x in evidences]
    weights, partial = np.stack([x.weights for x in totals]), cast(Any, evidences[0].partial)
    codes, ideal, gains = model.codes[rows], totals[0].ideal, totals[0].gain(model.levels)
    known, is_open = partial.known, partial.open
    n, n_levels, m = len(codes), len(gains), len(deviations)
    reach = np.zeros((m, n, n_levels + 1))
    reach[..., 0], reach[..., 1:-1] = 1.0, expit(model.logits[rows] + deviations[:, None, None])
    chances = reach[..., :-1] - reach[..., 1:]  # (m, n, n_levels)
    # One draw from each of m equally likely strata of each row.
    places = rng.permuted(np.tile(np.arange(m)[:, np.newaxis], n), axis=0) + rng.random((m, n))
    drawn = (places[..., np.newaxis] < m * reach[..., 1:-1]).sum(axis=2)
    drawn[:, known] = codes[known]
    gain = gains[drawn]
    if ideal is None:  # A linear measure needs the expected gains only.
        gain[:, ~known] = (chances @ gains)[:, ~known]
    sums = gain @ weights.T  # (m, n_rankers)
    best, changed = np.ones(m), np.ones((m, int(is_open.sum()), n_levels))
    now, sampled = drawn[:, is_open], known[is_open]
    if ideal is not None:
        best, moves = _best_sums(drawn, gains, ideal)
        changed = best[:, None, None] + moves[np.arange(m)[:, None], now]
    # A query has other weights without one of its grades.
    own = np.take_along_axis(chances[:, is_open], now[..., np.newaxis], axis=2)[..., 0]
    without = np.where(sampled, 1.0 / np.maximum(own, TINY), 1.0)
    without = (without / without.sum(axis=0))[..., np.newaxis]
    q = (without * chances[:, is_open]).sum(axis=0)
    inverse = np.divide(without, changed, out=np.zeros(changed.shape), where=changed > TINY)
    moved = (inverse * (gains - gain[:, is_open, np.newaxis])).sum(axis=0)
    values = np.tensordot(sums, inverse, (0, 0)) + weights[:, is_open, np.newaxis] * moved
    defined = (without * (changed > TINY)).sum(axis=0)
    value = sums.T @ np.divide(1.0 / m, best, out=np.zeros(m), where=best > TINY)
    # How often there is a gain; draws may lack what is seldom.
    lowest = np.where(known, gains[codes] == 0.0, chances[..., gains == 0.0].sum(axis=2))
    share = 1.0 if ideal is None else 1.0 - float(lowest.prod(axis=1).mean())
    if isinstance(undefined := evidences[0].measure.undefined, float):
        value, values = value + undefined * (1.0 - share), values + undefined * (1.0 - defined)
        share, defined = 1.0, np.ones(defined.shape)
    both = np.stack([values, np.broadcast_to(defined, values.shape)], axis=1)
    both -= np.einsum("rbjg,jg->rbj", both, q)[..., np.newaxis]
    p = partial.probability[is_open]
    odds = (1.0 - p) / p
    shown = odds[sampled] * both[:, :, sampled, codes[is_open][sampled]]
    predicted = both * (odds[:, np.newaxis] * np.sqrt(p[:, np.newaxis] * q))
    expected = np.stack([value, np.full(len(value), share)], axis=1)
    return expected, predicted.reshape(*both.shape[:2], -1), shown


def _best_sums(
    drawn: IntArray, gains: FloatArray, ideal: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sum of the best order of each draw, and by how much it changes if a grade does.

    Each level adds its step of gains to all that reach it. The changes are those from a level to
    another, (n_draws, n_levels, n_levels).
    """
    n_levels, steps = len(gains), np.diff(gains)
    reaches = (drawn[..., np.newaxis] > np.arange(n_levels - 1)).sum(axis=1)
    at = ideal[reaches]
    changes = np.zeros((len(drawn), n_levels, n_levels))
    for more in (1, -1):
        moved = (ideal[np.clip(reaches + more, 0, drawn.shape[1])] - at) * steps
        moved = np.cumsum(np.insert(moved, 0, 0.0, axis=1), axis=1)
        upwards = np.triu(moved[:, np.newaxis] - moved[..., np.newaxis])
        changes += upwards if more > 0 else upwards.swapaxes(1, 2)
    return gains[0] * ideal[-1] + at @ steps, changes
