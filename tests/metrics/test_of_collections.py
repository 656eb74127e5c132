"""Measures of dask collections are those of the same rows in memory."""

import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank import metrics
from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import _of_collections, _ranges, get_measure
from sklearn_rank.metrics._ranges import Plan, ScoreTable, cut, merge_tied, refined, sample_of
from tests.catalogue import FUNCTIONS, METRICS
from tests.naming import for_each

pytestmark = pytest.mark.filterwarnings(f"ignore::{SmallTopWarning.__module__}.SmallTopWarning")

N = 72


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def few_rows(monkeypatch):
    """Tables of more than a few rows are cut into ranges, by samples that say little."""
    monkeypatch.setattr(_ranges, "ROWS_OF_RANGE", 8)
    monkeypatch.setattr(_ranges, "N_CELLS", 16)


# One of the measures whose chunks are read, and whose ranges are combined, in the same way.
KINDS = list(
    {
        (m.from_ranges, m.weights, m.kind, m.is_mean_over_ties, m.undefined): case
        for case in FUNCTIONS
        for m in [case.measure]
    }.values()
)


def rows_of(case, seed=0):
    rng = np.random.default_rng(seed)
    y_true = rng.choice(case.grades, N)
    return y_true, rng.integers(0, 30, N).astype(float)


def chunked(*arrays, chunks=20):
    return [da.from_array(array, chunks=chunks) for array in arrays]


def close(value):
    return pytest.approx(value, rel=1e-11, abs=1e-12, nan_ok=True)


# ------------------------------------------------------------------------------- all measures


@for_each("case", KINDS)
def test_one_list(case):
    y_true, y_score = rows_of(case)
    expected = case(y_true, y_score)
    lazy = chunked(y_true, y_score)
    assert case(*lazy) == close(expected)
    assert case(lazy[0], y_score.astype(np.float32)) == close(expected)
    np.testing.assert_allclose(case(*lazy, average=None), case(y_true, y_score, average=None))


@pytest.mark.usefixtures("few_rows")
@for_each("case", KINDS)
def test_one_list_in_ranges_of_scores(case):
    y_true, y_score = rows_of(case)
    assert case(*chunked(y_true, y_score)) == close(case(y_true, y_score))


@pytest.mark.parametrize("case", KINDS[::3], ids=str)
def test_a_sample_that_shows_nothing_costs_a_round_and_not_the_value(case, few_rows, monkeypatch):
    monkeypatch.setattr(_ranges, "_seem_open", lambda cells, *_: np.zeros(len(cells.mass), bool))
    y_true, y_score = rows_of(case)
    assert case(*chunked(y_true, y_score)) == close(case(y_true, y_score))


@pytest.mark.parametrize(
    ("n_edges", "kind", "dtype"),
    [(0, "grades", "f4"), (3, "classes", "f4"), (3, "grades", "f8"), (255, "classes", "f8")],
)
def test_cuts_are_those_row_by_row(kind, dtype, n_edges):
    rng = np.random.default_rng(n_edges)
    score = rng.standard_normal(40_000).astype(dtype)
    label = rng.random(40_000) < 0.3 if kind == "classes" else rng.integers(0, 5, 40_000) / 2
    weight = rng.uniform(1, 2, 40_000) if n_edges else None
    edges = np.sort(rng.choice(score, n_edges, replace=False)).astype(float)
    opened = rng.random(n_edges + 1) < (0.5 if n_edges != 3 else 2.0)
    tied, pieces = cut(ScoreTable.of_rows(score, label, weight), edges, opened)
    number, counts = np.searchsorted(edges, score, "right"), np.ones(40_000)
    counts = counts if weight is None else weight
    expected = {}
    for *row, count in zip(number.tolist(), label.tolist(), counts, strict=True):
        expected[tuple(row)] = expected.get(tuple(row), 0.0) + count
    rows = list(zip(tied.score.tolist(), tied.label.tolist(), strict=True))
    assert rows == sorted(expected)
    np.testing.assert_allclose(tied.weight, [expected[row] for row in rows], rtol=1e-12)
    assert len(pieces) == max(np.count_nonzero(opened), 1)
    for piece, which in zip(pieces, np.flatnonzero(opened), strict=False):
        np.testing.assert_array_equal(piece.score, score[number == which])
        np.testing.assert_array_equal(piece.counts, counts[number == which])


