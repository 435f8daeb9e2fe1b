"""Protocols: which rows are searched, and which are held out to score the selection."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmrs.data._table import Table
from swarmrs.exceptions import DataError, SpecError

PROTOCOLS = ("cv10", "split70", "resub", "loo")

# A split holds out some of ten folds, as the sizes published for such studies imply.
_TENTHS = 10

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Division:
    """The training rows and the test rows; None if no rows are held out."""

    train: Rows
    test: Rows | None


@dataclass(frozen=True)
class Protocol:
    """The train/test splits of a run.

    ``cvK``: K stratified outer folds; each is held out from one search of the run. ``splitP``: P
    percent of the rows are searched, the others held out; stratified. ``resub``: the search sees
    all rows, and its own inner CV score is the result. ``loo``: the same with leave-one-out.

    Attributes
    ----------
    name : str
        As it is given: ``"cv10"``.
    kind : {"cv", "split", "resub", "loo"}
        Its kind.
    n_folds : int
        The searches of one run.
    dealt : int
        The folds that the rows are divided into; 0 where none are held out.
    """

    name: str
    kind: str
    n_folds: int = 1
    dealt: int = 0

    @classmethod
    def of(cls, name: str) -> "Protocol":
        """Return the protocol of this name.

        Raises
        ------
        SpecError
            If there is none.

        Examples
        --------
        >>> Protocol.of("cv5").n_folds, Protocol.of("split70").n_folds
        (5, 1)
        """
        if name in ("resub", "loo"):
            return cls(name, name)
        if (folds := re.fullmatch(r"cv(\d{1,6})", name)) and int(folds[1]) > 1:
            return cls(name, "cv", int(folds[1]), int(folds[1]))
        if re.fullmatch(r"split[1-9]0", name):
            return cls(name, "split", 1, _TENTHS)
        raise SpecError(
            f"unknown protocol '{name}'",
            "known: cv10 or another number of folds, split70 or another multiple of ten, "
            "resub, loo",
        )

    @property
    def holds_out(self) -> bool:
        """Whether rows are held out from the searches."""
        return self.dealt > 0

    def divide(self, table: Table, seed: int, fold: int) -> Division:
        """Return the training and the test rows of a search.

        Raises
        ------
        DataError
            If there are fewer rows than folds.
        """
        n_rows = len(table.codes)
        if not self.holds_out:
            return Division(np.arange(n_rows), None)
        if n_rows < self.dealt:
            raise DataError(
                f"{table.name} has {n_rows} rows, too few for the {self.dealt} folds of "
                f"'{self.name}'",
                "use fewer folds, or protocol resub",
            )
        dealt = deal(table.codes, self.dealt, seed)
        if self.kind == "cv":
            is_test = dealt == fold
        else:
            is_test = dealt < _TENTHS - int(self.name.removeprefix("split")) // 10
        return Division(np.flatnonzero(~is_test), np.flatnonzero(is_test))


def deal(codes: NDArray[np.uint32], n_folds: int, seed: int) -> NDArray[np.intp]:
    """Return the fold of each row, stratified: each class is shuffled, and its rows go round.

    Examples
    --------
    >>> deal(np.array([0, 0, 0, 1, 1, 1], np.uint32), 3, seed=1).tolist()
    [1, 2, 0, 2, 0, 1]
    """
    # The one generator of numpy whose numbers are promised never to change.
    random = np.random.RandomState([seed & 0xFFFFFFFF, seed >> 32])
    classes = (np.flatnonzero(codes == code) for code in np.unique(codes))
    order = np.concatenate([random.permutation(rows) for rows in classes])
    folds = np.empty(len(codes), np.intp)
    folds[order] = np.arange(len(codes)) % n_folds
    return folds
