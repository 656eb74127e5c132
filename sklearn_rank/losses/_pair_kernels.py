"""Compiled sums over pairs, for so many pairs that compiling pays."""

from __future__ import annotations

import numpy as np

from .._jit import compiled


@compiled()
def _log_product(odds, n, lanes):
    """Sum of log(1 + odds), of eight of them at a time."""
    total = 0.0
    start = 0
    while start < n:
        stop = min(start + 64, n)
        lanes[:] = 1.0
        whole = stop - (stop - start) % 8
        for k in range(start, whole, 8):
            for lane in range(8):
                lanes[lane] *= 1.0 + odds[k + lane]
        for k in range(whole, stop):
            lanes[k - whole] *= 1.0 + odds[k]
        for lane in range(8):
            total += np.log(lanes[lane])
        start = stop
    return total


@compiled("void(f8[::1], i8[:, ::1], i8[::1], b1, f8, f8[:, :, ::1], f8[:, :, :, ::1], f8[::1])")
def add_pairs(score, rectangles, orders, is_weighted, largest, factors, items, totals):
    """Add the sums of ``LogisticPairs`` over the pairs of rectangles, the columns of an array."""
    longest = rectangles[4].max()
    ups, odds, share = np.empty(longest), np.empty(longest), np.empty(longest)
    lanes = np.empty(8)
    for m in range(rectangles.shape[1]):
        q, row, n_rows, partner, n = rectangles[:, m]
        low, high = score[row], score[row]
        for i in range(row, row + n_rows):
            low, high = min(low, score[i]), max(high, score[i])
        for j in range(partner, partner + n):
            low, high = min(low, score[j]), max(high, score[j])
        # Products of eight odds, quotients of exponentials of the items, are within float64.
        middle, is_wide = 0.5 * (low + high), high - low > largest / 8
        for k in range(n):
            ups[k] = np.exp(score[partner + k] - middle)
        for i in range(row, row + n_rows):
            if is_wide:
                for k in range(n):
                    excess = score[partner + k] - score[i]
                    odds[k] = np.exp(min(max(excess, -largest), largest))
            else:
                down = np.exp(middle - score[i])
                for k in range(n):
                    odds[k] = ups[k] * down
            for k in range(n):
                share[k] = 1.0 / (1.0 + odds[k])
            derivative = 0
            for place in range(len(orders)):
                if orders[place] == 0:
                    logs = 0.0
                    if is_wide or is_weighted:
                        for k in range(n):
                            beyond = max(score[partner + k] - score[i] - largest, 0.0)
                            logs += factors[1, 0, partner + k] * (np.log1p(odds[k]) + beyond)
                    else:
                        logs = _log_product(odds, n, lanes)
                    totals[q] += factors[0, 0, i] * logs
                while derivative < orders[place]:
                    derivative += 1
                    for k in range(n):
                        odds[k] *= share[k]
                for f in range(factors.shape[1] if orders[place] else 0):
                    factor = factors[0, f, i]
                    sums = items[1, place, f]
                    for k in range(n):
                        sums[partner + k] += factor * odds[k]
                    # Eight running totals, which the processor adds side by side.
                    lanes[:] = 0.0
                    whole = n - n % 8
                    others = factors[1, f]
                    for start in range(0, whole, 8):
                        for lane in range(8):
                            k = start + lane
                            lanes[lane] += others[partner + k] * odds[k]
                    for k in range(whole, n):
                        lanes[0] += others[partner + k] * odds[k]
                    items[0, place, f, i] += lanes.sum()


@compiled()
def _add(tree, column, level, amount):
    """Add an amount to the item of a binary indexed tree at a level from 0."""
    k = level + 1
    while k < tree.shape[0]:
        tree[k, column] += amount
        k += k & -k


@compiled()
def _below(tree, column, level):
    """Sum of the levels below one, of a binary indexed tree."""
    total = 0.0
    k = level
    while k > 0:
        total += tree[k, column]
        k -= k & -k
    return total


@compiled("void(f8[::1], i8[::1], f8[:, ::1], f8, i8[::1], f8[:, ::1], f8[:, ::1])")
def window_sums(s, level, payload, margin, offsets, worse, better):
    """Sums over the partners of each item whose order is wrong, or right by less than a margin.

    ``worse[i]`` sums the payload of the items of lower level with ``s_j + margin > s_i``, and
    ``better[j]`` that of the items of higher level with ``s_j + margin > s_i``, all of the same
    list, in O(n log n).
    """
    n_columns = payload.shape[1]
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        order = np.argsort(s[begin:end]) + begin
        n_levels = 0
        for i in range(begin, end):
            n_levels = max(n_levels, level[i] + 1)
        tree = np.zeros((n_levels + 1, n_columns))
        added = end - begin
        for k in range(end - begin - 1, -1, -1):
            i = order[k]
            while added > 0 and s[order[added - 1]] + margin > s[i]:
                added -= 1
                j = order[added]
                for column in range(n_columns):
                    _add(tree, column, level[j], payload[j, column])
            for column in range(n_columns):
                worse[i, column] = _below(tree, column, level[i])
        # The other way round, levels are counted from the highest.
        tree[:] = 0.0
        added = 0
        for k in range(end - begin):
            j = order[k]
            while added < end - begin and s[j] + margin > s[order[added]]:
                i = order[added]
                added += 1
                for column in range(n_columns):
                    _add(tree, column, n_levels - 1 - level[i], payload[i, column])
            for column in range(n_columns):
                better[j, column] = _below(tree, column, n_levels - 1 - level[j])
