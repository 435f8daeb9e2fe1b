"""Folds: which rows are tested on what was learned from which."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmrs._base._choices import CVS
from swarmrs._base._hints import setting, worded
from swarmrs._base._messages import check_whole, counted
from swarmrs.data._table import Table
from swarmrs.exceptions import DataError, SpecError

Split: TypeAlias = tuple[ArrayLike, ArrayLike]
Rows: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


class Splitter(Protocol):
    """What scikit-learn calls a splitter: an object that cuts rows into training and test parts."""

    def split(
        self, X: NDArray[np.float64], y: NDArray[np.generic]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the rows of each training and test part."""


CV: TypeAlias = int | str | Splitter | Iterable[Split]


@dataclass(frozen=True)
class Folds:
    """Which rows are tested on what was learned from which.

    Attributes
    ----------
    scheme : {"kfold", "loo", "complete", "holdout", "wrap5", "splits"}
        Folds, leave-one-out, the mean over all splits of one size, one test part, five folds
        repeated while errors spread, or the splits given. Classes are stratified.
    k, shuffle : int, bool
        Of folds: how many, and whether the rows are shuffled.
    test : float
        The share of rows held out; of complete cross-validation, of the rows but the tested one.
    seed : int
        Shuffles the rows of folds, and draws those held out.
    splits : tuple of pairs of lists of int
        The rows of each training and test part, if the scheme is ``"splits"``.
    """

    scheme: str
    k: int = 0
    shuffle: bool = True
    test: float = 0.0
    seed: int = 0
    splits: tuple[tuple[list[int], list[int]], ...] = ()

    @classmethod
    def of(cls, cv: CV | None, seed: int | None, table: Table) -> "Folds":
        """Return the folds that `cv` stands for on a table.

        A number is that of folds, stratified where there are classes, which are shuffled only if
        there is a seed; None is 5, as in scikit-learn. Splitters that the engine knows become its
        own schemes: they are faster.
        """
        draw = 0 if seed is None else check_whole("cv_seed", seed, 0)
        if cv is None:
            cv = 5
        if isinstance(cv, int | np.integer):
            return cls("kfold", k=check_whole("cv", cv), shuffle=seed is not None, seed=draw)
        if isinstance(cv, str):
            if cv in ("loo", "wrap5"):
                return cls(cv, seed=draw)
            if re.fullmatch(r"\d{1,18}", cv):
                return cls("kfold", k=int(cv), shuffle=seed is not None, seed=draw)
            if complete := re.fullmatch(r"complete(?:=(0?\.\d+))?", cv):
                return cls("complete", test=float(complete[1] or 0.5))
            if holdout := re.fullmatch(r"holdout=(0?\.\d+)", cv):
                return cls("holdout", test=float(holdout[1]), seed=draw)
            raise SpecError(f"unknown cv '{cv}'", f"known: {', '.join(CVS)}")
        is_scalar = isinstance(cv, np.ndarray) and cv.ndim == 0
        # Words can be split, too.
        if (
            is_scalar
            or hasattr(cv, "join")
            or not (hasattr(cv, "split") or isinstance(cv, Iterable))
        ):
            raise SpecError(f"cv is {cv!r}, expected folds", f"known: {', '.join(CVS)}")
        if not hasattr(cv, "split"):
            return cls.given(cv)
        kind, settings = type(cv).__name__, getattr(cv, "__dict__", {})
        if kind == "LeaveOneOut":
            return cls("loo")
        own = "StratifiedKFold" if table.values is None else "KFold"
        if kind == own and not settings["shuffle"]:
            return cls("kfold", k=int(settings["n_splits"]), shuffle=False)
        splitter = cast(Splitter, cv)
        pairs = splitter.split(table.x, table.y)
        return cls.given(pairs)

    @classmethod
    def given(cls, splits: Iterable[Split]) -> "Folds":
        """Return folds of these pairs of training and test rows."""
        pairs = tuple(_pair(split) for split in splits)
        if not pairs:
            raise SpecError("cv has no split", "give one pair of training and test rows or more")
        return cls("splits", splits=pairs)

    def rows(self, table: Table) -> list[Rows]:
        """Return the rows of each training and test part as scikit-learn draws them.

        They are stratified where there are classes.

        Raises
        ------
        SpecError
            If the scheme is ``"complete"`` or ``"wrap5"``, which only built-in classifiers know, or
            the splits given are none of this table.
        DataError
            If the classes are too small for it.
        """
        from sklearn.model_selection import (
            KFold,
            LeaveOneOut,
            ShuffleSplit,
            StratifiedKFold,
            StratifiedShuffleSplit,
        )

        if self.scheme == "splits":
            parts = [(np.array(train), np.array(test)) for train, test in self.splits]
            n = table.frame.height
            for part in (rows for both in parts for rows in both):
                if not part.size or part.min() < 0 or part.max() >= n:
                    raise SpecError(f"a part of cv is empty or names no row, expected 0 to {n - 1}")
            return parts
        if self.scheme == "loo":
            return list(LeaveOneOut().split(table.x))
        has_classes, seed = table.values is None, self.seed % 2**32
        most = np.bincount(table.codes).max() if has_classes else table.frame.height
        if self.scheme == "holdout":
            one = StratifiedShuffleSplit if has_classes else ShuffleSplit
            cut = one(1, test_size=self.test, random_state=seed)
        elif self.scheme == "kfold":
            if self.k < 2:
                raise SpecError(f"{self.k} fold leaves nothing to learn from", "take 2 or more")
            if self.k > most:
                whose = f"the largest class of {table.name}" if has_classes else table.name
                problem = f"{self.k} folds, but {whose} has {counted(int(most), 'row')}"
                raise DataError(problem, "take fewer folds, or leave-one-out")
            parts = StratifiedKFold if has_classes else KFold
            cut = parts(self.k, shuffle=self.shuffle, random_state=seed if self.shuffle else None)
        elif self.scheme == "complete":
            raise only_for_neighbors("an estimator of scikit-learn is fitted on each split")
        else:
            raise SpecError(
                f"cv is '{self.scheme}', which is for knn, nb and ridge",
                "give a number of folds",
            )
        try:
            return list(cut.split(table.x, table.y))
        except ValueError as problem:
            raise DataError(
                f"{self.test:g} of {counted(table.frame.height, 'row')} of {table.name} cannot be "
                "held out: either part needs a row of each class",
                "hold out another share, or leave small classes out with "
                f"{setting('rare_class', 'drop')}",
            ) from problem

    def spec(self) -> dict[str, object]:
        """Return the folds as the engine reads them."""
        if self.scheme == "splits":
            return {"scheme": "splits", "splits": self.splits}
        return self.to_dict()

    def to_dict(self) -> dict[str, object]:
        """Return the folds as a result records them."""
        if self.scheme == "kfold":
            return {"scheme": "kfold", "k": self.k, "shuffle": self.shuffle, "seed": self.seed}
        if self.scheme == "complete":
            return {"scheme": "complete", "test": self.test}
        if self.scheme == "holdout":
            return {"scheme": "holdout", "test": self.test, "seed": self.seed}
        if self.scheme == "splits":
            return {"scheme": "splits", "n_splits": len(self.splits)}
        if self.scheme == "wrap5":
            return {"scheme": "wrap5", "seed": self.seed}
        return {"scheme": "loo"}


def only_for_neighbors(why: str) -> SpecError:
    """Return the refusal of complete cross-validation for all but k-NN with uniform votes."""
    neighbors = worded(
        python="KNeighborsClassifier(1)",
        shell=f"{setting('estimator', 'knn')} {setting('n_neighbors', 1)}",
    )
    return SpecError(
        f"cv is 'complete', but {why}: complete cross-validation is for k-NN",
        f"take {neighbors}, or leave-one-out with {setting('cv', 'loo')}",
    )


def _pair(split: Split) -> tuple[list[int], list[int]]:
    if not isinstance(split, Sequence | np.ndarray) or len(split) != 2:
        raise SpecError("a split of cv is not a pair of training and test rows")
    train, test = split
    return _rows(train), _rows(test)


def _rows(part: ArrayLike) -> list[int]:
    rows = np.asarray(part)
    if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
        raise SpecError("a part of cv is not a list of row numbers")
    if rows.size and rows.min() < 0:
        raise SpecError(f"cv names row {rows.min()}, expected 0 or more", "rows count from 0")
    return cast(list[int], rows.tolist())
