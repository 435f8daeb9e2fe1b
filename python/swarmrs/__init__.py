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
    from swarmrs._describe import Description, describe
    from swarmrs._estimators import SwarmSelector
    from swarmrs._evaluator import Evaluator
    from swarmrs._filter_selector import FilterSelector
    from swarmrs._group import group
    from swarmrs._grouping import Grouping
    from swarmrs._minimize import Minimum, minimize
    from swarmrs._outer import HeldOut
    from swarmrs._rank import Ranking, rank
    from swarmrs._select import select
    from swarmrs._selection import Selection
    from swarmrs._settings import algorithms
    from swarmrs._stability import Stability
    from swarmrs._swarmrs import __version__
    from swarmrs._table import read_table
    from swarmrs.experiments._compare import Comparison, compare

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
    "Description": "_describe",
    "Evaluator": "_evaluator",
    "FilterSelector": "_filter_selector",
    "Grouping": "_grouping",
    "HeldOut": "_outer",
    "Minimum": "_minimize",
    "Ranking": "_rank",
    "Selection": "_selection",
    "Stability": "_stability",
    "SwarmSelector": "_estimators",
    "__version__": "_swarmrs",
    "algorithms": "_settings",
    "compare": "experiments._compare",
    "describe": "_describe",
    "group": "_group",
    "minimize": "_minimize",
    "rank": "_rank",
    "read_table": "_table",
    "select": "_select",
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
