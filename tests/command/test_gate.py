"""`compare` as a gate: verdicts, exit codes, and where the reason is written."""

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from sklearn_rank.inference import compare
from tests.command.files import LABEL, NEW, OLD, write_csv
from tests.oracles import verdicts as oracle

RUNS = ("compare", "a.run", "b.run", "--qrels", "judged.qrels", "--measure", "recall@5")


@pytest.fixture
def runs(files):
    """Runs of 40 queries: a finds more than b, which finds as much as c, on other queries."""
    rng = np.random.default_rng(0)
    lines = {name: [] for name in ("a.run", "b.run", "c.run", "judged.qrels")}
    for query in range(40):
        relevant = rng.permutation(12)[:4]
        for i in range(12):
            lines["judged.qrels"].append(f"q{query} 0 d{i} {int(i in relevant)}")
        others = [i for i in range(12) if i not in relevant]
        for name, found in (("a.run", 4), ("b.run", 1 + query % 2), ("c.run", 2 - query % 2)):
            ranked = [*relevant[:found], *others][:5]
            for rank, i in enumerate(ranked, 1):
                lines[name].append(f"q{query} Q0 d{i} {rank} {-rank} t")
    for name, of_file in lines.items():
        (files / name).write_text("\n".join(of_file) + "\n")
    return files


GATES = [
    ("a b", "worse", 0),
    ("a b", "not-better", 0),
    ("b a", "worse", 1),
    ("b a", "not-better", 1),
    ("b a", "inconclusive", 0),
    ("b c", "worse", 0),
    ("b c", "inconclusive", 1),
    ("b c", "worse inconclusive", 1),
    ("b c", "inconclusive --margin .3", 0),
    ("b c", "not-better --margin .3", 1),
    ("a b", "inconclusive --margin .01", 0),
]


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(("names", "gate", "expected"), GATES)
def test_the_exit_code_says_whether_the_gate_fails(command, names, gate, expected):
    given = ["--qrels", "judged.qrels", "--measure", "recall@5", "--fail-if", *gate.split()]
    files = [f"{name}.run" for name in names.split()]
    out, err, code = command("compare", *files, *given)
    assert (err, code) == ("", expected)
    last = out.splitlines()[-1]
    assert last.startswith(
        f"fails: {' - '.join(files)} is " if code else "passes: no difference is"
    )
    # Another format, and the option of runs, say the same.
    out, err, code = command("compare", *files, *given, "--json")
    assert code == expected
    found = json.loads(out)
    assert bool(found["failures"]) == bool(code)
    assert (last in err) == bool(code)
    (result,) = found["results"]
    margin = result["margin"]
    assert result["alternative"] == "two-sided"
    verdict = oracle.verdict(result["low"][0], result["high"][0], margin)
    fails = {"inconclusive" if verdict == "undecided" else verdict}
    fails |= {"not-better"} - ({"not-better"} if verdict == "better" else set())
    assert bool(fails.intersection(gate.split())) == bool(code)


@pytest.mark.usefixtures("runs")
def test_verdicts_of_several_measures_hold_together(command):
    given = (*RUNS[3:], "rr", "map", "ndcg@5", "--fail-if", "not-better", "--margin", ".01")
    # Of several runs by Bonferroni's inequality, with the same limits for each measure.
    out, _, _ = command("compare", "a.run", "b.run", "c.run", *given, "--json", "--level", "0.9")
    assert [x["level"] for x in json.loads(out)["results"]] == pytest.approx([0.975] * 4)
    # Of two runs those of a table of all measures, which are a little narrower.
    out, _, code = command("compare", "b.run", "a.run", *given, "--json")
    found = json.loads(out)
    assert code == 1
    assert "b.run - a.run is worse by recall@5" in found["failures"]
    assert len(found["failures"]) == 4
    runs = {name: f"{name}.run" for name in "ba"}
    names = ["recall@5", "rr", "map", "ndcg@5"]
    table = compare(names, "judged.qrels", runs, random_state=0)
    for result, one in zip(found["results"], table.together, strict=True):
        assert 0.95 < result["level"] < 0.9875
        assert (result["low"][0], result["high"][0]) == pytest.approx((one.low, one.high))
    # Without a gate, too.
    out, _, _ = command("compare", "b.run", "a.run", *given[:-4], "--json")
    for one, other in zip(json.loads(out)["results"], found["results"], strict=True):
        assert all(one[name] == other[name] for name in ("level", "low", "high"))


