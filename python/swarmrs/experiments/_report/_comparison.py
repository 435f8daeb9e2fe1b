"""The report of a comparison."""

import math
import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import polars as pl

from swarmrs._base._files import whole_file
from swarmrs._base._messages import counted
from swarmrs.evaluation._losses import loss_name
from swarmrs.exceptions import SpecError
from swarmrs.experiments._analysis._findings import Findings
from swarmrs.experiments._analysis._runs import DONE, MEASURES, collect, is_accuracy, labelled
from swarmrs.experiments._analysis._statistics import LEVEL
from swarmrs.experiments._analysis._summary import summary
from swarmrs.experiments._report._drawing import Drawing, check_report, drawing, save
from swarmrs.experiments._report._figures import draw_all

_FAILED = 100


def write_report(
    cells: pl.DataFrame,
    settings: Mapping[str, object],
    path: str | os.PathLike[str] | None,
    *,
    figures: str | os.PathLike[str] | None = None,
    measure: str | None = None,
    reference: str | None = None,
) -> None:
    """Write the report of a comparison as one self-contained HTML file.

    Parameters
    ----------
    cells : polars.DataFrame
        A row for each cell, as `cells_frame` gives them.
    settings : mapping
        Their settings; a ``"command"`` is shown separately.
    path : path or None
        The file; None for figures alone.
    figures : path, optional
        A directory for the figures as PDF and PNG; it is made if it is not there.
    measure, reference : str, optional
        As in `summary`.

    Raises
    ------
    SpecError
        If matplotlib is not installed, or jinja2 for a page; or as in `summary`.
    DataError
        If no run is finished.
    OutputError
        If a file cannot be written.
    """
    if path is not None:
        check_report()
    with drawing():
        found = summary(cells, measure=measure, reference=reference)
        named = labelled(cells)
        of_all, of_each = draw_all(found, collect(named), named)
        if path is not None:
            text = _page(found, settings, of_all, of_each, named)
            with whole_file(Path(path)) as file:
                file.write(text.encode(errors="backslashreplace"))
        if figures is not None:
            folder = Path(figures)
            _make(folder)
            for each in chain(of_all, *of_each.values()):
                save(each, folder)


def _page(
    found: Findings,
    settings: Mapping[str, object],
    of_all: Sequence[Drawing],
    of_each: Mapping[str, Sequence[Drawing]],
    cells: pl.DataFrame,
) -> str:
    # Imported here, because figures alone need no templates.
    from swarmrs.experiments._report._page import on_page, render
    from swarmrs.experiments._report._svg import Sheet

    against = {(row.data, row.method): row for row in found.versus}
    unfinished = cells.filter(pl.col("state") != DONE)
    failures = unfinished.filter(pl.col("error_text").is_not_null())
    failed = failures.head(_FAILED).select("data", "method", "run", "fold", "error_text")
    sheet = Sheet()
    most = max(entry.runs for entry in found.entries)
    n_methods = counted(len(found.methods), "method")
    return render(
        "comparison.html.j2",
        sheet,
        title=f"{n_methods} on {counted(len(found.datasets), 'data set')}",
        settings=settings,
        found=found,
        measure=MEASURES[found.measure],
        loss=loss_name(found.scoring),
        is_higher_better=is_accuracy(found.measure),
        level=LEVEL,
        infinite=math.inf,
        counts=f"up to {counted(most, 'run')} each, {counted(cells.height, 'cell')} in all",
        rows=[(entry, against.get((entry.data, entry.method))) for entry in found.entries],
        has_improvement=any(entry.improvement is not None for entry in found.entries),
        ranks=on_page((each for each in of_all if each.name == "ranks"), sheet),
        timing=on_page((each for each in of_all if each.name == "timing"), sheet),
        sections=[
            {"data": data, "drawings": on_page(of_each[data], sheet)}
            for data in found.datasets
            if of_each[data]
        ],
        failed=failed.to_dicts(),
        failed_text=f"{counted(failures.height, 'cell')} of {cells.height} failed"
        + (f"; the first {_FAILED}:" if failures.height > _FAILED else ":"),
    )


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SpecError(f"'{folder}' cannot be made: {problem.strerror}") from problem
