"""The fuzzer works: a few cases of every target, and it notices what it is there to notice.

`make fuzz` runs many. A case that fails there is to become a test of what it showed.
"""

import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from fuzz import arguments
from fuzz.mutate import mutate_bytes, mutate_json
from fuzz.outcome import judge
from fuzz.targets import TARGETS
from swarmrs.exceptions import DataError, InternalError, SwarmrsWarning

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.timeout(300)
def test_every_target_runs_and_nothing_is_found(tmp_path: Path) -> None:
    options = ["--cases", "6", "--seconds", "200", "--seed", "0", "--findings", str(tmp_path)]
    # The installed package, which has the engine: the sources of an archive have none.
    paths = [str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    ended = subprocess.run(
        [sys.executable, "-m", "fuzz", *options],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{6 * len(TARGETS)} cases" in ended.stdout


def test_what_is_a_finding() -> None:
    def refuse() -> None:
        raise DataError("no rows")

    def fail() -> None:
        raise InternalError("a bug")

    def warn(category: type[Warning]) -> None:
        warnings.warn("hm", category, stacklevel=1)

    assert judge(refuse) is None
    assert judge(lambda: warn(SwarmrsWarning)) is None
    for call, kind in (
        (fail, "exception"),
        (lambda: int("x"), "exception"),
        (lambda: warn(RuntimeWarning), "warning"),
    ):
        finding = judge(call)
        assert finding is not None
        assert finding.kind == kind


def test_cases_depend_on_their_seed_alone() -> None:
    seeds = [b"a,b,class\n1,2,x\n", b"other"]
    for number in range(50):
        one, other = random.Random(f"1/{number}"), random.Random(f"1/{number}")
        assert mutate_bytes(one, seeds) == mutate_bytes(other, seeds)
        assert mutate_json(one, {"a": [1, {"b": 2}]}) == mutate_json(other, {"a": [1, {"b": 2}]})
        assert arguments.command(one) == arguments.command(other)


def test_every_option_of_every_command_is_tried() -> None:
    rng = random.Random(1)
    tried = {word for _ in range(6000) for word in arguments.command(rng)}
    known = {
        option
        for params in arguments.commands().values()
        for param in params
        if param.param_type_name == "option"
        for option in param.opts
    }
    assert len(known) > 50
    assert known <= tried
