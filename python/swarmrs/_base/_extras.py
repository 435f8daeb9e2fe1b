"""Packages that only some functions need, by the extra of swarmrs that installs them."""

from importlib.util import find_spec

from swarmrs.exceptions import SpecError

PACKAGES = {"plot": ("matplotlib",), "report": ("jinja2", "markupsafe", "matplotlib")}


def check_extra(extra: str, purpose: str) -> None:
    """Refuse to go on without the packages of an extra.

    Raises
    ------
    SpecError
        If one is not installed.
    """
    missing = [name for name in PACKAGES[extra] if find_spec(name) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise SpecError(
            f"{purpose} need {', '.join(missing)}, which {verb} not installed",
            f"pip install 'swarmrs[{extra}]'",
        )
