"""A log whose labels come late by definition: lists of rows, gone through one by one."""


def batches(rows, horizon, looks):
    """Numbers and labels of the rows that count at each look.

    ``rows`` are pairs of a time of entry and a time at which an event came, None if none did.
    """
    counted, found = set(), []
    for day in looks:
        numbers, labels = [], []
        for i, (entered, event) in enumerate(rows):
            if i in counted or day - entered < horizon:
                continue
            counted.add(i)
            numbers.append(i)
            labels.append(int(event is not None and event - entered <= horizon))
        found.append((numbers, labels))
    return found
