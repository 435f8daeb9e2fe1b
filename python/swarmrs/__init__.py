"""Wrapper feature selection by swarms: exact, incremental, fast.

Examples
--------
>>> from swarmrs import select
>>> result = select("sklearn:wine", algo="sfs")
>>> result.size, round(result.scores["error"], 3)
(7, 0.011)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmrs import exceptions
    from swarmrs._swarmrs import __version__
    from swarmrs.data._table import Table, read_table
    from swarmrs.estimators._filter_selector import FilterSelector
    from swarmrs.estimators._swarm_selector import SwarmSelector
    from swarmrs.evaluation._evaluator import Evaluator
    from swarmrs.experiments._compare import Comparison, compare
    from swarmrs.filters._groups import Grouping, group
    from swarmrs.filters._rank import Ranking, rank
    from swarmrs.optimize import Minimum, minimize
    from swarmrs.search._describe import Description, describe
    from swarmrs.search._nested import HeldOut
    from swarmrs.search._results import Selection
    from swarmrs.search._select import select
    from swarmrs.search._settings import algorithms
    from swarmrs.search._stability import Stability

__all__ = [
    "Comparison",
    "Description",
    "Evaluator",
    "FilterSelector",
    "Grouping",
    "HeldOut",
    "Minimum",
    "Ranking",
    "Selection",
    "Stability",
    "SwarmSelector",
    "Table",
    "__version__",
    "algorithms",
    "compare",
    "describe",
    "exceptions",
    "group",
    "minimize",
    "rank",
    "read_table",
    "select",
]

# Names are imported when first used: polars and scikit-learn take seconds to load.
_HOMES = {
    "Comparison": "experiments._compare",
    "Description": "search._describe",
    "Evaluator": "evaluation._evaluator",
    "FilterSelector": "estimators._filter_selector",
    "Grouping": "filters._groups",
    "HeldOut": "search._nested",
    "Minimum": "optimize",
    "Ranking": "filters._rank",
    "Selection": "search._results",
    "Stability": "search._stability",
    "SwarmSelector": "estimators._swarm_selector",
    "Table": "data._table",
    "__version__": "_swarmrs",
    "algorithms": "search._settings",
    "compare": "experiments._compare",
    "describe": "search._describe",
    "group": "filters._groups",
    "minimize": "optimize",
    "rank": "filters._rank",
    "read_table": "data._table",
    "select": "search._select",
}


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
