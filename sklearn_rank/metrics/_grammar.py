"""Grammar of measures: makes a measure from a name, an object or a function."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np

from ._auc import AUCMeasure, MultiClassAUCMeasure
from ._functions import FUNCTIONS
from ._linear_rank import LinearRankMeasure
from ._measure import Measure
from ._score_generating import ScoreGeneratingFunction

# Types that are accepted as a measure.
MeasureLike: TypeAlias = str | Measure | ScoreGeneratingFunction | Callable[..., Any]


# The smallest relevant grade, after the name of a measure of two classes.
_LEVEL = re.compile(r"(?P<name>.*)\(rel>=(?P<rel>-?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?)\)")

# Aliases of measures; a measure shows its own name, not the alias.
_ALIASES = {
    "average_precision": "ap",
    "hit_rate": "success",
    "kendall": "tau_b",
    "mrr": "rr",
    "roc_auc": "auc",
}

# Names that raise an error, with the function of the measure that they mean.
_SPELLINGS = {
    "auc_score": "roc_auc_score",
    "auroc": "roc_auc_score",
    "kendalltau": "tau_b_score",
    "map": "average_precision_score",
    "pr_auc": "average_precision_score",
    "precision": "precision_at_k_score",
    "recall": "recall_at_k_score",
    "spearmanr": "spearman_score",
}


def get_measure(measure: MeasureLike, **parameters: Any) -> Measure:
    """Get a ranking measure from its name, a metric function or an object.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        A name is one of :func:`get_measure_names`, where the number shown can be replaced by
        another position, share in (0, 1) or positive number (``"bedroc@20"``, ``"pnorm@4"``). For
        measures of two classes the smallest relevant grade may follow: ``"ap@10(rel>=2)"``.
        ``"mrr"``, ``"hit_rate@10"``, ``"kendall"``, ``"roc_auc"`` and ``"average_precision"`` are
        aliases of ``"rr"``, ``"success@10"``, ``"tau_b"``, ``"auc"`` and ``"ap"``. A measure is
        returned as it is. A score-generating function gives its linear rank statistic, scaled so
        that the worst order has 0 and the best 1. A callable must be a function of this module,
        such as ``ndcg_score``.
    **parameters : dict
        Other parameters of the measure, such as ``gain="linear"`` or ``convention="letor"``.

    Returns
    -------
    Measure
        The measure.

    Raises
    ------
    ValueError
        If there is no measure of this name, or a parameter is invalid.
    TypeError
        If the measure has no such parameter, if its name sets the parameter already, or if
        ``measure`` has another type.

    See Also
    --------
    make_measure : Makes a measure from your own function.
    get_scorer : Makes a scorer for cross-validation and searches.

    Examples
    --------
    >>> from sklearn_rank.metrics import get_measure, ndcg_score
    >>> get_measure("ndcg@10", gain="linear").name
    "ndcg@10(gain='linear')"
    >>> get_measure(ndcg_score, k=10) == get_measure("ndcg@10")
    True

    For graded labels, set the smallest relevant grade:

    >>> get_measure("ap(rel>=2)")([2, 1, 3, 0], [4.0, 3.0, 2.0, 1.0]).__round__(4)
    0.8333
    """
    if isinstance(measure, Measure):
        _check_known(type(measure), parameters)
        is_default = measure.undefined == measure._default_undefined
        if "convention" in parameters and "undefined" not in parameters and is_default:
            # Undefined lists then count by the rule of the system.
            parameters = {**parameters, "undefined": None}
        return replace(measure, **parameters) if parameters else measure
    if isinstance(measure, ScoreGeneratingFunction):
        if "phi" in parameters:
            raise TypeError(
                f"phi={parameters['phi']!r} was passed with {measure!r}, which is a"
                " score-generating function too: leave out one of the two."
            )
        return _made(LinearRankMeasure, {**parameters, "phi": measure})
    if isinstance(measure, str):
        return _named(measure, parameters)
    for measure_type, function in FUNCTIONS.items():
        if function is measure:
            return _made(measure_type, parameters)
    if callable(measure) and not isinstance(measure, type):
        raise TypeError(
            f"measure={measure!r} is not a function of sklearn_rank.metrics: for your own function"
            " pass make_measure(function, ...)."
        )
    description = repr(measure)
    if len(description) > 60:
        description = f"{type(measure).__name__} of length {np.asarray(measure).size}"
    raise TypeError(
        f"measure={description} must be the name of a measure, such as 'ndcg@10', a Measure, a"
        " ScoreGeneratingFunction or a function of sklearn_rank.metrics: pass the measure first,"
        " then labels and scores."
    )


def _named(name: str, parameters: dict[str, Any]) -> Measure:
    if (level := _LEVEL.fullmatch(name)) is not None:
        if "rel" in parameters:
            raise TypeError(
                f"rel={parameters['rel']!r} is already set by the name {name!r}: leave out one of"
                " the two."
            )
        return _named(level["name"], {**parameters, "rel": float(level["rel"])})
    text, (bare, *at_number) = name, name.partition("@")
    name = "".join([_ALIASES.get(bare, bare), *at_number])
    for measure in _named_measures():
        number = measure._number
        if name == measure.stem and (number is None or number.optional):
            return _made(measure, parameters)
        if number is None:
            continue
        prefix = measure.stem + ("@" if number.optional else "")
        if name.startswith(prefix):
            try:
                settings = number.settings(name.removeprefix(prefix))
            except ValueError:
                continue
            for parameter in settings.keys() & parameters.keys():
                raise TypeError(
                    f"{parameter}={parameters[parameter]!r} is already set by the name {text!r}:"
                    " leave out one of the two."
                )
            return _made(measure, {**settings, **parameters})
    names = get_measure_names()
    function = _SPELLINGS.get(name.lower(), name.lower())
    close = get_close_matches(name.lower(), names, n=1)
    for measure in _named_measures():
        if function in (measure.function, measure.function.rpartition("_")[0]):
            close = _examples(measure)
            break
    hint = f"did you mean {close[0]!r}? Names" if close else "names"
    raise ValueError(
        f"{text!r} is not the name of a measure: {hint} are {names}, where the number shown can"
        " be replaced by another position (1 or more) or share in (0, 1), or by a positive number"
        " for bedroc, negative_height_loss, pnorm and rie; two limits of the partial AUC are"
        " 'partial_auc@fpr0.3tpr0.7', and '(rel>=2)' after the name sets the smallest relevant"
        " grade."
    )


def _named_measures() -> list[type[Measure]]:
    """Measures that have a name: those of the functions of this package, once it is imported."""
    return [measure for measure in FUNCTIONS if measure.has_name]


def _examples(measure: type[Measure]) -> list[str]:
    """Its names, with an example of the number."""
    number = measure._number
    if number is None:
        return [measure.stem]
    if number.optional:
        return [measure.stem, f"{measure.stem}@{number.example}"]
    return [measure.stem + number.example]


def _made(measure: type[Measure], parameters: dict[str, Any]) -> Measure:
    if measure is AUCMeasure and parameters.get("multi_class") is not None:
        measure = MultiClassAUCMeasure
    _check_known(measure, parameters)
    for parameter in fields(measure):
        if parameter.default is MISSING and parameter.name not in parameters:
            raise TypeError(
                f"{measure.function} needs {parameter.name}: pass get_measure({measure.function},"
                f" {parameter.name}=...)."
            )
    return measure(**parameters)


def _check_known(measure: type[Measure], parameters: dict[str, Any]) -> None:
    known = measure.settable or tuple(sorted(field.name for field in fields(measure)))
    if measure.kind == "graded":
        known = tuple(name for name in known if name != "rel")
    for name in parameters:
        if name not in known:
            raise TypeError(
                f"{measure.function or measure.__name__} has no parameter {name!r} to set: it has"
                f" {', '.join(known)}; pass weights, ids and pos_label with the labels and scores."
            )


def get_measure_names() -> list[str]:
    """Return the names of all measures, with an example number if a name needs one.

    Returns
    -------
    list of str
        Sorted names that :func:`get_measure` takes.

    See Also
    --------
    get_measure : Makes a measure from a name.

    Examples
    --------
    >>> from sklearn_rank.metrics import get_measure_names
    >>> get_measure_names()[:3]
    ['accuracy_loss@top0.05', 'ap', 'ap@10']
    """
    return sorted({name for measure in _named_measures() for name in _examples(measure)})
