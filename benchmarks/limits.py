"""How far are the main calls from what their data cost to touch? One table, from one command.

    python benchmarks/limits.py [--only auc fit] [--write]
    python benchmarks/limits.py --before v0.1.0     # a revision or a folder

Each call stands beside the operation that it cannot do without: ``np.sort`` of the scores for a
measure of ranks, a pass over the scores for a measure of the top, ``X @ w`` and its transpose for
a linear fit, the products of all pairs of rows for accuracy at the top, the fits and the scores
for a back-test; and beside the fastest other package that does the same. CPU seconds, one thread,
the calls in turns, best of several.

``--before`` times the calls of another version too: fresh processes of both in turns, so that
other load slows both. It ends with 1 if a call takes more than 1.15 times as long.
"""

import argparse
import gzip
import sys
import time
import warnings
from functools import partial

import numpy as np
from measuring import (
    REPOSITORY,
    data_directory,
    describe_machine,
    format_table,
    run_worker,
    serve,
    store_results,
    tree_of,
)

COLUMNS = [
    ("call", "call", ""),
    ("data", "data", ""),
    ("ms", "ms", ".1f"),
    ("touching", "operation", ""),
    ("ratio", "times it", ".1f"),
    ("peer", "peer", ""),
    ("peer_ratio", "peer, times ours", ".1f"),
]
VERSIONS = [
    ("call", "call", ""),
    ("data", "data", ""),
    ("before", "ms before", ".2f"),
    ("after", "ms after", ".2f"),
    ("ratio", "after / before", ".2f"),
]
SLOWER = 1.15  # other load makes less of a difference


def one_list(n):
    """Labels, one in ten positive, and scores."""
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(np.int64)
    return y, rng.normal(size=n) + y


def queries(n_queries=10_000, n_rows=1_000_000):
    """Grades 0 to 4, scores and ids of ragged lists."""
    rng = np.random.default_rng(1)
    share = rng.integers(1, 200, n_queries)
    lengths = 1 + rng.multinomial(n_rows - n_queries, share / share.sum())
    grade = rng.choice(5, size=n_rows, p=[0.5, 0.25, 0.12, 0.08, 0.05])
    score = rng.normal(size=n_rows) + 0.3 * grade
    return grade, score, np.repeat(np.arange(n_queries), lengths)


def users_of_twenty(n_queries=1_000_000):
    """Grades 0 to 3, scores and ids of lists of 20."""
    rng = np.random.default_rng(5)
    grade = rng.integers(0, 4, 20 * n_queries)
    return grade, rng.normal(size=len(grade)) + 0.3 * grade, np.repeat(np.arange(n_queries), 20)


def classes(name, n):
    """Rows, standardised, and labels 0 and 1 of a stored set."""
    with gzip.open(data_directory() / f"{name}.csv.gz", "rt") as lines:
        table = np.genfromtxt(lines, delimiter=",", skip_header=1)
    table = table[np.sort(np.random.default_rng(3).permutation(len(table))[:n])]
    X = table[:, :-1]
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1), 1 * (table[:, -1] == 1)


