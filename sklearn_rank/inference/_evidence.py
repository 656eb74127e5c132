"""Evidence of data on a measure: rows and groups, checked; influence, variance and covariance.

An interval needs only sums over the items, so the original row order is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from inspect import signature
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

from .. import _outer
from .._lists import Lists, ScoredLists, check_scored_lists, numbers_of_queries
from .._order import pairs_in_order
from .._partitions import any_collection, parts, refuse_collections
from .._times import check_times, day_of, hold_times
from .._typing import FloatArray
from .._validation import (
    Coded,
    are_judgments,
    array_of_labels,
    check_choice,
    check_qid,
    column_of,
    naming,
    ravelled,
    refuse_misread,
    shape_of,
)
from .._warn import warn
from ..bounds._shared import NEGLIGIBLE
from ..metrics import Accumulator, Measure, get_measure
from ..metrics._shared import (
    FEWEST_TIMES,
    ClassInfluence,
    Evidence,
    Groups,
    ListInParts,
    amounts_of,
    autocorrelations,
    look_dependent,
    refuse_amounts,
    refuse_value,
    singleton_groups,
)

if TYPE_CHECKING:
    from .._labels_in_part import Design


def list_in_parts(
    measure: Measure, y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any = None
) -> ListInParts:
    columns = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight}
    present = {name: value for name, value in columns.items() if value is not None}
    rows = ListInParts(measure, parts(**present), pos_label)
    if not rows.whole:
        raise ValueError(
            "sample_weight has a value that is not a whole number, but weights are numbers of"
            " occurrences: pass whole numbers."
        )
    return rows


def named_scores(scores: Any, *, name: str, least: int = 2) -> dict[str, Any]:
    is_frame = hasattr(scores, "columns") and hasattr(scores, "__getitem__")
    if not (is_frame or isinstance(scores, Mapping)):
        raise TypeError(
            f"{name} is a {type(scores).__name__}, but must be a mapping from names to scores or a"
            " data frame with one column per ranker: pass {'a': scores_a, 'b': scores_b}, after"
            " the labels or judgments."
        )
    rankers = list(scores if isinstance(scores, Mapping) else scores.columns)
    if len(rankers) < least:
        raise ValueError(
            f"{name} holds {len(rankers)} ranker{'s' * (len(rankers) != 1)}, but at least {least}"
            " are needed: pass their scores by name."
        )
    texts = [str(ranker) for ranker in rankers]
    for text in texts:
        if (count := texts.count(text)) > 1:
            raise ValueError(f"{name} has the name {text!r} {count} times: pass unique names.")
    return {text: scores[ranker] for text, ranker in zip(texts, rankers, strict=True)}


def scores_of_models(y_true: Any, scores: Any, name: str) -> dict[str, Any]:
    """Scores of several models by name, or those of one, whose name is empty."""
    if isinstance(scores, Mapping):
        return named_scores(scores, name=name, least=1)
    # Two dimensions of labels have one query per row.
    n_columns = (*np.shape(getattr(scores, "columns", ())), 1)[0]
    if n_columns > 1 and dimensions(y_true) == 1:
        return named_scores(scores, name=name)
    return {"": scores}


def check_groups(groups: Any, n: int, qid: Any = None) -> Groups | None:
    """Check the ids of groups of rows, of which there are at least two.

    Without groups, queries are groups if they are times.
    """
    if isinstance(groups, Groups):
        return groups
    if groups is not None:
        return _numbered(check_qid(groups, n, name="groups"))
    return _in_time(check_qid(qid, n), "qid") if hold_times(qid) else None


def _in_time(ids: Any, name: str) -> Groups:
    """Number times in their order."""
    if not isinstance(ids, Coded):
        ids = Coded(*np.unique(ids, return_inverse=True)[::-1])
    distinct = ids.distinct
    if distinct.dtype.kind in "iuU" or all(isinstance(x, str) for x in distinct):
        distinct = np.array([day_of(str(x)) for x in distinct])
    distinct, places = np.unique(check_times(**{name: distinct})[name], return_inverse=True)
    word = "days" if (distinct == distinct.astype("datetime64[D]")).all() else "times"
    if (n := len(distinct)) < FEWEST_TIMES:
        warn(
            f"{n} {word} tell little of how they depend on each other, and intervals cover too"
            f" seldom where they do: pass {FEWEST_TIMES} or more, or numbers of the {word}, as"
            " np.unique returns them, if they are independent.",
            UserWarning,
        )
    return Groups(places[ids.codes], n, word)


def warn_of_order(values: FloatArray) -> None:
    """Warn of values of numbered queries that are correlated as those of days are."""
    correlated = [row for row in values if look_dependent(row)]
    if correlated:
        found = float(autocorrelations(correlated[0])[0])
        warn(
            f"qid is no time, so that its {len(correlated[0])} values count as independent, but"
            f" those next to each other are correlated ({found:.2f}): if the order is that of"
            " time, pass qid=np.asarray(day, dtype='datetime64[D]').",
            UserWarning,
        )


def _numbered(ids: Any) -> Groups:
    if hold_times(ids):
        found = _in_time(ids, "groups")
    else:
        with naming("groups", "qid"):
            codes = numbers_of_queries(ids)
        found = Groups(codes, int(codes.max()) + 1)
    if found.n_groups == 1:
        raise ValueError(
            "groups has one group only, but the variance is estimated between groups: pass the"
            " ids of at least two groups."
        )
    return found


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

# With fewer queries that carry the weight, or rows of amounts, whose influence has no bound.
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
    if sample_weight is not None:
        parts(sample_weight=sample_weight).map(_refuse_fractions).results()


def _refuse_fractions(columns: dict[str, Any]) -> None:
    weight = np.ravel(np.asarray(columns["sample_weight"], dtype=np.float64))
    wrong = weight != np.floor(weight)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"sample_weight is {weight[row]:g} at row {row}, but weights='frequency' takes whole"
            " numbers of identical rows: pass whole numbers, or weights='sampling' if it is 1 /"
            " probability that the row was drawn."
        )


def refuse_few_draws(weight: FloatArray, what: str) -> None:
    """Refuse samples where so few items carry the weight that no interval is trustworthy.

    One more item of the largest weight counts too.
    """
    heaviest = float(weight.max())
    relative = np.append(weight, heaviest) / (heaviest or 1.0)
    draws = float(relative.sum() ** 2 / (relative @ relative)) - 1.0
    if draws < LEAST_DRAWS:
        raise ValueError(
            f"The {len(weight)} {what} are worth {draws:.1f} drawn with equal probability, as one"
            f" more of weight {heaviest:g} would show, and below {LEAST_DRAWS:g} intervals cover"
            " too seldom: draw more rows where weights are large, or report the value without an"
            " interval."
        )


Door = TypeVar("Door", bound=Callable[..., Any])


def takes_other_forms(door: Door) -> Door:
    """Let a question take judgments and runs, and a design that says when labels came."""
    parameters = signature(door).parameters
    names, of_each = list(parameters)[:3], "alternative" in parameters

    @wraps(door)
    def asked(*args: Any, **columns: Any) -> Any:
        first = {**dict(zip(names, args, strict=False)), **columns}
        judged = are_judgments(first.get(names[1]), first.get(names[2]), of_each)
        if not judged and getattr(columns.get("design"), "entered", None) is None:
            return door(*args, **columns)
        given = signature(door).bind(*args, **columns).arguments
        values = [given.pop(name, None) for name in names]
        return (_outer.call_on_runs if judged else _outer.call_as_of)(door, *values, **given)

    return asked  # type: ignore[return-value]


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
            refuse_collections("labels known in part belong to rows", y_true=y_true, **scores)
        y_true, rows["design"] = array_of_labels(y_true, name), design
    elif not in_chunks:
        y_true = ravelled(y_true, name)
    of_queries = qid is not None or dimensions(y_true, name=name) == 2
    if of_queries and not in_chunks:
        rows["groups"] = check_groups(None, len(y_true), qid) if groups is None else groups
    if value is not None:
        refuse_value(measure)
        refuse_collections("value is for rows in memory", y_true=y_true)
        if design is not None:
            refuse_amounts(measure)
        if dimensions(y_true) == 2:
            raise TypeError(
                "value is for one array of labels: pass the amounts of the rows as y_true, and"
                " leave value out."
            )
        y_true, pos_label = amounts_of(y_true, value, pos_label=pos_label), None
    if of_queries:
        rows["qid"] = qid
    if in_chunks:
        rows["in_chunks"] = True
    return y_true, rows | {"pos_label": pos_label}


def read_list(
    measure: Measure,
    y_true: Any,
    scores: Mapping[str, Any],
    *,
    conditional: bool | None = None,
    **columns: Any,
) -> list[Evidence]:
    """Evidence of rankers on one list; the only one has no name."""
    named = {column_of(ranker): score for ranker, score in scores.items()}
    y_true, rows = read_rows(measure, y_true, named, **columns)
    rows.pop("qid", None)
    how: Any = {"conditional": conditional, "names": list(named)}
    return check_lists(measure, y_true, list(named.values()), **how, **rows)


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
    names: Sequence[str] = (),
) -> list[Evidence]:
    """Evidence of each of several rankers that scored the same rows of one list."""
    if design is not None:
        rows = {"groups": groups, "pos_label": pos_label, "sample_weight": sample_weight}
        how: Any = {"design": design, "conditional": conditional, "name": name, "names": names}
        return _outer.lists_in_part(measure, y_true, scores, **how, **rows)
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
        table = list_in_parts(measure, y_true, y_score, pos_label, sample_weight)
        evidence = measure.evidence(table.in_one_memory(measure))
        return [replace(evidence, conditional=conditional is not False)]
    sampled = weights == "sampling"
    labels = measure.label_type(pos_label, name)
    names = names or ["y_score"] * len(scores)
    with naming(names[0]):
        data = check_scored_lists(y_true, scores[0], labels, sample_weight=sample_weight)
        measure._check_scores(data)
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
    lists = [data]
    for column, y_score in zip(names[1:], scores[1:], strict=True):
        with naming(column):
            lists.append(data.scored_by(y_score, shape))
            measure._check_scores(lists[-1])
    # Joined shares are of random labels unless it is said.
    conditional = "shares" not in measure.laws if conditional is None else conditional
    # A share of positives is what two classes have.
    fixed = (conditional or measure.kind != "binary") and not sampled
    of_list: Any = {"sampled": sampled, "conditional": fixed}
    return [replace(measure.evidence(replace(x, rows=None), dependent), **of_list) for x in lists]


# Standard errors below the AUC of a score without any order at which scores are told of, and at
# which others are told of beside them. Of a larger sample so many rows show whether to sort all.
FAR, BESIDE = 3.0, 2.0
MOST_ROWS = 10_000


def warn_of_reversed(lists: Mapping[str, ScoredLists], effect: float = 1.0) -> None:
    """Warn of scores that order items far worse than chance, on one list or within queries.

    The variance of one list is ``effect`` times that of independent rows.
    """
    if all(_order_of(_sample(x), effect)[1] > -FAR for x in lists.values()):
        return
    orders = {column_of(name): _order_of(x, effect) for name, x in lists.items()}
    if min(z for _, z in orders.values()) <= -FAR:
        found = [f"{name} (AUC {auc:.4f})" for name, (auc, z) in orders.items() if z <= -BESIDE]
        mend = "negate scores if low ones belong at the top"
        warn(f"{', '.join(found)} may be reversed: {mend}.", UserWarning)


def _sample(lists: ScoredLists) -> ScoredLists:
    """Rows of each list at equal distances, or whole lists where these are short."""
    step = len(lists.score) // MOST_ROWS
    if step < 2:
        return lists
    rows = np.arange(0, len(lists.score), step)
    offsets = -(-lists.offsets // step)
    if len(rows) < 5 * lists.n_lists:
        every = np.arange(lists.n_lists) % step == 0
        rows, offsets = lists.to_items(every).nonzero()[0], lists.lengths[every].cumsum()
        offsets = np.append(0, offsets)
    return ScoredLists(labels=lists.labels[rows], score=lists.score[rows], offsets=offsets)


def _order_of(lists: ScoredLists, effect: float) -> tuple[float, float]:
    """AUC of all pairs within lists, and its distance from 1/2 in standard errors."""
    in_order, n_pos, n_neg = pairs_in_order(lists.score, lists.labels > 0, lists.offsets)
    pairs = n_pos * n_neg
    above, variance = in_order - pairs / 2.0, effect * pairs @ (n_pos + n_neg + 1.0) / 12.0
    if lists.n_lists >= 10:  # which show how rows depend on each other
        variance = above @ above
    if variance <= 0.0:
        return nan, 0.0
    return float(in_order.sum() / pairs.sum()), float(above.sum() / np.sqrt(variance))


def warn_of_evidence(names: Sequence[str], evidences: Sequence[Evidence]) -> None:
    """Warn of scores of two classes in one list that may be reversed."""
    first = evidences[0]
    if first.measure.kind == "binary" and not first.sampled:
        data, groups = first.data, first.groups
        effect = 1.0 if groups is None else float(data.sizes[0]) / groups.count  # At most
        warn_of_reversed({x: e.data for x, e in zip(names, evidences, strict=True)}, effect)


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
    known = measure.has_influence and measure.weights != "none" and not measure.depends_on_length
    if known and (measure.kind == "binary" or measure.of_amounts):
        return
    stem, k, of_share = measure.stem.rstrip("@"), getattr(measure, "k", None), ""
    with suppress(ValueError):
        if k is not None and get_measure(f"{stem}@top0.5"):
            of_share = f" f'{stem}@top{{{k} / n}}' for n rows in all,"
    raise ValueError(
        f"{measure.name} of one list has no interval for rows of unequal weights, as with"
        " weights='sampling' or labels that come late: use a measure of shares that has an"
        f" influence function, such as{of_share} 'auc', 'partial_auc@fpr0.1', 'precision@top0.05',"
        " 'tpr@fpr0.1', 'ap' or 'bedroc@20', or report the value alone."
    )


def sampling_influence(measure: Measure, data: ScoredLists) -> ClassInfluence:
    """Influence of rows on a measure of the population that they were drawn from."""
    if measure.kind != "binary":
        refuse_few_draws(data.counts, "rows")
    weight = data.counts / data.counts.min()
    data = replace(data, weight=weight)
    influence = influence_of(measure, counted_sample(data), conditional=False).linear
    estimate = influence.estimate
    if measure.weights == "whole":
        # The ends are those of one item above all repetitions, and a drawn row is many of them.
        influence = replace(influence, ends=None)
    else:
        estimate = float(measure.values(data)[0])
    return replace(influence, estimate=estimate, counts=None, sampling_weight=weight)


def counted_sample(data: ScoredLists) -> ScoredLists:
    """Rows of unequal probabilities as so many items, in proportion to their weights."""
    weight = data.counts / data.counts.min()
    relative = weight / weight.max()
    n_draws = float(relative.sum() ** 2 / (relative @ relative))
    return replace(data, weight=whole_weights(weight), draws=n_draws)


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
            text += dependent.text
        texts.append(text)
    return f"{measure.name} on {' and on '.join(texts)}"
