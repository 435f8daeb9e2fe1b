"""Repeated searches: their stability, their consensus, and that each run is a search of its own."""

import os
import signal
import threading
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Selection, Stability, algorithms, select
from swarmrs.exceptions import SpecError, SwarmrsWarning
from swarmrs.search._results._progress import Iteration
from swarmrs.search._validation._stability import agreed, agreement

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]
Masks = NDArray[np.bool_]

MANHATTAN = KNeighborsClassifier(5, metric="manhattan")

subsets = arrays(bool, st.tuples(st.integers(2, 7), st.integers(2, 9)))


def stability_of(found: Selection) -> Stability:
    assert found.stability is not None
    return found.stability


def naive(masks: Masks) -> tuple[float, float, float]:
    """Return the estimate and its interval, sum by sum as the paper has them."""
    m, d = masks.shape
    z = masks.astype(float)
    p = [sum(z[i, f] for i in range(m)) / m for f in range(d)]
    k = [sum(z[i, f] for f in range(d)) for i in range(m)]
    mean = sum(k) / m
    at_random = mean / d * (1 - mean / d)
    value = 1 - sum(m / (m - 1) * p[f] * (1 - p[f]) for f in range(d)) / d / at_random
    phi = [
        (
            sum(z[i, f] * p[f] for f in range(d)) / d
            - k[i] * mean / d**2
            + value / 2 * (2 * mean * k[i] / d**2 - k[i] / d - mean / d + 1)
        )
        / at_random
        for i in range(m)
    ]
    variance = 4 / m**2 * sum((it - sum(phi) / m) ** 2 for it in phi)
    reach = norm.ppf(0.975) * variance**0.5
    return value, value - reach, value + reach


class TestAgreement:
    @given(subsets)
    def test_it_is_the_naive_one(self, masks: Masks) -> None:
        if (masks == masks[0]).all():
            assert agreement(masks) == (1, 1, 1)
            return
        value, low, high = naive(masks)
        found = agreement(masks)
        # Sums are taken in another order.
        assert found.value == pytest.approx(value, abs=1e-12)
        least = -1 / (len(masks) - 1)
        assert (found.low, found.high) == pytest.approx((max(low, least), min(high, 1)), abs=1e-12)

    @given(subsets)
    def test_it_stays_within_its_bounds(self, masks: Masks) -> None:
        value, low, high = agreement(masks)
        # The last bits of a quotient.
        assert -1 / (len(masks) - 1) - 1e-12 <= value <= 1
        assert low <= value + 1e-12
        assert value <= high + 1e-12

    def test_subsets_of_one_size_have_the_index_of_kuncheva(self) -> None:
        """Of equal sizes k it is the mean over pairs of (r d - k^2) / (k (d - k))."""
        rng = np.random.default_rng(5)
        d, k = 12, 4
        masks = np.zeros((6, d), dtype=bool)
        for row in masks:
            row[rng.choice(d, k, replace=False)] = True
        shared = [(one & other).sum() for one, other in combinations(masks, 2)]
        index = np.mean([(r * d - k * k) / (k * (d - k)) for r in shared])
        # Two formulas for one number differ in the last bits.
        assert agreement(masks).value == pytest.approx(index, abs=1e-12)

    def test_chance_has_none_and_the_interval_says_so(self) -> None:
        rng = np.random.default_rng(1)
        found = [agreement(rng.random((30, 50)) < 0.3) for _ in range(200)]
        # The mean of 200 estimates of 0 whose deviation is about 0.006.
        assert np.mean([it.value for it in found]) == pytest.approx(0, abs=0.002)
        covered = np.mean([it.low <= 0 <= it.high for it in found])
        # 95 % of 200, four standard deviations either way.
        assert 0.88 <= covered <= 1

    def test_one_subset_has_none(self) -> None:
        with pytest.raises(SpecError, match="one subset alone has no stability"):
            agreement(np.ones((1, 3), dtype=bool))


class TestAgreed:
    @given(subsets)
    def test_a_majority_differs_least_of_all_subsets(self, masks: Masks) -> None:
        chosen = np.zeros(masks.shape[1], dtype=bool)
        chosen[agreed(masks)] = True
        has_majority = (masks.mean(axis=0) > 0.5).any()
        every = [
            np.array([bits >> at & 1 for at in range(masks.shape[1])], dtype=bool)
            for bits in range(1 << masks.shape[1])
        ]
        among = every if has_majority else list(masks)
        assert (masks != chosen).sum() == min((masks != other).sum() for other in among)

    def test_too_many_give_way_to_a_run(self) -> None:
        masks = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0]], dtype=bool)
        assert agreed(masks).tolist() == [0, 1, 2]
        assert agreed(masks, most=2).tolist() == [0, 1]


