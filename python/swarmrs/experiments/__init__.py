"""Experiments: compare methods on tables over runs and folds, with a store that survives crashes.

`compare` runs a comparison, `summary` tests its results, `write_report` draws them; `reproduce`
does the same for the tables of published studies. `Plan` and `Reproduction` are both calls in two
steps: everything is checked first, then run, estimated or stopped.
"""

from swarmrs.experiments._compare import compare
from swarmrs.experiments._estimate import Estimate
from swarmrs.experiments._findings import Findings
from swarmrs.experiments._frame import cells_frame, store_settings
from swarmrs.experiments._papers._reproduce import Reproduction, published_tables, reproduce
from swarmrs.experiments._papers._results import Line, Reproduced
from swarmrs.experiments._plan import Comparison, Plan
from swarmrs.experiments._protocols import Protocol
from swarmrs.experiments._report import check_report, write_report, write_selection_report
from swarmrs.experiments._store import merge
from swarmrs.experiments._summary import summary
from swarmrs.experiments._workers import Progress

__all__ = [
    "Comparison",
    "Estimate",
    "Findings",
    "Line",
    "Plan",
    "Progress",
    "Protocol",
    "Reproduced",
    "Reproduction",
    "cells_frame",
    "check_report",
    "compare",
    "merge",
    "published_tables",
    "reproduce",
    "store_settings",
    "summary",
    "write_report",
    "write_selection_report",
]
