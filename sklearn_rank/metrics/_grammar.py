"""Grammar of measures: makes a measure from a name, an object or a function."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, replace
from difflib import get_close_matches
from math import inf
from typing import Any, TypeAlias

import numpy as np

from ._at_k import PrecisionAtKMeasure, RecallAtKMeasure, precision_at_k_score, recall_at_k_score
from ._auc import AUCMeasure, MultiClassAUCMeasure, roc_auc_score
from ._balanced import F1AtKMeasure, RPrecisionMeasure, f1_at_k_score, r_precision_score
from ._cascade import (
    AveragePrecisionMeasure,
    ExpectedReciprocalRankMeasure,
    RankBiasedPrecisionMeasure,
    ReciprocalRankMeasure,
    average_precision_score,
    expected_reciprocal_rank_score,
    rank_biased_precision_score,
    reciprocal_rank_score,
)
from ._coverage import CoverageMeasure, coverage_loss
from ._gini import GiniMeasure, gini_score
from ._lift import LiftMeasure, lift_score
from ._linear_rank import (
    BEDROCMeasure,
    LinearRankMeasure,
    LocalAUCMeasure,
    PNormPushMeasure,
    RIEMeasure,
    bedroc_score,
    linear_rank_score,
    local_auc_score,
    p_norm_push_score,
    rie_score,
)
from ._measure import Measure
from ._overlap import RankBiasedOverlapMeasure, rank_biased_overlap_score
from ._partial_auc import (
    NegativeHeightMeasure,
    PartialAUCMeasure,
    negative_height_loss,
    partial_auc_score,
)
from ._positional import (
    DCGMeasure,
    NDCGMeasure,
    PositionalMeasure,
    dcg_score,
    ndcg_score,
    positional_score,
)
from ._rank_correlation import (
    TauAPMeasure,
    TauBMeasure,
    TauXMeasure,
    tau_ap_score,
    tau_b_score,
    tau_x_score,
)
from ._roc_points import (
    FPRAtTPRMeasure,
    KolmogorovSmirnovMeasure,
    TPRAtFPRMeasure,
    fpr_at_tpr_loss,
    kolmogorov_smirnov_score,
    tpr_at_fpr_score,
)
from ._score_generating import ScoreGeneratingFunction
from ._smoothed_precision import SmoothedPrecisionAtTopMeasure, smoothed_precision_at_top_score
from ._spearman import SpearmanMeasure, spearman_score
from ._success import SuccessMeasure, success_at_k_score
from ._top import (
    AccuracyAtTopMeasure,
    EnrichmentFactorMeasure,
    PositivesAtTopMeasure,
    PrecisionAtTopMeasure,
    accuracy_at_top_loss,
    enrichment_factor_score,
    positives_at_top_score,
    precision_at_top_score,
)
from ._top_one import TopOneMeasure, top_1_score

# Types that are accepted as a measure.
MeasureLike: TypeAlias = str | Measure | ScoreGeneratingFunction | Callable[..., Any]


def _position(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]*", text):
        raise ValueError(text)
    return int(text)


def _number(text: str) -> float:
    # float() alone also reads "nan", " 0.1" and "1_0".
    if not re.fullmatch(r"[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?", text):
        raise ValueError(text)
    value = float(text)
    if not 0 < value < inf:
        raise ValueError(text)
    return value


def _share(text: str) -> float:
    value = _number(text)
    if value >= 1:
        raise ValueError(text)
    return value


def _exponent(text: str) -> float:
    return inf if text == "inf" else _number(text)


def _small_rate(text: str) -> float:
    return 0.0 if text == "0" else _share(text)


def _large_rate(text: str) -> float:
    return 1.0 if text == "1" else _share(text)


def _limits(text: str) -> dict[str, float]:
    """Limits of the partial AUC: fpr0.1, tpr0.8, or both in this order."""
    found = re.fullmatch(r"(?:fpr([0-9.e+-]+))?(?:tpr([0-9.e+-]+))?", text)
    if found is None or not text:
        raise ValueError(text)
    limits = zip(("max_fpr", "min_tpr"), found.groups(), strict=True)
    return {name: _share(said) for name, said in limits if said is not None}


@dataclass(frozen=True)
class _Entry:
    """How a name reads: the stem of a measure, then a number for its parameter, or several."""

    measure: type[Measure]
    read: Callable[[str], Any] | None = None
    optional: bool = False
    example: str = ""

    @property
    def stem(self) -> str:
        return self.measure.stem

    @property
    def examples(self) -> list[str]:
        """The name, with an example of the number."""
        bare = [self.stem] if self.read is None or self.optional else []
        at = "@" if self.optional else ""
        return bare + ([] if self.read is None else [f"{self.stem}{at}{self.example}"])


_GRAMMAR = (
    _Entry(AccuracyAtTopMeasure, _share, example="0.05"),
    _Entry(AveragePrecisionMeasure, _position, optional=True, example="10"),
    _Entry(AUCMeasure),
    _Entry(BEDROCMeasure, _number, example="20"),
    _Entry(CoverageMeasure),
    _Entry(DCGMeasure, _position, optional=True, example="10"),
    _Entry(EnrichmentFactorMeasure, _share, example="0.01"),
    _Entry(ExpectedReciprocalRankMeasure, _position, optional=True, example="10"),
    _Entry(F1AtKMeasure, _position, example="10"),
    _Entry(FPRAtTPRMeasure, _large_rate, example="0.9"),
    _Entry(GiniMeasure),
    _Entry(KolmogorovSmirnovMeasure),
    _Entry(LiftMeasure, _share, example="0.1"),
    _Entry(LocalAUCMeasure, _share, example="0.8"),
    _Entry(NDCGMeasure, _position, optional=True, example="10"),
    _Entry(NegativeHeightMeasure, _exponent, example="4"),
    _Entry(PNormPushMeasure, _number, example="4"),
    _Entry(PartialAUCMeasure, _limits, example="fpr0.1"),
    _Entry(PositivesAtTopMeasure),
    _Entry(PrecisionAtTopMeasure, _share, example="0.05"),
    _Entry(PrecisionAtKMeasure, _position, example="5"),
    _Entry(RPrecisionMeasure),
    _Entry(RankBiasedOverlapMeasure, _share, example="0.9"),
    _Entry(RankBiasedPrecisionMeasure, _share, example="0.8"),
    _Entry(RecallAtKMeasure, _position, example="20"),
    _Entry(RIEMeasure, _number, example="20"),
    _Entry(ReciprocalRankMeasure, _position, optional=True, example="10"),
    _Entry(SmoothedPrecisionAtTopMeasure, _share, example="0.05"),
    _Entry(SpearmanMeasure),
    _Entry(SuccessMeasure, _position, example="10"),
    _Entry(TPRAtFPRMeasure, _small_rate, example="0.01"),
    _Entry(TauAPMeasure),
    _Entry(TauBMeasure),
    _Entry(TauXMeasure),
    _Entry(TopOneMeasure),
)

# The smallest relevant grade, after the name of a measure of two classes.
_LEVEL = re.compile(r"(?P<name>.*)\(rel>=(?P<rel>-?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?)\)")

_OF_FUNCTION: dict[Callable[..., Any], type[Measure]] = {
    accuracy_at_top_loss: AccuracyAtTopMeasure,
    average_precision_score: AveragePrecisionMeasure,
    bedroc_score: BEDROCMeasure,
    coverage_loss: CoverageMeasure,
    dcg_score: DCGMeasure,
    enrichment_factor_score: EnrichmentFactorMeasure,
    expected_reciprocal_rank_score: ExpectedReciprocalRankMeasure,
    f1_at_k_score: F1AtKMeasure,
    fpr_at_tpr_loss: FPRAtTPRMeasure,
    gini_score: GiniMeasure,
    kolmogorov_smirnov_score: KolmogorovSmirnovMeasure,
    lift_score: LiftMeasure,
    linear_rank_score: LinearRankMeasure,
    local_auc_score: LocalAUCMeasure,
    ndcg_score: NDCGMeasure,
    negative_height_loss: NegativeHeightMeasure,
    p_norm_push_score: PNormPushMeasure,
    partial_auc_score: PartialAUCMeasure,
    positional_score: PositionalMeasure,
    positives_at_top_score: PositivesAtTopMeasure,
    precision_at_k_score: PrecisionAtKMeasure,
    precision_at_top_score: PrecisionAtTopMeasure,
    r_precision_score: RPrecisionMeasure,
    rank_biased_overlap_score: RankBiasedOverlapMeasure,
    rank_biased_precision_score: RankBiasedPrecisionMeasure,
    recall_at_k_score: RecallAtKMeasure,
    reciprocal_rank_score: ReciprocalRankMeasure,
    rie_score: RIEMeasure,
    roc_auc_score: AUCMeasure,
    smoothed_precision_at_top_score: SmoothedPrecisionAtTopMeasure,
    spearman_score: SpearmanMeasure,
    success_at_k_score: SuccessMeasure,
    tau_ap_score: TauAPMeasure,
    tau_b_score: TauBMeasure,
    tau_x_score: TauXMeasure,
    top_1_score: TopOneMeasure,
    tpr_at_fpr_score: TPRAtFPRMeasure,
}

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
        return _with(measure, parameters)
    if isinstance(measure, ScoreGeneratingFunction):
        if "phi" in parameters:
            raise TypeError(
                f"phi={parameters['phi']!r} was passed with {measure!r}, which is a"
                " score-generating function too: leave out one of the two."
            )
        return _made(LinearRankMeasure, {**parameters, "phi": measure})
    if isinstance(measure, str):
        return _named(measure, parameters)
    known = next((made for function, made in _OF_FUNCTION.items() if function is measure), None)
    if known is not None:
        return _made(known, parameters)
    if callable(measure) and not isinstance(measure, type):
        raise TypeError(
            f"measure={measure!r} is not a function of sklearn_rank.metrics: for your own function"
            " pass make_measure(function, ...)."
        )
    shown = repr(measure)
    if len(shown) > 60:
        shown = f"{type(measure).__name__} of length {np.asarray(measure).size}"
    raise TypeError(
        f"measure={shown} must be the name of a measure, such as 'ndcg@10', a Measure, a"
        " ScoreGeneratingFunction or a function of sklearn_rank.metrics: pass the measure first,"
        " then labels and scores."
    )


def _named(name: str, parameters: dict[str, Any]) -> Measure:
    level = _LEVEL.fullmatch(name)
    if level is not None:
        if "rel" in parameters:
            raise TypeError(
                f"rel={parameters['rel']!r} is already set by the name {name!r}: leave out one of"
                " the two."
            )
        return _named(level["name"], {**parameters, "rel": float(level["rel"])})
    given, (bare, at, number) = name, name.partition("@")
    name = _ALIASES.get(bare, bare) + at + number
    for entry in _GRAMMAR:
        if name == entry.stem and (entry.read is None or entry.optional):
            return _made(entry.measure, parameters)
        prefix = entry.stem + ("@" if entry.optional else "")
        if entry.read is not None and name.startswith(prefix):
            try:
                value = entry.read(name[len(prefix) :])
            except ValueError:
                continue
            said = value if isinstance(value, dict) else {str(entry.measure.in_name): value}
            for one in said.keys() & parameters.keys():
                raise TypeError(
                    f"{one}={parameters[one]!r} is already set by the name {given!r}: leave out"
                    " one of the two."
                )
            return _made(entry.measure, {**said, **parameters})
    names = get_measure_names()
    close = _spelled_otherwise(name) or get_close_matches(name.lower(), names, n=1)
    hint = f"did you mean {close[0]!r}? Names" if close else "names"
    raise ValueError(
        f"{given!r} is not the name of a measure: {hint} are {names}, where the number shown can"
        " be replaced by another position (1 or more) or share in (0, 1), or by a positive number"
        " for bedroc, negative_height_loss, pnorm and rie; two limits of the partial AUC are"
        " 'partial_auc@fpr0.3tpr0.7', and '(rel>=2)' after the name sets the smallest relevant"
        " grade."
    )


def _spelled_otherwise(name: str) -> list[str]:
    """The name of the measure for the name of its function, or for a common alias."""
    name = _SPELLINGS.get(name.lower(), name.lower())
    for function, measure in _OF_FUNCTION.items():
        if name in (function.__name__, function.__name__.rpartition("_")[0]):
            return [entry.examples[0] for entry in _GRAMMAR if entry.measure is measure]
    return []


def _made(measure: type[Measure], parameters: dict[str, Any]) -> Measure:
    if measure is AUCMeasure and parameters.get("multi_class") is not None:
        measure = MultiClassAUCMeasure
    _check_known(measure, parameters)
    for one in fields(measure):
        if one.default is MISSING and one.name not in parameters:
            raise TypeError(
                f"{measure.function} needs {one.name}: pass get_measure({measure.function},"
                f" {one.name}=...)."
            )
    return measure(**parameters)


def _with(measure: Measure, parameters: dict[str, Any]) -> Measure:
    _check_known(type(measure), parameters)
    usual = measure.undefined == measure._undefined_of(None)
    if "convention" in parameters and "undefined" not in parameters and usual:
        # Undefined lists then count by the rule of the system.
        parameters = {**parameters, "undefined": None}
    return replace(measure, **parameters) if parameters else measure


def _check_known(measure: type[Measure], parameters: dict[str, Any]) -> None:
    known = measure.settable or tuple(sorted(one.name for one in fields(measure)))
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
    return sorted(name for entry in _GRAMMAR for name in entry.examples)
