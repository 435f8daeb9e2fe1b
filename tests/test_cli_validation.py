"""Selection stability, nested cross-validation and held-out rows on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from swarmrs import select

Cli = Callable[..., Any]

SEARCH = ("--algo", "bpso", "--seed", 1, "--max-evals", 90)
SETTINGS: dict[str, Any] = {"algo": "bpso", "random_state": 1, "max_evals": 90}


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (("--repeats", 3), {"repeats": 3}),
        (("--repeats", 3, "--resample", 0.7), {"repeats": 3, "resample": 0.7}),
        (("--test-size", 0.3), {"test_size": 0.3}),
        (("--outer-cv", 3, "--cv-seed", 5), {"outer_cv": 3, "cv_seed": 5}),
        (("--outer-cv", "holdout=0.3"), {"outer_cv": "holdout=0.3"}),
        (("--pick", "1se"), {"pick": "1se"}),
    ],
    ids=lambda it: " ".join(map(str, it)) if isinstance(it, tuple) else "",
)
def test_json_is_the_result_of_select(
    cli: Cli, blobs_csv: Path, options: tuple[object, ...], settings: dict[str, Any]
) -> None:
    done = cli("select", blobs_csv, *SEARCH, *options, "--format", "json")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    expected = json.loads(json.dumps(select(blobs_csv, **SETTINGS, **settings).to_dict()))
    assert printed.pop("seconds")["total"] > 0
    assert expected.pop("seconds")["total"] > 0
    assert printed == expected


def lines_of(text: str) -> dict[str, str]:
    return {line[:14].strip(): line[14:] for line in text.splitlines() if line[:1].isalpha()}


def test_the_table_shows_nested_cross_validation(cli: Cli, blobs_csv: Path) -> None:
    found = select(blobs_csv, outer_cv=3, **SETTINGS).held_out
    assert found is not None
    assert found.spread is not None
    lines = lines_of(cli("select", blobs_csv, *SEARCH, "--outer-cv", 3).out)
    nested = "nested cross-validation, stratified 3-fold: one search per outer fold"
    assert lines["held out"].startswith(nested)
    assert lines["inner error"].startswith(f"{found.inner_error:.4f}, optimistic")
    outer = f"{found.outer_error:.4f} ± {found.spread:.4f} on held-out rows"
    assert lines["outer error"] == outer
    assert lines["optimism"] == f"{found.optimism:.4f}"
    assert lines["error"].endswith("optimistic: see the outer error below")
    one = lines_of(cli("select", blobs_csv, *SEARCH, "--test-size", 0.3).out)
    assert one["held out"] == "18 of 60 rows, unseen by the search"
    assert "subsets" not in one


def test_without_held_out_rows_the_error_is_called_optimistic(cli: Cli, blobs_csv: Path) -> None:
    lines = lines_of(cli("select", blobs_csv, *SEARCH).out)
    caution = "optimistic: the same folds chose the features (try --outer-cv 10)"
    assert lines["error"].endswith(caution)


def test_the_table_shows_selection_stability(cli: Cli, blobs_csv: Path) -> None:
    found = select(blobs_csv, repeats=3, **SETTINGS).stability
    assert found is not None
    out = cli("select", blobs_csv, *SEARCH, "--repeats", 3).out
    lines = lines_of(out)
    assert lines["repeats"] == "3 runs, seeds 1 to 3"
    value, low, high = found.agreement
    assert lines["stability"] == f"{value:.2f}, 95% interval {low:.2f} to {high:.2f}"
    for index, column, share in found.frequency.iter_rows():
        mark = "  consensus" if index in found.consensus.selected_indices else ""
        assert any(
            line.split() == [str(index), column, f"{share:.0%}", *mark.split()]
            for line in out.splitlines()
        )
