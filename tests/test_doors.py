"""Every message speaks the words of its door: keywords in a script, flags in a shell."""

import ast
import importlib.util
import io
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import swarmrs
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator, compare, group, minimize, rank, read_table, select
from swarmrs._base._hints import entered, setting
from swarmrs.cli._input._options import parse_size
from swarmrs.exceptions import SwarmrsError

Cli = Callable[..., Any]

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("bad_input", ROOT / "docs" / "bad_input.py")
assert SPEC is not None
assert SPEC.loader is not None
bad_input = importlib.util.module_from_spec(SPEC)
sys.modules["bad_input"] = bad_input
SPEC.loader.exec_module(bad_input)

TABLES = [
    pytest.param(case, id=f"{section}: {case.about}, {at}")
    for section, cases in bad_input.SECTIONS.items()
    for at, case in enumerate(cases)
]

# A flag, but for a minus sign, a dash or a line of them.
FLAG = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
# A keyword argument, a name of Python, a word of the engine.
PYTHON = re.compile(
    r"\w=[\"'\[.T]|\w+_\w+ is |read_table\(|\b(random_state|n_jobs|fit_params|RandomState|Generator"
    r"|None|True|usize|u64|f64)\b|line 1 column"
)

READING = {
    *("separator", "decimal", "encoding", "null", "null_only", "dedupe_names", "max_bytes"),
    *("input_format", "allow_target_copy", "missing", "encode", "dates", "task"),
}
NAMES = {
    "sep": "separator",
    "t": "target",
    "a": "algo",
}


def python_words(words: list[str]) -> dict[str, Any]:
    """Return the options of a command as keyword arguments."""
    found: dict[str, Any] = {}
    while words:
        name = words.pop(0).lstrip("-").replace("-", "_")
        name = NAMES.get(name, name)
        text = words.pop(0) if words and not words[0].startswith("-") else "true"
        for read in (int, float):
            try:
                found[name] = read(text)
                break
            except ValueError:
                found[name] = True if text == "true" else text
    if "null" in found:
        found["null"] = [found["null"]]
    if "max_bytes" in found:
        found["max_bytes"] = parse_size(found["max_bytes"])
    if "keep_all" in found:
        found["keep_all"] = True
    return found


@pytest.mark.parametrize("case", TABLES)
def test_a_shell_reads_no_words_of_python(case: Any) -> None:
    said = bad_input.run(case)[1]
    said = re.sub(r"'[^']*'", "", said)
    assert not PYTHON.search(said), said


@pytest.mark.parametrize("case", TABLES)
def test_a_script_reads_no_flags(
    case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, _, *words = case.command.split()
    writes = {"-o", "--output", "--trace", "--report"} & {*words}
    if command != "select" or case.file.endswith(".toml") or writes:
        pytest.skip("there is no such call in Python")
    said: list[str] = []
    with chdir(tmp_path), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if case.file == "-":
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(case.content)))
        else:
            Path(case.file).write_bytes(case.content)
        given = python_words(words)
        reading = {name: given.pop(name) for name in READING & {*given}}
        try:
            table = read_table(case.file, given.pop("target", None), **reading)
            said += table.notices
            select(table, **{"max_evals": 60, **given})
        except SwarmrsError as problem:
            said += [str(problem), problem.hint or ""]
    said += [str(warning.message) for warning in caught]
    assert not FLAG.search(re.sub(r"'[^']*'", "", "\n".join(said))), said


