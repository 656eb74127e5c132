"""Members of ensembles: those by default, their names and parameters, and weights."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.utils import Bunch, check_array, get_tags
from sklearn.utils.validation import check_is_fitted

from .._sklearn_compat import BaseComposition, HasMethods, rows_at
from .._typing import FloatArray
from ..inference import Comparison
from ..metrics import get_measure
from ..rankers._shared import Fold, in_parallel, restored_on_error

# Maximum number of categories of a column; the rarest others are one.
MAX_CATEGORIES = 50


def categorical_columns(X: Any) -> list[Any]:
    """Names of the columns of a data frame that are not numbers."""
    names = []
    for name in getattr(X, "columns", ()):
        # Numbers with missing values of pandas are objects as an array.
        kinds = {getattr(X[name].dtype, "kind", ""), np.asarray(X[name]).dtype.kind}
        if kinds & set("Mm"):
            raise ValueError(
                f"The column {name!r} holds dates, which are neither numbers nor categories: pass"
                " numbers, such as days since the first one, or leave the column out."
            )
        if not kinds & set("biuf"):
            names.append(name)
    return names


def refuse_empty_columns(X: Any, folds: list[Fold]) -> None:
    """Refuse columns that have no value in a training part, which boosted trees cannot bin."""
    for train, _ in folds:
        part = rows_at(X, train)
        if hasattr(part, "columns"):
            columns = {name: part[name] for name in part.columns}
            empty = [
                name
                for name, values in columns.items()
                if (values.isna() if hasattr(values, "isna") else values.is_null()).all()
            ]
        else:
            missing = np.isnan(np.asarray(part, dtype=np.float64))
            empty = np.flatnonzero(missing.all(axis=0)).tolist()
        if empty:
            raise ValueError(
                f"The columns {empty} have no value in a training part: leave them out, or pass"
                " cv= of shuffled rows or queries if they have values."
            )


def with_ordinal_codes(member: Any, categories: list[Any]) -> Any:
    """The member on numbers and codes of categories, which are the first columns."""
    if not categories:
        return member
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
        encoded_missing_value=np.nan,
        max_categories=MAX_CATEGORIES,
    )
    return make_pipeline(make_column_transformer((codes, categories), remainder=numbers()), member)


def with_indicators(transformer: Any, member: Any, categories: list[Any]) -> Any:
    """The member on transformed numbers and marks of categories."""
    if not categories:
        return make_pipeline(transformer, member)
    marks = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, sparse_output=False
    )
    columns = make_column_transformer((marks, categories), remainder=transformer)
    return make_pipeline(columns, member)


def boosted_trees(kind: Any, n: int, categories: list[Any], random_state: Any) -> Any:
    """Boosted trees of scikit-learn for n rows."""
    is_large = n > 10_000
    return kind(
        learning_rate=0.05,
        # With many rows boosting stops by some that it holds out.
        max_iter=1000 if is_large else 150,
        early_stopping=is_large,
        max_leaf_nodes=int(np.clip(np.sqrt(n) / 3.0, 8, 31)),
        min_samples_leaf=10,
        max_features=0.5,
        categorical_features=list(range(len(categories))) or None,
        random_state=random_state,
    )


def numbers() -> FunctionTransformer:
    """Columns of numbers as floats, whatever pandas marks missing ones by."""
    options = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
    return FunctionTransformer(check_array, kw_args=options)


def imputer() -> SimpleImputer:
    """Imputer of the linear members."""
    return SimpleImputer(strategy="median", keep_empty_features=True)


def fitted_weights(scores: FloatArray, value: Callable[[FloatArray], float]) -> FloatArray:
    """Weights of the columns by which their sum has the greatest value, drawn to equal ones.

    Steps of half of an equal share, from one column to another, each the best there is, go from
    equal weights to a maximum. The mean of both is returned, without the columns that the maximum
    leaves out and whose loss raises the value. Shape (n_members,).
    """
    n_members = scores.shape[1]
    step, equal = 0.5 / n_members, np.full(n_members, 1.0 / n_members)
    units = np.eye(n_members)
    moves = [step * (target - source) for target in units for source in units]
    weights, greatest = equal, value(scores @ equal)
    while True:
        candidates = [weights + move for move in moves]
        values = [
            value(scores @ candidate) if candidate.min() > -step / 2.0 else -np.inf
            for candidate in candidates
        ]
        best = int(np.argmax(values))
        if not values[best] > greatest:
            break
        weights, greatest = candidates[best].clip(min=0.0), values[best]
    weights, excluded = (weights + equal) / 2.0, np.flatnonzero(weights < step / 2.0)
    for member in excluded:
        reduced = np.where(np.arange(n_members) == member, 0.0, weights)
        if value(scores @ reduced) > value(scores @ weights):
            weights = reduced
    return np.asarray(weights / weights.sum())


def _fit_and_score(
    fit: Callable[..., Any], score: Callable[..., FloatArray], member: Any, train: Any, test: Any
) -> tuple[Any, FloatArray | None, float]:
    """The model where nothing is held out, else scores of the held-out rows; and seconds."""
    start = perf_counter()
    model = fit(member, train)
    seconds = perf_counter() - start
    return (model, None, seconds) if test is None else (None, score(model, test), seconds)


class NamedMembers(BaseComposition):
    """Mixin of estimators with a parameter ``estimators``: names and members, or None."""

    estimators: Any
    weights: Any
    measure: Any
    n_jobs: int | None
    verbose: int
    # What a user would pass, in a message.
    _example: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        members = [pair[-1] for pair in self.estimators or [] if isinstance(pair, tuple)]
        inputs = [get_tags(x).input_tags for x in members if isinstance(x, BaseEstimator)]
        tags.input_tags.allow_nan = all(member.allow_nan for member in inputs)
        tags.input_tags.sparse &= all(member.sparse for member in inputs)
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters, and those of members as ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the members.

        Returns
        -------
        dict
            The parameters.
        """
        if self.estimators is None:
            return super().get_params(deep=deep)
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by name, and parameters of members as ``name__parameter``.

        Parameters
        ----------
        **params : dict
            The parameters.

        Returns
        -------
        estimator
            The estimator itself.
        """
        if self.estimators is None and "estimators" not in params:
            return super().set_params(**params)
        self._set_params("estimators", **params)
        return self

    @property
    def named_estimators(self) -> Bunch:
        """The unfitted members, by name."""
        return Bunch(**dict(self.estimators or []))

    def _checked_members(self) -> tuple[list[str], list[Any]]:
        """Names and members that were passed."""
        pairs = self.estimators
        named = all(isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], str) for p in pairs)
        if not pairs or not named:
            raise ValueError(
                "estimators must be a non-empty list of pairs of a name and an estimator, such "
                f"as {self._example}."
            )
        names, members = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        self._validate_names(names)
        scored = HasMethods(["fit", "get_params"])
        for name, member in zip(names, members, strict=True):
            if isinstance(member, type) or not scored.is_satisfied_by(member):
                raise ValueError(
                    f"The member {name!r} is not an estimator, got {member!r}: pass an instance "
                    "of a class with fit and predict."
                )
        return names, members

    def _fixed_weights(self, n_members: int) -> FloatArray | None:
        """Weights of the members, of sum 1; None if they are to be fitted. Shape (n_members,)."""
        if isinstance(self.weights, str):
            return None if self.weights == "fitted" else np.full(n_members, 1.0 / n_members)
        weights = np.asarray(self.weights, dtype=np.float64)
        valid = weights.shape == (n_members,) and np.all(weights >= 0.0)
        if not valid or not 0.0 < weights.sum() < np.inf:
            raise ValueError(
                f"weights={self.weights!r} must contain {n_members} numbers of at least 0, one for"
                " each member, and not all 0."
            )
        return weights / weights.sum()

    def _fit_members(
        self,
        names: list[str],
        members: list[Any],
        folds: list[Fold],
        n_rows: int,
        fit: Callable[..., Any],
        score: Callable[..., FloatArray],
    ) -> FloatArray:
        """Fit the members to all rows and to folds; return scores of held-out rows.

        ``fit`` takes a member and rows, and ``score`` a model and rows. Shape (n_rows, n_members).
        """
        all_rows = np.arange(n_rows), None
        calls = [(fit, score, member, *fold) for member in members for fold in (all_rows, *folds)]
        fits = in_parallel(self.n_jobs, _fit_and_score, calls, self.verbose)
        n_fits = len(folds) + 1
        self.estimators_ = [model for model, _, _ in fits[::n_fits]]
        self.named_estimators_ = Bunch(**dict(zip(names, self.estimators_, strict=True)))
        seconds = np.array([time for _, _, time in fits]).reshape(len(names), n_fits)
        self.fit_times_ = seconds.sum(axis=1)
        held_out = np.full((n_rows, len(names)), np.nan)
        for i, (_, scores, _) in enumerate(fits):
            member, fold = divmod(i, n_fits)
            if fold:
                held_out[folds[fold - 1][1], member] = scores
        return self._named(held_out) if folds else held_out

    def _named(self, scores: FloatArray) -> FloatArray:
        """Scores of the members, which are named where they are NaN. Shape (n, n_members)."""
        for name, missing in zip(self.named_estimators_, np.isnan(scores).T, strict=True):
            if missing.any():
                raise ValueError(
                    f"The member {name!r} gave NaN as the score of {missing.sum()} of"
                    f" {len(missing)} rows: leave it out, or fill missing values in a pipeline."
                )
        return scores

    def reweight(self, measure: Any) -> Self:
        """Fit the weights to another measure, by the scores of held-out rows and without new fits.

        Parameters
        ----------
        measure : str, Measure or callable
            Measure, which becomes the parameter ``measure``.

        Returns
        -------
        estimator
            The estimator itself, as if it had been fitted with this measure.

        Raises
        ------
        ValueError
            If the measure is not valid.
        """
        check_is_fitted(self)
        with restored_on_error(self):
            get_measure(measure)
            self.measure = measure
            self._fit_weights()
        return self

    @property
    def comparison_(self) -> Comparison:
        """Ensemble and members on held-out rows, with intervals of their differences."""
        if not hasattr(self, "held_out_scores_"):
            raise AttributeError(
                "comparison_ needs the scores of held-out rows: call fit first, with"
                " weights='fitted'."
            )
        members = zip(self.named_estimators_, self.held_out_scores_.T, strict=True)
        return self._compare(dict(members))
