"""Evidence of data on a measure: rows and groups, checked; influence, variance and covariance.

An interval needs only sums over the items, so the original row order is not kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import inf, isfinite, nan
from typing import Any, Literal, TypeAlias

import numpy as np

from .._lists import Lists, ScoredLists, check_scored_lists, numbers_of_queries
from .._partitions import aligned, any_collection, is_collection
from .._printed import ROUNDING
from .._typing import BoolArray, FloatArray
from .._validation import (
    Coded,
    array_of_labels,
    check_choice,
    check_qid,
    ravelled,
    refuse_misread,
    shape_of,
)
from ..bounds._shared import NEGLIGIBLE
from ..metrics import Accumulator, Measure
from ..metrics._shared import (
    PSEUDO_WEIGHT,
    ClassInfluence,
    Evidence,
    Groups,
    ListOfChunks,
    amounts_of,
    refuse_value,
    singleton_groups,
)
from ._differences import Units, variance_of
from ._label_design import Design, check_fitted_proxy, check_labels_in_part, check_partial_labels
from ._limits import LimitsAt


def list_of_chunks(
    measure: Measure, y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any = None
) -> ListOfChunks:
    columns = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight}
    present = {name: value for name, value in columns.items() if value is not None}
    rows = ListOfChunks(measure, aligned(**present), pos_label)
    if not rows.whole:
        raise ValueError(
            "sample_weight has a value that is not a whole number, but weights are numbers of"
            " occurrences: pass whole numbers."
        )
    return rows


def refuse_collections(
    reason: str = "labels known in part belong to rows", **arguments: Any
) -> None:
    for name, value in arguments.items():
        if is_collection(value):
            raise TypeError(
                f"{name} is a dask collection, but {reason}: pass {name}.compute() if it fits into"
                " memory."
            )
        if isinstance(value, Mapping):
            parts = {f"{name}[{key!r}]": part for key, part in value.items()}
            refuse_collections(reason, **parts)
        elif isinstance(value, tuple | list) and len(value) == 2:
            refuse_collections(reason, **{f"{name}[{i}]": part for i, part in enumerate(value)})


def named_scores(scores: Any, *, name: str, least: int = 2) -> dict[str, Any]:
    is_frame = hasattr(scores, "columns") and hasattr(scores, "__getitem__")
    if not (is_frame or isinstance(scores, Mapping)):
        raise TypeError(
            f"{name} is a {type(scores).__name__}, but must be a mapping from names to scores or a"
            " data frame with one column per ranker: pass {'a': scores_a, 'b': scores_b}."
        )
    rankers = list(scores if isinstance(scores, Mapping) else scores.columns)
    if len(rankers) < least:
        raise ValueError(
            f"{name} holds {len(rankers)} rankers, but at least {least} are needed: pass their"
            " scores by name."
        )
    texts = [str(ranker) for ranker in rankers]
    for text in texts:
        if (count := texts.count(text)) > 1:
            raise ValueError(f"{name} has the name {text!r} {count} times: pass unique names.")
    return {text: scores[ranker] for text, ranker in zip(texts, rankers, strict=True)}


def check_groups(groups: Any, n: int) -> Groups | None:
    """Check the ids of groups of rows, of which there are at least two."""
    if groups is None or isinstance(groups, Groups):
        return groups
    return _numbered(check_qid(groups, n, name="groups"))


def _numbered(ids: Any) -> Groups:
    try:
        codes = numbers_of_queries(ids)
    except ValueError:
        raise ValueError(
            "groups mixes ids of different types: make all ids numbers or all strings."
        ) from None
    n_groups = int(codes.max()) + 1
    if n_groups == 1:
        raise ValueError(
            "groups has one group only, but the variance is estimated between groups: pass the"
            " ids of at least two groups."
        )
    return Groups(codes, n_groups)


def check_pair_of_groups(groups: Any) -> None:
    if groups is not None and (
        not isinstance(groups, tuple | list) or len(groups) != 2 or not shape_of(groups[0])
    ):
        raise ValueError(
            "groups must be a pair, the group ids of the first and of the second sample: pass"
            " (groups_first, groups_second)."
        )


def check_joined_groups(groups: Sequence[Any], sizes: Sequence[int]) -> Groups:
    """Groups of the rows of all samples, one after the other, which may share groups."""
    ids = []
    for i, (part, n) in enumerate(zip(groups, sizes, strict=True)):
        read = check_qid(part, n, name=f"groups[{i}]")
        ids.append(read.distinct[read.codes] if isinstance(read, Coded) else read)
    if len({part.dtype.kind in "US" for part in ids}) > 1:
        ids = [part.astype(object) for part in ids]
    return _numbered(check_qid(np.concatenate(ids), sum(sizes), name="groups"))


@dataclass(frozen=True, eq=False)
class GroupPart:
    """Contribution of the rows of one class of one sample to statistics, group by group."""

    sums: FloatArray  # (n_statistics, n_groups): Sums of the deviations from the mean
    sizes: FloatArray  # (n_groups,): Number of rows of the part in each group, or their weight
    sampled: bool = False  # Whether sizes are sums of inverse probabilities
    row_squares: Any = None  # (n_statistics,): Sums of squares over the rows
    row_share: float = nan  # Mean share of a row, weighted by itself

    @cached_property
    def share(self) -> FloatArray:
        return self.sizes / self.sizes.sum()

    @cached_property
    def count(self) -> int:
        return int(np.count_nonzero(self.sizes))

    @cached_property
    def n_equal(self) -> float:
        """Number of groups of equal probability."""
        if not self.sampled:
            return float(self.count)
        return float(self.sizes.sum() ** 2 / (self.sizes**2).sum())

    @cached_property
    def effective(self) -> float:
        """Number of groups of equal size whose variance is known as well."""
        squares = self.sizes**2
        return float(squares.sum() ** 2 / (squares**2).sum())

    @property
    def degrees(self) -> float:
        return max(self.effective - 1.0, 1.0)

    @classmethod
    def of_rows(
        cls,
        values: FloatArray,
        groups: Groups,
        weight: FloatArray | None = None,
        lengths: Any = 0.0,  # (n_statistics,): Lengths of the ranges of the values, if known
    ) -> GroupPart:
        share: Any = 1.0 / values.shape[1] if weight is None else weight / weight.sum()
        means = np.average(values, axis=1, weights=weight)[:, np.newaxis]
        # What is rounding would else count as all that varies.
        scale = np.maximum(np.abs(values).max(axis=1), lengths)[:, np.newaxis]
        deviations = np.where(np.abs(values - means) > ROUNDING * scale, values - means, 0.0)
        deviations *= share
        if weight is None:
            sizes, row_share = groups.sizes(), share
        else:
            sizes, row_share = groups.sums(weight / weight.max()), float(share @ share)
        row_squares = np.einsum("ij,ij->i", deviations, deviations)
        sampled = weight is not None
        return cls(groups.sums(deviations), sizes, sampled, row_squares, row_share)

    def moved_together(self, lengths: FloatArray) -> FloatArray:
        """By how much a group moves statistics if one of its rows goes from an end to the other.

        Of its other rows so many move with it as the sums of groups vary more than those of
        independent rows: from none to all. Shape (n_statistics,).
        """
        group = float(self.share @ self.share)
        of_groups = np.einsum("ij,ij->i", self.sums, self.sums)
        varied = self.row_squares > ROUNDING**2 * self.row_share * lengths**2
        together = np.full(len(lengths), inf)
        np.divide(self.row_share * of_groups, self.row_squares, out=together, where=varied)
        return lengths * np.minimum(np.maximum(together, self.row_share), group)

    def draws_of_share(self, share: float) -> tuple[float, float]:
        """Effective number of draws of a share, and its variance.

        Half a group is added at either end.
        """
        count = self.effective + 2.0 * PSEUDO_WEIGHT
        shrunken = (self.effective * share + PSEUDO_WEIGHT) / count
        ends = PSEUDO_WEIGHT * ((1.0 - shrunken) ** 2 + shrunken**2)
        variance = (self.effective**2 * float(np.sum(self.sums**2)) + ends) / count**2
        return shrunken * (1.0 - shrunken) / variance, variance

    @cached_property
    def corrected(self) -> FloatArray:
        """Correct for the mean that was estimated from the same groups.

        The sums over ``sqrt(1 - share)``; NaN for a group that holds all rows. Shape
        (n_statistics, n_groups).
        """
        left = np.where(self.share < 1.0, 1.0 - self.share, np.nan)
        return self.sums / np.sqrt(left)


def robust_sums(parts: Sequence[GroupPart]) -> FloatArray:
    """Sum the parts by group, each corrected for the mean that was estimated from the same groups.

    A sum is divided by ``sqrt(1 - share)``: without bias where rows are independent, and then the
    sample variance over the number of rows (Bell & McCaffrey 2002, CR2 with the classes as
    regressors).
    """
    return reduce(np.add, [part.corrected for part in parts])


@dataclass(frozen=True, eq=False)
class Spread:
    """Independent parts of a covariance, with the degrees of freedom of each."""

    covariances: FloatArray  # (n_parts, n_statistics, n_statistics)
    degrees: FloatArray  # (n_parts,): Degrees of freedom of each, at least 1
    overlap: FloatArray  # (n_parts, n_parts): How far parts are in the same groups, 1 for itself

    @classmethod
    def of_groups(cls, parts: Sequence[GroupPart]) -> Spread:
        profile = np.stack([part.share**2 for part in parts])
        profile /= np.sqrt((profile**2).sum(axis=1, keepdims=True))
        sums = [part.corrected for part in parts]
        degrees = np.array([part.degrees for part in parts])
        return cls(np.stack([x @ x.T for x in sums]), degrees, profile @ profile.T)

    def of(self, contrasts: FloatArray) -> float:
        """Degrees of freedom of the variance of a contrast, the least of several."""
        contrasts = np.atleast_2d(contrasts)
        variances = np.stack(
            [np.einsum("mi,mi->m", contrasts @ part, contrasts) for part in self.covariances]
        )
        # Rounding may leave a variance just below 0.
        variances = np.maximum(variances, 0.0)
        if not np.isfinite(variances).all() or not variances.any(axis=0).all():
            return float(self.degrees.min())
        weight = variances / variances.sum(axis=0)
        weight /= np.sqrt(self.degrees)[:, np.newaxis]
        return float(1.0 / np.einsum("pm,pm->m", self.overlap @ weight, weight).max())


def dimensions(y_true: Any, *, name: str = "y_true") -> int:
    try:
        return len(shape_of(y_true))
    except ValueError:
        raise ValueError(
            f"{name} has rows of different lengths, as labels of several classes at a time have:"
            " pass one label per row."
        ) from None


def refuse_one_class(data: Lists, name: str = "y_true") -> None:
    n, n_pos = data.sizes[0], data.positives[0]
    if n_pos == 0 or n_pos == n:
        lacking = "positive" if n_pos == 0 else "negative"
        raise ValueError(
            f"{name} holds items of one class only, with no {lacking} among {n:.0f}: pass items of"
            " both classes."
        )


def refuse_grouped_collections(groups: Any, **columns: Any) -> None:
    if groups is not None:
        reason = "groups need all rows in memory, not their counts"
        refuse_collections(reason, **columns, groups=groups)


def accumulated_list(accumulator: Accumulator) -> ScoredLists:
    """List of an accumulator, whose weights must be repetitions."""
    if accumulator.n_items == 0:
        raise ValueError("No row has a positive weight: pass rows of positive weight.")
    table = accumulator._rows
    if table is None:
        raise ValueError(
            f"An accumulator of {accumulator.measure.name} keeps all rows, but an interval needs"
            " counts of scores or values of queries: pass the rows as arrays to metric_interval,"
            " or accumulate with qid and queries='whole'."
        )
    return table


WeightMeaning: TypeAlias = Literal["frequency", "sampling"] | None

# With fewer items that carry the weight, of either class, or queries, nominal 95 % intervals
# cover as little as .75 (benchmarks/studies/sampling_weights.py).
LEAST_DRAWS = 10.0


def check_weight_meaning(weights: Any, sample_weight: Any, *, no_sampling: str = "") -> bool:
    """Return whether weights of rows are inverse probabilities; nothing is guessed from values."""
    if weights is not None:
        check_choice("weights", weights, ("frequency", "sampling"))
    if sample_weight is None:
        if weights is not None:
            raise ValueError(
                f"weights={weights!r} says what sample_weight means, but sample_weight is None:"
                " pass sample_weight, or leave weights out."
            )
        return False
    if weights is None:
        raise ValueError(
            "sample_weight may mean two things, and the interval differs: pass"
            " weights='frequency' if each row stands for that many identical rows, or"
            " weights='sampling' if it is 1 / probability that the row was drawn."
        )
    if weights == "sampling":
        if no_sampling:
            raise ValueError(f"weights='sampling' is not supported by {no_sampling}.")
        refuse_collections("inverse probabilities belong to rows", sample_weight=sample_weight)
    return weights == "sampling"


def refuse_fractions(sample_weight: Any) -> None:
    if sample_weight is None:
        return
    found = ""
    if is_collection(sample_weight):
        if bool(((sample_weight % 1) != 0).any().compute()):
            found = "has a value that is not whole"
    else:
        weight = np.ravel(np.asarray(sample_weight, dtype=np.float64))
        wrong = weight != np.floor(weight)
        if wrong.any():
            row = int(np.argmax(wrong))
            found = f"is {weight[row]:g} at row {row}"
    if found:
        raise ValueError(
            f"sample_weight {found}, but weights='frequency' takes whole numbers of identical"
            " rows: pass whole numbers, or weights='sampling' if it is 1 / probability that the"
            " row was drawn."
        )


def refuse_few_draws(weight: FloatArray, heaviest: float, what: str) -> None:
    """Refuse samples where so few items carry the weight that no interval is trustworthy.

    One more item of the largest weight counts too: that none was drawn so far says little.
    """
    scale = heaviest or 1.0
    relative = np.append(weight, heaviest) / scale
    draws = float(relative.sum() ** 2 / (relative @ relative)) - 1.0
    if draws < LEAST_DRAWS:
        raise ValueError(
            f"The {len(weight)} {what} are worth {draws:.1f} drawn with equal probability, as one"
            f" more of weight {heaviest:g} would show, and below {LEAST_DRAWS:g} intervals cover"
            " too seldom: draw more rows where weights are large, or report the value without an"
            " interval."
        )


def read_rows(
    measure: Measure,
    y_true: Any,
    scores: Mapping[str, Any],
    *,
    qid: Any = None,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    groups: Any = None,
    pos_label: Any = None,
    value: Any = None,
    design: Design = None,
    name: str = "y_true",
) -> tuple[Any, dict[str, Any]]:
    """Labels, and the other columns of the same rows, as all functions of rows read them.

    Of queries there is qid among them, of labels known in part the design.
    """
    columns = {"qid": qid, "sample_weight": sample_weight, "groups": groups}
    refuse_misread(y_true=y_true, **scores, **columns, value=value, design=design)
    in_chunks = any_collection(y_true, *scores.values(), *columns.values())
    rows = {"sample_weight": sample_weight, "weights": weights, "groups": groups}
    if check_weight_meaning(weights, sample_weight) and in_chunks:
        reason = "inverse probabilities belong to rows"
        refuse_collections(reason, y_true=y_true, **scores, **columns)
    if design is not None:
        if in_chunks:
            refuse_collections(y_true=y_true, **scores)
        y_true, rows["design"] = array_of_labels(y_true, name), design
    elif not is_collection(y_true):
        y_true = ravelled(y_true, name)
    of_queries = qid is not None or dimensions(y_true, name=name) == 2
    if value is not None:
        refuse_value(measure)
        refuse_collections("value is for rows in memory", y_true=y_true)
        if design is not None or dimensions(y_true) == 2:
            raise TypeError(
                "value is for one array of labels, which are all known: pass the amounts of the"
                " rows as y_true, and leave value out."
            )
        y_true, pos_label = amounts_of(y_true, value, pos_label=pos_label), None
    if of_queries:
        rows["qid"] = qid
    if in_chunks:
        rows["in_chunks"] = True
    return y_true, rows | {"pos_label": pos_label}


def check_one_list(measure: Measure, y_true: Any, y_score: Any, **columns: Any) -> Evidence:
    """Evidence of one ranker."""
    y_true, rows = read_rows(measure, y_true, {"y_score": y_score}, **columns)
    rows.pop("qid", None)
    return check_lists(measure, y_true, [y_score], **rows)[0]


def check_lists(
    measure: Measure,
    y_true: Any,
    scores: Sequence[Any],
    *,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    groups: Any = None,
    pos_label: Any = None,
    conditional: bool | None = None,
    name: str = "y_true",
    design: Design = None,
    in_chunks: bool = False,
) -> list[Evidence]:
    """Evidence of each of several rankers that scored the same rows of one list."""
    measure._check_arguments(sample_weight=sample_weight)
    if (shape := shape_of(y_true))[1:] not in ((), (1,)):
        raise ValueError(
            f"{name} has {len(shape)} dimensions, but the interval is for one list: pass"
            " one-dimensional labels and scores."
        )
    if in_chunks:
        if len(scores) > 1:
            # Differences need both scores of each row, which counts of scores do not keep.
            columns = {name: y_true, "y_score": tuple(scores)}
            refuse_collections("scorers are compared row by row", **columns)
        y_score = scores[0]
        refuse_grouped_collections(
            groups, y_true=y_true, y_score=y_score, sample_weight=sample_weight
        )
        if measure.weights == "none" or measure.kind != "binary":
            raise ValueError(
                f"The influence function of {measure.name} needs all rows in memory, not a dask"
                " collection: pass y_true.compute() and y_score.compute()."
            )
        table = list_of_chunks(measure, y_true, y_score, pos_label, sample_weight)
        evidence = measure.evidence(table.in_one_memory(measure))
        return [replace(evidence, conditional=conditional is not False)]
    partial, sampled = None, weights == "sampling"
    if design is not None:
        y_true, partial = check_partial_labels(y_true, design, name, sample_weight=sample_weight)
    labels = measure.label_type(pos_label, name)
    data = check_scored_lists(y_true, scores[0], labels, sample_weight=sample_weight)
    dependent = check_groups(groups, len(y_true))
    if dependent is not None and data.rows is not None:
        dependent = dependent.only(data.rows)
        if not np.ptp(dependent.codes):
            raise ValueError(
                "groups has one group only with rows of positive weight, but the variance is"
                " estimated between groups: pass rows of at least two groups."
            )
    if sampled:
        dependent = dependent or singleton_groups(len(data.score))
    else:
        refuse_fractions(sample_weight)
    lists = [data, *(data.scored_by(y_score, shape) for y_score in scores[1:])]
    if partial is not None and conditional is None:
        # This list, where nothing tells how much lists of the population differ.
        conditional = bool(partial.unreachable.any() or not measure.has_influence)
        conditional |= not np.ptp(data.labels[partial.known].astype(np.float64))
    of_list: dict[str, Any] = {"sampled": sampled, "partial": partial}
    # A share of positives is what two classes have.
    fixed = conditional is not False or (partial is None and measure.kind != "binary")
    of_list["conditional"] = fixed and not sampled
    evidences = [
        replace(measure.evidence(replace(x, rows=None), dependent), **of_list) for x in lists
    ]
    if partial is not None:
        check_labels_in_part(evidences)
        check_fitted_proxy(data.labels, partial)
    return evidences


# --------------------------------------------------------------------------------------- influence


def influences_of(
    evidences: Sequence[Evidence], name: str = "y_true"
) -> tuple[list[ClassInfluence], Groups | None]:
    """Influence of the same rows on the measure of several rankers, and the groups of the rows."""
    first = evidences[0]
    if first.measure.kind == "binary":
        refuse_one_class(first.data, name)
    if first.sampled:
        refuse_sampling(first.measure)
        return [sampling_influence(x.measure, x.data) for x in evidences], first.groups
    if first.groups is not None:
        evidences = [evidence.repeat() for evidence in evidences]
    influences = [influence_of(x.measure, x.data, conditional=x.conditional) for x in evidences]
    return influences, evidences[0].groups


def refuse_unknown(measure: Measure, influence: Any = ()) -> None:
    """Refuse a measure without influence function, or one that is None for a list."""
    if not measure.has_influence or influence is None:
        raise ValueError(
            f"measure={measure.name!r} has no influence function, so its variance on one list is"
            " unknown: pass influence= to make_measure, or method='bootstrap' to metric_interval"
            " and compare if it is smooth; for a mean over queries pass qid; for a phi that"
            " depends on the length of the list use metric_interval(method='bootstrap')."
        )


def influence_of(measure: Measure, data: ScoredLists, *, conditional: bool) -> ClassInfluence:
    refuse_unknown(measure)
    influence: Any = measure.influence_of(data)
    refuse_unknown(measure, influence)
    if not conditional and not isfinite(influence.label_slope):
        raise ValueError(
            f"measure={measure.name!r} has no known derivative in the fraction of positives, which"
            " conditional=False needs: pass conditional=True."
        )
    return influence


def refuse_sampling(measure: Measure) -> None:
    """Refuse a measure that has no interval for rows of unequal probabilities."""
    of_classes = measure.kind == "binary" and measure.has_influence and measure.weights != "none"
    if of_classes and not measure.depends_on_length:
        return
    raise ValueError(
        f"{measure.name} of one list has no interval for weights='sampling': use a measure of"
        " shares that has an influence function, such as 'auc', 'partial_auc@fpr0.1',"
        " 'precision@top0.05', 'tpr@fpr0.1', 'ap' or 'bedroc@20', or report the value alone."
    )


def sampling_influence(measure: Measure, data: ScoredLists) -> ClassInfluence:
    """Influence of rows on a measure of the population that they were drawn from."""
    heaviest = float(data.counts.max())
    refuse_few_draws(data.counts[data.positive], heaviest, "positives")
    refuse_few_draws(data.counts[~data.positive], heaviest, "negatives")
    weight = data.counts / data.counts.min()
    data = replace(data, weight=weight)
    relative = weight / weight.max()
    n_draws = float(relative.sum() ** 2 / (relative @ relative))
    counted = replace(data, weight=whole_weights(weight), draws=n_draws)
    influence = influence_of(measure, counted, conditional=False).linear
    estimate = influence.estimate
    if measure.weights == "whole":
        # The ends are those of one item above all repetitions, and a drawn row is many of them.
        influence = replace(influence, ends=None)
    else:
        estimate = float(measure.values(data)[0])
    return replace(influence, estimate=estimate, counts=None, sampling_weight=weight)


# Number of items as which the rows of a list are counted, at most, and for each row.
MOST_ITEMS, MOST_PER_ROW = 2.0**21, 16.0


def whole_weights(weight: FloatArray) -> FloatArray:
    """Whole numbers in proportion to weights of at least 1, rounded unless all are whole."""
    whole, limit = np.rint(weight), max(MOST_ITEMS, MOST_PER_ROW * len(weight))
    if whole.sum() <= limit and np.all(np.abs(weight - whole) <= NEGLIGIBLE * weight):
        return whole
    return np.maximum(np.rint(weight * min(limit / weight.sum(), 1024.0)), 1.0)


def list_target(
    measure: Measure, influences: Sequence[ClassInfluence], groups: Sequence[Groups | None]
) -> str:
    texts = []
    for influence, dependent in zip(influences, groups, strict=True):
        text = f"{influence.n:.0f} items"
        if influence.positive is not None:
            text += f", {influence.n_pos:.0f} positive"
        if dependent is not None:
            text += f", in {np.count_nonzero(dependent.sizes())} groups"
        texts.append(text)
    return f"{measure.name} on {' and on '.join(texts)}"


@dataclass(frozen=True, eq=False)
class JointEstimate:
    """Statistics of several rankers on the same data, and their covariance."""

    estimates: FloatArray  # (n_rankers,)
    covariance: FloatArray
    regularized: FloatArray  # The covariance with added items
    length: float  # Length of the range of the statistic; may be infinite
    n_effective: float  # Effective number of items
    spread: Spread  # Degrees of freedom of the covariance
    kinds: tuple[Units, ...] = ()  # Units of each class of each sample
    groups: FloatArray | None = None  # (n_rankers, n_groups): Their sums; None if independent
    limits: Sequence[LimitsAt] = ()  # Of each statistic by itself; none if not known

    def with_units(self, values: FloatArray) -> JointEstimate:
        """Add what other independent units do to the statistics; shape (n_rankers, n_units)."""
        products, no_span = values @ values.T, np.zeros(len(values))
        return replace(
            self,
            covariance=self.covariance + products,
            regularized=self.regularized + products,
            kinds=(*self.kinds, Units(values, products, float(values.shape[1]), no_span)),
            groups=None if self.groups is None else np.hstack([self.groups, values]),
        )

    @property
    def errors(self) -> FloatArray:
        """Standard error of each statistic; with added items where these show no variance."""
        alone, unknown = np.diag(self.covariance), np.diag(self.regularized)
        least = least_variance(0.0, self.length, self.n_effective)
        return np.sqrt(np.where(alone > least, alone, unknown))

    def standard_errors(self, contrasts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Standard errors of contrasts, and their degrees of freedom."""
        found = np.array([variance_of(self.kinds, row, self.groups) for row in contrasts])
        degrees = np.minimum(found[:, 1], [self.spread.of(row) for row in contrasts])
        differences, variances = contrasts @ self.estimates, found[:, 0]
        unknown = variances <= least_variance(differences, self.length, self.n_effective)
        variances[unknown] += differences[unknown] ** 2 / self.n_effective
        return np.sqrt(variances), degrees


