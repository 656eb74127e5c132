"""Compiled loops over sorted rows: pairs of two orders, and bins."""

from __future__ import annotations

import numpy as np

from .._jit import compiled


@compiled()
def _sum_upto(tree, node):
    """Sum of the first levels by a tree: its entry i is the sum of the last ``i & -i`` of i."""
    total = 0.0
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total


@compiled()
def _add(tree, node, weight):
    # Add a weight to the tree from this level on.
    while node < len(tree):
        tree[node] += weight
        node += node & -node


@compiled("void(i8[::1], f8[::1], i8[::1], i8[::1], f8[::1])")
def credit_above(level, weight, starts, offsets, credit):
    """Weight of the pairs of an item of each block and one above it in the right order.

    Items come list by list and block by block of tied scores, from the top; ``level`` counts the
    distinct relevances of a list from 0, the highest. Pairs of equal relevance count half. It
    takes O(n log n), n the number of items.
    """
    longest = 0
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    entries = np.empty(longest + 1)
    block = 0
    for q in range(len(offsets) - 1):
        end = offsets[q + 1]
        tree = entries[: end - offsets[q] + 1]
        tree[:] = 0.0
        while block < len(starts) and starts[block] < end:
            begin = starts[block]
            block += 1
            total = 0.0
            stop = end if block == len(starts) else min(starts[block], end)
            for i in range(begin, stop):
                higher = _sum_upto(tree, level[i])
                equal = _sum_upto(tree, level[i] + 1)
                total += weight[i] * 0.5 * (higher + equal)
            credit[block - 1] = total
            for i in range(begin, stop):
                _add(tree, level[i] + 1, weight[i])


@compiled("void(i8[::1], f8[::1], i8[::1], i8, f8[:, ::1])")
def pair_weights(level, weight, starts, n_levels, sums):
    """Weight of the items of a higher and of an equal relevance around each item of one list.

    Items come block by block of tied scores, from the top; ``level`` counts the distinct
    relevances from 0, the highest. The rows of ``sums`` are the weight of the items above the
    block of each item that are of a higher relevance, and of an equal one; then likewise of those
    in its block, itself included. It takes O(n log n_levels).
    """
    tree = np.zeros(n_levels + 1)
    n = len(level)
    for block in range(len(starts)):
        begin = starts[block]
        end = n if block + 1 == len(starts) else starts[block + 1]
        for i in range(begin, end):
            higher = _sum_upto(tree, level[i])
            upto = _sum_upto(tree, level[i] + 1)
            sums[0, i] = higher
            sums[1, i] = upto - higher
        for i in range(begin, end):
            _add(tree, level[i] + 1, weight[i])
        if end == begin + 1:
            sums[2, begin] = 0.0
            sums[3, begin] = weight[begin]
            continue
        for i in range(begin, end):
            higher = _sum_upto(tree, level[i])
            upto = _sum_upto(tree, level[i] + 1)
            sums[2, i] = higher - sums[0, i]
            sums[3, i] = upto - higher - sums[1, i]


# What happens to the rows of a bin.
COUNT, TAKE = -1, -2


@compiled(
    "i8(i8[::1], b1[::1], f8[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8[:,::1], f8[:,::1],"
    " i8[:,::1], i8[::1], UniTuple(i8[::1], 2), UniTuple(f8[::1], 2))"
)
def scan(
    bits, positive, weight, shift, base, first, child, count, mass, ends, taken, codes, weights
):
    """Walk rows down a tree of bins, count them in those that count and keep those of others.

    ``bits`` are those of the scores, as float64.

    A node's bin of a code is ``first + (code >> shift) - base``; its entry of ``child`` is the
    node below, or what happens to its rows. ``ends`` holds the lowest and the highest code of each
    bin, ``taken`` how many of each class are kept. Returns the first row for which there was no
    room, or -1.
    """
    most = np.iinfo(np.int64).max
    for i in range(len(bits)):
        # One zero of both, and the order of the scores.
        code = bits[i] if bits[i] != ~most else 0
        code ^= (code >> 63) & most
        node = 0
        while True:
            at = first[node] + (code >> shift[node]) - base[node]
            what = child[at]
            if what < 0:
                break
            node = what
        label = 1 if positive[i] else 0
        if what == COUNT:
            count[at, label] += 1
            mass[at, label] += weight[i] if len(weight) > 0 else 1.0
            if code < ends[at, 0]:
                ends[at, 0] = code
            if code > ends[at, 1]:
                ends[at, 1] = code
        elif what == TAKE:
            place = taken[label]
            if place >= len(codes[label]):
                return i
            codes[label][place] = code
            if len(weights[label]) > 0:
                weights[label][place] = weight[i] if len(weight) > 0 else 1.0
            taken[label] = place + 1
    return -1
