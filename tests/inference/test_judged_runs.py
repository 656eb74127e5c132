"""Judgments and runs as they are, at every door: beside pytrec_eval, and what is refused."""

import io
import json
from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_rank.datasets import join_qrels, load_qrels, load_trec_run
from sklearn_rank.exceptions import MissingQueryWarning
from sklearn_rank.inference import (
    LabelDesign,
    compare,
    curve,
    metric_interval,
    sample_size,
)
from sklearn_rank.metrics import (
    get_measure,
    make_measure,
    ndcg_score,
    recall_at_k_score,
    reciprocal_rank_score,
)
from tests.naming import for_each

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* is undefined for:sklearn.exceptions.UndefinedMetricWarning",
    "ignore:The .* is .* for all:UserWarning",
)

# Measures of pytrec_eval, and ours.
NAMES = {
    "map": "ap",
    "map_cut_10": "ap@10",
    "ndcg": "ndcg",
    "ndcg_cut_5": "ndcg@5",
    "ndcg_cut_10": "ndcg@10",
    "recip_rank": "rr",
    "P_5": "precision@5",
    "P_10": "precision@10",
    "recall_5": "recall@5",
    "recall_10": "recall@10",
    "success_5": "success@5",
    "Rprec": "r_precision",
    "bpref": "bpref",
}


def draw(seed, n_queries=12, n_runs=2, depth=14):
    """Grades of some of 40 documents, and runs of the first ones, with ties, of the rest."""
    rng = np.random.default_rng(seed)
    qrels, runs = {}, [{} for _ in range(n_runs)]
    for i in range(n_queries):
        query, names = f"q{i}", [f"d{j}" for j in rng.permutation(40)]
        grades = rng.choice(3, 40, p=(0.7, 0.2, 0.1))
        judged = rng.random(40) < 0.7
        judged[rng.integers(40)] = True
        qrels[query] = {
            name: int(grade)
            for name, grade, known in zip(names, grades, judged, strict=True)
            if known
        }
        for run in runs:
            scores = np.round(grades + rng.normal(size=40), 1)
            top = np.argsort(-scores)[: rng.integers(1, depth)]
            run[query] = {names[j]: float(scores[j]) for j in top}
    return qrels, runs


