"""A run is the same on any number of threads, and after any number of kills."""

import json
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="module")
def wide_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows and columns enough for a run of a second or two."""
    rng = np.random.default_rng(11)
    codes = np.arange(600) % 4
    x = rng.random((600, 60)) + (codes[:, None] == np.arange(60) % 9) * 0.3
    frame = pl.from_numpy(x, schema=[f"g{index}" for index in range(60)])
    path = tmp_path_factory.mktemp("resume") / "wide.csv"
    frame.with_columns(pl.Series("class", codes)).write_csv(path)
    return path


def result_of(process: subprocess.Popen[str]) -> str:
    """Return the JSON a process printed, without its seconds."""
    with process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    result = json.loads(out)
    assert result.pop("seconds")["total"] > 0
    return json.dumps(result)


def test_wine_is_the_same_on_one_and_two_threads(start: Start) -> None:
    command = ("select", "sklearn:wine", "--algo", "bpso", "--seed", 1, "--format", "json")
    one, two = (result_of(start(*command, "--jobs", jobs)) for jobs in (1, 2))
    assert one == two


@pytest.mark.parametrize("algo", ["bpso", "sfs"])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    start: Start, wide_csv: Path, tmp_path: Path, algo: str
) -> None:
    options = ("--algo", algo, "--seed", 1, "--max-evals", 3000, "--format", "json", "--jobs", 1)
    command = ("select", wide_csv, *options)
    checkpoint = tmp_path / "run.ckpt"
    size = 1000  # A checkpoint that holds an iteration is larger.
    for _ in range(3):
        with start(*command, "--checkpoint", checkpoint) as process:
            while not checkpoint.exists() or checkpoint.stat().st_size <= size:
                assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(random.uniform(0, 0.2))
            assert process.poll() is None, "the run ended before it could be killed"
            process.kill()
        size = checkpoint.stat().st_size
    resumed = result_of(start(*command, "--checkpoint", checkpoint))
    assert resumed == result_of(start(*command))
    assert resumed == result_of(start(*command, "--checkpoint", checkpoint))


def test_a_checkpoint_of_another_run_is_refused(
    cli: Callable[..., tuple[int, str, str]], blobs_csv: Path, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "run.ckpt"
    options = ("--algo", "bpso", "--max-evals", 90, "--checkpoint", checkpoint)
    command = ("select", blobs_csv, "-q", *options)
    assert cli(*command, "--seed", 1)[0] == 0
    hint = "hint: give another checkpoint file, or remove this one to start over\n"
    assert cli(*command, "--seed", 2) == (
        2,
        "",
        f"error: checkpoint {checkpoint}: made with another seed\n{hint}",
    )
    data = pl.read_csv(blobs_csv).with_columns(pl.col("a") + 1)
    data.write_csv(blobs_csv)
    code, _, err = cli(*command, "--seed", 1)
    assert code == 2
    assert err == f"error: checkpoint {checkpoint}: made from other data\n{hint}"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1])
    assert "damaged" in cli(*command, "--seed", 1)[2]
