"""Makes ranking_systems.json: means over queries as XGBoost, LightGBM and trec_eval have them.

pip install xgboost==3.2.0 lightgbm==4.7.0 pytrec_eval-terrier==0.5.11
python tests/golden/ranking_systems.py
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np

CUTOFFS = (1, 3, 5, 20)


def draw(seed, n_queries=40):
    """Grades, scores with ties, sizes of queries; every fifth query has no relevant document."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, n_queries)
    grade = rng.integers(0, 4, sizes.sum())
    grade[np.repeat(np.arange(n_queries) % 5 == 0, sizes)] = 0
    return grade, rng.integers(0, 5, len(grade)) / 8, sizes


def xgboost_values(grade, score, sizes, weight=None):
    import xgboost

    values = {}
    for name, labels in (("ndcg", grade), ("map", grade >= 1), ("pre", grade >= 1)):
        data = xgboost.DMatrix(np.zeros((len(grade), 1)), label=labels)
        data.set_group(sizes)
        data.set_base_margin(score)
        if weight is not None:
            data.set_weight(weight)
        metrics = [f"{name}@{k}" for k in CUTOFFS] + ([] if name == "pre" else [name])
        booster = xgboost.train(
            {"objective": "rank:pairwise", "eval_metric": metrics}, data, num_boost_round=0
        )
        for part in booster.eval(data).split("\t")[1:]:
            metric, _, value = part.partition(":")
            values[metric.removeprefix("eval-")] = float(value)
    return values


def lightgbm_values(grade, score, sizes, weight=None):
    import lightgbm

    values = {}
    for metric in ("ndcg", "map"):
        data = lightgbm.Dataset(
            np.arange(2.0 * len(grade)).reshape(-1, 2),
            grade,
            group=sizes,
            init_score=score,
            weight=None if weight is None else np.repeat(weight, sizes),
        )
        parameters = {"objective": "lambdarank", "metric": metric, "eval_at": list(CUTOFFS)}
        booster = lightgbm.Booster({**parameters, "verbose": -1}, data)
        values |= {found[1]: float(found[2]) for found in booster.eval_train()}
    return values


def trec_eval_values(grade, score, sizes):
    import pytrec_eval

    ends = np.cumsum(sizes)
    relevance, run = {}, {}
    for query, (start, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        names = [f"d{i:02d}" for i in range(end - start)]
        relevance[f"q{query:03d}"] = dict(zip(names, grade[start:end].tolist(), strict=True))
        run[f"q{query:03d}"] = dict(zip(names, score[start:end].tolist(), strict=True))
    wanted = {"map", "ndcg", "recip_rank"}
    wanted |= {f"{name}.{k}" for name in ("map_cut", "ndcg_cut", "P", "recall") for k in CUTOFFS}
    found = pytrec_eval.RelevanceEvaluator(relevance, wanted).evaluate(run)
    names = next(iter(found.values())).keys()
    return {name: float(np.mean([query[name] for query in found.values()])) for name in names}


def main():
    grade, score, sizes = draw(0)
    results = {
        "grade": grade.tolist(),
        "score": score.tolist(),
        "sizes": sizes.tolist(),
        "xgboost": xgboost_values(grade, score, sizes),
        "lightgbm": lightgbm_values(grade, score, sizes),
        # Its documents d00, d01, ... stand in the order of the rows.
        "trec_eval": trec_eval_values(grade, score, sizes),
        "versions": {
            name: version(name) for name in ("xgboost", "lightgbm", "pytrec_eval-terrier")
        },
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(results) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
