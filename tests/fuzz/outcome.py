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
    caught: list[Finding] = []

    def record(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        frames = traceback.extract_stack()[:-1]
        if not issubclass(category, SwarmrsWarning) and not _is_of_sklearn(category, frames):
            key = f"{category.__name__} in {_place(frames)}: {plain(str(message))}"
            caught.append(Finding("warning", key, "".join(traceback.format_list(frames[-12:]))))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = record
        try:
            call()
        except (KeyboardInterrupt, ProvokedError):
            pass
        except BaseException as problem:
            is_ours = isinstance(problem, SwarmrsError) and not isinstance(problem, InternalError)
            if not is_ours and not allowed(problem):
                key = f"{type(problem).__name__} in {_place(frames_of(problem))}"
                return Finding("exception", f"{key}: {plain(str(problem))}", _text(problem))
    return caught[0] if caught else None


def _is_of_sklearn(category: type[Warning], frames: list[traceback.FrameSummary]) -> bool:
    """Tell whether scikit-learn warns, or what it calls: its own business."""
    last = max((at for at, frame in enumerate(frames) if "/swarmrs/" in frame.filename), default=0)
    inner = any("/sklearn/" in frame.filename for frame in frames[last:])
    return inner or category.__module__.startswith("sklearn.")


def frames_of(problem: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of a traceback, the innermost last."""
    return list(traceback.extract_tb(problem.__traceback__))


def _place(frames: list[traceback.FrameSummary]) -> str:
    """Return the innermost function of ours, and the innermost of all."""
    ours = [frame for frame in frames if "/swarmrs/" in frame.filename]
    place = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "outside"
    return f"{place} ({Path(frames[-1].filename).name}:{frames[-1].name})"


def _text(problem: BaseException) -> str:
    return "".join(traceback.format_exception(problem, limit=-12))[-6000:]


def plain(message: str) -> str:
    """Return the first line of a message with all that differs from case to case taken out."""
    first = message.strip().splitlines()[0] if message.strip() else ""
    first = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'..'", first)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "N", first)[:160]
