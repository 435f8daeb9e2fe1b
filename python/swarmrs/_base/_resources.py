"""The threads a call may use and the random seed of a search."""

import secrets
import sys
from typing import TypeAlias

import numpy as np

from swarmrs._base._hints import named, worded
from swarmrs._base._messages import check_whole
from swarmrs.exceptions import SpecError

RandomState: TypeAlias = int | np.integer | np.random.RandomState | np.random.Generator | None

MOST_THREADS = 1024


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for by scikit-learn's convention.

    None is 1 unless `joblib.parallel_config` says otherwise, -1 is all.

    Raises
    ------
    SpecError
        If it is no whole number, 0, or more than 1024.
    """
    if n_jobs is not None:
        n_jobs = check_whole("n_jobs", n_jobs, -MOST_THREADS, MOST_THREADS)
    if n_jobs == 0:
        raise SpecError("n_jobs is 0, expected a number of threads, or -1 for all")
    if n_jobs is None and "joblib" not in sys.modules:
        return 1  # No parallel_config can be active, and joblib takes long to load.
    from joblib import effective_n_jobs

    return min(int(effective_n_jobs(n_jobs)), MOST_THREADS)


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
