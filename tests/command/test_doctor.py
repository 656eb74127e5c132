"""`doctor`: what it must and must not say of files with traps, and that its commands run."""

import gzip
import itertools
import json
import re
import shlex

import numpy as np
import pytest

from sklearn_rank._command import main
from sklearn_rank.metrics import get_measure
from tests.command.files import LABEL, NEW, OLD, QRELS, RUN, write_csv
from tests.inference.test_days import log
from tests.oracles.days import autocorrelation

RNG = np.random.default_rng(0)
N = 200
Y = (RNG.random(N) < 0.3).astype(int)
S = np.round(Y + RNG.normal(size=N), 4)
T = np.round(S + RNG.normal(size=N), 4)
QUERIES = np.repeat(np.arange(25), 8)
GRADE = np.random.default_rng(1).integers(0, 3, N)
G = np.round(GRADE + np.random.default_rng(2).normal(size=N), 4)


def blank(column, where):
    """The column as text, with empty cells."""
    return np.where(where, "", column.astype(str))


def names(**columns):
    return columns


ORDER = np.argsort(-S)
PLACE = np.argsort(ORDER)
RANDOM = np.random.default_rng(3).random(N) < 0.5
GAPS = blank(S, RANDOM)
DAY = (np.datetime64("2024-01-01") + np.arange(N) // 20).astype(str)
LOW_HALF = PLACE >= N // 2

RANDOM_ROWS = "a random sample of all rows, which the table cannot show"
BETTER = "do not show that it orders better than chance"
REVERSED = "it looks reversed: the lines negate it, as if low scores are the best"
LEAK = "as by a leak"
BY_VALUES = "by values alone"

# Of each file: its columns, what must be said and what must not.
TRAPS = {
    "one list": (
        names(label=Y, score=S),
        ["label: '0' (147 rows), '1' (53 rows).", "auc, ap, precision@top0.1: value and interval"],
        ["taken", "tie", REVERSED, LEAK, BETTER, "quer", "without", "grades"],
    ),
    "ids and scores without a telling name": (
        names(bad=Y, list=QUERIES, new=S, seconds=10**9 + np.arange(N), old=T, gaps=GAPS),
        [
            f"'bad': taken as --label, {BY_VALUES}: pass --label if it is another",
            f"'new', 'old': taken as --score, {BY_VALUES}",
            "Not used: 'list', 'seconds', 'gaps'; --qid and --groups take ids",
            "auc: comparison",
        ],
    ),
    "words that are part of other names": (
        names(target=Y, query_length=QUERIES, account_balance=T, prob_new=S, day=QUERIES * 1.5),
        [
            "'target': taken as --label, by name.",
            "'prob_new': taken as --score, by name.",
            "Not used: 'query_length', 'account_balance', 'day'",
        ],
    ),
    "two columns of words for one option": (
        names(label=Y, query_id=QUERIES, query=QUERIES + 1, score=S),
        ["'query_id', 'query' could each be --qid: pass it"],
    ),
    "grades in queries": (
        names(relevance=GRADE, qid=QUERIES, score=G, score_b=S),
        ["qid: queries: 25; rows of each: 8.", "ndcg@10: comparison", "score_b: tau_b 0.0469 ["],
        ["one row", "score: tau_b"],
    ),
    "one class": (
        names(label=np.ones(N, int), score=S),
        ["is '1' in all rows: pass rows of several labels"],
        [BETTER],
    ),
    "words": (
        names(label=np.where(Y == 1, "fraud", "fine"), score=S),
        ["(53 rows): name the positive class by --pos-label"],
    ),
    "words and numbers": (
        names(label=np.where(RANDOM, "in review", Y.astype(str)), score=S),
        ["'in review' (95 rows)", "what marks missing labels by --missing"],
    ),
    "activities": (
        names(smiles=np.arange(N), pIC50=np.round(GRADE + S, 2), docking=-S, model=T),
        [
            "'pIC50': taken as --label, by name.",
            "'docking', 'model': taken as --score",
            "as in 'auc(rel>=X)': labels from X on are positive",
        ],
    ),
    "labels 1 and 2": (
        names(label=Y + 1, score=S),
        ["taken as grades; --pos-label names the positive class of two", "spearman, tau_b: value"],
        [REVERSED],
    ),
    "labels True and False": (names(label=Y == 1, score=S), ["auc, ap"], ["grades"]),
    "first rows reviewed": (
        names(label=blank(Y, PLACE >= 50), score=S, score_b=T),
        [
            "label: '0' (24 rows), '1' (26 rows); 150 rows without a label.",
            "taken as the first 50 by 'score'. Otherwise pass one of --review-top, --strata",
            "--review-top=50 --champion=score\n",
        ],
    ),
    "the first rows of two scores": (
        names(label=blank(Y, (PLACE >= 40) & (PLACE < N - 40)), score_a=S, score_b=-S),
        ["taken as the first ones by any of 'score_a', 'score_b', a pool", "csv --pool\n"],
    ),
    "first rows and an audit": (
        names(label=blank(Y, (PLACE >= 50) & (PLACE % 3 > 0)), score=T, score_b=S),
        [
            "taken as the first 50 by 'score_b', and 50 random ones of the others.",
            "--review-top=50 --champion=score_b --audit=50\n",
        ],
    ),
    "labels at random": (names(label=blank(Y, RANDOM), score=S), [RANDOM_ROWS, "--random-labels"]),
    "labels of higher scores": (
        names(label=blank(Y, LOW_HALF | (PLACE % 7 == 0)), score=S),
        ["no interval: The 85 rows with labels of probability 0.425 do not lie among the"],
    ),
    "labels of each query's top": (
        names(label=blank(Y, np.arange(N) % 8 > 3), qid=QUERIES, score=-(np.arange(N) % 8)),
        ["taken as the first 4 of each query by 'score'", "--review-top=4"],
    ),
    "queries without labels": (
        names(label=blank(Y, (QUERIES < 5) | RANDOM), qid=QUERIES, score=S),
        [RANDOM_ROWS],
    ),
    "a constant score that could be the champion": (
        names(label=blank(Y, RANDOM), score=S, score_b=np.ones(N)),
        [RANDOM_ROWS, "score_b: 100 % of the rows tie; different scores: 1; rows at the first"],
    ),
    "strata": (
        names(label=blank(Y, RANDOM), score=S, stratum=QUERIES % 5),
        ["'stratum': taken as --strata, by name.", "--strata=stratum"],
        ["Not used"],
    ),
    "probabilities of labels": (
        names(label=blank(Y, RANDOM), score=S, inclusion_probability=np.full(N, 0.5)),
        ["--inclusion-probability=inclusion_probability"],
        ["Not used"],
    ),
    "no label at all": (
        names(label=np.full(N, ""), score=S),
        ["label: none; 200 rows without a label.", "column 'label' is missing, as all others are"],
        [RANDOM_ROWS],
    ),
    "predicted classes": (
        names(label=Y, y_score=(S > 0.5).astype(int)),
        ["different scores: 2, as of predicted classes; rows at the first place: 78."],
    ),
    "nan in a score": (
        names(label=Y, score_a=S, score_b=np.where(RANDOM, np.nan, T)),
        ["t.csv, row 1: column 'score_b' is missing: remove the row"],
    ),
    "labels and scores in part": (
        names(label=blank(Y, RANDOM), score=GAPS),
        [RANDOM_ROWS, "column 'score' is missing"],
    ),
    "infinite": (names(label=Y, score=np.where(S > 2, np.inf, S)), ["10 rows infinite"]),
    "reversed": (names(label=Y, score=-S), [f"], {REVERSED}."], [LEAK, BETTER]),
    "reversed grades": (names(grade=GRADE, qid=QUERIES, score=-G), ["score: tau_b -0.", REVERSED]),
    "leak": (
        names(label=Y, score=S, score_b=Y + 0.001 * RNG.random(N)),
        [f"score_b: auc 1.0000 [0.9362, 1.0000], without any error, {LEAK}"],
        ["score: auc"],
    ),
    "no error by chance": (
        names(label=np.arange(3) % 2, score=np.arange(3) % 2),
        [BETTER],
        [LEAK],
    ),
    "no error in one query": (
        names(label=Y, qid=np.ones(N, int), score=Y),
        ["ndcg@10, ap, rr: value only", "at least two are needed"],
        [LEAK, "nan"],
    ),
    "queries of one class": (
        names(label=Y * (QUERIES > 4), qid=QUERIES, score=S),
        ["ndcg@10, ap, rr: value and interval"],
    ),
    "queries of one row": (
        names(label=Y[:170], qid=np.r_[QUERIES[:160], np.arange(100, 110)], score=S[:170]),
        ["qid: queries: 30; rows of each: 1 to 8; queries of one row: 10."],
    ),
    "only queries of one row": (
        names(label=Y, qid=np.arange(N), score=S),
        ["qid seems to contain ids of rows"],
    ),
    "queries without an id": (
        names(label=Y, qid=blank(QUERIES, RANDOM), score=S),
        ["column 'qid' is missing"],
    ),
    "repeated patients": (
        names(label=Y, score=S, patientID=np.arange(N) // 4, id=np.arange(N)),
        [
            "'patientID': taken as --groups, by name: pass --qid if each has a list",
            "--groups=patientID",
            "Not used: 'id'",
        ],
    ),
    "groups across queries": (
        names(label=Y, query_id=QUERIES * 1.0, score=S, user=np.arange(N) % 40),
        ["'user': not used as --groups: a query has several.", "--qid=query_id"],
        ["--groups="],
    ),
    "days": (
        names(day=DAY, label=Y, score_a=S, score_b=T),
        [
            "day: 10 days; rows of each: 20. The last line takes the first 2 of each day",
            "compare t.csv --qid=day --measure=precision@2\n",
        ],
    ),
    "days with labels in part": (
        names(day=DAY, label=blank(Y, RANDOM), score=S),
        ["evaluate t.csv --random-labels\n", "csv --qid=day --strata=day --measure=precision@2\n"],
    ),
    "days as queries, with labels in part": (
        names(qid=DAY, label=blank(Y, RANDOM), score=S),
        [
            "random sample of the rows of each 'qid'",
            "csv --qid=qid --strata=qid --measure=precision@2\n",
        ],
    ),
    "numbers of days": (names(day=np.arange(N) // 20, label=Y, score=S), ["csv --qid=day --mea"]),
    "days without labels": (
        names(day=DAY, label=blank(Y, np.arange(N) >= 180), score=S),
        ["day: 1 of the 10 days have no label: leave out their rows"],
        ["--qid=day"],
    ),
    "days that can be read in two ways": (
        names(day=np.array([f"{int(x[-2:])}.1.2024" for x in DAY]), label=Y, score=S),
        ["precision@2 of each 'day': no interval: Ids are dates such as '1.1.2024': write them"],
    ),
    "decimal commas": (
        names(label=Y, new=np.char.replace(S.astype(str), ".", ",")),
        [", not a number: write it as 1234.5, as pandas.read_csv does with decimal=','"],
    ),
    "decimal commas of labels": (
        names(label=np.char.replace(T.astype(str), ".", ","), score=S),
        ["more values: write it as 1234.5, as pandas.read_csv does with decimal=','"],
    ),
    "a run with the names of its columns": (
        names(qid=QUERIES, docno=np.arange(N), score=S),
        ["; a run is read with judgments, as of the same documents"],
    ),
    "one user": (
        names(label=Y, score=S, user=np.ones(N, int)),
        ["'user': not used as --groups: all rows are of one.", "auc, ap, precision@top0.1: value"],
        ["--groups="],
    ),
    "odd names": (
        {"the label": Y, "my score's 1st": S, "-score": T, 'say "p"': T, "sample_weight": T},
        ["'--score=my score'", "--score=-score"],
        ["--score=sample_weight"],
    ),
    "two labels": (
        names(label=Y, y_true=Y, score=S),
        ["the columns 'label', 'y_true' could all be labels: name it with --label"],
    ),
    "features": (
        names(target=Y, **{f"f{i}": np.round(RNG.normal(size=N), 3) for i in range(3)}),
        ["'f2' could each be --score (a feature is none", "doctor t.csv --score=f0\n"],
    ),
    "whole numbers besides others": (
        names(fraud=Y, amount=np.exp(T), old=S, new=np.round(99 * T)),
        ["'old', 'new' could each be --score (a", "t.csv --score=old --score=new\n"],
    ),
    "whole numbers": (
        names(label=Y, albumin=np.round(99 * S), item_id=ORDER, flag=1 - Y),
        ["'albumin': taken as --score, by values alone", "Not used: 'item_id', 'flag'"],
    ),
    "no label column": (names(a=S, score=T, b=GRADE), ["no column of labels: name it with --lab"]),
    "no score column": (names(label=Y, id=np.arange(N)), ["no column of scores: name it with"]),
}
# Files of which nothing can be computed.
IMPOSSIBLE = {
    "two columns of words for one option",
    "one class",
    "words",
    "words and numbers",
    "labels of higher scores",
    "no label at all",
    "nan in a score",
    "labels and scores in part",
    "only queries of one row",
    "queries without an id",
    "two labels",
    "features",
    "whole numbers besides others",
    "no label column",
    "no score column",
    "decimal commas",
    "decimal commas of labels",
    "a run with the names of its columns",
}


def check(command, *given):
    """The report as text, each finding in one line; its commands run."""
    out, err, code = command("doctor", *given)
    assert "error" not in err
    found = json.loads(command("doctor", "--format", "json", *given)[0])
    assert code == (0 if found["commands"] else 1)
    assert ("\nBlocked" in out) == bool(found["blocked"])
    for line in found["commands"]:
        assert line in out.splitlines()
        program, *arguments = shlex.split(line)
        assert program == "sklearn-rank"
        printed, complaint, ended = command(*arguments)
        assert (ended, "error" in complaint) == (0, False)
        assert printed
    assert all(len(line) <= 80 for line in out.partition("\nLines to type\n")[0].splitlines())
    said = [*found["found"], *found["computable"], *found["blocked"], *found["commands"]]
    assert " ".join(out.split()).endswith(" ".join(" ".join(found["commands"]).split()))
    return "\n".join(["", *said, ""])


@pytest.mark.parametrize("name", TRAPS)
@pytest.mark.filterwarnings("ignore")
def test_traps(command, files, name):
    columns, must, *must_not = TRAPS[name]
    write_csv(files / "t.csv", {key: np.asarray(cells) for key, cells in columns.items()})
    said = check(command, "t.csv")
    for text in must:
        assert text in said
    for text in itertools.chain(*must_not):
        assert text not in said
    assert ("\nsklearn-rank evaluate" in said) == (name not in IMPOSSIBLE)


GOOD = "label,score\n" + "".join(f"{y},{s}\n" for y, s in zip(Y, S, strict=True))

# Files as text: what must be said, and the exit code.
TEXTS = {
    "no header": (GOOD.partition("\n")[2], "the first line must name the columns", 2),
    "ragged": (GOOD + "1\n", "Expected 2 columns, got 1", 2),
    "a run": (RUN.replace(" ", ","), "files of TREC go with --qrels QRELS", 2),
    "judgments": (QRELS, "files of TREC go with --qrels QRELS", 2),
    "byte order mark": (b"\xef\xbb\xbf" + GOOD.encode(), "auc, ap, precision@top0.1:", 0),
    "semicolons": (GOOD.replace(",", ";"), "pass what separates them by --delimiter", 2),
    "names twice": ("label,prob,prob\n1,2,3\n0,3,4\n", "2 columns are called 'prob': rename", 1),
    "usual names twice": (
        "label,score,score,score_b\n1,2,3,4\n",
        "2 columns are called 'score'",
        2,
    ),
    "a column without a name": (
        ",label,score\n" + "".join(f"{i},{i % 2},{i * i % 7}\n" for i in range(50)),
        "Not used: ''",
        0,
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TEXTS)
def test_texts(command, files, name):
    content, text, expected = TEXTS[name]
    (files / "t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    out, err, code = command("doctor", "t.csv")
    assert code == expected
    assert text in (err if code == 2 else " ".join(out.split()))
    assert err.startswith("sklearn-rank doctor: error: " * (code == 2))


@pytest.mark.parametrize("name", ["-s.csv", "my file.csv", "t.tsv", "t.csv.gz"])
def test_names_of_files(command, files, name):
    text = GOOD.replace(",", "\t") if name.endswith("tsv") else GOOD
    packed = gzip.compress if name.endswith("gz") else bytes
    (files / name).write_bytes(packed(text.encode()))
    assert "\nsklearn-rank evaluate" in check(command, *["--"] * (name[0] == "-"), name)


def test_runs(command, files):
    said = check(command, "system.run", "other.run", "--qrels", "judgments.qrels")
    assert "\nsklearn-rank compare system.run other.run --qrels=judgments.qrels\n" in said
    assert command("doctor", "system.run", "--qrels", "nothing.qrels")[2] == 2


def test_parquet(command, files):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"label": Y == 1, "score": S}), files / "t.parquet")
    assert "label: 'false' (147 rows), 'true' (53 rows)." in check(command, "t.parquet")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "pass the FILE"),
        (("-",), "pass the FILE"),
        (("none.csv",), "none.csv: No such file"),
        (("predictions.csv", "--label", "klicked"), "did you mean 'clicked'?"),
        (("predictions.csv", "--score", "mew"), "did you mean 'new'?"),
    ],
)
def test_input_that_cannot_be_read(command, given, message):
    out, err, code = command("doctor", *given)
    assert (out, code) == ("", 2)
    assert message in err


