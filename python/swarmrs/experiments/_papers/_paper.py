"""What a paper is here: studies that are run, tables that are printed, notes on both."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any

from swarmrs._base._messages import check_word
from swarmrs.exceptions import SpecError

# The row of a published table that is about all its data sets.
ALL_DATA = "ALL"


@dataclass(frozen=True)
class Handling:
    """What is particular about a data set in a paper.

    Attributes
    ----------
    note : str
        What a reader should know.
    missing : str or None
        What is done about gaps, if it is not what the paper does about those of other tables.
    target : int or None
        The column taken for the classes; None for the last.
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
class Study:
    """Methods that are run and measured alike.

    Attributes
    ----------
    name : str
        A word for it, one in a paper.
    methods : mapping of str to str
        The paper's name of each, and ours, as `compare` takes it.
    protocol : str
        Which rows are searched and tested, as for `compare`.
    settings : mapping
        More for `compare`.
    accuracy : str
        The score that is printed as accuracy.
    test_scale : str or None
        How columns are scaled for the test, if not as in the search.
    has_groups : bool
        Whether the search is given groups of features, as many as the paper found.
    """

    name: str
    methods: Mapping[str, str]
    protocol: str
    settings: Mapping[str, Any]
    accuracy: str = "accuracy"
    test_scale: str | None = None
    has_groups: bool = False


@dataclass(frozen=True)
class Mark:
    """A significance test that a table prints.

    Attributes
    ----------
    against : str
        The method, by the paper's name, that the others are tested against.
    is_turned : bool
        Whether ``+`` says that the other is worse.
    """

    against: str
    is_turned: bool = False


@dataclass(frozen=True)
class PaperTable:
    """A published table.

    Attributes
    ----------
    paper, number : str
        Which one.
    title : str
        What is in it.
    studies : tuple of Study
        What is run for it; nothing for a table about data sets.
    ranked_by : str or None
        The figure that ranks are of.
    marks : mapping of str to Mark
        The tests, by figure.
    tested : str
        What is tested: accuracy on the rows held out, or on those searched.
    notes : tuple of str
        The paper's oddities, and what is not known of it.
    """

    paper: str
    number: str
    title: str
    studies: tuple[Study, ...] = ()
    ranked_by: str | None = None
    marks: Mapping[str, Mark] = field(default_factory=dict)
    tested: str = "accuracy"
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The paper and the number."""
        return f"{self.paper}-{self.number}"

    @cached_property
    def published(self) -> dict[tuple[str, str], dict[str, str]]:
        """What the paper prints, by data set and method: figures as they are printed."""
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

    def needs(self, study: Study) -> list[str]:
        """Return the methods of a study that have to be run for the table."""
        wanted = {*self.methods, *(mark.against for mark in self.marks.values())}
        return [method for method in study.methods if method in wanted]


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes
    ----------
    number : str
        Three digits, as of its preset.
    title : str
        What it is about.
    runs : int
        The runs of each method that it reports; where it does not say, those taken here.
    protocol : str
        What it does, in a sentence.
    tables : tuple of PaperTable
        The tables of figures.
    missing : str
        What is done about gaps, as `read_table` and `compare` take it.
    handling : mapping of str to Handling
        What is particular about a data set.
    absent : mapping of str to str
        The data sets that nobody has, and why.
    """

    number: str
    title: str
    runs: int
    protocol: str
    tables: tuple[PaperTable, ...]
    missing: str = "error"
    handling: Mapping[str, Handling] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)

    def handle(self, data: str) -> Handling:
        """Return what is particular about a data set."""
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
                f"paper {self.number} has no table '{number}' of figures here",
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
    """Yield what a reader of a table should know, with these data sets in it."""
    yield from table.notes
    for name in data:
        handling = paper.handle(name)
        # How accuracy is counted matters where some is.
        if handling.note and (table.studies or handling.accuracy is None):
            yield f"{name}: {handling.note}"
