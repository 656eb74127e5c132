"""`compare`, held against calls of the functions in Python."""

import csv
import io
import json
import warnings

import numpy as np
import pytest

from sklearn_rank._command import main
from sklearn_rank.inference import compare
from tests.command.files import LABEL, NEW, OLD, one_list, queries, write_csv

ONE_LIST = ("compare", "predictions.csv", "--label", LABEL, "--score", NEW, OLD)
QUERIES = ("compare", "ranked.csv", "--label", "grade", "--score", NEW, OLD, "--qid", "query")
RUNS = ("compare", "system.run", "other.run", "--qrels", "judgments.qrels")


def in_python(measure, data, label, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compare(
            measure, data[label], {NEW: data[NEW], OLD: data[OLD]}, random_state=0, **given
        )


def check_comparison(found, expected):
    expected = expected.to_dict() | {"conclusions": list(expected.conclusions)}
    for name, value in expected.items():
        # Ids are texts here, so that sums over groups come in another order.
        is_number = isinstance(value, list) and value and isinstance(value[0], float)
        if name == "value_limits":
            np.testing.assert_allclose(found[name], value, rtol=1e-9)
            continue
        assert found[name] == (pytest.approx(value, rel=1e-9) if is_number else value)


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ((), {}),
        (("--groups", "user"), {"groups": one_list()["user"]}),
        (("--baseline", NEW), {"baseline": NEW}),
        (("--margin", "0.05"), {"margin": 0.05}),
        (
            ("--margin", "0.05", "--alternative", "equivalent", "--level", "0.9"),
            {"margin": 0.05, "alternative": "equivalent", "level": 0.9},
        ),
        (("--alternative", "greater"), {"alternative": "greater"}),
        pytest.param(("--method", "swap"), {"method": "swap"}, marks=pytest.mark.slow),
    ],
    ids=lambda given: "-".join(given) if isinstance(given, tuple) else None,
)
def test_one_list_is_compared_as_in_python(results, given, arguments):
    found = json.loads(results(*ONE_LIST, "--measure", "auc", *given, "--format", "json"))
    (comparison,) = found["results"]
    check_comparison(comparison, in_python("auc", one_list(), LABEL, **arguments))


@pytest.mark.parametrize("method", ["auto", "randomization", "t"])
def test_queries_are_compared_as_in_python(results, method):
    given = (*QUERIES, "--measure", "ndcg@5", "--method", method, "--format", "json")
    found = json.loads(results(*given, warns=["ndcg_score is undefined for 3 of 20 lists"]))
    data = queries()
    expected = in_python("ndcg@5", data, "grade", qid=data["query"], method=method)
    check_comparison(found["results"][0], expected)


def test_many_scores(results, files):
    data = one_list()
    for i in range(10):
        data[f"score_{i}"] = np.round(data[NEW] + i * 0.3 * data[OLD], 3)
    write_csv(files / "many.csv", data)
    out = results("compare", "many.csv", "--label", LABEL)
    assert out.count("  score_") == 0
    assert out.count(" - score_") == 40
    assert "and 5 contrasts more" in out
    out = results("compare", "many.csv", "--label", LABEL, "--baseline", "score_3")
    assert out.count(" - score_3") == 9


@pytest.mark.parametrize("name", ["evaluate", "compare"])
def test_scores_that_may_be_reversed_are_told(files, capsys, name):
    data = one_list()
    columns = {"pic50": data[LABEL] + 6.5, "score_a": -data[NEW], "score_b": data[OLD]}
    write_csv(files / "reversed.csv", columns)
    main([name, "reversed.csv", "--label", "pic50", "--measure", "enrichment@0.1(rel>=7)"])
    told = [line for line in capsys.readouterr().err.splitlines() if "reversed:" in line]
    assert len(told) == 1
    assert "warning: score_a (AUC 0." in told[0]
    assert "pass --negate if low ones" in told[0]
    negated = [name, "reversed.csv", "--label", "pic50", "--measure", "enrichment@0.1(rel>=7)"]
    main([*negated, "--negate", "score_a", "--format", "json"])
    found = capsys.readouterr()
    assert "reversed:" not in found.err
    write_csv(files / "mended.csv", columns | {"score_a": data[NEW]})
    main([name, "mended.csv", *negated[2:], "--format", "json"])
    assert json.loads(capsys.readouterr().out)["results"] == json.loads(found.out)["results"]
    assert main([*negated, "--negate", "score_c"]) == 2
    assert "--negate score_c is no column of --score" in capsys.readouterr().err


