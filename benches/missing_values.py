"""The cost of imputing inside folds: `.venv/bin/python benches/missing_values.py`.

The same subsets are evaluated with values imputed once, from all rows, and imputed for each fold
from its training rows: CPU seconds before the first subset, and the ratio of those for the rest.
"""

import time
import warnings

import numpy as np
from swarmrs import Evaluator, read_table
from swarmrs.data._table import Table
from swarmrs.exceptions import SwarmrsWarning

N_MASKS = 400
# Rows, features, the share of rows with a missing value, folds, estimator.
CASES: list[tuple[int, int, float, int | str, str]] = [
    (690, 15, 0.05, 10, "knn"),
    (690, 15, 1.0, 10, "knn"),
    (690, 15, 0.05, "loo", "knn"),
    (690, 15, 0.05, 10, "nb"),
    (690, 15, 1.0, "loo", "nb"),
    (80, 3000, 1.0, 10, "knn"),
    (80, 3000, 1.0, "loo", "knn"),
]


def incomplete(n: int, d: int, share: float) -> Table:
    """Return a table in which some rows lack one value each."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, d))
    y = x[:, 0] + rng.normal(size=n) > 0
    rows = rng.choice(n, int(n * share), replace=False)
    x[rows, rng.integers(0, d, len(rows))] = np.nan
    return read_table((x, y.astype(int)), missing="median")


def seconds(table: Table, cv: int | str, estimator: str) -> tuple[float, float]:
    """Return the seconds to set up, and to evaluate."""
    masks = np.random.default_rng(1).random((N_MASKS, table.x.shape[1])) < 0.5
    begun = time.process_time()
    evaluator = Evaluator(table, cv=cv, estimator=estimator, n_jobs=1)
    ready = time.process_time()
    evaluator.measure(masks)
    return ready - begun, time.process_time() - ready


def main() -> None:
    """Print a table."""
    warnings.simplefilter("ignore", SwarmrsWarning)
    print("| rows x features | incomplete rows | cv | estimator | set up (s) | times as long |")
    print("| --- | --- | --- | --- | --- | --- |")
    for n, d, share, cv, estimator in CASES:
        table = incomplete(n, d, share)
        _, once = seconds(table.as_filled(), cv, estimator)
        ready, each = seconds(table, cv, estimator)
        ratio = each / once
        print(f"| {n} x {d} | {share:.0%} | {cv} | {estimator} | {ready:.2f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
