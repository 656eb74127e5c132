"""`doctor`: what it must and must not say of files with traps, and that its commands run."""

import bz2
import gzip
import itertools
import json
import shlex

import numpy as np
import pytest

from sklearn_rank._command import main
from tests.command.files import LABEL, NEW, OLD, QRELS, RUN, write_csv

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
LOW_HALF = PLACE >= N // 2

RANDOM_ROWS = "random sample of all rows"
TIED = "have the score of another row"
CHANCE = "do not show that it orders better than chance"
REVERSED = "it looks reversed"
LEAK = "a leak of the label?"
REVIEW = "the labels look selected by a review of the top"

# Of each file: its columns, what must be said and what must not.
TRAPS = {
    "one list": (
        names(label=Y, score=S),
        ["'0' in ", "auc, ap, precision@top0.1 of 'score': value and interval"],
        ["looks like", TIED, REVERSED, LEAK, CHANCE, "quer"],
    ),
    "ids of lists without a telling name": (
        names(label=Y, list=QUERIES, new=S),
        ["'list' looks like ids of queries or groups", "'new' may hold scores"],
        ["'list' may hold", "list: auc"],
    ),
    "columns that are no scores": (
        names(label=Y, cents=(S * 100).astype(int), seconds=1_700_000_000 + np.arange(N), p=S),
        ["'p' may hold scores", "Not used: 'cents', 'seconds'."],
        ["'cents' may"],
    ),
    "names without a hint": (
        names(default=Y, new=S, old=T),
        ["'default' looks like the label.", "'new', 'old' may hold scores, or features"],
    ),
    "grades": (
        names(grade=GRADE, score=G),
        ["spearman, tau_b of 'score'"],
        ["positive", "auc", REVERSED],
    ),
    "queries": (
        names(relevance=GRADE, qid=QUERIES, score=G, score_b=S),
        ["qid: 25 queries of 8 rows", "ndcg@10: comparison"],
        ["one row", "next to each other", "the same label"],
    ),
    "one class": (
        names(label=np.ones(N, int), score=S),
        ["'label' is constant: '1'", "so that no order is better"],
        [CHANCE, REVERSED],
    ),
    "words": (
        names(label=np.where(Y == 1, "fraud", "fine"), score=S),
        ["'fraud' is taken as the positive class", "--pos-label=fraud"],
        [REVERSED],
    ),
    "yes that is frequent": (
        names(label=np.where(Y == 1, "no", "yes"), score=-S),
        ["--pos-label=yes"],
        [REVERSED],
    ),
    "three words": (
        names(label=np.array(["a", "b", "c"])[GRADE], score=G),
        ["holds words ('a', 'b', 'c'): name the positive class"],
        ["is taken as"],
    ),
    "words and numbers": (
        names(label=np.where(RANDOM, "in review", Y.astype(str)), score=S),
        ["holds numbers and 'in review' (95 rows): if that marks missing labels, pass --missing"],
        ["positive class"],
    ),
    "labels 1 and 2": (names(label=Y + 1, score=S), ["--pos-label=2"], [REVERSED]),
    "labels True and False": (names(label=Y == 1, score=S), ["auc, ap"], ["--pos-label"]),
    "first rows reviewed": (
        names(label=blank(Y, PLACE >= 50), score=S, score_b=T),
        ["150 rows of 200 have no label", f"first 50 by 'score': {REVIEW}", "--review-top=50"],
        [RANDOM_ROWS, "--audit"],
    ),
    "the first rows of two scores": (
        names(label=blank(Y, (PLACE >= 40) & (PLACE < N - 40)), score_a=S, score_b=-S),
        ["the rows with labels are the first ones by any of", "a pool", "--pool"],
        [RANDOM_ROWS, "--audit", "--review-top"],
    ),
    "first rows and an audit": (
        names(label=blank(Y, (PLACE >= 50) & (PLACE % 3 > 0)), score=T, score_b=S),
        [f"all of the first 50 by 'score_b' have labels, and 50 others: {REVIEW}", "--audit=50"],
        [RANDOM_ROWS],
    ),
    "labels at random": (
        names(label=blank(Y, RANDOM), score=S),
        [RANDOM_ROWS, "which the file cannot show", "--random-labels"],
        [REVIEW],
    ),
    "labels of higher scores": (
        names(label=blank(Y, LOW_HALF | (PLACE % 7 == 0)), score=S),
        ["are in the upper half of the scores, so they are no random sample"],
    ),
    "labels of each query's top": (
        names(label=blank(Y, np.arange(N) % 8 > 3), qid=QUERIES, score=-(np.arange(N) % 8)),
        [f"first 4 of each query by 'score': {REVIEW}"],
        [RANDOM_ROWS, "the same label"],
    ),
    "queries without labels": (
        names(label=blank(Y, (QUERIES < 5) | RANDOM), qid=QUERIES, score=S),
        [RANDOM_ROWS],
        ["the same label", REVIEW],
    ),
    "no positive among the labels": (
        names(label=blank(np.zeros(N, int), RANDOM), score=S),
        ["95 rows of 200 have no label, and those of the others are all the same"],
        [REVERSED, LEAK],
    ),
    "no label at all": (
        names(label=np.full(N, ""), score=S),
        ["label: no value.", "column 'label' is missing, as all others are"],
        [REVIEW, RANDOM_ROWS],
    ),
    "constant score": (
        names(label=Y, score=S, score_b=np.ones(N)),
        ["'score_b' is constant: '1.0'", f"score_b: 100 % of the rows {TIED}"],
        [REVERSED, f"score: 100 % of the rows {TIED}"],
    ),
    "predicted classes": (
        names(label=Y, y_score=(S > 0.5).astype(int)),
        ["2 values only, as of predicted classes", "rows share the first place"],
    ),
    "nan in a score": (
        names(label=Y, score_a=S, score_b=np.where(RANDOM, np.nan, T)),
        ["t.csv, row 1: column 'score_b' is missing: remove the row", "--score=score_a"],
        ["--score=score_b", "comparison"],
    ),
    "infinite": (names(label=Y, score=np.where(S > 2, np.inf, S)), ["rows infinite"], [REVERSED]),
    "reversed": (names(label=Y, score=-S), [REVERSED], [LEAK, CHANCE]),
    "reversed grades": (names(grade=GRADE, qid=QUERIES, score=-G), ["score: tau_b -0.", REVERSED]),
    "leak": (
        names(label=Y, score=S, score_b=Y + 0.001 * RNG.random(N)),
        [f"score_b: auc is 1, no error at all: {LEAK}"],
        ["score: auc is 1"],
    ),
    "no error by chance": (
        names(label=np.array([0, 1, 0]), score=np.array([0.1, 0.9, 0.3])),
        [CHANCE, "holds less than one item"],
        [LEAK],
    ),
    "copy of the label": (
        names(label=Y, score=S, label_text=np.where(Y == 1, "yes", "no")),
        ["'label_text' goes one to one with the label: a copy of it?"],
        ["'score' goes"],
    ),
    "chance": (
        names(label=Y, score=np.random.default_rng(9).normal(size=N)),
        ["holds 0.5", CHANCE],
        [REVERSED, LEAK],
    ),
    "queries of one class": (
        names(label=Y * (QUERIES > 4), qid=QUERIES, score=S),
        [
            "7 queries of several rows with the same label in all",
            "ndcg@10, ap undefined for",
            "left out",
        ],
    ),
    "queries of one row": (
        names(label=Y[:170], qid=np.r_[QUERIES[:160], np.arange(100, 110)], score=S[:170]),
        ["30 queries of 1 to 8 rows", "10 queries of one row", "\n3 queries of several rows"],
    ),
    "only queries of one row": (
        names(label=Y, qid=np.arange(N), score=S),
        ["'qid' has no value twice", "--one-list"],
        ["queries of"],
    ),
    "one query": (
        names(label=Y, qid=np.ones(N, int), score=S),
        ["qid: 1 query of 200 rows", "--one-list", "value only", "at least two are needed"],
        ["value and interval"],
    ),
    "ids that are floats": (
        names(label=Y, query_id=QUERIES * 1.0, score=S),
        ["'query_id' looks like the ids of the queries", "--qid=query_id"],
        ["'query_id' looks like ids of groups"],
    ),
    "queries without an id": (
        names(label=Y, qid=blank(QUERIES, RANDOM), score=S),
        ["column 'qid' is missing"],
    ),
    "repeated patients": (
        names(label=Y, score=S, patient_id=np.arange(N) // 4),
        ["'patient_id' looks like ids of groups: 50 ids", "--groups=patient_id"],
        ["row ids"],
    ),
    "groups across queries": (
        names(label=Y, qid=QUERIES, score=S, user=np.arange(N) % 40),
        ["'user' is not the same in all rows of a query"],
        ["--groups="],
    ),
    "weights": (
        names(label=Y, score=S, sample_weight=1 + RNG.random(N)),
        ["'sample_weight' looks like weights of rows, which evaluate does not take"],
        ["--score=sample_weight"],
    ),
    "odd names": (
        {"the label": Y, "my score's 1st": S, "-score": T, 'say "p"': T},
        ["--score=my score"],
        ["cannot be passed"],
    ),
    "probabilities": (
        names(label=Y, proba=1 / (1 + np.exp(-S))),
        ["proba: all in [0, 1], as probabilities are.", "'proba' looks like a score."],
        ["predicted classes"],
    ),
    "two labels": (
        names(label=Y, y_true=np.where(np.arange(N) < 7, 1 - Y, Y), score=S),
        ["'y_true' could be the label too", "--label=label"],
        ["--label=y_true"],
    ),
    "row ids and dates": (
        names(
            id=np.arange(N),
            date=[f"2024-01-{1 + i % 28:02d}" for i in range(N)],
            label=Y,
            model_a=S,
        ),
        ["'id' differs in all rows: it looks like row ids", "--score=model_a"],
        ["'id' look", "'id', ", "'date' look", "--groups"],
    ),
    "a rank": (
        names(label=Y, rank=PLACE + 1, score=S),
        ["'rank' looks like places"],
        ["--score=rank"],
    ),
    "features": (
        names(target=Y, **{f"f{i}": np.round(RNG.normal(size=N), 3) for i in range(12)}),
        ["12 columns could be scores or features", "name the scores with --score"],
    ),
    "no label column": (
        names(a=S, score=T, b=GRADE),
        ["No column looks like labels: name it with --label, of 'a', 'score', 'b'"],
    ),
    "no score column": (names(label=Y, id=np.arange(N)), ["No column looks like a score"]),
}
# Files of which nothing can be computed.
IMPOSSIBLE = {
    "one class",
    "three words",
    "words and numbers",
    "labels of higher scores",
    "no label at all",
    "queries without an id",
    "features",
    "no label column",
    "no score column",
}


def check(command, *given):
    """The report as text, after each of its commands ran; whether it has commands."""
    out, err, code = command("doctor", *given)
    assert err == ""
    found = json.loads(command("doctor", "--format", "json", *given)[0])
    assert code == (0 if found["commands"] else 1)
    assert ("\nBlocked" in out) == bool(found["blocked"])
    for line in found["commands"]:
        assert line in out.splitlines() or "\n" in line
        program, *arguments = shlex.split(line)
        assert program == "sklearn-rank"
        printed, complaint, ended = command(*arguments)
        assert (ended, "error" in complaint) == (0, False)
        assert printed
    assert all(len(line) <= 80 for line in out.partition("\nCommands\n")[0].splitlines())
    said = [*found["found"], *found["computable"], *found["blocked"]]
    return "\n".join(
        [*said, *(shlex.join(shlex.split(line)) for line in found["commands"])]
    ), bool(found["commands"])


@pytest.mark.parametrize("name", TRAPS)
@pytest.mark.filterwarnings("ignore")
def test_traps(command, files, name):
    columns, must, *must_not = TRAPS[name]
    write_csv(files / "t.csv", {key: np.asarray(cells) for key, cells in columns.items()})
    said, can = check(command, "t.csv")
    for text in must:
        assert text in said
    for text in itertools.chain(*must_not):
        assert text not in said
    assert can == (name not in IMPOSSIBLE)


GOOD = "label,score\n" + "".join(f"{y},{s}\n" for y, s in zip(Y, S, strict=True))

# Files as text: what must be said, and the exit code.
TEXTS = {
    "no header": (GOOD.partition("\n")[2], "the first line must name the columns", 2),
    "ragged": (GOOD + "1\n", "Expected 2 columns, got 1", 2),
    "a run": (RUN, "looks like a run of TREC: evaluate --run FILE", 2),
    "a run with tabs": (RUN.replace(" ", "\t"), "looks like a run of TREC", 2),
    "judgments": (QRELS, "looks like judgments of TREC", 2),
    "svmlight": ("2 qid:1 1:0.5 2:1\n1 qid:1 1:0.1\n", "looks like an svmlight file", 2),
    "byte order mark": (b"\xef\xbb\xbf" + GOOD.encode(), "auc, ap, precision@top0.1 of", 0),
    "semicolons": (GOOD.replace(",", ";"), "'--delimiter=;'", 0),
    "tabs": (GOOD.replace(",", "\t"), "--delimiter=tab", 0),
    "decimal commas": (
        GOOD.replace(",", ";").replace(".", ","),
        "not a number: write decimals with a point",
        1,
    ),
    "names twice": (
        "label,score,score,score_b\n1,2,3,4\n0,4,4,4\n1,1,2,4\n",
        "2 columns are called 'score': left out; rename to use it.",
        0,
    ),
    "a column without a name": (
        ",label,score\n" + "".join(f"{i},{i % 2},{i * i % 7}\n" for i in range(50)),
        "A column has no name: left out",
        0,
    ),
    "a line break in a name": (
        '"my\nlabel",score\n1,2\n0,1\n1,5\n0,3\n',
        "'my\\nlabel' looks like the label",
        0,
    ),
    "labels in part, of two ways": (
        "label,score,stratum\n"
        + "".join(f"{i % 2 if i % 3 else ''},{i * i % 17},{i % 5}\n" for i in range(90)),
        "'stratum' looks like --strata.",
        0,
    ),
    "probabilities of a label": (
        "label,score,inclusion_probability\n"
        + "".join(f"{i % 2 if i % 3 else ''},{i * i % 17},0.66\n" for i in range(90)),
        "--inclusion-probability=inclusion_probability",
        0,
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TEXTS)
def test_texts(command, files, name):
    content, text, expected = TEXTS[name]
    (files / "t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    if expected == 2:
        out, err, code = command("doctor", "t.csv")
        assert (out, code) == ("", 2)
        assert err.startswith("sklearn-rank doctor: error: ")
        assert text in err
        return
    said, can = check(command, "t.csv")
    assert text in said
    assert can == (expected == 0)


@pytest.mark.parametrize("name", ["-s.csv", "my file.csv", "t.tsv", "t.csv.gz", "t.csv.bz2"])
def test_names_of_files(command, files, name):
    text = GOOD.replace(",", "\t") if name.endswith("tsv") else GOOD
    packed = {"gz": gzip.compress, "bz2": bz2.compress}.get(name.rpartition(".")[2], bytes)
    (files / name).write_bytes(packed(text.encode()))
    said, can = check(command, "--", name) if name == "-s.csv" else check(command, name)
    assert can
    assert "--delimiter" not in said


def test_parquet(command, files):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"label": Y == 1, "score": S}), files / "t.parquet")
    said, can = check(command, "t.parquet")
    assert can
    assert "label: 'false' in 147 rows, 'true' in 53 rows." in said


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "pass the FILE"),
        (("-",), "read once only: save it"),
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
    said, _ = check(command, "predictions.csv", "--score", OLD)
    assert f"--score={OLD}" in said
    assert f"Not used: '{NEW}'." in said
    assert f"={NEW}" not in said
    said, _ = check(command, "predictions.csv", "--label", LABEL, "--pos-label", "0")
    assert "--pos-label=0" in said
    assert REVERSED in said
    said, _ = check(command, "ranked.csv", "--label", "grade", "--one-list")
    assert "spearman" in said
    assert "ndcg" not in said
    columns = {"label": blank(Y, PLACE >= 50), "score": S}
    write_csv(files / "t.csv", columns)
    said, _ = check(command, "t.csv", "--review-top=50", "--champion=score", "--most-below=1")
    assert "--review-top=50 --champion=score --most-below=1.0" in said
    assert REVIEW not in said
    said, _ = check(command, "t.csv", "--review-top=50", "--champion=score", "--audit=0")
    assert "--audit=0" in said


