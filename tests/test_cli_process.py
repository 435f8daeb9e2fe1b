"""The command line as a process: signals, pipes and terminals."""

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from swarmrs.cli._output._progress import EVERY, Lines, progress
from swarmrs.search._results._progress import Iteration

Start = Callable[..., subprocess.Popen[str]]

NOTE = "note: the target is the last column, 'tree'\n"


@pytest.mark.parametrize(("which", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_with_the_best_so_far(
    start: Start, blobs_csv: Path, tmp_path: Path, which: signal.Signals, code: int
) -> None:
    endless = ("--algo", "bpso", "--max-evals", 10**12, "--seed", 1, "--format", "json")
    record = tmp_path / "run"
    with start("select", blobs_csv, *endless, "--checkpoint", record) as process:
        empty = None
        # It is written before the first evaluation, and grows with every iteration.
        while empty is None or record.stat().st_size == empty:
            assert process.poll() is None
            if empty is None and record.exists():
                empty = record.stat().st_size
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
    assert (
        err
        == "error: interrupted before the first subset was evaluated\nhint: run the command again\n"
    )


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


def on_a_terminal(start: Start, *words: object, **variables: str) -> tuple[str, str]:
    """Run a command whose errors and progress go to a terminal; return what it and stdout got."""
    ours, theirs = pty.openpty()
    env = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
    with start(*words, stderr=theirs, env=env | {"TERM": "xterm"} | variables) as process:
        os.close(theirs)
        out, _ = process.communicate(timeout=20)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    return shown, out


@pytest.mark.parametrize(("option", "is_shown"), [("-abpso", True), ("--no-progress", False)])
def test_progress_is_shown_on_a_terminal(
    start: Start, blobs_csv: Path, option: str, is_shown: bool
) -> None:
    shown, out = on_a_terminal(start, "select", blobs_csv, "--max-evals", 60, option)
    assert NOTE.strip() in shown
    assert ("60/60" in shown) == is_shown
    assert bool(re.search(r"error 0\.\d{4}, size \d, \d+/s .*\d\d:\d\d.* left", shown)) == is_shown
    assert out.startswith("data          blobs.csv")


def test_a_terminal_may_have_no_colors_or_nothing_at_all(start: Start, blobs_csv: Path) -> None:
    words = ("select", blobs_csv, "-a", "bpso", "--max-evals", 60)
    color = re.compile(r"\x1b\[[\d;]+m")
    assert color.search(on_a_terminal(start, *words)[0])
    plain, _ = on_a_terminal(start, *words, NO_COLOR="1")
    assert "60/60" in plain
    assert not color.search(plain)
    assert on_a_terminal(start, *words, TERM="dumb")[0] == NOTE.replace("\n", "\r\n")


def test_elsewhere_a_line_is_printed_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0, EVERY - 1, EVERY, 2 * EVERY - 1, 3 * EVERY])
    lines = Lines(lambda: next(times))
    iteration: Iteration = {
        "iteration": 1,
        "evaluations": 300,
        "unique": 200,
        "limit": 1200,
        "best_cost": 0.1,
        "best_error": 0.125,
        "best_loss": 0.125,
        "best_size": 7,
        "seconds": 2.0,
    }
    found = "evaluations, error 0.1250, size 7"
    lines(iteration)
    assert capsys.readouterr().err == ""
    lines(iteration)
    assert capsys.readouterr().err == f"progress: 300 of 1200 {found}, 150/s, 0:00:06 left\n"
    lines(iteration)
    assert capsys.readouterr().err == ""
    lines({**iteration, "limit": None, "seconds": 0.0})
    assert capsys.readouterr().err == f"progress: 300 {found}, 0/s\n"


def test_progress_goes_to_lines_where_there_is_no_terminal() -> None:
    with progress(True) as shown:
        assert isinstance(shown, Lines)
    with progress(False) as shown:
        assert shown is None