def key(found: Selection) -> tuple[object, ...]:
    return found.seed, found.cost, found.selected, found.scores, found.evaluations, found.work


class TestRepeats:
    def test_each_run_is_the_search_of_its_seed(self, blobs: Blobs) -> None:
        found = select(blobs, algo="bpso", random_state=7, repeats=4, max_evals=200, n_jobs=2)
        runs = stability_of(found).runs
        assert [run.seed for run in runs] == [7, 8, 9, 10]
        for run in runs:
            alone = select(blobs, algo="bpso", random_state=run.seed, max_evals=200)
            assert key(run) == key(alone)
            assert run.trace.equals(alone.trace)

    def test_the_best_run_is_returned(self, blobs: Blobs) -> None:
        found = select(blobs, algo="bpso", random_state=7, repeats=5, max_evals=60)
        runs = stability_of(found).runs
        assert key(found) == key(min(runs, key=lambda run: (run.cost, run.size)))

    def test_threads_change_nothing(self, blobs: Blobs) -> None:
        one, three = (
            select(blobs, algo="bpso", random_state=1, repeats=5, max_evals=90, n_jobs=jobs)
            for jobs in (1, 3)
        )
        assert key(one) == key(three)
        assert stability_of(one).to_dict() == stability_of(three).to_dict()

    def test_frequencies_and_stability_are_those_of_the_runs(self, blobs: Blobs) -> None:
        stability = stability_of(
            select(
                blobs,
                algo="bpso",
                random_state=1,
                repeats=5,
                max_evals=60,
                include=[0],
                exclude=[2],
            )
        )
        masks = np.array([run.support for run in stability.runs])
        assert dict(stability.frequency.select("index", "frequency").iter_rows()) == {
            at: share for at, share in enumerate(masks.mean(axis=0)) if share
        }
        shares = stability.frequency["frequency"]
        assert shares.is_sorted(descending=True)
        # What is always in or out says nothing of a search.
        assert stability.agreement == agreement(masks[:, [1, 3, 4, 5]])
        assert stability.to_frame()["seed"].to_list() == [1, 2, 3, 4, 5]

    @pytest.mark.parametrize(
        "settings",
        [
            {"objective": "error"},
            {"objective": "weighted"},
            {"objective": "hybrid", "estimator": MANHATTAN, "scale": "minmax"},
            {"objective": "gaussian", "feature_groups": [[0, 1], [2, 3, 4], [5]]},
            {"objective": "filter-cfs"},
        ],
        ids=lambda settings: settings["objective"],
    )
    def test_the_consensus_has_the_cost_of_a_search(
        self, blobs: Blobs, settings: dict[str, object]
    ) -> None:
        found = select(blobs, algo="bpso", random_state=1, repeats=3, max_evals=60, **settings)  # type: ignore[arg-type]
        settings |= {"algo": "random", "max_evals": 400, "keep_all": True}
        every = select(blobs, random_state=1, **settings)  # type: ignore[arg-type]
        assert every.all_evaluations is not None
        costs = {tuple(chosen): cost for *_, cost, _, chosen in every.all_evaluations.iter_rows()}
        consensus = stability_of(found).consensus
        assert costs[consensus.selected_indices] == consensus.cost

    def test_a_deterministic_search_is_warned_of(self, blobs: Blobs) -> None:
        with pytest.warns(SwarmrsWarning, match="seeds change nothing here"):
            found = select(blobs, algo="sfs", random_state=1, repeats=3)
        assert stability_of(found).agreement == (1, 1, 1)
        assert stability_of(found).consensus.selected == found.selected

    def test_an_estimator_is_repeated(self, blobs: Blobs) -> None:
        # The engine has no such smoothing, so that scikit-learn evaluates it.
        settings: dict[str, Any] = {"estimator": GaussianNB(var_smoothing=1e-8), "cv": 3}
        settings |= {"algo": "bpso", "max_evals": 60}
        found = select(blobs, random_state=1, repeats=2, **settings)
        stability = stability_of(found)
        alone = select(blobs, random_state=2, **settings)
        assert key(stability.runs[1]) == key(alone)
        assert stability.consensus.scores["accuracy"] is None

    def test_seeds_go_around(self, blobs: Blobs) -> None:
        found = select(blobs, algo="bpso", random_state=2**64 - 1, repeats=2, max_evals=60)
        assert [run.seed for run in stability_of(found).runs] == [2**64 - 1, 0]

    def test_rows_are_drawn_for_each_run(self, blobs: Blobs) -> None:
        x, y = blobs
        settings: dict[str, Any] = {"max_evals": 90, "cv": 3, "cv_seed": 4}
        found = select(
            blobs, algo="bpso", random_state=1, repeats=3, resample=0.8, n_jobs=2, **settings
        )
        assert key(found) == key(select(blobs, algo="bpso", random_state=1, **settings))
        for number, run in enumerate(stability_of(found).runs):
            draw = StratifiedShuffleSplit(1, test_size=1.0 - 0.8, random_state=4 + number)
            rows, _ = next(draw.split(x, y))
            alone = select((x[rows], y[rows]), algo="bpso", random_state=1 + number, **settings)
            assert key(run) == key(alone)

    @pytest.mark.parametrize("algo", [card.id for card in algorithms()])
    def test_every_algorithm_is_repeated(self, blobs: Blobs, algo: str) -> None:
        found = select(blobs, algo=algo, random_state=1, repeats=3, resample=0.7, max_evals=300)
        assert len(stability_of(found).runs) == 3
        assert 1 <= stability_of(found).consensus.size <= 6


