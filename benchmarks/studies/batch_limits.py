"""Limits of the positives among the first rows of a batch: errors, and how near they are.

    python benchmarks/studies/batch_limits.py                 # print, about 10 minutes
    python benchmarks/studies/batch_limits.py --only w8a --splits 50
    python benchmarks/studies/batch_limits.py --groups        # rows in groups, half a minute
    python benchmarks/studies/batch_limits.py --worst         # labels that err most, 10 minutes

Protocol. A list of real scores and labels is split at random into labelled rows and a batch, half
and half. The lower limit for one k, the one that holds for all k from 10 to 200, and that for all
k of the batch are divided by k; error 5 %. An error of a range is one for any of its k; those of
one k are averaged. Beside them stands the share of positives among the k highest labelled rows, as
people read it off, and where nonconform is installed (2.0, Python 3.12), its simultaneous bound on
the share of false discoveries at a cut-off of conformal p-values of the labelled negatives, with
its defaults; between cut-offs it is completed as ours between looks. The lists, by the champion
and the challenger of labels_in_part.py, were not looked at before; the looks were chosen on normal
scores.

Worst labels: the level of a look is exact, but how looks depend on each other is that of a normal
limit. So here is the exact probability that a lower limit is too high for some k, over all places
of the labelled rows: for labels of one share, for labels of which the first rows up to the first
look have few of a class and later ones half of each, and for the worst of these after random
changes of stretches of labels, 60 of them, each kept if the probability rises. Errors must be at
most what is said. Equal sizes, 1 to 4 and 4 to 1, k from 1, 10, 20, 50, 100 or 150 to 40, 60 or
200 and errors of .05 and .2 were looked at before; the cells here were not.

Groups: 2,000 groups of 1 to 2 s - 1 rows, s = 1, 3 and 10, whose rows share a part of their score;
half of the groups are labelled. Limits for k from 20 to 200 at once, of groups, and of rows that
are taken for independent. The share of groups of which all rows count was chosen here.
"""

import argparse
from importlib.util import find_spec

import numpy as np
from labels_in_part import POPULATIONS, describe_machine, format_table, seeded

from sklearn_rank._promises._batch_limits import _looks, tail_of_looks
from sklearn_rank.inference import batch_limits
from sklearn_rank.inference._shared import log_binomial

NUMBERS = np.array([10, 25, 37, 50, 70, 100, 200])
RANGE = np.arange(10, 201)
ERROR = 0.05
# Labelled rows, rows of the batch, first and last k, and the error.
CELLS = (
    (2000, 1000, 15, 90, 0.05),
    (1000, 3000, 15, 250, 0.05),
    (300, 300, 5, 80, 0.1),
    (2000, 1000, 50, 90, 0.1),
    (1000, 3000, 120, 240, 0.05),
    (150, 600, 30, 250, 0.05),
)
LISTS = ("w8a", "thyroid markers", "MQ2008 features", "tails", "normal", "normal, grades")


def by_p_values(negatives, score):
    """Positives among the first k of the batch, k of RANGE, by nonconform's bound."""
    from nonconform.fdr import FDPCertificate

    n_above = len(negatives) - np.searchsorted(np.sort(negatives), score)
    p_values = (1.0 + n_above) / (1.0 + len(negatives))
    bound = FDPCertificate.from_p_values(p_values, n_calibration=len(negatives), seed=0)
    cuts, sizes = np.unique(p_values, return_counts=True)
    sizes = np.cumsum(sizes)
    low = np.ceil(sizes * (1.0 - bound.bound_at(cuts)) - 1e-9)
    ahead = RANGE[:, np.newaxis] - sizes
    return np.max(low + np.minimum(ahead, 0), axis=1).clip(min=0)


