"""The command that lists the algorithms."""

from typing import Annotated

import typer

from swarmrs._base._messages import check_word
from swarmrs.cli._input import _complete as complete
from swarmrs.cli._input import _options as options
from swarmrs.cli._output import _render as render


def algorithms(
    algorithm: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Show this one, with its parameters.",
            autocompletion=complete.algorithms,
        ),
    ] = None,
    format: options.Format = "table",
) -> None:
    """List the algorithms, or describe one.

    \b
    # all of them, a line each
    swarmrs algorithms
    # the parameters of one, their defaults and ranges, and its paper
    swarmrs algorithms vlpso
    """  # noqa: D301
    from swarmrs import algorithms as read_cards

    cards = read_cards()
    if algorithm is not None:
        by_name = {name.lower(): card for card in cards for name in (card.id, *card.aliases)}
        cards = [by_name[check_word("algorithm", algorithm.lower(), list(by_name))]]
    if format == "json":
        plain = [card.to_dict() for card in cards]
        print(render.as_json(plain if algorithm is None else plain[0]))
    elif format == "csv" and algorithm is None:
        header = ("id", "name", "family", "year", "evaluations", "doi", "summary")
        print(render.as_csv(header, [[getattr(card, key) for key in header] for card in cards]))
    elif format == "csv":
        print(render.as_csv(("name", "default", "range", "about"), cards[0].params))
    else:
        print(render.cards_table(cards) if algorithm is None else render.card_table(cards[0]))
