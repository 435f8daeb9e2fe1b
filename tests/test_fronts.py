"""The Pareto front of a search: its points, its knee, and which of its subsets is picked."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator, SwarmSelector, algorithms, select
from swarmrs.exceptions import SpecError
from swarmrs.search._results._front import Front, FrontPoint, Pick

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]

SEEKERS = [card.id for card in algorithms() if card.seeks_front]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]


@pytest.fixture(scope="module")
def waves() -> Blobs:
    """Return two classes and 12 weakly relevant features: a front of many points."""
    rng = np.random.default_rng(3)
    codes = np.arange(90) % 2
    x = rng.normal(size=(90, 12)) + codes[:, None] * np.linspace(1.2, 0.3, 12)
    return x.round(3), np.array(["calm", "rough"])[codes]


def quick(data: Blobs, algo: str = "mopbpso", **settings: Any) -> Any:
    return select(data, algo=algo, random_state=1, **{"max_evals": 500} | settings)


def points(*corners: tuple[int, float]) -> tuple[FrontPoint, ...]:
    return tuple(
        FrontPoint(size, error, error, {"error": error}, ("x",) * size, tuple(range(size)), error)
        for size, error in corners
    )


class TestFront:
    @pytest.mark.parametrize("algo", [*SEEKERS, "bpso", "sffs", "vlpso"])
    def test_sizes_rise_and_errors_fall(self, waves: Blobs, algo: str) -> None:
        front = quick(waves, algo, algo_params={"population": 10} if algo == "vlpso" else {}).front
        assert len(front) > 2
        assert [point.size for point in front] == sorted({point.size for point in front})
        errors = [point.error for point in front]
        assert errors == sorted(set(errors), reverse=True)

    def test_groups_can_be_the_second_cost(self, waves: Blobs) -> None:
        # Without a word about groups they are found, as for algorithms that cannot do without.
        result = quick(waves, algo_params={"second": "sim"})
        assert result.groups is not None
        assert quick(waves).groups is None
        given = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
        by_groups, by_size = (
            quick(waves, feature_groups=given, algo_params={"second": second})
            for second in ("sim", "size")
        )
        assert len(by_groups.groups) == len(by_size.groups) == 3
        # The same start, but other leaders.
        assert by_groups.trace["hypervolume"][0] != by_size.trace["hypervolume"][0]

    def test_its_points_have_the_scores_of_the_evaluator(self, waves: Blobs) -> None:
        front = quick(waves, objective={"kind": "weighted", "alpha": 0.8}).front
        masks = np.zeros((len(front), 12), dtype=bool)
        for mask, point in zip(masks, front, strict=True):
            mask[list(point.selected_indices)] = True
            assert point.selected == tuple(f"x{at}" for at in point.selected_indices)
            assert point.size == len(point.selected)
        measured = Evaluator(*waves).measure(masks)
        for point, row in zip(front, measured, strict=True):
            assert point.scores == dict(zip(row.dtype.names, row.tolist(), strict=True))
            assert point.error == point.scores["error"]
            # Decimal fractions are not exact in binary.
            assert point.cost == pytest.approx(0.8 * point.error + 0.2 * point.size / 12, abs=1e-12)

    @pytest.mark.parametrize("algo", ["mopbpso", "random", "sbs"])
    def test_the_knee_is_farthest_below_the_line_between_the_ends(
        self, waves: Blobs, algo: str
    ) -> None:
        front = quick(waves, algo).front
        corners = np.array([(point.size, point.error) for point in front])
        unit = (corners - corners.min(axis=0)) / np.ptp(corners, axis=0)
        start, line = unit[0], unit[-1] - unit[0]
        below = (start - unit) @ np.array([-line[1], line[0]]) / np.hypot(*line)
        assert front.knee is front[int(np.argmax(below.round(9)))]

    @pytest.mark.parametrize("algo", ["mopbpso", "random"])
    def test_hypervolume_is_what_a_fine_grid_counts(self, waves: Blobs, algo: str) -> None:
        front = quick(waves, algo, cv=[(np.arange(60), np.arange(60, 90))]).front
        # Errors are thirtieths and sizes twelfths: middles of cells are inside or outside.
        errors, shares = (np.arange(30) + 0.5) / 30, (np.arange(12) + 0.5) / 12
        beaten = np.zeros((30, 12), dtype=bool)
        for point in front:
            beaten |= (errors[:, None] > point.error) & (shares > point.size / 12)
        assert front.hypervolume == pytest.approx(beaten.mean(), abs=1e-12)

    def test_it_is_a_sequence(self) -> None:
        some = points((1, 0.5), (3, 0.2), (6, 0.1))
        front = Front(some, some[1], 0.7)
        assert len(front) == 3
        assert front[0] is some[0]
        assert front[1:] == some[1:]
        assert list(front) == list(some)
        assert some[2] in front
        assert [front.at_most(most) for most in (0, 1, 5, 9)] == [None, some[0], some[1], some[2]]
        frame = front.to_frame()
        assert frame["size"].to_list() == [1, 3, 6]
        assert frame["is_knee"].to_list() == [False, True, False]
        assert frame["selected"].to_list()[0] == ["x"]
        assert Front((), None, 0.0).to_frame().height == 0

    def test_it_goes_into_json_and_through_pickle(self, waves: Blobs) -> None:
        result = quick(waves)
        front, plain = result.front, result.to_dict()["front"]
        assert json.loads(json.dumps(plain)) == plain
        assert plain["points"][plain["knee"]]["selected"] == list(front.knee.selected)
        assert [point["error"] for point in plain["points"]] == [point.error for point in front]
        assert pickle.loads(pickle.dumps(result)).front == front

    @pytest.mark.parametrize("algo", SEEKERS)
    def test_a_search_for_a_front_notes_its_growth(self, waves: Blobs, algo: str) -> None:
        result = quick(waves, algo)
        trace = result.trace
        assert trace["hypervolume"].is_sorted()
        # Nothing was crowded out: its own front is that of all subsets tried.
        assert trace["hypervolume"][-1] == pytest.approx(result.front.hypervolume, abs=1e-12)
        assert trace["front_size"][-1] == len(result.front)

    @pytest.mark.parametrize("algo", SEEKERS)
    def test_what_is_forced_holds_for_every_point(self, waves: Blobs, algo: str) -> None:
        front = quick(waves, algo, include=["x3"], exclude=["x0"], max_features=4).front
        assert {point.size for point in front} <= {2, 3, 4}
        assert all("x3" in point.selected and "x0" not in point.selected for point in front)


class TestPick:
    @pytest.mark.parametrize("algo", [*SEEKERS, "bpso", "sffs"])
    def test_every_search_returns_what_is_picked(self, waves: Blobs, algo: str) -> None:
        best = quick(waves, algo)
        assert (best.pick, best.front[-1].selected) == ("best", best.selected)
        for pick, point in [
            ("knee", best.front.knee),
            ("size<=3", best.front.at_most(3)),
            ("size <= 12", best.front[-1]),
        ]:
            picked = quick(waves, algo, pick=pick)
            assert picked.pick == pick.replace(" ", "")
            assert picked.selected == point.selected
            assert picked.selected_indices == point.selected_indices
            assert np.flatnonzero(picked.support).tolist() == list(point.selected_indices)
            assert (picked.cost, picked.scores, picked.size) == point[2:4] + point[:1]
            assert picked.front == best.front
            assert picked.trace.equals(best.trace)

    def test_the_best_may_lie_off_the_front_of_error(self, waves: Blobs) -> None:
        result = quick(
            waves,
            "vlpso",
            algo_params={"population": 10},
            objective="hybrid",
            estimator=KNeighborsClassifier(1, metric="manhattan"),
            scale="minmax",
        )
        assert all(result.cost <= point.cost for point in result.front)

    def test_a_finished_run_can_be_picked_from_again(self, waves: Blobs, tmp_path: Path) -> None:
        path = tmp_path / "run.ckpt"
        first = quick(waves, checkpoint=path)
        assert quick(waves, checkpoint=path, pick="knee").selected == first.front.knee.selected

    def test_a_scorer_from_outside_tells_its_error_only(self, blobs: Blobs) -> None:
        def misses(masks: NDArray[np.bool_]) -> NDArray[np.float64]:
            return np.asarray(1 - masks[:, :3].sum(axis=1) / 4)

        result = quick(blobs, "sfs", scorer=misses, pick="size<=2")
        assert (result.size, result.scores["error"], result.scores["matthews_corrcoef"]) == (
            2,
            0.5,
            None,
        )
        assert [point.error for point in result.front] == [0.75, 0.5, 0.25]

    def test_an_estimator_picks(self, waves: Blobs) -> None:
        settings: dict[str, Any] = {"max_evals": 500, "random_state": 1, "pick": "knee"}
        selector = SwarmSelector(algo="mopbpso", **settings).fit(*waves)
        result = select(waves, algo="mopbpso", **settings)
        assert selector.support_.tolist() == result.support.tolist()
        assert selector.front_ == result.front
        assert selector.front_.knee is not None
        assert selector.front_.knee.selected == tuple(selector.get_feature_names_out())

    @pytest.mark.parametrize(
        "pick", ["worst", "size<=0", "size<=-1", "size<=2.5", "size=3", 7, None]
    )
    def test_what_is_no_pick_is_refused(self, blobs: Blobs, pick: Any) -> None:
        with pytest.raises(SpecError, match=r"pick is .*, expected"):
            select(blobs, pick=pick)

    def test_a_pick_smaller_than_what_is_included_is_refused_at_once(self, blobs: Blobs) -> None:
        with pytest.raises(SpecError, match="but 2 features are always in"):
            select(blobs, include=["x0", "x1"], pick="size<=1")

    def test_nothing_that_small_is_an_error_with_a_way_out(self, blobs: Blobs) -> None:
        with pytest.raises(SpecError, match="the smallest subset tried has 5") as error:
            select(blobs, algo="sbs", max_iter=2, pick="size<=2")
        assert error.value.hint is not None
        assert "max_features=2" in error.value.hint

    def test_a_rule_is_read_as_it_is_meant(self) -> None:
        assert Pick.read("best", 3) == Pick("best")
        assert Pick.read("size<=3", 3) == Pick("size<=3", 3)


class TestCommand:
    def test_a_search_for_a_front_prints_it(self, cli: Cli, blobs_csv: Path) -> None:
        run = ("select", blobs_csv, "-a", "mopbpso", "--seed", 1, "--max-evals", 500, "-q")
        lines = cli(*run, "--pick", "knee").out.splitlines()
        assert ["pick", "knee of the Pareto front"] in [line.split(maxsplit=1) for line in lines]
        start = next(at for at, line in enumerate(lines) if line.startswith("Pareto front "))
        assert lines[start + 1].split() == ["SIZE", "ERROR", "FEATURES"]
        knee = next(line for line in lines[start:] if "knee" in line)
        assert "selected" in knee
        plain = json.loads(cli(*run, "-f", "json").out)
        assert len(lines) - start - 2 == len(plain["front"]["points"])
        assert plain["pick"] == "best"

    def test_others_print_it_where_a_pick_is_asked_for(self, cli: Cli, blobs_csv: Path) -> None:
        run = ("select", blobs_csv, "-a", "sfs", "--seed", 1, "-q")
        assert "hypervolume" not in cli(*run).out
        out = cli(*run, "--pick", "size<=1").out
        lines = [line.split(maxsplit=1) for line in out.splitlines()]
        assert ["pick", "size<=1, the least error among these"] in lines
        assert ["selected", "1 of 6 features"] in lines
        assert "hypervolume" in out

    def test_a_pick_out_of_reach_is_one_line_and_a_hint(self, cli: Cli, blobs_csv: Path) -> None:
        code, out, err = cli(
            *("select", blobs_csv, "-a", "sbs", "--max-iter", 2, "--pick", "size<=2", "-q")
        )
        assert (code, out) == (2, "")
        assert err.startswith(
            "error: --pick is size<=2, but the smallest subset tried has 5\nhint: "
        )
