"""Compare the instruction sets of the k-NN kernels with each other and with a matrix product.

One 5-NN evaluation in 10 folds from scratch, on one thread: milliseconds of CPU per subset, the
least of several rounds. `gemm` is numpy: Euclidean distances by one float32 matrix product, then
five passes of `argmin`, which take less time than one `argpartition`. Every path runs in a process
of its own, one round after the other, so that a busy machine slows all of them. Printed as
Markdown; the last columns give how many times faster than `gemm` and `avx2` the fastest path is.

    python benches/kernels.py --rounds 7 --shapes 569x512,1797x512
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported

import argparse
import subprocess
import sys
import time

import numpy as np
from baselines import N_FOLDS, N_NEIGHBORS, Codes, Floats, Mask, numpy_knn, scaled
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator

SHAPES = "570x15,1500x300,200x6000,569x512,569x2048,1797x512"
PATHS = ("scalar", "avx2", "avx512", "neon")
#: Element operations of one round, of about 1e10 in a second.
WORK = 1e9


def _table(n: int, size: int) -> tuple[Floats, Codes, list[Mask]]:
    """Return three classes of normal values, and subsets of `size` of the features."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, size + 8))
    X[:, : size // 4 + 1] += y[:, None]
    subsets = max(3, round(WORK / (n * n / 2 * size)))
    masks = []
    for _ in range(min(subsets, 200)):
        mask = np.ones(size + 8, dtype=bool)
        mask[rng.choice(size + 8, 8, replace=False)] = False
        masks.append(mask)
    return X, y, masks


def _seconds(path: str, metric: str, n: int, size: int) -> float:
    """Return the CPU time of one subset, in this process."""
    X, y, masks = _table(n, size)
    if path == "gemm":
        error = numpy_knn(scaled(X), y)
        start = time.process_time()
        for mask in masks:
            error(mask)
    else:
        estimator = KNeighborsClassifier(N_NEIGHBORS, metric=metric)
        # Scaled tables have 16-bit steps; the kernels of others are those of float64.
        evaluator = Evaluator(
            X, y, estimator=estimator, cv=N_FOLDS, scale="minmax", n_jobs=1, incremental=False
        )
        start = time.process_time()
        evaluator.measure(np.array(masks))
    return (time.process_time() - start) / len(masks)


def _serve(path: str) -> None:
    """Answer each line `metric n size` with a time, until there are no more."""
    for line in sys.stdin:
        metric, n, size = line.split()
        print(_seconds(path, metric, int(n), int(size)), flush=True)


def _start(path: str) -> subprocess.Popen[str]:
    environment = os.environ if path == "gemm" else os.environ | {"SWARMRS_SIMD": path}
    command = [sys.executable, __file__, "--serve", path]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)


def _is_available(path: str) -> bool:
    check = "import numpy, swarmrs; swarmrs.Evaluator(numpy.eye(30), [0, 1, 0] * 10, cv=2)"
    environment = os.environ | {"SWARMRS_SIMD": path}
    command = [sys.executable, "-W", "ignore", "-c", check]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    return done.returncode == 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", default=SHAPES, help="rows x selected features, by commas")
    parser.add_argument("--metrics", default="euclidean,manhattan")
    parser.add_argument("--paths", help="by commas; default: those of this processor")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return _serve(args.serve)
    paths = args.paths.split(",") if args.paths else [p for p in PATHS if _is_available(p)]
    servers = {path: _start(path) for path in (*paths, "gemm")}
    print("| metric | rows x features |", " | ".join(f"{path} ms" for path in servers), end="")
    ratios = " | ".join(f"{paths[-1]} : {path}" for path in paths[:-1])
    print(f" | {paths[-1]} : gemm |", ratios, "|")
    print("| --- | --- |" + " --: |" * (2 * len(paths) + 1))
    for metric in args.metrics.split(","):
        for shape in args.shapes.split(","):
            n, size = shape.split("x")
            times = dict.fromkeys(servers, float("inf"))
            for _ in range(args.rounds):
                for path, server in servers.items():
                    assert server.stdin
                    assert server.stdout
                    print(metric, n, size, file=server.stdin, flush=True)
                    times[path] = min(times[path], float(server.stdout.readline()))
            best = times[paths[-1]]
            cells = [f"{1000 * seconds:.3g}" for seconds in times.values()]
            cells += [f"{times[path] / best:.2f}" for path in ("gemm", *paths[:-1])]
            print(f"| {metric} | {shape} |", " | ".join(cells), "|", flush=True)
    for server in servers.values():
        assert server.stdin
        server.stdin.close()
        server.wait()


if __name__ == "__main__":
    main()
