"""A back-test by its definition: a loop over periods and rows, with times as numbers of days."""

from math import floor


def label(y, entered, resolved, horizon):
    """1 if the event of a row came within the horizon; without times of it, what ``y`` says."""
    if resolved is None:
        return y
    return y if resolved == resolved and resolved - entered <= horizon else 0


def periods(entered, *, period, horizon, start, as_of, train_for=None):
    """Start, training rows and tested rows of each period in which a mature row entered."""
    found, begin = [], start
    while begin <= max(entered):
        train, test = [], []
        for row, time in enumerate(entered):
            if time + horizon <= begin and (
                train_for is None or time >= begin - horizon - train_for
            ):
                train.append(row)
            if begin <= time < begin + period and time + horizon <= as_of:
                test.append(row)
        if test:
            found.append((begin, train, test))
        begin = begin + period
    return found


def values_of_lists(fit, value_of, X, y, entered, *, per, start, as_of, horizon, **options):
    """Value of each list, by the time at which it begins, and its period.

    ``fit(X, y)`` returns a function that scores rows, ``value_of(labels, scores)`` the value of
    one list. A list is left out if one of its rows is not mature.
    """
    found = []
    options |= {"start": start, "as_of": as_of, "horizon": horizon}
    for begin, train, test in periods(entered, **options):
        score = fit([X[row] for row in train], [y[row] for row in train])
        lists = {}
        for row in test:
            lists.setdefault(start + floor((entered[row] - start) / per) * per, []).append(row)
        for first, rows in sorted(lists.items()):
            inside = [time for time in entered if first <= time < first + per]
            if all(time + horizon <= as_of for time in inside):
                labels, scores = [y[row] for row in rows], score([X[row] for row in rows])
                found.append((begin, first, value_of(labels, scores)))
    return found
