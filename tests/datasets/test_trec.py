"""Runs and judgments of TREC against pytrec_eval, and what is refused in files."""

import bz2
import gzip
import io
import json
import warnings
from collections import namedtuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import Bunch

from sklearn_rank.datasets import join_qrels, load_qrels, load_trec_run
from sklearn_rank.exceptions import MissingQueryWarning
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import get_measure
from tests.naming import for_each

ignore_undefined = pytest.mark.filterwarnings(
    f"ignore::{UndefinedMetricWarning.__module__}.{UndefinedMetricWarning.__name__}"
)

# Names of trec_eval, and ours.
NAMES = {
    "map": "ap",
    "ndcg": "ndcg",
    "recip_rank": "rr",
    "Rprec": "r_precision",
    **{
        f"{theirs}_{k}": f"{ours}@{k}"
        for theirs, ours in (
            ("map_cut", "ap"),
            ("ndcg_cut", "ndcg"),
            ("P", "precision"),
            ("recall", "recall"),
            ("success", "success"),
        )
        for k in (1, 3, 5, 20)
    },
}


def draw(seed, n_queries=25):
    """A run and judgments, with all that real ones have."""
    rng = np.random.default_rng(seed)
    run, qrels = {}, {}
    for query in range(n_queries):
        names = np.array([f"d{i}" for i in rng.permutation(200)[:40]])
        n_judged, n_retrieved = rng.integers(1, 20), rng.integers(1, 25)
        judged = rng.choice(names, n_judged, replace=False)
        retrieved = rng.choice(names, n_retrieved, replace=False)
        # Junk, and queries without a relevant document.
        grades = rng.integers(-2, 4, n_judged) if query % 5 else rng.integers(-2, 1, n_judged)
        # pytrec_eval reads beyond an array where all are junk.
        grades[0] = max(grades[0], 0)
        # Ties, some of them in 32 bits only.
        scores = rng.integers(0, 6, n_retrieved) / 8 + 1e-12 * rng.integers(0, 3, n_retrieved)
        if query % 7 != 3:
            run[f"q{query}"] = dict(zip(retrieved.tolist(), scores.tolist(), strict=True))
        if query % 7 != 5:
            qrels[f"q{query}"] = dict(zip(judged.tolist(), grades.tolist(), strict=True))
    return run, qrels


def files(run, qrels):
    lines = [
        f"{q}\tQ0 {d} 0 {s!r} tag\n"  # some systems give no ranks
        for q, of in run.items()
        for d, s in of.items()
    ]
    judged = [f"{q} 0 {d} {g}\r\n" for q, of in qrels.items() for d, g in of.items()]
    return io.BytesIO("".join(lines).encode()), io.BytesIO("\n".join(judged).encode())


def values_of(name, qrels, run, **parameters):
    measure = get_measure(name, convention="trec_eval", **parameters)
    values, ids = measure(qrels, run, average=None, return_qid=True)
    return dict(zip(ids.tolist(), np.nan_to_num(values).tolist(), strict=True))


@ignore_undefined
@pytest.mark.filterwarnings("ignore:.*that were run:UserWarning")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("level", [1, 2])
def test_values_of_trec_eval(seed, level):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run, qrels = draw(seed)
    wanted = {"map", "ndcg", "recip_rank", "Rprec", "num_rel", "num_rel_ret"}
    wanted |= {f"{name}.1,3,5,20" for name in ("map_cut", "ndcg_cut", "P", "recall", "success")}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, wanted, relevance_level=level)
    theirs = evaluator.evaluate(run)
    run_file, qrels_file = files(run, qrels)
    read = load_qrels(qrels_file, complete=False), load_trec_run(run_file)
    both = join_qrels(*read[::-1])
    assert set(both.qid) == set(theirs) == set(both.ideal)
    assert 5 < len(theirs) < len(qrels)
    for name, ours in NAMES.items():
        graded = ours.startswith("ndcg")
        if graded and level != 1:
            continue
        found = values_of(ours, *read, **({} if graded else {"rel": level}))
        expected = {query: of[name] for query, of in theirs.items()}
        assert found == pytest.approx(expected, abs=1e-12), name
    for query, of in theirs.items():
        assert (both.ideal[query] >= level).sum() == of["num_rel"]
        assert (both.y_true[both.qid == query] >= level).sum() == of["num_rel_ret"]


