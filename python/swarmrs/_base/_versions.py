"""The versions that a result records."""

import platform
from importlib.metadata import version

from swarmrs import _swarmrs

SCHEMA_VERSION = 1


def versions() -> dict[str, str]:
    """Return the versions of what can change a result or how it was read."""
    packages = {name: version(name) for name in ("numpy", "polars")}
    return {"swarmrs": _swarmrs.__version__, "python": platform.python_version(), **packages}
