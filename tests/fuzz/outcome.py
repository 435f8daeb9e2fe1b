"""What counts as a finding."""

import re
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from swarmrs.exceptions import InternalError, SwarmrsError, SwarmrsWarning


@dataclass(frozen=True)
class Finding:
    """A fault.

    Attributes
    ----------
    kind : str
        ``exception``, ``warning``, ``bug`` (exit 70), ``wrong``, ``signal`` or ``hang``.
    key : str
        Faults with the same key are one fault.
    text : str
        The traceback, or what was printed.
    """

    kind: str
    key: str
    text: str

    def as_dict(self) -> dict[str, str]:
        """Return it as JSON has it."""
        return asdict(self)


class ProvokedError(Exception):
    """Raised by callables that are given to swarmrs as hostile arguments."""


def judge(
    call: Callable[[], Any], allowed: Callable[[BaseException], bool] = lambda problem: False
) -> Finding | None:
    """Run a case; ``allowed`` tells which exceptions beside our own are documented for it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except (KeyboardInterrupt, ProvokedError):
            pass
        except BaseException as problem:
            is_ours = isinstance(problem, SwarmrsError) and not isinstance(problem, InternalError)
            if not is_ours and not allowed(problem):
                return Finding("exception", _key(problem), _text(problem))
    for warning in caught:
        if not issubclass(warning.category, SwarmrsWarning) and not _is_of_sklearn(warning):
            name, message = warning.category.__name__, str(warning.message)
            place = f"{Path(warning.filename).name}:{warning.lineno}"
            return Finding("warning", f"{name} {place}: {plain(message)}", f"{place}: {message}")
    return None


def _is_of_sklearn(warning: warnings.WarningMessage) -> bool:
    return warning.category.__module__.startswith("sklearn.")


def frames_of(problem: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of a traceback, the innermost last."""
    return list(traceback.extract_tb(problem.__traceback__))


def _key(problem: BaseException) -> str:
    ours = [frame for frame in frames_of(problem) if "/swarmrs/" in frame.filename]
    place = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "outside"
    last = frames_of(problem)[-1]
    inner = f"{Path(last.filename).name}:{last.name}"
    return f"{type(problem).__name__} in {place} ({inner}): {plain(str(problem))}"


def _text(problem: BaseException) -> str:
    return "".join(traceback.format_exception(problem, limit=-12))[-6000:]


def plain(message: str) -> str:
    """Return the first line of a message with all that differs from case to case taken out."""
    first = message.strip().splitlines()[0] if message.strip() else ""
    first = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'..'", first)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "N", first)[:160]
