"""Columns are ranked, shown and refused as documented."""

import json
from collections.abc import Callable
from fractions import Fraction
from math import inf, log2
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import swarmrs
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.feature_selection import f_classif
from swarmrs import FilterSelector, rank
from swarmrs.exceptions import DataError, SpecError, SwarmrsWarning

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]
Cli = Callable[..., Any]


def test_the_best_come_first_and_equals_by_their_index() -> None:
    y = np.arange(40) % 2
    noise = np.arange(40) // 2 % 5
    ranking = rank(np.c_[noise, 2 * y, noise, -y], y)
    assert ranking.frame["index"].to_list() == [1, 3, 0, 2]
    assert ranking.frame["rank"].to_list() == [1, 2, 3, 4]
    assert ranking.frame["score"].to_list() == [1.0, 1.0, 0.0, 0.0]
    assert ranking.frame["levels"].to_list() == [2, 2, 1, 1]
    assert (ranking.ranked, ranking.relevant) == (4, 2)
    assert ranking.top(1).frame["index"].to_list() == [1]


def test_what_can_mislead_is_warned_of() -> None:
    y = np.arange(40) % 2
    with pytest.warns(SwarmrsWarning, match="1 feature equal to the target: 'x1'"):
        rank(np.c_[np.arange(40) // 2 % 5, y], y)


def test_scaling_and_threads_change_nothing() -> None:
    x, y = load_wine(return_X_y=True)
    frame = rank(x, y).frame
    assert rank(np.exp(x / x.max(axis=0)), y, n_jobs=2).frame.equals(frame)


def test_excluded_columns_are_not_ranked(blobs: Blobs) -> None:
    x, y = blobs
    ranking = rank(x, y, exclude=[1])
    assert 1 not in ranking.frame["index"]
    assert (ranking.frame["index"][0], ranking.ranked, ranking.relevant) == (4, 5, 1)


def test_bad_calls_are_refused(blobs: Blobs) -> None:
    with pytest.raises(SpecError, match="unknown measure 'chi2'"):
        rank(blobs, by="chi2")
    with pytest.raises(SpecError, match="top is 0, expected a whole number of 1 or more"):
        rank(blobs, top=0)
    with pytest.raises(SpecError, match="top is 0, expected a whole number of 1 or more"):
        rank(blobs).top(0)
    with pytest.raises(DataError, match="has one class"):
        rank(np.eye(3), [1, 1, 1])


def test_a_table_ranks_as_its_file(blobs_csv: Path) -> None:
    table = swarmrs.read_table(blobs_csv, "tree")
    assert rank(table).frame.equals(rank(blobs_csv, "tree").frame)


MEASURES = ("su", "mi", "f", "mrmr", "relieff")
XY = tuple[NDArray[np.float64], NDArray[np.intp]]


def made() -> XY:
    """Return 90 rows of three classes of equal size; some features repeat others with noise."""
    rng = np.random.default_rng(5)
    y = np.arange(90) % 3
    x = rng.normal(size=(90, 24))
    x[:, :12] += y[:, None] * rng.normal(size=12)
    x[:, 12:15] += x[:, :3]
    return x, y


TABLES: dict[str, Callable[[], XY]] = {
    "wine": lambda: load_wine(return_X_y=True),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "made": made,
}

# The orders of mrmr-selection 0.2.8, `mrmr_classif` with its defaults.
ORDERS = {
    "wine": "6 9 12 11 0 10 5 3 1 8 7 2 4",
    "breast_cancer": "27 22 7 20 2 23 0 6 26 3 25 5 21 10 12 24 13 28 1 17 4 29 8 15 16 14 19 9 "
    "11 18",
    "iris": "2 3 0 1",
    "made": "11 13 9 0 6 2 4 8 12 7 5 21 14 1 3 23 19 15 17 18 10 20 22 16",
}
# The first weights of skrebate 0.8.4, `ReliefF(n_neighbors=10, categorical_features=[])`.
WEIGHTS = {
    "breast_cancer": [0.0830207626580, 0.0583546355406, 0.0827498400231, 0.0711697439462],
    "made": [0.0942871123030, 0.0030119784773, 0.0526893301924, 0.0087897357480],
}


def scores(x: NDArray[np.float64], y: NDArray[np.intp], by: str) -> NDArray[np.float64]:
    """Return the score of each feature, in the order of the table."""
    return rank(x, y, by=by).frame.sort("index")["score"].to_numpy()


@pytest.mark.parametrize("by", MEASURES)
def test_threads_and_top_change_nothing(by: str) -> None:
    x, y = made()
    ranking = rank(x, y, by=by)
    assert rank(x, y, by=by, n_jobs=2).frame.equals(ranking.frame)
    top = rank(x, y, by=by, top=5)
    assert top.frame.equals(ranking.frame.head(5))
    assert (top.ranked, top.relevant) == (24, ranking.relevant)
    assert ranking.relevant == (ranking.frame["score"] > 0).sum()


@pytest.mark.parametrize("by", MEASURES)
def test_excluded_columns_count_for_nothing(by: str) -> None:
    x, y = made()
    excluded = [0, 3, 13]
    expected = rank(np.delete(x, excluded, axis=1), y, by=by).frame["score"]
    # Also of a table that was read with all its columns.
    for data in ((x, y), swarmrs.read_table((x, y))):
        ranking = rank(data, by=by, exclude=excluded)
        assert ranking.frame["score"].equals(expected)
        assert not set(ranking.frame["index"]) & set(excluded)


@pytest.mark.parametrize("by", ["f", "mrmr", "relieff"])
def test_measures_of_values_have_no_levels(by: str) -> None:
    assert rank(made(), by=by).frame.columns == ["rank", "index", "feature", "score"]


class TestSupport:
    """Random-subspace support, with permuted copies of the features as the level of noise."""

    @staticmethod
    def planted(seed: int, n_planted: int, width: int = 60) -> tuple[NDArray[Any], NDArray[Any]]:
        rng = np.random.default_rng([17, seed])
        x, y = rng.normal(size=(60, width)), np.arange(60) % 2
        x[:, :n_planted] += 2.0 * y[:, np.newaxis]
        return x, y

    def test_planted_features_come_first_and_are_no_noise(self) -> None:
        ranking = rank(self.planted(1, 3), by="rks", random_state=1)
        first = ranking.frame.head(3)
        assert set(first["index"]) == {0, 1, 2}
        assert not first["is_noise"].any()
        assert (first["score"] > 3 * first["standard_error"]).all()
        assert ranking.relevant == (~ranking.frame["is_noise"]).sum()
        # What is noise comes behind all that is not.
        assert ranking.frame["is_noise"].is_sorted()

    def test_noise_is_hardly_ever_taken_for_more(self) -> None:
        # Features and their copies are exchangeable: on average one feature comes before the best
        # copy, and its number has a geometric distribution.
        found = [rank(self.planted(seed, 0), by="rks", random_state=seed) for seed in range(20)]
        assert sum(ranking.relevant for ranking in found) <= 45

    def test_a_seed_fixes_all_of_it(self) -> None:
        data = self.planted(2, 2)
        ranking = rank(data, by="rks", random_state=5)
        assert ranking.seed == ranking.to_dict()["seed"] == 5
        again = rank(data, by="rks", random_state=5, n_jobs=2)
        assert again.frame.equals(ranking.frame)
        assert not rank(data, by="rks", random_state=6).frame.equals(ranking.frame)
        assert rank(data, by="f", random_state=6).seed is None

    def test_excluded_columns_count_for_nothing(self) -> None:
        x, y = self.planted(3, 4)
        whole = rank(x, y, by="rks", random_state=1, exclude=[0, 9])
        part = rank(np.delete(x, [0, 9], axis=1), y, by="rks", random_state=1)
        assert whole.frame["score"].equals(part.frame["score"])
        assert not set(whole.frame["index"]) & {0, 9}

    def test_features_below_the_first_stage_follow_in_order_of_f(self) -> None:
        x, y = self.planted(4, 3, width=1100)
        ranking = rank(x, y, by="rks", random_state=1)
        untried = ranking.frame.filter(pl.col("score").is_nan())
        assert untried.height > 50
        assert untried["is_noise"].all()
        by_f = f_classif(x[:, untried["index"].to_list()], y)[0]
        assert (np.diff(by_f) <= 1e-9).all()

    def test_the_selector_takes_what_is_better_than_noise(self) -> None:
        x, y = self.planted(5, 3)
        ranking = rank(x, y, by="rks", random_state=1)
        selector = FilterSelector("rks", random_state=1).fit(x, y)
        kept = ranking.frame.filter(~pl.col("is_noise"))["index"].sort().to_list()
        assert selector.get_support(indices=True).tolist() == kept
        assert selector.ranking_[ranking.frame["index"][0]] == 1
        with pytest.raises(SpecError, match=r"threshold is 0\.1, but 'rks' has none"):
            FilterSelector("rks", threshold=0.1).fit(x, y)

    @pytest.mark.parametrize("n_rows", [4, 6, 9, 10, 12])
    def test_a_few_rows_are_enough(self, n_rows: int) -> None:
        x, y = self.planted(6, 1, width=4)
        ranking = rank(x[:n_rows], y[:n_rows], by="rks", random_state=1)
        assert ranking.frame.height == 4

    def test_the_command_marks_noise(self, cli: Cli) -> None:
        done = cli("rank", "sklearn:wine", "--by", "rks", "--seed", 1)
        assert done.code == 0
        assert "ranked by     rks, gain in accuracy of random subsets with the feature, seed 1" in (
            done.out
        )
        assert done.out.splitlines()[-1].endswith("  noise")
        rows = json.loads(cli("rank", "sklearn:wine", "--by", "rks", "--format", "json").out)
        assert rows["ranking"][0]["is_noise"] is False
        assert isinstance(rows["seed"], int)


class TestFStatistic:
    @pytest.mark.parametrize("name", TABLES)
    def test_it_is_that_of_scikit_learn(self, name: str) -> None:
        x, y = TABLES[name]()
        np.testing.assert_allclose(scores(x, y, "f"), f_classif(x, y)[0], rtol=1e-9)

    @staticmethod
    def exact(column: NDArray[np.float64], y: NDArray[np.intp]) -> float:
        """Return F by the definition, in fractions, rounded once."""
        parts = [[Fraction(x) for x in column[y == label].tolist()] for label in np.unique(y)]
        n, k = len(column), len(parts)
        mean = sum(map(sum, parts), Fraction(0)) / n
        means = [sum(part, Fraction(0)) / len(part) for part in parts]
        between = sum(
            (len(part) * (m - mean) ** 2 for part, m in zip(parts, means, strict=True)), Fraction(0)
        )
        within = sum(
            ((x - m) ** 2 for part, m in zip(parts, means, strict=True) for x in part), Fraction(0)
        )
        return float((between / (k - 1)) / (within / (n - k)))

    @pytest.mark.parametrize("offset", [0.0, 1e9, -1e15, 1e300])
    @pytest.mark.parametrize("spread", [1e-7, 1.0, 1e3])
    def test_no_offset_costs_digits(self, offset: float, spread: float) -> None:
        rng = np.random.default_rng(8)
        y = rng.integers(4, size=300)
        noise = spread * rng.normal(size=(300, 4))
        noise += spread * y[:, None] * [0.0, 0.01, 1.0, 1e4]
        # A noise of a few units in the last place of the offset is what is left of a finer one.
        x = offset + np.maximum(1.0, abs(offset) * 1e-15 / spread) * noise
        expected = [self.exact(column, y) for column in x.T]
        np.testing.assert_allclose(scores(x, y, "f"), expected, rtol=1e-11)

    def test_features_without_variance(self) -> None:
        y = np.arange(12) % 3
        x = np.c_[np.full(12, 0.1), y**2 / 10, np.arange(12) * 5 % 12]
        ranking = rank(x, y, by="f")
        assert ranking.frame["index"].to_list() == [1, 2, 0]
        assert (ranking.frame["score"][0], ranking.frame["score"][2]) == (inf, 0.0)
        assert ranking.relevant == 2
        # JSON has no infinity.
        assert ranking.to_dict()["ranking"][0]["score"] is None  # type: ignore[index]
        json.dumps(ranking.to_dict(), allow_nan=False)


class TestMrmr:
    @pytest.mark.parametrize("name", ORDERS)
    def test_the_order_is_that_of_mrmr_selection(self, name: str) -> None:
        ranking = rank(TABLES[name](), by="mrmr")
        assert ranking.frame["index"].to_list() == [int(index) for index in ORDERS[name].split()]

    @pytest.mark.parametrize("name", TABLES)
    def test_scores_are_those_of_the_definition(self, name: str) -> None:
        x, y = TABLES[name]()
        relevance = f_classif(x, y)[0]
        correlation = np.maximum(np.abs(np.corrcoef(x.T)), 0.001)
        selected: list[int] = []
        for index, score in rank(x, y, by="mrmr").frame.select("index", "score").iter_rows():
            quotients = relevance / correlation[:, selected].mean(axis=1) if selected else relevance
            left = np.setdiff1d(np.arange(len(relevance)), selected)
            assert quotients[index] == pytest.approx(quotients[left].max(), rel=1e-9)
            assert score == pytest.approx(quotients[index], rel=1e-9)
            selected.append(index)

    def test_others_follow_by_f(self) -> None:
        rng = np.random.default_rng(2)
        y = np.arange(40) % 2
        x = rng.normal(size=(40, 230)) + y[:, None] * rng.normal(size=230)
        x[:, 7] = 0.5
        found = rank(x, y, by="mrmr").frame["index"].to_list()
        assert found[-1] == 7
        assert sorted(found) == list(range(230))
        by_f = rank(x, y, by="f").frame["index"].to_list()
        assert found[200:] == [index for index in by_f if index not in found[:200]]
        more = rank(x, y, by="mrmr", top=210).frame["index"].to_list()
        assert (more[:200], len(more)) == (found[:200], 210)
        assert more[200:] != found[200:210]

    def test_copies_come_last(self) -> None:
        x, y = load_iris(return_X_y=True)
        ranking = rank(np.c_[x[:, 2], -4 * x[:, 2], x[:, 2]], y, by="mrmr")
        assert ranking.frame["index"].to_list() == [0, 1, 2]
        assert ranking.frame["score"].to_list()[1:] == [0.0, 0.0]


class TestReliefF:
    @pytest.mark.parametrize("name", WEIGHTS)
    def test_weights_are_those_of_skrebate(self, name: str) -> None:
        weights = WEIGHTS[name]
        found = scores(*TABLES[name](), "relieff")[: len(weights)]
        np.testing.assert_allclose(found, weights, rtol=0, atol=1e-12)

    @staticmethod
    def naive(x: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the weights by the definition, row by row."""
        x = (x - x.min(axis=0)) / np.ptp(x, axis=0)
        weights = np.zeros(x.shape[1])
        for row, label in enumerate(y):
            differences = abs(x - x[row])
            distances = differences.sum(axis=1)
            for other in np.unique(y):
                rows = np.flatnonzero((y == other) & (np.arange(len(y)) != row))
                near = rows[np.argsort(distances[rows], kind="stable")[:10]]
                share = -1 if other == label else (y == other).mean() / (y != label).mean()
                weights += share * differences[near].mean(axis=0) / len(y)
        return weights

    @pytest.mark.parametrize("name", ["wine", "breast_cancer", "made"])
    def test_weights_are_those_of_the_definition(self, name: str) -> None:
        x, y = TABLES[name]()
        np.testing.assert_allclose(scores(x, y, "relieff"), self.naive(x, y), rtol=0, atol=1e-12)

    def test_an_interaction_is_seen_that_no_feature_shows_alone(self) -> None:
        rng = np.random.default_rng(4)
        x = rng.random((400, 5))
        y = ((x[:, 1] > 0.5) ^ (x[:, 3] > 0.5)).astype(np.intp)
        assert set(rank(x, y, by="relieff", top=2).frame["index"]) == {1, 3}
        assert rank(x, y, by="su").relevant == 0


class TestCommand:
    def test_table(self, cli: Callable[..., Any], blobs_csv: Path) -> None:
        code, out, err = cli("rank", blobs_csv, "--target", "tree", "--top", 2)
        assert (code, err) == (0, "")
        lines = out.splitlines()
        assert lines[0] == "data          blobs.csv: 60 rows, 6 features, 3 classes of 'tree'"
        assert lines[2] == "relevant      2 of 6 features"
        assert [line.split()[:3] for line in lines[5:]] == [["1", "1", "b"], ["2", "4", "e"]]

    def test_json(self, cli: Callable[..., Any], blobs_csv: Path) -> None:
        code, out, _ = cli("rank", blobs_csv, "--by", "mi", "--top", 3, "--format", "json", "-q")
        found = json.loads(out)
        assert code == 0
        assert (found["schema_version"], found["by"]) == (1, "mi")
        assert (found["ranked"], found["relevant"], len(found["ranking"])) == (6, 2, 3)
        first = found["ranking"][0]
        assert first == rank(blobs_csv, by="mi").frame.row(0, named=True)
        # One class of three is told apart from the rest.
        assert first["score"] == pytest.approx(log2(3) - 2 / 3)

    def test_csv(self, cli: Callable[..., Any], blobs_csv: Path) -> None:
        code, out, _ = cli("rank", blobs_csv, "--format", "csv", "--exclude", "b", "-q")
        frame = pl.read_csv(out.encode())
        assert code == 0
        assert frame.columns == ["rank", "index", "feature", "score", "levels"]
        assert frame["feature"].to_list() == ["e", "a", "c", "d", "f"]

    def test_measures_of_values(self, cli: Callable[..., Any], blobs_csv: Path) -> None:
        for by in ("f", "mrmr", "relieff"):
            code, out, _ = cli("rank", blobs_csv, "--by", by, "--top", 2, "-q")
            lines = out.splitlines()
            assert code == 0
            assert lines[1].startswith(f"ranked by     {by}, ")
            assert lines[4].split() == ["RANK", "INDEX", "FEATURE", "SCORE"]
            assert len(lines) == 7
            code, out, _ = cli("rank", blobs_csv, "--by", by, "--format", "csv", "-q")
            frame = pl.read_csv(out.encode())
            assert frame["score"].to_list() == rank(blobs_csv, by=by).frame["score"].to_list()

    def test_an_infinite_score(self, cli: Callable[..., Any], write: Callable[..., Path]) -> None:
        path = write(b"a,b,c\n1,1,p\n1,2,p\n2,3,q\n2,1,q\n")
        arguments = ("rank", path, "--by", "f", "--top", 1, "-q", "--allow-target-copy")
        assert cli(*arguments).out.splitlines()[5].split() == ["1", "0", "a", "inf"]
        assert cli(*arguments, "--format", "csv").out.splitlines()[1] == "1,0,a,inf"
        found = json.loads(cli(*arguments, "--format", "json").out)
        assert found["ranking"][0]["score"] is None

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["--by", "us"], "unknown measure 'us'"),
            (["--top", "0"], "--top is 0, expected a whole number of 1 or more"),
            (
                [f"--exclude={column}" for column in "abcdef"],
                "every feature is excluded: nothing is left to rank",
            ),
            (["--format", "xml"], "unknown format 'xml'"),
            (["--jobs", "0"], "--jobs is 0, expected a number of threads, or -1 for all"),
        ],
    )
    def test_bad_calls(
        self, cli: Callable[..., Any], blobs_csv: Path, args: list[str], message: str
    ) -> None:
        code, out, err = cli("rank", blobs_csv, "-q", *args)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {message}\nhint: ")

    def test_bad_data(self, cli: Callable[..., Any], write: Callable[..., Path]) -> None:
        path = write(b"a,b,c\n1,x,p\n2,y,q\n3,z,p\n")
        code, _, err = cli("rank", path, "-q")
        assert code == 1
        assert err.startswith("error: ")
        assert cli("rank", path, "-q", "--encode", "ordinal").code == 0
