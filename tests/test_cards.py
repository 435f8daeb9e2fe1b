"""What is said about the algorithms."""

import json

from swarmrs import algorithms


def test_cards_describe_every_algorithm() -> None:
    cards = {card.id: card for card in algorithms()}
    assert list(cards) == sorted(cards)
    assert {"bpso", "pbpso", "random", "sfs"} <= set(cards)
    population = next(p for p in cards["bpso"].params if p.name == "population")
    assert population.default == 30
    assert population.about
    vlpso = {"n_neighbors": 1, "metric": "manhattan", "folds": {"scheme": "loo"}}
    assert cards["vlpso"].evaluated_by == vlpso
    assert json.loads(json.dumps(cards["bpso"].to_dict()))["params"][0]["name"] == "population"
