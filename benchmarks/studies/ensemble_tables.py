"""Values of an ensemble and its rivals on splits of data sets: stored, and compared over sets."""

import csv

import numpy as np
from measuring import format_table
from scipy import stats


def stored(results):
    if not results.is_file():
        return []
    with results.open(newline="") as lines:
        return list(csv.DictReader(lines))


def run(results, cells, values_of):
    """Store the rows of each pair of a set and a split that is not stored yet."""
    for data_set, number in cells:
        name = data_set[1]
        if (name, str(number)) in {(row["set"], row["split"]) for row in stored(results)}:
            continue
        rows = list(values_of(data_set, number))
        is_new = not results.is_file()
        with results.open("a", newline="") as lines:
            writer = csv.DictWriter(lines, rows[0], lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerows(rows)
        print(name, number, flush=True)


def tables(rows, measures):
    """Print what the ensemble gains over each other method, a set counting once."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    sets = list(dict.fromkeys(row["set"] for row in rows))
    table = []
    for measure in measures:
        values = {
            method: [
                np.array(
                    [
                        float(row[measure])
                        for row in rows
                        if (row["set"], row["method"]) == (name, method)
                    ]
                )
                for name in sets
            ]
            for method in methods
        }
        results = {}
        for method in methods:
            if method == "ensemble":
                continue
            pairs = list(zip(values["ensemble"], values[method], strict=True))
            gains = np.array([np.mean(one - other) for one, other in pairs])
            results[method] = (
                gains,
                stats.ttest_1samp(gains, 0.0),
                sum(np.all(one < other) for one, other in pairs),
            )
        order = sorted(results, key=lambda method: results[method][1].pvalue)
        adjusted, most = {}, 0.0
        for place, method in enumerate(order):
            most = max(most, min(1.0, (len(order) - place) * results[method][1].pvalue))
            adjusted[method] = most
        for method, (gains, test, n_worse) in results.items():
            limits = test.confidence_interval()
            table.append(
                {
                    "measure": measure,
                    "less": method,
                    "gain": gains.mean(),
                    "low": limits.low,
                    "high": limits.high,
                    "p": adjusted[method],
                    "better": f"{np.mean(gains > 0):.2f}",
                    "worse": n_worse,
                }
            )
    print(f"{len(sets)} sets, {len(rows) // len(methods)} splits")
    columns = ("measure", "less", "gain", "low", "high", "p", "better", "worse")
    formats = {"gain": ".4f", "low": ".4f", "high": ".4f", "p": ".4f"}
    print(format_table(table, [(name, name, formats.get(name, "")) for name in columns]))
    seconds = {
        method: np.mean([float(row["seconds"]) for row in rows if row["method"] == method])
        for method in methods
    }
    print("seconds:", {method: round(float(value), 1) for method, value in seconds.items()})
