"""Public results are named for the package and show themselves in a few lines."""

import numpy as np
import polars as pl
import pytest
import swarmrs
from swarmrs import describe, group, rank, read_table


@pytest.mark.parametrize("name", ["Table", "Ranking", "Grouping", "Description"])
def test_results_belong_to_the_package(name: str) -> None:
    assert name in swarmrs.__all__
    assert getattr(swarmrs, name).__module__ == "swarmrs"


def test_a_table() -> None:
    table = read_table("sklearn:wine")
    assert repr(table) == "Table 'sklearn:wine': 178 rows, 13 features, target 'class' (3 classes)"
    frame = pl.DataFrame({"<b>": [1, 2, 3, 4], "c": [0, 0, 0, 0], "class": [0, 1, 0, 1]})
    page = read_table(frame)._repr_html_()
    assert "<li>1 constant feature: &#x27;c&#x27;</li>" in page
    assert "<b>" not in page


def test_a_ranking() -> None:
    ranking = rank("sklearn:wine")
    first, second = repr(ranking).splitlines()
    assert first == "Ranking of 13 features by su, 13 relevant"
    assert second.startswith("  flavanoids 0.5917, ")
    assert second.endswith(" and 8 more")
    assert "more" not in repr(ranking.top(2))
    assert first in ranking._repr_html_()


def test_a_grouping() -> None:
    x = np.random.default_rng(0).normal(size=(8, 12))
    grouping = group((x, np.arange(8) % 2), by=[[index] for index in range(12)])
    lines = repr(grouping).splitlines()
    assert lines[0] == "12 groups of 12 features by given"
    assert (len(lines), lines[1], lines[-1]) == (7, "  0: x0", "  and 7 more")
    assert grouping._repr_html_().count("<li>") == 12


def test_a_description() -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "b": [0, 0, 0], "class": ["x", "y", "x"]})
    found = describe(frame)
    assert repr(found) == (
        "Description of 'frame': 3 rows, 2 features, target 'class' (2 classes)\n"
        "  select would search 1 of 2 features"
    )
    assert "<table" in found._repr_html_()
    assert "<br>  select would search 1 of 2 features</p>" in found._repr_html_()
    refused = describe(frame.with_columns(b=pl.Series(["u", "v", "w"])))
    assert repr(refused).endswith("select would refuse it: 1 column of text: 'b'")
