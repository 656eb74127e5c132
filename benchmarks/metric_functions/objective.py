"""The judge: values of the measures, from their definitions and with no code of the package."""

import numpy as np
from benchmark_utils.measures import EMPTY, QUERIES, SINGLE, labels
from benchmark_utils.reference import list_values, sort_lists
from benchopt import BaseObjective

# Difference, relative to values above 1, up to which a value is the same.
ROUNDING = 1e-11


class Objective(BaseObjective):
    """One measure on one data set; ``value`` is how far a peer's result is from the reference."""

    name = "Metric functions"
    url = "https://github.com/sklearn-rank/sklearn-rank"
    min_benchopt_version = "1.6"
    requirements = ["numpy", "scipy"]

    parameters = {"measure": [*SINGLE, *QUERIES]}
    test_config = {"measure": "auc", "dataset": {"name": "single_list"}}

    def skip(self, grades, score, qid, offsets):
        """Measures of queries need queries, the others one list."""
        one_list = qid is None and score.ndim == 1
        if one_list == (self.measure in SINGLE):
            return False, None
        return True, f"{self.measure} is for {'queries' if one_list else 'one list'}"

    def set_data(self, grades, score, qid, offsets):
        """Keep the data; the reference is computed when the first value comes to be judged."""
        self.y, self.score = labels(self.measure, grades), score
        self.qid, self.offsets = qid, offsets
        self.expected = self.per_query = None

    def get_objective(self):
        """Return what a peer may see.

        ``offsets`` tells where queries begin, if their rows stand together.
        """
        return {
            "measure": self.measure,
            "y_true": self.y,
            "y_score": self.score,
            "qid": self.qid,
            "offsets": self.offsets,
        }

    def get_one_result(self):
        """Return the right value."""
        self.find_reference()
        return {"found": self.expected}

    def find_reference(self, orders=None):
        """Compute the value that counts as right, and that of each query.

        Returns the orders of the lists, for the next measure of the same data.
        """
        y, score, offsets = self.y.ravel(), self.score.ravel(), self.offsets
        if self.qid is None and offsets is None:
            offsets = np.array([0, len(y)])
        elif offsets is None:
            rows = np.argsort(self.qid, kind="stable")
            y, score, qid = y[rows], score[rows], self.qid[rows]
            offsets = np.flatnonzero(np.concatenate([[True], qid[1:] != qid[:-1], [True]]))
        if orders is None:
            orders = sort_lists(score, offsets)
        values = list_values(self.measure, y, offsets, orders)
        if self.measure in SINGLE:
            self.expected = float(values[0])
        else:
            self.per_query = values
            self.expected = mean_over_queries(self.measure, values)
        return orders

    def evaluate_result(self, found, per_query=None):
        """Compare a value with the reference; NaN stands for a peer that computes something else.

        ``per_query`` are the values of the single queries, from a peer that gives them; they are
        compared as well, where both have one.
        """
        if self.expected is None:
            self.find_reference()
        found = float(found)
        scale = max(1.0, abs(self.expected))
        difference = found - self.expected
        report = {
            "value": abs(difference) / scale,
            "found": found,
            "expected": self.expected,
            "difference": difference,
            "largest_per_query": 0.0,
        }
        if per_query is not None:
            both = np.isfinite(per_query) & np.isfinite(self.per_query)
            errors = np.abs(per_query - self.per_query)[both]
            report["largest_per_query"] = float(errors.max(initial=0.0))
            report["value"] = max(report["value"], report["largest_per_query"] / scale)
        report["right"] = float(report["value"] <= ROUNDING)
        return report


def mean_over_queries(measure, values):
    """Mean in which queries without a value count what is agreed, or nothing."""
    if measure in EMPTY:
        values = np.where(np.isnan(values), EMPTY[measure], values)
    return float(np.nanmean(values))