SHELL = [
    ("select", "FILE", "--seed", "-1"),
    ("select", "FILE", "--seed", str(2**64)),
    ("select", "FILE", "--max-evals", "0"),
    ("select", "FILE", "--max-features", "0"),
    ("select", "FILE", "--max-features", "-3"),
    ("select", "FILE", "--max-iter", "0"),
    ("select", "FILE", "--time-limit", "nan"),
    ("select", "FILE", "--time-limit", "inf"),
    ("select", "FILE", "--time-limit", "-1"),
    ("select", "FILE", "--target-cost", "nan"),
    ("select", "FILE", "--alpha", "nan", "--objective", "weighted"),
    ("select", "FILE", "--set", "population=1.5"),
    ("select", "FILE", "--set", "population=x"),
    ("select", "FILE", "--set", "population=-1"),
    ("select", "FILE", "--set", "population=1e400"),
    ("select", "FILE", "--population", "0"),
    ("select", "FILE", "--cv", "-1"),
    ("select", "FILE", "--cv", "0"),
    ("select", "FILE", "--cv-seed", "-1"),
    ("select", "FILE", "-k", "0"),
    ("select", "FILE", "--jobs", "0"),
    ("select", "FILE", "--repeats", "0"),
    ("select", "FILE", "--test-size", "2"),
    ("select", "FILE", "--outer-cv", "1"),
    ("select", "FILE", "--patience", "0"),
    ("select", "FILE", "--rare-class", "x"),
    ("select", "FILE", "--one-per-group", "--feature-groups", "x"),
    ("select", "FILE", "--feature-groups", "nothing.txt"),
    ("select", "FILE", "--gamma", "0.5", "--objective", "gaussian"),
    ("select", "FILE", "--alpha", "0.5"),
    ("rank", "FILE", "--top", "-1"),
    ("rank", "FILE", "--by", "x"),
    ("group", "FILE", "--by", "lbm,rows=1"),
    ("group", "FILE", "--seed", "-1"),
    ("evaluate", "FILE", "--features", "x"),
    ("evaluate", "FILE", "--cv", "99"),
    ("compare", "FILE", "-a", "", "--store", "r.db"),
    ("compare", "FILE", "-a", "sfs", "--store", "r.db", "--runs", "0"),
    ("compare", "FILE", "-a", "sfs", "--store", "r.db", "--seed", "-1"),
    ("compare", "x", "-a", "sfs", "--store", "r.db", "--data-dir", "nowhere"),
    ("compare", "FILE", "-a", "sfs", "--store", "r.db", "--split-seed", "-1"),
    ("report", "nothing.db"),
    ("merge", "nothing.db", "-o", "all.db"),
    ("reproduce", "chuang2012-2", "--datasets", "glass"),
    ("reproduce", "chuang2012-2", "--runs", "0"),
]


