"""Files as bytes: how large they may be, and what becomes of damaged ones."""

import gzip
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from swarmrs import read_table
from swarmrs.data._formats import _bytes, _columnar
from swarmrs.exceptions import DataError

Write = Callable[..., Path]

CSV = b"a,b,class\n1,0.5,x\n2,0.25,y\n3,0.125,x\n"


class TestSizes:
    """What is packed is counted while it is unpacked, or before."""

    LIMIT = "raise the limit with read_table(..., max_bytes=...) if the memory is there"
    BOMB = "unpack it yourself if that is what you expect"

    def refused(self, path: Path, **options: Any) -> tuple[str, str | None]:
        with pytest.raises(DataError) as error:
            read_table(path, **options)
        return str(error.value), error.value.hint

    @pytest.fixture
    def packed(self, write: Write) -> Path:
        return write(gzip.compress(CSV + b"0,0,x\n" * 500_000), "data.csv.gz")

    @pytest.fixture
    def columnar(self, tmp_path: Path) -> list[Path]:
        frame = pl.DataFrame({"a": np.zeros(300_000), "class": np.arange(300_000) % 2})
        paths = [tmp_path / "data.parquet", tmp_path / "data.arrow"]
        frame.write_parquet(paths[0])
        frame.write_ipc(paths[1], compression="zstd")
        return paths

    def test_a_file_as_large_as_allowed_is_read(self, write: Write) -> None:
        path = write(CSV)
        assert read_table(path, max_bytes=len(CSV)).names == ["a", "b"]
        limit = f"data.csv holds more than {len(CSV) - 1} B"
        assert self.refused(path, max_bytes=len(CSV) - 1) == (limit, self.LIMIT)

    def test_what_unpacks_too_far(self, packed: Path, columnar: list[Path]) -> None:
        for path in (packed, *columnar):
            assert path.stat().st_size < 1 << 20
            message = f"{path.name} holds more than 2 MiB"
            assert self.refused(path, max_bytes=2 << 20) == (message, self.LIMIT)

    def test_what_unpacks_to_many_times_its_size(
        self, packed: Path, columnar: list[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_bytes, "BOMB_BYTES", 2 << 20)
        monkeypatch.setattr(_bytes, "BOMB_RATIO", 5)
        for path in (packed, *columnar):
            message = f"{path.name} unpacks to more than 2 MiB, 5 times its size"
            assert self.refused(path) == (message, self.BOMB)

    def test_more_rows_than_polars_numbers(
        self, columnar: list[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_columnar, "MAX_ROWS", 299_999)
        message = "data.parquet has 300000 rows, expected at most 299999"
        assert self.refused(columnar[0]) == (message, "split it")


def test_damaged_gzip_is_refused(write: Write) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_table(write(gzip.compress(CSV)[:-9], "cut.csv.gz"))


SEEDS = (
    CSV,
    gzip.compress(CSV, mtime=0),
    b'a;"b\nc";class\n1,5;2;x\n2;;y\n"3";4;x\n',
    b"@relation r\n@attribute 'a b' numeric\n@attribute c {x,'y z'}\n@data\n1,x\n{1 'y z'}\n?,x\n",
)


@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 90), st.integers(0, 3), st.binary(max_size=3)), max_size=5),
)
def test_damaged_files_are_read_or_refused_and_nothing_else(
    seed: bytes, damages: list[tuple[int, int, bytes]]
) -> None:
    content = bytearray(seed)
    for at, gone, put in damages:
        content[at : at + gone] = put
    with tempfile.TemporaryDirectory() as folder, suppress(DataError):
        path = Path(folder) / "data"
        path.write_bytes(content)
        read_table(path, missing="median", encode="onehot")
