"""swarmrs reproduce: published tables run again, in Python and as a command."""

import csv
import io
import json
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import read_table
from swarmrs.exceptions import StoreError
from swarmrs.experiments import Line, Reproduced, Reproduction, cells_frame, reproduce
from swarmrs.experiments._design._protocols import Protocol
from swarmrs.experiments._papers import PAPERS

TABLES = [table for paper in PAPERS.values() for table in paper.tables]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """Two classes of made data under the names of data sets of the papers."""
    rng = np.random.default_rng(3)
    codes = np.arange(80) % 2
    x = rng.random((80, 7)).round(3)
    x[:, 2] += codes
    x[:, 5] *= 50
    frame = pl.from_numpy(x, schema=[f"f{at}" for at in range(7)])
    directory = tmp_path / "data"
    directory.mkdir()
    for name in ("sonar", "srbct"):
        frame.with_columns(pl.Series("class", codes)).write_csv(directory / f"{name}.csv")
    return directory


def by_figure(result: Reproduced, data: str, method: str) -> dict[str, Line]:
    return {it.figure: it for it in result.lines if (it.data, it.method) == (data, method)}


def test_the_error_of_all_features_is_found_as_the_paper_did() -> None:
    (result,) = reproduce("hafiz2018-1", datasets=["wine", "wdbc"])
    for data in ("wine", "wdbc"):
        figures = by_figure(result, data, "")
        assert {figures[name].verdict for name in ("features", "rows", "classes")} == {"agrees"}
        assert figures["all_error_nb"].verdict == figures["all_error_knn"].verdict == "agrees"
        assert figures["all_error_knn_correct"].published is None
    wine = by_figure(result, "wine", "")
    assert wine["all_error_nb_correct"].ours != wine["all_error_nb"].ours
    assert any("first column" in note for note in result.notes)


def test_a_table_of_held_out_rows_is_what_scikit_learn_finds(
    data_dir: Path, tmp_path: Path
) -> None:
    store = tmp_path / "kept"
    how: dict[str, Any] = {"datasets": ["sonar"], "runs": 2, "max_evals": 60, "store": store}
    _, sequential, training = reproduce("xue2014", data_dir=data_dir, **how)
    table = read_table(data_dir / "sonar.csv")
    division = Protocol.of("split70").divide(table, 1, 0)
    assert division.test is not None
    train, test = division.train, division.test

    def accuracy(selected: list[str], rows: Any) -> float:
        x = table.x[:, [table.names.index(name) for name in selected]]
        model = KNeighborsClassifier(5).fit(x[train], table.codes[train])
        return 100 * float(model.score(x[rows], table.codes[rows]))

    searched = cells_frame(store / "xue2014-sequential-sonar.db").filter(pl.col("method") == "lfs")
    # Searched on scaled values, tested on those of the file.
    lfs = by_figure(sequential, "sonar", "LFS")
    assert lfs["accuracy"].ours == pytest.approx(accuracy(searched["selected"][0].to_list(), test))
    assert (lfs["accuracy"].runs, lfs["vs_pbpsofs"].ours) == (1, None)
    found = cells_frame(store / "xue2014-swarms-sonar.db").filter(pl.col("method") == "pbpsofs")
    swarm = by_figure(training, "sonar", "PBPSOfs")["train_accuracy"]
    own = [accuracy(selected, train) for selected in found["selected"].to_list()]
    assert swarm.ours == pytest.approx(np.mean(own))
    assert swarm.ours_sd == pytest.approx(np.std(own, ddof=1))
    assert (swarm.published, swarm.published_sd) == ("91.03", "1.895")


def test_lengths_that_do_not_change_are_a_method_of_their_own(data_dir: Path) -> None:
    (result,) = reproduce(
        "tran2019-V", datasets=["srbct"], runs=1, max_evals=150, data_dir=data_dir
    )
    assert {it.method for it in result.lines if it.ours is not None} == {"WO", "W"}


def test_groups_are_as_many_as_in_the_paper() -> None:
    found = Reproduction.of("xue2016-II", datasets=["wine"], runs=6, max_evals=90)
    grouped = found.plans["grouped", "wine"]
    assert grouped.experiment.options["feature_groups"] == "lbm=6"
    assert found.plans["plain", "wine"].experiment.options["feature_groups"] is None
    found.run(n_jobs=2)
    (result,) = found.results()
    figures = by_figure(result, "wine", "PSORWS")
    assert figures["size"].ours == 6
    assert figures["vs_all"].ours in ("+", "-", "=")
    assert by_figure(result, "wine", "All")["size"].ours == 13


def test_a_stop_ends_it_without_results() -> None:
    found = Reproduction.of("chuang2012-2", runs=1)
    stop = Event()
    stop.set()
    found.run(stop=stop)
    assert found.is_stopped


