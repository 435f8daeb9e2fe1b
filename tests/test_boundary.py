"""Cells that are masked, targets that are no classes, text in arrays: the same at every door."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from swarmrs import (
    Evaluator,
    FilterSelector,
    SwarmSelector,
    compare,
    describe,
    group,
    rank,
    read_table,
    select,
)
from swarmrs.exceptions import DataError

Cli = Callable[..., Any]
Door = Callable[[Any, Any], object]

DOORS: dict[str, Door] = {
    "select": lambda x, y: select((x, y), algo="sfs", cv=2),
    "Evaluator": lambda x, y: Evaluator(x, y),
    "rank": lambda x, y: rank((x, y)),
    "group": lambda x, y: group((x, y)),
    "compare": lambda x, y: compare({"d": (x, y)}, ["sfs"], runs=1),
    "SwarmSelector": lambda x, y: SwarmSelector(algo="sfs", cv=2).fit(x, y),
    "FilterSelector": lambda x, y: FilterSelector().fit(x, y),
}
TABLE_DOORS = sorted(DOORS.keys() - {"SwarmSelector", "FilterSelector"})


@pytest.fixture
def samples() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Noise, and in the last column the class itself."""
    rng = np.random.default_rng(4)
    y = np.arange(40) % 2
    x = rng.random((40, 4))
    x[:, 3] = 1000 * y
    return x, y


class TestMaskedArrays:
    @pytest.mark.parametrize("door", sorted(DOORS))
    @pytest.mark.parametrize("kind", [float, int])
    def test_masked_cells_are_missing(self, door: str, kind: type, samples: Any) -> None:
        x, y = samples
        masked = np.ma.masked_array((100 * x).astype(kind))
        masked[::3, 3] = np.ma.masked
        message = (
            "contains NaN" if "Selector" in door else r"missing values in 1 column: 'x3' \(14\)"
        )
        with pytest.raises(ValueError, match=message):
            DOORS[door](masked, y)

    @pytest.mark.parametrize("door", sorted(DOORS))
    @pytest.mark.parametrize(
        "labels", [np.array([0, 1]), np.array([0.0, 1.0]), np.array(["a", "b"])]
    )
    def test_masked_labels_are_missing(self, door: str, labels: NDArray[Any], samples: Any) -> None:
        x, y = samples
        masked = np.ma.masked_array(labels[y])
        masked[3] = np.ma.masked
        with pytest.raises(DataError, match="has 1 missing value") as caught:
            DOORS[door](x, masked)
        assert "remove these rows" in str(caught.value.hint)

    def test_a_column_that_is_masked_throughout_is_not_chosen(self, samples: Any) -> None:
        x, y = samples
        masked = np.ma.masked_array(x)
        masked[:, 3] = np.ma.masked
        with pytest.raises(DataError, match="1 column without any value: 'x3'"):
            select((masked, y), missing="median")
        found = select((masked, y), algo="sfs", cv=2, missing="drop-columns")
        assert "x3" not in found.selected

    def test_they_are_filled_as_missing_values_are(self, samples: Any) -> None:
        x, y = samples
        masked, holes = np.ma.masked_array(x.copy()), x.copy()
        masked[2:9, 1] = np.ma.masked
        holes[2:9, 1] = np.nan
        by_mask = read_table(masked, y, missing="median")
        assert (by_mask.x == read_table(holes, y, missing="median").x).all()

    def test_an_estimator_that_accepts_nan_is_given_them(self, samples: Any) -> None:
        x, y = samples
        masked, holes = np.ma.masked_array(x.copy()), x.copy()
        masked[2:9, 1] = np.ma.masked
        holes[2:9, 1] = np.nan
        model = make_pipeline(SimpleImputer(), KNeighborsClassifier(3))
        selector = SwarmSelector(model, algo="sfs", cv=2, constraints={"include": [1]})
        by_mask = clone(selector).fit(masked, y)
        assert by_mask.best_score_ == clone(selector).fit(holes, y).best_score_
        assert np.isnan(by_mask.transform(masked)).any()

    def test_transform_refuses_them_as_it_refuses_nan(self, samples: Any) -> None:
        x, y = samples
        fitted = SwarmSelector(algo="sfs", cv=2).fit(x, y)
        masked = np.ma.masked_array(x)
        masked[0, 3] = np.ma.masked
        with pytest.raises(ValueError, match="contains NaN"):
            fitted.transform(masked)

    def test_a_mask_without_masked_cells_changes_nothing(self, samples: Any) -> None:
        x, y = samples
        masked = np.ma.masked_array(x, mask=np.zeros_like(x, dtype=bool))
        assert (read_table(masked, np.ma.masked_array(y)).x == x).all()

    def test_rows_that_are_masked_arrays(self) -> None:
        rows = [np.ma.masked_array([1.0, 2.0], [False, row == 1]) for row in range(4)]
        assert read_table(rows, [0, 1, 0, 1], missing="keep").frame["x1"].null_count() == 1


