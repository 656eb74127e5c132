"""Accuracy at the top with parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from itertools import product
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
import sklearn.metrics
from scipy.stats import rankdata
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from .._order import top_mass
from .._sklearn_compat import (
    BaseScorer,
    Interval,
    StrOptions,
    fit_context,
    rows_at,
    with_callbacks,
)
from .._solvers import (
    CandidateValues,
    Selection,
    Top,
    most_blocks,
    select_solution,
    solve_candidates,
)
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import check_choice, check_number, check_share
from ..metrics import (
    Measure,
    ScoreGeneratingFunction,
    get_measure,
    get_scorer,
    smoothed_precision_at_top_score,
)
from ._accuracy_at_top import MANY_ROWS, AccuracyAtTopBase, AccuracyAtTopRanker, pivot_problem
from ._base import FitProgress, restored_on_error, warn_not_converged
from ._kernel_base import KernelMap, learned_scores
from ._two_classes import Fold, TwoClasses, mass_of_top, of_taken_rows, values_of_taken_rows

Rule = Literal["best", "one_standard_error"]

# Decimals to which means are compared.
DIGITS = 12


class TopGrid(NamedTuple):
    """All combinations of some values of four parameters, in the order of a ParameterGrid."""

    C: FloatArray  # (n_Cs,)
    quantile: tuple[str, ...]
    selection: tuple[Selection, ...]
    tau: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.C), len(self.quantile), len(self.selection), len(self.tau)

    def choose(self, scores: FloatArray, rule: Rule) -> tuple[int, BoolArray]:
        # Means that differ only by rounding are equal.
        mean, error = scores.mean(axis=0).round(DIGITS), standard_error(scores)
        best = int(np.argmax(mean))
        within = mean >= mean[best] - error[best]
        if rule == "one_standard_error":
            strongest = int(np.argmax(within.reshape(self.shape).any(axis=(1, 2, 3))))
            n_settings = mean.size // len(self.C)
            start = strongest * n_settings
            best = start + int(np.argmax(mean[start : start + n_settings]))
        return best, within

    def table(self, scores: FloatArray, within: BoolArray) -> dict[str, Any]:
        """Results in the form of ``cv_results_`` of scikit-learn's searches."""
        combinations = product(self.C.tolist(), *self[1:])
        settings = [dict(zip(self._fields, values, strict=True)) for values in combinations]
        mean = scores.mean(axis=0)
        columns: dict[str, Any] = {
            f"param_{name}": np.array([setting[name] for setting in settings])
            for name in self._fields
        }
        columns["params"] = settings
        columns |= {f"split{i}_test_score": of_fold for i, of_fold in enumerate(scores)}
        columns["mean_test_score"] = mean
        columns["std_test_score"] = scores.std(axis=0)
        columns["rank_test_score"] = rankdata(-mean.round(DIGITS), method="min").astype(np.int32)
        columns["standard_error"] = standard_error(scores)
        columns["within_one_standard_error"] = within
        return columns


def standard_error(scores: FloatArray) -> FloatArray:
    """Standard error of the mean over the folds, as if they were independent; NaN of one fold."""
    n_folds = len(scores)
    if n_folds < 2:
        return np.full(scores.shape[1], np.nan)
    return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(n_folds))


# Parameters by which a fitted ranker scores rows and is evaluated.
OF_SCORES = ("tau", "kernel", "gamma", "degree", "coef0", "kernel_params")


SELECTIONS = ("average", "closest", "objective", "refine")
QUANTILES = ("sample", "pairs")

FOLDS = 5

# Exponents of 10 of the smallest and greatest C, if ``Cs`` is a number.
C_RANGE = (-4, 0)


