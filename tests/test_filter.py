"""Filters: against naive counts, as selectors, as algorithms and before a search."""

import json
from collections.abc import Callable
from math import log2, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal
from published import table_path
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from swarmrs import FilterSelector, SwarmSelector, rank, select
from swarmrs.exceptions import DataError, SpecError, SwarmrsWarning

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


@pytest.mark.filterwarnings("ignore::swarmrs.exceptions.SwarmrsWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        FilterSelector(),
        FilterSelector("mi", n_features=2),
        FilterSelector("fcbf"),
        FilterSelector("f"),
        FilterSelector("mrmr", n_features=3),
        FilterSelector("relieff"),
        FilterSelector("rks", random_state=1),
    ]
)
def test_scikit_learn_checks(
    estimator: FilterSelector, check: Callable[[FilterSelector], None]
) -> None:
    check(estimator)


def entropy(classes: list[int]) -> float:
    shares = [classes.count(code) / len(classes) for code in set(classes)]
    return -sum(share * log2(share) for share in shares)


def cuts(rows: list[tuple[float, int]]) -> list[float]:
    """Give the cuts of sorted rows by Fayyad and Irani's rule, word by word."""
    values, classes = [value for value, _ in rows], [code for _, code in rows]
    places = [at for at in range(1, len(rows)) if values[at - 1] < values[at]]
    if not places:
        return []
    n, h, k = len(rows), entropy(classes), len(set(classes))

    def after(at: int) -> float:
        return (at * entropy(classes[:at]) + (n - at) * entropy(classes[at:])) / n

    # Rounded, so that cuts that are equal but for the last bits tie and the first one wins.
    at = min(places, key=lambda at: round(after(at), 10))
    left, right = classes[:at], classes[at:]
    delta = log2(3**k - 2) - (
        k * h - len(set(left)) * entropy(left) - len(set(right)) * entropy(right)
    )
    if not h - after(at) > max(1e-12, (log2(len(places)) + delta) / n):
        return []
    middle = (values[at - 1] + values[at]) / 2
    return [*cuts(rows[:at]), middle, *cuts(rows[at:])]


def discretized(column: NDArray[np.float64], codes: NDArray[Any]) -> NDArray[np.intp]:
    pairs = sorted(zip(column.tolist(), codes.tolist(), strict=True))
    return np.searchsorted(cuts(pairs), column, side="left")


def tables() -> list[pytest.ParameterSet]:
    rng = np.random.default_rng(3)
    codes = rng.integers(4, size=90)
    ties = (rng.integers(6, size=(90, 8)) + codes[:, None] * np.arange(8) // 3).astype(float)
    named = {"wine": load_wine, "iris": load_iris, "breast_cancer": load_breast_cancer}
    given = [pytest.param(*load(return_X_y=True), id=name) for name, load in named.items()]
    return [*given, pytest.param(ties, codes, id="ties")]


@pytest.mark.parametrize(("x", "y"), tables())
def test_levels_and_scores_are_those_of_a_naive_count(
    x: NDArray[np.float64], y: NDArray[np.intp]
) -> None:
    su, mi = rank(x, y), rank(x, y, by="mi")
    columns = [discretized(column, y) for column in x.T]
    for ranking in (su, mi):
        by_index = ranking.frame.sort("index")
        assert by_index["levels"].to_list() == [len(np.unique(column)) for column in columns]
        for column, score in zip(columns, by_index["score"], strict=True):
            shared = mutual_info_score(column, y) / np.log(2)
            most = entropy(column.tolist()) + entropy(y.tolist())
            expected = shared if ranking is mi else 2 * shared / most
            assert score == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("x", "y"), tables())
def test_mutual_information_is_that_of_scikit_learn_on_levels(
    x: NDArray[np.float64], y: NDArray[np.intp]
) -> None:
    levels = np.column_stack([discretized(column, y) for column in x.T])
    expected = mutual_info_classif(levels, y, discrete_features=True) / np.log(2)
    found = rank(x, y, by="mi").frame.sort("index")["score"].to_numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