def test_options_replace_guesses(command, files):
    said = check(command, "predictions.csv", "--score", OLD)
    assert f"Not used: '{NEW}'" in said
    assert f"--score={OLD} --groups=user\n" in said
    said = check(command, "predictions.csv", "--label", LABEL, "--pos-label", "0")
    assert "--pos-label=0" in said
    assert REVERSED in said
    assert f"--negate={OLD}" in said
    write_csv(files / "t.csv", {"label": GRADE, "qid": QUERIES, "score": G})
    said = check(command, "t.csv", "--one-list")
    assert "spearman" in said
    assert "t.csv --one-list\n" in said
    assert "queries:" not in said
    write_csv(files / "t.csv", {"label": blank(Y, PLACE >= 50), "score": S, "old": T})
    for review in (("--review-top=50", "--champion=old"), ("--champion=old",)):
        out, _, code = command("doctor", "t.csv", *review)
        assert (code, "\nLines to type" in out) == (1, False)  # the champion was another
        assert "The rows with labels" not in out
    review = ("--review-top=50", "--champion=score")
    for more in ("--most-below=0.0", "--audit=0"):
        said = check(command, "t.csv", *review, more)
        assert f"t.csv {review[0]} {review[1]} {more}\n" in said
        assert "The rows with labels" not in said
    write_csv(files / "t.csv", {"label": np.where(Y, "a", "b"), "score": S}, delimiter=";")
    given = ("--delimiter=;", "--pos-label=a", "--neg-label=b", "--missing=c")
    assert set(given) <= set(shlex.split(check(command, "t.csv", *given)))


