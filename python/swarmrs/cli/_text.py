"""Lines for the terminal: what they hold of the user's data cannot steer it."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from swarmrs._words import printable
from swarmrs.exceptions import SwarmrsWarning


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
