"""Compiled sums over pairs: the logistic loss, and windows of scores by sorting."""

from __future__ import annotations

import numpy as np

from .._jit import compiled

# Odds exp(s_j - s_i) are quotients of exponentials taken once an item, where all scores of a list
# lie within this range, and a product of up to 32 of them within float64 where it is narrow.
WIDE = 600.0
NARROW = 20.0

# Lists of up to this many items are summed pair by pair; in longer ones vectors of all partners of
# an item are worth their overhead.
SHORT = 32


@compiled()
def _longest(offsets):
    longest = 0
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    return longest


@compiled()
def _exponentials(s, begin, end, e):
    """Fill in exponentials about the middle of the list; return the range of the scores."""
    low, high = s[begin], s[begin]
    for i in range(begin, end):
        low = min(low, s[i])
        high = max(high, s[i])
    middle = 0.5 * (low + high)
    for i in range(begin, end):
        e[i - begin] = np.exp(s[i] - middle)
    return high - low


@compiled()
def _total(values, n):
    """Sum with eight running totals, which the processor adds side by side."""
    totals = np.zeros(8)
    whole = n - n % 8
    for start in range(0, whole, 8):
        for lane in range(8):
            totals[lane] += values[start + lane]
    for k in range(whole, n):
        totals[0] += values[k]
    return totals.sum()


@compiled()
def _log_product(odds, n, lanes):
    """Sum of log(1 + odds), of 32 of them at a time."""
    total = 0.0
    start = 0
    while start < n:
        stop = min(start + 256, n)
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


@compiled()
def _short_value(w, a, start, begin, end, e, gradient):
    """Value of a short list, of scores within the narrow range and items that count once.

    A pair of items that are partners of each other is taken once for its gradient.
    """
    total = 0.0
    for i in range(begin, end):
        a_i, b, e_i = a[i], start[i], e[i - begin]
        if a_i == 0.0 or b == end:
            continue
        inverse = 1.0 / e_i
        product = 1.0
        for j in range(b, end):
            product *= 1.0 + e[j - begin] * inverse
        misordered = np.log(product)
        both = b <= i
        if both:
            misordered -= np.log(2.0)
        total += a_i * misordered
        pull = 0.0
        for j in range(i + 1 if both else b, end):
            e_j = e[j - begin]
            a_j = a[j] if both else 0.0
            slope = (a_i * e_j - a_j * e_i) / (e_i + e_j)
            gradient[j] += slope
            pull += slope
        gradient[i] -= pull
    return total


@compiled("void(f8[::1], f8[::1], f8[::1], i8[::1], i8[::1], b1, f8[::1], f8[::1])")
def logistic_value(s, w, a, start, offsets, is_weighted, values, gradient):
    """Value and gradient of ``sum_i w_i a_i sum_j w_j log(1 + exp(s_j - s_i))``.

    Item j runs from ``start[i]`` to the end of the list of i, and where i is among them it does
    not count against itself. ``is_weighted`` says whether a weight differs from 1.
    """
    longest = _longest(offsets)
    e, odds, chance = np.empty(longest), np.empty(longest), np.empty(longest)
    lanes = np.empty(8)
    gradient[:] = 0.0
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        width = _exponentials(s, begin, end, e)
        if end - begin <= SHORT and width <= NARROW and not is_weighted:
            values[q] = _short_value(w, a, start, begin, end, e, gradient)
            continue
        total = 0.0
        for i in range(begin, end):
            c = w[i] * a[i]
            b, n = start[i], end - start[i]
            if c == 0.0 or n == 0:
                continue
            if width <= WIDE:
                e_i = e[i - begin]
                inverse = 1.0 / e_i
                for k in range(n):
                    e_j = e[b - begin + k]
                    odds[k] = e_j * inverse
                    chance[k] = e_j / (e_i + e_j)
            else:
                for k in range(n):
                    odds[k] = np.exp(s[b + k] - s[i])
                    chance[k] = 1.0 / (1.0 + np.exp(s[i] - s[b + k]))
            if is_weighted:
                for k in range(n):
                    chance[k] *= w[b + k]
            if is_weighted or width > NARROW:
                for k in range(n):
                    excess = s[b + k] - s[i]
                    if excess > 0.0:
                        odds[k] = (excess + np.log1p(np.exp(-excess))) * w[b + k]
                    else:
                        odds[k] = np.log1p(odds[k]) * w[b + k]
                misordered = _total(odds, n)
            else:
                misordered = _log_product(odds, n, lanes)
            if b <= i:
                misordered -= np.log(2.0)
            total += c * misordered
            for k in range(n):
                gradient[b + k] += c * chance[k]
            gradient[i] -= c * _total(chance, n)
        values[q] = total


