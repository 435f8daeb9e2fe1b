# %% [markdown]
"""
# Credit data with categories

Tables of customers have words in them, gaps, an identifier, and few of the cases that matter. Nothing of this is dealt
with behind your back: each is asked for by an option, and what is refused says which one.
"""

# %% [markdown]
"""
## A table as banks have it

Six hundred loans. Whether one is paid back depends on income against amount, savings, housing and years in a job.
Purpose and region say nothing; nor does the customer's number.
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
## Decide

`describe` names the five decisions that are yours. Here they are taken so:

| what was found | option | why |
| --- | --- | --- |
| a number of the customer | `--exclude customer` | it rises with the row: no measurement |
| words | `--encode onehot` | a column for each word; `ordinal` ranks words by their spelling, which fits trees only |
| the columns of one word list | `--together encoded` | housing is in or out as a whole, not `housing=rent` alone |
| 66 gaps | `--missing drop-rows` | they are few and stand anywhere; `median` fills them instead, inside the folds |
| 8 loans lost | `--rare-class merge` | ten folds cannot each have one: `late` and `lost` become one class, `other` |

One more is about the error. Who calls every loan paid errs in a fifth of them, so that an error of 0.16 is no feat.
`--scoring balanced_accuracy` counts both classes alike, `matthews_corrcoef` and `f1_macro` are others of this kind. Naive Bayes is
the judge here (`--classifier nb`): distances of k-NN are soon ruled by indicators of words.

## Search
"""

# %%
# !swarmrs select loans.csv --exclude customer --encode onehot --together encoded \
#   --missing drop-rows --rare-class merge --scoring balanced_accuracy --classifier nb \
#   --algo sffs --seed 1

# %% [markdown]
"""
These are the columns the risk was made of, and no others. Every decision is noted above the result.
`--output reduced.csv` writes the table of these columns, `--output model.py` code that fits the model.

What `--together` is good for shows when it is left out: pieces of purpose and region slip in, because with so many
columns some fit by chance.
"""

# %%
# !swarmrs select loans.csv --exclude customer --encode onehot \
#   --missing drop-rows --rare-class merge --scoring balanced_accuracy --classifier nb \
#   --algo sffs --seed 1 --format csv --quiet

# %% [markdown]
"""
## What is it worth?

The same settings in Python. The line of `outer error` that `--outer-cv` prints is of the plain error;
`held_out.scores` has them all.
"""

# %%
settings = {
    "exclude": ["customer"],
    "encode": "onehot",
    "together": "encoded",
    "missing": "drop-rows",
    "rare_class": "merge",
    "scoring": "balanced_accuracy",
    "classifier": "nb",
    "algo": "sffs",
    "random_state": 1,
}
found = select("loans.csv", outer_cv=10, **settings)
inside = np.mean([part.selection.scores["balanced_accuracy"] for part in found.held_out.parts])
outside = found.held_out.scores["balanced_accuracy"]
print(f"balanced accuracy {inside:.3f} by the searches, {outside:.3f} on rows held out")

# %% [markdown]
"""
The warning speaks of `lost`, as the command line did. Gaps can be filled instead: `median`, and `mode` for words, are
taken from training rows alone, for each fold of a search anew and for the rows held out.
"""

# %%
filled = select("loans.csv", outer_cv=10, **settings | {"missing": "median"}).held_out
print(f"balanced accuracy {filled.scores['balanced_accuracy']:.3f} with gaps filled")

# %% [markdown]
"""
## Leave the gaps to the model

Trees take gaps and ranked words as they are. `missing="keep"` hands them over, and nothing has to be filled at all. A
model of your own takes far longer than a built-in one; [any-classifier.md](any-classifier.md) tells how to deal with
that.
"""

# %%
tree = DecisionTreeClassifier(max_depth=4, random_state=0)
kept = {"encode": "ordinal", "missing": "keep", "together": (), "scoring": "roc_auc"}
found = select("loans.csv", **settings | kept | {"classifier": tree, "algo": "sfs"})
print(f"{', '.join(found.selected)}: area under the curve {1 - found.scores['error']:.3f}")

# %% [markdown]
"""
The tree takes in purpose, which was made to say nothing: this score, too, is of the folds that chose.

## Pitfalls

- `--rare-class` goes by the number of folds. With `--cv 3` eight loans are enough, and nothing is joined.
- A column known only after the loan was decided, such as the number of reminders, predicts too well. Nothing can warn
  of it but you; a plain copy of the target is refused.
- Rows of one customer must not be torn apart by folds: give `cv` and `outer_cv` a splitter that knows, as in
  [selectors.md](../selectors.md#groups-of-samples).
- All that is said to strange tables is in [bad-input.md](../bad-input.md), all options are in [cli.md](../cli.md),
  what columns may be bound to is in [constraints.md](../constraints.md).
"""
