"""The store: one SQLite file of all cells of a comparison, which survives crashes."""

import hashlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from swarmrs._base._hints import setting
from swarmrs._base._messages import listed
from swarmrs._base._versions import versions
from swarmrs.exceptions import DataError, SpecError, StoreError
from swarmrs.experiments._design._cells import Cell, Experiment, canonical
from swarmrs.experiments._execution._run_cell import Finished

# "swrm", so that no other program's file is taken for a store; and the layout of the tables below.
_APPLICATION = 0x7377726D
_VERSION = 3

_TABLES = """
CREATE TABLE about (
    name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL DEFAULT ''
);
CREATE TABLE data (
    name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE,
    rows INTEGER NOT NULL, features INTEGER NOT NULL, classes INTEGER NOT NULL,
    checksum TEXT NOT NULL DEFAULT ''
);
CREATE TABLE cell (
    position INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    data TEXT NOT NULL REFERENCES data (name),
    fingerprint TEXT NOT NULL,
    method TEXT NOT NULL,
    algo TEXT NOT NULL,
    params TEXT NOT NULL,
    run INTEGER NOT NULL,
    seed TEXT NOT NULL,
    split_seed TEXT NOT NULL,
    fold INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'todo' CHECK (state IN ('todo', 'done', 'failed')),
    attempt INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    started TEXT,
    finished TEXT,
    seconds_search REAL,
    seconds_evaluate REAL,
    seconds REAL,
    result_json TEXT,
    error TEXT,
    checksum TEXT NOT NULL DEFAULT ''
);
"""
# The identity of a cell. Seeds are text: SQLite has no unsigned numbers of 64 bits.
_SEEDS = ("seed", "split_seed")
_METHOD = ("method", "algo", "params")
_IDENTITY = ("key", "data", "fingerprint", *_METHOD, "run", *_SEEDS, "fold")
# Its outcome, the same in every execution; then when, where and how fast it was run.
_RESULT = ("state", "result_json", "error")
_SECONDS = ("seconds_search", "seconds_evaluate", "seconds")
_OUTCOME = (*_RESULT, "attempt", "worker", "started", "finished", *_SECONDS)
# The columns in the checksum of a row.
_SEALED = {
    "about": ("name", "value"),
    "data": ("name", "fingerprint", "rows", "features", "classes"),
    "cell": (*_IDENTITY, *_OUTCOME),
}

_DAMAGED = "take a copy of it from before, or run the comparison again into another file"


class DataRow(NamedTuple):
    """A table as the store describes it."""

    name: str
    fingerprint: str
    rows: int
    features: int
    classes: int


