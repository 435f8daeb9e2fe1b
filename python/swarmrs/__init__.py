"""Wrapper feature selection with particle swarms and other metaheuristics.

Examples
--------
>>> from swarmrs import select
>>> result = select("sklearn:wine", algo="sfs")
>>> result.size, round(result.score, 3)
(5, 0.983)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmrs import exceptions as exceptions
    from swarmrs._swarmrs import __version__ as __version__
    from swarmrs.data._table import Table as Table
    from swarmrs.data._table import read_table as read_table
    from swarmrs.estimators._filter_selector import FilterSelector as FilterSelector
    from swarmrs.estimators._swarm_selector import SwarmSelector as SwarmSelector
    from swarmrs.evaluation._evaluator import Evaluator as Evaluator
    from swarmrs.evaluation._losses import Baseline as Baseline
    from swarmrs.evaluation._native import Work as Work
    from swarmrs.experiments._compare import compare as compare
    from swarmrs.experiments._plan import Comparison as Comparison
    from swarmrs.filters._groups import Grouping as Grouping
    from swarmrs.filters._groups import group as group
    from swarmrs.filters._rank import Ranking as Ranking
    from swarmrs.filters._rank import rank as rank
    from swarmrs.optimize import Minimum as Minimum
    from swarmrs.optimize import minimize as minimize
    from swarmrs.search._auto import Competition as Competition
    from swarmrs.search._describe import Column as Column
    from swarmrs.search._describe import Description as Description
    from swarmrs.search._describe import describe as describe
    from swarmrs.search._options._cards import Card as Card
    from swarmrs.search._options._cards import Parameter as Parameter
    from swarmrs.search._options._presets import Preset as Preset
    from swarmrs.search._options._presets import presets as presets
    from swarmrs.search._options._settings import algorithms as algorithms
    from swarmrs.search._results._front import Front as Front
    from swarmrs.search._results._front import FrontPoint as FrontPoint
    from swarmrs.search._results._front import Parsimony as Parsimony
    from swarmrs.search._results._progress import Iteration as Iteration
    from swarmrs.search._results._selection import Evaluations as Evaluations
    from swarmrs.search._results._selection import RowsUsed as RowsUsed
    from swarmrs.search._results._selection import Seconds as Seconds
    from swarmrs.search._results._selection import Selection as Selection
    from swarmrs.search._select import select as select
    from swarmrs.search._validation._nested import HeldOut as HeldOut
    from swarmrs.search._validation._nested import Part as Part
    from swarmrs.search._validation._stability import Agreement as Agreement
    from swarmrs.search._validation._stability import Stability as Stability

# The public names of each module. They are imported when first used: polars and scikit-learn take
# seconds to load.
_MODULES = {
    "_swarmrs": "__version__",
    "data._table": "Table read_table",
    "estimators._filter_selector": "FilterSelector",
    "estimators._swarm_selector": "SwarmSelector",
    "evaluation._evaluator": "Evaluator",
    "evaluation._losses": "Baseline",
    "evaluation._native": "Work",
    "experiments._compare": "compare",
    "experiments._plan": "Comparison",
    "filters._groups": "Grouping group",
    "filters._rank": "Ranking rank",
    "optimize": "Minimum minimize",
    "search._auto": "Competition",
    "search._describe": "Column Description describe",
    "search._options._cards": "Card Parameter",
    "search._options._presets": "Preset presets",
    "search._options._settings": "algorithms",
    "search._results._front": "Front FrontPoint Parsimony",
    "search._results._progress": "Iteration",
    "search._results._selection": "Evaluations RowsUsed Seconds Selection",
    "search._select": "select",
    "search._validation._nested": "HeldOut Part",
    "search._validation._stability": "Agreement Stability",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted([*_HOMES, "exceptions"])


def __getattr__(name: str) -> object:
    if name == "exceptions":
        return import_module("swarmrs.exceptions")
    if name not in _HOMES:
        raise AttributeError(f"module 'swarmrs' has no attribute '{name}'")
    value: object = getattr(import_module(f"swarmrs.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
