"""Runs and judgments (qrels) of TREC, read and joined into what the measures take."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch

from .._arguments import check_choice, check_flag
from .._letor_lines import open_file
from .._typing import AnyArray, FloatArray
from .._warn import warn
from ..exceptions import MissingQueryWarning

__all__ = ["join_qrels", "load_qrels", "load_trec_run"]

RUN = ("query", "Q0", "document", "rank", "score", "tag")
QRELS = ("query", "iteration", "document", "relevance")


def load_trec_run(path: Any, *, ties: Literal["mean", "trec"] = "mean") -> Bunch:
    """Read a run: the documents that a system retrieved for each query, and their scores.

    Parameters
    ----------
    path : path, binary stream or mapping
        A file of lines ``query Q0 document rank score tag``, where a name that ends in ``.gz`` or
        ``.bz2`` is decompressed; or a mapping from queries to mappings from documents to scores,
        as pytrec_eval and ranx take it. The column of ranks is not looked at, as in trec_eval.
    ties : {"mean", "trec"}, default="mean"
        "mean": the scores as they are written, of which the measures take the mean over all orders
        of ties. "trec": the order of trec_eval instead of the scores: by score in 32 bits, tied
        documents by their names, the last name first; the score is then ``-i`` at position i.

    Returns
    -------
    sklearn.utils.Bunch
        With the attributes

        qid : ndarray of str of shape (n_rows,)
            The query of each row, the rows in the order of the file.
        docno : ndarray of str of shape (n_rows,)
            Name of the document.
        score : ndarray of shape (n_rows,)
            Its score.

    Raises
    ------
    ValueError
        If a line is not of the format, a score is NaN, or a document is there twice for a query;
        with the file and the line.

    See Also
    --------
    load_qrels : Reads the judgments.
    join_qrels : Makes both into labels, scores and ids.

    Notes
    -----
    Ids stay strings: "051" is not "51". O(n) time for n lines, O(n log n) with ``ties="trec"``.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_rank.datasets import load_trec_run
    >>> file = b"q1 Q0 a 1 0.5 me\\nq1 Q0 b 2 0.5 me\\nq1 Q0 c 3 0.9 me\\n"
    >>> load_trec_run(BytesIO(file)).score
    array([0.5, 0.5, 0.9])

    In trec_eval "b" stands before "a":

    >>> load_trec_run(BytesIO(file), ties="trec").score
    array([-3., -2., -1.])
    """
    check_choice("ties", ties, ("mean", "trec"))
    qid, docno, score = _columns(path, RUN, (0, 2, 4), _score)
    if ties == "trec":
        score = _order_of_trec_eval(qid, docno, score)
    return Bunch(qid=qid, docno=docno, score=score)


def load_qrels(path: Any) -> Bunch:
    """Read judgments of documents: how relevant each is for a query.

    Parameters
    ----------
    path : path, binary stream or mapping
        A file of lines ``query iteration document relevance``, where a name that ends in ``.gz``
        or ``.bz2`` is decompressed; or a mapping from queries to mappings from documents to
        relevances.

    Returns
    -------
    sklearn.utils.Bunch
        With the attributes

        qid : ndarray of str of shape (n_rows,)
            The query of each row, the rows in the order of the file.
        docno : ndarray of str of shape (n_rows,)
            Name of the document.
        relevance : ndarray of shape (n_rows,)
            Its relevance, a whole number as it is written; below 0 is junk.

    Raises
    ------
    ValueError
        If a line is not of the format, a relevance is no whole number, or a document is there
        twice for a query; with the file and the line.

    See Also
    --------
    load_trec_run : Reads what a system retrieved.
    join_qrels : Makes both into labels, scores and ids.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_rank.datasets import load_qrels
    >>> load_qrels(BytesIO(b"q1 0 a 1\\nq1 0 c 0\\n")).relevance
    array([1., 0.])
    """
    qid, docno, relevance = _columns(path, QRELS, (0, 2, 3), _relevance)
    return Bunch(qid=qid, docno=docno, relevance=relevance)


def join_qrels(
    run: Bunch, qrels: Bunch, *, complete: bool | None = None, rel: float = 1.0
) -> Bunch:
    """Join a run with judgments into labels, scores and ids, and what was not retrieved.

    Parameters
    ----------
    run : Bunch
        A run, as :func:`load_trec_run` makes it.
    qrels : Bunch
        Judgments, as :func:`load_qrels` makes them.
    complete : bool or None, default=None
        What becomes of judged queries of which the run has nothing. True: they count, as with
        trec_eval's option ``-c``: one document without a name and without relevance stands for
        each, so that its value is 0. False: they are left out. None: so too, as trec_eval does by
        itself, and a warning says how many.
    rel : float, default=1
        Least relevance that ``n_relevant`` counts. With another ``rel`` in a measure pass
        ``ideal``, which holds for all.

    Returns
    -------
    sklearn.utils.Bunch
        With the attributes

        y_true : ndarray of shape (n_rows,)
            Relevance of each retrieved document of the judged queries, in the order of the run;
            0 for what is not judged and for junk.
        y_score : ndarray of shape (n_rows,)
            Its score.
        qid, docno : ndarray of str of shape (n_rows,)
            Its query and name.
        judged : ndarray of bool of shape (n_rows,)
            Whether it is judged for the query.
        n_relevant : dict of str to int
            Number of documents of each query that are judged relevant, retrieved or not: the
            ``n_relevant=`` of the measures.
        ideal : dict of str to ndarray
            Their relevances above 0, from the highest down: the ``ideal=`` of the measures.
        missing : list of str
            Judged queries of which the run has nothing.
        unjudged : list of str
            Queries of the run without a judgment, which are left out.

    Raises
    ------
    ValueError
        If no query of the run is judged.

    Warns
    -----
    MissingQueryWarning
        If the run has nothing of some judged queries, and ``complete`` is None.

    See Also
    --------
    sklearn_rank.metrics.average_precision_score : Takes ``ideal`` and ``n_relevant``.
    sklearn_rank.metrics.ndcg_score : Takes ``ideal``.

    Examples
    --------
    The relevant document c was not retrieved:

    >>> from sklearn_rank.datasets import join_qrels, load_qrels, load_trec_run
    >>> from sklearn_rank.metrics import average_precision_score
    >>> run = load_trec_run({"q1": {"a": 2.0, "b": 1.0}}, ties="trec")
    >>> both = join_qrels(run, load_qrels({"q1": {"a": 1, "b": 0, "c": 1}}))
    >>> average_precision_score(both.y_true, both.y_score, qid=both.qid, ideal=both.ideal,
    ...                         convention="trec_eval")
    0.5
    """
    if complete is not None:
        check_flag("complete", complete)
    pairs = zip(qrels.qid.tolist(), qrels.docno.tolist(), strict=True)
    relevance = dict(zip(pairs, qrels.relevance.tolist(), strict=True))
    best = _best_orders(relevance)
    retrieved = set(run.qid.tolist())
    missing = [query for query in best if query not in retrieved]
    _check_missing(missing, run, best, warns=complete is None)
    kept = np.flatnonzero([query in best for query in run.qid.tolist()])
    qid, docno, score = run.qid[kept], run.docno[kept], run.score[kept]
    if complete:
        qid, docno = np.append(qid, missing), np.append(docno, [""] * len(missing))
        score = np.append(score, [-np.inf] * len(missing))
    else:
        best = {query: grades for query, grades in best.items() if query in retrieved}
    found = [relevance.get(row) for row in zip(qid.tolist(), docno.tolist(), strict=True)]
    return Bunch(
        y_true=np.array([max(grade or 0.0, 0.0) for grade in found]),
        y_score=score,
        qid=qid,
        docno=docno,
        judged=np.array([grade is not None for grade in found]),
        n_relevant={query: int((grades >= rel).sum()) for query, grades in best.items()},
        ideal=best,
        missing=missing,
        unjudged=list(dict.fromkeys(np.delete(run.qid, kept).tolist())),
    )


def _best_orders(relevance: Mapping[tuple[str, str], float]) -> dict[str, FloatArray]:
    """Relevances above 0 of each judged query, from the highest down."""
    grades: dict[str, list[float]] = {}
    for (query, _), grade in relevance.items():
        of_query = grades.setdefault(query, [])
        if grade > 0:
            of_query.append(grade)
    return {query: np.sort(of_query)[::-1] for query, of_query in grades.items()}


def _check_missing(
    missing: list[str], run: Bunch, best: Mapping[str, Any], *, warns: bool
) -> None:
    if len(missing) == len(best):
        raise ValueError(
            f"No query of the run is judged: the run has {run.qid.tolist()[0]!r}, the judgments"
            f" {missing[0]!r}; pass files of the same queries."
        )
    if missing and warns:
        warn(
            f"The run has nothing of {len(missing)} of {len(best)} judged queries, as of"
            f" {missing[0]!r}, which were left out: pass complete=True to count 0 for each, or"
            " complete=False to leave them out without this warning.",
            MissingQueryWarning,
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


def _score(text: Any) -> float:
    value = float(text)
    if value != value:
        raise ValueError(text)
    return value


def _relevance(text: Any) -> float:
    value = float(text)
    if not value.is_integer():
        raise ValueError(text)
    return value


def _columns(
    path: Any, names: tuple[str, ...], places: tuple[int, int, int], read: Callable[[Any], float]
) -> tuple[AnyArray, AnyArray, FloatArray]:
    """Queries, documents and the number of each, checked."""
    title = "the mapping"
    if isinstance(path, Mapping):
        rows = _entries(path, names[places[2]])
    else:
        title = str(getattr(path, "name", "stream") if hasattr(path, "read") else path)
        rows = _fields(path, title, names, places)
    seen: dict[tuple[str, str], None] = {}
    numbers = []
    for where, query, document, written in rows:
        try:
            numbers.append(read(written))
        except (TypeError, ValueError):
            kind = "a number" if read is _score else "a whole number"
            raise ValueError(
                f"{where} has the {names[places[2]]} {written!r}: it must be {kind}."
            ) from None
        seen[query, document] = None
        if len(seen) < len(numbers):
            raise ValueError(
                f"{where} has the document {document!r} of the query {query!r} again: keep one"
                " line of the two."
            )
    if not numbers:
        raise ValueError(f"{title} has no rows: check that it is the right file.")
    qid, docno = zip(*seen, strict=True)
    return np.array(qid), np.array(docno), np.array(numbers)


def _entries(given: Mapping[Any, Any], name: str) -> Iterator[tuple[str, str, str, Any]]:
    for query, documents in given.items():
        if not isinstance(documents, Mapping):
            raise TypeError(
                f"The query {query!r} has {type(documents).__name__}: pass a mapping from its"
                f" documents to the {name} of each."
            )
        for document, written in documents.items():
            yield f"The document {document!r} of {query!r}", str(query), str(document), written


def _fields(
    path: Any, title: str, names: tuple[str, ...], places: tuple[int, int, int]
) -> Iterator[tuple[str, str, str, str]]:
    is_stream = hasattr(path, "read")
    stream = path if is_stream else open_file(path)
    number = 0
    try:
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
            yield where, fields[places[0]], fields[places[1]], fields[places[2]]
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"{title} cannot be decompressed after line {number} ({error}): it is cut off or"
            " damaged; fetch it again."
        ) from error
    finally:
        if not is_stream:
            stream.close()
