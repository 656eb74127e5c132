"""What rankings from files have in common: their measures and samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from re import fullmatch, search
from typing import Any

from ..metrics import Measure, get_measure, get_measure_names
from ._errors import CommandError, did_you_mean, listed
from ._sample import Sample

__all__ = ["Rankings", "our_name", "read_measure"]

# Measures by their names in trec_eval.
OF_TREC_EVAL = {"map": "ap", "recip_rank": "rr", "mrr": "rr", "rprec": "r_precision"}
AT_K_OF_TREC_EVAL = {
    "p": "precision",
    "map_cut": "ap",
    "ndcg_cut": "ndcg",
    "recall": "recall",
    "success": "success",
}


class Rankings(ABC):
    """Scores by name, with the labels of what they rank."""

    names: tuple[str, ...]  # Columns of scores, or runs
    heading: str  # What was read, in one line
    described: dict[str, Any]  # The same for JSON
    notes: list[str]  # Sentences about the input
    is_one_list: bool  # Whether there are no queries

    @property
    @abstractmethod
    def usual_measures(self) -> tuple[str, ...]:
        """Measures that are taken where none is named; the first one for a comparison."""

    @abstractmethod
    def measure(self, name: str) -> Measure:
        """Read the name of a measure. The measure, by the convention that was asked for."""

    @abstractmethod
    def sample(self, measure: Measure, names: Sequence[str]) -> Sample:
        """Make the sample of some of the rankings. What the functions of inference take."""

    def named(self, name: str) -> str:
        """Find a ranking by what the user calls it. The name that it has here."""
        if name in self.names:
            return name
        raise CommandError(
            f"--baseline {name!r} is none of {listed(self.names)}{did_you_mean(name, self.names)}"
        )


def our_name(name: str) -> str:
    """Return the name of a measure that trec_eval calls otherwise; other names as they are."""
    lower = name.lower()
    if lower in OF_TREC_EVAL:
        return OF_TREC_EVAL[lower]
    parts = fullmatch(r"(p|map_cut|ndcg_cut|recall|success)[_.@]?(\d+)", lower)
    return f"{AT_K_OF_TREC_EVAL[parts[1]]}@{parts[2]}" if parts else name


def read_measure(name: str, convention: str | None) -> Measure:
    """Read the name of a measure."""
    try:
        measure = get_measure(name)
    except (TypeError, ValueError) as error:
        # The library knows other spellings too, such as those of scikit-learn.
        near = search(r"did you mean '([^']+)'", str(error))
        hint = f"; did you mean {near[1]!r}?" if near else did_you_mean(name, get_measure_names())
        raise CommandError(
            f"--measure: there is no measure {name!r}{hint or ';'} --list-measures prints all"
        ) from error
    if convention is None:
        return measure
    try:
        return get_measure(name, convention=convention)
    except TypeError:
        raise CommandError(
            f"--measure {name} has no --convention: leave out one of them"
        ) from None
    except ValueError as error:
        raise CommandError(f"--measure {name}: {error}") from error
