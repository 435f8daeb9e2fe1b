"""Single facts about how a table becomes numbers, each computed by hand.

They are quick and each fails for one small change of the code: `make mutants` runs them first.
"""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from swarmrs import read_table
from swarmrs.data._arrays import ArrayColumns, Samples
from swarmrs.data._encode import (
    Codes,
    NumberText,
    complete_matrix,
    count_infinite,
    drop_columns,
    drop_rows,
    mark_missing,
    matrix_of,
    other_kinds,
    ranked,
    to_numbers,
)
from swarmrs.data._formats import Reading
from swarmrs.data._impute import Unfilled, impute, spread_out
from swarmrs.data._read import Raw
from swarmrs.data._table import Table, find, prepare, prepare_array
from swarmrs.data._target import classes_of, guess_task, many_values, present_names, split
from swarmrs.exceptions import DataError, SpecError


def frame(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame(columns)


def unfilled(policy: str, *, nominal: tuple[str, ...] = (), **columns: Any) -> Unfilled:
    return Unfilled(frame(**columns), policy, frozenset(nominal), {})


# Missing values filled.


@pytest.mark.parametrize(
    ("policy", "value"), [("mean", 4.0), ("median", 3.0), ("mode", 1.0)], ids=str
)
def test_a_gap_is_filled_by_the_middle_of_the_donors(policy: str, value: float) -> None:
    donors = frame(a=[1.0, 1.0, 5.0, 9.0, None])
    assert impute(frame(a=[None, 7.0]), donors, policy, ()).to_dict(as_series=False) == {
        "a": [value, 7.0]
    }


def test_of_values_equally_frequent_the_least_is_the_mode() -> None:
    donors = frame(a=[8.0, 3.0, 8.0, 3.0, 5.0, None, None, None])
    assert impute(frame(a=[None]), donors.cast(pl.Float64), "mode", ())["a"].to_list() == [3.0]


@pytest.mark.parametrize("policy", ["mean", "median", "mode"])
def test_text_is_filled_by_its_mode_whatever_the_policy(policy: str) -> None:
    codes = frame(a=[0.0, 2.0, 2.0, 2.0, None], b=[0.0, 2.0, 4.0, 6.0, 8.0])
    assert impute(codes, codes, policy, {"a"})["a"].to_list() == [0, 2, 2, 2, 2]


@pytest.mark.parametrize("policy", ["mean", "knn"])
def test_what_no_donor_knows_is_zero(policy: str) -> None:
    donors = frame(a=pl.Series([None, None], dtype=pl.Float64), b=[1.0, 2.0])
    filled = impute(frame(a=[None, 5.0], b=[None, 1.0]), donors, policy, ())
    assert filled["a"].to_list() == [0.0, 5.0]
    assert filled["b"][0] in (1.0, 1.5)


def test_columns_without_gaps_keep_their_type() -> None:
    filled = impute(frame(a=[1, 2], b=[None, 2]), frame(a=[1, 2], b=[4, 2]), "mean", ())
    assert filled.schema == {"a": pl.Int64, "b": pl.Float64}
    assert filled["b"].to_list() == [3.0, 2.0]


def test_the_nearest_row_gives_its_value() -> None:
    # Column a spans 0..10, b spans 0..1000: scaled, the row (2, ?, 900) is nearest to (3, ., 800).
    donors = frame(a=[0.0, 3.0, 10.0], c=[7.0, 8.0, 9.0], b=[0.0, 800.0, 1000.0])
    gap = frame(a=[2.0], c=pl.Series([None], dtype=pl.Float64), b=[900.0])
    assert impute(gap, donors, "knn", ())["c"].to_list() == [8.0]


def test_distances_are_means_over_the_features_that_both_have() -> None:
    # Of the first donor one feature is known, 0.4 apart: 0.16. Of the second two, 0.3 and 0.4
    # apart: (0.09 + 0.16) / 2 = 0.125, which is less, though the sum is more.
    donors = frame(a=[0.4, 0.3, 0.0, 1.0], b=[None, 0.4, 1.0, 0.0], c=[1.0, 2.0, None, None])
    gap = frame(a=[0.0], b=[0.0], c=pl.Series([None], dtype=pl.Float64))
    assert impute(gap, donors, "knn", ())["c"].to_list() == [2.0]


def test_of_donors_equally_near_the_first_counts() -> None:
    donors = frame(a=[1.0, 0.0, 1.0], b=[5.0, 6.0, 7.0])
    gap = frame(a=[0.5], b=pl.Series([None], dtype=pl.Float64))
    assert impute(gap, donors, "knn", ())["b"].to_list() == [5.0]


def test_a_row_that_shares_nothing_is_given_the_middle() -> None:
    donors = frame(a=[1.0, None, None], b=[None, 2.0, 4.0], c=[None, 0.0, 0.0])
    gap = frame(a=[1.0], b=pl.Series([None], dtype=pl.Float64), c=[None]).cast(pl.Float64)
    filled = impute(gap, donors, "knn", ())
    assert filled["b"].to_list() == [3.0]
    codes = frame(a=[1.0, None, None, None], b=[None, 2.0, 9.0, 9.0])
    assert impute(gap.drop("c"), codes, "knn", {"b"})["b"].to_list() == [9.0]


def test_a_constant_column_divides_by_nothing() -> None:
    donors = frame(a=[3.0, 3.0], b=[1.0, 2.0], c=[0.0, 1.0])
    gap = frame(a=[3.0], b=pl.Series([None], dtype=pl.Float64), c=[0.9])
    assert impute(gap, donors, "knn", ())["b"].to_list() == [2.0]


def test_values_are_scaled_by_the_least_and_the_greatest_of_the_donors() -> None:
    # Column a spans 10..20: the row at 19 is nearest to 20, that at 11 to 10.
    donors = frame(a=[10.0, 20.0], b=[1.0, 2.0])
    gaps = frame(a=[19.0, 11.0], b=pl.Series([None, None], dtype=pl.Float64))
    assert impute(gaps, donors, "knn", ())["b"].to_list() == [2.0, 1.0]


def test_an_offset_of_a_feature_does_not_change_the_distance() -> None:
    # Both span 10. Donor 1 is 0.1 and 0.8 apart, 0.65 / 2; donor 2 is 0.3 and 0 apart, 0.09 / 2.
    donors = frame(
        a=[1.0, 3.0, 0.0, 10.0], b=[1008.0, 1000.0, 1000.0, 1010.0], c=[1.0, 2.0, None, None]
    )
    gap = frame(a=[0.0], b=[1000.0], c=pl.Series([None], dtype=pl.Float64))
    assert impute(gap, donors, "knn", ())["c"].to_list() == [2.0]


def test_features_that_one_row_lacks_are_no_part_of_the_distance() -> None:
    # Of the first donor one feature is known, 0.2 apart: 0.04; of the second two: 0.125.
    donors = frame(a=[0.2, 0.3, 0.0, 1.0], b=[None, 0.4, 1.0, 0.0], c=[1.0, 2.0, None, None])
    gap = frame(a=[0.0], b=[0.0], c=pl.Series([None], dtype=pl.Float64))
    assert impute(gap, donors, "knn", ())["c"].to_list() == [1.0]


def test_a_constant_column_counts_in_units_of_its_own() -> None:
    # The first donor lacks the constant a, and b is 0.6 apart: 0.36. The second is 1 apart in a
    # and 0 in b: (1 + 0) / 2 = 0.5.
    donors = frame(a=[None, 3.0, 3.0], b=[0.6, 0.0, 1.0], c=[1.0, 2.0, None])
    gap = frame(a=[4.0], b=[0.0], c=pl.Series([None], dtype=pl.Float64))
    assert impute(gap, donors, "knn", ())["c"].to_list() == [1.0]


def test_a_column_that_no_donor_knows_is_the_same_in_all_rows() -> None:
    # It is 0 in all rows: 0.3^2 / 2 for the first donor, 2 * 0.3^2 / 3 for the second.
    donors = frame(
        a=pl.Series([None] * 4, dtype=pl.Float64),
        b=[0.3, 0.3, 0.0, 1.0],
        d=[None, 0.3, 0.0, 1.0],
        c=[1.0, 2.0, None, None],
    )
    gap = frame(a=[None], b=[0.0], d=[0.0], c=[None]).cast(pl.Float64)
    assert impute(gap, donors, "knn", ())["c"].to_list() == [1.0]


def test_rows_with_gaps_are_known() -> None:
    held = unfilled("mean", a=[1.0, None, 3.0, 4.0], b=[None, None, 1.0, 2.0])
    assert held.rows.tolist() == [0, 1]
    assert held.rows.dtype == np.uint32
    assert held.count == 3
    part = held.take(np.array([1, 2]))
    assert part is not None
    assert part.rows.tolist() == [0]
    assert held.take(np.array([2, 3])) is None
    # Rows 0 and 1, by the means of rows 2 and 3.
    assert held.values(np.array([2, 3])).tolist() == [[1.0, 1.5], [3.5, 1.5]]


def test_the_mark_tells_policies_and_gaps_apart() -> None:
    columns: dict[str, Any] = {"a": [1.0, None, 3.0], "b": [None, 1.0, 2.0]}
    moved: dict[str, Any] = {"a": [1.0, 2.0, None], "b": [None, 1.0, 2.0]}
    marks = {
        unfilled("mean", **columns).mark,
        unfilled("median", **columns).mark,
        unfilled("mean", nominal=("a",), **columns).mark,
        unfilled("mean", **moved).mark,
    }
    assert len(marks) == 4
    assert unfilled("mean", **columns).mark in marks
    # Values that are not missing are no part of it.
    assert unfilled("mean", **columns | {"a": [9.0, None, 9.0]}).mark in marks
    assert all(re.fullmatch("[0-9a-f]{32}", mark) for mark in marks)


def test_each_split_has_copies_of_the_rows_with_gaps() -> None:
    held = unfilled("mean", a=[1.0, None, 3.0, 5.0])
    x = np.array([[1.0], [3.0], [3.0], [5.0]])
    splits = [
        (np.array([0, 2]), np.array([1, 3])),
        (np.array([2, 3]), np.array([0, 1])),
    ]
    copies = held.copies(x, splits)
    # Row 1 stands at 4 for the first split, filled by (1 + 3) / 2, at 5 for the second.
    assert copies.x.ravel().tolist() == [1.0, 3.0, 3.0, 5.0, 2.0, 4.0]
    assert copies.rows.tolist() == [0, 1, 2, 3, 1, 1]
    placed = [[rows.tolist() for rows in pair] for pair in copies.splits]
    assert placed == [[[0, 2], [4, 3]], [[2, 3], [0, 5]]]


def test_copies_stand_in_the_order_of_their_rows() -> None:
    held = unfilled("mean", a=[None, 1.0, None, 5.0], b=[1.0, 2.0, 3.0, 4.0])
    splits = [(np.array([1, 2]), np.array([0, 3])), (np.array([1, 3]), np.array([0, 2]))]
    copies = held.copies(np.zeros((4, 2)), splits)
    assert copies.x[4:].tolist() == [[1.0, 1.0], [1.0, 3.0], [3.0, 1.0], [3.0, 3.0]]
    assert copies.rows.tolist() == [0, 1, 2, 3, 0, 2, 0, 2]
    placed = [[rows.tolist() for rows in pair] for pair in copies.splits]
    assert placed == [[[1, 5], [4, 3]], [[1, 3], [6, 7]]]


def test_text_is_spread_over_a_column_for_each_value() -> None:
    coded = frame(n=[5.0, 6.0, 7.0], color=[0.0, 1.0, 0.0])
    (n,), (blue, red) = spread_out(coded, {"color": pl.Series(["blue", "red"])})
    assert n.to_list() == [5.0, 6.0, 7.0]
    assert (blue.name, blue.to_list()) == ("color=blue", [1, 0, 1])
    assert blue.dtype == pl.UInt8
    assert (red.name, red.to_list()) == ("color=red", [0, 1, 0])


# Columns become numbers.


def test_every_missing_value_is_a_null() -> None:
    marked = mark_missing(frame(a=[1.0, float("nan")], b=[None, None], c=["x", None]))
    assert marked["a"].to_list() == [1.0, None]
    assert marked["b"].dtype == pl.Float64
    assert [column.null_count() for column in marked] == [1, 2, 1]


def test_a_frame_without_nans_is_left_as_it_is() -> None:
    given = frame(a=[1.0, None], b=[1, 2], c=["x", "y"], d=[0.5, 1.5])
    assert mark_missing(given) is given


@pytest.mark.parametrize("shape", [(3, 2), (2, 2), (2, 3), (1, 1)], ids=str)
def test_a_matrix_of_columns_may_be_written_to(shape: tuple[int, int]) -> None:
    given = np.asfortranarray(np.arange(1.0, 1 + np.prod(shape)).reshape(shape))
    # Columns of one array lie side by side.
    columns = pl.from_numpy(given)
    for held in (columns, columns.cast(pl.Float32), columns.cast(pl.Int64)):
        x = matrix_of(held)
        assert x.dtype == np.float64
        assert x.tolist() == given.tolist()
        assert x.flags.f_contiguous
        x[:] = 0
        assert held.to_numpy().tolist() == given.tolist()
    assert matrix_of(pl.DataFrame()).shape == (0, 0)


def test_a_matrix_is_complete_if_floats_hold_it() -> None:
    for wide in (False, True):
        others: dict[str, Any] = {"b": [0.5, 2.0**60]} | ({"c": [1, 2]} if wide else {})
        x = complete_matrix(frame(a=[1, 2**53 - 1], **others))
        assert x is not None
        assert x[:, :2].tolist() == [[1.0, 0.5], [2.0**53 - 1, 2.0**60]]
        for column in (
            ["x", "y"],
            [True, False],
            [1, None],
            [1.0, float("nan")],
            [1.0, float("inf")],
            [1, 2**53],
            pl.Series([1, 2**53], dtype=pl.UInt64),
        ):
            assert complete_matrix(frame(a=column, **others)) is None


def test_rows_with_a_gap_anywhere_are_dropped() -> None:
    given, labels = (
        frame(a=[1, None, 3, 4], b=[1, 2, 3, None]),
        pl.Series("y", ["p", "q", "p", "q"]),
    )
    features, kept, notices = drop_rows(given, labels, "made")
    assert features.rows() == [(1, 1), (3, 3)]
    assert kept.to_list() == ["p", "p"]
    assert notices == ["2 rows with missing values dropped"]
    # A label that is missing counts, too.
    _, kept, notices = drop_rows(given, pl.Series("y", [None, "q", "p", "q"]), "made")
    assert kept.to_list() == ["p"]
    assert notices == ["3 rows with missing values dropped"]


def test_where_nothing_is_missing_nothing_is_dropped() -> None:
    given = frame(a=[1, 2], b=[3, 4])
    features, labels, notices = drop_rows(given, pl.Series("y", ["p", "q"]), "made")
    assert features.equals(given)
    assert labels.to_list() == ["p", "q"]
    assert notices == []
    features, notices = drop_columns(given, [], "made")
    assert features.equals(given)
    assert notices == []


def test_a_table_of_gaps_alone_is_refused() -> None:
    gone = frame(a=[None, 1], b=[1, None])
    with pytest.raises(DataError, match="every row of made"):
        drop_rows(gone, pl.Series("y", ["p", "q"]), "made")
    with pytest.raises(DataError, match="every column of made"):
        drop_columns(gone, [], "made")


def test_columns_with_a_gap_are_dropped() -> None:
    given = frame(a=[1, 2], b=[None, 4], c=[5, None])
    features, notices = drop_columns(given, ["a"], "made")
    assert features.columns == ["a"]
    assert notices == ["2 columns with missing values dropped: 'b', 'c'"]
    for position in (0, -1, "1"):
        with pytest.raises(SpecError, match="by its position"):
            drop_columns(given, [position], "made")
    # A name that looks like a position is a name.
    named = pl.DataFrame({"1": [1, 2], "b": [None, 4]})
    assert drop_columns(named, ["1"], "made")[0].columns == ["1"]


def test_text_becomes_ranks_in_the_order_of_bytes() -> None:
    numbers, values = ranked(frame(word=["b", "B", None, "a"], flag=[True, False, None, True]))
    assert numbers["word"].to_list() == [2.0, 0.0, None, 1.0]
    assert numbers["flag"].to_list() == [1, 0, None, 1]
    assert numbers["flag"].dtype == pl.UInt8
    assert values["word"].to_list() == ["B", "a", "b"]
    assert [*values] == ["word"]


def test_kinds_other_than_numbers_and_text() -> None:
    kinds = frame(a=[1], b=["x"], c=[True], d=[date(2001, 2, 3)], e=[[1]])
    assert [*other_kinds(kinds)] == ["d", "e"]
    with pytest.raises(DataError, match=r"2 columns neither number nor text: 'd' \(Date\), 'e'"):
        to_numbers(kinds, missing="error", encode="ordinal")


def test_infinite_values_are_counted() -> None:
    given = frame(a=[1.0, float("inf"), float("-inf")], b=[1.0, 2.0, 3.0], c=[1, 2, 3])
    assert count_infinite(given) == {"a": 2}
    with pytest.raises(DataError, match=r"infinite values in 1 column: 'a' \(2\)"):
        to_numbers(given, missing="error", encode="error")


def test_policies_decide_about_text_and_gaps() -> None:
    given = frame(a=[1.0, None, 3.0], word=["x", "y", None])
    with pytest.raises(DataError, match="1 column of text: 'word'"):
        to_numbers(given, missing="mean", encode="error")
    with pytest.raises(
        DataError, match=r"(?m)missing values in 2 columns: 'a' \(1\), 'word' \(1\)$"
    ):
        to_numbers(given, missing="error", encode="ordinal")
    with pytest.raises(DataError, match=r"(?m)'word' \(1\); a question mark$"):
        to_numbers(given, missing="error", encode="ordinal", gaps="a question mark")
    kept = to_numbers(given, missing="keep", encode="ordinal")
    assert kept.frame["a"].to_list() == [1.0, None, 3.0]
    assert kept.unfilled is None
    filled = to_numbers(given, missing="mean", encode="ordinal")
    assert filled.frame["a"].to_list() == [1.0, 2.0, 3.0]
    # Text is filled by its mode: of x and y, the first.
    assert filled.frame["word"].to_list() == [0.0, 1.0, 0.0]
    assert filled.unfilled is not None
    assert (filled.unfilled.policy, filled.unfilled.count) == ("mean", 2)
    assert filled.encoded == []
    assert filled.warnings == []


def test_a_table_without_gaps_needs_no_filling() -> None:
    for missing in ("error", "mean", "keep"):
        found = to_numbers(frame(a=[1, 2]), missing=missing, encode="error")
        assert found.unfilled is None
        assert found.frame.equals(frame(a=[1, 2]))


def test_a_column_without_any_value_is_refused() -> None:
    empty = frame(a=[1.0, 2.0], b=pl.Series([None, None], dtype=pl.Float64))
    with pytest.raises(DataError, match="1 column without any value: 'b'"):
        to_numbers(empty, missing="mean", encode="error")


def test_the_places_of_encoded_columns_are_known() -> None:
    given = frame(
        n=[1, 2, 3], word=["x", "y", "z"], m=[1, 2, 3], two=["p", "q", "p"], one=["c"] * 3
    )
    found = to_numbers(given, missing="error", encode="onehot")
    assert found.frame.columns == [
        "n",
        "word=x",
        "word=y",
        "word=z",
        "m",
        "two=p",
        "two=q",
        "one=c",
    ]
    assert found.encoded == [(1, 2, 3), (5, 6)]
    clash = pl.DataFrame({"w": ["a", "b"], "w=a": [1, 2]})
    with pytest.raises(DataError, match=r"^the encoded table has two columns .* 'w=a'") as caught:
        to_numbers(clash, missing="error", encode="onehot")
    assert caught.value.hint == "rename one of them"
    assert to_numbers(clash, missing="error", encode="ordinal").encoded == []


def test_text_that_becomes_many_columns_is_warned_of() -> None:
    for count, expected in ((20, []), (21, ["1 column of text became many: 'w' (21)"])):
        given = frame(w=[f"w{number}" for number in range(count)])
        assert to_numbers(given, missing="error", encode="onehot").warnings == expected
        assert to_numbers(given, missing="error", encode="ordinal").warnings == []


def test_codes_are_turned_back_into_values() -> None:
    codes = Codes(pl.Series(["x", "y"]))
    restored = codes.restored(pl.Series("w", [1.0, 0.0, None]))
    assert (restored.name, restored.to_list()) == ("w", ["y", "x", None])
    # A mean of codes is no code.
    assert codes.restored(pl.Series("w", [1.0, 0.5])).to_list() == [1.0, 0.5]
    given = frame(word=["x", "y"], flag=[True, False], n=[1, 2])
    ordinal = to_numbers(given, missing="error", encode="ordinal").keys
    assert {name: key.values.to_list() for name, key in ordinal.items()} == {
        "flag": [False, True],
        "word": ["x", "y"],
    }
    assert [*to_numbers(given, missing="error", encode="onehot").keys] == ["flag"]


def test_whole_numbers_that_floats_round_are_warned_of() -> None:
    long, exact = 2**53 + 1, 2**53
    for dtype in (pl.Int64, pl.UInt64, pl.Int128):
        given = frame(a=pl.Series([long, 1], dtype=dtype), b=pl.Series([exact, 1], dtype=dtype))
        [warning] = to_numbers(given, missing="error", encode="error").warnings
        assert warning.startswith("1 column of whole numbers too long")
        assert warning.endswith("'a'")


def test_of_columns_of_whole_numbers_those_that_are_rounded_are_named() -> None:
    given = frame(a=[1, 2, 3], b=[2**53 + 1, 2, 3], c=[4, 5, -(2**53) - 1])
    [warning] = to_numbers(given, missing="error", encode="error").warnings
    assert warning.startswith("2 columns of whole numbers too long")
    assert warning.endswith("'b', 'c'")
    # No value that a float holds is needed beside them.
    [warning] = to_numbers(frame(a=[2**53 + 1] * 2), missing="error", encode="error").warnings
    assert warning.endswith("'a'")


def test_whole_numbers_beyond_every_float_are_warned_of() -> None:
    # The nearest float is 2**127, which no integer of 128 bits holds.
    given = frame(a=pl.Series([2**127 - 1, 1], dtype=pl.Int128))
    [warning] = to_numbers(given, missing="error", encode="error").warnings
    assert warning.endswith("'a'")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1,5", "2", "33,25"], "a decimal comma"),
        (["1,500", "2", "3,250"], "numbers like 1,500"),
        (["1,500.5", "2", "3,250"], "numbers like 1,500.5"),
        (["1", "2", "3", "none"], "numbers but for 'none'"),
    ],
)
def test_text_that_holds_numbers_is_recognized(values: list[str], expected: str) -> None:
    with pytest.raises(DataError) as refused:
        to_numbers(frame(a=values), missing="error", encode="error")
    assert refused.value.hint is not None
    assert expected in refused.value.hint
    assert "'a'" in refused.value.hint


