"""Experiments: methods x tables x seeds x folds, in a store that survives anything."""

from swarmrs.experiments._compare import Comparison, compare
from swarmrs.experiments._frame import cells_frame, settings
from swarmrs.experiments._protocols import Protocol
from swarmrs.experiments._store import merge

__all__ = ["Comparison", "Protocol", "cells_frame", "compare", "merge", "settings"]
