"""Arrays of numbers become the same tables as the frames they would be, without a frame."""

import pickle
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from swarmrs import FilterSelector, SwarmSelector, Table, rank, read_table, select
from swarmrs.data._arrays import ArrayColumns
from swarmrs.data._column_checks import inspect
from swarmrs.data._read import frame_of_array
from swarmrs.exceptions import DataError, SpecError, SwarmrsError, SwarmrsWarning

KINDS = ("random", "constant", "copy", "up", "down", "target")
DTYPES = ("float64", "float32", "int64", "int8", "uint64", "bool")


def has_frame(table: Table) -> bool:
    return not isinstance(vars(table)["_features"], ArrayColumns)


def read_both(array: NDArray[Any], target: Any, **options: Any) -> list[Any]:
    """Return the table, or the refusal, of an array and of the frame that it would be."""
    outcomes: list[Any] = []
    for data in (array, frame_of_array(array)):
        try:
            outcomes.append(read_table(data, target, **options))
        except SwarmrsError as problem:
            # What is read is called an array or a frame.
            message = str(problem).replace("of frame", "of array").replace("in frame", "in array")
            outcomes.append((type(problem), message, problem.hint))
    return outcomes


def check_equal(array: Table, frame: Table) -> None:
    assert array.names == frame.names
    assert array.x.tobytes() == frame.x.tobytes()
    assert array.x.flags.f_contiguous
    assert (array.target, array.labels) == (frame.target, frame.labels)
    assert array.codes.tolist() == frame.codes.tolist()
    assert array.notices == frame.notices
    assert array.warnings == frame.warnings
    assert array.constant == frame.constant
    assert array.has_gaps == frame.has_gaps
    assert array.keys.keys() == frame.keys.keys()
    assert array.reduced(array.names).equals(frame.reduced(frame.names))
    if array.values is not None:
        assert frame.values is not None
        assert array.values.tolist() == frame.values.tolist()


