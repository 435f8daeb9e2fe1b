# %% [markdown]
"""
# Is my selection stable?

A search always answers with a list of columns. Whether the list is a finding or one of many that would have done as
well, it cannot say: for that you must search again, on other rows.
"""

# %% [markdown]
"""
## Search twenty times

Each run below is given its own four fifths of the rows.
"""

# %%
# !swarmrs select sklearn:breast_cancer --classifier nb --algo sffs --max-features 6 \
#   --seed 1 --repeats 20 --resample 0.8

# %% [markdown]
"""
Stability is 1 where all runs chose the same columns, about 0 where they chose by chance. Below 0.4 agreement of this
kind is called poor, above 0.75 excellent (Fleiss, *Statistical Methods for Rates and Proportions*). So this list is
one of many. One of its columns is chosen on nearly any rows, and would be a finding; the others are not. Do not take
the consensus for a better list: it was not searched for, and its error shows that what the runs agree on is too
little.

Without `--resample` all runs have all rows, and stability tells only what chance inside the search does. A search
without chance, such as this one, has then a stability of 1, which means nothing; a warning says so.

## Why is it low?

Mostly because columns stand in for each other, as radius, perimeter and area of the same cells do here. So ask of
groups of such columns what was asked of columns: in which share of the runs is any of them in, and in which the one
chosen most?
"""

# %%
import polars as pl
from swarmrs import group, select

settings = {"classifier": "nb", "random_state": 1}
repeated = {"repeats": 20, "resample": 0.8}
found = select("sklearn:breast_cancer", algo="sffs", max_features=6, **settings, **repeated)
groups = group("sklearn:breast_cancer", by="hclust,distance=spearman").groups
chosen = [set(run.selected) for run in found.stability.runs]
rows = []
for members in groups:
    any_of = sum(bool(chosen_by & set(members)) for chosen_by in chosen)
    most = max(sum(name in chosen_by for chosen_by in chosen) for name in members)
    rows.append((members[0], len(members), any_of / 20, most / 20))
schema = ["group of", "columns", "any of them", "the one chosen most"]
with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_rows=-1):
    print(pl.DataFrame(rows, schema=schema, orient="row").sort("any of them", descending=True))

# %% [markdown]
"""
No single measure of size is in more than half of the runs, yet some measure of size is in every run. Texture is in
every run as well, and nearly always by the same column. That is the finding: the size of cells, in one form or
another, and their texture.

## Stable is not the same as good

Ways of choosing differ in both. Stability and the error on rows held out, side by side:
"""

# %%
ways = {
    "swarm": {"algo": "bpso", "max_evals": 600},
    "floating, 6 at most": {"algo": "sffs", "max_features": 6},
    "floating, after fcbf": {"algo": "sffs", "prescreen": "fcbf"},
    "fcbf alone": {"algo": "fcbf"},
    "cfs alone": {"algo": "cfs"},
}
for name, way in ways.items():
    stability = select("sklearn:breast_cancer", **way, **settings, **repeated).stability
    held_out = select("sklearn:breast_cancer", outer_cv=10, **way, **settings).held_out
    print(
        f"{name:20}  size {stability.to_frame()['size'].mean():4.1f}  "
        f"stability {stability.agreement.value:.2f}  outer error {held_out.outer_error:.4f}"
    )

# %% [markdown]
"""
The swarm takes more columns than the floating search, and is both steadier and better on new rows. The filters are the
steadiest, and the worst. Twenty runs tell stability to within 0.1 or less; the interval that is printed says how far.

## What to do about it

- **Report it.** The stability with its interval, the columns chosen in most runs, and the outer error: the three
  together are honest, whichever list you print.
- **Name groups, not columns,** where columns stand in for each other. `--one-per-group` takes one of each; see
  [groups.md](../groups.md).
- **Ask for less.** `--parsimony 1se` gives up what is within the noise.
- **Get rows.** With more of them fewer lists are equally good.
- What is in the measure, and what exactly is held out: [stability.md](../stability.md).
"""
