"""Experiments: methods x tables x seeds x folds, in a store that survives anything."""

from swarmrs.experiments._compare import Comparison, compare
from swarmrs.experiments._findings import Findings
from swarmrs.experiments._frame import cells_frame, settings
from swarmrs.experiments._papers._reproduce import reproduce
from swarmrs.experiments._protocols import Protocol
from swarmrs.experiments._report import write_report, write_selection_report
from swarmrs.experiments._store import merge
from swarmrs.experiments._summary import summary

__all__ = [
    "Comparison",
    "Findings",
    "Protocol",
    "cells_frame",
    "compare",
    "merge",
    "reproduce",
    "settings",
    "summary",
    "write_report",
    "write_selection_report",
]
