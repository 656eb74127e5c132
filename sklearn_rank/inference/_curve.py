"""One measure at many places: a curve with limits at each place, and a band for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lists import ScoredLists
from .._order import TiedBlocks, counted_blocks
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_flag, check_generator, check_level, naming
from ..metrics import Measure
from ..metrics._shared import Evidence, MeasureLike, measure_at, upto_from
from ._evidence import (
    WeightMeaning,
    dimensions,
    influences_of,
    read_list,
    scores_of_models,
    takes_other_forms,
)
from ._intervals import Intervals
from ._joint import joint_influence
from ._methods import single
from ._results import Interval, contrasts_of
from ._simultaneous import (
    Rankers,
    TableRow,
    errors_of_rows,
    joint_law,
    moved_by_draws,
    rankers_on_list,
    read_rankers,
    simultaneous_table,
    size_of_list,
)

if TYPE_CHECKING:
    from .._labels_in_part import Design

# Number of places of a curve that are chosen for the user.
PLACES = 100
# Amounts that take more values than this are not counted but looked at row by row.
MOST_LABELS = 16


@takes_other_forms
def curve(
    measure: MeasureLike,
    y_true: Any,
    scores: Any,
    *,
    at: Any = None,
    baseline: str | None = None,
    qid: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    pos_label: Any = None,
    value: Any = None,
    design: Design = None,
    conditional: bool | None = None,
    level: float = 0.95,
    random_state: Any = None,
) -> Intervals:
    """Curve of a measure, with limits at each place and a band that holds for all places.

    A curve is one measure at many values of its number: recall over the length of the top, the
    true positive rate over the false positive rate, net benefit over the threshold. Which place to
    act at is decided after looking, so that single intervals are right too seldom; the band holds
    for all places, and at whichever is chosen.

    Parameters
    ----------
    measure : str, Measure or ScoreGeneratingFunction
        Name of a measure without its number, such as ``"recall@k"``, ``"precision@top"``,
        ``"lift"``, ``"tpr@fpr"``, ``"fpr@tpr"``, ``"precision@recall"``, ``"net_benefit"``,
        ``"profit@k"`` or ``"ndcg@k"``: "k" are numbers of items, "top" shares of them. Or a
        measure with other parameters, at any number.
    y_true : array-like of shape (n_samples,), or judgments
        Labels or amounts, as the measure requires. Or judgments of documents by query, as for
        :func:`metric_interval`, with runs as ``scores``.
    scores : array-like of shape (n_samples,), mapping of str to these, or data frame
        Scores of one model, or of several by name.
    at : array-like of float or None, default=None
        Places: numbers of items, shares or thresholds, in any order. None means 100 of them, up to
        the whole list; on a logarithmic scale for items and their shares.
    baseline : str or None, default=None
        Name of the model that every other one is compared with: the rows are then of differences
        ``other - baseline``.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row: the curve is of means over queries, and ``at`` is required.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user) of each row; rows of different groups are independent,
        unless these are times (dates, timestamps). None means independent rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows; ``weights`` says what they mean.
    weights : {"frequency", "sampling"} or None, default=None
        What ``sample_weight`` is, as for :func:`metric_interval`.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    value : pair or array-like of shape (n_samples,) or (n_samples, 2), default=None
        For measures of amounts and labels of two classes: what each row brings, as for
        :func:`metric_interval`.
    design : LabelDesign, "all" or None, default=None
        How rows were chosen for labelling, if some labels are missing; ``at`` is then required. Or
        when labels come, if they come late.
    conditional : bool or None, default=None
        Whether the labels of one list are treated as fixed, as for :func:`metric_interval`.
    level : float, default=0.95
        Nominal coverage of the limits at each place, and of the band for all places of all models,
        in (0, 1).
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed of the normal draws. Pass an int for reproducible results.

    Returns
    -------
    Intervals
        One row for each model, or contrast, and place, with the columns ``ranker`` or
        ``contrast``, and ``at``. ``found.at(k)`` reads the band at any place, ``conclusions`` says
        in which ranges of places which model is better.

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If an argument is not valid: a measure without a number, places outside of the list, or a
        baseline that is no model.

    See Also
    --------
    metric_interval : One place; or several measures at once.
    compare : Rankers at one place.
    sklearn_rank.plotting.CurveDisplay : Plots the result.

    Notes
    -----
    Simultaneity is a level. The influences of the rows on the J places have a correlation matrix
    R, and c is the quantile of ``max |Z_j|`` for normal Z of that correlation. Limits of the
    places, each by its own method at the level ``1 - 2 Phi(-c)``, hold together: Wilson's, exact
    ones where counts are small, order statistics for rates. The level is at most Bonferroni's ``1
    - (1 - level) / J``, which is taken for labels known in part and for measures that are neither
    smooth nor sums over items; ``level_of_each`` and ``method`` say which. Limits of differences
    are those of :func:`compare`. The target of each place is that of :func:`metric_interval`, and
    so are the assumptions: independent rows, groups or queries, and scores that were not fitted on
    them.

    The band is asymptotic in the joint distribution, and holds at the places of the grid. Between
    two of them ``at(k)`` has limits of the same level; for a grid that is much finer than the
    steps of the curve these are the same band.

    One list is sorted once for each model. Measures of a cut-off in the list then need a table of
    some rows at each place: O(n log n + J^2) time, and O(n + J^2) memory. Others, with groups or
    amounts of many values, take O(n J) time and memory.

    References
    ----------
    .. [1] Hothorn, Bretz & Westfall (2008), *Simultaneous inference in general parametric
       models*, Biometrical Journal 50.
    .. [2] Montiel Olea & Plagborg-Moller (2019), *Simultaneous confidence bands: theory,
       implementation, and an application to SVARs*, Journal of Applied Econometrics 34.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import curve
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(2000) < 200
    >>> signal = rng.normal(size=2000) + 1.2 * y
    >>> scores = {"a": signal, "b": signal + rng.normal(size=2000)}
    >>> found = curve(
    ...     "recall@k", y, scores["a"], at=[50, 100, 200, 400], random_state=0
    ... )
    >>> print(found)
    recall@k on 2000 items
    max-z for 4 questions
    at   estimate         95 % each  95 % all together
    50     0.1500  [0.1148, 0.1825]   [0.1066, 0.1894]
    100    0.2500  [0.2044, 0.2956]   [0.1939, 0.3061]
    200    0.4100  [0.3534, 0.4715]   [0.3404, 0.4853]
    400    0.6050  [0.5411, 0.6676]   [0.5259, 0.6815]

    The band holds at a place that is chosen after looking:

    >>> print(found.at(150))
    0.3200 [0.2554, 0.3866] (recall@150 at 200 positives of 2000, 95 %, influence, max-z of 4)

    Where is "a" better than "b"?

    >>> shares = [0.05, 0.1, 0.2, 0.3]
    >>> found = curve(
    ...     "precision@top", y, scores, at=shares, baseline="b", random_state=0
    ... )
    >>> found.conclusions
    ('a - b: a better at all 4 places from 0.05 to 0.3',)
    """
    level, rng = check_level(level), check_generator(random_state)
    if conditional is not None:
        conditional = check_flag("conditional", conditional)
    scores = scores_of_models(y_true, scores, "scores")
    names = tuple(scores)
    contrasts = None if baseline is None else contrasts_of(names, baseline)
    columns: Any = {"qid": qid, "groups": groups, "sample_weight": sample_weight}
    columns |= {"weights": weights, "pos_label": pos_label, "value": value, "design": design}
    columns["conditional"] = conditional
    example = measure_at(measure)
    name = measure if isinstance(measure, str) else example.name
    with naming("scores"):
        rows = CurveData.read(example, y_true, scores, columns, rng)
    places = _places(example, at, rows)
    rows_at = partial(rows.table_rows, example, contrasts=contrasts)
    try:
        table, products = rows_at(places)
    except ValueError:
        # Of a grid that was not asked for, places without limits are left out.
        places = [place for place in places if at is None and _has_limits(rows_at, place)]
        if not places:
            raise
        table, products = rows_at(places)
    target = f"{'difference of ' if contrasts else ''}{name} on {rows.size_text}"
    more: Any = {"reader": partial(_read, rows, example, contrasts)}
    more |= {"parameter": example.in_name}
    if contrasts is None:
        more["references"] = rows.references(example, places)
    return simultaneous_table(table, level, rng, target, products, **more)


def _has_limits(rows_at: Callable[..., Any], place: Any) -> bool:
    try:
        rows_at([place])
    except ValueError:
        return False
    return True


def _read(
    rows: CurveData, measure: Measure, contrasts: Any, name: str, place: float, level: float
) -> Interval:
    """Interval of a ranker or contrast at another place."""
    table, _ = rows.table_rows(measure, [place], contrasts)
    (question,) = (x for x in table if name in (x.keys.get("ranker"), x.keys.get("contrast")))
    return question.single.interval(level)  # type: ignore[union-attr]


def _places(example: Measure, at: Any, rows: CurveData) -> list[Any]:
    """Places of a curve, ascending; a grid over all of the list if none are given."""
    number: Any = example._number
    whole = number.is_whole
    n = float(rows.evidences[0].data.sizes[0]) if rows.evidences else inf
    if at is None:
        if not rows.evidences or not (whole or number.is_share):
            raise ValueError(
                "at is missing: pass the places of the curve, such as at=[1, 5, 10, 20], which"
                " are chosen for you only where all rows are one list with all labels, and"
                " places are numbers or shares of items."
            )
        if whole:
            return np.unique(np.geomspace(1, max(n - 1, 1), PLACES).round().astype(int)).tolist()
        if example.in_name == "tau":
            shares = np.geomspace(max(1.0 / n, 1e-3), 0.99, PLACES)
            return np.unique([float(f"{share:.2g}") for share in shares]).tolist()
        return (np.arange(1, PLACES) / PLACES).tolist()
    values = np.atleast_1d(np.asarray(at))
    if values.ndim != 1 or not values.size or values.dtype.kind not in "iuf":
        raise ValueError(
            f"at={at!r} must be the places of the curve: pass a list of numbers, such as"
            f" at={[1, 10, 100] if whole else [0.01, 0.05, 0.1]}."
        )
    largest = n if whole else 1.0 if number.is_share else inf
    wrong = ~np.isfinite(values) | (values <= 0) | (values > largest)
    wrong |= values != np.floor(values) if whole else (values == 1.0) & number.is_share
    if wrong.any():
        value = values[int(np.argmax(wrong))].item()
        most = "numbers above 0" if largest > 1 else "shares above 0 and below 1"
        most = f"whole numbers from 1 to {n:.0f}" if whole else most
        divided = (
            f", {value / 100:g} for {value:g} %" if largest == 1.0 and 1 <= value < 100 else ""
        )
        raise ValueError(
            f"at has {value:g}, but the places of this curve are {most}: pass"
            f" such places{divided}."
        )
    return np.unique(values.astype(int) if whole else values).tolist()


@dataclass(frozen=True, eq=False)
class CurveData:
    """The rows of a curve, as they were read for its first place."""

    y_true: Any
    scores: Mapping[str, Any]
    columns: dict[str, Any]
    rng: np.random.Generator
    evidences: Sequence[Evidence]  # Of one list; none of queries and of labels known in part
    size_text: str

    @classmethod
    def read(
        cls,
        measure: Measure,
        y_true: Any,
        scores: Mapping[str, Any],
        columns: dict[str, Any],
        rng: np.random.Generator,
    ) -> CurveData:
        if columns["qid"] is None and columns["design"] is None and dimensions(y_true) == 1:
            evidences = read_list(measure, y_true, scores, **columns)
            size_text = size_of_list(evidences[0])
        else:
            evidences = []
            found = read_rankers(measure, y_true, scores, compared=False, rng=rng, **columns)
            size_text = found.size_text
        return cls(y_true, scores, columns, rng, evidences, size_text)

    def table_rows(
        self, measure: Measure, places: Sequence[Any], contrasts: Any
    ) -> tuple[list[TableRow], FloatArray | None]:
        """Questions of all rankers or contrasts, each with all places; and their covariance."""
        measures = [measure_at(measure, place) for place in places]
        rankers = list(self.scores)
        names = [f"{a} - {b}" for a, b in contrasts] if contrasts else rankers
        tables = (
            CountedRankers.of(self.evidences, measures[0], contrasts) if self.evidences else None
        )
        if tables is not None:
            pairs = contrasts and [(rankers.index(a), rankers.index(b)) for a, b in contrasts]
            singles, products = tables.table_rows(measures, pairs)
        else:
            products, found = None, [self._at(x, contrasts) for x in measures]
            singles = [x.differences(contrasts) if contrasts else x.values() for x in found]
        column = "contrast" if contrasts else "ranker"
        table = []
        for i, name in enumerate(names):
            for place, of_place in zip(places, singles, strict=True):
                keys = {column: name or "scores", "at": place}
                table.append(replace(of_place[i], keys=keys))
        return table, products

    def references(self, example: Measure, places: Sequence[Any]) -> dict[str, tuple[float, ...]]:
        """Values of equal scores at the places of each ranker, where they cost little."""
        name = example.with_equal_scores
        if not (self.evidences and name and example.weights != "none"):
            return {}
        data = self.evidences[0].data
        labels, codes = np.unique(data.labels, return_inverse=True)
        if len(labels) > MOST_LABELS or self.evidences[0].sampled:
            return {}
        tied = ScoredLists(
            labels=labels,
            score=np.ones(len(labels)),
            weight=np.bincount(codes, data.weight).astype(np.float64),
            offsets=np.array([0, len(labels)]),
        )
        values = [float(measure_at(example, place).values(tied)[0]) for place in places]
        return {name: tuple(values) * len(self.scores)}

    def _at(self, measure: Measure, contrasts: Any) -> Rankers:
        """The rankers by the measure at a place."""
        if self.evidences:
            evidences = [replace(x, measure=measure) for x in self.evidences]
            return rankers_on_list(measure, tuple(self.scores), evidences, contrasts is not None)
        how: Any = {"compared": contrasts is not None, "rng": self.rng}
        return read_rankers(measure, self.y_true, self.scores, **how, **self.columns)


@dataclass(frozen=True, eq=False)
class StepInfluence:
    """Influence that is equal over runs of blocks of tied rows, for each label."""

    influence: Any  # ClassInfluence of a table with a row for each run and label, or None
    starts: IntArray  # (n_runs,): First block of each run
    values: FloatArray  # (n_labels, n_runs): Influence
    moved: FloatArray  # (n_labels, n_runs): By how much a row moves the statistic

    def run_of(self, blocks: IntArray) -> IntArray:
        return np.searchsorted(self.starts, blocks, "right") - 1


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows of one ranker, counted by block of tied scores and label."""

    evidence: Evidence
    labels: AnyArray  # (n_labels,)
    blocks: TiedBlocks
    upto: FloatArray  # (n_labels, n_blocks + 1): Number of rows before each block, and all

    @classmethod
    def of(cls, evidence: Evidence, labels: AnyArray, codes: IntArray) -> CountedRows:
        data, of_classes = evidence.data, evidence.data.labels.dtype == bool
        positive = data.labels if of_classes else np.zeros(len(codes), dtype=bool)
        blocks = counted_blocks(data.score, positive, data.weight)
        if of_classes:
            return cls(evidence, labels, blocks, blocks.upto[::-1])
        upto = np.zeros((len(labels), len(blocks.starts) + 1))
        for code, row in enumerate(upto):
            counts = np.where(codes == code, data.counts, 0.0)
            np.cumsum(blocks.totals(counts), out=row[1:])
        return cls(evidence, labels, blocks, upto)

    @cached_property
    def block_of(self) -> IntArray:
        """Block of each row, from the top."""
        return np.asarray(self.blocks.to_items(np.arange(len(self.blocks.starts))))

    @cached_property
    def score(self) -> FloatArray:
        """Score of each block, or a number where these are infinite."""
        score = self.evidence.data.score[self.blocks.order[self.blocks.starts]]
        if not np.isfinite(score[[0, -1]]).all():
            score = -np.arange(len(score))
        return score if score.dtype.kind == "f" else score.astype(np.float64)

    @cached_property
    def score_upto(self) -> FloatArray:
        """Sum of the scores of the rows before each block, and of all."""
        return np.append(0.0, np.cumsum(self.score * self.blocks.size, dtype=np.float64))

    def counts_of(self, starts: IntArray) -> FloatArray:
        """Number of rows of each label in runs of blocks. Shape (n_labels, n_runs)."""
        return np.diff(self.upto[:, np.append(starts, self.upto.shape[1] - 1)], axis=1)

    def scores_of(self, starts: IntArray, dtype: Any) -> FloatArray:
        """Mean score of the rows of runs of blocks, which is between those of their ends."""
        ends = np.append(starts[1:], len(self.score))
        means = (self.score_upto[ends] - self.score_upto[starts]) / self.counts_of(starts).sum(0)
        inside = np.clip(means.astype(dtype), self.score[ends - 1], self.score[starts])
        return np.asarray(np.where(ends - starts == 1, self.score[starts], inside), dtype)

    def at(self, measure: Measure, law: str) -> tuple[Any, StepInfluence]:
        """Limits of the measure, and its influence, from a table with few rows.

        The blocks that the measure looks at one by one stay as they are; all between them are one.
        """
        near: Any = measure.blocks_at_cut(self.evidence.data, self.blocks, law)
        ends = np.concatenate([[0], near, near + 1])
        starts = np.unique(ends[ends < self.upto.shape[1] - 1])
        counts = self.counts_of(starts)
        label, run = np.nonzero(counts)
        of_rows = counts[label, run]
        data = ScoredLists(
            labels=self.labels[label],
            # Sums of scores need all digits; a threshold has those of the scores.
            score=self.scores_of(starts, np.float64 if law == "draws" else self.score.dtype)[run],
            weight=of_rows,
            offsets=np.array([0, len(run)]),
        )
        evidence, influence = replace(self.evidence, measure=measure, data=data), None
        values = np.zeros((2, *counts.shape))
        if law == "draws":
            values[:, label, run] = moved_by_draws(evidence) / np.sqrt(of_rows)
        else:
            (influence,), _ = influences_of([evidence])
            if influence.curve is not None:
                # Its limits look at the curve of all rows.
                upto = upto_from(self.blocks, influence.curve.of_positives)
                influence = replace(influence, curve=replace(influence.curve, upto=upto))
            moved = errors_of_rows(influence, evidence.conditional) / np.sqrt(of_rows)
            values[:, label, run] = influence.linear.values, moved
        of_one = single(evidence, influence=influence)
        for i, known in enumerate(counts > 0.0):
            # A run without rows of a label is as the one before it.
            last = np.maximum.accumulate(np.where(known, np.arange(len(known)), 0))
            values[:, i] = values[:, i, last]
        new = np.append(True, (values[:, :, 1:] != values[:, :, :-1]).any(axis=(0, 1)))
        return of_one, StepInfluence(influence, starts[new], *values[:, :, new])


