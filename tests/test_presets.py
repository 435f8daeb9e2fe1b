"""Presets: the options of published studies, which options of a call override."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import algorithms, select
from swarmrs.exceptions import SpecError
from swarmrs.search._options._presets import presets
from swarmrs.search._options._settings import Settings, find_card

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]

FOLDS = {"scheme": "kfold", "k": 10, "shuffle": True, "seed": 0}
RAW_5NN = {
    "estimator": "knn",
    "n_neighbors": 5,
    "metric": "euclidean",
    "weights": "uniform",
    "scale": "none",
    "folds": FOLDS,
}

pytestmark = pytest.mark.filterwarnings("ignore:nb-cdf repeats:swarmrs.exceptions.SwarmrsWarning")


@pytest.mark.parametrize(
    ("preset", "evaluation"),
    [
        ("hafiz2018", RAW_5NN),
        ("hafiz2018-nb", {"estimator": "nb-cdf", "scale": "none", "folds": FOLDS}),
        ("xue2014", RAW_5NN),
        (
            "tran2019",
            {
                **RAW_5NN,
                "n_neighbors": 1,
                "metric": "manhattan",
                "scale": "minmax",
                "folds": {"scheme": "loo"},
            },
        ),
        (
            "gu2018",
            {
                **RAW_5NN,
                "n_neighbors": 1,
                "metric": "manhattan",
                "scale": "minmax",
                "folds": {"scheme": "loo"},
            },
        ),
        ("xue2016", RAW_5NN),
        (
            "chuang2012",
            {**RAW_5NN, "n_neighbors": 1, "scale": "minmax", "folds": {"scheme": "loo"}},
        ),
    ],
)
def test_a_preset_evaluates_as_its_study_does(
    blobs: Blobs, preset: str, evaluation: dict[str, object]
) -> None:
    result = select(blobs, algo="bpso", preset=preset, max_iter=1)
    assert result.evaluation == evaluation
    assert result.preset == preset
    assert result.to_dict()["preset"] == preset


@pytest.mark.parametrize(
    ("preset", "algo", "population", "evaluations"),
    [
        ("hafiz2018", "bpso", 30, 6000),
        ("hafiz2018", "cdbpso", 30, 6000),
        ("hafiz2018", "ga", 80, 6000),
        ("hafiz2018", "ACO", 50, 6000),
        ("hafiz2018-nb", "2D-UPSO", 30, 6000),
        ("xue2014", "bpso", 50, 5000),
        ("xue2014", "pbpsofs", 50, 5000),
        ("xue2014", "ga", 80, 6000),
        ("tran2019", "bpso", 100, 10_100),
        ("tran2019", "vlpso", 100, None),
        ("tran2019", "sfs", None, None),
        ("gu2018", "cso", 100, None),
        ("xue2016", "psorws", 30, 3030),
        ("xue2016", "pbpso", 30, 3030),
        ("xue2016", "lfs", None, None),
        ("chuang2012", "bpso", 20, 2000),
        ("chuang2012", "HGA(3)", 20, 8000),
        ("chuang2012", "sffs", None, 1_000_000),
        ("chuang2012", "random", 50, 2000),
        ("chuang2012", "sfs", None, None),
    ],
)
def test_a_preset_gives_its_budget_and_its_swarm(
    blobs: Blobs, preset: str, algo: str, population: int | None, evaluations: int | None
) -> None:
    result = select(blobs, preset=preset, algo=algo, random_state=1)
    assert result.params.get("population") == population
    assert result.budget["evaluations"] == evaluations
    assert evaluations is None or result.evaluations.total <= evaluations


def test_what_a_call_sets_wins(blobs: Blobs) -> None:
    result = select(
        blobs,
        algo="bpso",
        preset="chuang2012",
        estimator=KNeighborsClassifier(3, metric="manhattan", weights="distance"),
        cv=4,
        cv_seed=None,
        scale="none",
        max_evals=90,
        algo_params={"population": 30},
        random_state=1,
    )
    assert result.evaluation == {
        "estimator": "knn",
        "n_neighbors": 3,
        "metric": "manhattan",
        "weights": "distance",
        "scale": "none",
        "folds": {**FOLDS, "k": 4, "shuffle": False},
    }
    assert result.evaluations.total == 90
    assert result.params["population"] == 30
    # The neighbors of the study do not stand in the way of another estimator.
    bayes = select(blobs, algo="bpso", preset="chuang2012", estimator="nb", max_iter=1)
    assert bayes.evaluation == {
        "estimator": "nb",
        "scale": "minmax",
        "folds": {"scheme": "loo"},
    }
    neighbors = {"preset": "chuang2012", "estimator": "nb", "n_neighbors": 3}
    with pytest.raises(SpecError, match="n_neighbors is 3, but 'nb' has no neighbors"):
        _ = Settings.of(neighbors).classifier


@pytest.mark.parametrize("limit", [{"max_iter": 2}, {"time_limit": 60.0, "max_evals": 40}])
def test_any_limit_of_a_call_takes_the_place_of_the_budget(
    blobs: Blobs, limit: dict[str, Any]
) -> None:
    result = select(blobs, algo="bpso", preset="chuang2012", random_state=1, **limit)
    assert result.budget["evaluations"] == limit.get("max_evals")
    assert result.evaluations.total == 40


def test_the_algorithms_own_size_stays_without_a_preset(blobs: Blobs) -> None:
    for card in algorithms():
        own = {parameter.name: parameter.default for parameter in card.params}
        result = select(blobs, algo=card.id, max_evals=200, random_state=1)
        assert result.params.get("population") == own.get("population")
        assert result.preset is None


def test_estimators_take_the_folds_of_a_preset(blobs: Blobs) -> None:
    how: dict[str, Any] = {"algo": "bpso", "max_evals": 20, "random_state": 1}
    result = select(blobs, preset="chuang2012", estimator=GaussianNB(), **how)
    assert result.evaluation["folds"] == {"scheme": "loo"}


def test_the_command_has_it_too(cli: Callable[..., Any], blobs_csv: Path) -> None:
    result = json.loads(
        cli(
            *("select", blobs_csv, "--algo", "cdbpso", "--preset", "chuang2012"),
            *("--seed", 1, "-k", 3, "-f", "json"),
        ).out
    )
    assert result["preset"] == "chuang2012"
    assert result["evaluation"]["n_neighbors"] == 3
    assert result["evaluation"]["folds"] == {"scheme": "loo"}
    assert result["params"]["population"] == 20
    assert result["evaluations"]["total"] == 2000
    measured = json.loads(cli("evaluate", blobs_csv, "--preset", "chuang2012", "-f", "json").out)
    assert (measured["preset"], measured["evaluation"]["n_neighbors"]) == ("chuang2012", 1)
    assert "1-NN, euclidean, leave-one-out, scale minmax (preset chuang2012)" in (
        cli("evaluate", blobs_csv, "--preset", "chuang2012").out
    )


def test_an_unknown_algorithm_is_refused_beside_a_preset_too(blobs: Blobs) -> None:
    with pytest.raises(SpecError, match="unknown algorithm 'bspo'"):
        select(blobs, algo="bspo", preset="chuang2012")


def test_an_unknown_preset_is_refused_with_the_list(
    cli: Callable[..., Any], blobs_csv: Path
) -> None:
    for command in ("select", "evaluate"):
        outcome = cli(command, blobs_csv, "--preset", "chuang2021")
        assert outcome.code == 2
        assert outcome.err.splitlines()[-2:] == [
            "error: unknown preset 'chuang2021'",
            "hint: did you mean 'chuang2012'? known: hafiz2018, hafiz2018-nb, xue2014, tran2019, "
            "gu2018, xue2016, chuang2012",
        ]


def test_the_page_of_commands_lists_the_presets() -> None:
    page = (Path(__file__).parents[1] / "docs" / "cli.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z]+\d{4}[\w-]*)` \| (.*) \|$", page, flags=re.M))
    assert list(rows) == list(presets)
    for name, preset in presets.items():
        cells = rows[name].split(" | ")
        assert cells[0] == preset.about
        assert f"`{preset.options['estimator']}`" in cells[1]
        assert cells[2:4] == [f"`{preset.options[name]}`" for name in ("cv", "scale")]
        for cell, sizes in zip(cells[4:], (preset.max_evals, preset.population), strict=True):
            if all(isinstance(n, int) for n in sizes.values()):
                assert cell == ", ".join(f"{family} {n}" for family, n in sizes.items())


def test_in_high_dimensions_the_swarm_goes_by_the_features_and_lowers_the_hybrid(
    blobs: Blobs,
) -> None:
    study, card = presets["tran2019"], find_card("vlpso")
    assert card is not None
    assert [study.members(card, n) for n in (30, 2308, 12533)] == [100, 115, 300]
    for algo in ("bpso", "vlpso"):
        result = select(blobs, preset="tran2019", algo=algo, max_iter=1, random_state=1)
        assert result.objective == {"kind": "hybrid", "gamma": 0.8}
    own = select(blobs, preset="tran2019", objective="error", max_iter=1)
    assert own.objective == {"kind": "error"}


def test_the_study_of_groups_counts_one_versus_rest_accuracy(blobs: Blobs) -> None:
    result = select(blobs, preset="xue2016", algo="psofs", max_iter=2, random_state=1)
    assert result.objective == {"kind": "error", "scoring": "ovr_accuracy"}
    accuracy = result.scores["ovr_accuracy"]
    assert accuracy is not None
    assert result.cost == 1 - accuracy
    own = select(blobs, preset="xue2016", algo="igpso", max_iter=2, random_state=1)
    assert own.objective == {
        "kind": "gaussian",
        "alpha": 0.98,
        "sim": "plain",
        "sigma_log": "log10",
        "scoring": "ovr_accuracy",
    }
    set_here = select(blobs, algo="bpso", preset="xue2016", scoring="balanced_accuracy", max_iter=1)
    assert set_here.objective["scoring"] == "balanced_accuracy"
