"""`evaluate`, held against calls of the functions in Python."""

import csv
import gzip
import io
import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from sklearn_rank.datasets import load_qrels
from sklearn_rank.inference import LabelDesign, compare, metric_interval
from sklearn_rank.metrics import (
    average_precision_score,
    get_measure,
    get_measure_names,
    ndcg_score,
    reciprocal_rank_score,
)
from tests.command.files import LABEL, NEW, OLD, one_list, queries, write_csv

ONE_LIST = ("evaluate", "predictions.csv", "--label", LABEL, "--score", NEW, OLD)
QUERIES = ("evaluate", "ranked.csv", "--label", "grade", "--score", NEW, OLD, "--qid", "query")
RUNS = ("evaluate", "system.run", "other.run", "--qrels", "judgments.qrels")


ZERO = "ndcg_score is undefined for 3 of 20 lists (no item with a gain): they were counted as 0."
OF_RUNS = (
    "The run has no document for 1 of 4 judged queries, such as 'q3', which are left out: pass"
    " --complete to count 0 for each, or --shared",
    "The judgments lack 1 queries that were run, such as 'q4', which are left out.",
)


def undefined(name, count="1 of 3", became="no positive): they were counted as 0."):
    return f"{name} is undefined for {count} lists ({became}"


def as_json(results, *arguments, warns=()):
    return json.loads(results(*arguments, "--format", "json", warns=warns))


def check_interval(row, expected):
    names = {"score": row["score"], "measure": row["measure"], "note": ""}
    assert row == names | expected.to_dict()


def test_one_list_has_the_intervals_of_python(results):
    data = one_list()
    found = as_json(results, *ONE_LIST, "--measure", "auc", "ap", "precision@top0.1")
    rows = {(row["score"], row["measure"]): row for row in found["results"]}
    assert len(rows) == 6
    for (score, measure), row in rows.items():
        check_interval(row, metric_interval(measure, data[LABEL], data[score]))
    assert f"predictions.csv: 120 rows, {data[LABEL].sum()} positive ({LABEL})" in found["input"]
    given = {"command": "evaluate", "file": "predictions.csv", "label": LABEL, "score": [NEW, OLD]}
    assert given.items() <= found["options"].items()


