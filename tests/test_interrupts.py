"""Ctrl-C and SIGTERM: whenever they come, a command ends by its code and without a traceback."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

# Sends the process a signal when it first asks for a module, then runs the command.
AT_IMPORT = """
import os, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Finder())
sys.argv = ["swarmrs", *{words!r}]
from swarmrs.cli import main
main()
"""
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("swarmrs.cli._app", ["--help"]),
        ("typer", ["--help"]),
        ("numpy", ["select", "sklearn:wine"]),
        ("polars", ["describe", "sklearn:wine"]),
        ("swarmrs.evaluation._evaluator", ["evaluate", "sklearn:wine"]),
        ("sklearn.datasets", ["rank", "sklearn:wine"]),
    ],
)
def test_while_modules_are_loaded(module: str, words: list[str], number: signal.Signals) -> None:
    code = AT_IMPORT.format(module=module, number=int(number), words=words)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == CODES[number]
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
    assert done.stdout == ""


def test_an_import_that_fails_because_of_it_is_no_bug() -> None:
    # Modules of C turn an interrupt into errors of their own.
    code = AT_IMPORT.format(module="typer", number=int(signal.SIGINT), words=["--help"]).replace(
        f"os.kill(os.getpid(), {int(signal.SIGINT)})",
        "\n            try: os.kill(os.getpid(), 2)"
        "\n            except KeyboardInterrupt: raise ImportError('half loaded')",
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize("number", CODES)
def test_while_data_is_read(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "swarmrs", "evaluate", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        # More than a pipe holds: when it is gone, the command is reading.
        process.stdin.write("x" * (1 << 20))
        process.stdin.flush()
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (CODES[number], "")


def test_a_signal_that_is_ignored_stays_so() -> None:
    code = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + AT_IMPORT.format(
        module="typer", number=int(signal.SIGINT), words=["--version"]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stdout.startswith("swarmrs ")
