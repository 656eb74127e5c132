"""Which cells are labels, which are missing, and what is refused: never a guess."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from sklearn_rank._command._output import CommandError, write
from sklearn_rank.inference import LabelDesign, compare, metric_interval
from tests.command.files import LABEL, NEW, OLD, one_list, write_csv

KNOWN = np.random.default_rng(3).random(120) < 0.5
GIVEN = ("--label", LABEL, "--score", NEW, OLD, "--measure", "auc", "--format", "json")
RANDOM = (*GIVEN, "--random-labels")


def table(files, labels):
    write_csv(files / "t.csv", one_list() | {LABEL: np.asarray(labels)})
    return "t.csv"


def with_mark(mark, positive="1", negative="0"):
    classes = np.where(one_list()[LABEL] == 1, positive, negative)
    return np.where(KNOWN, classes, mark)


EXPECTED = np.where(KNOWN, one_list()[LABEL], np.nan)


MARKS = ("", "NA", "N/A", "#N/A", "<NA>", "NULL", "\\N", "None", "nan", "NaN", "?", ".", " na ")


@pytest.mark.parametrize("mark", MARKS)
def test_the_usual_marks_are_missing_labels(command, files, mark):
    _, err, code = command("evaluate", table(files, with_mark(mark)), *GIVEN)
    assert code == 2
    assert f"column '{LABEL}' is missing, so labels are known in part" in err


@pytest.mark.parametrize(
    ("mark", "classes"), [("", ("1", "0")), ("NA", ("yes", "no")), ("?", ("True", "False"))]
)
def test_labels_with_a_mark_are_known_in_part(command, results, files, mark, classes):
    name = table(files, with_mark(mark, *classes))
    positive = ("--pos-label", "yes") if "yes" in classes else ()
    _, err, code = command("evaluate", name, *GIVEN, *positive)
    assert (code, "so labels are known in part" in err) == (2, True)
    found = json.loads(results("compare", name, *RANDOM, *positive))["results"][0]
    scores = {key: one_list()[key] for key in (NEW, OLD)}
    expected = compare("auc", EXPECTED, scores, design="all")
    assert (found["low"], found["conclusions"]) == ([*expected.low], [*expected.conclusions])


@pytest.mark.parametrize("role", ["--score", "--qid", "--groups", "--strata", "--proxy"])
def test_the_usual_marks_are_missing_in_every_column(command, files, role):
    column = np.where(KNOWN, one_list()["user"].astype(str), "NULL")
    write_csv(files / "t.csv", one_list() | {LABEL: with_mark("NA"), "odd": column})
    way = ("--random-labels",) if role != "--strata" else ()
    scores = ("--score", "odd") if role == "--score" else ("--score", NEW, role, "odd")
    _, err, code = command("evaluate", "t.csv", "--label", LABEL, *scores, *way)
    assert (code, "column 'odd' is missing" in err) == (2, True)


@pytest.mark.parametrize(
    ("mark", "classes", "given", "message"),
    [
        ("in review", "10", (), "holds words, 'in review' (62 rows): name"),
        ("in review", "10", ("--pos-label", "1"), "holds '0' (48 rows), 'in review' (62 rows) be"),
        ("pending", "yn", ("--pos-label", "y"), "holds 'n' (48 rows), 'pending' (62 rows) besi"),
        ("-1", "10", (), "holds 0, 1 and '-1' (62 rows): name the positive class by --pos-l"),
        ("9", "10", (), "holds 0, 1 and '9' (62 rows)"),
        ("99", "10", ("--qid", "user"), "holds 0, 1 and '99' (62 rows)"),
        ("-999", "10", ("--pos-label", "1"), "holds '-999' (62 rows), '0' (48 rows) besides '1'"),
        ("2", "10", ("--pos-label", "1"), "holds '0' (48 rows), '2' (62 rows) besides '1'"),
        ("x", "yn", ("--pos-label", "y", "--neg-label", "n"), "holds 'x' (62 rows) besides 'y'"),
        ("x", "yn", ("--pos-label", "y", "--neg-label", "no"), "has no 'no': its labels are 'n',"),
        ("", "yn", ("--neg-label", "n"), "--neg-label goes with --pos-label: pass both"),
    ],
)
def test_a_third_value_is_refused(command, files, mark, classes, given, message):
    out, err, code = command("compare", table(files, with_mark(mark, *classes)), *GIVEN, *given)
    assert (out, code) == ("", 2)
    assert message in err


@pytest.mark.parametrize("mark", ["in review", "-1", "99"])
def test_a_mark_that_is_named_is_missing(results, files, mark):
    read = (table(files, with_mark(mark)), *RANDOM, "--missing", mark, "other")
    row = json.loads(results("evaluate", *read))["results"][0]
    expected = metric_interval("auc", EXPECTED, one_list()[NEW], design="all")
    assert (row["low"], row["high"]) == (expected.low, expected.high)
    out = json.loads(results("doctor", "t.csv", "--missing", mark, "--format", "json"))
    assert f"--missing {mark}".split()[0] in out["commands"][0]


def test_negative_classes_that_are_named(results, files):
    words = with_mark("cleared", "fraud", "ok")
    read = (table(files, words), *GIVEN, "--pos-label", "fraud", "--neg-label", "ok", "cleared")
    row = json.loads(results("evaluate", *read))["results"][0]
    assert row["estimate"] == metric_interval("auc", words == "fraud", one_list()[NEW]).estimate
    read = ("t.csv", *GIVEN, "--pos-label", "fraud", "--neg-label", "ok")
    row = json.loads(results("evaluate", *read, "--missing", "cleared", "--random-labels"))
    assert (
        row["results"][0]["low"]
        == metric_interval("auc", EXPECTED, one_list()[NEW], design="all").low
    )


def test_unreviewed_rows_do_not_reverse_a_decision(command, results, files):
    """The rows that nobody reviewed, written as R writes them, are not negative."""
    rng = np.random.default_rng(0)
    n = 3000
    y = rng.random(n) < 0.1
    old, new = np.round(y + rng.normal(size=(2, n)), 3) + np.array([[0.0], [0.4]]) * y
    reviewed = np.isin(np.arange(n), np.argsort(-old)[:200])
    audited = reviewed | (rng.random(n) < 0.1)
    labels = np.where(audited, np.where(y, "1", "0"), "NA")
    write_csv(files / "t.csv", {"label": labels, "score_old": old, "score_new": new})
    _, err, code = command("compare", "t.csv", "--measure", "recall@200", "--pos-label", "1")
    assert (code, "so labels are known in part" in err) == (2, True)
    given = ("--review-top", "200", "--champion", "score_old", "--format", "json")
    given += ("--audit", str(audited.sum() - 200))
    (found,) = json.loads(results("compare", "t.csv", "--measure", "recall@200", *given))[
        "results"
    ]
    known = np.where(audited, y, np.nan)
    scores = {"score_old": old, "score_new": new}
    design = LabelDesign(review_top=200, audit=int(audited.sum()) - 200, scores=old)
    expected = compare("recall@200", known, scores, design=design)
    assert found["conclusions"] == list(expected.conclusions)
    assert "score_old better" not in expected.conclusions


@pytest.mark.parametrize(
    ("large", "message"),
    [
        ([2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3], "has integers beyond 2**53"),
        ([2**60, 2**60 + 1, 0.5, 1], "has the different numbers 1152921504606846976 and 11529"),
        ([1e30, 2e30, 0.5, 1], ""),
    ],
)
def test_large_numbers_are_not_rounded_to_ties(command, files, large, message):
    write_csv(files / "t.csv", {"label": np.arange(4) % 2, "score": np.array(large, dtype=object)})
    _, err, code = command("evaluate", "t.csv", "--measure", "auc")
    assert (code, f"t.csv: column 'score' {message}" in err) == (2 * bool(message), bool(message))


@pytest.mark.parametrize("name", ["predictions.csv", "judgments.qrels"])
def test_the_output_does_not_replace_the_input(command, files, name):
    os.link(name, "link")
    given = ("evaluate", name) if "csv" in name else ("evaluate", "r", "--qrels", name)
    before = (files / name).read_bytes()
    for option in ("--output", "--plot"):
        for path in (name, "link"):
            _, err, code = command(*given, option, path)
            assert (code, f"{option} {name} is the input" in err) == (2, True)
    assert (files / name).read_bytes() == before


def test_output_that_cannot_be_written_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(CommandError, match="standard output: "):
        write("text", None)
    with open(tmp_path / "closed", "w") as stream:
        pass
    monkeypatch.setattr("sys.stdout", stream)
    with pytest.raises(CommandError, match="standard output: I/O operation on closed file"):
        write("text", "-")
    if os.path.exists("/dev/full"):
        with pytest.raises(CommandError, match="--output /dev/full: No space left"):
            write("text", "/dev/full")


def test_labels_that_come_late(command, results, files):
    """A 0 of a row that is still open is no negative; times are numbers of days or dates."""
    rng, columns = np.random.default_rng(0), one_list()
    n = len(columns[NEW])
    entered = rng.integers(0, 20, n)
    resolved = entered + rng.integers(1, 9, n)
    known = (np.asarray(columns[LABEL]) == 1) & (resolved <= 20)
    shown = np.where(known, resolved.astype(str), "NA")
    dates = np.datetime64("2024-02-20") + np.append(entered, 20)
    late = {"day": entered, "told": shown, LABEL: known.astype(int), "date": dates[:-1]}
    told = np.where(known, (np.datetime64("2024-02-20") + resolved).astype(str), "NA")
    write_csv(files / "t.csv", columns | late | {"told_on": told})
    of_days = ("--entered", "day", "--resolved", "told", "--horizon", "8", "--as-of", "20")
    design = LabelDesign(
        entered=entered, resolved=np.where(known, resolved, np.nan), horizon=8, as_of=20
    )
    expected = metric_interval("auc", known, columns[NEW], design=design)
    of_dates = ("--entered", "date", "--resolved", "told_on", "--horizon", "8")
    for given in (of_days, (*of_dates, "--as-of", str(dates[-1]))):
        row = json.loads(results("evaluate", "t.csv", *GIVEN, *given))["results"][0]
        assert (row["low"], row["high"]) == (expected.low, expected.high)
        assert row["target"] == expected.target
    of_rows = expected.target.partition("; ")[2]
    assert f"; {of_rows}\n" in results("evaluate", "t.csv", *GIVEN[:-2], *of_days)
    scores = {key: columns[key] for key in (NEW, OLD)}
    found = json.loads(results("compare", "t.csv", *GIVEN, *of_days))["results"][0]
    assert found["low"] == list(compare("auc", known, scores, design=design).low)
    given = (*of_dates, "--as-of", str(dates[-1]), "--qid", "date")
    found = json.loads(results("compare", "t.csv", *GIVEN[:6], "precision@1", *GIVEN[7:], *given))
    expected = compare("precision@1", known, scores, qid=dates[:-1], design=design)
    assert found["results"][0]["low"] == list(expected.low)
    row = json.loads(results("evaluate", "t.csv", *GIVEN, *of_days, "--mature-only"))["results"][0]
    mature = replace(design, mature_only=True)
    assert row["low"] == metric_interval("auc", known, columns[NEW], design=mature).low
    until = np.minimum(entered + 9, 20)
    write_csv(files / "until.csv", columns | late | {"until": until})
    row = json.loads(results("evaluate", "until.csv", *GIVEN, *of_days[:-1], "until"))["results"][
        0
    ]
    watched = replace(design, as_of=until)
    assert row["low"] == metric_interval("auc", known, columns[NEW], design=watched).low
    n_known = int((~np.isnan(design.labels(known))).sum())
    assert f"{n_known} with labels" in results("evaluate", "t.csv", *GIVEN[:-2], *of_days)
    out = results("doctor", "t.csv", "--label", LABEL, "--score", NEW)
    assert "'date', 'told_on'; if a 0 may mean not yet, pass --entered" in " ".join(out.split())
    for given, message in (
        (of_dates[:4], "the label is an event within a horizon: pass --horizon, in days"),
        (of_days[2:], "--as-of is for labels known in part: pass it with"),
        ((*of_dates, "--as-of", "20"), "entered holds times without a time zone, but as_of holds"),
    ):
        _, err, code = command("evaluate", "t.csv", *GIVEN, *given)
        assert (code, message in " ".join(err.split())) == (2, True), err
