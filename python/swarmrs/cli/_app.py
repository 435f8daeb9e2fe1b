"""All commands, and how each error is explained."""

import re
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer
from typer import TyperException

from swarmrs._base._files import STREAM_ERRORS, output_error
from swarmrs.cli._command import Command, Group, configurable
from swarmrs.cli._commands._algorithms import algorithms
from swarmrs.cli._commands._compare import compare, merge
from swarmrs.cli._commands._describe import describe
from swarmrs.cli._commands._evaluate import evaluate
from swarmrs.cli._commands._group import group
from swarmrs.cli._commands._presets import presets
from swarmrs.cli._commands._rank import rank
from swarmrs.cli._commands._report import report
from swarmrs.cli._commands._reproduce import reproduce
from swarmrs.cli._commands._select import select
from swarmrs.cli._commands._show_config import config
from swarmrs.cli._output._text import complain, mend_streams, mute_stdout
from swarmrs.exceptions import DataError, OutputError, SpecError, SwarmrsError

app = typer.Typer(
    cls=Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"color": False},
)
# The exit code of each kind of error, and what to do where it does not say.
_CODES: tuple[tuple[type[SwarmrsError], int, str], ...] = (
    (SpecError, 2, "see the options with --help"),
    (DataError, 1, "correct the data and run again"),
    (OutputError, 74, "write to another file"),
)
_SEARCHES = (select, evaluate, rank, describe, group, algorithms, presets)
_COMPARISONS = (compare, merge, report, reproduce)
for command in (*_SEARCHES, *_COMPARISONS, config):
    app.command(cls=Command)(configurable(command))


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Select features by particle swarm optimization and other searches (wrapper methods).

    \b
    # what is in the data?
    swarmrs describe data.csv --target class
    # which features are relevant by themselves?
    swarmrs rank data.csv --target class --top 10
    # which feature subset predicts the class best?
    swarmrs select data.csv --target class --output reduced.csv
    # the options that matter most, and all of them
    swarmrs select -h
    swarmrs select --help
    """  # noqa: D301
    if version:
        from swarmrs import __version__

        typer.echo(f"swarmrs {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(words: Sequence[str]) -> int:
    """Run a command and return its exit code, having said what is wrong if anything is."""
    mend_streams()
    try:
        code: int = app(list(words), prog_name="swarmrs", standalone_mode=False) or 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read the result has gone.
        mute_stdout()
        return 1
    except (SwarmrsError, TyperException, OSError) as problem:
        if "--debug" in words:
            traceback.print_exc()
        return _explain(problem)


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


def _explain(problem: SwarmrsError | TyperException | OSError) -> int:
    """Print what went wrong and what to do, and return the exit code."""
    if isinstance(problem, TyperException):
        message, hint = _usage(problem.format_message())
        complain(message, hint)
        return problem.exit_code
    if isinstance(problem, OSError):
        if problem.filename is not None:
            reason = problem.strerror or problem
            complain(f"'{problem.filename}' cannot be used: {reason}", "give another file")
            return 1
        # Errors of files name them: this is about a stream.
        if problem.errno not in STREAM_ERRORS:
            raise problem
        mute_stdout()
        problem = output_error("standard output", problem)
    for kind, code, hint in _CODES:
        if isinstance(problem, kind):
            complain(str(problem), problem.hint or hint)
            return code
    raise problem


def explain_bug(problem: Exception, is_debugging: bool) -> int:
    """Print an error that nobody expected, and return the exit code."""
    if is_debugging:
        traceback.print_exception(problem)
    complain(
        f"internal error: {type(problem).__name__}: {problem}",
        "this is a bug in swarmrs; report it with the output of the same command and --debug",
    )
    return 70
