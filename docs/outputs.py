"""Writes what commands print into the pages: `.venv/bin/python docs/outputs.py [PAGE...]`.

Each command of a console block is run in a temporary folder, as `tests/test_docs.py` does. Where
the output differs from what the page shows, seconds aside, the page gets the new one; `...` in a
page still stands for anything.
"""

import doctest
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from swarmrs.cli import main

DOCS = Path(__file__).parent
TESTS = runpy.run_path(str(DOCS.parent / "tests" / "test_docs.py"))


def output(command: str) -> str:
    """Return what a command prints: messages first, then results."""
    err, out = io.StringIO(), io.StringIO()
    try:
        with redirect_stderr(err), redirect_stdout(out):
            main(shlex.split(command)[1:])
    except SystemExit:
        return err.getvalue() + out.getvalue()
    raise AssertionError("a command ends the process")


def renewed(block: str) -> str:
    """Return a console block with the output that its commands have now."""
    without_seconds, checker = TESTS["without_seconds"], doctest.OutputChecker()
    parts = []
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        if command != "echo $?":
            printed = output(command)
            texts = without_seconds(shown), without_seconds(printed)
            if not checker.check_output(*texts, doctest.ELLIPSIS):
                shown = printed
        parts.append(f"$ {command}\n{shown}")
    return "".join(parts)


def renew(page: Path) -> None:
    """Run all commands of a page and write it anew."""
    text = page.read_text(encoding="utf-8")
    for block in TESTS["blocks"](page, "console"):
        text = text.replace(block, renewed(block), 1)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    pages = [Path(name).resolve() for name in sys.argv[1:]] or TESTS["PAGES"]
    for page in pages:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            renew(page)
