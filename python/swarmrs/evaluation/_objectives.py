"""What a search lowers: the objectives, their settings, and the score that counts."""

from typing import TypeAlias

from swarmrs._base._messages import check_number, check_word, listed
from swarmrs.evaluation._estimator import Scoring
from swarmrs.exceptions import SpecError

Objective: TypeAlias = dict[str, str | float]

# The settings of each objective.
OBJECTIVES = {
    "error": (),
    "weighted": ("alpha",),
    "hybrid": ("gamma",),
    "gaussian": ("alpha", "sim", "sigma_log"),
    "filter-cfs": (),
    "filter-mrmr": (),
}
SCORES = ("accuracy", "balanced_accuracy", "ovr_accuracy", "f1_macro", "matthews_corrcoef")
SIMS = ("plain", "literal", "mvn")
SIGMA_LOGS = ("log10", "ln")


def read_scoring(name: Scoring | None) -> str | None:
    """Return the score of a classifier of ours that counts, if one is given.

    Raises
    ------
    SpecError
        If there is no such score.
    """
    if callable(name):
        raise SpecError(
            "scoring is a function, which is for estimators", f"known: {listed(SCORES)}"
        )
    return None if name is None else check_word("scoring", name, SCORES)


def read_objective(name: str | None, **settings: str | float | None) -> Objective | None:
    """Return the objective as the engine takes it; None leaves it to the algorithm.

    Raises
    ------
    SpecError
        If there is no such objective, or a setting is none of its own.
    """
    given = {what: value for what, value in settings.items() if value is not None}
    if name is not None:
        check_word("objective", name, list(OBJECTIVES))
    for what, value in given.items():
        if what not in OBJECTIVES.get(name or "", ()):
            having = [kind for kind, known in OBJECTIVES.items() if what in known]
            which = "no objective is given" if name is None else f"objective '{name}' has none"
            hint = f"it belongs to objective {' and '.join(having)}"
            raise SpecError(f"{what} is {value}, but {which}", hint)
    for what in {"alpha", "gamma"} & {*given}:
        given[what] = check_number(what, given[what])
    for what, known in (("sim", SIMS), ("sigma_log", SIGMA_LOGS)):
        if what in given:
            check_word(what, given[what], known)
    return None if name is None else {"kind": name, **given}
