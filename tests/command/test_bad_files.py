"""What is wrong with a file is said with its line and column; the exit code is 2."""

import gzip
import lzma
import re
import sys

import pytest

from tests.command.files import QRELS, RUN

GOOD = "label,score\n1,0.9\n0,0.2\n1,0.8\n0,0.1\n"

TABLES = {
    "empty": ("", "is empty: the first line must name the columns"),
    "header only": ("label,score\n", "there are no rows below the names of the columns"),
    "no header": ("1,0.9\n0,0.2\n", "the first line must name the columns, but is '1', '0.9'"),
    "no label": ("time,score\n1,2\n", "no column of labels: name it with --label, one of 'ti"),
    "two labels": ("label,y_true,score\n1,1,2\n", "'label', 'y_true' could all be labels"),
    "no score": ("label,model\n1,2\n", "no column of scores: name it with --score, one of 'lab"),
    "twice": ("label,score,score\n1,2,3\n", "2 columns are called 'score': rename them"),
    "ragged": (GOOD + "1\n", "Row #6: Expected 2 columns, got 1"),
    "long": (GOOD + "\n1,2,3\n", "Row #6: Expected 2 columns, got 3"),
    "word": (GOOD + "1,high\n", "row 5: column 'score' is 'high', not a number"),
    "comma": (
        GOOD + '1,"0,5"\n',
        "row 5: column 'score' is '0,5', not a number: write it as 1234.5",
    ),
    "thousands": (GOOD + '1,"1,234.5"\n', "'1,234.5', not a number: write it as 1234.5"),
    "underscore": (GOOD + "1,1_5\n", "row 5: column 'score' is '1_5', not a number"),
    "missing": (GOOD + "1,\n", "row 5: column 'score' is missing: remove the row or fill it in"),
    "nan": (GOOD + "1,NaN\n", "row 5: column 'score' is missing"),
    "no class": (GOOD + ",0.4\n", "row 5: column 'label' is missing, so labels are known in part"),
    "no label at all": ("label,score\n,0.4\nNA,1\n", "row 1: column 'label' is missing, as all"),
    "words": (
        "label,score\nham,0.1\nspam,0.9\n",
        "column 'label' holds words, 'ham' (1 row), 'spam' (1 row): name the positive class by",
    ),
    "one class": (
        "label,score\n1,0.9\n1,0.2\n",
        "column 'label' is '1' in all rows: pass rows of several labels",
    ),
    "two numbers": (
        "label,score\n1,0.9\n2,0.2\n",
        "the column of labels takes value in {1.0, 2.0} and --pos-label is not specified",
    ),
    "semicolons": (
        GOOD.replace(",", ";"),
        "name the columns, but is 'label;score': pass what separates them",
    ),
    "tabs": (GOOD.replace(",", "\t"), "but is 'label\\tscore': pass what"),
    "line of Excel": ("sep=;\n" + GOOD, "but is 'sep=;': pass what separates"),
    "quote": (GOOD + '1,"0.9\n0,0.1\n', "line 7: unexpected end of data: close each quote"),
    "quoted": ('label,score\n1,0.9\n0,"0.2\n"\n1,x\n', "row 3: column 'score' is 'x'"),
    "UTF-16": (GOOD.encode("utf-16"), "is not text in UTF-8: save a table of Excel as CSV UTF-8"),
    "Latin 1": (GOOD.encode() + b"\xe9,1\n", "invalid UTF8 data"),
}


def check_error(found, message):
    out, err, code = found
    assert (out, code) == ("", 2)
    assert err.startswith("sklearn-rank evaluate: error: ")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", TABLES)
def test_tables(command, files, name):
    text, message = TABLES[name]
    text = text if isinstance(text, bytes) else text.encode()
    (files / "bad.csv").write_bytes(text)
    check_error(command("evaluate", "bad.csv", "--measure", "auc"), message)
    out, err, code = command("evaluate", "-", "--measure", "auc", stdin=text)
    assert (out, code) == ("", 2)
    assert message in err


def test_the_message_names_the_file(command, files):
    (files / "bad.csv").write_text("label,score\n1,0.2\n0,x\n")
    check_error(command("evaluate", "bad.csv"), "error: bad.csv, row 2: column 'score' is 'x'")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--label", "lable"), "no column 'lable'; did you mean 'label'? the columns are 'label'"),
        (("--score", "Scor"), "there is no column 'Scor'; did you mean 'score'?"),
        (("--qid", "session"), "there is no column 'session'; the columns are 'label', 'score'"),
        (("--groups", "user"), "there is no column 'user'; the columns are 'label', 'score'"),
        (("--score", "label"), "column 'label' is named twice as label or score"),
        (("--score", "score", "score"), "column 'score' is named twice as label or score"),
        (("--pos-label", "spm"), "column 'label' has no 'spm': its labels are '0', '1'"),
        (("--one-list", "--qid", "label"), "--qid: not allowed with argument --one-list"),
        (("--delimiter", "::"), "--delimiter '::' must be one character, or tab"),
        (
            ("--measure", "ndgc@10"),
            "'ndgc@10' is not the name of a measure, did you mean 'ndcg@10'?",
        ),
        (("--measure", "zzz"), "--measure: 'zzz' is not the name of a measure."),
        (("--measure", "auc", "--convention", "letor"), "has no parameter 'convention'"),
        (
            ("--measure", "ndcg", "--convention", "rdkit"),
            "convention='rdkit' is not available for",
        ),
        (("--complete",), "--complete goes with --qrels: pass both, or neither"),
        (("other.csv",), "good.csv, other.csv are several files: pass one table, or runs"),
        (
            ("--random-labels", "--strata", "score"),
            "--strata: not allowed with argument --random-labels",
        ),
        (("--review-top", "2"), "the first rows of a champion were reviewed: pass --champion"),
        (
            ("--random-labels", "--most-below", "0"),
            "most_below belongs to --review-top, which is not",
        ),
        (("--proxy", "score"), "--proxy is for labels known in part: pass it with --review-top"),
        (("--inclusion-probability", "p"), "there is no column 'p'; the columns are 'label', 's"),
        (("--review-top", "0", "--champion", "score"), "error: --review-top 0 must be at least 1"),
        (("--output", "no/such/place"), "--output no/such/place: No such file or directory"),
        (("--level", "95"), "error: --level 95.0 must be a number in (0, 1)"),
        (("--resamples", "9"), "error: --resamples 9 must be at least 99"),
        (("--seed", "x"), "invalid int value: 'x'"),
    ],
    ids=lambda given: "-".join(given) if isinstance(given, tuple) else None,
)
def test_options(command, files, given, message):
    (files / "good.csv").write_text(GOOD)
    out, err, code = command("evaluate", "good.csv", *given)
    assert (out, code) == ("", 2)
    assert message in err


