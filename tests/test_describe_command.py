"""describe prints a command that works, whatever the table is like, and how long it takes."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import describe, read_table, select
from swarmrs.exceptions import SpecError, SwarmrsWarning
from swarmrs.search._time_estimate import estimate_seconds, subset_seconds

Cli = Callable[..., Any]
N = 60


def numbers(shift: int = 0) -> list[float]:
    return [row / 4 for row in np.random.default_rng(shift).permutation(N).tolist()]


FRAME = pl.DataFrame({"a": numbers(1), "b": numbers(2), "class": ["x", "y", "z"] * (N // 3)})
MESSY = pl.DataFrame(
    {
        "customer": [f"C-{row:04d}" for row in range(N)],
        "row": range(N),
        "since": [f"2024-{1 + row % 12:02d}-0{1 + row % 7}" for row in range(N)],
        "plan": ["basic", "plus", None, "pro"] * (N // 4),
        "amount": [None if row % 9 == 0 else row % 7 + 0.5 for row in range(N)],
        "empty": pl.Series([None] * N, dtype=pl.Float64),
        "one": [1] * N,
        "copy": ["yes", "no"] * (N // 2),
        "far": [np.inf, 1.0, 2.0] * (N // 3),
        "churn": ["yes", "no"] * (N // 2),
    }
)


def as_text(frame: pl.DataFrame, separator: str = ",", decimal: str = ".") -> str:
    lines = [separator.join(frame.columns)]
    for row in frame.iter_rows():
        cells = ["" if cell is None else str(cell) for cell in row]
        floats = [isinstance(cell, float) for cell in row]
        pairs = zip(cells, floats, strict=True)
        lines.append(
            separator.join(cell.replace(".", decimal) if is_float else cell
                           for cell, is_float in pairs)
        )  # fmt: skip
    return "\n".join(lines) + "\n"


TABLES: dict[str, tuple[str, bytes, set[str]]] = {
    "plain": ("d.csv", as_text(FRAME).encode(), {"--target"}),
    "text": (
        "d.csv",
        as_text(
            FRAME.with_columns(c=pl.Series(["u", "v"] * 30)).select("c", "a", "class")
        ).encode(),
        {"--target", "--encode"},
    ),
    "text of many values": (
        "d.csv",
        as_text(
            FRAME.with_columns(c=pl.Series([f"v{row % 25}" for row in range(N)])).select(
                "c", "a", "class"
            )
        ).encode(),
        {"--target", "--encode"},
    ),
    "missing": (
        "d.csv",
        as_text(FRAME.with_columns(pl.when(pl.col("a") > 2).then("a"))).encode(),
        {"--target", "--missing"},
    ),
    "missing labels": (
        "d.csv",
        as_text(FRAME.with_columns(pl.when(pl.col("a") > 2).then("class"))).encode(),
        {"--target", "--missing"},
    ),
    "identifiers": (
        "d.csv",
        as_text(MESSY.select("customer", "row", "amount", "churn").drop_nulls()).encode(),
        {"--target", "--exclude"},
    ),
    "semicolons and decimal commas": (
        "d.csv",
        as_text(FRAME, ";", ",").encode(),
        {"--target", "--separator", "--decimal"},
    ),
    "a decimal comma and words": (
        "d.csv",
        as_text(FRAME, ";", ",").replace("\n1,25;", "\nn/k;").encode(),
        {"--target", "--separator", "--decimal", "--null", "--missing"},
    ),
    "UTF-16": ("d.csv", as_text(FRAME).encode("utf-16"), {"--target", "--encoding"}),
    "UTF-16 without a mark": (
        "d.csv",
        as_text(FRAME).encode("utf-16-le"),
        {"--target", "--encoding"},
    ),
    "UTF-16 with semicolons": (
        "d.csv",
        as_text(FRAME, ";").encode("utf-16"),
        {"--target", "--encoding", "--separator"},
    ),
    "Latin-1": (
        "d.csv",
        as_text(FRAME).replace("x", "\u00e4").encode("latin1"),
        {"--target", "--encoding"},
    ),
    "TSV": ("d.tsv", as_text(FRAME, "\t").encode(), {"--target"}),
    "tabs in a CSV": ("d.csv", as_text(FRAME, "\t").encode(), {"--target", "--separator"}),
    "two columns of one name": (
        "d.csv",
        as_text(FRAME).replace("a,b,", "a,a,", 1).encode(),
        {"--target", "--dedupe-names"},
    ),
    "a stray word": (
        "d.csv",
        as_text(FRAME).replace("\n1.25,", "\nlow,", 1).encode(),
        {"--target", "--null", "--missing"},
    ),
    "a class column that is not the last": (
        "d.csv",
        as_text(FRAME.select("a", "class", "b")).encode(),
        {"--target"},
    ),
    "trailing commas": (
        "d.csv",
        as_text(FRAME).replace("\n", ",\n").encode(),
        {"--target"},
    ),
    "all of it": (
        "d.csv",
        as_text(MESSY, ";", ",").encode("utf-16"),
        {
            "--target",
            "--separator",
            "--decimal",
            "--encoding",
            "--missing",
            "--encode",
            "--exclude",
        },
    ),
    "a name with blanks": (
        "my data.csv",
        as_text(FRAME).replace("class", "the class", 1).encode(),
        {"--target"},
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_the_command_works(cli: Cli, tmp_path: Path, case: str) -> None:
    name, content, options = TABLES[case]
    path = tmp_path / name
    path.write_bytes(content)
    code, out, _ = cli("describe", path)
    assert code == 0
    (command,) = (line for line in out.splitlines() if line.startswith("command "))
    words = shlex.split(command.removeprefix("command"))
    assert words[:3] == ["swarmrs", "select", str(path)]
    assert {word for word in words if word.startswith("--")} == options
    done = cli(*words[1:], "--max-evals", "30", "--cv", "3", "--seed", "1")
    assert (done.code, "error:" in done.err) == (0, False), done.err
    assert "row identifier" not in done.err


def test_python_has_it_as_settings(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(TABLES["all of it"][1])
    found = describe(path)
    assert found.settings == {
        "target": "churn",
        "missing": "median",
        "encode": "onehot",
        "exclude": ["customer", "row", "empty", "copy", "far"],
        "separator": ";",
        "encoding": "utf-16",
        "decimal": ",",
    }
    assert found.refusal == "d.csv is UTF-16 text"
    table = read_table(path, **found.settings)  # type: ignore[arg-type]
    assert select(table, algo="bpso", max_evals=30, cv=3, random_state=1).selected


def test_what_was_given_stays(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(TABLES["missing"][1])
    given: dict[str, Any] = {"missing": "knn", "exclude": ["class"]}
    assert describe(path, "b", **given).settings == {"target": "b", **given}
    found = describe(path, "b", task="classification", **given)
    assert found.settings is None  # b has no classes, and was requested
    found = describe(path, missing="knn", exclude=["b"])
    assert found.settings == {"target": "class", "missing": "knn", "exclude": ["b"]}
    x, y = FRAME.select("a", "b"), FRAME["class"]
    assert describe((x, y)).settings == {}


def test_where_no_command_is_known(cli: Cli, tmp_path: Path) -> None:
    FRAME.select("a", "b").write_csv(tmp_path / "d.csv")
    out = cli("describe", tmp_path / "d.csv", "--task", "classification").out
    assert "\ncommand       none is known: see what select would refuse\n" in out
    assert "\ntime " not in out


def test_a_decimal_comma_and_no_column_of_text(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("f0;f1;class\n0,086;0,237")
    done = cli("describe", tmp_path / "d.csv")
    assert (done.code, "error:" in done.err) == (0, False)
    assert "\ncommand       none is known" in done.out


def test_standard_input_is_described_too(cli: Cli) -> None:
    code, out, _ = cli("describe", "-", stdin=as_text(FRAME, ";").encode())
    assert code == 0
    assert "command       swarmrs select - --target class --separator ';'\n" in out


class TestTime:
    @pytest.mark.parametrize(
        ("rows", "features", "milliseconds"),
        [
            (178, 13, 0.027),
            (569, 30, 0.22),
            (1797, 64, 2.7),
            (5000, 50, 29),
            (20_000, 16, 287),
            (50_000, 30, 2340),
            (102, 5000, 0.15),
        ],
    )
    def test_the_model_is_within_a_factor_of_three_of_past_measurements(
        self, rows: int, features: int, milliseconds: float
    ) -> None:
        more, once = (estimate_seconds(rows, features, n) for n in (1001, 1))
        assert 1 / 3 < (more - once) / (milliseconds / 1000 * 1000) < 3

    @pytest.mark.parametrize(
        ("rows", "features", "seconds"), [(150_000, 3, 0.18), (150_000, 8, 0.5), (327_000, 8, 1.15)]
    )
    def test_the_model_knows_of_trees(self, rows: int, features: int, seconds: float) -> None:
        # Means over all subsets.
        assert 1 / 3 < subset_seconds(rows, features) / seconds < 3

    def test_a_script_is_warned_in_its_own_words(self) -> None:
        rng = np.random.default_rng(0)
        data = rng.random((30_000, 20)), rng.integers(0, 2, 30_000)
        warned = pytest.warns(SwarmrsWarning, match="try rows=10000 or time_limit=600")
        with warned, pytest.raises(SpecError, match="n_neighbors"):
            select(data, algo="vlpso-ls", estimator=KNeighborsClassifier(99_999))

    def test_a_small_search_says_nothing(self, cli: Cli, blobs_csv: Path) -> None:
        assert "rough estimate" in cli("describe", blobs_csv).out
        assert "rough estimate" not in cli("select", blobs_csv, "--max-evals", "30").err

    def test_a_long_search_says_so_beforehand(self, cli: Cli, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        frame = pl.from_numpy(rng.random((9000, 20)).round(2)).with_columns(
            pl.Series("class", rng.integers(0, 2, 9000))
        )
        frame.write_csv(tmp_path / "d.csv")
        forecast = "note: this search takes about "
        # k is too large: the search is refused after the note, before it is begun.
        long = cli("select", tmp_path / "d.csv", "-a", "vlpso-ls", "--jobs", "1", "-k", "99999")
        assert forecast in long.err
        assert re.search(
            r"by a rough estimate: 10000 evaluations of \d+ ms; "
            r"try --rows 2000 or --time-limit (60|600)\n",
            long.err,
        )
        sampled = ("--rows", "300")
        others = (("--time-limit", "5"), ("--max-evals", "30"), ("-e", "nb"), ("-q",))
        for option in (sampled, *others):
            short = cli("select", tmp_path / "d.csv", "-a", "vlpso-ls", "--cv", "99999", *option)
            assert forecast not in short.err
