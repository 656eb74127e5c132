"""Rows of numbers and categories for the default members of ensembles."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
)
from sklearn.utils import check_array

from .._sklearn_compat import rows_at
from ._two_classes import Fold

# Most categories of a column that are told apart; the rarest others are one.
MAX_CATEGORIES = 50

# Columns of numbers as floats, whatever pandas marks missing ones by.
NUMBERS = FunctionTransformer(
    check_array, kw_args={"dtype": np.float64, "ensure_all_finite": "allow-nan"}
)


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
    return make_pipeline(make_column_transformer((codes, categories), remainder=NUMBERS), member)


def with_indicators(numbers: Any, member: Any, categories: list[Any]) -> Any:
    """The member on transformed numbers and marks of categories."""
    if not categories:
        return make_pipeline(numbers, member)
    marks = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        max_categories=MAX_CATEGORIES,
        sparse_output=False,
    )
    columns = make_column_transformer((marks, categories), remainder=numbers)
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


def imputer() -> SimpleImputer:
    """Imputer of the linear members."""
    return SimpleImputer(strategy="median", keep_empty_features=True)
