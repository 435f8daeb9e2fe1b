"""The documentation is true: its code runs, its output is what is printed, its tables are whole."""

import doctest
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import swarmrs
import swarmrs.experiments

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
        *DOCS.glob("*.md"),
    ]
)
COMMUNITY = sorted((ROOT / ".github").glob("*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The files of the repository on the web: a package index shows the README without them.
FILES = f"{PROJECT['urls']['Repository']}/blob/main/"
RAW = FILES.replace("github.com", "raw.githubusercontent.com").replace("/blob/", "/")
GUIDES = runpy.run_path(str(DOCS / "guides.py"))


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


class Command(NamedTuple):
    """A command of a page, what the page says it prints and how it says it ends."""

    words: list[str]
    shown: str
    code: int


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), flags=re.M | re.S)


def commands(page: Path) -> Iterator[Command]:
    """Give the commands of console blocks; `echo $?` after one tells its exit code."""
    for block in blocks(page, "console"):
        assert block.startswith("$ swarmrs "), f"{page.name}: {block.splitlines()[0]}"
        parts = [part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.M)[1:]]
        for (line, _, shown), after in zip(parts, [*parts[1:], ("", "", "")], strict=True):
            if line != "echo $?":
                code = int(after[2]) if after[0] == "echo $?" else 0
                yield Command(shlex.split(line)[1:], shown, code)


def without_seconds(text: str) -> str:
    text = "".join(line for line in text.splitlines(True) if not line.startswith("seconds "))
    # How long a competition takes depends on the number of cores.
    return re.sub(r"( compete on \d+ splits of the rows): .*", r"\1", text)


def pages_with(language: str) -> list[pytest.ParameterSet]:
    return [pytest.param(page, id=page.name) for page in PAGES if blocks(page, language)]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_of_a_page_runs(page: Path) -> None:
    names: dict[str, object] = {"__name__": page.stem}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for at, block in enumerate(blocks(page, "python")):
        if ">>> " in block:
            test = doctest.DocTestParser().get_doctest(block, names, f"{page.name}[{at}]", None, 0)
            assert not runner.run(test, clear_globs=False).failed
            names |= test.globs
        else:
            exec(compile(block, f"{page.name}[{at}]", "exec"), names)


@pytest.mark.parametrize("page", pages_with("console"))
def test_commands_of_a_page_print_what_it_shows(page: Path, cli: Callable[..., Outcome]) -> None:
    checker = doctest.OutputChecker()
    for words, shown, code in commands(page):
        outcome = cli(*words)
        printed = without_seconds(outcome.err + outcome.out)
        assert outcome.code == code, f"{words}: {outcome.err}"
        same = checker.check_output(without_seconds(shown), printed, doctest.ELLIPSIS)
        assert same, f"{page.name} shows for {' '.join(words)}\n{shown}\nbut it prints\n{printed}"


def test_the_table_of_algorithms_is_the_registry() -> None:
    rows = re.findall(
        r"^\| `([\w-]+)` \| ([^|]+) \| ([^|]+) \| (\d+) \|",
        (DOCS / "algorithms.md").read_text(),
        flags=re.M,
    )
    cards = [(card.id, card.name, card.family, str(card.year)) for card in swarmrs.algorithms()]
    assert rows == cards


def test_every_file_of_an_algorithm_has_its_rows_in_the_registry() -> None:
    folder = ROOT / "rust/swarmrs-core/src/algorithms"
    rows = re.findall(r'entry::<(\w+)::\w+>\("([\w-]+)"\)', (folder / "mod.rs").read_text())
    # What lets the others compete is no algorithm of the engine.
    cards = [card.id for card in swarmrs.algorithms() if card.id != "auto"]
    assert [name for _, name in rows] == cards
    assert {path.stem for path in folder.glob("*.rs")} - {"mod"} == {file for file, _ in rows}
    for file, name in rows:
        # A variant is explained in the header of the method it belongs to.
        header = (folder / f"{file}.rs").read_text().partition("\nuse ")[0]
        assert name.replace("-", "_") == file or re.search(rf"\b{name}\b", header), name


def test_figures_are_those_the_script_draws_and_small() -> None:
    script = runpy.run_path(str(DOCS / "figures.py"))
    names = [script["README"], *script["FIGURES"], *script["GUIDES"], *script["LEDGER"]]
    files = sorted((DOCS / "figures").iterdir())
    assert [path.name for path in files] == sorted(f"{name}.svg" for name in names)
    assert all(path.stat().st_size < 40_000 for path in files)


