"""The compiled walk of rows down a tree of bins."""

from __future__ import annotations

import numpy as np

from .._jit import compiled

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
