"""Every reading option is declared once and has one name, in Python and on the command line."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from swarmrs import describe, group, rank, read_table
from swarmrs._base._messages import sized
from swarmrs._base._options import options_of
from swarmrs.cli._input._options import READING, flag_of
from swarmrs.data._options import NULL_WORDS, ReadOptions
from swarmrs.exceptions import SpecError

Cli = Callable[..., Any]

FUNCTIONS: list[Callable[..., Any]] = [read_table, describe, rank, group]
FLAGS = {flag_of(name): option for name, option in READING.items()}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_show_all_options(function: Callable[..., Any]) -> None:
    parameters, kinds = inspect.signature(function).parameters, get_type_hints(ReadOptions)
    for name, option in options_of(ReadOptions).items():
        assert parameters[name].default == option.default
        assert parameters[name].annotation == kinds[name]
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert re.search(rf"^    {name} : \S", function.__doc__ or "", flags=re.M)
    assert "{options}" not in (function.__doc__ or "")


@pytest.mark.parametrize("command", ["select", "evaluate", "rank", "group", "describe", "compare"])
def test_commands_have_all_flags(cli: Cli, command: str) -> None:
    shown = cli(command, "--help").out
    for flag in [*FLAGS, "--sep"]:
        assert re.search(rf"{flag}\b", shown), flag
    assert "max-input-bytes" not in shown


def test_the_page_of_commands_lists_them() -> None:
    page = (Path(__file__).parents[1] / "docs" / "cli.md").read_text()
    rows = dict(re.findall(r"^\| `(--[a-z-]+)[^|]*\| ([^|]*?) ?\|", page, flags=re.M))
    for flag, option in FLAGS.items():
        default = option.default
        if isinstance(default, str):
            assert rows[flag] == f"`{default}`"
        elif isinstance(default, int) and not isinstance(default, bool):
            assert rows[flag] == f"`{sized(default).replace(' ', '')}`"
        else:
            assert flag in rows


@pytest.mark.parametrize("function", FUNCTIONS)
def test_unknown_keywords_are_refused_by_name(function: Callable[..., Any]) -> None:
    with pytest.raises(SpecError, match="unknown option 'seperator'") as caught:
        function("sklearn:iris", seperator=";")
    assert caught.value.hint == "did you mean 'separator'?"
    with pytest.raises(SpecError, match="unknown option 'zzz'") as caught:
        function("sklearn:iris", zzz=1)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("known: ")
    assert "separator" in caught.value.hint


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_of_another_kind_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(SpecError, match="null is 'NA', expected a list"):
        function("sklearn:iris", null="NA")
    with pytest.raises(SpecError, match="separator is 7, expected a string or None"):
        function("sklearn:iris", separator=7)


@pytest.fixture
def german(tmp_path: Path) -> Path:
    path = tmp_path / "d.csv"
    rows = "".join(f"{i % 5},{i % 3};{'-' if i == 4 else i % 7};{'ab'[i % 2]}\n" for i in range(20))
    path.write_text(f"u;v;class\n{rows}")
    return path


def test_functions_read_files_as_commands_do(cli: Cli, german: Path) -> None:
    options: dict[str, Any] = {"separator": ";", "decimal": ",", "null": ["-"], "missing": "median"}
    words = ("--sep", ";", "--decimal", ",", "--null", "-", "--missing", "median", "-q")
    table = read_table(german, **options)
    assert table.names == ["u", "v"]
    assert rank(german, **options).frame.equals(rank(table).frame)
    assert group(german, by="prefix", **options).groups == (("u",), ("v",))
    assert describe(german, **options).refusal is None
    best = rank(table).frame["feature"][0]
    assert cli("rank", german, *words, "-f", "csv").out.splitlines()[1].split(",")[2] == best


def test_null_adds_words_and_null_only_replaces_them(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a,class\nNA,x\n-,y\n3,x\n4,y\n,x\n")
    added = describe(path, null=["-"])
    assert added.null_words == (*NULL_WORDS[1:], "-")
    assert added.columns[0].missing == 3
    only = describe(path, null=["-"], null_only=True)
    assert only.null_words == ("-",)
    assert only.columns[0].missing == 2
    assert describe(path).settings == {"target": "class", "missing": "median", "null": ["-"]}


def test_declarations_load_nothing_else() -> None:
    code = "import sys, swarmrs.data._options; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "polars", "sklearn"} & {*loaded.stdout.split()}