@compiled()
def _bends(s, w, e, width, i, b, n, begin, is_weighted, out):
    """Second derivatives of log(1 + exp(s_j - s_i)) for one item i, times the weights of j."""
    if width <= WIDE:
        e_i = e[i - begin]
        for k in range(n):
            e_j = e[b - begin + k]
            total = e_i + e_j
            out[k] = e_i * e_j / (total * total)
    else:
        for k in range(n):
            small = np.exp(-abs(s[b + k] - s[i]))
            out[k] = small / ((1.0 + small) * (1.0 + small))
    if is_weighted:
        for k in range(n):
            out[k] *= w[b + k]


@compiled()
def _short_hessian(w, a, start, begin, end, e, direction, product):
    """Product of the Hessian of a short list of scores within the wide range.

    A pair of items that are partners of each other is taken once.
    """
    for i in range(begin, end):
        a_i, b, e_i = a[i], start[i], e[i - begin]
        if w[i] * a_i == 0.0 or b == end:
            continue
        both = b <= i
        total = 0.0
        for j in range(i + 1 if both else b, end):
            e_j = e[j - begin]
            e_sum = e_i + e_j
            a_j = a[j] if both else 0.0
            bend = w[i] * w[j] * (a_i + a_j) * (e_i / e_sum) * (e_j / e_sum)
            bend *= direction[i] - direction[j]
            product[j] -= bend
            total += bend
        product[i] += total


@compiled("void(f8[::1], f8[::1], f8[::1], i8[::1], i8[::1], b1, f8[::1], f8[::1])")
def logistic_hessian(s, w, a, start, offsets, is_weighted, direction, product):
    """Product of the Hessian of :func:`logistic_value` with a direction."""
    longest = _longest(offsets)
    e, bend = np.empty(longest), np.empty(longest)
    product[:] = 0.0
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        width = _exponentials(s, begin, end, e)
        if end - begin <= SHORT and width <= WIDE:
            _short_hessian(w, a, start, begin, end, e, direction, product)
            continue
        for i in range(begin, end):
            c = w[i] * a[i]
            b, n = start[i], end - start[i]
            if c == 0.0 or n == 0:
                continue
            _bends(s, w, e, width, i, b, n, begin, is_weighted, bend)
            for k in range(n):
                bend[k] *= c * (direction[i] - direction[b + k])
            for k in range(n):
                product[b + k] -= bend[k]
            product[i] += _total(bend, n)


@compiled()
def _chances(s, e, width, i, b, n, begin, up, down):
    """Chances that the partners j of item i are above it, e_j / (e_i + e_j), and below it."""
    if width <= WIDE:
        e_i = e[i - begin]
        for k in range(n):
            e_j = e[b - begin + k]
            share = 1.0 / (e_i + e_j)
            up[k] = e_j * share
            down[k] = e_i * share
    else:
        for k in range(n):
            excess = s[b + k] - s[i]
            small = np.exp(-abs(excess))
            share = 1.0 / (1.0 + small)
            up[k] = share if excess > 0.0 else small * share
            down[k] = small * share if excess > 0.0 else share


@compiled("void(f8[::1], f8[::1], f8[::1], i8[::1], i8[::1], b1, f8[::1], f8[::1])")
def logistic_derivatives(s, w, a, start, offsets, is_weighted, gradient, diagonal):
    """Gradient and diagonal of the Hessian of :func:`logistic_value`, in one pass.

    Where an item is among its own partners, all are, and the coefficients fall along the list:
    each pair is then taken once, with both coefficients.
    """
    longest = _longest(offsets)
    e, up, down = np.empty(longest), np.empty(longest), np.empty(longest)
    gradient[:] = 0.0
    diagonal[:] = 0.0
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        width = _exponentials(s, begin, end, e)
        for i in range(begin, end):
            a_i, both = a[i], start[i] <= i
            b = i + 1 if both else start[i]
            n = end - b
            if w[i] * a_i == 0.0 or n == 0:
                continue
            _chances(s, e, width, i, b, n, begin, up, down)
            if both:
                for k in range(n):
                    above, below, a_j = up[k], down[k], a[b + k]
                    up[k] = a_i * above - a_j * below
                    down[k] = (a_i + a_j) * (above * below)
            else:
                for k in range(n):
                    down[k] = a_i * (up[k] * down[k])
                    up[k] *= a_i
            if is_weighted:
                for k in range(n):
                    up[k] *= w[i] * w[b + k]
                    down[k] *= w[i] * w[b + k]
            for k in range(n):
                gradient[b + k] += up[k]
                diagonal[b + k] += down[k]
            gradient[i] -= _total(up, n)
            diagonal[i] += _total(down, n)


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