def test_options_of_the_interval_are_those_of_python(results):
    data = one_list()
    given = (*ONE_LIST, "--measure", "auc", "--groups", "user", "--level", "0.8")
    row = as_json(results, *given)["results"][0]
    check_interval(
        row, metric_interval("auc", data[LABEL], data[NEW], groups=data["user"], level=0.8)
    )
    row = as_json(results, *ONE_LIST, "--measure", "auc", "--method", "delong")["results"][0]
    check_interval(row, metric_interval("auc", data[LABEL], data[NEW], method="delong"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_the_seed_decides_what_is_drawn(results):
    data = queries()
    given = (*QUERIES, "--measure", "ndcg@5", "--method", "bootstrap", "--resamples", "99")
    expected = metric_interval(
        "ndcg@5",
        data["grade"],
        data[NEW],
        qid=data["query"],
        method="bootstrap",
        n_resamples=99,
        random_state=3,
    )
    row = as_json(results, *given, "--seed", "3", warns=[ZERO])["results"][0]
    check_interval(row, expected)
    other = as_json(results, *given, "--seed", "4", warns=[ZERO])["results"][0]
    assert other["low"] != row["low"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("groups", [(), ("--groups", "user")])
def test_queries_have_the_intervals_of_python(results, groups):
    data = queries()
    names = ("ndcg@5", "ap(rel>=1)", "rr(rel>=2)")
    zeros = [
        undefined("average_precision_score", "3 of 20"),
        undefined("reciprocal_rank_score", "3 of 20", "no positive): they were left out."),
    ]
    found = as_json(results, *QUERIES, "--measure", *names, *groups, warns=[ZERO, *zeros])
    for row in found["results"]:
        expected = metric_interval(
            row["measure"],
            data["grade"],
            data[row["score"]],
            qid=data["query"],
            groups=data["user"] if groups else None,
        )
        check_interval(row, expected)
    (row, _) = as_json(
        results,
        *(*QUERIES, "--measure", "tau_b", *groups),
        warns=[
            undefined("tau_b_score", "3 of 20", "items of one relevance only): they were left")
        ],
    )["results"]
    assert row["estimate"] is not None


def test_csv_has_a_row_for_each_measure_and_score(results):
    given, warns = (*ONE_LIST, "--measure", "auc", "rr"), ["rr: no interval: "]
    out = results(*given, "--format", "csv", warns=warns)
    rows = list(csv.DictReader(io.StringIO(out)))
    expected = as_json(results, *given, warns=warns)["results"]
    assert [(row["score"], row["measure"]) for row in rows] == [
        (NEW, "auc"),
        (OLD, "auc"),
        (NEW, "rr"),
        (OLD, "rr"),
    ]
    for row, one in zip(rows, expected, strict=True):
        assert list(row) == list(one)
        for name in ("estimate", "low", "high"):
            assert (float(row[name]) if row[name] else None) == one[name]


def test_a_name_with_several_numbers_is_as_many_measures(results):
    found = as_json(results, *ONE_LIST, "--measure", "recall@5,10", "auc", "recall@10")
    measures = [row["measure"] for row in found["results"]]
    assert measures[::2] == ["recall@5", "recall@10", "auc"]


def test_text_is_aligned(results):
    lines = results(*ONE_LIST).splitlines()
    positive = f"{one_list()[LABEL].sum()} positive (clicked)"
    assert lines[0] == f"predictions.csv: 120 rows, {positive}, not used: user"
    table = lines[2:]
    assert len(table) == 7
    assert max(map(len, lines)) <= 80
    for head in ("measure", "method"):
        column = table[0].index(head)
        assert all(line[column - 1] == " " != line[column] for line in table)
    auc = metric_interval("auc", one_list()[LABEL], one_list()[NEW])
    assert f"{auc.estimate:.4f}  [{auc.low:.4f}, {auc.high:.4f}]  wilson" in table[1]


def test_a_measure_without_an_interval_keeps_its_value(results):
    data = one_list()
    why = "ndcg@10: no interval: ndcg@10 of one list is a single value, so its variance cannot be"
    out = results(*ONE_LIST, "--measure", "auc", "ndcg@10", warns=[why])
    assert f"ndcg@10  {ndcg_score(data[LABEL], data[NEW], k=10):.4f}" in out
    assert "[0." in out
    why = "auc: no interval: --method 't' does not support auc of one list: pass 'wilson' or"
    out = results(*ONE_LIST, "--measure", "auc", "--method", "t", warns=[why])
    assert re.search(r"auc +0\.\d{4} +-$", out, flags=re.MULTILINE)


def test_a_measure_without_a_value_says_why(results, command, files):
    note = (
        "no interval: the column of labels has 3 classes (0.0, 1.0, 2.0), but this measure is for"
        " two: pass --pos-label and --neg-label, or relevant grades, as in 'auc(rel>=2)'"
    )
    given = (*QUERIES, "--measure", "auc", "ndcg@5")
    rows = as_json(results, *given, warns=[ZERO, f"auc: {note}."])["results"]
    assert [(row["estimate"] is None, row["note"]) for row in rows[1:3]] == [
        (True, note),
        (False, ""),
    ]
    out, err, code = command(*QUERIES, "--measure", "auc")
    assert (out, err, code) == ("", f"sklearn-rank evaluate: error: auc: {note}\n", 2)
    data = queries()
    data["grade"] = data["grade"] - 0.5
    write_csv(files / "negative.csv", data)
    _, err, code = command("evaluate", "negative.csv", *QUERIES[2:], "--measure", "ndcg@5")
    assert (code, "relevance must be finite and at least 0" in err) == (2, True)


def test_every_measure_has_a_value_for_runs_and_for_tables(command):
    # Of the relevant documents of the runs none counts for it, or there is no class 2. Scores of
    # systems are no probabilities.
    none = {"local_auc@0.8", "ap(rel>=2)", "net_benefit@0.1", "calibration@10"}
    for given in (RUNS, ONE_LIST):
        names = [*get_measure_names(), "ap(rel>=2)"]
        out, _, code = command(*given, "--measure", *names, "--format", "json")
        rows = json.loads(out)["results"]
        assert (code, len(rows)) == (0, 2 * len(names))
        assert {row["measure"] for row in rows if row["estimate"] is None} <= none


@pytest.mark.parametrize(
    ("columns", "given", "measures"),
    [
        (("label", "score"), (), ["auc", "ap", "precision@top0.1"]),
        (("y_true", "score_a", "score_b"), (), ["auc", "ap", "precision@top0.1"]),
        (("label", "y_score", "qid"), (), ["ndcg@10", "ap", "rr"]),
        (("label", "y_score", "qid"), ("--one-list",), ["auc", "ap", "precision@top0.1"]),
        (("grade", "score"), ("--label", "grade"), ["spearman", "tau_b"]),
        (("relevance", "score", "qid"), (), ["ndcg@10", "ap", "rr"]),
    ],
)
def test_columns_and_measures_that_nobody_named(command, files, columns, given, measures):
    data = one_list()
    values = {"qid": np.arange(120) // 10, "grade": np.arange(120) % 3}
    for name in columns:
        values.setdefault(name, data[NEW if "score" in name else LABEL])
    write_csv(files / "plain.csv", {name: values[name] for name in columns})
    out, _, code = command("evaluate", "plain.csv", *given, "--format", "json")
    assert code == 0
    scores = [name for name in columns if "score" in name]
    rows = json.loads(out)["results"]
    assert [row["score"] for row in rows] == scores * len(measures)
    assert list(dict.fromkeys(row["measure"] for row in rows)) == measures


def test_runs_have_the_values_of_python(results):
    functions = {
        "ndcg@10": lambda *a, **k: ndcg_score(*a, k=10, **k),
        "ap": average_precision_score,
        "rr": reciprocal_rank_score,
    }
    zeros = [undefined("ap"), undefined("rr")]
    zeros = [undefined("ndcg@10", became="no item with a gain): they were counted"), *zeros]
    found = as_json(results, *RUNS, "--measure", *functions, warns=[*OF_RUNS, *zeros])
    rows = {(row["score"], row["measure"]): row for row in found["results"]}
    assert len(rows) == 6
    for (name, measure), row in rows.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            qrels = load_qrels("judgments.qrels", complete=False)
            value = functions[measure](qrels, name, convention="trec_eval")
        assert row["estimate"] == pytest.approx(value, abs=1e-12)
        assert row["low"] <= row["estimate"] <= row["high"]
    assert found["input"] == (
        "system.run, other.run against judgments.qrels: 3 queries; as trec_eval; unjudged"
        " documents not relevant (29 % of the first 10)"
    )


def test_a_run_has_the_interval_of_its_queries_and_counts_those_it_lacks(command):
    out, _, _ = command(*RUNS, "--measure", "ap", "--format", "json")
    some = json.loads(out)["results"][0]
    values = np.array([1 / 3 / 2, 0.0, 0.5])  # c, the later name, stands before b
    assert some["estimate"] == pytest.approx(values.mean())
    assert some["standard_error"] == pytest.approx(values.std(ddof=1) / np.sqrt(3))
    out, err, _ = command(*RUNS, "--measure", "ap", "--complete", "--format", "json")
    every = json.loads(out)["results"][0]
    assert every["estimate"] == pytest.approx(some["estimate"] * 3 / 4)
    assert "no document" not in err


def test_documents_without_a_judgment_are_left_out_of_condensed_lists(command):
    out, _, _ = command(*RUNS, "--measure", "rr", "--condensed", "--format", "json")
    found = json.loads(out)
    # c is not judged and stood between a and b of q1; q2 has nothing relevant; g is second of q5.
    assert found["results"][0]["estimate"] == pytest.approx((1 / 2 + 0 + 1 / 2) / 3)
    assert found["input"].endswith("; unjudged documents left out")


def test_documents_of_a_pool_leave_the_others_unknown(command, files):
    (files / "pool.json").write_text(json.dumps(qrels := {"q": {"a": 1, "b": 0}, "r": {"a": 1}}))
    (files / "new.json").write_text(json.dumps(run := {"q": ["b", "c"], "r": ["a", "d"]}))
    given = ("evaluate", "new.json", "--qrels", "pool.json", "--measure", "ndcg@2")
    out, _, _ = command(*given, "--pool", "--format", "json")
    design = LabelDesign(pool=qrels)
    unknown = load_qrels(qrels, unjudged="unknown")
    check_interval(
        json.loads(out)["results"][0], metric_interval("ndcg@2", unknown, run, design=design)
    )
    assert "relevance of unjudged documents unknown" in out
    _, err, code = command(*given, "--pool", "--condensed")
    assert code == 2
    assert "--pool and --condensed exclude each other" in err
    other = {"q": ["x", "y"], "r": ["x", "y"]}
    (files / "other.json").write_text(json.dumps(other | {"r": ["x", "a"]}))
    more = ("compare", "new.json", "other.json", "--qrels", "pool.json", "--measure", "rr")
    assert "puts 'other.json' at a disadvantage: pass --pool, which" in command(*more)[1]
    (files / "other.json").write_text(json.dumps(other))
    _, err, code = command(*more, "--fail-if", "worse")
    assert code == 2
    assert "No document of the run 'other.json' is judged in any query" in err


def test_without_a_convention_ties_are_averaged(command):
    out, _, _ = command(*RUNS, "--measure", "rr", "--convention", "none", "--format", "json")
    # b is second or third of q1; q2 has no relevant document and is left out; g is second of q5.
    expected = np.mean([(1 / 2 + 1 / 3) / 2, 1 / 2])
    assert json.loads(out)["results"][0]["estimate"] == pytest.approx(expected)
    _, err, _ = command(*RUNS, "--measure", "rbp@0.8")
    assert "rbp@0.8 is not a measure of trec_eval: it follows its definition." in err


def test_a_convention_of_a_table(results):
    data = queries()
    given = (*QUERIES, "--measure", "ndcg@5", "--convention", "letor")
    row = as_json(results, *given, warns=[ZERO])["results"][0]
    measure = get_measure("ndcg@5", convention="letor")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = measure(data["grade"], data[NEW], qid=data["query"])
    assert row["estimate"] == pytest.approx(expected, abs=1e-12)


def test_classes_with_names(results, files):
    data = one_list()
    words = np.where(data[LABEL] == 1, "spam", "ham")
    write_csv(files / "words.csv", {"label": words, "score": data[NEW]})
    given = ("evaluate", "words.csv", "--pos-label", "spam")
    assert f"{data[LABEL].sum()} positive (label spam)" in results(*given)
    row = as_json(results, *given)["results"][0]
    check_interval(row, metric_interval("auc", data[LABEL], data[NEW]))
    write_csv(files / "bools.csv", {"label": data[LABEL] == 1, "score": data[NEW]})
    assert as_json(results, "evaluate", "bools.csv")["results"][0]["estimate"] == row["estimate"]
    write_csv(files / "numbers.csv", {"label": data[LABEL] + 1.0, "score": data[NEW]})
    given = ("evaluate", "numbers.csv", "--pos-label", "2", "--measure", "auc")
    assert as_json(results, *given)["results"][0]["estimate"] == row["estimate"]


@pytest.mark.parametrize(
    ("amounts", "value"),
    [
        (("19", "-1"), (19, -1)),
        (("gain",), np.arange(120.0)),
        (("gain", "cost"), np.c_[np.arange(120.0), -np.arange(120.0) / 7]),
        (("gain", "-0.5"), (np.arange(120.0), -0.5)),
    ],
)
def test_amounts_are_those_of_python(results, files, amounts, value):
    data = one_list() | {"gain": np.arange(120.0), "cost": -np.arange(120.0) / 7}
    write_csv(files / "amounts.csv", data | {LABEL: np.where(data[LABEL] == 1, "yes", "no")})
    given = ("amounts.csv", *ONE_LIST[2:], "--pos-label", "yes", "--measure", "profit@20")
    given += ("--value", *amounts)
    scores = {name: data[name] for name in (NEW, OLD)}
    for row in as_json(results, "evaluate", *given)["results"]:
        interval = metric_interval("profit@20", data[LABEL], scores[row["score"]], value=value)
        check_interval(row, interval)
    (found,) = as_json(results, "compare", *given)["results"]
    expected = compare("profit@20", data[LABEL], scores, value=value)
    assert found["low"] == [*expected.low]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--value", "19"), "--value 19.0 must be an amount for each row, or a pair (gain, cost)"),
        (("--value", "1", "2", "3"), "value has 3 columns, but must have the amount of a row if"),
        (("--value", "gain", "0"), "there is no column 'gain'"),
        (("--value", "nan", "0"), "--value nan must be a number"),
        (("--value", "1", "0", "--measure", "auc"), "auc takes no argument 'value': leave it out"),
        (("--value", "1", "0", "--random-labels"), "takes no amounts of labels known in part"),
    ],
)
def test_amounts_that_are_refused(command, given, message):
    measure = () if "--measure" in given else ("--measure", "profit@20")
    out, err, code = command(*ONE_LIST, *measure, *given)
    assert (out, code, message in err) == ("", 2, True), err


def test_an_amount_that_is_also_a_column_is_refused(command, files):
    write_csv(files / "t.csv", one_list() | {"5": one_list()[NEW]})
    _, err, code = command("evaluate", "t.csv", *ONE_LIST[2:], "--value", "5", "-1")
    assert (code, "--value 5 is a number and a column: rename the column" in err) == (2, True)


def test_formats_of_files_are_alike(results, files):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    expected = results(*ONE_LIST).partition(":")[2]
    data = one_list()
    write_csv(files / "same.tsv", data, delimiter="\t")
    write_csv(files / "semicolon.csv", data, delimiter=";")
    text = (files / "predictions.csv").read_bytes()
    with gzip.open(files / "same.csv.gz", "wb") as stream:
        stream.write(text)
    (files / "mark.csv").write_bytes(b"\xef\xbb\xbf" + text.replace(b"\r\n", b"\n\n"))
    parquet.write_table(pyarrow.table(data), files / "same.parquet")
    for name, *more in (
        ("same.tsv",),
        ("same.csv.gz",),
        ("mark.csv",),
        ("same.parquet",),
        ("semicolon.csv", "--delimiter", ";"),
    ):
        out = results("evaluate", name, "--label", LABEL, "--score", NEW, OLD, *more)
        assert out == f"{name}:{expected}"
    out = results("evaluate", "-", *ONE_LIST[2:], stdin=text)
    assert out == f"standard input:{expected}"


def test_output_goes_to_a_file(results, files):
    expected = results(*ONE_LIST, "--format", "csv")
    assert results(*ONE_LIST, "--format", "csv", "--output", "out.csv") == ""
    assert (files / "out.csv").read_text(encoding="utf-8") == expected


def test_all_measures_are_listed(results):
    assert results("evaluate", "--list-measures").splitlines() == get_measure_names()


def test_warnings_go_to_standard_error_once(command):
    out, err, code = command(*ONE_LIST, "--measure", "precision@top0.001")
    assert code == 0
    assert out.startswith("predictions.csv")
    assert err.count("sklearn-rank evaluate: warning: ") == len(err.splitlines()) == 1


def in_part(known, **columns):
    """The list with other labels empty, and with words."""
    data = one_list()
    words = np.where(data[LABEL] == 1, "yes", "no")
    return data | {LABEL: np.where(known, words, "")} | columns, np.where(
        known, data[LABEL], np.nan
    )


FIRST = np.argsort(np.argsort(-one_list()[OLD], kind="stable")) < 20
AUDITED = FIRST | (np.arange(120) % 3 == 0)
CHANCE = np.where(np.arange(120) % 2, 0.25, 0.75)


# Labels that are known, options, and the design that they say.
IN_PART = [
    (
        AUDITED,
        ("--review-top", "20", "--champion", OLD, "--audit", str(AUDITED.sum() - 20)),
        LabelDesign(review_top=20, audit=int(AUDITED.sum() - 20), scores=one_list()[OLD]),
    ),
    (
        FIRST,
        ("--review-top", "20", "--champion", OLD, "--most-below", "0.2"),
        LabelDesign(review_top=20, scores=one_list()[OLD], most_below=0.2),
    ),
    (AUDITED, ("--strata", "first"), LabelDesign(strata=FIRST)),
    (
        np.arange(120) % 5 < 3,
        ("--inclusion-probability", "chance"),
        LabelDesign(inclusion_probability=CHANCE),
    ),
    (AUDITED, ("--pool",), LabelDesign(pool=AUDITED)),
    (np.arange(120) % 3 == 0, ("--random-labels",), "all"),
]


@pytest.mark.parametrize(
    ("known", "given", "design", "with_proxy"),
    [(*case, False) for case in IN_PART[:-1]] + [(*case, True) for case in IN_PART[::5]],
)
def test_labels_known_in_part_have_the_limits_of_python(
    results, files, known, given, design, with_proxy
):
    proxy = np.round(1 / (1 + np.exp(-one_list()[NEW])), 3)
    columns, labels = in_part(known, first=FIRST, chance=CHANCE, proxy=proxy)
    write_csv(files / "part.csv", columns)
    read = ("part.csv", *ONE_LIST[2:], "--pos-label", "yes", "--measure", "auc", *given)
    read += ("--proxy", "proxy") if with_proxy else ()
    if with_proxy:
        one_stratum = LabelDesign(strata=np.zeros(len(proxy)))
        design = replace(one_stratum if design == "all" else design, proxy=proxy)
    arguments = {"design": design}
    found = as_json(results, "evaluate", *read)
    for row in found["results"]:
        check_interval(row, metric_interval("auc", labels, columns[row["score"]], **arguments))
    assert f"120 rows, {known.sum()} with labels" in found["input"]
    assert found["options"].get("champion") == (OLD if "--champion" in given else None)
    (found,) = as_json(results, "compare", *read)["results"]
    scores = {name: columns[name] for name in (NEW, OLD)}
    expected = compare("auc", labels, scores, **arguments)
    assert found["low"] == [*expected.low]


def test_labels_known_in_part_of_groups_and_of_queries(results, files):
    known = np.arange(120) % 20 < 15  # three groups of each four
    columns, labels = in_part(known)
    write_csv(files / "part.csv", columns)
    given = (*ONE_LIST[2:], "--pos-label", "yes", "--measure", "auc", "--random-labels")
    row, _ = as_json(results, "evaluate", "part.csv", *given, "--groups", "user")["results"]
    user = columns["user"]
    check_interval(row, metric_interval("auc", labels, columns[NEW], groups=user, design="all"))
    data = queries()
    order = np.lexsort((-data[OLD], data["query"]))
    known = np.zeros(160, dtype=bool)
    known[order.reshape(20, 8)[:, [0, 1, 2, 4, 7]]] = True
    relevant = np.where(data["grade"] > 0, 1.0, 0.0)
    labels = np.where(known, relevant, np.nan)
    write_csv(files / "judged.csv", data | {"grade": np.where(known, relevant.astype(str), "")})
    given = ("--review-top", "3", "--champion", OLD, "--audit", "2", "--measure", "precision@4")
    row, _ = as_json(results, "evaluate", "judged.csv", *QUERIES[2:], *given)["results"]
    design = LabelDesign(review_top=3, audit=2, scores=data[OLD])
    expected = metric_interval("precision@4", labels, data[NEW], qid=data["query"], design=design)
    check_interval(row, expected)


def test_what_contradicts_the_labels_is_said(command, files):
    columns, _ = in_part(AUDITED)
    write_csv(files / "part.csv", columns)
    read = ("evaluate", "part.csv", *ONE_LIST[2:], "--pos-label", "yes", "--champion", OLD)
    for given, message in (
        (("--review-top", "20", "--audit", "7"), "--audit 7, but 33 rows below the first 20 have"),
        (("--review-top", "40"), "--review-top 40 says that the first 40 rows by scores were rev"),
        (
            ("--review-top", "20", "--most-below", "1"),
            "--most-below 1 is an assumption on rows of",
        ),
        (
            ("--review-top", "20", "--measure", "spearman"),
            "spearman: no interval: --review-top 20 says",
        ),
    ):
        _, err, code = command(*read, *given)
        assert code == 2
        assert message in err


def test_known_labels_of_one_class_leave_room_for_the_other(results, files):
    columns, labels = in_part(AUDITED, first=FIRST)
    columns[LABEL], labels[AUDITED] = np.where(AUDITED, "0", ""), 0
    write_csv(files / "part.csv", columns)
    given = (*ONE_LIST[2:], "--measure", "precision@40", "--strata", "first")
    row, _ = as_json(results, "evaluate", "part.csv", *given)["results"]
    design = LabelDesign(strata=FIRST)
    check_interval(row, metric_interval("precision@40", labels, columns[NEW], design=design))
    assert row["high"] > 0.05


@pytest.mark.parametrize("write", [str, lambda day: str(day).replace("-", "")])
def test_ids_that_are_dates_are_times(command, write):
    columns = queries(n_queries=25)
    day = np.datetime64("2024-02-20") + np.repeat(np.arange(25), 8)
    write_csv("days.csv", columns | {"query": np.array([write(x) for x in day])})
    of_file = (
        "days.csv",
        "--label",
        "grade",
        "--score",
        NEW,
        "--measure",
        "precision@top0.3(rel>=1)",
    )
    for name in ("qid", "groups"):
        out, _, code = command("evaluate", *of_file, f"--{name}", "query", "--format", "json")
        (found,) = json.loads(out)["results"]
        asked = "precision@top0.3(rel>=1)", columns["grade"], columns[NEW]
        expected = metric_interval(*asked, **{name: day})
        assert (code, found["low"], found["high"]) == (0, expected.low, expected.high)
        assert expected.width != metric_interval(*asked, **{name: columns["query"]}).width
