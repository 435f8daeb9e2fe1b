"""How many threads a call may use."""

import sys

from swarmrs._words import check_whole
from swarmrs.exceptions import SpecError

MOST_THREADS = 1024


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for by scikit-learn's convention.

    None is 1 unless `joblib.parallel_config` says otherwise, -1 is all.

    Raises
    ------
    SpecError
        If it is no whole number, 0, or more than 1024.
    """
    if n_jobs == 0:
        raise SpecError("n_jobs is 0, expected a number of threads, or -1 for all")
    if n_jobs is not None:
        n_jobs = check_whole("n_jobs", n_jobs, -MOST_THREADS, MOST_THREADS)
    if n_jobs is None and "joblib" not in sys.modules:
        return 1  # No parallel_config can be active, and joblib takes long to load.
    from joblib import effective_n_jobs

    return min(int(effective_n_jobs(n_jobs)), MOST_THREADS)
