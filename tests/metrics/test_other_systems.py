"""Numbers of CatBoost, RDKit, pROC, gdeval and ranx, and the weights of lists of the boosters."""

import json
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.metrics import (
    average_precision_score,
    dcg_score,
    expected_reciprocal_rank_score,
    get_measure,
    ndcg_score,
    partial_auc_score,
    precision_at_k_score,
    recall_at_k_score,
    reciprocal_rank_score,
)
from tests.golden import other_systems, ranking_systems

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{UndefinedMetricWarning.__module__}.{UndefinedMetricWarning.__name__}"
)

FOLDER = Path(__file__).parent.parent / "golden"
GOLDEN = json.loads((FOLDER / "other_systems.json").read_text(encoding="utf-8"))
CLOSE = {"rel": 1e-13, "abs": 1e-15}

# ------------------------------------------------------------------------------------- CatBoost

CATBOOST = {
    "NDCG": ndcg_score,
    "DCG": dcg_score,
    "MAP": average_precision_score,
    "MRR": reciprocal_rank_score,
    "PrecisionAt": precision_at_k_score,
    "RecallAt": recall_at_k_score,
}


def as_catboost(name, grade, score, sizes, weight=None):
    stem, _, rest = name.partition(":")
    options = dict(part.split("=") for part in rest.split(";") if part)
    parameters = {}
    if "top" in options:
        parameters["k"] = int(options["top"])
    if options.get("type") == "Exp":
        parameters["gain"] = "exponential"
    if "border" in options:
        # Relevant is what is above it.
        parameters["rel"] = float(np.nextafter(float(options["border"]), 9.0))
    qid = np.repeat(np.arange(len(sizes)), sizes)
    if weight is not None:
        parameters["query_weight"] = np.repeat(weight, sizes)
    return CATBOOST[stem](grade, score, qid=qid, convention="catboost", **parameters)


def test_what_catboost_gave():
    data = [np.array(GOLDEN[name]) for name in ("grade", "score", "sizes")]
    assert len(GOLDEN["catboost"]) > 40
    for name, value in GOLDEN["catboost"].items():
        assert as_catboost(name, *data) == pytest.approx(value, **CLOSE), name
    weight = np.array(GOLDEN["weight"])
    assert len(GOLDEN["catboost_weighted"]) > 20
    for name, value in GOLDEN["catboost_weighted"].items():
        assert as_catboost(name, *data, weight) == pytest.approx(value, **CLOSE), name


def test_catboost_itself():
    pytest.importorskip("catboost")
    grade, score, sizes, weight = other_systems.draw(1)
    for given in (None, weight):
        theirs = other_systems.catboost_values(grade, score, sizes, given)
        for name, value in theirs.items():
            assert as_catboost(name, grade, score, sizes, given) == pytest.approx(value, **CLOSE)


# ---------------------------------------------------------------------------------------- RDKit


def as_rdkit(name, active, score):
    stem, _, number = name.partition(" ")
    stem = {"EF": "enrichment", "BEDROC": "bedroc", "RIE": "rie"}[stem]
    return get_measure(f"{stem}@{number}", convention="rdkit")(active, score)


def test_what_rdkit_gave():
    assert len(GOLDEN["rdkit"]) == 5
    for case in GOLDEN["rdkit"]:
        for name, value in case["values"].items():
            found = as_rdkit(name, case["active"], case["score"])
            assert found == pytest.approx(value, rel=1e-11, abs=1e-15), name


def test_rdkit_itself():
    pytest.importorskip("rdkit")
    for seed in (5, 6):
        active, score = other_systems.screen(seed)
        for name, value in other_systems.rdkit_values(active, score).items():
            assert as_rdkit(name, active, score) == pytest.approx(value, rel=1e-11), name


def test_rdkit_rounds_the_share_up_in_floating_point():
    active, score = np.arange(100) < 8, -np.arange(100)
    # 0.07 * 100 is a little more than 7.
    factor = get_measure("enrichment@0.07")
    assert factor(active, score) == pytest.approx(100 / 8)
    last = np.arange(100) == 7
    assert factor(last, score) == 0.0
    found = get_measure(factor, convention="rdkit")(last, score)
    assert found == pytest.approx(100 / 8)


