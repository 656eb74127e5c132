"""DeLong's interval and paired test, and partial areas, beside the R package pROC."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.inference._evidence import check_lists, influences_of
from sklearn_rank.inference._joint import joint_influence
from sklearn_rank.metrics import get_measure, partial_auc_score, roc_auc_score

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "pROC.json").read_text())
every_case = pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])


@every_case
def test_delongs_interval(case):
    if case["auc"] == 1:
        # Theirs is [1, 1], with a warning.
        with pytest.raises(ValueError, match="would have no width"):
            metric_interval("auc", case["y"], case["a"], method="delong")
        assert metric_interval("auc", case["y"], case["a"]).low < 0.9
        return
    found = metric_interval("auc", case["y"], case["a"], method="delong")
    assert found.estimate == pytest.approx(case["auc"], rel=1e-13)
    assert found.low == pytest.approx(case["low"], rel=1e-12)
    assert found.high == pytest.approx(case["high"], rel=1e-12)
    assert found.standard_error**2 == pytest.approx(case["variance"], rel=1e-11)


@every_case
def test_the_paired_test(case):
    found = compare("auc", case["y"], {"a": case["a"], "b": case["b"]})
    assert found.estimate == pytest.approx(case["auc"] - case["auc_b"], rel=1e-12)
    auc, scores = get_measure("auc"), [case["a"], case["b"]]
    joint = joint_influence(influences_of(check_lists(auc, case["y"], scores))[0])
    contrast = np.array([1.0, -1.0])
    statistic = abs(found.estimate) / np.sqrt(contrast @ joint.covariance @ contrast)
    assert statistic == pytest.approx(abs(case["paired_z"]), rel=1e-11)
    # pROC takes the normal distribution and counts pairs twice; this package takes Student's, with
    # what a sample may lack.
    assert 2 * norm.sf(statistic) == pytest.approx(case["paired_p"], rel=1e-10)
    assert 0.99 * statistic < abs(found.statistic) <= 1.04 * statistic
    assert found.pvalue >= case["paired_p"]
    assert roc_auc_score(case["y"], case["b"]) == pytest.approx(case["auc_b"], rel=1e-13)


@every_case
def test_partial_areas(case):
    # Specificity from 1 to 0.7 is a false positive rate up to 0.3.
    raw = metric_interval(
        get_measure(partial_auc_score, max_fpr=0.3, scale="raw"), case["y"], case["a"]
    ).estimate
    scaled = metric_interval(
        get_measure(partial_auc_score, max_fpr=0.3, scale="mcclish"), case["y"], case["a"]
    ).estimate
    if case["name"] == "tied":
        # A cut inside a tied block: theirs joins the corners of the block, ours is the mean over
        # all orders of its items.
        assert 0 < raw - case["partial"] < 1e-3
        return
    assert raw == pytest.approx(case["partial"], rel=1e-12)
    assert scaled == pytest.approx(case["mcclish"], rel=1e-12)