def test_only_ranges_that_count_are_opened():
    rng = np.random.default_rng(0)
    y_true = rng.random(20_000) < 0.1
    sample = sample_of(ScoreTable.of_rows(rng.standard_normal(20_000) + y_true, y_true))
    share = {}
    for name in (
        "precision@top0.05",
        "recall@200",
        "tpr@fpr0.1",
        "lift@0.2",
        "f1@50",
        "auc",
        "ap",
    ):
        plan = Plan.of([sample], get_measure(name))
        share[name] = plan.n_rows[plan.opened].sum() / plan.n_rows.sum()
    assert share.pop("auc") == share.pop("ap") == 1.0
    assert 0.0 < min(share.values()) <= max(share.values()) < 0.08


@pytest.mark.parametrize("kind", [type(c.measure) for c in FUNCTIONS], ids=lambda c: c.stem)
def test_the_value_follows_from_ranges(kind):
    """Where a measure says so: the same as in the tasks, of every setting."""
    for seed, case in enumerate(c for c in METRICS if type(c.measure) is kind):
        measure = case.measure
        if measure.from_ranges is None:
            continue
        y_true, y_score = rows_of(case, seed % 2)
        labels = y_true.astype(bool if measure.kind == "binary" else float)
        tables = [ScoreTable.of_rows(y_score[i::3], labels[i::3]) for i in range(3)]
        edges = Plan.of([sample_of(table) for table in tables]).edges[::5]
        cuts = [cut(table, edges, np.ones(len(edges) + 1, dtype=bool)) for table in tables]
        coarse = merge_tied([one for one, _ in cuts])
        tied = measure.values(coarse)[0]
        values = []
        for number, pieces in enumerate(zip(*(pieces for _, pieces in cuts), strict=True)):
            kept = [piece for piece in pieces if piece is not None]
            if kept:
                rows = ScoreTable.joined(kept)
                lists = refined(coarse, number, rows, joined=measure.is_mean_over_ties)
                values.append(measure.values(lists)[0])
        assert len(values) > 3
        together = max(values)
        if measure.from_ranges == "sum":
            together = tied + sum(value - tied for value in values)
        assert together == close(measure(y_true, y_score))


@pytest.mark.parametrize("case", [c for c in KINDS if c.weights != "none"], ids=str)
def test_weights(case, few_rows):
    y_true, y_score = rows_of(case)
    weight = np.random.default_rng(1).integers(0, 4, N).astype(float)
    weight[20:40] = 0  # a chunk of which no row counts
    expected = case(y_true, y_score, sample_weight=weight)
    lazy = chunked(y_true, y_score, weight)
    assert case(*lazy[:2], sample_weight=lazy[2]) == close(expected)
    assert case(*lazy[:2], sample_weight=weight) == close(expected)


