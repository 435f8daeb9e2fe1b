"""Damaged, foreign and empty stores, and full disks: an error of their own, nothing lost."""

import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import polars as pl
import pytest
from swarmrs import compare
from swarmrs.exceptions import DataError, StoreError
from swarmrs.experiments import Plan, cells_frame, merge, store_settings
from swarmrs.experiments._execution._store import Store
from swarmrs.experiments._execution._workers import Threads, run_cells


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]

HOW: dict[str, Any] = {"runs": 2, "protocol": "split70", "max_evals": 100}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("store") / "r.db"
    compare(["sklearn:iris"], "bpso,sfs,all", store=path, **HOW)
    return path.read_bytes()


def beside(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def spoil(content: bytes, draw: random.Random) -> bytes:
    """Return a file with some bytes changed, cut off, blanked or doubled."""
    data, kind = bytearray(content), draw.randrange(6)
    at = draw.randrange(len(data))
    if kind == 0:
        data[at] ^= 1 << draw.randrange(8)
    elif kind == 1:
        for _ in range(200):
            data[draw.randrange(len(data))] = draw.randrange(256)
    elif kind == 2:
        del data[at:]
    elif kind == 3:
        end = min(len(data), at + draw.randrange(1, 5000))
        data[at:end] = bytes(end - at)
    elif kind == 4:
        data[at:at] = data[at : at + 4096]
    else:
        # A letter or a digit of what is stored, which no structure of the file would show.
        places = [place for place in range(len(data)) if chr(data[place]).isalnum()]
        data[draw.choice(places)] = ord(draw.choice("0123456789abc\xff"))
    return bytes(data)


def reading(path: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    return cells_frame(path), store_settings(path)


def check_spoiled(sound: bytes, path: Path, seeds: Iterator[int]) -> int:
    """Read spoiled stores; each is refused, or holds what the sound one does."""
    path.write_bytes(sound)
    frame, about = reading(path)
    refused = 0
    for seed in seeds:
        bad = spoil(sound, random.Random(seed))
        path.write_bytes(bad)
        try:
            found = reading(path)
        except StoreError:
            refused += 1
        else:
            assert found[0].equals(frame), seed
            assert found[1] == about, seed
        assert path.read_bytes() == bad
        assert beside(path) == [path.name]
    return refused


def test_a_damaged_store_is_refused_or_reads_as_it_was(sound: bytes, tmp_path: Path) -> None:
    assert check_spoiled(sound, tmp_path / "r.db", iter(range(150))) > 75


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE cell SET result_json = '{' WHERE position = 2",
        "UPDATE cell SET result_json = '{}' WHERE position = 2",
        "UPDATE cell SET result_json = '[1]' WHERE position = 2",
        "UPDATE cell SET result_json = CAST(x'ff7b' AS TEXT) WHERE position = 2",
        "UPDATE cell SET result_json = x'00' WHERE position = 2",
        "UPDATE cell SET result_json = replace(result_json, '0.', '1.') WHERE position = 2",
        "UPDATE cell SET method = CAST(x'ff' AS TEXT) WHERE position = 2",
        "UPDATE cell SET seed = 'many' WHERE position = 2",
        "UPDATE cell SET seed = '-1' WHERE position = 2",
        "UPDATE cell SET run = 'first' WHERE position = 2",
        "UPDATE cell SET params = 'none' WHERE position = 2",
        "UPDATE cell SET state = 'failed' WHERE position = 2",
        "UPDATE cell SET seconds = 'long' WHERE position = 2",
        "UPDATE cell SET data = 'other' WHERE position = 2",
        "UPDATE about SET value = '{' WHERE name = 'experiment'",
        "UPDATE about SET value = '[]' WHERE name = 'experiment'",
        "UPDATE about SET value = x'80' WHERE name = 'versions'",
        "UPDATE data SET features = 'four'",
        "ALTER TABLE cell DROP COLUMN error",
        "DROP TABLE about",
        "ALTER TABLE data RENAME TO tables",
        "CREATE VIEW extra AS SELECT * FROM cell",
        "CREATE TABLE more (a)",
    ],
)
def test_a_store_that_was_edited_is_refused(
    sound: bytes, tmp_path: Path, cli: Cli, statement: str
) -> None:
    path = tmp_path / "r.db"
    path.write_bytes(sound)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute(statement)
    for use in (reading, lambda path: merge([path], tmp_path / "all.db"), again):
        with pytest.raises(StoreError, match=r"r\.db' is damaged"):
            use(path)
    assert beside(path) == ["r.db"]
    done = cli("report", path)
    assert done.code == 1
    assert len(done.err.splitlines()) == 2
    assert "is damaged" in done.err


