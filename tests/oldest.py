"""Print the oldest version of each dependency that pyproject.toml allows, as constraints of pip.

`make test-oldest` runs the Python tests with them. The tools that run the tests are not among them:
nobody who uses swarmrs installs these.
"""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def oldest() -> dict[str, str]:
    """Return the lower bound of each package that users can install with swarmrs."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(each for name in extras for each in extras[name])]
    tools = {*extras["dev"]}
    bounds: dict[str, str] = {}
    for requirement in wanted:
        if requirement in tools or requirement.startswith("swarmrs["):
            continue
        found = re.match(r"([\w-]+)>=([\d.]+)", requirement)
        assert found, f"{requirement} has no lower bound"
        name, bound = found.groups()
        assert bounds.setdefault(name, bound) == bound, f"{name} has two lower bounds"
    return bounds


if __name__ == "__main__":
    print("\n".join(f"{name}=={bound}" for name, bound in oldest().items()))