def joint_influence(
    influences: Sequence[ClassInfluence], *, conditional: bool = True, groups: Groups | None = None
) -> JointEstimate:
    """Estimate statistics of the same units, such as the items of a list, and their covariance."""
    influences = [influence.linear for influence in influences]
    first = influences[0]
    if groups is not None or first.sampling_weight is not None:
        groups = groups or singleton_groups(len(first.values))
        return _joint_groups([(influences, groups)], conditional=conditional)
    counts, m, n = first.counts, len(influences), first.n
    ends = np.array([influence.class_ends() for influence in influences])
    lengths = np.abs(ends[:, :, 1] - ends[:, :, 0])
    parts = np.empty((len(first.classes), m, m))
    regularized = np.zeros((m, m))
    sizes = np.array(first.sizes, dtype=np.float64)
    kinds = []
    for side, (rows, size) in enumerate(zip(first.classes, sizes, strict=True)):
        places = slice(None) if first.positive is None else np.flatnonzero(rows)
        values = np.stack([influence.values[places] for influence in influences])
        if counts is None:
            values -= values.mean(axis=1, keepdims=True)
            squares = values @ values.T
        else:
            values -= (values @ counts[rows] / size)[:, np.newaxis]
            squares = (values * counts[rows]) @ values.T
        products = squares / (size * max(size - 1.0, 1.0))
        parts[side] = products if size > 1.0 else np.nan
        # The squares of the deviations from the mean of a sample are too small by 1 - 1 / size.
        values /= np.sqrt(size * max(size - 1.0, 1.0))
        of_rows = None if counts is None else counts[rows]
        kinds.append(Units(values, products, size, lengths[:, side] / size, of_rows))
        total = size + 2.0 * PSEUDO_WEIGHT
        regularized += (squares + np.diag(PSEUDO_WEIGHT * lengths[:, side] ** 2 / 2.0)) / total**2
    covariance = parts.sum(axis=0)
    if not conditional:
        slopes = np.array([influence.label_slope for influence in influences])
        share = sizes[0] / n
        labels = np.outer(slopes, slopes) * share * (1.0 - share) / n
        covariance, regularized = covariance + labels, regularized + labels
        deviations = np.outer(slopes / n, [1.0 - share, -share])
        kinds.append(Units(deviations, labels, n, np.zeros(m), sizes))
    estimates = np.array([influence.estimate for influence in influences])
    spread = Spread(parts, np.maximum(sizes - 1.0, 1.0), np.eye(len(parts)))
    n_effective = float(np.prod(sizes)) / n ** (len(sizes) - 1)
    return JointEstimate(
        estimates, covariance, regularized, first.length, n_effective, spread, tuple(kinds)
    )


