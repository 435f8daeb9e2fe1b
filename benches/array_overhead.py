"""What a selector adds to the engine: `.venv/bin/python benches/array_overhead.py`.

`FilterSelector.fit` on an array of 100 rows and 10 000 features, against the engine alone: the
construction of its dataset and the ranking. Both are timed alternately, in CPU seconds of one
thread, so that the ratio holds on a busy machine too. The aim is a ratio of at most 1.5.
"""

import time
from collections.abc import Callable

import numpy as np
from swarmrs import FilterSelector, _swarmrs

ROWS, FEATURES, REPEATS = 100, 10_000, 7


def seconds(call: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def main() -> None:
    """Print the least seconds of both, and their ratio."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    X = rng.normal(size=(ROWS, FEATURES))
    X[:, :20] += y[:, np.newaxis]
    columns, codes = np.asfortranarray(X), y.astype(np.uint32)
    names = [f"x{index}" for index in range(FEATURES)]

    def engine() -> None:
        _swarmrs.Dataset(columns, codes, 2, names, "minmax").rank(1)

    def selector() -> None:
        FilterSelector(n_jobs=1).fit(X, y)

    selector()  # What is imported at the first call is not part of it.
    times = [(seconds(engine), seconds(selector)) for _ in range(REPEATS)]
    least = [min(column) for column in zip(*times, strict=True)]
    print(f"engine {least[0] * 1e3:.0f} ms, fit {least[1] * 1e3:.0f} ms")
    print(f"ratio {least[1] / least[0]:.2f}")


if __name__ == "__main__":
    main()