def test_csv_has_a_row_for_each_measure_and_contrast(results):
    given = (*ONE_LIST, "--measure", "auc", "ap")
    rows = list(csv.DictReader(io.StringIO(results(*given, "--format", "csv"))))
    found = json.loads(results(*given, "--format", "json"))["results"]
    assert [row["measure"] for row in rows] == ["auc", "ap"]
    together = in_python(["auc", "ap"], one_list(), LABEL).level_of_each
    assert [x["level"] for x in found] == pytest.approx([together] * 2)
    assert "\nlimits of differences of 2 measures hold together with 95 %\n" in results(*given)
    for row, comparison in zip(rows, found, strict=True):
        assert row["contrast"] == f"{NEW} - {OLD}"
        assert (row["hypothesis"], row["margin"]) == (f"equal {row['measure']}", "")
        for name in ("differences", "low", "high", "pvalues", "difference_errors"):
            assert [float(row[name.rstrip("s")])] == comparison[name]


def test_text_is_that_of_python_and_fits(results):
    out = results(*ONE_LIST)
    assert out.partition("\n\n")[2] == f"{in_python('auc', one_list(), LABEL)}\n"
    assert max(map(len, out.splitlines())) <= 80


def test_a_margin_is_that_of_python(results):
    out = results(*ONE_LIST, "--margin", "0.2")
    assert str(in_python("auc", one_list(), LABEL, margin=0.2)) in out


def test_runs_are_compared_on_the_queries_that_they_share(command, files):
    out, _, _ = command(*RUNS, "--measure", "ap", "--format", "json")
    (comparison,) = json.loads(out)["results"]
    assert comparison["target"] == "mean ap over 3 queries"
    # In other.run a is last, so that b is second after c, and g is before f.
    system, other = np.array([1 / 6, 0.0, 0.5]), np.array([1 / 4, 0.0, 1.0])
    assert comparison["differences"][0] == pytest.approx((system - other).mean())
    error = (system - other).std(ddof=1) / np.sqrt(3)
    assert comparison["difference_errors"][0] == pytest.approx(error)
    shorter = "".join(
        line for line in (files / "other.run").read_text().splitlines(True) if line[1] != "2"
    )
    (files / "other.run").write_text(shorter)
    given = (*RUNS, "--measure", "ap", "--baseline", "system.run")
    _, err, code = command(*given)
    assert (code, "'other.run' has no document for 1 of 4 judged queries that another" in err) == (
        2,
        True,
    )
    assert "pass --complete to count 0 for them, or --shared to leave them out" in err
    out, _, _ = command(*given, "--shared")
    assert "mean ap over 2 queries" in out
    assert "other.run - system.run" in out
    out, _, _ = command(*given, "--complete")
    assert "queries without documents count 0 (2 of 4)" in out


def test_one_measure_that_cannot_be_compared_does_not_stop_the_others(results, command):
    why = "ndcg: no comparison: measure='ndcg' has no influence function, so its variance on one"
    assert "auc on 120 items" in results(*ONE_LIST, "--measure", "auc", "ndcg", warns=[why])
    out, err, code = command(*ONE_LIST, "--measure", "ndcg")
    assert (out, code) == ("", 2)
    assert "sklearn-rank compare: error: ndcg: no comparison" in err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ("--score", NEW),
            "auc: no comparison: scores holds 1 ranker, but at least 2 are needed",
        ),
        (("--score", NEW, OLD, "--baseline", "odl"), "--baseline 'odl' is not among the rankers"),
        (("--score", NEW, OLD, "--margin", "2"), "auc: no comparison: --margin 2.0 must be"),
        (("--score", NEW, OLD, "--method", "t"), "auc: no comparison: --method 't' does not"),
        (("--score", NEW, OLD, "--alternative", "better"), "invalid choice: 'better'"),
        (("--score", NEW, OLD, "--alternative", "equivalent"), "needs a margin, the largest"),
    ],
)
def test_bad_options(command, given, message):
    out, err, code = command("compare", "predictions.csv", "--label", LABEL, *given)
    assert (out, code) == ("", 2)
    assert message in err
