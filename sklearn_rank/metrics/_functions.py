"""Metric functions: their common options are declared, documented and passed on here once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from math import inf
from typing import Any, TypedDict, TypeVar

from ._conventions import Convention
from ._measure import Average, Measure, Undefined, Value

Function = TypeVar("Function", bound=Callable[..., Any])

# The function of each measure that has one, in the order of import.
FUNCTIONS: dict[type[Measure], Callable[..., Value]] = {}


class ListOptions(TypedDict, total=False):
    """Options of all metric functions."""

    qid: Any
    query_weight: Any
    average: Average
    undefined: Undefined | None
    return_qid: bool
    pos_label: Any


class WeightedOptions(ListOptions, total=False):
    """Options if items have weights."""

    sample_weight: Any


class BinaryOptions(WeightedOptions, total=False):
    """Options if the labels are two classes."""

    rel: float | None


class ConventionOptions(BinaryOptions, total=False):
    """Options if other systems have their own rules."""

    convention: Convention | None


class RelevantOptions(ConventionOptions, total=False):
    """Options if relevant items may be missing from the rows."""

    n_relevant: Any
    ideal: Any


def _common(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
    n_relevant: Any = None,
    ideal: Any = None,
    convention: Convention | None = None,
) -> Value:
    """
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        {labels}
        In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        {weights}
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {{"mean"}} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {{"skip", "raise"}}, float or None, default=None
        {undefined}
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        {pos_label}
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two
        classes{rel}.
    n_relevant : int, array-like or mapping, default=None
        Number of relevant items of each list, including those that are not among the rows. Pass a
        number for one list; else one number per row, equal for all rows of a list, or a mapping
        from the ids of the lists. None assumes that the rows contain all relevant items.
    ideal : array-like or mapping, default=None
        Relevances of all relevant items of each list, an alternative to ``n_relevant``; those of
        at least ``rel`` count. Pass an array for one list; else a mapping from the ids of the
        lists, or in two dimensions one array per row.
    convention : {{{systems}}}, default=None
        System whose value to reproduce. A conflicting parameter raises an error.
    """


_WEIGHTS = {
    "real": """Non-negative weights, read as repetitions: weight 2 counts an item twice. The scale
    changes the value, and weights between 0 and 1 raise an error.""",
    "whole": """Non-negative whole weights, read as repetitions: weight 2 counts an item twice.
    The scale changes the value.""",
    "relative": "Non-negative weights of the items. Only their proportions matter.",
}
_MISTAKES = {
    "int": "is not a whole number",
    "int | None": "is neither None nor a whole number",
    "bool": "is neither True nor False",
}
_COMMON = signature(_common).parameters
_TEXT = cleandoc(_common.__doc__ or "")
_OF_CALL = signature(Measure.__call__).parameters.keys()


def function_of(
    measure: type[Measure], *variants: type[Measure]
) -> Callable[[Function], Function]:
    """Decorator: makes a function of its name, its own parameters and its docstring.

    The measure supplies the value and the common parameters; a function of several measures has a
    body that selects one. An entry that the docstring has under Parameters, Raises or Warns
    replaces the common one, and keeps its type if it states none.
    """

    def complete(function: Function) -> Function:
        completed: Any = function
        if not variants:

            @wraps(function)
            def completed(*args: Any, **options: Any) -> Value:
                function(*args, **options)  # an error if a required argument is missing
                return evaluate(measure, *args, **options)

        completed.__signature__ = _signature(function, measure)
        if function.__doc__:
            completed.__doc__ = _docstring(completed, measure)
        for variant in (measure, *variants):
            variant.function = function.__name__
            FUNCTIONS[variant] = completed
        return completed

    return complete


def evaluate(measure: type[Measure], y_true: Any, y_score: Any, **options: Any) -> Value:
    """Value of the measure that the options set; those of its call are passed on to it."""
    signed: Any = FUNCTIONS[measure]
    for name in options:
        if name not in signed.__signature__.parameters:
            raise TypeError(f"{measure.function}() got an unexpected keyword argument {name!r}")
    parameters = {name: options.pop(name) for name in options.keys() - _OF_CALL}
    return measure(**parameters)(y_true, y_score, **options)


def _signature(function: Function, measure: type[Measure]) -> Signature:
    """Labels and scores, the parameters of the measure, then the common ones."""
    declared = signature(function)
    absent = {
        "sample_weight": measure.weights == "none",
        "rel": measure.kind == "graded",
        "n_relevant": "n_relevant" not in measure.takes_relevant,
        "ideal": "ideal" not in measure.takes_relevant,
        "convention": not measure.conventions,
    }
    common = [parameter for name, parameter in _COMMON.items() if not absent.get(name)]
    parameters = [
        parameter
        for name, parameter in declared.parameters.items()
        if name not in _COMMON and parameter.kind is not Parameter.VAR_KEYWORD
    ]
    return declared.replace(parameters=[*common[:2], *parameters, *common[2:]])


def _docstring(function: Any, measure: type[Measure]) -> str:
    """The whole docstring, in numpydoc's order of sections."""
    text = cleandoc(function.__doc__)
    head, *parts = re.split(r"^(\w[\w ]+)\n-+\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    parameters = function.__signature__.parameters
    entries = _entries(_TEXT.format_map(_phrases(measure)))
    for name, entry in _entries(sections.pop("Parameters", "")).items():
        typed, _, description = entry.partition("\n")
        if " : " not in typed:
            typed = entries[name].partition("\n")[0]
        entries[name] = f"{typed}\n{description}"
    may_lack = measure.lacking != Measure.lacking
    conflicts = " or conflicts with ``convention``" if measure.conventions else ""
    lacks = ', or if a list is undefined\n    and ``undefined="raise"``' if may_lack else ""
    raises = {"ValueError": f"ValueError\n    If an argument is invalid{conflicts}{lacks}."}
    mistakes = [
        f"``{name}`` {_MISTAKES[parameter.annotation]}"
        for name, parameter in parameters.items()
        if name not in _COMMON and parameter.annotation in _MISTAKES
    ]
    if mistakes:
        raises["TypeError"] = f"TypeError\n    If {', or '.join(mistakes)}."
    warns = {}
    if may_lack:
        warns["UndefinedMetricWarning"] = (
            "UndefinedMetricWarning\n    If lists are undefined; one warning with their number."
        )
    composed = {
        "Parameters": [entries[name] for name in parameters],
        "Returns": [sections.pop("Returns").rstrip()],
        "Raises": [*(raises | _entries(sections.pop("Raises", ""))).values()],
        "Warns": [*(_entries(sections.pop("Warns", "")) | warns).values()],
    }
    for name, section in composed.items():
        if section:
            head += "\n".join([name, "-" * len(name), *section]) + "\n\n"
    head += "".join(f"{name}\n{'-' * len(name)}\n{body}" for name, body in sections.items())
    return head.rstrip() + "\n"


def _entries(section: str) -> dict[str, str]:
    """Text of each entry of a section by its name."""
    entries = re.findall(r"^\S.*(?:\n[ \n].*)*", section, flags=re.MULTILINE)
    return {entry.split(" : ")[0].split("\n")[0]: entry.rstrip() for entry in entries}


def _phrases(measure: type[Measure]) -> dict[str, str]:
    """What the common parameters mean to the measure."""
    binary, conventions = measure.kind == "binary", measure.conventions
    counts = measure.undefined_counts
    default = f'"{counts}"' if isinstance(counts, str) else f"{counts:g}"
    if conventions:
        default += ", or with ``convention`` the rule of that system"
    undefined = "Has no effect: the measure is defined for every list."
    if measure.lacking != Measure.lacking:
        undefined = (
            f'How a list counts that has {measure.lacking}: "skip" leaves it out of the\n    mean'
            ' (its own value is NaN), "raise" raises an error, a number is its value. None is\n   '
            f" {default}."
        )
    labels = "Labels of two classes."
    if not binary:
        above = "" if measure.lowest == -inf else f" and at least {measure.lowest:g}"
        labels = f"Relevance of the items, finite{above}."
    rel = any(rules.relevant is not None for rules in conventions.values())
    return {
        "labels": labels,
        "weights": _WEIGHTS.get(str(measure.weights), ""),
        "undefined": undefined,
        "pos_label": (
            "Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}."
            if binary
            else "Class that has relevance 1, if ``y_true`` holds labels of two classes. None"
            " expects\n    relevances."
        ),
        "rel": ", or with ``convention`` applies the threshold of that system" if rel else "",
        "systems": ", ".join(f'"{name}"' for name in conventions),
    }
