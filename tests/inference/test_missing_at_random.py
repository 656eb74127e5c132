"""Labels missing at random given features, with estimated probabilities."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from sklearn_rank.inference import LabelDesign, metric_interval
from sklearn_rank.inference._evidence import check_lists
from sklearn_rank.metrics import get_measure
from tests.oracles import verification_bias as oracle

# What the definitions of auc.ci.mar and sen.ci.mar(p=0.8) of rocvb 0.1.0 give in R 4.2.2 for the
# examples of its README and its manual: FI, MSI, IPW, SPE.
AUC = {
    "readme": (0.646952726648, 0.630822961761, 0.633135323069, 0.629291226699),
    "manual": (0.895877673305, 0.885169879472, 0.873793993722, 0.872413833905),
}
SENSITIVITY = {
    "readme": (0.360683735255, 0.233975504377, 0.178924238488, 0.204138502093),
    "manual": (0.822501681302, 0.777847112359, 0.628202349521, 0.741419385961),
}


@pytest.mark.parametrize("example", ["readme", "manual"])
def test_the_values_of_rocvb_are_those_at_pseudo_labels(example):
    test, covariate, label = oracle.example(example)
    of_label, of_known = oracle.predictions(test, covariate, label)
    known = ~np.isnan(label)

    def at(measure, labels):
        [evidence] = check_lists(get_measure(measure), known, [test])
        return evidence.label_function.at(labels)[0]

    weights = oracle.weights(label, of_label, of_known)
    expected = zip(AUC[example], SENSITIVITY[example], strict=True)
    for (name, (y, negative)), (area, share) in zip(weights.items(), expected, strict=True):
        assert oracle.auc(y, negative, test) == pytest.approx(area, abs=1e-6)
        sensitivity, k = oracle.sensitivity(y, negative, test, 0.8)
        assert sensitivity == pytest.approx(share, abs=1e-6)
        assert at(f"recall@{k}", y) == pytest.approx(share, abs=1e-6)
        if name == "IPW":
            columns = label[known], test[known]
            found = metric_interval(
                "auc", *columns, sample_weight=1 / of_known[known], weights="sampling"
            ).estimate
        else:
            # rocvb counts a row with itself as in order, this package as a tie.
            found = at("auc", y) + y @ negative / (2 * y.sum() * negative.sum())
        assert found == pytest.approx(area, abs=1e-6)
    # The score interval solves the equation of the last, the doubly robust estimator.
    design = LabelDesign(inclusion_probability=of_known, proxy=of_label)
    score = metric_interval("auc", label, test, design=design)
    assert score.estimate == pytest.approx(area, abs=0.2 * score.standard_error)


def sample(rng, n=1500):
    """Features of which the first matters, scores, and for each row the chance to be positive."""
    features, score = rng.normal(size=(n, 2)), rng.normal(size=n)
    of_label = expit(1.3 * score + 1.5 * features[:, 0] - 2.0)
    known = rng.random(n) < expit(0.8 * score + 1.5 * features[:, 0] - 1.0)
    return features, score, of_label, (rng.random(n) < of_label).astype(float), known


def estimated(*columns):
    return LabelDesign(
        inclusion_probability=LogisticRegression(), features=np.column_stack(columns)
    )


@pytest.mark.slow
def test_intervals_cover_if_probabilities_or_the_proxy_are_right():
    rng = np.random.default_rng(0)
    covered = {"probabilities": 0, "proxy": 0, "neither": 0}
    for _ in range(40):
        features, score, of_label, y, known = sample(rng)
        labels, truth = np.where(known, y, np.nan), get_measure("recall@100")(y, score)
        right, wrong = estimated(score, features), estimated(features[:, 1])
        designs = {"probabilities": right, "proxy": wrong, "neither": wrong}
        for which, design in designs.items():
            design = replace(design, proxy=of_label if which == "proxy" else None)
            found = metric_interval("recall@100", labels, score, design=design, conditional=True)
            covered[which] += truth in found
    # Intervals of level .95 fall below 33 of 40 with probability .0007.
    assert min(covered["probabilities"], covered["proxy"]) >= 33, covered
    assert covered["neither"] <= 20, covered


def test_the_result_says_what_it_assumes_and_repeats():
    features, score, _, y, known = sample(np.random.default_rng(1))
    labels = np.where(known, y, np.nan)
    classifier = LogisticRegression()
    design = LabelDesign(inclusion_probability=classifier, features=features)
    found = metric_interval("auc", labels, score, design=design)
    assert "the rest missing at random" in found.target
    assert found == metric_interval("auc", labels, score, design=design)
    assert not hasattr(classifier, "coef_")
    weight = design.sample_weight(labels)
    assert weight.sum() == pytest.approx(len(y), rel=0.1)
    assert ((weight > 0) == known).all()


FEATURES = np.arange(200.0)[:, np.newaxis]


@pytest.mark.parametrize(
    ("n_known", "classifier", "features", "message"),
    [
        (100, LogisticRegression(), FEATURES[:9], "features has 9 rows for 200 labels"),
        (4, LogisticRegression(), FEATURES, "4 rows have a label, too few"),
        (197, LogisticRegression(), FEATURES, "3 rows lack a label, too few"),
        (
            100,
            KNeighborsClassifier(1),
            FEATURES % 7,
            "100 rows with labels stand for .* but there are",
        ),
    ],
)
def test_probabilities_that_cannot_be_estimated_are_refused(
    n_known, classifier, features, message
):
    labels = np.where(
        np.random.default_rng(0).permutation(200) < n_known, np.arange(200) % 2, np.nan
    )
    design = LabelDesign(inclusion_probability=classifier, features=features)
    with pytest.raises(ValueError, match=message):
        metric_interval("auc", labels, FEATURES[:, 0], design=design)


def test_rows_that_nobody_labels_leave_wide_limits():
    y, score = np.arange(200) % 2, FEATURES[:, 0]
    labels = np.where(np.arange(200) < 100, y, np.nan)
    assert metric_interval("auc", labels, score, design=estimated(score)).width > 0.6


@pytest.mark.parametrize(
    "arguments",
    [
        {"inclusion_probability": LogisticRegression()},
        {"inclusion_probability": np.full(3, 0.5), "features": FEATURES[:3]},
    ],
)
def test_a_classifier_and_features_belong_together(arguments):
    with pytest.raises(TypeError, match="pass such a classifier and features, or an array alone"):
        LabelDesign(**arguments)
