"""Runs with judgments: joined, and as rows of queries for questions of rankings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._lists import ScoredLists
from .._typing import AnyArray, FloatArray
from .._validation import as_array, distinct_codes
from .._warn import warn
from ..exceptions import MissingQueryWarning
from ..metrics import Measure, get_measure
from ..metrics._shared import measure_at, names_of
from ._trec import load_qrels, load_trec_run, order_of_names, places

# Systems in whose order tied documents go by their names.
BY_NAMES = ("trec_eval", "gdeval", "ranx")

# Of so many documents from the top, results say how many are not judged.
SHOWN = 10


def join_qrels(run: Any, qrels: Any) -> Bunch:
    """Join a run with relevance judgments into labels, scores and query ids.

    All measures, intervals and comparisons take judgments and runs as they are, as in
    ``ndcg_score(qrels, run)``. This is for other uses of the rows.

    Parameters
    ----------
    run : Bunch, path, stream, mapping, data frame or list
        A run, as returned by :func:`load_trec_run`, or what that takes.
    qrels : Bunch, path, stream, mapping, data frame or list
        Judgments, as returned by :func:`load_qrels`, which says how unjudged documents and judged
        queries without a document in the run count; or what that takes.

    Returns
    -------
    sklearn.utils.Bunch
        With the attributes

        y_true : ndarray of shape (n_rows,)
            Relevance of each retrieved document of the judged queries, in the order of the run; 0
            for documents that are junk. Documents that are not judged are 0, NaN or left out, as
            :func:`load_qrels` was told.
        y_score : ndarray of shape (n_rows,)
            Score of each document.
        qid, docno : ndarray of str of shape (n_rows,)
            Query id and name of each document.
        judged : ndarray of bool of shape (n_rows,)
            Whether the document is judged for its query; junk is not.
        ideal : dict of str to ndarray
            Relevances of all judged documents of each query, retrieved or not, in descending
            order; pass it as ``ideal=`` to the measures.
        missing : list of str
            Judged queries without a document in the run.
        unjudged : list of str
            Queries of the run without a judgment; they are left out.

    Raises
    ------
    ValueError
        If no query of the run is judged, or no document that it has for one.

    Warns
    -----
    MissingQueryWarning
        If the run has no document for some judged queries and ``complete`` of the judgments is
        None.

    See Also
    --------
    sklearn_rank.metrics.average_precision_score : Accepts ``ideal``.
    sklearn_rank.metrics.ndcg_score : Accepts ``ideal``.

    Examples
    --------
    The relevant document c was not retrieved:

    >>> from sklearn_rank.datasets import join_qrels
    >>> from sklearn_rank.metrics import average_precision_score
    >>> run, qrels = {"q1": {"a": 2.0, "b": 1.0}}, {"q1": {"a": 1, "b": 0, "c": 1}}
    >>> both = join_qrels(run, qrels)
    >>> both.y_true, both.ideal["q1"]
    (array([1., 0.]), array([1., 1., 0.]))
    >>> average_precision_score(
    ...     both.y_true, both.y_score, qid=both.qid, ideal=both.ideal
    ... )
    0.5
    >>> average_precision_score(qrels, run)
    0.5
    """
    return JudgedRuns.of(qrels, {"": run}).runs[""]


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """Runs joined with the same judgments, of which each query is a row of a question."""

    runs: dict[str, Bunch]  # Of each run what join_qrels returns
    queries: list[str]  # That count, ascending
    text: str  # How what is not judged or not retrieved counts
    unjudged: dict[str, float]  # Shares of the first documents that have no judgment
    left_out: bool = False  # Whether these are left out, else they count as not relevant
    found: dict[Measure, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, qrels: Any, runs: Mapping[str, Any]) -> JudgedRuns:
        qrels = _loaded(load_qrels, qrels, "relevance", "judgments")
        read = {x: _loaded(load_trec_run, run, "score", _titled(x)) for x, run in runs.items()}
        complete, unjudged = qrels.get("complete"), qrels.get("unjudged", "negative")
        pairs = zip(qrels.qid.tolist(), qrels.docno.tolist(), strict=True)
        relevance = dict(zip(pairs, qrels.relevance.tolist(), strict=True))
        grades: dict[str, list[float]] = {query: [] for query, _ in relevance}
        for (query, _), grade in relevance.items():
            if grade >= 0:
                grades[query].append(grade)
        lacking: dict[str, list[str]] = {}
        for name, run in read.items():
            retrieved = set(run.qid.tolist())
            lacking[name] = [query for query in grades if query not in retrieved]
            if len(lacking[name]) == len(grades):
                raise ValueError(
                    f"No query of the {_titled(name)} is judged: the run has {run.qid[0]!r}, the"
                    f" judgments {next(iter(grades))!r}; pass a run of the same queries."
                )
        nowhere = set.intersection(*map(set, lacking.values()))
        _report_missing(lacking, nowhere, len(grades), complete)
        missing = set().union(*lacking.values())
        counted = [query for query in sorted(grades) if complete or query not in missing]
        if not counted:
            raise ValueError(
                "No judged query has documents in all runs: pass load_qrels(..., complete=True) to"
                " count 0 where a run has none."
            )
        _refuse_other_documents(read, dict.fromkeys([*qrels.get("frame", ()), *relevance]), grades)
        ideal = {query: np.sort(grades[query])[::-1] for query in counted}
        joined = {
            name: _join(run, relevance, ideal, unjudged)
            | {"missing": lacking[name], "unjudged": _others(run, grades)}
            for name, run in read.items()
        }
        left_out = unjudged == "left out"
        whole = joined
        if left_out:
            whole = {name: _join(run, relevance, ideal, "negative") for name, run in read.items()}
        shares = {name: _share_unjudged(both) for name, both in whole.items()}
        texts = [_text_of_unjudged(shares, unjudged)]
        if complete and missing:
            texts.append(f"queries without documents count 0 ({len(missing)} of {len(counted)})")
        text = "".join(f"; {text}" for text in texts if text)
        if unjudged not in ("negative", "left out") or all(
            grades.min(initial=1.0) >= 1.0 for grades in ideal.values()
        ):
            shares = {}  # Nobody who lists only relevant documents has left out others.
        runs = {name: Bunch(**both) for name, both in joined.items()}
        return cls(runs, counted, text, shares, left_out)

    def warn_of_unjudged(self) -> None:
        """Warn of queries of runs that have no judgment."""
        others = list(dict.fromkeys(query for run in self.runs.values() for query in run.unjudged))
        if others:
            warn(
                f"The judgments lack {len(others)} queries that were run, such as {others[0]!r},"
                " which are left out.",
                UserWarning,
            )

    def measures(self, measure: Any, of_curve: bool = False) -> list[MeasureOfRuns]:
        """Measures of the rows; those that are named follow trec_eval where it has them."""
        found = list(map(as_of_trec_eval, one_by_one(measure, of_curve)))
        scale: Any = {"max_grade": _highest(next(iter(self.runs.values())))}
        found = [replace(x, **scale) if x.scaled_by_labels else x for x in found]
        for left_out in {self.left_out or x.of_judged for x in found}:
            self._warn_of_different_shares(left_out)
        return [MeasureOfRuns(inner=x, of=self, undefined=x.undefined) for x in found]

    def _warn_of_different_shares(self, left_out: bool) -> None:
        """Warn if one run has an unjudged document more than another among the first ones."""
        least, most = _extremes(self.unjudged) if self.unjudged else (("", 0.0), ("", 0.0))
        if SHOWN * (most[1] - least[1]) >= 1.0:
            how = f"These count as not relevant, which puts {most[0]!r} at a disadvantage"
            if left_out:
                how = f"These are left out, which favours {most[0]!r}"
            warn(
                f"Of the first {SHOWN} documents of {least[0]!r} {_percent('', least[1])} have no"
                f" judgment, of those of {most[0]!r} {_percent('', most[1])}. {how}: pass"
                " load_qrels(..., unjudged='unknown') and design=LabelDesign(pool=qrels), which"
                " has limits for any relevance of them, or judge them; or are their ids written in"
                " another way?",
                UserWarning,
            )

    def rules(self, measures: Sequence[MeasureOfRuns]) -> str:
        """By which rules measures count what is not judged or not retrieved."""
        systems = {getattr(x.inner, "convention", None) or "" for x in measures} - {""}
        of_judged = [x.name for x in measures if x.inner.of_judged]
        text = self.text
        if of_judged:
            others = len(of_judged) < len(measures)
            rest = f"not relevant, for {', '.join(of_judged)} " if others else ""
            text = text.replace("not relevant", f"{rest}left out")
        return "".join(f"; as {system}" for system in sorted(systems)) + text

    def rows(self) -> tuple[FloatArray, dict[str, FloatArray], AnyArray]:
        """Labels, which do not matter, numbers of the rows of each run as scores, and ids."""
        n = len(self.queries)
        numbers = {name: np.arange(i * n, (i + 1.0) * n) for i, name in enumerate(self.runs)}
        return np.zeros(n), numbers, as_array(self.queries)

    def values(self, measure: Measure) -> FloatArray:
        """Value of each query of each run, one run after the other."""
        if measure not in self.found:
            values = [measure._values(lists_of_run(measure, both)) for both in self.runs.values()]
            self.found[measure] = np.concatenate(values)
        return self.found[measure]

    def of_queries(self, name: str, column: Any) -> AnyArray:
        """Entries of the queries of a mapping."""
        if not isinstance(column, Mapping):
            raise TypeError(
                f"{name} is a {type(column).__name__}, but judgments and runs have queries: pass a"
                f" mapping from queries to {name}."
            )
        entries = {str(query): entry for query, entry in column.items()}
        if lacking := [query for query in self.queries if query not in entries]:
            raise ValueError(
                f"{name} lacks {len(lacking)} of {len(self.queries)} queries, such as"
                f" {lacking[0]!r}: pass an entry for each."
            )
        return as_array([entries[query] for query in self.queries])


class MeasureOfRuns(Measure):
    """A measure of judged runs, where a row is a query of a run and its score the number of it."""

    kind = "graded"
    per_query = True
    weights = "none"
    has_name = False

    inner: Measure
    of: JudgedRuns

    def in_grammar(self) -> tuple[str, dict[str, Any]]:
        bare, parameters = self.inner.in_grammar()
        parameters.pop("convention", None)
        return bare, parameters

    @property
    def range(self) -> tuple[float, float]:
        return self.inner.range

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        return self.inner.greater_is_better

    @property
    def has_direction(self) -> bool:  # type: ignore[override]
        return self.inner.has_direction

    @property
    def lacking(self) -> str:  # type: ignore[override]
        return self.inner.lacking

    @property
    def in_name(self) -> str | None:  # type: ignore[override]
        return self.inner.in_name

    @property
    def _number(self) -> Any:  # type: ignore[override]
        return self.inner._number

    def _at(self, number: Any) -> MeasureOfRuns:
        return replace(self, inner=self.inner._at(number))

    def values(self, lists: ScoredLists) -> FloatArray:
        return self.of.values(self.inner)[lists.score.astype(np.intp)]


def rows_of_run(measure: Measure, y_true: Any, y_score: Any) -> ScoredLists:
    """Lists of the judged queries of one run."""
    judged = JudgedRuns.of(y_true, {"": y_score})
    judged.warn_of_unjudged()
    both = judged.runs[""]
    highest = _highest(both)
    is_chosen = getattr(measure, "gain", 0) or getattr(measure, "convention", None)
    if hasattr(measure, "gain") and not is_chosen and highest > 1.0:
        raise ValueError(
            "The judgments have relevances above 1, of which the gain may be y, as in trec_eval,"
            f" or 2**y - 1: pass gain='linear' or gain='exponential' to {measure._title}."
        )
    if measure.scaled_by_labels:
        raise ValueError(
            f"{measure._title} has a scale up to the highest grade, which a run need not have:"
            f" pass max_grade={highest:g}, that of the judgments."
        )
    return lists_of_run(measure, both)


def _highest(both: Bunch) -> float:
    """Highest grade of the judgments."""
    return float(max(grades.max(initial=0.0) for grades in both.ideal.values()))


def lists_of_run(measure: Measure, both: Bunch) -> ScoredLists:
    y_true, score, convention = both.y_true, both.y_score, getattr(measure, "convention", None)
    if measure.of_judged:
        y_true = np.nan_to_num(y_true)
    if np.isnan(y_true).any():
        raise ValueError(
            f"{int(np.isnan(y_true).sum()):,} of {len(y_true):,} documents have no judgment, and"
            " unjudged='unknown': pass design= to metric_interval or compare, which says how the"
            " judged ones were chosen."
        )
    ideal = both.ideal if "ideal" in measure.takes_relevant else None
    if measure.kind == "binary" and measure.label_type().rel is None:
        y_true = (y_true >= 1.0).astype(np.float64)
        ideal = ideal and {query: grades >= 1.0 for query, grades in ideal.items()}
    if convention in BY_NAMES:
        score = order_of_names(distinct_codes(both.qid).codes, score, both.docno)
    if measure.of_judged:
        score = np.where(both.judged, score, -np.inf)
    # Not by measure.lists, since queries with one document are no ids of rows here.
    measure._check_arguments(ideal=ideal)
    lists = measure._read(y_true, score, qid=both.qid)
    return measure._with_relevant(lists, y_true.shape, None, None, n_relevant=None, ideal=ideal)


def one_by_one(measure: Any, of_curve: bool) -> list[Any]:
    """Measures and names of single measures; of a curve with some number."""
    if isinstance(measure, list | tuple):
        return [found for one in measure for found in one_by_one(one, of_curve)]
    if not isinstance(measure, str):
        return [measure]
    return [measure_at(measure).name] if of_curve else names_of(measure)


def as_of_trec_eval(measure: Any) -> Measure:
    """Measure of a name as trec_eval has it, or by its definition; other measures as they are."""
    for rule in ({"convention": "trec_eval"}, {"gain": "linear"}) * isinstance(measure, str):
        with suppress(TypeError, ValueError):
            return get_measure(measure, **rule)
    return get_measure(measure)


def _loaded(load: Callable[[Any], Bunch], source: Any, column: str, title: str) -> Bunch:
    """What a function loads or has loaded; errors say of which run."""
    if isinstance(source, Bunch):
        if column not in source:
            raise TypeError(
                f"The {title} came with {', '.join(source)}: pass judgments, and then runs."
            )
        return source
    try:
        return load(source)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"The {title}: {error}") from error


def _titled(name: str) -> str:
    return f"run {name!r}" if name else "run"


def _report_missing(
    lacking: Mapping[str, list[str]], nowhere: set[str], n_judged: int, complete: bool | None
) -> None:
    """Refuse judged queries that some runs have, or warn of those that none has."""
    if complete is not None:
        return
    for name, queries in lacking.items():
        if some := [query for query in queries if query not in nowhere]:
            raise ValueError(
                f"The {_titled(name)} has no document for {len(some)} of {n_judged} judged"
                f" queries that another run has, such as {some[0]!r}: pass load_qrels(...,"
                " complete=True) to count 0 for them, or complete=False to leave them out of all"
                " runs."
            )
    if nowhere:
        first = next(query for query in next(iter(lacking.values())) if query in nowhere)
        warn(
            f"The run has no document for {len(nowhere)} of {n_judged} judged queries, such as"
            f" {first!r}, which are left out: pass load_qrels(..., complete=True) to count 0 for"
            " each, or complete=False to leave them out without this warning.",
            MissingQueryWarning,
        )


def _join(
    run: Bunch, relevance: Mapping[Any, float], ideal: Mapping[str, FloatArray], unjudged: str
) -> dict[str, Any]:
    """Labels and scores of the queries that count."""
    counts = np.array([query in ideal for query in run.qid.tolist()])
    both = {"qid": run.qid[counts], "docno": run.docno[counts], "y_score": run.score[counts]}
    pairs = zip(both["qid"].tolist(), both["docno"].tolist(), strict=True)
    grade = np.array([relevance.get(pair, np.nan) for pair in pairs])
    # As in trec_eval, junk is not relevant, and not judged either.
    both["y_true"], both["judged"] = np.maximum(grade, 0.0), (judged := grade >= 0.0)
    if unjudged == "left out":
        both = {name: column[judged] for name, column in both.items()}
    elif unjudged == "negative":
        both["y_true"] = np.nan_to_num(both["y_true"])
    present = set(both["qid"].tolist())
    if empty := [query for query in ideal if query not in present]:
        # One nameless document, so that the query has a value.
        more = {"docno": "", "y_score": -np.inf, "y_true": 0.0, "judged": False}
        filled = {"qid": empty} | {name: [x] * len(empty) for name, x in more.items()}
        both = {name: np.append(both[name], as_array(x)) for name, x in filled.items()}
    return both | {"ideal": dict(ideal)}


def _others(run: Bunch, judged: Container[str]) -> list[str]:
    """Queries of a run that are not judged."""
    return [query for query in dict.fromkeys(run.qid.tolist()) if query not in judged]


def _refuse_other_documents(
    runs: Mapping[str, Bunch], known: Collection[Any], judged: Mapping[str, Any]
) -> None:
    """Refuse runs whose documents nobody judged, as if they had other names."""
    for name, run in runs.items():
        pairs = list(zip(run.qid.tolist(), run.docno.tolist(), strict=True))
        if not any(pair in known for pair in pairs):
            query, docno = next(pair for pair in pairs if pair[0] in judged)
            other = next(docno for of, docno in known if of == query)
            raise ValueError(
                f"No document of the {_titled(name)} is judged in any query: for {query!r} the run"
                f" has {docno!r}, the judgments {other!r}; pass both with the same ids of"
                " documents."
            )


def _share_unjudged(both: Mapping[str, Any]) -> float:
    """Share of documents without a judgment among the first ones."""
    if both["judged"].all():
        return 0.0
    query = distinct_codes(both["qid"]).codes
    top = places(query, np.lexsort((-both["y_score"], query))) <= SHOWN
    return float((~both["judged"] & (both["docno"] != ""))[top].mean())


def _extremes(shares: Mapping[str, float]) -> list[tuple[str, float]]:
    """Names and shares of the runs with the least and with the largest one."""
    return [pick(shares.items(), key=itemgetter(1)) for pick in (min, max)]


def _percent(name: str, share: float) -> str:
    return f"{name} {float(f'{100.0 * share:.2g}'):g} %".lstrip()


def _text_of_unjudged(shares: Mapping[str, float], unjudged: str) -> str:
    """How documents without a judgment count, and how many of the first ones these are."""
    if unjudged == "left out":
        return "unjudged documents left out"
    if unjudged != "negative" or not any(shares.values()):
        return ""
    texts = [_percent(*x) for x in _extremes(shares)]
    if _percent("", min(shares.values())) == _percent("", max(shares.values())):
        texts = [_percent("", max(shares.values()))]
    return f"unjudged documents not relevant ({' to '.join(texts)} of the first {SHOWN})"
