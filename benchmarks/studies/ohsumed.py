"""OHSUMED by LETOR's protocol: candidates, rules that choose among them, and the test folds.

In fold f the part S_f tests, S_(f-1) validates and the other three train. Every tested model was
fitted to the three training parts, except in the rows that state otherwise. A candidate is valued
in two ways, neither of which uses S_f:

- "vali": its NDCG@10 on S_(f-1), the protocol of the published tables;
- "inner": its mean NDCG@10 over the queries of the four parts other than S_f, each scored by a fit
  to the other three of them.

The candidates are nine losses, four scales, two measures and eight strengths, with the loss of a
query divided by its number of items, or pairs. One kind of rule takes the candidate with the
largest value. The other takes the scale whose candidates have the largest mean value, and averages
the scores of all of them, standardised in each query. ``nested`` estimates the value of a rule
without the test parts: the rule chooses by three of the four parts and scores the fourth. About
twenty rules were compared by this estimate alone, before any was tested (numbers of averaged
candidates, in one scale or all). Other features were rejected by it (ranks, quantiles, splines,
squares, clipping, Nystroem). Of the rules over all losses that also choose the scale, the average
below had the largest value.

    python benchmarks/studies/ohsumed.py [--data DIRECTORY] [--quick] [--write]

The evaluation first has to reproduce the values that LETOR publishes for single features. --write
stores the tables in results/.
"""

import argparse
import os
import sys
import time
import warnings
from itertools import combinations, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    HERE,
    THREAD_VARIABLES,
    describe_machine,
    format_table,
    store_results,
    versions_of,
)

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
sys.path.insert(0, str(HERE / "surrogate_rankers"))
import numpy as np
from benchmark_utils import judge_check
from benchmark_utils.data import data_file, read
from benchmark_utils.features import Features, by_query, unit_variance
from benchmark_utils.letor import METRICS, PARTS, fold_parts, of_queries, read_baselines
from benchmark_utils.peer import list_lengths
from sklearn.exceptions import ConvergenceWarning

from sklearn_rank import OrderPreservingRanker, RankSVM
from sklearn_rank.exceptions import CalibrationWarning
from sklearn_rank.losses import get_loss_names

OURS = tuple(get_loss_names(order_preserving=True))
BASELINES = ("RankSVM hinge", "RankSVM squared_hinge", "comparison_logistic", "normalized_softmax")
SCALES = ("as is", "log", "by query", "query range")
MEASURES = ("ndcg@10", "dcg")
# Descending, each fit starting from the last. Strengths are per item or pair.
ALPHAS = tuple(10.0 ** np.arange(3, -5, -1))
CHOSEN = METRICS.index("NDCG@10")
AVERAGE = "all losses, average"
COLUMNS = [
    ("ranker", "ranker", ""),
    ("chosen_by", "chosen by", ""),
    ("fitted_to", "fitted to", ""),
    ("nested", "nested", ".4f"),
    *[(f"NDCG@{k}", f"NDCG@{k}", ".4f") for k in (1, 3, 5, 10)],
    *[(f"P@{k}", f"P@{k}", ".4f") for k in (1, 5, 10)],
    ("MAP", "MAP", ".4f"),
]


def families(losses):
    """Yield what candidates share but for the strength: loss, scale and measure."""
    for loss, scale in product(losses, SCALES):
        for measure in MEASURES if loss in OURS or loss == "normalized_softmax" else MEASURES[:1]:
            yield loss, scale, measure


def ranker_of(loss, measure):
    """Make a ranker, and the power of the length that divides the loss of a query."""
    if loss.startswith("RankSVM"):
        return RankSVM(loss.split()[1], tol=1e-3, warm_start=True), 2.0
    power = 2.0 if loss.startswith(("pairwise", "comparison")) else 1.0
    return OrderPreservingRanker(loss, measure=measure, tol=1e-4, warm_start=True), power