def frame(table, column, library=pd):
    rows = [(q, d, v) for q, of_query in table.items() for d, v in of_query.items()]
    names = ("query-id", "corpus-id", column)
    return library.DataFrame(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def as_lines(table, column):
    keys = ("query_id", "doc_id", column)
    rows = [(q, d, v) for q, of_query in table.items() for d, v in of_query.items()]
    text = "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows)
    return io.StringIO(text)


FORMS = {
    "mapping": lambda table, column: table,
    "numbers as text": lambda table, column: {
        q: {d: str(v) for d, v in of_query.items()} for q, of_query in table.items()
    },
    "pandas": frame,
    "polars": lambda table, column: frame(table, column, pl),
    "lines of JSON": as_lines,
    "object of JSON": lambda table, column: io.BytesIO(json.dumps(table, indent=1).encode()),
    "BEIR": lambda table, column: io.StringIO(
        frame(table, column).to_csv(sep="\t", index=False, lineterminator="\n")
    ),
}


def test_all_doors_have_the_values_of_trec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    names = [
        "map",
        "map_cut",
        "ndcg",
        "ndcg_cut",
        "recip_rank",
        "P",
        "recall",
        "success",
        "Rprec",
        "bpref",
    ]
    for seed in range(20):
        qrels, runs = draw(seed)
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(names))
        theirs = [evaluator.evaluate(run) for run in runs]
        expected = np.array(
            [[[of[q][name] for q in qrels] for name in NAMES] for of in theirs]
        ).mean(axis=2)
        for i, (theirs_name, name) in enumerate(NAMES.items()):
            measure = get_measure(name, convention="trec_eval")
            values, ids = measure(qrels, runs[0], average=None, return_qid=True)
            of_queries = [theirs[0][q][theirs_name] for q in ids]
            np.testing.assert_allclose(np.nan_to_num(values), of_queries, atol=1e-12)
            if seed == 0:
                both = compare(name, qrels, {"a": runs[0], "b": runs[1]})
                np.testing.assert_allclose(both.values, expected[:, i], atol=1e-12)
    found = metric_interval(list(NAMES.values()), qrels, {"a": runs[0], "b": runs[1]})
    got = np.array([x.estimate for x in found.pointwise]).reshape(len(NAMES), 2).T
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)
    places = curve("recall@k", qrels, runs[0], at=[5, 10], random_state=0)
    got = [x.estimate for x in places.pointwise]
    np.testing.assert_allclose(got, expected[0, [8, 9]], atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_one_reading_of_each_form_at_each_door(form):
    qrels, runs = draw(3)
    make = FORMS[form]
    expected = compare("ndcg@10", qrels, {"a": runs[0], "b": runs[1]})
    scores = {"a": make(runs[0], "score"), "b": make(runs[1], "score")}
    assert compare("ndcg@10", make(qrels, "score"), scores) == expected
    interval = metric_interval("rr", qrels, runs[0])
    assert metric_interval("rr", make(qrels, "score"), make(runs[0], "score")) == interval
    rows = [(q, d, v) for q, of_query in qrels.items() for d, v in of_query.items()]
    retrieved = [(q, d, v) for q, of_query in runs[0].items() for d, v in of_query.items()]
    for judged, run in ((rows, runs[0]), (rows, retrieved), (iter(rows), iter(retrieved))):
        assert metric_interval("rr", judged, run) == interval
    value = recall_at_k_score(make(qrels, "score"), make(runs[0], "score"), k=5)
    assert value == recall_at_k_score(qrels, runs[0], k=5)


def test_lists_in_order_and_sets_of_relevant_documents():
    rr = reciprocal_rank_score({"q": {"c"}, "r": ["x", "z"]}, {"q": ["a", "b", "c"], "r": ["z"]})
    assert rr == (1 / 3 + 1) / 2
    ordered = pd.DataFrame({"query": ["q"] * 3, "docno": list("abc"), "rank": [2, 1, 3]})
    assert reciprocal_rank_score({"q": {"a"}}, ordered) == 1 / 2
    with pytest.raises(TypeError, match="'q' has a set, without order: pass a list"):
        load_trec_run({"q": {"a"}})
    # Text in a list are ids only where there are runs: these are labels of two data sets.
    labels = {"a": ["no", "yes"] * 20, "b": ["no", "yes"] * 20}
    scores = {"a": np.arange(40.0), "b": np.arange(40.0) % 7}
    assert compare("auc", labels, scores, pos_label="yes").names == ("a", "b")


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_lists_of_numbers_are_ids_too(kind):
    qrels = {1: kind([10, 20]), 2: kind([30])}
    run = {1: kind([20, 40, 10]), 2: kind([40, 30])}
    assert metric_interval("rr", qrels, run).estimate == 3 / 4
    assert compare("rr", qrels, {"a": run, "b": run}).values == (3 / 4, 3 / 4)
    assert reciprocal_rank_score(qrels, run) == 3 / 4


def test_labels_of_each_ranker_go_with_columns_of_scores():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, 60), rng.normal(size=(60, 2))
    found = compare("auc", {"0": y, "1": y}, scores)
    assert found == compare("auc", {"0": y, "1": y}, {"0": scores[:, 0], "1": scores[:, 1]})
    assert found == compare("auc", {"0": y, "1": y}, pd.DataFrame(scores, columns=["0", "1"]))


def test_runs_of_one_document_a_query_have_all_measures():
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    run = {f"q{i}": ["a" if i else "b"] for i in range(4)}
    assert metric_interval("precision@1", qrels, run).estimate == 3 / 4
    assert get_measure("precision@1")(qrels, run) == 3 / 4


def test_what_was_not_retrieved_has_no_position():
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}, {"q": {"d": 3.0, "a": 2.0}}
    assert recall_at_k_score(qrels, run, k=10) == pytest.approx(1 / 3)
    assert reciprocal_rank_score(qrels, run) == 1 / 2
    ideal = sum(1 / np.log2(1 + i) for i in (1, 2, 3))
    assert ndcg_score(qrels, run) == pytest.approx(1 / np.log2(3) / ideal)
    # The gain is asked for where it matters, and named measures have that of trec_eval.
    graded = {"q": {"a": 2, "d": 1}, "r": {"a": 2, "d": 1}}
    runs = {"q": {"d": 3.0, "a": 2.0}, "r": {"d": 3.0, "a": 2.0}}
    with pytest.raises(ValueError, match="pass gain='linear' or gain='exponential' to ndcg_score"):
        ndcg_score(graded, runs)
    found = metric_interval("dcg@10", graded, runs, method="t")
    assert found.estimate == pytest.approx(1 + 2 / np.log2(3))
    assert found.target == "mean dcg@10(gain='linear') over queries"


