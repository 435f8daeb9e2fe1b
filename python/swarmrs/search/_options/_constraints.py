"""What a subset must obey: the features that go together, and those that cannot help."""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from swarmrs._base._choices import CONSTANT
from swarmrs._base._messages import check_word
from swarmrs.data._table import Table
from swarmrs.exceptions import DataError, SpecError

Together: TypeAlias = str | Sequence[str | Sequence[str | int]]


def read_together(table: Table, together: Together) -> list[list[int]]:
    """Return the positions of the features of each list that goes in or out as one.

    Raises
    ------
    SpecError
        If there is neither a list nor ``"encoded"``, or no such column.
    """
    lists: list[list[int]] = []
    for item in [together] if isinstance(together, str) else together:
        if item == "encoded":
            lists += map(list, table.encoded)
        elif isinstance(item, str) or not isinstance(item, Iterable):
            raise SpecError(
                f"together has {item!r}, expected lists of columns or 'encoded'",
                "a column goes together with another: give them as one list",
            )
        else:
            lists.append(table.locate(item))
    return lists


def useless(
    table: Table,
    policy: str,
    included: Collection[int],
    excluded: Collection[int],
    together: Sequence[Collection[int]],
) -> list[int]:
    """Return the features left out of a search because they have one value.

    Raises
    ------
    DataError
        If none would be left.
    SpecError
        If the policy is unknown.
    """
    if check_word("policy for constant columns", policy, CONSTANT) == "keep":
        return []
    gone = {*table.constant} - {*included} - {*excluded}
    for members in together:
        # To exclude one is to exclude all of its list: it stays if any of them is to stay.
        if not gone.issuperset(members):
            gone.difference_update(members)
    if gone and len(gone | {*excluded}) == len(table.names):
        raise DataError(f"every column of {table.name} is constant", "give columns that vary")
    return sorted(gone)
