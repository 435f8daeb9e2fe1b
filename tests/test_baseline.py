"""Every score is shown beside that of the majority class, with a note where it is no better."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier
from swarmrs import Evaluator, Selection, compare, select
from swarmrs.evaluation._losses import SCORES, against
from swarmrs.exceptions import NoFeaturesError
from swarmrs.experiments import summary, write_selection_report


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


def noise(seed: int, rows: int = 60, features: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Return noise features and two classes, a third of the rows in the second."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, features)), np.arange(rows) % 3 // 2


def written(data: tuple[np.ndarray, np.ndarray], path: Path) -> Path:
    X, y = data
    rows = (",".join([*map(str, row), "ab"[label]]) for row, label in zip(X, y, strict=True))
    head = ",".join([*(f"x{at}" for at in range(X.shape[1])), "class"])
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


@pytest.mark.parametrize("cv", [10, "loo", "complete", "wrap5", "holdout=0.3", StratifiedKFold(4)])
def test_it_is_the_share_of_the_other_classes(cv: int | str | StratifiedKFold) -> None:
    X, y = noise(1)
    found = select((X, y), algo="sfs", cv=cv, max_features=1)
    assert found.baseline is not None
    assert found.baseline.label == "0"
    assert found.baseline.loss == pytest.approx(1 / 3, abs=0.01)
    assert found.baseline.scores["balanced_accuracy"] == 0.5
    assert found.baseline.scores["matthews_corrcoef"] == 0
    assert tuple(found.baseline.scores) == SCORES == tuple(found.scores)


def test_it_is_that_of_scikit_learn_on_the_same_folds() -> None:
    X, y = noise(2, rows=67)
    folds = list(StratifiedKFold(5).split(X, y))
    found = select((X, y), algo="sfs", cv=folds, max_features=1)
    assert found.baseline is not None
    for name in ("accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef"):
        theirs = cross_val_score(DummyClassifier(), X, y, cv=folds, scoring=name).mean()
        assert found.baseline.scores[name] == pytest.approx(theirs)


def test_it_goes_by_the_scoring() -> None:
    found = select(noise(1), algo="sfs", scoring="balanced_accuracy", max_features=1, outer_cv=3)
    assert found.baseline is not None
    assert found.baseline.loss == 0.5
    assert found.held_out is not None
    assert found.held_out.baseline is not None
    assert found.held_out.baseline.loss == 0.5


def test_an_evaluator_has_it() -> None:
    evaluator = Evaluator("sklearn:wine")
    assert evaluator.baseline.label == "class_1"
    assert evaluator.baseline.scores["pooled_error"] == pytest.approx(107 / 178)


def test_an_estimator_is_beside_one_that_looks_at_no_feature() -> None:
    X, y = noise(3)
    settings: dict[str, Any] = {"algo": "sfs", "max_features": 1, "cv": 4, "random_state": 1}
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    found = select((X, y), estimator=tree, outer_cv=3, **settings)
    assert found.baseline is not None
    assert found.baseline.loss == pytest.approx(1 / 3, abs=0.01)
    assert found.held_out is not None
    assert found.held_out.baseline is not None
    auc = select((X, y), estimator=LogisticRegression(), scoring="roc_auc", **settings)
    assert auc.scoring == "roc_auc"
    assert auc.baseline is not None
    assert auc.baseline.loss == 0.5
    numbers = select((X, X[:, 0] + y), estimator=Ridge(), **settings)
    assert numbers.baseline is not None
    assert numbers.baseline.label is None
    assert numbers.baseline.loss >= 1
    assert (
        select((X, y), scorer=lambda masks: [0.5] * len(masks), **{**settings, "cv": None}).baseline
        is None
    )


def test_words_are_for_what_is_no_better() -> None:
    assert against(0.2, 0.3) is None
    assert against(0.1 + 0.2, 0.3) == "no better than guessing"
    assert against(0.4, 0.3) == "worse than guessing"


def test_the_screen_and_json_have_it_inside_and_outside(
    tmp_path: Path, cli: Callable[..., Outcome]
) -> None:
    path = written(noise(4), tmp_path / "noise.csv")
    words = ("select", path, "--algo", "sfs", "--max-features", 2, "--seed", 1, "--outer-cv", 3)
    shown = cli(*words).out
    plain = json.loads(cli(*words, "-f", "json").out)
    inner, outer = [
        row.split(maxsplit=1)[1] for row in shown.splitlines() if row.startswith("baseline ")
    ]
    assert inner.startswith(f"{plain['baseline']['loss']:.4f} by predicting 'a'")
    held_out = plain["held_out"]
    assert held_out["outer_loss"] > held_out["baseline"]["loss"]
    assert outer.endswith("the majority class: the selection is worse than guessing")
    both = cli("evaluate", path, "--features", "x0,x1").out
    assert "error              " in both
    assert "(majority class 0.3333)" in both
    plain = json.loads(cli("evaluate", path, "--features", "x0,x1", "-f", "json").out)
    assert plain["baseline"]["label"] == "a"
    assert set(SCORES) <= set(plain["baseline"])


def test_a_page_has_it_and_what_rows_held_out_show(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    settings: dict[str, Any] = {"algo": "sfs", "max_features": 2, "random_state": 1}

    def text(found: Selection) -> str:
        write_selection_report(found, page)
        return page.read_text()

    alone = select(noise(4), **settings)
    assert "Measure them on rows the search has not seen" in text(alone)
    assert "Held out" not in text(alone)
    for how in ({"outer_cv": 3}, {"test_size": 0.4}):
        found = select(noise(4), **settings, **how)
        assert found.held_out is not None
        shown = text(found)
        assert "Measure them on rows the search has not seen" not in shown
        assert "Rows held out" in shown
        assert f"{found.held_out.outer_loss:.4f}" in shown
        assert f"{found.held_out.inner_loss:.4f}" in shown
        assert found.baseline is not None
        assert f"{found.baseline.loss:.4f}" in shown
    assert "On the rows held out the selection is worse than guessing" in text(
        select(noise(4), **settings, outer_cv=3)
    )
    balanced = text(select(noise(4), **settings, scoring="balanced_accuracy", test_size=0.4))
    assert "1 - balanced accuracy" in balanced


def wide_noise(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(100, 400)), rng.integers(0, 2, 100)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.filterwarnings("ignore:no (feature|column) survives")
def test_a_fold_without_a_relevant_feature_predicts_the_majority(seed: int) -> None:
    settings: dict[str, Any] = {
        "prescreen": "top=20",
        "algo": "sfs",
        "max_features": 2,
        "random_state": 1,
    }
    X, y = wide_noise(seed)
    found = select((X, y), outer_cv=10, **settings)
    assert found.held_out is not None
    parts = found.held_out.parts
    assert len(parts) == 10
    empty = [part for part in parts if not part.selection.selected]
    for part in empty:
        assert part.selection.stop == "no_features"
        assert part.selection.prescreen == {"rule": "top=20", "candidates": 400, "survivors": 0}
        # Both classes are stratified, so that the training rows have the majority of the table.
        assert part.baseline is not None
        assert part.scores == part.baseline.scores
    assert bool(found.held_out.notes) == bool(empty)
    if seed == 7:
        assert len(empty) == 3
        (note,) = found.held_out.notes
        assert note.startswith("no feature survives the prescreen in 3 of 10 outer folds")
        assert note in found.warnings
        plain = found.to_dict()["held_out"]
        assert isinstance(plain, dict)
        assert plain["notes"] == [note]


def irrelevant() -> tuple[np.ndarray, np.ndarray]:
    """Return a table of which no feature is relevant."""
    return noise(0, rows=30, features=5)


@pytest.mark.filterwarnings("ignore:no (feature|column) survives")
def test_a_table_without_a_relevant_feature_is_refused_but_can_be_cross_validated(
    tmp_path: Path, cli: Callable[..., Outcome]
) -> None:
    settings: dict[str, Any] = {"prescreen": "top=20", "algo": "sfs", "random_state": 1}
    with pytest.raises(NoFeaturesError, match="no column survives the prescreen"):
        select(irrelevant(), **settings)
    with pytest.raises(NoFeaturesError):
        select(irrelevant(), test_size=0.3, **settings)
    found = select(irrelevant(), outer_cv=5, **settings)
    assert (found.selected, found.stop) == ((), "no_features")
    assert found.held_out is not None
    assert found.held_out.outer_loss == pytest.approx(1 / 3)
    path = written(irrelevant(), tmp_path / "noise.csv")
    words = ("select", path, "--algo", "sfs", "--prescreen", "top=20", "--outer-cv", 5)
    shown = cli(*words)
    assert shown.code == 0, shown.err
    rows = [row.split(maxsplit=1) for row in shown.out.splitlines() if row]
    assert ["selected", "0 of 5 features"] in rows
    assert "no better than guessing" in shown.out
    [note] = [words[1] for words in rows if words[0] == "note"]
    assert note.startswith("no feature survives the prescreen in 5 of 5 outer folds")
    page = tmp_path / "page.html"
    assert cli(*words, "--report", page).code == 0
    assert "the majority class is predicted" in page.read_text()
    refused = cli(*words, "-o", tmp_path / "out.csv")
    assert refused.code == 1
    assert "there is no table to write" in refused.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.filterwarnings("ignore:no (feature|column) survives")
def test_rows_drawn_without_a_relevant_feature_are_a_run_of_none() -> None:
    X, y = wide_noise(7)
    settings: dict[str, Any] = {
        "prescreen": "top=20",
        "algo": "sfs",
        "max_features": 2,
        "random_state": 1,
    }
    found = select((X, y), repeats=10, resample=0.8, **settings)
    assert found.stability is not None
    sizes = [run.size for run in found.stability.runs]
    assert len(sizes) == 10
    assert 0 in sizes
    assert any("no feature survives the prescreen in" in warning for warning in found.warnings)


@pytest.mark.filterwarnings("ignore:no (feature|column) survives")
def test_cells_without_a_relevant_feature_are_finished() -> None:
    study = compare({"noise": irrelevant()}, "sfs,all", protocol="cv5", runs=1, prescreen="top=20")
    cells = study.cells
    assert study.failed == ()
    assert set(cells["state"]) == {"done"}
    empty = cells.filter(cells["method"] == "sfs")
    assert set(empty["stop"]) == {"no_features"}
    assert set(empty["size"]) == {0}
    assert empty["test_error"].to_list() == pytest.approx([1 / 3] * 5)
    assert any("no feature survives" in note for note in summary(cells).notes)