def test_the_reason_goes_to_standard_error_if_the_output_is_a_file(command, runs):
    given = ("compare", "b.run", "a.run", *RUNS[3:], "--fail-if", "worse", "--output", "found.md")
    out, err, code = command(*given, "--format", "markdown")
    reason = "fails: b.run - a.run is worse by recall@5"
    assert (out, err, code) == ("", f"sklearn-rank compare: {reason}\n", 1)
    text = (runs / "found.md").read_text()
    assert text.splitlines()[-1] == reason
    tables = [x for x in text.split("\n\n") if x.startswith("| ")]
    assert [x.split(" |")[0] for x in tables] == ["| ranker", "| contrast"]
    for table in tables:
        lines = table.splitlines()
        assert len({line.count("|") for line in lines}) == 1
        assert set(lines[1]) <= set("| -:")
    assert "b.run - a.run: 0 queries better, 0 equal, 40 worse" in text


def test_markdown_of_one_ranking_and_of_odd_names(command, files):
    data = {LABEL: np.arange(30) % 2, "a|b": np.arange(30.0), NEW: np.arange(30.0) % 7}
    write_csv(files / "odd.csv", data)
    given = ("evaluate", "odd.csv", "--label", LABEL, "--score", "a|b", NEW, "--measure", "auc")
    out, _, code = command(*given, "--format", "markdown")
    header, _, first, second = out.split("\n\n")[1].splitlines()
    assert code == 0
    assert header == "| score | measure | value | 95 % interval | method |"
    assert first.startswith("| a\\|b | auc | 0.53")
    assert second.startswith(f"| {NEW} | auc | ")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--alternative", "less"), "--fail-if reads two-sided limits, not --alternative less"),
        (("--measure", "auc", "ndcg"), "ndcg: no comparison: measure='ndcg' has no influence"),
        (("--fail-if", "better"), "invalid choice: 'better'"),
        (("--margin", "2"), "auc: no comparison: --margin 2.0 must be"),
    ],
)
def test_a_gate_that_cannot_be_computed_is_an_error(command, given, message):
    table = ("compare", "predictions.csv", "--label", LABEL, "--score", NEW, OLD)
    out, err, code = command(*table, "--fail-if", "worse", *given)
    assert (out, code) == ("", 2)
    assert message in err


def test_files_without_an_option_are_runs_only_with_judgments(command):
    out, err, code = command("compare", "system.run", "other.run")
    assert (out, code) == ("", 2)
    assert "system.run, other.run are several files: pass one table, or runs and --qrels" in err
    both = "system.run", "other.run", "--qrels", "judgments.qrels", "--measure", "ap"
    assert command("evaluate", *both)[2] == command("compare", *both)[2] == 0


@pytest.mark.parametrize("names", [("is it better", "b.run"), ("b", "b - x")])
def test_names_of_runs_say_nothing_about_the_verdict(command, runs, names):
    for old, new in zip(("a.run", "b.run"), names, strict=True):
        (runs / old).rename(runs / new)
    given = (*RUNS[3:], "--fail-if", "worse")
    assert command("compare", *names, *given)[2] == 0
    out, _, code = command("compare", *names[::-1], *given)
    assert (code, out.splitlines()[-1]) == (
        1,
        f"fails: {names[1]} - {names[0]} is worse by recall@5",
    )


@pytest.mark.usefixtures("runs")
def test_runs_are_two_files_or_more(command):
    assert "- is standard input, but runs and" in command("compare", "-", "b.run", *RUNS[3:])[1]
    out, err, code = command("compare", "b.run", *RUNS[3:], "--fail-if", "worse")
    assert (out, code) == ("", 2)
    assert "at least 2 are needed: pass another run" in err


@pytest.mark.usefixtures("runs")
def test_a_gate_whose_output_nobody_reads_does_not_pass():
    reader, writer = os.pipe()
    os.close(reader)
    gate = [sys.executable, "-m", "sklearn_rank", *RUNS, "--fail-if", "worse"]
    assert subprocess.run(gate, stdout=writer, check=False).returncode == 2
    os.close(writer)


@pytest.mark.usefixtures("runs")
def test_rows_of_csv_have_the_counts_of_queries(command):
    out, _, _ = command("compare", "b.run", "c.run", *RUNS[3:], "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert row["contrast"] == "b.run - c.run"
    assert [row[name] for name in ("wins", "ties", "losses")] == ["20", "0", "20"]
    assert (float(row["difference"]), row["n_to_decide"]) == (0.0, "")
