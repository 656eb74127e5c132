"""Questions of judged runs, asked of rows: of queries, or with a design of documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from inspect import signature
from itertools import chain
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._typing import AnyArray
from .._validation import (
    as_array,
    column_names,
    distinct_codes,
    refuse_beside_judgments,
    shown,
)
from ..metrics import Measure, get_measure
from ._runs import JudgedRuns, one_by_one
from ._trec import ID_LISTS, load_qrels, order_of_names, values_of_documents

# A query, and a document of it.
Pair = tuple[str, str]


def call_on_runs(
    door: Callable[..., Any], measure: Any, y_true: Any, scores: Any, **columns: Any
) -> Any:
    """Ask of judged runs, with one row for each query, and say in the target what was assumed."""
    columns = {name: x for name, x in columns.items() if x is not None}
    if isinstance(y_true, str) and not os.path.exists(y_true):
        raise FileNotFoundError(
            f"There is no file of judgments {y_true!r}: for a column of a frame pass"
            f" frame[{y_true!r}]."
        )
    of_rows = ["qid", "pos_label", "value"] + ["conditional"] * ("design" not in columns)
    refuse_beside_judgments(**{name: columns.get(name) for name in of_rows})
    runs, parameters = _named(scores), signature(door).parameters
    if "" in runs and "alternative" in parameters:
        raise TypeError(
            "Runs are compared by their names, which scores does not have: pass {'new': run,"
            " 'old': other_run}."
        )
    of_curve = "at" in parameters
    if columns.get("design") is not None:
        by_definition = list(map(_by_definition, one_by_one(measure, of_curve)))
        result, text = _ask_in_part(door, by_definition, y_true, runs, **columns)
        return replace(result, target=f"{result.target}{text}")
    judged = JudgedRuns.of(y_true, runs)
    judged.warn_of_unjudged()
    measures = judged.measures(measure, of_curve)
    for name in {"groups", "by", "sample_weight"} & set(columns):
        columns[name] = judged.of_queries(name, columns[name])
    several = isinstance(measure, list | tuple) or len(measures) > 1
    y_true, numbers, qid = judged.rows()
    scores = numbers.get("", numbers)
    result = door(measures if several else measures[0], y_true, scores, qid=qid, **columns)
    target = f"{result.target}{judged.rules(measures)}"
    if of_curve and isinstance(measure, str):
        target = target.replace(measures[0].name, measure, 1)  # that of some place
    return replace(result, target=target)


def pilot_of_runs(measure: Any, pilot: Any, **columns: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Measure, labels and scores, and columns, of judged runs as a pilot."""
    y_true, scores = pilot
    get_measure(measure)  # refuses several
    refuse_beside_judgments(**{name: x for name, x in columns.items() if name != "groups"})
    judged = JudgedRuns.of(y_true, _named(scores))
    judged.warn_of_unjudged()
    (of_runs,), (y_true, numbers, qid) = judged.measures(measure), judged.rows()
    if (groups := columns.pop("groups")) is not None:
        groups = judged.of_queries("groups", groups)
    columns |= {"qid": qid, "groups": groups}
    return of_runs, (y_true, numbers.get("", numbers)), columns


def _named(scores: Any) -> Mapping[str, Any]:
    """Runs by name; the only one has none."""
    return scores if _are_named(scores) else {"": scores}


def _are_named(scores: Any) -> bool:
    """Whether scores are a mapping from names to runs, not one run."""
    if not isinstance(scores, Mapping) or isinstance(scores, Bunch) or column_names(scores):
        return False
    for x in scores.values():
        if isinstance(x, Mapping) and not isinstance(x, Bunch) and not column_names(x):
            entries, of_runs = list(x.values()), (*ID_LISTS, Mapping)
        elif isinstance(x, ID_LISTS):
            entries, of_runs = list(x), (tuple, list)
        else:
            return True
        if entries:
            return isinstance(entries[0], of_runs)
    return False


def _by_definition(measure: Any) -> Measure:
    """Measure of a name with the gain and the value of empty queries of trec_eval."""
    for rule in ({"gain": "linear", "undefined": 0.0}, {"undefined": 0.0}):
        with suppress(TypeError):
            return get_measure(measure, **rule if isinstance(measure, str) else {})
    return get_measure(measure)


