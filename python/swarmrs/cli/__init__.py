"""The command line: parse, call, print. Results go to stdout, all else to stderr."""

import sys
from collections.abc import Sequence

from swarmrs.cli._signals import INTERRUPTED, Interrupts


def main(args: Sequence[str] | None = None) -> None:
    """Run a command and end the process with its exit code.

    The code is 0, 1 for bad data, 2 for a bad call, 3 where cells of a comparison failed, 70 for a
    bug, 74 where output cannot be written, 130 when interrupted and 143 when terminated. An error
    is one line and a hint another; ``--debug`` shows where it arose.
    """
    words = sys.argv[1:] if args is None else list(args)
    with Interrupts() as interrupts:
        try:
            # Imported here, so that a signal during the import is heard like any other.
            from swarmrs.cli._app import run

            code = run(words)
        except KeyboardInterrupt:
            code = INTERRUPTED
        except Exception as problem:
            # An import that is interrupted can end as an error of another kind.
            if interrupts.code is None:
                from swarmrs.cli._app import explain_bug

                code = explain_bug(problem, "--debug" in words)
            else:
                code = INTERRUPTED
    if code == INTERRUPTED and interrupts.code is not None:
        code = interrupts.code
    sys.exit(code)
