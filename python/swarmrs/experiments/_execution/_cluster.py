"""Cells on a cluster: futures of dask, each stored and released as it arrives."""

import itertools
import json
import logging
import queue
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any

from swarmrs._base._hints import setting
from swarmrs.data._table import Table
from swarmrs.exceptions import ClusterError, SpecError, SwarmrsWarning
from swarmrs.experiments._design._cells import Cell, Data, Experiment, canonical, fingerprint_of
from swarmrs.experiments._design._tables import read_classes
from swarmrs.experiments._execution._run_cell import Finished, run_cell

# Cells queued for each thread of the cluster, so that none is ever idle.
_AHEAD = 2
# Seconds between updates of the size of the cluster, and until an address must answer.
_UPDATE = 2.0
_ANSWER = 10


@contextmanager
def cluster_workers(
    address: str,
    data: Mapping[str, Data],
    experiment: Experiment,
    *,
    read: Mapping[str, Any],
    threads: int,
    memory: int,
) -> Iterator["Cluster"]:
    """Yield the cluster at an address, or one of local processes, to run cells on.

    Parameters
    ----------
    address : str
        The address of a dask scheduler, ``tcp://host:8786``; or ``local`` for processes here.
    data : mapping of str to Data
        The tables, by name. Workers read them again, by the same path.
    experiment : Experiment
        The settings that all cells share.
    read : mapping
        How tables are read: further arguments of `read_table`.
    threads : int
        The worker processes of a local cluster.
    memory : int
        Bytes for cached distances, of all cells of this machine together.

    Raises
    ------
    SpecError
        If dask is not installed, or a table cannot be read by others.
    ClusterError
        If there is no scheduler at the address.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise SpecError(
            "a cluster needs the package 'distributed', which is not installed",
            "install it with: pip install 'swarmrs[dask]'",
        ) from None
    for table in data.values():
        if table.source is None:
            raise SpecError(
                f"'{table.name}' has no path, so that no worker can read it",
                "write it to a file that all workers can read",
            )
    # A lost connection is reported once, by a ClusterError.
    for name in ("", ".client", ".comm", ".core", ".nanny"):
        logging.getLogger(f"distributed{name}").setLevel(logging.CRITICAL)
    local = None
    try:
        if address == "local":
            local = distributed.LocalCluster(
                n_workers=threads,
                threads_per_worker=1,
                processes=True,
                protocol="tcp",
                dashboard_address=None,
                memory_limit=0,
            )
        client = distributed.Client(local or address, timeout=_ANSWER, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as problem:
        if local is not None:
            local.close()
        raise ClusterError(
            f"no dask scheduler answers at '{address}': {problem}",
            f"start one with `dask scheduler`, or take {setting('cluster', 'local')}",
        ) from None
    try:
        yield Cluster(client, address, data, experiment, read, memory // threads)
    finally:
        client.close(timeout=_UPDATE)
        if local is not None:
            local.close(timeout=_ANSWER)


class Cluster:
    """Runs cells as futures of a dask client, a bounded number at a time.

    Parameters
    ----------
    client : distributed.Client
        The connection.
    address : str
        Its address, for messages.
    data, experiment, read, memory
        As for `cluster_workers`; `memory` is for one cell.
    """

    def __init__(
        self,
        client: Any,
        address: str,
        data: Mapping[str, Data],
        experiment: Experiment,
        read: Mapping[str, Any],
        memory: int,
    ) -> None:
        self._client, self._address = client, address
        self._data, self._experiment = data, experiment
        self._how = {"read": dict(read), "memory": memory}
        self._finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._futures: dict[str, tuple[Any, Cell]] = {}
        self._suspects: list[Cell] = []
        self._alone: str | None = None
        self._numbers = itertools.count()
        self._updated, self._n_threads = 0.0, 0

    def capacity(self) -> int:
        """Return how many cells may run at once; workers may come and go."""
        if self._alone is not None:
            return 0
        now = time.monotonic()
        if now - self._updated > _UPDATE:
            self._updated = now
            with self._connected():
                self._n_threads = sum(self._client.nthreads().values())
        return _AHEAD * max(1, self._n_threads)

    def trouble(self) -> str | None:
        """Return why no cell can finish at the moment; None if they can."""
        return None if self._n_threads else f"no worker is connected to '{self._address}'"

    def submit(self, cell: Cell, n_left: int) -> str:
        """Start a cell."""
        self._submit(cell)
        return self._address

    def _submit(self, cell: Cell) -> None:
        data = self._data[cell.data]
        what = (cell, data.source, data.table.target, self._experiment)
        # A new key each time: the scheduler may still know the outcome of the last attempt.
        key = f"swarmrs-{cell.key}-{next(self._numbers)}"
        with self._connected():
            future = self._client.submit(_work, *what, **self._how, key=key, pure=False)
        self._futures[key] = (future, cell)
        future.add_done_callback(self._finished.put)

    def next(self, timeout: float) -> Finished | None:
        """Return a cell that has finished, or None after `timeout` seconds.

        A cell whose worker died repeatedly may only have shared it with the cell to blame: it is
        tried once more when no other cell is running.

        Raises
        ------
        ClusterError
            If the scheduler is gone.
        """
        if self._suspects and not self._futures:
            suspect = self._suspects.pop()
            self._alone = suspect.key
            self._submit(suspect)
        try:
            future = self._finished.get(timeout=timeout)
        except queue.Empty:
            if self._client.status != "running":
                raise self._lost() from None
            return None
        if isinstance(future, Finished):
            return future
        if future.key not in self._futures:
            return None
        _, cell = self._futures.pop(future.key)
        is_alone, self._alone = self._alone == cell.key, None
        try:
            # Futures of a lost scheduler finish too, without a result and without raising.
            if future.status == "finished":
                with self._connected():
                    return future.result(timeout=_ANSWER)  # type: ignore[no-any-return]
            if future.status != "error":
                raise self._lost()
            with self._connected():
                problem = future.exception(timeout=_ANSWER)
        finally:
            # A result that is not released is computed again when its worker dies.
            future.release()
        if type(problem).__name__ != "KilledWorker":
            return Finished(cell.key, error=f"{type(problem).__name__}: {problem}")
        if is_alone:
            return Finished(cell.key, error="its worker died each time, even when it ran alone")
        self._suspects.append(cell)
        return None

    def stop(self) -> None:
        """Cancel the running cells, which finish as stopped."""
        for future, cell in self._futures.values():
            future.release()
            self._finished.put(Finished(cell.key))
        for cell in self._suspects:
            self._finished.put(Finished(cell.key))
        self._futures.clear()
        self._suspects.clear()

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Raise exceptions as a ClusterError while the scheduler is gone."""
        try:
            yield
        except Exception as problem:
            if self._client.status == "running" and not isinstance(problem, OSError):
                raise
            raise self._lost() from None

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"the scheduler at '{self._address}' is gone",
            "finished cells are stored; start the cluster again",
        )


def _work(
    cell: Cell,
    source: str,
    target: str,
    experiment: Experiment,
    *,
    read: dict[str, Any],
    memory: int,
) -> Finished:
    """Run a cell in a worker."""
    warnings.simplefilter("ignore", SwarmrsWarning)
    try:
        table, fingerprint = _read(source, target, canonical(read))
    except Exception as problem:
        # As text: not every exception can be sent.
        return Finished(cell.key, error=f"a worker cannot read the data: {problem}")
    if fingerprint != cell.fingerprint:
        return Finished(cell.key, error=f"a worker finds another table at {source}")
    return run_cell(cell, table, experiment, memory=memory)


@lru_cache(maxsize=16)
def _read(source: str, target: str, read: str) -> tuple[Table, str]:
    """Return a table and its fingerprint, read once for many cells."""
    table = read_classes(source, target, json.loads(read))
    return table, fingerprint_of(table)
