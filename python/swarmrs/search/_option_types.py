"""The types that declarations of options name; `_options` itself imports none, to load quickly."""

import os
from collections.abc import Mapping, Sequence

from swarmrs._base._messages import Setting
from swarmrs._base._resources import RandomState
from swarmrs.evaluation._estimator import Estimator, Scorer, Scoring
from swarmrs.evaluation._folds import CV
from swarmrs.filters._groups import Groups
from swarmrs.search._constraints import Together
from swarmrs.search._progress import Callback

OPTION_TYPES: Mapping[str, object] = {
    "CV": CV,
    "Callback": Callback,
    "Estimator": Estimator,
    "Groups": Groups,
    "Mapping": Mapping,
    "RandomState": RandomState,
    "Scorer": Scorer,
    "Scoring": Scoring,
    "Sequence": Sequence,
    "Setting": Setting,
    "Together": Together,
    "os": os,
}
