"""`scoring` reaches everything: front, pick, held-out rows, comparisons, the screen."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef
from swarmrs import Selection, compare, select
from swarmrs.evaluation._losses import loss_name, loss_of
from swarmrs.evaluation._native import jackknife, spread_of_mean
from swarmrs.experiments import summary

SCORINGS = ("balanced_accuracy", "ovr_accuracy", "f1_macro", "matthews_corrcoef")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


def rare_positives(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return 400 rows, 6 % of them positive: x0 to x5 are weakly relevant, the rest noise."""
    rng = np.random.default_rng(seed)
    y = (np.arange(400) % 50 < 3).astype(int)
    X = rng.normal(size=(400, 20))
    X[:, :6] += 0.8 * y[:, np.newaxis]
    return X, y


def found(**settings: Any) -> Selection:
    shared: dict[str, Any] = {"random_state": 1, "max_evals": 600, "cv_seed": 0}
    return select(rare_positives(), **{**shared, **settings})


def lacks_of(scores: Mapping[str, float | None], name: str) -> float:
    """Return what a score lacks to 1."""
    score = scores[name]
    assert score is not None
    return 1 - score


@pytest.mark.parametrize("algo", ["mopbpso", "nsga2"])
def test_the_knee_of_rare_classes_goes_by_the_score(algo: str) -> None:
    best = found(algo=algo, scoring="balanced_accuracy")
    knee = found(algo=algo, scoring="balanced_accuracy", pick="knee")
    front = knee.front
    # To call every row negative has the least error of small subsets, and a loss of 0.5.
    assert best.loss < 0.36
    assert knee.loss < 0.45
    assert knee.loss == lacks_of(knee.scores, "balanced_accuracy") == knee.cost
    losses = [point.loss for point in front]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == best.loss == min(losses)
    assert [point.loss for point in front] == [
        lacks_of(point.scores, "balanced_accuracy") for point in front
    ]


@pytest.mark.parametrize("scoring", SCORINGS)
def test_the_front_is_non_dominated_in_the_loss(scoring: str) -> None:
    result = found(algo="ga", scoring=scoring, max_evals=300, objective="error", keep_all=True)
    assert result.all_evaluations is not None
    # The cost is the loss, so that all evaluations give the front.
    tried = result.all_evaluations.select("size", "cost").rows()
    expected = sorted(
        {
            (size, cost)
            for size, cost in tried
            if not any((s <= size and c < cost) or (s < size and c <= cost) for s, c in tried)
        }
    )
    assert [(point.size, point.loss) for point in result.front] == expected
    assert result.scoring == scoring
    assert result.loss == result.cost == loss_of(result.scores, scoring)


def test_without_scoring_the_loss_is_the_error() -> None:
    result = found(algo="ga", max_evals=300)
    assert result.scoring == "accuracy"
    assert result.loss == result.scores["error"]
    assert [point.loss for point in result.front] == [point.error for point in result.front]
    plain = result.to_dict()
    assert plain["loss"] == plain["error"]
    named = found(algo="ga", max_evals=300, scoring="accuracy")
    assert named.front == result.front


def test_a_size_is_picked_by_the_score() -> None:
    result = found(algo="mopbpso", scoring="balanced_accuracy", pick="size<=3")
    small = [point.loss for point in result.front if point.size <= 3]
    assert result.loss == min(small)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_one_standard_error_is_that_of_the_score(scoring: str) -> None:
    settings: dict[str, Any] = {"algo": "mopbpso", "scoring": scoring}
    best, small = found(**settings), found(**settings, pick="1se")
    given_up = small.parsimony
    assert given_up is not None
    assert given_up.best_loss == best.loss
    assert 0 < given_up.standard_error < 0.2
    limit = given_up.best_loss + given_up.standard_error
    assert small.loss <= limit
    assert not any(point.loss <= limit for point in small.front if point.size < small.size)


def predictions(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=n, p=[0.6, 0.3, 0.1]).astype(np.uint32)
    predicted = np.where(rng.random(n) < 0.7, truth, rng.integers(0, 3, n)).astype(np.uint32)
    return truth, predicted


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("n_folds", [1, 4, 60])
@pytest.mark.parametrize("seed", range(5))
def test_the_standard_error_is_the_jackknife_of_scikit_learn_scores(
    seed: int, n_folds: int
) -> None:
    truth, predicted = predictions(seed)
    n = len(truth)
    folds = np.arange(n, dtype=np.uint32) % n_folds
    losses: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
        "balanced_accuracy": lambda t, p: 1 - balanced_accuracy_score(t, p),
        "f1_macro": lambda t, p: 1 - f1_score(t, p, average="macro"),
        "matthews_corrcoef": lambda t, p: (1 - matthews_corrcoef(t, p)) / 2,
    }
    # Folds of one row each are scored together.
    parts = folds if n_folds < n else np.zeros_like(folds)
    for scoring, loss in losses.items():
        values = []
        for at in range(n):
            others = [(parts == part) & (np.arange(n) != at) for part in np.unique(parts)]
            values.append(np.mean([loss(truth[rows], predicted[rows]) for rows in others]))
        expected = np.sqrt((n - 1) / n * ((values - np.mean(values)) ** 2).sum())
        rows = np.arange(n, dtype=np.uint32)
        found = jackknife(rows, truth, predicted, folds, 3, scoring)
        assert found == pytest.approx(expected, rel=1e-9)


