"""algo="auto": methods compete on held-out rows; the choice and its estimate are honest."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
import swarmrs
from numpy.typing import NDArray
from sklearn.feature_selection import f_classif
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef
from sklearn.tree import DecisionTreeClassifier
from swarmrs.evaluation._bias_correction import (
    Resampled,
    choose,
    class_means_of,
    mean_of,
    standard_errors,
)
from swarmrs.evaluation._native import score_of
from swarmrs.exceptions import DataError, SwarmrsWarning
from swarmrs.search._auto import Ranked, _Arena, log_steps, mean_ranking
from swarmrs.search._options._settings import Settings
from swarmrs.search._results._selection import Evaluations
from swarmrs.search._search import Search


def made(
    n: int = 80, width: int = 40, *, signal: float = 2.0, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """Return samples of two classes, of which the first three features differ."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, width)), np.arange(n) % 2
    x[:, :3] += signal * y[:, np.newaxis]
    return x, y


def auto(*data: object, **options: object) -> tuple[swarmrs.Selection, swarmrs.Competition]:
    """Return a selection by auto and its competition."""
    found = swarmrs.select(data, algo="auto", random_state=1, **options)  # type: ignore[arg-type]
    assert found.competition is not None
    return found, found.competition


def test_the_winner_finds_the_planted_features() -> None:
    found, competition = auto(*made())
    assert {0, 1, 2} <= set(found.selected_indices)
    assert found.size <= 8
    assert found.size == competition.size
    assert not competition.is_noise
    assert competition.interval[0] < competition.score < competition.interval[1] <= 1.0
    chosen = competition.frame.filter("is_chosen").row(0, named=True)
    assert chosen["method"] == competition.method
    assert chosen["size"] == competition.size
    # The winner has the best mean score over the larger half of the sizes.
    least, most = competition.sizes
    larger = competition.frame.filter(competition.frame["size"].is_between(least, most))
    means = larger.group_by("method", maintain_order=True).agg(pl.col("score").mean())
    best = means.sort("score", descending=True, maintain_order=True).row(0)
    assert best == competition.methods.row(0)[:2]
    assert best[0] == competition.method