# ----------------------------------------------------------------------------------------- pROC


def test_what_proc_gave():
    cases = json.loads((FOLDER / "pROC.json").read_text(encoding="utf-8"))["cases"]
    for case in cases:
        for scale, name in (("raw", "partial"), ("mcclish", "mcclish")):
            found = partial_auc_score(
                case["y"], case["a"], max_fpr=0.3, scale=scale, convention="proc"
            )
            assert found == pytest.approx(case[name], rel=1e-13)
    tied = cases[1]
    mean = partial_auc_score(tied["y"], tied["a"], max_fpr=0.3)
    assert abs(mean - tied["partial"]) > 1e-4


def test_scikit_learn_joins_ties_by_lines_too():
    rng = np.random.default_rng(0)
    for _ in range(50):
        y_true = np.r_[0, 1, rng.integers(0, 2, 20)]
        y_score = rng.integers(0, 5, 22)
        for max_fpr in (0.1, 0.5, 0.77):
            found = partial_auc_score(
                y_true, y_score, max_fpr=max_fpr, scale="mcclish", convention="proc"
            )
            theirs = sklearn.metrics.roc_auc_score(y_true, y_score, max_fpr=max_fpr)
            assert found == pytest.approx(theirs, rel=1e-12, abs=1e-14)


def area_under_lines(y_true, y_score, max_fpr, min_tpr):
    """The area of the part, line by line of the curve, by many points of each."""
    fpr, tpr, _ = sklearn.metrics.roc_curve(y_true, y_score, drop_intermediate=False)
    area = 0.0
    for i in range(len(fpr) - 1):
        if fpr[i] < min(fpr[i + 1], max_fpr):
            at = np.linspace(fpr[i], min(fpr[i + 1], max_fpr), 20_001)
            height = np.interp(at, fpr[i : i + 2], tpr[i : i + 2])
            area += np.trapezoid(np.maximum(height - min_tpr, 0.0), at)
    return area


def test_lines_of_both_limits():
    rng = np.random.default_rng(3)
    for _ in range(5):
        y_true, y_score = np.r_[0, 1, rng.integers(0, 2, 15)], rng.integers(0, 4, 17)
        found = partial_auc_score(y_true, y_score, max_fpr=0.6, min_tpr=0.35, convention="proc")
        expected = area_under_lines(y_true, y_score, 0.6, 0.35)
        assert found == pytest.approx(expected, abs=1e-6)


def test_proc_has_no_value_of_one_class():
    with pytest.raises(ValueError, match="items of one class only"):
        partial_auc_score([1, 1], [1, 2], convention="proc")


# ------------------------------------------------------------------------------ gdeval and ranx


def by_query(measure, y_true, y_score, **given):
    values, ids = measure(y_true, y_score, **given, average=None, return_qid=True)
    return {q: v for q, v in zip(ids.tolist(), values.tolist(), strict=True) if v == v}


def test_what_gdeval_gave():
    run, qrels, theirs = (GOLDEN["gdeval"][name] for name in ("run", "qrels", "values"))
    assert len(theirs["ndcg@5"]) == 9
    for name, expected in theirs.items():
        found = by_query(get_measure(name, convention="gdeval"), qrels, run)
        # Five digits are printed; queries without a relevant document are not.
        assert found == pytest.approx(expected, abs=5.1e-6), name


def test_gdeval_leaves_out_lists_without_relevance():
    run = {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}, "3": {"a": 1.0}}
    qrels = {"1": {"a": 4, "b": 1}, "2": {"b": 1}, "3": {"a": 0}}
    found = by_query(get_measure("err", convention="gdeval"), qrels, run)
    assert found == pytest.approx({"1": 15 / 16 + 1 / 16 / 16 / 2, "2": 0.0})
    # The scale has its end, whatever grades occur.
    for message, given in (("max_grade", {"max_grade": 3}), ("undefined", {"undefined": 0.0})):
        with pytest.raises(ValueError, match=f"{message}.*conflicts with convention='gdeval'"):
            expected_reciprocal_rank_score([1, 0], [2, 1], convention="gdeval", **given)
    with pytest.raises(ValueError, match="above max_grade=4"):
        expected_reciprocal_rank_score([5, 0], [2, 1], convention="gdeval")


