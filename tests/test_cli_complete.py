"""What the tab key offers, asked as shells ask: by a process, through its environment."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import swarmrs
import swarmrs.cli
from swarmrs._base._choices import METRICS
from swarmrs.search._options._presets import presets

Start = Callable[..., subprocess.Popen[str]]
Offer = Callable[..., list[str]]


@pytest.fixture
def offer(start: Start, tmp_path: Path) -> Offer:
    """Press the tab key in bash after these words, the last of them incomplete."""

    def ask(*words: str) -> list[str]:
        position = {"COMP_WORDS": " ".join(["swarmrs", *words]), "COMP_CWORD": str(len(words))}
        request = {"_SWARMRS_COMPLETE": "complete_bash", **position}
        with start(env=os.environ | request, cwd=tmp_path) as process:
            out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        return out.split()

    return ask


def test_commands_and_options(offer: Offer) -> None:
    assert offer("se") == ["select"]
    assert offer("rank", "d.csv", "--t") == ["--target", "--top", "--task"]
    assert offer("config", "ev") == ["evaluate"]


def test_words_of_options(offer: Offer) -> None:
    assert offer("select", "d.csv", "--algo", "vl") == ["vlpso", "vlpso-ls"]
    assert offer("algorithms", "") == [card.id for card in swarmrs.algorithms()]
    assert offer("select", "--preset", "") == list(presets)
    assert offer("evaluate", "d.csv", "--metric", "") == list(METRICS)
    assert offer("rank", "d.csv", "--format", "j") == ["json"]


CLOSED = (
    *("estimator", "metric", "weights", "cv", "scale", "objective", "scoring", "prescreen"),
    *("pick", "rare-class", "constant", "missing", "encode", "input-format"),
)


def test_every_option_of_known_words_offers_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_SWARMRS_COMPLETE", "complete_bash")
    for option in CLOSED:
        monkeypatch.setenv("COMP_WORDS", f"swarmrs select d.csv --{option} ")
        monkeypatch.setenv("COMP_CWORD", "4")
        with pytest.raises(SystemExit):
            swarmrs.cli.main([])
        assert len(capsys.readouterr().out.split()) >= 2, option


HOSTILE = b'alpha,beta,"$(touch x)","a b",\x1b[31m,`id`,-rf,class\n'


def test_columns_of_a_file_named_before(offer: Offer, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes(HOSTILE + b"1,2,3,4,5,6,7,x\n")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(HOSTILE))
    (tmp_path / "d.tsv").write_bytes(b"\xef\xbb\xbfalpha\tbeta\tclass\n")
    (tmp_path / "s.csv").write_bytes(b"alpha;beta;class\n")
    frame = pl.DataFrame({"alpha": [1], "beta": [2], "class": ["x"]})
    frame.write_parquet(tmp_path / "d.parquet")
    frame.write_ipc(tmp_path / "d.arrow")
    for name in ("d.csv", "d.csv.gz", "d.tsv", "d.parquet", "d.arrow"):
        assert offer("select", name, "--target", "") == ["alpha", "beta", "class"], name
    assert offer("select", "s.csv", "--separator", "';'", "--exclude", "b") == ["beta"]
    assert offer("evaluate", "d.csv", "--features", "alpha,b") == ["alpha,beta"]


@pytest.mark.parametrize("data", ["none.csv", "sklearn:wine", ".", "empty.csv", "bytes.csv"])
def test_nothing_where_columns_cannot_be_read(offer: Offer, tmp_path: Path, data: str) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00\x01")
    assert offer("select", data, "--target", "") == []


def test_other_shells_are_told_what_a_word_means(start: Start) -> None:
    for shell in ("zsh", "fish", "powershell"):
        request = {
            "_SWARMRS_COMPLETE": f"complete_{shell}",
            "_TYPER_COMPLETE_ARGS": "swarmrs select d.csv --preset ",
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
        with start(env=os.environ | request) as process:
            out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert "hafiz2018-nb" in out
        assert presets["hafiz2018-nb"].about in out


def test_a_bash_that_installed_it_completes(tmp_path: Path) -> None:
    program = tmp_path / "swarmrs"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m swarmrs "$@"\n')
    program.chmod(0o755)
    home = os.environ | {"HOME": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    line = (
        "swarmrs --install-completion && . ~/.bashrc && COMP_WORDS=(swarmrs select d.csv --algo vl)"
        ' && COMP_CWORD=4 && _swarmrs_completion swarmrs && printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", line], env=home, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-2:] == ["vlpso", "vlpso-ls"], done.stderr
    assert f"completion installed in {tmp_path}" in done.stdout
