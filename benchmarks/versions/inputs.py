"""What the cases are run on, drawn once from fixed seeds or read where the files are there."""

import gzip
from functools import lru_cache

import numpy as np
from measuring import data_directory

N_ROWS, N_QUERIES = 1_000_000, 10_000


@lru_cache(maxsize=2)
def one_list(n, ties=False):
    """Labels, one in ten positive, and scores, rounded to one decimal where they are to tie."""
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(np.int64)
    y[:2] = 0, 1
    score = rng.normal(size=n) + y
    return y, score.round(1) if ties else score


@lru_cache(maxsize=2)
def queries(ids="sorted", n_queries=N_QUERIES, n_rows=N_ROWS):
    """Grades 0 to 4, scores and ids of ragged lists.

    Ids are integers in order ("sorted") or shuffled ("shuffled"), or text in order ("strings").
    """
    rng = np.random.default_rng(1)
    share = rng.integers(1, 200, n_queries)
    lengths = 1 + rng.multinomial(n_rows - n_queries, share / share.sum())
    qid = np.repeat(np.arange(n_queries), lengths)
    grade = rng.choice(5, size=n_rows, p=[0.5, 0.25, 0.12, 0.08, 0.05])
    score = rng.normal(size=n_rows) + 0.3 * grade
    if ids == "shuffled":
        order = rng.permutation(n_rows)
        return grade[order], score[order], qid[order]
    if ids == "strings":
        return grade, score, np.char.add("q", np.char.zfill(qid.astype(str), 5))
    return grade, score, qid


@lru_cache(maxsize=4)
def systems(n_queries=1000, length=50, count=5):
    """Grades, ids and the scores of several systems, each a little better than the last."""
    rng = np.random.default_rng(2)
    n = n_queries * length
    grade = rng.choice(5, size=n, p=[0.5, 0.25, 0.12, 0.08, 0.05])
    shared = rng.normal(size=n)
    scores = {
        f"system {i}": shared + rng.normal(size=n) + (0.3 + 0.02 * i) * grade for i in range(count)
    }
    return grade, np.repeat(np.arange(n_queries), length), scores


@lru_cache(maxsize=4)
def classes(name, n, d):
    """Rows, standardised, and labels 0 and 1 of a stored set; else simulated ones of its shape."""
    rng = np.random.default_rng(3)
    path = data_directory() / f"{name}.csv.gz"
    if path.is_file():
        with gzip.open(path, "rt") as lines:
            table = np.genfromtxt(lines, delimiter=",", skip_header=1)
        X, y = table[:, :-1], (table[:, -1] == 1).astype(int)
        chosen = np.sort(rng.permutation(len(y))[:n])
        X, y = X[chosen], y[chosen]
    else:
        X = rng.normal(size=(n, d))
        y = (X[:, : d // 2] @ rng.normal(size=d // 2) / np.sqrt(d) + rng.normal(size=n) > 1) * 1
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1), y


@lru_cache(maxsize=2)
def graded(n=100_000, d=20, n_queries=1000):
    """Rows, grades 0 to 4 and ids of ragged lists."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, d))
    hidden = X[:, : d // 2].sum(axis=1) / np.sqrt(d // 2) + rng.normal(size=n)
    y = np.digitize(hidden, [0.7, 1.5, 2.2, 3.0])
    qid = np.sort(rng.integers(0, n_queries, n))
    return X, y, qid


@lru_cache(maxsize=1)
def mq2008(load_letor):
    """One part of MQ2008, or simulated rows of its shape."""
    path = data_directory() / "mq2008_S1.svm.gz"
    if not path.is_file():
        return graded(2933, 46, 157)
    X, y, qid = load_letor([path], return_X_y=True, n_features=46, zero_based=False)
    return X, y, np.asarray(qid)