def joint_samples(samples: Sequence[tuple[ClassInfluence, Groups | None]]) -> JointEstimate:
    """Estimate a statistic of each of several samples, which may share groups."""
    grouped = [([x.linear], groups) for x, groups in samples if groups is not None]
    if grouped:
        return _joint_groups(grouped, conditional=True)
    return joint_independent([joint_influence([influence]) for influence, _ in samples])


def mean_influences(
    values: FloatArray, whole: tuple[float, float], weight: FloatArray | None = None
) -> list[ClassInfluence]:
    """Influence of units, such as queries, on the mean of each row of their values."""
    low, high = whole
    if not isfinite(high - low):
        low = float(values.min())
        high = low + (float(np.ptp(values)) or 1.0)
    means = np.average(values, axis=1, weights=weight)
    return [
        ClassInfluence(float(mean), row, None, (low, high), whole, sampling_weight=weight)
        for mean, row in zip(means, values, strict=True)
    ]


def joint_independent(joints: Sequence[JointEstimate]) -> JointEstimate:
    n, n_parts = len(joints), len(joints[0].spread.degrees)
    parts = np.zeros((n_parts * n, n, n))
    for i, joint in enumerate(joints):
        parts[n_parts * i : n_parts * (i + 1), i, i] = joint.spread.covariances[:, 0, 0]
    return JointEstimate(
        estimates=np.concatenate([joint.estimates for joint in joints]),
        covariance=np.diag([float(joint.covariance[0, 0]) for joint in joints]),
        regularized=np.diag([float(joint.regularized[0, 0]) for joint in joints]),
        length=max(joint.length for joint in joints),
        n_effective=1.0 / sum(1.0 / joint.n_effective for joint in joints),
        spread=Spread(
            parts, np.concatenate([joint.spread.degrees for joint in joints]), np.eye(len(parts))
        ),
        kinds=tuple(replace(x, first=i) for i, joint in enumerate(joints) for x in joint.kinds),
    )


