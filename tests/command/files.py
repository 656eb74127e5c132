"""Files that the commands read, with what is in them."""

import csv

import numpy as np

LABEL, NEW, OLD = "clicked", "new", "old"


def one_list(n_rows=120, seed=0):
    """Labels of two classes, scores of two rankers, and users of five rows each."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.3).astype(int)
    new = np.round(y + rng.normal(size=n_rows), 3)
    old = np.round(new + rng.normal(size=n_rows), 3)
    return {LABEL: y, NEW: new, OLD: old, "user": np.arange(n_rows) // 5}


def queries(n_queries=20, n_items=8, seed=0):
    """Grades, of which three queries have only 0, and scores of two rankers."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), n_items)
    grade = rng.integers(0, 3, size=len(qid)) * (qid >= 3)
    new = np.round(grade + rng.normal(size=len(qid)), 3)
    old = np.round(new + rng.normal(size=len(qid)), 3)
    names = np.array([f"q{i}" for i in qid])
    return {"query": names, "grade": grade, NEW: new, OLD: old, "user": qid // 4}


def write_csv(path, columns, delimiter=","):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return str(path)


# q1: d is relevant and was not retrieved, c is not judged; q2 has nothing relevant; q3 has no
# document in the runs; q4 is not judged. In system.run b and c are tied.
RUN = """\
q1 Q0 a 1 0.9 me
q1 Q0 b 2 0.5 me
q1 Q0 c 3 0.5 me
q2 Q0 a 1 0.4 me
q2 Q0 b 2 0.3 me
q4 Q0 a 1 0.4 me
q5 Q0 f 1 0.7 me
q5 Q0 g 2 0.6 me
"""
OTHER = """\
q1 Q0 a 3 0.1 me
q1 Q0 b 1 0.5 me
q1 Q0 c 2 0.5 me
q2 Q0 a 1 0.4 me
q2 Q0 b 2 0.3 me
q4 Q0 a 1 0.4 me
q5 Q0 f 2 0.2 me
q5 Q0 g 1 0.6 me
"""
QRELS = """\
q1 0 a 0
q1 0 b 1
q1 0 d 2
q2 0 a 0
q3 0 f 1
q5 0 f 0
q5 0 g 2
"""


def write_trec(directory):
    for name, text in (("system.run", RUN), ("other.run", OTHER), ("judgments.qrels", QRELS)):
        (directory / name).write_text(text, encoding="utf-8")
