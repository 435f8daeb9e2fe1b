"""The plan of a comparison: all its cells, checked, to be estimated or run."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl

from swarmrs._base._choices import METRICS
from swarmrs._base._messages import check_whole, check_word, counted, refuse_unknown
from swarmrs._base._public import public
from swarmrs._base._resources import count_threads
from swarmrs.data._table import Data as Given
from swarmrs.data._target import Target
from swarmrs.exceptions import SpecError
from swarmrs.experiments._analysis._frame import cells_frame, store_settings
from swarmrs.experiments._design._cells import (
    OPTIONS,
    Cell,
    Data,
    Experiment,
    check_runs,
    list_cells,
)
from swarmrs.experiments._design._checks import check_experiment
from swarmrs.experiments._design._methods import Method, read_methods
from swarmrs.experiments._design._tables import read_data
from swarmrs.experiments._execution._cluster import cluster_workers
from swarmrs.experiments._execution._estimate import Estimate, estimate
from swarmrs.experiments._execution._store import DataRow, Store
from swarmrs.experiments._execution._workers import Progress, Threads, Workers, run_cells


@public
@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of a comparison.

    Attributes
    ----------
    cells : polars.DataFrame
        A row for each cell; see `swarmrs.experiments.cells_frame`.
    settings : dict
        The settings that all cells share, with versions; see `swarmrs.experiments.store_settings`.
    failed : tuple of (str, str)
        Which cells failed in this call, and why.
    is_complete : bool
        Whether all cells were tried; not so after a stop.
    """

    cells: pl.DataFrame
    settings: dict[str, Any]
    failed: tuple[tuple[str, str], ...]
    is_complete: bool

    def __repr__(self) -> str:
        """Return how far it got in one line; `cells` has the results."""
        rest = "" if self.is_complete else ", not complete"
        return f"Comparison({counted(self.cells.height, 'cell')}, {len(self.failed)} failed{rest})"


@dataclass(frozen=True)
class Plan:
    """A comparison before it is run: `Plan.of` takes the arguments of `compare`.

    Attributes
    ----------
    experiment : Experiment
        The settings that all cells share.
    data : list of Data
        The tables.
    methods : list of Method
        The methods.
    cells : list of Cell
        The searches; of a shard its own alone.
    read : mapping
        How tables are read: further arguments of `read_table`.
    """

    experiment: Experiment
    data: list[Data]
    methods: list[Method]
    cells: list[Cell]
    read: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        data: Mapping[str, Given] | Sequence[Given],
        algos: str | Sequence[str],
        *,
        target: Target = None,
        read: Mapping[str, Any] | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        runs: int = 10,
        protocol: str = "cv10",
        random_state: int = 1,
        split_seed: int | None = None,
        test_metric: str | None = None,
        imputes_once: bool = False,
        shard: tuple[int, int] | None = None,
        **options: Any,
    ) -> "Plan":
        """Check everything that can be checked before the first cell; see `compare`.

        Raises
        ------
        SpecError
            If an option is unknown, out of range or does not fit the others.
        DataError
            If a table cannot be used.
        """
        refuse_unknown(options, OPTIONS)
        methods = read_methods(algos, options.pop("algo_params", None))
        experiment = Experiment.of(
            protocol,
            options,
            random_state=random_state,
            split_seed=split_seed,
            test_metric=test_metric,
            imputes_once=imputes_once,
        )
        check_runs(runs, experiment.seed)
        if shard is not None:
            shard = _check_shard(shard)
        if test_metric is not None:
            check_word("test_metric", test_metric, METRICS)
        read = dict(read or {})
        tables = read_data(data, target, data_dir=data_dir, read=read)
        check_experiment(experiment, methods, tables)
        cells = list_cells(tables, methods, runs, experiment)
        if shard is not None:
            cells = [cell for cell in cells if cell.belongs_to(shard)]
        return cls(experiment, tables, methods, cells, read)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What about the tables can mislead."""
        return tuple(
            f"{data.name}: {warning}" for data in self.data for warning in data.table.warnings
        )

    def run(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        n_jobs: int | None = None,
        memory: int = 2**30,
        cluster: str | None = None,
        stop: Event | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        command: str | None = None,
    ) -> Comparison:
        """Run the cells that a store does not have yet.

        Parameters
        ----------
        store, n_jobs, memory, cluster, on_progress
            As for `compare`.
        stop : Event, optional
            Stops the run when it is set; finished cells are stored.
        command : str, optional
            The command line, which the store keeps.
        """
        threads, memory = count_threads(n_jobs), check_whole("memory", memory, 0)
        data = {table.name: table for table in self.data}
        workers: AbstractContextManager[Workers]
        if cluster is None:
            workers = Threads(data, self.experiment, threads=threads, memory=memory)
        else:
            workers = cluster_workers(
                cluster, data, self.experiment, read=self.read, threads=threads, memory=memory
            )
        with Store(":memory:" if store is None else store) as opened:
            self.enter(opened, command)
            with workers as running:
                outcome = run_cells(
                    self.cells,
                    opened,
                    running,
                    stop=stop or Event(),
                    show=on_progress or (lambda _: None),
                )
            failed = tuple((str(cell), text) for cell, text in outcome.failed)
            cells, settings = cells_frame(opened), store_settings(opened)
        return Comparison(cells, settings, failed, not outcome.is_stopped)

    def estimate(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        n_jobs: int | None = None,
        memory: int = 2**30,
    ) -> Estimate:
        """Estimate the time and the memory of the cells that a store does not have yet.

        Finished cells of the same table and method tell the time, or else short trials. The store
        is read and not changed.
        """
        threads, memory = count_threads(n_jobs), check_whole("memory", memory, 0)
        finished, states = None, {}
        if store is not None and Path(store).exists():
            with Store(store, read_only=True) as opened:
                finished, states = cells_frame(opened), opened.states()
        return estimate(
            self.cells,
            {data.name: data.table for data in self.data},
            self.experiment,
            finished,
            states,
            threads=threads,
            memory=memory,
        )

    def enter(self, store: Store, command: str | None = None) -> None:
        """Write the cells into a store, where they are not there yet."""
        rows = [
            DataRow(
                data.name,
                data.fingerprint,
                rows=data.table.x.shape[0],
                features=data.table.x.shape[1],
                classes=len(data.table.labels),
            )
            for data in self.data
        ]
        store.plan(self.experiment, rows, self.cells, command)


def _check_shard(shard: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(shard, Sequence) or isinstance(shard, str) or len(shard) != 2:
        raise SpecError(f"shard is {shard!r}, expected two numbers: part i of n")
    index, total = (check_whole("shard", part, 0) for part in shard)
    if not 1 <= index <= total:
        raise SpecError(f"shard is {index}/{total}, expected i/n with i from 1 to n", "write 1/4")
    return index, total
