"""Experiments: compare methods on tables over runs and folds, with a store that survives crashes.

`compare` runs a comparison, `summary` tests its results, `write_report` draws them; `reproduce`
does the same for the tables of published studies. `Plan` and `Reproduction` are both calls in two
steps: everything is checked first, then run, estimated or stopped.
"""

from swarmrs.experiments._analysis._findings import Findings
from swarmrs.experiments._analysis._frame import cells_frame, store_settings
from swarmrs.experiments._analysis._summary import summary
from swarmrs.experiments._compare import compare
from swarmrs.experiments._design._protocols import Protocol
from swarmrs.experiments._execution._estimate import Estimate
from swarmrs.experiments._execution._store import merge
from swarmrs.experiments._execution._workers import Progress
from swarmrs.experiments._papers._reproduce import Reproduction, published_tables, reproduce
from swarmrs.experiments._papers._results import Line, Reproduced
from swarmrs.experiments._plan import Comparison, Plan
from swarmrs.experiments._report import check_report, write_report, write_selection_report

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
