"""The data that plots show, and what the command line prints."""

import contextlib
import io
from functools import partial
from pathlib import Path

import inputs as i
import numpy as np
from others_cases import QRELS, RUN

from sklearn_rank import inference, metrics, plotting
from sklearn_rank._command import main
from sklearn_rank.metrics import get_measure_names


def plot_cases():
    draw = plotting.IntervalsDisplay.from_result
    intervals = {
        name: inference.metric_interval(name, i.y, i.score) for name in ("auc", "gini", "ap")
    }
    yield "IntervalsDisplay", partial(draw, intervals)
    yield "IntervalsDisplay, reference", partial(draw, intervals, reference=0.5, margins=[0.1])
    for bad in ({}, [1], {"a": 1}):
        yield f"IntervalsDisplay of {bad}", partial(draw, bad)
    comparison = inference.compare("auc", i.y, {"a": i.score, "b": i.score_b})
    yield "IntervalsDisplay of a comparison", partial(draw, comparison)
    curve = plotting.CurveDisplay.from_result
    for name in ("precision@k", "calibration@k", "net_benefit", "tpr@fpr"):
        result = inference.curve(name, i.y, i.prob, random_state=0)
        yield f"CurveDisplay {name}", partial(curve, result)
    scores = {"A": i.by_grade, "B": i.score}
    values = {
        name: metrics.ndcg_score(i.grades, score, qid=i.qid, average=None)
        for name, score in scores.items()
    }
    exchanges = {"method": "randomization", "random_state": 0}
    found = inference.compare("ndcg", i.grades, scores, qid=i.qid, **exchanges)
    difference = plotting.QueryDifferenceDisplay.from_result
    yield "QueryDifferenceDisplay", partial(difference, found, values)


def csv(**columns):
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


GOOD = "label,score\n1,0.9\n0,0.2\n1,0.8\n0,0.1\n"
FILES = {
    "list.csv": csv(clicked=i.y, new=i.score, old=i.score_b, user=i.groups),
    "queries.csv": csv(
        query=i.words_of_ids, grade=i.grades, new=i.by_grade, old=i.score, user=i.qid // 2
    ),
    "words.csv": csv(label=i.words, score=i.score),
    "defaults.csv": csv(label=i.y, score=i.score, score_b=i.score_b, qid=i.qid),
    "system.run": RUN,
    "other.run": RUN.replace("0.9", "0.1"),
    "judgments.qrels": QRELS,
    "tabs.tsv": GOOD.replace(",", "\t"),
    "bad_empty.csv": "",
    "bad_blank.csv": "\n\n",
    "bad_header_only.csv": "label,score\n",
    "bad_no_header.csv": "1,0.9\n0,0.2\n",
    "bad_no_label.csv": "clicked,score\n1,2\n",
    "bad_two_labels.csv": "label,y_true,score\n1,1,2\n",
    "bad_no_score.csv": "label,model\n1,2\n",
    "bad_twice.csv": "label,score,score\n1,2,3\n",
    "bad_ragged.csv": GOOD + "1\n",
    "bad_long.csv": GOOD + "1,2,3\n",
    "bad_word.csv": GOOD + "1,n/a\n",
    "bad_comma.csv": GOOD + '1,"0,5"\n',
    "bad_missing.csv": GOOD + "1,\n",
    "bad_nan.csv": GOOD + "1,NaN\n",
    "bad_no_class.csv": GOOD + ",0.4\n",
    "bad_some_word.csv": GOOD + "x,0.4\n",
    "bad_words.csv": "label,score\nham,0.1\nspam,0.9\n",
    "bad_one_class.csv": "label,score\n1,0.9\n1,0.2\n",
    "bad_two_numbers.csv": "label,score\n1,0.9\n2,0.2\n",
    "bad_semicolons.csv": GOOD.replace(",", ";"),
    "bad_quote.csv": GOOD + '1,"0.9\n0,0.1\n',
    "bad.run": RUN + "q1\n",
    "bad.qrels": QRELS + "q1\n",
}
LIST = "list.csv --label clicked --score new old"
QUERIES = "queries.csv --label grade --score new old --qid query"
RUNS = "system.run other.run --qrels judgments.qrels"
COMMON = (
    "",
    "--format csv",
    "--format json",
    "--level 0.5",
    "--level 2",
    "--resamples 99",
    "--resamples 9",
    "--seed 3",
    "--seed x",
    "--groups user",
    "--groups nobody",
    "--measure",
    "--measure unknown",
    "--measure auc ndcg@5 ap(rel>=2) tau_b",
    "--convention sklearn",
    "--convention trec_eval",
    "--convention unknown",
    "--method unknown",
    "--method t",
    "--pos-label 1",
    "--pos-label 7",
    "--one-list",
    "--delimiter ;",
    "--output out.txt",
    "--output no/folder",
    "--nonsense",
    "--list-measures",
)
ONLY = {
    "evaluate": ("--method bootstrap", "--method bca", "--method wilson"),
    "compare": (
        "--baseline old",
        "--baseline nobody",
        "--margin 0.1",
        "--margin -1",
        "--margin 0.1 --alternative equivalent",
        "--alternative less",
        "--alternative unknown",
        "--method wilcoxon",
        "--method swap --resamples 99",
    ),
}


def command(line):
    """Run the program in a folder of files: what it writes, its exit code and its file."""
    for name, text in FILES.items():
        Path(name).write_text(text)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(line.split())
        except SystemExit as stopped:
            code = stopped.code
    file = Path("out.txt").read_text() if Path("out.txt").exists() else None
    return {"code": code, "out": out.getvalue(), "err": err.getvalue(), "file": file}


def command_cases():
    lines = [
        "",
        "--help",
        "--version",
        "unknown",
        "evaluate --help",
        "compare --help",
        "demo --help",
    ]
    lines += ["evaluate", "compare", "demo --seed x", "evaluate none.csv", "evaluate none.parquet"]
    for verb, options in ONLY.items():
        for data in (LIST, QUERIES, RUNS, "defaults.csv", "words.csv --pos-label yes"):
            lines += [f"{verb} {data} {option}".strip() for option in (*COMMON, *options)]
            lines += [f"{verb} {data} --measure {name}" for name in get_measure_names()]
        lines += [f"{verb} {name}" for name in FILES]
        lines += [f"{verb} bad.run --qrels judgments.qrels", f"{verb} system.run"]
        lines += [f"{verb} {RUNS} --complete", f"{verb} system.run --qrels bad.qrels"]
        lines += [f"{verb} list.csv --label nobody", f"{verb} list.csv --label clicked --score x"]
    for line in dict.fromkeys(lines):
        yield f"command {line}", partial(command, line)


def cases():
    """Names and calls."""
    for group in (plot_cases, command_cases):
        for name, call in group():
            yield f"shown {name}", call
