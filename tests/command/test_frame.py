"""`sklearn_rank.doctor`: its lines give the numbers of the commands, and its table is complete."""

import json
import shlex
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sklearn_rank
from tests.command.files import LABEL, NEW, OLD, one_list, queries, write_csv
from tests.command.test_doctor import PLACE, RANDOM, TRAPS, N, S, T, Y, blank

WORDS = np.where(Y == 1, "yes", "no")
DAYS = (np.datetime64("2024-01-01") + np.arange(N) // 10).astype(str)
LATE = Y * (np.arange(N) < 150)
SHORT = {"a": S[:60], "b": T[:60]}
# Of each table: its columns, options, and the forms of a frame that are passed.
FILES = {
    "words": (
        {"bought": WORDS[:60], **SHORT},
        {"pos_label": "yes"},
        ("texts", "polars"),
    ),
    "words in part": (
        {"bought": blank(WORDS, RANDOM)[:60], "a": S[:60]},
        {"pos_label": "yes"},
        ("polars",),
    ),
    "three words": (
        {"y": np.where(PLACE % 9 == 0, "open", WORDS)[:60], "a": S[:60]},
        {"pos_label": "yes", "missing": "open"},
        ("texts",),
    ),
    "days": ({"label": Y, "score": S, "day": DAYS}, {"groups": "day"}, ("texts", "polars")),
    "rows of each day": ({"label": Y, "score": S, "day": DAYS}, {}, ("texts", "polars")),
    "queries": (queries(), {}, ("texts",)),
    "odd names": (TRAPS["odd names"][0], {}, ("texts",)),
    "pool": (TRAPS["the first rows of two scores"][0], {}, ("texts", "polars")),
    "labels that come late": (
        {"label": LATE, "score": S, "day": DAYS, "known": np.where(LATE == 1, DAYS, "")},
        {"entered": "day", "resolved": "known", "horizon": 3, "as_of": "2024-01-20"},
        ("texts", "polars"),
    ),
    "random labels and a judge": (
        {"label": blank(Y, RANDOM)[:60], "score": S[:60], "judge": S[:60].clip(0, 1)},
        {"random_labels": True, "proxy": "judge"},
        ("polars",),
    ),
}


def limits_of(results):
    """Estimate and limits of each interval and difference, in order."""
    found = []
    for x in results:
        if "differences" in x:
            found += zip(x["differences"], x["low"], x["high"], strict=True)
        else:
            found += [
                (one["estimate"], one["low"], one["high"]) for one in x.get("pointwise", [x])
            ]
    return np.array(sorted(found))


def run(lines, frame):
    """What the lines give that are no assignments or imports."""
    names = {"frame": frame}
    exec("\n".join(x for x in lines if not x.startswith(("metric_interval", "compare"))), names)
    return [eval(x, names) for x in lines if x.startswith(("metric_interval", "compare"))]


@pytest.mark.filterwarnings("ignore:ndcg_score is undefined", "ignore:.*not adjusted")
@pytest.mark.parametrize("name", FILES)
def test_lines_give_the_numbers_of_the_commands(command, files, name):
    columns, options, kinds = FILES[name]
    columns = {key: np.asarray(cells) for key, cells in columns.items()}
    write_csv(files / "t.csv", columns)
    flags = [
        f"--{key.replace('_', '-')}={value}".removesuffix("=True")
        for key, value in options.items()
    ]
    found = json.loads(command("doctor", "t.csv", "--format", "json", *flags)[0])
    results = []
    for line in found["commands"]:
        out, _, code = command(*shlex.split(line)[1:], "--json")
        assert code == 0
        results += json.loads(out)["results"]
    expected = limits_of(results)
    assert len(expected)
    read = {
        "texts": lambda path: pd.read_csv(path, dtype=str),
        "polars": pl.read_csv,
    }
    for kind in kinds:
        frame = read[kind]("t.csv")
        told = sklearn_rank.doctor(frame, **options)
        assert told.computable == tuple(found["computable"])
        assert "--" not in str(told).replace("'--", "")
        limits = limits_of([x.to_dict() for x in run(told.lines, frame)])
        np.testing.assert_allclose(limits, expected, atol=1e-12, err_msg=kind)


class Tables(HTMLParser):
    """Names of columns and rows of the tables, and the text in <pre>, of a well-formed page."""

    def __init__(self, page):
        super().__init__()
        self.open, self.cells, self.code = [], [], ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "link", "img")
        assert not dict(attrs).keys() & {"src", "href"}
        self.open += [tag] * (tag != "br")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.code += data * ("pre" in self.open)
        if self.open and self.open[-1] == "th":
            self.cells.append(data)