def test_a_review_that_ended_within_a_tie(command, files):
    coarse = np.round(S, 1)
    order = np.lexsort((np.arange(N), -coarse))
    cut = next(i for i in range(40, 80) if coarse[order[i]] == coarse[order[i - 1]])
    reviewed = np.isin(np.arange(N), order[:cut])
    write_csv(files / "t.csv", {"label": blank(Y, ~reviewed), "score": coarse})
    assert f"--review-top={cut} --champion=score\n" in check(command, "t.csv")


def test_numbers_are_those_of_the_columns(command, files):
    coarse = np.round(S)
    write_csv(files / "t.csv", {"label": Y, "qid": QUERIES, "score": coarse})
    shared = n_first = 0
    for query in range(25):
        values = coarse[query == QUERIES].tolist()
        shared += sum(values.count(value) > 1 for value in values)
        n_first = max(n_first, values.count(max(values)))
    expected = (
        f"score: {100 * shared / N:.3g} % of the rows of a query tie; different scores:"
        f" {len(set(coarse))}; rows at the first place of a query: {n_first}."
    )
    assert expected in check(command, "t.csv")


def test_json_has_the_columns_and_the_text_goes_to_a_file(command, files):
    out, err, code = command("doctor", "ranked.csv", "--format", "json")
    assert ("ndcg_score is undefined for 3 of 20 lists" in err, code) == (True, 0)
    assert json.loads(out)["input"] == {
        "file": "ranked.csv",
        "rows": 160,
        "columns": ["query", "grade", NEW, OLD, "user"],
        "label": "grade",
        "scores": [NEW, OLD],
        "qid": "query",
        "groups": "user",
    }
    text = command("doctor", "ranked.csv")[0]
    assert command("doctor", "ranked.csv", "--output", "out.txt") == ("", err, 0)
    assert (files / "out.txt").read_text(encoding="utf-8") == text