def test_a_review_that_ended_within_a_tie(command, files):
    coarse = np.round(S, 1)
    order = np.lexsort((np.arange(N), -coarse))
    cut = next(i for i in range(40, 80) if coarse[order[i]] == coarse[order[i - 1]])
    reviewed = np.isin(np.arange(N), order[:cut])
    write_csv(files / "t.csv", {"label": blank(Y, ~reviewed), "score": coarse})
    said, can = check(command, "t.csv")
    assert f"--review-top={cut}" in said
    assert "--audit" not in said
    assert can


def test_labels_of_a_constant_score_are_not_taken_as_its_first(command, files):
    write_csv(files / "t.csv", {"label": blank(Y, RANDOM), "score": S, "score_b": np.ones(N)})
    said, _ = check(command, "t.csv")
    assert REVIEW not in said


def test_numbers_are_those_of_the_columns(command, files):
    coarse = np.round(S)
    write_csv(files / "t.csv", {"label": Y, "qid": QUERIES, "score": coarse})
    said, _ = check(command, "t.csv")
    shared = n_first = 0
    for query in range(25):
        values = coarse[query == QUERIES].tolist()
        shared += sum(values.count(value) > 1 for value in values)
        n_first += values.count(max(values)) > 1
    assert f"score: {100 * shared / N:.3g} % of the rows {TIED} of its query" in said
    assert f"the first place is shared in {n_first} queries" in said
    same = sum(len(set(Y[query == QUERIES])) == 1 for query in range(25))
    assert f"{same} queries of several rows with the same label in all." in said


def test_json_has_the_columns_and_the_text_goes_to_a_file(command, files):
    out, err, code = command("doctor", "ranked.csv", "--format", "json")
    assert (err, code) == ("", 0)
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
    assert command("doctor", "ranked.csv", "--output", "out.txt") == ("", "", 0)
    assert (files / "out.txt").read_text(encoding="utf-8") == text


def test_the_commands_name_the_program_that_was_called(files, capsys):
    assert main(["doctor", "predictions.csv"], as_module=True) == 0
    assert "\npython -m sklearn_rank compare predictions.csv " in capsys.readouterr().out
