"""The values that options choose from."""

from swarmrs._base._tasks import CLASSIFICATION, REGRESSION

ANSWERS = ("best", "vote")
CLASSIFIERS = CLASSIFICATION.estimators
METRICS = ("euclidean", "manhattan")
WEIGHTS = ("uniform", "distance")
# With "fold-", scaling is fitted on the training rows of each fold instead of all rows.
SCALES = ("minmax", "standard", "none", "fold-minmax", "fold-standard")
CVS = ("10", "loo", "complete", "holdout=0.3")
NATIVE_SCORES = (*CLASSIFICATION.scorings, *REGRESSION.scorings)
PRESCREENS = ("su>0", "top=K", "fcbf", "cfs")
PICKS = ("best", "knee", "1se", "size<=K")
RARE_CLASS = ("warn", "error", "drop", "merge")
CONSTANT = ("drop", "keep")
ON_INTERRUPT = ("raise", "return")

# The settings of each objective. "sim" and "sigma_log" are readings of a misprint in one paper.
KINDS: dict[str, tuple[str, ...]] = {
    "error": (),
    "paper": (),
    "weighted": ("alpha",),
    "hybrid": ("gamma",),
    "gaussian": ("alpha", "sim", "sigma_log"),
    "filter-cfs": (),
    "filter-mrmr": (),
}
OBJECTIVES = tuple(KINDS)

# The one algorithm that is not of the engine: its id and its name.
AUTO_CARD = ("auto", "Competition of methods on held-out rows")