def test_the_table_of_a_notebook():
    frame = pd.DataFrame(
        {"<id>": np.arange(N), "when": DAYS, "label": blank(Y, RANDOM), "score": S}
    )
    told = sklearn_rank.doctor(frame)
    of = {row[0]: row[1:] for row in told.columns}
    assert of["<id>"] == ("", "int64", "0", "200", "0 to 199")
    assert of["when"] == ("", str(frame["when"].dtype), "0", "20", "")
    known = Y[~RANDOM]
    share = f"{known.sum()} of {len(known)} positive ({known.mean():.2%})"
    assert of["label"] == ("label", str(frame["label"].dtype), str(N - len(known)), "2", share)
    page = Tables(told._repr_html_())
    assert page.code.splitlines() == list(told.lines)
    assert page.cells[6:] == ["label", "score", "<id>", "when"]  # those with a role first
    wide = sklearn_rank.doctor(frame.join(pd.DataFrame({f"f{i}": S for i in range(30)})))
    assert "(20 are shown)" in wide._repr_html_()
    assert wide.lines  # the score has a usual name


def test_queries_groups_and_values_alone():
    told = sklearn_rank.doctor(pd.DataFrame(queries()))
    of = {row[0]: row for row in told.columns}
    assert of["query"][1::4] == ("qid", "queries: 20; rows of each: 8")
    assert of["user"][1] == "groups"
    assert "undefined for 3 of 20 lists" in told.found[-1]
    told = sklearn_rank.doctor(pd.DataFrame({"label": Y, "qid": 1, "score": S}))
    assert told.lines[-1] == "get_measure('ndcg@10')(y_true, frame['score'], qid=frame['qid'])"


def test_two_readings_are_asked():
    probabilities = pd.DataFrame({0: WORDS, "p_no": 1.0 - S, "p_yes": S})
    told = sklearn_rank.doctor(probabilities)
    assert told.lines == ()
    assert told.blocked[0].endswith("as in sklearn_rank.doctor(frame, score='p_yes')")
    assert "'p_no', 'p_yes' add up to 1" in told.blocked[0]
    told = sklearn_rank.doctor(probabilities, score=["p_yes"])
    line = told.blocked[0].rpartition("as in ")[2]
    assert line == "sklearn_rank.doctor(frame, score=['p_yes'], pos_label='yes')"
    told = eval(line, {"frame": probabilities, "sklearn_rank": sklearn_rank})
    assert told.lines[1] == "y_true = frame[0].map({'no': 0, 'yes': 1})"


@pytest.mark.parametrize(
    ("frame", "options", "error", "text"),
    [
        (np.eye(2), {}, TypeError, "is a ndarray: pass a DataFrame"),
        (pl.LazyFrame({"a": [1]}), {}, TypeError, "is a LazyFrame: pass a DataFrame"),
        (pd.DataFrame({"y": []}), {}, ValueError, "there are no rows"),
        (pd.DataFrame([[0, 1]], columns=["y", "y"]), {}, ValueError, "are called 'y': rename"),
        (pd.DataFrame({"y": Y}), {"label": "z"}, ValueError, "there is no column 'z'"),
        (pd.DataFrame({"y": Y}), {"lable": "y"}, TypeError, r"'lable'; did you mean 'label'\?$"),
        (pd.DataFrame({"y": Y}), {"file": "y"}, TypeError, "no option 'file'"),
    ],
)
def test_what_is_refused(frame, options, error, text):
    with pytest.raises(error, match=text):
        sklearn_rank.doctor(frame, **options)


def test_rows_count_from_0_in_a_frame():
    indexed = pd.DataFrame({"label": Y, "score": S}, index=pd.Index(np.arange(N) // 4, name="id"))
    assert sklearn_rank.doctor(indexed).found[0].startswith("Not used: the index, 'id';")
    frame = pd.DataFrame({"y": Y, "score": np.where(np.arange(N) == 3, np.nan, S)})
    assert "frame, row 3: column 'score' is missing" in sklearn_rank.doctor(frame).blocked[0]


def test_compare_finds_the_columns_and_says_so(command, files):
    out, err, code = command("compare", "predictions.csv")
    (line,) = [x for x in command("doctor", "predictions.csv")[0].splitlines() if " compare " in x]
    assert out == command(*shlex.split(line)[1:])[0]
    assert ("contrast" in out, code) == (True, 0)
    for role, names in (
        ("label", f"'{LABEL}'"),
        ("score", f"'{NEW}', '{OLD}'"),
        ("groups", "'user'"),
    ):
        assert f"compare: warning: {names}: taken as --{role}, by " in err
    columns = one_list()
    write_csv("t.csv", {"target": columns[LABEL]} | columns)
    out, err, code = command("compare", "t.csv", "--measure", "ap")
    assert (out, code) == ("", 2)
    line = err.strip().rpartition(", as in sklearn-rank ")[2]
    assert line == "compare --label=target t.csv --measure ap"
    assert command(*shlex.split(line))[2] == 0
