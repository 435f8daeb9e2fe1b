"""Early stopping: patience and Ctrl-C."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from swarmrs import SwarmSelector, select
from swarmrs.exceptions import SpecError
from swarmrs.search._results._progress import Iteration

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


class TestPatience:
    @pytest.mark.parametrize("algo", ["bpso", "ga", "random", "sffs", "vlpso", "nsga2"])
    def test_it_stops_after_so_many_iterations_without_a_better_subset(
        self, blobs: Blobs, algo: str
    ) -> None:
        found = select(blobs, algo=algo, patience=3, random_state=1)
        costs = found.trace.select("best_cost", "best_size").rows()
        assert found.stop == "patience"
        assert found.budget["patience"] == 3
        since = [costs[at] < costs[at - 1] for at in range(1, len(costs))]
        assert since[-3:] == [False] * 3
        assert not any(since[at : at + 3] == [False] * 3 for at in range(len(since) - 3))

    def test_up_to_there_it_is_the_same_search(self, blobs: Blobs) -> None:
        settings: dict[str, Any] = {"algo": "bpso", "random_state": 1}
        short, long = select(blobs, patience=4, **settings), select(blobs, **settings)
        assert short.trace.equals(long.trace.head(short.trace.height))
        assert "patience" not in long.budget

    def test_another_limit_may_come_first(self, blobs: Blobs) -> None:
        assert select(blobs, algo="bpso", patience=50, max_iter=2).stop == "max_iter"

    def test_who_listens_is_still_told_and_heard(self, blobs: Blobs) -> None:
        iterations: list[Iteration] = []

        def stop(iteration: Iteration) -> bool:
            iterations.append(iteration)
            return len(iterations) == 2

        assert select(blobs, algo="bpso", patience=50, callback=stop).stop == "callback"
        assert len(iterations) == 2

    def test_none_of_it_is_refused(self, blobs: Blobs) -> None:
        with pytest.raises(SpecError, match="patience is 0, expected a whole number of 1 or more"):
            select(blobs, patience=0)

    def test_the_selector_and_the_command_have_it(
        self, blobs: Blobs, cli: Callable[..., Any], blobs_csv: Any
    ) -> None:
        assert (
            SwarmSelector(algo="bpso", patience=2, random_state=1).fit(*blobs).stop_ == "patience"
        )
        command = ("select", blobs_csv, "--target", "tree", "--patience", 2, "--seed", 1)
        *_, last = cli(*command).out.splitlines()
        assert last.split(maxsplit=1) == ["stopped", "patience of 2 iterations reached"]


class TestInterrupt:
    @staticmethod
    def endless() -> dict[str, Any]:
        """Return the settings of a search without an end, interrupted after its hundredth score."""
        calls = []

        def scorer(estimator: Any, x: Any, y: Any) -> float:
            calls.append(1)
            if len(calls) == 100:
                os.kill(os.getpid(), signal.SIGINT)
            return float(estimator.score(x, y))

        return {
            "estimator": GaussianNB(),
            "algo": "random",
            "scoring": scorer,
            "cv": 2,
            "max_evals": 10**12,
            "random_state": 1,
        }

    def test_the_best_so_far_is_returned_if_asked_for(self, blobs: Blobs) -> None:
        found = select(blobs, on_interrupt="return", **self.endless())
        assert found.stop == "interrupted"
        assert found.cost == found.trace["best_cost"].min()
        assert found.size == found.support.sum() > 0

    def test_workers_outlive_it(self) -> None:
        script = (
            "import numpy as np\n"
            "from sklearn.naive_bayes import GaussianNB\n"
            "from swarmrs import select\n"
            "x, y = np.random.default_rng(0).random((20, 40)), np.arange(20) % 2\n"
            "settings = {'algo': 'random', 'max_evals': 10**12, 'cv': 2, 'n_jobs': 2}\n"
            "def tell(iteration): print('evaluating', flush=True)\n"
            # The engine has no such smoothing, so that workers evaluate it.
            "settings['estimator'] = GaussianNB(var_smoothing=1e-8)\n"
            "settings['on_interrupt'] = 'return'\n"
            "print(select((x, y), callback=tell, **settings).stop)\n"
        )
        run = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert run.stdout is not None
        assert run.stdout.readline() == "evaluating\n"
        os.killpg(run.pid, signal.SIGINT)  # As a terminal does: to workers, too.
        out, _ = run.communicate(timeout=60)
        assert out.splitlines()[-1] == "interrupted"
        assert run.returncode == 0

    def test_select_and_a_selector_raise_it(self, blobs: Blobs) -> None:
        with pytest.raises(KeyboardInterrupt):
            select(blobs, **self.endless())
        selector = SwarmSelector(**self.endless())
        with pytest.raises(KeyboardInterrupt):
            selector.fit(*blobs)
        assert not hasattr(selector, "support_")

    def test_cross_val_score_passes_it_on(self, blobs: Blobs) -> None:
        pipe = make_pipeline(SwarmSelector(**self.endless()), GaussianNB())
        with pytest.raises(KeyboardInterrupt):
            cross_val_score(pipe, *blobs, cv=2)

    def test_anything_else_is_refused(self, blobs: Blobs) -> None:
        with pytest.raises(SpecError, match="unknown on_interrupt 'stop'"):
            select(blobs, algo="sfs", on_interrupt="stop")
