"""Studies whose tables can be reproduced: a module of declarations for each."""

from swarmrs._base._messages import check_word
from swarmrs.experiments._papers import chuang2012, hafiz2018, tran2019, xue2014, xue2016
from swarmrs.experiments._papers._paper import Paper, PaperTable

PAPERS = {
    module.PAPER.name: module.PAPER
    for module in (hafiz2018, xue2014, tran2019, xue2016, chuang2012)
}


def find_tables(name: str) -> tuple[Paper, list[PaperTable]]:
    """Return a study and those of its tables that a name stands for.

    Parameters
    ----------
    name : str
        ``"tran2019-III"`` for a table, ``"tran2019"`` for all tables of a study.

    Raises
    ------
    SpecError
        If there is no such study or table; the hint lists them.

    Examples
    --------
    >>> paper, tables = find_tables("tran2019-iii")
    >>> paper.name, [table.name for table in tables]
    ('tran2019', ['tran2019-III'])
    """
    study, dash, table = name.strip().partition("-")
    paper = PAPERS[check_word("study", study, list(PAPERS))]
    return paper, paper.find(table if dash else None)


__all__ = ["PAPERS", "Paper", "PaperTable", "find_tables"]
