# %% [markdown]
"""
# Credit data: categories, missing values, rare classes

Customer tables have text, missing values, an identifier and rare classes. swarmrs changes none of them silently. Each
problem has an option, and an error message names it.
"""

# %% [markdown]
"""
## Data

A synthetic table of 600 loans. The outcome depends on income, amount, savings, housing and years of employment.
Purpose, region and the customer number are irrelevant.
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
gaps = pl.Series(rng.random(n) < 0.05)
loans = loans.with_columns(
    income=pl.when(gaps).then(None).otherwise("income"),
    savings=pl.when(gaps.reverse()).then(pl.lit("?")).otherwise("savings"),
)
loans.write_csv("loans.csv")
print(loans.write_csv()[:180])

# %%
# !swarmrs describe loans.csv

# %% [markdown]
"""
## Preprocessing options

The report shows an identifier, text, missing values and a rare class. This guide handles them as follows:

| problem | option | reason |
| --- | --- | --- |
| customer number | `--exclude customer` | an identifier is not a feature |
| text features | `--encode onehot` | one dummy feature per category; `ordinal` numbers the categories alphabetically, which suits trees only |
| dummy features of one column | `--together encoded` | selects `housing` as a whole, not `housing=rent` alone |
| 66 missing values | `--missing drop-rows` | they are few and random; `median` imputes them inside the folds instead |
| 8 loans in class `lost` | `--rare-class merge` | ten folds cannot each have enough of them: `late` and `lost` become one class, `other` |

The classes are imbalanced. The majority class `paid` has about four fifths of the loans, so an error of 0.16 is hardly
better than the baseline. `--scoring balanced_accuracy` gives both classes the same weight; `matthews_corrcoef` and
`f1_macro` are alternatives. The estimator is naive Bayes (`--estimator nb`): dummy features easily dominate the
distances of k-NN.

## Search
"""

# %%
# !swarmrs select loans.csv --exclude customer --encode onehot --together encoded \
#   --missing drop-rows --rare-class merge --scoring balanced_accuracy --estimator nb \
#   --algo sffs --seed 1

# %% [markdown]
"""
These are exactly the features that the outcome depends on. Notes and warnings above the result name every change of the
data. `--output reduced.csv` writes the reduced table, `--output model.py` scikit-learn code that fits the model.

Without `--together` the search selects single categories:
"""

# %%
# !swarmrs select loans.csv --exclude customer --encode onehot \
#   --missing drop-rows --rare-class merge --scoring balanced_accuracy --estimator nb \
#   --algo sffs --seed 1 --format csv --quiet

# %% [markdown]
"""
Two dummy features of `region` are selected, although the region is irrelevant: among many features some fit the folds
by chance.

## Nested cross-validation

The scores of a search are optimistic. `outer_cv=10` searches once per outer fold, without the rows of that fold, and
scores the selection on them. `held_out.scores` has all scores.
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
inner = np.mean([part.selection.scores["balanced_accuracy"] for part in found.held_out.parts])
outer = found.held_out.scores["balanced_accuracy"]
print(f"balanced accuracy: inner CV {inner:.3f}, outer CV {outer:.3f}")

# %% [markdown]
"""
## Imputation

`median` imputes numbers and `mode` imputes text. Both are computed from training rows only: for each inner fold, and
for each outer fold.
"""

# %%
imputed = select("loans.csv", outer_cv=10, **settings | {"missing": "median"}).held_out
print(f"balanced accuracy: outer CV {imputed.scores['balanced_accuracy']:.3f}")

# %% [markdown]
"""
## Models that accept missing values

Decision trees accept missing values and ordinal codes. `missing="keep"` passes missing values to the estimator. A
scikit-learn estimator is far slower than a built-in one; [any-classifier.md](any-classifier.md) shows how to save
evaluations.
"""

# %%
tree = DecisionTreeClassifier(max_depth=4, random_state=0)
kept = {"encode": "ordinal", "missing": "keep", "together": (), "scoring": "roc_auc"}
found = select("loans.csv", **settings | kept | {"estimator": tree, "algo": "sfs"})
print(f"{', '.join(found.selected)}: ROC AUC {1 - found.scores['error']:.3f}")

# %% [markdown]
"""
The tree selects purpose and region, which are irrelevant: this score is optimistic, too.

## Pitfalls

- `--rare-class` compares class sizes with the number of folds. With `--cv 3` eight loans are enough, and no class is
  merged.
- Target leakage: a feature that is known only after the decision, such as the number of reminders, predicts too well.
  Only an exact copy of the target is detected, and refused.
- Rows of one customer must stay in one fold: pass a list of splits as `cv`, or `groups` to a `SwarmSelector`, see
  [selectors.md](../selectors.md#sample-groups-and-weights).
- More: [bad-input.md](../bad-input.md) lists all messages, [cli.md](../cli.md) all options,
  [constraints.md](../constraints.md) the constraints.
"""
