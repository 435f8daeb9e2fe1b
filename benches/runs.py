"""Long comparisons in pieces: finished runs are kept in a file, a second call adds the rest."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Store(Generic[Key, Found]):
    """A file of finished runs, a line of JSON each; keys and findings are dataclasses."""

    path: Path
    key: Callable[..., Key]
    found: Callable[..., Found]

    def read(self) -> dict[Key, Found]:
        """Return what is in the file."""
        if not self.path.exists():
            return {}
        rows = map(json.loads, self.path.read_text(encoding="utf-8").splitlines())
        return {self.key(**row["key"]): self.found(**row["found"]) for row in rows}

    def complete(
        self,
        keys: Sequence[Key],
        run: Callable[[Key], Found],
        workers: int = 1,
        again: bool = False,
    ) -> dict[Key, Found]:
        """Run what is missing, or all keys anew, `workers` at a time, and return all.

        Of several lines with the same key the last one counts.
        """
        runs = self.read()
        missing = [key for key in keys if again or key not in runs]
        if not missing:
            return runs
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as out, ThreadPoolExecutor(workers) as pool:
            started = {pool.submit(run, key): key for key in missing}
            for done, future in enumerate(as_completed(started), 1):
                key = started[future]
                runs[key] = future.result()
                row = {"key": _plain(key), "found": _plain(runs[key])}
                out.write(json.dumps(row) + "\n")
                out.flush()
                note = f"{done}/{len(missing)} {' '.join(map(str, _plain(key).values()))}"
                print(f"\r{note[:70]:<70}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        return runs


def _plain(record: Any) -> dict[str, Any]:
    return asdict(record)
