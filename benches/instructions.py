"""Instructions of one evaluation by each kernel, against those stored: `make bench-instructions`.

valgrind counts the instructions of the program `instructions.rs`: no noise, on any x86-64 machine.
It knows no AVX-512, so the scalar and the AVX2 path are counted. A count is the difference of a
long and a short run, divided by the evaluations: setting up is not in it. It depends on the
compiler as well, hence the stored version. Fails if a count is off by more than 2 %; `--bless`
stores the counts.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STORED = Path(__file__).with_suffix(".json")
PATHS = ("scalar", "avx2")
SHORT, LONG = 2, 10
TOLERANCE = 0.02


def _output(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        command, env=os.environ | environment, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, command))} failed")
    return done.stdout


def _build() -> Path:
    """Compile the program and return its path."""
    command = "cargo bench -p swarmrs-benches --locked --bench instructions --no-run"
    messages = _output(*command.split(), "--message-format=json-render-diagnostics")
    found = [json.loads(line).get("executable") for line in messages.splitlines()]
    return Path(next(path for path in found if path))


def _count(program: Path, path: str, kernel: str, evaluations: int) -> int:
    log = ROOT / "target" / "callgrind.log"
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"]
    _output("valgrind", *options, program, kernel, str(evaluations), SWARMRS_SIMD=path)
    found = re.search(r"Collected : (\d+)", log.read_text(encoding="utf-8"))
    assert found, "valgrind prints its count"
    return int(found[1])


def counts(program: Path) -> dict[str, dict[str, int]]:
    """Return the instructions of an evaluation for each path and kernel."""
    kernels = _output(program).split()
    return {
        path: {
            kernel: (_count(program, path, kernel, LONG) - _count(program, path, kernel, SHORT))
            // (LONG - SHORT)
            for kernel in kernels
        }
        for path in PATHS
    }


def compare(found: dict[str, dict[str, int]], stored: dict[str, dict[str, int]]) -> list[str]:
    """Print both counts of each kernel; return the names of those that differ."""
    print("| path | kernel | stored | counted | change |")
    print("| --- | --- | --: | --: | --: |")
    differing = []
    for path, kernels in found.items():
        for kernel, count in kernels.items():
            before = stored.get(path, {}).get(kernel)
            change = count / before - 1 if before else None
            if change is None or abs(change) > TOLERANCE:
                differing.append(f"{path} {kernel}")
            shown = "new" if change is None else f"{change:+.2%}"
            print(f"| {path} | {kernel} | {before or ''} | {count} | {shown} |", flush=True)
    return differing


def main() -> None:
    """Count, then compare or store."""
    parser = argparse.ArgumentParser(description="Instructions of the kernels.")
    parser.add_argument("--bless", action="store_true", help="store the counts")
    args = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("error: valgrind is not found\nhint: install it (Debian: apt install valgrind)")
    compiler = _output("rustc", "--version").strip()
    found = counts(_build())
    stored: dict[str, Any] = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    differing = compare(found, stored.get("instructions", {}))
    if args.bless:
        stored = {"compiler": compiler, "instructions": found}
        STORED.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    elif differing:
        if compiler != stored.get("compiler"):
            print(f"\nStored with {stored.get('compiler')}, counted with {compiler}.")
        sys.exit(f"error: more than {TOLERANCE:.0%} off: {', '.join(differing)}")


if __name__ == "__main__":
    main()
