"""swarmrs compare, merge and report as commands."""

import csv
import io
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from swarmrs.experiments._execution._store import Store

Start = Callable[..., subprocess.Popen[str]]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]

QUICK = ["--runs", 2, "--protocol", "split70", "--max-evals", 100]


def begun(path: Path) -> int:
    if not path.exists():
        return 0
    with closing(Store(path)) as store:
        return sum(row["attempt"] for row in store.rows())


def test_a_comparison_prints_a_line_for_each_method_and_table(
    cli: Cli, tmp_path: Path, blobs_csv: Path
) -> None:
    store = tmp_path / "r.db"
    done = cli(
        "compare", blobs_csv, "sklearn:iris", "--algos", "bpso,all", *QUICK, "--store", store
    )
    assert (done.code, done.err) == (0, "")
    lines = [line.split()[:3] for line in done.out.splitlines()]
    start = lines.index(["DATA", "METHOD", "RUNS"])
    assert sorted(lines[start + 1 : start + 5]) == [
        ["blobs", "all", "2"],
        ["blobs", "bpso", "2"],
        ["sklearn:iris", "all", "2"],
        ["sklearn:iris", "bpso", "2"],
    ]
    assert cli("report", store) == done
    again = cli("report", store, "-f", "json")
    report = json.loads(again.out)
    assert report["settings"]["experiment"]["protocol"] == "split70"
    assert [row["runs"] for row in report["summary"]["results"]] == [2, 2, 2, 2]


def test_the_cells_of_a_store_are_lines_of_csv(cli: Cli, tmp_path: Path, blobs_csv: Path) -> None:
    store = tmp_path / "r.db"
    cli("compare", blobs_csv, "--algos", "sfs", *QUICK, "--store", store)
    rows = list(csv.DictReader(io.StringIO(cli("report", store, "-f", "csv").out)))
    assert [(row["run"], row["seed"], row["state"]) for row in rows] == [
        ("1", "1", "done"),
        ("2", "2", "done"),
    ]
    assert len(json.loads(rows[0]["selected"])) == int(rows[0]["size"])
    assert {"test_error", "test_balanced_accuracy", "seconds_search"} <= rows[0].keys()


def test_a_failed_cell_is_told_with_its_seed_and_the_others_are_done(
    cli: Cli, tmp_path: Path, failing_bpso: str
) -> None:
    store = tmp_path / "r.db"
    words = ["compare", "sklearn:iris", "--algos", "bpso,sfs", *QUICK]
    done = cli(*words, "--store", store)
    assert done.code == 3
    assert done.err.splitlines() == [
        f"failed: bpso on sklearn:iris, run 1, fold 0, seed 1: {failing_bpso}",
        f"failed: bpso on sklearn:iris, run 2, fold 0, seed 2: {failing_bpso}",
        "error: 2 cells failed",
        "hint: the same command tries them again; other results are stored",
    ]
    with closing(Store(store)) as kept:
        states = [row["state"] for row in kept.rows()]
    assert states == ["failed", "failed", "done", "done"]
    assert "2 cells of 4 not finished" in done.out
    rows = [line.split()[:3] for line in done.out.splitlines() if line.startswith("sklearn:iris")]
    assert rows == [["sklearn:iris", "sfs", "2"]]