def test_the_commands_name_the_program_that_was_called(files, capsys):
    assert main(["doctor", "predictions.csv"], as_module=True) == 0
    assert "\npython -m sklearn_rank compare predictions.csv " in capsys.readouterr().out


def test_days_and_how_they_depend_are_reported(command):
    y, a, b, day = log(2, r=0.95)
    columns = {"label": y, "score_a": a, "score_b": b, "day": np.datetime64("2024-01-01") + day}
    write_csv("days.csv", columns | {"day": columns["day"].astype(str)})
    for option, title in (("--groups", "auc"), ("--qid", "ndcg@10")):
        text = " ".join(command("doctor", "days.csv", option, "day")[0].split())
        said = re.search(rf"{re.escape(title)} over 40 days: .* next (.*) \(score_a\)", text)
        values = get_measure("ndcg@10")(y, a, qid=day, average=None)
        if title != "auc":
            assert float(said[1]) == round(autocorrelation(values.tolist(), 1), 2)
        assert "intervals allow for it" in text
    text = command("doctor", "days.csv", "--qid", "day", "--score", "score_a")[0]
    assert "over 40 days" in text
    write_csv("days.csv", columns | {"day": day})
    assert "intervals allow for it" not in command("doctor", "days.csv", "--qid", "day")[0]
