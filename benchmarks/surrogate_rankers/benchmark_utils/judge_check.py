"""The judge against LETOR's published values of OHSUMED's features, each used alone."""

from benchmark_utils.data import data_file, read
from benchmark_utils.letor import METRICS, PARTS, of_queries, read_single_features

CLOSE = 1e-5


def run(quick=False):
    """Yield the table of differences.

    Raises
    ------
    SystemExit
        If a value differs by more than 1e-5: then no other number here is LETOR's.
    """
    published = read_single_features(data_file("ohsumed_letor2_single_features.csv").parent)
    X, grade, qid = read([f"ohsumed_S{part}" for part in PARTS], 25)
    worst = dict.fromkeys(METRICS, 0.0)
    for feature in range(X.shape[1]):
        values = of_queries(grade, X[:, feature], qid).mean(axis=0)
        for metric, value in zip(METRICS, values, strict=True):
            difference = abs(value - published[feature + 1, metric])
            worst[metric] = max(worst[metric], float(difference))
    furthest = max(worst, key=worst.get)
    rows = [{"values": len(published), "largest": worst[furthest], "metric": furthest}]
    columns = [
        ("values", "values compared", "d"),
        ("largest", "largest difference", ".1e"),
        ("metric", "of", ""),
    ]
    yield None, "Single features of OHSUMED, ours and LETOR's", rows, columns
    if not rows[0]["largest"] <= CLOSE:
        raise SystemExit("The judge does not repeat LETOR's values.")