class Study:
    """Scores of every candidate on the parts that its fit has not seen.

    ``scores[candidate, excluded, part]`` are those on a part by a fit to all parts but the
    excluded ones, ``values`` the NDCG@10 of its queries.
    """

    def __init__(self, losses, alphas=ALPHAS):
        self.parts = {part: read([f"ohsumed_S{part}"], 25) for part in PARTS}
        self.alphas = alphas
        self.families = list(families(losses))
        self.scores, self.values = {}, {}
        self.unfinished = self.fits = 0
        for excluded in combinations(PARTS, 2):
            self.fit(excluded, self.families)

    def fit(self, excluded, wanted):
        """Fit families with all strengths to all parts but the excluded ones."""
        kept = [self.parts[part] for part in PARTS if part not in excluded]
        X, y, qid = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
        lengths = list_lengths(qid)
        scaled = {}
        for loss, scale, measure in wanted:
            if scale not in scaled:
                features = Features(scale)
                scaled[scale] = (
                    features.fit_transform(X, qid),
                    {
                        part: features.transform(self.parts[part][0], self.parts[part][2])
                        for part in excluded
                    },
                )
            Z, left_out = scaled[scale]
            ranker, power = ranker_of(loss, measure)
            for alpha in self.alphas:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", CalibrationWarning)
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    svm = isinstance(ranker, RankSVM)
                    ranker.set_params(**({"C": 1 / alpha} if svm else {"alpha": alpha}))
                    ranker.fit(Z, y, qid=qid, query_weight=lengths**-power)
                self.fits += 1
                self.unfinished += not ranker.converged_
                for part, rows in left_out.items():
                    key = (loss, scale, measure, alpha), excluded, part
                    self.scores[key] = ranker.predict(rows).astype(np.float32)
                    _, grade, ids = self.parts[part]
                    self.values[key] = of_queries(grade, self.scores[key], ids)[:, CHOSEN]

    def value(self, candidate, fold, parts):
        """NDCG@10 of a candidate over the queries of some parts, by fits without the fold."""
        values = [self.values[candidate, tuple(sorted((fold, part))), part] for part in parts]
        return float(np.concatenate(values).mean())

    def candidates(self, losses, scale=None):
        """List the candidates of some losses, in all scales or in one."""
        return [
            (*family, alpha)
            for family in self.families
            for alpha in self.alphas
            if family[0] in losses and scale in (None, family[1])
        ]

    def best(self, losses, fold, parts):
        """Rule: the most valuable candidate."""
        return [max(self.candidates(losses), key=lambda c: self.value(c, fold, parts))]

    def average(self, losses, fold, parts):
        """Rule: all candidates of the scale that is the most valuable in the mean."""
        return max(
            (self.candidates(losses, scale) for scale in SCALES),
            key=lambda group: np.mean([self.value(c, fold, parts) for c in group]),
        )

    def nested(self, rule, losses):
        """Mean NDCG@10 of a rule on parts that are neither tested nor chosen by."""
        worth = []
        for fold in PARTS:
            others = [part for part in PARTS if part != fold]
            each = []
            for part in others:
                chosen = rule(losses, fold, [other for other in others if other != part])
                score = self.scored(chosen, tuple(sorted((fold, part))), part)
                _, grade, qid = self.parts[part]
                each.append(of_queries(grade, score, qid)[:, CHOSEN])
            worth.append(np.concatenate(each).mean())
        return float(np.mean(worth))

    def scored(self, candidates, excluded, part):
        """Scores of a part, averaged over candidates on the scale of each query."""
        qid = self.parts[part][2]
        each = [self.scores[c, excluded, part][:, None] for c in candidates]
        if len(each) == 1:
            return each[0].ravel()
        scaled = [by_query(unit_variance, scores.astype(float), qid) for scores in each]
        return np.mean(scaled, axis=0).ravel()

    def tested(self, chosen, refitted=False):
        """Means of all measures over the five test parts.

        ``chosen`` are the candidates of each fold; refitted ones train on the validation part too.
        """
        means = []
        for fold in PARTS:
            excluded = tuple(sorted((fold, *fold_parts(fold)[1])))
            if refitted:
                excluded = (fold,)
                missing = [c[:3] for c in chosen[fold] if (c, excluded, fold) not in self.scores]
                self.fit(excluded, list(dict.fromkeys(missing)))
            _, grade, qid = self.parts[fold]
            score = self.scored(chosen[fold], excluded, fold)
            means.append(of_queries(grade, score, qid).mean(axis=0))
        return np.mean(means, axis=0)


