"""Lines for the terminal: what they hold of the user's data cannot steer it."""

import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from swarmrs._words import printable
from swarmrs.exceptions import SwarmrsWarning

LABEL = 13


def line(label: str, value: str, width: int = LABEL) -> str:
    """Return a labelled line."""
    return f"{label:<{width}}{printable(value)}"


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Return rows of equal width, cells to the left but for some columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:>{width}}" if at in right else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def complain(message: str, hint: str) -> None:
    """Print what is wrong and what to do about it."""
    print(f"error: {printable(message)}", f"hint: {printable(hint)}", sep="\n", file=sys.stderr)


def remark(kind: str, messages: tuple[str, ...]) -> None:
    """Print what a reader of the result should know."""
    for message in messages:
        print(f"{kind}: {printable(message)}", file=sys.stderr)


@contextmanager
def told_later() -> Iterator[None]:
    """Keep Python from printing the warnings that a result holds and `remark` prints."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwarmrsWarning)
        yield
