"""Results of each method for each set and repeat. Stored results are not repeated."""

import csv
import json

import numpy as np
from measuring import RESULTS

KEYS = ("set", "hidden", "repeat", "method")
COLUMNS = (*KEYS, "tau", "seconds", "chosen", "folds")
DIGITS = 5


class Store:
    """A CSV file with a line for each set, share of hidden labels, repeat and method.

    ``folds`` has the mean tau of each fold in units of 1e-5; ``chosen`` what was chosen in each
    of them; ``seconds`` the CPU time of choosing, fitting and predicting in all of them.
    """

    path = RESULTS / "label_ranking.csv"

    def __init__(self):
        self.rows = {}
        self.read()

    def read(self):
        """Take what is in the file, where another process may have added lines."""
        if self.path.is_file():
            with open(self.path, newline="") as lines:
                self.rows |= {
                    tuple(row[key] for key in KEYS): row for row in csv.DictReader(lines)
                }

    @staticmethod
    def key(row):
        """What a line is found by."""
        return tuple(row[name] for name in KEYS)

    def has(self, *key):
        """Whether a line is there."""
        return tuple(map(str, key)) in self.rows

    def folds(self, data_set, hidden, method, repeats):
        """Taus of the folds of all repeats that are there, or None."""
        keys = [(data_set, str(hidden), str(repeat), method) for repeat in range(repeats)]
        found = [self.rows[key]["folds"].split() for key in keys if key in self.rows]
        return np.concatenate(found).astype(float) / 10**DIGITS if found else None

    def seconds(self, data_set, hidden, method, repeats):
        """CPU seconds of a fold, in the mean."""
        keys = [(data_set, str(hidden), str(repeat), method) for repeat in range(repeats)]
        rows = [self.rows[key] for key in keys if key in self.rows]
        return np.sum([float(row["seconds"]) for row in rows]) / sum(
            len(row["folds"].split()) for row in rows
        )

    def add(self, key, taus, chosen, seconds):
        """Keep what a method gave."""
        row = dict(zip(KEYS, map(str, key), strict=True))
        row |= {"tau": f"{np.mean(taus):.5f}", "seconds": f"{seconds:.3g}"}
        row["chosen"] = json.dumps(chosen) if any(chosen) else ""
        row["folds"] = " ".join(f"{tau * 10**DIGITS:.0f}" for tau in taus)
        self.read()
        self.rows[self.key(row)] = row
        self.write()

    def write(self):
        """Write all lines, in an order that does not depend on when they were computed."""
        with open(self.path, "w", newline="") as lines:
            writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows[key] for key in sorted(self.rows))
