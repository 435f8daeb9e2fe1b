"""Four swarms in plain numpy, as a good Python programmer would write them from the papers.

They take the same data, folds, objectives, defaults and budgets as their namesakes in swarmrs and
share no code with it, so that they serve twice: as the rival of a whole search, and as an oracle
for its quality. Random numbers are those of a numpy Generator, so runs agree in distribution, not
in bits.
"""

from plain.bpso import bpso
from plain.evaluations import Evaluations
from plain.fitness import ENGINES, Engine, Problem
from plain.pbpso import pbpso
from plain.relevance import ranking
from plain.upso2d import upso2d
from plain.vlpso import vlpso

__all__ = [
    "ENGINES",
    "Engine",
    "Evaluations",
    "Problem",
    "bpso",
    "pbpso",
    "ranking",
    "upso2d",
    "vlpso",
]
