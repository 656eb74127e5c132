"""Measures from a name, an object, a function of this package or one of the user."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import MISSING, replace
from difflib import get_close_matches
from itertools import pairwise
from math import inf, nan
from typing import Any, TypeAlias

import numpy as np
from sklearn.metrics import get_scorer_names

from .._lists import Kind, Lists, ScoredLists
from .._typing import AnyArray, FloatArray
from .._validation import check_choice, check_flag, is_number
from ._conventions import PositionalForm
from ._influence import ClassInfluence
from ._linear_rank import LinearRankMeasure
from ._measure import FUNCTIONS, Measure, Undefined
from ._score_generating import ScoreGeneratingFunction

# Types that are accepted as a measure.
MeasureLike: TypeAlias = str | Measure | ScoreGeneratingFunction | Callable[..., Any]


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

    Notes
    -----
    Measures that have a name and no function, and what they take besides the labels and scores of
    all measures:

    - ``"gini"``: Gini coefficient of credit scoring (accuracy ratio, Somers' D), twice the AUC
      less 1.
    - ``"somers_d"``: Somers' D of numeric labels of any kind: of the pairs of rows whose labels
      differ, the share in the order of the labels less the share in the other order; pairs tied by
      score are in neither. ``"c_index"`` is ``(D + 1) / 2``, the concordance index of labels that
      are not censored. With two classes they are ``2 AUC - 1`` and the AUC, with ``qid`` their
      means over lists (GAUC).
    - ``"enrichment@0.01"``: enrichment factor (Truchon & Bayly 2007), the precision among the
      ``max(1, floor(tau * n + 1/2))`` items of the top ``tau``, divided by the share of positives.
      :func:`lift_score` counts the item at the cut in part instead. ``convention="rdkit"`` rounds
      ``tau * n`` up, keeps the order of tied rows, and counts a list without positives 0.
    - ``"negative_height_loss@4"``: loss of the p-norm push (Rudin 2009), ``(mean over negatives of
      (h / k)**p)**(1/p)``, h the number of the k positives below the negative; p is at least 1.
      At 1 it is one less the AUC, at ``"inf"`` the share of positives below the highest negative
      (infinite push). Ties are averaged inside the root.
    - ``"recall@top0.05"``: share of the positives in the top ``tau``, a whole number of items.
    - ``"precision@recall0.8"``: precision of the shortest top with that share of the positives,
      ``j / (j + F)``, j the least number of positives that is such a share and F the number of
      negatives above positive j: a step of the precision-recall curve. Ties are averaged in F.
    - ``"calibration@10"``: mean probability of the first k items less the share of positives among
      them, where 0 is calibrated and above it the probabilities are too high. Neither side of it
      is better, so that there is no scorer.
    - ``"top1"``: share of the lists whose first item has the highest relevance of the list.
    - ``"profit@10"``: sum of the amounts of the first k items. The labels are amounts, what an
      item brings if it is acted on, negative for a cost.
    - ``"profit@top0.05"``: mean amount of the items in the top ``tau``, a whole number of items.
    - ``"value_recall@10"``: share of the gains, the positive amounts, that the first k items hold.
    - ``"lorenz@0.1"``: share of the total of amounts of at least 0 that a share of the rows holds,
      those of the highest score; the row at the cut counts in part.
    - ``"insurance_gini"``: twice the area between this Lorenz curve and the diagonal (ordered
      Lorenz curve of Frees, Meyers & Cummings 2011, from the top). It is 0 for a random order, and
      not divided by that of the best order, which is the Gini coefficient of the amounts. With
      claims per unit of exposure as amounts, ``sample_weight`` is the exposure.
    - ``"uplift@10"``, ``"uplift@top0.05"``: sum of the effects of a treatment on the first k
      items, and their mean in the top ``tau``; the labels are those of :func:`effect_amounts`.
    - ``"qini"``, ``"auuc"``, ``"autoc"``: with M(u) the mean effect in the top u of the list,
      ``integral of u (M(u) - M(1)) du``, ``integral of u M(u) du`` and ``integral of M(u) - M(1)
      du`` from 0 to 1 (Yadlowsky et al. 2025, as in the R package grf). For "autoc" the integral
      is the mean over the first 1, ..., n items. They are in units of the effect and not
      normalised, as those of causalml and scikit-uplift may be.

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
        return _build_measure(LinearRankMeasure, {**parameters, "phi": measure})
    if isinstance(measure, str):
        return _parse_name(measure, parameters)
    for measure_type, function in FUNCTIONS.items():
        if measure is not None and function is measure:
            return _build_measure(measure_type, parameters)
    if callable(measure) and not isinstance(measure, type):
        if isinstance(of_scorer := getattr(measure, "measure", None), Measure):
            raise TypeError(
                f"measure={measure!r} is a scorer: pass the measure, measure={of_scorer.name!r}."
            )
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


def get_measures(measures: MeasureLike | Sequence[MeasureLike]) -> list[Measure]:
    """Measures of a list, in which a name may have several numbers, as ``"recall@10,25"``."""
    if isinstance(measures, list | tuple):
        found = [measure for one in measures for measure in get_measures(one)]
        if not found:
            raise ValueError("measure is an empty list: pass at least one measure.")
        return found
    if isinstance(measures, str):
        return list(map(get_measure, names_of(measures)))
    return [get_measure(measures)]  # type: ignore[arg-type]


def names_of(name: str) -> list[str]:
    """Names of measures, one for each of the numbers in a name, as in trec_eval."""
    several = re.fullmatch(r"(.*?)([0-9.]+(?: *, *[0-9.]+)+)(\(rel>=.*\))?", name)
    if several is None:
        return [name]
    head, numbers, tail = several.groups(default="")
    return [head + number.strip() + tail for number in numbers.split(",")]


def measure_at(measure: MeasureLike, at: Any = None) -> Measure:
    """Measure of a name without its number, such as "recall@top", at a number; None is any."""
    if not isinstance(measure, str):
        found = get_measure(measure)
        if found.in_name is None:
            raise ValueError(
                f"{found.name} has no number that could vary, so it has no curve: pass a measure"
                " such as 'precision@k', 'recall@top', 'lift' or 'tpr@fpr'."
            )
        return found if at is None else found._at(at)
    name, _, tail = measure.lower().partition("(")
    curves = {
        _prefix(x).rstrip("@") + ("@k" if x.in_name == "k" else ""): x
        for x in _named_measures()
        if x.in_name is not None
    }
    near = [curve for curve in curves if name in (curve, curve.partition("@")[0])]
    if len(near) == 1:
        number = curves[near[0]]._number.example if at is None else at  # type: ignore[union-attr]
        return get_measure(f"{_prefix(curves[near[0]])}{number}{tail and f'({tail}'}")
    near = near or get_close_matches(name.rstrip("0123456789."), curves, n=1, cutoff=0.0)
    raise ValueError(
        f"{measure!r} is not the name of one measure without its number: did you mean"
        f" {' or '.join(map(repr, near))}? Curves are of {', '.join(sorted(curves))}."
    )


def _parse_name(name: str, parameters: dict[str, Any]) -> Measure:
    # The smallest relevant grade may follow.
    pattern = r"(?P<name>.*)\(rel>=(?P<rel>-?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?)\)"
    level = re.fullmatch(pattern, name)
    bare = _own_name((level["name"] if level else name).lower())
    settings = {"rel": float(level["rel"])} if level else {}
    for measure in _named_measures():
        try:
            settings |= _settings_of(measure, bare)
        except ValueError:
            continue
        for parameter in settings.keys() & parameters.keys():
            raise TypeError(
                f"{parameter}={parameters[parameter]!r} is already set by the name {name!r}: leave"
                " out one of the two."
            )
        return _build_measure(measure, {**settings, **parameters})
    is_ours = any(measure.stem.partition("@")[0] == bare for measure in _named_measures())
    if name in get_scorer_names() and not is_ours:
        raise ValueError(
            f"{name!r} is scikit-learn's score of predicted labels or numbers, not of a ranking:"
            " pass 'auc', 'ap', 'precision@top0.1' or 'ndcg@10'."
        )
    if "," in bare or bare.endswith("@k"):
        raise ValueError(
            f"{name!r} is not the name of one measure: pass several numbers, as 'recall@10,25,50',"
            " to metric_interval or compare, and a name without its number, as 'recall@k', to"
            " inference.curve."
        )
    raise ValueError(
        f"{name!r} is not the name of a measure{_nearest(bare)} get_measure_names() lists all;"
        " 'partial_auc@fpr0.3tpr0.7' has two limits, and '(rel>=2)' after a name sets the smallest"
        " relevant grade."
    )


def _settings_of(measure: type[Measure], name: str) -> dict[str, Any]:
    """Parameters that a name of the measure sets; a ValueError if it is none."""
    number = measure._number
    if name == measure.stem and (number is None or number.optional):
        return {}
    if number is None or not name.startswith(_prefix(measure)):
        raise ValueError(name)
    value = number.read(name.removeprefix(_prefix(measure)))
    return value if number.parameter is None else {number.parameter: value}


def _prefix(measure: type[Measure]) -> str:
    return measure.stem + ("@" if measure._number and measure._number.optional else "")


def _own_name(name: str) -> str:
    """Replace the name of a measure in trec_eval, ranx, RDKit or scikit-learn."""
    if of_trec := re.fullmatch(r"(p|map_cut|ndcg_cut|recall|success)[_.](\d+)", name):
        name = f"{of_trec[1]}@{of_trec[2]}"
    others = {
        "ap": "average_precision map map_cut",
        "auc": "auroc roc_auc",
        "enrichment": "ef",
        "ndcg": "ndcg_cut",
        "precision": "p",
        "r_precision": "rprec",
        "rr": "mrr recip_rank",
        "success": "hit hit_rate hits",
        "tau_b": "kendall",
    }
    bare, *number = name.partition("@")
    return "".join(
        [next((ours for ours in others if bare in others[ours].split()), bare), *number]
    )


def _nearest(name: str) -> str:
    """Ask whether a similar name was meant, with the number that was typed if it takes one."""
    spellings = {"auprc": "ap", "pr_auc": "ap", "kendalltau": "tau_b", "spearmanr": "spearman"}
    spellings |= {"concordance_index": "c_index", "gauc": "c_index"}
    name = _own_name(name.removesuffix("_score"))
    name = spellings.get(name, name)
    bare = name.partition("@")[0]
    by_name: dict[str, list[type[Measure]]] = {}
    for measure in _named_measures():
        by_name.setdefault(measure.stem.partition("@")[0], []).append(measure)
    takes_number = any(measure._number is not None for measure in by_name.get(bare, ()))
    near = [bare] if takes_number else get_close_matches(bare, by_name)
    measures = [measure for stem in near for measure in by_name[stem]]
    number = name.partition("@")[2]
    text = number[len(number.rstrip("0123456789.")) :]
    for measure in measures:
        if measure._number is not None:
            with suppress(ValueError):
                measure._number.read(text)
                return f": did you mean {_prefix(measure) + text!r}?"
    examples = [example for measure in measures for example in _examples(measure)]
    close = get_close_matches(name, examples, n=1, cutoff=0.0)
    return f": did you mean {close[0]!r}?" if close else "."


def _named_measures() -> list[type[Measure]]:
    """Measures that have a name: those of the functions of this package, once it is imported."""
    return [measure for measure in FUNCTIONS if measure.has_name]


def _examples(measure: type[Measure]) -> list[str]:
    number = measure._number
    bare = [measure.stem] if number is None or number.optional else []
    return bare if number is None else [*bare, _prefix(measure) + number.example]


def _build_measure(measure: type[Measure], parameters: dict[str, Any]) -> Measure:
    _check_known(measure, parameters)
    for parameter in measure._parameters:
        if parameter.default is MISSING and parameter.name not in parameters:
            raise TypeError(
                f"{measure.function} needs {parameter.name}: pass get_measure({measure.function},"
                f" {parameter.name}=...)."
            )
    return measure(**parameters)


def _check_known(measure: type[Measure], parameters: dict[str, Any]) -> None:
    names = measure.settable or tuple(sorted(field.name for field in measure._parameters))
    if measure.kind == "graded":
        names = tuple(name for name in names if name != "rel")
    for name in parameters:
        if name not in names:
            title = measure.function or measure.stem.rstrip("@") or measure.__name__
            raise TypeError(
                f"{title} has no parameter {name!r} to set: it has {', '.join(names)};"
                " pass weights, ids and pos_label with the labels and scores."
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


def make_measure(
    func: Callable[[AnyArray, FloatArray], float],
    *,
    name: str | None = None,
    kind: Kind = "binary",
    range: tuple[float, float] = (-inf, inf),  # the usual name in statistics
    per_query: bool = True,
    greater_is_better: bool = True,
    undefined: Undefined = "skip",
    lacking: str = "no value",
    utilities: Callable[[AnyArray], Any] | None = None,
    discounts: Callable[[int], Any] | None = None,
    influence: Callable[[AnyArray, FloatArray], Any] | None = None,
) -> Measure:
    """Make a ranking measure from your own function of labels and scores.

    It can be passed wherever the name of a measure can: to scorers, intervals and tests, searches,
    displays, and, with ``utilities``, to the rankers that minimise a loss for a measure.

    Parameters
    ----------
    func : callable
        Function ``func(y_true, y_score)`` of the arrays of one list that returns a number, or NaN
        if the list has no value. Labels of two classes are passed as 0 and 1.
    name : str or None, default=None
        Name of the measure. None is the name of the function.
    kind : {"binary", "graded"}, default="binary"
        Whether the labels are two classes, or grades of at least 0.
    range : tuple of (float, float), default=(-inf, inf)
        Smallest and largest value of a list. With a finite range, intervals stay within it, and
        distribution-free limits are available.
    per_query : bool, default=True
        Whether it is a mean over queries; False for a measure of one list.
    greater_is_better : bool, default=True
        True for a score, False for a loss.
    undefined : {"skip", "raise"} or float, default="skip"
        How a list counts if ``func`` returns NaN: "skip" leaves it out of the mean (its own value
        is NaN), "raise" raises an error, a number is its value.
    lacking : str, default="no value"
        Why such a list has no value, for messages.
    utilities : callable or None, default=None
        Function from the labels of one list to the utilities of its items, at least 0, if the
        measure is a sum of discounted utilities.
    discounts : callable or None, default=None
        Function from the length n of a list to the discounts of its n positions, which must not
        increase. Needed with ``utilities``.
    influence : callable or None, default=None
        Function ``influence(y_true, y_score)`` of one list that returns an array: the influence of
        each item, whose mean over a class is the part of the measure that varies with this class.
        It gives paired tests for a measure of one list.

    Returns
    -------
    Measure
        The measure.

    Raises
    ------
    TypeError
        If ``func`` or another function is not callable.
    ValueError
        If an argument is invalid, only one of ``utilities`` and ``discounts`` is given, or they
        are given for a loss.

    See Also
    --------
    get_measure : Gets a measure of this package.
    linear_rank_score : Takes any function of the ranks of the positives.
    positional_score : Takes any gain and any discount.

    Notes
    -----
    The function is called once per list, with the items in the order of the rows. If it sorts the
    scores, ties are broken by that order. Weights of items raise an error.

    Two measures are equal if their functions are the same objects and their other parameters are
    equal. A measure can be pickled if its functions can, for example if a module defines them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.metrics import make_measure
    >>> def first_is_relevant(y_true, y_score):
    ...     return y_true[np.argmax(y_score)]
    >>> measure = make_measure(first_is_relevant, name="first", range=(0.0, 1.0))
    >>> measure([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], qid=["a", "a", "b", "b"])
    0.5
    """
    for argument, function in (
        ("func", func),
        ("utilities", utilities),
        ("discounts", discounts),
        ("influence", influence),
    ):
        if not callable(function) and (function is not None or argument == "func"):
            raise TypeError(f"{argument}={function!r} must be a function.")
    if (utilities is None) != (discounts is None):
        raise ValueError(
            "utilities and discounts are needed together for a positional measure: pass both or"
            " neither."
        )
    if utilities is not None and not greater_is_better:
        raise ValueError(
            "utilities need a measure of which more is better, but greater_is_better=False: pass"
            " the measure as a score."
        )
    title = getattr(func, "__name__", type(func).__name__) if name is None else name
    if not isinstance(title, str) or not title:
        raise ValueError(f"name={name!r} must be a non-empty string.")
    try:
        low, high = range
    except (TypeError, ValueError):
        low = high = nan
    if not is_number(low) or not is_number(high) or not low < high:
        raise ValueError(
            f"range={range!r} must be two numbers, the smallest and the largest value of a list."
        )
    check_choice("kind", kind, ("binary", "graded"))
    return CustomMeasure(
        func=func,
        title=title,
        kind=kind,
        limits=(float(low), float(high)),
        per_query=check_flag("per_query", per_query),
        greater_is_better=check_flag("greater_is_better", greater_is_better),
        undefined=undefined,
        lacking=lacking,
        item_utilities=utilities,
        discounts=discounts,
        item_influence=influence,
    )


class CustomMeasure(Measure):
    is_mean_over_ties = False

    func: Callable[[AnyArray, FloatArray], float]
    title: str
    limits: tuple[float, float]
    kind: Kind = "binary"  # type: ignore[misc]
    per_query: bool = True  # type: ignore[misc]
    greater_is_better: bool = True  # type: ignore[misc]
    lacking: str = "no value"  # type: ignore[misc]
    item_utilities: Callable[[AnyArray], Any] | None = None
    discounts: Callable[[int], Any] | None = None
    item_influence: Callable[[AnyArray, FloatArray], Any] | None = None

    weights = "none"
    settable = ("rel", "undefined")

    def in_grammar(self) -> tuple[str, dict[str, Any]]:
        return self.title, {} if self.rel is None else {"rel": self.rel}

    def __repr__(self) -> str:
        return f"<measure {self.name!r}>"

    @property
    def range(self) -> tuple[float, float]:
        return self.limits

    @property
    def positional(self) -> PositionalForm | None:
        if self.item_utilities is None:
            return None
        return PositionalForm(self._utilities, self._discounts)

    def values(self, lists: ScoredLists) -> FloatArray:
        labels, score = self._labels(lists), lists.score.astype(np.float64)
        values = np.empty(lists.n_lists)
        for index, (start, stop) in enumerate(pairwise(lists.offsets.tolist())):
            value = self.func(labels[start:stop], score[start:stop])
            if np.ndim(value) != 0 or np.asarray(value).dtype.kind not in "biuf":
                raise ValueError(
                    f"{self.name} returned {value!r} for {lists.name_of(index)}: it must return"
                    " one number."
                )
            values[index] = float(value)
        return values

    @property
    def has_influence(self) -> bool:
        return self.item_influence is not None

    @property
    def laws(self) -> tuple[str, ...]:
        return (*super().laws, "resamples")

    order_counts_within = None
    depends_on_length = False

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        labels, score = self._labels(lists), lists.score.astype(np.float64)
        function: Any = self.item_influence
        values = np.asarray(function(labels, score), dtype=np.float64)
        if values.shape != score.shape or not np.isfinite(values).all():
            raise ValueError(
                f"influence of {self.name} returned shape {values.shape} for {len(score)} items:"
                " it must return one finite number for each."
            )
        return ClassInfluence(
            estimate=float(self.values(lists)[0]),
            values=values,
            positive=lists.positive,
            range=self.limits,
        )

    def _labels(self, lists: Lists) -> AnyArray:
        """Copy of the labels, which the function may change."""
        return lists.positive.astype(np.int64) if self.kind == "binary" else lists.grade.copy()

    def _utilities(self, lists: Lists) -> FloatArray:
        self._check_arguments(sample_weight=lists.weight)
        labels, utility = self._labels(lists), np.empty(len(lists.labels))
        function: Any = self.item_utilities
        for index, (start, stop) in enumerate(pairwise(lists.offsets.tolist())):
            values = np.asarray(function(labels[start:stop]), dtype=np.float64)
            inside = np.isnan(values) | ((values >= 0) & (values < np.inf))
            if values.shape != (stop - start,) or not inside.all():
                raise ValueError(
                    f"utilities of {self.name} for {lists.name_of(index)} must be one finite"
                    f" number of at least 0 for each of its {stop - start} items, got {values!r}."
                )
            utility[start:stop] = values
        return utility

    def _discounts(self, n: int) -> FloatArray:
        values = np.asarray(self.discounts(n), dtype=np.float64)  # type: ignore[misc]
        falls = np.isfinite(values).all() and (np.diff(values) <= 0).all()
        if values.shape != (n,) or not falls:
            raise ValueError(
                f"discounts of {self.name} for {n} positions must be {n} finite numbers that do"
                f" not increase, got {values!r}."
            )
        return values
