"""Classes with fewer rows than there are folds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from swarmrs import Evaluator, read_table, select
from swarmrs.data._table import Table
from swarmrs.evaluation._rare_classes import settle_rare
from swarmrs.exceptions import DataError, SpecError, SwarmrsWarning

Cli = Callable[..., Any]

LABELS = ["u"] * 8 + ["v"] * 7 + ["w"] * 3 + ["x"] * 2 + ["y"]


@pytest.fixture
def table() -> Table:
    x = np.random.default_rng(1).random((len(LABELS), 3))
    return read_table(pl.from_numpy(x, schema=["a", "b", "c"]), LABELS)


def settled(table: Table, policy: str, cv: Any = 5) -> Table:
    return settle_rare(table, policy, cv)


def test_a_lone_row_is_warned_of_whatever_the_folds(table: Table) -> None:
    message = "1 class of 1 row, never learned when tested: 'y'"
    for cv in (None, "loo", 2):
        after = settled(table, "warn", cv)
        assert after.warnings == (message,)
        assert after.x is table.x


@pytest.mark.parametrize(
    ("cv", "least", "rare"),
    [
        (None, 5, "3 classes of fewer than 5 rows: 'w' (3), 'x' (2), 'y' (1)"),
        (3, 3, "2 classes of fewer than 3 rows: 'x' (2), 'y' (1)"),
        ("wrap5", 5, "3 classes of fewer than 5 rows: 'w' (3), 'x' (2), 'y' (1)"),
        ("loo", 2, "1 class of fewer than 2 rows: 'y' (1)"),
        (StratifiedKFold(5), 2, "1 class of fewer than 2 rows: 'y' (1)"),
    ],
)
def test_the_folds_say_what_is_rare(table: Table, cv: Any, least: int, rare: str) -> None:
    with pytest.raises(DataError) as error:
        settled(table, "error", cv)
    assert str(error.value) == rare
    assert error.value.hint == (
        'leave their rows out with rare_class="drop", join them with merge, or take fewer folds'
    )
    dropped = settled(table, "drop", cv)
    assert dropped.warnings == (f"{rare}; their rows are left out",)
    assert np.bincount(dropped.codes).min() >= least


def test_rows_of_rare_classes_are_left_out(table: Table) -> None:
    after = settled(table, "drop")
    assert after.labels == ("u", "v")
    assert after.y.tolist() == LABELS[:15]
    assert after.x.tolist() == table.x[:15].tolist()
    assert after.x.flags.f_contiguous
    assert after.frame.equals(table.frame.head(15))


def test_rare_classes_are_joined(table: Table) -> None:
    after = settled(table, "merge")
    assert after.labels == ("other", "u", "v")
    assert np.bincount(after.codes).tolist() == [6, 8, 7]
    assert after.y.tolist() == ["u"] * 8 + ["v"] * 7 + ["other"] * 6
    assert after.warnings == (
        "3 classes of fewer than 5 rows: 'w' (3), 'x' (2), 'y' (1); "
        "'w', 'x', 'y' are merged into 'other'",
    )


def test_the_next_rarest_joins_while_too_few_are_together() -> None:
    labels = [1] * 9 + [2] * 6 + [3] * 2 + [4]
    table = read_table(np.arange(18.0)[:, None] % 7, labels)
    after = settled(table, "merge")
    assert after.labels == ("1", "other")
    assert np.bincount(after.codes).tolist() == [9, 9]


def test_a_name_that_exists_is_not_taken() -> None:
    labels = ["other"] * 6 + ["b"] * 6 + ["c"] * 3 + ["d"] * 3
    table = read_table(np.arange(18.0)[:, None] % 7, labels)
    assert settled(table, "merge").labels == ("b", "other", "other_")


@pytest.mark.parametrize(
    ("policy", "end"),
    [
        ("drop", "without them no two classes are left"),
        ("merge", "joined they leave one class"),
    ],
)
def test_one_class_left_is_refused(policy: str, end: str) -> None:
    table = read_table(np.arange(9.0)[:, None] % 4, ["a"] * 6 + ["b"] * 3)
    with pytest.raises(DataError) as error:
        settled(table, policy)
    assert str(error.value) == f"1 class of fewer than 5 rows: 'b' (3); {end}"
    assert error.value.hint == "take fewer folds"


def test_nothing_rare_changes_nothing() -> None:
    plain = read_table(np.arange(12.0)[:, None] % 5, [0, 1] * 6)
    for policy in ("warn", "error", "drop", "merge"):
        assert settled(plain, policy) is plain


def test_rows_that_cv_names_are_not_moved(table: Table) -> None:
    splits = [(range(10), range(10, 21))]
    with pytest.raises(SpecError, match="rows are left out, but cv lists row numbers"):
        settled(table, "drop", splits)


def test_unknown_policies_and_scorers_are_refused(table: Table) -> None:
    with pytest.raises(SpecError) as error:
        select(table, rare_class="dorp")
    assert error.value.hint == "did you mean 'drop'? known: warn, error, drop, merge"
    with pytest.raises(SpecError, match="a scorer has its own rows"):
        select(table, rare_class="drop", scorer=lambda masks: [0.5] * len(masks))


def test_every_door_takes_the_policy(table: Table) -> None:
    with pytest.warns(SwarmrsWarning, match="their rows are left out"):
        found = select(table, algo="sfs", cv=5, rare_class="drop")
    assert (found.data["rows"], found.data["labels"]) == (15, ["u", "v"])
    with pytest.warns(SwarmrsWarning, match="are merged into 'other'"):
        evaluator = Evaluator(table, cv=5, rare_class="merge")
    assert evaluator.table.labels == ("other", "u", "v")
    tree = DecisionTreeClassifier(random_state=0)
    with pytest.warns(SwarmrsWarning, match="their rows are left out"):
        found = select(table, algo="sfs", cv=5, estimator=tree, rare_class="drop")
    assert found.data["rows"] == 15


def test_a_fold_without_a_class_has_a_score_and_a_warning(table: Table) -> None:
    with pytest.warns(SwarmrsWarning) as caught:
        scores = Evaluator(table, estimator=KNeighborsClassifier(1), cv=5).measure(
            [True, True, True]
        )[0]
    assert all(np.isfinite(scores.item()))
    messages = [str(warning.message) for warning in caught]
    assert "class 'y' has 1 row, fewer than the 5 folds: some folds test none of them" in messages


def test_the_command_line_takes_it(cli: Cli, tmp_path: Path, table: Table) -> None:
    path = tmp_path / "rare.csv"
    table.frame.with_columns(pl.Series("class", LABELS)).write_csv(path)
    quick = ("--algo", "sfs", "--cv", 5)
    done = cli("select", path, *quick, "--rare-class", "error")
    assert done == (
        1,
        "",
        "note: the target is the last column, 'class'\n"
        "error: 3 classes of fewer than 5 rows: 'w' (3), 'x' (2), 'y' (1)\n"
        "hint: leave their rows out with --rare-class drop, join them with merge, "
        "or take fewer folds\n",
    )
    done = cli("evaluate", path, "--cv", 5, "--rare-class", "drop")
    assert done.code == 0
    assert "warning: 3 classes of fewer than 5 rows" in done.err
    assert "15 rows, 3 features, 2 classes" in done.out
