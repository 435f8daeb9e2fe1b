"""The boundaries that are fuzzed, each a function that makes one case and runs it."""

import contextlib
import gzip
import io
import json
import os
import random
import shutil
import sqlite3
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import swarmrs
from numpy.typing import NDArray
from swarmrs import _swarmrs
from swarmrs.cli import main as command_line
from swarmrs.data._dataset import dataset_of

from fuzz import arguments
from fuzz.mutate import mutate_bytes, mutate_json
from fuzz.outcome import Finding, judge, plain

# A case is given a random generator, an empty folder that is the working directory, and a place for
# its description, which must be written before anything can go wrong.
Note = Callable[[str], None]
Target = Callable[[random.Random, Note], Finding | None]


def table_of(seed: int, rows: int = 40, columns: int = 6) -> pl.DataFrame:
    """Return a small table with two columns that matter."""
    rng = np.random.default_rng(seed)
    codes = np.arange(rows) % 2
    x = rng.random((rows, columns)).round(3)
    x[:, 0] += codes
    x[:, -1] -= codes
    frame = pl.from_numpy(x, schema=[f"f{at}" for at in range(columns)])
    return frame.with_columns(pl.Series("class", np.array(["no", "yes"])[codes]))


def _mixed() -> pl.DataFrame:
    """Return a table with text, whole numbers, booleans and gaps."""
    frame = table_of(2)
    return frame.with_columns(
        pl.Series("word", ["red", "green", "blue", None] * 10),
        pl.Series("count", [*range(39), None]),
        pl.Series("flag", [True, False] * 20),
    ).select("word", "count", "flag", "f0", "f1", "class")


