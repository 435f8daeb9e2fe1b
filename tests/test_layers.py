"""Rooms of the package import only what lies below them."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "swarmrs"

BASE = {"exceptions", "_swarmrs", "_base"}
# What each room of a folder may import beside itself. A module beside the rooms is a room, too;
# `_swarmrs` is the compiled engine.
MAY_IMPORT: dict[str, dict[str, set[str]]] = {
    "swarmrs": {
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
    },
    "swarmrs.search": {
        "_results": set(),
        "_options": {"_results"},
        "_rows": set(),
        "_pool": {"_results"},
        "_auto": {"_results", "_rows", "_pool"},
        "_search": {"_results", "_options", "_rows", "_pool", "_auto"},
        "_validation": {"_results", "_rows", "_pool", "_search"},
        "_time_estimate": {"_options", "_auto"},
        "_select": {"_results", "_options", "_search", "_validation", "_time_estimate"},
        "_describe": {"_auto", "_time_estimate"},
        "__init__": set(),
    },
    "swarmrs.experiments": {
        "_design": set(),
        "_execution": {"_design"},
        "_analysis": {"_design", "_execution"},
        "_plan": {"_design", "_execution", "_analysis"},
        "_compare": {"_execution", "_plan"},
        "_report": {"_design", "_analysis"},
        "_papers": {"_design", "_execution", "_analysis", "_plan"},
        "__init__": {
            *("_design", "_execution", "_analysis"),
            *("_plan", "_compare", "_report", "_papers"),
        },
    },
    "swarmrs.cli": {
        "_signals": set(),
        "_output": {"_signals"},
        # Completion loads the module that knows the words of an option by its name.
        "_input": {"_output"},
        "_command": {"_output", "_input"},
        "_commands": {"_signals", "_output", "_input", "_command"},
        "_app": {"_output", "_command", "_commands"},
        "__init__": {"_signals", "_app"},
    },
}
ROOMS = [(folder, room) for folder, rooms in MAY_IMPORT.items() for room in rooms]
SIGNS = (
    *("_base", "data", "evaluation", "filters", "plotting", "search", "estimators"),
    *("search/_options", "search/_results", "search/_validation"),
    *("cli/_commands", "cli/_input", "cli/_output"),
    *("experiments/_design", "experiments/_execution", "experiments/_analysis"),
)


def module_of(path: Path) -> str:
    return ".".join(("swarmrs", *path.relative_to(PACKAGE).with_suffix("").parts))


def is_module(name: str) -> bool:
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


def room_of(folder: str, module: str) -> str | None:
    """Return the room of a folder that holds a module; None if the module is not in the folder."""
    if f"{module}.".startswith(f"{folder}."):
        name = module.removeprefix(folder).removeprefix(".").partition(".")[0]
        return name if name in {*MAY_IMPORT[folder], "_swarmrs"} else "__init__"
    return None


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the modules of ours that are imported at run time, in functions as well."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.startswith("swarmrs"))
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        if node.module is not None and f"{node.module}.".startswith("swarmrs."):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if node.module == "swarmrs" or is_module(name) else node.module
    for child in ast.iter_child_nodes(node):
        yield from imported(child)


def rooms_imported(folder: str, path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    rooms = {room_of(folder, module) for module in imported(tree)}
    return {room for room in rooms if room is not None} - {room_of(folder, module_of(path))}


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_every_file_is_in_a_room(folder: str) -> None:
    inside = (module_of(path).removeprefix(f"{folder}.") for path in FILES)
    rooms = {name.partition(".")[0] for name in inside if not name.startswith("swarmrs.")}
    assert rooms == {*MAY_IMPORT[folder]}


@pytest.mark.parametrize(("folder", "room"), ROOMS)
def test_a_room_imports_only_rooms_below(folder: str, room: str) -> None:
    for path in FILES:
        if room_of(folder, module_of(path)) == room:
            upward = rooms_imported(folder, path) - MAY_IMPORT[folder][room]
            assert not upward, f"{path.relative_to(PACKAGE)} imports {', '.join(sorted(upward))}"


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_rooms_are_in_layers(folder: str) -> None:
    # An order of the rooms exists exactly if no room imports itself through others.
    order = list(TopologicalSorter(MAY_IMPORT[folder]).static_order())
    assert {*order} - {"_swarmrs"} == {*MAY_IMPORT[folder]}


@pytest.mark.parametrize("room", SIGNS)
def test_a_room_has_a_sign_and_nothing_else(room: str) -> None:
    [sign] = ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8")).body
    assert isinstance(sign, ast.Expr)


def test_imports_in_functions_count_and_those_for_types_do_not() -> None:
    tree = ast.parse(
        "if TYPE_CHECKING:\n    from swarmrs.cli._app import x\n"
        "def f():\n    from swarmrs.data._table import Table\n    from swarmrs import select\n"
    )
    assert [*imported(tree)] == ["swarmrs.data._table", "swarmrs.select"]


def test_a_module_is_imported_by_its_own_name_or_from_its_folder() -> None:
    tree = ast.parse("from swarmrs.experiments import _plan, compare\nimport swarmrs.data._table\n")
    names = [*imported(tree)]
    assert names == ["swarmrs.experiments._plan", "swarmrs.experiments", "swarmrs.data._table"]
    rooms = [room_of("swarmrs.experiments", name) for name in names]
    assert rooms == ["_plan", "__init__", None]
