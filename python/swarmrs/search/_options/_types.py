"""The types that `_declarations` names, which itself imports none of them, to load quickly."""

import os as os
from collections.abc import Mapping as Mapping
from collections.abc import Sequence as Sequence

from swarmrs._base._messages import Setting as Setting
from swarmrs._base._resources import RandomState as RandomState
from swarmrs.evaluation._estimator import Estimator as Estimator
from swarmrs.evaluation._estimator import Scorer as Scorer
from swarmrs.evaluation._estimator import Scoring as Scoring
from swarmrs.evaluation._folds import CV as CV
from swarmrs.filters._groups import Groups as Groups
from swarmrs.search._options._constraints import Together as Together
from swarmrs.search._results._progress import Callback as Callback

OPTION_TYPES: Mapping[str, object] = globals()
