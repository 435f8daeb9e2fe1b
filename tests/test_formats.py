"""Files as bytes: how large they may be, and what becomes of damaged ones."""

import gzip
import io
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from swarmrs import read_table
from swarmrs._swarmrs import is_sound_parquet
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


class TestParquetHeaders:
    """A damaged page header made polars request 2^61 bytes, and the process was gone."""

    FRAME = pl.DataFrame(
        {
            "number": [row / 2 for row in range(50)],
            "missing": [None if row % 3 else row for row in range(50)],
            "text": [f"x{row % 7}" for row in range(50)],
            "class": [row % 2 for row in range(50)],
        }
    )

    @pytest.mark.parametrize("compression", ["uncompressed", "snappy", "gzip", "zstd", "lz4"])
    @pytest.mark.parametrize("row_group_size", [None, 7])
    @pytest.mark.parametrize("n_rows", [0, 1, 50])
    def test_of_whole_files_are_sound(
        self, compression: Any, row_group_size: int | None, n_rows: int
    ) -> None:
        file = io.BytesIO()
        self.FRAME[:n_rows].write_parquet(
            file, compression=compression, row_group_size=row_group_size
        )
        assert is_sound_parquet(file.getvalue(), 50)
        assert n_rows < 50 or row_group_size or not is_sound_parquet(file.getvalue(), 49)

    @pytest.mark.parametrize("count", [b"\x63", b"\x66", b"\x00", b"\xff"])
    def test_with_another_number_of_values_are_refused(self, count: bytes, tmp_path: Path) -> None:
        file = io.BytesIO()
        self.FRAME.select("number", "class").write_parquet(file, compression="uncompressed")
        # The field num_values: an integer with id 1, then 50 as a zigzag varint.
        before, field, after = file.getvalue().partition(b"\x15\x64")
        assert field
        path = tmp_path / "d.parquet"
        path.write_bytes(before + b"\x15" + count + after)
        with pytest.raises(DataError, match="not a readable Parquet file"):
            read_table(path)

    @given(st.data())
    @settings(max_examples=300)
    def test_with_any_damage_are_parsed_without_a_crash(self, data: st.DataObject) -> None:
        file = io.BytesIO()
        self.FRAME.write_parquet(file, compression="uncompressed")
        raw = bytearray(file.getvalue())
        for _ in range(data.draw(st.integers(0, 4))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(raw))] * 2)))
        is_sound_parquet(bytes(raw), 50)
        is_sound_parquet(bytes(raw[start:end]), 50)


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
