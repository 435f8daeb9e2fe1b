"""Presets: how the published studies measure a subset, and how long and how large they search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from swarmrs._base._messages import check_word

T = TypeVar("T")
# A number, or how to find it from the number of features.
Count: TypeAlias = int | Callable[[int], int]


@dataclass(frozen=True)
class Preset:
    """What a study sets; what it leaves open, or a caller sets, is not touched.

    Attributes
    ----------
    about : str
        What it is, in a few words.
    classifier, k, metric, weights, cv, scale
        How it measures a subset, as for `select`.
    objective, scoring : str or None
        What it lowers and the score that counts, as for `select`; None leaves the one to the
        algorithm and the other to the objective.
    max_evals : mapping of str to count
        The subsets an algorithm may ask for, by its family, unless it ends by itself.
    population : mapping of str to count
        The members of an algorithm that has them, by its family.
    test_metric : str or None
        The distance on rows held out, if it is another than that of the search.
    """

    about: str = ""
    classifier: str | None = None
    k: int | None = None
    metric: str | None = None
    weights: str | None = None
    cv: int | str | None = None
    scale: str | None = None
    objective: str | None = None
    scoring: str | None = None
    max_evals: Mapping[str, Count] = field(default_factory=dict)
    population: Mapping[str, Count] = field(default_factory=dict)
    test_metric: str | None = None


def _twentieth(n_features: int) -> int:
    return min(max(n_features // 20, 100), 300)


PRESETS = {
    "000": Preset(
        about="2D-learning swarms and their rivals, by 5-NN",
        classifier="knn",
        k=5,
        metric="euclidean",
        weights="uniform",
        cv=10,
        scale="none",
        max_evals={"swarm": 6000, "genetic": 6000, "ant": 6000, "baseline": 6000},
        population={"swarm": 30, "genetic": 80, "ant": 50},
    ),
    "000-nb": Preset(
        about="the same by naive Bayes as published, an error included",
        classifier="nb-cdf",
        cv=10,
        scale="none",
        max_evals={"swarm": 6000, "genetic": 6000, "ant": 6000, "baseline": 6000},
        population={"swarm": 30, "genetic": 80, "ant": 50},
    ),
    "001": Preset(
        about="probability-based binary PSO, by 5-NN",
        classifier="knn",
        k=5,
        metric="euclidean",
        weights="uniform",
        cv=10,
        scale="none",
        max_evals={"swarm": 5000, "baseline": 5000},
        population={"swarm": 50},
    ),
    "002": Preset(
        about="variable-length swarms and their rivals in high dimensions, by 1-NN",
        classifier="knn",
        k=1,
        metric="manhattan",
        weights="uniform",
        cv="loo",
        scale="minmax",
        objective="hybrid",
        # A start and 100 moves.
        max_evals={family: lambda n: 101 * _twentieth(n) for family in ("swarm", "baseline")},
        population={"swarm": _twentieth},
        test_metric="euclidean",
    ),
    "003": Preset(
        about="swarms that choose within groups of features, by 5-NN",
        classifier="knn",
        k=5,
        metric="euclidean",
        weights="uniform",
        cv=10,
        scale="none",
        scoring="ovr_accuracy",
        # A start and 100 moves.
        max_evals={"swarm": 3030, "baseline": 3030},
        population={"swarm": 30},
    ),
    "004": Preset(
        about="complementary distribution BPSO and its rivals, by 1-NN",
        classifier="knn",
        k=1,
        metric="euclidean",
        weights="uniform",
        cv="loo",
        scale="minmax",
        # Genetic algorithms keep their own, which is as many for each of four sizes.
        max_evals={"swarm": 2000, "baseline": 2000},
        population={"swarm": 20, "genetic": 20},
    ),
}


def find_preset(name: str | None) -> Preset:
    """Return the preset of this name, or one that sets nothing.

    Raises
    ------
    SpecError
        If there is no such preset; the hint lists them.
    """
    return Preset() if name is None else PRESETS[check_word("preset", name, list(PRESETS))]


def count(number: Count, n_features: int) -> int:
    """Return a number that may depend on how many features there are.

    Examples
    --------
    >>> count(30, 2308), count(PRESETS["002"].population["swarm"], 2308)
    (30, 115)
    """
    return number(n_features) if callable(number) else number


def settle(given: T | None, preset: T | None, default: T) -> T:
    """Return what was given, else what the preset has, else the default.

    Examples
    --------
    >>> settle(None, 1, 5), settle(3, 1, 5), settle(None, None, 5)
    (1, 3, 5)
    """
    if given is not None:
        return given
    return default if preset is None else preset
