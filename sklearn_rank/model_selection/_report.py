"""What a search found, and what of it is guaranteed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._printed import Printed
from ..bounds import Bound
from ..inference import Interval

__all__ = ["SelectionReport"]


@dataclass(frozen=True, repr=False)
class SelectionReport(Printed):
    """What a search by bounds found, and what is guaranteed of which quantity.

    Parameters
    ----------
    measure : str
        Name of the measure.
    candidate : int
        Index of the candidate that was chosen.
    params : dict
        Its parameters.
    rule : str
        How it was chosen.
    n_candidates : int
        Number of candidates, all of which the guarantee covers.
    n_parts : int
        Number of held-out parts.
    counts : str
        Number of items in them.
    value : float
        Mean over the parts of the measure of the chosen candidate.
    lower : float
        Lower limit for ``target``, at ``delta`` for all candidates together.
    target : str
        The quantity that is limited.
    bound : Bound or None
        The theorem behind the limit; None if it is asymptotic.
    interval : Interval
        Asymptotic interval for the same quantity, simultaneous over the candidates.
    may_be_best : tuple of int
        Candidates that a simultaneous paired test cannot tell from the best, in the limit.
    covers_best_estimator : bool
        Whether ``target`` is about ``best_estimator_``.
    remark : str
        What is known of ``best_estimator_``, in words.
    chance : float or None, default=None
        Value that an order at random is expected to have, where that is known.
    overlap : bool, default=False
        Whether some of the parts share items.

    See Also
    --------
    BoundSearchCV : Makes it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import BoundSearchCV
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> search = BoundSearchCV(LogisticRegression(max_iter=1000), {"C": [0.01, 1.0]},
    ...                        refit=False, random_state=0).fit(X, y)
    >>> search.report_.covers_best_estimator
    True
    """

    measure: str
    candidate: int
    params: dict[str, Any]
    rule: str
    n_candidates: int
    n_parts: int
    counts: str
    value: float
    lower: float
    target: str
    bound: Bound | None
    interval: Interval
    may_be_best: tuple[int, ...]
    covers_best_estimator: bool
    remark: str
    chance: float | None = None
    overlap: bool = False

    def __str__(self) -> str:
        parts = "one held-out part" if self.n_parts == 1 else f"{self.n_parts} held-out parts"
        parts += " that share items" if self.overlap else ""
        lines = [
            f"{self.measure} of {self.n_candidates} candidates on {parts} ({self.counts})",
            f"chosen by {self.rule}: candidate {self.candidate}, {self.params}",
            f"  {self.value:.4f}, lower limit {self.lower:.4f} for the {self.target}",
        ]
        if self.bound is None:
            lines.append("guaranteed: nothing, the limit is asymptotic (max-t)")
        else:
            lines.append("guaranteed: " + str(self.bound).replace("\n", "\n  "))
            if self.chance is not None and self.lower <= self.chance:
                lines.append("  which does not exclude that it is no better than chance")
        lines += [
            f"asymptotic: {self.interval}",
            f"may be the best, asymptotically: {len(self.may_be_best)} of {self.n_candidates}",
            f"best_estimator_: {self.remark}",
        ]
        return "\n".join(lines)