@st.composite
def arrays(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Draw an array with constant, duplicate and increasing features, and labels."""
    rows = draw(st.integers(4, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1))
    labels = np.arange(rows) % 2
    columns: list[NDArray[Any]] = []
    for kind in kinds:
        columns.append(
            {
                "random": rng.integers(-2, 3, rows),
                "constant": np.full(rows, 3),
                "copy": columns[rng.integers(len(columns))] if columns else labels * 2,
                "up": np.arange(rows),
                "down": -np.arange(rows),
                "target": labels,
            }[kind]
        )
    array = np.column_stack(columns).astype(draw(st.sampled_from(DTYPES)))
    if array.dtype.kind == "f" and draw(st.booleans()):
        array = np.where(array == 0, -0.0 * rng.choice([-1, 1], array.shape), array)
    return (np.asfortranarray(array) if draw(st.booleans()) else array), labels


@settings(max_examples=60, deadline=None)
@given(arrays(), st.booleans())
def test_an_array_is_read_as_its_frame(
    drawn: tuple[NDArray[Any], NDArray[np.int64]], is_excluded: bool
) -> None:
    array, labels = drawn
    ours, theirs = read_both(array, labels, exclude=[0] if is_excluded else [])
    if not isinstance(ours, Table):
        assert ours == theirs
        return
    assert has_frame(ours) == any("rounded" in warning for warning in ours.warnings)
    if is_excluded:
        # A frame replaces the values of any type by floats.
        assert ours.x.tobytes() == theirs.x.tobytes()
        assert ours.warnings == theirs.warnings
    else:
        check_equal(ours, theirs)


@pytest.mark.parametrize("target", [None, 2, "x0", -1, 9, "x9"])
def test_the_target_may_be_a_column(target: Any) -> None:
    array = np.column_stack([np.arange(12) % 3, np.arange(12) % 5, np.arange(12) % 2]) * 1.0
    ours, theirs = read_both(array, target)
    if isinstance(ours, Table):
        assert not has_frame(ours)
        check_equal(ours, theirs)
    else:
        assert ours == theirs
        assert ours[0] is SpecError


def test_a_feature_equal_to_a_target_column_is_refused() -> None:
    array = np.column_stack([np.arange(12) % 2, np.arange(12) % 5, np.arange(12) % 2])
    ours, theirs = read_both(array, None)
    assert ours == theirs
    assert ours[0] is DataError
    check_equal(*read_both(array, None, allow_target_copy=True))


@pytest.mark.parametrize("missing", ["error", "median", "keep", "drop-rows", "drop-columns"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_read_by_policies(missing: str, value: float) -> None:
    rng = np.random.default_rng(3)
    array = rng.normal(size=(20, 3))
    array[3, 1] = value
    ours, theirs = read_both(array, np.arange(20) % 2, missing=missing)
    if isinstance(ours, Table):
        check_equal(ours, theirs)
    else:
        assert ours == theirs


def test_excluded_features_may_hold_anything() -> None:
    array = np.random.default_rng(1).normal(size=(20, 3))
    array[:, 1] = np.nan
    table = read_table((array, np.arange(20) % 2), exclude=["x1"])
    assert not has_frame(table)
    assert not table.x[:, 1].any()
    assert np.isnan(array[:, 1]).all(), "the array given is left as it is"


def test_whole_numbers_that_floats_round_are_warned_of() -> None:
    array = np.array([[2**53 + 1, 1], [5, 2], [7, 0], [9, 4]])
    check_equal(*read_both(array, [0, 1, 0, 1]))
    assert "rounded" in read_table((array, [0, 1, 0, 1])).warnings[0]


def test_a_continuous_target_is_read_alike() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = read_both(rng.normal(size=(30, 2)), rng.normal(size=30), task="regression")
    assert ours.target == "target"
    assert "(numbers)" in repr(ours)
    check_equal(ours, theirs)


def test_a_table_does_not_change_with_the_array() -> None:
    array = np.asfortranarray(np.random.default_rng(0).normal(size=(10, 2)))
    table = read_table((array, np.arange(10) % 2))
    before = table.x.copy()
    array[:] = 0
    assert (table.x == before).all()
    assert (table.frame.to_numpy() == before).all()


def test_rows_are_taken_and_pickled_without_a_frame() -> None:
    array = np.random.default_rng(0).integers(0, 9, size=(20, 3))
    table = read_table((array, np.arange(20) % 2))
    part = pickle.loads(pickle.dumps(table.take(np.arange(5))))
    assert not has_frame(table)
    assert not has_frame(part)
    assert part.frame.equals(table.frame[:5])
    assert part.frame.dtypes == [pl.Int64] * 3
    assert has_frame(part)
    assert part.names == ["x0", "x1", "x2"]


def test_a_ranking_builds_no_frame() -> None:
    table = read_table((np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2))
    rank(table)
    assert not has_frame(table)


def test_duplicates_are_found_among_small_whole_numbers() -> None:
    # Many features of few values: the worst case of a hash of the bits of floats.
    rng = np.random.default_rng(0)
    x = np.asfortranarray(rng.integers(0, 2, size=(12, 3000)).astype(float))
    groups: dict[bytes, list[int]] = {}
    for index in range(x.shape[1]):
        if np.ptp(x[:, index]):
            groups.setdefault(x[:, index].tobytes(), []).append(index)
    expected = [tuple(group) for group in groups.values() if len(group) > 1]
    assert [*inspect(x, ()).duplicates] == expected


class TestIdentifiers:
    """A feature in the order of the rows is warned of, but not in unnamed arrays of estimators."""

    X = np.column_stack([np.arange(30.0), np.random.default_rng(0).normal(size=30)])
    y = np.arange(30) % 2

    def test_names_and_reasons(self) -> None:
        x = np.column_stack([self.X, -self.X[:, :1], self.X[:, :1] ** 2])
        assert read_table((x, self.y)).warnings == (
            "'x0', 'x3' look like row identifiers (strictly increasing); "
            "consider excluding them with exclude=...",
            "'x2' looks like a row identifier (strictly decreasing); "
            'consider excluding it with exclude=["x2"]',
        )

    def test_a_call_warns(self) -> None:
        with pytest.warns(SwarmrsWarning, match="'x0' looks like a row identifier"):
            select((self.X, self.y), algo="sfs", cv=2)

    def test_estimators_do_not(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SwarmSelector(algo="sfs", cv=2).fit(self.X, self.y)
            FilterSelector().fit(self.X + 9 * self.y[:, np.newaxis], self.y)

    def test_named_features_are_checked(self) -> None:
        frame = pl.DataFrame(self.X, schema=["patient", "age"], orient="row")
        with pytest.warns(SwarmrsWarning, match="'patient' looks like a row identifier"):
            SwarmSelector(algo="sfs", cv=2).fit(frame, self.y)


def test_a_table_of_a_frame_shares_no_memory_with_it() -> None:
    array = np.asfortranarray(np.random.default_rng(0).normal(size=(12, 40)))
    frame = pl.from_numpy(array, orient="row")
    table = read_table((frame, [0, 1] * 6))
    assert table.x.flags.f_contiguous
    table.x[:] = 0.0
    assert np.array_equal(frame.to_numpy(), array)


def test_whole_numbers_of_a_frame_are_those_of_its_columns() -> None:
    columns = {
        "long": pl.Series([2**53 - 1, 3, 1, 2]),
        "short": pl.Series([7, -3, 5, 1], dtype=pl.Int8),
        "unsigned": pl.Series([9, 2, 2, 8], dtype=pl.UInt64),
        "single": pl.Series([0.5, 2**60, 3.0, 1.0], dtype=pl.Float32),
    }
    table = read_table((pl.DataFrame(columns), list("abab")))
    assert table.x.T.tolist() == [[float(value) for value in column] for column in columns.values()]
    assert table.frame.dtypes == [pl.Int64, pl.Int8, pl.UInt64, pl.Float32]
    assert table.warnings == ()
    long = pl.DataFrame({**columns, "longer": [2**53 + 1, 3, 1, 2]})
    assert read_table((long, list("abab"))).warnings == (
        "1 column of whole numbers too long, rounded: 'longer'",
    )