@dataclass(frozen=True, eq=False)
class CountedRankers:
    """Rankers on one list of few distinct labels, each counted by blocks of tied scores."""

    counted: Sequence[CountedRows]
    codes: IntArray  # (n_rows,): Label of each row
    law: str  # What the joint distribution rests on

    @classmethod
    def of(
        cls, evidences: Sequence[Evidence], measure: Measure, contrasts: Any
    ) -> CountedRankers | None:
        """Count the rows of rankers; None where each row counts by itself."""
        first, law = evidences[0], joint_law(measure, contrasts is not None)
        if first.groups is not None or first.sampled or not law:
            return None
        labels, codes = np.array([False, True]), first.data.labels
        if codes.dtype != bool:
            labels, codes = np.unique(codes, return_inverse=True)
        if len(labels) > MOST_LABELS:
            return None
        counted = [CountedRows.of(x, labels, codes) for x in evidences]
        if measure.blocks_at_cut(first.data, counted[0].blocks, law) is None:
            return None
        return cls(counted, codes, law)

    def table_rows(
        self, measures: Sequence[Measure], contrasts: Sequence[tuple[int, int]] | None
    ) -> tuple[list[list[TableRow]], FloatArray]:
        """Questions of each place, of rankers or contrasts, and the covariance of all."""
        found = [[of_one.at(x, self.law) for x in measures] for of_one in self.counted]
        runs = [
            np.unique(np.concatenate([steps.starts for _, steps in of_one])) for of_one in found
        ]
        moved = [
            np.stack([x.moved[:, x.run_of(starts)] for _, x in of_one])
            for of_one, starts in zip(found, runs, strict=True)
        ]
        k, m = len(found), len(measures)
        products, upto = np.empty((k, m, k, m)), {}
        for i in range(k):
            alone = self.counted[i].counts_of(runs[i])
            one = moved[i].reshape(m, -1)
            products[i, :, i] = (one * alone.ravel()) @ one.T
            for j in range(i + 1, k):
                cells = self._counts(i, j, runs)
                both = (moved[i].swapaxes(0, 1) @ cells).swapaxes(0, 1).reshape(m, -1)
                both = both @ moved[j].reshape(m, -1).T
                products[i, :, j], products[j, :, i] = both, both.T
                upto[i, j] = np.pad(cells.cumsum(axis=1).cumsum(axis=2), ((0, 0), (1, 0), (1, 0)))
                upto[j, i] = upto[i, j].swapaxes(1, 2)
        if contrasts is None:
            singles = [[TableRow({}, of_one[p][0]) for of_one in found] for p in range(m)]
            return singles, products.reshape(k * m, k * m)
        matrix = np.eye(k)[[a for a, _ in contrasts]] - np.eye(k)[[b for _, b in contrasts]]
        products = np.tensordot(matrix, np.tensordot(products, matrix, (2, 1)), (1, 0))
        products = products.swapaxes(2, 3)
        size = len(contrasts) * m
        differences = [
            [
                self._difference(
                    [found[a][p][1], found[b][p][1]],
                    upto[a, b],
                    [runs[a], runs[b]],
                    measures[p],
                )
                for a, b in contrasts
            ]
            for p in range(m)
        ]
        return differences, products.reshape(size, size)

    def _counts(self, i: int, j: int, runs: Sequence[IntArray]) -> FloatArray:
        """Numbers of rows by label and by run of two rankers."""
        first, second, n_labels = self.counted[i], self.counted[j], len(self.counted[i].labels)
        places = self.codes
        for of_one, starts in ((first, runs[i]), (second, runs[j])):
            of_blocks = np.zeros(of_one.upto.shape[1] - 1, dtype=np.intp)
            of_blocks[starts] = 1
            places = places * len(starts) + (np.cumsum(of_blocks) - 1)[of_one.block_of]
        shape = n_labels, len(runs[i]), len(runs[j])
        weight = first.evidence.data.weight
        counts = np.bincount(places, weight, int(np.prod(shape)))
        return counts.reshape(shape).astype(np.float64, copy=False)

    def _difference(
        self,
        pair: Sequence[StepInfluence],
        upto: FloatArray,
        runs: Sequence[IntArray],
        measure: Measure,
    ) -> TableRow:
        """Difference of two rankers at a place, from the numbers of rows before runs of both."""
        ends = [
            np.append(np.searchsorted(starts, steps.starts), len(starts))
            for steps, starts in zip(pair, runs, strict=True)
        ]
        counts = np.diff(np.diff(upto[:, ends[0]][:, :, ends[1]], axis=1), axis=2)
        label, *both = np.nonzero(counts)
        of_rows, labels = counts[label, *both], self.counted[0].labels[label]
        influences = [
            replace(
                steps.influence.linear,
                values=steps.values[label, run],
                positive=None if steps.influence.positive is None else labels,
                counts=of_rows,
            )
            for steps, run in zip(pair, both, strict=True)
        ]
        evidence = self.counted[0].evidence
        joint = joint_influence(influences, conditional=evidence.conditional)
        rankers = Rankers(measure, ("0", "1"), (), measure.name, joint)
        return rankers.differences([("0", "1")])[0]
