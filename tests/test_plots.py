"""Figures of a search show its numbers."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from swarmrs import Selection, SwarmSelector, select
from swarmrs.exceptions import SpecError, SwarmrsError
from swarmrs.plotting._figures import draw_frequency

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def found(blobs: Blobs) -> Selection:
    return select(blobs, algo="nsga2", cv=3, max_evals=300, random_state=1, pick="knee")


def test_convergence_is_the_trace(found: Selection) -> None:
    (line,) = found.plot_convergence().lines
    np.testing.assert_array_equal(line.get_xdata(), found.trace["evaluations"])
    np.testing.assert_array_equal(line.get_ydata(), found.trace["best_cost"])


def test_the_front_has_its_points_its_knee_and_the_choice(found: Selection) -> None:
    front, knee, chosen = found.plot_front().lines
    np.testing.assert_array_equal(front.get_xdata(), [point.size for point in found.front])
    np.testing.assert_array_equal(front.get_ydata(), [point.error for point in found.front])
    assert found.front.knee is not None
    bend = [found.front.knee.size, found.front.knee.error]
    np.testing.assert_array_equal(knee.get_xydata(), [bend])
    np.testing.assert_array_equal(chosen.get_xydata(), [[found.size, found.scores["error"]]])


def test_frequency_counts_the_subsets_of_the_front(found: Selection) -> None:
    ax = found.plot_frequency(top=2)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == 2
    bars: Any = ax.containers[0]
    widths = bars.datavalues.tolist()
    assert widths == [np.mean([name in at.selected for at in found.front]) for name in names]
    assert widths[0] >= widths[1]


def test_frequency_needs_a_subset() -> None:
    with pytest.raises(SpecError, match="no subset"):
        draw_frequency({})


def test_axes_of_the_caller_are_drawn_on(blobs: Blobs) -> None:
    selector = SwarmSelector(algo="sfs", cv=3).fit(*blobs)
    for plot in (selector.plot_convergence, selector.plot_front, selector.plot_frequency):
        _, ax = pyplot.subplots()
        assert plot(ax=ax) is ax
        assert ax.has_data()
    assert selector.plot_front() is not selector.plot_front()


def test_a_selector_has_to_be_fitted() -> None:
    with pytest.raises(NotFittedError):
        SwarmSelector().plot_front()


def test_without_matplotlib_the_extra_is_named(
    found: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SwarmrsError, match="figures need matplotlib") as error:
        found.plot_front()
    assert error.value.hint == "pip install 'swarmrs[plot]'"


def test_a_competition_is_drawn_by_method_and_size() -> None:
    found = select("sklearn:wine", algo="auto", max_evals=3000, random_state=1)
    assert found.competition is not None
    axes = found.plot_competition()
    labels = axes.get_legend_handles_labels()[1]
    methods = found.competition.frame["method"].unique(maintain_order=True).to_list()
    assert labels == [*methods, "expected on new rows"]
    first = found.competition.frame.filter(pl.col("method") == methods[0])
    assert_array_equal(axes.lines[0].get_xydata(), first.select("size", "score").to_numpy())
    with pytest.raises(SpecError, match="no convergence"):
        found.plot_convergence()
    single = select("sklearn:wine", algo="sfs", random_state=1)
    with pytest.raises(SpecError, match="'sfs' had no rivals"):
        single.plot_competition()
