"""Checks of query ids: missing ids, ids of rows, and queries split by a search."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import Lists, group_rows
from .._sklearn_compat import FitToPart, fits_to_parts, rows_at, tool_on_stack
from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import check_qid
from .._warn import warn
from ..exceptions import LargeGainWarning, QuerySetupError, SingleListWarning
from ..metrics import Measure
from ..metrics._shared import has_exponential_gain

__all__ = ["check_gains", "check_given_ids", "refuse_ids_of_rows", "refuse_single_rows"]

# Maximum number of rows treated as one query without qid; the longest query of MSLR has 1,251.
LONGEST_SINGLE_LIST = 2000

# Largest grade g for which float64 holds the sum of 2**g - 1 and a few gains of 1.
LARGEST_CLEAR_GRADE = 50
# Grades from which 2**g is beyond float64.
LARGEST_GRADE = 1024

ROUTING = "sklearn.set_config(enable_metadata_routing=True)"


def check_given_ids(name: str, qid: Any, n_rows: int, *, single_list: bool) -> None:
    """Check that ids were given or are not needed, and that no query was cut.

    Parameters
    ----------
    name : str
        Name of the ranker.
    qid : array-like of shape (n_rows,), number or None
        The ids that ``fit`` was given.
    n_rows : int
        Number of rows.
    single_list : bool
        Value of the parameter ``single_list``.

    Raises
    ------
    ValueError
        If ids are given for what is one list, or are missing for many rows.
    QuerySetupError
        If ids are missing within a tool of scikit-learn, or the tool has cut queries.

    Warns
    -----
    SingleListWarning
        If ids are missing for a few rows.
    """
    if qid is None:
        if not single_list:
            _miss(name, n_rows)
        return
    if not _is_one_per_row(qid):
        return
    if single_list:
        raise ValueError(
            f"{name} got both qid and single_list=True, which treats all rows as one query: "
            "leave out one of the two."
        )
    _refuse_cut_queries(name, qid)


def refuse_ids_of_rows(name: str, lists: Lists) -> None:
    """Raise an error if most ids have only one row.

    Parameters
    ----------
    name : str
        Name of the ranker.
    lists : Lists
        The rows by their ids.
    """
    refuse_single_rows(name, int(np.count_nonzero(lists.lengths == 1)), lists.n_lists)


def refuse_single_rows(name: str, single: int, n_lists: int) -> None:
    """Raise an error if most ids have only one row.

    Parameters
    ----------
    name : str
        Name of the ranker.
    single : int
        Number of queries of one row.
    n_lists : int
        Number of queries.
    """
    if n_lists > 1 and 2 * single > n_lists:
        raise ValueError(
            f"{name} got a qid for which {single} of {n_lists} queries have only one row: qid "
            "seems to contain ids of rows. Pass the id of the query of each row, which is the "
            "same for all rows that are ranked against each other, and remove queries of one "
            "row if there really are so many."
        )


def check_gains(name: str, measure: Measure, y: FloatArray) -> None:
    """Check that relevances have gains, where those of the measure are exponential.

    Parameters
    ----------
    name : str
        Name of the ranker.
    measure : Measure
        The measure of its score.
    y : ndarray of shape (n,)
        Relevances.

    Raises
    ------
    ValueError
        If a gain is infinite.

    Warns
    -----
    LargeGainWarning
        If gains of 1 are lost beside the largest.
    """
    if y.dtype.kind not in "biuf" or not has_exponential_gain(measure):
        return
    largest = float(y.max(initial=0))
    if not largest > LARGEST_CLEAR_GRADE:
        return
    stem = "dcg" if measure.in_grammar()[0].startswith("dcg") else "ndcg"
    line = f'pass measure=get_measure("{stem}", gain="linear")'
    if largest >= LARGEST_GRADE:
        raise ValueError(
            f"y contains the relevance {largest:g}, whose gain 2**y - 1 in {measure.name} is "
            f"infinite: if y is a count or an amount and not a grade, {line}."
        )
    warn(
        f"{name} got the relevance {largest:g}, whose gain 2**y - 1 in {measure.name} is so "
        f"great that a relevance of 1 is lost in float64 rounding, and {largest - 10:g} gains a "
        f"thousandth of it: if y is a count or an amount and not a grade, {line}.",
        LargeGainWarning,
    )


def _miss(name: str, n_rows: int) -> None:
    """Say that there are no ids, as loudly as they are likely to be wanted."""
    tool = tool_on_stack()
    if tool is not None:
        where = f"{tool} of scikit-learn" if tool else "cross-validation of scikit-learn"
        raise QuerySetupError(
            f"{name} got no qid within {where}: ids are passed as groups, after {ROUTING}; pass "
            f"groups=qid to fit, or params={{'groups': qid}} to a function such as "
            "cross_validate. If all rows are one query, set single_list=True."
        )
    if n_rows > LONGEST_SINGLE_LIST:
        raise ValueError(
            f"{name} got no qid for {n_rows} rows, too many for one query by default. Pass qid=, "
            f"one id per row; in a pipeline or search write\n    {ROUTING}\n    ....fit(X, y, "
            "groups=qid)\nIf all rows are one query, pass qid=0 or set single_list=True."
        )
    warn(
        f"{name} got no qid and treats all {n_rows} rows as one query: pass qid=, one id per row "
        "(for searches and pipelines see the user guide on query ids), or qid=0 or "
        "single_list=True if they are one query.",
        SingleListWarning,
    )


def _is_one_per_row(qid: Any) -> bool:
    return not np.isscalar(qid) and np.ndim(qid) > 0


def _refuse_cut_queries(name: str, qid: Any) -> None:
    """Refuse a fit to some rows of a query, where a tool of scikit-learn left out the others."""
    given = np.asarray(qid)
    for fit in fits_to_parts():
        found = _ids_of_all_rows(fit, given)
        if found is None:
            return
        _check_whole(name, fit, found)
        # The tool itself may have got a part from an outer tool.
        given = np.asarray(found)


def _ids_of_all_rows(fit: FitToPart, given: AnyArray) -> Any:
    """Find the ids of which the fit got its rows' among the parameters of the tool."""
    # Parameters named after ids come first, if several are equal.
    names = sorted(fit.parameters, key=lambda name: not name.endswith(("qid", "groups")))
    for name in names:
        values = fit.parameters[name]
        if np.ndim(values) == 1 and len(values) == fit.n_rows:
            in_fit = np.asarray(rows_at(values, fit.rows))
            weighted = len(given) == fit.n_rows and np.array_equal(np.asarray(values), given)
            if weighted or np.array_equal(in_fit, given):
                return values
    return None