class Naive:
    """What columns share, by scikit-learn's counts; the two filters by their definitions."""

    def __init__(self, x: NDArray[np.float64], y: NDArray[np.intp]) -> None:
        columns = [discretized(column, y) for column in x.T]
        self.relevance = [self.shared(column, y) for column in columns]
        self.pairs = [[self.shared(a, b) for b in columns] for a in columns]
        self.ranking = sorted(range(len(columns)), key=lambda f: (-self.relevance[f], f))

    @staticmethod
    def shared(a: NDArray[np.intp], b: NDArray[np.intp]) -> float:
        most = entropy(a.tolist()) + entropy(b.tolist())
        shared = mutual_info_score(a, b) / np.log(2)
        return float(np.float32(2 * shared / most)) if most > 0 and shared > 1e-12 else 0.0

    def fcbf(self) -> list[int]:
        left, chosen = list(self.ranking), []
        while left:
            chosen.append(left[0])
            left = [q for q in left[1:] if self.pairs[chosen[-1]][q] < self.relevance[q] - 1e-8]
        return sorted(chosen)

    def merit(self, subset: list[int]) -> float:
        pairs = [self.pair(a, b) for at, a in enumerate(subset) for b in subset[:at]]
        return sum(self.relevance[f] for f in subset) / sqrt(len(subset) + 2 * sum(pairs))

    def pair(self, a: int, b: int) -> float:
        return 1.0 if self.pairs[a][b] < 1e-6 else self.pairs[a][b]

    def cfs(self) -> list[int]:
        chosen: list[int] = []
        merit = 0.0
        while left := [f for f in self.ranking if f not in chosen]:
            merits = {f: round(self.merit([*chosen, f]), 10) for f in sorted(left)}
            best = max(merits, key=lambda f: merits[f])
            if merits[best] <= merit:
                break
            chosen.append(best)
            merit = merits[best]
        for f in left:
            if not any(self.pair(m, f) > self.relevance[f] + 1e-7 for m in chosen):
                chosen.append(f)
        return sorted(chosen)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize("method", ["fcbf", "cfs"])
def test_filters_choose_what_their_definitions_say(
    load: Callable[..., tuple[NDArray[np.float64], NDArray[np.intp]]], method: str
) -> None:
    x, y = load(return_X_y=True)
    expected = getattr(Naive(x, y), method)()
    assert np.flatnonzero(FilterSelector(method).fit(x, y).support_).tolist() == expected
    result = select((x, y), algo=method, n_jobs=2)
    assert list(result.selected_indices) == expected
    assert (result.evaluations.total, result.stop) == (1, "finished")


