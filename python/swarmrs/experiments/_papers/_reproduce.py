"""reproduce(): published tables run again."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any, cast

import polars as pl

from swarmrs._base._hints import named
from swarmrs._base._messages import MOST_RUNS, check_whole, counted
from swarmrs.data._table import Source, Table, read_table
from swarmrs.exceptions import SpecError
from swarmrs.experiments._compare import Plan, Settings, carry_out, describe
from swarmrs.experiments._frame import cells_frame
from swarmrs.experiments._methods import read_methods
from swarmrs.experiments._papers import find_tables
from swarmrs.experiments._papers._data import find_sources
from swarmrs.experiments._papers._paper import Paper, PaperTable, Study, choose, notes_on
from swarmrs.experiments._papers._results import Reproduced, lines_of_data, lines_of_runs
from swarmrs.experiments._papers._values import FEWEST_TESTED, Sample, all_errors, facts, samples
from swarmrs.experiments._protocols import Protocol
from swarmrs.experiments._run import Progress
from swarmrs.experiments._store import Store

# Of cells that failed, so many are named in a result.
_SHOWN = 3


@dataclass(frozen=True)
class Work:
    """The cells of a study on a data set.

    Attributes
    ----------
    name : str
        What it and the file of its store are called.
    planned : Plan
        What is to be run.
    """

    name: str
    planned: Plan


@dataclass
class Reproduction:
    """Tables of a paper to be run again, checked.

    Attributes
    ----------
    paper : Paper
        The paper.
    tables : list of PaperTable
        Its tables.
    sources : mapping of str to Source
        The data sets that are at hand.
    works : dict of (str, str) to Work
        What is to be run, by study and data set.
    remarks : list of str
        What differs from the paper in this call.
    failed : list of (str, str)
        Which cells failed, and why.
    is_stopped : bool
        Whether the run was ended before all cells were tried.
    """

    paper: Paper
    tables: list[PaperTable]
    sources: Mapping[str, Source]
    works: dict[tuple[str, str], Work]
    remarks: list[str]
    failed: list[tuple[str, str]] = field(default_factory=list)
    is_stopped: bool = False
    _cells: dict[tuple[str, str], pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        *,
        datasets: Sequence[str] | None = None,
        runs: int | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        fetch: bool = False,
        seed: int = 1,
        split_seed: int = 1,
        max_evals: int | None = None,
    ) -> "Reproduction":
        """Check everything that can be checked before the first cell; see `reproduce`."""
        paper, tables = find_tables(name)
        n_runs = paper.runs if runs is None else check_whole("runs", runs, most=MOST_RUNS)
        sources, absent = find_sources(
            paper,
            choose(datasets, tables),
            data_dir=data_dir,
            fetch=fetch,
            must_exist=datasets is not None,
        )
        remarks = [f"{data} is left out: {why}" for data, why in absent.items()]
        remarks += _departures(paper, tables, n_runs, max_evals)
        works = {}
        for study, methods in _studies(tables):
            for data, source in sources.items():
                planned = Plan.of(
                    {data: source},
                    list(dict.fromkeys(study.methods[method] for method in methods)),
                    target=paper.handle(data).target,
                    runs=n_runs,
                    protocol=study.protocol,
                    seed=seed,
                    split_seed=split_seed if Protocol.of(study.protocol).holds_out else None,
                    reading=_reading(paper, data),
                    # No paper fills anew for the folds of a search.
                    fills_once=True,
                    **_settings(study, data, max_evals),
                )
                works[study.name, data] = Work(f"{paper.number}-{study.name}-{data}", planned)
        return cls(paper, tables, sources, works, remarks)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What about the data can mislead, once for each data set."""
        tables = (table for work in self.works.values() for table in work.planned.data)
        told = (f"{table.name}: {it}" for table in tables for it in table.table.warnings)
        return tuple(dict.fromkeys(told))

    def run(
        self,
        *,
        store: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        memory: int = 2**30,
        stop: Event | None = None,
        show: Callable[[Progress], None] | None = None,
        command: str | None = None,
    ) -> None:
        """Run what is not in the stores yet: a file for each study and data set."""
        if store is not None and self.works:
            _make_directory(Path(store))
        total, before = sum(len(work.planned.cells) for work in self.works.values()), 0
        for key, work in self.works.items():
            path = ":memory:" if store is None else Path(store) / f"{work.name}.db"
            with Store(path) as kept:
                work.planned.enter(kept, command)
                outcome = carry_out(
                    work.planned,
                    kept,
                    n_jobs=n_jobs,
                    memory=memory,
                    cluster=None,
                    stop=stop,
                    show=None if show is None else _shifted(show, before, total),
                )
                self.failed += [(describe(cell), text) for cell, text in outcome.failed]
                self._cells[key] = _wanted(cells_frame(kept), work.planned)
            before += len(work.planned.cells)
            if outcome.is_stopped:
                self.is_stopped = True
                return

    def results(self) -> list[Reproduced]:
        """Return the tables with our figures."""
        return [self._result(table) for table in self.tables]

    def _result(self, table: PaperTable) -> Reproduced:
        data = [name for name in self.sources if name in table.data]
        if table.studies:
            lines = lines_of_runs(table, {name: self._samples(table, name) for name in data})
        else:
            lines = lines_of_data(table, {name: self._facts(table, name) for name in data})
        failed = [f"{which} failed: {why}" for which, why in self.failed[:_SHOWN]]
        notes = (*self.remarks, *failed, *notes_on(self.paper, table, data))
        return Reproduced(table.name, table.title, self.paper.protocol, tuple(lines), notes)

    def _facts(self, table: PaperTable, data: str) -> dict[str, float]:
        handling = self.paper.handle(data)
        read = read_table(self.sources[data], handling.target, **_reading(self.paper, data))
        return facts(read.as_filled(), handling, {*table.published[data, ""]})

    def _samples(self, table: PaperTable, data: str) -> dict[str, Sample]:
        """Return what each method of a table came to on a data set, by the paper's names."""
        found: dict[str, Sample] = {}
        handling, on_training = self.paper.handle(data), table.tested == "train_accuracy"
        for study in table.studies:
            planned = self.works[study.name, data].planned
            by_label = samples(
                self._cells[study.name, data], planned, study, handling, on_training=on_training
            )
            if table.prints("improvement"):
                errors = _all_errors(planned.data[0].table.as_filled(), study, handling.is_all_true)
                by_label = {
                    label: replace(sample, all_errors=errors) for label, sample in by_label.items()
                }
            labels = {method: _label(study.methods[method]) for method in table.needs(study)}
            found |= {
                method: by_label[label] for method, label in labels.items() if label in by_label
            }
        return found


