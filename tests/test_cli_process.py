"""The command line as a process: signals, pipes and terminals."""

import json
import os
import pty
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

Start = Callable[..., subprocess.Popen[str]]

NOTE = "note: the target is the last column, 'tree'\n"


@pytest.mark.parametrize(("which", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_with_the_best_so_far(
    start: Start, blobs_csv: Path, tmp_path: Path, which: signal.Signals, code: int
) -> None:
    endless = ("--max-evals", 10**12, "--seed", 1, "--format", "json")
    with start("select", blobs_csv, *endless, "--checkpoint", tmp_path / "run") as process:
        while not (tmp_path / "run").exists():
            assert process.poll() is None
        process.send_signal(which)
        out, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert err == f"{NOTE}note: the same command goes on from here\n"
    result = json.loads(out)
    assert result["stop"] == "interrupted"
    assert result["size"] >= 1


def test_a_signal_before_the_search_is_said(start: Start) -> None:
    with start("select", "-", stdin=subprocess.PIPE) as process:
        # The process has read all we gave it, so it waits for more when we send the signal.
        assert process.stdin is not None
        process.stdin.write("x" * (1 << 20))
        process.stdin.flush()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 143
    assert err == "error: interrupted before anything was measured\nhint: run the command again\n"


def test_a_search_for_groups_is_interrupted(start: Start, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    path = tmp_path / "wide.csv"
    columns = {f"c{i}": rng.random(60).round(4) for i in range(1500)}
    pl.DataFrame(columns | {"tree": [0, 1] * 30}).write_csv(path)
    with start("group", path) as process:
        # The note is the last thing said before the groups are sought, which takes minutes.
        assert process.stderr is not None
        assert process.stderr.readline() == NOTE
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == ""


def test_a_closed_pipe_is_no_error(start: Start) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with start("algorithms", stdout=writer) as process:
        os.close(writer)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert err == ""


@pytest.mark.parametrize(("option", "is_shown"), [("-abpso", True), ("--no-progress", False)])
def test_progress_is_shown_on_a_terminal(
    start: Start, blobs_csv: Path, option: str, is_shown: bool
) -> None:
    ours, theirs = pty.openpty()
    with start("select", blobs_csv, "--max-evals", 60, option, stderr=theirs) as process:
        os.close(theirs)
        out, _ = process.communicate(timeout=20)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert NOTE.strip() in shown
    assert ("60/60" in shown) == is_shown
    assert out.startswith("data         blobs.csv")
