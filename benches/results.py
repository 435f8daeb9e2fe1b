"""Render `RESULTS.md` from the stored results of the benches: `make bench` measures all first.

Every bench with `--store`, and the grid, append what they measured to `benches/results`; the last
run of each is shown. Benches without stored results are left out.

    python benches/results.py --run --only grid,threads
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import grid
from timing import RESULTS, Report

PAGE = Path(__file__).resolve().parent / "RESULTS.md"
HEAD = """\
# Results of the benches

Times differ between machines, ratios less: read these. `python benches/results.py` writes this page
from the files in `benches/results`; `make bench` runs all benches before, `make bench-peers` the
comparison with other packages. Every script says at its top what it measures.
"""


@dataclass(frozen=True)
class Section:
    """A bench: the name of its results, a title, and its command."""

    name: str
    title: str
    command: str
    is_in_all: bool = True


SECTIONS = (
    Section("grid", "One evaluation against the best rival", "grid.py"),
    Section(
        "kernels", "Instruction sets, and the peak of the machine", "kernels.py --peak --store"
    ),
    Section("few_features", "Few features, many rows, against kd-trees", "few_features.py --store"),
    Section("evaluation", "One evaluation against scikit-learn and numpy", "vs_python.py --store"),
    Section("references", "Searches with and without references", "references.py --store"),
    Section("threads", "Searches on two threads", "threads.py --store"),
    Section("overhead", "The share of a search beside evaluation", "overhead.py --store"),
    Section("reading", "Reading against polars and numpy", "reading.py --store"),
    # It needs the environment of `make bench-peers`.
    Section("peers", "Searches by other packages", "peers.py --store", is_in_all=False),
)


def _grid() -> list[str]:
    """Return the lines of the grid, of the machine that measured last."""
    found = grid.newest(grid.store().read())
    if not found:
        return []
    report = Report("grid", is_printed=False)
    grid.render(report, found)
    measured = {(cell.rows, cell.features) for cell in found}
    missing = [place for place in product(grid.ROWS, grid.FEATURES) if place not in measured]
    if missing:
        places = ", ".join(f"{rows} x {features}" for rows, features in missing)
        report.line(f"\nNot measured: {places}.")
    return ["`python benches/grid.py`", "", next(iter(found)).machine, *report.lines]


def _last(name: str) -> list[str]:
    path = RESULTS / f"{name}.jsonl"
    if not path.exists():
        return []
    run = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    return [f"`{run['command']}`", "", run["machine"], "", *run["lines"]]


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for section in SECTIONS:
        lines = _grid() if section.name == "grid" else _last(section.name)
        if lines:
            parts.append("\n".join([f"## {section.title}", "", *lines]) + "\n")
    return "\n".join(parts)


def main() -> None:
    """Measure if asked, then write and print the page."""
    names = [section.name for section in SECTIONS if section.is_in_all]
    parser = argparse.ArgumentParser(description="The results of the benches.")
    parser.add_argument("--run", action="store_true", help="run the benches first")
    parser.add_argument("--only", default=",".join(names), help="benches to run, with commas")
    args = parser.parse_args()
    if args.run:
        for section in SECTIONS:
            if section.name in args.only.split(","):
                script, *arguments = section.command.split()
                path = Path(__file__).with_name(script)
                subprocess.run([sys.executable, path, *arguments], check=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(page())


if __name__ == "__main__":
    main()
