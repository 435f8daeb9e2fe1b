"""Presets: what they set, and that whatever a call sets wins."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from swarmrs import Evaluator, SwarmSelector, algorithms, select
from swarmrs.evaluation._presets import PRESETS, count
from swarmrs.exceptions import SpecError

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]

FOLDS = {"scheme": "kfold", "k": 10, "shuffle": True, "seed": 0}
RAW_5NN = {
    "classifier": "knn",
    "k": 5,
    "metric": "euclidean",
    "weights": "uniform",
    "scale": "none",
    "folds": FOLDS,
}

pytestmark = pytest.mark.filterwarnings("ignore:nb-cdf repeats:swarmrs.exceptions.SwarmrsWarning")


@pytest.mark.parametrize(
    ("preset", "evaluation"),
    [
        ("000", RAW_5NN),
        ("000-nb", {"classifier": "nb-cdf", "scale": "none", "folds": FOLDS}),
        ("001", RAW_5NN),
        (
            "002",
            {
                **RAW_5NN,
                "k": 1,
                "metric": "manhattan",
                "scale": "minmax",
                "folds": {"scheme": "loo"},
            },
        ),
        ("003", RAW_5NN),
        ("004", {**RAW_5NN, "k": 1, "scale": "minmax", "folds": {"scheme": "loo"}}),
    ],
)
def test_a_preset_measures_as_its_study_does(
    blobs: Blobs, preset: str, evaluation: dict[str, object]
) -> None:
    result = select(blobs, preset=preset, iterations=1)
    assert result.evaluation == evaluation
    assert result.preset == preset
    assert result.to_dict()["preset"] == preset
    assert Evaluator(*blobs, preset=preset).evaluation.to_dict() == evaluation


@pytest.mark.parametrize(
    ("preset", "algo", "population", "evaluations"),
    [
        ("000", "bpso", 30, 6000),
        ("000", "cdbpso", 30, 6000),
        ("000", "ga", 80, 6000),
        ("000", "ACO", 50, 6000),
        ("000-nb", "2D-UPSO", 30, 6000),
        ("001", "bpso", 50, 5000),
        ("001", "pbpsofs", 50, 5000),
        ("001", "ga", 80, 6000),
        ("002", "bpso", 100, 10_100),
        ("002", "vlpso", 100, None),
        ("002", "sfs", None, None),
        ("003", "psorws", 30, 3030),
        ("003", "pbpso", 30, 3030),
        ("003", "lfs", None, None),
        ("004", "bpso", 20, 2000),
        ("004", "HGA(3)", 20, 8000),
        ("004", "sffs", None, 1_000_000),
        ("004", "random", 50, 2000),
        ("004", "sfs", None, None),
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
        preset="004",
        k=3,
        metric="manhattan",
        weights="distance",
        cv=4,
        scale="none",
        max_evals=90,
        params={"population": 30},
        random_state=1,
    )
    assert result.evaluation == {
        "classifier": "knn",
        "k": 3,
        "metric": "manhattan",
        "weights": "distance",
        "scale": "none",
        "folds": {**FOLDS, "k": 4},
    }
    assert result.evaluations.total == 90
    assert result.params["population"] == 30
    # The settings of neighbors do not stand in the way of another classifier.
    bayes = select(blobs, preset="004", classifier="nb", iterations=1)
    assert bayes.evaluation == {
        "classifier": "nb",
        "scale": "minmax",
        "folds": {"scheme": "loo"},
    }
    with pytest.raises(SpecError, match="k is 3, but 'nb' has no neighbors"):
        select(blobs, preset="004", classifier="nb", k=3)


@pytest.mark.parametrize("limit", [{"iterations": 2}, {"time_limit": 60.0, "max_evals": 40}])
def test_any_limit_of_a_call_takes_the_place_of_the_budget(
    blobs: Blobs, limit: dict[str, Any]
) -> None:
    result = select(blobs, preset="004", random_state=1, **limit)
    assert result.budget["evaluations"] == limit.get("max_evals")
    assert result.evaluations.total == 40


def test_the_algorithms_own_size_stays_without_a_preset(blobs: Blobs) -> None:
    for card in algorithms():
        own = {parameter.name: parameter.default for parameter in card.params}
        result = select(blobs, algo=card.id, max_evals=200, random_state=1)
        assert result.params.get("population") == own.get("population")
        assert result.preset is None


def test_estimators_take_the_folds_of_a_preset(blobs: Blobs) -> None:
    result = select(blobs, preset="004", classifier=GaussianNB(), max_evals=20, random_state=1)
    assert result.evaluation["folds"] == {"scheme": "loo"}


def test_the_selector_has_it_too(blobs: Blobs) -> None:
    selector = SwarmSelector("cdbpso", preset="004", max_evals=40, random_state=1).fit(*blobs)
    assert selector.result_.preset == "004"
    assert selector.result_.evaluation["k"] == 1
    assert selector.get_params()["preset"] == "004"


def test_the_command_has_it_too(cli: Callable[..., Any], blobs_csv: Path) -> None:
    result = json.loads(
        cli("select", blobs_csv, "--preset", "004", "--seed", 1, "-k", 3, "-f", "json").out
    )
    assert result["preset"] == "004"
    assert result["evaluation"]["k"] == 3
    assert result["evaluation"]["folds"] == {"scheme": "loo"}
    assert result["params"]["population"] == 20
    assert result["evaluations"]["total"] == 2000
    measured = json.loads(cli("evaluate", blobs_csv, "--preset", "004", "-f", "json").out)
    assert (measured["preset"], measured["evaluation"]["k"]) == ("004", 1)
    assert "1-NN, euclidean, leave-one-out, scale minmax (preset 004)" in (
        cli("evaluate", blobs_csv, "--preset", "004").out
    )


def test_an_unknown_algorithm_is_refused_beside_a_preset_too(blobs: Blobs) -> None:
    with pytest.raises(SpecError, match="unknown algorithm 'bspo'"):
        select(blobs, algo="bspo", preset="004")


def test_an_unknown_preset_is_refused_with_the_list(
    cli: Callable[..., Any], blobs_csv: Path
) -> None:
    for command in ("select", "evaluate"):
        outcome = cli(command, blobs_csv, "--preset", "005")
        assert outcome.code == 2
        assert outcome.err.splitlines()[-2:] == [
            "error: unknown preset '005'",
            "hint: did you mean '004'? known: 000, 000-nb, 001, 002, 003, 004",
        ]


def test_help_and_the_page_of_commands_list_the_presets(cli: Callable[..., Any]) -> None:
    shown = " ".join(cli("select", "--help").out.split())
    page = (Path(__file__).parents[1] / "docs" / "cli.md").read_text()
    rows = dict(re.findall(r"^\| `(0[\w-]+)` \| (.*) \|$", page, flags=re.M))
    assert list(rows) == list(PRESETS)
    assert ", ".join(PRESETS) in shown
    for name, preset in PRESETS.items():
        cells = rows[name].split(" | ")
        assert cells[0] == preset.about
        assert f"`{preset.classifier}`" in cells[1]
        assert cells[2:4] == [f"`{preset.cv}`", f"`{preset.scale}`"]
        for cell, sizes in zip(cells[4:], (preset.max_evals, preset.population), strict=True):
            if all(isinstance(n, int) for n in sizes.values()):
                assert cell == ", ".join(f"{family} {n}" for family, n in sizes.items())


def test_in_high_dimensions_the_swarm_goes_by_the_features_and_lowers_the_hybrid(
    blobs: Blobs,
) -> None:
    assert [count(PRESETS["002"].population["swarm"], n) for n in (30, 2308, 12533)] == [
        100,
        115,
        300,
    ]
    for algo in ("bpso", "vlpso"):
        result = select(blobs, preset="002", algo=algo, iterations=1, random_state=1)
        assert result.objective == {"kind": "hybrid", "gamma": 0.8}
    assert select(blobs, preset="002", objective="error", iterations=1).objective["kind"] == "error"


def test_the_study_of_groups_counts_one_versus_rest_accuracy(blobs: Blobs) -> None:
    result = select(blobs, preset="003", algo="psofs", iterations=2, random_state=1)
    assert result.objective == {"kind": "error", "scoring": "ovr_accuracy"}
    accuracy = result.scores["ovr_accuracy"]
    assert accuracy is not None
    assert result.cost == 1 - accuracy
    own = select(blobs, preset="003", algo="igpso", iterations=2, random_state=1)
    assert own.objective == {
        "kind": "gaussian",
        "alpha": 0.98,
        "sim": "plain",
        "sigma_log": "log10",
        "scoring": "ovr_accuracy",
    }
    set_here = select(
        blobs, preset="003", scoring="matthews_corrcoef", iterations=1, random_state=1
    )
    assert set_here.objective["scoring"] == "matthews_corrcoef"
