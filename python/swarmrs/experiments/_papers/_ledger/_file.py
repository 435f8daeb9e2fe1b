"""The file of the ledger: a line for each search and for each data set, only ever appended."""

import json
import os
from base64 import b85encode
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import compress

import numpy as np

from swarmrs.exceptions import StoreError

# A longer text, of thousands of features of which half are selected, is left out: the digest covers
# the subset, and a rerun finds it again. Together they would be 10 MB.
_LONGEST = 200


class Entry(NamedTuple):
    """A search and its scores, as a line of the file has it.

    Attributes
    ----------
    cell : str
        Study, setup, data set, method, deal of the rows, random seed, fold, separated by slashes.
    key : str
        A hash of all that the result depends on.
    size, error, accuracy, train_accuracy
        The selection: its size, the inner error of the search, the accuracy that the paper prints,
        and that on the training rows where a table has it.
    evaluations, unique : int
        The evaluations of the search, and those of different subsets.
    seconds_search, seconds_evaluate : float
        The processor time of the search on one thread, without and in its evaluations.
    finished : int
        When it ended, in seconds since 1970.
    digest : str
        A hash of the whole result: subset, scores and trace.
    subset : str
        The selected features, as `pack` writes them; empty where that is too long.
    elapsed : float
        The time by the clock, with that of scoring the selection; 0 in the first entries, whose
        times of the search are by the clock.
    """

    cell: str
    key: str
    size: int
    error: float
    accuracy: float
    train_accuracy: float | None
    evaluations: int
    unique: int
    seconds_search: float
    seconds_evaluate: float
    finished: int
    digest: str
    subset: str
    elapsed: float = 0.0

    @property
    def seconds(self) -> float:
        """The time of the search."""
        return self.seconds_search + self.seconds_evaluate

    def is_same(self, other: "Entry") -> bool:
        """Whether two runs of a cell gave the same result, whenever and however fast."""
        mine = self._replace(
            seconds_search=other.seconds_search,
            seconds_evaluate=other.seconds_evaluate,
            finished=other.finished,
            elapsed=other.elapsed,
        )
        return mine == other


class Ledger:
    """The entries of a file by cell, and facts about data sets by study and name.

    A later line of a cell takes the place of an earlier one. A last line without its end was being
    written when the process was killed: it is ignored, and overwritten by the next.

    Parameters
    ----------
    path : path
        The file; it need not exist.

    Raises
    ------
    StoreError
        If another line cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.entries: dict[str, Entry] = {}
        self.facts: dict[str, dict[str, float]] = {}
        content = self.path.read_bytes() if self.path.exists() else b""
        *lines, torn = content.split(b"\n")
        self._whole = len(content) - len(torn) if torn else None
        for number, line in enumerate(lines, 1):
            try:
                self._enter(json.loads(line))
            except (ValueError, TypeError) as problem:
                raise StoreError(
                    f"line {number} of '{self.path}' cannot be read: {problem}",
                    "take a copy of the file from before",
                ) from None

    def _enter(self, record: object) -> None:
        if isinstance(record, dict):
            self.facts |= record
        elif isinstance(record, list):
            entry = Entry(*record)
            self.entries[entry.cell] = entry
        else:
            raise ValueError("neither an entry nor facts")

    def add(self, record: Entry | dict[str, dict[str, float]]) -> None:
        """Append an entry, or the facts of a data set."""
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            if self._whole is not None:
                file.truncate(self._whole)
                self._whole = None
            file.write(line)
        self._enter(list(record) if isinstance(record, Entry) else record)


def pack(selected: Iterable[str], names: Sequence[str]) -> str:
    """Return selected features as text: a bit for each feature, compressed, in base 85.

    Examples
    --------
    >>> from base64 import b85decode
    >>> from zlib import decompress
    >>> text = pack(["b", "c"], ["a", "b", "c"])
    >>> np.unpackbits(np.frombuffer(decompress(b85decode(text)), np.uint8))[:3].tolist()
    [0, 1, 1]
    """
    chosen = {*selected}
    bits = np.packbits([name in chosen for name in names]).tobytes()
    text = b85encode(compress(bits, 9)).decode()
    return text if len(text) <= _LONGEST else ""


def hours(entries: Iterable[Entry]) -> tuple[float, float]:
    """Return the CPU hours of searches, and the hours by the clock in which any of them ran."""
    entries = list(entries)
    spans = sorted((it.finished - (it.elapsed or it.seconds), it.finished) for it in entries)
    busy, until = 0.0, 0.0
    for start, end in spans:
        busy += max(0.0, end - max(start, until))
        until = max(until, end)
    return sum(entry.seconds for entry in entries) / 3600, busy / 3600