def split(y, score, rng):
    """Rows of the limits, of which each is an error or not, and the share that it promises."""
    is_batch = rng.permutation(len(y)) < len(y) // 2
    labelled = y[~is_batch], score[~is_batch]
    options = {"random_state": rng, "level": 1.0 - ERROR}
    seen = np.cumsum(labelled[0][np.lexsort((rng.random(len(labelled[0])), -labelled[1]))])

    def truth(limits):
        return np.cumsum(y[is_batch][limits.order])[limits.k - 1]

    rows = {}
    single = [batch_limits(*labelled, score[is_batch], k=k, **options) for k in NUMBERS]
    rows["one k"] = (
        [int(limits.low[0]) for limits in single],
        [bool(limits.low[0] > truth(limits)[0]) for limits in single],
    )
    for name, k in (("k from 10 to 200", RANGE), ("all k", None)):
        limits = batch_limits(*labelled, score[is_batch], k=k, **options)
        at = np.searchsorted(limits.k, NUMBERS)
        rows[name] = limits.low[at], [bool((limits.low > truth(limits)).any())] * len(NUMBERS)
    of_batch = truth(limits)[RANGE - 1]
    others = {"as seen": seen[RANGE - 1]}
    if find_spec("nonconform"):
        others["nonconform"] = by_p_values(labelled[1][labelled[0] == 0], score[is_batch])
    for name, low in others.items():
        rows[name] = low[NUMBERS - 10], [bool((low > of_batch).any())] * len(NUMBERS)
    return of_batch[NUMBERS - 10], rows


def study(title, y, score, n_splits):
    rng = seeded("batch limits", title)
    splits = [split(y, score, rng) for _ in range(n_splits)]
    yield {"list": title, "limits": "truth"} | {
        f"k = {k}": f"{share:.2f}"
        for k, share in zip(NUMBERS, np.mean([s[0] for s in splits], 0) / NUMBERS, strict=True)
    }
    for name in splits[0][1]:
        low, wrong = (np.mean([s[1][name][i] for s in splits], axis=0) for i in (0, 1))
        yield (
            {"list": title, "limits": name}
            | {f"k = {k}": f"{share:.2f}" for k, share in zip(NUMBERS, low / NUMBERS, strict=True)}
            | {"errors": f"{wrong.mean():.3f}"}
        )


def grouped(size, n_groups=2000):
    """Rows of groups with a score in common, on which their labels depend."""

    def draw(rng):
        sizes = rng.integers(1, 2 * size, n_groups) if size > 1 else np.ones(n_groups, int)
        groups = np.repeat(np.arange(n_groups), sizes)
        score = rng.normal(size=n_groups)[groups] + rng.normal(size=len(groups))
        y = (rng.random(len(groups)) < 1.0 / (1.0 + np.exp(3.5 - 2.0 * score))).astype(int)
        return y, score, groups

    return draw


