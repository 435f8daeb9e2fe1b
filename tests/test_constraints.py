"""Constraints on the features, from Python and on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import SwarmSelector, algorithms, read_table, select
from swarmrs.exceptions import DataError, SpecError, SwarmrsWarning
from swarmrs.search._options._cards import Card

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]

QUICK: dict[str, Any] = {"algo": "bpso", "random_state": 1, "max_evals": 60, "cv": 3}

NEIGHBOR = KNeighborsClassifier(1)


@pytest.fixture
def woods() -> pl.DataFrame:
    """Two columns of text and a number; the classes are those of the first."""
    return pl.DataFrame(
        {
            "wood": ["oak", "oak", "elm", "ash", "elm", "ash"] * 4,
            "rings": [3, 4, 3, 4, 4, 3] * 4,
            "site": ["hill", "lake"] * 12,
            "tree": ["a", "a", "b", "c", "b", "c"] * 4,
        }
    )


def test_a_table_knows_which_columns_came_from_one(woods: pl.DataFrame) -> None:
    table = read_table(woods, encode="onehot")
    assert table.encoded == ((0, 1, 2), (4, 5))
    assert [table.names[at] for at in table.encoded[1]] == ["site=hill", "site=lake"]
    assert read_table(woods, encode="ordinal").encoded == ()


@pytest.mark.parametrize("card", algorithms(), ids=lambda card: card.id)
def test_encoded_columns_go_together(woods: pl.DataFrame, card: Card) -> None:
    found = select(
        woods,
        algo=card.id,
        encode="onehot",
        together="encoded",
        estimator=NEIGHBOR,
        scale="minmax",
        cv=3,
        max_iter=3,
        random_state=1,
    )
    for point in found.front:
        for column, total in (("wood", 3), ("site", 2)):
            assert sum(name.startswith(column) for name in point.selected) in (0, total)


def test_lists_and_the_word_may_be_mixed(woods: pl.DataFrame) -> None:
    both = ["encoded", ["rings", "site=hill"]]
    with pytest.raises(SpecError, match="goes together with features of two lists") as caught:
        select(woods, encode="onehot", together=both, **QUICK)
    assert caught.value.hint == "merge the two lists"
    with pytest.raises(SpecError, match="together has 'rings', expected lists"):
        select(woods, encode="onehot", together=["rings"], **QUICK)


def test_what_includes_one_includes_all(blobs: Blobs) -> None:
    found = select(blobs, together=[[0, 4], [1, 2]], include=[4], exclude=[2], **QUICK)
    assert {0, 4} <= set(found.selected_indices)
    assert not {1, 2} & set(found.selected_indices)
    with pytest.raises(SpecError, match="one is included and the other excluded"):
        select(blobs, together=[[0, 4]], include=[4], exclude=[0], **QUICK)


class TestConstantColumns:
    @pytest.fixture
    def data(self, blobs: Blobs) -> Blobs:
        x, y = blobs
        return np.column_stack([x, np.ones((len(x), 2))]), y

    def test_one_throws_nothing_out_that_goes_together_with_it(self, data: Blobs) -> None:
        found = select(data, algo="sfs", together=[[1, 4, 6]], max_features=3, cv=3)
        assert found.selected_indices == (1, 4, 6)

    def test_one_contradicts_no_column_that_is_included(self, data: Blobs) -> None:
        found = select(data, together=[[0, 6]], include=[0], **QUICK)
        assert {0, 6} <= set(found.selected_indices)
        assert 7 not in found.selected_indices

    def test_a_list_of_nothing_else_is_left_out(self, data: Blobs) -> None:
        found = select(data, together=[[6, 7]], **QUICK)
        assert all(not {6, 7} & {*point.selected_indices} for point in found.front)
        x, y = data
        with pytest.raises(DataError, match="every column of array is constant"):
            select((x[:, 6:], y), together=[[0, 1]], **QUICK)

    def test_a_value_that_left_with_a_rare_class_keeps_its_column(
        self, woods: pl.DataFrame
    ) -> None:
        """No row that stays has a value of text, so its column of zeros and ones is constant."""
        lone = pl.DataFrame({"wood": ["yew"], "rings": [9], "site": ["hill"], "tree": ["z"]})
        data = pl.concat([woods, lone])
        plan: dict[str, Any] = {"algo": "sfs", "encode": "onehot", "rare_class": "drop"}
        plan |= {"estimator": NEIGHBOR, "scale": "minmax"}
        with pytest.warns(SwarmrsWarning, match="their rows are left out"):
            found = select(data, together="encoded", cv=3, **plan)
        assert found.selected == ("wood=ash", "wood=elm", "wood=oak", "wood=yew")
        with pytest.warns(SwarmrsWarning, match="their rows are left out"):
            apart = select(data, cv=3, **{**plan, "algo": "sbs"})
        assert "wood=yew" not in max(apart.front, key=lambda point: point.size).selected


def test_what_came_from_one_column_is_found_beside_others_that_are_gone() -> None:
    data = pl.DataFrame(
        {
            "gap": [1.0, None, 2.0, 3.0],
            "key": list("pqrs"),
            "one": ["same"] * 4,
            "site": ["hill", "lake", "lake", "hill"],
            "class": [0, 1, 1, 0],
        }
    )
    table = read_table(data, encode="onehot", missing="drop-columns", exclude=["key"])
    assert table.names == ["key", "one=same", "site=hill", "site=lake"]
    assert table.encoded == ((2, 3),)
    assert table.constant == (0, 1)
    rows = read_table(data, encode="onehot", missing="drop-rows")
    assert [[rows.names[at] for at in members] for members in rows.encoded] == [
        ["key=p", "key=r", "key=s"],
        ["site=hill", "site=lake"],
    ]


def test_a_selector_has_them_too(blobs: Blobs) -> None:
    selector = SwarmSelector(algo="sfs", constraints={"together": [[1, 4]]}, max_features=2)
    assert np.flatnonzero(selector.fit(*blobs).support_).tolist() == [1, 4]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"includ": ["x1"]}, "unknown option 'includ'"),
        (["x1"], "constraints is .*, expected a mapping"),
        ({"include": ["x9"]}, "column 'x9' not found"),
    ],
)
def test_what_is_no_constraint_is_refused(blobs: Blobs, constraints: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        SwarmSelector(algo="sfs", constraints=constraints).fit(*blobs)


@pytest.mark.parametrize("groups", [None, [[0, 1, 4], [2, 5], [3]]])
def test_one_of_each_group(blobs: Blobs, groups: list[list[int]] | None) -> None:
    """Groups are those given, or else those found in the table."""
    found = select(blobs, one_per_group=True, feature_groups=groups, **QUICK)
    assert found.groups is not None
    if groups is not None:
        assert len(found.groups) == 3
    for point in found.front:
        assert all(len({*group} & {*point.selected}) <= 1 for group in found.groups)


def test_the_command_line_has_lists(cli: Callable[..., Any], blobs_csv: Path) -> None:
    lists = ("--together", "b,e", "--together", "a,c", "--max-features", 2)
    out = cli("select", blobs_csv, "--algo", "sfs", *lists, "-f", "csv").out
    assert out == "index,feature\n1,b\n4,e\n"
    both = ("--one-per-group", "--feature-groups", "prefix", "--include", "a", "-f", "csv")
    assert "0,a\n" in cli("select", blobs_csv, *both, "--seed", 1, "--max-evals", 100).out