def _joint_groups(
    samples: Sequence[tuple[Sequence[ClassInfluence], Groups]], *, conditional: bool
) -> JointEstimate:
    """Estimate the statistics of samples by the sums of the influence over groups."""
    n_statistics = sum(len(influences) for influences, _ in samples)
    n_groups = samples[0][1].n_groups
    parts, spans, regularized = [], [], np.zeros((n_statistics, n_statistics))
    added, labels = np.zeros((2, n_statistics, n_groups))
    start = 0
    for influences, groups in samples:
        rows = slice(start, start + len(influences))
        start += len(influences)
        ends = np.array([influence.class_ends() for influence in influences])
        positive, weight = influences[0].positive, influences[0].sampling_weight
        for side, in_class in enumerate(influences[0].classes):
            of_class_values = np.stack([influence.values[in_class] for influence in influences])
            values = np.zeros((n_statistics, of_class_values.shape[1]))
            values[rows] = of_class_values
            of_class = None if weight is None else weight[in_class]
            lengths = np.zeros(n_statistics)
            lengths[rows] = np.abs(ends[:, side, 1] - ends[:, side, 0])
            part = GroupPart.of_rows(values, groups.only(in_class), of_class, lengths)
            parts.append(part)
            # Half a group of the mean size more at either end.
            total = part.n_equal + 2.0 * PSEUDO_WEIGHT
            added += part.sums * (part.n_equal / total)
            regularized += np.diag(PSEUDO_WEIGHT * lengths**2 / 2.0 / total**2)
            spans.append(part.moved_together(lengths))
        if not conditional:
            slopes = np.array([influence.label_slope for influence in influences])
            labels[rows] = np.outer(slopes, label_sums(positive, weight, groups))
    sums, added = robust_sums(parts) + labels, added + labels
    kinds, n_classes = [], len(parts) // len(samples)
    for side in range(n_classes):
        in_class = parts[side::n_classes]
        # What a group that holds all of a class adds is unknown.
        known = reduce(np.add, [x.corrected if x.count > 1 else x.sums for x in in_class])
        n = float(np.count_nonzero(reduce(np.add, [x.sizes for x in in_class])))
        span = reduce(np.add, spans[side::n_classes])
        kinds.append(Units(known, known @ known.T, n, span))
    return JointEstimate(
        estimates=np.array([x.estimate for influences, _ in samples for x in influences]),
        covariance=sums @ sums.T,
        regularized=regularized + added @ added.T,
        length=max(influences[0].length for influences, _ in samples),
        n_effective=1.0 / sum(1.0 / part.effective for part in parts),
        spread=Spread.of_groups(parts),
        kinds=tuple(kinds),
        groups=sum((kind.values for kind in kinds), labels),
    )


def least_variance(difference: Any, length: float, n_effective: float) -> Any:
    """Find the variance of a difference below which it counts as unknown."""
    # Of the variance per item so much is rounding.
    rounding = ROUNDING**2 * length**2 if isfinite(length) else 0.0
    # A mean of more than three standard deviations makes the estimated variance unreliable.
    return np.maximum(rounding, (difference / 3.0) ** 2) / n_effective


def never_certain_covariance(
    estimates: FloatArray, regularized: FloatArray, n_effective: float
) -> FloatArray:
    """Covariance for which every difference has a positive variance.

    With the added items and the square of the mean.
    Shape (n_scorers, n_scorers).
    """
    deviations = estimates - estimates.mean()
    return np.asarray(regularized + np.outer(deviations, deviations) / n_effective)


def label_sums(positive: BoolArray, weight: FloatArray | None, groups: Groups) -> FloatArray:
    """Influence of the rows on the share of positives, summed by group. Shape (n_groups,)."""
    deviations = positive - np.average(positive, weights=weight)
    if weight is None:
        return groups.sums(deviations) / len(positive)
    return groups.sums(deviations * (weight / weight.sum()))
