"""What is wrong with a file is said with its line and column; the exit code is 2."""

import gzip
import io
import lzma
import re
import sys

import pytest

from sklearn_rank._command import _input as _columns
from tests.command.files import QRELS, RUN

GOOD = "label,score\n1,0.9\n0,0.2\n1,0.8\n0,0.1\n"

TABLES = {
    "empty": ("", "is empty: the first line must name the columns"),
    "header only": ("label,score\n", "there are no rows below the names of the columns"),
    "no header": ("1,0.9\n0,0.2\n", "which are numbers: the first line must name the columns"),
    "no label": ("clicked,score\n1,2\n", "no column of labels: name it with --label, one of 'cl"),
    "two labels": ("label,y_true,score\n1,1,2\n", "'label', 'y_true' could all be labels"),
    "no score": ("label,model\n1,2\n", "no column of scores: name it with --score, one of 'lab"),
    "twice": ("label,score,score\n1,2,3\n", "line 1: 2 columns are called 'score': rename them"),
    "ragged": (GOOD + "1\n", "line 6: 1 field, but the first line has 2"),
    "long": (GOOD + "\n1,2,3\n", "line 7: 3 fields, but the first line has 2"),
    "word": (GOOD + "1,n/a\n", "line 6: column 'score' is 'n/a', not a number"),
    "comma": (GOOD + '1,"0,5"\n', "line 6: column 'score' is '0,5', not a number: write decimals"),
    "missing": (GOOD + "1,\n", "line 6: column 'score' is empty"),
    "nan": (GOOD + "1,NaN\n", "line 6: column 'score' is NaN: remove the row or fill it in"),
    "no class": (GOOD + ",0.4\n", "line 6: column 'label' is empty, so labels are known in part"),
    "words": (
        "label,score\nham,0.1\nspam,0.9\n",
        "line 2: column 'label' is 'ham': the labels are words ('ham', 'spam'); name the positive"
        " class, as in --pos-label spam",
    ),
    "one class": (
        "label,score\n1,0.9\n1,0.2\n",
        "line 2 and all after it: column 'label' is '1', so that no order is better",
    ),
    "two numbers": (
        "label,score\n1,0.9\n2,0.2\n",
        "auc: the labels are 1 and 2; --pos-label 2 makes the second one positive",
    ),
    "semicolons": (
        GOOD.replace(",", ";"),
        "line 1: the only column is 'label;score', whose names a semicolon seems to separate: pass"
        " --delimiter ';'",
    ),
    "tabs": (GOOD.replace(",", "\t"), "a tab seems to separate: pass --delimiter tab"),
    "quote": (GOOD + '1,"0.9\n0,0.1\n', "line 6: unexpected end of data; check the quotes"),
    "quoted": ('label,score\n1,0.9\n0,"0.2\n"\n1,x\n', "line 5: column 'score' is 'x'"),
    "UTF-16": (GOOD.encode("utf-16"), "line 1: the text is not UTF-8 (byte 0xff)"),
    "Latin 1": (GOOD.encode() + b"\xe9,1\n", "line 6: the text is not UTF-8 (byte 0xe9)"),
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
    (files / "bad.csv").write_text("label,score\n1,0.2\n0,?\n")
    check_error(command("evaluate", "bad.csv"), "error: bad.csv, line 3: column 'score' is '?'")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--label", "lable"), "no column 'lable'; did you mean 'label'? the columns are 'label'"),
        (("--score", "Scor"), "there is no column 'Scor'; did you mean 'score'?"),
        (("--qid", "session"), "there is no column 'session'; the columns are 'label', 'score'"),
        (("--groups", "user"), "there is no column 'user'; the columns are 'label', 'score'"),
        (("--score", "label"), "column 'label' is named twice as label or score"),
        (("--score", "score", "score"), "column 'score' is named twice as label or score"),
        (("--pos-label", "spm"), "--pos-label 'spm' is not in column 'label': its labels are '0'"),
        (("--one-list", "--qid", "label"), "--one-list and --qid exclude each other"),
        (("--delimiter", "::"), "--delimiter '::' must be one character, or tab"),
        (("--measure", "ndgc@10"), "there is no measure 'ndgc@10'; did you mean 'ndcg@10'?"),
        (("--measure", "auroc"), "there is no measure 'auroc'; did you mean 'auc'?"),
        (("--measure", "zzz"), "there is no measure 'zzz'; --list-measures prints all"),
        (("--measure", "auc", "--convention", "letor"), "--measure auc has no --convention"),
        (("--measure", "ndcg", "--convention", "rdkit"), "invalid choice: 'rdkit'"),
        (("--complete",), "--complete is for --run and --qrels: leave it out"),
        (("--run", "system.run"), "--run and --qrels go together: pass both"),
        (("--random-labels", "--strata", "score"), "--strata and --random-labels exclude each"),
        (("--review-top", "2"), "--review-top and --champion go together: pass both"),
        (("--random-labels", "--most-below", "0"), "--most-below is for --review-top: leave it"),
        (("--proxy", "score"), "--proxy is for labels known in part, with one of --review-top"),
        (("--inclusion-probability", "p"), "there is no column 'p'; the columns are 'label', 's"),
        (("--review-top", "0"), "'0' is not a whole number from 1 on"),
        (("--output", "no/such/place"), "--output no/such/place: No such file or directory"),
        (("--level", "95"), "'95' is not a number between 0 and 1"),
        (("--resamples", "9"), "'9' is not a whole number from 99 on"),
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
    check_error(command("evaluate", str(files)), "is a directory: pass a file")
    check_error(command("evaluate"), "there is no input: pass FILE before the options, or --run")


def test_compressed_files(command, files):
    (files / "plain.csv.gz").write_text(GOOD)
    check_error(command("evaluate", "plain.csv.gz"), "plain.csv.gz is damaged or not compressed")
    (files / "cut.csv.gz").write_bytes(gzip.compress(GOOD.encode())[:-12])
    check_error(command("evaluate", "cut.csv.gz"), "cut.csv.gz is damaged or not compressed")
    (files / "plain.csv.bz2").write_text(GOOD)
    check_error(command("evaluate", "plain.csv.bz2"), "plain.csv.bz2: Invalid data stream")


def test_parquet(command, files):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (files / "text.parquet").write_text(GOOD)
    check_error(command("evaluate", "text.parquet"), "text.parquet cannot be read as Parquet")
    parquet.write_table(
        pyarrow.table({"label": [0, 1, 1], "score": [0.5, None, 0.7]}), files / "null.parquet"
    )
    check_error(
        command("evaluate", "null.parquet"), "null.parquet, row 2: column 'score' is empty"
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
        (RUN, "x1 0 a 1\n", "r and q have no query in common: the run has 'q1', the judgments"),
    ],
)
def test_files_of_trec(command, files, run, qrels, message):
    (files / "r").write_text(run)
    (files / "q").write_text(qrels)
    out, err, code = command("evaluate", "--run", "r", "--qrels", "q")
    assert (out, code) == ("", 2)
    assert re.match(f"sklearn-rank evaluate: error: {message}", err)
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--run", "r", "--qrels", "judgments.qrels"), "r: No such file or directory"),
        (("--run", "system.run", "--qrels", "q"), "q: No such file or directory"),
        (
            ("--run", "system.run", "system.run", "--qrels", "judgments.qrels"),
            "--run system.run is given twice: give it once",
        ),
        (
            ("predictions.csv", "--run", "system.run", "--qrels", "judgments.qrels"),
            "pass FILE (predictions.csv) or --run and --qrels, not both",
        ),
        (
            ("--run", "system.run", "--qrels", "judgments.qrels", "--label", "x"),
            "--label is for a table: leave it out",
        ),
        (
            ("--run", "system.run", "--qrels", "judgments.qrels", "--convention", "letor"),
            "--convention letor is not for runs: pass one of 'none', 'trec_eval', 'gdeval'",
        ),
        (
            (
                *("--run", "system.run", "--qrels", "judgments.qrels"),
                *("--convention", "trec_eval", "--measure", "rbp@0.8"),
            ),
            "--measure rbp@0.8 has no --convention: leave out one of them",
        ),
    ],
)
def test_options_of_trec(command, given, message):
    check_error(command("evaluate", *given), message)


