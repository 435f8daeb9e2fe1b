"""Mutation testing of the engine: `make mutants-rust ARGS="--sample 300 --seed 1"`.

`src/main.rs` writes a copy of the engine that holds all mutants, each behind a number. It is
compiled once; mutants that do not compile are left out. Then the tests about scores run with one
mutant active after the other, until one of them fails. What survives is listed.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "target" / "mutants"
WORK = HOME / "work"
CORE = "rust/swarmrs-core"
TOOL = ROOT / "target" / "mutants-tool" / "release" / "mutants"
PLACES = (
    "src/evaluate/**/*.rs",
    "src/simd/*.rs",
    "src/data/quantization.rs",
    "src/data/dataset.rs",
    "src/data/folds.rs",
    "src/problem/objective.rs",
)
SWITCH = """
pub(crate) mod mutant {
    static ACTIVE: std::sync::LazyLock<u32> =
        std::sync::LazyLock::new(|| std::env::var("MUTANT").map_or(0, |it| it.parse().unwrap()));
    #[inline]
    pub fn is(number: u32) -> bool { *ACTIVE == number }
}
"""
TESTS = (
    "--lib",
    "--test=oracle",
    "--test=imputation",
    "--test=golden",
    "--test=filter_objectives",
    "--test=simd",
)
MODULES = ("evaluate::", "simd::", "quantization::", "dataset::", "folds::", "objective::", "run::")
# Seconds of processor time after which a mutant that makes the tests endless is caught, and those
# by the clock, for one that waits for ever. A busy machine must not count as a test that fails.
PATIENCE = 240
IDLE = 20 * PATIENCE


class Mutant(NamedTuple):
    """One change."""

    number: int
    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def write(skipped: set[int]) -> list[Mutant]:
    """Write the engine with all mutants but those skipped, and return them."""
    core = WORK / CORE
    shutil.rmtree(core, ignore_errors=True)
    shutil.copytree(ROOT / CORE, core)
    files = sorted({path for place in PLACES for path in core.glob(place)})
    found, number = [], 1
    for path in files:
        if path.name == "tests.rs":
            continue
        done = subprocess.run(
            [TOOL, str(number), path, *map(str, sorted(skipped))],
            check=True,
            capture_output=True,
            text=True,
        )
        for line in done.stdout.splitlines():
            first, _, rest = line.partition("\t")
            if first == "next":
                number = int(rest)
            else:
                at, _, what = rest.partition("\t")
                name = str(path.relative_to(core / "src"))
                found.append(Mutant(int(first), name, int(at), what))
    lib = core / "src" / "lib.rs"
    lib.write_text(lib.read_text() + SWITCH)
    return found


def cargo(*words: str) -> tuple[list[dict[str, object]], int]:
    """Run cargo and return its messages and exit code."""
    done = subprocess.run(
        ["cargo", *words, "-p", "swarmrs-core", "--locked", "--message-format=json", *TESTS],
        cwd=WORK,
        capture_output=True,
        text=True,
        env={**os.environ, "CARGO_TARGET_DIR": str(HOME / "build"), "RUSTFLAGS": "-A warnings"},
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def compiled() -> tuple[list[Mutant], list[str]]:
    """Compile as many mutants as can be, and return them and the test programs."""
    WORK.mkdir(parents=True, exist_ok=True)
    for name in ("Cargo.toml", "Cargo.lock", "rust", "benches", "README.md", "tests/golden"):
        source, target = ROOT / name, WORK / name
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    skipped: set[int] = set()
    mutants = write(skipped)
    # Unit tests are checked, too; what only a build refuses, such as a constant that overflows, is
    # left out after that.
    for words in (("check", "--profile", "test"), ("test", "--no-run", "--profile", "mutants")):
        while True:
            messages, code = cargo(*words)
            if code == 0:
                break
            guilty = {number for message in messages for number in blamed(message)} - skipped
            print(f"{len(mutants)} mutants, {len(guilty)} of them do not compile", flush=True)
            if not guilty:
                print("".join(map(rendered, messages)), file=sys.stderr)
                sys.exit("the engine does not compile for another reason")
            skipped |= guilty
            mutants = write(skipped)
    programs = [str(it["executable"]) for it in messages if it.get("executable")]
    return mutants, programs


def rendered(message: dict[str, object]) -> str:
    """Return an error as the compiler prints it; nothing for other messages."""
    inner = message.get("message")
    if isinstance(inner, dict) and inner.get("level") == "error":
        return str(inner["rendered"])
    return ""


def blamed(message: dict[str, object]) -> set[int]:
    """Return the numbers of the mutants in the lines that an error is about."""
    inner = message.get("message")
    if not isinstance(inner, dict) or inner.get("level") != "error":
        return set()
    numbers: set[int] = set()
    for span in inner["spans"]:
        if not span["is_primary"] or not span["file_name"].startswith(CORE):
            continue
        lines = (WORK / span["file_name"]).read_text().splitlines()
        first, last = span["line_start"] - 1, span["line_end"]
        # The switch may stand some lines above what it guards.
        for above in range(8):
            text = "\n".join(lines[max(0, first - above) : last])
            numbers = {int(found) for found in re.findall(r"mutant::is\((\d+)", text)}
            if numbers:
                break
        if numbers:
            return numbers
    return numbers


def survives(mutant: int, programs: list[str]) -> bool:
    """Say whether all tests pass with a mutant active."""
    env = {**os.environ, "MUTANT": str(mutant), "RUST_BACKTRACE": "0"}
    for program in programs:
        words = MODULES if Path(program).name.startswith("swarmrs_core") else ()
        try:
            done = subprocess.run(
                ["sh", "-c", 'ulimit -t "$0" && exec "$@"', str(PATIENCE), program, "-q", *words],
                cwd=WORK / CORE,
                env=env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=IDLE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        if done.returncode:
            return False
    return True


def main() -> int:
    """Run the tests on a sample of all mutants and print what survives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, help="so many mutants, drawn by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--minutes", type=float, help="end after so many")
    given = parser.parse_args()
    mutants, programs = compiled()
    if not survives(0, programs):
        sys.exit("the tests fail without a mutant")
    chosen = [mutant for mutant in mutants if given.only in mutant.file]
    random.Random(given.seed).shuffle(chosen)
    chosen = chosen[: given.sample]
    print(f"{len(mutants)} mutants compile, {len(chosen)} are tested", flush=True)
    end = time.monotonic() + 60 * (given.minutes or 1e6)
    tested: Counter[str] = Counter()
    left: list[Mutant] = []

    def test(mutant: Mutant) -> tuple[Mutant, bool | None]:
        in_time = time.monotonic() < end
        return mutant, survives(mutant.number, programs) if in_time else None

    with ThreadPoolExecutor(given.jobs) as pool:
        for mutant, survived in pool.map(test, chosen):
            if survived is None:
                continue
            tested[mutant.file] += 1
            if survived:
                left.append(mutant)
                print(f"survived: {mutant}", flush=True)
    alive = Counter(mutant.file for mutant in left)
    for file, count in sorted(tested.items()):
        print(f"{file}: {count - alive[file]} of {count} caught")
    total = sum(tested.values())
    share = (total - len(left)) / max(total, 1)
    print(f"all: {total - len(left)} of {total} caught, {100 * share:.1f} %")
    return 0 if share >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
