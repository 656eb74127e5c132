"""TREC runs and relevance judgments (qrels), loaded and joined into the input of the measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan, nan
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch

from .._typing import AnyArray, FloatArray
from .._validation import as_array, check_choice, check_flag
from .._warn import warn
from ..exceptions import MissingQueryWarning
from ._svmlight import DAMAGED, name_of, open_source


def load_trec_run(path: Any, *, ties: Literal["mean", "trec"] = "mean") -> Bunch:
    """Load a TREC run: the documents that a system retrieved for each query, with scores.

    Parameters
    ----------
    path : path, binary stream or mapping
        A file of lines ``query Q0 document rank score tag``; a name that ends in ``.gz`` or
        ``.bz2`` is decompressed. Or a mapping from queries to mappings from documents to scores,
        as for pytrec_eval and ranx. The rank column is ignored, as in trec_eval.
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
    >>> file = b"q1 Q0 a 1 0.5 me\\nq1 Q0 b 2 0.5 me\\nq1 Q0 c 3 0.9 me\\n"
    >>> load_trec_run(BytesIO(file)).score
    array([0.5, 0.5, 0.9])

    trec_eval ranks "b" before "a":

    >>> load_trec_run(BytesIO(file), ties="trec").score
    array([-3., -2., -1.])
    """
    check_choice("ties", ties, ("mean", "trec"))
    qid, docno, score = _columns(path, "query Q0 document rank score tag", value=4)
    if ties == "trec":
        score = _order_of_trec_eval(qid, docno, score)
    return Bunch(qid=qid, docno=docno, score=score)


def load_qrels(path: Any) -> Bunch:
    """Load TREC relevance judgments (qrels): the relevance of documents for each query.

    Parameters
    ----------
    path : path, binary stream or mapping
        A file of lines ``query iteration document relevance``; a name that ends in ``.gz`` or
        ``.bz2`` is decompressed. Or a mapping from queries to mappings from documents to
        relevances.

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
    qid, docno, relevance = _columns(
        path, "query iteration document relevance", value=3, whole=True
    )
    return Bunch(qid=qid, docno=docno, relevance=relevance)


def join_qrels(
    run: Bunch, qrels: Bunch, *, complete: bool | None = None, rel: float = 1.0
) -> Bunch:
    """Join a TREC run with relevance judgments into labels, scores and query ids.

    Parameters
    ----------
    run : Bunch
        A run, as returned by :func:`load_trec_run`.
    qrels : Bunch
        Judgments, as returned by :func:`load_qrels`.
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

    >>> from sklearn_rank.datasets import join_qrels, load_qrels, load_trec_run
    >>> from sklearn_rank.metrics import average_precision_score
    >>> run = load_trec_run({"q1": {"a": 2.0, "b": 1.0}}, ties="trec")
    >>> both = join_qrels(run, load_qrels({"q1": {"a": 1, "b": 0, "c": 1}}))
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
    if complete:
        qid, docno = np.append(qid, missing), np.append(docno, [""] * len(missing))
        score = np.append(score, [-np.inf] * len(missing))
    else:
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


def _order_of_trec_eval(qid: AnyArray, docno: AnyArray, score: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        single = score.astype(np.float32)
    query = np.unique(qid, return_inverse=True)[1]
    order = np.lexsort((docno, single, query))[::-1]
    starts = np.flatnonzero(np.append(True, np.diff(query[order]) != 0))
    first = np.repeat(starts, np.diff(starts, append=len(order)))
    position = np.empty(len(order))
    position[order] = np.arange(len(order)) - first + 1.0
    return -position


def _columns(
    path: Any, line: str, *, value: int, whole: bool = False
) -> tuple[AnyArray, AnyArray, FloatArray]:
    """Queries, documents and the number of each, which is the field `value` of a line, checked."""
    names = line.split()
    if isinstance(path, Mapping):
        title, rows = "the mapping", _entries(path, names[value])
    else:
        title, rows = name_of(path), _fields(path, names, value)
    seen: dict[tuple[str, str], None] = {}
    numbers = []
    for where, query, document, written in rows:
        try:
            number = float(written)
        except (TypeError, ValueError):
            number = nan
        if isnan(number) or (whole and not number.is_integer()):
            kind = "a whole number" if whole else "a number"
            raise ValueError(f"{where} has the {names[value]} {written!r}: it must be {kind}.")
        numbers.append(number)
        seen[query, document] = None
        if len(seen) < len(numbers):
            raise ValueError(
                f"{where} repeats the document {document!r} of the query {query!r}: keep one of"
                " the two lines."
            )
    if not numbers:
        raise ValueError(f"{title} has no rows: check that it is the right file.")
    qid, docno = map(as_array, zip(*seen, strict=True))
    return qid, docno, np.array(numbers)


def _entries(mapping: Mapping[Any, Any], name: str) -> Iterator[tuple[str, str, str, Any]]:
    for query, documents in mapping.items():
        if not isinstance(documents, Mapping):
            raise TypeError(
                f"The query {query!r} has {type(documents).__name__}: pass a mapping from its"
                f" documents to the {name} of each."
            )
        for document, written in documents.items():
            yield f"The document {document!r} of {query!r}", str(query), str(document), written


def _fields(path: Any, names: list[str], value: int) -> Iterator[tuple[str, str, str, str]]:
    title, number = name_of(path), 0
    try:
        with open_source(path) as stream:
            for number, line in enumerate(stream, 1):
                text = line.decode(errors="backslashreplace") if isinstance(line, bytes) else line
                fields = text.removeprefix("\ufeff").split()
                if not fields:
                    continue
                where = f"Line {number} of {title}"
                if len(fields) != len(names):
                    raise ValueError(
                        f"{where} has {len(fields)} fields, but {len(names)} are expected:"
                        f" {' '.join(names)}."
                    )
                yield where, fields[0], fields[2], fields[value]
    except DAMAGED as error:
        raise ValueError(
            f"{title} cannot be decompressed after line {number} ({error}): it is cut off or"
            " damaged; fetch it again."
        ) from error
