"""Arguments of the wrong kind: refused by name, before any data is read."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import (
    Evaluator,
    SwarmSelector,
    compare,
    describe,
    group,
    minimize,
    rank,
    read_table,
    select,
)
from swarmrs.exceptions import DataError, SpecError

DATA = "sklearn:iris"
X = np.arange(12.0).reshape(6, 2)
Y = [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("call", "given", "message"),
    [
        (select, {"exclude": "petal width (cm)"}, "exclude is 'petal width .*, expected a list"),
        (select, {"include": (n for n in [1])}, "include is .*, expected a list"),
        (select, {"include": np.array(1)}, "include is .*, expected a list"),
        (
            select,
            {"algo_params": "population=5"},
            "algo_params is 'population=5', expected a mapping or None",
        ),
        (select, {"checkpoint": 5}, "checkpoint is 5, expected a path or None"),
        (select, {"checkpoint": "a\0b"}, "checkpoint is .*, expected a path or None"),
        (select, {"one_per_group": "no"}, "one_per_group is 'no', expected True or False"),
        (select, {"callback": 5}, "callback is 5, expected a function or None"),
        (select, {"algo": None}, "algo is None, expected a string"),
        (rank, {"exclude": 5}, "exclude is 5, expected a list"),
        (group, {"by": 5}, "by is 5, expected a path or a list or a Grouping"),
        (describe, {"exclude": None}, "exclude is None, expected a list"),
        (read_table, {"allow_target_copy": "yes"}, "allow_target_copy is 'yes', expected True"),
        (Evaluator, {"incremental": 2}, "incremental is 2, expected True or False"),
    ],
)
def test_an_argument_of_another_kind_is_named(
    call: Callable[..., object], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        call("no such file.csv", **given)


def test_comparisons_and_functions_of_bits_refuse_them_too() -> None:
    with pytest.raises(SpecError, match="algos is 5, expected a string or a list"):
        compare(DATA, 5)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="unknown option 'exclude'"):
        compare(DATA, "sfs", exclude=5)
    for params in ("population=5", np.array([])):
        with pytest.raises(SpecError, match=r"algo_params is .*, expected a mapping or None"):
            compare(DATA, "sfs", algo_params=params)
    with pytest.raises(SpecError, match="groups is 5, expected a list or None"):
        minimize(lambda x: x.sum(axis=1), 5, groups=5)  # type: ignore[arg-type]


def test_an_estimator_is_a_name_or_an_estimator() -> None:
    class Fits:
        def fit(self, x: object, y: object) -> None: ...

    wrong: list[tuple[Any, str]] = [
        ([], "estimator is a list, expected a name or an estimator"),
        (GaussianNB, "estimator is the class GaussianNB, expected a name or an estimator"),
        (Fits(), "estimator is a Fits, which scikit-learn cannot use"),
    ]
    for estimator, message in wrong:
        with pytest.raises(SpecError, match=message):
            select((X, Y), estimator=estimator)
        with pytest.raises(SpecError, match=message):
            SwarmSelector(estimator).fit(X, Y)


def test_a_column_that_is_no_name_and_no_number_is_not_found() -> None:
    for column in (None, object(), float("inf"), [1]):
        with pytest.raises(SpecError, match="not found"):
            select((X, Y), exclude=[column])  # type: ignore[list-item]


def test_values_that_print_badly_are_named_by_their_type() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(SpecError, match=r"algo_params is (a |<)Odd"):
        select((X, Y), algo_params=Odd())  # type: ignore[arg-type]


def test_lists_of_all_kinds_are_lists() -> None:
    for exclude in ([0], (0,), np.array([0]), range(1), {0}):
        found = select((X, Y), algo="sfs", cv=2, estimator=KNeighborsClassifier(1), exclude=exclude)  # type: ignore[arg-type]
        assert found.selected == ("x1",)


def test_a_size_has_at_most_18_digits(cli: Callable[..., Any]) -> None:
    for digits in ("9" * 19, "9" * 400, "1." + "9" * 400):
        ended = cli("rank", "made.csv", "--max-bytes", digits)
        assert ended.code == 2
        assert "expected a size" in ended.err


def test_arrays_that_are_no_table_are_refused() -> None:
    ragged: list[Any] = [[1], [1, 2], [1], [1], [2], [2]]
    for labels in (ragged, np.zeros(6, dtype="f4,i4"), np.zeros(6, dtype="c16")):
        with pytest.raises(DataError, match="'class'"):
            select((X, labels))
    with pytest.raises(DataError, match="the array has parts of different lengths"):
        select(([[1, 2], [1], [3, 4]], [0, 1, 0]))


@pytest.mark.parametrize("shard", [(1, 2, 3), (1,), (1, 2.5)])
def test_a_shard_is_two_whole_numbers(shard: Any) -> None:
    with pytest.raises(SpecError, match="shard is"):
        compare(["sklearn:iris"], "sfs", runs=1, shard=shard)


@pytest.mark.parametrize("cv", [[1, 2], [([0], [1], [2])], np.array(3), [5], [], range(0), b"5 5"])
@pytest.mark.parametrize("name", ["cv", "outer_cv"])
def test_splits_are_pairs_of_rows(name: str, cv: Any) -> None:
    with pytest.raises(SpecError, match="cv"):
        select("sklearn:iris", algo="sfs", **{name: cv})


@pytest.mark.parametrize("together", [[1], [None], [2.5], ["sepal width (cm)"]])
def test_what_goes_together_is_in_lists(together: Any) -> None:
    with pytest.raises(SpecError, match=r"together has .*, expected lists of columns"):
        select("sklearn:iris", algo="sfs", together=together)


def test_algorithms_of_a_comparison_are_names() -> None:
    with pytest.raises(SpecError, match="expected"):
        compare(["sklearn:iris"], cast(Any, [["sfs"]]), runs=1)


def test_an_array_of_words_is_a_list_of_words() -> None:
    empty: Any = np.array([])
    assert describe((X, Y), null=empty).settings == {}
    words: Any = np.array(["none"])
    assert describe((X, Y), null=words).settings == {"null": ["none"]}


def test_an_array_of_rows_names_no_columns() -> None:
    rows: Any = np.ones((2, 2))
    with pytest.raises(SpecError, match=r"column '\[1\. 1\.\]' not found"):
        select((X, Y), algo="sfs", exclude=rows)


def test_masks_of_different_lengths_are_refused() -> None:
    masks: Any = [([0, 1, 2], [3, 4])]
    with pytest.raises(SpecError, match="masks are no array"):
        Evaluator(DATA).measure(masks)