def test_a_dry_run_counts_and_makes_no_store(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "r.db"
    words = ["compare", "sklearn:iris", "--algos", "bpso,all", *QUICK, "--store", store]
    dry = cli(*words, "--dry-run")
    assert dry.code == 0
    assert "cells         4: 0 done, 4 to do\n" in dry.out
    assert "by short trials" in dry.out
    assert not store.exists()
    cli(*words)
    more = json.loads(cli(*words, "--dry-run", "--runs", 3, "-f", "json").out)
    assert (more["total"], more["done"], more["failed"]) == (6, 4, 0)
    assert more["seconds"] >= 0
    assert more["memory"] > 2**30
    with closing(Store(store)) as kept:
        assert len(kept.states()) == 4


def test_shards_and_merge_are_the_whole(cli: Cli, tmp_path: Path) -> None:
    words = ["compare", "sklearn:iris", "--algos", "bpso,sfs,all", *QUICK, "-q"]
    for name, more in (("whole", []), ("1", ["--shard", "1/2"]), ("2", ["--shard", "2/2"])):
        assert cli(*words, "--store", tmp_path / f"{name}.db", *more).code == 0
    joined = tmp_path / "all.db"
    assert cli("merge", tmp_path / "1.db", tmp_path / "2.db", "-o", joined) == (0, "", "")
    with closing(Store(joined)) as one, closing(Store(tmp_path / "whole.db")) as other:
        assert one.dump() == other.dump()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_comparison_which_goes_on_later(
    start: Start, tmp_path: Path, sent: signal.Signals
) -> None:
    store = tmp_path / "r.db"
    words = ["compare", "sklearn:digits", "--algos", "bpso", "--runs", 2, "--store", store]
    process = start(*words, "--max-evals", 100_000_000, "--protocol", "resub")
    while not begun(store) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + sent
    assert out == ""
    lines = err.splitlines()
    assert lines[-1] == (
        "note: stopped; finished cells are stored. Continue with: swarmrs compare sklearn:digits "
        f"--algos bpso --runs 2 --store {store} --max-evals 100000000 --protocol resub"
    )
    with closing(Store(store)) as kept:
        assert [row["state"] for row in kept.rows()] == ["todo", "todo"]
        assert all(row["result_json"] is None for row in kept.rows())


def test_a_second_signal_ends_at_once(start: Start, tmp_path: Path) -> None:
    store = tmp_path / "r.db"
    # The first iteration of this one takes far longer than the test may.
    words = ["compare", "sklearn:digits", "--algos", "ga", "--set", "population=100000"]
    process = start(*words, "--runs", 1, "--store", store, "--protocol", "resub", "--jobs", 1)
    while not begun(store) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while "stopping; press again to exit at once" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_where_there_is_no_terminal_progress_is_a_line_now_and_then(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swarmrs.cli._output._cells_progress.EVERY", 0.0)
    words = ["compare", "sklearn:iris", "--algos", "sfs", *QUICK]
    err = cli(*words, "--store", tmp_path / "r.db").err.splitlines()
    assert err[-1] == "2 of 2 cells, about 0 s left"
    assert cli(*words, "--store", tmp_path / "s.db", "--no-progress").err == ""


def test_tables_are_found_by_name(cli: Cli, tmp_path: Path, blobs_csv: Path) -> None:
    words = ["--algos", "sfs", *QUICK, "--store", tmp_path / "r.db"]
    done = cli("compare", "blobs", "--data-dir", blobs_csv.parent, *words)
    assert [line for line in done.out.splitlines() if line.startswith("blobs ")]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["sklearn:iris", "--algos", "bpso"], 2, "no store is given"),
        (["sklearn:iris", "--store", "r.db"], 2, "missing option '--algos'"),
        (["absent.csv", "--algos", "bpso", "--store", "r.db"], 1, "absent.csv"),
        (
            ["absent", "--data-dir", ".", "--algos", "bpso", "--store", "r.db"],
            1,
            "no table 'absent' here or in '.'",
        ),
        (
            ["../absent", "--data-dir", ".", "--algos", "bpso", "--store", "r.db"],
            1,
            "no table '../absent' here or in '.'",
        ),
        (
            ["sklearn:iris", "--data-dir", "nowhere", "x", "--algos", "bpso", "--store", "r.db"],
            2,
            "directory 'nowhere' does not exist",
        ),
        (
            ["sklearn:iris", "--algos", "bpso", "--store", "r.db", "--shard", "1"],
            2,
            "shard is '1', expected i/n",
        ),
        (
            ["sklearn:iris", "--algos", "bpso", "--store", "r.db", "--shard", "0/2"],
            2,
            "shard is 0/2, expected i/n with i from 1 to n",
        ),
        (
            ["sklearn:iris", "--algos", "bpso", "--store", "r.db", "--protocol", "cv"],
            2,
            "unknown protocol 'cv'",
        ),
        (
            ["sklearn:iris", "sklearn:iris", "--algos", "bpso", "--store", "r.db"],
            2,
            "two tables are called 'sklearn:iris'",
        ),
        *(
            (["sklearn:iris", "sklearn:wine", "--store", "r.db", *more], 2, message)
            for more, message in [
                (
                    ["-a", "bpso[population=0]"],
                    "bpso[population=0]: population is 0, expected a whole number from 1",
                ),
                (["-a", "sfs,bpso[popultion=9]"], "unknown hyperparameter of bpso 'popultion'"),
                (["-a", "bpso[inertia=x]"], 'bpso[inertia=x]: inertia is "x", expected'),
                (
                    ["-a", "bpso", "--population", "0"],
                    "bpso: population is 0, expected a whole number from 1",
                ),
                (["-a", "bpso", "--set", "inertia=-1"], "bpso: inertia is -1, expected"),
                (
                    ["-a", "all,sfs", "-k", "160"],
                    "sklearn:iris: --n-neighbors is 160, expected 1 to",
                ),
                (["-a", "sfs", "--cv", "170"], "sklearn:iris: folds is 170, expected 2 to"),
                (["-a", "sfs", "--prescreen", "best"], "prescreen is best, expected"),
                (["-a", "sfs", "--constant", "no"], "unknown policy for constant columns 'no'"),
                (["-a", "sfs", "--rare-class", "no"], "unknown policy for rare classes 'no'"),
                (["-a", "sfs", "--objective", "weighted", "--alpha", "9"], "alpha is 9"),
                (["-a", "sfs", "--runs", "0"], "runs is 0, expected"),
                (
                    ["-a", "sfs", "--runs", "1000000000"],
                    "runs is 1000000000, expected a whole number from 1 to 100000",
                ),
                (["-a", "sfs", "--runs", "100000"], "the comparison has 2000000 cells (2 tables x"),
                (
                    ["-a", "sfs", "--protocol", "cv999999", "--dry-run"],
                    "the comparison has 19999980 cells",
                ),
            ]
        ),
    ],
    ids=lambda value: None if isinstance(value, int) else " ".join([*value])[:40],
)
def test_a_bad_call_is_one_line_and_a_hint(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cli("compare", *words)
    error, hint = done.err.splitlines()
    assert done.code == code
    assert error.startswith("error: ")
    assert message in error
    assert hint.startswith("hint: ")
    assert list(tmp_path.iterdir()) == []


def test_without_dask_a_cluster_is_refused_by_the_name_of_the_extra(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("swarmrs.experiments._execution._cluster.import_module", absent)
    words = ["compare", "sklearn:iris", "--algos", "sfs", "--cluster", "local"]
    done = cli(*words, "--store", tmp_path / "r.db")
    assert done.code == 2
    assert "pip install 'swarmrs[dask]'" in done.err


@pytest.mark.usefixtures("failing_bpso")
def test_a_file_name_cannot_steer_the_terminal(cli: Cli, tmp_path: Path, blobs_csv: Path) -> None:
    odd = tmp_path / "red\x1b[31m;\u202e'.csv"
    os.rename(blobs_csv, odd)
    store = tmp_path / "r.db"
    done = cli(
        "compare",
        odd,
        "--algos",
        "sfs,bpso",
        *QUICK,
        "--store",
        store,
    )
    assert done.code == 3
    assert "\x1b" not in done.out + done.err
    assert "\u202e" not in done.out + done.err
    # Programs are given the name as it is.
    assert "red\x1b[31m" in cli("report", store, "-f", "csv").out
