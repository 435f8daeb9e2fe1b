"""What swarmrs raises: a line that says what is wrong, and often a hint at what to do."""


class SwarmrsError(Exception):
    """Anything swarmrs refuses.

    Parameters
    ----------
    message : str
        What is wrong, in one line.
    hint : str, optional
        What to do about it, in one line. Also shown below a traceback.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        if hint is not None:
            self.add_note(f"hint: {hint}")


class SpecError(SwarmrsError, ValueError):
    """The call is wrong: an unknown name, a value out of range, a setting that does not fit."""


class TimeLimitError(SpecError):
    """The time limit ends before a single subset is evaluated: there is no result."""


class DataError(SwarmrsError, ValueError):
    """The data cannot be used: it is absent, unreadable, incomplete or has one class."""


class NoFeaturesError(DataError):
    """There is nothing to choose from: no feature survives the prescreen."""


class StoreError(DataError):
    """A store cannot be used: it is none, damaged, of another version, or cannot be written."""


class ClusterError(SwarmrsError, RuntimeError):
    """A cluster cannot be reached, or is gone; what was finished before is stored."""


class OutputError(SwarmrsError, RuntimeError):
    """A file or standard output cannot be written: the disk is full, or writing is not allowed."""


class InternalError(SwarmrsError, RuntimeError):
    """A bug in swarmrs, never the caller's fault."""


class SwarmrsWarning(UserWarning):
    """Something about the data that can mislead a search but does not prevent it."""
