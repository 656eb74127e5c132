"""TREC runs and relevance judgments (qrels), loaded and joined into the input of the measures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from math import isnan, nan
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils import Bunch

from .._order import changes, ragged_ranges
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import (
    as_array,
    check_choice,
    check_flag,
    check_number,
    distinct_codes,
    is_whole,
    reads_as,
)
from .._warn import warn
from ..exceptions import MissingQueryWarning
from ._svmlight import name_of, numbered_lines

# Columns of a query and of a document in frames and heads of files: ours and those of PyTerrier,
# ir_datasets, ranx and BEIR. The first that is there counts.
QUERIES = ("qid", "query_id", "q_id", "query-id", "query")
DOCUMENTS = ("docno", "doc_id", "docid", "document_id", "corpus-id", "document")


def load_trec_run(path: Any, *, ties: Literal["mean", "trec"] = "mean") -> Bunch:
    """Load a TREC run: the documents that a system retrieved for each query, with scores.

    Parameters
    ----------
    path : path, stream, mapping, data frame or list
        - A file of lines ``query Q0 document rank score tag`` or ``query document score``; a name
          that ends in ``.gz`` or ``.bz2`` is decompressed. Where the last of three fields is 1, 2,
          ... in the order of the lines of each query it is the rank, as in files of MS MARCO.
        - A mapping from queries to mappings from documents to scores, as for pytrec_eval, ranx and
          BEIR.
        - A data frame of pandas, polars or pyarrow with columns for the query (the first present
          of qid, query_id, q_id, query-id, query), the document (docno, doc_id, docid,
          document_id, corpus-id, document) and the score.
        - A list of tuples (query, document, score).

        Ranks beside scores are not used, as in trec_eval.
    ties : {"mean", "trec"}, default="mean"
        "mean" returns the scores as written; the measures then average over all orders of ties.
        "trec" returns the order of trec_eval: by score in 32 bits, and tied documents by
        descending name. The score is then ``-i`` at position i.

    Returns
    -------
    sklearn.utils.Bunch
        With the attributes

        qid : ndarray of str of shape (n_rows,)
            Query id of each row, in the order of the file.
        docno : ndarray of str of shape (n_rows,)
            Name of the document of each row.
        score : ndarray of shape (n_rows,)
            Score of each row.

    Raises
    ------
    ValueError
        If a line does not have the expected format, a score is NaN, or a document occurs twice for
        a query. The message names file and line.
    TypeError
        If an id is neither text nor a whole number.

    Warns
    -----
    UserWarning
        If a document has a better rank than one with a higher score.

    See Also
    --------
    load_qrels : Loads relevance judgments.
    join_qrels : Joins a run and judgments into labels, scores and ids.

    Notes
    -----
    Ids stay strings: "051" differs from "51". The cost is O(n) time for n lines, and O(n log n)
    with ``ties="trec"``.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_rank.datasets import load_trec_run
    >>> file = b"q1 Q0 c 1 0.9 me\\nq1 Q0 a 2 0.5 me\\nq1 Q0 b 3 0.5 me\\n"
    >>> load_trec_run(BytesIO(file)).score
    array([0.9, 0.5, 0.5])

    trec_eval ranks "b" before "a":

    >>> load_trec_run(BytesIO(file), ties="trec").score
    array([-1., -3., -2.])
    """
    check_choice("ties", ties, ("mean", "trec"))
    forms = {6: "query Q0 document rank score tag", 3: "query document score"}
    rows = _read(path, ("score",), forms, whole=False)
    score = rows.value
    if _is_file(path) and np.isnan(rows.rank).all():
        score = _scores_of_ranks(rows.query, score, rows.title)
    _warn_of_ranks(rows.query, rows.rank, score, rows.title)
    if ties == "trec":
        with np.errstate(over="ignore"):
            single = score.astype(np.float32)
        score = -_places(rows.query, np.lexsort((rows.docno, single, rows.query))[::-1])
    return Bunch(qid=rows.qid, docno=rows.docno, score=score)


def load_qrels(path: Any) -> Bunch:
    """Load TREC relevance judgments (qrels): the relevance of documents for each query.

    Parameters
    ----------
    path : path, stream, mapping, data frame or list
        A file of lines ``query iteration document relevance`` or ``query document relevance``,
        with or without BEIR's head of the columns; or what :func:`load_trec_run` takes, with the
        relevance (in frames the first present of relevance, rel, label, score) for the score.

    Returns
    -------
    sklearn.utils.Bunch
        With the attributes

        qid : ndarray of str of shape (n_rows,)
            Query id of each row, in the order of the file.
        docno : ndarray of str of shape (n_rows,)
            Name of the document.
        relevance : ndarray of shape (n_rows,)
            Relevance of each row, a whole number as written in the file; a negative value means
            junk.

    Raises
    ------
    ValueError
        If a line does not have the expected format, a relevance is not a whole number, or a
        document occurs twice for a query. The message names file and line.
    TypeError
        If an id is neither text nor a whole number.

    See Also
    --------
    load_trec_run : Loads the run of a system.
    join_qrels : Joins a run and judgments into labels, scores and ids.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_rank.datasets import load_qrels
    >>> load_qrels(BytesIO(b"q1 0 a 1\\nq1 0 c 0\\n")).relevance
    array([1., 0.])
    """
    forms = {4: "query iteration document relevance", 3: "query document relevance"}
    rows = _read(path, ("relevance", "rel", "label", "score"), forms, whole=True)
    return Bunch(qid=rows.qid, docno=rows.docno, relevance=rows.value)


def join_qrels(run: Any, qrels: Any, *, complete: bool | None = None, rel: float = 1.0) -> Bunch:
    """Join a TREC run with relevance judgments into labels, scores and query ids.

    Parameters
    ----------
    run : Bunch, path, stream, mapping, data frame or list
        A run, as returned by :func:`load_trec_run`, or what that takes.
    qrels : Bunch, path, stream, mapping, data frame or list
        Judgments, as returned by :func:`load_qrels`, or what that takes.
    complete : bool or None, default=None
        Treatment of judged queries without a document in the run. True counts them with value 0,
        like trec_eval's option ``-c``: each gets one nameless document of relevance 0. False
        leaves them out. None also leaves them out, like trec_eval by default, and warns with their
        number.
    rel : float, default=1
        Smallest relevance that ``n_relevant`` counts. For a measure with another ``rel`` pass
        ``ideal``, which is valid for every ``rel``.

    Returns
    -------
    sklearn.utils.Bunch
        With the attributes

        y_true : ndarray of shape (n_rows,)
            Relevance of each retrieved document of the judged queries, in the order of the run; 0
            for documents that are not judged or are junk.
        y_score : ndarray of shape (n_rows,)
            Score of each document.
        qid, docno : ndarray of str of shape (n_rows,)
            Query id and name of each document.
        judged : ndarray of bool of shape (n_rows,)
            Whether the document is judged for its query.
        n_relevant : dict of str to int
            Number of documents judged relevant for each query, retrieved or not; pass it as
            ``n_relevant=`` to the measures.
        ideal : dict of str to ndarray
            Positive relevances of each query in descending order; pass it as ``ideal=`` to the
            measures.
        missing : list of str
            Judged queries without a document in the run.
        unjudged : list of str
            Queries of the run without a judgment; they are left out.

    Raises
    ------
    ValueError
        If no query of the run is judged.

    Warns
    -----
    MissingQueryWarning
        If the run has no document for some judged queries and ``complete`` is None.

    See Also
    --------
    sklearn_rank.metrics.average_precision_score : Accepts ``ideal`` and ``n_relevant``.
    sklearn_rank.metrics.ndcg_score : Accepts ``ideal``.

    Examples
    --------
    The relevant document c was not retrieved:

    >>> from sklearn_rank.datasets import join_qrels, load_trec_run
    >>> from sklearn_rank.metrics import average_precision_score
    >>> run = load_trec_run({"q1": {"a": 2.0, "b": 1.0}}, ties="trec")
    >>> both = join_qrels(run, {"q1": {"a": 1, "b": 0, "c": 1}})
    >>> average_precision_score(
    ...     both.y_true,
    ...     both.y_score,
    ...     qid=both.qid,
    ...     ideal=both.ideal,
    ...     convention="trec_eval",
    ... )
    0.5
    """
    if complete is not None:
        check_flag("complete", complete)
    check_number("rel", rel)
    run = run if isinstance(run, Bunch) else load_trec_run(run)
    qrels = qrels if isinstance(qrels, Bunch) else load_qrels(qrels)
    pairs = zip(qrels.qid.tolist(), qrels.docno.tolist(), strict=True)
    relevance = dict(zip(pairs, qrels.relevance.tolist(), strict=True))
    # Relevances above 0 of each judged query, from the highest down.
    ideal: dict[str, Any] = {query: [] for query, _ in relevance}
    for (query, _), grade in relevance.items():
        if grade > 0:
            ideal[query].append(grade)
    ideal = {query: np.sort(grades)[::-1] for query, grades in ideal.items()}
    retrieved = set(run.qid.tolist())
    missing = [query for query in ideal if query not in retrieved]
    if len(missing) == len(ideal):
        raise ValueError(
            f"No query of the run is judged: the run has {run.qid.tolist()[0]!r}, the judgments"
            f" {missing[0]!r}; pass files of the same queries."
        )
    if missing and complete is None:
        warn(
            f"The run has no document for {len(missing)} of {len(ideal)} judged queries, such as"
            f" {missing[0]!r}, which are left out: pass complete=True to count 0 for each, or"
            " complete=False to leave them out without this warning.",
            MissingQueryWarning,
        )
    rows = np.flatnonzero([query in ideal for query in run.qid.tolist()])
    qid, docno, score = run.qid[rows], run.docno[rows], run.score[rows]
    if complete and missing:
        qid = np.append(qid, as_array(missing))
        docno = np.append(docno, as_array([""] * len(missing)))
        score = np.append(score, [-np.inf] * len(missing))
    elif not complete:
        ideal = {query: grades for query, grades in ideal.items() if query in retrieved}
    grades = [relevance.get(row) for row in zip(qid.tolist(), docno.tolist(), strict=True)]
    return Bunch(
        y_true=np.array([max(grade or 0.0, 0.0) for grade in grades]),
        y_score=score,
        qid=qid,
        docno=docno,
        judged=np.array([grade is not None for grade in grades]),
        n_relevant={query: int((best >= rel).sum()) for query, best in ideal.items()},
        ideal=ideal,
        missing=missing,
        unjudged=list(dict.fromkeys(np.delete(run.qid, rows).tolist())),
    )


def _places(query: IntArray, order: IntArray) -> FloatArray:
    """Place of each row in its query, from 1, if rows are in an order of whole queries."""
    starts = np.flatnonzero(changes(query[order]))
    places = np.empty(len(order))
    places[order] = ragged_ranges(np.ones_like(starts), np.diff(starts, append=len(order)))
    return places


def _scores_of_ranks(query: IntArray, value: FloatArray, title: str) -> FloatArray:
    """Scores of lines ``query document number``, whose number may be the rank."""
    rows = np.arange(len(value))
    in_file, by_value = (_places(query, np.lexsort((x, query))) for x in (rows, value))
    if np.array_equal(in_file, value):
        return -value
    if np.array_equal(by_value, value):
        raise ValueError(
            f"{title} has the numbers 1, 2, ... of each query in another order than that of the"
            " lines, so they may be ranks or scores: pass a list of (query, document, score), with"
            " -rank for the score if they are ranks."
        )
    return value


def _warn_of_ranks(query: IntArray, rank: FloatArray, score: FloatArray, title: str) -> None:
    """Warn if a document has a better rank than one of a higher score."""
    order = np.lexsort((-score, rank, query))
    better, worse = order[:-1], order[1:]
    rise = (query[better] == query[worse]) & (rank[better] < rank[worse])
    wrong = worse[rise & (score[better] < score[worse])]
    if len(wrong):
        n_queries, row = len(np.unique(query[wrong])), int(wrong[0])
        warn(
            f"{title} has ranks that contradict the scores in {n_queries} of {query.max() + 1}"
            f" queries, such as rank {rank[row]:g} of the score {score[row]:g}: the scores count,"
            " as in trec_eval; if the ranks are right, pass a list of (query, document, -rank).",
            UserWarning,
        )


class _Rows(NamedTuple):
    """Rows of a run or of judgments."""

    title: str
    query: IntArray  # (n_rows,): Number of the query of each row, by appearance
    qid: AnyArray
    docno: AnyArray
    value: FloatArray
    rank: FloatArray  # NaN where there is none, 0 where it is no number


def _read(source: Any, names: tuple[str, ...], forms: dict[int, str], whole: bool) -> _Rows:
    """Rows of a source, checked; the value is the first of some names that is there."""
    columns = _column_names(source)
    if _is_file(source):
        title, rows = name_of(source), _lines(source, names, forms)
    elif columns is not None:
        title, rows = "The frame", _of_columns(source, columns, names)
    elif isinstance(source, Mapping):
        title, rows = "the mapping", _entries(source, names[0])
    else:
        title, rows = "The list", _triples(source, names[0])
    seen: dict[tuple[str, str], None] = {}
    numbers, ranks = [], []
    for where, query, document, written, rank in rows:
        for name in (query, document):
            if not (isinstance(name, str) or is_whole(name)):
                raise TypeError(f"{where} has the id {name!r}: pass text or whole numbers.")
        number = float(written) if reads_as(float, written) else nan
        if isnan(number) or (whole and not number.is_integer()):
            kind = "a whole number" if whole else "a number"
            raise ValueError(f"{where} has the {names[0]} {written!r}: it must be {kind}.")
        numbers.append(number)
        ranks.append(nan if rank is None else float(rank) if reads_as(float, rank) else 0.0)
        seen[str(query), str(document)] = None
        if len(seen) < len(numbers):
            raise ValueError(
                f"{where} repeats the document {document!r} of the query {query!r}: keep one."
            )
    if not numbers:
        raise ValueError(f"{title} has no rows: check that it is the right file.")
    qid, docno = map(as_array, zip(*seen, strict=True))
    return _Rows(title, distinct_codes(qid).codes, qid, docno, np.array(numbers), np.array(ranks))


# Where a row is, its query, document, value and rank.
_Row: TypeAlias = tuple[str, Any, Any, Any, Any]


def _is_file(source: Any) -> bool:
    return isinstance(source, str | os.PathLike) or hasattr(source, "read")


def _entries(mapping: Mapping[Any, Any], name: str) -> Iterator[_Row]:
    for query, documents in mapping.items():
        if not isinstance(documents, Mapping):
            raise TypeError(
                f"The query {query!r} has {type(documents).__name__}: pass a mapping from its"
                f" documents to the {name} of each."
            )
        for document, written in documents.items():
            yield f"The document {document!r} of {query!r}", query, document, written, None


def _triples(source: Any, name: str) -> Iterator[_Row]:
    if not isinstance(source, Iterable):
        raise TypeError(
            f"{source!r} is no path, stream, mapping, frame or list of (query, document, {name}):"
            " pass one of these."
        )
    for number, entry in enumerate(source):
        is_row = isinstance(entry, tuple | list) and len(entry) == 3
        if not is_row and not hasattr(entry, "_fields"):  # as the tuples of ir_datasets have
            raise TypeError(f"Entry {number} is {entry!r}: pass (query, document, {name}).")
        yield f"Entry {number}", *entry[:3], None


def _column_names(source: Any) -> list[str] | None:
    """Names of the columns of a frame, or of a mapping of columns."""
    if isinstance(source, Mapping):
        of_entries = any(isinstance(x, Mapping) for x in source.values())
        return None if of_entries or not set(source) & set(DOCUMENTS) else list(source)
    names = getattr(source, "column_names", getattr(source, "columns", None))
    return None if names is None else list(names)


def _of_columns(frame: Any, columns: list[str], names: tuple[str, ...]) -> Iterator[_Row]:
    chosen = []
    for some in (QUERIES, DOCUMENTS, names):
        name = next((name for name in some if name in columns), None)
        if name is None:
            raise ValueError(
                f"The frame has no column {' or '.join(map(repr, some))}: rename the one that is"
                " meant; scores of ranks are frame['score'] = -frame['rank']."
            )
        chosen.append(_values(frame[name]))
    if len(set(map(len, chosen))) > 1:
        raise ValueError("The columns have different lengths: pass one entry per row.")
    rank = _values(frame["rank"]) if "rank" in columns else [None] * len(chosen[0])
    for number, row in enumerate(zip(*chosen, rank, strict=True)):
        yield f"Row {number}", *row


def _values(column: Any) -> list[Any]:
    """Values of a column of NumPy, pandas, polars or pyarrow, or of a list."""
    return list(getattr(column, "to_pylist", getattr(column, "tolist", column.__iter__))())


def _lines(source: Any, names: tuple[str, ...], forms: dict[int, str]) -> Iterator[_Row]:
    title = name_of(source)
    for number, line in numbered_lines(source):
        text = line.decode(errors="backslashreplace") if isinstance(line, bytes) else line
        text = text.removeprefix("\ufeff")
        fields, cells = text.split(), text.strip("\r\n").split("\t")
        if not fields:
            continue
        where = f"Line {number} of {title}"
        if len(fields) != len(cells) in forms:  # ids with spaces
            if len(fields) in forms:
                raise ValueError(
                    f"{where} has {len(cells)} fields between tabs and {len(fields)} between"
                    " spaces: separate all by tabs, or all by spaces."
                )
            fields = cells
        if len(fields) not in forms:
            raise ValueError(
                f"{where} has {len(fields)} fields, but {' or '.join(map(str, forms))} are"
                f" expected: {' or '.join(forms.values())}."
            )
        forms = {len(fields): forms[len(fields)]}  # those of the first line
        row = dict(zip(forms[len(fields)].split(), fields, strict=True))
        if row["query"] in QUERIES and row["document"] in DOCUMENTS:
            continue  # the head of a table
        yield where, row["query"], row["document"], row[names[0]], row.get("rank")
