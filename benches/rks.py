"""Price of the ranking `rks` on two threads: CPU seconds, and seconds on the clock.

Run by `.venv/bin/python benches/rks.py`. Tables are clouds around two class centers that differ in
every twentieth feature.
"""

import time

import numpy as np
from swarmrs import rank

TABLES = ((100, 10_000), (5000, 50))
THREADS = 2


def main() -> None:
    """Print a line for each table."""
    print(f"{'rows':>6} {'features':>9} {'CPU s':>8} {'clock s':>8}")
    for n, d in TABLES:
        rng = np.random.default_rng([n, d])
        y = np.arange(n) % 2
        shift = 0.7 * (np.arange(d) % 20 == 0)
        x = rng.normal(size=(n, d)) + np.outer(y, shift)
        cpu, clock = time.process_time(), time.perf_counter()
        rank(x, y, by="rks", random_state=1, n_jobs=THREADS)
        cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
        print(f"{n:6} {d:9} {cpu:8.2f} {clock:8.2f}", flush=True)


if __name__ == "__main__":
    main()
