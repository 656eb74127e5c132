"""Which columns of a table hold what: by options, usual names, telling names, or values."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Mapping, Sequence

import numpy as np

from ._output import CommandError, did_you_mean, flag, listed
from ._table import Column

# Columns of labels that are found without --label.
LABELS = ("label", "y_true", "relevance")

# Words in names of columns that tell an option; the first one that has such a word counts.
WORDS = {
    "inclusion_probability": "inclusion",
    "strata": "stratum strata",
    "": "weight weights",
    "score": "score scores prob proba probability pred prediction predicted hat logit",
    "label": "label labels true truth target y class grade rel relevance outcome click clicked"
    " converted conversion fraud churn",
    "qid": "qid query queries topic srch search",
    "groups": "user patient customer client account person member household session visitor",
}
MAX_UNNAMED = 9  # Columns without a telling name that are taken as scores


def usual_columns(header: Sequence[str], options: Namespace) -> dict[str, list[str]]:
    """Columns that options or usual names tell, of each option to guess."""
    usual = {
        "label": [name for name in LABELS if name in header],
        "qid": ["qid"] * ("qid" in header and not options.one_list),
        "groups": [],
        "score": [x for x in header if x in ("score", "y_score") or x.startswith("score_")],
    }
    for role, names in usual.items():
        given = getattr(options, role)
        usual[role] = ([given] if isinstance(given, str) else given) or names
        check_columns(usual[role], header)
    return usual


def guess_columns(
    taken: dict[str, list[str]],
    options: Namespace,
    columns: Mapping[str, Column],
    header: Sequence[str],
    found: list[str],
) -> None:
    """Take the columns that are not known yet, and write down what was taken."""
    for role in taken:
        if not taken[role] and not (role == "qid" and options.one_list):
            taken[role] = guess(role, taken, options, columns, header, found)


def guess(
    role: str,
    taken: Mapping[str, list[str]],
    options: Namespace,
    columns: Mapping[str, Column],
    header: Sequence[str],
    found: list[str],
) -> list[str]:
    """Take columns for an option by telling names, or else by their values."""
    used = set().union(*taken.values())
    roles = {name: role_of(name) for name in columns if name not in used}
    names, way = [name for name, told in roles.items() if told == role], "name"
    if not names:
        way = f"values alone: pass {flag(role)} if it is another"
        unnamed = [columns[name] for name, told in roles.items() if not told]
        names = [column.name for column in unnamed if has_values_of(role, column)]
    check_columns(names, header)
    if len(names) > (MAX_UNNAMED if role == "score" else 1):
        features = " (a feature is none: add the scores of a model)" * (role == "score")
        what = f"{listed(names)} could each be {flag(role)}{features}: pass it"
        raise CommandError(what, {role: names[0]})
    floats = [columns[name].floats for name in names * (role == "score")]
    numbers = [x for x in floats if x is not None]
    if len(numbers) > 1 and np.allclose(np.sum(numbers, axis=0), 1.0):
        what = f"{listed(names)} add up to 1, as probabilities of all classes"
        raise CommandError(f"{what}: pass that of the positive one by --score", {role: names[-1]})
    if role == "groups" and names:
        way += ": pass --qid if each has a list of its own"
        groups = columns[names[0]].codes.codes
        of_query = [columns[name].codes.codes for name in taken["qid"]]
        several = len(np.unique([*of_query, groups], axis=1).T) > len(np.unique(of_query))
        if columns[names[0]].n_distinct == 1 or (of_query and several):
            why = "a query has several" if of_query and several else "all rows are of one"
            found.append(f"{names[0]!r}: not used as --groups: {why}.")
            return []
    if names:
        setattr(options, role, names if role == "score" else names[0])
        found.append(f"{listed(names)}: taken as {flag(role)}, by {way}.")
    return names


def role_of(name: str) -> str:
    """The option that a name tells; that of ids has no other word, as ``query_length`` has."""
    words = {word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)} - {"id"}
    for role, telling in WORDS.items():
        known = words & set(telling.split())
        if known and (known == words or role not in ("qid", "groups")):
            return role
    return ""


def has_values_of(role: str, column: Column) -> bool:
    """Whether a column without a telling name may be one of labels or scores."""
    if role == "score" and column.floats is not None and not column.n_missing:
        return bool(np.any(column.floats != np.round(column.floats)))
    return role == "label" and column.n_distinct == 2


def check_columns(names: Sequence[str], header: Sequence[str]) -> None:
    for name in names:
        if name not in header:
            raise CommandError(
                f"there is no column {name!r}{did_you_mean(name, header) or ';'}"
                f" the columns are {listed(header)}"
            )
        if (count := header.count(name)) > 1:
            raise CommandError(f"{count} columns are called {name!r}: rename them")