@pytest.mark.parametrize("case", KINDS, ids=str)
def test_queries(case):
    y_true, y_score = rows_of(case)
    qid = np.repeat([f"q{i}" for i in range(18)], 4)
    lazy = chunked(y_true, y_score, qid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        expected = case(y_true, y_score, qid=qid)
        assert case(*lazy[:2], qid=lazy[2]) == close(expected)
        values, ids = case(y_true, y_score, qid=qid, average=None, return_qid=True)
        found, found_ids = case(*lazy[:2], qid=lazy[2], average=None, return_qid=True)
    np.testing.assert_allclose(found, values, rtol=1e-12)
    np.testing.assert_array_equal(found_ids, ids)


# -------------------------------------------------------------------------------- forms of data


FRAME = pd.DataFrame(
    {
        "label": np.tile([0, 1, 1, 0, 1, 0, 0, 1, 0], 8),
        "score": np.random.default_rng(1).integers(0, 30, N).astype(float),
        "query": np.repeat(np.arange(18), 4),
        "weight": np.random.default_rng(2).integers(1, 4, N).astype(float),
        "of_query": np.repeat(np.random.default_rng(3).uniform(1, 2, 18), 4),
    }
)
LAZY = dd.from_pandas(FRAME, npartitions=3)  # queries are whole


@pytest.mark.parametrize("name", ["auc", "ap", "precision@top0.2", "ndcg@3", "tau_b"])
def test_frames(name):
    measure = get_measure(name)
    assert measure(LAZY.label, LAZY.score) == close(measure(FRAME.label, FRAME.score))
    few = FRAME[FRAME.label + FRAME.score > 12]
    lazy = LAZY[LAZY.label + LAZY.score > 12]
    assert measure(lazy.label, lazy.score) == close(measure(few.label, few.score))
    expected = measure(FRAME.label, FRAME.score, qid=FRAME["query"], query_weight=FRAME.of_query)
    found = measure(LAZY.label, LAZY.score, qid=LAZY["query"], query_weight=LAZY.of_query)
    assert found == close(expected)
    shuffled = LAZY.shuffle("query")
    expected = measure(FRAME.label, FRAME.score, qid=FRAME["query"])
    assert measure(shuffled.label, shuffled.score, qid=shuffled["query"]) == close(expected)


LABELS = {
    "bool": lambda positive: positive,
    "signs": lambda positive: np.where(positive, 1, -1),
    "words": lambda positive: pd.Series(np.where(positive, "yes", "no")),
    "arrow": lambda positive: pd.Series(np.where(positive, "yes", "no"), dtype="string[pyarrow]"),
    "categories": lambda positive: pd.Series(np.where(positive, "yes", "no"), dtype="category"),
    "nullable": lambda positive: pd.Series(positive, dtype="Int64"),
}


@for_each("form", LABELS)
def test_types_of_labels(form):
    labels = LABELS[form](FRAME.label.to_numpy() == 1)
    words = form in ("words", "arrow", "categories")
    pos_label = "yes" if words else None
    if isinstance(labels, pd.Series):
        lazy = dd.from_pandas(FRAME.assign(label=labels), npartitions=3)
        y_true, y_score = lazy.label, lazy.score
    else:
        y_true, y_score = chunked(labels, FRAME.score.to_numpy())
    expected = metrics.roc_auc_score(FRAME.label, FRAME.score)
    assert metrics.roc_auc_score(y_true, y_score, pos_label=pos_label) == close(expected)


IDS = {
    "words": FRAME["query"].astype(str) + "x",
    "times": pd.Timestamp("2020-01-01") + pd.to_timedelta(FRAME["query"], unit="D"),
    "floats": FRAME["query"] / 2,
}


@pytest.mark.parametrize("form", IDS)
def test_types_of_ids(form):
    lazy = dd.from_pandas(FRAME.assign(query=IDS[form]), npartitions=3)
    values, ids = metrics.ndcg_score(
        lazy.label, lazy.score, qid=lazy["query"], average=None, return_qid=True, undefined=0.5
    )
    expected, of_memory = metrics.ndcg_score(
        FRAME.label, FRAME.score, qid=IDS[form], average=None, return_qid=True, undefined=0.5
    )
    np.testing.assert_allclose(values, expected)
    np.testing.assert_array_equal(ids, of_memory)


def _grades_by_row(y_true, y_score):
    return metrics.dcg_score(y_true, y_score, gain="linear", average=None, return_qid=True)


def test_lists_in_rows_of_two_dimensions():
    y_true = np.random.default_rng(0).integers(0, 3, (20, 5)).astype(float)
    y_true[3:7, 4] = np.nan
    lazy = [da.from_array(one, chunks=(6, 2)) for one in (y_true, y_true)]
    with pytest.raises(ValueError, match=r"^chunk \d: .* pass gain='linear' or gain='exp"):
        metrics.dcg_score(*lazy)
    y_score = np.random.default_rng(1).integers(0, 4, (20, 5))
    expected, ids = _grades_by_row(y_true, y_score)
    lazy = [da.from_array(one, chunks=(6, 2)) for one in (y_true, y_score)]
    found, found_ids = _grades_by_row(*lazy)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_array_equal(found_ids, ids)


def test_a_scale_that_ends_with_the_highest_grade():
    y_true = np.concatenate([np.zeros(20), np.ones(20), np.full(32, 2.0)])
    y_score = FRAME.score.to_numpy()
    qid = FRAME["query"].to_numpy()
    lazy = chunked(y_true, y_score, qid)
    for name in ("err", "rbp@0.7"):
        measure = get_measure(name)
        expected = measure(y_true, y_score, qid=qid)
        assert measure(*lazy[:2], qid=lazy[2]) == close(expected)
        assert measure(*lazy[:2]) == close(measure(y_true, y_score))


def test_relevant_items_elsewhere():
    measure = get_measure("ap@3", normalize="positives")
    number = dict.fromkeys(range(18), 6)
    expected = measure(FRAME.label, FRAME.score, qid=FRAME["query"], n_relevant=number)
    lazy = LAZY
    found = measure(lazy.label, lazy.score, qid=lazy["query"], n_relevant=number)
    assert found == close(expected)
    by_row = dd.from_pandas(FRAME.assign(n=6), npartitions=3)
    found = measure(by_row.label, by_row.score, qid=by_row["query"], n_relevant=by_row.n)
    assert found == close(expected)
    with pytest.raises(ValueError, match=r"n_relevant of one list .* y_true\.compute\(\)"):
        measure(lazy.label, lazy.score, n_relevant=40)


def test_one_id_for_all_rows():
    y_true, y_score = chunked(FRAME.label.to_numpy(), FRAME.score.to_numpy())
    expected = metrics.ndcg_score(FRAME.label, FRAME.score)
    assert metrics.ndcg_score(y_true, y_score, qid=7) == close(expected)
    values, ids = metrics.ndcg_score(y_true, y_score, qid=7, average=None, return_qid=True)
    assert (values.tolist(), ids.tolist()) == ([close(expected)], [7])


# ------------------------------------------------------------------------- errors and warnings


def test_what_is_undefined():
    y_true, y_score = chunked(np.zeros(N, dtype=int), FRAME.score.to_numpy())
    with pytest.warns(UndefinedMetricWarning, match=r"for the list \(items of one class"):
        assert np.isnan(metrics.roc_auc_score(y_true, y_score))
    with pytest.raises(ValueError, match="undefined"):
        metrics.roc_auc_score(y_true, y_score, undefined="raise")
    labels = np.repeat([0, 1, 0], 24) * FRAME.label.to_numpy()
    lazy = dd.from_pandas(FRAME.assign(label=labels), npartitions=3)
    with pytest.warns(UndefinedMetricWarning, match="12 of 18 lists"):
        metrics.recall_at_k_score(lazy.label, lazy.score, k=2, qid=lazy["query"])


def test_ranges_of_what_is_undefined(few_rows):
    y_true, y_score = chunked(np.zeros(N, dtype=int), FRAME.score.to_numpy())
    with pytest.warns(UndefinedMetricWarning, match=r"for the list \(items of one class"):
        assert np.isnan(metrics.roc_auc_score(y_true, y_score))
    with pytest.warns(UndefinedMetricWarning):
        assert metrics.kolmogorov_smirnov_score(y_true, y_score, undefined=0.25) == 0.25


def test_warnings_come_from_the_chunks():
    measure = get_measure("precision@top0.1")
    with pytest.warns(SmallTopWarning, match=r"^chunk 0: The top 0\.1 .*So it is in 2 other"):
        measure(LAZY.label, LAZY.score, qid=LAZY["query"])


def test_errors_name_the_chunk():
    score = FRAME.score.to_numpy().copy()
    score[64] = np.nan
    y_true, y_score = chunked(FRAME.label.to_numpy(), score)
    with pytest.raises(ValueError, match=r"^chunk 3: y_score is NaN at row 4"):
        metrics.roc_auc_score(y_true, y_score)
    weight = da.from_array(np.where(np.arange(N) == 64, 0.5, 1.5), chunks=20)
    sorted_scores = chunked(FRAME.label.to_numpy(), FRAME.score.to_numpy())
    with pytest.raises(ValueError, match=r"^chunk 3: sample_weight is 0\.5 in row 4"):
        metrics.ndcg_score(*sorted_scores, sample_weight=weight)
    with pytest.raises(ValueError, match=r"^chunk 3: y_score is NaN at row 4"):
        metrics.ndcg_score(y_true, y_score, qid=da.arange(N, chunks=20))
    labels = FRAME.label.to_numpy().copy()
    labels[60:] = np.where(labels[60:], 1, -1)
    y_true, y_score = chunked(labels, FRAME.score.to_numpy())
    with pytest.raises(ValueError, match=r"^chunk 3: y_true has the label -1, but chunk 0 has 0"):
        metrics.roc_auc_score(y_true, y_score)
    labels[70] = 5
    with pytest.raises(ValueError, match=r"^chunk 3: y_true has 3 classes"):
        metrics.roc_auc_score(*chunked(labels, FRAME.score.to_numpy()))


def test_queries_must_be_whole():
    y_true, y_score, qid = chunked(
        FRAME.label.to_numpy(), FRAME.score.to_numpy(), FRAME["query"].to_numpy(), chunks=(25, 47)
    )
    with pytest.raises(ValueError, match=r"Query 6 has rows in chunks 0 and 1, .* rechunk"):
        metrics.ndcg_score(y_true, y_score, qid=qid)
    lazy = dd.from_pandas(FRAME.sample(frac=1, random_state=0), npartitions=3, sort=False)
    with pytest.raises(ValueError, match=r"has rows in chunks .* df = df\.shuffle\('query'\)"):
        metrics.ndcg_score(lazy.label, lazy.score, qid=lazy["query"])


def test_nothing_to_evaluate():
    none = LAZY[LAZY.label > 7]
    with pytest.raises(ValueError, match="y_true is empty: pass at least one item"):
        metrics.roc_auc_score(none.label, none.score)
    with pytest.raises(ValueError, match="No row has positive sample_weight"):
        metrics.roc_auc_score(LAZY.label, LAZY.score, sample_weight=LAZY.weight * 0)


def test_what_needs_all_rows_refuses_collections(monkeypatch):
    y_true, y_score = chunked(FRAME.label.to_numpy(), FRAME.score.to_numpy())
    with pytest.raises(TypeError, match=r"y_true is a dask collection.* pass y_true\.compute\(\)"):
        get_measure("auc").influence(y_true, y_score)
    with pytest.raises(TypeError, match=r"y_score\.compute\(\)"):
        metrics.rank_positions(y_score)
    with pytest.raises(TypeError, match=r"y_true\.compute\(\)"):
        get_measure("auc").lists(y_true[:, None], y_score)
    with pytest.raises(ValueError, match=r"order of tied rows.* y_true\.compute\(\)"):
        metrics.average_precision_score(y_true, y_score, convention="trec_eval")
    monkeypatch.setattr(_of_collections, "MAX_TABLE_ROWS", 10)
    monkeypatch.setattr(_ranges, "ROWS_OF_RANGE", 5)
    with pytest.raises(ValueError, match=r"needs all \d+ distinct rows in memory"):
        metrics.tau_b_score(y_true, y_score)
    with pytest.raises(ValueError, match="return_qid=True needs qid"):
        metrics.ndcg_score(y_true, y_score, average=None, return_qid=True)
    with pytest.raises(ValueError, match="query_weight weights queries"):
        metrics.ndcg_score(y_true, y_score, query_weight=da.ones_like(y_score))


def test_grades_of_many_values_are_merged(few_rows):
    """Ranges would be as long as the list, which has a label of its own in each row."""
    y_true = np.random.default_rng(0).permutation(N).astype(float)
    y_score = FRAME.score.to_numpy()
    expected = metrics.dcg_score(y_true, y_score, gain="linear")
    assert metrics.dcg_score(*chunked(y_true, y_score), gain="linear") == close(expected)


def test_mapped_files_are_read_where_they_are(tmp_path):
    """In memory, a file that is mapped is not copied: scores and labels are views of it."""
    np.save(tmp_path / "score.npy", FRAME.score.to_numpy())
    mapped = np.load(tmp_path / "score.npy", mmap_mode="r")
    lists = get_measure("auc").lists(FRAME.label.to_numpy(), mapped)
    assert np.shares_memory(lists.score, mapped)
    y_true, y_score = da.from_array(FRAME.label.to_numpy(), chunks=20), da.from_array(mapped, 20)
    expected = metrics.roc_auc_score(FRAME.label, FRAME.score)
    assert metrics.roc_auc_score(y_true, y_score) == close(expected)
