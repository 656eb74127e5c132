"""Plans of labels, certificates of recall, and weights for fits, on the lists of labels_in_part.

    python benchmarks/studies/labels_to_buy.py plans           # three minutes
    python benchmarks/studies/labels_to_buy.py certificates    # a minute
    python benchmarks/studies/labels_to_buy.py fits            # a minute
    python benchmarks/studies/labels_to_buy.py proxies         # half an hour

`plans`: the champion's first 5 % are reviewed. Half as many rows as the challenger's first 2 %
leave open are chosen by plan_labels, or three and ten times as many at random. Mean width and
coverage of the 95 % limits of the challenger's precision, 100 samples.

`certificates`: the challenger's first 10 or 30 % are reviewed, and the others labelled in random
order until recall is shown; 2,000 orders. How often recall was not reached, and the mean number of
labels over the smallest number that, fixed in advance, shows it at one look in 8 of 10 cases.

`fits`: rows are those of four tables. A logistic regression of 400 rows and a third of the
features is the champion; its first tenth and a tenth of the others at random have labels. What the
weights of the design change in the AUC and the precision of the top 2 % on other rows, six splits.
Then the score of a search of GridSearchCV for the precision of the top 5 %, with weights in fits
and scores or in fits alone, minus that on other rows. Last how often the limit of BoundSearchCV
fails there, with rows kept with probability weight / max(weight), and with all that have labels.

`proxies`: two logistic regressions of 500 rows and a fifth of the columns rank up to 4,500 others
(MSLR: relevant is a grade of 2 and more). Proxies of the missing labels: `model`, boosted trees of
as many of the other columns as bring the AUC next to .8, fitted on other rows (10 folds);
`reader 0.8` and `0.95`, a normal variable that knows the class with this AUC and nothing of the
scores; `noise`, a uniform variable. Labels are drawn as in labels_in_part, or at random from all
rows. Mean width of the 95 % limits over that without a proxy, and coverage; 100 samples. What is
possible: the same ratio of the deviation that the labels leave, when their probabilities are known
as scores and proxy give them (a regression of splines on the labels of the other folds).
"""

import argparse
import warnings

import numpy as np
from labels_in_part import (
    POPULATIONS,
    PartialLabels,
    data_directory,
    drawn,
    get_measure,
    load_svmlight_file,
    replace,
    score_path_of,
    seeded,
    table,
)
from scipy.special import expit, logit
from scipy.stats import hypergeom, norm, rankdata
from sklearn import config_context
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from threadpoolctl import threadpool_limits

from sklearn_rank import PNormPushRanker
from sklearn_rank._promises._recall_certificate import stopping_boundary
from sklearn_rank.inference import LabelDesign, plan_labels
from sklearn_rank.metrics import get_scorer, precision_at_top_score
from sklearn_rank.model_selection import BoundSearchCV