def test_places(command, files):
    check_error(command("evaluate", "none.csv"), "none.csv: No such file or directory")
    check_error(command("evaluate", "none.parquet"), "none.parquet: No such file or directory")
    check_error(command("evaluate", str(files)), ": Is a directory")
    check_error(command("evaluate"), "there is no input: pass FILE first, or RUN and --qrels")


def test_compressed_files(command, files):
    (files / "plain.csv.gz").write_text(GOOD)
    check_error(command("evaluate", "plain.csv.gz"), "plain.csv.gz: zlib inflate failed")
    (files / "cut.csv.gz").write_bytes(gzip.compress(GOOD.encode())[:-12])
    check_error(command("evaluate", "cut.csv.gz"), "cut.csv.gz: ")
    (files / "plain.csv.bz2").write_text(GOOD)
    check_error(command("evaluate", "plain.csv.bz2"), "plain.csv.bz2: bz2 decompress failed")


def test_parquet(command, files):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (files / "text.parquet").write_text(GOOD)
    check_error(command("evaluate", "text.parquet"), "text.parquet: Parquet magic bytes not found")
    parquet.write_table(
        pyarrow.table({"label": [0, 1, 1], "score": [0.5, None, 0.7]}), files / "null.parquet"
    )
    check_error(
        command("evaluate", "null.parquet"), "null.parquet, row 2: column 'score' is missing"
    )
    check_error(
        command("evaluate", "null.parquet", "--score", "scores"), "no column 'scores'; did you"
    )


def test_without_pyarrow(command, files, monkeypatch):
    (files / "some.parquet").write_text(GOOD)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    check_error(command("evaluate", "some.parquet"), 'python -m pip install "pyarrow>=17"')


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [
        ("", QRELS, "r has no rows"),
        (QRELS, QRELS, "Line 1 of r .*4 fields"),
        (RUN.replace("0.9", "x"), QRELS, "Line 1 of r .*score.*'x'"),
        (RUN + RUN, QRELS, "Line 9 of r .*'a'.*'q1'"),
        (RUN, QRELS.replace("f 1", "f 1.5"), "Line 5 of q .*relevance.*'1.5'"),
        (RUN, "x1 0 a 1\n", "No query of the run 'r' is judged: the run has 'q1', the judg"),
    ],
)
def test_files_of_trec(command, files, run, qrels, message):
    (files / "r").write_text(run)
    (files / "q").write_text(qrels)
    out, err, code = command("evaluate", "r", "--qrels", "q")
    assert (out, code) == ("", 2)
    assert re.match(f"sklearn-rank evaluate: error: {message}", err)
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("r", "--qrels", "judgments.qrels"), "r: No such file or directory"),
        (("system.run", "--qrels", "q"), "q: No such file or directory"),
        (
            ("system.run", "system.run", "--qrels", "judgments.qrels"),
            "a run is named twice: system.run, system.run",
        ),
        (("--qrels", "judgments.qrels"), "there is no input: pass FILE first, or RUN"),
        (
            ("system.run", "--qrels", "judgments.qrels", "--label", "x"),
            "--label and --qrels exclude each other",
        ),
    ],
)
def test_options_of_trec(command, given, message):
    check_error(command("evaluate", *given), message)


def test_conventions_of_runs(command):
    given = ("system.run", "--qrels", "judgments.qrels", "--convention")
    _, err, code = command("evaluate", *given, "letor", "--measure", "ndcg@10")
    assert (code, "error: ndcg@10: no interval: " in err) == (2, True)
    _, err, code = command("evaluate", *given, "trec_eval", "--measure", "rbp@0.8")
    assert (code, "--measure: rank_biased_precision_score has no parameter" in err) == (2, True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b"PK\x03\x04 and more"),
        ("t.csv", gzip.compress(GOOD.encode(), mtime=0)),
        ("t.csv", lzma.compress(GOOD.encode())),
        ("t.csv", b"PAR1 and more"),
    ],
)
def test_files_of_other_formats_are_no_text(files, command, name, content):
    (files / name).write_bytes(content)
    what = "is not text in UTF-8"
    check_error(command("evaluate", name), f"{name} {what}")
    check_error(command("evaluate", "-", stdin=content), f"standard input {what}")
