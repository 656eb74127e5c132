"""Which columns of a table hold what: by options, usual names, telling names, or values."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Mapping, Sequence

import numpy as np

from .._typing import FloatArray
from .._validation import has_commas
from ._output import CommandError, did_you_mean, flag, listed
from ._table import Column

# Columns of labels that are found without --label.
LABELS = ("label", "y_true", "relevance")

# Words in names of columns that tell an option, or none; the first line with such a word counts.
WORDS = {
    "inclusion_probability": "inclusion",
    "strata": "stratum strata",
    "weight": "weight weights",
    "score": "score scores scorecard points prob proba probability pred prediction predicted hat"
    " logit",
    "label": "label labels true truth target y class grade rel relevance outcome click clicked"
    " converted conversion fraud churn default defaulted active activity affinity ic",
    "qid": "qid query queries topic srch search",
    "groups": "user patient customer client account person member household session visitor",
    "amount": "amount amounts price prices revenue cost costs",
    "id": "id ids",
}
MAX_UNNAMED = 2  # Columns without a telling name that are taken as scores; more may be features


class Roles:
    """Columns of each option: those that it or usual names tell, then those that are guessed."""

    def __init__(self, options: Namespace) -> None:
        self.options = options
        self.found: list[str] = []  # What was guessed, and why

    def find(self, header: list[str]) -> bool:
        """Find columns of usual names. Whether there are labels and scores."""
        self.header = header
        self.names: dict[str, list[str]] = {
            "label": [name for name in LABELS if name in header],
            "qid": ["qid"] * ("qid" in header and not self.options.one_list),
            "groups": [],
            "score": [x for x in header if x in ("score", "y_score") or x.startswith("score_")],
        }
        for role, names in self.names.items():
            given = getattr(self.options, role)
            self.names[role] = ([given] if isinstance(given, str) else given) or names
            check_columns(self.names[role], header)
        return bool(self.names["label"] and self.names["score"])

    def guess_all(self, columns: Mapping[str, Column]) -> None:
        for role in list(self.names):
            if not self.names[role] and not (role == "qid" and self.options.one_list):
                self.guess(role, columns)

    def guess(self, role: str, columns: Mapping[str, Column]) -> bool:
        """Take columns for an option by telling names, or else by their values, if there are."""
        used = set().union(*self.names.values())
        roles = {name: role_of(name) for name in columns if name not in used}
        names, way = [name for name, told in roles.items() if told == role], "name"
        if not names:
            way = f"values alone: pass {flag(role)} if it is another"
            unnamed = [columns[name] for name, told in roles.items() if not told]
            names = [column.name for column in unnamed if has_values_of(role, column)]
        check_columns(names, self.header)
        if not names:
            return False
        floats = [columns[name].floats for name in names * (role == "score")]
        numbers = [x for x in floats if x is not None]
        kinds = {is_whole(x) for x in numbers} if "values" in way else set[bool]()
        if len(names) > (MAX_UNNAMED if role == "score" else 1) or len(kinds) > 1:
            features = " (a feature is none: add the scores of a model)" * (role == "score")
            what = f"{listed(names)} could each be {flag(role)}{features}: pass it"
            raise CommandError(what, {role: names if len(kinds) > 1 else names[0]})
        if len(numbers) > 1 and np.allclose(np.sum(numbers, axis=0), 1.0):
            what = f"{listed(names)} add up to 1, as probabilities of all classes"
            what = f"{what}: pass that of the positive one by --score"
            raise CommandError(what, {role: names[-1]})
        if role == "groups":
            of_query = [columns[name].codes.codes for name in self.names["qid"]]
            pairs = np.unique([*of_query, columns[names[0]].codes.codes], axis=1).T
            several = of_query and len(pairs) > len(np.unique(of_query))
            if several or columns[names[0]].n_distinct == 1:
                why = "a query has several" if several else "all rows are of one"
                self.found.append(f"{names[0]!r}: not used as --groups: {why}.")
                return False
            way += ": pass --qid if each has a list of its own"
        self.names[role] = names
        setattr(self.options, role, names if role == "score" else names[0])
        self.found.append(f"{listed(names)}: taken as {flag(role)}, by {way}.")
        return True


def role_of(name: str) -> str:
    """The option that a name tells; that of ids has no other word, as ``query_length`` has."""
    words = {word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)}
    for role, telling in WORDS.items():
        known = words & set(telling.split())
        if known and (known == words - {"id"} or role not in ("qid", "groups")):
            return role
    return ""


def has_values_of(role: str, column: Column) -> bool:
    """Whether a column without a telling name may be one of labels or scores."""
    if role == "score" and column.floats is None and column.counts:
        return all(map(has_commas, column.counts))  # which is an error with its mend
    if role == "score" and column.floats is not None and not column.n_missing:
        ids = column.n_distinct == 2 or bool((np.diff(column.floats) >= 0.0).all())
        return not (is_whole(column.floats) and ids)
    return role == "label" and column.n_distinct == 2


def is_whole(numbers: FloatArray) -> bool:
    return bool((numbers == np.round(numbers)).all())


def check_columns(names: Sequence[str], header: Sequence[str]) -> None:
    for name in names:
        if name not in header:
            raise CommandError(
                f"there is no column {name!r}{did_you_mean(name, header) or ';'}"
                f" the columns are {listed(header)}"
            )
        if (count := header.count(name)) > 1:
            raise CommandError(f"{count} columns are called {name!r}: rename them")
