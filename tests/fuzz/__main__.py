"""The driver: starts workers, watches them, keeps what they find.

``make fuzz ARGS="--seconds 600 --seed 1 --only store,csv"``; ``--case N`` runs one case again.
``--cpu-seconds 3600`` goes by processor time instead, however busy the machine is.
"""

import argparse
import contextlib
import json
import math
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.outcome import Finding, plain

ROOT = Path(__file__).resolve().parents[2]
# Seconds of processor time after which a case is interrupted, as by Ctrl-C; and how many more it
# has to end by itself. What is idle has a longer time by the clock, less the time that it was ready
# to run while a busy machine ran something else.
PATIENCE, GRACE = 4.0, 10.0
IDLE, IDLE_GRACE = 120.0, 60.0
# A worker is replaced after so many cases, so that what one leaves behind cannot add up.
CASES = 1000


@dataclass
class Counts:
    """What was done to one target."""

    cases: int = 0
    interrupted: int = 0
    seconds: float = 0.0


@dataclass
class Found:
    """All findings, each kept once, with the first case that shows it."""

    folder: Path
    seen: dict[str, int] = field(default_factory=dict)

    def keep(self, finding: Finding, target: str, seed: int, number: int, home: Path) -> None:
        """Write a finding down unless it is known."""
        key = f"{target}: {finding.kind}: {finding.key}"
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] > 1:
            return
        name = re.sub(r"\W+", "-", f"{target}-{number}-{finding.key}")[:80].strip("-")
        kept = self.folder / name
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(home / "case", kept, symlinks=True)
        again = f'make fuzz ARGS="--only {target} --seed {seed} --case {number}"'
        (kept / "finding.txt").write_text(f"{key}\n{again}\n\n{finding.text}\n", errors="replace")
        print(f"finding: {key}\n  again: {again}\n  files: {kept}", flush=True)


