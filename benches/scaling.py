"""The cost of scaling inside the folds: CPU time of a subset against scaling fitted on all rows."""

import time

import numpy as np
from swarmrs import Evaluator

SUBSETS = 200


def main() -> None:
    """Print the time of a subset and the mean error of random subsets for both fits."""
    rng = np.random.default_rng(0)
    masks = rng.random((SUBSETS, 30)) < 0.5
    masks[:, 0] = True
    for cv in ("10", "loo"):
        best = {}
        for scale in ("minmax", "fold-minmax"):
            evaluator = Evaluator(
                "sklearn:breast_cancer", cv=cv, scale=scale, n_jobs=1, incremental=False
            )
            times = []
            for _ in range(4):
                started = time.process_time()
                errors = evaluator.measure(masks)["error"]
                times.append(time.process_time() - started)
            best[scale] = min(times) / SUBSETS
            print(f"{cv}, {scale}: {best[scale] * 1e3:.3f} ms, mean error {errors.mean():.4f}")
        print(f"{cv}: {best['fold-minmax'] / best['minmax']:.1f} times as long")


if __name__ == "__main__":
    main()
