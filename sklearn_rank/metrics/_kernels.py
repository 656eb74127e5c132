"""Compiled loops over sorted rows: tables, bins, blocks of classes."""

from __future__ import annotations

import numpy as np

from .._jit import compiled

# What happens to the rows of a bin.
COUNT, TAKE = -1, -2

_TABLES = {
    ("f4", "b1"): "Tuple((f4[::1], u1[::1], f8[::1]))",
    ("f8", "b1"): "Tuple((f8[::1], u1[::1], f8[::1]))",
    ("f8", "f8"): "Tuple((f8[::1], f8[::1], f8[::1]))",
}


def _join(rows, others, into):
    """Merge two runs of rows, ascending by score and label, and make one of equal rows.

    Each is scores, labels and weights. Weights of no entries are 1 for each, or not wanted.
    Returns the number of distinct rows, and whether a row came twice.
    """
    score, label, weight = rows
    score_2, label_2, weight_2 = others
    to_score, to_label, to_weight = into
    n, n_2, weighs = len(score), len(score_2), len(to_weight) > 0
    i = j = 0
    out = -1
    repeated = False
    last_score, last_label = score_2[0], label_2[0]
    while i < n or j < n_2:
        first = j >= n_2
        if i < n and j < n_2:
            first = score[i] < score_2[j] or (score[i] == score_2[j] and label[i] <= label_2[j])
        if first:
            row_score, row_label = score[i], label[i]
            row_weight = weight[i] if len(weight) > 0 else 1.0
            i += 1
        else:
            row_score, row_label = score_2[j], label_2[j]
            row_weight = weight_2[j] if len(weight_2) > 0 else 1.0
            j += 1
        if out >= 0 and row_score == last_score and row_label == last_label:
            repeated = True
            if weighs:
                to_weight[out] += row_weight
            continue
        out += 1
        last_score, last_label = row_score, row_label
        to_score[out], to_label[out] = row_score, row_label
        if weighs:
            to_weight[out] = row_weight
    return out + 1, repeated


joins = {
    kinds: compiled(f"Tuple((i8, b1))({rows}, {rows}, {rows})")(_join)
    for kinds, rows in _TABLES.items()
}


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


@compiled("i8(i8[::1], f8[::1], i8[::1], f8[::1], i8[::1], f8[::1], f8[::1], f8[::1], f8[::1])")
def blocks_between(
    neg, neg_weight, pos, pos_weight, whole_code, whole_neg, whole_pos, to_neg, to_pos
):
    """Merge sorted rows of both classes and whole blocks into blocks of ties; their number."""
    i = j = k = 0
    out = -1
    before_neg = before_pos = True
    while i < len(neg) or j < len(pos) or k < len(whole_code):
        # The lowest code of what is left.
        code = np.iinfo(np.int64).max
        if i < len(neg):
            code = neg[i]
        if j < len(pos):
            code = min(code, pos[j])
        n_neg = n_pos = 0.0
        if k < len(whole_code) and whole_code[k] <= code:
            n_neg, n_pos = whole_neg[k], whole_pos[k]
            k += 1
        else:
            while i < len(neg) and neg[i] == code:
                n_neg += neg_weight[i] if len(neg_weight) > 0 else 1.0
                i += 1
            while j < len(pos) and pos[j] == code:
                n_pos += pos_weight[j] if len(pos_weight) > 0 else 1.0
                j += 1
        joins_last = (n_pos == 0.0 and not before_pos) or (n_neg == 0.0 and not before_neg)
        if joins_last and out >= 0:
            to_neg[out] += n_neg
            to_pos[out] += n_pos
        else:
            out += 1
            to_neg[out], to_pos[out] = n_neg, n_pos
            before_neg, before_pos = n_neg > 0.0, n_pos > 0.0
    return out + 1