def test_the_scale_of_grades_is_that_of_the_judgments():
    qrels = {f"q{i}": {"a": 3, "b": 1} for i in range(3)}
    run = {f"q{i}": {"b": 1.0} for i in range(3)}  # which has no document of grade 3
    found = metric_interval("err@10", qrels, run)
    assert found.estimate == (2 - 1) / 2**3
    with pytest.raises(ValueError, match=r"highest grade, which a run .* pass max_grade=3"):
        get_measure("err@10")(qrels, run)
    assert get_measure("err@10", max_grade=3)(qrels, run) == found.estimate


def test_a_pilot_of_runs_plans_as_its_rows_do():
    qrels, (first, second) = draw(4, n_queries=30)
    runs = {"a": first, "b": second}
    groups = {query: int(query[1:]) // 2 for query in qrels}
    found = sample_size("ndcg@10", difference=0.05, pilot=(qrels, runs), groups=groups)
    measure, ids = get_measure("ndcg@10", convention="trec_eval"), sorted(qrels)
    values = {name: measure(qrels, run, average=None) for name, run in runs.items()}
    of_values = make_measure(
        lambda y_true, y_score: y_score[0], range=(0, 1), kind="graded", name="ndcg@10"
    )
    expected = sample_size(
        of_values,
        difference=0.05,
        pilot=(np.zeros(30), values),
        qid=np.array(ids),
        groups=np.array([groups[query] for query in ids]),
    )
    assert found == expected
    assert "15 groups" in str(found)
    pair = [qrels, runs]
    assert sample_size("ndcg@10", difference=0.05, pilot=pair, groups=groups) == found
    with pytest.raises(ValueError, match="'recall@5,10' is not the name of one measure"):
        sample_size("recall@5,10", difference=0.05, pilot=pair)


def test_unjudged_documents_count_as_the_user_says():
    qrels, runs = {f"q{i}": {"a": 1, "b": 0} for i in range(4)}, {}
    for i in range(4):
        runs[f"q{i}"] = {"new": 3.0, "b": 2.0, "a": 1.0 + i}
    negative = metric_interval("rr", qrels, runs)
    assert negative.estimate == pytest.approx(np.mean([1 / 3, 1 / 2.5, 1 / 1.5, 1]), abs=0.1)
    assert "unjudged documents not relevant (33 % of the first 10)" in negative.target
    condensed = metric_interval("rr", load_qrels(qrels, unjudged="left out"), runs)
    names = {q: {d: s for d, s in run.items() if d != "new"} for q, run in runs.items()}
    assert condensed.estimate == metric_interval("rr", qrels, names).estimate
    assert condensed.target.endswith("; as trec_eval; unjudged documents left out")
    # Nothing judged was retrieved: the query has the value 0, not none.
    alone = {**runs, "q0": {"new": 1.0}}
    values = get_measure("rr")(load_qrels(qrels, unjudged="left out"), alone, average=None)
    assert values[0] == 0.0
    with pytest.raises(ValueError, match=r"4 of 12 documents have no judgment.*pass design="):
        metric_interval("rr", load_qrels(qrels, unjudged="unknown"), runs)


@for_each(
    ("unjudged", "negatives", "measure", "others", "effect"),
    [
        (2, True, "rr", "negative", r"puts 'b' at a disadvantage"),
        (0.5, True, "rr", "negative", None),
        # Who lists only relevant documents means that no other one is.
        (2, False, "rr", "negative", None),
        (2, True, "bpref", "negative", "left out, which favours 'b'"),
        (2, True, "rr", "left out", "left out, which favours 'b'"),
    ],
)
def test_a_run_that_was_judged_less_is_warned_of(unjudged, negatives, measure, others, effect):
    names, n = [f"d{j}" for j in range(10)], 4
    qrels = {
        f"q{i}": {x: int(j % 2 or not negatives) for j, x in enumerate(names)} for i in range(n)
    }
    runs = {x: {query: list(names) for query in qrels} for x in "ab"}
    for i in range(round(n * unjudged)):
        runs["b"][f"q{i % n}"][i // n] = f"x{i}"
    text = rf"documents of 'a' 0 % have .* of 'b' 20 %\. .*{effect}.*LabelDesign\(pool="
    with pytest.warns(UserWarning, match=text) if effect else nullcontext():
        found = compare(measure, load_qrels(qrels, unjudged=others), runs)
    shares = f"(a 0 % to b {10 * unjudged:g} % of the first 10)"
    assert (shares in found.target) == (others == "negative")


def test_queries_that_some_runs_lack_are_asked_for():
    qrels, (first, second) = draw(0)
    shorter = {query: run for query, run in second.items() if query != "q3"}
    runs = {"a": first, "b": shorter}
    with pytest.raises(
        ValueError, match=r"run 'b' has no document for 1 of 12 judged queries that .* 'q3': pass"
    ):
        compare("ap", qrels, runs)
    shared = compare("ap", load_qrels(qrels, complete=False), runs)
    assert shared == compare(
        "ap", {q: x for q, x in qrels.items() if q != "q3"}, {"a": first_of(first), "b": shorter}
    )
    zero = compare("ap", load_qrels(qrels, complete=True), runs)
    assert zero.values[1] == pytest.approx(shared.values[1] * 11 / 12)
    assert "queries without documents count 0 (1 of 12)" in zero.target
    with pytest.warns(MissingQueryWarning, match="no document for 1 of 12 judged queries"):
        compare("ap", qrels, {"a": first_of(first), "b": shorter})
    with pytest.warns(UserWarning, match="lack 1 queries that were run, such as 'q3'"):
        compare("ap", {q: x for q, x in qrels.items() if q != "q3"}, {"a": first, "b": second})
    with pytest.raises(ValueError, match="No judged query has documents in all runs"):
        compare(
            "ap",
            load_qrels({"q0": {"d1": 1}, "q1": {"d1": 1}}, complete=False),
            {"a": {"q0": ["d1"]}, "b": {"q1": ["d1"]}},
        )


def first_of(run):
    return {query: documents for query, documents in run.items() if query != "q3"}


def test_groups_and_segments_are_of_queries():
    qrels, (first, second) = draw(1)
    runs = {"a": first, "b": second}
    topics = {query: int(query[1:]) // 2 for query in qrels}
    found = compare("recall@5", qrels, runs, groups=topics)
    measure = get_measure("recall@5", convention="trec_eval")
    values = [measure(qrels, run, average=None) for run in (first, second)]
    order = sorted(qrels)
    rows = {
        "qid": np.array(order),
        "groups": np.array([topics[query] for query in order]),
    }
    # The same question of rows: each query is one row with its value.
    kept = ~np.isnan(values[0])
    sums = np.bincount(rows["groups"], np.where(kept, values[0] - values[1], 0.0))
    assert found.differences[0] == pytest.approx(sums.sum() / kept.sum())
    assert "of 6 groups" in found.target
    table = compare(
        "recall@5", qrels, runs, by={q: "odd" if int(q[1:]) % 2 else "even" for q in qrels}
    )
    assert set(table.keys["segment"]) == {"odd", "even"}
    with pytest.raises(TypeError, match=r"groups is a list, but .* a mapping from queries"):
        compare("recall@5", qrels, runs, groups=[0, 1])
    with pytest.raises(ValueError, match="groups lacks 11 of 12 queries, such as 'q1'"):
        compare("recall@5", qrels, runs, groups={"q0": 1})


@for_each(
    ("qrels", "run", "message"),
    [
        ({"q": {"a": 1}}, {"r": {"a": 1}}, "No query of the run is judged: the run has 'r'"),
        (
            {"q": {"a": 1}},
            {"q": ["b"]},
            "No document of the run .*: for 'q' the run has 'b', the judgments 'a'; pass",
        ),
        ({"q": {"a": 1}}, {}, "The mapping has no rows"),
        ({"q": {"a": 1}}, {"q": {}}, "The mapping has no rows"),
        ({"q": {"a": 1}}, {"q": None}, "a mapping|no path, stream, mapping"),
        ({"q": {"a": 1}}, {"q": {"a": 10**400}}, "an integer of 1329 bits>: it must be a number"),
        (
            {"q": {"a": 1}},
            load_qrels({"q": {"a": 1}}),
            "run came with .* pass judgments, and",
        ),
        (load_trec_run({"q": ["a"]}), {"q": {"a": 1}}, "judgments came with qid, docno, score:"),
        ({"q": {"a": 1}}, {"q": ["a", "a"]}, "repeats the document 'a' of the query 'q'"),
        ({"q": {"a": 1}}, {1: {"a": 1}, "1": {"b": 2}}, "has the id '1', and there is 1 too"),
        ({"q": {"a": 1}}, {"q": {"a": np.nan}}, "has the score nan: it must be a number"),
        ({"q": {"a": 0.5}}, {"q": ["a"]}, "has the relevance 0.5: it must be a whole number"),
        (io.StringIO('{"query_id": 1}\n{"query'), {"q": ["a"]}, "Line 2 of stream is no JSON"),
        (io.StringIO('{"query_id": "q", "x": 1}\n'), {"q": ["a"]}, "no column 'docno' or"),
    ],
)
def test_what_is_wrong_is_one_sentence(qrels, run, message):
    with pytest.raises((ValueError, TypeError), match=message):
        metric_interval("rr", qrels, run)
    if isinstance(qrels, io.StringIO):
        qrels.seek(0)
    with pytest.raises((ValueError, TypeError), match=message):
        get_measure("rr")(qrels, run)


def test_errors_name_the_run():
    with pytest.raises(ValueError, match="The run 'b': The document 'a' of 'q' has the score nan"):
        compare("rr", {"q": {"a": 1}}, {"a": {"q": ["a"]}, "b": {"q": {"a": np.nan}}})


def test_arguments_of_rows_are_refused():
    qrels, (run, _) = draw(2)
    for unnamed in (run, [run, run]):
        with pytest.raises(
            TypeError, match=r"names, which scores does not have: pass \{'new': run"
        ):
            compare("rr", qrels, unnamed)
    with pytest.raises(TypeError, match="qid is for rows, but y_true has judgments"):
        metric_interval("rr", qrels, run, qid=[1])
    with pytest.raises(TypeError, match="ideal is for rows"):
        ndcg_score(qrels, run, ideal={})
    both = join_qrels(run, qrels)
    of_rows = get_measure("ap")(both.y_true >= 1, both.y_score, qid=both.qid)
    assert of_rows > get_measure("ap")(qrels, run)  # which knows what was not retrieved


def judged_in_part(n_queries=30, n_documents=25):
    """Labels of 10 random documents a query, a judge of all, and runs of 12 and of 3 or 9."""
    rng = np.random.default_rng(0)
    labels, judge, runs = {}, {}, {"a": {}, "b": {}}
    for i in range(n_queries):
        query, names = f"q{i:02}", np.array([f"d{j}" for j in range(n_documents)])
        y = (rng.random(n_documents) < 0.25).astype(int)
        proxy = np.clip(0.2 + 0.5 * y + 0.2 * rng.normal(size=n_documents), 0.01, 0.99)
        judge[query] = dict(zip(names.tolist(), proxy.tolist(), strict=True))
        drawn = rng.choice(n_documents, 10, replace=False)
        labels[query] = dict(zip(names[drawn].tolist(), y[drawn].tolist(), strict=True))
        for name, depth in (("a", 12), ("b", 3 if i % 2 else 9)):
            score = y + rng.normal(size=n_documents)
            top = np.argsort(-score)[:depth]
            runs[name][query] = dict(zip(names[top].tolist(), score[top].tolist(), strict=True))
    return labels, judge, runs


def test_a_design_of_documents_is_that_of_rows():
    labels, judge, runs = judged_in_part()
    rows = [(query, name) for query in judge for name in judge[query]]
    # One of the runs has 3 documents for every other query: fillers have the last two positions.
    rows += [(query, f"filler {i}") for query in list(judge)[1::2] for i in range(2)]
    scores = {}
    for name, run in runs.items():
        places = {(q, d): -i for q in run for i, d in enumerate(list(run[q])[:5])}
        scores[name] = np.array(
            [places.get(row, -9.0 if row[1].startswith("filler") else -np.inf) for row in rows]
        )
    is_filler = np.array([d.startswith("filler") for _, d in rows])
    y = np.array([labels[q].get(d, 0.0 if d.startswith("filler") else np.nan) for q, d in rows])
    qid = np.array([q for q, _ in rows])
    lowest = min(min(of_query.values()) for of_query in judge.values())
    proxy = np.array([judge[q].get(d, lowest) for q, d in rows])
    of_rows = LabelDesign(strata=np.where(is_filler, "filler", qid), proxy=proxy)
    measure = get_measure("precision@5", undefined=0.0)
    expected = compare(measure, y, scores, qid=qid, design=of_rows)
    design = LabelDesign(strata="qid", proxy=judge)
    found = compare("precision@5", labels, runs, design=design)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-9)
    np.testing.assert_allclose(found.low, expected.low, atol=1e-9)
    assert found.target.startswith("mean precision@5(undefined=0.0) over queries, 330 of 780")
    probability = {query: dict.fromkeys(of_query, 0.4) for query, of_query in judge.items()}
    other = LabelDesign(inclusion_probability=probability, proxy=judge)
    again = compare("precision@5", labels, runs, design=other)
    np.testing.assert_allclose(again.values, expected.values, atol=1e-9)


def test_a_judge_that_is_always_right_has_limits():
    labels, judge, runs = judged_in_part()
    known = {q: {d: int(judge[q][d] > 0.4) for d in of_query} for q, of_query in labels.items()}
    design = LabelDesign(strata="qid", proxy=judge)
    found = metric_interval("precision@5", known, runs["a"], design=design)
    assert found.low < found.estimate < found.high


def test_measures_of_grades_and_of_two_classes_share_a_design():
    labels, judge, runs = judged_in_part()
    grades = {q: {d: 2 * y for d, y in of_query.items()} for q, of_query in labels.items()}
    design = LabelDesign(strata="qid", proxy=judge)
    both = metric_interval(["ndcg@5", "precision@5"], grades, runs["a"], design=design)
    alone = metric_interval("precision@5", grades, runs["a"], design=design)
    assert both.pointwise[1].estimate == alone.estimate


def test_documents_that_could_have_been_chosen_are_named():
    labels, judge, runs = judged_in_part()
    unknown = load_qrels(labels, unjudged="unknown")
    chances = {q: dict.fromkeys(of_query, 0.4) for q, of_query in judge.items()}
    design = LabelDesign(inclusion_probability=chances)
    found = compare("recall@5", unknown, runs, design=design)
    assert "over queries, 330 of 780 labels known" in found.target
    # Weighted labels, whose share of the relevant ones is near that by a good judge.
    of_judge = compare("recall@5", labels, runs, design=LabelDesign(strata="qid", proxy=judge))
    np.testing.assert_allclose(found.values, of_judge.values, atol=0.04)
    for wrong, message in (
        ("all", "design='all' does not name the documents"),
        (True, "design=True does not name the documents"),
        (LabelDesign(strata="qid"), "strata='qid' does not name the documents"),
        (LabelDesign(strata=[1, 2], proxy=judge), "strata of the design is for rows"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            compare("recall@5", unknown, runs, design=wrong)


def test_a_pool_of_documents_has_bounds():
    labels, _, runs = judged_in_part()
    unknown = load_qrels(labels, unjudged="unknown")
    found = metric_interval(
        "precision@5", unknown, runs["a"], design=LabelDesign(pool=labels), conditional=True
    )
    tops = {q: list(run)[:5] for q, run in runs["a"].items()}
    sure = np.mean([sum(labels[q].get(d, 0) for d in top) / 5 for q, top in tops.items()])
    possible = np.mean([sum(labels[q].get(d, 1) for d in top) / 5 for q, top in tops.items()])
    assert (found.low, found.high) == pytest.approx((sure, possible))
    assert found.level == 1.0


def test_what_a_design_of_documents_lacks_is_asked_for():
    labels, judge, runs = judged_in_part()
    design = LabelDesign(strata="qid", proxy=judge)
    with pytest.raises(ValueError, match=r"ap depends on all documents, .* such as 'ndcg@10'"):
        metric_interval("ap", labels, runs["a"], design=design)
    with pytest.raises(ValueError, match=r"but unjudged='negative': pass load_qrels\(.*'unknown'"):
        metric_interval("precision@5", labels, runs["a"], design=LabelDesign(pool=labels))
    with pytest.raises(TypeError, match="review_top of the design is for rows, but y_true has"):
        metric_interval(
            "precision@5", labels, runs["a"], design=LabelDesign(review_top=5, scores=runs["a"])
        )
    some = {query: dict(list(of_query.items())[:18]) for query, of_query in judge.items()}
    design = LabelDesign(strata="qid", proxy=some)
    with pytest.raises(ValueError, match=r"proxy lacks \d+ of 300 judged documents, such as"):
        metric_interval("precision@5", labels, runs["a"], design=design)
    within = {q: {d: y for d, y in x.items() if d in some[q]} for q, x in labels.items()}
    unknown = load_qrels(within, unjudged="unknown")
    with pytest.raises(
        ValueError, match=r"proxy lacks .* documents that runs have among the first 5"
    ):
        metric_interval("precision@5", unknown, runs["a"], design=design)
    found = metric_interval("precision@5", within, runs["a"], design=design)
    assert found.target.endswith("documents without proxy not relevant")