def study_of_groups(size, n_splits):
    rng, k, shown = seeded("batch limits, groups", size), np.arange(20, 201), [25, 50, 100, 200]
    low, wrong, truths = {"rows": [], "groups": []}, {"rows": [], "groups": []}, []
    for _ in range(n_splits):
        y, score, groups = grouped(size)(rng)
        is_batch = np.isin(groups, rng.permutation(groups[-1] + 1)[: groups[-1] // 2])
        ids = {"groups": groups[~is_batch], "batch_groups": groups[is_batch]}
        for name, passed in (("rows", {}), ("groups", ids)):
            limits = batch_limits(
                *(y[~is_batch], score[~is_batch], score[is_batch]),
                k=k,
                level=1.0 - ERROR,
                random_state=rng,
                **passed,
            )
            truth = np.cumsum(y[is_batch][limits.order])[k - 1]
            low[name].append(limits.low[np.array(shown) - 20] / shown)
            wrong[name].append([(limits.low > truth).any(), (limits.high < truth).any()])
        truths.append(truth[np.array(shown) - 20] / shown)
    rows = [("truth", truths, "")]
    rows += [(name, low[name], f"{np.mean(wrong[name]):.3f}") for name in low]
    for name, values, errors in rows:
        shares = {
            f"k = {k}": f"{x:.2f}" for k, x in zip(shown, np.mean(values, axis=0), strict=True)
        }
        yield {"rows a group": size, "limits": name} | shares | {"errors": errors}


def error_of_any(y, n, m, looks, tail):
    """Exact probability that a lower limit at some look is too high, for labels from the top."""
    alive, n_pos, wrong = np.ones((1, 1)), 0, 0.0
    for place in range(len(y) + 1):
        drawn = place - looks[looks <= place]
        hits = np.arange(n_pos + 1)
        misses = drawn[:, np.newaxis] - hits
        logs = log_binomial(n_pos, hits) + log_binomial(place - n_pos, misses)
        chances = np.exp(logs - log_binomial(place, drawn)[:, np.newaxis])
        errs = np.cumsum(chances[:, ::-1], axis=1)[:, ::-1] <= tail
        look, x = np.nonzero(errs & (misses >= 0) & (misses <= place - n_pos))
        z = misses[look, x]
        total = np.add.outer(np.arange(n_pos + 1.0), np.arange(place - n_pos + 1.0))
        next_labelled = np.clip((n - total) / max(n + m - place, 1), 0.0, 1.0)
        to_batch = alive * (1.0 - next_labelled)
        wrong += to_batch[x, z].sum()
        to_batch[x, z] = 0.0
        if place == len(y):
            return wrong
        grown = [(0, int(y[place])), (0, 1 - int(y[place]))]
        moved = [g[::-1] for g in grown]
        alive = np.pad(to_batch, grown) + np.pad(alive * next_labelled, moved)
        n_pos += int(y[place])


def study_of_worst_labels(n, m, first, last, error):
    rng, looks = seeded("worst labels", n, m, first), _looks(np.arange(first, last + 1))
    tail = tail_of_looks(tuple(looks.tolist()), n, m, error)
    n_places = min(int(last * (n + m) / m + 6.0 * np.sqrt(last * n * (n + m)) / m), n + m - 1)
    early = int(first * (n + m) / m)
    place = np.arange(n_places)

    def of_share(share):
        return np.diff(np.floor(share * np.arange(n_places + 1)))

    shares = [of_share(share) for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    few = [
        np.where(place < early, of_share(min(k / early, 0.5)), place % 2) for k in (2, 4, 8, 16)
    ]
    few += [1 - y for y in few]
    kinds = {"one share": shares, "few of a class first": few}
    errors = {
        kind: [error_of_any(y, n, m, looks, tail) for y in labels]
        for kind, labels in kinds.items()
    }
    worst, y = max(
        found
        for kind in kinds
        for found in zip(errors[kind], map(tuple, kinds[kind]), strict=True)
    )
    for _ in range(60):
        start = int(np.exp(rng.uniform(0.0, np.log(n_places)))) - 1
        changed = np.array(y)
        stretch = changed[start : start + 1 + int(0.3 * rng.exponential() * (start + 3))]
        stretch[:] = rng.random(len(stretch)) < rng.random()
        at_changed = error_of_any(changed, n, m, looks, tail)
        if at_changed > worst:
            worst, y = at_changed, tuple(changed)
    yield {
        "labelled": n,
        "batch": m,
        "k": f"{first} to {last}",
        "error": error,
        "tail": f"{tail:.4f}",
        "looks": len(looks),
        **{kind: f"{max(found):.4f}" for kind, found in errors.items()},
        "after the search": f"{worst:.4f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=LISTS, default=list(LISTS))
    parser.add_argument("--splits", type=int, default=400)
    parser.add_argument("--groups", action="store_true", help="rows in groups")
    parser.add_argument("--worst", action="store_true", help="labels that err most")
    arguments = parser.parse_args()
    print(describe_machine())
    if arguments.worst:
        rows = [row for cell in CELLS for row in study_of_worst_labels(*cell)]
        print(format_table(rows, [(name, name, "") for name in rows[0]]))
        return
    if arguments.groups:
        rows = [row for size in (1, 3, 10) for row in study_of_groups(size, arguments.splits)]
        print(format_table(rows, [(name, name, "") for name in rows[0]]))
        return
    for name in arguments.only:
        y, *scores = POPULATIONS[name]()
        rows = []
        for who, score in zip(("champion", "challenger"), scores, strict=True):
            rows += study(f"{name}, {who}", y, score, arguments.splits)
        columns = ["list", "limits", *(f"k = {k}" for k in NUMBERS), "errors"]
        print(format_table([{"errors": ""} | row for row in rows], [(c, c, "") for c in columns]))


if __name__ == "__main__":
    main()