class TestStopping:
    def test_a_callback_is_told_which_run_and_stops_all(self, blobs: Blobs) -> None:
        events: list[tuple[int, int]] = []

        def watch(iteration: Iteration) -> bool:
            events.append((iteration["run"], iteration["runs"]))
            return len(events) == 5

        found = select(
            blobs, algo="bpso", random_state=1, repeats=50, max_evals=90, n_jobs=2, callback=watch
        )
        assert found.stop == "callback"
        assert len(events) == 5
        assert {runs for _, runs in events} == {50}

    def test_of_rows_drawn_the_search_of_all_rows_is_returned(self, blobs: Blobs) -> None:
        found = select(
            blobs,
            algo="bpso",
            repeats=9,
            resample=0.5,
            n_jobs=2,
            callback=lambda iteration: iteration["run"] == 4,
        )
        assert found.stop == "callback"
        assert found.data["rows"] == 60

    def test_what_a_callback_raises_arrives(self, blobs: Blobs) -> None:
        def fail(iteration: Iteration) -> None:
            raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            select(
                blobs, algo="bpso", random_state=1, repeats=4, max_evals=90, n_jobs=2, callback=fail
            )

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_ctrl_c_ends_all_runs_and_keeps_the_best_so_far(self, blobs: Blobs, jobs: int) -> None:
        seen = threading.Event()

        def interrupt() -> None:
            seen.wait(30)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        found = select(
            blobs,
            algo="bpso",
            random_state=1,
            repeats=100_000,
            max_evals=300,
            n_jobs=jobs,
            callback=lambda iteration: seen.set() if iteration["run"] > 5 else None,
            on_interrupt="return",
        )
        assert found.stop == "interrupted"
        # Some runs had ended by then, and are compared.
        assert 2 <= len(stability_of(found).runs) < 100_000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"repeats": 0}, "repeats is 0, expected a whole number from 1 to 100000"),
        ({"repeats": 2.5}, "repeats is 2.5, expected a whole number from 1 to 100000"),
        ({"resample": 0.8}, "resample needs repeats: one run has no stability"),
        (
            {"repeats": 2, "resample": 1.5},
            "resample is 1.5, expected a share of the rows between 0 and 1",
        ),
        (
            {"repeats": 2, "checkpoint": "run.ckpt"},
            "a checkpoint is for one search, not for several",
        ),
        (
            {"repeats": 2, "resample": 0.5, "cv": [(range(30), range(30, 60))]},
            "cv lists row numbers, but some rows are held out or not drawn",
        ),
        (
            {"repeats": 2, "resample": 0.5, "scorer": lambda masks: [0.5] * len(masks)},
            "rows cannot be held out or drawn: a scorer has its own",
        ),
    ],
)
def test_what_cannot_be_repeated_is_refused(
    blobs: Blobs, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecError) as error:
        select(blobs, max_evals=60, **settings)  # type: ignore[arg-type]
    assert str(error.value) == message
