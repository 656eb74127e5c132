"""Compiled weights of the items around each item, by two orders."""

from __future__ import annotations

import numpy as np

from .._jit import compiled


@compiled("void(i8[::1], f8[::1], i8[::1], i8, f8[:, ::1])")
def pair_weights(level, weight, starts, n_levels, sums):
    """Weight of the items of a higher and of an equal relevance around each item of one list.

    Items come block by block of tied scores, from the top; ``level`` counts the distinct
    relevances from 0, the highest. The rows of ``sums`` are the weight of the items above the
    block of each item that are of a higher relevance, and of an equal one; then likewise of those
    in its block, itself included. It takes O(n log n_levels).
    """
    # A tree of partial sums over the levels: entry i has those of its last (i & -i) levels.
    tree = np.zeros(n_levels + 1)
    n = len(level)
    for block in range(len(starts)):
        begin = starts[block]
        end = n if block + 1 == len(starts) else starts[block + 1]
        for i in range(begin, end):
            higher, upto = 0.0, 0.0
            node = level[i]
            while node > 0:
                higher += tree[node]
                node -= node & -node
            node = level[i] + 1
            while node > 0:
                upto += tree[node]
                node -= node & -node
            sums[0, i] = higher
            sums[1, i] = upto - higher
        for i in range(begin, end):
            node = level[i] + 1
            while node <= n_levels:
                tree[node] += weight[i]
                node += node & -node
        if end == begin + 1:
            sums[2, begin] = 0.0
            sums[3, begin] = weight[begin]
            continue
        for i in range(begin, end):
            higher, upto = 0.0, 0.0
            node = level[i]
            while node > 0:
                higher += tree[node]
                node -= node & -node
            node = level[i] + 1
            while node > 0:
                upto += tree[node]
                node -= node & -node
            sums[2, i] = higher - sums[0, i]
            sums[3, i] = upto - higher - sums[1, i]
