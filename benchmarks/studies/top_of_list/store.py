"""The values of every split, kept as text: what is there is not computed again."""

import csv
import warnings

from measuring import RESULTS

from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import precision_at_top_score, tpr_at_fpr_score

TAUS = (0.01, 0.05, 0.1, 0.19)
RATES = (0.001, 0.01, 0.05)
CHOSEN_AT = (0, 0, 1)  # the tau whose C is used at each rate
MEASURES = [f"P@{tau:.0%}" for tau in TAUS] + [f"TPR@{rate:g}" for rate in RATES]
COSTS = [f"C@{tau:.0%}" for tau in TAUS]
KEYS = ["set", "kind", "split", "method"]
SIZES = ["n_train", "n_test", "share"]
COLUMNS = [*KEYS, *SIZES, *MEASURES, *COSTS, "seconds"]


def values_of(y, scores):
    """The measures of test scores, one array of them for each tau."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallTopWarning)
        precision = [
            precision_at_top_score(y, score, tau=tau)
            for tau, score in zip(TAUS, scores, strict=True)
        ]
    rates = zip(RATES, CHOSEN_AT, strict=True)
    found = precision + [tpr_at_fpr_score(y, scores[at], max_fpr=rate) for rate, at in rates]
    return dict(zip(MEASURES, found, strict=True))


class Store:
    """A CSV file of results by set, split and method.

    Parameters
    ----------
    name : str
        Of the file in ``results/``, without its ending.
    """

    def __init__(self, name):
        self.path = RESULTS / f"{name}.csv"
        self.rows = {}
        if self.path.is_file():
            with open(self.path, newline="") as lines:
                self.rows = {self.key(row): row for row in csv.DictReader(lines)}

    @staticmethod
    def key(row):
        """What a row is found by."""
        return row["set"], int(row["split"]), row["method"]

    def has(self, data_set, number, base):
        """Whether the family of a method is there for a split."""
        return (data_set.name, number, base) in self.rows

    def add(self, data_set, number, split, results, seconds):
        """Measure and keep the test scores of a family's methods."""
        for method, (scores, costs, _) in results.items():
            row = {"set": data_set.name, "kind": data_set.kind, "split": number, "method": method}
            row |= {"n_train": len(split.y), "n_test": len(split.y_test), "share": split.share}
            row |= values_of(split.y_test, scores)
            row |= dict(zip(COSTS, costs, strict=True))
            row["seconds"] = seconds
            self.rows[self.key(row)] = {key: as_text(value) for key, value in row.items()}
        self.write()

    def write(self):
        """Write all rows, in an order that does not depend on when they were computed."""
        with open(self.path, "w", newline="") as lines:
            writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows[key] for key in sorted(self.rows))


def as_text(value):
    """Six digits of a number."""
    return f"{value:.6g}" if isinstance(value, float) else value
