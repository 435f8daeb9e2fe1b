"""Objectives: the cost that a search minimizes, and the scores that the engine has."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from swarmrs._base._choices import KINDS, NATIVE_SCORES
from swarmrs._base._hints import setting
from swarmrs._base._messages import Setting, check_number, check_word
from swarmrs._base._tasks import TASKS, Task
from swarmrs.evaluation._estimator import Scoring
from swarmrs.exceptions import SpecError

Objective: TypeAlias = dict[str, str | float]

_READINGS = {"sim": ("plain", "literal", "mvn"), "sigma_log": ("log10", "ln")}
# Beside those that users choose from: the one-versus-rest accuracy of one study.
_SCORES = (*NATIVE_SCORES, "ovr_accuracy")


def is_native_score(scoring: Scoring | None) -> bool:
    """Whether the engine has a score; None is the task's first, which it has."""
    return scoring is None or scoring in _SCORES


def check_score(scoring: Scoring | None, task: Task) -> None:
    """Refuse a score of the engine that is for another task.

    Raises
    ------
    SpecError
        If it is.
    """
    others = [other for other in TASKS.values() if other is not task]
    for other in others:
        if scoring in other.scorings:
            raise SpecError(
                f"scoring is '{scoring}', which is for {other.target}, and the target has "
                f"{task.target}",
                f"take {setting('scoring', *task.scorings)}",
            )


def read_objective(given: str | Mapping[str, Setting]) -> Objective | None:
    """Return the objective as the engine reads it; None for that of the algorithm's paper.

    Raises
    ------
    SpecError
        If there is no such objective, or a setting is none of its own.

    Examples
    --------
    >>> read_objective({"kind": "weighted", "alpha": 0.8})
    {'kind': 'weighted', 'alpha': 0.8}
    """
    if not isinstance(given, str | Mapping):
        raise SpecError(f"objective is {given!r}, expected a name", f"known: {', '.join(KINDS)}")
    settings: dict[str, Any] = {"kind": given} if isinstance(given, str) else dict(given)
    kind = check_word("objective", settings.pop("kind", None), list(KINDS))
    for name, value in settings.items():
        if name not in KINDS[kind]:
            having = [other for other, known in KINDS.items() if name in known]
            hint = f"it belongs to {' and '.join(having)}" if having else "leave it out"
            raise SpecError(f"{name} is {value}, but objective '{kind}' has none", hint)
        if name in _READINGS:
            check_word(name, value, _READINGS[name])
        else:
            settings[name] = check_number(name, value)
    if kind == "paper":
        return None
    return {"kind": kind, **{name: value for name, value in settings.items() if value is not None}}