def _bytes_of(write: Callable[[io.BytesIO], Any]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


@cache
def seeds_of_tables() -> dict[str, list[bytes]]:
    """Return valid files of each format."""
    frames = [table_of(1), _mixed(), table_of(3, rows=12, columns=2)]
    csv = [frame.write_csv().encode() for frame in frames]
    csv += [frame.write_csv(separator=";").replace(".", ",").encode() for frame in frames]
    csv += [frames[0].write_csv().encode("utf-16"), "\ufeff".encode() + csv[0]]
    arff = [
        b"@relation made\n@attribute a numeric\n@attribute b {x,y,'z z'}\n@attribute c string\n"
        b"@attribute 'class' {no,yes}\n@data\n1,x,'t 1',no\n2.5,y,?,yes\n?,'z z',u,no\n4,x,v,yes\n",
        b"% a comment\n@RELATION r\n@ATTRIBUTE d DATE 'yyyy-MM-dd'\n@ATTRIBUTE e DATE\n"
        b"@ATTRIBUTE n INTEGER\n@ATTRIBUTE class {p,q}\n@DATA\n'2001-01-02',"
        b"'2001-01-02T03:04:05',3,p\n'2001-02-03','2002-01-02T03:04:05',4,q\n'2003-02-03',?,5,p\n",
        b"@relation s\n@attribute a numeric\n@attribute b numeric\n@attribute class {p,q}\n@data\n"
        b"{0 1, 2 p}\n{1 2.5, 2 q}\n{2 q}\n{0 3, 1 1}\n{0 1, 1 2, 2 q}\n",
    ]
    kinds: tuple[Any, ...] = ("zstd", "snappy", "uncompressed")
    parquet = [
        _bytes_of(partial(frame.write_parquet, compression=kind))
        for frame, kind in zip(frames, kinds, strict=True)
    ]
    arrow = [_bytes_of(frame.write_ipc) for frame in frames]
    arrow += [_bytes_of(partial(frames[1].write_ipc, compression="lz4"))]
    gz = [gzip.compress(data, mtime=0) for data in (csv[0], arff[0], parquet[0], arrow[0])]
    return {"csv": csv, "arff": arff, "parquet": parquet, "arrow": arrow, "gz": gz}


def read_a_table(kind: str, rng: random.Random, note: Note) -> Finding | None:
    """Read, describe or search a damaged file."""
    seeds = seeds_of_tables()[kind]
    data = mutate_bytes(rng, seeds)
    suffix = "csv.gz" if kind == "gz" else kind
    if kind == "gz" and rng.random() < 0.5:
        # Sound compression of a damaged file.
        data = gzip.compress(mutate_bytes(rng, seeds_of_tables()["csv"]), mtime=0)
    path = Path(rng.choice((f"data.{suffix}", "data.csv", "data", "data.arff", f"data.{kind}")))
    path.write_bytes(data)
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options["missing"] = rng.choice(("error", "mean", "median", "mode", "knn", "drop-rows"))
    if rng.random() < 0.5:
        options["encode"] = rng.choice(("error", "ordinal", "onehot"))
    if rng.random() < 0.2:
        options["target"] = rng.choice(("class", 0, -1, "f0", "word"))
    reading: dict[str, Any] = {}
    if rng.random() < 0.2:
        reading["separator"] = rng.choice((";", "\t", "|", ",", " "))
    if rng.random() < 0.1:
        reading["encoding"] = rng.choice(("utf-16", "latin-1", "utf-8", "cp1252"))
    if rng.random() < 0.1:
        reading["decimal"] = ","
    if rng.random() < 0.1:
        reading["input_format"] = rng.choice(("csv", "tsv", "parquet", "arrow", "arff"))
    what = rng.choice(("read_table", "read_table", "describe", "rank"))
    if what == "rank":
        reading = {}
    note(f"swarmrs.{what}({str(path)!r}, **{ {**options, **reading} })")
    return judge(lambda: getattr(swarmrs, what)(path, **options, **reading))


@cache
def _checkpoints() -> tuple[list[bytes], dict[str, Any]]:
    """Return checkpoints of one search, stopped early and finished, and its result."""
    settings: dict[str, Any] = {"algo": "bpso", "max_evals": 60, "random_state": 3, "cv": 3}
    made = []
    path = Path("made.ckpt")
    for n in (1, 2, 100):
        stop = arguments.Stop(n)
        found = swarmrs.select(table_of(1), checkpoint=path, callback=stop, **settings)
        made.append(path.read_bytes())
        path.unlink()
    return made, {"selected": found.selected, "cost": found.cost, "settings": settings}


def resume_a_checkpoint(rng: random.Random, note: Note) -> Finding | None:
    """Resume from a damaged checkpoint: refused, or the same result."""
    seeds, known = _checkpoints()
    Path("run.ckpt").write_bytes(mutate_bytes(rng, seeds))
    note(f"swarmrs.select(table_of(1), checkpoint='run.ckpt', **{known['settings']})")
    found: list[Any] = []

    def call() -> None:
        found.append(swarmrs.select(table_of(1), checkpoint="run.ckpt", **known["settings"]))

    finding = judge(call)
    if finding is None and found and found[0].stop != "interrupted":
        got = {"selected": found[0].selected, "cost": found[0].cost}
        if got != {key: known[key] for key in got}:
            text = f"a damaged checkpoint was accepted: {got} instead of {known}"
            return Finding("wrong", "another result from a damaged checkpoint", text)
    return finding


@cache
def _stores() -> list[bytes]:
    """Return stores of a small comparison: all done, and with failed cells."""
    made = []
    table_of(1).write_csv("made.csv")
    path = Path("made.db")
    more: dict[str, Any] = {"max_features": 3}
    for algos, extra in (("sfs,random", {}), ("bpso,sfs", more)):
        swarmrs.compare(
            "made.csv", algos, runs=2, protocol="split70", store=path, max_evals=30, **extra
        )
        with contextlib.closing(sqlite3.connect(path)) as open_store:
            open_store.execute("pragma wal_checkpoint(truncate)")
            open_store.execute("pragma journal_mode=delete")
        made.append(path.read_bytes())
        path.unlink()
    return made


def use_a_store(rng: random.Random, note: Note) -> Finding | None:
    """Report, merge or go on with a damaged store."""
    stores = _stores()
    table_of(1).write_csv("made.csv")
    path = Path("run.db")
    if rng.random() < 0.5:
        path.write_bytes(mutate_bytes(rng, stores))
    else:
        path.write_bytes(rng.choice(stores))
        _change_rows(rng, path)
    if rng.random() < 0.2:
        Path("other.db").write_bytes(rng.choice(stores))
    going_on = ["compare", "made.csv", "-a", rng.choice(("sfs,random", "bpso,sfs"))]
    going_on += ["--runs", "2", "--protocol", "split70", "--store", "run.db", "--max-evals", "30"]
    words = rng.choice(
        (
            ["report", "run.db"],
            ["report", "run.db", "--format", "json"],
            ["report", "run.db", "-o", "page.html"],
            ["merge", "run.db", "other.db", "-o", "both.db"],
            going_on,
        )
    )
    return run_command(words, note)


def _change_rows(rng: random.Random, path: Path) -> None:
    """Put junk in random cells of the tables: what a damaged page or another program leaves."""
    with contextlib.closing(sqlite3.connect(path)) as store:
        for _ in range(rng.choice((1, 1, 2, 5))):
            table = rng.choice(("about", "data", "cell", "cell", "cell"))
            columns = [row[1] for row in store.execute(f"pragma table_info({table})")]
            column = rng.choice(columns)
            rows = store.execute(f"select rowid, {column} from {table}").fetchall()
            row, old = rng.choice(rows)
            new: Any = rng.choice((None, "", 0, -1, 2**62, 1e308, b"\xff\xfe", "[]", "{}", "null"))
            if isinstance(old, str) and rng.random() < 0.7:
                try:
                    new = json.dumps(mutate_json(rng, json.loads(old)))
                except ValueError:
                    new = mutate_bytes(rng, [old.encode()]).decode(errors="replace")
            with contextlib.suppress(sqlite3.Error):
                store.execute("pragma ignore_check_constraints=1")
                store.execute(f"update {table} set {column}=? where rowid=?", (new, row))
                store.commit()


def run_command(words: Sequence[str], note: Note) -> Finding | None:
    """Run a command in this process: it ends with a documented code and no traceback."""
    note("swarmrs " + " ".join(map(repr, words)))
    code: list[object] = []
    err = io.StringIO()

    def call() -> None:
        stdin = sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(b"a,class\n1,x\n2,y\n3,x\n4,y\n"))
        with (
            contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())),
            contextlib.redirect_stderr(err),
        ):
            try:
                command_line(list(words))
            except SystemExit as ended:
                code.append(ended.code)
            finally:
                sys.stdin = stdin

    finding = judge(call)
    printed = err.getvalue()
    if finding is not None:
        return finding
    # 130 and 143 are those of the driver, which interrupts what takes long.
    if code and code[0] not in (0, 1, 2, 3, 74, 130, 143):
        lines = [line for line in printed.splitlines() if line.startswith("error:")]
        return Finding(
            "bug", f"exit {code[0]}: {plain(lines[-1] if lines else printed)}", printed[-4000:]
        )
    for word in ("Traceback (most recent", "panicked at", "internal error", "this is a bug"):
        if word in printed and not (word.startswith("Traceback") and "--debug" in words):
            return Finding("bug", f"{word}: {plain(printed.splitlines()[-1])}", printed[-4000:])
    if (
        code
        and code[0] in (1, 2)
        and not any(line.startswith("error: ") for line in printed.splitlines())
    ):
        return Finding("bug", f"exit {code[0]} without an error line", printed[-4000:])
    return None


