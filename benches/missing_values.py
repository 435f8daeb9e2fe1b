"""What it takes to fill missing values inside folds: `.venv/bin/python benches/missing_values.py`.

The same subsets are measured with values filled once, by all rows, and filled for each fold by the
rows that train: seconds of one core before the first subset, and the ratio of those for the rest.
"""

import time
import warnings

import numpy as np
from swarmrs import Evaluator, read_table
from swarmrs.data._table import Table
from swarmrs.exceptions import SwarmrsWarning

N_MASKS = 400
# Rows, columns, the share of rows with a gap, folds, classifier.
CASES: list[tuple[int, int, float, int | str, str]] = [
    (690, 15, 0.05, 10, "knn"),
    (690, 15, 1.0, 10, "knn"),
    (690, 15, 0.05, "loo", "knn"),
    (690, 15, 0.05, 10, "nb"),
    (690, 15, 1.0, "loo", "nb"),
    (80, 3000, 1.0, 10, "knn"),
    (80, 3000, 1.0, "loo", "knn"),
]


def gappy(n: int, d: int, share: float) -> Table:
    """Return a table in which some rows lack one value each."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, d))
    y = x[:, 0] + rng.normal(size=n) > 0
    rows = rng.choice(n, int(n * share), replace=False)
    x[rows, rng.integers(0, d, len(rows))] = np.nan
    return read_table((x, y.astype(int)), missing="median")


def seconds(table: Table, cv: int | str, classifier: str) -> tuple[float, float]:
    """Return the seconds to set up, and to measure."""
    masks = np.random.default_rng(1).random((N_MASKS, table.x.shape[1])) < 0.5
    begun = time.process_time()
    judge = Evaluator(table, cv=cv, classifier=classifier, n_jobs=1)
    ready = time.process_time()
    judge.measure(masks)
    return ready - begun, time.process_time() - ready


def main() -> None:
    """Print a table."""
    warnings.simplefilter("ignore", SwarmrsWarning)
    print("| rows x columns | rows with gaps | cv | classifier | set up (s) | times as long |")
    print("| --- | --- | --- | --- | --- | --- |")
    for n, d, share, cv, classifier in CASES:
        table = gappy(n, d, share)
        _, once = seconds(table.as_filled(), cv, classifier)
        ready, each = seconds(table, cv, classifier)
        ratio = each / once
        print(f"| {n} x {d} | {share:.0%} | {cv} | {classifier} | {ready:.2f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
