"""What all commands have in common: where their defaults come from, and how their help looks."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from swarmrs._base._hints import entered, rendered
from swarmrs._base._messages import check_word
from swarmrs.cli._input._config import NEVER, Options, Setting, Settings, find_settings
from swarmrs.cli._input._door import CommandLine
from swarmrs.cli._input._files import check_distinct
from swarmrs.cli._input._options import DECLARED
from swarmrs.cli._input._signature import options_of, set_signature
from swarmrs.cli._output._render import FORMATS
from swarmrs.cli._output._text import remark
from swarmrs.exceptions import SwarmrsError

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Read defaults from this TOML file.",
        show_default="swarmrs.toml, or pyproject.toml",
    ),
]
Isolated = Annotated[bool, typer.Option("--isolated", help="Read no such file.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

# The help of a command lists its options under these headings, in this order; others come last.
# Options of a search have a heading of their own in their declaration.
SECTIONS = {
    "Comparison": "algos datasets runs protocol store split_seed test_metric data_dir fetch shard "
    "cluster dry_run listed measure reference",
    "Data": "target",
    "Search": "by",
    "Evaluation": "",
    "Features": "features",
    "Stopping": "",
    "Validation": "",
    "Reading": "",
    "Running": "",
    "Output": "format top every output trace kept report force quiet no_progress",
}
# What the short help of a command lists, beside the options declared for it.
BRIEF = (
    *("target", "by", "top", "features", "algos", "runs", "protocol", "store"),
    *("output", "report"),
)
# The short help shows so many examples.
EXAMPLES = 4
REST = "Other"
# The key of a context that says whether the short help is requested.
_IS_BRIEF = "swarmrs.is_brief"
# Options that name a file to read, those that name one to write; arguments are read.
_READ = ("feature_groups", "by", "config")
_WRITTEN = ("output", "trace", "report", "kept", "checkpoint", "store")


class Group(TyperGroup):
    """All commands, and the options that stand before them."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Read the arguments."""
        # Flags that typer makes itself are None, and to learn that this is no bool it would load
        # pydantic: a third of a second before any help is shown.
        for param in self.get_params(ctx):
            if getattr(param, "is_flag", False) and param.default is None:
                param.default = False
        return super().parse_args(ctx, args)


