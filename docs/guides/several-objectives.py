# %% [markdown]
"""
# Several objectives

Few columns or a low error? A column has to be measured, stored and explained, and may cost money. Before you decide
what one is worth, look at what it buys.
"""

# %% [markdown]
"""
## Look at the front

`mopbpso` and `nsga2` lower error and size at once. Their result is a front: subsets that none tried beats in both.
"""

# %%
# !swarmrs select sklearn:breast_cancer --classifier nb --algo mopbpso --seed 1 --max-evals 2000

# %% [markdown]
"""
From one column to three the error falls steeply, then hardly at all. The *knee* is where this turns. The least error
is what `selected` marks, unless you pick another:

| you want | type |
| --- | --- |
| the knee | `--pick knee` |
| the least error of three columns at most | `--pick 'size<=3'` |
| the fewest columns that are as good as the best, as far as the rows can tell | `--parsimony 1se` |

Any search has a front, also those that lower the error alone, but they leave its small end unexplored.

## Does it hold on new rows?

Every error of a front is optimistic: the same folds chose all its subsets, and the least of many errors is also the
luckiest. Keep rows apart, and ask all points of the front about them:
"""

# %%
import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from swarmrs import Evaluator, select

cancer = load_breast_cancer()
X, y = pl.DataFrame(cancer.data, schema=cancer.feature_names.tolist()), cancer.target
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
settings = {"classifier": "nb", "max_evals": 2000, "random_state": 1}
found = select((X_train, y_train), algo="mopbpso", **settings)
for point in found.front:
    columns = list(point.selected)
    accuracy = GaussianNB().fit(X_train[columns], y_train).score(X_test[columns], y_test)
    mark = "  knee" if point is found.front.knee else ""
    print(f"size {point.size}  error {point.error:.4f}, on new rows {1 - accuracy:.4f}{mark}")

# %% [markdown]
"""
What the front promises beyond its knee does not come true: on new rows three columns do as well as eight.

## One number for both

Where you know what a column is worth, say so and search for one subset. `weighted` counts alpha of the error and the
rest of the share of columns: with 0.9 and 30 columns, a column must lower the error by 0.1 / 30 / 0.9 = 0.0037 to pay
for itself.
"""

# %%
for alpha in (0.98, 0.9, 0.6):
    found = select((X, y), algo="pbpso", objective="weighted", alpha=alpha, **settings)
    print(f"alpha {alpha}: size {found.size}, error {found.scores['error']:.4f}")

# %% [markdown]
"""
A front shows all such prices at once, so that none has to be guessed beforehand.

## Columns that cost different amounts

What a column costs can be anything, if you write the objective yourself. `Evaluator` measures as a search does, and
`scorer` takes a function of masks. Say that a measurement of the *worst* cells takes three times the work of a mean:
"""

# %%
evaluator = Evaluator(X, y, classifier="nb")
price = [3.0 if name.startswith("worst") else 1.0 for name in X.columns]


def dear(masks):
    """Return the error of each subset, and a thousandth for each unit of work."""
    return evaluator.measure(masks)["error"] + 0.001 * (masks @ price)


found = select((X, y), algo="pbpso", scorer=dear, max_evals=2000, random_state=1)
print(", ".join(found.selected))
error = evaluator.measure([found.support])["error"][0]
print(f"work {found.support @ price:.0f}, error {error:.4f}")

# %% [markdown]
"""
## Pitfalls

- A hypervolume compares fronts, not subsets, and only those of the same table and folds.
- A front has the sizes that were tried. A gap in it does not mean that no subset of that size is good.
- More than two objectives at once are not offered. What is a limit rather than a wish is a constraint:
  `--max-features`, `--include`, `--one-per-group`, see [constraints.md](../constraints.md).
- Fronts are explained, and searches for them compared, in [fronts.md](../fronts.md); objectives in
  [evaluation.md](../evaluation.md#objectives).
"""
