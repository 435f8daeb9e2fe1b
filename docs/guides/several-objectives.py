# %% [markdown]
"""
# Error and number of features: the Pareto front

Every feature has to be collected, stored and explained. A Pareto front shows the trade-off between error and subset size before
you decide.
"""

# %% [markdown]
"""
## Search for the front

`mopbpso` and `nsga2` minimize error and size at once (multi-objective optimization). The result is a Pareto front: the
subsets that no other evaluated subset beats in both.
"""

# %%
# !swarmrs select sklearn:breast_cancer --estimator nb --algo mopbpso --seed 1 --max-evals 2000

# %% [markdown]
"""
The error falls steeply for the first features and hardly afterwards; the *knee* marks the bend. By default the subset of least
error is selected. `--pick` selects another:

| wanted | option |
| --- | --- |
| the knee | `--pick knee` |
| the least error of at most three features | `--pick 'size<=3'` |
| the fewest features within one standard error of the best | `--pick 1se` |

Every search has a front, but a search that minimizes the error alone explores few small subsets.

## Check the front on new data

Every error of a front is optimistic: the same folds chose its subsets. Hold out rows and score all points of the front on them:
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
settings = {"estimator": "nb", "max_evals": 2000, "random_state": 1}
found = select((X_train, y_train), algo="mopbpso", **settings)
for point in found.front:
    features = list(point.selected)
    accuracy = GaussianNB().fit(X_train[features], y_train).score(X_test[features], y_test)
    mark = "  knee" if point is found.front.knee else ""
    print(f"size {point.size}  inner error {point.error:.4f}, test error {1 - accuracy:.4f}{mark}")

# %% [markdown]
"""
On the test rows four features are as good as six: the further decrease of the inner error is overfitting to the folds.

## A weighted sum

If you know the price of a feature, minimize a weighted sum instead. The objective `weighted` is alpha * error +
(1 - alpha) * share of features: with alpha = 0.9 and 30 features, a feature must lower the error by 0.1 / 30 / 0.9 = 0.0037 to
pay for itself.
"""

# %%
for alpha in (0.98, 0.9, 0.6):
    objective = {"kind": "weighted", "alpha": alpha}
    found = select((X, y), algo="pbpso", objective=objective, **settings)
    print(f"alpha {alpha}: size {found.size}, error {found.scores['error']:.4f}")

# %% [markdown]
"""
A front shows all such weights at once.

## Features of different prices

For any other cost write your own objective. `Evaluator` scores subsets as a search does, and `scorer` takes a function of
masks. In this example a *worst* feature costs three times as much as the others:
"""

# %%
evaluator = Evaluator(X, y, estimator="nb")
prices = [3.0 if name.startswith("worst") else 1.0 for name in X.columns]


def priced_error(masks):
    """Return the error of each subset plus 0.001 for each unit of price."""
    return evaluator.measure(masks)["error"] + 0.001 * (masks @ prices)


found = select((X, y), algo="pbpso", scorer=priced_error, max_evals=2000, random_state=1)
print(", ".join(found.selected))
error = evaluator.measure([found.support])["error"][0]
print(f"price {found.support @ prices:.0f}, error {error:.4f}")

# %% [markdown]
"""
## Pitfalls

- The hypervolume compares fronts of the same data and folds, not subsets.
- A front contains evaluated sizes only. A missing size does not mean that no good subset of this size exists.
- There are two objectives at most. Hard limits are constraints: `--max-features`, `--include`, `--one-per-group`; see
  [constraints.md](../constraints.md).
- [fronts.md](../fronts.md) explains fronts and compares algorithms; [evaluation.md](../evaluation.md#objectives) defines the
  objectives.
"""
