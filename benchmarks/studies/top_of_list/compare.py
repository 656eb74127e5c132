"""Paired tests of each method against its base, and the tables."""

from collections import defaultdict

import numpy as np
from scipy import stats

from sklearn_rank.inference._limits import holm_adjust

LEVEL = 0.05
BASES = ("logistic", "lightgbm")
KINDS = {"confirm": lambda test: test["kind"] == "confirm", "all": lambda test: True}


def base_of(method):
    """The method that another is held against."""
    first = method.split(",")[0]
    return first if first in BASES else "logistic"


def paired_test(difference, n_train, n_test, share):
    """Mean of paired differences over overlapping splits, and its two-sided p-value.

    The variance of the mean of J differences is their sample variance times ``1/J + r``, and
    ``r`` is what splits of one set have in common. Nadeau and Bengio (2003) take the ratio of the
    test rows to the training rows. Where a split uses a share h of the set, Hoeffding's bound of
    the variance of a U-statistic gives ``h / (1 - h)``, which is never too small and matters
    where the set is far larger than the split; the smaller of both is taken. Rows that were drawn
    for the split have h = 0. Two splits, or differences that are equal up to rounding because
    counts are, are no evidence: p is 1.
    """
    difference = np.asarray(difference)
    J, spread = len(difference), difference.std(ddof=1)
    common = min(n_test / n_train, share / (1 - share) if share < 1 else np.inf)
    error = spread * np.sqrt(1 / J + common)
    if spread < 1e-5 or J < 3:  # values have six digits
        return difference.mean(), error, 1.0
    return difference.mean(), error, 2 * stats.t.sf(abs(difference.mean()) / error, J - 1)


def compared(store):
    """Every set, measure and method against its base.

    Parameters
    ----------
    store : Store
        The values of the splits.

    Returns
    -------
    list of dict
        With the mean difference, its standard error, p-value and Holm's p-value over the sets.
    """
    values = defaultdict(dict)
    for row in store.rows.values():
        values[row["set"], row["kind"], row["method"]][int(row["split"])] = row
    found = defaultdict(list)
    for (name, kind, method), splits in values.items():
        base = values.get((name, kind, base_of(method)), {})
        common = sorted(splits.keys() & base.keys())
        if base_of(method) == method or len(common) < 2:
            continue
        sizes = [np.mean([float(splits[s][key]) for s in common]) for key in SIZES]
        more = {key: np.mean([float(splits[s][key] or 0) for s in common]) for key in store.more}
        for measure in store.measures:
            pairs = [(float(splits[s][measure]), float(base[s][measure])) for s in common]
            difference = [ours - theirs for ours, theirs in pairs]
            mean, error, p = paired_test(difference, *sizes)
            found[method, measure].append(
                {"set": name, "kind": kind, "method": method, "measure": measure}
                | {"base": np.mean([theirs for _, theirs in pairs]), "difference": mean}
                | {"error": error, "p": p, "splits": len(common)}
                | more
            )
    for tests in found.values():
        for test, adjusted in zip(tests, holm_adjust([t["p"] for t in tests]), strict=True):
            test["holm"] = adjusted
    return [test for tests in found.values() for test in tests]


SIZES = ("n_train", "n_test", "share")


def summary(tests):
    """Mean difference over sets with its standard error, and sets won and lost, as markdown."""
    lines, measures = [], measures_of(tests)
    for kind, belongs in KINDS.items():
        chosen = [test for test in tests if belongs(test)]
        if not chosen:
            continue
        lines += [f"\n**{kind}** ({len({t['set'] for t in chosen})} sets)\n"]
        lines += [_line(["method", *measures]), _line(["---", *["---:"] * len(measures)])]
        for method in dict.fromkeys(test["method"] for test in chosen):
            cells = [
                _cell([t for t in chosen if (t["method"], t["measure"]) == (method, measure)])
                for measure in measures
            ]
            lines.append(_line([method, *cells]))
    return "\n".join(lines)


def measures_of(tests):
    """The measures that were tested, in their order."""
    return [*dict.fromkeys(test["measure"] for test in tests)]


def fits(store):
    """What became of the fits of each method, as markdown."""
    columns = ["fits", "collapsed", "unfinished", "seconds"]
    lines = [_line(["method", "splits", *columns]), _line(["---", *["---:"] * 5])]
    for method in dict.fromkeys(row["method"] for row in store.rows.values()):
        rows = [row for row in store.rows.values() if row["method"] == method]
        counts = [f"{sum(float(row[key] or 0) for row in rows):.0f}" for key in columns]
        lines.append(_line([method, str(len(rows)), *counts]))
    return "\n".join(lines)


def _cell(tests):
    difference = np.array([test["difference"] for test in tests])
    error = difference.std(ddof=1) / np.sqrt(len(tests)) if len(tests) > 1 else np.nan
    sure = np.array([test["holm"] <= LEVEL for test in tests])
    won, lost = (sure & (difference > 0)).sum(), (sure & (difference < 0)).sum()
    return f"{difference.mean():+.3f} ± {error:.3f} ({won}/{lost})"


def by_set(tests, method):
    """The differences of one method on every set, as markdown; * if significant by Holm."""
    measures = measures_of(tests)
    lines = [_line(["set", "kind", *measures]), _line(["---", "---", *["---:"] * len(measures)])]
    of_method = [test for test in tests if test["method"] == method]
    for name in dict.fromkeys(test["set"] for test in of_method):
        of_set = {test["measure"]: test for test in of_method if test["set"] == name}
        cells = []
        for measure in measures:
            test = of_set[measure]
            star = "*" if test["holm"] <= LEVEL else ""
            cells.append(f"{test['base']:.3f} {test['difference']:+.3f}{star}")
        lines.append(_line([name, next(iter(of_set.values()))["kind"], *cells]))
    return "\n".join(lines)


def _line(cells):
    return f"| {' | '.join(cells)} |"
