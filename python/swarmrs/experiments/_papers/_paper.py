"""A published study: setups that are run, tables that it prints, notes on both."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any

from swarmrs._base._messages import check_word
from swarmrs.exceptions import SpecError
from swarmrs.search._options._presets import presets

# The row of a published table that is about all its data sets.
ALL_DATA = "ALL"
# Options of rival methods that no preset is about.
RIVALS: dict[str, Any] = {
    "scale": "minmax",
    "constant": "keep",
    "objective": "paper",
    "cv_seed": 0,
}


@dataclass(frozen=True)
class Handling:
    """The particulars of a data set in a study.

    Attributes
    ----------
    note : str
        A note for readers.
    missing : str or None
        How missing values are handled, if otherwise than in the other tables of the study.
    target : int or None
        The target column; None for the last.
    accuracy : str or None
        The score that is printed as accuracy, if it is another than for other tables.
    is_all_true : bool
        Whether the error "of all features" is just that, and not that of the first column.
    """

    note: str = ""
    missing: str | None = None
    target: int | None = None
    accuracy: str | None = None
    is_all_true: bool = False


@dataclass(frozen=True)
class Setup:
    """Methods that are run and evaluated alike.

    Attributes
    ----------
    name : str
        A word for it, unique within a study.
    methods : mapping of str to str
        The paper's name of each, and ours, as `compare` takes it.
    protocol : str
        Which rows are searched and held out, as for `compare`.
    options : mapping
        Options of `compare`.
    accuracy : str
        The score that is printed as accuracy.
    test_scale : str or None
        The feature scaling for the test, if not as in the search.
    has_groups : bool
        Whether the search is given feature groups, as many as the paper found.
    stands_for : mapping of str to str
        Methods whose claims are judged by others as well: the other one, and the published name.
    """

    name: str
    methods: Mapping[str, str]
    protocol: str
    options: Mapping[str, Any]
    accuracy: str = "accuracy"
    test_scale: str | None = None
    has_groups: bool = False
    stands_for: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Mark:
    """A significance test that a table prints.

    Attributes
    ----------
    against : str
        The method, by the paper's name, that the others are tested against.
    is_reversed : bool
        Whether ``+`` means that the other is worse.
    """

    against: str
    is_reversed: bool = False


@dataclass(frozen=True)
class PaperTable:
    """A published table.

    Attributes
    ----------
    study, number : str
        The study and the number of the table in it.
    title : str
        Its content.
    setups : tuple of Setup
        The setups that are run for it; none for a table about data sets.
    ranked_by : str or None
        The figure that the methods are ranked by.
    marks : mapping of str to Mark
        The tests, by figure.
    tested : str
        The tested quantity: accuracy on held-out rows, or on training rows.
    notes : tuple of str
        Inconsistencies of the paper, and settings that it does not report.
    """

    study: str
    number: str
    title: str
    setups: tuple[Setup, ...] = ()
    ranked_by: str | None = None
    marks: Mapping[str, Mark] = field(default_factory=dict)
    tested: str = "accuracy"
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The study and the number."""
        return f"{self.study}-{self.number}"

    @cached_property
    def published(self) -> dict[tuple[str, str], dict[str, str]]:
        """The figures of the paper as they are printed, by data set and method."""
        path = files("swarmrs.experiments").joinpath("_papers", "figures", f"{self.name}.csv")
        rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
        return {
            (row.pop("data"), row.pop("method")): {
                name: value for name, value in row.items() if value
            }
            for row in rows
        }

    @property
    def data(self) -> list[str]:
        """The data sets, in the order of the paper."""
        return [
            name for name in dict.fromkeys(data for data, _ in self.published) if name != ALL_DATA
        ]

    @property
    def methods(self) -> list[str]:
        """The methods, by the paper's names."""
        return list(dict.fromkeys(method for _, method in self.published))

    def prints(self, figure: str) -> bool:
        """Whether a figure is in the table."""
        return any(figure in printed for printed in self.published.values())

    def needs(self, setup: Setup) -> list[str]:
        """Return the methods of a setup that have to be run for the table."""
        wanted = {*self.methods, *(mark.against for mark in self.marks.values())}
        return [method for method in setup.methods if method in wanted]


@dataclass(frozen=True)
class Paper:
    """A published study.

    Attributes
    ----------
    name : str
        First author and year, as of its preset.
    title : str
        Its subject.
    runs : int
        The runs of each method that it reports; where it does not say, those used here.
    protocol : str
        How methods are run and evaluated, in a sentence.
    tables : tuple of PaperTable
        The tables of figures.
    missing : str
        How missing values are handled, as for `read_table`.
    handling : mapping of str to Handling
        The particulars of data sets.
    absent : mapping of str to str
        The data sets that are not available, and why.
    proposed : tuple of str
        The methods that the study proposes, by its names.
    readings : tuple of Setup
        Readings of a method that the study leaves open; the ledger runs them, `reproduce` does not.
    """

    name: str
    title: str
    runs: int
    protocol: str
    tables: tuple[PaperTable, ...]
    missing: str = "error"
    handling: Mapping[str, Handling] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    proposed: tuple[str, ...] = ()
    readings: tuple[Setup, ...] = ()

    @property
    def citation(self) -> str:
        """Authors, title, venue and year, with the DOI if there is one."""
        return presets[self.name].citation

    def handle(self, data: str) -> Handling:
        """Return the particulars of a data set."""
        return self.handling.get(data, Handling())

    def find(self, number: str | None) -> list[PaperTable]:
        """Return the table of this number, or all.

        Raises
        ------
        SpecError
            If there is none.
        """
        if number is None:
            return list(self.tables)
        known = {table.number.lower(): table for table in self.tables}
        if number.lower() not in known:
            raise SpecError(
                f"{self.name} has no table '{number}' of figures here",
                f"known: {', '.join(table.name for table in self.tables)}",
            )
        return [known[number.lower()]]


def choose(wanted: Sequence[str] | None, tables: Sequence[PaperTable]) -> list[str]:
    """Return the data sets that are wanted of those in some tables.

    Raises
    ------
    SpecError
        If a name is unknown or given twice.
    """
    known = list(dict.fromkeys(name for table in tables for name in table.data))
    if wanted is None:
        return known
    for name in wanted:
        check_word("data set of this table", name, known)
    if not wanted or len(set(wanted)) < len(wanted):
        raise SpecError("data sets are none, or one is given twice", f"known: {', '.join(known)}")
    return list(wanted)


def notes_on(paper: Paper, table: PaperTable, data: Sequence[str]) -> Iterator[str]:
    """Yield the notes for readers of a table with these data sets."""
    yield from table.notes
    for name in data:
        handling = paper.handle(name)
        # The kind of accuracy matters only where there is one.
        if handling.note and (table.setups or handling.accuracy is None):
            yield f"{name}: {handling.note}"
