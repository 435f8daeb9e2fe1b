"""A comparison that is killed again and again, and goes on each time.

A few kills here; ``SWARMRS_KILLS=50``, which `make crash` sets, makes it as many.
"""

import os
import random
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from swarmrs.experiments._execution._store import Store

KILLS = int(os.environ.get("SWARMRS_KILLS", "4"))

Start = Callable[..., subprocess.Popen[str]]
Rows = dict[str, dict[str, Any]]


def read(path: Path) -> Rows:
    """Return what a store holds of its cells, by key; nothing where there is no store yet."""
    if not path.exists():
        return {}
    with closing(Store(path)) as store:
        return {row["key"]: row for row in store.rows()}


def finished(rows: Rows) -> Rows:
    return {key: row for key, row in rows.items() if row["state"] == "done"}


def n_begun(rows: Rows) -> int:
    return sum(row["attempt"] for row in rows.values())


@pytest.mark.timeout(120 + 20 * KILLS)
def test_kills_at_random_times_lose_no_finished_cell_and_change_no_result(
    tmp_path: Path, start: Start
) -> None:
    rng = np.random.default_rng(3)
    codes = np.arange(200) % 2
    x = rng.random((200, 30))
    x[:, 0] += 0.3 * codes
    table = tmp_path / "made.csv"
    pl.from_numpy(x.round(4)).with_columns(pl.Series("class", codes)).write_csv(table)
    # More cells than fit between the kills: about two seconds of work for each.
    wanted = ["--algos", "bpso,pbpso,ga,sfs", "--runs", 6 * KILLS, "--protocol", "split70"]
    disturbed, calm = tmp_path / "disturbed.db", tmp_path / "calm.db"

    def command(store: Path) -> list[object]:
        return ["compare", table, *wanted, "--max-evals", 4000, "--store", store, "-q"]

    delays = random.Random(11)
    known: Rows = {}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for kill in range(KILLS):
        process = start(*command(disturbed), **silent)
        if kill % 4:
            # In the middle of work: cells are begun, others finished.
            before = n_begun(read(disturbed))
            while n_begun(read(disturbed)) == before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(delays.uniform(0, 0.5))
        else:
            # Anywhere: while modules load, or the store is made, or cells run.
            time.sleep(delays.uniform(0, 4))
        assert process.poll() is None, "it ended before it was killed; there is too little to do"
        process.kill()
        process.wait()
        rows = read(disturbed)
        assert {key: rows[key] for key in known} == known, "a finished cell was lost or repeated"
        known = finished(rows)
    n_by_killed = len(known)
    assert start(*command(disturbed), **silent).wait() == 0
    rows = read(disturbed)
    assert {key: rows[key] for key in known} == known
    assert finished(rows) == rows
    assert start(*command(calm), **silent).wait() == 0
    with closing(Store(disturbed)) as one, closing(Store(calm)) as other:
        assert one.dump() == other.dump()
    print(f"{KILLS} kills, {n_by_killed} of {len(rows)} cells finished before the last")
    assert n_by_killed > 0
