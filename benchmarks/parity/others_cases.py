"""Losses, calibration, bounds, clicks, data sets, grades, and the signatures of all names."""

import importlib
import inspect
import pkgutil
from functools import partial
from pathlib import Path

import inputs as i
import numpy as np
from metrics_cases import NAMES, attempts
from sklearn.linear_model import LogisticRegression

import sklearn_rank
from sklearn_rank import bounds, calibration, clicks, datasets, losses, preprocessing
from sklearn_rank.metrics import Accumulator

GRADES = np.r_[0, 1, 2, 0, 3, 1, 0, 2, 2, 1].astype(float)
SCORES = np.round(np.random.default_rng(1).normal(size=10), 3)
OFFSETS = [0, 4, 10]
METHODS = ("value", "value_and_gradient", "curvature", "gradient_and_curvature")


def public_modules():
    for module in pkgutil.iter_modules(sklearn_rank.__path__):
        if not module.name.startswith("_"):
            yield importlib.import_module(f"sklearn_rank.{module.name}")


def name_cases():
    yield "names", lambda: sorted(set(sklearn_rank.__all__) - {"__version__"})
    for module in public_modules():
        short = module.__name__.rpartition(".")[2]
        yield f"names of {short}", partial(sorted, getattr(module, "__all__", ()))
        for name in getattr(module, "__all__", ()):
            yield f"signatures of {short}.{name}", partial(signatures, getattr(module, name))


def signatures(value):
    """Parameters and defaults of a function, or of a class and its public methods."""
    if not isinstance(value, type):
        return signature(value)
    methods = {name: getattr(value, name) for name in dir(value) if not name.startswith("_")}
    bases = [base.__name__ for base in value.__mro__ if not base.__name__.startswith("_")]
    if not issubclass(value, Exception):
        bases = []
    shown = {name: signature(m) if callable(m) else "" for name, m in methods.items()}
    return {"bases": bases, "": signature(value), **shown}


