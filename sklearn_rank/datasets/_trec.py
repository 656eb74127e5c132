"""Runs and relevance judgments (qrels) of queries and documents, loaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from math import nan
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from sklearn.utils import Bunch

from .._order import changes, ragged_ranges
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import (
    DOCUMENTS,
    as_array,
    check_choice,
    check_flag,
    column_names,
    distinct_codes,
    is_file,
    is_whole,
    reads_as,
    shown,
)
from .._warn import warn
from ._svmlight import name_of, numbered_lines

# Columns of a query in frames and heads of files: ours and those of PyTerrier, ir_datasets, ranx
# and BEIR. The first that is there counts.
QUERIES = ("qid", "query_id", "q_id", "query-id", "query")

# Forms of the documents of a query without numbers.
ID_LISTS: Any = (list, tuple, set, frozenset, np.ndarray)


def load_trec_run(path: Any) -> Bunch:
    """Load a run: the documents that a system retrieved for each query, with scores.

    Parameters
    ----------
    path : path, stream, mapping, data frame or list
        - A mapping from queries to mappings from documents to scores, as for pytrec_eval, ranx,
          BEIR and MTEB, or from queries to lists of documents, the best first.
        - A file of lines ``query Q0 document rank score tag`` or ``query document score``, or of
          JSON: an object on each line with the keys of a frame, or one object that is such a
          mapping. A name that ends in ``.gz`` or ``.bz2`` is decompressed. Where the last of three
          fields is 1, 2, ... in the order of the lines of each query it is the rank, as in files
          of MS MARCO.
        - A data frame of pandas, polars or pyarrow with columns for the query (the first present
          of qid, query_id, q_id, query-id, query), the document (docno, doc_id, docid,
          document_id, corpus-id, document) and the score, or the rank where there is no score.
        - A list of tuples (query, document, score).

        Ranks beside scores are not used, as in trec_eval.

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
        If an id is neither text nor a whole number, or one is 1 and another "1".

    Warns
    -----
    UserWarning
        If a document has a better rank than one with a higher score.

    See Also
    --------
    load_qrels : Loads relevance judgments.
    join_qrels : Joins a run and judgments into labels, scores and ids.
    sklearn_rank.inference.compare : Takes judgments and runs as they are.

    Notes
    -----
    Ids stay strings: "051" differs from "51". The cost is O(n) time for n lines. Of scores that
    tie the document with the greater name is first wherever a measure follows trec_eval, which
    compares scores in 32 bits.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_rank.datasets import load_trec_run
    >>> file = b"q1 Q0 c 1 0.9 me\\nq1 Q0 a 2 0.5 me\\nq1 Q0 b 3 0.5 me\\n"
    >>> load_trec_run(BytesIO(file)).score
    array([0.9, 0.5, 0.5])
    """
    forms = {6: "query Q0 document rank score tag", 3: "query document score"}
    rows = _read(path, ("score",), forms, whole=False)
    score = rows.value
    if not rows.has_names:
        score = _scores_of_ranks(rows.query, score, rows.title)
    if not np.isnan(rows.rank).all():
        _warn_of_ranks(rows.query, rows.rank, score, rows.title)
    return Bunch(qid=rows.qid, docno=rows.docno, score=score)


Unjudged: TypeAlias = Literal["negative", "left out", "unknown"]


def load_qrels(
    path: Any, *, unjudged: Unjudged = "negative", complete: bool | None = None
) -> Bunch:
    """Load relevance judgments (qrels), and say how what is not judged or not retrieved counts.

    Parameters
    ----------
    path : path, stream, mapping, data frame or list
        A file of lines ``query iteration document relevance`` or ``query document relevance``,
        with or without BEIR's head of the columns; or what :func:`load_trec_run` takes, with the
        relevance (in frames the first present of relevance, rel, label, score) for the score.
        Documents in a list or set are relevant.
    unjudged : {"negative", "left out", "unknown"}, default="negative"
        What a retrieved document without a judgment is: not relevant, as in trec_eval; left out of
        the list, so that those below it move up, as in condensed lists [1]_; or of unknown
        relevance, which a ``design`` of :func:`sklearn_rank.inference.compare` describes.
    complete : bool or None, default=None
        How judged queries without a document in the run count: True with value 0, like trec_eval's
        option ``-c``, as one nameless document of relevance 0. False leaves them out. None also
        leaves them out, like trec_eval by default, and warns with their number; where other runs
        have a document for them, it is an error.

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
        unjudged, complete
            The arguments, which hold wherever the judgments are used.

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
    sklearn_rank.inference.compare : Takes judgments and runs as they are.

    References
    ----------
    .. [1] Sakai (2007), *Alternatives to bpref*, SIGIR.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_rank.datasets import load_qrels
    >>> load_qrels(BytesIO(b"q1 0 a 1\\nq1 0 c 0\\n")).relevance
    array([1., 0.])
    """
    check_choice("unjudged", unjudged, get_args(Unjudged))
    if complete is not None:
        check_flag("complete", complete)
    forms = {4: "query iteration document relevance", 3: "query document relevance"}
    rows = _read(path, ("relevance", "rel", "label", "score"), forms, whole=True)
    found = {"qid": rows.qid, "docno": rows.docno, "relevance": rows.value}
    return Bunch(**found, unjudged=unjudged, complete=complete)


def places(query: IntArray, order: IntArray) -> FloatArray:
    """Place of each row in its query, from 1, if rows are in an order of whole queries."""
    starts = np.flatnonzero(changes(query[order]))
    places = np.empty(len(order))
    places[order] = ragged_ranges(np.ones_like(starts), np.diff(starts, append=len(order)))
    return places


def order_of_names(query: IntArray, score: FloatArray, docno: AnyArray) -> FloatArray:
    """Scores -1, -2, ... of the order of trec_eval, in which names count where scores tie."""
    with np.errstate(over="ignore"):
        single = score.astype(np.float32)
    order = np.lexsort((single, query))
    first = changes(query[order]) | changes(single[order])
    tied = order[~first | ~np.append(first[1:], True)]
    name = np.zeros(len(order), dtype=np.intp)
    name[tied] = np.unique(docno[tied], return_inverse=True)[1]
    return -places(query, np.lexsort((name, single, query))[::-1])


def _scores_of_ranks(query: IntArray, value: FloatArray, title: str) -> FloatArray:
    """Scores of lines ``query document number``, whose number may be the rank."""
    rows = np.arange(len(value))
    in_file, by_value = (places(query, np.lexsort((x, query))) for x in (rows, value))
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


def values_of_documents(source: Any, name: str) -> dict[tuple[str, str], float]:
    """Numbers by query and document, in a form of judgments; 1 of documents in a list."""
    forms = {3: f"query document {name}"}
    rows = _read(source, (name, "score", "relevance", "label"), forms, whole=False)
    pairs = zip(rows.qid.tolist(), rows.docno.tolist(), strict=True)
    return dict(zip(pairs, rows.value.tolist(), strict=True))


class _Rows(NamedTuple):
    """Rows of a run or of judgments."""

    title: str
    query: IntArray  # (n_rows,): Number of the query of each row, by appearance
    qid: AnyArray
    docno: AnyArray
    value: FloatArray
    rank: FloatArray  # NaN where there is none, 0 where it is no number
    has_names: bool


class _Columns(NamedTuple):
    """Columns of a source as they are written, and where a row is."""

    title: str
    where: Callable[[int], str]
    query: list[Any]
    document: list[Any]
    value: list[Any]
    rank: list[Any] | None = None
    has_names: bool = True  # Whether the value is called so, and not the last of three fields


def _read(source: Any, names: tuple[str, ...], forms: dict[int, str], whole: bool) -> _Rows:
    """Rows of a source, checked; the value is the first of some names that is there."""
    title, where, queries, documents, values, ranks, has_names = _columns(source, names, forms)
    if not values:
        raise ValueError(f"{title} has no rows: check that it is the right file.")
    qid, docno = (_texts(ids, where) for ids in (queries, documents))
    value = _numbers(values)
    wrong = np.isnan(value)
    if whole:
        wrong |= value != np.rint(value)
        wrong |= np.isinf(value)
    if wrong.any():
        row, kind = int(np.argmax(wrong)), "a whole number" if whole else "a number"
        raise ValueError(
            f"{where(row)} has the {names[0]} {shown(values[row])}: it must be {kind}."
        )
    pairs = list(zip(qid, docno, strict=True))
    if len(set(pairs)) < len(pairs):
        first = dict(zip(reversed(pairs), range(len(pairs) - 1, -1, -1), strict=True))
        row = next(row for row, pair in enumerate(pairs) if first[pair] < row)
        query, document = pairs[row]
        raise ValueError(
            f"{where(row)} repeats the document {document!r} of the query {query!r}: keep one."
        )
    rank = np.full(len(value), nan)
    if ranks is not None:
        absent = [x is None for x in ranks]
        rank = np.where(absent, nan, np.nan_to_num(_numbers(ranks)))
    ids, codes = as_array(qid), distinct_codes(as_array(qid)).codes
    return _Rows(title, codes, ids, as_array(docno), value, rank, has_names)


def _texts(ids: list[Any], where: Callable[[int], str]) -> list[str]:
    """Ids as texts; two that are different before are different after."""
    if set(map(type, ids)) == {str}:
        return ids
    for row, name in enumerate(ids):
        if not (isinstance(name, str) or is_whole(name)):
            raise TypeError(f"{where(row)} has the id {name!r}: pass text or whole numbers.")
    texts: dict[str, Any] = {}
    for row, name in enumerate(ids):
        other = texts.setdefault(str(name), name)
        if isinstance(name, str) != isinstance(other, str):
            raise TypeError(
                f"{where(row)} has the id {name!r}, and there is {other!r} too: pass ids of one"
                " type."
            )
    return list(map(str, ids))


def _numbers(values: list[Any]) -> FloatArray:
    """Values as numbers; NaN where one is none."""
    if set(map(type, values)) <= {int, float}:
        with suppress(OverflowError):  # of integers, which are no numbers then
            return np.array(values, dtype=np.float64)
    return np.array([float(x) if reads_as(float, x) else nan for x in values])


def _columns(source: Any, names: tuple[str, ...], forms: dict[int, str]) -> _Columns:
    if is_file(source):
        return _of_file(source, names, forms)
    columns = column_names(source)
    if columns is not None:
        return _of_columns("The frame", "Row", source, columns, names)
    if isinstance(source, Mapping):
        return _of_mapping("The mapping", source, names[0])
    return _of_tuples(source, names[0])


def _of_mapping(title: str, mapping: Mapping[Any, Any], name: str) -> _Columns:
    """Documents of each query with their values; or in their order, or those that are relevant."""
    queries, documents, values = [], [], []
    for query, of_query in mapping.items():
        if isinstance(of_query, Mapping):
            found, numbers = list(of_query), list(of_query.values())
        elif isinstance(of_query, ID_LISTS):
            found = list(of_query.tolist() if isinstance(of_query, np.ndarray) else of_query)
            is_order = name == "score"
            if is_order and isinstance(of_query, set | frozenset):
                raise TypeError(f"The query {query!r} has a set, without order: pass a list.")
            numbers = list(range(-1, -1 - len(found), -1)) if is_order else [1] * len(found)
        else:
            raise TypeError(
                f"The query {query!r} has {type(of_query).__name__}: pass a mapping from its"
                f" documents to the {name} of each, or a list of documents."
            )
        queries += [query] * len(found)
        documents += found
        values += numbers

    def where(row: int) -> str:
        return f"The document {documents[row]!r} of {queries[row]!r}"

    return _Columns(title, where, queries, documents, values)


def _of_tuples(source: Any, name: str) -> _Columns:
    if not isinstance(source, Iterable):
        raise TypeError(
            f"{shown(source)} is no path, stream, mapping, frame or list of (query, document,"
            f" {name}): pass one of these."
        )
    rows = list(source)
    for number, entry in enumerate(rows):
        is_row = isinstance(entry, tuple | list) and len(entry) == 3
        if not is_row and not hasattr(entry, "_fields"):  # as the tuples of ir_datasets have
            raise TypeError(
                f"Entry {number} is {shown(entry)}: pass (query, document, {name}), or a mapping"
                " from queries to lists of documents."
            )
    query, document, value = ([entry[i] for entry in rows] for i in range(3))
    return _Columns("The list", "Entry {}".format, query, document, value)


def _of_columns(
    title: str, line: str, frame: Any, columns: Sequence[str], names: tuple[str, ...]
) -> _Columns:
    chosen = []
    of_ranks = names == ("score",) and "score" not in columns and "rank" in columns
    for some in (QUERIES, DOCUMENTS, ("rank",) if of_ranks else names):
        name = next((name for name in some if name in columns), None)
        if name is None:
            raise ValueError(
                f"{title} has no column {' or '.join(map(repr, some))}: rename the one that is"
                " meant."
            )
        chosen.append(_values(frame[name]))
    if len(set(map(len, chosen))) > 1:
        raise ValueError("The columns have different lengths: pass one entry per row.")
    query, document, value = chosen
    ranks = None
    if of_ranks:
        value = [-float(x) if reads_as(float, x) else x for x in value]
    elif "rank" in columns:
        ranks = _values(frame["rank"])
    return _Columns(title, f"{line} {{}}".format, query, document, value, ranks)


def _values(column: Any) -> list[Any]:
    """Values of a column of NumPy, pandas, polars or pyarrow, or of a list."""
    return list(getattr(column, "to_pylist", getattr(column, "tolist", column.__iter__))())


def _of_file(source: Any, names: tuple[str, ...], forms: dict[int, str]) -> _Columns:
    """Rows of lines of TREC or BEIR, or of JSON."""
    title, lines, numbers = name_of(source), _texts_of_lines(source), []
    rows: list[tuple[Any, ...]] = []
    is_named = False
    for number, text in lines:
        if not rows and text.lstrip()[0] in "{[":
            return _of_json(title, [(number, text), *lines], names)
        fields, cells = text.split(), text.strip("\r\n").split("\t")
        where = f"Line {number} of {title}"
        if len(fields) != len(cells) in forms:  # ids with spaces
            if len(fields) in forms:
                raise ValueError(
                    f"{where} has {len(cells)} fields between tabs and {len(fields)} between"
                    " spaces: separate all by tabs, or all by spaces."
                )
            fields = cells
        if len(fields) not in forms:
            other = "" if rows else {4: "judgments", 6: "runs"}.get(len(fields), "")
            mend = f"; {other} have {len(fields)}: exchange the files" * bool(other)
            raise ValueError(
                f"{where} has {len(fields)} fields, but {' or '.join(map(str, forms))} are"
                f" expected: {' or '.join(forms.values())}{mend}."
            )
        forms = {len(fields): forms[len(fields)]}  # those of the first line
        row = dict(zip(forms[len(fields)].split(), fields, strict=True))
        if row["query"] in QUERIES and row["document"] in DOCUMENTS:
            is_named = row[names[0]] in names
            continue  # the head of a table
        rows.append((row["query"], row["document"], row[names[0]], row.get("rank")))
        numbers.append(number)
    query, document, value, rank = ([row[i] for row in rows] for i in range(4))

    def where_is(row: int) -> str:
        return f"Line {numbers[row]} of {title}"

    return _Columns(title, where_is, query, document, value, rank, is_named or 3 not in forms)


def _texts_of_lines(source: Any) -> Iterator[tuple[int, str]]:
    """Numbers and texts of the lines that are not empty."""
    for number, line in numbered_lines(source):
        text = line.decode(errors="backslashreplace") if isinstance(line, bytes) else line
        text = text.removeprefix("\ufeff")
        if text.strip():
            yield number, text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Object of JSON, of which Python would keep the last one of two entries of a name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for (name, _), kept in zip_longest(pairs, found) if name != kept)
        raise ValueError(f"The JSON repeats {twice!r} in one object: keep one.")
    return found


def _of_json(title: str, lines: list[tuple[int, str]], names: tuple[str, ...]) -> _Columns:
    """Rows of one object ``{query: {document: value}}``, or of an object on each line."""
    try:
        found = json.loads("".join(text for _, text in lines), object_pairs_hook=_object)
        if isinstance(found, dict) and all(isinstance(x, dict | list) for x in found.values()):
            if (columns := column_names(found)) is not None:
                return _of_columns(title, "Entry", found, columns, names)
            return _of_mapping(title, found, names[0])
        rows = found if isinstance(found, list) else [found]
    except json.JSONDecodeError:
        rows = list[Any]()
        for number, text in lines:
            try:
                rows.append(json.loads(text))
            except json.JSONDecodeError as error:
                raise ValueError(
                    f"Line {number} of {title} is no JSON ({error.msg}): write an object on each"
                    " line, or one object {query: {document: value}}."
                ) from None
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(
            f"{title} has entries that are no objects: write one with the keys query_id, doc_id"
            f" and {names[0]} on each line, or one object {{query: {{document: value}}}}."
        )
    frame = {name: [row.get(name) for row in rows] for name in rows[0]} if rows else {}
    return _of_columns(title, "Object", frame, list(frame), names)
