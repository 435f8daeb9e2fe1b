"""How a command hears Ctrl-C and SIGTERM."""

import signal
from types import FrameType
from typing import Self

INTERRUPTED, TERMINATED = 130, 143


def code_of(number: int) -> int:
    """Return the exit code for a signal."""
    return TERMINATED if number == signal.SIGTERM else INTERRUPTED


class Interrupts:
    """Lets SIGTERM end a command as Ctrl-C does, with the best so far, and knows which came.

    Attributes
    ----------
    code : int or None
        The exit code for the last signal heard; None if there was none.
    """

    def __init__(self) -> None:
        self.code: int | None = None

    def __enter__(self) -> Self:
        """Take over both signals, unless whoever started us has them ignored."""
        self._before = {
            number: signal.signal(number, self._heard)
            for number in (signal.SIGINT, signal.SIGTERM)
            if signal.getsignal(number) not in (signal.SIG_IGN, None)
        }
        return self

    def __exit__(self, *_: object) -> None:
        """Give them back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        self.code = code_of(number)
        raise KeyboardInterrupt
