"""Training queries of a ranker: hashes of their ids, and digests of their rows."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from ._typing import AnyArray, FloatArray, IntArray
from ._warn import warn
from .exceptions import QueryOverlapWarning, QuerySetupError

__all__ = ["Overlap", "TrainingQueries", "check_overlap"]

# Queries that are remembered; of more, those with the smallest hashes.
MOST_REMEMBERED = 100_000

# Queries that a warning names.
MOST_NAMED = 3

LARGEST_HASH = 2**64 - 1


@dataclass(frozen=True, eq=False, repr=False)
class TrainingQueries:
    """Queries that a ranker was trained on."""

    hashes: AnyArray
    n_rows: IntArray  # (n_remembered,): Number of rows of each, those of weight 0 not counted
    digests: AnyArray
    threshold: int = LARGEST_HASH

    @classmethod
    def of(cls, ids: AnyArray | None, offsets: IntArray, labels: FloatArray) -> TrainingQueries:
        """Take rows, query by query. What is remembered of them."""
        if ids is None:
            none = np.empty(0, dtype=np.uint64)
            return cls(none, np.empty(0, dtype=np.int64), none)
        hashes = _hashes_of_ids(ids)
        order = np.argsort(hashes)
        return cls(hashes[order], np.diff(offsets)[order], _digests(labels, offsets)[order]).cut()

    def cut(self) -> TrainingQueries:
        """Forget all but the smallest hashes where there are many. At most 100,000 queries."""
        if len(self.hashes) <= MOST_REMEMBERED:
            return self
        kept = slice(MOST_REMEMBERED)
        return TrainingQueries(
            self.hashes[kept],
            self.n_rows[kept],
            self.digests[kept],
            int(self.hashes[MOST_REMEMBERED - 1]),
        )

    def joined(self, other: TrainingQueries) -> TrainingQueries:
        """Add the queries of another batch. Those of both."""
        hashes, place = np.unique(np.append(self.hashes, other.hashes), return_inverse=True)
        first, second = place[: len(self.hashes)], place[len(self.hashes) :]
        n_rows, digests = np.zeros(len(hashes), np.int64), np.zeros(len(hashes), np.uint64)
        n_rows[first], digests[first] = self.n_rows, self.digests
        new = (n_rows[second] != other.n_rows) | (digests[second] != other.digests)
        n_rows[second[new]] += other.n_rows[new]
        digests[second[new]] += other.digests[new]
        threshold = min(self.threshold, other.threshold)
        known = slice(int(np.searchsorted(hashes, np.uint64(threshold), "right")))
        return replace(
            TrainingQueries(hashes[known], n_rows[known], digests[known]), threshold=threshold
        ).cut()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrainingQueries) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("hashes", "n_rows", "digests", "threshold")
        )

    __hash__ = None  # type: ignore[assignment] # equal by their arrays

    def __repr__(self) -> str:
        rest = "" if self.threshold == LARGEST_HASH else " of more"
        return f"<TrainingQueries: {len(self.hashes)}{rest}>"


@dataclass(frozen=True)
class Overlap:
    """How many of some queries that are scored were trained on."""

    n_queries: int  # Number of queries that are scored
    n_judged: int  # Of how many it is known whether they were trained on
    n_seen: int  # How many of these were
    n_same: int  # How many of these have the same rows
    n_cut: int  # How many of these have another number of rows
    with_other_rows: tuple[Any, ...]
    with_same_rows: tuple[Any, ...]

    @classmethod
    def of(
        cls, trained: TrainingQueries, ids: AnyArray, offsets: IntArray, labels: FloatArray
    ) -> Overlap:
        """Compare queries with those that were trained on. What they have in common."""
        hashes = _hashes_of_ids(ids)
        judged = np.flatnonzero(hashes <= np.uint64(trained.threshold))
        if len(judged) == 0 or len(trained.hashes) == 0:
            return cls(len(ids), 0, 0, 0, 0, (), ())
        hashes = hashes[judged]
        place = np.minimum(np.searchsorted(trained.hashes, hashes), len(trained.hashes) - 1)
        seen = trained.hashes[place] == hashes
        cut = seen & (trained.n_rows[place] != np.diff(offsets)[judged])
        same = seen & ~cut
        same &= trained.digests[place] == _digests(labels, offsets)[judged]
        shown = (ids[judged[some][:MOST_NAMED]].tolist() for some in (seen & ~same, same))
        n_seen, n_same, n_cut = (int(some.sum()) for some in (seen, same, cut))
        return cls(len(ids), len(judged), n_seen, n_same, n_cut, *map(tuple, shown))

    def __add__(self, other: Overlap) -> Overlap:
        return Overlap(
            *(getattr(self, one.name) + getattr(other, one.name) for one in fields(self))
        )


def check_overlap(overlap: Overlap, name: str) -> None:
    """Warn where queries are scored of which some were trained on: neither all nor none.

    All of them, each with the rows that were trained on, are a training score, and not warned of.
    Where most of them have other rows, more or fewer in some, a splitter has cut them.
    """
    if not overlap.n_seen or overlap.n_same == overlap.n_judged:
        return
    examples = overlap.with_other_rows or overlap.with_same_rows
    shown = ", ".join(repr(one) for one in examples[:MOST_NAMED])
    n_other = overlap.n_seen - overlap.n_same
    among = "" if overlap.n_judged == overlap.n_queries else " (judged by a sample of the ids)"
    # Other labels of the same rows leave all their numbers as they were.
    cut = overlap.n_cut > 0 and 2 * n_other > overlap.n_judged
    on, n = ("on other rows of", n_other) if cut else ("on", overlap.n_seen)
    how = f", {n_other} of them with other rows" if n_other and not cut else ""
    told = (
        f"{name} was trained {on} {n} of the {overlap.n_judged} queries that it is scored"
        f" on{among}{how}, such as {shown}: the score does not estimate its performance on new"
        " queries. Split by whole queries (cv=QueryKFold() of sklearn_rank.model_selection, or"
        " cv=GroupKFold() with groups=qid); if the two sets number their queries independently,"
        " give them different ids."
    )
    if cut:
        raise QuerySetupError(told)
    warn(told, QueryOverlapWarning)


def _hashes_of_ids(ids: AnyArray) -> AnyArray:
    """Hash ids of any type to 64 bits; equal numbers have one hash, whatever their type."""
    if ids.dtype.kind in "mM":
        ids = ids.astype(f"{ids.dtype.kind}8[ns]").astype(np.int64).astype(str)
    if ids.dtype.kind in "biu":
        return _mixed(ids.astype(np.uint64))
    if ids.dtype.kind == "f":
        return _hashes_of_floats(ids.astype(np.float64))
    return np.array([_hash_of_object(one) for one in ids.tolist()], dtype=np.uint64)


def _hashes_of_floats(ids: FloatArray) -> AnyArray:
    whole = (ids == np.floor(ids)) & (np.abs(ids) < 2.0**63)
    hashes = _mixed(~ids.view(np.uint64))
    hashes[whole] = _mixed(ids[whole].astype(np.int64).astype(np.uint64))
    return hashes


def _hash_of_object(value: Any) -> int:
    if isinstance(value, bool | int) and -(2**63) <= value < 2**64:
        return int(_mixed(np.array([int(value) % 2**64], dtype=np.uint64))[0])
    if isinstance(value, float):
        return int(_hashes_of_floats(np.array([value]))[0])
    text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None
    data = repr(value).encode() if text is None else text
    person = b"text" if text is not None else type(value).__name__.encode()[:16]
    return int.from_bytes(blake2b(data, digest_size=8, person=person).digest(), "little")


def _digests(labels: FloatArray, offsets: IntArray) -> AnyArray:
    """Digest of the labels of each query: a sum, which no order of the rows changes."""
    bits = (np.asarray(labels, dtype=np.float64) + 0.0).view(np.uint64)
    return np.add.reduceat(_mixed(bits), offsets[:-1])


def _mixed(bits: AnyArray) -> AnyArray:
    """Mix 64 bits one to one, as the generator SplitMix64 does."""
    mixed = bits + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
