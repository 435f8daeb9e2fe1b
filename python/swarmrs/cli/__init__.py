"""The command line: parse, call, print. Results go to stdout, all else to stderr."""

import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from swarmrs.cli._command import Command, Group, configurable
from swarmrs.cli._commands import algorithms, evaluate, select
from swarmrs.cli._compare import compare, merge
from swarmrs.cli._describe import describe
from swarmrs.cli._group import group
from swarmrs.cli._rank import rank
from swarmrs.cli._report import report
from swarmrs.cli._reproduce import reproduce
from swarmrs.cli._show_config import config
from swarmrs.cli._text import complain
from swarmrs.exceptions import DataError, SpecError

app = typer.Typer(
    cls=Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"color": False},
)
_SEARCHES = (select, evaluate, rank, describe, group, algorithms)
_COMPARISONS = (compare, merge, report, reproduce)
for command in (*_SEARCHES, *_COMPARISONS, config):
    app.command(cls=Command)(configurable(command))


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    """Choose the columns of a table that tell its classes apart best.

    \b
    # what is in the data?
    swarmrs describe data.csv --target class
    # which columns tell most, each alone?
    swarmrs rank data.csv --target class --top 10
    # which tell most together?
    swarmrs select data.csv --target class --output reduced.csv
    # the options of a command, with more examples
    swarmrs select --help
    """  # noqa: D301
    if version:
        from swarmrs import __version__

        typer.echo(f"swarmrs {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(args: Sequence[str] | None = None) -> None:
    """Run a command and end the process with its exit code.

    The code is 0, 1 for bad data, 2 for a bad call, 3 where cells of a comparison failed, 70 for a
    bug, 130 when interrupted and 143 when terminated. An error is one line and a hint another;
    ``--debug`` shows where it arose.
    """
    words = sys.argv[1:] if args is None else list(args)
    try:
        code = app(words, prog_name="swarmrs", standalone_mode=False) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the result has gone. Nothing may be flushed to it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as problem:
        if "--debug" in words:
            traceback.print_exc()
        code = _explain(problem)
    sys.exit(code)


def _usage(message: str) -> tuple[str, str]:
    """Part what typer says about a bad call into what is wrong and what to do.

    Examples
    --------
    >>> _usage("No such command 'selct'. Did you mean 'select'?")
    ("no such command 'selct'", "did you mean 'select'?")
    >>> _usage("No such option: --metrc (Possible options: --metric, --trace)")
    ('no such option: --metrc', 'possible options: --metric, --trace')
    """
    known = re.fullmatch(r"(.*?)\.? \(?((?:Did you mean|Possible options:) .*?)\)?", message)
    what, hint = known.groups() if known else (message, "see the options with --help")
    return what[:1].lower() + what[1:].removesuffix("."), hint[:1].lower() + hint[1:]


def _explain(problem: Exception) -> int:
    """Print what went wrong and what to do, and return the exit code."""
    if isinstance(problem, SpecError):
        complain(str(problem), problem.hint or "see the options with --help")
        return 2
    if isinstance(problem, DataError):
        complain(str(problem), problem.hint or "correct the data and run again")
        return 1
    if isinstance(problem, typer.TyperException):
        message, hint = _usage(problem.format_message())
        complain(message, hint)
        return problem.exit_code
    complain(
        f"internal error: {type(problem).__name__}: {problem}",
        "this is a bug in swarmrs; report it with the output of the same command and --debug",
    )
    return 70
