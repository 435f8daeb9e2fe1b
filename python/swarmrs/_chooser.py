"""What all selectors share: samples in, chosen columns out."""

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


class Chooser(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A selector that learns its mask, `support_`, from samples and their classes."""

    support_: NDArray[np.bool_]

    def transform(self, X: ArrayLike | pl.DataFrame) -> NDArray[np.float64] | pl.DataFrame:
        """Return the chosen features: of a polars frame its columns as they are, else an array.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The samples.
        """
        if isinstance(X, pl.DataFrame):
            mask = self.get_support()
            validate_data(self, X, reset=False, skip_check_array=True)
            return X.select(name for name, is_in in zip(X.columns, mask, strict=True) if is_in)
        return super().transform(X)  # type: ignore[no-any-return]

    def _checked(
        self, X: ArrayLike | pl.DataFrame, y: ArrayLike, *, allow_nan: bool = False
    ) -> tuple[NDArray[np.float64] | pl.DataFrame, NDArray[np.generic]]:
        """Return what `fit` was given, checked, with the names of the features if they have any."""
        samples, labels = validate_data(
            self,
            X,
            y,
            dtype=np.float64,
            order="F",
            ensure_min_samples=2,
            ensure_all_finite="allow-nan" if allow_nan else True,
        )
        check_classification_targets(labels)
        names = getattr(self, "feature_names_in_", None)
        data = samples if names is None else pl.from_numpy(samples, schema=names.tolist())
        return data, labels

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