class Store:
    """The cells of one comparison in a file.

    A cell is planned before it is run and stored in one transaction that is on disk when it
    returns. A cell that is done is never written again. All cells share one experiment. Each row
    has a checksum, and all of them are checked when a store is opened.

    Parameters
    ----------
    path : path
        The file, made if it does not exist; ``":memory:"`` for none.
    read_only : bool
        Whether the file, which must exist, is left as it is.

    Raises
    ------
    StoreError
        If the file is no store, is one of another version, or is damaged.
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = os.fspath(path)
        is_file = self.path != ":memory:"
        if is_file and read_only and not os.path.isfile(self.path):
            raise StoreError(f"no store at '{self.path}'", "give the store of a comparison")
        if is_file and not Path(self.path).absolute().parent.is_dir():
            raise SpecError(f"the directory of '{self.path}' does not exist", "make it first")
        if is_file and read_only and _is_alone(self.path):
            try:
                self._connect("mode=ro&immutable=1", read_only=True)
                return
            except StoreError:
                # A run that has begun meanwhile changes the file under a reader that sees no locks.
                if _is_alone(self.path):
                    raise
        self._connect("mode=ro" if read_only else "mode=rwc", read_only=read_only)

    def _connect(self, how: str, *, read_only: bool) -> None:
        # As a URI, so that no name is special to SQLite.
        is_file = self.path != ":memory:"
        where = f"{Path(self.path).absolute().as_uri()}?{how}" if is_file else self.path
        hint = "give another file, or see whether it can be read and written"
        with self._naming_file("cannot be used as a store", hint):
            self._db = sqlite3.connect(where, uri=is_file, timeout=60, isolation_level=None)
        try:
            with self._naming_file("cannot be used as a store", hint):
                self._open(read_only=read_only)
            with self._naming_file("is damaged", _DAMAGED):
                self._verify()
        except BaseException:
            self._db.close()
            raise

    def _open(self, *, read_only: bool) -> None:
        self._db.create_function("row_checksum", -1, _checksum, deterministic=True)
        self._db.execute("PRAGMA trusted_schema = OFF")
        self._db.execute("PRAGMA cell_size_check = ON")
        self._db.execute("PRAGMA foreign_keys = ON")
        if not read_only and self._is_empty():
            self._db.execute("PRAGMA journal_mode = WAL")
            with self._transaction():
                # Another process may have made it meanwhile.
                if self._is_empty():
                    for statement in _TABLES.split(";"):
                        self._db.execute(statement)
                    self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
                    self._db.execute(f"PRAGMA user_version = {_VERSION}")
        if self._pragma("application_id") != _APPLICATION:
            raise StoreError(f"'{self.path}' is no store of swarmrs", "give another file")
        if (version := self._pragma("user_version")) != _VERSION:
            raise StoreError(
                f"'{self.path}' is a store of version {version}, expected {_VERSION}",
                "read it with the swarmrs that made it, or give another file",
            )
        if not read_only:
            self._db.execute("PRAGMA journal_mode = WAL")
            # A result that was acknowledged survives a loss of power, not of the process alone.
            self._db.execute("PRAGMA synchronous = FULL")

    def _verify(self) -> None:
        """Refuse a file that is not as it was written.

        Raises
        ------
        StoreError
            If it is not.
        """
        with closing(sqlite3.connect(":memory:")) as fresh:
            fresh.executescript(_TABLES)
            if _schema(fresh) != _schema(self._db):
                raise StoreError(f"'{self.path}' is damaged: its tables are others", _DAMAGED)
        (found,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise StoreError(f"'{self.path}' is damaged: {found}", _DAMAGED)
        for table, columns in _SEALED.items():
            query = f"SELECT rowid FROM {table} WHERE checksum != row_checksum({_row(columns)})"
            if (row := self._db.execute(query).fetchone()) is not None:
                raise StoreError(
                    f"'{self.path}' is damaged: row {row[0]} of table {table} does not fit its "
                    "checksum",
                    _DAMAGED,
                )

    def _seal(self, table: str, key: str | None = None) -> None:
        """Write the checksums of rows that were written, or that of one cell."""
        which, values = ("checksum = ''", ()) if key is None else ("key = ?", (key,))
        self._db.execute(
            f"UPDATE {table} SET checksum = row_checksum({_row(_SEALED[table])}) WHERE {which}",
            values,
        )

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> "Store":
        """Return the store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def plan(
        self,
        experiment: Experiment,
        data: Iterable[DataRow],
        cells: Sequence[Cell],
        command: str | None = None,
    ) -> None:
        """Add the cells that are not there yet.

        Raises
        ------
        SpecError
            If the store holds another experiment, or another table of the same name.
        """
        rows = [tuple(_stored(cell, name) for name in _IDENTITY) for cell in cells]
        with self._transaction():
            self._agree(experiment.to_dict())
            self._note("command", command)
            for table in data:
                self._add_data(table)
            self._add_cells(_IDENTITY, rows)
            self._seal_all()

    def start(self, key: str, worker: str) -> None:
        """Record that a cell is started."""
        with self._transaction():
            self._db.execute(
                "UPDATE cell SET attempt = attempt + 1, worker = ?, started = ? "
                "WHERE key = ? AND state != 'done'",
                (worker, _now(), key),
            )
            self._seal("cell", key)

    def finish(self, done: Finished) -> None:
        """Store the outcome of a cell; a cell that is done stays as it is."""
        seconds = done.seconds or (None, None, None)
        state = "failed" if done.result is None else "done"
        with self._transaction():
            self._db.execute(
                "UPDATE cell SET state = ?, result_json = ?, error = ?, finished = ?, "
                "seconds_search = ?, seconds_evaluate = ?, seconds = ? "
                "WHERE key = ? AND state != 'done'",
                (state, done.result, done.error, _now(), *seconds, done.key),
            )
            self._seal("cell", done.key)

    def states(self) -> dict[str, str]:
        """Return the state of each cell, by key."""
        return dict(self._found("SELECT key, state FROM cell"))

    def attempts(self) -> dict[str, int]:
        """Return how often each cell was started, by key."""
        return dict(self._found("SELECT key, attempt FROM cell"))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all columns of each cell, tables and methods in the order they were given."""
        columns = [*_IDENTITY, *_OUTCOME]
        found = self._found(
            f"SELECT {', '.join(f'cell.{name}' for name in columns)}, data.features "
            "FROM cell JOIN data ON data.name = cell.data ORDER BY "
            "data.rowid, min(cell.position) OVER (PARTITION BY cell.method), cell.method, "
            "cell.run, cell.fold"
        )
        for row in found:
            yield dict(zip([*columns, "n_features"], row, strict=True))

    def about(self) -> dict[str, Any]:
        """Return the experiment, the command, the versions and the time of creation."""
        rows = dict(self._found("SELECT name, value FROM about ORDER BY name"))
        experiment = json.loads(rows.pop("experiment", "{}"))
        made_by = json.loads(rows.pop("versions", "{}"))
        return {**rows, "versions": made_by, "experiment": experiment}

    def data(self) -> list[DataRow]:
        """Return the tables."""
        found = self._found(
            "SELECT name, fingerprint, rows, features, classes FROM data ORDER BY rowid"
        )
        return [DataRow(*row) for row in found]

    def dump(self) -> str:
        """Return all results as text: equal for equal results, whenever and wherever they ran."""
        lines = [self.about()["experiment"], *(list(row) for row in sorted(self.data()))]
        kept = (*_IDENTITY, *_RESULT)
        cells = sorted(([row[name] for name in kept] for row in self.rows()), key=canonical)
        return "".join(canonical(line) + "\n" for line in [*lines, *cells])

    def absorb(self, other: "Store") -> None:
        """Add the cells of another store.

        Raises
        ------
        SpecError
            If the two hold different experiments or tables of one name.
        DataError
            If a cell is done in both, with different results.
        """
        about = other.about()
        columns = (*_IDENTITY, *_OUTCOME)
        with self._transaction():
            self._agree(about["experiment"], other.path)
            for name in ("created", "versions"):
                self._note(name, _text(about.get(name)), is_kept=True)
            self._note("command", about.get("command"))
            for table in other.data():
                self._add_data(table, other.path)
            mine = dict(self._db.execute("SELECT key, result_json FROM cell WHERE state = 'done'"))
            for row in other.rows():
                if (
                    row["state"] == "done"
                    and mine.get(row["key"], row["result_json"]) != (row["result_json"])
                ):
                    raise DataError(
                        f"'{other.path}' has another result for {row['method']} on {row['data']}, "
                        f"run {row['run']}, fold {row['fold']} (key {row['key']})",
                        "run that cell alone to see which is right, and leave the other store out",
                    )
                self._add_cells(columns, [tuple(row[name] for name in columns)])
            self._seal_all()

    def _seal_all(self) -> None:
        for table in _SEALED:
            self._seal(table)

    def _agree(self, experiment: dict[str, Any], where: str | None = None) -> None:
        """Adopt an experiment, or refuse one that differs from that of the store."""
        known = self.about()["experiment"]
        if known and known != json.loads(canonical(experiment)):
            names = sorted({*known, *experiment})
            differing = [name for name in names if known.get(name) != experiment.get(name)]
            differences = (
                f"{name} is {experiment.get(name)}, there {known.get(name)}" for name in differing
            )
            raise SpecError(
                f"'{where or self.path}' holds another experiment: {listed(differences)}",
                "cells of one store can be compared: give another file",
            )
        self._note("experiment", canonical(experiment), is_kept=True)
        self._note("created", _now(), is_kept=True)
        self._note("versions", canonical(versions()), is_kept=True)

    def _note(self, name: str, value: str | None, *, is_kept: bool = False) -> None:
        if value is not None:
            change = "NOTHING" if is_kept else "UPDATE SET value = excluded.value, checksum = ''"
            self._db.execute(
                f"INSERT INTO about (name, value) VALUES (?, ?) ON CONFLICT (name) DO {change}",
                (name, value),
            )

    def _add_data(self, table: DataRow, where: str | None = None) -> None:
        query = "SELECT name, fingerprint FROM data WHERE name = ? OR fingerprint = ?"
        for name, fingerprint in self._db.execute(query, (table.name, table.fingerprint)):
            if name != table.name:
                raise SpecError(
                    f"'{table.name}' is the same table as '{name}' of '{self.path}'",
                    "leave it out, or call it by that name",
                )
            if fingerprint != table.fingerprint:
                raise SpecError(
                    f"'{table.name}' of '{where or 'this call'}' is not the table of that name in "
                    f"'{self.path}'",
                    "rename one of the two, or give another file",
                )
        self._db.execute(
            "INSERT INTO data (name, fingerprint, rows, features, classes) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (name) DO NOTHING",
            table,
        )

    def _add_cells(self, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
        changes = [f"{name} = excluded.{name}" for name in columns if name in _OUTCOME]
        if changes:
            changes.append("checksum = ''")
        # A cell that is done is never replaced, nor one that failed by one not begun.
        better = "cell.state != 'done' AND excluded.state != 'todo'"
        update = (
            f"UPDATE SET {', '.join(changes)}, checksum = '' WHERE {better}"
            if changes
            else "NOTHING"
        )
        self._db.executemany(
            f"INSERT INTO cell ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))}) "
            f"ON CONFLICT (key) DO {update}",
            rows,
        )

    def _is_empty(self) -> bool:
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return not (tables or self._pragma("user_version"))

    def _pragma(self, name: str) -> int:
        return int(self._db.execute(f"PRAGMA {name}").fetchone()[0])

    def _found(self, query: str) -> Iterator[Any]:
        """Yield the rows of a query."""
        with self._naming_file("cannot be read", _DAMAGED):
            yield from self._db.execute(query)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        hint = "stored results are safe: free disk space, or stop other processes that use the file"
        with self._naming_file("cannot be written", hint):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                # SQLite itself rolls back when the disk is full.
                if self._db.in_transaction:
                    with suppress(sqlite3.Error):
                        self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _naming_file(self, what: str, hint: str) -> Iterator[None]:
        """Make an error of SQLite say which file it is about."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            raise StoreError(f"'{self.path}' {what}: {problem}", hint) from None


