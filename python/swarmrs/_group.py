"""group(): the columns of a table that tell alike, put together."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from swarmrs._arguments import check_arguments
from swarmrs._dataset import dataset_of
from swarmrs._grouping import Grouping
from swarmrs._groups import Groups, group_spec
from swarmrs._selection import describe_data
from swarmrs._table import Data, read_table
from swarmrs._target import Target
from swarmrs._threads import count_threads
from swarmrs._words import check_whole
from swarmrs.exceptions import SwarmrsWarning


def group(
    data: Data,
    target: Target = None,
    *,
    by: Groups = "lbm",
    seed: int = 0,
    exclude: Sequence[str | int] = (),
    missing: str = "error",
    encode: str = "error",
    n_jobs: int | None = None,
) -> Grouping:
    """Put columns together that tell alike. Classes are not looked at.

    Parameters
    ----------
    data : str, path, frame, array, pair or Table
        The samples; see `read_table`.
    target : str, int or array-like, optional
        The column that holds the classes, or the labels themselves. By default the last column.
    by : str, path or sequence of sequences
        ``"lbm"``, a latent block model of columns and rows, as many groups as AIC chooses;
        ``"hclust"``, average linkage, as many as the silhouette chooses; ``"lbm=6"`` or
        ``"hclust=6"`` for a number of groups. Settings follow after commas: ``rows=100`` (random
        rows to look at), ``levels=3`` (of a column), for ``lbm`` ``criterion=aic`` or ``icl`` and
        ``restarts=5``, for ``hclust`` ``distance=su`` or ``spearman``. ``"prefix"`` and
        ``"prefix=SEP"`` go by what stands in a name before the last ``_`` or SEP; trailing digits
        do not count where there is none. A path names a file with a line of names or indices for
        each group, with commas between them. Lists are groups as they are.
    seed : int
        Draws the rows and the starts of a method.
    exclude : sequence of str or int
        Columns that are not looked at and belong to no group.
    missing, encode : str
        What to do about missing values and text; see `read_table`.
    n_jobs : int, optional
        Threads: None is 1, -1 is all. It changes no result.

    Returns
    -------
    Grouping

    Raises
    ------
    SpecError
        If a method or setting is unknown, or if lists are no partition of the columns that are
        not constant.

    Examples
    --------
    >>> group("sklearn:iris", by="hclust=2")
    2 groups of 4 columns by hclust
      0: sepal length (cm), petal length (cm), petal width (cm)
      1: sepal width (cm)
    """
    check_arguments(group, locals())
    table = read_table(data, target, missing=missing, encode=encode, exclude=exclude)
    for message in table.warnings:
        warnings.warn(message, SwarmrsWarning, stacklevel=2)
    if excluded := table.locate(exclude):
        # A table that was read before still has what they hold.
        x = table.x.copy(order="F")
        x[:, excluded] = 0.0
        table = replace(table, x=x)
    source, spec = group_spec(by, table)
    if spec["source"] != "given":
        spec["seed"] = check_whole("seed", seed, 0)
    dataset = dataset_of(table)
    answer = json.loads(dataset.group(json.dumps(spec), count_threads(n_jobs)))
    found, settings = answer["found"], answer["spec"]
    indices = tuple(tuple(members) for members in found["groups"])
    criterion = {"lbm": settings.get("criterion"), "hclust": "silhouette"}.get(source)
    names = table.names
    return Grouping(
        by=source,
        settings={key: settings[key] for key in settings if key not in ("source", "groups")},
        data=describe_data(table, dataset.fingerprint),
        groups=tuple(tuple(names[index] for index in members) for members in indices),
        indices=indices,
        ungrouped=tuple(names[index] for index in table.constant),
        criterion=criterion,
        curve=pl.DataFrame(
            found["curve"],
            schema={
                "n_groups": pl.UInt32,
                "n_row_groups": pl.UInt32,
                "value": pl.Float64,
                "is_chosen": pl.Boolean,
            },
        ),
    )