def reproduce(
    name: str,
    *,
    datasets: Sequence[str] | None = None,
    runs: int | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    fetch: bool = False,
    store: str | os.PathLike[str] | None = None,
    seed: int = 1,
    split_seed: int = 1,
    max_evals: int | None = None,
    n_jobs: int | None = None,
    memory: int = 2**30,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Reproduced]:
    """Run published tables again and hold our figures against those printed.

    A mean agrees with a published one if it lies within one published standard deviation of it;
    where none is published, within a tolerance of the figure.

    Parameters
    ----------
    name : str
        ``"002-III"`` for a table of a paper, ``"002"`` for all of them.
    datasets : sequence of str, optional
        Its data sets that are wanted; by default all that are at hand.
    runs : int, optional
        The runs of each method; by default as many as in the paper.
    data_dir : path, optional
        Where the data sets are, in files of their names.
    fetch : bool
        Whether OpenML may be asked for data sets that are not there.
    store : path, optional
        The directory that keeps the cells; the same call goes on where it stopped.
    seed : int
        The seed of the first run.
    split_seed : int
        Deals the rows that are held out, where a paper holds out some.
    max_evals : int, optional
        The subsets that a search may ask for; by default as in the paper.
    n_jobs, memory, on_progress
        As for `compare`.

    Returns
    -------
    list of Reproduced
        The tables, with a line for each figure.

    Raises
    ------
    SpecError
        If there is no such table or data set, or a store holds another experiment.
    DataError
        If a data set is not at hand or cannot be read.

    Examples
    --------
    >>> (table,) = reproduce("004-2", datasets=["wine"], runs=1, max_evals=40)
    >>> [(line.data, line.method, line.figure, line.published) for line in table.lines]
    [('wine', 'CD-BPSO', 'accuracy', '99.44')]
    """
    found = Reproduction.of(
        name,
        datasets=datasets,
        runs=runs,
        data_dir=data_dir,
        fetch=fetch,
        seed=seed,
        split_seed=split_seed,
        max_evals=max_evals,
    )
    found.run(store=store, n_jobs=n_jobs, memory=memory, show=on_progress)
    return found.results()