def signature(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return "unknown"
    return [f"{p.kind.name} {p.replace(annotation=inspect.Parameter.empty)}" for p in parameters]


def falling(margin):
    return np.exp(-margin)


def slope(margin):
    return -np.exp(-margin)


def loss_cases():
    made = {name: partial(losses.get_loss, name) for name in losses.get_loss_names(aliases=True)}
    made |= {
        "hinge, margin": partial(losses.ComparisonHinge, 2.0),
        "squared hinge, margin": partial(losses.ComparisonSquaredHinge, 0.5),
        "pointwise_exponential, eta": partial(losses.PointwiseExponential, 2.0),
        "pointwise_logistic, eta": partial(losses.PointwiseLogistic, 2.0),
        "pointwise_squared_hinge, t": partial(losses.PointwiseSquaredHinge, 2.0, 3.0),
        "differentiable hinge, width": partial(losses.PointwiseDifferentiableHinge, 1.0, 0.1),
        "convex": partial(losses.PairwiseConvex, falling, slope, falling),
        "convex without second derivative": partial(losses.PairwiseConvex, falling, slope),
        "Bregman": partial(
            losses.ListwiseBregman, lambda s: 0.5 * (s**2).sum(), lambda s: s, lambda u: u
        ),
    }
    for name, make in made.items():
        yield f"loss {name}", partial(loss_used, make, GRADES)
        yield f"loss {name}, binary", partial(loss_used, make, (GRADES > 1).astype(float))
        yield (
            f"loss {name}, weights",
            partial(loss_used, make, GRADES, sample_weight=np.arange(10), query_weight=[1, 3]),
        )
        yield f"loss {name}, one list", partial(loss_used, make, GRADES / 3, None)
        yield f"loss {name}, large scores", partial(loss_used, make, GRADES, scale=300)
        for kind, utility in i.bad_arrays(GRADES).items():
            yield f"loss {name} refuses? utility: {kind}", partial(loss_used, make, utility)
        for kind, scores in i.bad_arrays(SCORES).items():
            yield (
                f"loss {name} refuses? score: {kind}",
                partial(
                    lambda make, scores: make().on(GRADES, OFFSETS).value(scores), make, scores
                ),
            )
        for kind, offsets in {"short": [0, 4], "order": [0, 6, 4, 10], "word": "a"}.items():
            yield (
                f"loss {name} refuses? offsets: {kind}",
                partial(loss_used, make, GRADES, offsets),
            )
    for name in ("unknown", "hinge", "logistic", "pairwise", 3, None):
        yield f"get_loss({name!r})", partial(losses.get_loss, name)
    yield "get_loss, unknown parameter", partial(losses.get_loss, "softmax", eta=3)
    for flag in (None, True, False):
        yield f"get_loss_names {flag}", partial(losses.get_loss_names, order_preserving=flag)
    for name in losses.__all__:
        if isinstance(getattr(losses, name), type) and name != "TemplateLoss":
            yield from i.refusals(f"loss {name}", getattr(losses, name))


def loss_used(make, utility, offsets=OFFSETS, scale=1, **weights):
    loss = make()
    on = loss.on(utility, offsets, **weights)
    told = {"loss": loss, "on": repr(on)}
    for method in METHODS:
        told[method] = tried(getattr(on, method), scale * SCORES)
    told["product"] = tried(on.hessian_product, scale * SCORES, np.arange(10.0))
    told["minimizer"] = tried(loss.minimizer, utility)
    told["constants"] = [tried(loss.regret_constant, most) for most in (None, 1.0, 3.0)]
    return told


def tried(function, *arguments, **more):
    try:
        return function(*arguments, **more)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def calibration_cases():
    for name in NAMES:
        y = i.grades if name.startswith(("ndcg", "dcg", "err", "rb", "tau", "top", "s")) else i.y
        yield f"utility {name}", partial(calibration.utility, name, y)
        yield f"utility {name}, queries", partial(calibration.utility, name, y, qid=i.qid)
        yield f"discount_norm {name}", partial(calibration.discount_norm, name, 10)
        yield f"discount_norm {name}, p", partial(calibration.discount_norm, name, 10, 1.0)
        for loss in losses.get_loss_names():
            yield (
                f"regret_bound {loss}, {name}",
                partial(calibration.regret_bound, loss, name, 0.01, [5, 10], max_utility=1.0),
            )
    for loss in losses.get_loss_names():
        for name in ("ndcg", "dcg@2", "spearman", "ap", "precision@2", "rr", "err"):
            yield (
                f"check_calibration {loss}, {name}",
                partial(calibration.check_calibration, loss, name, n_trials=3, random_state=0),
            )
        yield (
            f"list_regret_bound {loss}",
            partial(
                calibration.list_regret_bound, loss, "ndcg", 0.01, [1.0, 0.5, 0.2], [0.1, 2.0, 0.3]
            ),
        )
    yield from i.refusals("utility", calibration.utility, measure="ndcg", y_true=i.grades)
    yield from i.refusals("discount_norm", calibration.discount_norm, measure="ndcg", n_items=5)
    bound = {"loss": "pairwise_logistic", "measure": "ndcg", "surrogate_regret": 0.01}
    yield from i.refusals("regret_bound", calibration.regret_bound, **bound, n_items=10)
    yield from i.refusals(
        "list_regret_bound",
        calibration.list_regret_bound,
        **bound,
        expected_utility=[1.0, 0.5],
        score=[0.1, 2.0],
    )
    yield from i.refusals(
        "check_calibration",
        calibration.check_calibration,
        *("loss", "measure", "n_items", "labels", "margin"),
        loss="pairwise_logistic",
        measure="ndcg",
        n_trials=3,
        random_state=0,
    )


def bound_cases():
    size, rank = {"n_pos": 20, "n_neg": 40}, {"rank_pos": np.arange(1, 41, 2), "n": 60}
    kinds = [
        tried(bounds.FunctionClass, *k) for k in (("linear", 5), ("polynomial", 5, 2), ("a", 1))
    ]
    yield "FunctionClass", lambda: kinds
    arguments = {
        "accuracy_at_top_margin_bound": {
            "margins_neg": i.score[i.y == 0],
            "margins_pos": i.score[i.y == 1],
            "delta": 0.05,
            "radius": 3.0,
            "norm": 1.0,
        },
        "auc_bound": {**size, "delta": 0.05, "auc": 0.8},
        "auc_deviation_bound": {"epsilon": 0.3, **size},
        "auc_fold_mean_bound": {"n_pos": [10, 9], "n_neg": [20, 21], "delta": 0.05},
        "auc_margin_bound": {
            "score_pos": i.score[i.y == 1],
            "score_neg": i.score[i.y == 0],
            "delta": 0.05,
            "radius": 3.0,
            "norm": 1.0,
        },
        "auc_sample_size_bound": {"epsilon": 0.1, "delta": 0.05, "prevalence": 0.3},
        "auc_variance_bound": size,
        "linear_rank_bound": {"n": 60, "n_pos": 20, "delta": 0.05, "lipschitz": 1.0},
        "linear_rank_sandwich_bound": {**rank, "delta": 0.05, "phi": np.square},
        "linear_rank_selection_bound": {
            "n": 6000,
            "n_pos": 2000,
            "delta": 0.05,
            "vc_dimension": 3,
            "lipschitz": 1.0,
        },
        "plug_in_rank_bound": {"error": 0.1, "prevalence": 0.3},
        "pooled_distribution_bound": {"n": 60, "delta": 0.05},
        "precision_at_top_bound": {**rank, "delta": 0.05, "tau": 0.2},
    }
    options = {
        "method": ("tightest", "kl", "hoeffding", "mcdiarmid", "chebyshev", "exact", "bernstein"),
        "side": ("both", "lower", "upper"),
        "labels": ("fixed", "random"),
        "design": ("bipartite", "pairs"),
        "function_class": (3, bounds.FunctionClass("linear", 5)),
        "auc": (None, 1.0),
        "expected_auc": (0.8, 1.0),
        "variance": (0.01,),
        "n_functions": (1, 5),
        "height": (2.0,),
        "rho": (0.5,),
        "fixed": (True,),
    }
    for name, keywords in arguments.items():
        function = getattr(bounds, name)
        yield name, partial(function, **keywords)
        for option in options.keys() & inspect.signature(function).parameters.keys():
            for value in options[option]:
                yield f"{name} {option}={value}", partial(function, **{**keywords, option: value})
        yield from i.refusals(name, function, **keywords)


def click_cases():
    y = i.rng.integers(0, 2, 40)
    score, qid = np.round(i.rng.normal(size=40), 4), np.repeat(np.arange(8), 5)
    for intervention in (None, "swap", "random", "unknown"):
        for more in ({}, {"k": 3}, {"noise": 0.1, "eta": 2.0}):
            yield (
                f"make_clicks {intervention}, {more}",
                lambda intervention=intervention, more=more: dict(
                    datasets.make_clicks(
                        y,
                        score,
                        qid,
                        n_sessions=60,
                        intervention=intervention,
                        random_state=0,
                        **more,
                    )
                ),
            )
    arguments = {"y": y, "y_score": score, "qid": qid, "n_sessions": 60, "random_state": 0}
    yield from i.refusals("make_clicks", datasets.make_clicks, **arguments)
    swaps = datasets.make_clicks(y, score, qid, intervention="swap", random_state=0)
    shown = {"clicks": swaps.clicks, "position": swaps.position, "qid": swaps.qid}
    more = {"exchanged": swaps.exchanged, "swapped": swaps.swapped}
    for groups in (None, swaps.qid // 3):
        yield (
            f"swap_propensities {groups is None}",
            partial(clicks.swap_propensities, **shown, **more, groups=groups),
        )
        yield (
            f"random_order_propensities {groups is None}",
            partial(clicks.random_order_propensities, **shown, groups=groups),
        )
    yield from i.refusals("swap_propensities", clicks.swap_propensities, **shown, **more)
    yield from i.refusals("random_order_propensities", clicks.random_order_propensities, **shown)
    features = np.round(i.rng.normal(size=(len(swaps.qid), 2)) + swaps.clicks[:, None], 3)
    em = {"X": features, "clicks": swaps.clicks, "position": swaps.position}
    em |= {"classifier": LogisticRegression(), "max_iter": 5}
    yield "em_propensities", partial(clicks.em_propensities, **em)
    yield from i.refusals("em_propensities", clicks.em_propensities, **em)


LETOR = """\
2 qid:1 1:0.5 2:1.5 3:0 # doc a
0 qid:1 1:0.25 3:1 # doc b
1 qid:2 2:0.125
0 qid:2 1:1
"""
TEXTS = {
    "letor": LETOR,
    "zero based": LETOR.replace(" 1:", " 0:"),
    "no qid": LETOR.replace("qid:1", ""),
    "bad value": LETOR.replace("1.5", "x"),
    "bad index": LETOR.replace("2:1.5", "a:1.5"),
    "bad grade": "x" + LETOR,
    "descending": "1 qid:1 3:1 2:1\n",
    "empty": "",
    "apart": LETOR + LETOR,
}
RUN = "q1 Q0 a 1 0.9 me\nq1 Q0 b 2 0.5 me\nq1 Q0 c 3 0.5 me\nq2 Q0 a 1 0.4 me\nq4 Q0 a 1 0.4 me\n"
QRELS = "q1 0 a 0\nq1 0 b 1\nq1 0 d 2\nq2 0 a 0\nq3 0 f 1\n"
ORDERS = "A1,A2,ranking\n0.5,1.5,a>b>c\n0.25,1,b>a>c\n1,2,c>a\n"


def wrote(text, function, *more, **keywords):
    """What a function reads from a file with a text."""
    Path("data.txt").write_text(text)
    return function("data.txt", *more, **keywords)


def data_cases():
    for name, text in TEXTS.items():
        for more in (
            {},
            {"sparse": True},
            {"comments": True},
            {"zero_based": True},
            {"n_features": 5},
        ):
            yield f"load_letor {name}, {more}", partial(wrote, text, datasets.load_letor, **more)
        yield f"letor_to_parquet {name}", partial(parquet, text)
    for name, run in {"run": RUN, "bad": RUN + "q1 Q0\n", "twice": RUN + RUN, "empty": ""}.items():
        yield f"load_trec_run {name}", partial(wrote, run, datasets.load_trec_run)
        for complete in (None, True, False):
            yield f"join_qrels {name}, {complete}", partial(joined, run, complete=complete)
    for name, qrels in {"qrels": QRELS, "bad": QRELS + "x\n", "twice": QRELS * 2}.items():
        yield f"load_qrels {name}", partial(wrote, qrels, datasets.load_qrels)
    for more in ({}, {"return_X_y": True}, {"as_frame": True}):
        yield f"load_ionosphere {more}", partial(datasets.load_ionosphere, **more)
    makers = {
        "make_bipartite_ranking": {"n_samples": 50, "prevalence": 0.2},
        "make_label_ranking": {"n_samples": 20},
        "make_subset_ranking": {"n_queries": 6, "n_items": (3, 8)},
    }
    options = {
        "structure": ("linear", "nonlinear", "unknown"),
        "noise": ("plackett_luce", "mallows", None, 0.5),
        "ties": (0.3,),
        "missing": (0.3,),
        "utility": ("linear", "logistic", "exponential", "product", "unknown"),
        "heteroscedastic": (True,),
        "return_X_y": (True,),
    }
    for name, keywords in makers.items():
        function = partial(getattr(datasets, name), **keywords, random_state=0)
        yield name, function
        for option in (
            options.keys() & inspect.signature(getattr(datasets, name)).parameters.keys()
        ):
            for value in options[option]:
                yield f"{name} {option}={value}", partial(function, **{option: value})
        yield from i.refusals(name, getattr(datasets, name), **keywords)
    parts = [slice(0, 25), slice(25, 40), slice(40, None)]

    rows = [{"y_true": i.y[p], "y_score": i.score[p]} for p in parts]
    for name in ("auc", "ap", "ndcg@10"):
        yield (
            f"Accumulator.from_batches {name}, {{}}",
            lambda name=name: attempts(Accumulator.from_batches(rows, name), "result"),
        )


def parquet(text):
    wrote(text, datasets.letor_to_parquet, "folder")
    return sorted(path.name for path in Path("folder").iterdir())


def joined(run, **more):
    qrels = wrote(QRELS, datasets.load_qrels, **more)
    return dict(datasets.join_qrels(wrote(run, datasets.load_trec_run), qrels))


def grade_cases():
    for method in ("zscore", "minmax", "max", "rank", "sum", "unknown"):
        for signed_log in (False, True):
            normalizer = preprocessing.QueryNormalizer(method, signed_log=signed_log)
            yield (
                f"QueryNormalizer {method}, {signed_log}",
                partial(lambda normalizer: normalizer.fit_transform(i.X, qid=i.qid), normalizer),
            )
    yield from i.refusals(
        "QueryNormalizer.transform",
        preprocessing.QueryNormalizer().transform,
        apply=lambda **data: preprocessing.QueryNormalizer().fit(i.X).transform(**data),
        X=i.X,
        qid=i.qid,
    )
    positions = np.argsort(np.argsort(i.X)) + 1
    forms = {
        "utilities": i.X,
        "positions": positions,
        "missing": np.where(positions == 2, np.nan, positions),
        "ties": np.minimum(positions, 3),
        "texts": ["a>b>c", "b>a>c"],
        "lists": [["a", "b"], ["b", "a"]],
        "text of ties": ["a>b=c", "b>a>c"],
        "unknown": [3, 4],
        "repeated": ["a>a"],
    }
    for name, y in forms.items():
        for kind in ("auto", "positions", "utilities", "orders", "unknown"):
            yield (
                f"label_grades {name}, {kind}",
                partial(preprocessing.label_grades, y, target_type=kind, return_labels=True),
            )


def cases():
    """Names and calls."""
    groups = (name_cases, loss_cases, calibration_cases, bound_cases, click_cases, data_cases)
    for group in (*groups, grade_cases):
        for name, call in group():
            yield f"others {name}", call