def _check_whole(name: str, fit: FitToPart, qid: Any) -> None:
    """Check that the rows of a fit are those of whole queries."""
    ids, offsets, order = group_rows(check_qid(qid, fit.n_rows))
    counts = _counted(fit)
    taken = np.zeros(fit.n_rows, dtype=bool)
    taken[fit.rows] = True
    taken &= counts
    if order is not None:
        taken, counts = taken[order], counts[order]
    n_taken = np.add.reduceat(taken, offsets[:-1], dtype=np.int64)
    n_rows = np.add.reduceat(counts, offsets[:-1], dtype=np.int64)
    cut = np.flatnonzero((n_taken > 0) & (n_taken < n_rows))
    if len(cut):
        first = cut[0]
        raise QuerySetupError(
            f"{fit.tool or 'A tool'} of scikit-learn split {len(cut)} of {len(ids)} queries: "
            f"{name} got {n_taken[first]} of the {n_rows[first]} rows of the query "
            f"{ids[first : first + 1].tolist()[0]!r}. {_remedy(fit.tool)}"
        )


def _counted(fit: FitToPart) -> BoolArray:
    """Rows of positive weight, where the tool was handed weights."""
    counts = np.ones(fit.n_rows, dtype=bool)
    for name, values in fit.parameters.items():
        if name.endswith(("sample_weight", "query_weight")) and np.shape(values) == counts.shape:
            counts &= np.asarray(values) != 0
    return counts


def _remedy(tool: str) -> str:
    """Line that keeps queries whole."""
    if tool.startswith("Halving"):
        return (
            "Use HalvingQueryGridSearchCV of sklearn_rank.model_selection, which takes "
            "increasing numbers of whole queries, or resource= a parameter of the ranker "
            'instead of "n_samples".'
        )
    if tool == "learning_curve":
        return (
            "Use query_learning_curve of sklearn_rank.model_selection, which takes whole queries."
        )
    if tool.startswith("Bagging"):
        return "Bagging samples rows: use RankEnsemble, or bootstrap=False and max_samples=1.0."
    line = (
        "Pass a splitter that keeps queries whole: cv=QueryKFold() of"
        " sklearn_rank.model_selection, or cv=GroupKFold() with groups=qid."
    )
    if tool:
        return line
    return f"{line} See also HalvingQueryGridSearchCV and query_learning_curve."