def graded(n=100_000, d=20):
    """Rows, grades 0 to 4 and ids of ragged lists."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, d))
    hidden = X[:, : d // 2].sum(axis=1) / np.sqrt(d // 2) + rng.normal(size=n)
    y = np.digitize(hidden, [0.7, 1.5, 2.2, 3.0])
    return X, y, np.sort(rng.integers(0, 1000, n))


def measures():
    """Measures of a million scores."""
    from scipy.stats import kendalltau
    from sklearn import metrics as peers

    from sklearn_rank import inference, metrics

    y, scores = one_list(1_000_000)
    other = scores + np.random.default_rng(1).normal(size=len(y))
    probabilities = 1 / (1 + np.exp(-scores))
    grades, ranked, qid = queries()
    sort = ("np.sort of the scores", partial(np.sort, scores))
    touch = ("np.partition of the scores", partial(np.partition, scores, len(y) // 2))
    auc = partial(peers.roc_auc_score, y, scores)
    yield "roc_auc_score", partial(metrics.roc_auc_score, y, scores), sort, ("scikit-learn", auc)
    ap = partial(peers.average_precision_score, y, scores)
    call = partial(metrics.average_precision_score, y, scores)
    yield "average_precision_score", call, sort, ("scikit-learn", ap)
    yield (
        "precision_at_top_score",
        partial(metrics.precision_at_top_score, y, scores, tau=0.01),
        touch,
        None,
    )
    yield "bedroc_score", partial(metrics.bedroc_score, y, scores), sort, None
    tau = partial(kendalltau, scores, other)
    yield "tau_b_score", partial(metrics.tau_b_score, scores, other), sort, ("SciPy", tau)
    yield (
        "ndcg_score, 10,000 queries",
        partial(metrics.ndcg_score, grades, ranked, qid=qid, k=10),
        ("np.sort of the scores", partial(np.sort, ranked)),
        None,
    )
    grades, scores_of_users, users = users_of_twenty()
    found, at_ten = (
        partial(inference.metric_interval, measure, labels, scores_of_users, qid=users)
        for measure, labels in (("recall@10", 1 * (grades > 1)), ("ndcg@10", grades))
    )
    name = "metric_interval of ndcg@10, 1,000,000 queries"
    yield name, at_ten, ("metric_interval of recall@10", found), None
    for measure in ("auc", "ap", "precision@100"):
        call = partial(inference.metric_interval, measure, y, scores)
        yield f"metric_interval of {measure}", call, sort, None
    call = partial(inference.compare, "auc", y, {"a": scores, "b": other})
    yield "compare of auc", call, sort, None
    for name, at in (("recall@k", scores), ("net_benefit", probabilities)):
        call = partial(inference.curve, name, y, at, random_state=0)
        yield f"curve of {name}", call, sort, None
    yield "Accumulator of auc", partial(accumulated, metrics, y, scores), sort, None
    yield "roc_auc_score of dask arrays", partial(on_dask, metrics, y, scores), sort, None


def accumulated(metrics, y, scores):
    accumulator = metrics.Accumulator("auc")
    for part in range(10):
        accumulator.update(y[part::10], scores[part::10])
    return accumulator.result()


def on_dask(metrics, y, scores):
    import dask
    import dask.array

    chunks = (dask.array.from_array(values, chunks=len(y) // 10) for values in (y, scores))
    with dask.config.set(scheduler="synchronous"):
        return metrics.roc_auc_score(*chunks)


def fits():
    """Fits with their usual parameters."""
    from sklearn.linear_model import LogisticRegression

    import sklearn_rank as package

    X, y = wide = rows_and_classes(100_000, 50)
    once = ("a pass over X", partial(one_pass, X))
    logistic = ("LogisticRegression, another loss", partial(LogisticRegression().fit, *wide))
    for name, ranker in {
        "TopPushRanker": package.TopPushRanker(),
        "TopPushRanker(tau=0.1)": package.TopPushRanker(tau=0.1),
        "PNormPushRanker": package.PNormPushRanker(),
    }.items():
        yield f"{name}.fit", partial(ranker.fit, X, y), once, logistic
    X, y, qid = graded()
    once = ("a pass over X", partial(one_pass, X))
    for loss in ("pairwise_logistic", "softmax"):
        ranker = package.OrderPreservingRanker(loss)
        call = partial(ranker.fit, X, y, qid=qid)
        yield f"OrderPreservingRanker({loss!r}).fit", call, once, None
    for name, n in (("pima_diabetes", 512), ("spambase", 1000)):
        X, y = classes(name, n)
        pairs = ("X @ X.T", partial(np.matmul, X, X.T))
        ranker = package.AccuracyAtTopRanker(0.05, C=0.01, selection="closest")
        if name == "spambase":
            peer = ("liblinear at each row", partial(by_liblinear, X, y, ranker.C))
        else:
            general = package.AccuracyAtTopRanker(**ranker.get_params() | {"solver": "cvxpy"})
            peer = ("Clarabel at each row", partial(general.fit, X, y))
        yield f"AccuracyAtTopRanker.fit, {name}", partial(ranker.fit, X, y), pairs, peer


def by_liblinear(X, y, C):
    """Solve the problem of accuracy at the top at each row, a linear SVM of ``X - row``."""
    from sklearn.svm import LinearSVC

    cost = C * len(y) / (2 * np.bincount(y)[y])
    options = {"loss": "hinge", "C": 1.0, "fit_intercept": False, "max_iter": 1_000_000}
    for row in X:
        LinearSVC(**options, random_state=0).fit(X - row, y, sample_weight=cost)


def rows_and_classes(n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X[:, :5].sum(axis=1) + 2 * rng.normal(size=n) > 4).astype(int)


def one_pass(X):
    return X.T @ (X @ np.ones(X.shape[1]))


def back_tests():
    """Two models, 60 days of 200,000 rows, trained anew each week or day, with all tables."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    from sklearn_rank.model_selection import PeriodSplit, back_test

    X, y = rows_and_classes(200_000, 10)
    rng, day = np.random.default_rng(2), np.timedelta64(86_400_000_000, "us")
    entered = np.datetime64("2024-01-01") + rng.uniform(0, 60, len(y)) * day
    resolved = np.where(y, entered + rng.uniform(0, 14, len(y)) * day, np.datetime64("NaT"))
    linear = {"a": LogisticRegression(), "b": LogisticRegression(C=1e-3)}
    trees = {"a": LogisticRegression(), "b": HistGradientBoostingClassifier(random_state=0)}
    for name, models, period in (
        ("linear models, each week", linear, 7),
        ("linear models, each day", linear, 1),
        ("a linear model and trees, each week", trees, 7),
    ):
        cv = PeriodSplit(period, horizon=14, as_of="2024-03-01")
        call = partial(back_test, models, X, y, cv=cv, measure="precision@40", random_state=0)
        call = partial(call, entered=entered, resolved=resolved)
        splits = list(cv.split(X, groups=entered))
        by_hand = partial(fitted_and_scored, models.values(), X, y, splits)
        yield f"back_test of {name}", call, ("fits and scores", by_hand), None