@ignore_undefined
@pytest.mark.filterwarnings("ignore:.*that were run:UserWarning")
@pytest.mark.parametrize("unjudged", ["negative", "left out", "unknown"])
@pytest.mark.parametrize("level", [1, 2])
def test_bpref_is_of_judged_documents_however_others_count(level, unjudged):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    for seed in range(20):
        run, qrels = draw(seed)
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"bpref"}, relevance_level=level)
        measure = get_measure("bpref", convention="trec_eval", rel=level)
        judged = load_qrels(qrels, complete=False, unjudged=unjudged)
        values, ids = measure(judged, run, average=None, return_qid=True)
        theirs = evaluator.evaluate(run)
        expected = [theirs[query]["bpref"] for query in ids]
        np.testing.assert_allclose(np.nan_to_num(values), expected, atol=1e-12)
    found = metric_interval("bpref", load_qrels(qrels, complete=False), run)
    assert "unjudged documents left out (" in found.target
    both = metric_interval(["bpref", "rr"], load_qrels(qrels, complete=False), run)
    assert "unjudged documents not relevant, for bpref left out (" in both.target


@ignore_undefined
@pytest.mark.filterwarnings("ignore:.*that were run:UserWarning")
def test_queries_that_the_run_lacks_count_zero():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run, qrels = draw(11)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg", "P.5"}).evaluate(run)
    with pytest.warns(
        MissingQueryWarning, match=r"no document for 4 of 22 judged queries, such as 'q3'"
    ):
        left_out = join_qrels(run, qrels)
    complete = join_qrels(run, load_qrels(qrels, complete=True))
    assert left_out.missing == complete.missing == ["q3", "q10", "q17", "q24"]
    assert left_out.unjudged == ["q5", "q12", "q19"]
    for theirs_name, name in (("map", "ap"), ("ndcg", "ndcg"), ("P_5", "precision@5")):
        total = sum(of[theirs_name] for of in theirs.values())
        measure = get_measure(name, convention="trec_eval")
        for counted, n in ((False, len(theirs)), (True, len(qrels))):
            found = measure(load_qrels(qrels, complete=counted), run)
            assert found == pytest.approx(total / n, abs=1e-12)


def test_ties_of_trec_eval_need_its_order():
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0 + 1e-9, "d": 2.0}}
    assert load_trec_run(run).score.tolist() == list(run["q"].values())
    # In 32 bits c is tied with a and b, and the greatest name is first.
    both = join_qrels(run, {"q": {"a": 1}})
    measure = get_measure("rr", convention="trec_eval")
    assert [measure({"q": {name: 1}}, run) for name in "dcba"] == [1, 1 / 2, 1 / 3, 1 / 4]
    with pytest.raises(ValueError, match="or judgments and the run, which have names"):
        get_measure("ap", convention="trec_eval")(both.y_true, both.y_score)
    # Without the system, the mean over all orders.
    assert get_measure("rr")(both.y_true, [1, 1, 1, 2]) == pytest.approx(
        (1 / 2 + 1 / 3 + 1 / 4) / 3
    )


def test_names_are_compared_by_their_bytes():
    run = {"q": {"é": 1.0, "z": 1.0, "Z": 1.0, "a10": 1.0, "a9": 1.0}}
    measure = get_measure("rr", convention="trec_eval")
    for place, name in enumerate(["é", "z", "a9", "a10", "Z"], 1):
        assert measure({"q": {name: 1}}, run) == 1 / place