class AccuracyAtTopRankerCV(AccuracyAtTopBase):
    """Accuracy at the top with ``C`` and the selection rule chosen by cross-validation.

    The convex problems of :class:`AccuracyAtTopRanker` depend on ``C`` alone: their solutions
    serve every share of the top, every selection and both quantiles. A search over all four
    parameters costs one fit for each value of ``Cs`` in each fold, and one final fit to all rows.

    Parameters
    ----------
    tau : float, default=0.05
        Share of the rows that form the top of the list, in (0, 1). ``scoring=None`` and the
        threshold use it.
    Cs : int or array-like of shape (n_Cs,), default=5
        Values of ``C`` to try, positive. An int is the number of values, logarithmically spaced
        from 1e-4 to 1. With ``class_weight="pairs"`` costs are greater by a factor of about the
        number of rows of a class, so the values should be smaller.
    selections : sequence of {"average", "closest", "objective", "refine"}, \
            default=("average", "closest")
        Selection rules to try. "refine" takes far longer than the others.
    quantiles : sequence of {"sample", "pairs"}, default=("sample",)
        Values of ``quantile`` to try; see :class:`AccuracyAtTopRanker`.
    taus : array-like of shape (n_taus,) or None, default=None
        Shares of the top to train for, in (0, 1). None is ``tau`` alone. A ranker trained for
        another share can be better at ``tau``.
    cv : int, splitter, iterable or None, default=None
        Folds. An int is the number of stratified folds without shuffling; None is 5, or fewer if a
        class has fewer rows. An iterable yields pairs of training and test indices.
    scoring : str, Measure, callable or None, default=None
        Score by which parameters are chosen; greater is better. None is the precision at the top,
        smoothed over four shares (``"smoothed_precision@top"`` with ``tau``). Names and measures
        are those of :func:`sklearn_rank.metrics.get_scorer`; measures of queries treat all rows as
        one query. A callable has the signature ``scorer(estimator, X, y)``.
    rule : {"best", "one_standard_error"}, default="best"
        "best" takes the greatest mean score over the folds. "one_standard_error" takes the
        smallest ``C`` that is within one standard error of the greatest mean for some value of the
        other parameters, and the best of these values at that ``C``. Ties go to the smaller ``C``,
        then to the first value in ``quantiles``, ``selections`` and ``taus``.
    pos_label : int, float, bool, str or None, default=None
        The positive class: its rows are to be ranked at the top. None takes 1 if the labels are 0
        and 1 or -1 and 1, and otherwise the greater label, with a warning.
    class_weight : {"balanced", "pairs"}, dict or None, default="balanced"
        Factor on ``C`` for each class, as for :class:`AccuracyAtTopRanker`.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Kernel. With "precomputed", ``fit`` takes the square kernel matrix of the rows.
    gamma : float or None, default=None
        Coefficient of "rbf", ``exp(-gamma |x - z|^2)``, and "poly", ``(gamma x.z +
        coef0)^degree``. None is ``1 / n_features``.
    degree : float, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=1
        Constant term of the "poly" kernel.
    kernel_params : dict or None, default=None
        Keyword arguments of a callable kernel.
    solver : {"auto", "newton", "cvxpy"}, default="auto"
        As for :class:`AccuracyAtTopRanker`.
    tol : float, default=1e-6
        Tolerance on the relative duality gap of each convex problem, positive.
    max_iter : int, default=500
        Maximum number of iterations (Newton or interior-point steps) for one problem.
    n_jobs : int or None, default=None
        Number of workers. None is 1 unless in a :obj:`joblib.parallel_config` context, -1 uses all
        cores. Workers are threads unless that context sets another backend; see Notes. The result
        does not depend on it.
    verbose : int, default=0
        1 writes the estimated remaining time to the standard error, after 2, 4, 8 ... blocks of 32
        candidates. 0 is silent.

    Attributes
    ----------
    C_ : float
        The ``C`` that was chosen.
    selection_ : str
        The selection that was chosen.
    quantile_of_ : str
        The ``quantile`` that was chosen.
    tau_ : float
        The share of ``taus`` that was chosen, for which the ranker is trained.
    best_params_ : dict
        The four chosen values, by their parameter names in :class:`AccuracyAtTopRanker`.
    best_index_ : int
        Index in ``cv_results_`` of the chosen setting.
    best_score_ : float
        Mean score of the chosen setting over the folds.
    Cs_ : ndarray of shape (n_Cs,)
        The values of ``C``, ascending.
    scores_ : ndarray of shape (n_folds, n_Cs, n_quantiles, n_selections, n_taus)
        Score of each setting in each fold.
    cv_results_ : dict
        Results of all settings, as in :class:`sklearn.model_selection.GridSearchCV`, with two
        further columns: "standard_error" (of the mean score, as if folds were independent) and
        "within_one_standard_error" (of the greatest mean score).
    n_splits_ : int
        Number of folds.
    scorer_ : callable
        The scorer.
    classes_ : ndarray of shape (2,)
        The classes, ascending.
    pos_label_ : object
        The positive class.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the features, fitted to all rows. Only for ``kernel="linear"``.
    dual_coef_, support_, X_fit_ : ndarray
        As in :class:`AccuracyAtTopRanker`. Only for other kernels.
    intercept_ : ndarray of shape (1,)
        ``-threshold_``.
    quantile_ : float
        The top ``tau`` quantile of the training scores ``X @ coef_``; if the first class is
        positive, the quantile that cuts off the ``tau`` lowest.
    threshold_ : float
        Midpoint between the quantile and the next distinct score below the top. The top ``tau`` of
        the rows (of the members of pairs, if ``quantile_of_`` is "pairs") lie beyond it, whatever
        ``tau_`` is. With a kernel or fewer than 10 rows a feature it is of out-of-fold scores, as
        in :class:`AccuracyAtTopRanker`.
    pivot_index_, quantile_distance_, objective_, objective_top_, lower_bound_ : object
        As in :class:`AccuracyAtTopRanker` with ``best_params_``, and so at ``tau_``.
    optimality_gap_, dual_gap_, converged_, n_iter_, average_ : object
        As in :class:`AccuracyAtTopRanker` with ``best_params_``.
    candidate_indices_, candidate_objectives_, candidate_distances_ : ndarray
        As in :class:`AccuracyAtTopRanker` with ``best_params_``.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    AccuracyAtTopRanker : The ranker for given parameters.
    sklearn.model_selection.GridSearchCV : Refits every setting; searches over any parameter.
    sklearn_rank.model_selection.BoundSearchCV : Chooses models by lower confidence limits.

    Notes
    -----
    With the same folds and scorer, ``GridSearchCV`` over :class:`AccuracyAtTopRanker` gives the
    same scores and choice, but takes 7 times as long for 3 selections and 3 shares. "refine"
    solves some hundreds of further problems for each quantile and share, which cannot be shared:
    with it the search can take thirty times as long.

    ``best_score_`` is the greatest of many means and therefore optimistic. To report a score, use
    rows that are in no fold.

    Pipeline steps before the ranker are fitted outside the folds: in
    ``make_pipeline(StandardScaler(), AccuracyAtTopRankerCV())`` the means and scales are those of
    all rows, held-out ones included. For a scaler this is mostly harmless. If a step uses ``y``,
    search over the whole pipeline with ``GridSearchCV``.

    Rows of weight 0 are ignored and not split. Scores are weighted by ``sample_weight``. With
    metadata routing enabled, the default scorer uses the weights, and scorers that are passed get
    what they request. ``groups`` are passed to the splitter.

    Folds and values of ``C`` are processed one after another, and the problems of each are
    distributed over the workers, as in :class:`AccuracyAtTopRanker`.

    The time is that of ``len(Cs)`` fits of :class:`AccuracyAtTopRanker` for each fold and one
    more. The memory is that of one fit, plus a few numbers for each candidate and each pair of a
    quantile and a share.

    References
    ----------
    .. [1] Boyd, S., Cortes, C., Mohri, M. and Radovanovic, A. (2012). Accuracy at the Top.
       Advances in Neural Information Processing Systems 25. Section 5.1.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_rank import AccuracyAtTopRankerCV
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> search = AccuracyAtTopRankerCV(tau=0.1, taus=[0.1, 0.2], cv=3)
    >>> model = make_pipeline(StandardScaler(), search).fit(X[::2], y[::2])
    >>> search.scores_.shape
    (3, 5, 1, 2, 2)
    >>> precision_at_top_score(y[1::2], model.decision_function(X[1::2]), tau=0.1)
    1.0
    """

    _parameter_constraints = {
        **AccuracyAtTopBase._parameter_constraints,
        "Cs": [Interval(Integral, 1, 1000, closed="both"), "array-like"],
        "selections": ["array-like"],
        "quantiles": ["array-like"],
        "taus": ["array-like", None],
        "scoring": [str, callable, None],
        "rule": [StrOptions({"best", "one_standard_error"})],
    }

    def __init__(
        self,
        tau=0.05,
        *,
        Cs=5,
        selections=("average", "closest"),
        quantiles=("sample",),
        taus=None,
        cv=None,
        scoring=None,
        rule="best",
        pos_label=None,
        class_weight="balanced",
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1.0,
        kernel_params=None,
        solver="auto",
        tol=1e-6,
        max_iter=500,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(kernel, gamma, degree, coef0, kernel_params, tol, max_iter, verbose)
        self.tau = tau
        self.Cs = Cs
        self.selections = selections
        self.quantiles = quantiles
        self.taus = taus
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.pos_label = pos_label
        self.class_weight = class_weight
        self.solver = solver
        self.n_jobs = n_jobs

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, **params: Any
    ) -> AccuracyAtTopRankerCV:
        """Choose the parameters by cross-validation and fit to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR.
        y : array-like of shape (n_samples,)
            Labels of two classes, of any type; ``pos_label`` is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, used in fits and scores; rows of weight 0 are ignored.
        **params : dict
            ``groups`` for the splitter. With metadata routing enabled, the metadata that splitter
            and scorer request.

        Returns
        -------
        AccuracyAtTopRankerCV
            The estimator itself.

        Raises
        ------
        ValueError
            If ``y`` does not have exactly two classes, ``pos_label`` is not one of them, X, y or
            sample_weight is not finite, a value to try is not valid, the training or test part of
            a fold lacks a class, or a score is not finite.
        TypeError
            If metadata is passed that neither the splitter nor the scorer takes.

        Warns
        -----
        ConvergenceWarning
            If a convex problem does not reach ``tol`` within ``max_iter`` iterations. The folds
            give one warning together.
        LongFitWarning
            If the problems will take more than ten minutes.
        PositiveClassWarning
            If ``pos_label`` is None and the labels are neither 0 and 1 nor -1 and 1.
        QuantileDistanceWarning
            As in :class:`AccuracyAtTopRanker`, if ``selection_`` is "closest".
        SmallTopWarning
            If a share times the number of rows, of a part of a fold or of all, rounds to less than
            one row. The folds give one warning together.
        """
        with restored_on_error(self):
            grid = self._grid()
            X, y, rows = self._check_rows(X, y, sample_weight)
            for_splitter, for_scorer = self._routed(sample_weight, params, rows.taken, len(y))
            scorer = self._scorer(rows.pos_label)
            X_taken, y_taken = self._rows_at(X, rows.taken), y[rows.taken]
            folds = self._folds(X_taken, y_taken, rows, len(y), for_splitter)
            n_blocks = sum(most_blocks(len(train)) for train, _ in folds) * len(grid.C)
            n_blocks += most_blocks(len(rows.taken))
            progress = FitProgress(self, n_blocks, X, y, instead=MANY_ROWS)
            scores = self._cross_validate(
                grid,
                X_taken,
                y_taken,
                rows,
                folds,
                scorer,
                for_scorer,
                on_block=progress.step,
            )
            self._choose(grid, scores)
            self._refit(X_taken, rows, progress.step)
            self.scorer_, self.n_splits_ = scorer, len(folds)
            progress.done()
        return self

    def _grid(self) -> TopGrid:
        if isinstance(self.Cs, Integral):
            costs = np.logspace(*C_RANGE, int(self.Cs))
        else:
            values = np.atleast_1d(np.asarray(self.Cs, dtype=object))
            costs = np.unique([check_number("Cs", C, 0.0, closed="neither") for C in values])
        taus = (self.tau,) if self.taus is None else self.taus
        for name, choices in (("quantiles", QUANTILES), ("selections", SELECTIONS)):
            for value in getattr(self, name):
                check_choice(name, value, choices)
        shares = tuple(check_share("taus", tau) for tau in taus)
        grid = TopGrid(costs, tuple(self.quantiles), tuple(self.selections), shares)
        if 0 in grid.shape:
            raise ValueError(
                "Cs, quantiles, selections and taus must each contain at least one value; one "
                "of them is empty."
            )
        return grid

    def _scorer(self, pos_label: Any = None) -> Any:
        """Get the scorer that selects settings and that :meth:`score` uses."""
        scoring = self.scoring
        if scoring is None:
            scoring = get_measure(smoothed_precision_at_top_score, tau=self.tau)
        if not isinstance(scoring, str | Measure | ScoreGeneratingFunction):
            if list(signature(scoring).parameters)[:2] == ["y_true", "y_score"]:
                name = getattr(scoring, "__name__", repr(scoring))
                raise TypeError(
                    f"scoring={name} is a function of labels and scores, not a scorer of an "
                    f"estimator, rows and labels: pass get_scorer({name}) of "
                    "sklearn_rank.metrics, with its parameters."
                )
            return scoring
        if isinstance(scoring, str) and scoring in sklearn.metrics.get_scorer_names():
            scorer = get_scorer(scoring)
        else:
            scorer = get_scorer(scoring, single_list=True, pos_label=pos_label)
        if _routing_enabled():
            scorer.set_score_request(sample_weight=True)
        return scorer

    def get_metadata_routing(self) -> MetadataRouter:
        """Get the metadata routing of the splitter and the scorer.

        Returns
        -------
        MetadataRouter
            The metadata requests.
        """
        to_splitter = MethodMapping().add(caller="fit", callee="split")
        to_scorer = MethodMapping().add(caller="fit", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=to_splitter)
            .add(
                scorer=self._scorer(),
                method_mapping=to_scorer.add(caller="score", callee="score"),
            )
        )

    def _routed(
        self, sample_weight: Any, params: dict[str, Any], taken: IntArray, n_samples: int
    ) -> list[dict[str, Any]]:
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            parts = [routed.splitter.split, routed.scorer.score]
        else:
            unknown = sorted(set(params) - {"groups"})
            if unknown:
                raise TypeError(
                    f"fit got the unexpected argument {unknown[0]!r}: pass groups only, or "
                    "enable metadata routing for arguments that a splitter or scorer requests."
                )
            weighted = isinstance(self._scorer(), BaseScorer)
            parts = [params, {"sample_weight": sample_weight} if weighted else {}]
        return [
            {
                name: values_of_taken_rows(name, value, taken, n_samples)
                for name, value in part.items()
                if value is not None
            }
            for part in parts
        ]

    def _folds(
        self, X: Any, y: AnyArray, rows: TwoClasses, n_samples: int, params: dict[str, Any]
    ) -> list[Fold]:
        """Training and test parts, as numbers of the rows that count."""
        rarest = min(np.count_nonzero(rows.positive), np.count_nonzero(~rows.positive))
        if self.cv is None and rarest < 2:
            raise ValueError(
                "Training and test parts of folds need rows of both classes, but one class has "
                "one row: add rows, or use AccuracyAtTopRanker with fixed parameters."
            )
        cv = min(FOLDS, rarest) if self.cv is None else self.cv
        cv = check_cv(of_taken_rows(cv, rows.taken, n_samples), y, classifier=True)
        folds = list(cv.split(X, y, **params))
        if not folds:
            raise ValueError(f"cv={self.cv!r} yields no folds: pass an int, a splitter or a list.")
        for i, fold in enumerate(folds):
            for name, part in zip(("training", "test"), fold, strict=True):
                if len(np.unique(rows.positive[part])) < 2:
                    raise ValueError(
                        f"The {name} part of fold {i} has rows of one class only "
                        f"({np.count_nonzero(rows.positive)} of all {len(rows.taken)} rows are "
                        "positive): use fewer or stratified folds."
                    )
        return folds

    def _cross_validate(
        self,
        grid: TopGrid,
        X: Any,
        y: AnyArray,
        rows: TwoClasses,
        folds: list[Fold],
        scorer: Callable[..., Any],
        params: dict[str, Any],
        *,
        on_block: Callable[[], None],
    ) -> FloatArray:
        """Fit and score all settings in all folds.

        Shape (n_folds, n_Cs, n_quantiles, n_selections, n_taus).
        """
        scores = np.empty((len(folds), *grid.shape))
        solved: list[CandidateValues] = []
        for of_fold, (train, test) in zip(scores, folds, strict=True):
            part, X_train, kernel = rows.part(train), self._rows_at(X, train), KernelMap.of(self)
            X_test, y_test = self._rows_at(X, test, train), y[test]
            params_test = {name: rows_at(value, test) for name, value in params.items()}
            masses = {"sample": part.weight, "pairs": part.pair_mass()}
            # Costs come with C, masses with the tops.
            problem = pivot_problem(kernel, X_train, part, part.weight, part.weight)
            tops = [
                Top(problem.merge(masses[quantile]), mass_of_top(masses[quantile], tau))
                for quantile, tau in product(grid.quantile, grid.tau)
            ]
            for of_cost, C in zip(of_fold, grid.C.tolist(), strict=True):
                solutions = solve_candidates(
                    replace(problem, cost=problem.merge(part.costs(C, self.class_weight))),
                    tops,
                    scales="refine" in grid.selection,
                    solver=self._pivot_solver(),
                    n_jobs=self.n_jobs,
                    on_block=on_block,
                )
                solved.append(solutions.values)
                for place in np.ndindex(of_cost.shape):
                    quantile, selection, tau = place
                    solution = select_solution(
                        solutions,
                        grid.selection[selection],
                        quantile * len(grid.tau) + tau,
                        n_jobs=self.n_jobs,
                    )
                    ranker = AccuracyAtTopRanker(
                        **{name: getattr(self, name) for name in OF_SCORES},
                        pos_label=part.pos_label,
                    )
                    ranker.n_features_in_ = X_train.shape[1]
                    mass = masses[grid.quantile[quantile]]
                    # The threshold is at the top that is acted on.
                    top, _ = top_mass(mass, self.tau)
                    function = learned_scores(kernel, solution.coef, X_train)
                    ranker._store_function(function, X_train, part, mass, top)
                    of_cost[place] = scorer(ranker, X_test, y_test, **params_test)
        missed = sum(np.count_nonzero(~values.converged) for values in solved)
        if missed:
            warn_not_converged(
                "relative_gap",
                max(float(values.relative_gap.max()) for values in solved),
                n_iter=max(int(values.n_iter.max()) for values in solved),
                max_iter=self.max_iter,
                tol=self.tol,
                regularise="leave out the largest of Cs",
                problems=f"{missed} of {sum(len(v.converged) for v in solved)} problems in folds",
            )
        return scores

    def _choose(self, grid: TopGrid, scores: FloatArray) -> None:
        """Store the scores, and the setting that the rule chooses."""
        if not np.all(np.isfinite(scores)):
            fold = int(np.argmax(~np.isfinite(scores).all(axis=(1, 2, 3, 4))))
            raise ValueError(
                f"scoring={self.scoring!r} is not finite on fold {fold}, so that the settings "
                "cannot be compared: use fewer folds or another measure."
            )
        if self.rule == "one_standard_error" and len(scores) < 2:
            raise ValueError(
                "rule='one_standard_error' needs at least two folds, and cv gives one: use more "
                "folds, or rule='best'."
            )
        of_settings = scores.reshape(len(scores), -1)
        self.Cs_, self.scores_ = grid.C, scores
        self.best_index_, within = grid.choose(of_settings, self.rule)
        self.cv_results_ = grid.table(of_settings, within)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.C_, self.quantile_of_, self.selection_, self.tau_ = self.best_params_.values()

    def _refit(
        self,
        X: Any,
        rows: TwoClasses,
        on_block: Callable[[], None],
    ) -> None:
        """Fit to all rows that count with the chosen parameters."""
        mass = rows.weight if self.quantile_of_ == "sample" else rows.pair_mass()
        posed = self._pose(X, rows, rows.costs(self.C_, self.class_weight), mass)
        chosen = AccuracyAtTopRanker(
            **{name: getattr(self, name) for name in OF_SCORES} | {"tau": self.tau_},
            C=self.C_,
            quantile=self.quantile_of_,
            selection=self.selection_,
            class_weight=self.class_weight,
            n_jobs=self.n_jobs,
            pos_label=rows.pos_label,
        )
        self._fit_problem(
            chosen,
            *posed,
            X,
            rows,
            mass,
            top=mass_of_top(mass, self.tau_),
            on_block=on_block,
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """Compute the score defined by ``scoring``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for a scorer that takes weights.
        **params : dict
            With metadata routing enabled, the metadata that the scorer requests.

        Returns
        -------
        float
            The score; greater is better.
        """
        check_is_fitted(self)
        if _routing_enabled():
            routed = process_routing(self, "score", sample_weight=sample_weight, **params)
            params = routed.scorer.score
        elif sample_weight is not None:
            params = {**params, "sample_weight": sample_weight}
        return float(self.scorer_(self, X, y, **params))


def _routing_enabled() -> bool:
    return bool(sklearn.get_config()["enable_metadata_routing"])