def fitted_and_scored(models, X, y, splits):
    for train, test in splits:
        for model in models:
            model.fit(X[train], y[train]).decision_function(X[test])


def small_calls():
    """A hundred rows: what a call costs whatever its rows."""
    from sklearn_rank import inference, metrics

    y, scores = one_list(100)
    sort = ("np.sort of the scores", partial(np.sort, scores))
    many = partial(repeated, 100)
    for name in ("roc_auc_score", "bedroc_score", "average_precision_score"):
        call = partial(getattr(metrics, name), y, scores)
        yield f"{name}, 100 times", partial(many, call, y), sort, None
    call = partial(inference.metric_interval, "auc", y, scores)
    yield "metric_interval of auc, 100 times", partial(many, call, y), sort, None


def repeated(times, call, y):
    for _ in range(times):
        call()


KINDS = {"measures": measures, "fits": fits, "back tests": back_tests, "small": small_calls}


def work(request):
    """Time the calls of one kind whose names contain one of some texts."""
    warnings.simplefilter("ignore")
    for name, call, (touching, touch), peer in KINDS[request["kind"]]():
        if request["only"] and not any(text in name for text in request["only"]):
            continue
        peer = peer if request["peers"] else None
        calls = {"ms": call, "touch": touch} | ({"peer": peer[1]} if peer else {})
        best = in_turns(calls, budget=request["budget"])
        yield {
            "call": name,
            "data": shape_of(call),
            "ms": 1e3 * best["ms"],
            "touching": touching,
            "ratio": best["ms"] / best["touch"],
            "peer": peer[0] if peer else "",
            "peer_ratio": best["peer"] / best["ms"] if peer else float("nan"),
        }


def in_turns(calls, *, budget):
    """Least CPU seconds of each call; three rounds, or as many as the budget allows."""
    best, spent, rounds = dict.fromkeys(calls, np.inf), 0.0, 0
    for call in calls.values():
        call()
    while rounds < 3 or (spent < budget and rounds < 20):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
            spent += time.process_time() - start
        rounds += 1
    return best


def shape_of(call):
    """Rows, and columns, of the first array that a call gets."""
    array = next(part for part in call.args if hasattr(part, "shape"))
    return " x ".join(f"{size:,}" for size in array.shape)


def compare(options):
    """Times of both versions: before, after, after, before."""
    rows = {}
    with tree_of(options.before) as before:
        for name in ("before", "after", "after", "before"):
            for kind in KINDS:
                request = {"kind": kind, "only": options.only, "peers": False}
                request["budget"] = options.budget / 4
                tree = str(before if name == "before" else REPOSITORY)
                reports, problem = run_worker(__file__, request, PYTHONPATH=tree)
                if problem:
                    print(f"{name}, {kind}: {problem}")
                for report in reports:
                    row = rows.setdefault(report["call"], {"call": report["call"]})
                    row["data"] = report["data"]
                    row[name] = min(row.get(name, np.inf), report["ms"])
    rows = [row for row in rows.values() if {"before", "after"} <= row.keys()]
    for row in rows:
        row["ratio"] = row["after"] / row["before"]
    print(format_table(rows, VERSIONS))
    slower = [row["call"] for row in rows if row["ratio"] > SLOWER]
    sys.exit(f"slower: {', '.join(slower)}" if slower else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="calls with a text in the name")
    parser.add_argument("--budget", type=float, default=5, help="seconds for a call")
    parser.add_argument("--before", help="revision or folder of another version")
    parser.add_argument("--write", action="store_true", help="store the table in results/")
    options = parser.parse_args()
    print(describe_machine("dask"))
    if options.before:
        compare(options)
    rows = []
    for kind in KINDS:
        request = {"kind": kind, "only": options.only, "budget": options.budget, "peers": True}
        reports, problem = run_worker(__file__, request)
        rows += reports
        if problem:
            print(f"{kind}: {problem}")
    print(format_table(rows, COLUMNS))
    if options.write:
        store_results("limits", rows, describe_machine("dask"))


if __name__ == "__main__" and not serve(work):
    main()