def call_a_command(rng: random.Random, note: Note) -> Finding | None:
    """Run a random command with random options."""
    table_of(1).write_csv("made.csv")
    _mixed().write_csv("mixed.csv")
    Path("empty.csv").touch()
    Path("folder").mkdir()
    if rng.random() < 0.1:
        Path("swarmrs.toml").write_bytes(
            mutate_bytes(
                rng, [b'[select]\nalgo = "sfs"\nn-neighbors = 3\n', b"seed = 4\n[rank]\ntop = 2\n"]
            )
        )
    words = arguments.command(rng)
    if "run.db" in words:
        Path("run.db").write_bytes(rng.choice(_stores()))
    return run_command(words, note)


@cache
def _specs() -> tuple[_swarmrs.Dataset, list[dict[str, Any]]]:
    """Return a data set and valid specs of searches on it."""
    from swarmrs.search._options._settings import Settings
    from swarmrs.search._search import Search

    table = swarmrs.read_table(table_of(1))
    made = []
    for options in (
        {"algo": "bpso", "max_evals": 20},
        {"algo": "vlpso", "max_evals": 20, "cv": "loo", "n_neighbors": 1, "metric": "manhattan"},
        {"algo": "sfs", "estimator": "nb", "objective": {"kind": "weighted", "alpha": 0.8}},
        {"algo": "mopbpso", "max_evals": 20, "max_features": 3, "include": ["f1"]},
        {
            "algo": "igpso",
            "max_evals": 20,
            "feature_groups": [["f0", "f1"], ["f2", "f3", "f4", "f5"]],
        },
        {"algo": "sffs", "objective": "filter-mrmr", "prescreen": "top=4", "max_evals": 30},
    ):
        settings = Settings.of(options)
        search = Search.of(settings.settle(table), settings)
        made.append(json.loads(search.said(5)))
    return dataset_of(table, "minmax"), made


def _sizes(masks: NDArray[np.bool_]) -> list[float]:
    return [float(size) for size in masks.sum(axis=1)]