RANX = {
    "map": "ap",
    "ndcg": "ndcg",
    "ndcg_burges": "ndcg",
    "mrr": "rr",
    "precision": "precision",
    "recall": "recall",
    "hit_rate": "success",
    "r-precision": "r_precision",
    "f1": "f1",
}


def test_what_ranx_gave():
    run, qrels, theirs = (GOLDEN["ranx"][name] for name in ("run", "qrels", "values"))
    checked = 0
    for name, expected in theirs.items():
        bare, _, level = name.partition("-l")
        stem, _, k = bare.partition("@")
        if stem not in RANX:
            continue
        parameters = {"gain": "exponential"} if stem == "ndcg_burges" else {}
        if level:
            parameters["rel"] = int(level)
        ours = RANX[stem] + (f"@{k}" if k else "")
        measure = get_measure(ours, convention="ranx", **parameters)
        found = dict.fromkeys(expected, 0.0) | by_query(measure, qrels, run)
        assert found == pytest.approx(expected, **CLOSE), name
        checked += 1
    assert checked > 30


# ------------------------------------------------------- weights of lists in XGBoost and LightGBM


def test_weights_of_lists_as_the_boosters_have_them():
    # Their NDCG adds 1 for a list without relevance, whatever its weight; their MAP does not.
    y_true, y_score = [1, 0, 0, 0], [1.0, 2.0, 2.0, 1.0]
    weight, qid = [3.0, 3.0, 1.5, 1.5], [0, 0, 1, 1]
    for convention in ("lightgbm", "xgboost"):
        found = ndcg_score(y_true, y_score, qid=qid, query_weight=weight, convention=convention)
        assert found == pytest.approx((3 / np.log2(3) + 1) / 4.5)
        found = average_precision_score(
            y_true, y_score, qid=qid, query_weight=weight, convention=convention
        )
        assert found == pytest.approx((3 / 2 + 1.5) / 4.5)


@pytest.mark.parametrize("system", ["xgboost", "lightgbm"])
def test_weights_of_lists_in_the_boosters_themselves(system):
    pytest.importorskip(system)
    for seed in (3, 4):
        grade, score, sizes, weight = other_systems.draw(seed)
        theirs = getattr(ranking_systems, f"{system}_values")(grade, score, sizes, weight)
        qid, by_row = np.repeat(np.arange(len(sizes)), sizes), np.repeat(weight, sizes)
        for name, value in theirs.items():
            stem, _, k = name.partition("@")
            function = {
                "ndcg": ndcg_score,
                "map": average_precision_score,
                "pre": precision_at_k_score,
            }[stem]
            y_true = grade >= 1 if system == "xgboost" and stem != "ndcg" else grade
            found = function(
                y_true,
                score,
                qid=qid,
                query_weight=by_row,
                convention=system,
                **({"k": int(k)} if k else {}),
            )
            assert found == pytest.approx(value, rel=1e-13), name


def test_a_mean_above_one_is_refused_where_the_system_refuses_it():
    y_true, y_score, qid = [1, 0, 0, 0], [2.0, 1.0, 2.0, 1.0], [0, 0, 1, 1]
    weight = [1.0, 1.0, 0.25, 0.25]
    given = {"qid": qid, "query_weight": weight}
    assert ndcg_score(y_true, y_score, **given, convention="lightgbm") == pytest.approx(2 / 1.25)
    with pytest.raises(ValueError, match=r"is 1\.6, which xgboost does not allow"):
        ndcg_score(y_true, y_score, **given, convention="xgboost")
    # Of weight 0 a list counts 1 too.
    given["query_weight"] = [4.0, 4.0, 0.0, 0.0]
    assert ndcg_score(y_true, y_score, **given, convention="lightgbm") == pytest.approx(5 / 4)


def test_catboost_weighs_no_lists_in_some_means():
    for name in ("ap", "precision@1", "recall@1"):
        with pytest.raises(
            ValueError, match="query_weight weights lists, which catboost does not"
        ):
            get_measure(name, convention="catboost")(
                [1, 0], [2, 1], qid=[0, 0], query_weight=[1, 1]
            )
