"""Settings from files and the environment: which one wins, what is said, what is refused."""

import json
import math
import re
from collections.abc import Callable
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from swarmrs.cli._app import app
from swarmrs.cli._command import REST, SECTIONS
from swarmrs.cli._input._config import from_tables
from swarmrs.cli._input._signature import Option, options_of
from swarmrs.exceptions import SpecError
from typer.core import TyperGroup


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]
Write = Callable[..., Path]

NOTE = "note: the target is the last column, 'tree'\n"


@pytest.fixture(autouse=True)
def empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def in_force(cli: Cli, *words: object) -> dict[tuple[str, str], tuple[Any, str]]:
    rows = json.loads(cli("config", *words, "-f", "json").out)
    return {(row["command"], row["option"]): (row["value"], row["origin"]) for row in rows}


class TestPrecedence:
    def test_a_flag_wins_over_the_environment_over_a_file(
        self, cli: Cli, write: Write, blobs_csv: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def seed(*words: object) -> int:
            found: int = json.loads(cli("select", blobs_csv, *words, "-f", "json").out)["seed"]
            return found

        write(b"[select]\nseed = 3\nalgo = 'sfs'\n", "swarmrs.toml")
        assert seed() == 3
        monkeypatch.setenv("SWARMRS_SEED", "2")
        assert seed() == 2
        assert seed("--seed", 1) == 1
        monkeypatch.setenv("SWARMRS_SEED", "")
        assert seed() == 3

    def test_a_named_file_wins_over_ours_over_the_project(self, cli: Cli, write: Write) -> None:
        write(b"[project]\nname = 'x'\n[tool.swarmrs.select]\nseed = 1\n", "pyproject.toml")
        assert in_force(cli) == {("select", "seed"): (1, "pyproject.toml")}
        write(b"[select]\nseed = 2\n", "swarmrs.toml")
        assert in_force(cli) == {("select", "seed"): (2, "swarmrs.toml")}
        write(b"[select]\nseed = 3\n", "lab.toml")
        assert in_force(cli, "--config", "lab.toml") == {("select", "seed"): (3, "lab.toml")}
        named = in_force(cli, "--config", "pyproject.toml")
        assert named == {("select", "seed"): (1, "pyproject.toml")}

    def test_isolated_reads_no_file(
        self, cli: Cli, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(b"this is no TOML", "swarmrs.toml")
        monkeypatch.setenv("SWARMRS_JOBS", "2")
        assert ("select", "jobs") in in_force(cli, "--isolated")
        assert ("select", "seed") not in in_force(cli, "--isolated")

    def test_a_table_of_a_command_wins_over_what_stands_before_it(
        self, cli: Cli, write: Write
    ) -> None:
        write(b"cv = 5\nseed = 1\n[evaluate]\ncv = 'loo'\n", "swarmrs.toml")
        found = in_force(cli)
        assert found["select", "cv"][0] == "5"
        assert found["evaluate", "cv"][0] == "loo"
        assert ("describe", "seed") not in found

    def test_lists_are_replaced_not_joined(self, cli: Cli, write: Write, blobs_csv: Path) -> None:
        write(b"[select]\nexclude = ['b', 'e']\nalgo = 'sfs'\n", "swarmrs.toml")
        words = ("select", blobs_csv, "-f", "csv")
        assert not {"b", "e"} & set(re.findall(r",(\w)", cli(*words).out))
        assert cli(*words, "--exclude", "f").out == "index,feature\n1,b\n4,e\n"


class TestEveryKind:
    def test_of_value_is_taken_from_a_file(self, cli: Cli, write: Write) -> None:
        write(
            b"[select]\nquiet = true\nmax-evals = 90\nalpha = 1\ncv = 5\ninclude = 'a'\n"
            b"set = ['population=15', 'inertia=0.7']\noutput = 'r.csv'\n",
            "swarmrs.toml",
        )
        assert {name: value for (_, name), (value, _) in in_force(cli).items()} == {
            "quiet": True,
            "max-evals": 90,
            "alpha": 1,
            "cv": "5",
            "include": ["a"],
            "set": ["population=15", "inertia=0.7"],
            "output": "r.csv",
        }

    def test_of_value_is_taken_from_the_environment(
        self, cli: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, text in (
            ("QUIET", "Yes"),
            ("NULL_ONLY", "0"),
            ("MAX_EVALS", "90"),
            ("N_NEIGHBORS", "3"),
        ):
            monkeypatch.setenv(f"SWARMRS_{name}", text)
        monkeypatch.setenv("SWARMRS_ALPHA", "0.5")
        monkeypatch.setenv("SWARMRS_EXCLUDE", "a,b")
        monkeypatch.setenv("SWARMRS_SEPARATOR", ";")
        found = {name: value for (_, name), (value, _) in in_force(cli, "select").items()}
        assert (found["quiet"], found["null-only"], found["max-evals"], found["n-neighbors"]) == (
            *(True, False),
            *(90, 3),
        )
        assert (found["alpha"], found["exclude"], found["separator"]) == (0.5, ["a,b"], ";")

    def test_reaches_the_command(self, cli: Cli, write: Write, blobs_csv: Path) -> None:
        write(
            b"[select]\nalgo = 'pbpso'\nset = ['population=15']\nmax-iter = 2\nseed = 4\n"
            b"n-neighbors = 3\ncv = 5\nobjective = 'weighted'\nalpha = 0.7\ninclude = ['a']\n"
            b"null-only = true\nno-progress = true\ntrace = 't.csv'\n",
            "swarmrs.toml",
        )
        done = cli("select", blobs_csv, "-f", "json")
        result = json.loads(done.out)
        assert result["params"]["population"] == 15
        assert (result["algorithm"], result["seed"], result["evaluation"]["n_neighbors"]) == (
            "pbpso",
            4,
            3,
        )
        assert result["objective"] == {"kind": "weighted", "alpha": 0.7}
        assert result["evaluations"]["total"] == 30
        assert "a" in result["selected"]
        assert Path("t.csv").is_file()


class TestWhatIsSaid:
    def test_a_note_names_what_a_file_and_the_environment_set(
        self, cli: Cli, write: Write, blobs_csv: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(b"cv = 5\n[select]\nalgo = 'sfs'\nn-neighbors = 3\n", "swarmrs.toml")
        monkeypatch.setenv("SWARMRS_SEED", "2")
        done = cli("select", blobs_csv, "-k", 1)
        notes = "note: swarmrs.toml sets cv, algo\nnote: SWARMRS_SEED sets seed\n"
        assert done.err == notes + NOTE
        assert cli("select", blobs_csv, "-q").err == ""

    def test_config_shows_where_each_value_comes_from(self, cli: Cli, write: Write) -> None:
        assert cli("config").out == "nothing is set: all defaults are in force\n"
        write(b"[rank]\ntop = 7\n", "swarmrs.toml")
        assert cli("config").out == (
            "COMMAND  OPTION  VALUE  ORIGIN\nrank     top     7      swarmrs.toml\n"
        )
        assert cli("config", "-f", "csv").out == (
            "command,option,value,origin\nrank,top,7,swarmrs.toml\n"
        )
        lines = cli("config", "rank").out.splitlines()
        assert lines[1:3] == [
            "rank     target                      default",
            "rank     by                          default",
        ]
        assert in_force(cli, "rank")["rank", "format"] == ("table", "default")

    def test_the_page_shows_what_its_file_sets(
        self, cli: Cli, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = (Path(__file__).parents[1] / "docs" / "config.md").read_text()
        blocks = re.findall(r"^```(toml|text)\n(.*?)^```$", page, flags=re.M | re.S)
        (_, file), (_, shown), *_ = blocks
        write(file.encode(), "swarmrs.toml")
        monkeypatch.setenv("SWARMRS_SEED", "7")
        assert cli("config").out == shown

    def test_config_shows_values_that_cannot_steer_the_terminal(
        self, cli: Cli, write: Write
    ) -> None:
        write(rb"""target = "\u001b[31m\u009b31m" """, "swarmrs.toml")
        out = cli("config").out
        assert all(char.isprintable() or char == "\n" for char in out)

    def test_help_and_completion_work_whatever_a_file_holds(self, cli: Cli, write: Write) -> None:
        write(b"nonsense", "swarmrs.toml")
        assert cli("select", "--help").code == 0
        assert cli("--help").code == cli("--version").code == 0


BAD_FILES = [
    (
        "[select]\nalog = 'sfs'",
        "'swarmrs.toml', [select]: unknown key 'alog'",
        "did you mean 'algo'? swarmrs select --help lists them",
    ),
    (
        "[select]\nmax_evals = 3",
        "'swarmrs.toml', [select]: unknown key 'max_evals'",
        "did you mean 'max-evals'? swarmrs select --help lists them",
    ),
    (
        "[selct]",
        "'swarmrs.toml': unknown key 'selct'",
        "did you mean 'select'? a table is named after a command",
    ),
    (
        "sed = 1",
        "'swarmrs.toml': unknown key 'sed'",
        "did you mean 'seed'? a key before the first table is an option",
    ),
    (
        "[select]\nmax-evals = 'many'",
        "'swarmrs.toml', [select]: max-evals is 'many', expected a whole number",
        "write max-evals = 10",
    ),
    (
        "[rank]\nquiet = 1",
        "'swarmrs.toml', [rank]: quiet is 1, expected true or false",
        "write quiet = true",
    ),
    (
        "n-neighbors = true",
        "'swarmrs.toml': n-neighbors is true, expected a whole number",
        "write n-neighbors = 10",
    ),
    (
        "[select]\nalpha = 'x'",
        "'swarmrs.toml', [select]: alpha is 'x', expected a number",
        "write alpha = 0.5",
    ),
    (
        "[select]\nexclude = ['a', ['b']]",
        "'swarmrs.toml', [select]: exclude is ['b'], expected text",
        'write exclude = ["word"]',
    ),
    (
        "[select]\ncv = [5]",
        "'swarmrs.toml', [select]: cv is [5], expected text",
        'write cv = "word"',
    ),
    ("debug = true", "'swarmrs.toml': unknown key 'debug'", "a key before"),
    ("[select]\nforce = true", "'swarmrs.toml', [select]: unknown key 'force'", "--help"),
    ("seed = ", "'swarmrs.toml' is no TOML: ", "correct it, or use --isolated"),
    ("x = " + "[" * 10_000, "'swarmrs.toml' is no TOML: ", "correct it, or use --isolated"),
]


@pytest.mark.parametrize(("content", "message", "hint"), BAD_FILES)
def test_a_bad_file_ends_every_command_with_2(
    cli: Cli, write: Write, content: str, message: str, hint: str
) -> None:
    write(content.encode(), "swarmrs.toml")
    for words in (("select", "no.csv"), ("algorithms",), ("config",)):
        code, out, err = cli(*words)
        assert (code, out) == (2, "")
        first, second = err.splitlines()
        assert first.startswith(f"error: {message}")
        assert second.startswith("hint: ")
        assert hint in second


def test_other_bad_files(cli: Cli, write: Write, tmp_path: Path) -> None:
    write(b"\xff\xfe", "bytes.toml")
    write(b"[tool]\nswarmrs = 1\n", "pyproject.toml")
    for words, message in (
        (("--config", "no.toml"), "file 'no.toml' does not exist"),
        (("--config", "."), "'.' cannot be read: Is a directory"),
        (("--config", "bytes.toml"), "'bytes.toml' is no TOML: "),
        (("--config", "no.toml", "--isolated"), "--isolated reads no file, but --config names one"),
        ((), "'pyproject.toml': tool.swarmrs is no table"),
    ):
        code, out, err = cli("config", *words)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {message}")
        assert err.count("\n") == 2
    write(b"tool = 1", "pyproject.toml")
    assert cli("config").code == 0


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [("SEED", "x", "a whole number"), ("QUIET", "2", "true or false"), ("ALPHA", "", None)],
)
def test_a_bad_variable_ends_with_2(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, text: str, expected: str | None
) -> None:
    monkeypatch.setenv(f"SWARMRS_{name}", text)
    code, _, err = cli("config")
    if expected is None:
        assert (code, err) == (0, "")
    else:
        said = f"error: SWARMRS_{name} is '{text}', expected {expected}\n"
        assert (code, err) == (2, f"{said}hint: change it, or unset it\n")


WORDS = st.sampled_from(
    ["select", "rank", "seed", "set", "n-neighbors", "quiet", "alpha", "cv", "x", ""]
)
SCALARS = st.sampled_from([True, False, 0, 7, -1, 0.5, math.nan, "", "x", date(2000, 1, 1)])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3)
)


@given(tables=st.dictionaries(WORDS, VALUES, max_size=4))
def test_what_a_file_holds_is_taken_as_the_option_has_it_or_refused(
    tables: dict[str, object],
) -> None:
    options = known_options()
    try:
        found = from_tables("swarmrs.toml", tables, options)
    except SpecError:
        return
    for command, settings in found.items():
        for name, setting in settings.items():
            kind, is_list = options[command][name].kind, options[command][name].is_list
            values = setting.value if is_list else [setting.value]
            assert isinstance(values, list)
            assert all(isinstance(it, (int, float) if kind is float else kind) for it in values)
            assert kind is bool or not any(isinstance(it, bool) for it in values)


@cache
def known_options() -> dict[str, dict[str, Option]]:
    return {name: options_of(command) for name, command in commands().items()}


def commands() -> dict[str, Any]:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return dict(group.commands)


def test_every_option_has_one_place_in_the_help() -> None:
    names = [name for names in SECTIONS.values() for name in names.split()]
    assert len(names) == len(set(names))
    known = {
        option.parameter
        for command in commands().values()
        for option in options_of(command).values()
    }
    assert set(names) <= known


@pytest.mark.parametrize("command", commands())
def test_help_fits_a_terminal_and_teaches_by_examples(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = cli(command, "--help").out
    assert max(map(len, out.splitlines())) <= 80
    assert f"\n  swarmrs {command}" in out
    headings = re.findall(r"^(\w+):$", out, flags=re.M)
    assert headings == [it for it in ("Arguments", *SECTIONS, REST) if it in headings]


@pytest.mark.parametrize("format", ["table", "json", "csv"])
@pytest.mark.parametrize("command", ["select", "compare", "merge", "report", "evaluate", "group"])
def test_every_command_shows_its_settings(cli: Cli, command: str, format: str) -> None:
    assert cli("config", command, "--format", format).code == 0
