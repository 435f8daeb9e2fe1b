"""The comparison in a few figures: each method on each table."""

import polars as pl

_FIRST = ("size", "train_error", "test_error")
_LAST = ("test_balanced_accuracy", "evaluations", "seconds")


def summary(cells: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each table and method: the mean over runs of the mean over folds.

    Parameters
    ----------
    cells : polars.DataFrame
        What `cells_frame` returns.

    Returns
    -------
    polars.DataFrame
        ``data``, ``method``, ``runs`` (those of which all cells are done), ``failed`` (cells) and
        means; ``std`` is that of the error on the rows held out, or of the search where none are.
    """
    by = ["data", "method"]
    whole = (
        cells.group_by(*by, "run", maintain_order=True)
        .agg(
            (pl.col("state") == "done").all().alias("is_whole"),
            (pl.col("state") == "failed").sum().alias("failed"),
            *(pl.col(name).mean() for name in (*_FIRST, *_LAST)),
        )
        .with_columns(pl.coalesce("test_error", "train_error").alias("error"))
    )
    return whole.group_by(by, maintain_order=True).agg(
        pl.col("is_whole").sum().alias("runs"),
        pl.col("failed").sum(),
        *(pl.col(name).filter("is_whole").mean() for name in _FIRST),
        pl.col("error").filter("is_whole").std().alias("std"),
        *(pl.col(name).filter("is_whole").mean() for name in _LAST),
    )
