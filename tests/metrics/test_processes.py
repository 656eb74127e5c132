"""Measures of dask collections on processes, some of which fail."""

import os
import re
import signal
import time
from contextlib import nullcontext
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_rank.metrics import (
    _ranges,
    average_precision_score,
    get_scorer,
    ndcg_score,
    roc_auc_score,
)

pytestmark = pytest.mark.slow

N, CHUNK = 40_000, 4_000
RNG = np.random.default_rng(0)
SCORE = np.round(RNG.normal(size=N), 3)
LABEL = (SCORE + RNG.normal(size=N) > 1).astype(int)
LABEL[::20], LABEL[1::20] = 1, 0  # in each query
QID = np.repeat(np.arange(N // 20), 20)
Y, S, Q = (da.from_array(one, chunks=CHUNK) for one in (LABEL, SCORE, QID))


@pytest.fixture
def in_ranges(monkeypatch):
    monkeypatch.setattr(_ranges, "ROWS_OF_RANGE", 5000)


def test_measures(client, in_ranges):
    for measure in (roc_auc_score, average_precision_score):
        assert measure(Y, S) == pytest.approx(measure(LABEL, SCORE), rel=1e-11)
    expected = ndcg_score(LABEL, SCORE, qid=QID)
    assert ndcg_score(Y, S, qid=Q) == pytest.approx(expected, rel=1e-12)
    model = LogisticRegression().fit(SCORE[:100, None], LABEL[:100])
    found = get_scorer("auc")(model, S[:, None], Y)
    assert found == pytest.approx(roc_auc_score(LABEL, SCORE), rel=1e-11)


def _killed_once(block, marker=None, block_info=None):
    """Kill the process that computes the chunk 7, the first time."""
    time.sleep(0.02)
    if block_info[0]["chunk-location"] == (7,) and not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_a_process_that_is_killed_costs_time_and_not_the_answer(client, in_ranges, tmp_path):
    marker = tmp_path / "killed"
    score = S.map_blocks(_killed_once, marker=str(marker), dtype=float)
    assert ndcg_score(Y, score) == pytest.approx(ndcg_score(LABEL, SCORE), rel=1e-11)
    assert marker.exists()


def _broken(block, how=None, block_info=None):
    if block_info[0]["chunk-location"] != (7,):
        return block
    if how == "read":
        raise OSError("checksum of part.7 does not match")
    block = block.copy()
    block[5] = np.nan if how == "nan" else 7
    return block


def test_what_is_wrong_is_said_of_its_chunk(client):
    broken = {how: S.map_blocks(_broken, how=how, dtype=float) for how in ("nan", "read")}
    with pytest.raises(ValueError, match=r"^chunk 7: y_score is NaN at row 5"):
        roc_auc_score(Y, broken["nan"])
    with pytest.raises(RuntimeError, match=r"^chunk 7 cannot be computed: OSError: checksum"):
        roc_auc_score(Y, broken["read"])
    with pytest.raises(ValueError, match=r"^chunk 7: y_true has 3 classes"):
        roc_auc_score(Y.map_blocks(_broken, how="label", dtype=int), S)


def test_the_page_of_scale(cluster, monkeypatch, capsys):
    """What it shows runs as it stands, on the processes that are there."""
    page = Path(__file__).parents[2] / "docs" / "user_guide" / "scale.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    (block,) = [block for block in blocks if "with (\n        LocalCluster(" in block]
    monkeypatch.setattr("dask.distributed.LocalCluster", lambda **options: nullcontext(cluster))
    exec(compile(block, "scale.md", "exec"), {"__name__": "__main__"})
    area, precision = map(float, capsys.readouterr().out.split())
    assert (area, precision) == pytest.approx((0.865, 0.42), abs=0.25)
