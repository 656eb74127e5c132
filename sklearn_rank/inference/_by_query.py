"""What single queries say of a comparison: those that moved most, and how many would decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy.optimize import brentq
from scipy.special import ndtr

from .._optional import import_pandas
from .._printed import Printed, Table, fixed

# Probability with which a larger sample is to decide.
POWER = 0.8


@dataclass(frozen=True, repr=False)
class QueryDifferences(Printed):
    """Queries on which two rankers differ most, the largest difference first.

    Parameters
    ----------
    measure : str
        Name of the measure.
    names : tuple of (str, str)
        Names of the rankers.
    queries : tuple
        Ids of the queries.
    values : tuple of (float, float)
        Value of each ranker on each query.
    differences : tuple of float
        First value minus second, none of them 0.
    n_queries : int
        Number of queries that were compared.

    See Also
    --------
    Comparison.moved : Finds them.

    Examples
    --------
    >>> from sklearn_rank.inference import compare
    >>> y_true = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> scores = {
    ...     "new": [[3, 2, 1], [2, 3, 1], [3, 2, 1]],
    ...     "old": [[3, 2, 1], [3, 2, 1], [3, 1, 2]],
    ... }
    >>> print(compare("rr", y_true, scores).moved())
    rr, the 2 of 3 queries that differ most
    query     new     old  difference
    1      1.0000  0.5000     +0.5000
    2      0.3333  0.5000     -0.1667
    """

    measure: str
    names: tuple[str, str]
    queries: tuple[Any, ...]
    values: tuple[tuple[float, float], ...]
    differences: tuple[float, ...]
    n_queries: int

    def __len__(self) -> int:
        return len(self.queries)

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each query.

        Returns
        -------
        pandas.DataFrame
            The index holds the ids; the columns are the values of the rankers, and difference.
        """
        pandas = import_pandas("to_frame", "read queries, values and differences")
        rows = [(*pair, x) for pair, x in zip(self.values, self.differences, strict=True)]
        index = pandas.Index(self.queries, name="query")
        return pandas.DataFrame(rows, index=index, columns=[*self.names, "difference"])

    def _table(self) -> Table:
        rows = [
            (query, *map(fixed, pair), fixed(x, sign=True))
            for query, pair, x in zip(self.queries, self.values, self.differences, strict=True)
        ]
        title = f"{self.measure}, the {len(self)} of {self.n_queries:,} queries that differ most"
        return title, ("query", *self.names, "difference"), rows


def growth_to_decide(difference: float, error: float, half: float, margin: float) -> float:
    """Find the factor by which a sample must grow for its limits to decide.

    With the probability ``POWER``, if the difference is the true one; ``half`` is the half width
    of the limits. They decide if both are within the margin, or 0 is outside: not for estimates D
    with ``margin - half <= |D| <= half``, of which there are none once half is below margin / 2.
    """
    difference = abs(difference)

    def undecided(scale: float) -> float:
        far = half * scale
        near = max(margin - far, 0.0)
        if near >= far:
            return 0.0
        below = ndtr([(x - difference) / (error * scale) for x in (near, far, -far, -near)])
        return float(below[1] - below[0] + below[3] - below[2])

    # Where the limits are some standard errors beyond what they must be to decide.
    least = max(difference / (half + 5.0 * error), margin / (2.0 * half))
    if least == 0.0:
        return float("inf")
    if least >= 1.0 or undecided(1.0) <= 1.0 - POWER:
        return 1.0
    scale = brentq(lambda x: undecided(x) - (1.0 - POWER), least, 1.0)
    return float(scale**-2)
