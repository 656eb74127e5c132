"""The rounds of a top-focused ranker, from the definition."""

import numpy as np


def place_from_top(scores, weight):
    """Share of the mass above each row, tied rows sharing theirs."""
    total = sum(weight)
    return [
        (
            sum(w for s, w in zip(scores, weight, strict=True) if s > score)
            + sum(w for s, w in zip(scores, weight, strict=True) if s == score) / 2
        )
        / total
        for score in scores
    ]


def weights(scores, weight, rate, floor):
    """Weights of the next round; ``rate`` is what a place is worth, by its share from the top."""
    rates = [rate(share) for share in place_from_top(scores, weight)]
    focused = [w * max(floor, r / max(rates)) for w, r in zip(weight, rates, strict=True)]
    return [w * sum(weight) / sum(focused) for w in focused]


def standard(scores, reference, weight):
    """Standard scores by the weighted mean and deviation of a reference."""
    mean = np.average(reference, weights=weight)
    deviation = np.average((reference - mean) ** 2, weights=weight) ** 0.5
    return (scores - mean) / deviation


def rounds(fit, scores_of, X, y, weight, rate, floor, n_rounds):
    """The fits, first to last."""
    models = [fit(X, y, weight)]
    for _ in range(n_rounds):
        last = scores_of(models[-1], X)
        models.append(fit(X, y, np.array(weights(last, weight, rate, floor))))
    return models