# The command

QUICK = ["--datasets", "wine", "--runs", 2, "--max-evals", 60]


def test_the_command_prints_a_table_and_goes_on_from_its_store(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "deep" / "kept"
    done = cli("reproduce", "chuang2012-2", *QUICK, "--store", store)
    assert (done.code, done.err) == (0, "")
    rows = [line.split(" | ") for line in done.out.splitlines() if line.startswith("| wine")]
    assert [row[:4] for row in rows] == [["| wine", "CD-BPSO", "accuracy %", "99.44"]]
    assert "- each method has 2 runs, not 10" in done.out
    assert "- searches stop after 60 evaluations, not as in the paper" in done.out
    began = cells_frame(store / "chuang2012-loo-wine.db")["seconds"].to_list()
    assert cli("reproduce", "chuang2012-2", *QUICK, "--store", store) == done
    assert cells_frame(store / "chuang2012-loo-wine.db")["seconds"].to_list() == began
    # More runs join those that are there; fewer leave them out.
    cli("reproduce", "chuang2012-2", *QUICK, "--runs", 3, "--store", store)
    assert cells_frame(store / "chuang2012-loo-wine.db").height == 3
    assert cli("reproduce", "chuang2012-2", *QUICK, "--store", store) == done


def test_formats_hold_the_same_figures(cli: Cli) -> None:
    (table,) = json.loads(cli("reproduce", "chuang2012-2", *QUICK, "-f", "json").out)
    assert (table["table"], table["tally"]) == ("chuang2012-2", {table["lines"][0]["verdict"]: 1})
    text = cli("reproduce", "chuang2012-2", *QUICK, "-f", "csv").out
    (row,) = csv.DictReader(io.StringIO(text))
    (line,) = table["lines"]
    assert row["table"] == "chuang2012-2"
    assert float(row["ours"]) == line["ours"]
    assert row["published"] == line["published"] == "99.44"


def test_the_list_has_every_table_and_what_it_needs(cli: Cli) -> None:
    listed = cli("reproduce", "--list")
    assert listed.code == 0
    assert all(f"{table.name} " in listed.out for table in TABLES)
    assert "lung_cancer_gems: its table of 12600 genes is in no public collection" in listed.out
    rows = json.loads(cli("reproduce", "--list", "-f", "json").out)
    assert [row["table"] for row in rows] == [table.name for table in TABLES]
    assert rows[-1]["data"]["wine"] == "built in"
    rows = list(
        csv.DictReader(io.StringIO(cli("reproduce", "chuang2012", "--list", "-f", "csv").out))
    )
    assert [row["data"] for row in rows] == ["wine", "segmentation", "wdbc"]


def test_bad_calls_are_one_error_and_a_hint(cli: Cli, tmp_path: Path) -> None:
    def refused(*words: object) -> tuple[int, str]:
        done = cli("reproduce", *words)
        assert not done.out
        return done.code, done.err

    assert refused() == (
        2,
        "error: no table is given\nhint: name one, such as chuang2012-2; --list has them all\n",
    )
    assert refused("chuang2012-3")[0] == 2
    code, err = refused("xue2016-II", "--datasets", "german", "--data-dir", tmp_path)
    assert (code, err.count("\n")) == (1, 2)
    assert f"into '{tmp_path}'" in err
    taken = tmp_path / "file"
    taken.write_text("")
    code, err = refused("chuang2012-2", *QUICK, "--store", taken)
    assert (code, "cannot be a directory of stores" in err) == (2, True)
    assert refused("chuang2012-2", "--datasets", "wine,wine")[0] == 2
    assert refused("chuang2012-2", "--datasets", "wine", "--runs", 0)[0] == 2


def test_cells_that_fail_leave_blanks_and_an_exit_code(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sonar.csv").write_text("a,b,class\n1,2,x\n2,1,y\n3,2,x\n4,1,y\n")
    done = cli("reproduce", "xue2014-2", "--datasets", "sonar", "--runs", 1, "--data-dir", tmp_path)
    assert done.code == 3
    assert "too few for the 10 folds" in done.err
    assert "| sonar | PBPSOfs | accuracy % | 78.21 ± 3.0323 |  |  |  |" in done.out


def test_ctrl_c_keeps_what_is_finished(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    words = ("reproduce", "chuang2012-2", "--datasets", "wine", "--runs", 5000, "--jobs", 1)
    process = start(*words, "--store", tmp_path)
    path = tmp_path / "chuang2012-loo-wine.db"

    def is_begun() -> bool:
        # A store that is just being made is none yet.
        with suppress(StoreError):
            return "done" in cells_frame(path)["state"]
        return False

    while not is_begun():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "stopped; cells are stored. Continue with: swarmrs reproduce chuang2012-2" in err
    assert cells_frame(path).filter(state="done").height >= 1
