"""Presets: how published studies evaluate a subset, and how long and how large they search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from swarmrs._base._messages import check_word
from swarmrs._base._public import public

if TYPE_CHECKING:
    from swarmrs.search._options._cards import Card

# A number, or a function of the number of features.
Count: TypeAlias = int | Callable[[int], int]


@public
@dataclass(frozen=True)
class Preset:
    """The settings of a published study, as a bundle of options.

    Attributes
    ----------
    name : str
        First author and year.
    about : str
        What the study is about.
    authors, title, venue, year, doi : str, str, str, int, str
        Where it was published; `doi` is empty where there is none.
    options : mapping
        Options of a search, by the names that `swarmrs select` has for them.
    max_evals, population : mapping of str to count
        The budget and the swarm size by the family of the algorithm. An algorithm that ends by
        itself, or has no population, has none.
    test_metric : str or None
        The distance on held-out rows, if it is another than that of the search.
    """

    name: str
    about: str
    authors: str
    title: str
    venue: str
    year: int
    doi: str
    options: Mapping[str, Any]
    max_evals: Mapping[str, Count] = field(default_factory=dict)
    population: Mapping[str, Count] = field(default_factory=dict)
    test_metric: str | None = None

    def __repr__(self) -> str:
        """Return what it is in one line; `to_dict` has everything."""
        return f"Preset({self.name!r}: {self.about})"

    @property
    def citation(self) -> str:
        """Authors, title, venue and year, with the DOI if there is one."""
        doi = f", doi:{self.doi}" if self.doi else ""
        return f"{self.authors}, {self.title}, {self.venue}, {self.year}{doi}"

    def to_dict(self) -> dict[str, Any]:
        """Return the preset as plain values; counts that vary are those for 1000 features."""
        counts = {
            what: {family: _count(number, 1000) for family, number in by_family.items()}
            for what, by_family in (("max_evals", self.max_evals), ("population", self.population))
        }
        return vars(self) | {"options": dict(self.options)} | counts

    def budget(self, card: "Card", n_features: int) -> int | None:
        """Return the evaluations that the study allows an algorithm; None where it has its own."""
        # A search that ends by itself is not cut.
        if card.evaluations is None or card.family not in self.max_evals:
            return None
        return _count(self.max_evals[card.family], n_features)

    def members(self, card: "Card", n_features: int) -> int | None:
        """Return the population that the study has for an algorithm; None where it has its own."""
        has_population = any(parameter.name == "population" for parameter in card.params)
        if not has_population or card.family not in self.population:
            return None
        return _count(self.population[card.family], n_features)


def _twentieth(n_features: int) -> int:
    return min(max(n_features // 20, 100), 300)


def _count(number: Count, n_features: int) -> int:
    return number(n_features) if callable(number) else number


_KNN: dict[str, Any] = {"estimator": "knn", "metric": "euclidean", "weights": "uniform"}
# What the studies have in common: folds are shuffled once, constant features are searched, too, and
# each algorithm minimizes the fitness function of its paper.
_STUDY: dict[str, Any] = {"objective": "paper", "constant": "keep", "cv_seed": 0}
_HAFIZ: dict[str, Any] = {
    "authors": "F. Hafiz, A. Swain, N. Patel, C. Naik",
    "title": "A two-dimensional (2-D) learning framework for particle swarm based feature "
    "selection",
    "venue": "Pattern Recognition 76",
    "year": 2018,
    "doi": "10.1016/j.patcog.2017.11.027",
    "max_evals": {"swarm": 6000, "genetic": 6000, "ant": 6000, "baseline": 6000},
    "population": {"swarm": 30, "genetic": 80, "ant": 50},
}

_ALL = (
    Preset(
        name="hafiz2018",
        about="2D-learning swarms and their rivals, by 5-NN",
        options=_STUDY | {"algo": "upso2d"} | _KNN | {"n_neighbors": 5, "cv": 10, "scale": "none"},
        **_HAFIZ,
    ),
    Preset(
        name="hafiz2018-nb",
        about="the same by naive Bayes as published, with its misprint",
        options=_STUDY | {"algo": "upso2d"} | {"estimator": "nb-cdf", "cv": 10, "scale": "none"},
        **_HAFIZ,
    ),
    Preset(
        name="xue2014",
        about="probability-based binary PSO, by 5-NN",
        authors="B. Xue, S. Nguyen, M. Zhang",
        title="A new binary particle swarm optimisation algorithm for feature selection",
        venue="EvoApplications",
        year=2014,
        doi="10.1007/978-3-662-45523-4_41",
        options=_STUDY | {"algo": "pbpso"} | _KNN | {"n_neighbors": 5, "cv": 10, "scale": "none"},
        max_evals={"swarm": 5000, "baseline": 5000},
        population={"swarm": 50},
    ),
    Preset(
        name="tran2019",
        about="variable-length swarms and their rivals in high dimensions, by 1-NN",
        authors="B. Tran, B. Xue, M. Zhang",
        title="Variable-length particle swarm optimization for feature selection on "
        "high-dimensional classification",
        venue="IEEE Transactions on Evolutionary Computation 23",
        year=2019,
        doi="10.1109/TEVC.2018.2869405",
        options=_STUDY
        | {"algo": "vlpso-ls"}
        | _KNN
        | {"n_neighbors": 1, "metric": "manhattan", "cv": "loo", "scale": "minmax"}
        | {"objective": "hybrid"},
        # An initial population and 100 moves.
        max_evals={family: lambda n: 101 * _twentieth(n) for family in ("swarm", "baseline")},
        population={"swarm": _twentieth},
        test_metric="euclidean",
    ),
    Preset(
        name="gu2018",
        about="competitive swarm optimizer, by the error of 1-NN alone",
        authors="S. Gu, R. Cheng, Y. Jin",
        title="Feature selection for high-dimensional classification using a competitive swarm "
        "optimizer",
        venue="Soft Computing 22",
        year=2018,
        doi="10.1007/s00500-016-2385-6",
        # Its k is not known here; 1 is that of the study that ran it, as are distance and budget.
        options=_STUDY
        | {"algo": "cso"}
        | _KNN
        | {"n_neighbors": 1, "metric": "manhattan", "cv": "loo", "scale": "minmax"}
        | {"objective": "error"},
        max_evals={family: lambda n: 101 * _twentieth(n) for family in ("swarm", "baseline")},
        population={"swarm": _twentieth},
        test_metric="euclidean",
    ),
    Preset(
        name="xue2016",
        about="swarms that select within groups of features, by 5-NN",
        authors="B. Xue, M. C. Lane, I. Liu, M. Zhang",
        title="Dimension reduction in classification using particle swarm optimisation and "
        "statistical variable grouping information",
        venue="IEEE Symposium Series on Computational Intelligence",
        year=2016,
        doi="",
        options=_STUDY
        | {"algo": "igpso"}
        | _KNN
        | {"n_neighbors": 5, "cv": 10, "scale": "none", "scoring": "ovr_accuracy"},
        # An initial population and 100 moves.
        max_evals={"swarm": 3030, "baseline": 3030},
        population={"swarm": 30},
    ),
    Preset(
        name="chuang2012",
        about="complementary distribution BPSO and its rivals, by 1-NN",
        authors="L.-Y. Chuang and others",
        title="Complementary distribution binary particle swarm optimization",
        venue="Intelligent Data Analysis 16",
        year=2012,
        doi="10.3233/IDA-2012-0518",
        options=_STUDY
        | {"algo": "cdbpso"}
        | _KNN
        | {"n_neighbors": 1, "cv": "loo", "scale": "minmax"},
        # Genetic algorithms keep their own, which is as many for each of four sizes.
        max_evals={"swarm": 2000, "baseline": 2000},
        population={"swarm": 20, "genetic": 20},
    ),
)
presets: Mapping[str, Preset] = {preset.name: preset for preset in _ALL}
"""The settings of published studies by name, such as ``presets["tran2019"].options``."""


def find_preset(name: str) -> Preset:
    """Return the preset of this name.

    Raises
    ------
    SpecError
        If there is no such preset; the hint lists them.
    """
    return presets[check_word("preset", name, list(presets))]
