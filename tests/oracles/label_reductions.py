"""What is learned of labels, by counting; grades are lists, None where a label is missing."""


def share_below(grades, label):
    """Share of the other labels of a row that are below one, ties half."""
    others = [g for i, g in enumerate(grades) if i != label and g is not None]
    own = grades[label]
    return sum((g < own) + (g == own) / 2 for g in others) / len(others)


def has_order(grades):
    return len({g for g in grades if g is not None}) > 1


def mean_shares(rows, weights):
    """Weighted mean share of each label over the rows that have it and an order."""
    means = []
    for label in range(len(rows[0])):
        taken = [
            (weight, share_below(grades, label))
            for grades, weight in zip(rows, weights, strict=True)
            if has_order(grades) and grades[label] is not None
        ]
        means.append(sum(w * v for w, v in taken) / sum(w for w, _ in taken))
    return means


def share_above(rows, weights, first, second):
    """Weighted share of the rows with one label above another, among those that order them."""
    above = below = 0
    for grades, weight in zip(rows, weights, strict=True):
        one, two = grades[first], grades[second]
        if one is None or two is None or one == two:
            continue
        above += weight * (one > two)
        below += weight * (one < two)
    return above / (above + below) if above + below else 1 / 2


def votes(rows, weights, *, hard):
    """Scores of labels from the shares of pairs, the same for every row."""
    labels = range(len(rows[0]))
    scores = []
    for i in labels:
        shares = [share_above(rows, weights, i, j) for j in labels if j != i]
        mean = sum(shares) / len(shares)
        count = sum((share > 1 / 2) + (share == 1 / 2) / 2 for share in shares)
        scores.append(count + mean / 3 if hard else mean)
    return scores


def items(X, rows):
    """Features, relevance and query of each label of each row that has an order."""
    features, relevance, query = [], [], []
    for number, (x, grades) in enumerate(zip(X, rows, strict=True)):
        if not has_order(grades):
            continue
        levels = sorted({g for g in grades if g is not None})
        for label, grade in enumerate(grades):
            if grade is not None:
                features.append([*x, *(float(label == i) for i in range(len(grades)))])
                relevance.append(levels.index(grade))
                query.append(number)
    return features, relevance, query