@pytest.mark.parametrize("words", SHELL, ids=" ".join)
def test_bad_options_are_refused_in_the_words_of_a_shell(
    cli: Cli, blobs_csv: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    with chdir(tmp_path):
        code, _, err = cli(*(blobs_csv if word == "FILE" else word for word in words))
    assert code in (1, 2), err
    said = re.sub(r"'[^']*'", "", err)
    assert not PYTHON.search(said), err


IRIS = "sklearn:iris"
X, Y = np.arange(40.0).reshape(20, 2) % 7, np.arange(20) % 2
SCRIPT: list[Callable[[], object]] = [
    lambda: select(IRIS, random_state=-1),
    lambda: select(IRIS, random_state="x"),  # type: ignore[arg-type]
    lambda: select(IRIS, n_jobs=0),
    lambda: select(IRIS, max_evals=0),
    lambda: select(IRIS, max_features=0),
    lambda: select(IRIS, time_limit=float("nan")),
    lambda: select(IRIS, time_limit=float("inf")),
    lambda: select(IRIS, time_limit="x"),  # type: ignore[arg-type]
    lambda: select(IRIS, target_cost="x"),  # type: ignore[arg-type]
    lambda: select(IRIS, objective={"kind": "weighted", "alpha": float("nan")}),
    lambda: select(IRIS, objective={"kind": "weighted", "alpha": "x"}),
    lambda: select(IRIS, algo=None),  # type: ignore[arg-type]
    lambda: select(IRIS, algo=7),  # type: ignore[arg-type]
    lambda: select(IRIS, cv=-1),
    lambda: select(IRIS, cv_seed=-1),
    lambda: select(IRIS, algo_params={"population": 1.5}),
    lambda: select(IRIS, algo="bpso", algo_params={"population": None}),
    lambda: select(IRIS, algo_params={"population": float("nan")}),
    lambda: select(IRIS, algo_params=["population"]),  # type: ignore[arg-type]
    lambda: select(IRIS, memory=-1),
    lambda: select(IRIS, include="x"),
    lambda: select(IRIS, repeats=3, checkpoint="c"),
    lambda: select(None),  # type: ignore[arg-type]
    lambda: select(7),
    lambda: select((X,)),
    lambda: select((X, Y, Y)),
    lambda: select({}),  # type: ignore[arg-type]
    lambda: select((X, np.arange(20.0) / 3), task="classification"),
    lambda: select((np.where(X == 1, np.nan, X), Y)),
    lambda: select((np.where(X == 1, np.inf, X), Y)),
    lambda: read_table("n" * 300),
    lambda: Evaluator(IRIS, cv=0),
    lambda: Evaluator(IRIS, estimator=KNeighborsClassifier(0)),
    lambda: rank(IRIS, by="x"),
    lambda: group(IRIS, by="x"),
    lambda: compare([IRIS], [], store="r.db"),
    lambda: compare(["x"], ["sfs"], store="r.db", data_dir="nowhere"),
    lambda: swarmrs.experiments.cells_frame("nothing.db"),
    lambda: swarmrs.experiments.merge([], "r.csv"),
    lambda: minimize(lambda x: x.sum(axis=1) * 1j, 5),
    lambda: minimize(lambda x: x.sum(axis=1), 5, time_limit=float("nan")),
    lambda: minimize(lambda x: x.sum(axis=1), 5, algo=None),  # type: ignore[arg-type]
    lambda: minimize(lambda x: x.sum(axis=1), 5, random_state=-1),
]


@pytest.mark.parametrize("call", SCRIPT)
def test_bad_calls_are_refused_in_the_words_of_a_script(
    call: Callable[[], object], tmp_path: Path
) -> None:
    (tmp_path / "r.csv").write_text("")
    with chdir(tmp_path), pytest.raises((SwarmrsError, TypeError)) as caught:
        call()
    said = f"{caught.value}\n{getattr(caught.value, 'hint', None) or ''}"
    assert not FLAG.search(re.sub(r"'[^']*'", "", said)), said
    assert not re.search(r"usize|u64|f64|line 1 column", said), said


def test_sparse_features_are_refused_with_a_hint() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(SwarmrsError, match="sparse") as caught:
        select((sparse.csr_matrix(X), Y))
    assert caught.value.hint == "give a dense array: X.toarray()"


def test_no_module_but_those_of_the_command_line_writes_flags() -> None:
    package = ROOT / "python" / "swarmrs"
    for path in sorted(package.rglob("*.py")):
        if "cli" in path.relative_to(package).parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and isinstance(node.body[0], ast.Expr)
        }
        # The declaration of an option says what its flags are.
        documented |= {
            id(flag)
            for node in ast.walk(tree)
            if isinstance(node, ast.keyword) and node.arg == "flags"
            for flag in ast.walk(node.value)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                is_flag = re.search(r"(?<![\w(-])--[a-z][a-z-]+", node.value)
                assert not is_flag or id(node) in documented, f"{path.name}: {node.value}"


class TestOrigins:
    """A setting that comes from a file or a variable is named as it stands there."""

    def test_a_file(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        with chdir(tmp_path):
            Path("swarmrs.toml").write_text("max-evals = 0\n[select]\nmissing = 'keep'\n")
            err = cli("select", blobs_csv, "-q").err
            assert err.startswith("error: max-evals in 'swarmrs.toml' is 0, expected")
            blobs_csv.write_text(re.sub(r"\n[^,]*,", "\n,", blobs_csv.read_text(), count=1))
            err = cli("select", blobs_csv, "-q", "--max-evals", 60).err
            assert """missing = "median", "mode" or "knn" in 'swarmrs.toml'""" in err

    def test_a_variable(self, cli: Cli, blobs_csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SWARMRS_SEED", "-1")
        err = cli("select", blobs_csv, "-q").err
        assert err.startswith("error: SWARMRS_SEED is -1, expected a whole number")

    def test_the_command_line_wins(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        with chdir(tmp_path):
            Path("swarmrs.toml").write_text("seed = 1\n")
            assert cli("select", blobs_csv, "-q", "--seed", -1).err.startswith(
                "error: --seed is -1"
            )


def test_what_a_command_lacks_is_not_offered(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    rows = "".join(f"{i},{i * 7 % 5},{'xy'[i % 2]}\n" for i in range(30))
    path.write_text(f"id,a,class\n{rows}")
    common = ("--cv", 2, "-k", 1)
    warned = "'id' looks like a row identifier (strictly increasing); consider"
    assert (
        f"warning: {warned} excluding it with --exclude id\n"
        in cli("select", path, "-a", "sfs", *common).err
    )
    for words in (("evaluate", path), ("compare", path, "-a", "sfs", "--store", tmp_path / "r.db")):
        err = cli(*words, *common).err
        assert "identifier" in err
        assert "--exclude" not in err
        assert f"{warned} removing it from the table\n" in err


DOORS: list[tuple[dict[str, Any], str, str]] = [
    ({"algo": "bpso", "max_evals": 5}, "max_evals is 5, less than", "--max-evals is 5, less than"),
    ({"test_size": 2.0}, "test_size is 2.0, expected", "--test-size is 2.0, expected"),
    ({"repeats": 0}, "repeats is 0, expected", "--repeats is 0, expected"),
    ({"pick": "x"}, "pick is 'x', expected", "--pick is 'x', expected"),
    ({"cv": 0}, "cv is 0, expected", "--cv is 0, expected"),
    ({"resample": 0.5}, "resample needs repeats", "--resample needs --repeats"),
    ({"resample": 0.5}, "with repeats=20", "with --repeats 20"),
    (
        {"test_size": 0.5, "outer_cv": 3},
        "test_size and outer_cv both hold out rows",
        "--test-size and --outer-cv both hold out rows",
    ),
    (
        {"pick": "size<=1", "algo": "sbs", "max_evals": 1},
        "limit the search with max_features=1",
        "limit the search with --max-features 1",
    ),
    (
        {"include": ["a", "b"], "max_features": 1},
        "max_features is 1, expected more than the 2 included",
        "--max-features is 1, expected more than the 2 included",
    ),
]


@pytest.mark.parametrize(("options", "script", "shell"), DOORS)
def test_settings_are_named_as_they_are_given(
    cli: Cli, blobs_csv: Path, options: dict[str, Any], script: str, shell: str
) -> None:
    words: list[object] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        for item in value if isinstance(value, list) else [value]:
            words += [flag, item]
    err = cli("select", blobs_csv, "--seed", 1, *words).err
    assert shell in err
    assert not PYTHON.search(re.sub(r"'[^']*'", "", err)), err
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            select(str(blobs_csv), random_state=1, **options)
        except SwarmrsError as problem:
            said += [str(problem), problem.hint or ""]
    said += [str(warning.message) for warning in caught]
    assert any(script in text for text in said), said


def test_the_door_is_left_with_the_command(cli: Cli) -> None:
    assert cli("select", "nothing.csv").code == 1
    assert setting("missing", "median") == 'missing="median"'

    class Other:
        def has(self, name: str) -> bool:
            return False

        def named(self, name: str) -> str:
            return name

        def setting(self, name: str, values: object) -> str:
            return "other"

        def worded(self, python: str, shell: str) -> str:
            return shell

    with entered(Other()):
        assert setting("missing", "median") == "other"
    assert setting("seed", 1) == "seed=1"