def valuing_parts(fold, by):
    """Parts that value the candidates of a fold."""
    return fold_parts(fold)[1] if by == "vali" else [part for part in PARTS if part != fold]


def run(quick=False):
    """Yield the tables of means over the five test parts, and of the choices."""
    directory = data_file("ohsumed_letor2_baselines.csv").parent
    start = time.perf_counter()
    losses = ("pairwise_squared", "softmax") if quick else OURS + BASELINES
    study = Study(losses, ALPHAS[::3] if quick else ALPHAS)
    seconds = time.perf_counter() - start
    print(f"{study.fits} fits, {study.unfinished} unfinished, {seconds:.0f} s with evaluation")
    ours = tuple(loss for loss in losses if loss in OURS)
    rows, chosen = [], []

    def add(ranker, by, rule, group, refitted=False):
        found = {fold: rule(group, fold, valuing_parts(fold, by)) for fold in PARTS}
        row = {"ranker": ranker, "chosen_by": by}
        row["fitted_to"] = "train + vali" if refitted else "train"
        if by == "inner":
            row["nested"] = study.nested(rule, group)
        means = study.tested(found, refitted)
        rows.append(row | dict(zip(METRICS, map(float, means), strict=True)))
        for fold, candidates in found.items():
            loss, scale, measure, alpha = candidates[0]
            choice = {"fold": fold, "scale": scale, "candidates": len(candidates)}
            if len(candidates) == 1:
                value = study.value(candidates[0], fold, valuing_parts(fold, by))
                choice |= {"loss": loss, "measure": measure, "alpha": alpha, "value": value}
            chosen.append({k: row[k] for k in ("ranker", "chosen_by", "fitted_to")} | choice)

    for by in ("inner", "vali"):
        add(AVERAGE, by, study.average, ours)
        add("all losses, best", by, study.best, ours)
    add(AVERAGE, "inner", study.average, ours, refitted=True)
    add("all losses, best", "inner", study.best, ours, refitted=True)
    for by in ("inner", "vali"):
        for loss in losses:
            add(loss, by, study.best, (loss,))
    for name, values in read_baselines(directory).items():
        rows.append({"ranker": name, "chosen_by": "published", "fitted_to": "train"} | values)
    yield "ohsumed", "OHSUMED, mean over the five test parts, LETOR's evaluation", rows, COLUMNS
    yield "ohsumed_chosen", "", chosen, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="directory of the data sets")
    parser.add_argument("--only", choices=["judge", "study"])
    parser.add_argument("--quick", action="store_true", help="two losses, every third strength")
    parser.add_argument("--write", action="store_true", help="update results/")
    options = parser.parse_args()
    if options.data:
        os.environ["SKLEARN_RANK_DATA"] = str(Path(options.data).resolve())
    print(describe_machine())
    for part, tables in (("judge", judge_check.run), ("study", run)):
        if options.only not in (None, part):
            continue
        try:
            for name, title, rows, columns in tables(quick=options.quick):
                if columns:
                    print(f"\n{title}\n{format_table(rows, columns)}", flush=True)
                if options.write and name and not options.quick:
                    store_results(name, rows, versions_of("numpy", "scipy", "scikit-learn"))
        except FileNotFoundError as error:
            print(f"Not run. {error}")


if __name__ == "__main__":
    main()