class TestTargets:
    """When numbers and text are classes; docs/cli.md has the rule."""

    @pytest.mark.parametrize("door", sorted(DOORS))
    def test_amounts_are_numbers_and_refused_where_there_must_be_classes(self, door: str) -> None:
        rng = np.random.default_rng(0)
        price = (80 * rng.lognormal(1, 0.8, 2000)).astype(int)
        samples = rng.random((2000, 3))
        if door not in ("compare", "FilterSelector"):
            DOORS[door](samples, price)
            return
        message = r"has \d+ different numbers in 2000 rows, expected classes"
        with pytest.raises(DataError, match=message) as caught:
            DOORS[door](samples, price)
        assert "predict numbers with task=" in str(caught.value.hint)

    @pytest.mark.parametrize("door", TABLE_DOORS)
    def test_names_are_refused(self, door: str) -> None:
        x = np.random.default_rng(0).random((60, 2))
        names = [f"person {row if row > 3 else 0}" for row in range(60)]
        with pytest.raises(DataError, match="has 57 different labels in 60 rows, expected classes"):
            DOORS[door](x, names)

    @pytest.mark.parametrize("n", [20, 100, 300])
    @pytest.mark.parametrize("rows", [2, 4, 10])
    @pytest.mark.parametrize("kind", [int, float, str])
    def test_codes_of_many_classes_are_classes(self, n: int, rows: int, kind: type) -> None:
        y = np.arange(n * rows) % n + 100
        table = read_table(np.random.default_rng(0).random((n * rows, 1)), y.astype(kind))
        assert len(table.labels) == n

    def test_few_rare_classes_are_classes(self) -> None:
        y = [*([0] * 10), *range(20)]
        assert len(read_table(np.random.default_rng(0).random((30, 1)), y).labels) == 20

    def test_one_rare_class_among_many_large_ones_is_a_class(self) -> None:
        y = [*(list(range(30)) * 4), 30]
        assert len(read_table(np.random.default_rng(0).random((121, 1)), y).labels) == 31

    def test_very_many_numbers_are_doubted_whatever_their_rows(self) -> None:
        y = np.arange(1010) % 101
        warned = read_table(np.random.default_rng(0).random((1010, 1)), y).warnings
        assert warned == (
            "target 'class' has 101 different numbers in 1010 rows: are they classes?",
        )

    def test_describe_says_that_there_are_numbers(self, cli: Cli, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        frame = pl.DataFrame({"a": rng.random(500), "price": rng.permutation(500) % 450})
        frame.write_csv(tmp_path / "d.csv")
        assert describe(frame).classes == {}
        out = cli("describe", tmp_path / "d.csv").out
        assert "target        'price': numbers (regression)" in out
        out = cli("describe", tmp_path / "d.csv", "--task", "classification").out
        assert "target        'price', no classes" in out
        assert "refuse it: target 'price' of d.csv has 450 different numbers in 500 rows" in out
        assert cli("select", tmp_path / "d.csv", "--task", "classification").code == 1

    def test_a_regressor_takes_numbers(self) -> None:
        from sklearn.linear_model import LinearRegression

        rng = np.random.default_rng(0)
        x = rng.random((100, 2))
        y = (1000 * x[:, 0]).astype(int)
        assert select((x, y), algo="sfs", estimator=LinearRegression(), cv=2).selected

    def test_a_target_without_any_value(self) -> None:
        frame = pl.DataFrame({"a": [1, 2], "b": [None, None]})
        with pytest.raises(DataError, match="target 'b' of frame has no value at all") as caught:
            read_table(frame)
        assert "target=..." in str(caught.value.hint)


class TestTextInArrays:
    @pytest.mark.parametrize("kind", ["U", "S", object])
    def test_digits_as_text_are_text(self, kind: Any) -> None:
        rng = np.random.default_rng(0)
        x = rng.integers(0, 9, (20, 2)).astype("U").astype(kind)
        for door in DOORS.values():
            message = r"2 (columns (of|neither number nor) text|text features): 'x0'"
            with pytest.raises(DataError, match=message):
                door(x, [0, 1] * 10)

    def test_objects_that_are_numbers_are_numbers(self) -> None:
        x = np.random.default_rng(0).random((20, 2)).astype(object)
        assert SwarmSelector(algo="sfs", cv=2).fit(x, [0, 1] * 10).support_.any()

    def test_no_table_at_all(self) -> None:
        from scipy.sparse import csr_matrix

        with pytest.raises(DataError, match="sparse matrices are not read"):
            select((csr_matrix(np.eye(4)), [0, 1, 0, 1]))
        with pytest.raises(DataError, match="no data is given"):
            select(None)  # type: ignore[arg-type]
