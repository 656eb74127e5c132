"""Lists in the rows of a matrix, NaN where one lacks an item: as the same lists by their ids."""

import numpy as np
import pytest

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import get_measure

MEASURES = ["tau_b", "top1", "spearman", get_measure("ndcg@3", gain="linear"), "rr(rel>=2)"]


def matrices(n_lists=40, n_items=6, seed=0):
    """Grades with NaN, scores of two systems, NaN there too, and groups of the lists."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, (n_lists, n_items)).astype(float)
    y[:, :2] = [0, 3]
    first, second = y + rng.normal(size=(2, *y.shape)) * np.array([1, 2])[:, None, None]
    missing = rng.random(y.shape) < 0.3
    missing[:, :2] = False
    for values in (y, first, second):
        values[missing] = np.nan
    return y, first, second, rng.integers(0, 12, n_lists)


def by_rows(y, *scores):
    some = ~np.isnan(y)
    return [y[some], *(score[some] for score in scores)], np.nonzero(some)[0]


every_measure = pytest.mark.parametrize("measure", MEASURES, ids=str)
grouped = pytest.mark.parametrize("with_groups", [False, True])


def said_of(groups, rows=None):
    return {} if groups is None else {"groups": groups if rows is None else groups[rows]}


@every_measure
@grouped
def test_intervals(measure, with_groups):
    for method in ("t", "bca"):
        y, score, _, groups = matrices()
        groups = groups if with_groups else None
        options = {"method": method, "random_state": 0}
        found = metric_interval(measure, y, score, **said_of(groups), **options)
        flat, rows = by_rows(y, score)
        assert found == metric_interval(
            measure, *flat, qid=rows, **said_of(groups, rows), **options
        )


@every_measure
@grouped
def test_tests_of_two(measure, with_groups):
    for method in ("randomization", "t", "wilcoxon"):
        y, *scores, groups = matrices(seed=1)
        groups = groups if with_groups else None
        options = {"method": method, "random_state": 0}
        found = compare(
            measure, y, dict(zip("ab", scores, strict=True)), **said_of(groups), **options
        )
        flat, rows = by_rows(y, *scores)
        by_id = compare(
            measure,
            flat[0],
            dict(zip("ab", flat[1:], strict=True)),
            qid=rows,
            **said_of(groups, rows),
            **options,
        )
        assert found == by_id


def many(seed=2):
    """Grades, systems by name, the same row by row, rows of these, and groups."""
    y, first, second, groups = matrices(seed=seed)
    systems = {"a": first, "b": second, "c": np.where(np.isnan(y), np.inf, -second)}
    (flat, *scores), rows = by_rows(y, *systems.values())
    return y, systems, flat, dict(zip(systems, scores, strict=True)), rows, groups


@grouped
def test_comparisons(with_groups):
    y, systems, flat, scores, rows, groups = many()
    groups = groups if with_groups else None
    found = compare("tau_b", y, systems, **said_of(groups))
    by_id = compare("tau_b", flat, scores, qid=rows, **said_of(groups, rows))
    np.testing.assert_array_equal(found.values, by_id.values)
    np.testing.assert_array_equal(found.difference_errors, by_id.difference_errors)


def test_a_missing_score_of_an_item_is_refused():
    y, first, second, _ = matrices(seed=3)
    second[4, 0] = np.nan
    with pytest.raises(ValueError, match=r"scores\['b'\] is NaN at row 4, column 0"):
        compare("tau_b", y, {"a": first, "b": second}, method="randomization")
    y[7] = np.nan
    with pytest.raises(ValueError, match="NaN in all of row 7"):
        metric_interval("tau_b", y, first)
