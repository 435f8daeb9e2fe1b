"""Protocols: which rows a search may see, and which rows its columns are tried on."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmrs.data._table import Table
from swarmrs.exceptions import DataError, SpecError

PROTOCOLS = ("cv10", "split70", "resub", "loo")

# A split holds out so many of ten folds, as the sizes published for such studies imply.
_TENTHS = 10

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Division:
    """The rows to search and the rows to try the answer on; none if they are the same rows."""

    train: Rows
    test: Rows | None


@dataclass(frozen=True)
class Protocol:
    """How a run divides the rows of a table.

    ``cvK``: K stratified folds; a run searches the rest of each fold and is tried on the fold.
    ``splitP``: P percent of the rows are searched, the others tested; stratified. ``resub``: the
    search sees all rows, and what it measured on its own folds is the result. ``loo``: the same,
    measured by leaving out one row at a time.

    Attributes
    ----------
    name : str
        The word of the user.
    kind : {"cv", "split", "resub", "loo"}
        What it is.
    n_folds : int
        The searches of one run.
    dealt : int
        The folds that rows are dealt to; 0 where they are not.
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
        """Whether there are rows that no search sees."""
        return self.dealt > 0

    def divide(self, table: Table, seed: int, fold: int) -> Division:
        """Return the rows of a search and its test.

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
                "take fewer folds, or protocol resub",
            )
        dealt = deal(table.codes, self.dealt, seed)
        if self.kind == "cv":
            is_test = dealt == fold
        else:
            is_test = dealt < _TENTHS - int(self.name.removeprefix("split")) // 10
        return Division(np.flatnonzero(~is_test), np.flatnonzero(is_test))


def deal(codes: NDArray[np.uint32], n_folds: int, seed: int) -> NDArray[np.intp]:
    """Return the fold of each row: each class is shuffled and dealt out, going on where one ended.

    Examples
    --------
    >>> deal(np.array([0, 0, 0, 1, 1, 1], np.uint32), 3, seed=1).tolist()
    [1, 2, 0, 2, 0, 1]
    """
    # The one generator of numpy whose numbers are promised never to change.
    chance = np.random.RandomState([seed & 0xFFFFFFFF, seed >> 32])
    classes = (np.flatnonzero(codes == code) for code in np.unique(codes))
    order = np.concatenate([chance.permutation(rows) for rows in classes])
    folds = np.empty(len(codes), np.intp)
    folds[order] = np.arange(len(codes)) % n_folds
    return folds
