"""Checks of cross-validation splits: held-out rows, classes, and ids kept whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import type_of_target

from .._arguments import is_whole
from .._lists import LabelType, check_lists
from .._typing import AnyArray, BoolArray
from .._validation import hint_of_mark
from ..rankers._shared import positive_or_second
from ._candidates import Split

__all__ = ["check_splits", "positive_rows", "sizes_of_disjoint", "splitter_of"]

HELD_OUT = 1 / 3


def splitter_of(
    cv: Any, y: AnyArray | None, *, per_query: bool, classifier: bool, seed: int
) -> Any:
    """Find the splitter that an argument names."""
    if cv is None:
        kind = GroupShuffleSplit if per_query else StratifiedShuffleSplit
        return kind(1, test_size=HELD_OUT, random_state=seed)
    if per_query and is_whole(cv):
        return GroupKFold(cv)
    return check_cv(cv, y, classifier=classifier)


def positive_rows(
    y: AnyArray, pos_label: Any, searched: str | None, *, rel: float | None = None
) -> tuple[Any, BoolArray]:
    """Find the positive class and its rows."""
    assert_all_finite(y, input_name="y")
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    classes = np.unique(y)
    if rel is None and kind != "binary" and len(classes) != 1:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}."
            f"{hint_of_mark(classes)}"
        )
    if searched is not None and len(classes) == 2:
        pos_label = positive_or_second(searched, classes, pos_label)
    elif searched is not None:
        pos_label = classes[0]
    positive = check_lists(y, LabelType("binary", pos_label, name="y", rel=rel)).positive
    if positive.all() or not positive.any():
        lacking = "negative" if positive.all() else "positive"
        raise ValueError(
            f"y holds items of one class only, with no {lacking} among {len(positive)}: pass items"
            " of both classes."
        )
    return pos_label, positive


def check_splits(
    splits: list[Split], positive: BoolArray | None, wholes: dict[str, AnyArray]
) -> None:
    """Raise an error for splits on which limits for held-out rows are not valid."""
    if not splits:
        raise ValueError("cv yielded no split: pass a splitter that holds out some rows.")
    for part, (train, test) in enumerate(splits):
        both = np.intersect1d(train, test)
        if len(both):
            raise ValueError(
                f"Row {both[0]} is in the training and the test part of split {part}: pass a cv"
                " with disjoint parts."
            )
        if len(np.unique(test)) < len(test):
            raise ValueError(
                f"Split {part} holds out a row twice: pass a cv whose test parts have unique rows."
            )
        if positive is not None:
            _check_both_classes(part, positive[test])
    for name, ids in wholes.items():
        _check_whole_ids(name, ids, splits)


def _check_whole_ids(name: str, ids: AnyArray, splits: list[Split]) -> None:
    """Raise an error for splits with an id in the training and the test part."""
    known, codes = np.unique(ids, return_inverse=True)
    for part, (train, test) in enumerate(splits):
        trained = np.zeros(len(known), dtype=bool)
        trained[codes[train]] = True
        cut = trained[codes[test]]
        if cut.any():
            first = codes[test][np.argmax(cut)]
            keeping = f"GroupKFold({len(splits)})" if len(splits) > 1 else "GroupShuffleSplit(1)"
            raise ValueError(
                f"The {name} {known[[first]].tolist()[0]!r} has rows in the training and the test"
                f" part of split {part}: pass cv={keeping}, which keeps it whole."
            )


def sizes_of_disjoint(splits: list[Split], n: int) -> list[int] | None:
    """Put held-out parts into classes of parts that share no row, each into the first it fits."""
    taken: list[BoolArray] = []
    classes: list[int] = []
    for _, test in splits:
        free = (c for c, rows in enumerate(taken) if not rows[test].any())
        chosen = next(free, len(taken))
        if chosen == len(taken):
            taken.append(np.zeros(n, dtype=bool))
        taken[chosen][test] = True
        classes.append(chosen)
    sizes = np.bincount(classes)
    return None if len(sizes) == 1 else sizes[classes].tolist()


def _check_both_classes(part: int, positive: BoolArray) -> None:
    n_pos = int(np.count_nonzero(positive))
    if n_pos in (0, len(positive)):
        kind = "positive" if n_pos == 0 else "negative"
        raise ValueError(
            f"Split {part} holds out {len(positive)} rows without a {kind}: pass"
            " stratified folds, or fewer folds."
        )
