"""The store: what is done stays, what does not fit is refused."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl
import pytest
from swarmrs import compare
from swarmrs.exceptions import DataError, SpecError, StoreError
from swarmrs.experiments import Plan, cells_frame, merge, store_settings
from swarmrs.experiments._design._cells import Cell
from swarmrs.experiments._execution._run_cell import Finished
from swarmrs.experiments._execution._store import Store
from swarmrs.experiments._execution._workers import Threads, run_cells
from swarmrs.search._results._selection import Seconds


def made(path: Path, **how: object) -> Path:
    wanted: dict[str, Any] = {"runs": 2, "protocol": "split70", "max_evals": 100, **how}
    compare(["sklearn:iris"], "bpso,sfs", store=path, **wanted)
    return path


def dump(path: Path) -> str:
    with closing(Store(path)) as store:
        return store.dump()


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)


def test_the_same_call_again_runs_nothing(tmp_path: Path) -> None:
    path = made(tmp_path / "r.db")
    with closing(Store(path)) as store:
        before = list(store.rows())
    made(path)
    with closing(Store(path)) as store:
        assert list(store.rows()) == before
    assert all(row["attempt"] == 1 for row in before)


def test_more_runs_join_those_there(tmp_path: Path) -> None:
    path = made(tmp_path / "r.db", runs=1)
    first = cells_frame(path)
    grown = cells_frame(made(path, runs=3))
    assert grown.filter(pl.col("run") == 1).equals(first)
    assert dump(path) == dump(made(tmp_path / "at-once.db", runs=3))


def test_a_cell_that_is_done_stays_as_it_is(tmp_path: Path) -> None:
    path = made(tmp_path / "r.db")
    before = dump(path)
    with closing(Store(path)) as store:
        for key in store.states():
            store.start(key, "late")
            store.finish(Finished(key, error="too late"))
            store.finish(Finished(key, result="{}", seconds=Seconds(0, 0, 0)))
        assert all(row["worker"] != "late" for row in store.rows())
    assert dump(path) == before


def test_a_cell_that_failed_is_tried_again(tmp_path: Path) -> None:
    plan = Plan.of(["sklearn:iris"], "sfs", runs=1, protocol="resub")
    with closing(Store(tmp_path / "r.db")) as store:
        plan.enter(store)
        (key,) = store.states()
        store.finish(Finished(key, error="no luck"))
        assert cells_frame(store).row(0, named=True)["error_text"] == "no luck"
    compare(["sklearn:iris"], "sfs", runs=1, protocol="resub", store=tmp_path / "r.db")
    row = cells_frame(tmp_path / "r.db").row(0, named=True)
    assert (row["state"], row["error_text"]) == ("done", None)


def test_the_frame_has_its_columns_even_of_no_result(tmp_path: Path) -> None:
    plan = Plan.of(["sklearn:iris"], "sfs", runs=1, protocol="resub")
    with closing(Store(tmp_path / "r.db")) as store:
        plan.enter(store, "swarmrs compare ...")
        empty = cells_frame(store)
    assert empty.schema == cells_frame(made(tmp_path / "full.db")).schema
    assert empty["state"].to_list() == ["todo"]
    settings = store_settings(tmp_path / "r.db")
    assert settings["command"] == "swarmrs compare ..."
    assert settings["protocol"] == "resub"
    assert settings["data"][0]["features"] == 4
    assert settings["versions"]["swarmrs"]


def test_many_at_once_can_make_one_store(tmp_path: Path) -> None:
    def n_cells(_: int) -> int:
        with closing(Store(tmp_path / "r.db")) as store:
            return len(store.states())

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(n_cells, range(32))] == [0] * 32


def test_a_cell_that_was_begun_and_never_ended_comes_last(tmp_path: Path) -> None:
    plan = Plan.of(["sklearn:iris"], "bpso", runs=3, protocol="resub", max_evals=50)
    begun: list[int] = []

    class Watched(Threads):
        def submit(self, cell: Cell, n_left: int) -> str:
            begun.append(cell.run)
            return super().submit(cell, n_left)

    with closing(Store(tmp_path / "r.db")) as store:
        plan.enter(store)
        store.start(plan.cells[0].key, "one that is gone")
        data = {table.name: table for table in plan.data}
        with Watched(data, plan.experiment, threads=1, memory=0) as workers:
            run_cells(plan.cells, store, workers, stop=Event())
        assert begun == [2, 3, 1]
        assert {*store.states().values()} == {"done"}
        assert [row["attempt"] for row in store.rows()] == [2, 1, 1]


def test_seeds_of_64_bits_are_kept(tmp_path: Path) -> None:
    found = cells_frame(made(tmp_path / "r.db", runs=1, random_state=2**64 - 1))
    assert found["seed"].unique().to_list() == [2**64 - 1]


def test_shards_merged_are_the_whole(tmp_path: Path) -> None:
    shards = [made(tmp_path / f"{i}.db", runs=6, shard=(i, 3)) for i in (1, 2, 3)]
    merge(shards, tmp_path / "all.db")
    whole = made(tmp_path / "whole.db", runs=6)
    assert dump(tmp_path / "all.db") == dump(whole)
    # A store of its own may be in it, too.
    merge([tmp_path / "all.db", whole, shards[0]], tmp_path / "more.db")
    assert dump(tmp_path / "more.db") == dump(whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*(f"{i}.db" for i in (1, 2, 3)), "all.db", "whole.db", "more.db"]
    )


def test_what_is_done_wins_over_what_is_not(tmp_path: Path) -> None:
    done, todo = made(tmp_path / "done.db"), tmp_path / "todo.db"
    plan = Plan.of(["sklearn:iris"], "bpso,sfs", runs=2, protocol="split70", max_evals=100)
    with closing(Store(todo)) as store:
        plan.enter(store)
        store.finish(Finished(plan.cells[0].key, error="no luck"))
    for number, order in enumerate(([done, todo], [todo, done])):
        merge(order, tmp_path / f"{number}.db")
        assert dump(tmp_path / f"{number}.db") == dump(done)


def test_two_results_of_one_cell_are_refused_by_name(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one.db"), tmp_path / "other.db"
    plan = Plan.of(["sklearn:iris"], "bpso,sfs", runs=2, protocol="split70", max_evals=100)
    (cell,) = [cell for cell in plan.cells if (cell.method, cell.run) == ("sfs", 2)]
    with closing(Store(other)) as store:
        plan.enter(store)
        store.finish(Finished(cell.key, result="{}", seconds=Seconds(0, 0, 0)))
    with pytest.raises(DataError, match="another result for sfs on sklearn:iris, run 2, fold 0"):
        merge([one, other], tmp_path / "all.db")
    assert not (tmp_path / "all.db").exists()
    assert len(list(tmp_path.iterdir())) == 2


def test_stores_of_different_experiments_are_not_joined(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one.db"), made(tmp_path / "other.db", max_evals=200)
    with pytest.raises(SpecError, match="max_evals is 200, there 100"):
        merge([one, other], tmp_path / "all.db")
    with pytest.raises(SpecError, match="holds another experiment: max_evals is 300, there 100"):
        made(one, max_evals=300)
    assert dump(one) == dump(made(tmp_path / "again.db"))


def test_an_existing_file_is_not_overwritten_unasked(tmp_path: Path) -> None:
    one = made(tmp_path / "one.db")
    (tmp_path / "all.db").write_text("precious")
    (tmp_path / "all.db-wal").write_text("left by a killed process")
    with pytest.raises(SpecError, match="exists"):
        merge([one], tmp_path / "all.db")
    assert (tmp_path / "all.db").read_text() == "precious"
    merge([one], tmp_path / "all.db", force=True)
    assert dump(tmp_path / "all.db") == dump(one)


@pytest.mark.parametrize("into", ["", ".", "/"])
def test_a_directory_is_no_store_to_write(
    into: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="is a directory"):
        merge([tmp_path / "one.db"], into, force=True)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ("PRAGMA user_version = 1", "is a store of version 1, expected 3"),
        ("PRAGMA user_version = 9", "is a store of version 9, expected 3"),
        ("PRAGMA application_id = 5", "is no store of swarmrs"),
    ],
)
def test_a_store_of_another_kind_is_refused(tmp_path: Path, spoil: str, message: str) -> None:
    path = made(tmp_path / "r.db")
    execute(path, spoil)
    with pytest.raises(DataError, match=message):
        cells_frame(path)
    with pytest.raises(DataError, match=message):
        made(path)


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be taken for one" * 40)
    before = text.read_bytes()
    with pytest.raises(DataError, match="cannot be used as a store: file is not a database"):
        made(text)
    assert text.read_bytes() == before
    with pytest.raises(DataError, match="no store at"):
        cells_frame(tmp_path / "absent.db")
    assert not (tmp_path / "absent.db").exists()
    with pytest.raises(SpecError, match="directory of"):
        made(tmp_path / "absent" / "r.db")


def test_a_table_keeps_its_name_and_a_name_its_table(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    how: dict[str, Any] = {"runs": 1, "protocol": "resub", "store": path}
    compare({"flowers": "sklearn:iris"}, "sfs", **how)
    with pytest.raises(SpecError, match="'iris' is the same table as 'flowers'"):
        compare({"iris": "sklearn:iris"}, "sfs", **how)
    with pytest.raises(SpecError, match="'flowers' of 'this call' is not the table of that name"):
        compare({"flowers": "sklearn:wine"}, "sfs", **how)
    with pytest.raises(DataError, match="'a' and 'b' are the same table"):
        compare({"a": "sklearn:wine", "b": "sklearn:wine"}, "sfs", **how)


def test_names_cannot_do_harm(tmp_path: Path) -> None:
    name = "x'); DROP TABLE cell; --\x1b[31m</script>\u202e?#%41"
    column = "</script><script>alert(1)</script>'\";--\n=1+1"
    frame = pl.DataFrame({column: [0.0, 1, 2, 3] * 5, "b": [1.0, 2] * 10, "y": [0, 0, 1, 1] * 5})
    path = tmp_path / "odd ?#%41'.db"
    compare({name: frame}, "sfs", runs=1, protocol="resub", store=path)
    row = cells_frame(path).row(0, named=True)
    assert row["data"] == name
    assert row["selected"] == [column.strip()]
    assert path.exists()
