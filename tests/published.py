"""What tests of published claims need beside the repository, and the reasons they skip without."""

from pathlib import Path

import pytest
from tables import TABLES, path_of, why_absent

# A second transcription of the papers' figures, by which those of the package were checked.
_TRANSCRIPTION = TABLES.parent / "reference" / "paper_results.csv"


def table_path(name: str) -> Path:
    """Return the file of a published table; the test is skipped where it is missing."""
    path = path_of(name)
    if not path.exists():
        pytest.skip(why_absent(name))
    return path


def transcription() -> Path:
    """Return the second transcription of the papers' figures; skips where it is missing."""
    if not _TRANSCRIPTION.exists():
        pytest.skip("the second transcription of the papers' figures is not distributed")
    return _TRANSCRIPTION