def test_the_jackknife_leaves_out_a_fold_with_its_only_row() -> None:
    rows = np.arange(5, dtype=np.uint32)
    truth, predicted, folds = np.array(
        [[0, 0, 1, 1, 0], [0, 1, 1, 1, 1], [0, 0, 0, 0, 1]], dtype=np.uint32
    )
    # The folds score 3 / 4 and 0; without one of their rows the first scores 1 / 2, 1 or 3 / 4.
    losses = 1 - np.array([1 / 2, 1, 3 / 4, 3 / 4, 2 * 3 / 4]) / 2
    expected = np.sqrt(4 / 5 * ((losses - losses.mean()) ** 2).sum())
    found = jackknife(rows, truth, predicted, folds, 2, "balanced_accuracy")
    assert found == pytest.approx(expected)


def test_the_jackknife_of_a_mean_is_its_standard_error_and_rows_count_once() -> None:
    truth, predicted = predictions(7)
    rows = np.arange(len(truth), dtype=np.uint32)
    # One-vs-rest accuracy is a mean over rows: of three classes 2 / 3 of the error.
    expected = 2 / 3 * spread_of_mean((truth != predicted).astype(float))
    assert jackknife(rows, truth, predicted, rows % 4, 3, "ovr_accuracy") == pytest.approx(expected)
    rows, truth, predicted = (np.repeat(each, 2) for each in (rows, truth, predicted))
    assert jackknife(rows, truth, predicted, rows % 4, 3, "ovr_accuracy") == pytest.approx(expected)


def test_rows_held_out_are_scored_by_it() -> None:
    result = found(algo="sfs", scoring="balanced_accuracy", outer_cv=4, max_features=3)
    held_out = result.held_out
    assert held_out is not None
    outer = [lacks_of(part.scores, "balanced_accuracy") for part in held_out.parts]
    inner = [lacks_of(part.selection.scores, "balanced_accuracy") for part in held_out.parts]
    assert held_out.outer_loss == pytest.approx(np.mean(outer))
    assert held_out.inner_loss == pytest.approx(np.mean(inner))
    assert held_out.spread == pytest.approx(np.std(outer, ddof=1))
    assert held_out.optimism == held_out.outer_loss - held_out.inner_loss
    assert held_out.outer_error != held_out.outer_loss
    assert held_out.to_frame()["outer_loss"].to_list() == outer


def test_repeats_tell_the_loss_of_each_run_and_of_the_consensus() -> None:
    result = found(algo="ga", scoring="f1_macro", max_evals=200, repeats=3)
    stability = result.stability
    assert stability is not None
    assert stability.to_frame()["loss"].to_list() == [run.loss for run in stability.runs]
    assert stability.consensus.loss == lacks_of(stability.consensus.scores, "f1_macro")


@pytest.fixture
def rare_file(tmp_path: Path) -> Path:
    X, y = rare_positives()
    path = tmp_path / "rare.csv"
    rows = (
        ",".join([*(f"{value:.6f}" for value in row), f"c{label}"])
        for row, label in zip(X, y, strict=True)
    )
    head = ",".join([*(f"x{at}" for at in range(X.shape[1])), "class"])
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


@pytest.mark.parametrize("scoring", SCORINGS)
def test_the_screen_says_which_score_it_is(
    scoring: str, rare_file: Path, cli: Callable[..., Outcome]
) -> None:
    shared = ("--algo", "sfs", "--scoring", scoring, "--seed", "1", "-k", "1")
    limits = ("--max-features", "3", "--pick", "knee", "--outer-cv", "3", "--repeats", "2")
    outcome = cli("select", str(rare_file), *shared, *limits)
    assert outcome.code == 0, outcome.err
    name, lines = loss_name(scoring), outcome.out.splitlines()
    # Two spaces or more end a label.
    labels = {line.split("  ")[0]: line for line in lines if not line.startswith(" ")}
    for label in ("loss", "inner loss", "outer loss", "Pareto front", "consensus"):
        assert name in labels[label], label
    assert not any(label.startswith(("inner error", "outer error")) for label in labels)
    plain = json.loads(cli("select", str(rare_file), *shared, *limits, "-f", "json").out)
    assert plain["scoring"] == scoring
    assert f"{plain['loss']:.4f}" in labels["loss"]
    assert f"{plain['held_out']['outer_loss']:.4f}" in labels["outer loss"]


def test_a_comparison_goes_by_the_score_of_its_searches() -> None:
    settings: dict[str, Any] = {"runs": 1, "protocol": "split70", "max_evals": 40, "n_neighbors": 1}
    for scoring in ("balanced_accuracy", "matthews_corrcoef"):
        study = compare({"rare": rare_positives()}, "sfs,all", scoring=scoring, **settings)
        cells = study.cells
        assert set(cells["scoring"]) == {scoring}
        summed = summary(cells)
        assert summed.measure == f"test_{scoring}"
        assert summed.to_dict()["is_higher_better"]
        row = cells.row(0, named=True)
        lacks = (
            (1 - row["test_matthews_corrcoef"]) / 2
            if scoring == "matthews_corrcoef"
            else 1 - row[f"test_{scoring}"]
        )
        assert row["test_loss"] == pytest.approx(lacks)
        assert row["train_loss"] == row["train_cost"]
    study = compare({"rare": rare_positives()}, "sfs,all", **settings)
    assert summary(study.cells).measure == "test_accuracy"
    assert study.cells["test_loss"].equals(study.cells["test_error"], check_names=False)


def test_the_preset_xue2016_has_its_own_score() -> None:
    result = select("sklearn:wine", algo="sfs", preset="xue2016", max_features=2, random_state=1)
    assert result.scoring == "ovr_accuracy"
    last = result.front[-1]
    assert last.loss == pytest.approx(lacks_of(last.scores, "ovr_accuracy"))