@pytest.mark.parametrize(
    ("values", "kind", "examples"),
    [
        (["1,500", "2"], "either", ["1,500"]),
        (["2", "1,500.5"], "thousands", ["1,500.5"]),
        (["x", "1,5", "2"], "decimal", ["1,5"]),
        (["1", "2.5"], "plain", []),
        (["1", "none", "2", "n/a", "3", "none", "4", "5"], "words", ["none", "n/a"]),
        (["1", "2", "x"], "words", ["x"]),
        # Words in the order in which they stand.
        ([*map(str, range(9)), *"hgfedcba"], "words", [*"hgfedcba"]),
    ],
)
def test_kinds_of_numbers_in_text(values: list[str], kind: str, examples: list[str]) -> None:
    assert NumberText.of(pl.Series(values)) == NumberText(kind, tuple(examples))


@pytest.mark.parametrize(
    "values",
    [
        # As many words as numbers with a comma, or as plain numbers.
        ["1,5", "x"],
        ["1", "2", "x", "y"],
        # The comma may stand between thousands.
        ["1,500", "x", "2"],
        [None, None],
    ],
    ids=str,
)
def test_text_that_is_no_numbers(values: list[str | None]) -> None:
    assert NumberText.of(pl.Series(values, dtype=pl.String)) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1,5", "2"], """with a decimal comma: read it with read_table(..., decimal=",")"""),
        (
            ["1,500", "2"],
            """like 1,500: read it with read_table(..., decimal=",") if the comma is a decimal"""
            " one, else remove it",
        ),
        (["1,500.5", "2"], "like 1,500.5: remove the commas between thousands"),
        (["1", "2"], "written as text: convert it to a column of numbers"),
        (
            ["1", "2", "none"],
            """but for 'none': correct that, or treat it as missing with """
            """read_table(..., null=["none"])""",
        ),
    ],
)
def test_what_to_do_about_numbers_in_text(values: list[str], expected: str) -> None:
    # The first column is text and tells nothing.
    with pytest.raises(DataError, match="2 columns of text: 'w', 'a'") as refused:
        to_numbers(frame(w=["x"] * len(values), a=values), missing="error", encode="error")
    assert refused.value.hint == f"'a' holds numbers {expected}"


def test_what_to_do_about_text() -> None:
    with pytest.raises(DataError) as refused:
        to_numbers(frame(a=["x", "y"]), missing="error", encode="error")
    expected = 'encode text with encode="ordinal" or "onehot", or leave it out with exclude=...'
    assert refused.value.hint == expected


def test_text_that_is_half_numbers_is_text() -> None:
    with pytest.raises(DataError) as refused:
        to_numbers(frame(a=["1", "2", "x", "y"]), missing="error", encode="error")
    assert refused.value.hint is not None
    assert "'a'" not in refused.value.hint


# The target.


def raw(**columns: Any) -> Raw:
    return Raw("made", frame(**columns))


def test_the_target_is_the_last_column_unless_named() -> None:
    given = raw(a=[1, 2], b=["p", "q"])
    features, labels, notices = split(given, None)
    assert (features.columns, labels.name) == (["a"], "b")
    assert notices == ["the target is the last column, 'b'"]
    for target in ("a", 0, -2):
        features, labels, notices = split(given, target)
        assert (features.columns, labels.name, notices) == (["b"], "a", [])
    features, labels, notices = split(given._replace(target="a"), None)
    assert (features.columns, labels.name, notices) == (["b"], "a", [])


def test_labels_given_apart_have_a_name_of_their_own() -> None:
    features, labels, _ = split(raw(a=[1, 2]), ["p", "q"])
    assert (features.columns, labels.name, labels.to_list()) == (["a"], "class", ["p", "q"])
    taken = Raw("made", pl.DataFrame({"class": [1, 2], "class_": [3, 4]}))
    assert split(taken, ["p", "q"])[1].name == "class__"
    assert split(raw(a=[1, 2]), [0.5, 1.5], "target")[1].name == "target"
    with pytest.raises(DataError, match="2 rows but 3 labels"):
        split(raw(a=[1, 2]), ["p", "q", "p"])


def test_a_table_needs_rows_and_a_feature() -> None:
    with pytest.raises(DataError, match="made has no rows"):
        split(raw(a=[], b=[]), None)
    with pytest.raises(DataError, match="no column beside the target 'a'"):
        split(raw(a=["p", "q"]), None)


def test_a_label_that_is_not_a_number_is_missing() -> None:
    _, labels, _ = split(raw(a=[1, 2], b=[1.0, float("nan")]), "b")
    assert labels.to_list() == [1.0, None]


def test_names_of_columns_to_come_are_passed_over() -> None:
    given = frame(a=[1], b=[2])
    assert present_names(given.columns, ["b", 0, -1], "made", "error", "y") == ["b", "a"]
    assert present_names(given.columns, ["b", "c=x"], "made", "onehot", "y") == ["b"]
    with pytest.raises(SpecError, match="'c' not found"):
        present_names(given.columns, ["c"], "made", "ordinal", "y")


def test_classes_are_sorted_and_coded() -> None:
    codes, classes = classes_of(pl.Series("y", ["b", "a", "b"]), "made")
    assert (codes.tolist(), classes) == ([1, 0, 1], ("a", "b"))
    assert codes.dtype == np.uint32
    for labels, expected in (
        (pl.Series("y", [2, 1, 2]), (1, 2)),
        (pl.Series("y", [2.0, 1.0, 2.0]), (1.0, 2.0)),
        (pl.Series("y", [True, False, True]), (False, True)),
        (pl.Series("y", ["b", "a", "b"], dtype=pl.Categorical), ("a", "b")),
        (pl.Series("y", ["b", "a", "b"], dtype=pl.Enum(["b", "a"])), ("a", "b")),
    ):
        codes, classes = classes_of(labels, "made")
        assert (codes.tolist(), classes) == ([1, 0, 1], expected)


def test_the_codes_of_classes_may_be_written_to() -> None:
    for labels in (["b", "a", "b"], [2, 1, 2], [True, False, True]):
        assert classes_of(pl.Series("y", labels), "made")[0].flags.writeable


def test_of_zero_and_minus_zero_the_first_is_the_class() -> None:
    for zero in (0.0, -0.0):
        _, classes = classes_of(pl.Series("y", [zero, 1.0, -0.0, 1.0, 0.0]), "made")
        assert [str(label) for label in classes] == [str(zero), "1.0"]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.5, 1.0, 1.0], "is continuous"),
        ([date(2001, 1, 1), date(2002, 1, 1), date(2001, 1, 1)], "is Date"),
        (["a", None, "b"], "has 1 missing value"),
        ([1.0, None, 1.0, 2.0], "has 1 missing value"),
        (["a", "a"], "has one class"),
        (["a", "b", "c"], "has a class for every row"),
    ],
)
def test_labels_that_are_no_classes_are_refused(labels: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=f"^target 'y' of made {message}"):
        classes_of(pl.Series("y", labels), "made")


def test_labels_that_are_all_missing_are_refused() -> None:
    with pytest.raises(DataError, match=r"^target 'y' of made has no value at all") as refused:
        classes_of(pl.Series("y", [None, None], dtype=pl.String), "made")
    assert refused.value.hint == "name the column of classes with target=..."


def test_what_to_do_about_a_measured_target() -> None:
    with pytest.raises(DataError, match="is continuous") as refused:
        classes_of(pl.Series("y", [0.5, 1.5, 1.5]), "made")
    assert refused.value.hint == (
        'name the column of classes with target=..., or predict numbers with task="regression"'
    )


def test_why_labels_may_be_missing_is_said() -> None:
    with pytest.raises(DataError, match=r"(?m)missing value; the file says so$"):
        classes_of(pl.Series("y", ["a", None, "b", "a"]), "made", "the file says so")


# The table.


def table(**options: Any) -> Any:
    given = frame(
        a=[1.0, 2.0, None, 4.0, 5.0, 6.0], b=[0, 1, 0, 1, 0, 1], y=["p", "q", "p", "q", "r", "p"]
    )
    return read_table(given, "y", **{"missing": "mean"} | options)


def test_a_table_as_numbers() -> None:
    found = table()
    assert found.names == ["a", "b"]
    assert found.x[:, 0].tolist() == [1, 2, 3.6, 4, 5, 6]
    assert found.x.flags.f_contiguous
    assert found.y.tolist() == ["p", "q", "p", "q", "r", "p"]
    assert found.labels == ("p", "q", "r")
    assert found.notices == ("1 missing value imputed by mean",)
    assert not found.has_gaps
    assert table(missing="keep").has_gaps
    assert found.locate(["b", 0, -1]) == [1, 0, 1]
    assert found.constant == ()
    assert table(exclude=["b"]).constant == (1,)
    assert found.name_classes(["class 2 has 1 row", "in class 2"]) == (
        "class 'r' has 1 row",
        "in class 2",
    )
    assert found.name_classes(["1 row(s), 2 class(es), 3 fold(s)"]) == (
        "1 row, 2 class(es), 3 folds",
    )
    reduced = found.reduced(["b"])
    assert reduced.columns == ["b", "y"]
    assert reduced["y"].to_list() == ["p", "q", "p", "q", "r", "p"]


def test_some_rows_of_a_table() -> None:
    part = table().take(np.array([2, 3, 1]))
    # The gap is filled by the mean of the rows taken, not of all.
    assert part.x.tolist() == [[3.0, 0.0], [4.0, 1.0], [2.0, 1.0]]
    assert part.x.flags.f_contiguous
    assert (part.labels, part.codes.tolist()) == (("p", "q"), [0, 1, 1])
    assert part.codes.dtype == np.uint32
    assert part.unfilled is not None
    by = table().take(np.array([2, 3, 1]), np.array([4, 5]))
    assert by.x[0, 0] == 5.5
    whole = table().take(np.array([0, 1]))
    assert whole.unfilled is None
    solid = table(missing="drop-rows").take(np.array([0, 1, 3]))
    assert solid.x.tolist() == [[1.0, 0.0], [2.0, 1.0], [5.0, 0.0]]
    assert (solid.labels, solid.codes.tolist()) == (("p", "q", "r"), [0, 1, 2])
    assert solid.frame.rows() == [(1.0, 0), (2.0, 1), (5.0, 0)]
    with pytest.raises(DataError, match="2 rows of frame have one class"):
        table().take(np.array([0, 2]))


def test_chosen_features_are_given_back_as_they_were() -> None:
    given = frame(
        word=["n", "m", "n", "o"],
        flag=[True, True, False, True],
        day=[date(2001, 1, 1), date(2001, 1, 5), date(2001, 1, 2), date(2001, 1, 9)],
        n=[4, 1, 2, 3],
        y=["p", "q", "p", "q"],
    )
    found = read_table(given, "y", encode="ordinal")
    assert found.x[:, 0].tolist() == [1, 0, 1, 2]
    assert found.reduced(["word", "n", "flag", "day"]).equals(
        given.select("word", "n", "flag", "day", "y")
    )
    # Of text alone the values are needed to read the codes.
    assert found.text_codes(["word", "flag", "day", "n"]) == {"word": ["m", "n", "o"]}
    assert found.text_codes(["flag", "n"]) == {}
    assert any("'day'" in notice for notice in found.notices)


def test_what_was_filled_can_be_taken_as_given() -> None:
    found = table().as_filled()
    assert found.unfilled is None
    assert found.take(np.array([2, 3])).x[0, 0] == 3.6


def test_a_measured_target_has_levels() -> None:
    given = frame(a=[1.0, 2.0, 3.0, 4.0, 5.0, 7.0], y=[0.5, 1.5, 2.5, 3.5, 4.5, 5.5])
    found = read_table(given, "y", task="regression")
    assert found.y.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    part = found.take(np.array([5, 0]))
    assert part.y.tolist() == [5.5, 0.5]
    assert part.codes.tolist() == [1, 0]
    assert part.x.ravel().tolist() == [7.0, 1.0]
    # A table of classes that are numbers can be taken as measured, and is not changed twice.
    coded = read_table(given.with_columns(y=pl.Series([1, 2, 1, 2, 1, 2])), "y")
    measured = read_table(coded, task="regression")
    assert measured.y.tolist() == [1, 2, 1, 2, 1, 2]
    assert read_table(measured, task="regression") is measured
    assert read_table(coded) is coded
    # Given apart from the features, it is called by what it is.
    apart = (given.select("a"), given["y"].to_numpy())
    assert read_table(apart, task="regression").target == "target"
    classes = prepare(
        Raw("made", given.select("a")),
        ["p", "q"] * 3,
        missing="error",
        encode="error",
        exclude=(),
        allow_target_copy=False,
    )
    assert (classes.target, classes.labels, classes.values) == ("class", ("p", "q"), None)


def test_a_table_describes_itself() -> None:
    given = frame(a=[1.0, 2.0, 3.0], y=["p", "q", "p"])
    assert repr(read_table(given, "y")) == (
        "Table 'frame': 3 rows, 1 feature, target 'y' (2 classes)"
    )
    continuous = read_table(
        given.with_columns(y=pl.Series([0.5, 1.5, 2.5])), "y", task="regression"
    )
    assert repr(continuous) == "Table 'frame': 3 rows, 1 feature, target 'y' (numbers)"
    codes = np.array([0, 1, 0], dtype=np.uint32)
    quiet = Table("<t>", given, np.zeros((3, 1)), "y", codes, ("p", "q"))
    size = "3 rows, 1 feature, target &#x27;y&#x27; (2 classes)"
    shown = f"<p>Table &#x27;&lt;t&gt;&#x27;: {size}</p>"
    assert quiet._repr_html_() == shown
    noted = replace(quiet, notices=("a < b",), warnings=("careful",))
    assert noted._repr_html_() == shown + "<ul><li>a &lt; b</li><li>careful</li></ul>"


# Tables of arrays.


def array_policies(**options: Any) -> Any:
    policies = {"missing": "error", "encode": "error", "exclude": (), "allow_target_copy": False}
    return policies | options


def is_array_table(table: Table | None) -> bool:
    """Tell whether no frame was built for the features."""
    return table is not None and isinstance(vars(table)["_features"], ArrayColumns)


def test_arrays_of_finite_numbers_need_no_frame() -> None:
    x = np.array([[1.0, 0.0, 5.0], [2.0, 1.0, 6.0], [4.0, 0.0, 8.0], [3.0, 1.0, 8.0]])
    for array, target, names in (
        (x, ["p", "q", "p", "q"], ["x0", "x1", "x2"]),
        (x[:, :1], ["p", "q", "p", "q"], ["x0"]),
        (x, 1, ["x0", "x2"]),
        (x, "x1", ["x0", "x2"]),
        (x[:, :2], None, ["x0"]),
        (x[:, :2], -1, ["x0"]),
    ):
        table = prepare_array(array, target, **array_policies())
        assert is_array_table(table)
        assert table is not None
        assert (table.name, table.names, table.codes.tolist()) == ("array", names, [0, 1, 0, 1])
        part = table.take(np.array([3, 2]))
        assert is_array_table(part)
        assert part.x[:, 0].tolist() == [3.0, 4.0]
        assert part.frame["x0"].to_list() == [3.0, 4.0]
    assert is_array_table(read_table(x, 1))
    assert is_array_table(read_table((x, ["p", "q", "p", "q"])))


def test_other_arrays_are_read_as_frames() -> None:
    labels = ["p", "q", "p"]
    for array, target in (
        (np.zeros((0, 2)), []),
        (np.zeros((0, 2)), None),
        (np.array([[0.0], [1.0], [0.0]]), None),
        (np.array([[1.0], [np.nan], [2.0]]), labels),
        (np.array([[1.0], [np.inf], [2.0]]), labels),
        (np.array([[1], [2**53 + 1], [2]]), labels),
        (np.array([[1.0], [3.0], [2.0]]), [1.0, np.nan, 2.0]),
    ):
        assert prepare_array(array, target, **array_policies()) is None
    with pytest.raises(DataError, match=r"^array has no rows"):
        read_table(np.zeros((0, 2)))
    with pytest.raises(DataError, match=r"^array has no column beside the target 'x0'"):
        read_table(np.array([[0.0], [1.0], [0.0]]))
    with pytest.raises(DataError, match=r"infinite values in 1 column: 'x0' \(1\)"):
        read_table((np.array([[1.0], [np.inf], [2.0]]), labels))
    imputed = read_table((np.array([[1.0], [np.nan], [2.0]]), labels), missing="mean")
    assert imputed.x.ravel().tolist() == [1.0, 1.5, 2.0]
    # A label that is missing drops its row.
    given = (np.array([[1.0], [3.0], [2.0], [4.0]]), [1.0, np.nan, 2.0, 2.0])
    kept = read_table(given, missing="drop-rows")
    assert (kept.x.ravel().tolist(), kept.codes.tolist()) == ([1.0, 2.0, 4.0], [0, 1, 1])


def test_excluded_columns_of_an_array_are_zeros_in_a_copy() -> None:
    x = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 5.0]])
    table = read_table((x, ["p", "q", "p"]), exclude=["x1"])
    assert is_array_table(table)
    assert table.x.tolist() == [[1.0, 0.0], [2.0, 0.0], [4.0, 0.0]]
    assert table.constant == (1,)
    assert table.notices == ()
    assert x[:, 1].tolist()[1:] == [3.0, 5.0]


def test_copies_of_the_target_in_an_array_are_refused_or_warned_of() -> None:
    x = np.array([[1, 0, 0], [2, 1, 1], [3, 0, 0], [3, 1, 1]])
    told = "1 feature equal to the target: 'x1'"
    with pytest.raises(DataError, match=told):
        read_table(x)
    assert read_table(x, allow_target_copy=True).warnings == (told,)
    assert read_table((x[:, :2], x[:, 2])).warnings == (told,)


def test_booleans_of_an_array_are_given_back_as_booleans() -> None:
    flags = np.array([[True, False], [False, False], [True, True]])
    table = read_table((flags, ["p", "q", "p"]))
    assert table.x.tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    assert table.frame.schema == {"x0": pl.UInt8, "x1": pl.UInt8}
    assert table.reduced(["x1"])["x1"].to_list() == [False, False, True]
    counts = read_table((flags.astype(np.int16), ["p", "q", "p"]))
    assert counts.frame.schema == {"x0": pl.Int16, "x1": pl.Int16}
    assert counts.keys == {}


def test_row_identifiers_are_looked_for_except_in_the_samples_of_an_estimator() -> None:
    x, labels = np.column_stack([np.arange(12.0), [3.0, 1.0, 2.0] * 4]), np.array(["p", "q"] * 6)
    told = "'x0' looks like a row identifier"
    for table in (
        read_table((x, labels)),
        read_table((pl.from_numpy(x, schema=["x0", "x1"]), labels)),
        prepare_array(x, labels, **array_policies()),
        prepare(Raw("made", pl.from_numpy(x, schema=["x0", "x1"])), labels, **array_policies()),
    ):
        assert table is not None
        assert any(told in warning for warning in table.warnings)
    assert read_table(Samples(x, labels)).warnings == ()
    with_gap = x.copy()
    with_gap[0, 1] = np.nan
    assert read_table(Samples(with_gap, labels), missing="mean").warnings == ()


def test_classes_are_the_default_of_arrays_too() -> None:
    x, numbers = np.array([[1.0], [2.0], [4.0]]), [0, 1, 0]
    classes = prepare_array(x, numbers, **array_policies())
    assert classes is not None
    assert (classes.target, classes.values) == ("class", None)
    continuous = prepare_array(x, numbers, task="regression", **array_policies())
    assert continuous is not None
    assert continuous.target == "target"
    assert continuous.y.tolist() == [0.0, 1.0, 0.0]


def test_many_different_numbers_are_doubted_unless_measured() -> None:
    given = frame(a=[number % 7 for number in range(104)]).with_columns(
        numbers_with(21, 104, lone=0)
    )
    assert "target 'y' has 21 different numbers in 104 rows: are they classes?" in (
        read_table(given, "y").warnings
    )
    assert not any(
        "classes?" in warning for warning in read_table(given, "y", task="regression").warnings
    )


def test_a_copy_of_the_target_is_refused() -> None:
    given = frame(a=[1, 2, 3, 4], b=[0, 1, 0, 1], y=[0, 1, 0, 1])
    with pytest.raises(DataError, match="1 feature equal to the target: 'b'"):
        read_table(given, "y")
    allowed = read_table(given, "y", allow_target_copy=True)
    assert "1 feature equal to the target: 'b'" in allowed.warnings
    # Labels given apart may equal a feature on purpose.
    apart = read_table((given.drop("y"), given["y"].to_numpy()))
    assert "1 feature equal to the target: 'b'" in apart.warnings
    assert not read_table(given.drop("b"), "y").warnings


def test_excluded_columns_are_not_looked_at() -> None:
    given = frame(a=[1.0, 2.0, 4.0, 3.0], b=["x", None, "y", "z"], y=["p", "q", "p", "q"])
    found = read_table(given, "y", exclude=["b"])
    assert found.x[:, 1].tolist() == [0, 0, 0, 0]
    assert found.names == ["a", "b"]
    assert not found.notices


def test_rows_and_columns_are_dropped_as_told() -> None:
    given = frame(a=[1.0, None, 4.0, 3.0], b=[1, 2, 2, 1], y=["p", "q", "p", "q"])
    rows = read_table(given, "y", missing="drop-rows")
    assert rows.x.tolist() == [[1.0, 1.0], [4.0, 2.0], [3.0, 1.0]]
    assert rows.codes.tolist() == [0, 0, 1]
    assert "1 row with missing values dropped" in rows.notices
    columns = read_table(given, "y", missing="drop-columns")
    assert columns.names == ["b"]
    assert "1 column with missing values dropped: 'a'" in columns.notices


def test_every_holder_of_a_table_is_read() -> None:
    given = frame(a=[1.0, 2.0, 4.0, 3.0], y=[0, 1, 0, 1])
    holders: list[Any] = [
        given,
        given.lazy(),
        pd.DataFrame({"a": [1.0, 2.0, 4.0, 3.0], "y": [0, 1, 0, 1]}),
        given.to_numpy(),
        given.to_numpy().tolist(),
    ]
    names = ["frame", "frame", "frame", "array", "array"]
    for holder, name in zip(holders, names, strict=True):
        found = read_table(holder)
        assert found.name == name
        assert found.x.ravel().tolist() == [1.0, 2.0, 4.0, 3.0]
        assert found.codes.tolist() == [0, 1, 0, 1]

    class Stream:
        def __arrow_c_stream__(self, schema: object = None) -> object:
            return given.__arrow_c_stream__(schema)

    streamed = read_table(Stream())  # type: ignore[arg-type]
    assert (streamed.name, streamed.names) == ("frame", ["a"])
    assert read_table("sklearn:iris").x.shape == (150, 4)


def test_policies_are_checked_first() -> None:
    for options, message in (
        ({"missing": "guess"}, "^unknown policy for missing values 'guess'"),
        ({"encode": "guess"}, "^unknown encoding of text 'guess'"),
        ({"allow_target_copy": "yes"}, "^allow_target_copy is 'yes', expected True or False"),
        ({"task": "ranking"}, "^unknown task 'ranking'"),
    ):
        with pytest.raises(SpecError, match=message):
            read_table("no such file", **options)  # type: ignore[arg-type]


def test_a_tuple_is_features_and_labels() -> None:
    x = [[1.0], [2.0], [4.0], [3.0]]
    for given, count in (((x,), 1), ((x, ["p", "q"] * 2, 3), 3)):
        with pytest.raises(DataError, match=f"^the data is a tuple of {count}, expected features"):
            read_table(given)
    assert read_table((x, ["p", "q"] * 2)).labels == ("p", "q")


def test_columns_that_mislead_are_told() -> None:
    words = [f"w{number:02}" for number in range(12)]
    given = frame(word=words, c=[5] * 12, x=[3, 1, 2] * 4, y=["p", "q"] * 6)
    found = read_table(given, "y", encode="ordinal")
    # Text that never repeats is looks like a row identifier, in whatever order.
    shuffled = read_table(
        given.with_columns(word=pl.Series(words[::2] + words[1::2])), "y", encode="ordinal"
    )
    for one in (found, shuffled):
        assert any("'word' looks like a row identifier" in warning for warning in one.warnings)
        assert "1 constant feature: 'c'" in one.notices


def numbers_with(n: int, rows: int, lone: int) -> pl.Series:
    """Return rows of n different numbers, of which so many occur once."""
    often = list(range(lone, n))
    rest = rows - lone
    return pl.Series("y", [*range(lone), *(often[at % len(often)] for at in range(rest))])


def test_many_rare_numbers_are_no_classes() -> None:
    # More than 20 numbers, fewer than 5 rows for each, a tenth of them alone.
    with pytest.raises(DataError, match="21 different numbers in 104 rows"):
        classes_of(numbers_with(21, 104, lone=3), "made")
    with pytest.raises(DataError, match="30 different numbers in 100 rows"):
        classes_of(numbers_with(30, 100, lone=3), "made")
    for labels in (
        numbers_with(20, 60, lone=10),
        numbers_with(21, 105, lone=3),
        numbers_with(21, 104, lone=2),
        # Fewer than two rows for each, which is too few for words alone.
        numbers_with(21, 41, lone=1),
    ):
        assert len(classes_of(labels, "made")[1]) == labels.n_unique()


def test_the_task_is_guessed_from_the_labels() -> None:
    for labels, task in (
        (pl.Series(["x", "y", "z"]), "classification"),
        (pl.Series([True, False]), "classification"),
        (pl.Series([None, None], dtype=pl.Float64), "classification"),
        (pl.Series([1, 2, 3]), "classification"),
        (pl.Series([1.0, 2.0, None]), "classification"),
        (pl.Series([1.0, 2.5, 2.5]), "regression"),
        (pl.Series([0.5, 1.0, None]), "regression"),
        # Words are classes, however many and rare.
        (pl.Series([f"w{number}" for number in range(30)]), "classification"),
        (numbers_with(21, 104, lone=3), "regression"),
        (numbers_with(30, 100, lone=3).cast(pl.Float64), "regression"),
        (numbers_with(20, 60, lone=10), "classification"),
        (numbers_with(21, 105, lone=3), "classification"),
        (numbers_with(21, 104, lone=2), "classification"),
        # A label that is missing is no row: 104 are left.
        (pl.concat([numbers_with(21, 104, lone=3), pl.Series("y", [None])]), "regression"),
    ):
        assert guess_task(labels).name == task


def test_many_rare_words_are_no_classes() -> None:
    words = [f"w{number}" for number in range(21)]
    with pytest.raises(DataError, match="21 different labels in 41 rows"):
        classes_of(pl.Series("y", [*words, *words[:20]]), "made")
    assert len(classes_of(pl.Series("y", words * 2), "made")[1]) == 21
    assert len(classes_of(pl.Series("y", [*words[:20], words[0]]), "made")[1]) == 20


def test_many_numbers_are_doubted() -> None:
    for n, rows, is_doubted in (
        *((21, 104, True), (21, 105, False), (20, 60, False)),
        *((101, 1010, True), (100, 1000, False)),
    ):
        labels = numbers_with(n, rows, lone=0)
        warning = many_values(labels, tuple(range(n)))
        assert (warning is not None) == is_doubted
        assert many_values(labels.cast(pl.String), tuple(range(n))) is None


def test_labels_of_128_bits_are_classes() -> None:
    big = 2**63
    frame = pl.DataFrame(
        {"a": [1.0, 2.0, 3.0, 4.0], "y": [big, big + 1] * 2},
        schema={"a": pl.Float64, "y": pl.Int128},
    )
    assert read_table(frame, "y").labels == (str(big), str(big + 1))


# Notices and warnings of a whole table, with missing values and without.


def test_a_copy_of_the_target_is_refused_beside_gaps_too() -> None:
    given = frame(a=[1.0, None, 3.0, 4.0], b=[0, 1, 0, 1], y=[0, 1, 0, 1])
    message = "1 feature equal to the target: 'b'"
    with pytest.raises(DataError, match=message):
        read_table(given, "y", missing="mean")
    assert message in read_table(given, "y", missing="mean", allow_target_copy=True).warnings
    apart = read_table((given.drop("y"), given["y"].to_numpy()), missing="mean")
    assert message in apart.warnings


def test_a_notice_names_a_task_that_is_guessed_not_one_that_is_given() -> None:
    numbers = [0.5, 1.5, 2.5, 1.5]
    message = "the target has 3 different numbers: regression"
    for a, missing in (([1.0, 2.0, 4.0, 3.0], "error"), ([1.0, None, 4.0, 3.0], "mean")):
        guessed = read_table(frame(a=a, y=numbers), "y", missing=missing)
        assert message in guessed.notices
        assert guessed.task.name == "regression"
        given = read_table(frame(a=a, y=numbers), "y", missing=missing, task="regression")
        assert message not in given.notices


def test_labels_without_a_name_are_called_by_what_they_are() -> None:
    numbers = np.array([0.5, 1.5, 2.5, 1.5])
    for name, task, target in (
        ("a", None, "target"),
        ("a", "regression", "target"),
        # A feature has that name.
        ("target", None, "class"),
        ("target", "regression", "target_"),
        ("class", None, "class_"),
    ):
        for second in (1.0, None):
            x = pl.DataFrame({name: [3.0, second, 2.0, 5.0]})
            assert read_table((x, numbers), missing="mean", task=task).target == target
    # A column keeps its name.
    named = frame(**{"a": [3.0, 1.0, 2.0, 5.0], "class": numbers})
    assert read_table(named, "class").target == "class"
    assert read_table((named.select("a"), ["p", "q", "p", "q"])).target == "class"


def test_a_target_of_numbers_can_be_taken_for_classes() -> None:
    given = frame(a=[1.0, 2.0, 4.0, 3.0], y=[1, 2, 1, 2])
    numbers = read_table(given, "y", task="regression")
    classes = read_table(numbers, task="classification")
    assert (classes.task.name, classes.values) == ("classification", None)
    assert (classes.labels, classes.codes.tolist()) == ((1.0, 2.0), [0, 1, 0, 1])
    assert read_table(numbers) is numbers
    assert read_table(classes, task="classification") is classes


def test_a_table_keeps_the_frame_it_was_read_from_less_its_target() -> None:
    given = pd.DataFrame({"a": [1.0, 2.0, 4.0], "y": ["p", "q", "p"], "b": [3, 1, 2]})
    sampled = read_table(given, "y").with_samples(given)
    assert [*sampled.samples.columns] == ["a", "b"]
    assert sampled.take(np.array([2, 1])).samples["b"].to_list() == [2, 1]
    # Features given apart are the frame, even if one has the name of the target.
    apart = read_table((given[["a"]], given["y"])).with_samples(given[["a"]])
    assert [*apart.samples.columns] == ["a"]
    same = given[["a", "b"]].rename(columns={"b": apart.target})
    assert replace(apart, x=same.to_numpy(), frame=pl.from_pandas(same)).with_samples(
        same
    ).samples.columns.to_list() == ["a", apart.target]


def test_unknown_options_are_refused() -> None:
    given = frame(a=[1, 2, 3], y=["p", "q", "p"])
    with pytest.raises(SpecError, match=r"^unknown option 'colour'"):
        read_table(given, colour="red")  # type: ignore[call-arg]


def test_a_file_is_called_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    path.write_text("a,b\n1,p\n2,q\n3,p\n")
    for source in (path, str(path)):
        found = read_table(source)
        assert (found.name, found.names, found.labels) == ("made.csv", ["a"], ("p", "q"))
    lists = find([[1, 0], [2, 1]], Reading.of({}))
    assert (lists.name, lists.kind, lists.frame.columns) == ("array", "array", ["x0", "x1"])


def test_columns_of_pandas_that_share_a_name_are_numbered() -> None:
    given = pd.DataFrame([[1, 5, "p"], [2, 7, "q"], [4, 6, "p"]], columns=["a", "a", "y"])
    found = read_table(given, "y", dedupe_names=True)
    assert len({*found.names}) == 2
    assert found.x.tolist() == [[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]]
