"""The public names: importable from `swarmrs`, results with a short repr."""

import inspect
import typing
from typing import Any

import numpy as np
import polars as pl
import pytest
import swarmrs

NAMES = [name for name in swarmrs.__all__ if name != "__version__"]
# What users hold in their hands, and no call makes: callbacks receive dictionaries of this type.
TYPED = {"Iteration"}
# What users call or build themselves.
BUILT = {"Evaluator", "FilterSelector", "SwarmSelector"}
LONGEST = 500


def results() -> dict[str, object]:
    """Return an object of each result type, of a table with many features of long names."""
    rng = np.random.default_rng(0)
    names = [f"a rather long name of a feature, number {at}" for at in range(120)]
    table = swarmrs.read_table(
        pl.from_numpy(rng.random((40, 120)), schema=names), np.arange(40) % 2
    )
    search: dict[str, Any] = {"algo": "bpso", "max_evals": 60, "random_state": 1, "cv": 2}
    found = swarmrs.select(table, repeats=2, **search)
    nested = swarmrs.select(table, outer_cv=2, **search)
    small = swarmrs.select(table, pick="1se", **search)
    stability, held_out = found.stability, nested.held_out
    assert stability is not None
    assert held_out is not None
    described = swarmrs.describe(pl.from_numpy(table.x, schema=names), table.y)
    card = next(card for card in swarmrs.algorithms() if card.params)
    made = [
        *(table, found, found.front, found.front[0], found.evaluations, found.seconds, found.work),
        *(stability, stability.agreement, held_out, held_out.parts[0], held_out.baseline),
        swarmrs.select(table, algo="auto", random_state=1, max_evals=100).competition,
        swarmrs.select(table, rows=30, **search).rows,
        *(small.parsimony, described, described.columns[0], card, card.params[0]),
        *(swarmrs.presets["tran2019"], swarmrs.rank(table), swarmrs.group(table, by="hclust=5")),
        swarmrs.minimize(lambda masks: masks.sum(axis=1), 3000, max_evals=60, random_state=1),
        swarmrs.compare({"made": table}, ["sfs"], runs=1, protocol="split70", max_evals=5),
    ]
    return {type(result).__name__: result for result in made}


@pytest.mark.filterwarnings("ignore::swarmrs.exceptions.SwarmrsWarning")
def test_every_result_has_a_public_type_and_a_short_repr() -> None:
    found = results()
    types = {name for name in NAMES if inspect.isclass(getattr(swarmrs, name))}
    assert found.keys() == types - TYPED - BUILT
    for name, result in found.items():
        assert type(result) is getattr(swarmrs, name)
        assert type(result).__module__ == "swarmrs", name
        assert len(repr(result)) < LONGEST, name


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_importable_and_documented(name: str) -> None:
    assert name in dir(swarmrs)
    assert getattr(swarmrs, name).__doc__


def test_a_callback_receives_what_its_type_says() -> None:
    received: list[swarmrs.Iteration] = []

    def stop(iteration: swarmrs.Iteration) -> bool:
        received.append(iteration)
        return True

    swarmrs.select("sklearn:iris", algo="bpso", random_state=1, callback=stop)
    hints = typing.get_type_hints(swarmrs.Iteration)
    assert received[0].keys() == hints.keys() - {"run", "runs"}


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="module 'swarmrs' has no attribute 'selct'"):
        swarmrs.selct  # noqa: B018
