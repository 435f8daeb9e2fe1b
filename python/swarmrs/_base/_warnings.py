"""Warnings that are shown elsewhere, or not at all."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from swarmrs.exceptions import SwarmrsWarning


@contextmanager
def deferred_warnings() -> Iterator[None]:
    """Keep Python from showing warnings that a result holds, or that many cells would repeat."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwarmrsWarning)
        yield