def test_settings_reach_the_filter() -> None:
    # Two halves of the class that share nothing: each other's stand-in only if so ruled.
    y = np.arange(64) % 4
    x = np.c_[y % 2, y // 2, np.arange(64) // 4 % 2]
    assert select((x, y), algo="cfs").selected_indices == (0,)
    loose = select((x, y), algo="cfs", algo_params={"zero_as_one": False})
    assert loose.selected_indices == (0, 1)
    assert select((x, y), algo="fcbf").selected_indices == (0, 1)
    assert select((x, y), algo="fcbf", max_features=1).selected_indices == (0,)
    forced = select((x, y), algo="fcbf", include=[2], exclude=[0], max_features=2)
    assert forced.selected_indices == (1, 2)


class TestFilterSelector:
    def test_scores_and_ranks_are_those_of_rank(self, blobs: Blobs) -> None:
        for method in ("su", "mi", "f", "mrmr", "relieff"):
            selector = FilterSelector(method, n_features=2).fit(*blobs)
            by_index = rank(blobs, by=method).frame.sort("index")
            assert np.flatnonzero(selector.support_).tolist() == [1, 4]
            if method == "mrmr":
                # Two are selected in turn, the others follow.
                selector = FilterSelector(method).fit(*blobs)
            assert selector.scores_.tolist() == by_index["score"].to_list()
            assert selector.ranking_.tolist() == by_index["rank"].to_list()
            if method in ("su", "mi"):
                assert selector.levels_ is not None
                assert selector.levels_.tolist() == by_index["levels"].to_list()
            else:
                assert selector.levels_ is None

    def test_number_and_threshold_hold(self) -> None:
        x, y = load_wine(return_X_y=True)
        for method in ("su", "mi", "f", "mrmr", "relieff", "fcbf", "cfs"):
            for most in (1, 3, 99):
                chosen = FilterSelector(method, n_features=most).fit(x, y).support_
                assert 1 <= chosen.sum() <= most
        selector = FilterSelector("su", threshold=0.4).fit(x, y)
        assert (selector.support_ == (selector.scores_ > 0.4)).all()
        assert 0 < selector.support_.sum() < 13

    def test_nothing_relevant_leaves_the_first_with_a_warning(self) -> None:
        x, y = np.ones((8, 3)), np.arange(8) % 2
        for method in ("su", "mi", "f", "mrmr", "relieff", "fcbf", "cfs"):
            with pytest.warns(SwarmrsWarning, match="no feature is relevant enough"):
                selector = FilterSelector(method).fit(x, y)
            assert selector.support_.tolist() == [True, False, False]

    def test_frames_keep_their_names_and_types(self, blobs: Blobs) -> None:
        frame = pl.from_numpy(blobs[0], schema=list("abcdef"))
        frame = frame.with_columns((pl.col("b", "e") * 1000).cast(pl.Int16))
        selector = FilterSelector("fcbf").set_output(transform="polars").fit(frame, blobs[1])
        assert selector.get_feature_names_out().tolist() == ["b", "e"]
        reduced = selector.transform(frame)
        assert isinstance(reduced, pl.DataFrame)
        assert_frame_equal(reduced, frame.select("b", "e"))

    def test_it_sees_training_rows_only_in_a_pipeline(self, blobs: Blobs) -> None:
        pipe = make_pipeline(FilterSelector("su"), SwarmSelector(algo="sfs", cv=3))
        assert clone(pipe).fit(*blobs)[-1].n_features_in_ == 2

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"method": "chi2"}, "unknown method 'chi2'"),
            ({"n_features": 0}, "n_features is 0, expected a whole number of 1 or more"),
            ({"n_features": "2"}, "n_features is '2', expected a whole number of 1 or more"),
            ({"n_features": True}, "n_features is True, expected a whole number of 1 or more"),
            ({"threshold": "high"}, "threshold is 'high', expected a number"),
            ({"threshold": float("nan")}, "threshold is nan, expected a number"),
            ({"method": "fcbf", "threshold": 0.1}, "threshold is 0.1, but 'fcbf' has none"),
            ({"method": "mrmr", "threshold": 0.1}, "threshold is 0.1, but 'mrmr' has none"),
        ],
    )
    def test_bad_settings_are_refused(
        self, blobs: Blobs, settings: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(SpecError, match=message):
            FilterSelector(**settings).fit(*blobs)


class TestPrescreen:
    def test_the_search_sees_survivors_only(self, blobs: Blobs) -> None:
        for rule in ("su>0", "top=2", "fcbf"):
            result = select(blobs, algo="bpso", prescreen=rule, max_evals=90, random_state=1)
            assert result.prescreen == {"rule": rule, "candidates": 6, "survivors": 2}
            assert set(result.selected_indices) <= {1, 4}
            assert {name for point in result.front for name in point.selected} <= {"x1", "x4"}
        assert select(blobs, algo="bpso", max_evals=90).prescreen is None

    def test_included_columns_survive(self, blobs: Blobs) -> None:
        result = select(
            blobs,
            algo="bpso",
            prescreen="top=1",
            include=[0],
            exclude=[1],
            max_evals=90,
            random_state=1,
        )
        assert result.selected_indices in ((0,), (0, 4))
        assert result.prescreen == {"rule": "top=1", "candidates": 4, "survivors": 1}

    def test_the_selector_passes_it_on(self, blobs: Blobs) -> None:
        selector = SwarmSelector(algo="bpso", prescreen="top=1", max_evals=60, random_state=1)
        selector.fit(*blobs)
        assert selector.result_.prescreen == {"rule": "top=1", "candidates": 6, "survivors": 1}
        assert selector.support_.sum() == 1

    def test_nothing_left_is_an_error(self, blobs: Blobs) -> None:
        with pytest.raises(DataError, match="no column survives the prescreen su>0: none of 4"):
            select(blobs, prescreen="su>0", exclude=[1, 4])

    @pytest.mark.parametrize("rule", ["su", "top=0", "top=x", "relief", ""])
    def test_unknown_rules_are_refused(self, blobs: Blobs, rule: str) -> None:
        with pytest.raises(
            SpecError, match="expected fcbf, cfs, su>0 or top=K with K of 1 or more"
        ):
            select(blobs, prescreen=rule)

    def test_on_the_command_line(self, cli: Callable[..., Any], blobs_csv: Path) -> None:
        args = ("select", blobs_csv, "-q", "--seed", 1, "--max-evals", 90, "--prescreen", "fcbf")
        code, out, _ = cli(*args, "--format", "json")
        assert code == 0
        found = json.loads(out)
        assert found["prescreen"] == {"rule": "fcbf", "candidates": 6, "survivors": 2}
        assert "prescreen     fcbf leaves 2 features of 6\n" in cli(*args).out
        code, _, err = cli(*args, "--exclude", "b", "--exclude", "e")
        assert code == 1
        assert err.splitlines()[1].startswith("hint: search without a prescreen")
        assert cli(*args[:-1], "best").code == 2


def test_a_table_of_genes_is_filtered_alike_on_any_number_of_threads() -> None:
    table = pl.read_parquet(table_path("11tumor"))
    one, two = (rank(table, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.frame.equals(two.frame)
    assert 0 < one.relevant < one.ranked == 12533
