"""Power and width at the sample size that ``sample_size`` plans, beside the planned values.

Each row is a population and a question. Pilots are drawn, each plans a sample, and samples of that
size are drawn. The study compares the proportion of tests that detect the true difference (or the
mean width of the intervals) with the plan. For pilots it also reports how often ``pilot_range``
contains the size that a pilot of 20,000 requires. The true difference is that of a million items.

    python benchmarks/studies/sample_sizes.py
    python benchmarks/studies/sample_sizes.py --write
"""

import argparse
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import stdtrit
from scipy.stats import norm
from sklearn.exceptions import UndefinedMetricWarning
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, describe_machine, format_table, write_table

from sklearn_rank.inference import metric_interval, sample_size
from sklearn_rank.inference._evidence import check_groups, check_lists, influences_of
from sklearn_rank.inference._joint import joint_influence, mean_influences
from sklearn_rank.metrics import get_measure

STORED = RESULTS / "sample_sizes.csv"
CONTRAST = np.array([1.0, -1.0])
GROUP = 5
LARGE = 1_000_000
NOISES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "t(2)": lambda rng, size: rng.standard_t(2, size=size),
    "Cauchy": lambda rng, size: rng.standard_cauchy(size=size),
}
COLUMNS = [
    ("measure", "measure", ""),
    ("from", "from", ""),
    ("data", "data", ""),
    ("noise", "noise", ""),
    ("pilot", "pilot", ""),
    ("n", "n", "d"),
    ("planned", "planned", ".3f"),
    ("achieved", "achieved", ".3f"),
    ("range_holds", "range holds", "s"),
]


