"""Rooms of the package import only what lies below them."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "swarmrs"

BASE = {"exceptions", "_swarmrs", "_base"}
# What each room may import beside itself. A module at the root is a room, too; `_swarmrs` is the
# compiled engine.
MAY_IMPORT: dict[str, set[str]] = {
    "exceptions": set(),
    "_base": BASE - {"_base"},
    "data": BASE,
    "evaluation": BASE | {"data"},
    "filters": BASE | {"data", "evaluation"},
    "plotting": BASE | {"data", "evaluation"},
    "search": BASE | {"data", "evaluation", "filters", "plotting"},
    "estimators": BASE | {"data", "evaluation", "filters", "search"},
    "optimize": BASE | {"data", "evaluation", "filters", "search"},
    "experiments": BASE | {"data", "evaluation", "filters", "plotting", "search"},
    # `from swarmrs import select` imports "__init__", which finds the room of each public name.
    "cli": BASE | {"data", "evaluation", "filters", "search", "experiments", "__init__"},
    "__init__": set(),  # Public names are loaded from their rooms by their first use.
    "__main__": {"cli"},
}
ROOMS = {*MAY_IMPORT, "_swarmrs"}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the modules of ours that are imported at run time, in functions as well."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.startswith("swarmrs"))
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        if node.module == "swarmrs":
            yield from (f"swarmrs.{alias.name}" for alias in node.names)
        elif node.module is not None and node.module.startswith("swarmrs."):
            yield node.module
    for child in ast.iter_child_nodes(node):
        yield from imported(child)


def rooms_imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = (module.split(".")[1] if "." in module else "__init__" for module in imported(tree))
    return {name if name in ROOMS else "__init__" for name in names} - {room_of(path)}


FILES = sorted(PACKAGE.rglob("*.py"))


def test_every_file_is_in_a_room() -> None:
    assert {room_of(path) for path in FILES} == {*MAY_IMPORT}


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_rooms_below(room: str) -> None:
    for path in FILES:
        if room_of(path) == room:
            upward = rooms_imported(path) - MAY_IMPORT[room]
            assert not upward, f"{path.relative_to(PACKAGE)} imports {', '.join(sorted(upward))}"


def test_rooms_are_in_layers() -> None:
    # An order of the rooms exists exactly if no room imports itself through others.
    order = list(TopologicalSorter(MAY_IMPORT).static_order())
    assert {*order} == ROOMS


def test_a_room_has_a_sign_and_nothing_else() -> None:
    for room in ("_base", "data", "evaluation", "filters", "plotting", "search", "estimators"):
        [sign] = ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8")).body
        assert isinstance(sign, ast.Expr)


def test_imports_in_functions_count_and_those_for_types_do_not() -> None:
    tree = ast.parse(
        "if TYPE_CHECKING:\n    from swarmrs.cli._app import x\n"
        "def f():\n    from swarmrs.data._table import Table\n    from swarmrs import select\n"
    )
    assert [*imported(tree)] == ["swarmrs.data._table", "swarmrs.select"]
