"""The fixed list of cases that two versions are timed on.

A case takes the imported package and returns a function without arguments, which is timed, and
whose numbers are compared. Where the versions call a thing by different names, the case looks
for either; such places are the functions above the first group.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import inputs
import numpy as np
import sklearn
from scipy import sparse
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score

LOSSES = ("pairwise_logistic", "softmax", "pointwise_squared")
MEASURES = {
    "ndcg@10, exponential": ("ndcg_score", {"k": 10, "gain": "exponential"}),
    "ndcg@10, linear": ("ndcg_score", {"k": 10, "gain": "linear"}),
    "ap": ("average_precision_score", {}),
    "err": ("expected_reciprocal_rank_score", {"max_grade": 4}),
    "rr": ("reciprocal_rank_score", {}),
    "rbp": ("rank_biased_precision_score", {"persistence": 0.8, "max_grade": 4}),
    "precision@10": ("precision_at_k_score", {"k": 10}),
    "spearman": ("spearman_score", {}),
}
GRADED = ("ndcg_score", "expected_reciprocal_rank_score", "spearman_score")
GRADED += ("rank_biased_precision_score",)


@dataclass(frozen=True)
class Case:
    """One thing to time.

    Parameters
    ----------
    group : str
        One of ``GROUPS``.
    name : str
        Shown in the table.
    make : callable
        The imported package to the function that is timed.
    large : bool, default=False
        Whether only --all runs it.
    """

    group: str
    name: str
    make: Callable
    large: bool = False


# ------------------------------------------------------------------ names that versions changed


def rank_svm(package, loss, alpha, **parameters):
    """RankSVM by the strength of its penalty, whose inverse other versions call ``C``."""
    known = package.RankSVM().get_params()
    strength = {"alpha": alpha} if "alpha" in known else {"C": 1 / alpha}
    return package.RankSVM(loss, **strength, **parameters)


# ------------------------------------------------------------------------------------- metrics


def steps(u):
    """A score-generating function of a user."""
    return u * u * (3 - 2 * u)


def on_list(function, n, ties, package, **parameters):
    y, score = inputs.one_list(n, ties)
    return partial(getattr(package.metrics, function), y, score, **parameters)


def top_dcg(n, ties, package):
    phi = package.metrics.TopDCG(100)
    return on_list("linear_rank_score", n, ties, package, phi=phi, normalize=None)


def on_queries(function, ids, parameters, package):
    grade, score, qid = inputs.queries(ids)
    y = grade if function in GRADED else (grade > 1).astype(int)
    return partial(getattr(package.metrics, function), y, score, qid=qid, **parameters)


def metric_cases():
    """Measures of one list with and without ties, and of queries by kind of ids."""
    single = {
        "roc_auc": partial(on_list, "roc_auc_score"),
        "local_auc": partial(on_list, "local_auc_score", u0=0.9, normalize="minmax"),
        "bedroc": partial(on_list, "bedroc_score", alpha=20.0),
        "power 4": partial(on_list, "p_norm_push_score", p=4.0, normalize="minmax"),
        "van der Waerden": partial(
            on_list, "linear_rank_score", phi="van_der_waerden", normalize="mean"
        ),
        "TopDCG 100": top_dcg,
        "callable phi": partial(on_list, "linear_rank_score", phi=steps, normalize="mean"),
    }
    for n, size in ((10_000, "1e4"), (1_000_000, "1e6"), (10_000_000, "1e7")):
        for ties in (False, True):
            for name, make in single.items():
                if n <= 1_000_000 or name == "roc_auc":
                    label = f"{name}, {size}{', ties' if ties else ''}"
                    usual = n == 1_000_000 and (not ties or name == "roc_auc")
                    yield Case("metrics", label, partial(make, n, ties), large=not usual)
    for name, make in corners().items():
        yield Case("metrics", name, make)
    for ids in ("sorted", "shuffled", "strings"):
        for name, (function, parameters) in MEASURES.items():
            make = partial(on_queries, function, ids, parameters)
            yield Case("metrics", f"{name}, {ids} ids", make, large=ids != "sorted")


def weighted(function, whole, package, **parameters):
    """Weights of rows: whole numbers, or fractions."""
    y, score = inputs.one_list(1_000_000)
    weight = np.random.default_rng(6).integers(1, 4, len(y)) * (1.0 if whole else 0.7)
    return partial(
        getattr(package.metrics, function), y, score, sample_weight=weight, **parameters
    )


def rare_relevance(package):
    y = (np.random.default_rng(7).random(1_000_000) < 0.001).astype(int)
    score = inputs.one_list(1_000_000)[1]
    return partial(package.metrics.expected_reciprocal_rank_score, y, score, max_grade=1)


def words(package):
    y, score = inputs.one_list(1_000_000)
    return partial(
        package.metrics.roc_auc_score, np.where(y, "bad", "good"), score, pos_label="bad"
    )


def two_rankings(function, package):
    first, second = np.random.default_rng(8).normal(size=(2, 1_000_000))
    return partial(getattr(package.metrics, function), first, first + second)


def net_benefit(package):
    y, score = inputs.one_list(1_000_000)
    function, probability = package.inference.net_benefit_curve, 1 / (1 + np.exp(-score))
    return lambda: function(y, probability).net_benefit


def accumulated(measure, package):
    """A million rows in ten batches."""
    y, score = inputs.one_list(1_000_000)

    def call():
        accumulator = package.metrics.Accumulator(measure)
        for batch in range(10):
            accumulator.update(y[batch::10], score[batch::10])
        return accumulator.result()

    return call


def on_dask(function, package, **parameters):
    """A million rows in ten chunks, in one thread."""
    import dask
    import dask.array

    y, score = inputs.one_list(1_000_000)
    y, score = (dask.array.from_array(values, chunks=100_000) for values in (y, score))

    def call():
        with dask.config.set(scheduler="synchronous"):
            return getattr(package.metrics, function)(y, score, **parameters)

    return call


def corners():
    """What is off the main road: weights, words, rankings, batches and collections."""
    top = {"tau": 0.01}
    return {
        "roc_auc, whole weights, 1e6": partial(weighted, "roc_auc_score", True),
        "roc_auc, weights, 1e6": partial(weighted, "roc_auc_score", False),
        "precision at the top, 1e6": partial(
            on_list, "precision_at_top_score", 1_000_000, False, **top
        ),
        "precision at the top, weights, 1e6": partial(
            weighted, "precision_at_top_score", False, **top
        ),
        "err, one in 1,000 relevant, 1e6": rare_relevance,
        "roc_auc of words, 1e6": words,
        "tau_b, 1e6": partial(two_rankings, "tau_b_score"),
        "spearman, 1e6": partial(two_rankings, "spearman_score"),
        "net benefit curve, 1e6": net_benefit,
        "Accumulator of auc, 1e6": partial(accumulated, "auc"),
        "roc_auc of dask arrays, 1e6": partial(on_dask, "roc_auc_score"),
        "precision at the top of dask arrays, 1e6": partial(
            on_dask, "precision_at_top_score", **top
        ),
    }


# --------------------------------------------------------------------------------- small calls


def lists_of_python(package):
    y, score = inputs.one_list(10)
    return partial(package.metrics.roc_auc_score, y.tolist(), score.tolist())


def small_queries(function, n, package, **parameters):
    grade, score, qid = inputs.queries("sorted", n // 10, n)
    y = grade if function in GRADED else (grade > 0).astype(int)
    return partial(getattr(package.metrics, function), y, score, qid=qid, **parameters)


def interval_on(measure, n, package):
    y, score = inputs.one_list(n)
    if measure == "linear_rank":
        measure = package.metrics.get_measure(package.metrics.linear_rank_score, phi="wilcoxon")
    return partial(interval_numbers, package.inference.metric_interval, measure, y, score)


def interval_numbers(function, *arguments, **parameters):
    found = function(*arguments, **parameters)
    return found.estimate, found.low, found.high


def call_cases():
    """Few rows, where what each call costs whatever its rows shows."""
    yield Case("calls", "roc_auc, 10 rows in Python lists", lists_of_python)
    for n in (10, 100, 1000):
        makers = {
            "roc_auc": partial(on_list, "roc_auc_score", n, False),
            "bedroc": partial(on_list, "bedroc_score", n, False),
            "precision at the top": partial(on_list, "precision_at_top_score", n, False, tau=0.1),
            "ndcg@10 of queries": partial(small_queries, "ndcg_score", n, k=10),
            "ap of queries": partial(small_queries, "average_precision_score", n),
            "interval of auc": partial(interval_on, "auc", n),
        }
        for name, make in makers.items():
            yield Case("calls", f"{name}, {n} rows", make, large=n != 100)


# ------------------------------------------------------------------------------------- rankers


def at_top(data, package, **parameters):
    X, y = inputs.classes(*data)
    ranker = package.AccuracyAtTopRanker(0.05, **{"selection": "closest", **parameters})

    def fit():
        ranker.fit(X, y)
        return ranker.decision_function(X)

    return fit


def top_push(n, d, package, degenerate=False, **parameters):
    """Fit of Top Push; with labels that are noise the solution is zero."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(n, d))
    y = (rng.random(n) < 0.1) if degenerate else X[:, 0] + rng.normal(size=n) > 1.5
    ranker = package.TopPushRanker(**parameters)
    return lambda: ranker.fit(X, y.astype(int)).decision_function(X[:100])


