# %% [markdown]
"""
# Stability of a selection

A search always returns a list of features. It does not say whether other samples would give the same list. Selection
stability answers this: repeat the search on resampled rows and compare the selections.
"""

# %% [markdown]
"""
## Repeated search

20 searches, each on a random 80 % of the rows:
"""

# %%
# !swarmrs select sklearn:breast_cancer --estimator nb --algo sffs --max-features 6 \
#   --seed 1 --repeats 20 --resample 0.8

# %% [markdown]
"""
Stability is 1 if all runs select the same features and about 0 if they select at random. Agreement below 0.4 is called
poor, above 0.75 excellent (Fleiss, *Statistical Methods for Rates and Proportions*). So this
selection is one of many. Only `worst texture` is selected in most runs. The consensus (the features of at least half
of the runs) is not the result of a search, and its error is higher.

Without `--resample` all runs use all rows, and stability shows the effect of the random seed only. A deterministic
search such as `sffs` then has a stability of 1, which means nothing; a warning says so.

## Correlated features

Redundant features are the usual cause of low stability: radius, perimeter and area of the same cell nuclei carry the
same information. Group the correlated features and count the groups instead:
"""

# %%
import polars as pl
from swarmrs import group, select

settings = {"estimator": "nb", "random_state": 1}
repeated = {"repeats": 20, "resample": 0.8}
found = select("sklearn:breast_cancer", algo="sffs", max_features=6, **settings, **repeated)
clusters = group("sklearn:breast_cancer", by="hclust,distance=spearman").groups
selections = [set(run.selected) for run in found.stability.runs]
rows = []
for members in clusters:
    any_member = sum(bool(selection & set(members)) for selection in selections)
    top_member = max(sum(name in selection for selection in selections) for name in members)
    rows.append((members[0], len(members), any_member / 20, top_member / 20))
schema = ["cluster of", "features", "any member", "top member"]
with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_rows=-1):
    print(pl.DataFrame(rows, schema=schema, orient="row").sort("any member", descending=True))

# %% [markdown]
"""
The numbers are shares of the 20 runs that select any member of a cluster, and its most frequent member. No
single feature of cell size is in more than 60 % of the runs, but every run selects one of them. Every run selects a
texture feature, too, and mostly the same one. The finding is: size and texture of the nuclei.

## Stability and error

A stable selection is not always a good one. Compare both, the stability and the error of nested cross-validation:
"""

# %%
methods = {
    "bpso": {"algo": "bpso", "max_evals": 600},
    "sffs, 6 features": {"algo": "sffs", "max_features": 6},
    "fcbf, then sffs": {"algo": "sffs", "prescreen": "fcbf"},
    "fcbf": {"algo": "fcbf"},
    "cfs": {"algo": "cfs"},
}
for name, method in methods.items():
    stability = select("sklearn:breast_cancer", **method, **settings, **repeated).stability
    held_out = select("sklearn:breast_cancer", outer_cv=10, **method, **settings).held_out
    print(
        f"{name:16}  size {stability.to_frame()['size'].mean():4.1f}  "
        f"stability {stability.agreement.value:.2f}  outer error {held_out.outer_error:.4f}"
    )

# %% [markdown]
"""
The swarm `bpso` selects more features than `sffs`; it is more stable and has a lower outer error. The filters `fcbf` and
`cfs` are the most stable and have the highest error. 20 runs give the stability to within about 0.1, see its confidence
interval.

## Recommendations

- **Report stability** with its confidence interval, the most frequent features, and the outer error.
- **Report clusters instead of single features** where features are redundant. `--one-per-group` selects at most one
  feature of each cluster, see [groups.md](../groups.md).
- **Select fewer features.** `--pick 1se` returns the smallest subset within one standard error of the best.
- **Collect more samples.** More samples leave fewer equally good subsets.
- More: [stability.md](../stability.md) defines the stability measure and the nested cross-validation.
"""