def again(path: Path) -> None:
    compare(["sklearn:iris"], "bpso,sfs,all", store=path, **HOW)


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE cell (key, state)")


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\0"),
        lambda path: path.write_bytes(b"\0" * 100_000),
        lambda path: path.write_bytes(b"SQLite format 3\0"),
        lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000),
        lambda path: path.write_text("a,b\n1,2\n"),
        foreign,
    ],
    ids=["empty", "zero", "zeros", "magic", "header", "csv", "foreign"],
)
def test_reading_what_is_no_store_leaves_it_alone(
    tmp_path: Path, cli: Cli, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "r.db"
    make(path)
    before = path.read_bytes()
    for use in (cells_frame, store_settings, lambda path: merge([path], tmp_path / "all.db")):
        with pytest.raises(StoreError):
            use(path)
    dry = ["compare", "sklearn:iris", "-a", "sfs", "--dry-run", "--store", path]
    for words in (["report", path], ["merge", path, "-o", tmp_path / "all.db"], dry):
        done = cli(*words)
        assert done.code == 1
        assert [line.split(":")[0] for line in done.err.splitlines()] == ["error", "hint"]
    assert path.read_bytes() == before
    assert beside(path) == ["r.db"]


def test_reading_leaves_a_store_as_it_is(sound: bytes, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "r.db"
    path.write_bytes(sound)
    os.utime(path, (1e9, 1e9))
    path.chmod(0o400)
    assert cli("report", path).code == 0
    dry = cli("compare", "sklearn:iris", "-a", "sfs", "--runs", 1, "--dry-run", "--store", path)
    assert dry.code == 0
    assert path.read_bytes() == sound
    assert path.stat().st_mtime == 1e9
    assert beside(path) == ["r.db"]


def test_a_store_is_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    plan = Plan.of(["sklearn:iris"], "sfs", runs=1, protocol="resub")
    with closing(Store(path)) as store:
        plan.enter(store)
        assert cells_frame(path)["state"].to_list() == ["todo"]
        data = {table.name: table for table in plan.data}
        with Threads(data, plan.experiment, threads=1, memory=0) as workers:
            run_cells(plan.cells, store, workers, stop=Event())
        # The results are still beside the file.
        assert (tmp_path / "r.db-wal").stat().st_size
        assert cells_frame(path)["state"].to_list() == ["done"]
    assert beside(path) == ["r.db"]


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let stores grow by so many cells and no further, as on a disk that fills up."""

    def fill(n_cells: int) -> None:
        finish, n_done = Store.finish, 0

        def until_full(self: Store, done: Any) -> None:
            nonlocal n_done
            if n_done == n_cells:
                pages = self._db.execute("PRAGMA page_count").fetchone()[0]
                self._db.execute(f"PRAGMA max_page_count = {pages}")
            n_done += 1
            finish(self, done)

        monkeypatch.setattr(Store, "finish", until_full)

    return fill


def wide() -> pl.DataFrame:
    """Return a table whose results fill a page of a store each."""
    draw = random.Random(1)
    columns = {f"{'long' * 40}{at}": [draw.random() for _ in range(40)] for at in range(60)}
    return pl.DataFrame(columns | {"y": [0, 1] * 20})


def test_a_full_disk_keeps_what_was_finished(
    tmp_path: Path, full_disk: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.db"
    how: dict[str, Any] = {"runs": 4, "protocol": "split70", "n_jobs": 1}
    full_disk(2)
    with pytest.raises(StoreError, match="cannot be written: database or disk is full") as caught:
        compare({"wide": wide()}, "all", store=path, **how)
    assert "stored results are safe" in str(caught.value.hint)
    assert beside(path) == ["r.db"]
    assert cells_frame(path)["state"].to_list() == ["done", "done", "todo", "todo"]
    monkeypatch.undo()
    done = compare({"wide": wide()}, "all", store=path, **how)
    assert done.cells["state"].to_list() == ["done"] * 4


def test_a_full_disk_is_told_with_the_command_to_go_on(
    tmp_path: Path,
    cli: Cli,
    full_disk: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, store = tmp_path / "wide.csv", tmp_path / "r.db"
    wide().write_csv(table)
    full_disk(1)
    words = ["compare", table, "-a", "all", "--runs", 3, "--protocol", "split70", "--jobs", 1]
    monkeypatch.setattr("sys.argv", ["swarmrs", *map(str, words)])
    done = cli(*words, "--store", store)
    assert (done.code, done.out) == (1, "")
    error, hint = done.err.splitlines()
    assert error == f"error: '{store}' cannot be written: database or disk is full"
    assert hint.startswith("hint: stored results are safe")
    assert f"then continue with: swarmrs compare {table}" in hint
    assert cells_frame(store)["state"].to_list() == ["done", "todo", "todo"]


def test_merge_into_a_place_that_cannot_be_written(sound: bytes, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "r.db"
    path.write_bytes(sound)
    (tmp_path / "taken").mkdir()
    for target, code in (("taken", 1), ("absent/all.db", 2), ("n" * 300, 2)):
        done = cli("merge", path, "-o", tmp_path / target, "--force")
        assert done.code == code
        assert done.err.startswith("error: ")
    assert beside(path) == ["r.db", "taken"]


def test_a_store_error_is_an_error_of_data() -> None:
    assert issubclass(StoreError, DataError)