class Worker:
    """A process that runs one case at a time.

    Parameters
    ----------
    seed : int
        The seed of all cases.
    megabytes : int
        The address space it may use.
    """

    def __init__(self, seed: int, megabytes: int) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="swarmrs-fuzz-"))
        (self.home / "case").mkdir()
        single = {"POLARS_MAX_THREADS": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        paths = [str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker", str(seed), str(megabytes), str(self.home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | single | {"PYTHONPATH": os.pathsep.join(paths)},
        )
        assert self.process.stdout is not None
        self.answers = self.process.stdout
        self.left = CASES
        self.cpu = self.before = 0.0
        self.case: tuple[str, int] | None = None
        self.since = self.ready_before = 0.0
        self.warned: float | None = None

    def start(self, target: str, number: int) -> None:
        """Begin a case."""
        assert self.process.stdin is not None
        self.left -= 1
        self.case, self.since, self.warned = (target, number), time.monotonic(), None
        self.before, self.ready_before = self.spent() or self.cpu, self.ready()
        self.process.stdin.write(f"{target} {number}\n")
        self.process.stdin.flush()

    def spent(self) -> float | None:
        """Return the seconds of processor time so far, where the system tells."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ready(self) -> float:
        """Return the seconds that its threads waited for a processor, where the system tells."""
        total = 0
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/schedstat"):
            # A thread may end in between.
            with contextlib.suppress(OSError):
                total += int(path.read_text().split()[1])
        return total / 1e9

    def watch(self) -> str | None:
        """Interrupt what takes too long; return ``hang`` where that does not help."""
        # A clock that stands still while the worker waits for a processor.
        now = time.monotonic() - (self.ready() - self.ready_before)
        spent = self.spent()
        used = now - self.since if spent is None else spent - self.before
        # The first case of a worker makes the seeds, too.
        patience = PATIENCE + (10 if self.left == CASES - 1 else 0)
        if self.warned is None:
            if used > patience or now - self.since > IDLE:
                self.process.send_signal(signal.SIGINT)
                self.warned = used
                self.warned_at = now
        elif used - self.warned > GRACE or now - self.warned_at > IDLE_GRACE + IDLE:
            self.process.kill()
            return "hang"
        return None

    def close(self) -> int:
        """End it and return its exit code."""
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        code = self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)
        return code


def printed(home: Path) -> str:
    """Return the end of what a worker printed."""
    path = home / "printed.txt"
    return path.read_text(errors="replace")[-4000:] if path.exists() else ""


class Driver:
    """Gives cases to workers.

    Parameters
    ----------
    targets : list of str
        What to fuzz.
    seed, megabytes, jobs : int
        The seed, the memory of a worker and how many there are.
    folder : Path
        Where findings are kept.
    """

    def __init__(
        self, targets: list[str], seed: int, megabytes: int, jobs: int, folder: Path
    ) -> None:
        self.targets, self.seed, self.megabytes, self.jobs = targets, seed, megabytes, jobs
        self.counts = {target: Counts() for target in targets}
        self.found = Found(folder)
        self.cpu = 0.0

    def run(self, seconds: float, cpu_seconds: float, cases: int | None, first: int | None) -> None:
        """Run until the time is over by the clock or of the processor, or the cases are."""
        end = time.monotonic() + seconds
        workers: list[Worker] = []
        given = dict.fromkeys(self.targets, first or 0)
        limit = None if cases is None else (first or 0) + cases
        while True:
            open_targets = [one for one in self.targets if limit is None or given[one] < limit]
            spent = self.cpu + sum(worker.cpu for worker in workers)
            is_over = time.monotonic() > end or spent >= cpu_seconds or not open_targets
            idle = [worker for worker in workers if worker.case is None]
            if is_over and len(idle) == len(workers):
                break
            while not is_over and len(workers) < self.jobs:
                workers.append(Worker(self.seed, self.megabytes))
                idle.append(workers[-1])
            for worker in idle:
                open_targets = [one for one in self.targets if limit is None or given[one] < limit]
                if is_over or not open_targets:
                    break
                # Each target has an equal share of the time, not of the cases.
                target = min(open_targets, key=lambda one: self.counts[one].seconds)
                worker.start(target, given[target])
                given[target] += 1
            self._listen(workers)
        for worker in workers:
            self.cpu += worker.cpu
            worker.close()

    def _listen(self, workers: list[Worker]) -> None:
        busy = [worker for worker in workers if worker.case is not None]
        ready, _, _ = select.select([worker.answers for worker in busy], [], [], 0.2)
        for worker in busy:
            if worker.answers in ready:
                line = worker.answers.readline()
                if line:
                    self._ended(worker, json.loads(line))
                else:
                    self._died(worker, "signal")
                    workers.remove(worker)
                    continue
                if worker.left == 0:
                    self.cpu += worker.cpu
                    worker.close()
                    workers.remove(worker)
            elif worker.watch() == "hang":
                self._died(worker, "hang")
                workers.remove(worker)

    def _ended(self, worker: Worker, outcome: dict[str, object]) -> None:
        assert worker.case is not None
        (target, number), counts = worker.case, self.counts[worker.case[0]]
        counts.cases += 1
        counts.interrupted += worker.warned is not None
        cpu = float(str(outcome["cpu"]))
        # A worker's first case pays for its imports; that is not the target's doing.
        counts.seconds += max(cpu - (worker.before or cpu), 0.001)
        worker.cpu = cpu
        worker.case = None
        if isinstance(outcome["finding"], dict):
            finding = Finding(**outcome["finding"])
            self.found.keep(finding, target, self.seed, number, worker.home)

    def _died(self, worker: Worker, kind: str) -> None:
        assert worker.case is not None
        target, number = worker.case
        self.counts[target].cases += 1
        self.counts[target].seconds += PATIENCE
        self.cpu += worker.spent() or worker.cpu
        text, code = printed(worker.home), worker.process.wait()
        described = worker.home / "case" / "case.txt"
        description = described.read_text(errors="replace") if described.exists() else ""
        last = text.strip().splitlines()[-1] if text.strip() else ""
        what = description.split(" ")[0]
        key = f"{what}: {plain(last)}" if kind == "hang" else f"{what}: code {code}: {plain(last)}"
        self.found.keep(
            Finding(kind, key, f"{description}\n{text}"), target, self.seed, number, worker.home
        )
        worker.close()

    def summary(self) -> str:
        """Return the counts as lines."""
        lines = [f"{'target':12}{'cases':>9}{'interrupted':>13}{'CPU s':>9}"]
        for target, counts in self.counts.items():
            row = f"{counts.cases:9}{counts.interrupted:13}{counts.seconds:9.0f}"
            lines.append(f"{target:12}{row}")
        total = sum(counts.cases for counts in self.counts.values())
        lines.append(f"{total} cases, {self.cpu:.0f} CPU seconds, {len(self.found.seen)} findings")
        return "\n".join(lines)


def main() -> None:
    """Fuzz and print a summary; exit 1 if anything was found."""
    from fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(prog="make fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, help="by the clock, 300 by default")
    parser.add_argument("--cpu-seconds", type=float, default=math.inf, help="of processor time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(TARGETS), help="targets, by comma")
    parser.add_argument("--jobs", type=int, default=1, help="workers")
    parser.add_argument("--memory", type=int, default=6144, help="MiB of address space of a worker")
    parser.add_argument("--cases", type=int, help="end after so many of each target")
    parser.add_argument("--case", type=int, help="run this one case of one target")
    parser.add_argument("--findings", type=Path, default=ROOT / "target/fuzz")
    given = parser.parse_args()
    targets = given.only.split(",")
    if unknown := [target for target in targets if target not in TARGETS]:
        parser.error(f"no target {unknown[0]!r}, expected one of {', '.join(TARGETS)}")
    given.findings.mkdir(parents=True, exist_ok=True)
    driver = Driver(targets, given.seed, given.memory, given.jobs, given.findings)
    cases = 1 if given.case is not None else given.cases
    seconds = given.seconds or (300 if given.cpu_seconds == math.inf else math.inf)
    driver.run(seconds, given.cpu_seconds, cases, given.case)
    print(driver.summary())
    sys.exit(1 if driver.found.seen else 0)


if __name__ == "__main__":
    main()
