"""Compiled sums over the pairs of items of two orders."""

from __future__ import annotations

import numpy as np

from .._jit import compiled


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
    # A tree of partial sums over the levels: entry i has those of its last (i & -i) levels.
    tree = np.empty(longest + 1)
    block = 0
    for q in range(len(offsets) - 1):
        end = offsets[q + 1]
        size = end - offsets[q]
        tree[: size + 1] = 0.0
        while block < len(starts) and starts[block] < end:
            begin = starts[block]
            block += 1
            total = 0.0
            stop = end if block == len(starts) else min(starts[block], end)
            for i in range(begin, stop):
                higher, equal = 0.0, 0.0
                node = level[i]
                while node > 0:
                    higher += tree[node]
                    node -= node & -node
                node = level[i] + 1
                while node > 0:
                    equal += tree[node]
                    node -= node & -node
                total += weight[i] * 0.5 * (higher + equal)
            credit[block - 1] = total
            for i in range(begin, stop):
                node = level[i] + 1
                while node <= size:
                    tree[node] += weight[i]
                    node += node & -node
