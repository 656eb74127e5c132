"""Makes other_systems.json: what CatBoost, RDKit, gdeval and ranx compute.

pip install catboost==1.2.10 rdkit==2026.9.1 ranx==0.3.21 ir_measures==0.4.3
python tests/golden/other_systems.py

gdeval is the script that ir_measures brings, which takes Perl; it prints five digits.
"""

import json
import subprocess
import tempfile
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numpy as np

CUTOFFS = (1, 3, 5, 20)
FRACTIONS = (0.01, 0.07, 0.1, 0.25, 0.5)
ALPHAS = (5.0, 20.0, 160.9)


def draw(seed, n_queries=30):
    """Grades, scores with ties, sizes and weights of queries; every fifth query is empty."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, n_queries)
    grade = rng.integers(0, 4, sizes.sum())
    grade[np.repeat(np.arange(n_queries) % 5 == 0, sizes)] = 0
    return grade, rng.integers(0, 5, len(grade)) / 8, sizes, rng.integers(4, 40, n_queries) / 8


def catboost_values(grade, score, sizes, weight=None):
    from catboost.utils import eval_metric

    query = np.repeat(np.arange(len(sizes)), sizes)
    given = {} if weight is None else {"group_weight": np.repeat(weight, sizes)}
    names = ["MRR", *(f"MRR:top={k}" for k in CUTOFFS)]
    for kind in ("Base", "Exp"):
        for name in ("DCG", "NDCG"):
            names += [f"{name}:type={kind}", *(f"{name}:top={k};type={kind}" for k in CUTOFFS)]
    if weight is None:
        names += ["MAP"]
        for name in ("MAP", "PrecisionAt", "RecallAt"):
            names += [f"{name}:top={k}" for k in CUTOFFS]
            names += [f"{name}:top={k};border=1.5" for k in CUTOFFS]
    return {
        name: eval_metric(grade.astype(float), score, name, group_id=query, **given)[0]
        for name in names
    }


def screen(seed):
    """Actives and scores with ties of one library, and two that are all of one class."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 150))
    active = (rng.random(n) < 0.2).astype(int)
    return active, rng.integers(0, 12, n)


def rdkit_values(active, score):
    from rdkit.ML.Scoring import Scoring

    rows = [[label] for label in np.asarray(active)[np.argsort(-score, kind="stable")].tolist()]
    values = {
        f"EF {fraction}": value
        for fraction, value in zip(
            FRACTIONS, Scoring.CalcEnrichment(rows, 0, list(FRACTIONS)), strict=True
        )
    }
    for alpha in ALPHAS:
        values[f"BEDROC {alpha}"] = Scoring.CalcBEDROC(rows, 0, alpha)
        values[f"RIE {alpha}"] = Scoring.CalcRIE(rows, 0, alpha)
    return values


def judged_run(seed, ties, n_queries=12):
    """A run and judgments as mappings: unjudged documents, queries and relevant ones lacking."""
    rng = np.random.default_rng(seed)
    run, qrels = {}, {}
    for query in range(1, n_queries + 1):
        names = np.array([f"d{i}" for i in rng.permutation(100)[:30]])
        judged, retrieved = names[: rng.integers(1, 20)], rng.choice(names, 20, replace=False)
        highest = 5 if query % 4 else 1
        grades = rng.integers(0, highest, len(judged))
        scores = rng.integers(0, 6, 20) / 8 if ties else rng.permutation(20) / 8
        run[str(query)] = dict(zip(retrieved.tolist(), scores.tolist(), strict=True))
        qrels[str(query)] = dict(zip(judged.tolist(), grades.tolist(), strict=True))
    return run, qrels


def gdeval_values(run, qrels):
    script = files("ir_measures") / "bin" / "gdeval.pl"
    values = {}
    with tempfile.TemporaryDirectory() as folder:
        judgments, ranked = Path(folder, "qrels"), Path(folder, "run")
        judgments.write_text(
            "".join(f"{q} 0 {d} {g}\n" for q, of in qrels.items() for d, g in of.items())
        )
        ranked.write_text(
            "".join(f"{q} Q0 {d} 1 {s} x\n" for q, of in run.items() for d, s in of.items())
        )
        for k in CUTOFFS:
            command = ["perl", str(script), str(judgments), str(ranked), str(k)]
            shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            for line in shown.splitlines()[1:]:
                _, query, ndcg, err = line.split(",")
                values.setdefault(f"ndcg@{k}", {})[query] = float(ndcg)
                values.setdefault(f"err@{k}", {})[query] = float(err)
    return values


def ranx_values(run, qrels):
    import ranx

    names = ["map", "ndcg", "ndcg_burges", "mrr", "map-l2", "mrr-l2", "r-precision", "f1@5"]
    for k in CUTOFFS:
        names += [f"{name}@{k}" for name in ("map", "ndcg", "ndcg_burges", "mrr", "hit_rate")]
        names += [f"{name}@{k}" for name in ("precision", "recall")]
        names += [f"{name}@{k}-l2" for name in ("precision", "recall")]
    given = ranx.Qrels(qrels), ranx.Run(run)
    ranx.evaluate(*given, names)
    return {
        name: {query: float(value) for query, value in of.items()}
        for name, of in given[1].scores.items()
    }


def main():
    grade, score, sizes, weight = draw(0)
    screens = [screen(seed) for seed in range(3)]
    screens += [(np.zeros(20, dtype=int), np.arange(20)), (np.ones(20, dtype=int), np.arange(20))]
    with_ties, without = judged_run(0, ties=True), judged_run(1, ties=False)
    results = {
        "grade": grade.tolist(),
        "score": score.tolist(),
        "sizes": sizes.tolist(),
        "weight": weight.tolist(),
        "catboost": catboost_values(grade, score, sizes),
        "catboost_weighted": catboost_values(grade, score, sizes, weight),
        "rdkit": [
            {"active": a.tolist(), "score": s.tolist(), "values": rdkit_values(a, s)}
            for a, s in screens
        ],
        "gdeval": {
            "run": with_ties[0],
            "qrels": with_ties[1],
            "values": gdeval_values(*with_ties),
        },
        "ranx": {"run": without[0], "qrels": without[1], "values": ranx_values(*without)},
        "versions": {name: version(name) for name in ("catboost", "rdkit", "ranx", "ir_measures")},
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(results) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
