"""Cards: what there is to know about the algorithms, read from the engine."""

import json
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from swarmrs._base._messages import Setting
from swarmrs._base._public import public
from swarmrs.evaluation._objectives import Objective


@public
class Parameter(NamedTuple):
    """A setting of an algorithm: its name, default, allowed values and meaning."""

    name: str
    default: Setting
    range: str
    about: str


@public
@dataclass(frozen=True)
class Card:
    """What there is to know about an algorithm.

    Attributes
    ----------
    id, name, family : str
        What it is called in calls, what it is called by people, what kind it is.
    year, paper, doi : int, str, str
        Where it comes from.
    aliases : tuple of str
        Other ids it answers to.
    summary : str
        What sets it apart.
    evaluations : int or None
        The evaluations it asks for by default; None if it ends by itself.
    objective : dict
        What it lowers by default.
    evaluated_by : dict
        The k, the metric and the folds it has subsets measured by where nothing else is said.
    seeks_front : bool
        Whether it seeks a front of cost and size, and not one subset.
    params : tuple of Parameter
        Its settings.
    """

    id: str
    name: str
    family: str
    year: int
    paper: str
    doi: str
    aliases: tuple[str, ...]
    summary: str
    evaluations: int | None
    objective: Objective
    evaluated_by: dict[str, Any]
    seeks_front: bool
    params: tuple[Parameter, ...]

    def __repr__(self) -> str:
        """Return what it is in one line; `to_dict` has everything."""
        return f"Card({self.id!r}: {self.name}, {self.family}, {self.year})"

    def to_dict(self) -> dict[str, object]:
        """Return the card as plain values, ready for JSON."""
        params = [parameter._asdict() for parameter in self.params]
        return vars(self) | {"aliases": list(self.aliases), "params": params}


def read_cards(text: str) -> list[Card]:
    """Return the cards in what the engine says about its algorithms."""
    cards = []
    for entry in json.loads(text):
        entry["aliases"] = tuple(entry["aliases"])
        by = entry["evaluated_by"]
        entry["evaluated_by"] = {"n_neighbors": by.pop("k"), **by}
        entry["params"] = tuple(Parameter(**parameter) for parameter in entry["params"])
        cards.append(Card(**{field.name: entry[field.name] for field in fields(Card)}))
    return cards
