"""Results of each method for each set and seed. Stored results are not repeated."""

import csv
import json

import numpy as np
from measuring import RESULTS

KEYS = ("set", "seed", "method")
COLUMNS = (*KEYS, "ndcg10", "seconds", "chosen", "queries")
DIGITS = 4


class Store:
    """A CSV file with a line for each set, seed and method.

    ``queries`` has NDCG@10 of all queries with a relevant row in the order of the set, each tested
    in its fold, in units of 1e-4; ``chosen`` the parameters of each fold; ``seconds`` the CPU time
    of choosing and fitting in all folds.
    """

    path = RESULTS / "query_rankers.csv"

    def __init__(self):
        self.rows = {}
        self.read()

    def read(self):
        """Take what is in the file, where another process may have added lines."""
        if self.path.is_file():
            with open(self.path, newline="") as lines:
                self.rows |= {self.key(row): row for row in csv.DictReader(lines)}

    @staticmethod
    def key(row):
        """What a line is found by."""
        return row["set"], int(row["seed"]), row["method"]

    def chosen(self, data_set, seed, method):
        """The parameters that a method chose in each fold, or None."""
        row = self.rows.get((data_set, seed, method))
        return row and json.loads(row["chosen"])

    def values(self, data_set, seed, method):
        """NDCG@10 of the queries, or None."""
        row = self.rows.get((data_set, seed, method))
        return row and np.array(row["queries"].split(), float) / 10**DIGITS

    def add(self, data_set, seed, method, values, chosen, seconds):
        """Keep what a method gave."""
        row = dict(zip(KEYS, (data_set, seed, method), strict=True))
        row |= {"ndcg10": f"{np.mean(values):.6f}", "seconds": f"{seconds:.1f}"}
        row["chosen"] = json.dumps(chosen)
        row["queries"] = " ".join(f"{value * 10**DIGITS:.0f}" for value in values)
        self.read()
        self.rows[self.key(row)] = row
        self.write()

    def write(self):
        """Write all lines, in an order that does not depend on when they were computed."""
        with open(self.path, "w", newline="") as lines:
            writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows[key] for key in sorted(self.rows))
