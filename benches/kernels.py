"""Compare the instruction sets of the k-NN kernels with each other and with a matrix product.

One 5-NN evaluation in 10 folds from scratch, on one thread: milliseconds of CPU per subset, the
least of several rounds. `gemm` is numpy: Euclidean distances by one float32 matrix product, then
five passes of `argmin`, which take less time than one `argpartition`. Every path runs in a process
of its own, one round after the other, so that a busy machine slows all of them. Printed as
Markdown; the last columns give the time of `gemm` and of the other paths over that of the last
path. G/s are 10^9 element operations a second with the search for neighbors: one for each feature
and pair of rows, which the product computes twice. The peaks count multiplications with additions;
`--peak` adds what the inner loop of the last path reaches alone, in the L1 cache.

    python benches/kernels.py --rounds 7 --shapes 569x512,1797x512
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported

import argparse
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
from baselines import N_FOLDS, N_NEIGHBORS, numpy_knn, scaled
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator
from timing import (
    SIMD,
    Report,
    add_store_option,
    gaussian_classes,
    has_simd,
    least,
    random_masks,
    timed,
)

SHAPES = "570x15,1500x300,200x6000,569x512,569x2048,1797x512"
#: Features of the table that a subset leaves out.
SPARE = 8
#: Element operations of one round, of about 1e10 in a second.
WORK = 1e9


def _seconds(path: str, metric: str, n: int, size: int) -> float:
    """Return the CPU time of one subset, in this process."""
    X, y = gaussian_classes(n, size + SPARE)
    subsets = max(3, round(WORK / (n * n / 2 * size)))
    masks = random_masks(size + SPARE, size, min(subsets, 200))
    if path == "gemm":
        error = numpy_knn(scaled(X), y)
        seconds, _ = timed(lambda: [error(mask) for mask in masks])
    else:
        estimator = KNeighborsClassifier(N_NEIGHBORS, metric=metric)
        # Scaled tables have 16-bit steps; the kernels of others are those of float64.
        evaluator = Evaluator(
            X, y, estimator=estimator, cv=N_FOLDS, scale="minmax", n_jobs=1, incremental=False
        )
        seconds, _ = timed(lambda: evaluator.measure(np.array(masks)))
    return seconds / len(masks)


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


def _loop_peaks() -> dict[tuple[str, str], float]:
    """Return what the inner loops alone reach, by instruction set and metric: `peak.rs`."""
    command = "cargo bench --quiet -p swarmrs-benches --locked --bench peak"
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(command.split(), cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    lines = map(str.split, done.stdout.splitlines())
    return {(path, metric): float(rate) for path, metric, rate in lines}


def _peaks() -> list[str]:
    """Return the rates of this machine that bound a kernel, each the best of several rounds."""
    lines = []
    for dtype in (np.float32, np.float64):
        a = np.random.default_rng(0).random((1024, 1024), dtype)
        [seconds] = least(5, [partial(np.matmul, a, a)])
        lines.append(f"{a.dtype} matrix product {len(a) ** 3 / seconds / 1e9:.0f} G/s")
    block = np.ones(1 << 25)
    [seconds] = least(5, [block.copy])
    return [*lines, f"copy {2 * block.nbytes / seconds / 1e9:.0f} GB/s"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", default=SHAPES, help="rows x selected features, by commas")
    parser.add_argument("--metrics", default="euclidean,manhattan")
    parser.add_argument("--paths", help="by commas; default: those of this processor")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--peak", action="store_true", help="time the inner loops alone, by cargo")
    add_store_option(parser)
    args = parser.parse_args()
    if args.serve:
        return _serve(args.serve)
    paths = args.paths.split(",") if args.paths else [p for p in SIMD if has_simd(p)]
    servers = {path: _start(path) for path in (*paths, "gemm")}
    peaks = _loop_peaks() if args.peak else {}
    report = Report("kernels")
    report.header(
        "metric",
        "rows x features",
        *(f"{path} ms" for path in servers),
        f"{paths[-1]} G/s",
        "gemm G/s",
        *(f"{path} / {paths[-1]}" for path in ("gemm", *paths[:-1])),
        *(["peak G/s", "share of peak"] if peaks else []),
        names=2,
    )
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
            pairs = int(n) * (int(n) - 1) / 2 * int(size) / 1e9
            cells = [f"{1000 * seconds:.3g}" for seconds in times.values()]
            cells += [f"{pairs / best:.0f}", f"{2 * pairs / times['gemm']:.0f}"]
            cells += [f"{times[path] / best:.2f}" for path in ("gemm", *paths[:-1])]
            if peaks:
                peak = peaks[paths[-1], metric]
                cells += [f"{peak:.0f}", f"{pairs / best / peak:.0%}"]
            report.row(metric, shape, *cells)
    for server in servers.values():
        assert server.stdin
        server.stdin.close()
        server.wait()
    report.line(f"\nPeaks of this machine in the same run: {', '.join(_peaks())}.")
    if args.store:
        report.store()


if __name__ == "__main__":
    main()
