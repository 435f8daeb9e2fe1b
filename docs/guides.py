"""Writes guides/*.md from the notebooks guides/*.py: `.venv/bin/python docs/guides.py [NAME...]`.

A notebook is Python in cells, as Jupytext and most editors open it: `# %%` begins code, a cell of
`# !swarmrs ...` lines holds commands, `# %% [markdown]` begins text in triple quotes. Each is run
in a temporary folder, and its page shows the text, the code, and what was printed. A test makes
the pages anew and compares.
"""

import io
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from swarmrs.cli import main
from swarmrs.exceptions import SwarmrsWarning

NOTEBOOKS = sorted(Path(__file__).with_name("guides").glob("*.py"))
COMMAND = "# !swarmrs "


def cells(notebook: str) -> Iterator[tuple[str, str]]:
    """Give the kind of each cell (text, code or commands) and what it holds."""
    for mark, held in re.findall(r"^# %%(.*)\n((?:(?!# %%).*\n)*)", notebook, flags=re.M):
        body = held.strip("\n")
        if mark == " [markdown]":
            yield "text", body.removeprefix('"""').removesuffix('"""').strip()
        elif body.startswith(COMMAND):
            yield "commands", body
        else:
            yield "code", body


def answered(command: str) -> str:
    """Return a command as it is typed, what it prints, and its exit code if that is not 0."""
    printed = io.StringIO()
    try:
        with redirect_stderr(printed), redirect_stdout(printed):
            main(shlex.split(command.replace("\\\n", ""))[1:])
    except SystemExit as end:
        code = f"$ echo $?\n{end.code}\n" if end.code else ""
        return f"$ {command.rstrip()}\n{printed.getvalue()}{code}"
    raise AssertionError("a command ends the process")


@contextmanager
def heard(printed: io.StringIO) -> Iterator[None]:
    """Collect what code prints and what swarmrs warns of; any other warning stays what it was."""

    def show(message: Warning | str, category: type[Warning], *_: object) -> None:
        printed.write(f"{category.__name__}: {message}\n")

    with warnings.catch_warnings(), redirect_stdout(printed):
        warnings.simplefilter("always", SwarmrsWarning)
        warnings.showwarning = show
        yield


def fenced(language: str, held: str) -> str:
    """Return a block of Markdown."""
    return f"```{language}\n{held.rstrip()}\n```\n"


def page(notebook: Path) -> str:
    """Run a notebook and return its page."""
    names: dict[str, object] = {"__name__": notebook.stem}
    parts = []
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        patch.dict("os.environ", COLUMNS="80"),
    ):
        for kind, held in cells(notebook.read_text(encoding="utf-8")):
            if kind == "text":
                parts.append(f"{held}\n")
            elif kind == "commands":
                typed = re.sub("^# !?", "", held, flags=re.M)
                commands = re.split(r"(?<!\\)\n", typed)
                parts.append(fenced("console", "".join(map(answered, commands))))
            else:
                printed = io.StringIO()
                with heard(printed):
                    exec(compile(held, notebook.name, "exec"), names)
                parts.append(fenced("python", held))
                if printed.getvalue():
                    parts.append(fenced("text", printed.getvalue()))
    code = f"[{notebook.name}]({notebook.name})"
    parts.insert(1, f"This page is what {code}, a notebook, says and prints when it is run.\n")
    return "\n".join(parts)


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for notebook in NOTEBOOKS:
        if not wanted or notebook.stem in wanted:
            notebook.with_suffix(".md").write_text(page(notebook), encoding="utf-8")