def merge(
    stores: Sequence[str | os.PathLike[str]],
    into: str | os.PathLike[str],
    *,
    force: bool = False,
) -> None:
    """Write one store with the cells of several, such as those of shards.

    Parameters
    ----------
    stores : sequence of path
        The stores to merge; the same cell may be in several of them.
    into : path
        The store to make. Nothing is left there unless all went well.
    force : bool
        Whether a file that is there may be replaced.

    Raises
    ------
    SpecError
        If they hold different experiments, or `into` exists.
    DataError
        If a cell has different results, or a file is no store, damaged, or cannot be written.
    """
    target = Path(into)
    if target.is_dir():
        raise StoreError(f"'{target}' is a directory", "give a file in it")
    if os.path.lexists(target) and not force:
        raise SpecError(f"'{target}' exists", f"overwrite it with {setting('force', True)}")
    if not target.absolute().parent.is_dir():
        raise SpecError(f"the directory of '{target}' does not exist", "make it first")
    try:
        # Beside the target, so that it can be renamed; of a name that nobody can foresee.
        with tempfile.TemporaryDirectory(prefix=".merge-", dir=target.absolute().parent) as place:
            part = Path(place) / "part.db"
            with closing(Store(part)) as whole:
                for path in stores:
                    with closing(Store(path, read_only=True)) as store:
                        whole.absorb(store)
            # Files that a killed process left beside the old store would be read with the new.
            for path in _beside(target):
                path.unlink(missing_ok=True)
            part.replace(target)
    except OSError as problem:
        raise StoreError(
            f"'{target}' cannot be written: {problem.strerror}", "give another file"
        ) from None


def _beside(path: Path) -> list[Path]:
    """Return the files that SQLite keeps beside a store while it is open."""
    return [path.with_name(f"{path.name}-{suffix}") for suffix in ("wal", "shm")]


def _is_alone(path: str) -> bool:
    """Return whether no results lie beside a store, as those of a run under way or killed do.

    SQLite then needs no lock to read it, nor the files beside it that hold locks and results.
    """
    wal = _beside(Path(path))[0]
    return not (wal.exists() and wal.stat().st_size)


def _schema(db: sqlite3.Connection) -> list[tuple[str, ...]]:
    return sorted(db.execute("SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_master"))


def _row(columns: Iterable[str]) -> str:
    return ", ".join(("rowid", *columns))


def _checksum(*values: object) -> str:
    return hashlib.blake2b(repr(values).encode(), digest_size=8).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _stored(cell: Cell, name: str) -> str | int:
    value: str | int = getattr(cell, name)
    return str(value) if name in _SEEDS else value


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else canonical(value)
