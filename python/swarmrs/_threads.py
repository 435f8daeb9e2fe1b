"""How many threads a call may use."""

import sys

from swarmrs.exceptions import SpecError


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for by scikit-learn's convention.

    None is 1 unless `joblib.parallel_config` says otherwise, -1 is all.
    """
    if n_jobs is None and "joblib" not in sys.modules:
        return 1  # No parallel_config can be active, and joblib takes long to load.
    from joblib import effective_n_jobs

    if n_jobs == 0:
        raise SpecError("n_jobs is 0, expected a number of threads, or -1 for all")
    return int(effective_n_jobs(n_jobs))
