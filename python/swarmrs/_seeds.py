"""Where the chance of a search comes from."""

import secrets
from typing import TypeAlias

import numpy as np

from swarmrs._doors import named, worded
from swarmrs.exceptions import SpecError

RandomState: TypeAlias = int | np.integer | np.random.RandomState | np.random.Generator | None


def draw_seed(random_state: RandomState) -> int:
    """Return the seed that `random_state` stands for."""
    # 32 bits are enough to draw from, and every reader of JSON keeps them.
    if random_state is None:
        return secrets.randbits(32)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**32, dtype=np.uint64))
    if isinstance(random_state, int | np.integer) and 0 <= random_state < 2**64:
        return int(random_state)
    number = "a whole number from 0 to 2**64 - 1"
    kinds = worded(python=f"{number}, a RandomState, a Generator or None", shell=number)
    raise SpecError(f"{named('random_state')} is {random_state!r}, expected {kinds}")
