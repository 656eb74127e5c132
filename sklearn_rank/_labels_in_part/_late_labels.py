"""Labels that come late: which are known on a day, and what those that are known stand for.

A row is watched from its entry for a length of time, and its label is whether an event comes
within the horizon. It is known from the event on, or from the horizon on: whether it is known
depends on the label. Rows that were watched for the horizon are a sample of all; the others are
censored, and a label that is known stands for as many rows as the probability says of being
watched for so long (inverse probability of censoring), which Kaplan and Meier's estimator gives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lists import LabelType, check_lists, numbers_of_queries
from .._times import check_duration, check_times, in_days, last_time
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import are_missing, array_of_labels, check_qid, refuse_misread
from .._warn import warn
from ..metrics._shared import Groups, autocorrelations, look_dependent, singleton_groups

if TYPE_CHECKING:
    from ._label_design import LabelDesign


@dataclass(frozen=True, eq=False)
class LateLabels:
    """What is known of the labels of rows on a day."""

    labels: FloatArray  # (n_rows,): 1 for an event within the horizon, 0 for none, NaN if unknown
    mature: BoolArray  # (n_rows,): Watched for the horizon
    watched: FloatArray  # (n_rows,): Days until the label was known, or until now
    strata: IntArray  # (n_rows,): Within which rows are watched for lengths that are random
    chosen: BoolArray  # (n_rows,): Chosen for a label
    probability: FloatArray  # (n_rows,): With which each row was chosen
    horizon: float
    to_event: bool  # Whether rows were watched until their event, and not until some other time

    @classmethod
    def of(
        cls, design: LabelDesign, y_true: Any, pos_label: Any = None, *, at_any_time: bool = False
    ) -> LateLabels:
        """What is known of events within the horizon, or where there is none, at any time."""
        if design.horizon is None and not at_any_time:
            raise TypeError(
                "entered says when rows came, and the label is an event within a horizon: pass"
                " horizon=, in days or as a timedelta. Only c_index is of events at any time."
            )
        labels = array_of_labels(y_true)
        n = len(labels)
        columns = {"entered": design.entered, "resolved": design.resolved, "as_of": design.as_of}
        if design.resolved is None:
            columns["resolved"] = np.full(n, np.nan)
        refuse_misread(y_true=y_true, **columns)
        times = check_times(**columns, may_lack=("resolved",))
        entered, resolved, horizon = times["entered"], times["resolved"], inf
        if design.horizon is not None:
            horizon = check_duration("horizon", design.horizon)
        as_of = times["as_of"] if "as_of" in times else last_time(entered, resolved)
        for name, column in {"entered": entered, "resolved": resolved, "as_of": as_of}.items():
            if len(column) != n and not (name == "as_of" and len(column) == 1):
                raise ValueError(
                    f"{name} has {len(column)} entries for {n} labels: pass one per row."
                )
        until, present = in_days(resolved - entered), ~are_missing(labels)
        positive = np.zeros(n, dtype=bool)
        if present.any():
            positive[present] = check_lists(
                labels[present], LabelType("binary", pos_label)
            ).positive
        ends, told = in_days(as_of - entered), resolved <= as_of
        for wrong, what in (
            (until < 0.0, "was resolved before it entered: correct one of both times"),
            (ends < 0.0, "entered after as_of: leave out the rows that were not there then"),
            (
                told & ~present,
                "was resolved, but y_true has no label for it: pass its label, or no time",
            ),
            (
                positive & are_missing(resolved),
                "is positive, but has no time at which that became known: pass it as resolved",
            ),
        ):
            if wrong.any():
                raise ValueError(f"Row {int(np.argmax(wrong))} {what}.")
        # A sum of a time and the horizon may be rounded.
        slack = 0.0
        if entered.dtype.kind == "f":
            slack = 4.0 * float(np.spacing(np.nanmax(np.abs([entered.max(), as_of.max()]))))
        mature, within = ends >= horizon - slack, told & (until <= horizon + slack)
        chosen, probability = design._selection(n)
        found = np.where(within, positive, np.where(mature & chosen, 0.0, np.nan))
        if (wrong := within & ~chosen).any():
            raise ValueError(
                f"Row {int(np.argmax(wrong))} was resolved, but not chosen for a label, as pool"
                " says: leave out labels that came in another way."
            )
        strata: IntArray = np.zeros(n, dtype=np.intp)
        if design.strata is not None:
            strata = numbers_of_queries(check_qid(design.strata, n, name="strata"))
        watched = np.minimum(np.where(within, until, ends), horizon)
        early = positive & within & ~mature
        to_event = bool(len(as_of) == n and early.any() and (resolved == as_of)[early].all())
        return cls(found, mature, watched, strata, chosen, probability, horizon, to_event)

    @property
    def cohort(self) -> BoolArray:
        """Rows that were watched for the horizon, whatever their labels are."""
        if self.to_event:
            raise ValueError(
                "as_of is the time of the event for all rows with one, so nothing says for how"
                " long they would have been watched, and which rows are mature: pass the time"
                " until which each row would have been watched, or ask of one list without"
                " mature_only."
            )
        return self.mature

    @property
    def known(self) -> BoolArray:
        return ~np.isnan(self.labels)

    @property
    def text(self) -> str:
        n_mature, n_early = int(self.mature.sum()), int((self.known & ~self.mature).sum())
        what = f"events at any time, {n_early:,} known"
        if isfinite(self.horizon):
            what = f"events within {self.horizon:g} days of entry, {n_mature:,} rows mature,"
            what += f" {n_early:,} known early"
        return f"{what}, {int((~self.known).sum()):,} open"

    @property
    def reaches(self) -> bool:
        """Whether rows were watched for the horizon in each stratum that has open rows."""
        n_mature = np.bincount(self.strata, self.mature & self.chosen)
        return bool(n_mature[self.strata[~self.known]].all() and self.probability.all())

    def warn_of_days(self, entered: Any) -> None:
        """Warn if labels look as if days depended on each other, where rows count as independent.

        Labels of rows that are not mature are known by what they are.
        """
        counts = self.known & self.mature
        (times,) = check_times(entered=entered).values()
        days = times.astype("M8[D]") if times.dtype.kind == "M" else np.floor(times)
        _, day_of = np.unique(days[counts], return_inverse=True)
        rates = np.bincount(day_of, self.labels[counts]) / np.bincount(day_of)
        if look_dependent(rates):
            warn(
                f"Labels of {len(rates)} days of entry are correlated from one to the next"
                f" ({float(autocorrelations(rates)[0]):.2f}), but rows count as independent: if"
                " days depend on each other, pass the dates of entry as groups.",
                UserWarning,
            )

    def weights(self, groups: Groups | None = None) -> tuple[FloatArray, CensoredRows]:
        """Rows that each known label stands for, 0 if unknown; what moves with these weights."""
        rows = np.flatnonzero(self.chosen)
        censoring = Censoring.of(self.watched[rows], ~self.known[rows], self.strata[rows])
        slot, weight = np.zeros((2, len(self.labels)))
        slot[rows], weight[rows] = censoring.slot, censoring.per_label[censoring.slot]
        weight = np.where(self.known, weight / self.probability, 0.0)
        groups = groups or singleton_groups(len(weight))
        of_rows: Any = {"slot": slot.astype(np.intp), "group_of": groups.codes[rows]}
        return weight, CensoredRows(**vars(groups), censoring=censoring, **of_rows)


def in_words(labels: AnyArray, pos_label: Any) -> AnyArray:
    """Labels of 1, 0 and NaN as a positive class, if there is one, another class and None."""
    if pos_label is None:
        return labels
    kind = type(pos_label)
    words = np.array([kind() if pos_label else kind(1), pos_label])[(labels == 1.0).astype(int)]
    if (missing := np.isnan(labels)).any():
        words = words.astype(object)
        words[missing] = None
    return words


@dataclass(frozen=True, eq=False)
class Censoring:
    """Lengths of time after which rows of a stratum were no longer watched, one after the other.

    A slot is the time between two of these; each stratum has one more slot than lengths.
    """

    slot: IntArray  # (n_rows,): Of the time at which the label was known, or the row was censored
    censored: BoolArray  # (n_rows,)
    first: IntArray  # (n_slots,): First slot of the stratum
    per_label: FloatArray  # (n_slots,): 1 / probability of being watched until this slot
    hazard: FloatArray  # (n_slots,): Share of the rows at risk that are censored at its end
    at_risk: FloatArray  # (n_slots,): Number of rows watched beyond its end

    @classmethod
    def of(cls, watched: FloatArray, censored: BoolArray, strata: IntArray) -> Censoring:
        times, rank = np.unique(watched, return_inverse=True)
        # Rows by stratum and time; each stratum ends after all times.
        n_keys = len(times) + 1
        keys = strata * n_keys + rank
        tails = np.arange(1, strata.max() + 2) * n_keys - 1
        ends = np.unique(np.append(keys[censored], tails))
        # A label that is known at a time at which others are censored is known before.
        slot = np.searchsorted(ends, keys)
        first = np.searchsorted(ends, ends // n_keys * n_keys)
        n_censored = np.bincount(slot, censored, len(ends))
        at_risk = _beyond(np.bincount(slot, minlength=len(ends)), first)
        hazard = n_censored / np.maximum(at_risk + n_censored, 1.0)
        # Where all that are left are censored, no later row has a label.
        logs = np.append(0.0, -np.log1p(-np.where(hazard < 1.0, hazard, 0.0)).cumsum()[:-1])
        return cls(slot, censored, first, np.exp(logs - logs[first]), hazard, at_risk)

    def moved(self, slot: IntArray, values: FloatArray) -> FloatArray:
        """By how much each row moves a sum by the weights of rows, which it moves by values.

        The martingale of censoring times what the labels that were known later move the sum.
        Shape (n_rows,).
        """
        later = _beyond(np.bincount(slot, values, len(self.first)), self.first)
        own = np.divide(later, self.at_risk, out=np.zeros(len(later)), where=self.at_risk > 0.0)
        risk = np.append(0.0, np.cumsum(own * self.hazard))
        before, upto = risk[:-1] - risk[self.first], risk[1:] - risk[self.first]
        return np.where(self.censored, (own - upto)[self.slot], -before[self.slot])


def _beyond(values: AnyArray, first: IntArray) -> FloatArray:
    """Sums over the later slots of the stratum."""
    upto = np.cumsum(values)
    last = np.append(np.flatnonzero(np.diff(first)), len(first) - 1)
    ends = np.repeat(upto[last], np.diff(np.append(-1, last)))
    return np.asarray(ends - upto, dtype=np.float64)


@dataclass(frozen=True, eq=False, kw_only=True)
class CensoredRows(Groups):
    """Rows whose labels are known, and how they and censored rows move a statistic by group."""

    slot: IntArray  # (n_rows,)
    censoring: Censoring
    group_of: IntArray  # Of each row, censored or not

    @property
    def text(self) -> str:
        return super().text if self.n_groups < len(self.group_of) else ""

    @property
    def present(self) -> BoolArray:
        return np.bincount(self.group_of, minlength=self.n_groups) > 0

    def only(self, rows: Any) -> Groups:
        return replace(self, codes=self.codes[rows], slot=self.slot[rows])

    def moved(self, values: FloatArray) -> FloatArray:
        if values.ndim == 2:
            return np.stack([self.moved(row) for row in values])
        of_weights = self.censoring.moved(self.slot, values)
        return self.sums(values) + np.bincount(self.group_of, of_weights, self.n_groups)
