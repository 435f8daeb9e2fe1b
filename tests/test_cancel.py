"""Ctrl-C and time limits act within long native calls, and no finished iteration is lost."""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from swarmrs import Evaluator, _swarmrs, select
from swarmrs.exceptions import SpecError, TimeLimitError
from swarmrs.search._results._progress import Iteration

# The tables are long on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:this search takes")

XY = tuple[NDArray[np.float64], NDArray[np.int64]]

# Far less than the calls below take, and far more than they may take to hear of it.
SOON, MOST = 0.3, 30.0


@contextmanager
def interrupted() -> Iterator[None]:
    """Interrupt what is done here, as Ctrl-C does, and check that it hears of it."""
    here = threading.main_thread().ident
    assert here is not None
    timer = threading.Timer(SOON, signal.pthread_kill, (here, signal.SIGINT))
    start = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        timer.cancel()
    assert time.monotonic() - start < MOST


@pytest.fixture(scope="module")
def long() -> XY:
    """Return a table of which one subset of more than eight features takes minutes."""
    rng = np.random.default_rng(1)
    x, y = rng.random((200_000, 24)), rng.integers(0, 2, 200_000)
    # What a search imports is imported before the signal comes.
    select((x[:50], y[:50]), algo="bpso", max_evals=30, repeats=2, n_jobs=2)
    return x, y


@pytest.mark.parametrize("size", [8, 24])
def test_an_evaluator_is_interrupted_within_one_subset(long: XY, size: int) -> None:
    # Eight features are searched by a kd-tree, which takes seconds.
    evaluator = Evaluator(*long)
    with interrupted():
        evaluator.measure(np.arange(24) < size)


@pytest.mark.parametrize(
    "filter_",
    [
        lambda dataset: dataset.survivors("cfs", 2500, 1),
        lambda dataset: dataset.mrmr(list(range(2500)), 2500, 1),
        lambda dataset: dataset.relieff(list(range(2500)), 10, 1),
    ],
    ids=["cfs", "mrmr", "relieff"],
)
def test_a_filter_is_interrupted(filter_: Callable[[_swarmrs.Dataset], object]) -> None:
    rng = np.random.default_rng(1)
    x, y = np.asfortranarray(rng.random((5000, 2500))), rng.integers(0, 2, 5000)
    x[:, :1500] += y[:, np.newaxis]
    names = [f"f{at}" for at in range(x.shape[1])]
    dataset = _swarmrs.Dataset(x, y.astype(np.uint32), 2, names, "minmax")
    with interrupted():
        while True:
            filter_(dataset)


def test_a_search_is_interrupted_within_its_first_iteration(long: XY) -> None:
    with interrupted():
        select(long, algo="bpso", n_jobs=2)


def test_searches_on_threads_are_interrupted_within_an_iteration(long: XY) -> None:
    with interrupted():
        select(long, algo="bpso", repeats=4, n_jobs=2)


def test_a_time_limit_acts_within_an_iteration(long: XY) -> None:
    start = time.monotonic()
    with pytest.raises(TimeLimitError, match="of bpso takes longer than the time limit"):
        select(long, algo="bpso", time_limit=0.5)
    assert time.monotonic() - start < MOST


def test_of_a_first_iteration_cut_short_the_finished_evaluations_count() -> None:
    # A batch of 30 subsets of about 15 features: some seconds.
    rng = np.random.default_rng(1)
    x, y = rng.random((20_000, 30)), rng.integers(0, 2, 20_000)
    x[:, 3] += y
    start = time.monotonic()
    found = select((x, y), algo="bpso", time_limit=1.0, random_state=1, cv=2, scale="none")
    assert time.monotonic() - start < MOST
    assert found.stop == "time_limit"
    assert found.evaluations.total >= 1
    assert found.evaluations.total == found.trace["evaluations"][-1]
    # It is scored like any other subset.
    again = Evaluator((x, y), cv=2, scale="none").measure(found.support)
    assert again["error"][0] == found.scores["error"]


def test_an_unfinished_iteration_is_dropped_as_a_whole(blobs: XY) -> None:
    whole = select(blobs, algo="bpso", random_state=1, max_iter=3)
    iterations = 0

    def count(iteration: Iteration) -> None:
        nonlocal iterations
        iterations += 1
        if iterations == 3:
            _thread.interrupt_main()

    cut = select(
        blobs,
        algo="bpso",
        random_state=1,
        max_evals=10**9,
        callback=count,
        on_interrupt="return",
    )
    assert cut.stop == "interrupted"
    # However many iterations it took until the signal was heard, all of them are whole.
    assert cut.evaluations.total == 30 * len(cut.trace)
    assert cut.trace.head(3).equals(whole.trace)


FULL = """
import resource, sys, warnings
import numpy as np
import swarmrs

def fill(iteration):
    # From here on no file can grow: as good as a full disk.
    if iteration["iteration"] == 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))

x = np.random.default_rng(1).random((40, 6))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = swarmrs.select(
        (x, np.arange(40) % 2),
        algo="bpso",
        random_state=1,
        max_evals=300,
        checkpoint=sys.argv[1],
        callback=fill,
    )
print(found.evaluations.total)
print([str(it.message) for it in caught if "checkpoint" in str(it.message)])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the limit is one of Unix")
def test_a_full_disk_costs_no_result(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    done = subprocess.run(
        [sys.executable, "-c", FULL, path], capture_output=True, text=True, timeout=60, check=True
    )
    evaluations, messages = done.stdout.splitlines()
    assert evaluations == "300"
    assert messages.count("could not be written and is not up to date") == 1
    assert os.listdir(tmp_path) == ["run.ckpt"]
    # What was written before is whole, and the search goes on from it.
    x = np.random.default_rng(1).random((40, 6))
    settings = {"algo": "bpso", "random_state": 1, "max_evals": 300}
    resumed = select((x, np.arange(40) % 2), checkpoint=path, **settings)  # type: ignore[arg-type]
    assert resumed.trace.equals(
        select((x, np.arange(40) % 2), **settings).trace  # type: ignore[arg-type]
    )


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right on Windows")
def test_a_planted_link_is_not_followed(tmp_path: Path, blobs: XY) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in ("run.ckpt.part", ".run.ckpt.part"):
        (tmp_path / name).symlink_to(victim)
    select(blobs, algo="bpso", max_evals=90, random_state=1, checkpoint=tmp_path / "run.ckpt")
    assert victim.read_text() == "precious"
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".swarmrs-")]


def test_a_checkpoint_that_cannot_be_written_is_refused_at_the_start(
    tmp_path: Path, blobs: XY
) -> None:
    with pytest.raises(SpecError) as caught:
        select(blobs, max_evals=90, checkpoint=tmp_path / "missing" / "run.ckpt")
    assert caught.value.hint == (
        "give a file that can be read and written, in a folder on a disk with room"
    )


@pytest.mark.parametrize(("which", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_command_within_one_subset(
    start: Callable[..., "subprocess.Popen[str]"],
    tmp_path: Path,
    long: XY,
    which: signal.Signals,
    code: int,
) -> None:
    import polars as pl

    path = tmp_path / "long.parquet"
    features = {f"f{at}": column for at, column in enumerate(long[0].T)}
    pl.DataFrame(features | {"class": long[1]}).write_parquet(path)
    with start("select", path, "--algo", "bpso", "--checkpoint", tmp_path / "run") as process:
        while not (tmp_path / "run").exists():
            assert process.poll() is None
        process.send_signal(which)
        _, err = process.communicate(timeout=MOST)
    assert process.returncode == code
    assert "error: interrupted before the first subset was evaluated\n" in err
