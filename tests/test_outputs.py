"""Outputs: none is lost to another, to the input, to a full disk or to a reader that has gone."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from swarmrs._base._files import whole_file
from swarmrs.exceptions import OutputError

Cli = Callable[..., Any]
Start = Callable[..., subprocess.Popen[str]]

SFS = ("--algo", "sfs", "--seed", 1, "-q")
FULL = Path("/dev/full")
LONG = "n" * 300


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestDistinct:
    @pytest.mark.parametrize(
        "words",
        [
            ("-o", "same.csv", "--trace", "same.csv"),
            ("-o", "same.csv", "--trace", "./same.csv"),
            ("-o", "same.csv", "--keep-all", "sub/../same.csv"),
            ("--trace", "same.csv", "--checkpoint", "same.csv"),
            ("-o", "same.csv", "--trace", "link/same.csv"),
            ("-o", "dangling.csv", "--trace", "same.csv"),
        ],
    )
    def test_two_outputs_to_one_file_are_refused(
        self,
        cli: Cli,
        blobs_csv: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        words: tuple[str, ...],
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("sub").mkdir()
        Path("link").symlink_to(tmp_path)
        Path("dangling.csv").symlink_to("same.csv")
        code, out, err = cli("select", blobs_csv, *SFS, "--force", *words)
        assert (code, out) == (2, "")
        assert "both write to" in err
        assert not Path("same.csv").exists()

    def test_hard_links_are_one_file(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        one, other = tmp_path / "one.csv", tmp_path / "other.csv"
        one.write_text("kept")
        other.hardlink_to(one)
        words = ("-o", one, "--trace", other, "--force")
        code, _, err = cli("select", blobs_csv, *SFS, *words)
        assert (code, one.read_text()) == (2, "kept")
        assert err == (
            f"error: --trace and --output both write to '{other}'\n"
            "hint: give each a file of its own\n"
        )

    @pytest.mark.parametrize("option", ["-o", "--trace", "--keep-all", "--checkpoint"])
    @pytest.mark.parametrize("kind", ["same", "symlink", "hard link"])
    def test_the_input_is_never_overwritten(
        self, cli: Cli, blobs_csv: Path, tmp_path: Path, option: str, kind: str
    ) -> None:
        output = blobs_csv if kind == "same" else tmp_path / "again.csv"
        if kind == "symlink":
            output.symlink_to(blobs_csv)
        elif kind == "hard link":
            output.hardlink_to(blobs_csv)
        before = blobs_csv.read_bytes()
        code, out, err = cli("select", blobs_csv, *SFS, "--force", option, output)
        assert (code, out) == (2, "")
        assert f"would overwrite '{blobs_csv}', which is read" in err
        assert blobs_csv.read_bytes() == before

    def test_nor_is_a_file_of_groups_or_a_store(self, cli: Cli, blobs_csv: Path) -> None:
        groups = blobs_csv.with_name("groups.txt")
        groups.write_text("a,b\nc,d,e,f\n")
        words = ("group", blobs_csv, "--by", groups, "-o", groups, "--force", "-q")
        assert cli(*words).code == 2
        store = blobs_csv.with_name("r.db")
        store.write_bytes(b"")
        assert cli("merge", store, "-o", store, "--force").code == 2
        data = blobs_csv.read_bytes()
        assert cli("compare", blobs_csv, "-a", "sfs", "--store", blobs_csv).code == 2
        assert (store.read_bytes(), blobs_csv.read_bytes()) == (b"", data)

    def test_standard_streams_are_files_too(self, start: Start, blobs_csv: Path) -> None:
        before = blobs_csv.read_bytes()
        with (
            blobs_csv.open() as stdin,
            start("select", "-", *SFS, "-o", blobs_csv, "--force", stdin=stdin) as process,
        ):
            _, err = process.communicate(timeout=60)
        assert (process.returncode, blobs_csv.read_bytes()) == (2, before)
        assert "--output would overwrite '-', which is read" in err
        printed = blobs_csv.with_name("printed.csv")
        with (
            printed.open("w") as stdout,
            start(
                *("select", blobs_csv, *SFS, "-o", printed, "--force", "-f", "csv"), stdout=stdout
            ) as process,
        ):
            _, err = process.communicate(timeout=60)
        assert process.returncode == 2
        assert "--output and standard output both write to" in err

    def test_suffixes_may_be_in_capitals(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        assert cli("select", blobs_csv, *SFS, "-o", tmp_path / "R.CSV").code == 0
        assert (tmp_path / "R.CSV").read_text().startswith("b,e,tree\n")


class TestRefusedBeforeTheSearch:
    @pytest.mark.parametrize("option", ["-o", "--trace", "--keep-all", "--checkpoint", "--report"])
    def test_names_that_are_too_long(
        self, cli: Cli, blobs_csv: Path, tmp_path: Path, option: str
    ) -> None:
        suffix = ".html" if option == "--report" else ".csv"
        code, out, err = cli("select", blobs_csv, *SFS, option, tmp_path / f"{LONG}{suffix}")
        assert (code, out) == (2, "")
        assert err.endswith("cannot be written: File name too long\nhint: give a shorter name\n")

    def test_in_other_commands(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        path = tmp_path / f"{LONG}.db"
        for words in (
            ("compare", blobs_csv, "-a", "sfs", "--store", path),
            ("merge", tmp_path / "a.db", "-o", path),
            ("group", blobs_csv, "-q", "-o", path.with_suffix(".txt")),
        ):
            code, out, err = cli(*words)
            assert (code, out) == (2, ""), words
            assert "File name too long" in err
        for command in ("select", "report", "describe"):
            code, _, err = cli(command, path)
            assert code in (1, 2), command
            assert "hint: " in err
        assert cli("select", blobs_csv, "--feature-groups", path, "-q").code == 2
        assert cli("select", blobs_csv, "--config", path, "-q").code == 2

    def test_a_directory_is_no_file(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        (tmp_path / "folder.csv").mkdir()
        words = ("select", blobs_csv, *SFS, "--force", "-o")
        code, _, err = cli(*words, tmp_path / "folder.csv")
        assert (code, "Is a directory" in err) == (2, True)
        code, _, err = cli(*words, blobs_csv / "below.csv")
        assert (code, "Not a directory" in err) == (2, True)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_a_folder_without_the_right_to_write(
        self, cli: Cli, blobs_csv: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "locked").mkdir(mode=0o500)
        code, _, err = cli("select", blobs_csv, *SFS, "-o", tmp_path / "locked" / "r.csv")
        assert (code, "Permission denied" in err) == (2, True)


class TestWholeFile:
    def test_a_planted_link_is_not_followed(
        self, cli: Cli, blobs_csv: Path, tmp_path: Path
    ) -> None:
        victim = tmp_path / "victim"
        victim.write_text("kept")
        out = tmp_path / "out"
        out.mkdir()
        for name in (".r.csv.part", "r.csv.part"):
            (out / name).symlink_to(victim)
        (out / "r.csv").symlink_to(victim)
        assert cli("select", blobs_csv, *SFS, "-o", out / "r.csv", "--force").code == 0
        assert victim.read_text() == "kept"
        assert not (out / "r.csv").is_symlink()

    def test_the_name_of_a_part_is_never_the_same(self, tmp_path: Path) -> None:
        names = set()
        for _ in range(3):
            with whole_file(tmp_path / "a.csv") as file:
                names.add(file.name)
                assert Path(file.name).parent == tmp_path
        assert len(names) == 3
        assert listing(tmp_path) == ["a.csv"]

    @pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
    def test_nothing_is_left_behind(self, tmp_path: Path, problem: BaseException) -> None:
        (tmp_path / "a.csv").write_text("old")
        expected = OutputError if isinstance(problem, OSError) else KeyboardInterrupt

        def fail() -> None:
            with whole_file(tmp_path / "a.csv") as file:
                file.write(b"new")
                raise problem

        with pytest.raises(expected):
            fail()
        assert listing(tmp_path) == ["a.csv"]
        assert (tmp_path / "a.csv").read_text() == "old"

    def test_files_have_the_rights_of_other_files(self, tmp_path: Path) -> None:
        (tmp_path / "plain").write_text("")
        with whole_file(tmp_path / "a.csv") as file:
            file.write(b"1")
        assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def no_large_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


class TestNoRoom:
    @pytest.mark.parametrize("name", ["r.csv", "r.parquet", "r.json", "r.py"])
    def test_the_result_is_printed_where_a_file_fails(
        self, start: Start, blobs_csv: Path, tmp_path: Path, name: str
    ) -> None:
        out = tmp_path / "out"
        out.mkdir()
        words = ("select", blobs_csv, *SFS, "-f", "json", "-o", out / name)
        with start(*words, "--trace", out / "t.csv", preexec_fn=no_large_files) as process:
            printed, err = process.communicate(timeout=60)
        assert process.returncode == 74
        assert json.loads(printed)["selected"] == ["b", "e"]
        failed = [f"'{out / 't.csv'}'", f"'{out / name}'"]
        assert [line for line in err.splitlines() if line.startswith("error: ")] == [
            f"error: {path} cannot be written: File too large" for path in failed
        ]
        assert listing(out) == []

    @pytest.mark.skipif(not FULL.exists(), reason="there is no full device")
    def test_a_result_that_cannot_be_printed_is_kept(
        self, start: Start, blobs_csv: Path, tmp_path: Path
    ) -> None:
        kept = tmp_path / "kept"
        kept.mkdir()
        env = os.environ | {"TMPDIR": str(kept)}
        words = ("select", blobs_csv, *SFS, "-o", tmp_path / "r.csv")
        with FULL.open("w") as full, start(*words, stdout=full, env=env) as process:
            _, err = process.communicate(timeout=60)
        assert process.returncode == 74
        (name,) = listing(kept)
        assert err == (
            "error: standard output cannot be written: No space left on device\n"
            f"hint: the result is in '{kept / name}'\n"
        )
        assert "selected      2 of 6 features" in (kept / name).read_text()
        assert (tmp_path / "r.csv").exists()

    @pytest.mark.skipif(not FULL.exists(), reason="there is no full device")
    @pytest.mark.parametrize("is_buffered", [True, False])
    @pytest.mark.parametrize("words", [("algorithms",), ("--help",), ("select", "--help")])
    def test_nothing_printed_is_a_bug(
        self, start: Start, words: tuple[str, ...], is_buffered: bool
    ) -> None:
        env = os.environ | {"PYTHONUNBUFFERED": "" if is_buffered else "1"}
        with FULL.open("w") as full, start(*words, stdout=full, env=env) as process:
            _, err = process.communicate(timeout=60)
        assert process.returncode == 74
        assert err == (
            "error: standard output cannot be written: No space left on device\n"
            "hint: free some space, or write to another disk\n"
        )

    @pytest.mark.skipif(not FULL.exists(), reason="there is no full device")
    def test_remarks_that_cannot_be_printed_cost_nothing(
        self, start: Start, blobs_csv: Path
    ) -> None:
        words = ("select", blobs_csv, "--algo", "sfs", "-f", "csv")
        with FULL.open("w") as full, start(*words, stderr=full) as process:
            out, _ = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "index,feature\n1,b\n4,e\n")

    def test_files_are_written_though_the_reader_has_gone(
        self, start: Start, blobs_csv: Path, tmp_path: Path
    ) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        with start("select", blobs_csv, *SFS, "-o", tmp_path / "r.csv", stdout=writer) as process:
            os.close(writer)
            _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (1, "")
        assert (tmp_path / "r.csv").exists()

    def test_streams_that_are_closed(self, blobs_csv: Path) -> None:
        command = f"'{sys.executable}' -m swarmrs select '{blobs_csv}' -a sfs -f csv"
        done = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True)
        assert done.returncode == 74
        assert "standard output cannot be written: it is closed" in done.stderr
        done = subprocess.run(f"{command} 2>&-", shell=True, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "index,feature\n1,b\n4,e\n")

    def test_characters_that_the_terminal_has_not(self, start: Start, blobs_csv: Path) -> None:
        blobs_csv.write_text(blobs_csv.read_text().replace("a,b,c", "a,größe,c", 1))
        env = os.environ | {"PYTHONIOENCODING": "ascii"}
        with start("select", blobs_csv, *SFS, "-f", "csv", env=env) as process:
            out, _ = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "index,feature\n1,gr\\xf6\\xdfe\n4,e\n")