def top_scored(method, package):
    X, y = inputs.classes("spambase", 3000, 57)
    some = slice(None, None, len(y) // 200)
    ranker = package.AccuracyAtTopRanker(0.05, C=0.01, selection="closest").fit(X[some], y[some])
    if method == "score":
        return partial(ranker.score, X, y)
    return partial(getattr(ranker, method), X)


def query_ranker(make, package, data=inputs.graded, as_sparse=False):
    X, y, qid = data(package.datasets.load_letor) if data is inputs.mq2008 else data()
    X = sparse.csr_array(X) if as_sparse else X
    ranker = make(package)

    def fit():
        ranker.fit(X, y, qid=qid)
        return ranker.coef_

    return fit


def order_preserving(loss, package):
    return package.OrderPreservingRanker(loss, measure="ndcg@10", alpha=1.0)


def svm(loss, package):
    return rank_svm(package, loss, 1000.0, measure="ndcg@10")


def query_scored(method, package):
    X, y, qid = inputs.graded()
    ranker = order_preserving("softmax", package).fit(X[:2000], y[:2000], qid=qid[:2000])
    if method == "score":
        return partial(ranker.score, X, y, qid=qid)
    return partial(ranker.predict, X)


def ranker_cases():
    """Fits, and what fitted rankers do."""
    pima, spambase = ("pima_diabetes", 512, 8), ("spambase", 1500, 57)
    fits = {
        "AccuracyAtTopRanker, pima, 512 rows": partial(at_top, pima, C=0.1),
        "AccuracyAtTopRanker, refine, pima": partial(at_top, pima, C=0.1, selection="refine"),
        "AccuracyAtTopRanker, rbf, 300 rows": partial(
            at_top, ("pima_diabetes", 300, 8), C=0.1, kernel="rbf"
        ),
        "AccuracyAtTopRanker, spambase, 600 rows": partial(at_top, ("spambase", 600, 57), C=0.01),
        "AccuracyAtTopRanker, spambase, 1,500 rows": partial(at_top, spambase, C=0.01),
    }
    for name, make in fits.items():
        yield Case("rankers", name, make, large="1,500" in name)
    pushes = {
        "TopPushRanker, 20,000 x 20": partial(top_push, 20_000, 20, tau=0.1),
        "TopPushRanker, zero solution, 50,000 x 20": partial(
            top_push, 50_000, 20, tau=0.3, degenerate=True
        ),
        "TopPushRanker, 4,100 x 1,001": partial(top_push, 4_100, 1_001, tau=0.3, C=0.01),
    }
    for name, make in pushes.items():
        yield Case("rankers", name, make)
    for method in ("predict", "score"):
        name = f"AccuracyAtTopRanker.{method}, 3,000 rows"
        yield Case("rankers", name, partial(top_scored, method), large=method == "predict")
    made = {f"OrderPreservingRanker {loss}": partial(order_preserving, loss) for loss in LOSSES}
    made |= {f"RankSVM {loss}": partial(svm, loss) for loss in ("hinge", "squared_hinge")}
    for name, make in made.items():
        yield Case("rankers", f"{name}, MQ2008", partial(query_ranker, make, data=inputs.mq2008))
        label = f"{name}, 100,000 x 20 in 1,000 queries"
        yield Case("rankers", label, partial(query_ranker, make), large=True)
    make = partial(query_ranker, partial(order_preserving, "softmax"), as_sparse=True)
    yield Case("rankers", "OrderPreservingRanker softmax, CSR", make, large=True)
    for method in ("predict", "score"):
        name = f"OrderPreservingRanker.{method}, 100,000 rows"
        yield Case("rankers", name, partial(query_scored, method))


# ----------------------------------------------------------------------------------- inference


def paired(n, package):
    y, score = inputs.one_list(n)
    other = score + np.random.default_rng(5).normal(size=n)

    def call():
        found = package.inference.compare("auc", y, score, other)
        return found.statistic, found.pvalue, found.interval.low, found.interval.high

    return call


def over_queries(method, package):
    grade, qid, scores = inputs.systems()
    function = package.inference.metric_interval
    return partial(
        interval_numbers,
        function,
        "ndcg@10",
        grade,
        scores["system 0"],
        qid=qid,
        method=method,
        random_state=0,
    )


def paired_queries(method, package):
    grade, qid, scores = inputs.systems()

    def call():
        found = package.inference.compare(
            "ndcg@10",
            grade,
            scores["system 0"],
            scores["system 4"],
            qid=qid,
            method=method,
            random_state=0,
        )
        return found.estimate, found.pvalue, found.interval.low, found.interval.high

    return call


def five_rankers(package):
    grade, _, scores = inputs.systems()
    y = (grade > 1).astype(int)

    def call():
        if hasattr(package.inference, "compare_rankers"):
            found = package.inference.compare_rankers(y, scores, random_state=0)
            return np.append(found.estimates, [found.statistic, found.critical_value])
        found = package.inference.compare("auc", y, scores, random_state=0)
        z = np.abs(found.statistics)
        half = (found.high[0] - found.low[0]) / 2
        return np.append(found.values, [z.max(), half / found.difference_errors[0]])

    return call


def bound_search(package):
    from sklearn.linear_model import LogisticRegression

    X, y = inputs.classes("pima_diabetes", 512, 8)
    search = package.model_selection.BoundSearchCV(
        LogisticRegression(),
        {"C": [0.01, 0.1, 1.0, 10.0]},
        measure="auc",
        cv=KFold(5, shuffle=True, random_state=0),
        random_state=0,
    )

    def call():
        search.fit(X, y)
        return np.append(search.cv_results_["mean_test_score"], search.best_bound_)

    return call


def inference_cases():
    """Intervals and tests of one list, over queries, and a search by them."""
    for n, size in ((100_000, "1e5"), (1_000_000, "1e6")):
        large = n > 100_000
        for measure in ("auc", "linear_rank"):
            make = partial(interval_on, measure, n)
            yield Case("inference", f"interval of {measure}, {size}", make, large)
        yield Case("inference", f"compare auc, {size}", partial(paired, n), large)
    for method in ("t", "bca"):
        name = f"metric_interval {method}, 1,000 queries"
        yield Case("inference", name, partial(over_queries, method))
    for method in ("randomization", "t"):
        name = f"compare {method}, 1,000 queries"
        yield Case("inference", name, partial(paired_queries, method))
    yield Case("inference", "compare, 5 systems, 50,000 rows", five_rankers)
    yield Case("inference", "BoundSearchCV, 4 candidates, pima", bound_search)


# ------------------------------------------------------------------------------------- scorers


def validated(measure, package):
    from sklearn.linear_model import LogisticRegression

    X, y = inputs.classes("pima_diabetes", 512, 8)
    scorer = package.metrics.get_scorer(measure)
    return partial(cross_val_score, LogisticRegression(), X, y, scoring=scorer, cv=5)


def scorer_alone(package):
    from sklearn.linear_model import LogisticRegression

    X, y = inputs.classes("pima_diabetes", 512, 8)
    fitted = LogisticRegression().fit(X, y)
    return partial(package.metrics.get_scorer("auc"), fitted, X, y)


def routed(search, package):
    X, y, qid = inputs.mq2008(package.datasets.load_letor)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = package.metrics.get_scorer("ndcg@10")
        ranker = package.OrderPreservingRanker("softmax", measure="ndcg@10")
        grid = GridSearchCV(ranker, {"alpha": [0.1, 1.0]}, scoring=scorer, cv=GroupKFold(3))

    def call():
        with sklearn.config_context(enable_metadata_routing=True):
            if search:
                return grid.fit(X, y, groups=qid).cv_results_["mean_test_score"]
            return cross_val_score(
                ranker, X, y, scoring=scorer, cv=GroupKFold(3), params={"groups": qid}
            )

    return call


def scorer_cases():
    """Scorers alone, in cross-validation and in a search, ids of queries routed to them."""
    yield Case("scorers", "get_scorer auc, called on 512 rows", scorer_alone)
    for measure in ("auc", "precision@top0.1"):
        name = f"cross_val_score {measure}, pima"
        yield Case("scorers", name, partial(validated, measure))
    yield Case("scorers", "cross_val_score ndcg@10, MQ2008, routed", partial(routed, False))
    yield Case("scorers", "GridSearchCV ndcg@10, MQ2008, routed", partial(routed, True))


# --------------------------------------------------------------------- first calls of a process


def small_fit(make, package):
    return query_ranker(make, package, data=partial(inputs.graded, 200, 5, 10))


def first_cases():
    """Calls of a fresh process, in this order, each timed the first and the tenth time."""
    makers = {
        "roc_auc, 100 rows": partial(on_list, "roc_auc_score", 100, False),
        "ndcg@10 of queries, 100 rows": partial(small_queries, "ndcg_score", 100, k=10),
        "ap of queries, 100 rows": partial(small_queries, "average_precision_score", 100),
        "err of queries, 100 rows": partial(
            small_queries, "expected_reciprocal_rank_score", 100, max_grade=4
        ),
        "interval of auc, 100 rows": partial(interval_on, "auc", 100),
        "AccuracyAtTopRanker, 100 x 8": partial(at_top, ("pima_diabetes", 100, 8), C=0.1),
        "OrderPreservingRanker, 200 x 5": partial(
            small_fit, partial(order_preserving, "pairwise_logistic")
        ),
        "RankSVM, 200 x 5": partial(small_fit, partial(svm, "hinge")),
    }
    for name, make in makers.items():
        yield Case("first", name, make)


GROUPS = {
    "metrics": metric_cases,
    "calls": call_cases,
    "rankers": ranker_cases,
    "inference": inference_cases,
    "scorers": scorer_cases,
    "first": first_cases,
}


def cases_of(groups, large=True):
    """List the cases of some groups, in their order."""
    return [case for group in groups for case in GROUPS[group]() if large or not case.large]


def find_case(group, name):
    """Return one case."""
    return next(case for case in GROUPS[group]() if case.name == name)
