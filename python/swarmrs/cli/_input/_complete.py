"""What the shell offers when the tab key is pressed: as little is loaded as can be."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import typer

from swarmrs._base._choices import AUTO_CARD
from swarmrs.search._options._presets import presets as known_presets

# A shell acts on other characters where it inserts a name as it is.
_SAFE = re.compile(r"\w[\w.+@%-]*")
_HEADER = 1 << 20


def algorithms(incomplete: str) -> list[tuple[str, str]]:
    """Offer the algorithms."""
    import json

    from swarmrs import _swarmrs

    cards = ((card["id"], card["name"]) for card in json.loads(_swarmrs.algorithms()))
    return sorted([AUTO_CARD, *cards])


def presets(incomplete: str) -> list[tuple[str, str]]:
    """Offer the presets."""
    return [(name, preset.about) for name, preset in known_presets.items()]


def words(home: str, name: str) -> Callable[[str], list[str]]:
    """Return what offers the words that a module of the package knows."""

    def offer(incomplete: str) -> list[str]:
        return list(getattr(import_module(f"swarmrs.{home}"), name))

    return offer


def of_words(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what offers these words."""

    def offer(incomplete: str) -> list[str]:
        return list(known)

    return offer


def commands(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the commands."""
    return list(context.find_root().command.commands)  # type: ignore[attr-defined]


def columns(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the columns of the data, if its file is named before."""
    # An option that still has no value makes the arguments ambiguous.
    data = context.params.get("data") or next(iter(context.args), "")
    names: Sequence[str] = ()
    # Whatever is wrong with a file is said when a command reads it.
    with suppress(Exception):
        names = _header(Path(data), context.params.get("separator"))
    return [name for name in names if _SAFE.fullmatch(name)]


def column_list(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the columns of the data for the last place of ``a,b,c``."""
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in columns(context, incomplete)]


def _header(path: Path, separator: str | None) -> Sequence[str]:
    """Return the names in the header of a file; nothing else of it is read."""
    import csv
    import gzip

    with path.open("rb") as stream:
        magic = stream.read(6)
    if magic.startswith(b"PAR1") or magic == b"ARROW1":
        import polars as pl

        read = pl.read_ipc_schema if magic == b"ARROW1" else pl.read_parquet_schema
        return list(read(path))
    is_packed = magic.startswith(b"\x1f\x8b")
    with gzip.open(path) if is_packed else path.open("rb") as unpacked:
        line = unpacked.readline(_HEADER).decode("utf-8-sig")
    is_tabbed = {".tsv", ".tab"} & {
        suffix.lower() for suffix in path.suffixes
    } or separator == r"\t"
    fields = next(csv.reader([line], delimiter="\t" if is_tabbed else separator or ","))
    return [field.strip() for field in fields]
