# %% [markdown]
"""
# Several objectives: error and number of features

Fewer features or a lower error? Each feature has to be recorded, stored and explained. A Pareto front shows the
trade-off before you choose a subset.
"""

# %% [markdown]
"""
## The Pareto front

`mopbpso` and `nsga2` minimize the error and the number of features at once. Their result is a Pareto front: the
non-dominated subsets, where no other evaluated subset is better in one objective and as good in the other.
"""

# %%
# !swarmrs select sklearn:breast_cancer --estimator nb --algo mopbpso --seed 1 --max-evals 2000

# %% [markdown]
"""
The result is the subset of least error. `--pick knee` returns the knee of the front instead, the point after which
more features lower the error only slowly. `--pick 'size<=3'` returns the best subset of at most three features. The
hypervolume measures the quality of a whole front; larger is better.

## The front on new data

Errors on a front are optimistic, and the largest subsets are often overfitted. Hold out rows and score each subset on
them:
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
    knee = "  knee" if point is found.front.knee else ""
    print(f"size {point.size}: CV error {point.error:.4f}, test error {1 - accuracy:.4f}{knee}")

# %% [markdown]
"""
The CV error falls with every feature. The test error does not: four features are as good on new data as six.

## A weighted objective

A weighted sum turns two objectives into one cost. `weighted` is alpha * error + (1 - alpha) * share of features. With
alpha 0.9 and 30 features, a feature has to lower the error by 0.1 / 30 / 0.9 = 0.0037 to be selected.
"""

# %%
for alpha in (0.98, 0.9, 0.6):
    objective = {"kind": "weighted", "alpha": alpha}
    found = select((X, y), algo="pbpso", objective=objective, **settings)
    print(f"alpha {alpha}: size {found.size}, error {found.scores['error']:.4f}")

# %% [markdown]
"""
A Pareto front needs no weight: it shows the result of all weights at once.

## Feature costs

Features can have different costs. `scorer` takes your own objective, a function of feature masks. `Evaluator` computes
the cross-validated error as a search does. In this example a *worst* feature costs three times as much as the others:
"""

# %%
evaluator = Evaluator(X, y, estimator="nb")
prices = [3.0 if name.startswith("worst") else 1.0 for name in X.columns]


def error_and_price(masks):
    """Return the error of each subset plus 0.001 for each unit of price."""
    return evaluator.measure(masks)["error"] + 0.001 * (masks @ prices)


found = select((X, y), algo="pbpso", scorer=error_and_price, max_evals=2000, random_state=1)
print(", ".join(found.selected))
error = evaluator.measure([found.support])["error"][0]
print(f"price {found.support @ prices:.0f}, error {error:.4f}")

# %% [markdown]
"""
## Pitfalls

- A hypervolume compares Pareto fronts of the same table and the same folds only.
- A front has only evaluated subsets. A missing size does not mean that no good subset of that size exists.
- More than two objectives are not supported. A hard limit is a constraint: `--max-features`, `--include`,
  `--one-per-group`, see [constraints.md](../constraints.md).
- More: [fronts.md](../fronts.md) compares the algorithms, [evaluation.md](../evaluation.md#objectives) lists the
  objectives.
"""