def test_compressed_files_and_paths(tmp_path):
    run, qrels = draw(3)
    plain = [stream.read() for stream in files(run, qrels)]
    expected = join_qrels(run, load_qrels(qrels, complete=False))
    for suffix, opener in (("", open), (".gz", gzip.open), (".bz2", bz2.open)):
        paths = tmp_path / f"run{suffix}", tmp_path / f"qrels{suffix}"
        for path, text in zip(paths, plain, strict=True):
            with opener(path, "wb") as stream:
                stream.write(b"\xef\xbb\xbf" * (suffix == "") + text)
        found = join_qrels(paths[0], load_qrels(str(paths[1]), complete=False))
        for name in ("y_true", "y_score", "qid", "docno", "judged"):
            assert found[name].tolist() == expected[name].tolist()
        assert {q: x.tolist() for q, x in found.ideal.items()} == {
            q: x.tolist() for q, x in expected.ideal.items()
        }
    # Text streams too.
    assert load_qrels(io.StringIO("1 0 d 2\n")).qid.tolist() == ["1"]


def test_what_is_judged_and_what_is_not():
    both = join_qrels(
        load_trec_run({"q": {"a": 3, "b": 2, "c": 1}, "z": {"a": 1}}),
        load_qrels({"q": {"a": 2, "b": -1, "d": 1, "e": 3, "f": 0}}),
    )
    assert both.y_true.tolist() == [2.0, 0.0, 0.0]
    assert both.judged.tolist() == [True, False, False]
    assert both.ideal["q"].tolist() == [3.0, 2.0, 1.0, 0.0]
    assert both.missing == []
    assert both.unjudged == ["z"]


@for_each(
    ("load", "text", "message"),
    [
        (load_trec_run, "q Q0 a 1 2.0\n", "has 5 fields, but 6 or 3 are expected: query"),
        (load_qrels, "q Q0 a 1 2.0 t\n", "relevance; runs have 6: exchange the files"),
        (load_qrels, "q 0 a 1\n\nq 0 1\n", "Line 3 of .* has 3 fields, but 4 are expected"),
        (load_qrels, "q\tthe doc\t1\n", "3 fields between tabs and 4 between spaces"),
        (load_trec_run, "q a 2\nq b 1\n", "may be ranks or scores: .* with -rank"),
        (load_trec_run, "q Q0 a 1 1_5 t\n", "has the score '1_5'"),
        (load_trec_run, "q Q0 a 1 high t\n", "Line 1 of .* has the score 'high': .* a number"),
        (load_trec_run, "q Q0 a 1 nan t\n", "has the score 'nan'"),
        (load_qrels, "q 0 a 0.5\n", "has the relevance '0.5': it must be a whole number"),
        (load_qrels, "q 0 a inf\n", "has the relevance 'inf'"),
        (
            load_qrels,
            "q 0 a 1\nq 0 a 2\n",
            "Line 2 of .* repeats the document 'a' of the query 'q'",
        ),
        (load_trec_run, "q Q0 a 1 2 t\nq Q0 a 2 1 t\n", "Line 2 of .* repeats .*: keep one"),
        (load_qrels, "\n \n", "has no rows"),
        (load_qrels, '{"q": {"a": 1}, "q": {"b": 1}}', "The JSON repeats 'q' in one object: keep"),
    ],
)
def test_wrong_lines_are_refused(load, text, message):
    with pytest.raises(ValueError, match=message):
        load(io.BytesIO(text.encode()))


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(TypeError, match="query 'q' has int: pass a mapping"):
        load_qrels({"q": 1})
    with pytest.raises(ValueError, match="document 'a' of 'q' has the score None"):
        load_trec_run({"q": {"a": None}})
    run = load_trec_run({"1": {"a": 1}})
    with pytest.raises(
        ValueError, match=r"No query of the run is judged: the run has '1', .* '01'"
    ):
        join_qrels(run, load_qrels({"01": {"a": 1}}))
    with pytest.raises(TypeError, match="complete"):
        load_qrels({"1": {"a": 1}}, complete="yes")
    cut = tmp_path / "qrels.gz"
    cut.write_bytes(gzip.compress(b"q 0 a 1\n")[:-9])
    with pytest.raises(ValueError, match="cannot be decompressed"):
        load_qrels(cut)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        join_qrels(load_trec_run({"1": {"a": 1}}), load_qrels({"1": {"a": 1}}))


