"""The same cells on a dask cluster, whose parts are killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier
from swarmrs import compare, select
from swarmrs.exceptions import ClusterError, SpecError
from swarmrs.experiments._execution._store import Store

distributed = pytest.importorskip("distributed")
# Processes that import dask take seconds each to start where cores are few.
pytestmark = pytest.mark.timeout(300)

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(5)
    codes = np.arange(150) % 3
    x = rng.random((150, 20))
    x[:, 3] += codes
    frame = pl.from_numpy(x.round(4)).with_columns(pl.Series("class", codes))
    path = tmp_path_factory.mktemp("tables") / "made.csv"
    frame.write_csv(path)
    return path


def command(table: Path, store: Path, *more: object, evals: int = 3000) -> list[object]:
    wanted = ["--algos", "bpso,pbpso,all", "--runs", 4, "--protocol", "split70"]
    return ["compare", table, *wanted, "--max-evals", evals, "--store", store, "-q", *more]


def end(process: subprocess.Popen[str], timeout: float = 200) -> tuple[int, str]:
    """Return how a command ended, and what it said."""
    try:
        _, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    return process.returncode, err


def results(store: Path) -> str:
    with closing(Store(store)) as kept:
        return kept.dump()


def n_done(store: Path) -> int:
    if not store.exists():
        return 0
    with closing(Store(store)) as kept:
        return sum(state == "done" for state in kept.states().values())


def wait_for(is_so: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


@contextmanager
def cluster(n_workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Give the address of a scheduler, and its processes: first itself, then its workers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    dask = [sys.executable, "-m", "dask"]
    head = [*dask, "scheduler", "--host", address, "--no-dashboard", "--no-show"]
    worker = [*dask, "worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
    silent: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen(head, **silent)]
    processes += [subprocess.Popen(worker, **silent) for _ in range(n_workers)]
    try:
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_local_cluster_of_two_workers_gives_the_results_of_threads(
    table: Path, tmp_path: Path, start: Start
) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    assert end(start(*command(table, here))) == (0, "")
    assert end(start(*command(table, there, "--cluster", "local", "--jobs", 2))) == (0, "")
    assert results(there) == results(here)


def test_an_estimator_is_scored_by_the_workers_of_a_cluster(tmp_path: Path) -> None:
    def accuracy(model: BaseEstimator, x: Any, y: Any) -> float:
        (tmp_path / str(os.getpid())).touch()
        return float(model.score(x, y))

    settings: dict[str, Any] = {
        "estimator": DecisionTreeClassifier(random_state=0),
        "scoring": accuracy,
        "algo": "pbpso",
        "algo_params": {"population": 8},
        "max_evals": 24,
        "cv": 3,
        "random_state": 1,
    }
    here = select("sklearn:wine", **settings)
    (tmp_path / str(os.getpid())).unlink()
    with cluster(2) as (address, workers), distributed.Client(address) as client:
        client.wait_for_workers(2, timeout=120)
        with parallel_config(backend="dask", n_jobs=2):
            there = select("sklearn:wine", **settings)
        pids = {str(worker.pid) for worker in workers[1:]}
    assert there.trace.equals(here.trace)
    # It is the workers that scored, on either of them.
    scored = {path.name for path in tmp_path.iterdir()}
    assert scored
    assert scored <= pids


def test_a_table_without_a_path_is_refused() -> None:
    frame = pl.DataFrame({"a": [0.0, 1, 2, 3] * 5, "b": [1.0, 2] * 10, "y": [0, 0, 1, 1] * 5})
    with pytest.raises(SpecError, match="'made' has no path"):
        compare({"made": frame}, "sfs", runs=1, cluster="local")


def test_an_address_without_a_scheduler_is_told(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swarmrs.experiments._execution._cluster._ANSWER", 1)
    with pytest.raises(ClusterError, match=r"no dask scheduler answers at 'tcp://127.0.0.1:9'"):
        compare([table], "sfs", runs=1, cluster="tcp://127.0.0.1:9", store=tmp_path / "r.db")


def test_a_killed_worker_costs_no_cell(table: Path, tmp_path: Path, start: Start) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    assert end(start(*command(table, here, evals=20000))) == (0, "")
    with cluster(2) as (address, (_, _, victim)):
        process = start(*command(table, there, "--cluster", address, evals=20000))
        wait_for(lambda: n_done(there) > 0)
        victim.kill()
        assert end(process) == (0, "")
    assert results(there) == results(here)


def test_a_cell_that_kills_its_worker_fails_alone(
    table: Path, tmp_path: Path, start: Start
) -> None:
    poison = tmp_path / "poison.py"
    poison.write_text(
        "import os\n"
        "from swarmrs.experiments._execution import _cluster\n"
        "from swarmrs.experiments._execution._run_cell import run_cell as run\n"
        "def run_cell(cell, *args, **how):\n"
        "    if cell.method == 'pbpso' and cell.run == 2:\n"
        "        os._exit(1)\n"
        "    return run(cell, *args, **how)\n"
        "_cluster.run_cell = run_cell\n"
    )
    settings = {
        "DASK_DISTRIBUTED__WORKER__PRELOAD": str(poison),
        # One death condemns a cell and its neighbours: they must be told apart after that.
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    }
    store = tmp_path / "store.db"
    arguments = command(table, store, "--cluster", "local", "--jobs", 2)
    code, err = end(start(*arguments, env=os.environ | settings))
    assert code == 3, err
    with closing(Store(store)) as kept:
        failed = [row for row in kept.rows() if row["state"] != "done"]
    assert [(row["method"], row["run"], row["state"]) for row in failed] == [("pbpso", 2, "failed")]
    assert failed[0]["error"] == "its worker died each time, even when it ran alone"
    assert "failed: pbpso on made, run 2, fold 0, seed 2" in err
    # Without the poison the same command mends it.
    assert end(start(*command(table, store))) == (0, "")
    assert n_done(store) == 9 + 3


def test_a_lost_scheduler_loses_no_finished_cell(table: Path, tmp_path: Path, start: Start) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    with cluster(2) as (address, (head, *_)):
        process = start(*command(table, there, "--cluster", address, evals=20000))
        wait_for(lambda: n_done(there) > 0)
        head.send_signal(signal.SIGKILL)
        code, err = end(process)
    assert code == 1, err
    assert f"error: the scheduler at '{address}' is gone" in err
    assert "hint: finished cells are stored; start the cluster again; then continue with: " in err
    assert "Traceback" not in err
    before = n_done(there)
    assert 0 < before < 9
    assert end(start(*command(table, there, evals=20000))) == (0, "")
    assert end(start(*command(table, here, evals=20000))) == (0, "")
    assert results(there) == results(here)