def test_every_row_is_judged_by_rankings_that_have_not_seen_it() -> None:
    """Each split names itself by the first feature of its ranking."""
    x, y = made(60, 30, signal=0.0)
    table = swarmrs.read_table((x, y))
    settings = Settings.of({"algo": "auto"})
    arena = _Arena(Search.of(table, settings), 3, 1)
    pairs = arena.pairs()
    assert len(pairs) == arena.plan.n_splits == 20
    rounds = [pairs[at : at + 5] for at in range(0, 20, 5)]
    for turn in rounds:
        assert sorted(block for pair in turn for block in pair) == list(range(10))
    assert len({frozenset(pair) for pair in pairs}) == 20
    assert np.bincount(arena.blocks).tolist() == [6] * 10
    for code in (0, 1):
        assert np.bincount(arena.blocks[y == code]).tolist() == [3] * 10
    seen: list[set[int]] = []

    def rank(search: Search, method: str, *_: object) -> Ranked:
        rows = {int(np.flatnonzero((x == row).all(axis=1))[0]) for row in search.table.x}
        seen.append(rows)
        return Ranked([len(seen) - 1, *range(25, 30)], Evaluations(0, 0))

    arena.plan = replace(arena.plan, methods=("f",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arena, "rank", rank)
        patch.setattr(arena, "progress", lambda *_: {})
        trials = [arena.job(pair)(1, lambda _: False) for pair in pairs]
    for block in range(10):
        rows = set(np.flatnonzero(arena.blocks == block).tolist())
        unseen = [trial for trial in trials if block in trial.held_out]
        assert len(unseen) == 4
        for trial in unseen:
            assert not rows & seen[trial.rankings["f"][0]]
        judged = arena.judging(block, trials)(1, lambda _: False)
        assert set(judged.rows.tolist()) == rows


def test_wide_tables_are_ranked_by_the_features_that_are_best_by_the_rows_of_a_split() -> None:
    x, y = made(40, 2200, signal=4.0)
    settings = Settings.of({"algo": "auto", "include": [2100], "exclude": [1]})
    arena = _Arena(Search.of(swarmrs.read_table((x, y)), settings), 1, 1)
    rows = np.setdiff1d(np.arange(40), [0, 5, 9, 30])
    here, features = arena.on(rows)
    candidates = np.setdiff1d(np.arange(2200), [1, 2100])
    scores = f_classif(x[rows][:, candidates], y[rows])[0]
    best = candidates[np.argsort(-scores, kind="stable")[:2000]]
    assert features.tolist() == sorted({*best.tolist(), 2100})
    np.testing.assert_array_equal(here.table.x, x[rows][:, features])
    assert here.table.names == here.table.frame.columns == [f"x{it}" for it in features]
    assert features[here.spec["include"]].tolist() == [2100]
    assert here.free.sum() == 2000
    for method in arena.plan.methods:
        order = features[arena.rank(here, method, 200, 1.0).order]
        assert {0, 2} & set(order[:5].tolist()), method
        assert not {1, 2100} & set(order.tolist()), method
    found, _ = auto(x, y, include=[2100], exclude=[1])
    assert {0, 2100} <= set(found.selected_indices)
    assert 1 not in found.selected_indices


@pytest.mark.parametrize("option", [{"together": [[0, 1]]}, {"feature_groups": "hclust=9"}])
def test_wide_tables_with_features_that_belong_together_are_ranked_whole(
    option: dict[str, object],
) -> None:
    table = swarmrs.read_table(made(40, 2200))
    arena = _Arena(Search.of(table, Settings.of({"algo": "auto"} | option)), 1, 1)
    here, features = arena.on(np.arange(4, 40))
    assert features.tolist() == list(range(2200))
    assert here.table.x.shape == (36, 2200)


def test_classes_of_two_rows_are_never_held_out() -> None:
    x, y = made(60, 10)
    y[:2] = 2
    arena = _Arena(Search.of(swarmrs.read_table((x, y)), Settings.of({"algo": "auto"})), 1, 1)
    assert (arena.blocks[:2] == -1).all()
    assert (arena.blocks[2:] >= 0).all()
    auto(x, y)
    with pytest.raises(DataError, match="no class has 3 rows"):
        auto(np.random.default_rng(0).normal(size=(20, 5)), np.arange(20) // 2)


def test_the_result_depends_on_the_seed_alone() -> None:
    data = made()
    one, two = (auto(*data, n_jobs=jobs) for jobs in (1, 2))
    assert one[0].selected == two[0].selected
    assert one[1].frame.equals(two[1].frame)
    assert one[1].interval == two[1].interval
    other = swarmrs.select(data, algo="auto", random_state=2).competition
    assert other is not None
    assert not one[1].frame.equals(other.frame)


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_called_noise(seed: int) -> None:
    with pytest.warns(SwarmrsWarning, match="no feature is better than noise"):
        _, competition = auto(*made(60, 200, signal=0.0, seed=seed))
    low, high = competition.interval
    assert low <= 0.5 <= high


@pytest.mark.parametrize(
    ("option", "value"),
    [("max_iter", 2), ("prescreen", "top=5"), ("answer", "vote"), ("pick", "knee")],
)
def test_options_of_one_search_make_it_one_search(option: str, value: object) -> None:
    found = swarmrs.select(made(), random_state=1, max_evals=200, **{option: value})  # type: ignore[arg-type]
    assert found.algorithm == "vlpso-ls"
    assert found.competition is None


def test_constraints_hold() -> None:
    found, _ = auto(*made(), max_features=4, include=[9], exclude=[0], together=[[1, 5]])
    chosen = set(found.selected_indices)
    assert 9 in chosen
    assert 0 not in chosen
    assert len(chosen) <= 4
    assert (1 in chosen) == (5 in chosen)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1_macro", "matthews_corrcoef"])
def test_scores_of_the_competition(scoring: str) -> None:
    _, competition = auto(*made(60, 12), scoring=scoring)
    assert competition.scoring == scoring
    assert 0.5 < competition.score <= 1.0


def test_an_estimator_of_scikit_learn_judges() -> None:
    _, competition = auto(*made(60, 12), estimator=DecisionTreeClassifier(random_state=0))
    assert competition.score > 0.7


def test_nested_cross_validation_repeats_the_competition() -> None:
    found, competition = auto(*made(60, 12), outer_cv=3)
    assert found.held_out is not None
    assert len(found.held_out.parts) == 3
    assert abs(competition.score - (1.0 - found.held_out.outer_loss)) < 0.15


def test_weighted_scores_equal_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    truth, predicted = rng.integers(0, 3, size=(2, 60)).astype(np.uint32)
    weights = rng.integers(0, 4, size=60).astype(np.float64)
    pairs = {
        "balanced_accuracy": balanced_accuracy_score,
        "matthews_corrcoef": matthews_corrcoef,
    }
    for scoring, of in pairs.items():
        expected = of(truth, predicted, sample_weight=weights)
        assert score_of(scoring, truth, predicted, weights) == pytest.approx(expected)
    expected = f1_score(truth, predicted, sample_weight=weights, average="macro")
    assert score_of("f1_macro", truth, predicted, weights) == pytest.approx(expected)
    right = (truth == predicted).astype(np.float64)[:, np.newaxis]
    means = class_means_of(weights[np.newaxis], right, truth)
    expected = balanced_accuracy_score(truth, predicted, sample_weight=weights)
    assert means[0, 0] == pytest.approx(expected)


def test_the_correction_takes_off_the_optimism_of_the_choice() -> None:
    """Of fifty equally good configurations the best looks better than each of them is."""
    rng = np.random.default_rng(0)
    bias, corrected = [], []
    for seed in range(40):
        right = (rng.random((60, 50)) < 0.7).astype(np.float64)
        resampled = Resampled.of(60, 300, seed, partial(mean_of, values=right))
        choice = choose(resampled, 50)
        bias.append(resampled.scores.max() - 0.7)
        corrected.append(choice.estimate - 0.7)
    assert np.mean(bias) > 0.08
    assert abs(np.mean(corrected)) < 0.02


def test_standard_errors_are_those_of_paired_differences() -> None:
    rng = np.random.default_rng(0)
    right = (rng.random((200, 3)) < [0.6, 0.7, 0.9]).astype(np.float64)
    resampled = Resampled.of(200, 4000, 0, lambda weights: mean_of(weights, right))
    expected = (right[:, 0] - right[:, 2]).std(ddof=1) / np.sqrt(200)
    errors = standard_errors(resampled.drawn)
    assert errors[0, 2] == pytest.approx(expected, rel=0.05)
    assert errors[1, 1] == 0.0


def test_averages_choose_not_the_luckiest_configuration() -> None:
    """The first method is better at every size but one, where the second was lucky."""
    scores = np.array([[0.9, 0.5, 0.8, 0.8], [0.4, 0.7, 0.95, 0.6], [0.4, 0.6, 0.6, 0.9]])
    few = np.repeat(scores.reshape(1, -1), 2, axis=0)
    choice = choose(Resampled(scores.ravel(), few, few), 3)
    np.testing.assert_allclose(choice.means, [0.8, 0.775, 0.75])
    # The mean curve of the three: 0.57, 0.60, 0.78, 0.77.
    assert (choice.method, choice.size) == (0, 2)
    assert choice.estimate == pytest.approx(0.8)
    samples = scores.ravel() + np.random.default_rng(0).normal(size=(500, 12))
    assert choose(Resampled(scores.ravel(), samples, samples), 3, tolerance=0.5).size == 0
    # The favorite wins if its mean is within one standard error of the best.
    for noise, method in ((0.001, 0), (0.2, 1)):
        samples = scores.ravel() + np.random.default_rng(0).normal(0, noise, (500, 12))
        resampled = Resampled(scores.ravel(), samples, samples)
        assert choose(resampled, 3, favorite=1).method == method
    # In a window of three: 0.58, 0.65, 0.72, 0.77.
    assert choose(Resampled(scores.ravel(), few, few), 3, window=3).size == 3


def test_mean_rankings_have_the_same_bits_on_any_processor() -> None:
    ranks = np.arange(1, 4001)
    steps = np.array([math.log(rank) for rank in ranks]) * 2**24
    # Logarithms of two libraries differ by some units in the last place: 1e-7 steps.
    assert np.abs(steps % 1 - 0.5).min() > 1e-5
    assert np.array_equal(log_steps(ranks), np.floor(steps + 0.5))
    rankings = np.random.default_rng(1).permuted(np.tile(np.arange(30), (20, 1)), axis=1).tolist()
    assert mean_ranking(rankings, 30) == mean_ranking(rankings[::-1], 30)