def run_a_spec(rng: random.Random, note: Note) -> Finding | None:
    """Hand a damaged spec to the native module."""
    dataset, specs = _specs()
    spec: Any = rng.choice(specs)
    # Most of the time only what a search may hold; the budget keeps accepted ones short.
    for _ in range(rng.choice((1, 1, 2, 4))):
        spec = mutate_json(rng, spec)
    text = json.dumps(spec)
    if rng.random() < 0.2:
        text = mutate_bytes(rng, [text.encode()]).decode(errors="replace")
    door = rng.choice(("run", "run", "run", "price", "evaluator", "group", "survivors", "minimize"))
    Path("spec.json").write_text(text)
    note(f"_swarmrs {door}: spec.json")
    masks, stop = np.eye(6, dtype=bool), arguments.Stop(3)
    rule = rng.choice(("su>0", "top=4", "fcbf", "cfs", text[:40]))
    limit = rng.choice((0, 1, 5, 2**31, 2**63 - 1))

    def part(name: str) -> str:
        return json.dumps(spec.get(name) if isinstance(spec, dict) else spec)

    def call() -> object:
        match door:
            case "run":
                return _swarmrs.run(dataset, text, threads=1, callback=stop)
            case "price":
                return _swarmrs.price(dataset, text, masks, threads=1)
            case "evaluator":
                evaluator = _swarmrs.Evaluator(dataset, part("evaluation"), 1, 1 << 20, True)
                return evaluator.measure(masks)
            case "group":
                return dataset.group(part("groups"), 1)
            case "survivors":
                return dataset.survivors(rule, limit, 1)
        return _swarmrs.minimize(_sizes, 6, text, callback=stop)

    # Arguments that fit no Rust type are refused by the binding itself.
    return judge(call, lambda problem: isinstance(problem, TypeError | OverflowError))


def make_a_dataset(rng: random.Random, note: Note) -> Finding | None:
    """Hand odd arrays to the native module."""
    x = arguments.numbers(rng)
    n = x.shape[0]
    codes: NDArray[np.uint32] = np.array(
        [rng.choice((0, 0, 1, 1, 2, 2**32 - 1)) for _ in range(rng.choice((n, n, n, n, n + 1, 0)))],
        dtype=np.uint32,
    )
    n_classes = rng.choice((2, 2, 3, 3, 0, 1, 100, 5000))
    names = [f"f{at}" for at in range(rng.choice((x.shape[1], x.shape[1], x.shape[1], 0, 1)))]
    scale = rng.choice(("minmax", "standard", "none", "rank", "x"))
    np.savez("arrays.npz", x=x, codes=codes)
    note(f"_swarmrs.Dataset(x, codes, {n_classes}, {len(names)} names, {scale!r}): arrays.npz")

    def call() -> None:
        dataset = _swarmrs.Dataset(np.asfortranarray(x), codes, n_classes, names, scale)
        dataset.rank(1)
        features = list(range(x.shape[1]))
        dataset.f_scores(features, 1, rng.choice((None, None, [], [0], [2**40])))
        dataset.mrmr(features, rng.choice((0, 1, 2**62)), 1)
        dataset.relieff(features, rng.choice((0, 1, 10, 2**62)), 1)
        masks = np.ones((1, x.shape[1]), dtype=bool)
        spec = json.dumps(_specs()[1][0]["evaluation"])
        _swarmrs.Evaluator(dataset, spec, 1, 1 << 20, True).measure(masks)

    return judge(call, lambda problem: isinstance(problem, TypeError | OverflowError))


TARGETS: dict[str, Target] = {
    "checkpoint": resume_a_checkpoint,
    "store": use_a_store,
    "spec": run_a_spec,
    "dataset": make_a_dataset,
    **{kind: partial(read_a_table, kind) for kind in ("csv", "arff", "parquet", "arrow", "gz")},
    "cli": call_a_command,
    "python": arguments.call_python,
}


def clean(folder: Path) -> None:
    """Empty a folder."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink()


def run_case(target: str, seed: int, number: int, folder: Path) -> Finding | None:
    """Run one case in a folder of its own and leave in it what reproduces it."""
    rng = random.Random(f"{seed}/{target}/{number}")
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    if target in ("checkpoint", "store", "cli"):
        # Seeds that need files are made before the first case.
        {"checkpoint": _checkpoints, "store": _stores, "cli": _stores}[target]()
    clean(folder)
    return TARGETS[target](rng, lambda text: _write(folder / "case.txt", text))


def _write(path: Path, text: str) -> None:
    path.write_text(text, errors="surrogateescape")