def plans(population):
    y, champion, challenger = POPULATIONS[population]()
    n = len(y)
    k = max(int(0.02 * n), 10)
    y_true = np.full(n, np.nan)
    reviewed = np.argsort(-champion, kind="stable")[: int(0.05 * n)]
    y_true[reviewed] = y[reviewed]
    rest = np.flatnonzero(np.isnan(y_true))
    measure = get_measure(f"precision@{k}")
    evidence = measure.evidence(measure.lists(y, challenger))
    n_open = np.isnan(y_true[np.argsort(-challenger, kind="stable")[:k]]).sum()
    for planned, budget in (
        (True, max(n_open // 2, 3)),
        *((False, factor * max(n_open // 2, 3)) for factor in (3, 10)),
    ):
        budget = min(budget, len(rest))
        widths, covered = [], []
        for i in range(100):
            if planned:
                plan = plan_labels(
                    measure, challenger, budget=budget, y_true=y_true, random_state=i
                )
                rows, probability = plan.chosen, plan.inclusion_probability
            else:
                rows = np.random.default_rng(i).choice(rest, budget, replace=False)
                probability = np.ones(n)
                probability[rest] = budget / len(rest)
            known = ~np.isnan(y_true)
            known[rows] = True
            in_part = replace(evidence, partial=PartialLabels(known, probability))
            low, high = score_path_of([in_part]).limits(0.95)
            widths.append(high - low)
            covered.append(low - 1e-6 <= evidence.value <= high + 1e-6)
        how = "planned" if planned else "uniform"
        print(
            f"{population:16s} {how} {budget:5d} labels: width {np.mean(widths):.3f},"
            f" coverage {np.mean(covered):.2f}",
            flush=True,
        )


def certificates(population):
    y, _, challenger = POPULATIONS[population]()
    order = np.argsort(-challenger, kind="stable")
    for share in (0.1, 0.3):
        n_review = int(share * len(y))
        found = int(y[order[:n_review]].sum())
        n_rest, n_pos = len(y) - n_review, int(y.sum()) - found
        for recall in (0.8, 0.95):
            walk_to_certificate(f"{population}, first {share:.0%}", n_rest, n_pos, found, recall)


def walk_to_certificate(title, n_rest, n_pos, found, recall, n_orders=2000):
    rng = np.random.default_rng(0)
    x = np.arange(n_pos + 1)
    most = np.floor((found + x) / recall * (1 + 1e-12) - found)
    certain = np.maximum(n_rest - (most - x), 0)
    boundary = np.full(n_pos + 1, float(n_rest))
    exact = stopping_boundary(n_rest, found, recall, 0.05)[: n_pos + 1]
    boundary[: len(exact)] = exact
    boundary = np.minimum(boundary, certain)
    n_labels, n_wrong = [], 0
    for _ in range(n_orders):
        places = np.sort(rng.choice(n_rest, n_pos, replace=False)) + 1
        # Before the next positive comes, the boundary of the ones found is reached.
        at = int(np.argmax(np.append(places, n_rest + 1) > boundary))
        n_labels.append(max(boundary[at], np.append(0, places)[at]))
        n_wrong += found + at < recall * (found + n_pos) - 1e-9

    def power(n):
        shown = hypergeom.cdf(x, n_rest, np.minimum(most + 1, n_rest), n) <= 0.05
        return hypergeom.pmf(x, n_rest, n_pos, n)[shown | (certain <= n)].sum()

    low, high = 0, n_rest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= 0.8 else (middle, high)
    print(
        f"{title:28s} recall {recall}: wrong {n_wrong / n_orders:.4f}, {np.mean(n_labels):6.0f} of"
        f" {n_rest} labels, {np.mean(n_labels) / high:.2f} times one look",
        flush=True,
    )


def searches(Z, y, weights, Z_test, y_test, seed):
    """Errors of scores of searches, and whether limits fail, on other rows."""
    name, grid = "precision@top0.05", {"C": [0.01, 0.1, 1.0]}
    measure = get_measure(name)
    model = LogisticRegression(max_iter=300).set_fit_request(sample_weight=True)
    found, folds = [], StratifiedKFold(5, shuffle=True, random_state=seed)
    for weighted in (True, False):
        scorer = get_scorer(name).set_score_request(sample_weight=weighted)
        search = GridSearchCV(model, grid, scoring=scorer, cv=folds)
        search.fit(Z, y, sample_weight=weights)
        found.append(search.best_score_ - measure(y_test, search.decision_function(Z_test)))
    kept = np.random.default_rng(seed).random(len(y)) < weights / weights.max()
    for rows in (kept, np.full(len(y), True)):
        search = BoundSearchCV(model, grid, measure=name, method="max-t", refit=False)
        search.set_params(random_state=seed).fit(Z[rows], y[rows], sample_weight=weights[rows])
        found.append(search.best_bound_ > measure(y_test, search.decision_function(Z_test)))
    return found


def fits(name):
    X, y = table(name)
    changes, searched = {}, []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = rng.permutation(len(y))[:8000]
        train, test = np.split(rows, 2)[:2] if len(rows) % 2 == 0 else np.split(rows[1:], 2)
        scaler = StandardScaler().fit(X[train])
        Z, Z_test = scaler.transform(X[train]), scaler.transform(X[test])
        n, columns = len(train), rng.permutation(X.shape[1])[: max(X.shape[1] // 3, 2)]
        small = rng.choice(n, 400, replace=False)
        champion = LogisticRegression(max_iter=200).fit(Z[small][:, columns], y[train][small])
        score = champion.decision_function(Z[:, columns])
        order, k = np.argsort(-score), n // 10
        y_true = np.full(n, np.nan)
        known = np.append(order[:k], rng.choice(order[k:], k, replace=False))
        y_true[known] = y[train][known]
        weights = LabelDesign(review_top=k, audit=k, scores=score).sample_weight(y_true)[known]
        labels = y_true[known].astype(int)
        searched.append(searches(Z[known], labels, weights, Z_test, y[test], seed))
        for model in (
            LogisticRegression(C=0.1, max_iter=300),
            HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, random_state=0),
            PNormPushRanker(),
        ):
            values = []
            for sample_weight in (None, weights):
                model.fit(Z[known], labels, sample_weight=sample_weight)
                found = model.decision_function(Z_test)
                top = precision_at_top_score(y[test], found, tau=0.02)
                values.append((roc_auc_score(y[test], found), top))
            changes.setdefault(type(model).__name__, []).append(np.subtract(*values[::-1]))
    weighted, alone, kept, every = np.mean(searched, axis=0)
    print(
        f"{name:12s} score of a search minus precision of the top 5 %: {weighted:+.3f}, weights in"
        f" fits alone {alone:+.3f}; limits fail in {kept:.2f}, with all labelled rows {every:.2f}",
        flush=True,
    )
    for title, change in changes.items():
        auc, top = np.mean(change, axis=0)
        print(
            f"{name:12s} {title:32s} AUC {auc:+.3f}, precision of the top {top:+.3f}", flush=True
        )


def with_proxies(name):
    """Labels, scores of champion and challenger, and proxies of rows that none was fitted on."""
    if name == "MSLR":
        path = data_directory() / "mslr5k_train.svm.gz"
        X, grade = load_svmlight_file(str(path), zero_based=False)
        X, y = X.toarray(), (grade > 1).astype(int)
        order = seeded("proxies", name).permutation(len(y))
        X, y = X[order], y[order]
    else:
        X, y = table(name)
    rng = seeded("proxies", name, "columns")
    columns = rng.permutation(X.shape[1])
    n_own = max(X.shape[1] // 5, 2)
    own, others = columns[:n_own], columns[n_own:]
    Z, rows = StandardScaler().fit(X[:500]).transform(X), slice(500, 5000)
    ranker = LogisticRegression(C=0.1, max_iter=300)
    scores = [
        ranker.fit(Z[:500][:, of], y[:500]).decision_function(Z[rows][:, of])
        for of in (own[: max(n_own // 2, 1)], own)
    ]
    X, y = X[rows], y[rows]
    model = HistGradientBoostingClassifier(max_leaf_nodes=8, random_state=0)
    models = [
        cross_val_predict(model, X[:, others[:n]], y, cv=10, method="predict_proba")[:, 1]
        for n in np.unique(np.geomspace(1, len(others), 8).astype(int))
    ]
    proxies = {"model": min(models, key=lambda p: abs(roc_auc_score(y, p) - 0.8))}
    for auc in (0.8, 0.95):
        apart, noise = np.sqrt(2) * norm.ppf(auc), rng.normal(size=len(y))
        proxies[f"reader {auc}"] = expit(
            apart * (noise + apart * y) - apart**2 / 2 + logit(y.mean())
        )
    return y, *scores, {**proxies, "noise": rng.random(len(y))}


def left_over(evidence, y, open_rows, *predictors):
    """Deviation that a label leaves, when its probability is known from the predictors."""
    columns = np.column_stack([norm.ppf((rankdata(x) - 0.5) / len(y)) for x in predictors])
    model = make_pipeline(SplineTransformer(6), LogisticRegression(C=10.0, max_iter=1000))
    probability = cross_val_predict(model, columns, y, cv=10, method="predict_proba")[:, 1]
    derivative = evidence.label_function.at(y.astype(float))[1]
    return np.linalg.norm((derivative * (y - probability))[open_rows])


def proxies(name, n_samples=100):
    y, champion, challenger, of_rows = with_proxies(name)
    aucs = {title: roc_auc_score(y, x) for title, x in {"ranker": challenger, **of_rows}.items()}
    print(f"{name}: {y.sum()} of {len(y)}; AUC", {t: float(f"{x:.3f}") for t, x in aucs.items()})
    k = max(int(0.02 * len(y)), 10)
    measures = [get_measure(x) for x in (f"precision@{k}", f"recall@{k}", "auc", "ap")]
    evidences = [measure.evidence(measure.lists(y, challenger)) for measure in measures]
    for design in ("top 50", "top 200", "top 1000", "all 200", "all 1000"):
        rng, found = seeded("proxies", name, design), []
        for _ in range(n_samples):
            if design.startswith("top"):
                known, probability = drawn(rng, design, champion)
            else:
                known = rng.permutation(len(y)) < int(design.split()[1])
                probability = np.full(len(y), known.mean())
            found.append([])
            for evidence in evidences:
                for proxy in (None, *of_rows.values()):
                    in_part = replace(evidence, partial=PartialLabels(known, probability, proxy))
                    low, high = score_path_of([in_part]).limits(0.95)
                    is_in = low - 1e-9 <= evidence.value <= high + 1e-9
                    found[-1].append((high - low, is_in))
        shape = (n_samples, len(measures), -1, 2)
        width, covered = np.mean(np.reshape(found, shape), axis=0).transpose(2, 0, 1)
        open_rows = probability < 1.0
        for i, evidence in enumerate(evidences):
            alone = left_over(evidence, y, open_rows, challenger)
            print(
                f"{name:10s} {design:8s} {evidence.measure.name:12s} width {width[i, 0]:.3f},"
                f" coverage {covered[i, 0]:.3f};",
                "; ".join(
                    f"{title} {width[i, j] / width[i, 0]:.3f} (possible"
                    f" {left_over(evidence, y, open_rows, challenger, x) / alone:.3f}),"
                    f" {covered[i, j]:.3f}"
                    for j, (title, x) in enumerate(of_rows.items(), 1)
                ),
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("plans", "certificates", "fits", "proxies"))
    part = parser.parse_args().part
    warnings.simplefilter("ignore")
    with threadpool_limits(1), config_context(enable_metadata_routing=True):
        if part == "fits":
            for name in ("annthyroid", "spambase", "a9a_train", "w8a_train"):
                fits(name)
        elif part == "proxies":
            for name in ("MSLR", "annthyroid", "spambase", "w8a_train"):
                proxies(name)
        else:
            study = {"plans": plans, "certificates": certificates}[part]
            for population in POPULATIONS:
                study(population)


if __name__ == "__main__":
    main()
