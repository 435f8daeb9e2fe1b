# %% [markdown]
"""
# Stability of the selected features

A search always returns a subset. Whether other data would give the same features is measured by repeating it on other samples of
the rows.
"""

# %% [markdown]
"""
## Repeat the search

Each of the twenty runs draws 80 % of the rows.
"""

# %%
# !swarmrs select sklearn:breast_cancer --estimator nb --algo sffs --max-features 6 \
#   --seed 1 --repeats 20 --resample 0.8

# %% [markdown]
"""
Stability is 1 if all runs select the same features and about 0 if they select at random. Agreement below 0.4 is called poor,
above 0.75 excellent (Fleiss, *Statistical Methods for Rates and Proportions*). This subset, with a stability of 0.35, is one of many;
only *worst texture* is in more than three quarters of the runs. The consensus is not a better subset: it was not searched for.

Without `--resample` all runs use all rows, and stability covers only the randomness of the search. A deterministic search such
as `sffs` then has stability 1, which is meaningless; a warning says so.

## Redundant features

Low stability is mostly due to redundant features, such as radius, perimeter and area of the same cells. So compute the
selection frequency of clusters of correlated features: the share of runs that select any feature of the cluster, and that of
its most frequent feature.
"""

# %%
import polars as pl
from swarmrs import group, select

settings = {"estimator": "nb", "random_state": 1}
repeated = {"repeats": 20, "resample": 0.8}
found = select("sklearn:breast_cancer", algo="sffs", max_features=6, **settings, **repeated)
clusters = group("sklearn:breast_cancer", by="hclust,distance=spearman").groups
subsets = [set(run.selected) for run in found.stability.runs]
rows = []
for features in clusters:
    any_of = sum(bool(subset & set(features)) for subset in subsets)
    most = max(sum(name in subset for subset in subsets) for name in features)
    rows.append((features[0], len(features), any_of / 20, most / 20))
schema = ["cluster of", "features", "any of them", "most frequent one"]
with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_rows=-1):
    print(pl.DataFrame(rows, schema=schema, orient="row").sort("any of them", descending=True))

# %% [markdown]
"""
No single feature of the cluster of *mean radius* is in more than 60 % of the runs, but every run selects one of them. Every run
also selects a texture feature. The finding is cell size and texture, whichever features represent them.

## Stability and error

Selection methods differ in both. Stability beside the outer error of nested cross-validation:
"""

# %%
methods = {
    "swarm": {"algo": "bpso", "max_evals": 600},
    "floating, 6 at most": {"algo": "sffs", "max_features": 6},
    "floating, after fcbf": {"algo": "sffs", "prescreen": "fcbf"},
    "fcbf alone": {"algo": "fcbf"},
    "cfs alone": {"algo": "cfs"},
}
for name, method in methods.items():
    stability = select("sklearn:breast_cancer", **method, **settings, **repeated).stability
    held_out = select("sklearn:breast_cancer", outer_cv=10, **method, **settings).held_out
    print(
        f"{name:20}  size {stability.to_frame()['size'].mean():4.1f}  "
        f"stability {stability.agreement.value:.2f}  outer error {held_out.outer_error:.4f}"
    )

# %% [markdown]
"""
The swarm selects the most features and has the lowest outer error. The filters are the most stable and have the highest error. Twenty runs estimate stability to within about 0.1; the printed interval gives the precision.

## Recommendations

- **Report stability:** with its confidence interval, the most frequent features and the outer error.
- **Report clusters, not features,** if features are redundant. `--one-per-group` selects one feature of each; see
  [groups.md](../groups.md).
- **Select fewer features:** `--pick 1se` drops those within the noise.
- **Collect more rows.**
- [stability.md](../stability.md) defines the stability measure and nested cross-validation.
"""