class Command(TyperCommand):
    """A command whose defaults come from files and the environment, and whose help has sections."""

    def get_help_option_names(self, ctx: "Context") -> list[str]:
        """Return the flags of the short help and of the long one."""
        return ["-h", "--help"]

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Find the settings in force, let them be the defaults, then read the arguments."""
        ctx.meta[_IS_BRIEF] = "-h" in args and "--help" not in args
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        # Help is given, and words are completed, whatever a file holds.
        if not (ctx.resilient_parsing or given.get("help")):
            config = given.get("config")
            options = settable(ctx)
            ctx.obj = find_settings(
                options, None if config is None else Path(config), bool(given.get("isolated"))
            )
            known, found = options[str(ctx.info_name)], ctx.obj[ctx.info_name]
            ctx.default_map = {
                known[name].parameter: setting.value for name, setting in found.items()
            }
        return super().parse_args(ctx, args)

    def invoke(self, ctx: "Context") -> Any:
        """Say what was set elsewhere than on the command line, then run."""
        remark(bool(ctx.params.get("quiet")), note=_notes(ctx))
        check_distinct(*_files(ctx))
        door = CommandLine(settable(ctx)[str(ctx.info_name)], _elsewhere(ctx))
        with entered(door):
            if "format" in ctx.params:
                check_word("format", ctx.params["format"], FORMATS)
            try:
                return super().invoke(ctx)
            except SwarmrsError as problem:
                problem.args = (rendered(str(problem)),)
                problem.hint = None if problem.hint is None else rendered(problem.hint)
                raise

    def format_options(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the options in sections; for the short help those that matter most."""
        is_brief = ctx.meta.get(_IS_BRIEF, False)
        records = {
            param: record
            for param in self.get_params(ctx)
            if (record := param.get_help_record(ctx)) is not None
            and not (is_brief and param.param_type_name == "option" and not _is_brief(param.name))
        }
        width = max(len(name) for name, _ in records.values())
        sections: dict[str, list[tuple[int, str, str]]] = {}
        for param, (name, text) in records.items():
            title, place = _place(param.param_type_name, param.name)
            sections.setdefault(title, []).append((place, name.ljust(width), text))
        for title in ("Arguments", *SECTIONS, REST):
            if title in sections:
                rows = sorted(sections[title], key=lambda row: row[0])
                with formatter.section(title):
                    formatter.write_dl([(name, text) for _, name, text in rows])

    def format_help_text(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write what the command does, with examples; the short help has the first few."""
        whole = self.help or ""
        if ctx.meta.get(_IS_BRIEF, False):
            self.help = _shortened(whole)
        super().format_help_text(ctx, formatter)
        self.help = whole

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Say where all options are listed."""
        if ctx.meta.get(_IS_BRIEF, False):
            formatter.write_paragraph()
            formatter.write_text(f"`{ctx.command_path} --help` lists all options.")


def _is_brief(name: str) -> bool:
    return name in BRIEF or (name in DECLARED and DECLARED[name].brief)


def _shortened(text: str) -> str:
    """Cut the examples of a help text: each is a command, with a comment before it or none."""
    kept: list[str] = []
    examples = 0
    for row in text.splitlines():
        if examples == EXAMPLES and row.strip():
            break
        kept.append(row)
        examples += row.strip().startswith("swarmrs ")
    return "\n".join(kept)


def configurable(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that all have: where defaults come from, and how errors look."""

    @wraps(command)
    def without_them(config: Path | None, isolated: bool, debug: bool, **given: Any) -> None:
        command(**given)

    own = [*inspect.signature(command).parameters.values()]
    for name, default, kind in (
        ("debug", False, Debug),
        ("config", None, Config),
        ("isolated", False, Isolated),
    ):
        only = inspect.Parameter.KEYWORD_ONLY
        own.append(inspect.Parameter(name, only, default=default, annotation=kind))
    set_signature(without_them, own)
    return without_them


def settable(ctx: "Context | typer.Context") -> Options:
    """Return what can be set for each command elsewhere than on the command line."""
    commands: dict[str, TyperCommand] = ctx.find_root().command.commands  # type: ignore[attr-defined]
    return {
        name: {key: option for key, option in options_of(command).items() if key not in NEVER}
        for name, command in commands.items()
    }


def _place(kind: str, parameter: str) -> tuple[str, int]:
    """Return the heading under which a parameter stands, and its place there."""
    if kind == "argument":
        return "Arguments", 0
    for title, names in SECTIONS.items():
        if parameter in names.split():
            return title, names.split().index(parameter)
    if parameter in DECLARED:
        # After the others of its section, in the order of the declaration.
        return DECLARED[parameter].section, 100 + list(DECLARED).index(parameter)
    return REST, 0


def _files(ctx: "Context") -> tuple[list[str], dict[str, str]]:
    """Return the files that a command reads, and those that its options have it write."""
    reads: list[str] = []
    writes: dict[str, str] = {}
    for param in ctx.command.params:
        given = ctx.params.get(param.name)
        for path in given if isinstance(given, list | tuple) else [given]:
            if not isinstance(path, str | Path):
                continue
            if param.param_type_name == "argument" or param.name in _READ:
                reads.append(str(path))
            elif param.name in _WRITTEN:
                writes[max(param.opts, key=len)] = str(path)
    return reads, writes


def _elsewhere(ctx: "Context") -> dict[str, Setting]:
    """Return the options that a file or a variable has set, and no word of the command line."""
    settings: Settings = ctx.obj
    known = settable(ctx)[str(ctx.info_name)]
    found: dict[str, Setting] = {}
    for name, setting in settings[str(ctx.info_name)].items():
        source = ctx.get_parameter_source(known[name].parameter)
        if source is not None and source.name == "DEFAULT_MAP":
            found[name] = setting
    return found


def _notes(ctx: "Context") -> tuple[str, ...]:
    """Return a message for each file and each variable that had a say."""
    by_origin: dict[str, list[str]] = {}
    for name, setting in _elsewhere(ctx).items():
        by_origin.setdefault(setting.origin, []).append(name)
    return tuple(f"{origin} sets {', '.join(names)}" for origin, names in by_origin.items())