def _ask_in_part(
    door: Callable[..., Any],
    measures: list[Any],
    y_true: Any,
    runs: Mapping[str, Any],
    *,
    design: Any,
    **columns: Any,
) -> tuple[Any, str]:
    """Ask of the documents of judged runs, and say how those count that nobody would judge.

    A document that a run did not retrieve has the score -inf. Nameless documents that are not
    relevant follow those of runs of fewer than k, so that it has no position up to k.
    """
    if wrong := {"by", "sample_weight"} & set(columns):
        raise ValueError(f"{min(wrong)} is for judgments that are all known: leave it out.")
    qrels = y_true if isinstance(y_true, Bunch) else load_qrels(y_true)
    unjudged, given = qrels.get("unjudged", "negative"), _of_documents(design)
    of_frame = next((x for x in ("proxy", "inclusion_probability") if x in given), None)
    frame = given[of_frame] if of_frame else None
    if frame is None and "pool" not in given:
        raise ValueError(
            "strata='qid' does not name the documents that could have been chosen: pass a grade of"
            " each as proxy= of the design, or the probability of each as inclusion_probability=."
        )
    if frame is None and unjudged != "unknown":
        raise ValueError(
            f"pool is for documents of unknown relevance, but unjudged={unjudged!r}: pass"
            " load_qrels(..., unjudged='unknown')."
        )
    judged = JudgedRuns.of(_unknown(qrels, frame or {}), runs)
    judged.warn_of_unjudged()
    pairs = zip(qrels.qid.tolist(), qrels.docno.tolist(), strict=True)
    known = dict(zip(pairs, np.maximum(qrels.relevance, 0.0).tolist(), strict=True))

    lacking = [pair for pair in known if frame is not None and pair not in frame]
    if lacking:
        raise ValueError(
            f"{of_frame} lacks {len(lacking)} of {len(known)} judged documents, such as"
            f" {lacking[0][1]!r} of the query {lacking[0][0]!r}: pass a value of each document"
            " that could have been chosen."
        )

    def counts(pair: Pair) -> bool:
        return unjudged != "left out" or pair in known or pair in (frame or {})

    k = max(_last_position(measure) for measure in measures)
    tops = {name: _places(run, counts, k) for name, run in judged.runs.items()}
    documents = dict.fromkeys(chain(known, *given.values(), *tops.values()))
    numbers = {query: i for i, query in enumerate(judged.queries)}
    rows = [pair for pair in documents if pair[0] in numbers]
    chosen = [frame is None or pair in frame for pair in rows]
    outside = [x for x, could in zip(rows, chosen, strict=True) if not could and x not in known]
    if outside and unjudged == "unknown":
        raise ValueError(
            f"{of_frame} lacks {len(outside)} documents that runs have among the first {k}, such"
            f" as {outside[0][1]!r} of the query {outside[0][0]!r}: pass a value of each, or"
            " load_qrels(..., unjudged='negative')."
        )
    # Nameless documents, at the places after the last one of the shortest run.
    n_found = [
        np.bincount([numbers[query] for query, _ in top], minlength=len(numbers))
        for top in tops.values()
    ]
    more = [(query, "") for query in np.repeat(judged.queries, k - np.min(n_found, axis=0))]
    either = np.where(chosen, np.nan, 0.0).tolist()
    labels = [known.get(pair, other) for pair, other in zip(rows, either, strict=True)]
    y_true = np.array(labels + [0.0] * len(more))
    of_two = [measure.kind == "binary" and measure.rel is None for measure in measures]
    if all(of_two):
        y_true = np.where(np.isnan(y_true), np.nan, y_true >= 1.0)
    else:
        two = zip(measures, of_two, strict=True)
        measures = [replace(x, rel=1.0) if is_of_two else x for x, is_of_two in two]
    scores = {
        name: np.array([-top.get(pair, np.inf) for pair in rows] + [-(k + 1.0)] * len(more))
        for name, top in tops.items()
    }
    rows, could_be = rows + more, np.array(chosen + [False] * len(more))
    qid = as_array([query for query, _ in rows])
    if "groups" in columns:
        of_queries = judged.of_queries("groups", columns["groups"])
        columns["groups"] = of_queries[[numbers[query] for query in qid.tolist()]]
    result = door(
        measures if len(measures) > 1 else measures[0],
        y_true,
        scores.get("", scores),
        qid=qid,
        design=_design_of_rows(design, given, rows, could_be, qid),
        **columns,
    )
    text = f"; {len(outside)} documents without {of_frame} not relevant" if outside else ""
    return result, text


