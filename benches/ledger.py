"""Run all tables of five papers towards their number of runs, and print ours beside theirs.

All methods on all data sets get the same share of the time, so the cheap ones are complete first.
Finished searches are appended to the file of --store, so that a later call goes on; a process
that is killed loses those that were running. The comparison is printed; --write renews it in
docs/ledger.md and docs/ledger.

Run by `make ledger`; `ARGS="--hours 2"` for a part, `ARGS=--print-only` without a run,
`ARGS="--check 5 --seed 1"` to run five stored cells again and compare them bit for bit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from swarmrs.experiments._papers import PAPERS
from swarmrs.experiments._papers._ledger._file import Ledger
from swarmrs.experiments._papers._ledger._page import blocks, fill
from swarmrs.experiments._papers._ledger._work import check, complete, in_order, plan_work
from tables import ROOT, TABLES

PAGES = [ROOT / "docs" / "ledger.md", *(ROOT / "docs" / "ledger" / f"{it}.md" for it in PAPERS)]


def _show(text: str) -> None:
    print(f"\r{text:<79}", end="", file=sys.stderr, flush=True)


def _check(found: Iterator[tuple[str, list[bool]]]) -> bool:
    """Print which cells are found again, and return whether all are."""
    is_right = True
    print("| cell | 1 thread | 2 threads |\n|---|---|---|")
    for cell, same in found:
        is_right &= all(same)
        words = " | ".join("same" if each else "DIFFERENT" for each in same)
        print(f"| {cell} | {words} |", flush=True)
    return is_right


def main(words: list[str] | None = None) -> int:
    """Run what is missing and print the comparison."""
    parser = argparse.ArgumentParser(description="Run five papers again, to the last figure.")
    parser.add_argument("--hours", type=float, help="start no search after so many hours")
    parser.add_argument("--study", choices=list(PAPERS), help="this one only")
    parser.add_argument("--cell", help="this cell only, or all that begin so")
    parser.add_argument("--jobs", type=int, default=2, help="searches at a time")
    parser.add_argument("--print-only", action="store_true", help="run nothing")
    parser.add_argument("--write", action="store_true", help="renew the pages of docs")
    parser.add_argument(
        "--check", type=int, nargs="?", const=0, metavar="N", help="run N cells again, or all"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the choice of --check")
    parser.add_argument("--data", type=Path, default=TABLES, help="folder of the data sets")
    parser.add_argument("--store", type=Path, default=ROOT / "benches" / "results" / "ledger.jsonl")
    args = parser.parse_args(words)
    ledger = Ledger(args.store)
    named = args.study or (args.cell and args.cell.split("/")[0])
    if named and named not in PAPERS:
        parser.error(f"no study '{named}'; known: {', '.join(PAPERS)}")
    studies = [named] if named else list(PAPERS)
    if args.check is not None:
        begins = args.cell or (f"{named}/" if named else "")
        how = {"begins": begins, "cells": args.check or None, "seed": args.seed}
        return int(not _check(check(ledger, args.data, **how)))
    if not args.print_only:
        datasets = args.cell.split("/")[2:3] if args.cell else []
        jobs = plan_work(studies, args.data, ledger, datasets=datasets or None)
        jobs = [job for job in jobs if job.id.startswith(args.cell or "")]
        missing = in_order(jobs, ledger)
        failed = complete(missing, ledger, workers=args.jobs, hours=args.hours, show=_show)
        print("\n".join(["", *failed]), file=sys.stderr)
    parts = blocks(ledger, studies)
    print("\n\n".join(f"## {name}\n\n{text}" for name, text in parts.items()))
    if args.write:
        parts |= blocks(ledger) if named else {}
        for page in PAGES:
            page.write_text(fill(page.read_text(encoding="utf-8"), parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