def frames(run, column):
    """Columns of a run or of judgments, by the names of several tools."""
    rows = [(q, d, s) for q, of in run.items() for d, s in of.items()]
    values = dict(zip(("query", "document", "value"), zip(*rows, strict=True), strict=True))

    def named(*names):
        return dict(zip(names, map(list, values.values()), strict=True))

    ours = named("qid", "docno", column)
    others = {"docid": list(range(len(rows))), "query": ["some words"] * len(rows)}
    return {
        "Bunch": Bunch(**{name: np.array(x) for name, x in ours.items()}),
        "columns in JSON": io.StringIO(json.dumps(ours)),
        "pandas": pd.DataFrame(ours),
        "polars": pl.DataFrame(named("query_id", "doc_id", column)),
        "pyarrow": pa.table(named("query-id", "corpus-id", "score")),
        "PyTerrier": pd.DataFrame(others | ours),
        "tuples": rows,
        "ir_datasets": [namedtuple("Row", "q d value more")(*row, 0) for row in rows],
        "BEIR": io.BytesIO(
            "".join(
                "\t".join(map(str, r)) + "\n" for r in [("query-id", "corpus-id", "score"), *rows]
            ).encode()
        ),
    }


def test_one_reading_of_all_forms():
    run, qrels = draw(5)
    expected = join_qrels(run, load_qrels(qrels, complete=True))
    runs, judgments = frames(run, "score"), frames(qrels, "relevance")
    for name in runs:
        both = join_qrels(runs[name], load_qrels(judgments[name], complete=True))
        for field in ("y_true", "y_score", "qid", "docno", "missing"):
            assert list(both[field]) == list(expected[field]), name


def test_ids_are_text_or_whole_numbers():
    assert load_qrels([(7, np.int64(8), 1)]).qid.tolist() == ["7"]
    for query in (7.0, None, float("nan"), True, ("a",)):
        with pytest.raises(TypeError, match=r"Entry 0 has the id .*: pass text or whole"):
            load_qrels([(query, "a", 1)])
    for wrong in (None, 3, b"q 0 a 1", [("q", 0, "a", 1)], ["q 0 a 1"]):
        with pytest.raises(TypeError, match=r"\(query, document, relevance\)"):
            load_qrels(wrong)
    assert load_qrels({"query": {"a": 1}, "docno": {"b": 0}}).qid.tolist() == ["query", "docno"]
    with pytest.raises(ValueError, match="columns have different lengths"):
        load_qrels({"qid": ["q"], "docno": ["a", "b"], "relevance": [1, 2]})
    with pytest.raises(ValueError, match="no column 'docno' or 'doc_id'"):
        load_qrels(pd.DataFrame({"qid": ["q"], "relevance": [1]}))


def test_ranks_are_scores_of_files_without_one_and_are_compared_with_others():
    of_ranks = load_trec_run(io.BytesIO(b"q1\t7\t1\nq2\t7\t1\nq1\t5\t2\n"))
    assert of_ranks.score.tolist() == [-1.0, -1.0, -2.0]
    assert load_trec_run([("q", "a", 1), ("q", "b", 2)]).score.tolist() == [1.0, 2.0]
    assert load_trec_run(io.BytesIO(b"q a 1\nq b 3\n")).score.tolist() == [1.0, 3.0]
    named = b"query_id doc_id score\nq a 1\nq b 2\n"
    assert load_trec_run(io.BytesIO(named)).score.tolist() == [1.0, 2.0]
    lines = "q1 Q0 a {} 0.5 t\nq1 Q0 b {} inf t\nq1 Q0 c {} inf t\nq2 Q0 a 1 3 t\n"
    for ranks in ((3, 1, 2), (3, 2, 1), (1, 1, 1), ("-", "-", "-")):
        load_trec_run(io.BytesIO(lines.format(*ranks).encode()))
    with pytest.warns(UserWarning, match=r"contradict the scores in 1 of 2 queries, .*-rank"):
        load_trec_run(io.BytesIO(lines.format(1, 2, 3).encode()))
    with pytest.warns(UserWarning, match="The frame has ranks that contradict"):
        load_trec_run(pd.DataFrame({"qid": 1, "docno": [1, 2], "score": [1, 2], "rank": [0, 1]}))
