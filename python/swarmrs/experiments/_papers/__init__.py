"""The papers whose tables can be run again: a module of declarations for each."""

from swarmrs._base._messages import check_word
from swarmrs.experiments._papers import paper_000, paper_001, paper_002, paper_003, paper_004
from swarmrs.experiments._papers._paper import Paper, PaperTable

PAPERS = {
    module.PAPER.number: module.PAPER
    for module in (paper_000, paper_001, paper_002, paper_003, paper_004)
}


def find_tables(name: str) -> tuple[Paper, list[PaperTable]]:
    """Return a paper and the tables of it that a name stands for.

    Parameters
    ----------
    name : str
        ``"002-III"`` for a table, ``"002"`` for all of a paper.

    Raises
    ------
    SpecError
        If there is no such paper or table; the hint lists them.

    Examples
    --------
    >>> paper, tables = find_tables("002-iii")
    >>> paper.number, [table.name for table in tables]
    ('002', ['002-III'])
    """
    number, dash, table = name.strip().partition("-")
    paper = PAPERS[check_word("paper", number, list(PAPERS))]
    return paper, paper.find(table if dash else None)


__all__ = ["PAPERS", "Paper", "PaperTable", "find_tables"]
