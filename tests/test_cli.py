"""The command line: what it prints where, and how it ends."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
import swarmrs
from swarmrs import read_table, select
from swarmrs.cli._commands import _select
from swarmrs.cli._input import _options
from swarmrs.cli._output._render import OPTIMISTIC


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]

NOTE = "note: the target is the last column, 'tree'\n"
QUICK = ("--algo", "bpso", "--seed", 1, "--max-evals", 60, "--population", 20)


class TestSelect:
    def test_a_table_for_people(self, cli: Cli, blobs_csv: Path) -> None:
        code, out, err = cli("select", blobs_csv, "--algo", "sfs", "--seed", 1)
        lines = out.splitlines()
        assert code == 0
        assert err == NOTE
        assert lines[:10] == [
            "data          blobs.csv: 60 rows, 6 features, 3 classes of 'tree'",
            "algorithm     sfs, seed 1",
            "evaluated by  5-NN, euclidean, stratified 10-fold, scale minmax",
            "objective     error",
            "",
            "selected      2 of 6 features",
            "  1  b    4  e",
            "",
            f"error         0.0000, {OPTIMISTIC}",
            "baseline      0.6667 by predicting 'ash', the majority class",
        ]
        assert lines[-1] == "stopped       search complete"

    def test_json_is_the_result_of_select(self, cli: Cli, blobs_csv: Path) -> None:
        out = json.loads(cli("select", blobs_csv, *QUICK, "-f", "json").out)
        result = select(
            blobs_csv, algo="bpso", max_evals=60, algo_params={"population": 20}, random_state=1
        )
        assert out | {"seconds": 0} == result.to_dict() | {"seconds": 0}

    def test_csv_lists_the_columns(self, cli: Cli, blobs_csv: Path) -> None:
        out = cli("select", blobs_csv, "-a", "sfs", "-f", "csv").out
        assert out == "index,feature\n1,b\n4,e\n"

    def test_every_option_reaches_the_search(self, cli: Cli, blobs_csv: Path) -> None:
        out = cli(
            *("select", blobs_csv, "--target", "tree", "--algo", "pbpso", "--estimator", "knn"),
            *("-k", 3, "--metric", "manhattan", "--weights", "distance", "--cv", "5"),
            *("--cv-seed", 9, "--scale", "standard", "--objective", "weighted", "--alpha", 0.7),
            *("--max-evals", 90, "--max-iter", 2, "--set", "population=15"),
            *("--time-limit", 60, "--target-cost", -1, "--include", "a", "--exclude", "f"),
            *("--max-features", 3, "--seed", 4, "--jobs", 2, "--memory", "10MiB", "-f", "json"),
        ).out
        result = json.loads(out)
        assert result["algorithm"] == "pbpso"
        assert result["params"]["population"] == 15
        assert result["seed"] == 4
        assert result["evaluation"] == {
            "estimator": "knn",
            "n_neighbors": 3,
            "metric": "manhattan",
            "weights": "distance",
            "scale": "standard",
            "folds": {"scheme": "kfold", "k": 5, "shuffle": True, "seed": 9},
        }
        assert result["objective"] == {"kind": "weighted", "alpha": 0.7}
        assert result["budget"] == {"evaluations": 90, "iterations": 2, "seconds": 60, "cost": -1}
        assert result["evaluations"]["total"] == 30
        assert "a" in result["selected"]
        assert "f" not in result["selected"]
        assert result["size"] <= 3

    def test_the_reduced_table_is_written(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        whole = pl.read_csv(blobs_csv)
        for name, read in (("r.csv", pl.read_csv), ("r.parquet", pl.read_parquet)):
            assert cli("select", blobs_csv, "-a", "sfs", "-o", tmp_path / name).code == 0
            assert read(tmp_path / name).equals(whole.select("b", "e", "tree"))
        assert cli("select", blobs_csv, "-a", "sfs", "-o", tmp_path / "r.tsv").code == 0
        assert read_table(tmp_path / "r.tsv").names == ["b", "e"]

    def test_the_result_is_written(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        out = cli("select", blobs_csv, *QUICK, "-f", "json", "-o", tmp_path / "r.json").out
        assert (tmp_path / "r.json").read_text() == out

    def test_the_trace_is_written(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        for name, read in (("t.csv", pl.read_csv), ("t.parquet", pl.read_parquet)):
            cli("select", blobs_csv, *QUICK, "--trace", tmp_path / name)
            assert read(tmp_path / name)["evaluations"].to_list() == [20, 40, 60]

    def test_standard_input(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        pl.read_csv(blobs_csv).write_parquet(tmp_path / "blobs.parquet")
        for path in (blobs_csv, tmp_path / "blobs.parquet"):
            done = cli("select", "-", *QUICK, "-f", "json", stdin=path.read_bytes())
            assert json.loads(done.out)["data"]["name"] == "stdin"

    def test_policies_reach_the_table(self, cli: Cli, tmp_path: Path) -> None:
        path = tmp_path / "mixed.csv"
        path.write_text("t;a;class\n" + "u;1;x\nv;;y\nu;3;x\nv;4;y\n" * 5, encoding="utf-16")
        done = cli(
            *("select", path, "--sep", ";", "--encoding", "utf-16", "--missing", "median"),
            *("--encode", "onehot", "--cv", 2, "--seed", 1, "-f", "json"),
        )
        assert done.code == 0
        assert json.loads(done.out)["data"]["features"] == 3
        assert "note: 5 missing values imputed by median\n" in done.err

    def test_every_option_of_reading_reaches_the_table(self, cli: Cli) -> None:
        content = "a\ta\tclass\n1,5\t-\tx\n2\tNA\ty\n,5\t3\tx\n4\t7\ty\n".encode("utf-16")
        options = (
            *("--input-format", "tsv", "--decimal", ",", "--encoding", "utf-16"),
            *("--null", "-", "--null", "NA", "--null-only", "--dedupe-names"),
            *("--missing", "drop-columns", "--max-bytes", "1KiB", "-f", "json"),
        )
        done = cli("evaluate", "-", *options, "--cv", 2, "-k", 1, stdin=content)
        assert done.code == 0
        assert json.loads(done.out)["selected"] == ["a"]
        assert "note: missing are empty fields, '-', 'NA'; --null adds words\n" in done.err
        assert "note: 1 column with missing values dropped: 'a_2'\n" in done.err
        done = cli("evaluate", "-", *options, "--max-bytes", "9", stdin=content)
        assert done.err.startswith("error: stdin holds more than 9 B\nhint: ")

    def test_quiet_prints_no_notes(self, cli: Cli, blobs_csv: Path) -> None:
        assert cli("select", blobs_csv, *QUICK, "-q").err == ""

    def test_a_rare_class_is_warned_of(self, cli: Cli, tmp_path: Path) -> None:
        path = tmp_path / "rare.csv"
        path.write_text("a,class\n" + "1,x\n2,y\n" * 10 + "9,z\n3,z\n")
        err = cli("select", path, *QUICK).err
        assert "warning: class 'z' has 2 rows, fewer than the 10 folds" in err


class TestEvaluate:
    def test_a_table_for_people(self, cli: Cli, blobs_csv: Path) -> None:
        lines = cli("evaluate", blobs_csv, "--features", "b,e").out.splitlines()
        assert lines[3:7] == ["selected      2 of 6 features", "  1  b    4  e", "", lines[6]]
        assert [line.split("  ")[0] for line in lines[6:]] == [
            "error",
            "pooled error",
            "accuracy",
            "balanced accuracy",
            "ovr accuracy",
            "f1 macro",
            "matthews corrcoef",
            "baseline",
        ]

    def test_json_and_csv_agree_with_the_evaluator(self, cli: Cli, blobs_csv: Path) -> None:
        options = ("--features", "b", "--features", 4, "-e", "nb", "--cv", "loo")
        plain = json.loads(cli("evaluate", blobs_csv, *options, "-f", "json").out)
        table = read_table(blobs_csv)
        scores = swarmrs.Evaluator(table, estimator="nb", cv="loo").measure(
            [name in ("b", "e") for name in table.names]
        )[0]
        assert plain["selected"] == ["b", "e"]
        assert plain["error"] == scores["error"]
        assert plain["matthews_corrcoef"] == scores["matthews_corrcoef"]
        header, row = cli("evaluate", blobs_csv, *options, "-f", "csv").out.split()
        assert header.split(",")[:2] == ["size", "error"]
        assert [float(value) for value in row.split(",")] == [2, *scores.tolist()]

    def test_all_columns_by_default(self, cli: Cli, blobs_csv: Path) -> None:
        assert json.loads(cli("evaluate", blobs_csv, "-f", "json").out)["size"] == 6


class TestAlgorithms:
    def test_a_line_for_each(self, cli: Cli) -> None:
        lines = cli("algorithms").out.splitlines()
        assert lines[0].split()[:4] == ["ID", "NAME", "FAMILY", "YEAR"]
        assert [line.split()[0] for line in lines[1:]] == [card.id for card in swarmrs.algorithms()]

    def test_one_with_its_parameters_and_paper(self, cli: Cli) -> None:
        out = cli("algorithms", "bpso").out
        assert "10.1109/ICSMC.1997.637339" in out
        row = next(line for line in out.splitlines() if line.startswith("population"))
        assert row.split()[:2] == ["population", "30"]
        assert "in its paper  5-NN, euclidean, stratified 10-fold\n" in out

    def test_a_paper_without_a_doi_has_no_line_for_it(self, cli: Cli) -> None:
        assert not any(line.startswith("doi") for line in cli("algorithms", "fcbf").out.split("\n"))

    def test_json_and_csv(self, cli: Cli) -> None:
        cards = json.loads(cli("algorithms", "-f", "json").out)
        assert [card["id"] for card in cards] == [card.id for card in swarmrs.algorithms()]
        assert json.loads(cli("algorithms", "sfs", "-f", "json").out)["id"] == "sfs"
        # The papers' own spellings, and those that fix a setting, are names as well.
        for spelling, known in (("2D-UPSO", "upso2d"), ("HGA(3)", "hga"), ("cd-bpso", "cdbpso")):
            assert json.loads(cli("algorithms", spelling, "-f", "json").out)["id"] == known
        assert cli("algorithms", "-f", "csv").out.startswith("id,name,family,year,")
        assert cli("algorithms", "bpso", "-f", "csv").out.startswith("name,default,range,about\n")


BAD_DATA = [
    (b"a,class\n1,x\n2,x\n", "target 'class' of bad.csv has one class, expected 2 or more"),
    (b"a,class\n1,x\n,y\n3,x\n", "missing values in 1 column: 'a' (1)"),
    (b"a,t,class\n1,u,x\n2,v,y\n3,u,x\n", "1 column of text: 't'"),
    (b"a,a,class\n1,2,x\n2,3,y\n", "bad.csv has two columns called 'a': 1 and 2"),
    (b"a,b,class\n", "bad.csv has no rows"),
    (b"", "bad.csv is empty"),
]


@pytest.mark.parametrize("command", ["select", "evaluate"])
@pytest.mark.parametrize(("content", "message"), BAD_DATA)
def test_bad_data_ends_with_1(
    cli: Cli, tmp_path: Path, command: str, content: bytes, message: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    code, out, err = cli(command, path)
    assert (code, out) == (1, "")
    assert err.splitlines()[0] == f"error: {message}"
    assert err.splitlines()[1].startswith("hint: ")
    assert len(err.splitlines()) == 2


def test_a_missing_file_ends_with_1(cli: Cli, tmp_path: Path) -> None:
    code, out, err = cli("select", tmp_path / "no.csv")
    assert (code, out) == (1, "")
    assert err == (
        f"error: file '{tmp_path / 'no.csv'}' does not exist\n"
        "hint: give a CSV, TSV, Parquet, Arrow or ARFF file, - for standard input, "
        "or sklearn:breast_cancer|diabetes|digits|iris|wine\n"
    )


BAD_CALLS = [
    (("--algo", "bpos"), "unknown algorithm 'bpos'", "did you mean 'bpso'?"),
    (("-k", 60), "--n-neighbors is 60, expected 1 to 54, the rows a test row is compared with", ""),
    (("--metric", "euclid"), "unknown metric 'euclid'", "did you mean 'euclidean'?"),
    (("--format", "jsn"), "unknown format 'jsn'", "did you mean 'json'?"),
    (("--target", "tre"), "column 'tre' not found in blobs.csv", "did you mean 'tree'?"),
    (("--set", "population"), "--set 'population' has no value", "write --set name=value"),
    (("--set", "population=3", "--population", 4), "--population is set twice", "set it once"),
    (("--set", "population=many"), "--population is ", ""),
    (("--memory", "lots"), "--memory is 'lots', expected a size", "write 512MiB or 2GiB"),
    (("--max-bytes", "x"), "--max-bytes is 'x', expected a size", "write 512MiB or 2GiB"),
    (("--decimal", ";"), "unknown decimal mark ';'", "known: ., ,"),
    (("--input-format", "xls"), "unknown input format 'xls'", "known: csv, tsv, parquet"),
    (("--rare-class", "ignore"), "unknown policy for rare classes 'ignore'", "known: warn"),
    (("--constant", "drp"), "unknown policy for constant columns 'drp'", "did you mean 'drop'?"),
    (("--jobs", 0), "--jobs is 0, expected", ""),
    (
        ("--output", "r.xlsx"),
        "'r.xlsx' ends in '.xlsx'",
        "known: .csv, .tsv, .parquet, .json, .py, -",
    ),
    (("--trace", "no/t.csv"), "directory 'no' does not exist", "make it first"),
    (("--max-evals", "x"), "invalid value for '--max-evals'", "--help"),
    (("--metrc", "x"), "no such option: --metrc", "possible options: --metric"),
    (("--objective", "hybrid"), "the hybrid objective needs", ""),
    (("--objective", "weighted", "--alpha", 2), "--alpha is 2, expected", ""),
    (("--alpha", 0.7), "--alpha is 0.7, but no objective is given", "weighted or gaussian"),
    (("--scoring", "f1macro"), "unknown scoring 'f1macro'", "did you mean 'f1_macro'?"),
]


@pytest.mark.parametrize(("options", "message", "hint"), BAD_CALLS)
def test_bad_calls_end_with_2(
    cli: Cli, blobs_csv: Path, options: tuple[object, ...], message: str, hint: str
) -> None:
    code, out, err = cli("select", blobs_csv, "-q", *options)
    assert (code, out) == (2, "")
    first, second = err.splitlines()
    assert first.startswith(f"error: {message}")
    assert second.startswith("hint: ")
    assert hint in second


def test_a_missing_argument_and_an_unknown_command_end_with_2(cli: Cli) -> None:
    see_help = "hint: see the options with --help\n"
    assert cli("select")[::2] == (2, f"error: missing argument 'DATA'\n{see_help}")
    unknown = "error: no such command 'selct'\nhint: did you mean 'select'?\n"
    assert cli("selct")[::2] == (2, unknown)
    assert cli("xyz")[::2] == (2, f"error: no such command 'xyz'\n{see_help}")
    code, _, err = cli("algorithms", "bpos")
    assert code == 2
    assert err.startswith("error: unknown algorithm 'bpos'\nhint: did you mean 'bpso'? known: ")
    assert err.count("\n") == 2


def test_files_are_kept_unless_forced(cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.csv"
    kept.write_text("mine")
    for option in ("--output", "--trace"):
        code, _, err = cli("select", blobs_csv, *QUICK, option, kept)
        assert code == 2
        assert err == f"error: '{kept}' exists\nhint: overwrite it with --force\n"
        assert kept.read_text() == "mine"
    assert cli("select", blobs_csv, *QUICK, "--output", kept, "--force").code == 0
    assert kept.read_text() != "mine"


def test_a_bug_ends_with_70_and_debug_shows_where(
    cli: Cli, blobs_csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_select, "check_output", lambda *_: 1 / 0)
    code, out, err = cli("select", blobs_csv)
    assert (code, out) == (70, "")
    assert err.startswith("error: internal error: ZeroDivisionError: division by zero\nhint: ")
    assert "Traceback" not in err
    assert "Traceback" in cli("select", blobs_csv, "--debug").err


def test_names_cannot_steer_the_terminal(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "evil.csv"
    path.write_bytes(b'"\x1b]0;owned\x07\ra\nb",class\n1,x\n2,y\n1,x\n2,y\n')
    done = cli("select", path, "--seed", 1, "--cv", 2, "-k", 1)
    assert done.code == 0
    assert "]0;owned a b" in done.out
    path.write_bytes(b'"\x1b[31mt\n","u",class\nv,1,x\nw,2,y\nv,3,x\n')
    assert cli("select", path).err.startswith("error: 1 column of text: '[31mt'\nhint: ")


@pytest.mark.parametrize("command", ["select", "evaluate", "rank", "describe", "group"])
def test_no_command_prints_what_a_terminal_acts_on(cli: Cli, tmp_path: Path, command: str) -> None:
    path = tmp_path / "\x1b[31mevil\x9b.csv"
    path.write_text('"\x1b]0;owned\x07","\u202eb\x9b2J","\x7fclass"\n' + "1,2,x\x1b\n2,1,y\n" * 4)
    options = ("--cv", 2, "-k", 1) if command in ("select", "evaluate") else ()
    done = cli(command, path, *options)
    assert done.code == 0
    assert all(char.isprintable() or char == "\n" for char in done.out + done.err)


@pytest.mark.parametrize(
    ("size", "total"), [("1GiB", 2**30), ("512M", 2**29), ("1.5 kb", 1536), ("77", 77)]
)
def test_sizes(size: str, total: int) -> None:
    assert _options.parse_size(size) == total


def test_settings_are_json_scalars_or_text() -> None:
    parsed = _options.parse_settings(["a=1", "b=0.5", "c=true", "d=null", "e=word", "f=[1]"], 7)
    assert parsed == {
        "a": 1,
        "b": 0.5,
        "c": True,
        "d": None,
        "e": "word",
        "f": "[1]",
        "population": 7,
    }


def test_help_and_version(cli: Cli) -> None:
    assert cli("--version").out == f"swarmrs {swarmrs.__version__}\n"
    assert cli().out == cli("--help").out
    assert "swarmrs select data.csv --target class\n" in cli("select", "--help").out


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, swarmrs.cli\n"
        "try: swarmrs.cli.main(['select', '--help'])\n"
        "except SystemExit: print({'numpy', 'polars', 'pydantic', 'rich', 'sklearn'}"
        " & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[-1] == "set()"
