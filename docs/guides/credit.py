# %% [markdown]
"""
# Categorical, missing and imbalanced data

A credit data set with text columns, missing values, an identifier and a rare class. swarmrs does not handle any of these
silently: each needs an option, and the error message names it.
"""

# %% [markdown]
"""
## The data

600 loans. The outcome depends on income relative to the amount, savings, housing and years in a job. Purpose, region and the
customer number are irrelevant.
"""

# %%
import numpy as np
import polars as pl
from sklearn.tree import DecisionTreeClassifier
from swarmrs import select

rng = np.random.default_rng(3)
n = 600
income = rng.lognormal(7.8, 0.4, n).round()
amount = rng.lognormal(8.3, 0.7, n).round()
years = rng.gamma(2, 3, n).round()
savings = rng.choice(["none", "some", "much"], n, p=[0.5, 0.3, 0.2])
housing = rng.choice(["own", "rent", "free"], n, p=[0.5, 0.4, 0.1])
risk = (
    np.log(amount / income) - 0.15 * years - 1.2 * (savings == "much") + 0.8 * (housing == "rent")
)
risk = risk + rng.logistic(0, 0.4, n)
loans = pl.DataFrame(
    {
        "customer": np.arange(70001, 70001 + n),
        "income": income,
        "amount": amount,
        "years": years,
        "savings": savings,
        "housing": housing,
        "purpose": rng.choice(["car", "home", "travel", "study"], n),
        "region": rng.choice(["north", "south", "east", "west"], n),
        "outcome": np.select([risk > 2.8, risk > 0.9], ["lost", "late"], "paid"),
    }
)
missing = pl.Series(rng.random(n) < 0.05)
loans = loans.with_columns(
    income=pl.when(missing).then(None).otherwise("income"),
    savings=pl.when(missing.reverse()).then(pl.lit("?")).otherwise("savings"),
)
loans.write_csv("loans.csv")
print(loans.write_csv()[:180])

# %%
# !swarmrs describe loans.csv

# %% [markdown]
"""
## Options

`describe` names the five decisions. This guide chooses:

| finding | option | reason |
| --- | --- | --- |
| an identifier | `--exclude customer` | it rises with the row number and is no measurement |
| text columns | `--encode onehot` | an indicator for each category; `ordinal` codes have an arbitrary order and suit trees only |
| indicators of one column | `--together encoded` | select housing as a whole, not `housing=rent` alone |
| 66 missing values | `--missing drop-rows` | they are few and random; `median` imputes them inside the folds instead |
| a class of 8 rows | `--rare-class merge` | fewer than the ten folds: `late` and `lost` become one class, `other` |

The classes are imbalanced. Predicting "paid" for every loan has an error of about 0.2, so a low error means little.
`--scoring balanced_accuracy` weights both classes equally; `f1_macro` and `matthews_corrcoef` are alternatives. The estimator
is naive Bayes (`--estimator nb`), because indicators dominate the distances of k-NN.

## Search
"""

# %%
# !swarmrs select loans.csv --exclude customer --encode onehot --together encoded \
#   --missing drop-rows --rare-class merge --scoring balanced_accuracy --estimator nb \
#   --algo sffs --seed 1

# %% [markdown]
"""
The search selects exactly the features that determine the risk. The notes above the result list every decision.
`--output reduced.csv` writes the reduced table, `--output model.py` scikit-learn code that fits the model.

Without `--together` the search selects indicators one by one:
"""

# %%
# !swarmrs select loans.csv --exclude customer --encode onehot \
#   --missing drop-rows --rare-class merge --scoring balanced_accuracy --estimator nb \
#   --algo sffs --seed 1 --format csv --quiet

# %% [markdown]
"""
Two indicators of region are selected as well, and only one of savings: with many features some fit by chance.

## Nested cross-validation

The same settings in Python, with ten outer folds:
"""

# %%
settings = {
    "exclude": ["customer"],
    "encode": "onehot",
    "together": "encoded",
    "missing": "drop-rows",
    "rare_class": "merge",
    "scoring": "balanced_accuracy",
    "estimator": "nb",
    "algo": "sffs",
    "random_state": 1,
}
found = select("loans.csv", outer_cv=10, **settings)
inner = np.mean([part.selection.score for part in found.held_out.parts])
outer = found.held_out.scores["balanced_accuracy"]
print(f"balanced accuracy: inner {inner:.3f}, outer {outer:.3f}")

# %% [markdown]
"""
Imputation instead of dropped rows: the median, and the mode for text, are computed from the training rows of each fold.
"""

# %%
imputed = select("loans.csv", outer_cv=10, **settings | {"missing": "median"}).held_out
print(f"balanced accuracy with imputation: outer {imputed.scores['balanced_accuracy']:.3f}")

# %% [markdown]
"""
## Estimators that accept missing values

Decision trees accept missing values and ordinal codes. `missing="keep"` passes missing values on. Estimators of scikit-learn
are slower than the built-in ones; see [any-classifier.md](any-classifier.md).
"""

# %%
tree = DecisionTreeClassifier(max_depth=4, random_state=0)
kept = {"encode": "ordinal", "missing": "keep", "together": (), "scoring": "roc_auc"}
found = select("loans.csv", **settings | kept | {"estimator": tree, "algo": "sfs"})
print(f"{', '.join(found.selected)}: ROC AUC {found.score:.3f}")

# %% [markdown]
"""
The tree also selects the irrelevant features purpose and region: this score is optimistic, too.

## Pitfalls

- `--rare-class` depends on the number of folds. With `--cv 3` eight loans are enough, and no class is merged.
- Target leakage: a feature that is known only after the outcome, such as the number of reminders, predicts too well. Only you can
  detect it; an exact copy of the target is refused.
- Rows of one customer must stay in one fold: give `cv` and `outer_cv` a grouped splitter, as in
  [selectors.md](../selectors.md#sample-groups-and-weights).
- All messages for problematic tables are in [bad-input.md](../bad-input.md), all options in [cli.md](../cli.md), constraints on
  features in [constraints.md](../constraints.md).
"""
