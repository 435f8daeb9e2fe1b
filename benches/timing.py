"""What the benches share: CPU time, the machine, data, and tables that are printed and stored."""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import numpy as np
from baselines import Codes, Floats, Mask
from swarmrs import _swarmrs

RESULTS = Path(__file__).resolve().parent / "results"
Found = TypeVar("Found")
SIMD = ("scalar", "avx2", "avx512", "neon")


def timed(call: Callable[[], Found]) -> tuple[float, Found]:
    """Return the CPU time of a call, over all threads, and what it returns.

    Read at once, about one time in 3000 of a short call of the engine is up to twenty times too
    small, and the least of several picks it; probably the time of another thread is added late.
    None of 4500 was after a pause, which costs 6 us.
    """
    started = time.process_time()
    found = call()
    time.sleep(1e-3)
    return time.process_time() - started, found


def least(rounds: int, calls: Sequence[Callable[[], object]]) -> list[float]:
    """Return the least CPU time of each call.

    The calls alternate, so that a busy machine slows all of them; a first round is not counted.
    """
    times = []
    for _ in range(rounds + 1):
        row = []
        for call in calls:
            gc.collect()
            row.append(timed(call)[0])
        times.append(row)
    return [min(column) for column in zip(*times[1:], strict=True)]


def gaussian_classes(n: int, width: int) -> tuple[Floats, Codes]:
    """Return three classes of normal values; a quarter of the features differs between them."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, width))
    X[:, : width // 4 + 1] += y[:, None]
    return X, y


def random_masks(width: int, size: int, count: int) -> list[Mask]:
    """Return random subsets of `size` of the features."""
    rng = np.random.default_rng(7)
    masks = np.zeros((count, width), bool)
    for mask in masks:
        mask[rng.choice(width, size, replace=False)] = True
    return list(masks)


def has_simd(name: str) -> bool:
    """Return whether this processor has an instruction set of the engine."""
    check = "import numpy, swarmrs; swarmrs.Evaluator(numpy.eye(30), [0, 1, 0] * 10, cv=2)"
    environment = os.environ | {"SWARMRS_SIMD": name}
    command = [sys.executable, "-W", "ignore", "-c", check]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    return done.returncode == 0


@cache
def machine() -> str:
    """Return the processor, the instruction set of the engine, and the versions of the rivals."""
    simd = os.environ.get("SWARMRS_SIMD") or [name for name in SIMD if has_simd(name)][-1]
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"{_processor()}, {os.cpu_count()} cores; engine on {simd}; {packages}"


@cache
def engine() -> str:
    """Return a name of this build of the engine."""
    assert _swarmrs.__file__, "it is a file"
    return hashlib.sha256(Path(_swarmrs.__file__).read_bytes()).hexdigest()[:8]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    parts = [
        re.search(rf"^{name}\s*:\s*(.+)$", lines, re.MULTILINE)
        for name in ("model name", "cpu family", "model")
    ]
    name, family, model = (part[1] if part else "?" for part in parts)
    return f"{name} (family {family}, model {model})"


class Report:
    """Tables of a bench: printed as Markdown while they grow, stored for `results.py` on request.

    Parameters
    ----------
    name : str
        Name of the file in `benches/results`, without its ending.
    is_printed : bool
        Whether lines are printed.
    """

    def __init__(self, name: str, is_printed: bool = True) -> None:
        self.name, self.is_printed = name, is_printed
        self.lines: list[str] = []

    def line(self, text: str = "") -> None:
        """Add a line."""
        self.lines.append(text)
        if self.is_printed:
            print(text, flush=True)

    def header(self, *columns: str, names: int = 1) -> None:
        """Begin a table, of which the first columns hold names and the others numbers."""
        if self.lines:
            self.line()
        self.line(f"| {' | '.join(columns)} |")
        self.line("|" + " --- |" * names + " --: |" * (len(columns) - names))

    def row(self, *cells: object) -> None:
        """Add a row."""
        self.line(f"| {' | '.join(map(str, cells))} |")

    def store(self) -> None:
        """Append the tables to the file, with the command, the machine and the build."""
        arguments = [text for text in sys.argv[1:] if text != "--store"]
        command = ["python", f"benches/{Path(sys.argv[0]).name}", *arguments]
        run = {
            "machine": machine(),
            "engine": engine(),
            "command": " ".join(command),
            "lines": self.lines,
        }
        with (RESULTS / f"{self.name}.jsonl").open("a", encoding="utf-8") as out:
            out.write(json.dumps(run, ensure_ascii=False) + "\n")


def add_store_option(parser: argparse.ArgumentParser) -> None:
    """Add `--store`."""
    parser.add_argument("--store", action="store_true", help="keep the tables for RESULTS.md")
