"""`SWARMRS_SIMD` chooses the vector instructions of a process and changes no result."""

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Start = Callable[..., "subprocess.Popen[str]"]


def result(start: Start, *args: object, **environment: str) -> dict[str, Any]:
    """Return the JSON that `swarmrs select` prints, without its times."""
    plain = {name: value for name, value in os.environ.items() if name != "SWARMRS_SIMD"}
    command = ("select", *args, "--seed", 5, "--max-evals", 300, "--format", "json")
    out, err = start(*command, env=plain | environment).communicate(timeout=120)
    found: dict[str, Any] = json.loads(out) if out else {"error": err}
    found.pop("seconds", None)
    return found


@pytest.mark.parametrize(
    "settings",
    [
        ("--algo", "vlpso", "--metric", "manhattan"),
        ("--algo", "pbpso", "--metric", "euclidean", "-k", 5),
        ("--algo", "sfs", "--estimator", "nb"),
        ("--algo", "sfs", "--estimator", "ridge"),
    ],
)
def test_scalar_code_gives_the_same_result(start: Start, settings: tuple[object, ...]) -> None:
    fastest = result(start, "sklearn:wine", *settings)
    assert fastest["algorithm"] == settings[1]
    assert result(start, "sklearn:wine", *settings, SWARMRS_SIMD="scalar") == fastest


def test_an_unknown_instruction_set_is_refused(start: Start) -> None:
    refused = result(start, "sklearn:iris", "--algo", "sfs", SWARMRS_SIMD="mmx")
    assert "SWARMRS_SIMD is mmx, expected scalar" in refused["error"]
    assert "Traceback" not in refused["error"]
