"""The values of every split, stored as text. Stored values are not computed again."""

import csv
import warnings

from measuring import RESULTS
from sklearn.metrics import average_precision_score

from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import precision_at_top_score, roc_auc_score, tpr_at_fpr_score

TAUS = (0.01, 0.05, 0.1, 0.19)
RATES = (0.001, 0.01, 0.05)
CHOSEN_AT = (0, 0, 1)  # the tau whose C is used at each rate
MEASURES = [f"P@{tau:.0%}" for tau in TAUS] + [f"TPR@{rate:g}" for rate in RATES]
COSTS = [f"C@{tau:.0%}" for tau in TAUS]
KEYS = ["set", "kind", "split", "method"]
SIZES = ["n_train", "n_test", "share"]
# The same with measures of the whole order, each with a choice of its own.
FAMILY_GOALS = (*TAUS, "AP", "AUC")
FAMILY_RATES = (0.01, 0.1)
FAMILY_CHOSEN_AT = (0, 3)


def values_of(y, scores, rates=RATES, chosen_at=CHOSEN_AT):
    """The measures of test scores, one array for each tau; a rate takes that of ``chosen_at``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallTopWarning)
        precision = [
            precision_at_top_score(y, score, tau=tau)
            for tau, score in zip(TAUS, scores, strict=False)
        ]
    found = dict(zip(MEASURES, precision, strict=False))
    for rate, at in zip(rates, chosen_at, strict=True):
        found[f"TPR@{rate:g}"] = tpr_at_fpr_score(y, scores[at], max_fpr=rate)
    return found


def family_values_of(y, scores):
    """The measures of test scores, one array of them for each goal."""
    return values_of(y, scores, FAMILY_RATES, FAMILY_CHOSEN_AT) | {
        "AP": average_precision_score(y, scores[-2]),
        "AUC": roc_auc_score(y, scores[-1]),
    }


class Store:
    """A CSV file of results by set, split and method.

    Parameters
    ----------
    name : str
        Of the file in ``results/``, without its ending.
    """

    measures, costs, more = MEASURES, COSTS, []
    values_of = staticmethod(values_of)

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
        for method, (scores, costs, _, *more) in results.items():
            row = {"set": data_set.name, "kind": data_set.kind, "split": number, "method": method}
            row |= {"n_train": len(split.y), "n_test": len(split.y_test), "share": split.share}
            row |= {"n_features": split.X.shape[1], "positives": split.y.mean()}
            row |= self.values_of(split.y_test, scores)
            row |= dict(zip(self.costs, costs, strict=True))
            for counts in more:
                row |= counts
            row["seconds"] = seconds
            self.rows[self.key(row)] = {key: as_text(value) for key, value in row.items()}
        self.write()

    def write(self):
        """Write all rows, in an order that does not depend on when they were computed."""
        with open(self.path, "w", newline="") as lines:
            columns = [*KEYS, *SIZES, *self.more, *self.measures, *self.costs, "seconds"]
            writer = csv.DictWriter(lines, columns, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows[key] for key in sorted(self.rows))


class FamilyStore(Store):
    """The same for the family: other measures, the kind of set, and what became of the fits."""

    measures = [*MEASURES[: len(TAUS)], *(f"TPR@{rate:g}" for rate in FAMILY_RATES), "AP", "AUC"]
    costs = [*COSTS, "C@AP", "C@AUC"]
    more = ["n_features", "positives", "fits", "collapsed", "unfinished"]
    values_of = staticmethod(family_values_of)


def as_text(value):
    """Six digits of a number."""
    return f"{value:.6g}" if isinstance(value, float) else value