def test_the_page_of_bad_input_is_what_the_script_writes() -> None:
    page = runpy.run_path(str(DOCS / "bad_input.py"))["page"]
    assert (DOCS / "bad-input.md").read_text() == page(), "run docs/bad_input.py"


def test_the_page_of_the_api_has_every_public_name() -> None:
    shown = re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text(), flags=re.M)
    public = {name for name in swarmrs.__all__ if name not in ("__version__", "exceptions")}
    more = [name for name in swarmrs.experiments.__all__ if name not in public]
    errors = [name for name, thing in vars(swarmrs.exceptions).items() if isinstance(thing, type)]
    names = {f"swarmrs.{name}" for name in public}
    names |= {f"swarmrs.experiments.{name}" for name in more}
    names |= {f"swarmrs.exceptions.{name}" for name in errors}
    assert names == {*shown}
    assert len(names) == len(shown)


@pytest.mark.parametrize(
    "notebook", [pytest.param(path, id=path.stem) for path in GUIDES["NOTEBOOKS"]]
)
def test_a_guide_is_what_its_notebook_says_and_prints(notebook: Path) -> None:
    shown = notebook.with_suffix(".md").read_text()
    assert without_seconds(shown) == without_seconds(GUIDES["page"](notebook)), "run docs/guides.py"


def test_every_guide_has_a_notebook() -> None:
    guides = [path.with_suffix(".py") for path in sorted((DOCS / "guides").glob("*.md"))]
    assert guides == GUIDES["NOTEBOOKS"]


def test_the_readmes_count_and_list_all_algorithms() -> None:
    ids = [card.id for card in swarmrs.algorithms()]
    readme = (ROOT / "README.md").read_text()
    table = readme.partition("## What is in it")[2].partition("## ")[0]
    cells = [line.split("|")[2] for line in table.splitlines() if line.startswith("|")]
    listed = re.findall(r"`([^`]+)`", "".join(cells))
    assert sorted(listed) == ids
    assert re.findall(r"(\d+) in all|All (\d+) algorithms", readme) == [
        (str(len(ids)), ""),
        ("", str(len(ids))),
    ]
    assert f"{len(ids)} in all" in (DOCS / "index.md").read_text()
    # The crate has those of the engine.
    crate = (ROOT / "rust/swarmrs-core/README.md").read_text()
    assert f"**{len(ids) - 1} algorithms**" in crate


def test_the_readme_leads_to_every_page() -> None:
    text = (ROOT / "README.md").read_text()
    pages = [*DOCS.glob("*.md"), *DOCS.glob("guides/*.md")]
    assert [page.name for page in pages if f"]({FILES}{page.relative_to(ROOT)})" not in text] == []


def test_the_readme_has_only_links_that_a_package_index_can_follow() -> None:
    links = re.findall(r"\]\(([^)]*)\)", prose(ROOT / "README.md"))
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """Return what the headings of a page are linked by: lower case, letters, dashes for blanks.

    A docstring is linked by the name of what it documents.
    """
    headings = re.findall(r"^#+ (.*)$", prose(page), flags=re.M)
    named = re.findall(r"^::: (\S+)$", prose(page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in headings} | {*named}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name)
        for page in [*PAGES, *sorted(DOCS.glob("*/*.md")), *COMMUNITY]
    ],
)
def test_local_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", prose(page))
    for link, anchor in links:
        local = link.removeprefix(FILES).removeprefix(RAW)
        if "://" not in local:
            folder = page.parent if local == link else ROOT
            there = folder / local if link else page
            assert there.exists(), link
            assert not anchor or anchor in anchors(there), f"{link}#{anchor}"


@pytest.mark.parametrize("page", [DOCS / "requests.md", *sorted(DOCS.glob("guides/*.md"))])
def test_options_that_are_promised_exist(page: Path, cli: Callable[..., Outcome]) -> None:
    known = set(re.findall(r"--[a-z][a-z0-9-]*", cli("select", "--help").out))
    named = set(re.findall(r"--[a-z][a-z0-9-]*", prose(page)))
    assert named <= known


def test_the_figures_of_high_dimension_are_those_kept() -> None:
    script = [sys.executable, str(ROOT / "benches" / "high_dimension.py"), "--print-only"]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert done.stdout in (DOCS / "high-dimension.md").read_text()
