"""The base of all selectors: checks of the samples, and the output of the selected features."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from swarmrs._base._messages import counted, quoted
from swarmrs._base._tasks import CLASSIFICATION, REGRESSION
from swarmrs.data._arrays import Samples
from swarmrs.data._encode import TEXT
from swarmrs.data._read import check_names, is_pandas, series_of, unmasked
from swarmrs.data._table import Table, read_table
from swarmrs.data._target import guess_task
from swarmrs.exceptions import DataError


class Chooser(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A selector that learns its mask, `support_`, from samples and their target."""

    support_: NDArray[np.bool_]

    def transform(self, X: ArrayLike | pl.DataFrame) -> NDArray[np.float64] | pl.DataFrame:
        """Return the selected features, in the container that `set_output` asks for.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray or frame
            An array by default, whatever `X` is. Frames of the requested container keep the types
            of their columns.
        """
        check_is_fitted(self)
        _check_frame(X)
        X = cast("ArrayLike | pl.DataFrame", unmasked(X))
        # scikit-learn keeps the types of a pandas frame by itself.
        is_kept = _get_output_config("transform", self)["dense"] == "polars"
        if is_kept and isinstance(X, pl.DataFrame):
            validate_data(self, X, reset=False, skip_check_array=True)
            pairs = zip(X.columns, self.get_support(), strict=True)
            return X[:, [name for name, is_in in pairs if is_in]]
        return super().transform(X)  # type: ignore[no-any-return]

    def _checked(
        self,
        X: ArrayLike | pl.DataFrame,
        y: ArrayLike,
        *,
        allow_nan: bool = False,
        continuous: bool = False,
    ) -> tuple[NDArray[np.float64] | pl.DataFrame, NDArray[np.generic]]:
        """Return the checked samples and target of `fit`: a frame if the features have names.

        The target holds numbers if it is `continuous`, else classes.
        """
        _check_frame(X)
        _check_numbers(X)
        if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
            lost = int(y.mask.sum())
            raise DataError(f"y has {counted(lost, 'missing value')}", "remove these rows")
        samples, labels = validate_data(
            self,
            unmasked(X),
            unmasked(y),
            dtype=np.float64,
            order="F",
            ensure_min_samples=2,
            ensure_all_finite="allow-nan" if allow_nan else True,
            y_numeric=continuous,
        )
        if not continuous:
            check_classification_targets(labels)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return Samples(samples, labels)
        return pl.from_numpy(samples, schema=names.tolist(), orient="row"), labels

    def _framed(self, X: Any, y: ArrayLike, *, continuous: bool) -> Table:
        """Return a data frame as a table that keeps it, for an estimator that reads frames.

        Text is allowed: filters see its codes, the estimator the text.
        """
        _check_frame(X)
        validate_data(self, X, skip_check_array=True)
        labels = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        if not continuous:
            check_classification_targets(labels)
        task = REGRESSION.name if continuous else CLASSIFICATION.name
        table = read_table((X, labels), task=task, encode="ordinal", missing="keep")
        return replace(table, samples=X, warnings=())

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def task_of(y: ArrayLike) -> str:
    """Return whether a target is one of classes or numbers, by what it looks like."""
    try:
        return guess_task(series_of("y", y)).name
    except DataError:
        return CLASSIFICATION.name  # Refused later, in the words of scikit-learn.


def _check_frame(X: Any) -> None:
    """Refuse frames that scikit-learn refuses without a reason.

    Raises
    ------
    DataError
        If a frame is lazy, or two of its columns have one name.
    """
    if isinstance(X, pl.LazyFrame):
        raise DataError("X is a LazyFrame, which holds no values yet", "give X.collect()")
    if is_pandas(X):
        check_names([str(name) for name in X.columns], "the frame", "rename one of them")


def _check_numbers(X: Any) -> None:
    """Refuse text features, whose digits scikit-learn takes for numbers.

    Raises
    ------
    DataError
        If a frame or an array has any, or `X` is no table.
    """
    text: list[str] = []
    if not (isinstance(X, pl.DataFrame) or is_pandas(X) or hasattr(X, "toarray")):
        try:
            array = np.asarray(X)
        except ValueError as problem:
            raise DataError(
                "X is no table: its rows differ in length, or a cell holds several values",
                "give an array or a frame of numbers",
            ) from problem
        if array.ndim == 2 and array.dtype.kind in "OSTU":
            text = [f"x{index}" for index, column in enumerate(array.T) if _is_text(column)]
    if isinstance(X, pl.DataFrame):
        text = [name for name, dtype in X.schema.items() if isinstance(dtype, TEXT)]
    elif is_pandas(X):
        columns = ((str(name), X.iloc[:, index]) for index, name in enumerate(X.columns))
        text = [name for name, column in columns if _is_text(column)]
    if text:
        raise DataError(
            f"{counted(len(text), 'text feature')}: {quoted(text)}",
            "encode them first, for example by OrdinalEncoder in a ColumnTransformer",
        )


def _is_text(column: Any) -> bool:
    """Return whether a column of pandas or numpy holds text."""
    values = getattr(column.dtype, "categories", column)
    if str(values.dtype) in ("str", "string") or getattr(values.dtype, "kind", None) in (
        "S",
        "T",
        "U",
    ):
        return True
    return values.dtype == object and any(isinstance(value, str | bytes) for value in values)
