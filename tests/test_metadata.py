"""The metadata are true: what is imported is declared, and the files agree with each other."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import swarmrs
from oldest import oldest
from swarmrs._base._extras import PACKAGES

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
REPOSITORY: str = PROJECT["urls"]["Repository"]
# Packages that are imported by another name than they are installed by.
INSTALLED_AS = {
    "scikit_posthocs": "scikit-posthocs",
    "sklearn": "scikit-learn",
    "sklearn_genetic": "sklearn-genetic-opt",
}
# Each blocked package is as if it were not installed; then every public name is loaded.
LOAD = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[2:]))
import swarmrs
for name in swarmrs.__all__:
    getattr(swarmrs, name)
import swarmrs.experiments
if sys.argv[1] == "command":
    import swarmrs.cli._app
"""


def names(requirements: Iterable[str]) -> set[str]:
    found = {re.split(r"[<>=!~\[; ]", requirement)[0] for requirement in requirements}
    return found - {"swarmrs"}


def imported(node: ast.AST, with_types: bool) -> Iterator[str]:
    """Yield the packages that are imported, in functions as well; those for types if asked."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not with_types:
        return
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module.partition(".")[0]
    for child in ast.iter_child_nodes(node):
        yield from imported(child, with_types)


def packages(folder: Path, with_types: bool = True) -> set[str]:
    ours = {
        "swarmrs",
        *(path.stem for part in ("tests", "benches") for path in (ROOT / part).iterdir()),
    }
    found = {
        name
        for path in folder.rglob("*.py")
        for name in imported(ast.parse(path.read_text("utf-8")), with_types)
    }
    others = found - ours - sys.stdlib_module_names
    return {INSTALLED_AS.get(name, name) for name in others}


CORE = names(PROJECT["dependencies"])
OPTIONAL = names(each for extra in EXTRAS if extra != "dev" for each in EXTRAS[extra])


def test_every_package_that_is_imported_is_declared_and_no_other() -> None:
    found = packages(ROOT / "python", with_types=False)
    # It is imported by `import_module`.
    assert found | {"distributed"} == CORE | OPTIONAL


@pytest.mark.parametrize("folder", ["python", "tests", "benches"])
def test_every_package_that_types_tests_and_benches_import_is_declared(folder: str) -> None:
    declared = CORE | OPTIONAL | names(EXTRAS["dev"])
    if folder == "benches":
        # Other packages for feature selection have an environment of their own.
        declared |= names((ROOT / "benches" / "peers.txt").read_text("utf-8").splitlines())
    assert packages(ROOT / folder) <= declared


@pytest.mark.parametrize(
    ("what", "blocked"),
    [("command", OPTIONAL), ("library", OPTIONAL | {"typer"})],
    ids=["command", "library"],
)
def test_no_extra_is_needed_to_load(what: str, blocked: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD, what, *sorted(blocked)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_extra_installs_what_its_functions_ask_for() -> None:
    for extra, wanted in PACKAGES.items():
        assert names(EXTRAS[extra]) == {*wanted}


def test_all_is_all_extras_of_users() -> None:
    [everything] = EXTRAS["all"]
    assert (
        everything == f"swarmrs[{','.join(name for name in EXTRAS if name not in ('all', 'dev'))}]"
    )


def test_every_dependency_has_a_lower_bound() -> None:
    assert oldest().keys() == CORE | OPTIONAL


def test_the_repository_has_one_address_and_files_named_by_it_exist() -> None:
    pages = [
        ROOT / name for name in ("README.md", "CITATION.cff", "CONTRIBUTING.md", "pyproject.toml")
    ]
    pages += [path for path in (ROOT / ".github").rglob("*") if path.is_file()]
    for page in pages:
        text = page.read_text("utf-8")
        for address in re.findall(r"https://github\.com/[\w./-]*[\w/]", text):
            assert address == REPOSITORY or address.startswith(f"{REPOSITORY}/"), page.name
        for path in re.findall(rf"{re.escape(REPOSITORY)}/(?:blob|tree)/main/([\w./-]*\w)", text):
            assert (ROOT / path).exists(), f"{page.name}: {path}"


def test_the_citation_is_of_this_version_and_of_the_studies_of_the_presets() -> None:
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {swarmrs.__version__}\n" in text
    cited = citations()
    titles = re.findall(r"^    title: (.*)$", text, flags=re.M)
    dois = re.findall(r"^    doi: (.*)$", text, flags=re.M)
    for citation in cited:
        assert any(title in citation for title in titles), citation
    assert {*dois} == {citation.partition("doi:")[2] for citation in cited} - {""}


def test_the_readme_cites_the_same_studies() -> None:
    cited = {citation.partition("doi:")[2] for citation in citations()} - {""}
    shown = re.findall(r"\(https://doi\.org/([^)]*)\)", (ROOT / "README.md").read_text("utf-8"))
    # The study of the preset gu2018 has no table that is reproduced.
    assert {*shown} == cited - {swarmrs.presets["gu2018"].doi}


def citations() -> list[str]:
    return [preset.citation for preset in swarmrs.presets.values()]


def test_the_classifiers_are_the_pythons_that_are_tested() -> None:
    tested = re.search(r"python: \[(.*)\]", (ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    assert tested
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert re.findall(r"[\d.]+", tested[1]) == versions
    assert PROJECT["requires-python"] == f">={versions[0]}"