FORMATS = {
    "zip file": ("t.csv", b"PK\x03\x04 and more"),
    "compressed by gzip: give its name the end .gz": ("t.csv", gzip.compress(GOOD.encode())),
    "compressed by xz": ("t.csv", lzma.compress(GOOD.encode())),
    "compressed by zstd": ("t.csv.zst", b"\x28\xb5\x2f\xfd and more"),
    "a Parquet file: give its name the end .parquet": ("t.csv", b"PAR1 and more"),
}


@pytest.mark.parametrize("what", FORMATS)
def test_files_of_other_formats_are_called_what_they_are(files, command, what):
    name, content = FORMATS[what]
    (files / name).write_bytes(content)
    check_error(command("evaluate", name), f"{name} is ")
    check_error(command("evaluate", name), what)
    check_error(command("evaluate", "--run", name, "--qrels", "judgments.qrels"), what)
    if name == "t.csv":
        check_error(command("evaluate", "-", stdin=content), what)


class Endless(io.RawIOBase):
    """Lines, or zeros, without an end."""

    def __init__(self, piece):
        self.piece = piece

    def readable(self):
        return True

    def readinto(self, buffer):
        some = (self.piece * (len(buffer) // len(self.piece) + 1))[: len(buffer)]
        buffer[:] = some
        return len(buffer)


def test_a_line_without_an_end_is_refused(command, monkeypatch):
    monkeypatch.setattr(_columns, "LONGEST_LINE", 2**16)
    endless = io.TextIOWrapper(io.BufferedReader(Endless(bytes(8))))
    monkeypatch.setattr(sys, "stdin", endless)
    check_error(command("evaluate", "-"), "standard input, line 1 has more than 65,536 bytes")


def test_reading_shows_that_it_goes_on_and_says_where_memory_ended(command, monkeypatch):
    monkeypatch.setattr(_columns, "PROGRESS", 3)

    def rows(*given):
        for line, row in all_rows(*given):
            if line == 6:
                raise MemoryError
            yield line, row

    all_rows = _columns._rows
    monkeypatch.setattr(_columns, "_rows", rows)
    out, err, code = command("evaluate", "-", stdin=GOOD.encode() + b"1,0.4\n")
    assert (out, code) == ("", 2)
    assert "3 rows read, reading on" in err
    assert "standard input, line 5: there is no memory for column 'score'" in err


@pytest.mark.parametrize(("labels", "rarer"), [("1222", "1"), ("1112", "2")])
def test_the_rarer_class_is_suggested(files, command, labels, rarer):
    rows = [f"{label},{i}" for i, label in enumerate(labels)]
    (files / "t.csv").write_text("\n".join(["label,score", *rows]))
    check_error(
        command("evaluate", "t.csv", "--measure", "auc"),
        f"--pos-label {rarer} makes the rarer one positive",
    )
    words = "\n".join(["label,score", *rows]).replace("\n1,", "\nok,").replace("\n2,", "\nfraud,")
    (files / "t.csv").write_text(words)
    name = {"1": "ok", "2": "fraud"}[rarer]
    check_error(command("evaluate", "t.csv"), f"as in --pos-label {name}")
