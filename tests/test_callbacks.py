"""Callbacks of scikit-learn receive the iterations of a search, and may end it."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from swarmrs import SwarmSelector, select
from swarmrs.exceptions import SpecError
from swarmrs.search._results._progress import Iteration

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


class Listener:
    """Records its calls and may stop a fit after some iterations."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.iterations: list[Iteration] = []
        self.events: list[str] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append("setup")

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator: Any, context: Any, *, X: Any = None) -> None:
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> bool:
        self.events.append(f"end {context.task_name}")
        if metadata is not None:
            self.iterations.append(metadata["iteration"])
        return len(self.iterations) == self.most


def test_they_are_called_after_every_iteration(blobs: Blobs) -> None:
    listener = Listener()
    selector = SwarmSelector(algo="sfs", cv=3).set_callbacks(listener).fit(*blobs)
    assert [iteration["best_cost"] for iteration in listener.iterations] == (
        selector.trace_["best_cost"].to_list()
    )
    assert listener.events[:2] == ["setup", "begin fit"]
    assert listener.events[-2:] == ["end fit", "teardown"]
    assert (
        listener.events.count("end iteration 1") == listener.events.count("begin iteration 1") == 1
    )


def test_they_can_end_the_search(blobs: Blobs) -> None:
    selector = SwarmSelector(algo="bpso", random_state=1).set_callbacks(Listener(5)).fit(*blobs)
    assert selector.stop_ == "callback"
    assert selector.trace_.height == 5


def test_they_change_no_result_and_are_not_copied(blobs: Blobs) -> None:
    plain = SwarmSelector(algo="ga", random_state=1, max_iter=3)
    watched = clone(plain).set_callbacks(Listener())
    assert watched.fit(*blobs).trace_.equals(plain.fit(*blobs).trace_)


def test_teardown_follows_an_error(blobs: Blobs) -> None:
    listener = Listener()
    with pytest.raises(SpecError):
        SwarmSelector(algo="bpos").set_callbacks(listener).fit(*blobs)
    assert listener.events[-1] == "teardown"


@pytest.mark.parametrize("max_iter", [3, None])
def test_the_progress_bar_works(
    blobs: Blobs, capsys: pytest.CaptureFixture[str], max_iter: int | None
) -> None:
    selector = SwarmSelector(algo="bpso", max_iter=max_iter, cv=3, random_state=1)
    selector.set_callbacks(callback.ProgressBar()).fit(*blobs)
    assert "SwarmSelector" in capsys.readouterr().out


def test_under_a_grid_it_is_told_too(blobs: Blobs, capsys: pytest.CaptureFixture[str]) -> None:
    grid = GridSearchCV(
        SwarmSelector(algo="sfs", cv=2),
        {"max_features": [1, 3]},
        cv=2,
        scoring=lambda *_: 0.0,
        refit=False,
    )
    if not hasattr(grid, "set_callbacks"):
        pytest.skip("this scikit-learn has no callbacks for grids")
    grid.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(*blobs)
    assert "SwarmSelector" in capsys.readouterr().out


def test_nobody_listening_costs_nothing(blobs: Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []
    from swarmrs.estimators import _swarm_selector

    def spy(*args: Any, callback: object, **settings: Any) -> Any:
        given.append(callback)
        return select(*args, callback=callback, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(_swarm_selector, "select", spy)
    make_pipeline(SwarmSelector(algo="sfs", cv=2)).fit(*blobs)
    assert given == [None]


def test_a_scikit_learn_without_callbacks_will_do() -> None:
    script = (
        "import sys, sklearn.feature_selection, sklearn.model_selection, sklearn.pipeline\n"
        "sys.modules['sklearn.callback'] = None\n"
        "import numpy as np\n"
        "from swarmrs import SwarmSelector\n"
        "x = np.arange(40.0).reshape(20, 2) % 7\n"
        "print(SwarmSelector(algo='sfs', cv=2).fit(x, x[:, 1] > 3).support_.sum())\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