def _of_documents(design: Any) -> dict[str, dict[Pair, float]]:
    """Columns of a design by query and document."""
    if not is_dataclass(design):
        raise TypeError(
            f"design={shown(design)} does not name the documents that could have been chosen: pass"
            " LabelDesign(strata='qid', proxy={query: {document: grade}})."
        )
    named = ("proxy", "inclusion_probability", "pool")
    values = {x.name: getattr(design, x.name) for x in fields(design)}
    values = {name: x for name, x in values.items() if x is not None and x is not False}
    of_rows = [name for name in values if name not in (*named, "strata")]
    if of_rows or not isinstance(strata := values.get("strata", "qid"), str) or strata != "qid":
        raise TypeError(
            f"{(*of_rows, 'strata')[0]} of the design is for rows, but y_true has judgments: say"
            " how documents were chosen by strata='qid', or by inclusion_probability= or pool= as"
            " {query: {document: value}}."
        )
    given = {x: values_of_documents(values[x], x) for x in named if x in values}
    if "pool" in given:  # of judgments, too, whatever these are
        given["pool"] = dict.fromkeys(given["pool"], 1.0)
    return given


def _design_of_rows(
    design: Any, given: Mapping[str, Any], rows: list[Pair], chosen: AnyArray, qid: AnyArray
) -> Any:
    """The design of the rows; those that nobody would judge are known."""
    columns: dict[str, Any] = {}
    for name, entries in given.items():
        lacking = [x for x, could in zip(rows, chosen, strict=True) if could and x not in entries]
        if name != "pool" and lacking:
            raise ValueError(
                f"{name} lacks {len(lacking)} documents, such as {lacking[0][1]!r} of the query"
                f" {lacking[0][0]!r}: pass a value of each that could have been chosen."
            )
        # What nobody would judge has the proxy of what is not relevant.
        other = min(entries.values()) if name == "proxy" else 0.0
        values = np.array([entries.get(x, other) for x in rows])
        columns[name] = values if name == "proxy" else np.where(chosen, values, 1.0)
    if design.strata is not None:
        columns["strata"] = np.where(chosen, distinct_codes(qid).codes, -1)
    return replace(design, **columns)


def _unknown(qrels: Bunch, frame: Mapping[Pair, float]) -> Bunch:
    """Judgments that leave others unknown, of all queries of a frame."""
    judged = set(qrels.qid.tolist())
    more = [query for query in dict.fromkeys(query for query, _ in frame) if query not in judged]
    return Bunch(
        qid=as_array([*qrels.qid.tolist(), *more]),
        docno=as_array([*qrels.docno.tolist(), *[""] * len(more)]),
        relevance=np.append(qrels.relevance, [-1.0] * len(more)),
        unjudged="unknown",
        complete=qrels.get("complete"),
        frame=frame.keys(),
    )


def _places(run: Bunch, counts: Callable[[Pair], bool], k: int) -> dict[Pair, float]:
    """Place of each of the first k documents of each query, names deciding ties."""
    pairs = list(zip(run.qid.tolist(), run.docno.tolist(), strict=True))
    rows = np.flatnonzero([pair[1] != "" and counts(pair) for pair in pairs])
    query = distinct_codes(run.qid[rows]).codes
    places = -order_of_names(query, run.y_score[rows], run.docno[rows])
    top = places <= k
    return {pairs[row]: x for row, x in zip(rows[top].tolist(), places[top].tolist(), strict=True)}


def _last_position(measure: Any) -> int:
    k = getattr(measure, "k", None)
    if k is None:
        raise ValueError(
            f"{measure.name} depends on all documents, but of judgments known in part only the"
            " first ones count: pass a measure with a last position, such as 'ndcg@10'."
        )
    return int(k)
