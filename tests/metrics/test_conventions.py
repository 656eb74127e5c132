"""The numbers of other systems: their packages, what they gave once, and what was published."""

import csv
import gzip
import json
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics
from sklearn.datasets import load_svmlight_file

from sklearn_rank.metrics import (
    average_precision_score,
    bedroc_score,
    dcg_score,
    ndcg_score,
    precision_at_k_score,
    recall_at_k_score,
    reciprocal_rank_score,
)
from tests.golden import ranking_systems
from tests.naming import for_each
from tests.oracles import conventions as oracle

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("SKLEARN_RANK_DATA", ROOT.parent / "shared" / "data"))
GOLDEN = json.loads((ROOT / "tests/golden/ranking_systems.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

# How each name of a system reads here.
FUNCTIONS = {
    "ndcg": ndcg_score,
    "ndcg_cut": ndcg_score,
    "map": average_precision_score,
    "map_cut": average_precision_score,
    "pre": precision_at_k_score,
    "P": precision_at_k_score,
    "recall": recall_at_k_score,
    "recip_rank": reciprocal_rank_score,
}


def value_of(name, convention, grade, score, sizes):
    stem, _, k = name.replace("@", "_").rpartition("_")
    if k.isdigit():
        parameters = {"k": int(k)}
    else:
        stem, parameters = name, {}
    # XGBoost itself wants two classes; the others find them.
    two = convention == "xgboost" and stem in ("map", "pre")
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y_true = np.asarray(grade) >= 1 if two else grade
    return FUNCTIONS[stem](y_true, score, qid=qid, convention=convention, **parameters)


def by_document_name(score, sizes):
    """The order of trec_eval, as positions: by score in 32 bits, then by name, the last first."""
    score = np.asarray(score).astype(np.float32)
    position = np.empty(len(score))
    start = 0
    for size in sizes:
        rows = np.arange(start, start + size)
        order = rows[np.lexsort((rows, score[rows]))][::-1]
        position[order] = np.arange(size)
        start += size
    return position


@pytest.mark.parametrize("system", ["xgboost", "lightgbm", "trec_eval"])
def test_what_the_systems_gave(system):
    grade, score, sizes = GOLDEN["grade"], GOLDEN["score"], GOLDEN["sizes"]
    assert len(GOLDEN[system]) > 7
    if system == "trec_eval":
        score = -by_document_name(score, sizes)
    for name, value in GOLDEN[system].items():
        found = value_of(name, system, grade, score, sizes)
        assert found == pytest.approx(value, rel=1e-13), name


@pytest.mark.parametrize("system", ["xgboost", "lightgbm", "trec_eval"])
def test_the_systems_themselves(system):
    pytest.importorskip("pytrec_eval" if system == "trec_eval" else system)
    for seed in (1, 2):
        grade, score, sizes = ranking_systems.draw(seed, n_queries=25)
        given = -by_document_name(score, sizes) if system == "trec_eval" else score
        theirs = getattr(ranking_systems, f"{system}_values")(grade, score, sizes)
        for name, value in theirs.items():
            assert value_of(name, system, grade, given, sizes) == pytest.approx(value, rel=1e-13)


@pytest.fixture(scope="module")
def ohsumed():
    """Features, grades and queries of the five test sets, and the published values."""
    published = FOLDER / "ohsumed_letor2_single_features.csv"
    parts = [FOLDER / f"ohsumed_S{i}.svm.gz" for i in range(1, 6)]
    if not all(file.exists() for file in (published, *parts)):
        pytest.skip("LETOR 2.0's OHSUMED is not in the folder that SKLEARN_RANK_DATA names")
    loaded = []
    for part in parts:
        with gzip.open(part) as stream:
            loaded.append(
                load_svmlight_file(stream, n_features=25, query_id=True, zero_based=False)
            )
    X = np.vstack([X.toarray() for X, _, _ in loaded])
    y, qid = (np.concatenate(columns) for columns in list(zip(*loaded, strict=True))[1:])
    with published.open(encoding="utf-8") as stream:
        rows = [
            (int(r["feature"]), r["metric"], float(r["value"])) for r in csv.DictReader(stream)
        ]
    return X, y, qid, rows


def test_the_published_single_features_of_letor(ohsumed):
    X, y, qid, rows = ohsumed
    assert len(rows) == 525
    worst = 0.0
    names = {"NDCG": ndcg_score, "P": precision_at_k_score, "MAP": average_precision_score}
    for feature, name, value in rows[::4]:  # Some of each of the 25 features and 21 measures
        stem, _, k = name.partition("@")
        parameters = {"k": int(k)} if k else {}
        found = names[stem](y, X[:, feature - 1], qid=qid, convention="letor", **parameters)
        worst = max(worst, abs(found - value))
    assert worst < 1e-14


def test_the_published_values_need_each_rule(ohsumed):
    # The mean over the orders of ties, or another discount, gives other numbers.
    X, y, qid, rows = ohsumed
    worst = defaultdict(float)
    for feature, name, value in rows:
        if name == "NDCG@5":
            score = X[:, feature - 1]
            for convention in ("paper", "lightgbm", "sklearn"):
                found = ndcg_score(y, score, k=5, qid=qid, convention=convention)
                worst[convention] = max(worst[convention], abs(found - value))
    assert min(worst.values()) > 1e-3


# ------------------------------------------------------------------------------- by definitions


def lists(seed, n_lists=60, levels=4):
    rng = np.random.default_rng(seed)
    for i in range(n_lists):
        n = int(rng.integers(1, 9))
        y_true = rng.integers(0, 4, n) if i % 6 else np.zeros(n, dtype=int)
        yield y_true.tolist(), rng.integers(0, levels, n).tolist()


def test_letor_in_the_order_of_the_rows():
    for k in (1, 2, 5, 20):
        for y_true, y_score in lists(0):
            labels = oracle.from_the_top(y_true, y_score)
            for function, expected in (
                (ndcg_score, oracle.ndcg(labels, k)),
                (precision_at_k_score, oracle.precision(labels, k)),
            ):
                found = function(y_true, y_score, k=k, convention="letor")
                assert found == pytest.approx(expected, rel=1e-13)
            found = average_precision_score(y_true, y_score, convention="letor")
            assert found == pytest.approx(oracle.average_precision(labels))


def test_scikit_learn_under_ties():
    for y_true, y_score in lists(3):
        two = [int(grade >= 1) for grade in y_true]
        found = average_precision_score(two, y_score, convention="sklearn")
        assert found == pytest.approx(oracle.average_precision_at_block_ends(two, y_score))
        if any(two):
            theirs = sklearn.metrics.average_precision_score(two, y_score)
            assert found == pytest.approx(theirs, rel=1e-13)
        if len(y_true) > 1:
            for k in (None, 2):
                for ours, theirs in (
                    (ndcg_score, sklearn.metrics.ndcg_score),
                    (dcg_score, sklearn.metrics.dcg_score),
                ):
                    found = ours([y_true], [y_score], k=k, convention="sklearn")
                    assert found == pytest.approx(theirs([y_true], [y_score], k=k), rel=1e-13)


def test_the_papers_leave_empty_lists_undefined():
    # Equal to the defaults but for lists without a value.
    for y_true, y_score in lists(4):
        two = [int(grade >= 1) for grade in y_true]
        calls = [
            (ndcg_score, y_true, {"k": 3}),
            (dcg_score, y_true, {}),
            (average_precision_score, two, {}),
            (precision_at_k_score, two, {"k": 3}),
            (recall_at_k_score, two, {"k": 3}),
        ]
        for function, given, parameters in calls:
            found = function(given, y_score, convention="paper", **parameters)
            expected = function(given, y_score, undefined="skip", **parameters)
            assert found == pytest.approx(expected, nan_ok=True)


# -------------------------------------------------------------------------------- what is refused


def test_an_explicit_parameter_that_conflicts_is_refused():
    y_true, y_score = [1, 0, 1], [3.0, 2.0, 1.0]
    cases = [
        (ndcg_score, {"gain": "linear", "convention": "lightgbm"}, "gain='linear'"),
        (ndcg_score, {"gain": np.sqrt, "convention": "lightgbm"}, "gain="),
        (ndcg_score, {"gain": "exponential", "convention": "sklearn"}, "gain="),
        (ndcg_score, {"undefined": "skip", "convention": "xgboost"}, "undefined='skip'"),
        # The default, but said.
        (ndcg_score, {"undefined": 0.0, "convention": "xgboost"}, r"undefined=0\.0"),
        (ndcg_score, {"log_base": 10.0, "convention": "letor"}, "log_base"),
        (ndcg_score, {"sample_weight": [1, 2, 1], "convention": "letor"}, "sample_weight"),
        (dcg_score, {"gain": "exponential", "convention": "sklearn"}, "gain="),
        (
            average_precision_score,
            {"normalize": "positives", "k": 1, "convention": "lightgbm"},
            "normalize",
        ),
        (
            average_precision_score,
            {"normalize": "reachable", "k": 1, "convention": "trec_eval"},
            "normalize",
        ),
        (average_precision_score, {"k": 1, "convention": "sklearn"}, "k=1"),
        (average_precision_score, {"k": 1, "convention": "letor"}, "k=1"),
        (reciprocal_rank_score, {"k": 1, "convention": "trec_eval"}, "k=1"),
        (recall_at_k_score, {"k": 1, "undefined": "skip", "convention": "trec_eval"}, "undefined"),
    ]
    for function, parameters, message in cases:
        with pytest.raises(ValueError, match=f"{message}.*leave"):
            function(y_true, y_score, **parameters)


def test_an_explicit_parameter_that_agrees_is_taken():
    y_true, y_score = [0, 0, 0], [3.0, 2.0, 1.0]
    assert ndcg_score(y_true, y_score, undefined=1, convention="xgboost") == 1.0
    assert ndcg_score(y_true, y_score, undefined=0.0, convention="letor") == 0.0
    assert ndcg_score([1, 0], [1, 0], gain="linear", convention="sklearn") == 1.0


@for_each(
    ("function", "parameters", "convention"),
    [
        (precision_at_k_score, {"k": 1}, "sklearn"),
        (recall_at_k_score, {"k": 1}, "lightgbm"),
        (reciprocal_rank_score, {}, "xgboost"),
        (dcg_score, {}, "trec_eval"),
        (ndcg_score, {}, "rankeval"),
        (bedroc_score, {}, "proc"),
        (ndcg_score, {}, 3),
        (average_precision_score, {}, ["letor"]),
    ],
)
def test_a_system_without_the_measure_is_refused(function, parameters, convention):
    with pytest.raises(ValueError, match="is not available for"):
        function([1, 0], [1, 0], convention=convention, **parameters)


def test_trec_eval_refuses_ties_that_matter():
    y_true, y_score, qid = [1, 1, 0, 1, 0], [2.0, 2.0, 1.0, 3.0, 3.0], ["a", "a", "a", "b", "b"]
    with pytest.raises(ValueError, match="qid 'b' has items of different relevance tied"):
        ndcg_score(y_true, y_score, qid=qid, convention="trec_eval")
    # Tied items of one relevance are in no order that matters.
    assert ndcg_score([1, 1, 0], y_score[:3], convention="trec_eval") == 1.0
    # In 32 bits these are equal.
    with pytest.raises(ValueError, match=r"at the score 0\.5 in 32 bits"):
        average_precision_score([1, 0], [0.5 + 1e-10, 0.5], convention="trec_eval")
    assert average_precision_score([1, 0], [0.5 + 1e-6, 0.5], convention="trec_eval") == 1.0


def test_xgboost_has_32_bits_and_lightgbm_64():
    y_true, y_score = [0, 1], [0.5, 0.5 + 1e-10]
    assert average_precision_score(y_true, y_score, convention="lightgbm") == 1.0
    assert average_precision_score(y_true, y_score, convention="xgboost") == 0.5


def test_rows_of_mixed_queries_keep_their_order():
    rng = np.random.default_rng(5)
    qid = rng.integers(0, 9, 80)
    y_true, y_score = rng.integers(0, 3, 80), rng.integers(0, 3, 80)
    found = ndcg_score(y_true, y_score, qid=qid, average=None, convention="lightgbm")
    expected = [
        ndcg_score(y_true[qid == q], y_score[qid == q], convention="lightgbm") for q in range(9)
    ]
    assert found == pytest.approx(expected, rel=1e-14)
    # Labels of two classes by name are no grades.
    named = np.where(y_true > 0, "good", "bad")
    assert precision_at_k_score(
        named, y_score, k=2, qid=qid, pos_label="good", convention="letor"
    ) == precision_at_k_score(y_true, y_score, k=2, qid=qid, convention="letor")