def _departures(
    paper: Paper, tables: Sequence[PaperTable], n_runs: int, max_evals: int | None
) -> Iterator[str]:
    """Yield in what a call departs from the paper."""
    if not any(table.studies for table in tables):
        return
    if n_runs != paper.runs:
        yield f"each method has {counted(n_runs, 'run')}, not {paper.runs}"
    if max_evals is not None:
        yield f"searches end after {max_evals} evaluations, not as in the paper"
    if n_runs < FEWEST_TESTED and any(table.marks for table in tables):
        yield f"tests are left out: they need {FEWEST_TESTED} runs or more"


def _studies(tables: Sequence[PaperTable]) -> list[tuple[Study, list[str]]]:
    """Return the studies of some tables, each with the methods that these need of it."""
    found: dict[str, tuple[Study, dict[str, None]]] = {}
    for table in tables:
        for study in table.studies:
            _, methods = found.setdefault(study.name, (study, {}))
            methods |= dict.fromkeys(table.needs(study))
    return [(study, list(methods)) for study, methods in found.values()]


def _settings(study: Study, data: str, max_evals: int | None) -> Settings:
    settings: dict[str, Any] = {**study.settings, "max_evals": max_evals}
    if study.has_groups:
        _, (about,) = find_tables("003-I")
        settings["groups"] = f"lbm={about.published[data, '']['groups']}"
    return cast(Settings, settings)


def _reading(paper: Paper, data: str) -> dict[str, Any]:
    handling = paper.handle(data)
    # Classes that stand for a feature may be words.
    encode = "error" if handling.target is None else "ordinal"
    return {"missing": handling.missing or paper.missing, "encode": encode}


def _wanted(cells: pl.DataFrame, planned: Plan) -> pl.DataFrame:
    """Leave out what a store has from calls for more runs."""
    labels = [method.label for method in planned.methods]
    runs = max(cell.run for cell in planned.cells)
    return cells.filter(pl.col("method").is_in(labels), pl.col("run") <= runs)


def _shifted(
    show: Callable[[Progress], None], before: int, total: int
) -> Callable[[Progress], None]:
    """Let a part tell how far the whole is; what other parts will take is not known."""

    def of_all(progress: Progress) -> None:
        is_last = before + progress.total == total
        left = progress.left if is_last else None
        show(replace(progress, done=before + progress.done, total=total, left=left))

    return of_all


def _label(method: str) -> str:
    (read,) = read_methods(method)
    return read.label


def _all_errors(table: Table, study: Study, is_all_true: bool) -> tuple[float, float]:
    return all_errors(table, str(study.settings["preset"]), is_all_true=is_all_true)


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SpecError(
            f"'{path}' cannot be a directory of stores: {problem.strerror}",
            f"give {named('store')} another name",
        ) from None
