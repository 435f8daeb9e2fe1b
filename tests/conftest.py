"""Made data, and the command line as a function."""

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from swarmrs import Selection, Table
from swarmrs.cli import main
from swarmrs.exceptions import DataError
from swarmrs.experiments._execution import _run_cell
from swarmrs.search._options._settings import Settings
from swarmrs.search._select import run_search


class Outcome(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    def call(*args: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        assert isinstance(ended.value.code, int)
        return Outcome(ended.value.code, *capfd.readouterr())

    return call


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[str]]:
    def process(*args: object, **options: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "swarmrs", *map(str, args)]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, text=True, **pipes | options)

    return process


@pytest.fixture
def failing_bpso(monkeypatch: pytest.MonkeyPatch) -> str:
    """Have every cell of a comparison fail whose method is `bpso`; return the reason."""

    def fail(table: Table, settings: Settings) -> Selection:
        if settings.options["algo"] == "bpso":
            raise DataError("made to fail")
        return run_search(table, settings)

    monkeypatch.setattr(_run_cell, "run_search", fail)
    return "made to fail"


@pytest.fixture(scope="session")
def blobs() -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Three classes that only columns 1 and 4 of 6 tell apart."""
    rng = np.random.default_rng(7)
    codes = np.arange(60) % 3
    x = rng.random((60, 6))
    x[:, 1] += 2 * (codes == 1)
    x[:, 4] += 2 * (codes == 2)
    return x.round(3), np.array(["ash", "birch", "cedar"])[codes]


@pytest.fixture
def blobs_csv(tmp_path: Path, blobs: tuple[NDArray[np.float64], NDArray[np.str_]]) -> Path:
    x, y = blobs
    frame = pl.from_numpy(x, schema=list("abcdef")).with_columns(pl.Series("tree", y))
    path = tmp_path / "blobs.csv"
    frame.write_csv(path)
    return path


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def to_file(content: bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return to_file