def items(rng, n, n_pos, noise, grouped=False, gain=0.4):
    """Labels, scores of two rankers, and groups that share part of the noise."""
    y = (np.arange(n) < n_pos).astype(int)
    draw = NOISES[noise]
    common = draw(rng, n)
    groups = None
    if grouped:
        groups = rng.permutation(n) // GROUP
        common = draw(rng, n // GROUP + 1)[groups]
    own = [draw(rng, n) for _ in range(2)]
    if grouped:
        own = [one + draw(rng, n // GROUP + 1)[groups] for one in own]
    better = (1.0 + gain) * y + common + own[0]
    return y, {"a": better, "b": y + common + own[1]}, groups


def queries(rng, n, noise, size=10, gain=0.25):
    """Grades and scores of two rankers on queries of different difficulty."""
    grade = rng.integers(0, 3, (n, size))
    draw = NOISES[noise]
    spread = rng.lognormal(0.0, 0.5, (n, 1))
    common = draw(rng, (n, size))
    scores = [
        grade + shift * grade + spread * (common + draw(rng, (n, size))) for shift in (gain, 0.0)
    ]
    return grade, dict(zip("ab", scores, strict=True))


def rejects(joint):
    """Whether the two-sided test at 5 % sees the difference."""
    difference = CONTRAST @ joint.estimates
    error = np.sqrt(CONTRAST @ joint.covariance @ CONTRAST)
    return abs(difference) > stdtrit(joint.spread.of(CONTRAST), 0.975) * error


def influence_joint(measure, y, scores, groups=None):
    """Estimates of both rankers and their covariance."""
    found, _ = influences_of(check_lists(measure, y, tuple(scores)))
    return joint_influence(found, conditional=True, groups=check_groups(groups, len(y)))


def test_of_items(measure, rng, plan, draw):
    """Whether a sample of the planned size shows the difference."""
    y, scores, groups = draw(rng, plan.n, plan.n_pos)
    return rejects(influence_joint(measure, y, scores.values(), groups))


def of_pilots(plan_of, needed, test, n_pilots, n_tests, rng):
    """Plans of many pilots, and what they keep of their word."""
    sizes, kept, holds = [], [], []
    for seed in range(n_pilots):
        pilot, given = plan_of(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            plan = sample_size(pilot=pilot, random_state=seed, **given)
        sizes.append(plan.n)
        holds.append(plan.pilot_range[0] <= needed <= plan.pilot_range[1])
        kept += [test(rng, plan) for _ in range(n_tests)]
    return int(np.median(sizes)), np.mean(kept), f"{np.mean(holds):.2f}"


def pilot_cells(n_pilots, n_tests):
    """Measures of one list from pilots."""
    cases = [
        (name, noise, n_pos, grouped)
        for name in ("auc", "ap", "local_auc@0.8")
        for noise in ("normal", "t(2)")
        for n_pos in (20, 100)
        for grouped in (False, True)
        if not (grouped and n_pos == 20) and not (name == "local_auc@0.8" and noise != "normal")
    ]
    for name, noise, n_pos, grouped in cases:
        rng = np.random.default_rng(0)
        measure = get_measure(name)

        def draw(rng, n, k, noise=noise, grouped=grouped):
            return items(rng, n, k, noise, grouped)

        y, scores, _ = draw(rng, LARGE, LARGE // 5)
        difference = measure(y, scores["a"]) - measure(y, scores["b"])
        y, scores, groups = draw(rng, 20_000, 4_000)
        question = {"measure": measure, "difference": difference, "power": 0.8}

        def plan_of(rng, draw=draw, n_pos=n_pos, question=question):
            y, scores, groups = draw(rng, 5 * n_pos, n_pos)
            return (y, scores), {**question, "groups": groups}

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            needed = sample_size(pilot=(y, scores), groups=groups, random_state=0, **question).n

        def test(rng, plan, measure=measure, draw=draw):
            return test_of_items(measure, rng, plan, draw)

        n, achieved, holds = of_pilots(plan_of, needed, test, n_pilots, n_tests, rng)
        yield {
            "measure": name,
            "from": "pilot",
            "data": f"same data, groups of {GROUP}" if grouped else "same data",
            "noise": noise,
            "pilot": f"{n_pos} of {5 * n_pos}",
            "n": n,
            "planned": 0.8,
            "achieved": achieved,
            "range_holds": holds,
        }


def query_cells(n_pilots, n_tests):
    """Means over queries from pilots."""
    for noise in ("normal", "t(2)"):
        for name in ("ndcg@10", "precision@1"):
            for n_pilot in (20, 100):
                rng = np.random.default_rng(0)

                def draw(rng, n, noise=noise, name=name):
                    grade, scores = queries(rng, n, noise)
                    if name == "precision@1":
                        grade = (grade == 2).astype(int)
                        grade[:, 0], scores["a"][:, 0] = 1, scores["a"][:, 0] + 1.0
                        scores["b"][:, 0] += 1.0
                    return grade, scores

                measure = get_measure(name)
                if name == "ndcg@10":
                    measure = get_measure(name, gain="exponential")
                grade, scores = draw(rng, LARGE // 10)
                means = [measure(grade, one) for one in scores.values()]
                grade, scores = draw(rng, 20_000)
                question = {"measure": measure, "difference": means[0] - means[1], "power": 0.8}
                needed = sample_size(pilot=(grade, scores), random_state=0, **question).n

                def plan_of(rng, draw=draw, n_pilot=n_pilot, question=question):
                    return draw(rng, n_pilot), question

                def test(rng, plan, draw=draw, measure=measure):
                    grade, scores = draw(rng, plan.n)
                    values = [measure(grade, one, average=None) for one in scores.values()]
                    return rejects(joint_influence(mean_influences(np.stack(values), (0.0, 1.0))))

                n, achieved, holds = of_pilots(plan_of, needed, test, n_pilots, n_tests, rng)
                yield {
                    "measure": f"{name} over queries",
                    "from": "pilot",
                    "data": "same data",
                    "noise": noise,
                    "pilot": f"{n_pilot} queries",
                    "n": n,
                    "planned": 0.8,
                    "achieved": achieved,
                    "range_holds": holds,
                }


def formula_power(n_tests):
    """Power of the tests of AUCs that a formula planned, on the scores it supposes and others."""
    measure = get_measure("auc")
    for share, difference, noise in product((0.05, 0.5), (0.1, 0.05), NOISES):
        given = {"expected": 0.75, "prevalence": share, "correlation": 0.5}
        plan = sample_size(measure, **given, difference=difference)
        rng, draw = np.random.default_rng(0), shifted(noise, difference)
        kept = np.mean([test_of_items(measure, rng, plan, draw) for _ in range(n_tests)])
        yield {
            "measure": "auc",
            "from": "formula",
            "data": f"same data, {share:.0%} positive",
            "noise": noise,
            "pilot": f"difference {difference}",
            "n": plan.n,
            "planned": plan.power,
            "achieved": kept,
            "range_holds": "",
        }


def shifted(noise, difference):
    """Draws of scores with the AUCs .75 and so much more, of any noise."""
    rng = np.random.default_rng(1)
    apart = np.sort(NOISES[noise](rng, 400_000) - NOISES[noise](rng, 400_000))
    # P(noise + shift > noise) is the AUC; the sum of two noises halves the shift of normal ones.
    shifts = [float(np.quantile(apart, auc)) for auc in (0.75 + difference, 0.75)]

    def draw(rng, n, n_pos):
        y = (np.arange(n) < n_pos).astype(int)
        if noise == "normal":
            common = rng.normal(size=n) * np.sqrt(0.5)
            own = [common + rng.normal(size=n) * np.sqrt(0.5) for _ in range(2)]
        else:
            first = NOISES[noise](rng, n)
            # Half of the items have the same noise for both rankers.
            own = [first, np.where(rng.random(n) < 0.5, first, NOISES[noise](rng, n))]
        return y, {name: s * y + e for name, s, e in zip("ab", shifts, own, strict=True)}, None

    return draw


def formula_width(n_tests):
    """Mean width of the intervals at the size that a formula planned."""
    cases = [
        ("auc", expected, share, noise)
        for expected in (0.7, 0.95)
        for share in (0.05, 0.5)
        for noise in NOISES
    ] + [("precision@top0.1", 0.5, share, "normal") for share in (0.1, 0.3)]
    for name, expected, share, noise in cases:
        for width in (0.2, 0.1):
            plan = sample_size(name, expected=expected, prevalence=share, width=width)
            rng = np.random.default_rng(0)
            if name == "auc":
                apart = NOISES[noise](rng, 400_000) - NOISES[noise](rng, 400_000)
                shift = float(np.quantile(apart, expected))
            else:
                cuts = norm.ppf([expected * 0.1 / share, (1 - expected) * 0.1 / (1 - share)])
                shift = cuts[0] - cuts[1]
            y = (np.arange(plan.n) < plan.n_pos).astype(int)
            widths = [
                metric_interval(name, y, shift * y + NOISES[noise](rng, plan.n)).width
                for _ in range(n_tests)
            ]
            yield {
                "measure": name,
                "from": "formula",
                "data": f"width, {share:.0%} positive",
                "noise": noise,
                "pilot": f"expecting {expected}",
                "n": plan.n,
                "planned": plan.width,
                "achieved": np.mean(widths),
                "range_holds": "",
            }


PARTS = {
    "items": pilot_cells,
    "queries": query_cells,
    "formula-power": lambda n_pilots, n_tests: formula_power(n_pilots * n_tests),
    "formula-width": lambda n_pilots, n_tests: formula_width(5 * n_tests),
}


def away(row):
    """How far it is from the plan: points of power, or part of the width."""
    apart = abs(row["achieved"] - row["planned"])
    return apart / row["planned"] if row["data"].startswith("width") else apart


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pilots", type=int, default=12)
    parser.add_argument("--tests", type=int, default=25, help="samples for the plan of each pilot")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    print(describe_machine())
    found = []
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    with threadpool_limits(1):
        for part in arguments.parts:
            rows = PARTS[part](arguments.pilots, arguments.tests)
            for row in rows:
                print(*row.values(), flush=True)
                found.append(row)
    print(format_table(found, COLUMNS))
    for is_width, what in ((False, "power"), (True, "width (relative)")):
        cells = [row for row in found if row["data"].startswith("width") == is_width]
        off = [row for row in cells if away(row) > 0.05]
        print(f"{len(off)} of {len(cells)} cells are more than .05 from the planned {what}:")
        print(format_table(off, COLUMNS))
    if arguments.write:
        write_table(STORED, found, COLUMNS)


if __name__ == "__main__":
    main()
