"""Report of a search: the choice and its guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from .._printed import Printed, fixed
from ..bounds import Bound
from ..inference import Interval

__all__ = ["WITHIN_NOISE", "SelectionReport"]

WITHIN_NOISE = "within_noise"

ARBITRARY = "the choice among them is arbitrary."


@dataclass(frozen=True, repr=False)
class SelectionReport(Printed):
    """Report of a search by bounds: the choice, its guarantee and the target of the guarantee.

    Parameters
    ----------
    measure : str
        Name of the measure.
    of_queries : bool
        Whether the measure is a mean over queries instead of a value of one list.
    candidate : int
        Index of the chosen candidate.
    params : dict
        Parameters of the chosen candidate.
    shown : str
        Parameters of the chosen candidate as text, after the name of the estimator if there are
        several.
    rule : str
        Rule of the choice.
    n_candidates : int
        Number of candidates; the guarantee covers all of them.
    n_parts : int
        Number of held-out parts.
    counts : str
        Description of the number of items in the held-out parts.
    fewest : str
        Description of the number of items that the guarantee depends on.
    value : float
        Mean of the measure of the chosen candidate over the held-out parts.
    lower : float
        Lower limit for ``target``, at ``delta`` for all candidates together.
    target : str
        The quantity to which the limit applies.
    bound : Bound or None
        The theorem behind the limit; None if it is asymptotic.
    interval : Interval
        Asymptotic interval for the same quantity, simultaneous over the candidates.
    may_be_best : tuple of int
        Candidates that a simultaneous paired test, which is asymptotic, does not distinguish from
        the best.
    covers_best_estimator : bool
        Whether ``target`` is a quantity of ``best_estimator_``.
    remark : str
        Sentence that describes ``best_estimator_`` and whether the limit applies to it.
    chance : float or None, default=None
        Value of the measure for a random order; None if it is unknown.
    least : float, default=-inf
        Smallest value that the measure can have.
    overlap : bool, default=False
        Whether some of the parts share items.

    See Also
    --------
    BoundSearchCV : Search that returns the report.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import BoundSearchCV
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> search = BoundSearchCV(
    ...     LogisticRegression(max_iter=1000),
    ...     {"C": [0.01, 1.0]},
    ...     refit=False,
    ...     random_state=0,
    ... ).fit(X, y)
    >>> search.report_.covers_best_estimator
    True
    """

    measure: str
    of_queries: bool
    candidate: int
    params: dict[str, Any]
    shown: str
    rule: str
    n_candidates: int
    n_parts: int
    counts: str
    fewest: str
    value: float
    lower: float
    target: str
    bound: Bound | None
    interval: Interval
    may_be_best: tuple[int, ...]
    covers_best_estimator: bool
    remark: str
    chance: float | None = None
    least: float = -inf
    overlap: bool = False

    def __str__(self) -> str:
        return "\n".join(
            [self._chosen(), *self._guaranteed(), self._in_the_limit(), *self._others()]
        )

    def _chosen(self) -> str:
        reason = "its lower limit is the largest"
        if self.rule == WITHIN_NOISE:
            reason = "it is the simplest that does not differ significantly from the best"
        parts = "one held-out part" if self.n_parts == 1 else f"{self.n_parts} held-out parts"
        scored = f"{self.measure} of one list"
        if self.of_queries:
            scored = f"mean {self.measure} over queries"
        shared = " that share items" if self.overlap else ""
        chosen = f"Chosen from {self.n_candidates} candidates: {self.shown}, because {reason}."
        if self.n_candidates == 1:
            chosen = f"One candidate: {self.shown}."
        return f"{chosen}\nScored by the {scored} on {parts}{shared}: {self.counts}."

    def _guaranteed(self) -> list[str]:
        """Return the lines on the guarantee, which holds for every distribution."""
        if self.bound is None:
            lines = [
                "Guaranteed: nothing; the following limits are asymptotic, for many"
                f" {'queries' if self.of_queries else 'rows'}."
            ]
        else:
            why = f"{_counted(self.n_candidates)} and {self.fewest}"
            seen = f"{fixed(self.value)} observed, minus {fixed(self.bound.value)} for {why}"
            said = f"on new data the {self.target} is at least {fixed(self.lower)} ({seen})."
            if self.lower <= self.least:
                said = f"nothing ({seen}, excludes no value)."
            lines = [
                f"Guaranteed ({100 * (1 - self.bound.delta):.4g} %): {said}",
                self.bound.proof,
            ]
        if self.chance is not None and self.lower <= self.chance:
            lines.append(f"A model that ranks at random ({self.chance:.3g}) is not ruled out.")
        return lines

    def _in_the_limit(self) -> str:
        """Return the line on the asymptotic interval."""
        low, high, level = self.interval.low, self.interval.high, self.interval.level
        if self.bound is None:
            said = f"on new data the {self.target} is at least {fixed(self.lower)}"
            said += f" ({fixed(self.value)} observed), and between {fixed(low)} and {fixed(high)}"
        else:
            said = f"it is between {fixed(low)} and {fixed(high)}"
        choice = "" if self.n_candidates == 1 else ", whichever candidate was chosen"
        return f"Asymptotically ({100 * level:.4g} %, {self.interval.method}): {said}{choice}."

    def _others(self) -> list[str]:
        """Return the lines on the other candidates and on ``best_estimator_``."""
        stay, n = self.may_be_best, self.n_candidates
        if n == 1:
            return [self.remark]
        if self.candidate not in stay:
            worse = n - len(stay)
            found = f"It is significantly worse than the best, as are {worse} of {n} candidates."
        elif len(stay) == 1:
            found = "All other candidates are significantly worse."
        else:
            found = f"{len(stay)} of {n} candidates do not differ significantly from the best; "
            simplest = self.rule == WITHIN_NOISE
            found += "the simplest of them was chosen." if simplest else ARBITRARY
        return [found, self.remark]


def _counted(n_candidates: int) -> str:
    return "1 candidate" if n_candidates == 1 else f"{n_candidates} candidates"
