"""The same cells on a cluster: futures of dask, each stored and let go as it arrives."""

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
from swarmrs.data._table import Table, read_table
from swarmrs.exceptions import ClusterError, SpecError, SwarmrsWarning
from swarmrs.experiments._cells import Cell, Data, Experiment, canonical, fingerprint_of
from swarmrs.experiments._run_cell import Finished, run_cell

# How many cells wait at each thread of the cluster, so that none is ever idle.
_AHEAD = 2
# Seconds between looks at how large the cluster is, and until an address must answer.
_LOOK = 2.0
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
    """Give what runs cells on the cluster at an address, or on one of local processes.

    Parameters
    ----------
    address : str
        That of a dask scheduler, ``tcp://host:8786``; or ``local`` for worker processes here.
    data : mapping of str to Data
        The tables, by name. Workers read them again, by the same path.
    experiment : Experiment
        What all cells share.
    read : mapping
        How tables are read: further arguments of `read_table`.
    threads : int
        The worker processes of a local cluster.
    memory : int
        Bytes for kept distances, of all cells of this machine together.

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
    # A lost connection is told once, by us.
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
        client.close(timeout=_LOOK)
        if local is not None:
            local.close(timeout=_ANSWER)


class Cluster:
    """Cells as futures of a dask client, in bounded numbers.

    Parameters
    ----------
    client : distributed.Client
        The connection.
    address : str
        Where to, for messages.
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
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._futures: dict[str, tuple[Any, Cell]] = {}
        self._suspects: list[Cell] = []
        self._alone: str | None = None
        self._numbers = itertools.count()
        self._looked, self._n_threads = 0.0, 0

    def capacity(self) -> int:
        """Return how many cells may be under way at once; workers may come and go."""
        if self._alone is not None:
            return 0
        now = time.monotonic()
        if now - self._looked > _LOOK:
            self._looked = now
            with self._talking():
                self._n_threads = sum(self._client.nthreads().values())
        return _AHEAD * max(1, self._n_threads)

    def trouble(self) -> str | None:
        """Return what keeps cells from ending, if anything does."""
        return None if self._n_threads else f"no worker is connected to '{self._address}'"

    def submit(self, cell: Cell, n_left: int) -> str:
        """Begin a cell."""
        self._submit(cell)
        return self._address

    def _submit(self, cell: Cell) -> None:
        data = self._data[cell.data]
        what = (cell, data.source, data.table.target, self._experiment)
        # A key of its own each time: the scheduler may still know how the last attempt ended.
        key = f"swarmrs-{cell.key}-{next(self._numbers)}"
        with self._talking():
            future = self._client.submit(_work, *what, **self._how, key=key, pure=False)
        self._futures[key] = (future, cell)
        future.add_done_callback(self._ended.put)

    def next(self, timeout: float) -> Finished | None:
        """Return a cell that has ended, or None after so many seconds.

        A cell whose worker died again and again may only have been beside the one to blame: it is
        tried once more when no other cell is under way.

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
            future = self._ended.get(timeout=timeout)
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
            # Futures of a lost scheduler end too, without a result and without raising.
            if future.status == "finished":
                with self._talking():
                    return future.result(timeout=_ANSWER)  # type: ignore[no-any-return]
            if future.status != "error":
                raise self._lost()
            with self._talking():
                problem = future.exception(timeout=_ANSWER)
        finally:
            # What is kept would be computed again when the worker that holds it dies.
            future.release()
        if type(problem).__name__ != "KilledWorker":
            return Finished(cell.key, error=f"{type(problem).__name__}: {problem}")
        if is_alone:
            return Finished(cell.key, error="its worker died each time, alone too")
        self._suspects.append(cell)
        return None

    def stop(self) -> None:
        """Forget the cells under way, which end as stopped."""
        for future, cell in self._futures.values():
            future.release()
            self._ended.put(Finished(cell.key))
        for cell in self._suspects:
            self._ended.put(Finished(cell.key))
        self._futures.clear()
        self._suspects.clear()

    @contextmanager
    def _talking(self) -> Iterator[None]:
        """Make whatever is raised while the scheduler is gone say so."""
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
        # Whatever it is, it travels as text: not every exception can be sent.
        return Finished(cell.key, error=f"a worker cannot read the data: {problem}")
    if fingerprint != cell.fingerprint:
        return Finished(cell.key, error=f"a worker finds another table at {source}")
    return run_cell(cell, table, experiment, memory=memory)


@lru_cache(maxsize=16)
def _read(source: str, target: str, read: str) -> tuple[Table, str]:
    """Return a table and its fingerprint, read once for many cells."""
    table = read_table(source, target, **json.loads(read))
    return table, fingerprint_of(table)
